"""Time of fits, scores and samplers for networks with hidden nodes.

    uv run --extra lab python benchmarks/hidden.py                        # a minute
    uv run --extra lab --extra peers python benchmarks/hidden.py --peers  # and BayesPy's steps

The 136 structures of Beal (2003) on data from his printed parameters. Processor time in one thread,
median of repeats, compilation left out. The thesis prints for 480 rows and 136 structures: EM
200 s, VBEM 575 s, one AIS run each with 16,384 steps 55,000 s.
"""

import argparse
import statistics
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from bnlab.hidden import (
    AIS,
    SMC,
    HiddenModel,
    JointDirichlet,
    RowDirichlet,
    Warped,
    anneal,
    estimate_structures,
    fit_vb,
    score_structures,
)
from bnlab.papers.beal2003.study import true_model
from bnlab.papers.beal2003.world import SIZES, data_of_print, models


def report(what: str, work: Callable[[], object], repeats: int, share: int = 1) -> float:
    """Median processor time of a share of the work, after one run that compiles."""
    work()
    times = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        times.append((time.process_time() - start) / share)
    median = statistics.median(times)
    print(f"{what:<56}{median:>10.4f} s", flush=True)
    return median


def structures(one: ThreadPoolExecutor) -> None:
    rows, all_models = data_of_print(0), models()
    for n, repeats in ((480, 5), (10240, 1)):
        for label, names in (("EM (MAP)", ["map"]), ("EM and VBEM", ["map", "vb"])):
            report(
                f"{label} of 136 structures, n={n}, 3 restarts",
                lambda names=names, n=n: score_structures(
                    all_models, rows[:n], names, rng=np.random.default_rng(1), executor=one
                ),
                repeats,
            )
    report(
        "EM and VBEM of 136 structures at 20 sizes",
        lambda: [
            score_structures(
                all_models, rows[:n], ["map", "vb"], rng=np.random.default_rng(1), executor=one
            )
            for n in SIZES
        ],
        1,
    )
    for moves in (JointDirichlet(), RowDirichlet()):
        report(
            f"AIS, 16,384 steps, one structure, n=480, {type(moves).__name__}",
            lambda moves=moves: anneal(
                true_model(),
                rows[:480],
                runs=4,
                rng=np.random.default_rng(1),
                method=AIS(Warped(16_384), moves),
                executor=one,
            ),
            3,
            share=4,
        )
    report(
        "SMC of 136 structures, n=480, 256 particles",
        lambda: estimate_structures(
            all_models, rows[:480], runs=1, rng=np.random.default_rng(1), method=SMC(), executor=one
        ),
        1,
    )


def peers() -> None:
    """A step of VBEM on the latent class model: ours, compression of the rows included."""
    from bayespy.inference import VB
    from bayespy.nodes import Categorical, Dirichlet, Mixture

    rows, steps = data_of_print(0)[:480], 100
    model = HiddenModel([0, 1, 1, 1, 1], [2, 5, 5, 5, 5], hidden=[0])
    found = fit_vb(model, rows, restarts=1, rng=np.random.default_rng(1))
    ours = report(
        "a step of VBEM, two classes, n=480",
        lambda: fit_vb(model, rows, restarts=1, rng=np.random.default_rng(1)),
        20,
        share=int(found.iterations[0]),
    )
    weights = Dirichlet(np.ones(2))
    classes = Categorical(weights, plates=(480,))
    tables = [Dirichlet(np.ones(5), plates=(2,)) for _ in range(4)]
    seen = [Mixture(classes, Categorical, table) for table in tables]
    for node, column in zip(seen, rows.T, strict=True):
        node.observe(column)
    classes.initialize_from_parameters(np.random.default_rng(1).dirichlet([1, 1], 480))
    peer = VB(weights, *tables, classes, *seen)
    theirs = report(
        "the same, BayesPy",
        lambda: peer.update(repeat=steps, tol=-1.0, verbose=False),
        3,
        share=steps,
    )
    print(f"ratio {theirs / ours:.0f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peers", action="store_true")
    arguments = parser.parse_args()
    with ThreadPoolExecutor(1) as one:
        structures(one)
    if arguments.peers:
        peers()


if __name__ == "__main__":
    main()
