"""The views and the checks of notebooks/14_your_own_data.ipynb."""

from bnlab.labs.board import setup, show
from bnlab.labs.predict import predict, review
from bnlab.labs.your_own_data.study import Study, Table, show_answers, write_garden
from bnlab.labs.your_own_data.view import Network, check_cuts, check_setting, check_survivors, draw
