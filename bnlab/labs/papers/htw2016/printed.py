"""The numbers of He, Tian & Wu (2016), Tables 1 to 4, for the data sets of the page."""

from collections.abc import Mapping

from bnlab.labs.direct_dag_sampling import PUBLISHED

NAMES = ("tic_tac_toe", "wine", "zoo", "german")

TABLE_1: Mapping[tuple[str, str], tuple[float, float]] = {
    **PUBLISHED,
    ("zoo", "PO-MCMC"): (0.6079, 0.1809),
    ("zoo", "DOS"): (0.1020, 0.0130),
    ("zoo", "DDS"): (0.2756, 0.0137),
    ("german", "PO-MCMC"): (2.8802, 2.0191),
    ("german", "DOS"): (0.0994, 0.0295),
    ("german", "DDS"): (0.1298, 0.0338),
}
"""Mean and standard deviation of the SAD of 15 runs; K2 score, Fair prior [HeTianWu2016, Table 1].
"""

TABLE_2: Mapping[tuple[str, str], float] = {
    ("tic_tac_toe", "PO-MCMC"): 104.30,
    ("tic_tac_toe", "DOS"): 1.96,
    ("tic_tac_toe", "DDS"): 1.73,
    ("wine", "PO-MCMC"): 374.17,
    ("wine", "DOS"): 2.56,
    ("wine", "DDS"): 2.53,
    ("zoo", "PO-MCMC"): 1331.80,
    ("zoo", "DOS"): 13.75,
    ("zoo", "DDS"): 21.90,
    ("german", "PO-MCMC"): 4887.33,
    ("german", "DOS"): 333.43,
    ("german", "DDS"): 356.17,
}
"""Mean seconds of one run, dynamic program included [HeTianWu2016, Table 2]."""

TABLE_3_DP: Mapping[str, float] = {
    "tic_tac_toe": 0.1651,
    "wine": 1.4786,
    "zoo": 8.2142,
    "german": 3.7261,
}
"""SAD between the exact edges under the two priors; BDeu [HeTianWu2016, Table 3]."""

TABLE_3: Mapping[tuple[str, str], tuple[float, float]] = {
    ("tic_tac_toe", "DP+MCMC"): (15.0079, 2.9877),
    ("tic_tac_toe", "k-best"): (1.4194, 0.0),
    ("tic_tac_toe", "IW-DDS"): (0.0227, 0.0102),
    ("wine", "DP+MCMC"): (0.4605, 0.2968),
    ("wine", "k-best"): (0.2011, 0.0),
    ("wine", "IW-DDS"): (0.1041, 0.0075),
    ("zoo", "DP+MCMC"): (32.4189, 10.0953),
    ("zoo", "k-best"): (35.1215, 0.0),
    ("zoo", "IW-DDS"): (19.7025, 4.0767),
    ("german", "DP+MCMC"): (5.0207, 3.2223),
    ("german", "k-best"): (5.5902, 0.0),
    ("german", "IW-DDS"): (0.9891, 0.0449),
}
"""Mean and standard deviation of the SAD of 20 runs; k-best is one run [HeTianWu2016, Table 3]."""

TABLE_3_MASS: Mapping[tuple[str, str], tuple[float, float]] = {
    ("tic_tac_toe", "k-best"): (6.943e-1, 0.0),
    ("tic_tac_toe", "IW-DDS"): (9.935e-1, 8.636e-4),
    ("wine", "k-best"): (9.023e-1, 0.0),
    ("wine", "IW-DDS"): (9.670e-1, 1.700e-3),
    ("zoo", "k-best"): (3.815e-8, 0.0),
    ("zoo", "IW-DDS"): (1.652e-11, 1.211e-11),
    ("german", "k-best"): (7.800e-2, 0.0),
    ("german", "IW-DDS"): (7.422e-1, 7.200e-3),
}
"""Mean and standard deviation of Delta [HeTianWu2016, Table 3]."""

TABLE_4: Mapping[tuple[str, str], float] = {
    ("tic_tac_toe", "DP+MCMC"): 1.29 + 1032.40,
    ("tic_tac_toe", "k-best"): 8.37,
    ("tic_tac_toe", "IW-DDS"): 3.28,
    ("wine", "DP+MCMC"): 2.44 + 1127.80,
    ("wine", "k-best"): 141.20,
    ("wine", "IW-DDS"): 3.52,
    ("zoo", "DP+MCMC"): 22.33 + 2107.50,
    ("zoo", "k-best"): 5531.81,
    ("zoo", "IW-DDS"): 26.16,
    ("german", "DP+MCMC"): 600.19 + 1849.90,
    ("german", "k-best"): 10981.29,
    ("german", "IW-DDS"): 540.61,
}
"""Mean seconds of one run, dynamic program included [HeTianWu2016, Table 4]."""
