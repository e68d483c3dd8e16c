"""Pure functions from results to Bokeh figures.

A picture is built from its data; its docstring names its sources and their columns. A view that
moves calls the same functions under a `Drawing` over the pictures on display, which then move.
Needs the `lab` extra; `import bnlab` does not import this.
"""

from bnlab.plots.canvas import canvas as canvas
from bnlab.plots.curves import (
    annealing_paths as annealing_paths,
    closing as closing,
    error_curve as error_curve,
    evidence_bounds as evidence_bounds,
    hysteresis as hysteresis,
    log_curves as log_curves,
    traces as traces,
)
from bnlab.plots.drawing import Differs as Differs, Drawing as Drawing
from bnlab.plots.gallery import dag_gallery as dag_gallery, graph_gallery as graph_gallery
from bnlab.plots.lattice import (
    lattice as lattice,
    order_landscape as order_landscape,
    walk_down as walk_down,
)
from bnlab.plots.looks import CYCLE as CYCLE, Axis as Axis
from bnlab.plots.marks import (
    answer_pairs as answer_pairs,
    chain_modes as chain_modes,
    evidence_bars as evidence_bars,
    path_bars as path_bars,
    published as published,
    sensitivity as sensitivity,
    share_bars as share_bars,
)
from bnlab.plots.matrix import heat_map as heat_map, move_gains as move_gains
from bnlab.plots.network import network as network, network_positions as network_positions
from bnlab.plots.points import (
    acceptance_path as acceptance_path,
    agreement as agreement,
    calibration as calibration,
    distances as distances,
    experiments as experiments,
    heaviest as heaviest,
    structure_scores as structure_scores,
)
from bnlab.plots.saving import save as save, summary as summary
from bnlab.plots.series import (
    core_curves as core_curves,
    growth as growth,
    prior_curve as prior_curve,
    roc_curves as roc_curves,
    time_curves as time_curves,
)
