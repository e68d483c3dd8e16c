"""The whole analysis of a table: which method, what it finds, how sure, and when it refuses."""

import pickle
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from multiprocessing import get_context

import numpy as np
import pytest
from test_reports_reading import TEN

import bnlab as bn
from bnlab import graphs, memory
from bnlab.features.intervals import means_of, pair_means
from bnlab.reports import (
    Credible,
    analyse,
    choose_method,
    read_table,
    sensitivity,
)
from bnlab.reports.analysis import mean_network
from bnlab.reports.answers import RESUMED, credible, doubts, evenly
from bnlab.reports.planning import METHODS

BDEU, UNIFORM = bn.BDeu(), bn.Uniform()


def some_data(n=4, m=60, seed=1):
    """Rows of a random network."""
    rng = np.random.default_rng(seed)
    dag = np.array([0, 1, 3, 4, 8, 1, 0, 64][:n])
    net = bn.BayesNet.random_tables(dag, [2, 3, 2, 2, 2, 2, 3, 2][:n], rng, concentration=0.7)
    return net.sample(m, rng)


def enumerated(data, relation, score=BDEU, prior=UNIFORM):
    """Posterior probabilities (n, n) of a relation, by a sum over all DAGs."""
    dags = graphs.all_dags(data.n)
    table = bn.score_families(data, score, max_parents=data.n - 1, prior=prior)
    weight = np.exp(table.log_target(dags) - table.log_target(dags).max())
    holds = graphs.to_adjacency(relation(dags))
    return np.einsum("g,guv->uv", weight, holds) / weight.sum()


class TestMarkovBlankets:
    def test_by_their_definition(self):
        for dag, blankets in zip(
            graphs.all_dags(4), graphs.markov_blankets(graphs.all_dags(4)), strict=True
        ):
            edges = set(graphs.to_edges(dag))
            for v in range(4):
                children = {b for a, b in edges if a == v}
                parents = {a for a, b in edges if b == v}
                others = {a for a, b in edges if b in children}
                blanket = set(graphs.members(blankets[v]))
                assert blanket == (parents | children | others) - {v}

    def test_they_are_symmetric(self):
        matrices = graphs.to_adjacency(graphs.markov_blankets(graphs.all_dags(5)))
        assert np.array_equal(matrices, matrices.swapaxes(1, 2))

    def test_a_cycle_is_refused(self):
        with pytest.raises(ValueError, match="cycle"):
            graphs.markov_blankets([2, 1])


class TestIntervals:
    def draws(self, kind):
        posterior = bn.order_posterior(bn.score_families(some_data(), bn.BDeu()))
        drawn = bn.sample_dags(posterior, draws=200, rng=np.random.default_rng(3))
        if kind == "independent":
            return drawn
        if kind == "weighted":
            return bn.reweight_by_extensions(drawn)
        if kind == "distinct":
            exact = bn.dag_posterior(posterior.table)
            return bn.reweight_unique(drawn, log_z=exact.log_z)
        chains = bn.sample_partitions(
            posterior.table, draws=50, burn_in=10, rng=np.random.default_rng(4)
        )
        return (
            chains if kind == "chains" else replace(chains.prefix(50), log_weight=chains.log_target)
        )

    @pytest.mark.parametrize(
        "kind", ["independent", "weighted", "distinct", "chains", "heavy chains"]
    )
    def test_all_pairs_at_once_are_each_pair_by_itself(self, kind):
        draws = self.draws(kind)
        found = credible(draws, graphs.ancestors)
        for u in range(4):
            for v in set(range(4)) - {u}:
                one = bn.features.probability(draws, bn.features.path(u, v))
                assert found.probability[u, v] == pytest.approx(one.value)
                assert (found.low[u, v], found.high[u, v]) == pytest.approx((one.low, one.high))
                assert (found.kind, found.confidence) == (one.interval, one.confidence)

    def test_masks_and_rows_agree(self):
        draws = self.draws("weighted")
        masks = draws.values.reshape(-1, 4)
        rows = graphs.to_adjacency(masks).reshape(len(masks), -1).astype(float)
        for one, other in zip(
            means_of(draws, rows, 0.1), pair_means(draws, masks, 0.1), strict=True
        ):
            if isinstance(one, np.ndarray):
                assert np.allclose(one, other.ravel())
            else:
                assert one == other

    def test_the_diagonal_is_zero(self):
        for kind in ("independent", "weighted", "chains"):
            found = credible(self.draws(kind), np.asarray)
            for matrix in (found.probability, found.low, found.high):
                assert not np.diag(matrix).any()

    def test_even_resampling_keeps_the_weights(self):
        draws = self.draws("weighted")
        some = evenly(draws, 200)
        assert not some.log_weight.any() and some.values.shape == (1, 200, 4)
        assert np.abs(bn.features.edges(some) - bn.features.edges(draws)).max() < 0.03


def test_mean_network_has_the_posterior_means():
    data = bn.Data.from_arrays([[0, 0, 1], [0, 1, 1], [1, 1, 0], [1, 1, 1], [1, 2, 0]])
    net = mean_network(np.array([2, 0, 3]), data, bn.BDeu(ess=6.0))
    assert np.allclose(net.tables[1], [[(1 + 2) / 11, (3 + 2) / 11, (1 + 2) / 11]])
    assert np.allclose(net.tables[0], [[2 / 3, 1 / 3], [2 / 5, 3 / 5], [1 / 3, 2 / 3]])
    assert np.allclose(net.tables[2][0], [0.5 / 2, 1.5 / 2])  # of x0 = 0, x1 = 0
    assert np.allclose(net.tables[2][4], [1.5 / 3, 1.5 / 3])  # of x0 = 1, x1 = 1


def wide(n, m=50):
    rng = np.random.default_rng(n)
    return bn.Data.from_arrays(rng.integers(0, 2, (m, n)), arities=[2] * n)


class TestPlan:
    @pytest.mark.parametrize(
        ("n", "free", "seconds", "method"),
        [
            (4, 10**9, 60, "exact DAGs"),
            (18, 10**9, 60, "exact DAGs"),
            (18, 6 * 10**7, 60, "exact orders"),
            (18, 10**7, 60, "partitions"),
            (21, 10**9, 60, "exact orders"),
            (21, 10**9, 600, "exact DAGs"),
            (30, 10**10, 60, "partitions"),
            (63, 10**10, 60, "partitions"),
            (40, 10**10, 0.001, "search"),
        ],
    )
    def test_choice(self, n, free, seconds, method):
        plan = choose_method(wide(n), free=free, seconds=seconds)
        assert plan.method == method
        assert plan.needed_bytes <= free
        assert [name for name, _ in plan.rejected] == list(METHODS[: METHODS.index(method)])
        assert (plan.posterior is None) == (method == "search")
        assert all(text.endswith(".") for text in (*plan.why, *plan.guarantee))

    @pytest.mark.parametrize(
        ("method", "run"),
        [
            ("exact DAGs", bn.dag_posterior),
            ("exact orders", bn.order_posterior),
        ],
    )
    def test_bytes_are_those_by_which_the_method_refuses(self, method, run, monkeypatch):
        data = wide(9)
        plan = choose_method(data, method=method)
        table = bn.score_families(data, bn.BDeu(), max_parents=plan.max_parents)
        monkeypatch.setattr(memory, "free_bytes", lambda: plan.needed_bytes)
        run(table)
        monkeypatch.setattr(memory, "free_bytes", lambda: plan.needed_bytes - 1)
        with pytest.raises(ValueError, match=f"needs {plan.needed_bytes:,} bytes"):
            run(table)

    def test_parents(self):
        assert choose_method(wide(5)).max_parents == 4
        assert choose_method(wide(9)).max_parents == 3
        assert choose_method(wide(9), max_parents=2).max_parents == 2
        assert choose_method(wide(3), max_parents=7).max_parents == 2
        many = choose_method(wide(40, 200_000))
        assert many.max_parents == 2 and "Scoring families of 3 parents" in many.why[1]
        slow = choose_method(wide(63), seconds=10.0)
        assert slow.max_parents < 3 and "too few moves" in " ".join(slow.why)

    def test_a_method_asked_for(self):
        plan = choose_method(wide(4), method="partitions")
        assert plan.method == "partitions" and plan.chains == 4 and plan.burn_in > 0
        assert "another was asked for" in plan.rejected[0][1]
        with pytest.raises(ValueError, match=r'n=40, method="exact DAGs": it needs .* free'):
            choose_method(wide(40), method="exact DAGs", free=10**9)

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"seconds": 0}, "seconds=0: give a positive"),
            ({"max_parents": 0}, "max_parents=0"),
            ({"method": "magic"}, 'choose "exact DAGs", "exact orders"'),
            ({"score": bn.BIC()}, "no pseudo-counts"),
        ],
    )
    def test_arguments(self, options, message):
        with pytest.raises(ValueError, match=message):
            choose_method(wide(4), **options)

    def test_data(self):
        with pytest.raises(ValueError, match="1 variables and 4 rows"):
            choose_method(bn.Data.from_arrays([[0], [1], [0], [1]]))
        with pytest.raises(ValueError, match="make it a Data"):
            choose_method([[0, 1]])


def quick(data, method, **changes):
    return replace(choose_method(data, method=method), **changes)


def fit_for(method):
    """The table that a method takes: `some_data`, with holes for that which fills them."""
    data = some_data()
    if method == "completions":
        values = data.values.copy()
        values[[3, 5, 7], [0, 1, 2]] = -1
        return bn.Data.from_arrays(values, arities=data.arities, missing="keep")
    return data


def short(method, draws=200):
    """A plan for `some_data` that takes no time."""
    chains = {"burn_in": 50, "thin": 2} if method in ("partitions", "orders") else {}
    if method == "completions":
        chains, draws = {"burn_in": 15}, draws * 3 // 10
    return quick(fit_for(method), method, draws=draws, **chains)


def same(one, other):
    """Whether two analyses say the same, bit for bit."""
    pairs = [
        (getattr(getattr(one, part), matrix), getattr(getattr(other, part), matrix))
        for part in ("edges", "paths", "blankets")
        for matrix in ("probability", "low", "high")
    ]
    if one.draws is not None:
        pairs += [
            (getattr(one.draws, a), getattr(other.draws, a)) for a in ("values", "log_weight")
        ]
    return (
        all(np.array_equal(*pair) for pair in [*pairs, (one.best, other.best)])
        and (one.diagnostics, one.seed) == (other.diagnostics, other.seed)
        and (one.log_evidence is None or one.log_evidence.log_value == other.log_evidence.log_value)
    )


@pytest.fixture(scope="module")
def processes():
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as executor:
        yield executor


class TestAnalysis:
    @pytest.mark.parametrize("prior", [bn.Uniform(), bn.EdgePenalty(1.0)], ids=repr)
    def test_exact_numbers_are_sums_over_all_dags(self, prior):
        data = some_data()
        found = analyse(data, rng=np.random.default_rng(1), prior=prior)
        assert found.edges.kind == found.paths.kind == "exact"
        assert np.allclose(found.edges.probability, enumerated(data, np.asarray, prior=prior))
        assert np.allclose(found.paths.probability, enumerated(data, graphs.ancestors, prior=prior))
        truth = enumerated(data, graphs.markov_blankets, prior=prior)
        assert found.blankets.kind == "Hoeffding"
        assert (found.blankets.low <= truth).all() and (truth <= found.blankets.high).all()
        assert found.best_is == "the most probable DAG"
        assert found.table.log_target(found.best) == pytest.approx(
            found.table.log_target(graphs.all_dags(4)).max()
        )
        assert found.log_evidence.kind == "exact" and found.warnings == ()

    @pytest.mark.parametrize("method", ["exact orders", "partitions", "orders"])
    def test_every_method_answers_the_same_question(self, method):
        """The bias of orders is gone; differences are within about four standard errors."""
        data = some_data()
        changes = {} if method == "exact orders" else {"draws": 1500, "burn_in": 500, "thin": 3}
        plan = quick(data, method, **changes)
        found = analyse(data, rng=np.random.default_rng(5), plan=plan)
        for part, relation in (
            (found.edges, np.asarray),
            (found.paths, graphs.ancestors),
            (found.blankets, graphs.markov_blankets),
        ):
            truth = enumerated(data, relation)
            assert part.kind == "asymptotic" and part.confidence == 0.95
            assert (np.abs(part.probability - truth) <= 2 * (part.high - part.low) + 1e-9).all()
            assert np.abs(part.probability - truth).max() < 0.06
        if method == "exact orders":
            exact = bn.dag_posterior(found.table).log_evidence
            assert found.log_evidence.log_value == pytest.approx(exact, abs=0.05)
            assert found.diagnostics["mass of the distinct DAGs, about"] > 0.95
        else:
            assert found.diagnostics["rhat"] < 1.1 and found.log_evidence is None

    def test_search(self):
        data = some_data()
        found = analyse(data, rng=np.random.default_rng(1), plan=quick(data, "search", draws=5))
        assert found.draws is None and found.edges.kind == "none"
        assert np.array_equal(found.edges.probability, graphs.to_adjacency(found.best))
        assert found.best_is == "the best DAG found"
        assert found.predict({"x0": "0"}, "x1").sum() == pytest.approx(1.0)
        assert "not probabilities" in found.warnings[0]

    @pytest.mark.parametrize("method", METHODS)
    def test_the_same_for_any_executor(self, method, processes):
        data, plan = some_data(), short(method)
        first = analyse(data, rng=np.random.default_rng(7), plan=plan)
        with ThreadPoolExecutor(1) as thread:
            for executor in (thread, processes):
                again = analyse(data, rng=np.random.default_rng(7), plan=plan, executor=executor)
                assert same(first, again)

    @pytest.mark.quick("draws", "burn-in-orders", "burn-in-partitions", "burn-in-search")
    @pytest.mark.parametrize("method", RESUMED)
    @pytest.mark.parametrize("share", [150, 600], ids=["burn-in", "draws"])
    def test_a_stopped_analysis_goes_on_to_the_same_end(self, method, share, tmp_path, monkeypatch):
        for block in ("order_target.BLOCK_TERMS", "partition_mcmc.BLOCK_TERMS"):
            monkeypatch.setattr(f"bnlab.sampling.{block}", 1)  # short rounds
        monkeypatch.setattr("bnlab.sampling.averaging.BLOCK_CYCLES", 1)
        data, path, told = fit_for(method), tmp_path / "run.ckpt", []

        def run(seed=7, plan=None, **options):
            plan = plan or short(method)
            return analyse(data, rng=np.random.default_rng(seed), plan=plan, **options)

        whole = run()
        try:
            part = run(checkpoint=path, progress=lambda done, *_: done < share)
            assert part.run.stopped
        except bn.Stopped:
            assert share == 150
        again = run(checkpoint=path, progress=lambda done, *_: told.append(done))
        assert same(again, whole) and not again.run.stopped
        assert again.warnings == whole.warnings and told[1] > share
        assert same(run(checkpoint=path), whole)
        before = path.read_bytes()
        for other in ({"seed": 8}, {"plan": short(method, draws=210)}):
            with pytest.raises(ValueError, match="checkpoint of another run"):
                run(checkpoint=path, **other)
        path.write_bytes(before[:-1])
        with pytest.raises(ValueError, match="is damaged"):
            run(checkpoint=path)
        assert path.read_bytes() == before[:-1]

    @pytest.mark.parametrize("method", sorted(set(METHODS) - set(RESUMED)))
    def test_methods_of_minutes_leave_the_checkpoint_alone(self, method, tmp_path):
        path = tmp_path / "run.ckpt"
        analyse(
            some_data(), rng=np.random.default_rng(1), plan=short(method, draws=20), checkpoint=path
        )
        assert not path.exists()

    @pytest.mark.parametrize("method", [METHODS[0], "completions"])
    def test_progress_goes_up_to_a_thousand(self, method):
        told = []
        analyse(
            fit_for(method),
            rng=np.random.default_rng(1),
            plan=short(method, draws=20),
            progress=lambda done, total, what: told.append((done, total, what)),
        )
        assert [done for done, _, _ in told] == sorted(done for done, _, _ in told)
        assert told[0] == (0, 1000, "scoring families") and told[-1][:2] == (1000, 1000)

    def test_stopped_while_walking(self):
        data = some_data(8, 200)
        plan = quick(data, "partitions", draws=20_000, burn_in=10, thin=20)
        found = analyse(
            data,
            rng=np.random.default_rng(1),
            plan=plan,
            progress=lambda done, total, what: done < 100,
        )
        assert found.run.stopped and 0 < found.draws.values.shape[1] < 20_000
        assert "Stopped early" in found.warnings[0]
        assert found.edges.probability.shape == (8, 8)

    @pytest.mark.parametrize("method", [METHODS[0], "completions"])
    def test_stopped_while_setting_variables(self, method):
        """All draws are there, and no effects; progress is not told any more."""
        told = []

        def stop(done, total, what):
            told.append(what)
            return what != "setting variables"

        plan, rng = short(method, draws=20), np.random.default_rng(1)
        found = analyse(fit_for(method), rng=rng, plan=plan, progress=stop)
        assert told.count("setting variables") == 1 and told[-1] == "setting variables"
        assert found.run.stopped and found.what_if == () and found.draws.values.size
        assert "was not computed: stopped after step 1" in " ".join(found.warnings)

    @pytest.mark.parametrize("method", ["exact orders", "partitions", "orders", "search"])
    def test_interrupted(self, method):
        """Ctrl-C in the middle: what is drawn by then is analysed, and it says so."""

        def interrupt(done, total, what):
            if what in ("drawing DAGs", "climbing", "walking on partitions", "walking on orders"):
                told.append(done)
                if len(told) == 2:
                    raise KeyboardInterrupt

        told, data = [], some_data(8, 200)
        plan = quick(data, method, draws=20_000)
        if method in ("partitions", "orders"):
            plan = replace(plan, burn_in=0, thin=20)
        found = analyse(data, rng=np.random.default_rng(1), plan=plan, progress=interrupt)
        assert found.run.stopped and "Stopped early" in " ".join(found.warnings)
        assert found.edges.probability.shape == (8, 8)

    @pytest.mark.parametrize("method", ["exact DAGs", "partitions"])
    def test_stopped_before_the_first_draw(self, method):
        data = some_data(8, 200)
        plan = quick(data, method)
        with pytest.raises(bn.Stopped):
            analyse(data, rng=np.random.default_rng(1), plan=plan, progress=lambda *_: False)

    def test_refused_before_any_work(self):
        told = []
        for options, message in (
            ({"score": bn.BIC()}, "no pseudo-counts"),
            ({"seconds": -1}, "seconds=-1"),
            ({"rng": 5}, "rng=5 is no generator"),
            ({"checkpoint": "no/such/run.ckpt"}, "name a file in a folder that exists"),
        ):
            options = {"rng": np.random.default_rng(1), **options}
            with pytest.raises(ValueError, match=message):
                analyse(some_data(), progress=lambda *_: told.append(1), **options)
        assert told == []

    def test_doubts(self):
        plan = quick(wide(4), "partitions")
        run = bn.Run("", stopped=True)
        told = doubts(plan, {"rhat": 1.2, "ess": 30.0}, run)
        assert [text.split()[0] for text in told] == ["Stopped", "R-hat", "The"]
        assert told[1].endswith(f"Give more seconds, say {5 * plan.budget:g}.")
        longer = choose_method(wide(20), method="partitions", seconds=5 * 60)
        assert longer.thin >= 4 * choose_method(wide(20), method="partitions", seconds=60).thin
        assert "too short" in doubts(plan, {}, bn.Run(""))[0]
        assert doubts(plan, {"rhat": 1.001, "ess": 900.0}, bn.Run("")) == ()

    def test_repr_and_pickle(self):
        found = analyse(some_data(), rng=np.random.default_rng(1))
        assert repr(found).startswith("Analysis(4 variables, exact DAGs, ")
        copy = pickle.loads(pickle.dumps(found))
        assert np.array_equal(copy.edges.probability, found.edges.probability)
        assert repr(copy.edges) == "Credible(4 variables, exact)"


class TestPrediction:
    def test_average_over_all_dags(self):
        data = some_data(3, 40)
        found = analyse(data, rng=np.random.default_rng(1))
        dags = graphs.all_dags(3)
        weight = np.exp(found.table.log_target(dags) - found.table.log_target(dags).max())
        rows = np.array([[1, c, -1] for c in range(3)])
        joint = np.array([np.exp(bn.predict.plug_in_log_density(dag, data, rows)) for dag in dags])
        truth = weight @ joint / (weight @ joint).sum()
        assert np.abs(found.predict({"x0": "1"}, "x1") - truth).max() < 0.005

    def test_the_target_may_be_in_the_row(self):
        found = analyse(some_data(), rng=np.random.default_rng(1))
        row = {"x0": "1", "x2": "0"}
        assert np.array_equal(found.predict({**row, "x1": "2"}, "x1"), found.predict(row, "x1"))

    def test_unknown_names_and_levels(self):
        found = analyse(some_data(), rng=np.random.default_rng(1))
        with pytest.raises(ValueError, match="no variable 'rain'"):
            found.predict({"rain": "1"}, "x1")
        with pytest.raises(ValueError, match="'x0' has no level '7'; there are 0, 1"):
            found.predict({"x0": "7"}, "x1")
        with pytest.raises(ValueError, match="no variable 'x9'"):
            found.predict({}, "x9")


class TestSensitivity:
    def test_exact(self):
        data = some_data()
        priors = (bn.Uniform(), bn.EdgePenalty(2.0))
        found = sensitivity(
            analyse(data, rng=np.random.default_rng(1)), ess=(0.5, 8.0), priors=priors
        )
        assert found.how == "exact" and np.isinf(found.effective).all()
        for a, ess in enumerate((0.5, 8.0)):
            for b, prior in enumerate(priors):
                truth = enumerated(data, np.asarray, bn.BDeu(ess), prior)
                assert np.allclose(found.edges[a, b], truth)

    @pytest.mark.parametrize("how", ["draws", "short chains"])
    def test_beyond_exact(self, how, monkeypatch):
        data = some_data(6, 100)
        names = {"MOST_EXACT": 3} if how == "draws" else {"MOST_EXACT": 3, "MOST_ORDERS": 3}
        for name, value in names.items():
            monkeypatch.setattr(sys.modules["bnlab.reports.sensitivity"], name, value)
        found = sensitivity(data, ess=(1.0,), priors=(bn.Uniform(),))
        k = found.max_parents
        exact = bn.dag_posterior(bn.score_families(data, bn.BDeu(), max_parents=k)).edges
        assert found.how == how and (found.effective > 50).all()
        assert k == (5 if how == "draws" else 2)
        assert np.abs(found.edges[0, 0] - exact).max() < 0.15

    def test_nothing_to_compare(self):
        with pytest.raises(ValueError, match="nothing to compare"):
            sensitivity(some_data(), ess=())


LONG = {"mushroom", "german", "promoters", "primary_tumor", "zoo", "votes"}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name in LONG)) for name in TEN]
)
def test_ten_tables_without_help(name, data_dir):
    data = read_table(data_dir / TEN[name].file).data
    found = analyse(data, rng=np.random.default_rng(2026))
    for part in (found.edges, found.paths, found.blankets):
        assert isinstance(part, Credible) and part.probability.shape == (data.n, data.n)
        assert (part.low <= part.probability + 1e-12).all()
        assert (part.probability <= part.high + 1e-12).all()
        assert part.low.min() >= 0 and part.high.max() <= 1 and part.kind != "none"
    assert (found.edges.probability <= found.paths.probability + 1e-9).all()
    assert found.plan.posterior == "structure-modular"
    target = data.names[0]
    row = {other: data.levels[v][0] for v, other in enumerate(data.names)}
    chances = found.predict(row, target)
    assert chances.shape == (data.arities[0],) and chances.sum() == pytest.approx(1.0)
    assert found.plan.method == (
        "partitions"
        if name == "promoters"
        else "exact orders"
        if name in ("mushroom", "german")
        else "exact DAGs"
    )
