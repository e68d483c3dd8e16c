"""Checkpoints: the file and its refusals; chains that are stopped, killed, and go on."""

import itertools
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest

import bnlab as bn
from bnlab import checkpoints
from bnlab.checkpoints import Checkpoint, fingerprint, generator_states, restore_generators
from bnlab.running import seed_of
from bnlab.sampling import chains as engine

BIT_GENERATORS = [
    np.random.PCG64,
    np.random.PCG64DXSM,
    np.random.MT19937,
    np.random.Philox,
    np.random.SFC64,
]


def few_edges(dag):
    return -0.5 * int(np.bitwise_count(dag).sum())


GUESS = np.triu(np.full((5, 5), 0.3), 1)
SAMPLERS = {
    "orders": (bn.sample_orders, {}),
    "coupled orders": (bn.sample_orders, {"schedule": bn.Betas((0.0, 0.3, 1.0))}),
    "partial orders": (bn.sample_partial_orders, {"bucket": 2}),
    "partitions": (bn.sample_partitions, {}),
    "DAGs": (bn.sample_structures, {}),
    "DAGs, mixed moves": (bn.sample_structures, {"kernel": bn.Hybrid(GUESS)}),
    "DAGs, one more prior": (bn.sample_structures, {"log_prior": few_edges}),
}
EVERY = pytest.mark.parametrize("kind", SAMPLERS)
ORDERS = pytest.mark.parametrize("kind", ["orders", "coupled orders"])

# The file


@pytest.fixture
def place(tmp_path):
    return tmp_path / "run.ckpt"


def files(place):
    return sorted(path.name for path in place.parent.iterdir())


def test_what_is_saved_is_loaded(place):
    arrays = {"a": np.arange(6.0).reshape(2, 3), "b": np.array(7), "empty": np.empty((0, 4), int)}
    identity = {"seed": "1", "draws": 5, "pair": (1, 2)}
    assert Checkpoint(place, identity).load() is None
    Checkpoint(place, identity).save({"a": np.zeros(1)})
    Checkpoint(place, identity).save(arrays)
    loaded = Checkpoint(str(place), identity).load()
    assert set(loaded) == set(arrays)
    for name, array in arrays.items():
        assert loaded[name].dtype == array.dtype
        assert np.array_equal(loaded[name], array)
    assert files(place) == ["run.ckpt"]


def refused(place, match, identity=None):
    before = place.read_bytes()
    with pytest.raises(ValueError, match=match):
        Checkpoint(place, identity or {"seed": 1}).load()
    assert place.read_bytes() == before


@pytest.mark.parametrize("keep", [0, 1, 18, 19, 40, 51, 52, -1])
def test_a_truncated_file_is_refused(keep, place):
    Checkpoint(place, {"seed": 1}).save({"a": np.arange(50)})
    place.write_bytes(place.read_bytes()[:keep])
    refused(place, "damaged, or no checkpoint")


def test_a_file_with_one_byte_changed_is_refused(place):
    Checkpoint(place, {"seed": 1}).save({"a": np.arange(50)})
    whole = place.read_bytes()
    for i in range(len(whole)):
        place.write_bytes(whole[:i] + bytes([whole[i] ^ 1]) + whole[i + 1 :])
        refused(place, "damaged, or no checkpoint")
    place.write_bytes(whole + b"\0")
    refused(place, "damaged, or no checkpoint")


@pytest.mark.parametrize(
    ("identity", "match"),
    [
        ({"seed": 2}, "another run: its seed is 1, here it is 2"),
        ({}, "its seed is 1, here it is None"),
        ({"seed": 1, "draws": 3}, "its draws is None, here it is 3"),
    ],
    ids=str,
)
def test_the_file_of_another_run_is_refused(identity, match, place):
    Checkpoint(place, {"seed": 1}).save({"a": np.arange(50)})
    before = place.read_bytes()
    with pytest.raises(ValueError, match=match):
        Checkpoint(place, identity).load()
    assert place.read_bytes() == before


def test_a_place_that_can_hold_no_file_is_refused(tmp_path):
    for path in (tmp_path, tmp_path / "absent" / "run.ckpt"):
        with pytest.raises(ValueError, match="name a file in a folder that exists"):
            Checkpoint(path, {})


def test_a_save_that_fails_leaves_the_file_as_it_was(place, monkeypatch):
    checkpoint = Checkpoint(place, {"seed": 1})
    checkpoint.save({"a": np.arange(50)})

    def full(self, content):
        raise OSError("no space left")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OSError, match="no space"):
        checkpoint.save({"a": np.arange(60)})
    assert checkpoint.load()["a"].size == 50
    assert files(place) == ["run.ckpt"]


def test_saving_is_due_after_a_while_and_rarer_where_it_takes_long(place, monkeypatch):
    now = 100.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    checkpoint = Checkpoint(place, {})
    assert not checkpoint.due
    now += 10
    assert checkpoint.due

    def slow(path, content):
        nonlocal now
        now += 2.0

    monkeypatch.setattr(checkpoints, "write_whole", slow)
    checkpoint.save({})
    now += 39
    assert not checkpoint.due
    now += 1
    assert checkpoint.due


@pytest.mark.parametrize("kind", BIT_GENERATORS)
def test_generators_go_on_where_they_were(kind):
    rngs = [np.random.Generator(kind(seed)) for seed in (1, 2)]
    rngs[1].integers(10, dtype=np.int32)  # leaves half of 64 bits for the next one
    states = generator_states(rngs)
    others = [np.random.Generator(kind(seed)) for seed in (3, 4)]
    restore_generators(others, states)
    for rng, other in zip(rngs, others, strict=True):
        assert (
            rng.integers(10, size=5, dtype=np.int32) == other.integers(10, size=5, dtype=np.int32)
        ).all()
        assert (rng.normal(size=5) == other.normal(size=5)).all()
    with pytest.raises(ValueError, match="zip"):
        restore_generators(others[:1], states)


def test_fingerprints_tell_arrays_apart():
    arrays = [
        (np.zeros(4),),
        (np.zeros((2, 2)),),
        (np.zeros(4, np.int64),),
        (np.zeros(2), np.zeros(2)),
        (np.array([0.0, 0.0, 0.0, 1.0]),),
    ]
    assert len({fingerprint(*some) for some in arrays}) == len(arrays)
    mixed = np.arange(12).reshape(3, 4)
    assert fingerprint(mixed.T.copy()) == fingerprint(mixed.T)


def seeds():
    rngs = [np.random.Generator(kind(5)) for kind in BIT_GENERATORS]
    return [(rng.spawn(2), rng.random(3), seed_of(rng))[-1] for rng in rngs]


def test_a_seed_reads_the_same_in_every_process():
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as executor:
        assert executor.submit(seeds).result() == seeds()


# Chains


def chains(place, executor=None, progress=None, kind="orders", **options):
    data = bn.Data.from_arrays(np.random.default_rng(0).integers(0, 3, size=(12, 5)))
    table = bn.score_families(data, bn.BDeu(), max_parents=options.pop("k", 2))
    sampler, usual = SAMPLERS[kind]
    settings = {"draws": 80, "chains": 3, "burn_in": 50, "thin": 7} | usual | options
    rng = np.random.default_rng(settings.pop("seed", 8))
    return sampler(
        table, rng=rng, checkpoint=place, executor=executor, progress=progress, **settings
    )


def same(one, other):
    return (
        (one.values == other.values).all()
        and (one.log_target == other.log_target).all()
        and one.run.stopped == other.run.stopped
        and one.run.settings == other.run.settings
        and one.run.seed == other.run.seed
        and one.stats.keys() == other.stats.keys()
        and all((one.stats[name] == other.stats[name]).all() for name in one.stats)
        and all((one.traces[name] == other.traces[name]).all() for name in one.traces)
    )


def until(share):
    """A progress function that stops a run when so large a share of it is done."""
    return lambda done, total, snapshot: done < share * total


@pytest.fixture
def short_rounds(monkeypatch):
    """Rounds of one draw, and of as many moves in the burn-in: 7 or 8, and then 80."""
    for setting, value in {
        "order_target.BLOCK_TERMS": 1,
        "partition_mcmc.BLOCK_TERMS": 1,
        "structure_mcmc.BLOCK_MOVES": 1,
        "structure_mcmc.STEP_SECONDS": 1.0,
    }.items():
        monkeypatch.setattr(f"bnlab.sampling.{setting}", value)


@pytest.fixture(scope="module")
def processes():
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as executor:
        yield executor


@EVERY
def test_a_run_goes_on_with_other_blocks_and_elsewhere(kind, place, processes, monkeypatch):
    whole = chains(None, kind=kind)
    for block, share in ((1, 0.05), (9, 0.3), (25, 0.4)):
        monkeypatch.setattr(engine.Chains, "_block", lambda *_, block=block: block)
        try:
            chains(place, progress=until(share), kind=kind)
        except bn.Stopped:
            assert share == 0.05
    with ThreadPoolExecutor(3) as executor:
        part = chains(place, executor, until(0.7), kind=kind)
    assert part.run.stopped
    assert same(chains(place, processes, kind=kind), whole)


@EVERY
@pytest.mark.parametrize("broken", [5, 40], ids=["burn-in", "draws"])
def test_an_interrupt_in_the_middle_of_a_round(kind, broken, place, short_rounds, monkeypatch):
    """One of the chains has moved on in that round: it is made again, for all of them."""
    whole = chains(None, kind=kind)
    advance, calls = engine._advance, itertools.count(1)

    def interrupted(sampler, job):
        call, result = next(calls), advance(sampler, job)
        if call == 3 * broken - 1:
            raise KeyboardInterrupt
        return result

    with monkeypatch.context() as patch:
        patch.setattr(engine, "_advance", interrupted)
        if broken == 5:
            with pytest.raises(KeyboardInterrupt):
                chains(place, kind=kind)
        else:
            part = chains(place, kind=kind)
            assert part.run.stopped
            kept = 40 - 1 - (8 if kind == "DAGs, one more prior" else 7)  # rounds of the burn-in
            assert part.values.shape[1] == kept
            assert (part.values == whole.values[:, :kept]).all()
    assert same(chains(place, kind=kind), whole)


def test_a_run_is_saved_when_that_is_due(place, short_rounds, monkeypatch):
    """Also when it ends by an error of its caller's, who can go on from there."""
    monkeypatch.setattr(checkpoints, "EVERY_SECONDS", 0.0)
    monkeypatch.setattr(checkpoints, "SAVING_SHARE", 1e9)
    saves, save = [], Checkpoint.save

    def counted(self, arrays):
        saves.append(int(arrays["moves"]))
        save(self, arrays)

    def fail(done, total, snapshot):
        if done > total / 2:
            raise RuntimeError("of the caller")

    monkeypatch.setattr(Checkpoint, "save", counted)
    with pytest.raises(RuntimeError, match="of the caller"):
        chains(place, progress=fail)
    assert len(saves) > 5
    assert saves == sorted(saves)
    monkeypatch.setattr(checkpoints, "EVERY_SECONDS", 10.0)
    assert same(chains(place), chains(None))


@ORDERS
@pytest.mark.parametrize(
    ("other", "match"),
    [
        ({"seed": 9}, "its seed is"),
        ({"k": 3}, "its max_parents is 2, here it is 3"),
        ({"draws": 81}, "its draws is 80, here it is 81"),
        ({"chains": 2}, "its chains is 3"),
        ({"burn_in": 51}, "its burn_in is 50"),
        ({"thin": 8}, "its thin is 7"),
        ({"moves": bn.Moves(0, 1)}, "its moves is 'Moves"),
        ({"schedule": bn.Linear(5)}, "its (method|schedule) is"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_the_chains_of_another_call_are_refused(kind, other, match, place):
    chains(place, kind=kind)
    before = place.read_bytes()
    with pytest.raises(ValueError, match=match):
        chains(place, **{"kind": kind} | other)
    assert place.read_bytes() == before


@pytest.mark.parametrize(
    ("kind", "other", "match"),
    [
        ("partial orders", {"bucket": 3}, "its bucket is 2, here it is 3"),
        ("partitions", {"seed": 9}, "its seed is"),
        ("DAGs", {"kernel": bn.Gibbs()}, "its kernel is"),
        ("DAGs", {"start": np.array([0, 1, 0, 0, 0])}, "its starts is"),
        ("DAGs", {"log_prior": few_edges}, "log_prior"),
        ("DAGs, mixed moves", {"kernel": bn.Hybrid(GUESS.T)}, "its kernel edges is"),
        ("DAGs, one more prior", {"log_prior": lambda dag: 0.0}, "its log_prior is"),
    ],
)
def test_other_chains_on_the_same_table_are_refused(kind, other, match, place):
    chains(place, kind=kind)
    before = place.read_bytes()
    with pytest.raises(ValueError, match=match):
        chains(place, kind=kind, **other)
    assert place.read_bytes() == before


def test_chains_of_another_sampler_are_refused(place):
    chains(place)
    with pytest.raises(ValueError, match="its method is 'order-MCMC', here it is 'partition MCMC'"):
        chains(place, kind="partitions")


def test_independent_draws_take_no_checkpoint(place):
    data = bn.Data.from_arrays([[0, 1], [1, 0]])
    posterior = bn.order_posterior(bn.score_families(data, bn.BDeu()))
    with pytest.raises(ValueError, match=r"checkpoint=.*independent"):
        bn.sample_orders(posterior, draws=5, rng=np.random.default_rng(0), checkpoint=place)
    assert not place.exists()
