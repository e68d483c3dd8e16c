"""What methods say they need is what they take, at a few hundred megabytes each."""

import runpy
import sys
from pathlib import Path

import pytest

BENCHMARK = runpy.run_path(str(Path(__file__).parents[1] / "benchmarks" / "memory.py"))
CASES, run = BENCHMARK["CASES"], BENCHMARK["run"]
APART = 8_000_000  # bytes of the interpreter, threads and compiled code that come and go
SHARE = 0.1


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="peaks are read from /proc")
@pytest.mark.parametrize("name", CASES)
def test_methods_take_the_memory_that_they_ask_for(name):
    found = run(name, CASES[name].small)
    assert abs(found["measured"] - found["predicted"]) <= SHARE * found["predicted"] + APART
