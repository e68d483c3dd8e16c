"""Random walks on DAGs: local moves, global proposals, Gibbs steps and edge reversals.

The weight of a DAG is the product over its nodes of beta_v(parents of v): prior factor times
likelihood, each DAG once. A walk holds the parent masks, the masks of all proper ancestors, and
ln beta of each node's family; ancestors change only when a move is accepted. Every move leaves the
posterior as it is and is reversible on its own, and so is a mixture of them with fixed shares.

A `source` of ln beta is (log_beta (n, F), choose (n, k + 1), first (k + 2,)): families by rank, as
in `counting.family_ranks`.
"""

import math

import numpy as np
from numba import njit

from bnlab.kernels.dags import ancestors, topological_order
from bnlab.kernels.subsets import compact, popcount, trailing_zeros

LOCAL, GLOBAL, GIBBS, REVERSAL = 0, 1, 2, 3
NEGLIGIBLE = 60.0  # nats below the largest term, a sum of up to e**20 terms keeps all its digits


@njit(cache=True, nogil=True)
def walk(dag, source, kernel, plan, rng, record):
    """Move `dag` (n,) along: `lead` moves, then `thin` before each record.

    kernel: (other, share, chances (n, n), parents (n, F), log_beta (n, F)): a move is of the kind
    `other` with probability `share`, else local. chances[u, v] = q(u -> v) of global proposals;
    the families, heaviest first, serve edge reversals. Where a kind is not used, they are (0, 0).
    plan: (lead, thin). record: (kept (T, n) DAGs; log_targets (T,), nats; tally (4, 2): moves tried
    and accepted, by kind).
    """
    lead, thin = plan
    kept, log_targets, tally = record
    above, scores = start(dag, source)
    state, fresh = (dag, above, scores), dag.copy()
    advance(state, source, kernel, lead, rng, tally, fresh)
    for t in range(kept.shape[0]):
        advance(state, source, kernel, thin, rng, tally, fresh)
        kept[t] = dag
        log_targets[t] = scores.sum()


@njit(cache=True, nogil=True)
def advance(state, source, kernel, moves, rng, tally, fresh):
    """Make so many moves; fresh (n,) is scratch."""
    other, share, chances, parents, log_beta = kernel
    families = parents, log_beta
    if state[0].size == 1:  # one DAG only
        moves = 0
    for _ in range(moves):
        kind = LOCAL
        if share == 1.0 or (share > 0.0 and rng.random() < share):
            kind = other
        if kind == LOCAL:
            accepted = local_move(state, source, rng)
        elif kind == GLOBAL:
            accepted = global_move(state, source, chances, rng, fresh)
        elif kind == GIBBS:
            accepted = gibbs_move(state, source, rng)
        else:
            accepted = reversal_move(state, source, families, rng)
        tally[kind, 0] += 1
        tally[kind, 1] += accepted


@njit(cache=True, nogil=True)
def start(dag, source):
    """Masks of the proper ancestors (n,) and ln beta (n,) of the nodes of a DAG."""
    above, scores = np.zeros(dag.size, np.int64), np.empty(dag.size)
    ancestors(dag.reshape(1, dag.size), above.reshape(1, dag.size))
    for v in range(dag.size):
        scores[v] = score(source, v, dag[v])
    return above, scores


@njit(cache=True, nogil=True, inline="always")
def score(source, v, mask):
    """ln beta_v of a parent mask; -inf for more than k parents."""
    log_beta, choose, first = source
    rest = compact(mask, v)
    if popcount(rest) > first.size - 2:
        return -np.inf
    size, rank = 0, 0
    while rest:
        size += 1
        rank += choose[trailing_zeros(rest), size]
        rest &= rest - 1
    return log_beta[v, first[size] + rank]


@njit(cache=True, nogil=True)
def accept(gain, rng):
    """Metropolis: with probability min(1, exp(gain)); never where gain is -inf or nan."""
    return gain >= 0.0 or rng.random() < math.exp(gain)


@njit(cache=True, nogil=True)
def set_parents(state, v, mask, log_beta):
    """Give v its parents in a state, which must stay acyclic.

    Its descendants learn their ancestors, each when its parents among them have done so.
    """
    dag, above, scores = state
    dag[v], scores[v] = mask, log_beta
    left = np.int64(1) << v
    for w in range(dag.size):
        left |= ((above[w] >> v) & 1) << w
    while left:
        rest = left
        while rest:
            w = trailing_zeros(rest)
            rest &= rest - 1
            if dag[w] & left == 0:
                gained = parents = dag[w]
                while parents:
                    gained |= above[trailing_zeros(parents)]
                    parents &= parents - 1
                above[w] = gained
                left ^= np.int64(1) << w


@njit(cache=True, nogil=True)
def leads_around(state, u, v):
    """Whether there is a path from u to v by another parent of v than u."""
    dag, above, _ = state
    rest = dag[v] & ~(np.int64(1) << u)
    while rest:
        if (above[trailing_zeros(rest)] >> u) & 1:
            return True
        rest &= rest - 1
    return False


@njit(cache=True, nogil=True, inline="always")
def random_pair(n, rng):
    """One of the n (n - 1) ordered pairs of different nodes, each as likely."""
    i = int(rng.random() * (n * (n - 1)))
    v = i // (n - 1)
    u = i - v * (n - 1)
    return u + (u >= v), v


@njit(cache=True, nogil=True)
def local_move(state, source, rng):
    """Add, delete or reverse one edge [MadiganYork1995, GiudiciCastelo2003]; whether it was done.

    One of the n (n - 1) ordered pairs (u, v) is taken: an edge u -> v is deleted, an edge v -> u is
    reversed, else u -> v is added. Each change has one pair, and so has the way back: the proposal
    is symmetric. A pair that would close a cycle stays, so no neighbours need be counted.
    """
    dag, above, scores = state
    n = dag.size
    u, v = random_pair(n, rng)
    bit_u, bit_v = np.int64(1) << u, np.int64(1) << v
    backwards = (dag[u] & bit_v) != 0
    if (above[u] & bit_v) != 0 and not (backwards and not leads_around(state, v, u)):
        return False
    fresh_v = score(source, v, dag[v] ^ bit_u)
    gain = fresh_v - scores[v]
    fresh_u = scores[u]
    if backwards:
        fresh_u = score(source, u, dag[u] ^ bit_v)
        gain += fresh_u - scores[u]
    if not accept(gain, rng):
        return False
    if backwards:
        set_parents(state, u, dag[u] ^ bit_v, fresh_u)
    set_parents(state, v, dag[v] ^ bit_u, fresh_v)
    return True


@njit(cache=True, nogil=True)
def global_move(state, source, chances, rng, fresh):
    """A whole DAG from chances (n, n), whatever the last one was [EatonMurphy2007, sec. 3].

    Each pair of nodes is joined one way, the other, or not at all; a cycle stays. Accepted with the
    ratio of weight to q, the product over pairs of what was chosen. fresh (n,) is scratch.
    """
    dag, above, scores = state
    n, gain = dag.size, 0.0
    fresh[:] = 0
    for v in range(1, n):
        for u in range(v):
            forth, back = chances[u, v], chances[v, u]
            neither = 1.0 - forth - back
            r = rng.random()
            if r < forth:
                fresh[v] |= np.int64(1) << u
                gain -= math.log(forth / neither)
            elif r < forth + back:
                fresh[u] |= np.int64(1) << v
                gain -= math.log(back / neither)
            if (dag[v] >> u) & 1:
                gain += math.log(forth / neither)
            elif (dag[u] >> v) & 1:
                gain += math.log(back / neither)
    for v in range(n):
        gain += score(source, v, fresh[v]) - scores[v]
    if not accept(gain, rng) or topological_order(fresh, np.empty(n, np.int64)) < n:
        return False
    dag[:] = fresh
    ancestors(dag.reshape(1, n), above.reshape(1, n))
    for v in range(n):
        scores[v] = score(source, v, dag[v])
    return True


@njit(cache=True, nogil=True)
def gibbs_move(state, source, rng):
    """Join a random pair u, v anew: not at all, u -> v or v -> u; whether that changed it.

    Drawn from the weights of the three given all other edges, without those that would close a
    cycle.
    """
    dag, above, _ = state
    n = dag.size
    u, v = random_pair(n, rng)
    bit_u, bit_v = np.int64(1) << u, np.int64(1) << v
    none_u, none_v = dag[u] & ~bit_v, dag[v] & ~bit_u
    was = 1 if dag[v] & bit_u else (2 if dag[u] & bit_v else 0)
    alone_u, alone_v = score(source, u, none_u), score(source, v, none_v)
    into_u, into_v = score(source, u, none_u | bit_v), score(source, v, none_v | bit_u)
    if leads_around(state, u, v) if was == 1 else (above[v] & bit_u) != 0:
        into_u = -np.inf
    if leads_around(state, v, u) if was == 2 else (above[u] & bit_v) != 0:
        into_v = -np.inf
    logs = (alone_u + alone_v, alone_u + into_v, into_u + alone_v)
    top = max(logs[0], max(logs[1], logs[2]))
    p0, p1, p2 = math.exp(logs[0] - top), math.exp(logs[1] - top), math.exp(logs[2] - top)
    r = rng.random() * (p0 + p1 + p2)
    now = 0 if r < p0 else (1 if r < p0 + p1 else 2)
    if now == was:
        return False
    if was == 1:
        set_parents(state, v, none_v, alone_v)
    elif was == 2:
        set_parents(state, u, none_u, alone_u)
    if now == 1:
        set_parents(state, v, none_v | bit_u, into_v)
    elif now == 2:
        set_parents(state, u, none_u | bit_v, into_u)
    return True


@njit(cache=True, nogil=True)
def reversal_move(state, source, families, rng):
    """Reverse a random edge u -> v and draw all parents of both anew; whether it was done.

    u and v lose their parents; u gets new ones with v among them, then v gets new ones, each drawn
    in proportion to beta among those that close no cycle. Accepted with the ratio of the numbers of
    edges and of the sums that the way there and back were drawn from [GrzegorczykHusmeier2008].
    """
    dag, _, scores = state
    parents, log_beta = families
    edges = count_edges(dag)
    if edges == 0:
        return False
    u, v = nth_edge(dag, int(rng.random() * edges))
    bit_u, bit_v = np.int64(1) << u, np.int64(1) << v
    old_u, old_v = dag[u], dag[v]
    dag[u], dag[v] = 0, 0
    below_u, below_v = descendants(dag, u), descendants(dag, v)
    dag[v] = old_v
    gain = -log_family_sum(parents[u], log_beta[u], 0, descendants(dag, u))
    gain -= log_family_sum(parents[v], log_beta[v], bit_u, below_v)
    f_u, log_sum = draw_family(parents[u], log_beta[u], bit_v, below_u, rng)
    f_v = -1
    if f_u >= 0:
        dag[u], dag[v] = parents[u, f_u], 0
        gain += log_sum
        f_v, log_sum = draw_family(parents[v], log_beta[v], 0, descendants(dag, v), rng)
    dag[u], dag[v] = old_u, old_v
    if f_v < 0:
        return False
    new_u, new_v = parents[u, f_u], parents[v, f_v]
    edges_then = edges + popcount(new_u) + popcount(new_v) - popcount(old_u) - popcount(old_v)
    if not accept(gain + log_sum + math.log(edges / edges_then), rng):
        return False
    set_parents(state, v, 0, scores[v])
    set_parents(state, u, new_u, log_beta[u, f_u])
    set_parents(state, v, new_v, log_beta[v, f_v])
    return True


@njit(cache=True, nogil=True)
def count_edges(dag):
    """Number of edges of a DAG (n,)."""
    edges = 0
    for v in range(dag.size):
        edges += popcount(dag[v])
    return edges


@njit(cache=True, nogil=True)
def nth_edge(dag, place):
    """The edge (u, v), u -> v, at a place among all edges of a DAG, by v, then u."""
    v = 0
    while place >= popcount(dag[v]):
        place -= popcount(dag[v])
        v += 1
    rest = dag[v]
    for _ in range(place):
        rest &= rest - 1
    return trailing_zeros(rest), v


@njit(cache=True, nogil=True)
def descendants(dag, v):
    """Mask of the nodes that v leads to in a DAG (n,), v among them."""
    found, before = np.int64(1) << v, np.int64(0)
    while found != before:
        before = found
        for w in range(dag.size):
            if dag[w] & found:
                found |= np.int64(1) << w
    return found


@njit(cache=True, nogil=True)
def log_family_sum(parents, log_beta, needed, avoided):
    """ln of the sum of beta over the parents (F,) that hold `needed` and nothing of `avoided`.

    Families come heaviest first; those too light to change the sum are left out.
    """
    best, total = -np.inf, 0.0
    for f in range(parents.size):
        if not log_beta[f] > best - NEGLIGIBLE:
            break
        if parents[f] & needed == needed and parents[f] & avoided == 0:
            best = max(best, log_beta[f])
            total += math.exp(log_beta[f] - best)
    return best + math.log(total) if total > 0.0 else -np.inf


@njit(cache=True, nogil=True)
def draw_family(parents, log_beta, needed, avoided, rng):
    """One of the families of `log_family_sum` in proportion to beta, and that sum; -1 for none."""
    log_sum = log_family_sum(parents, log_beta, needed, avoided)
    chosen = -1
    if log_sum == -np.inf:
        return chosen, log_sum
    left = rng.random()
    for f in range(parents.size):
        if parents[f] & needed == needed and parents[f] & avoided == 0:
            if chosen >= 0 and not log_beta[f] > log_sum - NEGLIGIBLE:
                break
            chosen = f
            left -= math.exp(log_beta[f] - log_sum)
            if left < 0.0:
                break
    return chosen, log_sum
