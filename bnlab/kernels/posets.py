"""Linear extensions of partial orders: exact counts, uniform draws, points of the order polytope.

A poset on n <= 63 elements is a `Poset` as `arrange` lays it out, with labels that run against the
order: the lowest bit of any set is one of its maximal elements. Counts are kept as densities: f(S)
= l(S) / |S|!, the chance that a random order of S is one of its l(S) linear extensions. Then
unconnected parts multiply, f(A + B) = f(A) f(B), and taking out the first element of the order
gives f(S) = sum over minimal v of f(S - v) / |S|.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnlab.kernels import inner, kernel, small
from bnlab.kernels.bits import copy_to, members, popcount, trailing_zeros

ONE = np.int64(1)
FIRST_SLOTS = 1 << 8


class Poset(NamedTuple):
    """Masks (n,) int64 of the elements below, above and directly above each element."""

    down: NDArray[np.int64]
    up: NDArray[np.int64]
    covers: NDArray[np.int64]


@kernel
def arrange(above):
    """The `Poset` of masks above (n,) of all before, and labels (n,), smaller for who has more."""
    n = above.size
    poset = Poset(np.zeros(n, np.int64), np.zeros(n, np.int64), np.empty(n, np.int64))
    ranks, label = np.empty(n, np.int64), np.empty(n, np.int64)
    for v in range(n):
        ranks[v] = popcount(above[v]) * n + v
    for place, v in enumerate(np.argsort(ranks)):
        label[v] = n - 1 - place
    for v in range(n):
        for u in members(above[v]):
            poset.down[label[v]] |= ONE << label[u]
            poset.up[label[u]] |= ONE << label[v]
    for v in range(n):
        poset.covers[v] = poset.up[v]
        for u in members(poset.up[v]):
            poset.covers[v] &= ~poset.up[u]
    return poset, label


@small
def everything(n):
    """The mask of all n <= 63 elements."""
    return ((ONE << (n - 1)) - 1) << 1 | 1


@small
def minimal(down, part):
    """The mask of the minimal elements of a convex set."""
    mins = np.int64(0)
    for v in members(part):
        if down[v] & part == 0:
            mins |= ONE << v
    return mins


@small
def _component(up, pending, mins):
    """The part of `pending` joined to its lowest minimal element: upper sets that meet."""
    first = mins & -mins
    part = (up[trailing_zeros(first)] & pending) | first
    left, grown = mins ^ first, True
    while grown:
        grown = False
        for v in members(left):
            reach = up[v] & pending
            if reach & part:
                part |= reach | ONE << v
                left ^= ONE << v
                grown = True
    return part


@small
def _forced(down, part, mins):
    """The bit of the only minimal element of `part`, else of its only maximal one, else 0."""
    if mins & (mins - 1) == 0:
        return mins
    top = part & -part
    return top if part & ~(down[trailing_zeros(top)] | top) == 0 else np.int64(0)


@small
def _without(poset, bit, rest, mins):
    """Minimal elements of `rest`, which the element `bit` has just left; `mins` those before."""
    if bit & mins:
        mins ^= bit
        for v in members(poset.covers[trailing_zeros(bit)] & rest):
            if poset.down[v] & rest == 0:
                mins |= ONE << v
    return mins


@small
def _split_off(poset, pending, mins):
    """Take a component's forced element off, or all of it; (component, bit or 0, rest, mins)."""
    whole = _component(poset.up, pending, mins)
    bit = _forced(poset.down, whole, whole & mins)
    if bit:
        return whole, bit, pending ^ bit, _without(poset, bit, pending ^ bit, mins)
    return whole, bit, pending ^ whole, mins & ~whole


@small
def find(keys, mask):
    """The slot of a mask > 0 in an open-addressing table, or the free one where it belongs."""
    last = keys.size - 1
    slot = (((mask & 0x7FFFFFFF) * 0x5851F42D + (mask >> 31) * 0x2C9277B5) >> 24) & last
    while keys[slot] != 0 and keys[slot] != mask:
        slot = (slot + 1) & last
    return slot


@inner
def _grown(keys, values):
    """The same table with four times the slots."""
    wide_keys, wide_values = np.zeros(4 * keys.size, np.int64), np.empty(4 * keys.size)
    for old in range(keys.size):
        if keys[old]:
            slot = find(wide_keys, keys[old])
            wide_keys[slot], wide_values[slot] = keys[old], values[old]
    return wide_keys, wide_values


@kernel
def density(poset, keys, values, states, max_states):
    """Density f of the whole poset by recursion over components; (f, keys, values, states).

    f = -1 when more than `max_states` sets had to be kept; the table of the sets whose density is
    known comes back larger, and may be handed in again. A frame of the stack is a connected set
    `part` whose minimal elements `left` are still to be taken out; `total` sums the densities
    found; `pending`, with minimal elements `mins`, is what remains of the set that is being worked
    on, and `product` the density of what is done of it.
    """
    n = poset.down.size
    masks, sums = np.zeros((n + 1, 5), np.int64), np.zeros((n + 1, 2))
    part, left, least, depth = np.int64(0), np.int64(0), np.int64(0), 0
    pending = everything(n)
    mins = minimal(poset.down, pending)
    total, product = 0.0, 1.0
    while True:
        if pending:
            before = mins
            whole, bit, pending, mins = _split_off(poset, pending, mins)
            if bit:
                product /= popcount(whole)
                continue
            slot = find(keys, whole)
            if keys[slot] == whole:
                product *= values[slot]
                continue
            masks[depth] = part, left, least, pending, mins
            sums[depth] = total, product
            depth += 1
            part, left, least = whole, whole & before, whole & before
            pending, total = np.int64(0), 0.0
        else:
            total += product
        if left:
            bit = left & -left
            left, pending, product = left ^ bit, part ^ bit, 1.0
            mins = _without(poset, bit, pending, least)
        elif depth == 0:
            return product, keys, values, states
        else:
            if states == max_states:
                return -1.0, keys, values, states
            if 2 * states == keys.size:
                keys, values = _grown(keys, values)
            slot, states, depth = find(keys, part), states + 1, depth - 1
            keys[slot], values[slot] = part, total / popcount(part)
            part, left, least, pending, mins = masks[depth]
            total, product = sums[depth, 0], sums[depth, 1] * values[slot]


@kernel
def log_densities(above, max_states, out):
    """out[t] = ln f of the poset above[t]; above (N, n) as in `arrange`; nan beyond max_states."""
    for t in range(above.shape[0]):
        poset, _ = arrange(above[t])
        keys, values = np.zeros(FIRST_SLOTS, np.int64), np.empty(FIRST_SLOTS)
        f = density(poset, keys, values, np.int64(0), max_states)[0]
        out[t] = np.log(f) if f > 0 else np.nan


@kernel
def residues(poset, states, keys, ranks, primes, out):
    """out[n + 1 + i, r] = f(states[i]) modulo primes[r], and in the last row f of the whole poset.

    states (N,) ascending, so that a set follows all its subsets, and ranks[find(keys, states[i])]
    is i; rows i <= n of `out` get 1 / i.
    """
    n = poset.down.size
    out[:2] = 1
    for i in range(2, n + 1):
        for r in range(primes.size):
            p = primes[r]
            out[i, r] = (p - p // i) * out[p % i, r] % p
    product = np.empty(primes.size, np.int64)
    for i in range(states.size):
        part, row = states[i], n + 1 + i
        mins = minimal(poset.down, part)
        out[row] = 0
        for v in members(mins):
            bit = ONE << v
            least = _without(poset, bit, part ^ bit, mins)
            _product(poset, part ^ bit, least, (keys, ranks), primes, out, product)
            for r in range(primes.size):
                out[row, r] += product[r]
        for r in range(primes.size):
            out[row, r] = out[row, r] % primes[r] * out[popcount(part), r] % primes[r]
    whole = everything(n)
    _product(poset, whole, minimal(poset.down, whole), (keys, ranks), primes, out, product)
    copy_to(product, out[n + 1 + states.size])


@inner
def _product(poset, pending, mins, table, primes, known, product):
    """The density of a set modulo primes, from what is known of its irreducible parts."""
    keys, ranks = table
    product[:] = 1
    while pending:
        whole, bit, pending, mins = _split_off(poset, pending, mins)
        row = popcount(whole) if bit else poset.down.size + 1 + ranks[find(keys, whole)]
        if row > 1:
            for r in range(primes.size):
                product[r] = product[r] * known[row, r] % primes[r]


@inner
def _density_of(poset, pending, mins, keys, values):
    """The density of a set all of whose irreducible parts are in the table."""
    product = 1.0
    while pending:
        whole, bit, pending, mins = _split_off(poset, pending, mins)
        if bit:
            product /= popcount(whole)
        else:
            product *= values[find(keys, whole)]
    return product


@kernel
def extensions(poset, keys, values, uniforms, times):
    """Uniform linear extensions from a finished table; times (T, n): sort them to get the orders.

    Every element starts with a uniform time. An unconnected part keeps the times of its elements,
    which interleaves the parts at random; within a part, the element that comes first, drawn with
    probability f(S - v) / (|S| f(S)), or last trades its time for the earliest or latest.
    """
    n = poset.down.size
    for t in range(uniforms.shape[0]):
        copy_to(uniforms[t], times[t])
        pending = everything(n)
        mins = minimal(poset.down, pending)
        while pending:
            whole = _component(poset.up, pending, mins)
            least = whole & mins
            bit = _forced(poset.down, whole, least)
            if bit == 0:
                u = uniforms[t, n + popcount(pending) - 1]
                bit = _first(poset, whole, least, keys, values, u)
            _trade(times[t], whole, bit, bit & least != 0)
            pending ^= bit
            mins = _without(poset, bit, pending, mins)


@inner
def _first(poset, part, mins, keys, values, u):
    """The bit of the first element of a random extension of `part`, by inversion of u."""
    left = u * values[find(keys, part)] * popcount(part)
    bit, rest = np.int64(0), mins
    while rest and left >= 0.0:
        bit = rest & -rest
        rest ^= bit
        after = part ^ bit
        left -= _density_of(poset, after, _without(poset, bit, after, mins), keys, values)
    return bit


@inner
def _trade(times, part, bit, earliest):
    """Swap the time of element `bit` with the earliest, or else the latest, within `part`."""
    v = best = trailing_zeros(bit)
    for u in members(part):
        if (times[u] < times[best]) == earliest and times[u] != times[best]:
            best = u
    times[v], times[best] = times[best], times[v]


@kernel
def gibbs_sweeps(below, above, uniforms, low, high):
    """Gibbs sweeps on the order polytope, from below and from above at once.

    x[v] <- lower + u (upper - lower), between the largest x below v (or 0) and the smallest above
    (or 1): monotone in x, and the uniform distribution on {x in [0, 1]**n : x[a] <= x[b] whenever a
    < b} is invariant. below, above: masks (n,) of each element's neighbours.
    """
    for t in range(uniforms.shape[0]):
        for s in range(uniforms.shape[1]):
            for v in range(uniforms.shape[2]):
                lower, lower_high, upper_low, upper = 0.0, 0.0, 1.0, 1.0
                for w in members(below[v]):
                    lower = max(lower, low[t, w])
                    lower_high = max(lower_high, high[t, w])
                for w in members(above[v]):
                    upper_low = min(upper_low, low[t, w])
                    upper = min(upper, high[t, w])
                u = uniforms[t, s, v]
                low[t, v] = lower + u * (upper_low - lower)
                high[t, v] = lower_high + u * (upper - lower_high)
