"""Number formats, subset transforms and ranks, each against the obvious way."""

import ast
import importlib
import itertools
import math
from pathlib import Path

import numpy as np
import oracles
import pytest
from tables import with_a_way_in

import bnlab
from bnlab.exact.order import unpack
from bnlab.kernels import bits, counting, families, order_dp

RNG = np.random.default_rng(20240)


popcount, trailing_zeros, compact, expand = with_a_way_in(
    bits, "popcount", "trailing_zeros", "compact", "expand"
)
add, mul = with_a_way_in(order_dp, "add", "mul")


@pytest.fixture(autouse=True)
def _same_numbers() -> None:
    """Each test has the same random numbers, whichever ran before it."""
    RNG.bit_generator.state = np.random.default_rng(20240).bit_generator.state


def pack(logs):
    return np.array([order_dp.from_log(float(x)) for x in np.ravel(logs)], np.int64)


def test_packing_keeps_thirteen_digits():
    logs = np.concatenate([RNG.normal(size=500) * 5000, [0.0, 1e-9, -150_000.0, 150_000.0]])
    assert unpack(pack(logs)) == pytest.approx(logs, rel=1e-14, abs=1e-13)


def test_zero_is_absorbed_by_sums_and_kept_by_products():
    one, zero = order_dp.from_log(0.0), order_dp.from_log(-math.inf)
    assert zero == order_dp.ZERO
    assert add(one, zero) == one
    assert add(zero, one) == one
    assert mul(zero, zero) == zero
    assert mul(zero, order_dp.from_log(-9000.0)) == zero
    assert order_dp.to_log(mul(zero, one)) < -180_000


def test_the_packed_integers_order_like_the_values():
    logs = np.sort(RNG.normal(size=300) * 1000)
    assert (np.diff(pack(logs)) > 0).all()


@pytest.mark.parametrize("spread", [0.1, 10.0, 5000.0])
def test_packed_sums_and_products(spread):
    a, b = RNG.normal(size=(2, 400)) * spread
    x, y = pack(a), pack(b)
    sums = np.array([add(p, q) for p, q in zip(x, y, strict=True)])
    products = np.array([mul(p, q) for p, q in zip(x, y, strict=True)])
    rounding = 3e-13 + np.finfo(float).eps * (np.abs(a) + np.abs(b))  # of doubles of this size
    for found, true in ((sums, np.logaddexp(a, b)), (products, a + b)):
        assert (np.abs(unpack(found) - true) <= rounding + 1e-14 * np.abs(true)).all()


def test_long_sums_do_not_drift():
    """Rounding is to nearest, so errors of many additions cancel instead of piling up."""
    logs = RNG.normal(size=200_000)
    total = pack([-math.inf])
    for term in pack(logs):
        total[0] = add(total[0], term)
    assert unpack(total)[0] == pytest.approx(oracles.log_sum(logs), abs=1e-11)


def test_popcount_and_trailing_zeros():
    for mask in [*range(1, 600), 2**40 + 8, 2**62, 2**63 - 1]:
        assert popcount(mask) == mask.bit_count()
        assert trailing_zeros(mask) == (mask & -mask).bit_length() - 1


def test_compact_and_expand_are_inverse():
    for v in range(6):
        masks = [m for m in range(64) if not m >> v & 1]
        assert [compact(m, v) for m in masks] == list(range(32))
        assert [expand(c, v) for c in range(32)] == masks


@pytest.mark.parametrize(("bits", "k"), [(0, 0), (1, 1), (4, 2), (9, 3), (10, 0), (10, 10)])
def test_zeta_transforms_against_their_definition(bits, k):
    size = 1 << bits
    small = np.array([s.bit_count() <= k for s in range(size)])
    values = np.where(small, RNG.normal(size=size) * 30, -np.inf)
    down = pack(values)
    order_dp.zeta(down, k, False)
    for s in range(0, size, 1 + size // 40):
        expected = oracles.log_sum(values[g] for g in range(size) if not g & ~s)
        assert unpack(down)[s] == pytest.approx(expected, abs=1e-11)
    dense = RNG.normal(size=size) * 30
    up = pack(dense)
    order_dp.zeta(up, k, True)
    for g in np.flatnonzero(small)[:: 1 + size // 40]:
        expected = oracles.log_sum(dense[s] for s in range(size) if not g & ~s)
        assert unpack(up)[g] == pytest.approx(expected, abs=1e-11)


def test_families_are_listed_by_size_then_colexicographically():
    n, k = 6, 3
    masks = np.empty((n, sum(math.comb(n - 1, i) for i in range(k + 1))), np.int64)
    counting.family_masks(n, k, masks)
    for v in range(n):
        others = [u for u in range(n) if u != v]
        expected = []
        for size in range(k + 1):
            chosen = itertools.combinations(others, size)
            expected += sorted(sum(1 << u for u in c) for c in chosen)
        assert masks[v].tolist() == expected


@pytest.mark.parametrize(("n", "k"), [(1, 0), (2, 1), (6, 3), (63, 2)])
def test_family_ranks_invert_the_listing(n, k):
    masks = np.empty((n, sum(math.comb(n - 1, i) for i in range(k + 1))), np.int64)
    counting.family_masks(n, k, masks)
    choose, first = counting.binomials(n - 1, k), counting.first_ranks(n - 1, k)
    rank = np.empty(masks.shape[1], np.int64)
    for v in range(n):
        counting.family_ranks(v, masks[v], choose, first, rank)
        assert (rank == np.arange(rank.size)).all()
    if n > k + 1:
        too_large = np.array([((1 << (k + 1)) - 1) << 1])
        counting.family_ranks(0, too_large, choose, first, rank)
        assert rank[0] == -1


@pytest.mark.parametrize("nats", [-25.0, -50.0, -69.0])
def test_sums_over_families_leave_out_only_what_is_70_nats_lighter(nats):
    """The chance of a light family is right to the last digits, and is drawn where it can be."""
    parents, log_phi = np.array([0b00, 0b01, 0b10]), np.array([3.0, 3.0, 3.0 + nats])
    within, weights = np.array([0b11]), np.ones(1)
    share, mean = np.zeros(2), np.empty(1)
    families.parent_expectations(parents, log_phi, within, weights, share)
    families.family_means(parents, log_phi, np.array([0.0, 0.0, 1.0]), within, mean)
    light = math.exp(nats) / (2.0 + math.exp(nats))
    assert share == pytest.approx([(1.0 - light) / 2.0, light], rel=1e-12, abs=0.0)
    assert mean == pytest.approx([light], rel=1e-12, abs=0.0)
    u = np.array([min(1.0 - light / 2.0, np.nextafter(1.0, 0.0))])
    drawn, log_drawn = np.empty(1, np.int64), np.empty(1)
    families.parent_sets(parents, log_phi, within, np.zeros(1, np.int64), u, drawn, log_drawn)
    assert drawn == (0b10 if light > 1e-15 else 0b01)


def uses(path):
    """(module, name) of the kernels that the Python functions of a file name."""
    tree, modules = ast.parse(path.read_text(encoding="utf-8")), {}
    if path.parent.name == "kernels":
        plain = [f for f in tree.body if isinstance(f, ast.FunctionDef) and not f.decorator_list]
        names = [node for f in plain for node in ast.walk(f) if isinstance(node, ast.Name)]
        yield from ((path.stem, node.id) for node in names)
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "bnlab.kernels":
            modules |= {alias.asname or alias.name: alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("bnlab.kernels."):
            yield from ((node.module.split(".")[2], alias.name) for alias in node.names)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            yield modules.get(node.value.id), node.attr


def test_python_calls_no_kernel_that_only_kernels_may_call():
    """Such a call would end the process: numba has compiled no way in."""
    package, inner = Path(bnlab.__file__).parent, set()
    for source in (package / "kernels").glob("[a-z]*.py"):
        for name, kernel in vars(importlib.import_module(f"bnlab.kernels.{source.stem}")).items():
            if getattr(kernel, "targetoptions", {}).get("no_cpython_wrapper"):
                inner.add((source.stem, name))
    assert ("bits", "copy_to") in inner
    files = [*package.rglob("*.py"), *Path(__file__).parent.glob("*.py")]
    assert not [(path, use) for path in files for use in uses(path) if use in inner]
