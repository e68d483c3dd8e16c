"""Edges found in columns of measurements: kept (BGe), cut (BDeu) or averaged over cuts.

    uv run --extra test python benchmarks/measurements.py [--tables 20] [--cuts]

20 tables of 300 rows of random linear-Gaussian networks over 12 variables, with sparse DAGs. Area
under the ROC curve and Brier score of p(u and v are joined | D), over pairs, of exact posteriors:
means over the tables, and the standard error of the mean difference from BGe. Ten seconds; with
averaged cuts (4 chains of 50 and 100 cycles) half a minute more for each table.
"""

import argparse

import numpy as np

import bnlab as bn

N, ROWS, K = 12, 300, 3
PAIRS = np.triu_indices(N, 1)


def main() -> None:
    """Print a line for each way."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=20)
    parser.add_argument("--cuts", action="store_true", help="average over cuts")
    options = parser.parse_args()
    found: dict[str, list[tuple[float, float]]] = {}
    for seed in range(options.tables):
        rng = np.random.default_rng(seed)
        dag = bn.graphs.from_adjacency(np.triu(rng.random((N, N)) < 0.2, 1))
        net = bn.GaussianNet.random_coefficients(dag, rng)
        kept, truth = net.sample(ROWS, rng), (net.coefficients != 0)[PAIRS]
        truth |= (net.coefficients.T != 0)[PAIRS]
        edges = {"BGe": exact(kept, bn.BGe())}
        for bins in (2, 3, 5):
            codes = [bn.discretize(x, bn.EqualFrequency(bins)).codes for x in kept.measurements.T]
            edges[f"{bins} bins"] = exact(bn.Data.from_arrays(np.column_stack(codes)), bn.BDeu())
        if options.cuts:
            found_cuts = bn.average_cuts(kept, bn.BDeu(), draws=100, burn_in=50, rng=rng)
            edges["averaged"] = found_cuts.edges
            print(f"table {seed}: {found_cuts}", flush=True)
        for name, p in edges.items():
            joined = (p + p.T)[PAIRS]
            auc = np.mean(joined[truth][:, None] > joined[~truth])
            found.setdefault(name, []).append((float(auc), float(np.mean((joined - truth) ** 2))))
    ours = np.array(found["BGe"])
    for name, both in found.items():
        gap = np.array(both) - ours
        error = gap.std(axis=0, ddof=1) / len(gap) ** 0.5
        (auc, brier), (auc_error, brier_error) = np.mean(both, axis=0), error
        said = f"AUC {auc:.3f} (± {auc_error:.3f})   Brier {brier:.3f} (± {brier_error:.3f})"
        print(f"{name:12s} {said}")


def exact(data: bn.Data, score: object) -> np.ndarray:
    """Edges (n, n) of the exact structure-modular posterior."""
    return bn.dag_posterior(bn.score_families(data, score, max_parents=K)).edges


if __name__ == "__main__":
    main()
