"""Bit tricks on masks of nodes, held as non-negative int64, and what all walks share.

A function on the sets that avoid node v lives in an array of 2**(n-1): v's own bit is taken out of
the index ("compact").
"""

import math

import numpy as np

from bnlab.kernels import inlined, inner, kernel, small

TWOS, FOURS = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333)
EIGHTS, BYTES = np.uint64(0x0F0F0F0F0F0F0F0F), np.uint64(0x0101010101010101)


@small
def popcount(mask):
    """Number of set bits of 64; in this form the compiler has one instruction."""
    x = np.uint64(mask)
    x = x - ((x >> np.uint64(1)) & TWOS)
    x = (x & FOURS) + ((x >> np.uint64(2)) & FOURS)
    x = (x + (x >> np.uint64(4))) & EIGHTS
    return np.int64((x * BYTES) >> np.uint64(56))


@small
def trailing_zeros(mask):
    """Position of the lowest set bit of a positive int64."""
    return popcount((mask & -mask) - 1)


@small
def members(mask):
    """Yield the nodes in a mask, the smallest first."""
    while mask:
        yield trailing_zeros(mask)
        mask &= mask - 1


@inner
def member(mask, i):
    """Element number i of a mask, counted from the smallest."""
    for _ in range(i):
        mask &= mask - 1
    return trailing_zeros(mask)


@small
def compact(mask, v):
    """Take bit v out of a mask that does not hold it."""
    low = mask & ((np.int64(1) << v) - 1)
    return (mask - low) >> 1 | low


@small
def expand(mask, v):
    """Make room for bit v: the inverse of `compact`."""
    low = mask & ((np.int64(1) << v) - 1)
    return (mask - low) << 1 | low


@inner
def copy_to(values, out):
    """Copy an array (n,); unlike out[:] = values this compiles no text of errors."""
    for i in range(out.size):
        out[i] = values[i]


@kernel
def total(values):
    """Return the sum of an array (n,), element by element."""
    out = 0.0
    for value in values:
        out += value
    return out


@inner
def share_at(reached, shares):
    """The place where the running sum of shares (n,) passes what is reached; how far within."""
    place = -1
    for i in range(shares.size):
        if shares[i] > 0.0:
            place = i
        if reached < shares[i]:
            break
        reached -= shares[i]
    return place, reached


@small
def uniform(rng):
    """A random number from [0, 1): numba compiles rng.random() in each kernel that has it."""
    return rng.random()


@inlined
def accept(gain, rng):
    """Metropolis: with probability min(1, exp(gain)); never where gain is -inf or nan."""
    return gain >= 0.0 or uniform(rng) < math.exp(gain)
