"""The views and the checks of notebooks/08_structure_search.ipynb.

Searches for one good network, what each finds and what it misses, and what the best network alone
does not tell.
"""

from bnlab.labs.board import DATASETS, setup
from bnlab.labs.structure_search.checks import check_covered, check_gain, check_search
from bnlab.labs.structure_search.compared import (
    FINDERS,
    METHODS,
    ROWS,
    SOUGHT,
    TWENTY,
    apart,
    average,
    below,
    best,
    classes,
    climbs_needed,
    close_calls,
    count_classes,
    data,
    distances,
    exact,
    found_best,
    found_dags,
    reached,
    scored,
    search,
    table,
    truths,
)
from bnlab.labs.structure_search.counting import ROWS_COUNTED, seconds_of_ways
from bnlab.labs.structure_search.view import (
    Averages,
    Clock,
    Plateaus,
    Recovery,
    Steps,
    climbed,
    move_gains,
)
