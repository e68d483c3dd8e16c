"""Walks on ordered partitions: weights, proposals, invariance, draws, chains for users."""

import dataclasses
import itertools
import math
from collections import Counter, defaultdict

import numpy as np
import oracles
import pytest
from tables import small_table, with_a_way_in

import bnlab as bn
from bnlab.kernels import partition_walks
from bnlab.sampling.chains import ChainSettings
from bnlab.sampling.partition_mcmc import KINDS, PartitionWalker, first_dag, partition_of
from bnlab.scores import allowed_order

MOVED = KINDS[:4]  # the partition itself; the last kind moves one of its DAGs
propose, rescore = with_a_way_in(partition_walks, "propose", "rescore")


# The slow twins: a partition is a tuple of frozensets


def all_partitions(nodes):
    """Every ordered partition of a frozenset."""
    if not nodes:
        return [()]
    return [
        (frozenset(first), *rest)
        for size in range(1, len(nodes) + 1)
        for first in itertools.combinations(sorted(nodes), size)
        for rest in all_partitions(nodes - frozenset(first))
    ]


def partitions_of(n):
    return all_partitions(frozenset(range(n)))


def layers_of(dag):
    """Sources, then the sources of what is left, and so on."""
    left, layers = set(range(len(dag))), []
    while left:
        free = frozenset(v for v in left if not left & set(oracles.members(dag[v])))
        layers.append(free)
        left -= free
    return tuple(layers)


def log_weight(log_phi, partition):
    """ln of the product over nodes of the sum over families that fit."""
    total, before, last = 0.0, frozenset(), frozenset()
    for layer in partition:
        for v in layer:
            fitting = [
                b
                for mask, b in log_phi[v].items()
                if before >= (parents := set(oracles.members(mask)))
                and (parents & last or not last)
            ]
            total += oracles.log_sum(fitting)
        before, last = before | layer, layer
    return total


def proposals(partition, kind):
    """Probability of each proposal; what is missing from 1 stays."""
    out, layers = defaultdict(float), list(partition)
    nodes = sorted(frozenset().union(*layers))
    where = {v: i for i, layer in enumerate(layers) for v in layer}

    def add(changed, p):
        out[tuple(layer for layer in changed if layer)] += p

    def swapped(i, j):
        return [frozenset({i: j, j: i}.get(v, v) for v in layer) for layer in layers]

    if kind == "split_or_join":
        big = [i for i, layer in enumerate(layers) if len(layer) > 1]
        for i in big:
            k = len(layers[i])
            for size in range(1, k):
                for part in map(frozenset, itertools.combinations(layers[i], size)):
                    p = 0.5 / len(big) / (k - 1) / math.comb(k, size)
                    add([*layers[:i], part, layers[i] - part, *layers[i + 1 :]], p)
        for i in range(len(layers) - 1):
            joined = layers[i] | layers[i + 1]
            add([*layers[:i], joined, *layers[i + 2 :]], 0.5 / (len(layers) - 1))
    elif kind == "swap":
        for i, j in itertools.permutations(nodes, 2):
            if where[i] != where[j]:
                others = len(nodes) - len(layers[where[i]])
                add(swapped(i, j), 1 / len(nodes) / others)
    elif kind == "adjacent":
        for first in range(len(layers) - 1):
            pairs = list(itertools.product(layers[first], layers[first + 1]))
            for i, j in pairs:
                add(swapped(i, j), 1 / (len(layers) - 1) / len(pairs))
    else:
        for v in nodes:
            rest = [layer - {v} for layer in layers if layer != {v}]
            into = [[*rest[:i], rest[i] | {v}, *rest[i + 1 :]] for i in range(len(rest))]
            alone = [[*rest[:i], frozenset({v}), *rest[i:]] for i in range(len(rest) + 1)]
            others = [changed for changed in into + alone if tuple(changed) != partition]
            for changed in others:
                add(changed, 1 / len(nodes) / len(others))
    return out


def masks(partition):
    n = len(frozenset().union(*partition))
    layers = [sum(1 << v for v in layer) for layer in partition]
    return np.array(layers + [0] * (n - len(layers)))


def tuple_of(layers):
    return tuple(frozenset(oracles.members(int(mask))) for mask in layers if mask)


def reversals(log_phi, dag):
    """Probability of each (edge u -> v, DAG with new parents of u, v among them, and of v)."""

    def ways(changed, node, needed=None):
        fitting = {}
        for mask, b in log_phi[node].items():
            other = (*changed[:node], mask, *changed[node + 1 :])
            if (needed is None or mask >> needed & 1) and oracles.is_acyclic(other):
                fitting[other] = math.exp(b)
        return {other: w / sum(fitting.values()) for other, w in fitting.items()}

    edges = [(u, v) for v, mask in enumerate(dag) for u in oracles.members(mask)]
    out = {}
    for u, v in edges:
        orphans = tuple(0 if w in (u, v) else mask for w, mask in enumerate(dag))
        for first, p in ways(orphans, u, needed=v).items():
            for second, q in ways(first, v).items():
                out[(u, v), second] = p * q / len(edges)
    return out


def reversal_matrix(log_phi, n):
    """(partitions, matrix, posterior) of edge reversals of a DAG drawn from the partition."""
    states = partitions_of(n)
    number = {state: i for i, state in enumerate(states)}
    dags = oracles.structure_modular_over_dags(log_phi)[1]
    offers = {dag: reversals(log_phi, dag) for dag in dags}
    target, flow = np.zeros(len(states)), np.zeros((len(states), len(states)))
    for dag, weight in dags.items():
        i = number[layers_of(dag)]
        target[i] += weight
        for ((u, v), other), p in offers[dag].items():
            back = dags[other] * offers[other][(v, u), dag]
            flow[i, number[layers_of(other)]] += min(weight * p, back)
    matrix = flow / target[:, None]
    matrix[np.diag_indices_from(matrix)] += 1 - matrix.sum(axis=1)
    return states, matrix, target


def transition_matrix(log_phi, n, kind):
    """(partitions, matrix, posterior): Metropolis-Hastings, written out."""
    if kind == "reverse":
        return reversal_matrix(log_phi, n)
    states = partitions_of(n)
    number = {state: i for i, state in enumerate(states)}
    log_weights = np.array([log_weight(log_phi, state) for state in states])
    offers = [proposals(state, kind) for state in states]
    matrix = np.zeros((len(states), len(states)))
    for i, state in enumerate(states):
        for other, p in offers[i].items():
            j = number[other]
            if log_weights[i] > -math.inf:
                ratio = math.exp(
                    min(0.0, log_weights[j] - log_weights[i] + math.log(offers[j][state] / p))
                )
                matrix[i, j] += p * min(1.0, ratio)
        matrix[i, i] += 1 - matrix[i].sum()
    return states, matrix, np.exp(log_weights - oracles.log_sum(log_weights))


# Weights


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_partitions_divide_the_dags_among_them(n):
    """Fubini numbers; each DAG has one partition, and the weights add up over DAGs."""
    log_phi = oracles.families_of(small_table(n=n, k=n - 1))
    states = partitions_of(n)
    assert len(states) == len(set(states)) == [1, 3, 13, 75][n - 1]
    by_partition = defaultdict(list)
    for dag in oracles.all_dags(n):
        by_partition[layers_of(dag)].append(oracles.dag_log_weight(log_phi, dag))
        assert tuple_of(partition_of(np.array(dag))) == layers_of(dag)
    assert by_partition.keys() == set(states)
    for state, log_weights in by_partition.items():
        assert oracles.log_sum(log_weights) == pytest.approx(log_weight(log_phi, state), abs=1e-10)


def node_scores(walker, layers):
    """Of every node, by the kernel, from nothing known."""
    n = layers.size
    unknown, fresh = (
        partition_walks.Partition(layers, np.full(n, -1), np.full(n, -1), np.zeros(n))
        for layers in (layers, np.zeros(n, np.int64))
    )
    lists = np.zeros((5, n + 4), np.uint64)
    return rescore(walker.source, lists, layers, unknown, fresh), fresh


def random_partition(n, rng):
    layer = rng.integers(0, rng.integers(1, n + 1), size=n)
    groups = [np.flatnonzero(layer == i) for i in range(n)]
    return tuple(frozenset(group.tolist()) for group in groups if group.size)


@pytest.mark.parametrize("k", [0, 1, 2, 3, 4, 5, 6])
def test_weights_of_partitions(k):
    table = small_table(n=7, k=k, arity=3)
    log_phi, walker = oracles.families_of(table), PartitionWalker.of(table)
    for seed in range(20):
        state = random_partition(7, np.random.default_rng(seed))
        found, _ = node_scores(walker, masks(state))
        assert found == pytest.approx(log_weight(log_phi, state), abs=1e-9)


def test_weights_where_scores_span_thousands_of_nats():
    """And where families that touch the last layer weigh e**-1000 of all within predecessors."""
    data = bn.random_network("child", rng=np.random.default_rng(1)).sample(
        5000, np.random.default_rng(2)
    )
    table = bn.score_families(data.select(data.names[:12]), bn.BDeu(), max_parents=3)
    log_phi, walker = oracles.families_of(table), PartitionWalker.of(table)
    assert np.ptp(table.log_phi, axis=1).max() > 2000
    for seed in range(20):
        state = random_partition(12, np.random.default_rng(seed))
        found, _ = node_scores(walker, masks(state))
        assert found == pytest.approx(log_weight(log_phi, state), abs=1e-8)


@pytest.mark.parametrize("n", [24, 40, 63])
def test_many_variables(n):
    rng = np.random.default_rng(n)
    data = bn.Data.from_arrays(rng.integers(0, 2, size=(30, n)))
    table = bn.score_families(data, bn.BDeu(), max_parents=2)
    log_phi, walker = oracles.families_of(table), PartitionWalker.of(table)
    state = partition_of(first_dag(table, rng))
    dags, log_targets, log_weights, tally = walker.walk(state, 50, 3, 50, rng)
    assert log_weights[-1] == pytest.approx(log_weight(log_phi, tuple_of(state)), abs=1e-8)
    assert (partition_of(dags[-1]) == state).all()
    assert log_targets == pytest.approx(table.log_target(dags), abs=1e-8)
    assert tally[:, 0].sum() == 150


# Moves


@pytest.mark.quick("1", "2", "3-swap", "3-split_or_join")
@pytest.mark.parametrize("kind", MOVED)
@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_proposals_and_their_odds(kind, n):
    """Each as often as it should, with ln of the odds of the way back."""
    rng, each = np.random.default_rng(0), 10_000 if n < 4 else 1500
    changed = np.empty(n, np.int64)
    for state in partitions_of(n):
        expected, counts, layers, met = proposals(state, kind), Counter(), masks(state), Counter()
        for _ in range(each):
            odds = propose(layers, KINDS.index(kind), rng, changed)
            met[odds, changed.tobytes()] += odds > -math.inf
        for (odds, content), times in (+met).items():
            other = tuple_of(np.frombuffer(content, np.int64))
            counts[other] += times
            back = proposals(other, kind)[state]
            assert odds == pytest.approx(math.log(back / expected[other]), abs=1e-12)
        assert counts.keys() == expected.keys()
        for other, p in expected.items():
            assert abs(counts[other] - each * p) <= 5 * math.sqrt(each * p * (1 - p)) + 1e-6
        assert (layers == masks(state)).all()


@pytest.mark.parametrize(
    ("n", "kind"), [*itertools.product([2, 3, 4], MOVED), (2, "reverse"), (3, "reverse")]
)
def test_the_exact_transition_matrix_is_in_detailed_balance(n, kind):
    _, matrix, target = transition_matrix(oracles.families_of(small_table(n=n, k=n - 1)), n, kind)
    flow = target[:, None] * matrix
    assert matrix.sum(axis=1) == pytest.approx(np.ones(len(target)), abs=1e-14)
    assert flow == pytest.approx(flow.T, abs=1e-15)
    assert target @ matrix == pytest.approx(target, abs=1e-14)
    assert (matrix >= -1e-15).all()


@pytest.mark.quick("reverse", "split_or_join")
@pytest.mark.parametrize("kind", KINDS)
def test_one_step_transitions_are_those_of_the_exact_matrix(kind):
    """Single moves of the kernel from each partition: rows of the matrix."""
    table = small_table(n=3, m=12)
    states, matrix, _ = transition_matrix(oracles.families_of(table), 3, kind)
    only = (np.arange(4) >= KINDS.index(kind)).astype(float)
    walker = dataclasses.replace(PartitionWalker.of(table), shares=only)
    rng, each = np.random.default_rng(4), 4000
    for i, state in enumerate(states):
        counts = Counter()
        for _ in range(each):
            layers = masks(state)
            walker.walk(layers, 1, 0, 1, rng)
            counts[layers.tobytes()] += 1
        for j, other in enumerate(states):
            p = min(1.0, matrix[i, j])
            met = counts.pop(masks(other).tobytes(), 0)
            assert abs(met - each * p) <= 5 * math.sqrt(each * p * (1 - p)) + 1e-6
        assert not counts


@pytest.mark.parametrize(
    ("n", "draws", "reversals"),
    [(2, 20_000, 0.1), (3, 40_000, 0.1), (3, 40_000, 0.0), (3, 40_000, 0.5), (4, 80_000, 0.1)],
)
def test_frequencies_of_all_partitions_and_dags_pass_a_chi_square_test(n, draws, reversals):
    table = small_table(n=n, k=n - 1, m=12, arity=3)
    _, posterior = oracles.structure_modular_over_dags(oracles.families_of(table))
    how = {"draws": draws, "chains": 1, "burn_in": 100, "thin": 30, "reversals": reversals}
    found = bn.sample_partitions(table, rng=np.random.default_rng(5), **how)
    dags = Counter(map(tuple, found.values[0].tolist()))
    counts = np.array([dags[dag] for dag in posterior])
    assert counts.sum() == draws
    assert oracles.chi_square(counts, draws * np.array(list(posterior.values()))) > 1e-4
    by_partition, seen = Counter(), Counter()
    for dag, p in posterior.items():
        by_partition[layers_of(dag)] += p
        seen[layers_of(dag)] += dags[dag]
    counts = np.array([seen[state] for state in by_partition])
    assert oracles.chi_square(counts, draws * np.array(list(by_partition.values()))) > 1e-4


def test_constraints_and_interventions():
    """Forbidden families never appear, and the rest has its exact posterior."""
    rng = np.random.default_rng(2)
    values = rng.integers(0, 2, size=(30, 4))
    data = bn.Data.from_arrays(values, intervened=rng.random(values.shape) < 0.3)
    table = bn.score_families(
        data, bn.BDeu(), max_parents=2, required=[(0, 1)], forbidden=[(2, 3), (1, 2)]
    )
    _, posterior = oracles.structure_modular_over_dags(oracles.families_of(table))
    posterior = {dag: p for dag, p in posterior.items() if p > 0}
    found = bn.sample_partitions(
        table, draws=10_000, chains=2, thin=30, rng=np.random.default_rng(1)
    )
    dags = Counter(map(tuple, found.values.reshape(-1, 4).tolist()))
    assert dags.keys() <= posterior.keys()
    counts = np.array([dags[dag] for dag in posterior])
    assert oracles.chi_square(counts, 20_000 * np.array(list(posterior.values()))) > 1e-4


def test_first_partitions_have_weight_whenever_there_is_a_dag():
    chain = [(u, u + 1) for u in range(7)]
    table = small_table(n=8, required=chain)
    for seed in range(5):
        rng = np.random.default_rng(seed)
        assert allowed_order(table, rng=rng).tolist() == list(range(8))
        assert tuple_of(partition_of(first_dag(table, rng))) == tuple(
            frozenset([v]) for v in range(8)
        )
    draws = bn.sample_partitions(table, draws=5, burn_in=0, rng=np.random.default_rng(1))
    assert (draws.log_target > -math.inf).all()
    assert draws.log_target == pytest.approx(table.log_target(draws.values))


# Chains


def chains(target, executor=None, **options):
    settings = {"draws": 200, "chains": 3, "burn_in": 500} | options
    return bn.sample_partitions(target, rng=np.random.default_rng(8), executor=executor, **settings)


def test_edges_are_within_their_error_of_the_exact_ones():
    """Tic-tac-toe endgames: 10 variables, dependent through the outcome."""
    table = bn.score_families(bn.load_dataset("tic_tac_toe"), bn.BDeu(), max_parents=3)
    exact = bn.dag_posterior(table).edges
    draws = chains(table, chains=16, draws=1000, thin=40, burn_in=5000)
    by_chain = np.array([bn.graphs.to_adjacency(dags).mean(axis=0) for dags in draws.values])
    error = by_chain.std(axis=0, ddof=1) / 4
    floor = math.sqrt((error**2).mean())  # 16 values do not tell a rare edge's error
    assert floor < 0.03
    assert (np.abs(by_chain.mean(axis=0) - exact) <= 4 * np.maximum(error, floor)).all()


def test_draws_say_what_they_are():
    table = small_table(n=5)
    draws = chains(table)
    assert draws.over == "dags"
    assert draws.prior == "structure-modular"
    assert draws.log_target == pytest.approx(table.log_target(draws.values), abs=1e-9)
    assert draws.run.settings["thin"] == 5
    assert set(draws.stats) == {f"acceptance_{kind}" for kind in KINDS}
    assert all((0 < share).all() and (share <= 1).all() for share in draws.stats.values())
    log_phi = oracles.families_of(table)
    expected = [log_weight(log_phi, layers_of(dag)) for dag in draws.values[1].tolist()]
    assert draws.traces["log_partition"][1] == pytest.approx(expected, abs=1e-9)
    assert not draws.log_weight.any()
    assert not draws.independent


@pytest.mark.parametrize("n", [1, 2])
def test_one_and_two_variables(n):
    draws = chains(small_table(n=n, k=n - 1))
    assert draws.values.shape == (3, 200, n)
    assert len(np.unique(draws.values.reshape(-1, n), axis=0)) == [1, 3][n - 1]


@pytest.mark.parametrize("block", [1, 10, 1000])
def test_rounds_cover_every_move(block):
    plan = ChainSettings(draws=17, burn_in=25, thin=3, chains=1)
    rounds, moves = [], 0
    while moves < plan.moves:
        lead, records = plan.round(moves, block)
        moves += lead + 3 * records
        assert plan.kept(moves) == sum(of_round for _, of_round in rounds) + records
        rounds.append((lead, records))
    assert sum(lead for lead, _ in rounds) == 25
    assert sum(records for _, records in rounds) == 17
    assert rounds[0][0] % 3 == 1  # then the chains are a whole number of steps before their draws
    assert all(lead + 3 * records <= max(block, 3) + 2 for lead, records in rounds)
