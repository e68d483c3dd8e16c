"""What the lab works on: wine, and letters at random as wide as the promoters data."""

from functools import cache

import numpy as np

import bnlab as bn

ROWS = 106
LETTERS = 57


@cache
def wine() -> bn.ScoreTable:
    """BDeu scores of the wine data, 13 variables.

    Examples
    --------
    >>> wine().n
    13
    """
    return bn.score_families(bn.load_dataset("wine"), bn.BDeu(1.0), max_parents=3)


def letters(n: int = LETTERS + 1, /) -> bn.Data:
    """A class and n - 1 letters of DNA, 106 rows, as many as in promoters, but at random.

    Most of every fifth are the sum of the two before, modulo 4, so that orders differ in weight.

    Examples
    --------
    >>> letters()
    Data: 106 rows, 58 variables with 2 to 4 states (x0, x1, x2, ...)
    """
    rng = np.random.default_rng(106)
    values = rng.integers(0, 4, (ROWS, n))
    values[:, 0] = rng.integers(0, 2, ROWS)
    for v in range(5, n, 5):
        ruled = rng.random(ROWS) < 0.9
        values[ruled, v] = (values[ruled, v - 1] + values[ruled, v - 2]) % 4
    return bn.Data.from_arrays(values, arities=[2] + [4] * (n - 1))
