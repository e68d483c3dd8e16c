"""Extended-range non-negative numbers packed into one int64 each.

A value 2**e * (1 + f) with 0 <= f < 1 is stored as the integer e * 2**44 + f * 2**44: a signed
exponent of 20 bits above a fraction of 44 bits. The integers order like the values, products and
sums are a few vectorisable instructions, and e**(+-180,000) fits, where a double ends at e**-745.
Relative rounding error 2**-45 an operation. `ZERO` stands for 0: adding it changes nothing, and
products with it are clamped back to it.
"""

import math

import numpy as np

from bnlab.kernels import inlined, inner, kernel

FRACTION_BITS = 44
UNIT = 1 << FRACTION_BITS
FRACTION = UNIT - 1
ONE_BITS = 0x3FF0000000000000  # the double 1.0
ZERO = -(1 << 18) << FRACTION_BITS
MOST_GAP = 1000 << FRACTION_BITS  # between terms: beyond it the smaller one changes nothing
LOG_2 = math.log(2.0)


@inlined
def _significand(a):
    """The double 1 + f of a packed number."""
    return np.int64((a & FRACTION) << 8 | ONE_BITS).view(np.float64)


@inlined
def _carry(x):
    """The packed form of a double x in [1, 4), rounded to nearest; the 1 itself is exponent 0."""
    return np.int64(np.uint64(np.float64(x).view(np.int64) - ONE_BITS + 128) >> np.uint64(8))


@inlined
def mul(a, b):
    """Packed a * b: exponents add, significands multiply."""
    exponents = (a & ~FRACTION) + (b & ~FRACTION)
    return max(exponents + _carry(_significand(a) * _significand(b)), ZERO)


@inlined
def add(a, b):
    """Packed a + b: the smaller significand is scaled down to the larger one's exponent.

    Beyond 2**-1000 the smaller term cannot change the sum, so the gap is cut off there.
    """
    large, small = max(a, b), min(a, b)
    exponent = large & ~FRACTION
    gap = min(exponent - (small & ~FRACTION), MOST_GAP)
    scaled = np.int64((small & FRACTION) << 8 | (ONE_BITS - (gap << 8))).view(np.float64)
    return exponent + _carry(_significand(large) + scaled)


@kernel
def from_log(x):
    """Packed exp(x); anything below the range, -inf included, becomes ZERO."""
    y = x / LOG_2
    if not y > -(1 << 18):
        return np.int64(ZERO)
    exponent = math.floor(y)
    fraction = math.exp((y - exponent) * LOG_2) - 1.0
    return (np.int64(exponent) << FRACTION_BITS) + np.int64(round(fraction * UNIT))


@kernel
def to_log(a):
    """ln of a packed number."""
    fraction = (a & FRACTION) / UNIT
    return (a >> FRACTION_BITS) * LOG_2 + math.log1p(fraction)


@inner
def add_to(total, terms):
    """total[i] += terms[i] for packed arrays that do not overlap."""
    for i in range(total.size):
        total[i] = add(total[i], terms[i])


@inner
def add_product_to(total, a, b):
    """total[i] += a[i] * b[i] for packed arrays that do not overlap."""
    for i in range(total.size):
        total[i] = add(total[i], mul(a[i], b[i]))


@inner
def set_product(out, a, b):
    """out[i] = a[i] * b[i] for packed arrays that do not overlap."""
    for i in range(out.size):
        out[i] = mul(a[i], b[i])
