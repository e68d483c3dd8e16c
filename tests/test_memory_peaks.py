"""What methods say they need is what they take, at a hundred megabytes or so each."""

import runpy
import sys
from pathlib import Path

import pytest

BENCHMARK = runpy.run_path(str(Path(__file__).parents[1] / "benchmarks" / "memory.py"))
CASES = BENCHMARK["CASES"]
SHARE = 0.1
# Bytes of the interpreter, threads and compiled code that come and go, or a share of what is
# predicted where that is less.
APART, APART_SHARE = 8_000_000, 1 / 12


@pytest.fixture(scope="module")
def measuring():
    program = BENCHMARK["Measuring"]()
    yield program
    program.close()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="peaks are read from /proc")
@pytest.mark.parametrize("name", CASES)
def test_methods_take_the_memory_that_they_ask_for(name, measuring):
    found = measuring.of(name, CASES[name].small)
    apart = min(APART, APART_SHARE * found["predicted"])
    assert abs(found["measured"] - found["predicted"]) <= SHARE * found["predicted"] + apart
