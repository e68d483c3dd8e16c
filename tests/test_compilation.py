"""Compiled kernels across processes, and without a step outside their arrays."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import bnlab

FIRST = """
import bnlab as bn
bn.score_families(bn.Data.from_arrays([[0, 1], [1, 0]]), bn.BDeu())
"""
OTHER = """
import numpy as np
import bnlab as bn

small = bn.Data.from_arrays([[0, 1, 2], [1, 0, 0], [1, 1, 1]], intervened=np.eye(3, dtype=bool))
for data in (small, small.prefix(1), small.prefix(0), small.select(["x1"])):
    for score in (bn.BDeu(), bn.K2(), bn.BIC()):
        for k in (0, 1, 2):
            table = bn.score_families(data, score, max_parents=k)
            posterior = bn.order_posterior(table)
            bn.exact.order_paths(posterior)
            bn.map_dag(table)
            bn.k_best_dags(table, 9)
            bn.graphs.consistent_extension(bn.ges(table).cpdag)
            bn.sample_dags(posterior, draws=10, rng=np.random.default_rng(0))
            orders = bn.sample_orders(posterior, draws=10, rng=np.random.default_rng(0))
            bn.features.edges(orders, table=table)
            bn.features.modular_probability(orders, lambda v, sets: sets == 0, table=table)
            bn.sample_dags(orders, draws=2, table=table, rng=np.random.default_rng(0))
bn.predict.plug_in_log_density([0, 1, 3], small.prefix(0), [[1, 1, 2], [0, -1, 0]])
bn.graphs.near_ancestors(bn.graphs.all_dags(4), max_length=3)
bn.graphs.ancestors(bn.graphs.all_dags(4))
bn.order_lattice(table)
table.log_target(bn.graphs.all_dags(1))
"""

CALLED = "out[t, v] = mask"
CALLER = """
import numpy as np
from bnlab.kernels.structures import start

source = np.zeros((2, 2)), np.ones((2, 2), dtype=int), np.array([0, 1, 2])
assert start(np.array([0, 1]), source)[0].tolist() == {}
"""


def run(code, **environment):
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env=os.environ | environment,
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stderr


def test_a_second_process_compiles_beside_the_cache_of_the_first(tmp_path):
    """Kernels loaded from disk and kernels compiled anew for other array types must get along."""
    run(FIRST, NUMBA_CACHE_DIR=str(tmp_path))
    assert list(tmp_path.rglob("*.nbi"))
    run(OTHER, NUMBA_CACHE_DIR=str(tmp_path))


@pytest.mark.slow
def test_no_kernel_steps_outside_its_arrays(tmp_path):
    run(OTHER, NUMBA_CACHE_DIR=str(tmp_path), NUMBA_BOUNDSCHECK="1")


def test_an_update_of_one_kernel_reaches_those_that_call_it(tmp_path):
    """numba by itself keeps the machine code of the callers, with the old one inside."""
    shutil.copytree(Path(bnlab.__file__).parent / "kernels", tmp_path / "bnlab" / "kernels")
    (tmp_path / "bnlab" / "__init__.py").touch()
    called = tmp_path / "bnlab" / "kernels" / "dags.py"
    source = called.read_text(encoding="utf-8")
    assert CALLED in source
    environment = {"PYTHONPATH": str(tmp_path), "PYTHONSAFEPATH": "1"}
    environment["NUMBA_CACHE_DIR"] = str(tmp_path / "cache")
    run(CALLER.format([0, 1]), **environment)
    called.write_text(source.replace(CALLED, "out[t, v] = mask + 8"), encoding="utf-8")
    run(CALLER.format([8, 17]), **environment)
