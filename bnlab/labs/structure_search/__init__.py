"""The views and the checks of notebooks/13_structure_search.ipynb.

Searches for one good network, what each finds and what it misses, and what the best network alone
does not tell.
"""

from bnlab.labs.board import DATASETS, setup
from bnlab.labs.structure_search.checks import check_covered, check_gain, check_search
from bnlab.labs.structure_search.counting import ROWS_COUNTED, seconds_of_ways
from bnlab.labs.structure_search.searches import (
    FINDERS,
    METHODS,
    ROWS,
    SOUGHT,
    TWENTY,
    Clock,
    Recovery,
    apart,
    climbs_needed,
    distances,
    found_best,
    found_dags,
    reached,
    search,
    truths,
)
from bnlab.labs.structure_search.surface import (
    Averages,
    Plateaus,
    Steps,
    average,
    below,
    best,
    classes,
    climbed,
    close_calls,
    count_classes,
    data,
    exact,
    move_gains,
    scored,
    table,
)
