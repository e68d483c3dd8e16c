"""Random walks on DAGs: local moves, global proposals, Gibbs steps and edge reversals.

The weight of a DAG is the product over its nodes of beta_v(parents of v), each DAG once. A state is
(dag, above, scores): the parent masks, the masks of all proper ancestors, which change only when a
move is accepted, and ln phi of each node's family, all (n,). Every move leaves the posterior as it
is and is reversible on its own, and so is a mixture of them with fixed shares. A `source` of ln
phi is (log_phi (n, F), choose (n, k + 1), first (k + 2,)): families by rank, as in
`counting.family_ranks`.
"""

import math

import numpy as np

from bnlab.kernels import inlined, inner, kernel, small
from bnlab.kernels.bits import accept, copy_to, member, members, popcount, total, uniform
from bnlab.kernels.counting import family_rank
from bnlab.kernels.dags import ancestors, topological_order
from bnlab.kernels.families import draw_family, log_restricted_sum

LOCAL, GLOBAL, GIBBS, REVERSAL = 0, 1, 2, 3


@kernel
def walk(dag, source, kernel, plan, rng, record):
    """Move `dag` (n,) along: `lead` moves, then `thin` before each record.

    kernel: (other, share, chances (n, n), parents (n, F), log_phi (n, F)): a move is of the kind
    `other` with probability `share`, else local. chances[u, v] = q(u -> v) of global proposals; the
    families, heaviest first, serve edge reversals. plan: (lead, thin). record: (kept (T, n) DAGs;
    log_targets (T,), nats; tally (4, 2): moves tried and accepted, by kind).
    """
    (lead, thin), (kept, log_targets, tally) = plan, record
    other, share, chances, parents, log_phi = kernel
    state, fresh = (dag, *start(dag, source)), dag.copy()
    for t in range(-1, kept.shape[0]):
        moves = lead if t < 0 else thin
        for _ in range(moves if dag.size > 1 else 0):  # else there is one DAG only
            kind = LOCAL
            if share == 1.0 or (share > 0.0 and uniform(rng) < share):
                kind = other
            if kind == LOCAL:
                accepted = local_move(state, source, rng)
            elif kind == GLOBAL:
                accepted = global_move(state, source, chances, rng, fresh)
            elif kind == GIBBS:
                accepted = gibbs_move(state, source, rng)
            else:
                accepted = reversal_move(state, parents, log_phi, rng)
            tally[kind, 0] += 1
            tally[kind, 1] += accepted
        if t >= 0:
            copy_to(dag, kept[t])
            log_targets[t] = total(state[2])


@kernel
def start(dag, source):
    """Masks of the proper ancestors (n,) and ln phi (n,) of the nodes of a DAG."""
    above, scores = np.zeros(dag.size, np.int64), np.empty(dag.size)
    ancestors(dag.reshape(1, dag.size), above.reshape(1, dag.size))
    for v in range(dag.size):
        scores[v] = score(source, v, dag[v])
    return above, scores


@small
def score(source, v, mask):
    """ln beta_v of a parent mask; -inf for more than k parents."""
    log_phi, choose, first = source
    rank = family_rank(v, mask, choose, first)
    return log_phi[v, rank] if rank >= 0 else -np.inf


@inner
def set_parents(state, v, mask, log_phi):
    """Give v its parents in a state that stays acyclic, and v's descendants their ancestors."""
    dag, above, scores = state
    dag[v], scores[v] = mask, log_phi
    left = np.int64(1) << v
    for w in range(dag.size):
        left |= ((above[w] >> v) & 1) << w
    while left:
        for w in members(left):
            if dag[w] & left == 0:
                gained = dag[w]
                for u in members(dag[w]):
                    gained |= above[u]
                above[w] = gained
                left ^= np.int64(1) << w


@inner
def leads_around(state, u, v):
    """Whether there is a path from u to v by another parent of v than u."""
    dag, above, _ = state
    for w in members(dag[v] & ~(np.int64(1) << u)):
        if (above[w] >> u) & 1:
            return True
    return False


@inner
def closes_cycle(state, u, v):
    """Whether the change of the pair (u, v) would close a cycle."""
    dag, above, _ = state
    if (above[u] >> v) & 1 == 0:
        return False
    return (dag[u] >> v) & 1 == 0 or leads_around(state, v, u)


@small
def random_pair(n, rng):
    """One of the n (n - 1) ordered pairs of different nodes, each as likely."""
    i = np.int64(uniform(rng) * (n * (n - 1)))
    v = i // (n - 1)
    u = i - v * (n - 1)
    return u + (u >= v), v


@inner
def local_move(state, source, rng):
    """Add, delete or reverse one edge [MadiganYork1995, GiudiciCastelo2003]; whether it was done.

    Of an ordered pair (u, v) an edge u -> v is deleted, an edge v -> u reversed, else u -> v added.
    Each change has one pair, and so has the way back: no neighbours need be counted.
    """
    dag, _, scores = state
    u, v = random_pair(dag.size, rng)
    if closes_cycle(state, u, v):
        return False
    bit_u, bit_v = np.int64(1) << u, np.int64(1) << v
    backwards = (dag[u] & bit_v) != 0
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


@inner
def global_move(state, source, chances, rng, fresh):
    """A whole DAG from chances (n, n), whatever the last one was [EatonMurphy2007, sec. 4].

    Accepted with the ratio of weight to q, the product over all pairs of nodes of what was chosen.
    """
    dag, above, scores = state
    n, gain = dag.size, 0.0
    fresh[:] = 0
    for v in range(1, n):
        for u in range(v):
            forth, back = chances[u, v], chances[v, u]
            neither = 1.0 - forth - back
            r = uniform(rng)
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
    copy_to(fresh, dag)
    fresh_above, fresh_scores = start(dag, source)
    copy_to(fresh_above, above)
    copy_to(fresh_scores, scores)
    return True


@inner
def gibbs_move(state, source, rng):
    """Join a random pair anew, by the weights of no edge, u -> v and v -> u; whether changed."""
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
    r = uniform(rng) * (p0 + p1 + p2)
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


@inner
def reversal_move(state, parents, log_phi, rng):
    """Reverse a random edge and draw all parents of both ends anew; return whether it was done."""
    u, v, f_u, f_v = accepted_reversal(state[0], parents, log_phi, rng)
    if u < 0:
        return False
    set_parents(state, v, np.int64(0), 0.0)
    set_parents(state, u, parents[u, f_u], log_phi[u, f_u])
    set_parents(state, v, parents[v, f_v], log_phi[v, f_v])
    return True


@inlined
def accepted_reversal(dag, parents, log_phi, rng):
    """Propose to reverse an edge u -> v of a DAG; (u, v, places of their new families), or u = -1.

    u and v lose their parents; u gets new ones with v among them, then v gets new ones, each drawn
    in proportion to phi among those that close no cycle. Accepted with the ratio of the numbers of
    edges and of the sums that the way there and back were drawn from [GrzegorczykHusmeier2008].
    """
    none = -1, -1, -1, -1
    edges = 0
    for mask in dag:
        edges += popcount(mask)
    if edges == 0:
        return none
    u, v = nth_edge(dag, np.int64(uniform(rng) * edges))
    bit_u, bit_v = np.int64(1) << u, np.int64(1) << v
    old_u, old_v = dag[u], dag[v]
    dag[u], dag[v] = 0, 0
    below_u, below_v = descendants(dag, u), descendants(dag, v)
    dag[v] = old_v
    gain = -log_restricted_sum(parents[u], log_phi[u], ~descendants(dag, u), np.int64(0))
    gain -= log_restricted_sum(parents[v], log_phi[v], ~below_v, bit_u)
    f_u, log_sum = _new_family(parents[u], log_phi[u], ~below_u, bit_v, rng)
    f_v = -1
    if f_u >= 0:
        dag[u], dag[v] = parents[u, f_u], 0
        gain += log_sum
        f_v, log_sum = _new_family(parents[v], log_phi[v], ~descendants(dag, v), np.int64(0), rng)
    dag[u], dag[v] = old_u, old_v
    if f_v < 0:
        return none
    edges_then = edges - popcount(old_u) - popcount(old_v)
    edges_then += popcount(parents[u, f_u]) + popcount(parents[v, f_v])
    if not accept(gain + log_sum + math.log(edges / edges_then), rng):
        return none
    return u, v, f_u, f_v


@inner
def _new_family(parents, log_phi, allowed, needed, rng):
    """Draw one of the families that fit; return it, -1 for none, and ln of their sum."""
    log_sum = log_restricted_sum(parents, log_phi, allowed, needed)
    if log_sum == -np.inf:
        return -1, log_sum
    return draw_family(parents, log_phi, allowed, needed, log_sum, uniform(rng)), log_sum


@small
def nth_edge(dag, place):
    """The edge (u, v), u -> v, at a place among all edges of a DAG, by v, then u."""
    v = 0
    while place >= popcount(dag[v]):
        place -= popcount(dag[v])
        v += 1
    return member(dag[v], place), v


@inner
def descendants(dag, v):
    """Mask of the nodes that v leads to in a DAG (n,), v among them."""
    found, before = np.int64(1) << v, np.int64(0)
    while found != before:
        before = found
        for w in range(dag.size):
            if dag[w] & found:
                found |= np.int64(1) << w
    return found
