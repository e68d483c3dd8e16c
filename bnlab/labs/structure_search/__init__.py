"""The views and the checks of notebooks/08_structure_search.ipynb.

Searches for one good network, what each finds and what it misses, and what the best network alone
does not tell.
"""

from bnlab.labs.board import setup
from bnlab.labs.datasets import DATASETS
from bnlab.labs.structure_search.checks import check_covered, check_gain, check_search
from bnlab.labs.structure_search.compared import (
    FINDERS,
    METHODS,
    ROWS,
    SOUGHT,
    TWENTY,
    climbs_needed,
    distances,
    found_best,
    found_dags,
    on_one_clock,
    reached,
    search,
    truths,
)
from bnlab.labs.structure_search.counting import ROWS_COUNTED, seconds_of_ways
from bnlab.labs.structure_search.targets import (
    apart,
    average,
    below,
    best,
    classes,
    close_calls,
    count_classes,
    data,
    exact,
    move_gains,
    scored,
    table,
)
from bnlab.labs.structure_search.view import Averages, Clock, Plateaus, Recovery, Steps, climbed
