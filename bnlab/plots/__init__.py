"""Pure functions from results to Bokeh figures.

A picture is built from its data; its docstring names its sources and their columns. A view that
moves builds the picture anew and lets `refresh` copy what differs to the one on display. Needs the
`lab` extra; `import bnlab` does not import this.
"""

from bnlab.plots.annealing import (
    acceptance_path,
    bridge,
    evidence_bounds,
    heaviest,
    hysteresis,
    rate_histogram,
    speed_up,
    weight_pile,
)
from bnlab.plots.canvas import CYCLE, canvas, refresh
from bnlab.plots.curves import closing, error_curve, log_curves, tempered_traces, traces
from bnlab.plots.gallery import dag_gallery, graph_gallery
from bnlab.plots.lattice import lattice
from bnlab.plots.marks import (
    answer_pairs,
    path_bars,
    place_speeds,
    published,
    sensitivity,
    share_bars,
)
from bnlab.plots.matrix import heat_map, move_gains, order_move
from bnlab.plots.network import network, network_positions
from bnlab.plots.points import (
    acceptance_bars,
    agreement,
    chain_errors,
    distances,
    label_map,
    structure_scores,
    tempered_acceptance,
)
from bnlab.plots.series import core_curves, growth, prior_curve, race, roc_curves, time_curves

__all__ = [
    "CYCLE",
    "acceptance_bars",
    "acceptance_path",
    "agreement",
    "answer_pairs",
    "bridge",
    "canvas",
    "chain_errors",
    "closing",
    "core_curves",
    "dag_gallery",
    "distances",
    "error_curve",
    "evidence_bounds",
    "graph_gallery",
    "growth",
    "heat_map",
    "heaviest",
    "hysteresis",
    "label_map",
    "lattice",
    "log_curves",
    "move_gains",
    "network",
    "network_positions",
    "order_move",
    "path_bars",
    "place_speeds",
    "prior_curve",
    "published",
    "race",
    "rate_histogram",
    "refresh",
    "roc_curves",
    "sensitivity",
    "share_bars",
    "speed_up",
    "structure_scores",
    "tempered_acceptance",
    "tempered_traces",
    "time_curves",
    "traces",
    "weight_pile",
]
