"""Numbers in the notes for lecturers that no lab prints: read off its widgets, or worked out.

Each function below is named after a lab. It yields what the notes on that lab say, with its numbers
computed anew. (What a lab prints stands in backticks, and test_course.py looks for it there.)
"""

from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

import bnlab as bn

NOTES = Path(__file__).resolve().parents[1] / "notebooks" / "lecturers"
pytestmark = pytest.mark.slow


def start_here():
    from bnlab.labs import start_here as lab

    data = lab.table("coronary")
    u, v = data.index("P. Work"), data.index("Smoking")
    p = {m: f"{lab.posterior(data, m).edges[u, v]:.2f}" for m in (50, 200, data.m)}
    yield f"P. Work → Smoking has {p[50]} at 50 rows, {p[200]} at 200 and {p[data.m]} with all"


def bayesian_networks():
    from bnlab.labs import bayesian_networks as lab

    pays = {d: int((np.array(lab.gains(d, 100)) > 0).sum()) for d in (0.2, 0.4)}
    assert pays[0.4] > 10
    yield f"0.4; 0.2 in {pays[0.2]} of the 20"


def modular_priors():
    from bnlab.labs import modular_priors as lab

    flat, koivisto, ellis = (
        np.sort(lab.space(5).orders.size * lab.prior_probabilities(prior, 1))[::-1]
        for prior in ("Modular flat", "Koivisto", "Ellis")
    )
    yield f"few edges (none: {flat[0]:.0f} times the uniform probability)"
    yield f"none ({koivisto[0]:,.0f} times) and stars into one node ({koivisto[1]:.0f})"
    yield f"least, DAGs with seven edges ({koivisto[-1]:.2f})"
    assert np.allclose(ellis[:6], ellis[0]) and ellis[6] < ellis[0] / 2
    yield f"tie, at {ellis[0]:.0f} times; "
    yield f"the other end rises from {koivisto[-1]:.2f} to {ellis[-1]:.2f}"


def dynamic_programming():
    rows = bn.load_network("cancer").sample(5000, np.random.default_rng(1)).select(list("ABCD"))
    table = bn.score_families(rows.prefix(500), bn.BDeu(ess=1), max_parents=3)
    log_alpha = bn.order_lattice(table).log_alpha
    every = [
        sum(log_alpha[v, sum(1 << u for u in order[:i])] for i, v in enumerate(order))
        for order in permutations(range(4))
    ]
    share = np.sort(np.exp(np.array(every) - np.logaddexp.reduce(every)))[::-1]
    wide = int((share > 0.05).sum())
    yield f"With 500 rows {wide} of 24; they hold {share[:wide].sum():.2f} of the probability"


def order_mcmc():
    from bnlab.labs import landscape

    data = landscape.copies(800)
    log_target = landscape.log_targets(data)
    p = dict(zip(log_target, landscape.chances(log_target, 1.0), strict=True))
    never = []
    for kind in landscape.KINDS:
        met = set(landscape.walk(data, kind, 1)[0][1:])
        never.append(1 - sum(p[order] for order in met))
    yield "{:.3f} with swaps of any two, {:.3f} with swaps of neighbours".format(*never)


def direct_dag_sampling():
    from bnlab.labs import direct_dag_sampling as lab

    workers = bn.load_dataset("coronary").shuffled(np.random.default_rng(1))
    few = workers.select(["M. Work", "P. Work", "Pressure", "Proteins"])
    table = bn.score_families(few, bn.BDeu(ess=1), max_parents=3)
    (hits, p), _ = lab.Hundred(bn.order_posterior(table), 1, 3)._asked.values()
    means = {drawn: hits[:, :drawn].mean(axis=1) for drawn in (100, 300)}
    out = {drawn: int((np.abs(mean - p) >= 0.02).sum()) for drawn, mean in means.items()}
    yield f"With 100 draws ({out[100]}; with 300, {out[300]})"
    exact = bn.order_posterior(bn.score_families(workers, bn.BDeu(ess=1), max_parents=5))
    u, v = workers.index("P. Work"), workers.index("M. Work")
    path = bn.exact.order_paths(exact)[u, workers.index("Proteins")]
    yield f"P. Work → M. Work ends at {exact.edges[u, v]:.2f}, the path at {path:.2f}"


def linear_extensions():
    from bnlab.labs import linear_extensions as lab

    for name, size, said in (
        ("top-middle ⇝ bottom-middle", 958, "{}, {} rows: from {} DAGs on"),
        ("top-right ⇝ middle-middle", 50, "{}, {} rows: from {:,}."),
    ):
        asked = lab._questions("tic-tac-toe")[name]
        _, by_order = lab._exact("tic-tac-toe", size)[asked[0]][:, asked[1], asked[2]]
        every, weighted = lab._answers("tic-tac-toe", size, *asked)
        apart = [not each.low <= by_order <= each.high for each in every]
        yield said.format(name, size, lab.STOPS[apart.index(True)])
        out = [not each.low <= w <= each.high for each, w in zip(every, weighted, strict=True)]
        if size == 958:
            yield f"{name}, 958 rows, from {lab.STOPS[out.index(True)]:,} DAGs on (slide, right)"


def annealed_importance_sampling():
    from bnlab.labs import annealed_importance_sampling as lab

    def first(m):  # the least number of steps with a standard deviation below 1
        steps = [k for k in lab.STEP_STOPS if lab.paths(lab.GAME, m, k)[0][:, -1].std() < 1]
        return "one" if steps[0] == 1 else f"{steps[0]:,}"

    yield f"{first(400)} with 400 rows and {first(958)} with all (20 runs, so roughly); "
    yield f"with 100 rows, {first(100)}."
    better = []
    for case in lab.DATASETS:
        linear, harmonic = (lab._spreads(case, kind) for kind in lab.SCHEDULES)
        better.append(lab.SHAPE_STOPS[int(np.argmax(linear < harmonic))])
    game, wine, coronary = better
    assert game == wine
    yield f"{game}; on coronary {coronary}, where harmonic ones do least harm"


def beliefs_and_interventions():
    from bnlab.labs import beliefs_and_interventions as lab

    uniform, doubt, *_ = (lab.believed(prior, lab.five().m) for prior in lab.PRIORS)
    yield f"the rows ask for {uniform.sum():.1f}"
    yield f"Smoking → Proteins, to {doubt[0, 4]:.2f}"


def structure_search():
    from bnlab.labs import structure_search as lab

    dag = lab.climbed("coronary", 0).dag
    scores = bn.score_families(bn.load_dataset("coronary"), bn.BDeu(ess=1), max_parents=3)
    gains = lab.move_gains(scores, dag)
    possible = gains[np.isfinite(gains)]
    yield f"{(np.abs(possible) < 1e-6).sum()} of {possible.size}: the plateau"
    five, two = ([float(np.nanmax(a)) for a in lab.additions("coronary", k)] for k in (5, 2))
    most = [str(k + 1) for k, gain in enumerate(five) if np.isclose(gain, max(five))]
    yield f"Numbers {' and '.join(most)}: {max(five):.2f} nats; member 1 only {five[0]:.2f}"
    yield f"The class of two edges, too: {max(two):.2f} against {min(two):.2f}"
    edges = bn.dag_posterior(scores).edges
    least = min(edges[u, v] for u, v in bn.graphs.to_edges(bn.k_best_dags(scores, 1).dags[0]))
    yield f"5 → 1, {least:.2f}"


LABS = {
    path.stem[3:]: path for path in sorted(NOTES.glob("[0-9]*.md")) if path.stem[3:] in globals()
}


@pytest.mark.parametrize("name", LABS)
def test_numbers_off_the_widgets_are_those_that_the_notes_say(name):
    said, text = list(globals()[name]()), LABS[name].read_text(encoding="utf-8")
    assert said
    assert [each for each in said if each not in text] == []
