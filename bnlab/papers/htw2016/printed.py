"""The numbers of He, Tian & Wu (2016), Tables 1 to 4, for the data sets of the page."""

from collections.abc import Iterator, Mapping

Key = tuple[str, str]
Pair = tuple[float, float]

NAMES = ("tic_tac_toe", "wine", "zoo", "german")
BY_ORDERS = ("PO-MCMC", "DOS", "DDS")
BY_DAGS = ("DP+MCMC", "k-best", "IW-DDS")


def _lines(text: str) -> Iterator[tuple[str, Iterator[float]]]:
    for line in text.strip().splitlines():
        name, *values = line.split()
        yield name, map(float, values)


def _values(methods: tuple[str, ...], text: str) -> dict[Key, float]:
    return {(name, m): next(values) for name, values in _lines(text) for m in methods}


def _pairs(methods: tuple[str, ...], text: str) -> dict[Key, Pair]:
    return {
        (name, m): (next(values), next(values)) for name, values in _lines(text) for m in methods
    }


TABLE_1: Mapping[Key, Pair] = _pairs(
    BY_ORDERS,
    """
    tic_tac_toe  0.5174 0.1280  0.1350 0.0257  0.1547 0.0378
    wine         0.1616 0.0403  0.0505 0.0138  0.0839 0.0137
    zoo          0.6079 0.1809  0.1020 0.0130  0.2756 0.0137
    german       2.8802 2.0191  0.0994 0.0295  0.1298 0.0338
    """,
)
"""Mean and standard deviation of the SAD of 15 runs; K2 score, Fair prior [HeTianWu2016, Table 1].
"""

TABLE_2: Mapping[Key, float] = _values(
    BY_ORDERS,
    """
    tic_tac_toe   104.30   1.96   1.73
    wine          374.17   2.56   2.53
    zoo          1331.80  13.75  21.90
    german       4887.33 333.43 356.17
    """,
)
"""Mean seconds of one run, dynamic program included [HeTianWu2016, Table 2]."""

TABLE_3_DP = {"tic_tac_toe": 0.1651, "wine": 1.4786, "zoo": 8.2142, "german": 3.7261}
"""SAD between the exact edges under the two priors; BDeu [HeTianWu2016, Table 3]."""

TABLE_3: Mapping[Key, Pair] = _pairs(
    BY_DAGS,
    """
    tic_tac_toe  15.0079  2.9877   1.4194 0   0.0227 0.0102
    wine          0.4605  0.2968   0.2011 0   0.1041 0.0075
    zoo          32.4189 10.0953  35.1215 0  19.7025 4.0767
    german        5.0207  3.2223   5.5902 0   0.9891 0.0449
    """,
)
"""Mean and standard deviation of the SAD of 20 runs; k-best is one run [HeTianWu2016, Table 3]."""

TABLE_3_MASS: Mapping[Key, Pair] = _pairs(
    BY_DAGS[1:],
    """
    tic_tac_toe  6.943e-1 0  9.935e-1  8.636e-4
    wine         9.023e-1 0  9.670e-1  1.700e-3
    zoo          3.815e-8 0  1.652e-11 1.211e-11
    german       7.800e-2 0  7.422e-1  7.200e-3
    """,
)
"""Mean and standard deviation of Delta [HeTianWu2016, Table 3]."""

TABLE_4: Mapping[Key, float] = _values(
    BY_DAGS,
    """
    tic_tac_toe  1033.69     8.37   3.28
    wine         1130.24   141.20   3.52
    zoo          2129.83  5531.81  26.16
    german       2450.09 10981.29 540.61
    """,
)
"""Mean seconds of one run, dynamic program included [HeTianWu2016, Table 4]."""
