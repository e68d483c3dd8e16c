"""What chapter 6 of the thesis prints: sizes, parameters and Tables 6.1 to 6.5 [Beal2003]."""

from typing import NamedTuple

import numpy as np

from bnlab.checks import Ints

SIZES = (
    *(10, 20, 40, 80, 110, 160, 230, 320, 400, 430, 480, 560, 640, 800, 960, 1120, 1280),
    *(2560, 5120, 10240),
)
"""Rows of data n [sec. 6.4]; each data set begins the next."""

THETA = (
    ((0.12, 0.88),),
    ((0.08, 0.92),),
    ((0.03, 0.03, 0.64, 0.02, 0.27), (0.18, 0.15, 0.22, 0.19, 0.27)),
    (
        (0.10, 0.54, 0.07, 0.14, 0.15),
        (0.04, 0.15, 0.59, 0.05, 0.16),
        (0.20, 0.08, 0.36, 0.17, 0.18),
        (0.19, 0.45, 0.10, 0.09, 0.17),
    ),
    (
        (0.11, 0.47, 0.12, 0.30, 0.01),
        (0.27, 0.07, 0.16, 0.25, 0.25),
        (0.52, 0.14, 0.15, 0.02, 0.17),
        (0.04, 0.00, 0.37, 0.33, 0.25),
    ),
    ((0.10, 0.08, 0.43, 0.03, 0.36), (0.30, 0.14, 0.07, 0.04, 0.45)),
)
"""The parameters of the one true model, to two digits: their rows sum to .99 to 1.01."""

LEAST = 0.0025
"""What a printed .00 is taken for as a start: a walk never leaves a cell that is 0."""

RANK_SCORES = ("map", "bic*", "bicp*", "cs*", "vb*", "bic", "bicp", "cs", "vb", "ais(5)")
"""Columns of Table 6.1; an asterisk stands for scores without the alias term."""

DRAWS = 106
"""Draws of parameters from their prior in Table 6.5."""

SUCCESS_SCORES = ("bic", "bicp", "cs", "csd", "vb")
"""Columns of Table 6.5; "csd" is CS with a dagger."""


class Pooled(NamedTuple):
    """A column of Table 6.2: how often, in percent, VB ranks the truth worse, same or better."""

    worse: float
    same: float
    better: float


TABLE_6_2 = {
    "bic*": Pooled(16.9, 11.1, 72.0),
    "bicp*": Pooled(30.2, 15.0, 54.8),
    "cs*": Pooled(31.8, 20.2, 48.0),
    "csd*": Pooled(32.8, 22.1, 45.1),
    "bic": Pooled(15.1, 11.7, 73.2),
    "bicp": Pooled(29.6, 15.5, 55.0),
    "cs": Pooled(30.9, 20.9, 48.2),
    "csd": Pooled(31.9, 22.2, 45.9),
}
"""Ranks over all draws and sizes; an asterisk stands for both scores without the alias term."""


class Violations(NamedTuple):
    """A column of Table 6.4, percent of 136 structures, or of proposals."""

    single_plain: float  # one AIS run below VB*
    single: float  # one AIS run below VB
    rejected: float
    averaged_plain: float  # the mean of runs, below VB*
    averaged: float


TABLE_6_4 = {
    640: Violations(12.3, 15.1, 41.5, 0.0, 0.0),
    800: Violations(8.5, 9.4, 43.7, 0.0, 0.0),
    960: Violations(12.3, 14.2, 45.9, 0.0, 0.0),
    1120: Violations(10.4, 12.3, 47.7, 0.0, 1.5),
    1280: Violations(17.0, 20.8, 49.6, 0.7, 2.2),
    2560: Violations(25.5, 31.1, 59.2, 3.7, 5.1),
    5120: Violations(53.8, 59.4, 69.7, 13.2, 19.9),
    10240: Violations(71.7, 74.5, 79.2, 50.0, 52.9),
}
"""For smaller n the thesis prints bounds: at most 5.7, 7.5, 40.3, 0 and 1.9."""


def _table(text: str) -> Ints:
    return np.array([line.split() for line in text.split("\n") if line], np.int64)


TABLE_6_1 = _table("""
 21 127  55 129 122 127  50 129 115  59
 12 118  64 111 124 118  64 111 124 135
 28 127 124 107 113 127 124 107 113  15
  8 114  99  78 116 114  99  78 116  44
  8 109 103  98 114 109 103  98 113   2
 13 119 111 114  83 119 111 114  81   6
  8 105  93  88  54 105  93  88  54  54
  8 111 101  90  44 111 101  90  33  78
  6 101  72  77  15 101  72  77  15   8
  7 104  78  68  15 104  78  68  14  18
  7 102  92  80  55 102  92  80  44   2
  9 108  98  96  34 108  98  96  31  11
  7 104  97 105  19 104  97 105  17   7
  9 107 102 108  35 107 102 108  26  23
 13 112 107  76  16 112 107  76  13   1
  8 105  96 103  12 105  96 103  12   4
  7  90  59   8   3  90  59   6   3   5
  6  25  17  11  11  25  15  11  11   1
  5   6   5   1   1   6   5   1   1   1
  3   2   1   1   1   2   1   1   1   1
""")
"""Ranks (20, 10) of the true structure, by SIZES and RANK_SCORES."""

TABLE_6_3 = _table("""
 27  38  26  89 129  59
100 113  88  79 123 135
 45  88  77   5  11  15
 10  47 110  41  95  44
  1  50   8   2  62   2
 33   2 119  31  94   6
103  25  23 119  32  54
 22  65  51  44  42  78
 89  21   1  67  10   8
 29  94  21  97   9  18
  2  42  14 126  18   2
 47  41   7  59   7  11
 12  10  23   2  23   7
  7   3 126 101  22  23
  1   4   1 128   8   1
  3  53   3  37 133   4
 76   2  50   7  12   5
  1   1   4   1   1   1
 12   1  24   2  16   1
  1   1   2  12   1   1
""")
"""Ranks (20, 6) by AIS: five single runs, and their mean."""

TABLE_6_5 = _table("""
 0  0  0  0  0
 0  0  0  0  0
 0  0  0  0  0
 0  0  0  1  1
 0  0  0  0  1
 0  0  1  2  3
 0  1  3  5  6
 0  2  8 10 12
 1  5  8  9 11
 1  6 10 10 11
 3  7 12 12 15
 3  8 14 16 18
 5 11 14 17 23
 7 15 22 23 29
 9 18 28 33 36
11 19 32 33 40
15 24 38 41 48
35 41 59 62 66
56 63 76 76 80
73 79 82 83 84
""")
"""How often (20, 5) of 106 each of SUCCESS_SCORES ranks the true structure first."""
