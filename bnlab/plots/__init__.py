"""Pure functions from results to Bokeh figures.

Every picture comes as a pair: `thing(...)` returns the figure, and `thing_data(...)` returns the
columns of its named ColumnDataSource, so that a lab moves the picture with
`source.data = thing_data(...)`. Needs the `lab` extra; `import bnlab` does not import this.
"""

from bnlab.plots.annealing import (
    acceptance_path,
    acceptance_path_data,
    bridge,
    evidence_bounds,
    evidence_bounds_data,
    heaviest,
    heaviest_data,
    speed_up,
    weight_pile,
    weight_pile_data,
    weight_pile_marks,
)
from bnlab.plots.budgets import time_curves, time_curves_lines, time_curves_points
from bnlab.plots.canvas import CYCLE, canvas
from bnlab.plots.closing import closing, closing_data, closing_levels
from bnlab.plots.comparison import (
    answer_pairs,
    answer_pairs_data,
    distances,
    distances_now,
)
from bnlab.plots.convergence import (
    error_curve,
    error_curve_data,
    published,
    published_data,
    published_runs_data,
    share_bars,
    share_bars_data,
)
from bnlab.plots.edges import heat_map, heat_map_data
from bnlab.plots.growth import growth, growth_curves, growth_points
from bnlab.plots.hidden import (
    hysteresis,
    hysteresis_data,
    label_map,
    label_map_data,
    log_curves,
    log_curves_data,
    log_curves_rules,
    structure_scores,
    structure_scores_data,
    structure_scores_marks,
)
from bnlab.plots.lattice import lattice, lattice_cells, lattice_links
from bnlab.plots.network import network, network_data, network_positions
from bnlab.plots.paths import path_bars, path_bars_data
from bnlab.plots.priors import (
    dag_gallery,
    dag_gallery_arrows,
    dag_gallery_labels,
    prior_curve,
    prior_curve_data,
)
from bnlab.plots.races import (
    chain_errors,
    chain_errors_data,
    race,
    race_data,
    race_lines,
    roc_curves,
)
from bnlab.plots.rates import rate_histogram, rate_histogram_data
from bnlab.plots.scaling import core_curves, core_lines, core_points, place_speeds
from bnlab.plots.searches import (
    graph_gallery,
    graph_gallery_links,
    move_gains,
    move_gains_data,
)
from bnlab.plots.sensitivity import sensitivity, sensitivity_data
from bnlab.plots.tempering import (
    tempered_acceptance,
    tempered_exchanges_data,
    tempered_lines,
    tempered_moves_data,
    tempered_traces,
)
from bnlab.plots.traces import (
    acceptance_bars,
    acceptance_bars_data,
    agreement,
    agreement_data,
    order_move,
    order_move_data,
    traces,
    traces_data,
)

__all__ = [
    "CYCLE",
    "acceptance_bars",
    "acceptance_bars_data",
    "acceptance_path",
    "acceptance_path_data",
    "agreement",
    "agreement_data",
    "answer_pairs",
    "answer_pairs_data",
    "bridge",
    "canvas",
    "chain_errors",
    "chain_errors_data",
    "closing",
    "closing_data",
    "closing_levels",
    "core_curves",
    "core_lines",
    "core_points",
    "dag_gallery",
    "dag_gallery_arrows",
    "dag_gallery_labels",
    "distances",
    "distances_now",
    "error_curve",
    "error_curve_data",
    "evidence_bounds",
    "evidence_bounds_data",
    "graph_gallery",
    "graph_gallery_links",
    "growth",
    "growth_curves",
    "growth_points",
    "heat_map",
    "heat_map_data",
    "heaviest",
    "heaviest_data",
    "hysteresis",
    "hysteresis_data",
    "label_map",
    "label_map_data",
    "lattice",
    "lattice_cells",
    "lattice_links",
    "log_curves",
    "log_curves_data",
    "log_curves_rules",
    "move_gains",
    "move_gains_data",
    "network",
    "network_data",
    "network_positions",
    "order_move",
    "order_move_data",
    "path_bars",
    "path_bars_data",
    "place_speeds",
    "prior_curve",
    "prior_curve_data",
    "published",
    "published_data",
    "published_runs_data",
    "race",
    "race_data",
    "race_lines",
    "rate_histogram",
    "rate_histogram_data",
    "roc_curves",
    "sensitivity",
    "sensitivity_data",
    "share_bars",
    "share_bars_data",
    "speed_up",
    "structure_scores",
    "structure_scores_data",
    "structure_scores_marks",
    "tempered_acceptance",
    "tempered_exchanges_data",
    "tempered_lines",
    "tempered_moves_data",
    "tempered_traces",
    "time_curves",
    "time_curves_lines",
    "time_curves_points",
    "traces",
    "traces_data",
    "weight_pile",
    "weight_pile_data",
    "weight_pile_marks",
]
