"""The views and the checks of notebooks/14_your_own_data.ipynb.

From a file that nobody has tidied up to probabilities, predictions and a report.
"""

from bnlab.labs.board import setup
from bnlab.labs.your_own_data.checks import check_blanket, check_cuts, check_undecided
from bnlab.labs.your_own_data.study import TRUTH, Study, Table, write_garden
from bnlab.labs.your_own_data.view import Exports, Network, Predictor, Priors
