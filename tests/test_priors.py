"""Prior factors against their definitions."""

import math

import numpy as np
import oracles
import pytest

import bnlab as bn

MASKS = np.array([0, 2, 4, 6, 8, 14])


def test_factors_of_the_number_of_parents():
    sizes = [m.bit_count() for m in MASKS.tolist()]
    assert (bn.Uniform().log_factor(4, 0, MASKS) == 0).all()
    fair = [-math.log(math.comb(3, s)) for s in sizes]
    assert bn.Fair().log_factor(4, 0, MASKS) == pytest.approx(fair)
    for nats in (1.5, 2, 0, -100):
        factor = bn.EdgePenalty(nats).log_factor(4, 0, MASKS)
        assert factor == pytest.approx([-nats * s for s in sizes])


def test_the_fair_prior_gives_every_number_of_parents_the_same_mass():
    n = 6
    masks = np.array([m for m in range(1 << n) if not m & 1])
    mass = np.exp(bn.Fair().log_factor(n, 0, masks))
    for size in range(n):
        assert mass[np.bitwise_count(masks) == size].sum() == pytest.approx(1.0)


def test_edge_beliefs_sum_to_the_energy_of_the_whole_graph():
    rng = np.random.default_rng(8)
    n, strength = 4, 2.5
    beliefs = rng.random((n, n))
    prior = bn.EdgeBeliefs(beliefs, strength)
    for dag in bn.graphs.all_dags(n)[::20]:
        adjacency = bn.graphs.to_adjacency(dag)
        energy = sum(
            abs(beliefs[u, v] - adjacency[u, v]) for u in range(n) for v in range(n) if u != v
        )
        factors = sum(prior.log_factor(n, v, dag[v : v + 1])[0] for v in range(n))
        assert factors == pytest.approx(-strength * energy)


def test_beliefs_of_one_half_say_nothing():
    n = 4
    data = bn.Data.from_arrays(np.random.default_rng(0).integers(0, 2, size=(40, n)))
    plain = bn.order_posterior(bn.score_families(data, bn.BDeu()))
    vague = bn.EdgeBeliefs(np.full((n, n), 0.5), strength=9.0)
    told = bn.order_posterior(bn.score_families(data, bn.BDeu(), prior=vague))
    assert told.edges == pytest.approx(plain.edges, abs=1e-12)
    assert told.log_evidence == pytest.approx(plain.log_evidence, abs=1e-10)


def test_a_prior_of_ones_own():
    class NoColliders:
        def log_factor(self, n, v, parents, /):
            return np.where(np.bitwise_count(parents) > 1, -np.inf, 0.0)

    data = bn.Data.from_arrays(np.random.default_rng(0).integers(0, 2, size=(40, 4)))
    table = bn.score_families(data, bn.BDeu(), prior=NoColliders())
    log_z, edges, _, _ = oracles.order_modular_over_dags(oracles.families_of(table))
    posterior = bn.order_posterior(table)
    assert posterior.log_z == pytest.approx(log_z, abs=1e-10)
    assert posterior.edges == pytest.approx(edges, abs=1e-10)


class Own:
    """A prior that adds one value to every family of one parent."""

    def __init__(self, value):
        self.value = value

    def log_factor(self, n, v, parents, /):
        return np.where(np.bitwise_count(parents) == 1, self.value, 0.0)


def test_strong_priors_keep_their_digits_and_stronger_ones_are_refused():
    n = 5
    data = bn.Data.from_arrays(np.random.default_rng(0).integers(0, 2, size=(40, n)))
    plain = bn.score_families(data, bn.BDeu())
    vague = bn.EdgeBeliefs(np.full((n, n), 0.5), strength=4.9e7)  # 98 million nats a node
    told = bn.score_families(data, bn.BDeu(), prior=vague)
    for exact in (bn.order_posterior, bn.dag_posterior):
        one, other = exact(told), exact(plain)
        assert one.edges == pytest.approx(other.edges, abs=1e-7)
        assert one.log_evidence == pytest.approx(other.log_evidence, abs=1e-5)
    stronger = bn.EdgeBeliefs(np.full((n, n), 0.5), strength=1e8)
    with pytest.raises(ValueError, match=r"log_prior\[0, 0\] = -200000000.0, of 'x0' given no par"):
        bn.score_families(data, bn.BDeu(), prior=stronger)


@pytest.mark.parametrize("value", [1e16, -1e16, 1.01e8, math.inf, math.nan])
@pytest.mark.parametrize("scores", [bn.score_families, bn.LazyScores])
def test_no_prior_of_any_kind_passes_with_too_few_digits_left(scores, value):
    data = bn.Data.from_arrays([[0, 0], [1, 1]], names=["a", "b"])
    with pytest.raises(ValueError, match=r"log_prior\[0, 1\] = .*, of 'a' given b, is .*-inf"):
        scores(data, bn.BDeu(), prior=Own(value))
    forbidding = scores(data, bn.BDeu(), prior=Own(-math.inf))
    assert np.isneginf(forbidding.log_target([0, 1]))


@pytest.mark.parametrize("factors", [0.0, [0.0], [[0.0, 0.0]], ["a", "b"], None])
@pytest.mark.parametrize("scores", [bn.score_families, bn.LazyScores])
def test_a_prior_of_ones_own_has_a_number_for_each_family(scores, factors):
    class Wrong:
        def log_factor(self, n, v, parents, /):
            return factors

    with pytest.raises(ValueError, match=r"Wrong.log_factor gave .* for 'x0': return a number"):
        scores(bn.Data.from_arrays([[0, 0], [1, 1]]), bn.BDeu(), prior=Wrong())


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: bn.EdgePenalty(math.nan), "nats=nan is outside"),
        (
            lambda: bn.EdgePenalty(1e16),
            r"nats=1e[+]16 is outside .*-1e\+08, 1e\+08.; .*use .*forbidden=",
        ),
        (lambda: bn.EdgePenalty(-1e16), r"outside .-1e\+08, 1e\+08\]"),
        (
            lambda: bn.EdgeBeliefs(np.zeros((2, 2)), strength=1e16),
            r"0, 1e\+08\]; .*use required=",
        ),
        (lambda: bn.EdgeBeliefs(np.zeros((2, 3))), r"\(n, n\) matrix"),
        (lambda: bn.EdgeBeliefs([[0, 1.2], [0, 0]]), r"beliefs\[0, 1\] = 1.2"),
        (lambda: bn.EdgeBeliefs([[0, math.nan], [0, 0]]), r"beliefs\[0, 1\] = nan"),
        (lambda: bn.EdgeBeliefs(np.zeros((2, 2)), strength=-1), r"strength=-1 is outside \[0, "),
    ],
)
def test_bad_priors_say_what_is_wrong(make, message):
    with pytest.raises(ValueError, match=message):
        make()
