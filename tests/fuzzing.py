"""Generated files for the readers: grammars of valid ones, and what can go wrong with bytes.

As a program it reads so many files of one kind and tells what became of them:
python tests/fuzzing.py csv 100000 --seed 1
"""

import argparse
import collections
import csv
import io
import itertools
import json
import math
import re
import signal
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

import bnlab as bn
from bnlab.data.reader import read_table

Item = TypeVar("Item")

MESSAGE_LENGTH = 1000
SECONDS, SECONDS_A_BYTE = 2.0, 1e-5  # of processor time for one input, at most
MOST_CELLS = 10**6  # that counts may stand for here, and entries that a table may have


class Dice:
    """Quick small draws from a generator: one is made for each input, so each can be repeated."""

    def __init__(self, *seed: int) -> None:
        self._rng = np.random.default_rng(seed)
        self._raw: list[int] = []

    def below(self, n: int) -> int:
        """0..n-1."""
        if not self._raw:
            self._raw = self._rng.integers(2**62, size=256).tolist()
        return self._raw.pop() % n

    def pick(self, options: Sequence[Item]) -> Item:
        return options[self.below(len(options))]

    def one_in(self, n: int) -> bool:
        return self.below(n) == 0


@dataclass(frozen=True)
class File:
    """What is to be read, and how; `truth` is what must come out of it, where that is known."""

    raw: bytes
    options: dict[str, Any] = field(default_factory=dict)
    truth: Any = None


NUMBERS = [
    "0",
    "1",
    "2",
    "-1",
    "01",
    "+1",
    "1.0",
    ".5",
    "1e3",
    "1e-400",
    "1e308",
    "1e309",
    "9" * 40,
]
NUMBERS += ["0" * 60 + "1", "9223372036854775808", "-9223372036854775809", "nan", "inf", "-inf"]
NUMBERS += ["NaN", "1_000", "0x1f", "1e", "1.", "--1", "1,5", "٣", "²", "½", "1e99999999999"]
WORDS = [
    "a",
    "b",
    "yes",
    "no",
    "missing",
    "?",
    "NA",
    "null",
    "",
    "a b",
    "é",
    "e\u0301",
    "ß",
    "日本",
]
WORDS += [
    "\u202eabc",
    "\u200b",
    "🏳️‍🌈",
    "<b>",
    "a,b",
    "a;b",
    "a|b",
    "a\tb",
    'say "x"',
    "it's",
    "//",
    "#",
]
WORDS += [
    "/*",
    "*/",
    "{",
    "}",
    "a\nb",
    "a\r\nb",
    "\x1b[31m",
    "\x85",
    "\u2028",
    "\ufeff",
    "=1+1",
    "%s",
]
BYTES = [b"\0", b"\xff", b"\xfe\xff", b"\xff\xfe", b"\xef\xbb\xbf", b"\xc3", b"\xed\xa0\x80", b'"']
BYTES += [
    b"\r",
    b"\n",
    b"\r\n",
    b"\n\n",
    b",",
    b";",
    b"|",
    b"\t",
    b" ",
    b"{",
    b"}",
    b"(",
    b")",
    b"[",
]
BYTES += [b"]", b"//", b"/*", b"*/", b"#", b"\x1a", b"\x0b", b"\x1c", b"-", b"."]
NASTY = BYTES + [word.encode() for word in NUMBERS + WORDS if word]


# The tables


def table_file(dice: Dice) -> File:
    """A delimited text file; its truth is the text of its cells, if all of it must be read."""
    n, m = 1 + dice.below(5), 2 + dice.below(8)
    if dice.one_in(300):
        n = 60 + dice.below(8)
    kinds = [dice.below(6) for _ in range(n)]
    columns = [_column(kind, m, dice) for kind in kinds]
    plain = all(kind < 2 for kind in kinds)
    names = [f"v{v}" for v in range(n)]
    if dice.one_in(3):
        names[dice.below(n)] = dice.pick(WORDS + NUMBERS)
        plain = False
    header = not dice.one_in(4)
    delimiter, newline = dice.pick(",,,;\t|"), dice.pick(["\n", "\n", "\r\n", "\r"])
    out = io.StringIO()
    quoting = csv.QUOTE_ALL if dice.one_in(5) else csv.QUOTE_MINIMAL
    writer = csv.writer(out, delimiter=delimiter, lineterminator=newline, quoting=quoting)
    rows = list(zip(*columns, strict=True))
    writer.writerows([names, *rows] if header else rows)
    text = out.getvalue()
    if dice.one_in(8):
        text = dice.pick(["\ufeff", newline, " "]) + text.rstrip(newline)
    options: dict[str, Any] = {} if header else {"header": False}
    if n == 1:
        options["delimiter"] = delimiter  # nothing in the file tells it
    truth = rows if plain and n < 64 else None
    if dice.one_in(3):
        options |= _options(names, dice)
        truth = None
    encoding = options.get("encoding", "utf-8")
    return File(text.encode(encoding, "replace"), options, truth)


def _column(kind: int, m: int, dice: Dice) -> list[str]:
    if kind == 0:
        cells = [dice.pick("xyz") for _ in range(m)]
    elif kind == 1:
        cells = [str(dice.below(3)) for _ in range(m)]
    elif kind == 2:
        cells = [f"{dice.below(100) / 8:g}" for _ in range(m)]
    elif kind == 3:
        cells = [dice.pick(WORDS) for _ in range(m)]
    elif kind == 4:
        cells = [dice.pick(NUMBERS) for _ in range(m)]
    else:
        cells = [str(row) for row in range(m)]
    return ["x", "y", *cells[2:]] if kind == 0 else ["0", "1", *cells[2:]] if kind == 1 else cells


RULES = [bn.EqualWidth(2), bn.EqualFrequency(2), bn.EqualFrequency(3), bn.CutPoints([0.5, 1e300])]


def _options(names: list[str], dice: Dice) -> dict[str, Any]:
    name = dice.pick(names)
    return dice.pick(
        [
            {"missing": "drop"},
            {"missing": "level"},
            {"missing": "level", "discretize": dice.pick(RULES)},
            {"discretize": {name: dice.pick(RULES)}},
            {"count": name},
            {"intervention": name},
            {"count": name, "intervention": dice.pick(names), "missing": "drop"},
            {"drop": [name]},
            {"letters": [name]},
            {"skip": dice.below(4)},
            {"levels": {name: dice.pick([["x", "y", "z"], ["0", "1"], NUMBERS, WORDS, []])}},
            {"missing_markers": dice.pick([[], ["0"], ["x", ""]])},
            {"max_levels": dice.below(4)},
            {"delimiter": dice.pick([",", " ", "a", "\\", "'", "é"])},
            {"header": False, "names": names},
            {"encoding": dice.pick(["utf-16", "latin-1", "cp1252", "utf-8", "ascii"])},
        ]
    )


def check_table(data: bn.Data, file: File, folder: Path) -> None:
    """A table read is what `Data` promises, and is the same when it is written and read again."""
    assert data.m > 0 and data.values.shape == (data.m, data.n)
    assert data.values.dtype == np.int32 and not data.values.flags.writeable
    assert len(set(data.names)) == data.n and all(data.names)
    for v, labels in enumerate(data.levels):
        assert len(set(labels)) == len(labels) == data.arities[v] >= 2
        assert 0 <= data.values[:, v].min() <= data.values[:, v].max() < len(labels)
    if file.truth is not None:
        assert [tuple(row) for row in file.truth] == list(_cells(data))
    if data.n == 1 and "" in data.levels[0]:
        return  # a line that is empty is no row
    path = folder / "again.csv"
    with path.open("w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out, quoting=csv.QUOTE_ALL)
        writer.writerow(data.names)
        writer.writerows(_cells(data))
    levels = dict(zip(data.names, data.levels, strict=True))
    again = bn.read_csv(path, levels=levels, missing_markers=[], delimiter=",")
    assert again.names == data.names and again.levels == data.levels
    assert np.array_equal(again.values, data.values)


def _cells(data: bn.Data) -> Iterator[tuple[str, ...]]:
    for row in data.values.tolist():
        yield tuple(labels[code] for labels, code in zip(data.levels, row, strict=True))


def read_unaided(path: Path, **options: Any) -> bn.Data:
    """What `read_table` finds out by itself, which is told by its options."""
    reading = read_table(path, **options)
    notes = [*reading.notes, *(column.note for column in reading.columns)]
    assert all(note.isprintable() and len(note) < 1000 for note in notes)
    data = reading.data
    again = bn.read_csv(path, **reading.options)
    assert again.names == data.names and again.levels == data.levels
    assert np.array_equal(again.values, data.values)
    return data


def unaided_file(dice: Dice) -> File:
    """As for `read_csv`, read with few options."""
    file = table_file(dice)
    usual = {"encoding", "delimiter", "missing", "max_levels", "count", "drop", "levels"}
    return File(file.raw, {key: file.options[key] for key in usual & file.options.keys()})


# The networks


def network_file(dice: Dice) -> File:
    """A BIF file; its truth is the names, the levels and the number of edges."""
    n = 1 + dice.below(5)
    plain = dice.below(3) > 0
    names = [f"x{v}" if plain else _bif_label(dice, f"{v}") for v in range(n)]
    levels = [
        [f"s{i}" if plain else _bif_label(dice, f"{i}") for i in range(2 + dice.below(2))]
        for _ in range(n)
    ]
    space = dice.pick([" ", "\n", "  ", " // a note\n", " /* a\nnote */ "])
    lines = ["network" + space + dice.pick(["unknown", '"a net"', ""]) + " {"]
    lines += [f"  property {dice.pick(['version 1', 'x = (1, 2)', 'a'])} ;"] * dice.below(2) + ["}"]
    for name, labels in zip(names, levels, strict=True):
        states = dice.pick([", ", " ", ","]).join(labels)
        lines += [f"variable {name} {{", f"type discrete [ {len(labels)} ] {{ {states} }};"]
        lines += ["property position = (1, 2) ;"] * dice.below(2) + ["}"]
    edges = 0
    for v in range(n):
        parents = [u for u in range(v) if dice.one_in(2)]
        edges += len(parents)
        bar = " | " if parents else ""
        given = ", ".join(names[u] for u in parents)
        lines.append(f"probability ( {names[v]}{bar}{given} ) {{")
        lines += [*_bif_rows([levels[u] for u in parents], len(levels[v]), dice), "}"]
    truth = (n, edges) if len(set(names)) == n else None
    return File("\n".join(lines).encode(), truth=truth)


def _bif_label(dice: Dice, number: str) -> str:
    word = re.sub(r'["\r\n]', "", dice.pick(WORDS))
    return f'"{word}{number}"'


def _bif_rows(states: list[list[str]], arity: int, dice: Dice) -> list[str]:
    rows = list(itertools.product(*states))
    if dice.one_in(3):
        return ["table " + ", ".join([_bif_row(arity, dice, True)] * len(rows)) + ";"]
    lines = [f"default {_bif_row(arity, dice)};"] * dice.below(2) if states else []
    if not states:
        return [f"table {_bif_row(arity, dice)};"]
    kept = rows[: dice.below(len(rows) + 1)] if lines else rows
    return lines + [f"({', '.join(row)}) {_bif_row(arity, dice)};" for row in kept]


def _bif_row(arity: int, dice: Dice, even: bool = False) -> str:
    weights = [1 if even else dice.below(9) for _ in range(arity)]
    total = sum(weights)
    shares = [w / total if total else 1 / arity for w in weights]
    return ", ".join(f"{p:.4g}" if dice.one_in(2) else repr(p) for p in shares)


def check_network(net: bn.BayesNet, file: File, folder: Path) -> None:
    """A network read is one, and is the same when it is written and read again."""
    bn.graphs.topological_order(net.dag)
    for v, table in enumerate(net.tables):
        assert ((table >= 0) & (table <= 1 + 1e-9)).all()
        assert np.abs(table.sum(axis=1) - 1).max() <= 1e-9
        assert table.shape[1] == net.arities[v] == len(set(net.levels[v])) >= 2
    if file.truth is not None:
        assert file.truth == (net.n, int(np.bitwise_count(net.dag).sum()))
    net.write_bif(folder / "again.bif")
    again = bn.read_bif(folder / "again.bif")
    assert again.names == net.names and again.levels == net.levels
    assert np.array_equal(again.dag, net.dag)
    assert all(np.array_equal(a, b) for a, b in zip(again.tables, net.tables, strict=True))


# The scores


def scores_file(dice: Dice) -> File:
    """A score file; its truth is the number of families of each variable."""
    n = 1 + dice.below(5)
    names = [f"x{v}" for v in range(n)]
    if dice.one_in(3):
        odd = "".join(dice.pick(WORDS + NUMBERS).split()) or "odd"
        names[dice.below(n)] = odd.replace("#", "")
    lines, counts = [str(n)], []
    for v in range(n):
        others = [u for u in range(n) if u != v]
        families = [f for size in range(n) for f in itertools.combinations(others, size)]
        families = families[:1] + [family for family in families[1:] if dice.one_in(2)]
        counts.append(len(families))
        lines.append(f"{names[v]} {len(families)}")
        for family in families:
            score = dice.pick([f"{-dice.below(10**6) / 997}", "-1e3", "0", "-3.5", "1.5", "-1e-9"])
            lines.append(" ".join([score, str(len(family)), *(names[u] for u in family)]))
        lines += ["# a note"] * dice.one_in(9)
    truth = counts if len(set(names)) == n and all(names) else None
    return File(dice.pick(["\n", "\r\n"]).join(lines).encode(), truth=truth)


def check_scores(table: bn.ScoreTable, file: File, folder: Path) -> None:
    """A score table read is finite, forbids what the file left out, and survives writing."""
    assert np.isfinite(table.log_score).all()
    assert np.isin(table.log_prior, [0.0, -math.inf]).all()
    allowed = (table.log_prior == 0).sum(axis=1)
    assert allowed.min() > 0
    if file.truth is not None:
        assert allowed.tolist() == file.truth
    bn.write_scores(table, folder / "again.jkl")
    again = bn.read_scores(folder / "again.jkl")
    assert again.names == table.names and again.max_parents == table.max_parents
    assert np.array_equal(again.log_phi, table.log_phi)


# The knowledge

ABOUT = bn.Data.from_arrays([[0, 0, 0, 0], [1, 1, 1, 1]], names=["a", "b", "c d", "é"])


def knowledge_file(dice: Dice) -> File:
    """What is known of four variables, in TOML; its truth is what must come out of it."""
    pairs = [f"{u} -> {v}" for u, v in itertools.permutations(ABOUT.names, 2)]
    required = [dice.pick(pairs) for _ in range(dice.below(4))]
    tiers = [[name for name in ABOUT.names if dice.below(3) == tier] for tier in range(2)]
    tiers[1] = [name for name in tiers[1] if name not in tiers[0]]
    said = {"tiers": tiers, "required": required, "forbidden": [dice.pick(pairs)]}
    lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in said.items()]
    lines += ["# a note"] * dice.one_in(9)
    if dice.one_in(2):
        strength = dice.pick(["0", "1", "2.5", "1e8"])
        lines += [
            "[beliefs]",
            f"strength = {strength}",
            f'"{dice.pick(pairs)}" = 0.{dice.below(9)}',
        ]
    return File(dice.pick(["\n", "\r\n"]).join(lines).encode(), truth=said)


def check_knowledge(known: dict[str, Any], file: File, folder: Path) -> None:
    """What was read is what was written; and score_families takes it, or refuses it in words."""
    if file.truth is not None:
        assert known["tiers"] == tuple(map(tuple, file.truth["tiers"]))
        for key in ("required", "forbidden"):
            assert known[key] == tuple(tuple(text.split(" -> ")) for text in file.truth[key])
    try:
        bn.score_families(ABOUT, bn.BDeu(), **known)
    except ValueError as error:
        check_message(str(error), "")


# What can go wrong with a file


def mutated(raw: bytes, dice: Dice, another: Callable[[Dice], File]) -> bytes:
    """`raw` after one to four accidents."""
    for _ in range(1 + dice.below(4)):
        raw = dice.pick(ACCIDENTS)(raw, dice, another)
    return raw


def _place(raw: bytes, dice: Dice) -> tuple[int, int]:
    start = dice.below(len(raw) + 1)
    return start, min(len(raw), start + dice.below(1 + dice.pick([1, 3, 10, 60])))


def _flip(raw: bytes, dice: Dice, another: object) -> bytes:
    start = dice.below(len(raw) + 1)
    return raw[:start] + bytes([dice.below(256)]) + raw[start + 1 :]


def _insert(raw: bytes, dice: Dice, another: object) -> bytes:
    start, stop = _place(raw, dice)
    return raw[:start] + dice.pick(NASTY) + raw[start if dice.one_in(2) else stop :]


def _delete(raw: bytes, dice: Dice, another: object) -> bytes:
    start, stop = _place(raw, dice)
    return raw[:start] + raw[stop:]


def _truncate(raw: bytes, dice: Dice, another: object) -> bytes:
    return raw[: dice.below(len(raw) + 1)] if dice.one_in(3) else raw


def _repeat(raw: bytes, dice: Dice, another: object) -> bytes:
    start, stop = _place(raw, dice)
    times = 1000 if dice.one_in(100) else 2 + dice.below(3)
    return raw[:start] + raw[start:stop] * times + raw[stop:]


def _word(raw: bytes, dice: Dice, another: object) -> bytes:
    """One word by another, the kind of slip that stays within the grammar."""
    words = re.split(rb"([\s,;|]+)", raw)
    place = dice.below(len(words)) & -2
    words[place] = dice.pick([dice.pick(NASTY), dice.pick(words[::2])])
    return b"".join(words)


def _lines(raw: bytes, dice: Dice, another: object) -> bytes:
    """A line twice, left out, or in another's place."""
    lines = raw.split(b"\n")
    one, other = dice.below(len(lines)), dice.below(len(lines))
    lines[one : one + dice.below(2)] = dice.pick([[], [lines[one]] * 2, [lines[other]]])
    return b"\n".join(lines)


def _splice(raw: bytes, dice: Dice, another: Callable[[Dice], File]) -> bytes:
    start, stop = _place(raw, dice)
    donor = another(dice).raw
    first, last = _place(donor, dice)
    return raw[:start] + donor[first:last] + raw[stop:]


def _swell(raw: bytes, dice: Dice, another: object) -> bytes:
    """A very long field, rarely."""
    start, _ = _place(raw, dice)
    if not dice.one_in(50):
        return raw
    return raw[:start] + dice.pick([b"a", b"9", b"0", b"(", b"{", b"\xc3\xa9"]) * 3000 + raw[start:]


ACCIDENTS = [_flip, _insert, _delete, _truncate, _repeat, _word, _lines, _splice, _swell]


# Reading them


@dataclass(frozen=True)
class Kind:
    """A reader with the files made for it and the check of what it returns."""

    make: Callable[[Dice], File]
    read: Callable[..., Any]
    check: Callable[[Any, File, Path], None]
    name: str


KINDS = {
    "csv": Kind(table_file, bn.read_csv, check_table, "table.csv"),
    "unaided": Kind(unaided_file, read_unaided, check_table, "table.csv"),
    "bif": Kind(network_file, bn.read_bif, check_network, "net.bif"),
    "knowledge": Kind(
        knowledge_file, lambda path: bn.read_knowledge(path, ABOUT), check_knowledge, "known.toml"
    ),
    "scores": Kind(scores_file, bn.read_scores, check_scores, "scores.jkl"),
}


def file_number(kind: Kind, seed: int, number: int) -> File:
    """Every tenth file is valid as far as its grammar goes, the others had accidents."""
    dice = Dice(seed, number)
    file = kind.make(dice)
    if number % 10 == 0:
        return file
    return File(mutated(file.raw, dice, kind.make), file.options)


def outcome(kind: Kind, file: File, folder: Path) -> str:
    """ "read" or "refused"; an AssertionError or another one than is documented is a finding."""
    path = folder / kind.name
    path.write_bytes(file.raw)
    with at_most(SECONDS + SECONDS_A_BYTE * len(file.raw)), warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", ".*have been renormalised", UserWarning)
        warnings.filterwarnings("ignore", "(?s).*( has the level|as different levels)", UserWarning)
        try:
            result = kind.read(path, **file.options)
        except ValueError as error:
            check_message(str(error), str(path))
            assert file.truth is None, f"a valid file was refused: {error}"
            return "refused"
    kind.check(result, file, folder)
    return "read"


def check_message(message: str, source: str) -> None:
    """One line of moderate length that begins with the source."""
    assert message.startswith(source), message[:MESSAGE_LENGTH]
    assert message.isprintable(), repr(message[:MESSAGE_LENGTH])
    assert len(message) <= MESSAGE_LENGTH, f"{len(message)} characters: {message[:200]}"
    assert "Traceback" not in message


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Break off after so much processor time, where the system has a timer for that."""

    def late(*_: object) -> None:
        raise TimeoutError(f"not read within {seconds:.1f} s of processor time")

    if not hasattr(signal, "setitimer"):
        yield
        return
    before = signal.signal(signal.SIGVTALRM, late)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


@contextmanager
def folder_in_memory() -> Iterator[Path]:
    """A passing folder, on no disk where that is known to be possible."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        yield Path(folder)


@dataclass
class Tally:
    """How many files were read and refused, and the first file of each finding."""

    outcomes: collections.Counter[str] = field(default_factory=collections.Counter)
    findings: dict[str, tuple[int, str]] = field(default_factory=dict)


def fuzz(name: str, count: int, folder: Path, *, seed: int) -> Tally:
    """Read so many files of a kind, and count what became of them."""
    tally, kind = Tally(), KINDS[name]
    for number in range(count):
        file = file_number(kind, seed, number)
        try:
            tally.outcomes[outcome(kind, file, folder)] += 1
        except Exception as error:
            tally.outcomes["findings"] += 1
            where = traceback.extract_tb(error.__traceback__)[-1]
            place = f"{type(error).__name__} at {Path(where.filename).name}:{where.lineno}"
            tally.findings.setdefault(place, (number, f"{error}"[:300]))
    return tally


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("count", type=int)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with folder_in_memory() as folder:
        tally = fuzz(options.kind, options.count, folder, seed=options.seed)
    print(dict(tally.outcomes))
    for place, (number, message) in tally.findings.items():
        print(f"{place}, first at file {number}: {message}")
    sys.exit(bool(tally.findings))


if __name__ == "__main__":
    main()
