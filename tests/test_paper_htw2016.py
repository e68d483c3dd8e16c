"""Published numbers of He, Tian & Wu (2016)."""

import numpy as np
import pytest

import bnlab as bn

# Table 1: data set -> method -> mean and standard deviation of the SAD of 15 runs.
TABLE_1 = {
    "tic_tac_toe": {"DOS": (0.1350, 0.0257), "DDS": (0.1547, 0.0378)},
    "wine": {"DOS": (0.0505, 0.0138), "DDS": (0.0839, 0.0137)},
}
RUNS, DRAWS, MAX_PARENTS = 15, 20_000, 5


@pytest.mark.parametrize(
    ("name", "n", "log_z"), [("tic_tac_toe", 10, -9415.625932780), ("wine", 13, -1746.565455996)]
)
def test_sums_over_orders(name, n, log_z):
    """The order-modular sums behind the column "DP" of Table 3 (BDeu ess 1, uniform factor)."""
    table = bn.score_families(bn.load_dataset(name), bn.BDeu(ess=1.0), max_parents=MAX_PARENTS)
    assert table.n == n
    assert bn.order_posterior(table).log_z == pytest.approx(log_z, abs=1e-6)


@pytest.mark.parametrize("name", TABLE_1)
def test_table_1_within_two_printed_standard_deviations(name):
    data = bn.load_dataset(name)
    table = bn.score_families(data, bn.K2(), max_parents=MAX_PARENTS, prior=bn.Fair())
    posterior = bn.order_posterior(table)
    sad = {"DOS": [], "DDS": []}
    for rng in np.random.default_rng(2016).spawn(RUNS):
        orders = bn.sample_orders(posterior, draws=DRAWS, rng=rng)
        dags = bn.sample_dags(posterior, draws=DRAWS, rng=rng)
        estimates = {"DOS": bn.features.edges(orders, table=table), "DDS": bn.features.edges(dags)}
        for method, edges in estimates.items():
            sad[method].append(bn.diagnostics.sad(edges, posterior.edges))
    for method, (mean, deviation) in TABLE_1[name].items():
        assert abs(np.mean(sad[method]) - mean) <= 2 * deviation
