"""What a new installation must be able to do: compute, draw, and write a report."""

import sys
import tempfile
from pathlib import Path

import numpy as np

import bnlab as bn
from bnlab.cli import main


def smoke() -> None:
    """Compute an exact posterior, draw DAGs on threads, refuse a table and write a page."""
    data = bn.load_dataset("wine")
    table = bn.score_families(data, bn.BDeu())
    posterior = bn.order_posterior(table)
    draws = bn.sample_dags(posterior, draws=10_000, rng=np.random.default_rng(1))
    error = np.abs(bn.features.edges(draws) - posterior.edges).max()
    assert error < 0.03, error
    try:  # what is asked for is read from annotations, which libraries may change
        bn.sample_dags(table, draws=1, rng=np.random.default_rng(1))
    except ValueError as refused:
        assert "pass an OrderPosterior or a DagPosterior" in str(refused), refused
    with tempfile.TemporaryDirectory() as folder:
        table, page = Path(folder, "table.csv"), Path(folder, "page.html")
        lines = [",".join(data.names), *(",".join(map(str, row)) for row in data.values)]
        table.write_text("\n".join(lines) + "\n", encoding="utf-8")
        assert main(["report", str(table), "-o", str(page), "--quiet"]) == 0
        assert page.stat().st_size > 500_000
    print(f"bnlab {bn.__version__} on Python {sys.version.split()[0]}: edges within {error:.3f}")


if __name__ == "__main__":
    smoke()
