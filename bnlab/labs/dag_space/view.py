"""A race, the share of local moves, priors, and interventions."""

from collections.abc import Sequence
from functools import cache
from itertools import product

import numpy as np

import bnlab as bn
from bnlab import plots
from bnlab.checks import Floats
from bnlab.labs.board import DATASETS, Case, choice, dataset_choice, size_slider, title
from bnlab.labs.dag_space import exact
from bnlab.labs.dag_space.race import (
    NEEDS_DAGS,
    RACERS,
    STOPS,
    Found,
    chain_sads,
    heads,
    hybrid,
    race,
    second_half,
    target,
    usual_targets,
)
from bnlab.labs.view import Board, Experiment, Progress, View

SHARES = (0.0, 0.1, 0.3, 0.6, 0.9, 0.97, 1.0)
SHOWN_CHAINS = 4
DEPTH = {"coronary": 20, "wine": 40, "tic-tac-toe": 300}  # nats shown below the exact draws
SET_ROWS = (0, 1, 2, 5, 10, 20, 40, 80, 200)
MOST_PAIRS = 8
PLAIN = next(iter(exact.PRIORS))


class Race(Experiment):
    """Eight samplers towards the same edges, each with its own clock.

    Controls `dataset` and `share` of local moves of the hybrid; panel `panel`; `found` is sampler
    -> [(seconds, SAD of each chain)].

    Parameters
    ----------
    data : a table of your own, in the place of the data sets
    stops : seconds at which errors are taken, rising
    """

    def __init__(self, data: bn.Data | None = None, *, stops: Sequence[float] = STOPS) -> None:
        self._stops = stops
        super().__init__(
            dataset=dataset_choice(DATASETS, data, "wine"),
            share=size_slider("local moves of the hybrid", SHARES, 0.1),
            nothing={label: [] for label in RACERS},
            unit="ms",
        )

    def compute(self, progress: Progress, /, dataset: Case, share: float) -> Found:
        """Return the errors of all samplers on the way."""
        return race(dataset, share=share, stops=self._stops, progress=progress)

    def draw(self, found: Found, dataset: Case, share: float) -> Board:
        """The errors against the clock of each sampler."""
        caption = "Press Run. Each sampler gets the same time; its own clock counts."
        last = {label: points[-1] for label, points in found.items() if points}
        if last:
            best = min(last, key=lambda label: float(np.mean(last[label][1])))
            caption = (
                f"{title(dataset)}. Line: mean over chains; bar: best to worst chain. Least error "
                f"so far: {best}, {np.mean(last[best][1]):.2f} after {last[best][0]:.2g} s. For "
                f"comparison: the exact edges themselves took {1000 * heads(dataset)[1]:.2g} ms, "
                f"which is on the clock of {NEEDS_DAGS[0]}."
            )
        return {"panel": (plots.race(found, (self._stops[0], self._stops[-1])), caption)}


class Shares(View):
    """Hybrid chains by their share of local moves: 8 chains each, n (n - 1) x 100 moves.

    Controls `dataset` and `share`, beta in the paper; panels `errors` and `trace`.
    """

    def __init__(self, data: bn.Data | None = None) -> None:
        cases = DATASETS if data is None else (data,)
        for case, share in product(cases, SHARES):  # now, so that the slider answers at once
            hybrid(case, share)
        super().__init__(
            dataset=dataset_choice(DATASETS, data, "wine"),
            share=size_slider("share of local moves", SHARES, 1.0),
        )

    def draw(self, dataset: Case, share: float) -> Board:
        """The error of each chain at all shares, and some chains at this one."""
        draws, (mean, sd) = hybrid(dataset, share), usual_targets(dataset)
        errors, n = share_errors(dataset), draws.values.shape[2]
        lowest = draws.log_target[:SHOWN_CHAINS].min()
        depth = DEPTH[dataset] if isinstance(dataset, str) else mean + 6 - lowest
        trace = plots.traces(
            n * (n - 1) * np.arange(1.0, draws.values.shape[1] + 1),
            {f"chain {c}": line for c, line in enumerate(draws.log_target[:SHOWN_CHAINS], 1)},
            band=(mean - 2 * sd, mean + 2 * sd),
            y_range=(mean - depth, mean + 6),
            y_label="ln p(G, D) (nats)",
            name="hybrid_trace",
            title="Four of the chains",
            alt="Log target of the DAGs of four chains, with the range of exact draws shaded",
        )
        here = errors[SHARES.index(share)]
        rates = [
            f"{draws.stats[key].mean():.2%} of the {kind} moves accepted"
            for kind in ("local", "global")
            if (key := f"acceptance_{kind}") in draws.stats
        ]
        return {
            "errors": (
                plots.chain_errors(
                    SHARES,
                    errors,
                    share,
                    x_label="share of local moves, β",
                    y_range=(0.1, 50.0),
                    title="Error of each of 8 chains, second half",
                ),
                f"{title(dataset)}, β = {share:g}: SAD {here.min():.2f} to {here.max():.2f}, mean "
                f"{here.mean():.2f}.",
            ),
            "trace": (
                trace,
                f"{', '.join(rates)}. Shaded: mean ± 2 standard deviations of the exact posterior.",
            ),
        }


@cache
def share_errors(case: Case) -> Floats:
    """Return the SAD of the second half of each chain of `hybrid`, (shares, 8)."""
    where = target(case)
    return np.array([chain_sads(second_half(hybrid(case, share)), where) for share in SHARES])


class Beliefs(View):
    """The same rows under five priors: five variables, exact, by the sum over 29,281 DAGs.

    Controls `prior` and `rows`; panels `heat` and `moved`.

    Parameters
    ----------
    data : a table of your own, of which the first five variables are taken
    """

    def __init__(self, data: bn.Data | None = None) -> None:
        self._own, stops = data, exact.sizes(data)
        for prior, m in product(exact.PRIORS, stops):  # now, so that the controls answer at once
            exact.believed(prior, m, data)
        super().__init__(
            prior=choice("prior", list(exact.PRIORS), "order-modular"),
            rows=size_slider("rows", stops, 200 if 200 in stops else stops[-1]),
        )

    def draw(self, prior: str, rows: int) -> Board:
        """The edges under the prior, and those that it moves most."""
        names, plain = exact.five(self._own).names, exact.believed(PLAIN, rows, self._own)
        edges = exact.believed(prior, rows, self._own)
        gap = np.abs(edges - plain) - np.eye(5)  # edges only
        most = np.argsort(-gap, axis=None, kind="stable")[:MOST_PAIRS]
        pairs = plots.answer_pairs(
            plain.ravel()[most],
            edges.ravel()[most],
            [f"{names[i // 5]} → {names[i % 5]}" for i in most],
            posteriors=(PLAIN, "the prior chosen"),
            title="The edges that move most",
            alt="Probabilities of the eight edges that the prior moves most, under both priors",
        )
        said = f"{rows:,} rows" if rows else "No rows, the prior itself"
        return {
            "heat": (
                plots.heat_map(edges, names, name="believed"),
                f"{prior}. {said}, {edges.sum():.2f} edges expected.",
            ),
            "moved": (pairs, f"SAD from “{PLAIN}”: {bn.diagnostics.sad(edges, plain):.2f}."),
        }


class Doing(View):
    """A -> B -> C -> D with some rows in which one variable was set: what the model sees in it.

    Controls `which` and `rows`, of 400, in which that variable was set; panels `told` and `untold`.

    Parameters
    ----------
    net : a network of your own, in the place of the chain
    """

    def __init__(self, net: bn.BayesNet | None = None) -> None:
        self._net = exact.chain_network() if net is None else net
        for v, many, told in product(range(len(self._net.names)), SET_ROWS, (True, False)):
            exact.directed(v, many, told=told, net=self._net)
        super().__init__(
            which=choice("set the variable", self._net.names),
            rows=size_slider("rows with it set", SET_ROWS, 20),
        )

    def draw(self, which: str, rows: int) -> Board:
        """The edges, by a model that knows which cells were set, and by one that does not."""
        names, arrows = self._net.names, bn.graphs.to_edges(self._net.dag)
        listed = ", ".join(f"{names[u]} → {names[v]}" for u, v in arrows)
        titles = {"told": "The model knows which cells were set", "untold": "Nobody told the model"}
        said = {
            "told": f"{which} set in {rows} of {exact.ROWS} rows. The least probable of {listed} "
            "has ",
            "untold": "The same rows, taken for observed: ",
        }
        board = {}
        for name, heading in titles.items():
            edges = exact.directed(names.index(which), rows, told=name == "told", net=self._net)
            least = min(edges[u, v] for u, v in arrows)
            picture = plots.heat_map(edges, names, name=name, title=heading)
            board[name] = picture, f"{said[name]}{least:.2f}."
        return board
