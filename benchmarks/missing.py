"""How well edges are found with missing cells: averaged over, rows dropped, a level of their own.

    uv run --extra test python benchmarks/missing.py               # 20 tables of each kind: minutes
    uv run --extra test python benchmarks/missing.py --tables 5
    uv run --extra test python benchmarks/missing.py --tables 5 --kind "20 variables"

Tables of 300 rows of 6 variables, simulated from random networks, lose about 10 % of their cells:
"anywhere", each with the same probability, or "by two others", from four columns, far more often in
rows where the other two columns, which are observed, agree. "Measured, anywhere" are tables of
linear-Gaussian networks, scored with BGe. Tables of "20 variables" lose 5 %; there DAGs are drawn
by moves, and those of tables without gaps by `sample_structures` with reversals of edges. For each
way to deal with that the Brier score of the edges (the mean square of p(edge) less 1 or 0 over the
ordered pairs), by how much it is worse than that of the complete table, with the standard error
over the tables, and time.
"""

import argparse
import math
import time

import numpy as np

import bnlab as bn

ARITIES, ROWS, SHARE = np.array([2, 3, 2, 2, 3, 2]), 300, 0.1
MANY, KINDS = "20 variables", ("anywhere", "by two others", "measured, anywhere", "20 variables")
SCORE, MEASURED = bn.BDeu(), bn.BGe()


def lost(kind: str, values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Which cells are missing, (m, n)."""
    likely = np.full(values.shape, SHARE / 2 if kind == MANY else SHARE)
    if kind == "by two others":
        agree = (values[:, 0] > 0) == (values[:, 1] > 0)
        likely = np.where(agree, 0.03, 0.01)[:, None] * np.ones(values.shape)
        likely *= SHARE * values.size / likely[:, 2:].sum()
        likely[:, :2] = 0.0
    return rng.random(values.shape) < likely


def simulated(kind: str, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """The adjacency of a random DAG, and a table (m, n) of codes or measurements."""
    arities = np.resize(ARITIES, 20 if kind == MANY else ARITIES.size)
    joint = bn.sample_joint(arities, m=ROWS, rng=rng, score=bn.BDeu(10.0), max_parents=2)
    values = joint.data.values
    if kind.startswith("measured"):
        net = bn.GaussianNet.random_coefficients(joint.dag, rng)
        values = net.sample(ROWS, rng).measurements
    return bn.graphs.to_adjacency(joint.dag), values


def edges(values: np.ndarray, levels: np.ndarray | int = 0) -> np.ndarray:
    if values.dtype.kind == "f":
        scored = bn.score_families(bn.Data.from_arrays(values), MEASURED)
    else:
        arities = np.resize(ARITIES, values.shape[1]) + levels
        scored = bn.score_families(bn.Data.from_arrays(values, arities), SCORE)
    if scored.n > 14:
        moves = {"kernel": bn.EdgeReversal(0.2), "draws": 2000, "thin": 400, "burn_in": 50_000}
        drawn = bn.sample_structures(scored, **moves, rng=np.random.default_rng(1))
        return bn.features.edges(drawn)
    return bn.dag_posterior(scored).edges


def averaged(
    values: np.ndarray, gaps: np.ndarray, draws: int, rng: np.random.Generator
) -> bn.Completions:
    if values.dtype.kind == "f":
        data = bn.Data.from_arrays(np.where(gaps, np.nan, values), missing="keep")
        return bn.complete(data, MEASURED, draws=draws, rng=rng)
    arities = np.resize(ARITIES, values.shape[1])
    data = bn.Data.from_arrays(np.where(gaps, -1, values), arities, missing="keep")
    return bn.complete(data, SCORE, draws=draws, rng=rng)


def report(kind: str, tables: int, draws: int) -> None:
    brier: dict[str, list[float]] = {}
    took, untrusted, cells = 0.0, 0, 0
    for rng in np.random.default_rng(1).spawn(tables):
        truth, whole = simulated(kind, rng)
        gaps = lost(kind, whole, rng)
        start = time.perf_counter()
        found = averaged(whole, gaps, draws, rng)
        took += time.perf_counter() - start
        untrusted += not found.trusted
        cells += int(gaps.sum())
        ways = {
            "complete table": edges(whole),
            "averaged over": found.edges,
            "rows dropped": edges(whole[~gaps.any(axis=1)]),
        }
        if whole.dtype.kind == "f":
            ways["means in their place"] = edges(
                np.where(gaps, np.mean(whole, 0, where=~gaps), whole)
            )
        else:
            own = np.where(gaps, np.resize(ARITIES, whole.shape[1]), whole)
            ways["a level of their own"] = edges(own, gaps.any(axis=0))
        for way, p in ways.items():
            error = ((p - truth) ** 2).sum() / (p.size - len(p))
            brier.setdefault(way, []).append(error)
    print(
        f"{kind}: {cells / tables:.0f} cells missing; {took / tables:.1f} s a table; "
        f"{untrusted} of {tables} not to be trusted"
    )
    for way, errors in brier.items():
        worse = np.subtract(errors, brier["complete table"])
        error = worse.std(ddof=1) / math.sqrt(tables)
        print(f"  {way:<22}{np.mean(errors):.4f}   {worse.mean():+.4f} +/- {error:.4f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=20)
    parser.add_argument("--draws", type=int, default=250)
    parser.add_argument("--kind", choices=KINDS, help="one of the kinds; all of them by default")
    options = parser.parse_args()
    for kind in [options.kind] if options.kind else KINDS:
        report(kind, options.tables, options.draws)


if __name__ == "__main__":
    main()
