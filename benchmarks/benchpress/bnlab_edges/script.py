"""Edges of high posterior probability, from a CSV to an adjacency matrix.

Snakemake runs this with `snakemake` defined. By hand:

    python script.py data.csv adjmat.csv --score bdeu --max-parents 3 --cutoff 0.5 --seed 1

The first row after the names has the number of levels of each variable, if the score is of discrete
data. Row u of the matrix has a 1 in column v for the edge u -> v.
"""

import argparse
import sys
import time
from contextlib import nullcontext
from pathlib import Path

import numpy as np

import bnlab as bn

EXACT = 16  # variables


def edges(data: bn.Data, score: str, max_parents: int, seed: int) -> np.ndarray:
    """Probabilities (n, n) of edges, exact or by partition MCMC."""
    kind = {"bdeu": bn.BDeu, "bic": bn.BIC, "bge": bn.BGe}[score]
    table = bn.score_families(data, kind(), max_parents=min(max_parents, data.n - 1))
    if data.n <= EXACT:
        return bn.dag_posterior(table).edges
    draws = bn.sample_partitions(
        table, draws=1000, thin=20, burn_in=20_000, rng=np.random.default_rng(seed)
    )
    return bn.features.edges(draws)


def learn(source: str, target: str, score: str, max_parents: int, cutoff: float, seed: int) -> None:
    """Read a table, write the adjacency matrix with names as its first line."""
    names = Path(source).read_text(encoding="utf-8").splitlines()[0].replace('"', "").split(",")
    cells = np.loadtxt(source, delimiter=",", skiprows=1, ndmin=2)
    if score == "bge":
        data = bn.Data.from_arrays(cells, names=names)
    else:
        whole = cells.astype(np.int64)
        data = bn.Data.from_arrays(whole[1:], arities=whole[0], names=names)
    there = edges(data, score, max_parents, seed) >= cutoff
    lines = [",".join(names), *(",".join(str(int(x)) for x in row) for row in there)]
    Path(target).write_text("\n".join(lines) + "\n", encoding="utf-8")


def within_benchpress(job: object) -> None:
    """Do what a rule asks for, within its time."""
    ways, into = job.wildcards, job.output  # type: ignore[attr-defined]
    start = time.perf_counter()
    limit = nullcontext()
    if ways["timeout"] != "None":
        sys.path.append("workflow/scripts/utils")
        from add_timeout import timeoutf

        limit = timeoutf(int(ways["timeout"]), into["adjmat"], into["time"], into["ntests"], start)
    with limit:
        settings = (ways["score"], int(ways["max_parents"]), float(ways["cutoff"]))
        learn(job.input["data"], into["adjmat"], *settings, int(ways["seed"]))  # type: ignore[attr-defined]
        Path(into["time"]).write_text(str(time.perf_counter() - start))
        Path(into["ntests"]).write_text("None")


if "snakemake" in globals():
    within_benchpress(globals()["snakemake"])
elif __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source")
    parser.add_argument("target")
    parser.add_argument("--score", choices=["bdeu", "bic", "bge"], default="bdeu")
    parser.add_argument("--max-parents", type=int, default=3)
    parser.add_argument("--cutoff", type=float, default=0.5)
    parser.add_argument("--seed", type=int, default=1)
    learn(**vars(parser.parse_args()))
