"""The widgets and the checks of notebooks/08_structure_search.ipynb.

Searches for one good network, what each finds and what it misses, and what the best network alone
does not tell.
"""

from bnlab.labs.board import setup
from bnlab.labs.structure_search.averaging import average, close_calls, count_classes, exact
from bnlab.labs.structure_search.checks import (
    alarm_table,
    check_covered,
    check_gain,
    check_search,
)
from bnlab.labs.structure_search.clock import METHODS, climbs_needed, on_one_clock, search, shares
from bnlab.labs.structure_search.comparisons import Averages, Clock, Recovery
from bnlab.labs.structure_search.counting import ROWS_COUNTED, seconds_of_ways
from bnlab.labs.structure_search.finding import FINDERS, SOUGHT, found_best
from bnlab.labs.structure_search.recovery import (
    NETWORKS,
    ROWS,
    TWENTY,
    distances,
    found,
    reached,
    truths,
)
from bnlab.labs.structure_search.targets import (
    DATASETS,
    apart,
    below,
    best,
    classes,
    data,
    move_gains,
    names,
    scored,
    table,
)
from bnlab.labs.structure_search.widgets import Plateaus, Steps, climbed

__all__ = [
    "DATASETS",
    "FINDERS",
    "METHODS",
    "NETWORKS",
    "ROWS",
    "ROWS_COUNTED",
    "SOUGHT",
    "TWENTY",
    "Averages",
    "Clock",
    "Plateaus",
    "Recovery",
    "Steps",
    "alarm_table",
    "apart",
    "average",
    "below",
    "best",
    "check_covered",
    "check_gain",
    "check_search",
    "classes",
    "climbed",
    "climbs_needed",
    "close_calls",
    "count_classes",
    "data",
    "distances",
    "exact",
    "found",
    "found_best",
    "move_gains",
    "names",
    "on_one_clock",
    "reached",
    "scored",
    "search",
    "seconds_of_ways",
    "setup",
    "shares",
    "table",
    "truths",
]
