"""Readers of files meet what no writer meant to write: they read it or say in a line why not.

BNLAB_FUZZ=100000 in the environment tries that many files of each kind, in minutes.
"""

import csv
import math
import os

import fuzzing
import numpy as np
import pandas as pd
import pytest
from fuzzing import KINDS, Dice, at_most, check_message

import bnlab as bn

pytestmark = pytest.mark.filterwarnings("ignore:(?s).*( has the level|as different levels)")
EVERY = pytest.mark.parametrize("name", KINDS)


@pytest.fixture(scope="module")
def folder():
    with fuzzing.folder_in_memory() as path:
        yield path


@pytest.fixture
def few_cells(monkeypatch):
    """A table that counts blow up, and the table of a node, have at most 100,000 entries here."""
    monkeypatch.setattr("bnlab.data.encoding.MAX_CELLS", 10**5)
    monkeypatch.setattr("bnlab.networks.bayesnet.MAX_TABLE_ENTRIES", 10**5)


def check_tally(name, count, folder, seed):
    tally = fuzzing.fuzz(name, count, folder, seed=seed)
    assert tally.findings == {}
    assert sum(tally.outcomes.values()) == count
    assert tally.outcomes["read"] > count / 10, "nearly all were refused: that tests little"
    assert tally.outcomes["refused"] > count / 10


@pytest.mark.quick("csv", "scores", "knowledge")
@EVERY
def test_files_that_no_writer_meant_to_write(name, folder, few_cells):
    check_tally(name, int(os.environ.get("BNLAB_FUZZ", "2000")), folder, seed=1)


# What fuzzing found, and what it cannot: large files


LARGE = {
    "csv": {
        "digits and a letter": "a,b\n" + "9" * 131_000 + "x,1\n" + "y,1\n",
        "zeros and a fraction": "a,b\n" + "0" * 131_000 + ".5,1\n" + "y,2\n",
        "one cell of 5 MB": "a,b\n" + "x" * 5_000_000 + ",1\ny,2\n",
        "quotation marks": '"' * 1_000_001,
        "delimiters": "," * 1_000_000,
        "empty lines": "\n" * 1_000_000,
        "one line of words": "word " * 200_000,
        "a name of 5 MB": "x" * 5_000_000 + "\n1\n2\n",
        "many columns": ",".join(f"v{v}" for v in range(20_000)) + 2 * ("\n" + "1," * 19_999 + "0"),
        "many levels": "a,b\n" + "".join(f"level {row},{row % 2}\n" for row in range(50_000)),
    },
    "bif": {
        "digits and a letter": "variable a { type discrete [ 2 ] { b c }; }\nprobability ( a ) "
        "{ table " + "1" * 1_000_000 + "x 0; }",
        "one state of 5 MB": "variable a { type discrete [ 1 ] { " + "b" * 5_000_000 + " }; }",
        "many states": "variable a { type discrete [ 100000 ] { "
        + " ".join(f"s{i}" for i in range(100_000))
        + " }; }\nvariable b { type discrete [ 2 ] { b c }; }\nprobability ( b | a ) {"
        + "".join(f"(s{i}) 0.5 0.5;\n" for i in range(99_999))
        + "}\nprobability ( a ) { default 1; }",
        "nothing but openings": "{(" * 500_000,
        "beginnings of comments": "/* " * 300_000,
        "comments": "//\n" * 300_000,
        "an endless property": "network x { property " + "a " * 300_000,
        "quotation marks": '"' * 1_000_001,
        "one variable again and again": "variable a { type discrete [ 2 ] { b c }; }\n" * 10_000,
        "a table of which only one row is there": "".join(
            f"variable v{v} {{ type discrete [ 2 ] {{ b c }}; }}\n" for v in range(22)
        )
        + f"probability ( v21 {' '.join(f'v{v}' for v in range(21))} ) {{ ({'b ' * 21}) 1 0; }}",
    },
    "scores": {
        "digits and a letter": "1\na 1\n-" + "9" * 1_000_000 + "x 0\n",
        "one word of 5 MB": "1\n" + "a" * 5_000_000 + "\n",
        "many words": "1\na 1\n-1 0 " + "b " * 500_000,
        "many families": "2\na 100000\n" + "-1 1 b\n" * 100_000 + "b 1\n-1 0\n",
        "empty lines": "\n" * 1_000_000,
        "a family of 62": "63\n"
        + "".join(f"v{v} 1\n-1 0\n" for v in range(62))
        + "v62 1\n-1 62 "
        + " ".join(f"v{v}" for v in range(62)),
    },
}


LARGE["unaided"] = LARGE["csv"]


@pytest.mark.parametrize(
    ("name", "what"), [(name, what) for name, files in LARGE.items() for what in files]
)
def test_large_files_are_read_or_refused_in_a_moment(name, what, folder):
    kind = KINDS[name]
    path = folder / kind.name
    path.write_text(LARGE[name][what])
    try:
        with at_most(20):
            result = kind.read(path)
    except ValueError as error:
        check_message(str(error), str(path))
    else:
        assert (name, what) == ("unaided", "many levels")  # an identifier, which it leaves out
        assert result.names == ("b",)


def refusal(folder, name, content, **options):
    path = folder / KINDS[name].name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(ValueError) as caught:
        KINDS[name].read(path, **options)
    check_message(str(caught.value), str(path))
    return str(caught.value).removeprefix(str(path))


def test_line_breaks_and_escapes_of_a_cell_do_not_reach_the_message(folder):
    text = 'a,"b\nc"\n1,0\n1,\x1b[31m\n'
    assert "there are a, b\\nc" in refusal(folder, "csv", text, count="d")
    text = "a,b\n1,0\n0,2\n"
    assert "levels \\x1b[31m, \\n" in refusal(folder, "csv", text, levels={"b": ["\x1b[31m", "\n"]})
    net = 'variable "\x1b" { type discrete [ 2 ] { "\x85" c }; }\nprobability ( "\x1b" ) {}'
    assert "no probabilities of '\\x1b'" in refusal(folder, "bif", net)


def test_a_long_message_keeps_its_beginning_and_its_end(folder):
    message = refusal(folder, "csv", "a,b\n" + "x" * 100_000 + ",0\n" + "x" * 100_000 + ",1\n")
    assert message.startswith(": column 'a' is constant (only 'xxx")
    assert message.endswith("pass levels= to declare the levels that did not occur")


def test_a_cell_beyond_all_measure_has_a_likely_reason(folder):
    message = refusal(folder, "csv", 'a,b\n"x' + ",1\n" * csv.field_size_limit())
    assert message.endswith("Is a quotation mark left open?")


def test_a_name_of_nothing_but_space_is_none(folder):
    for blank in (" ", "\u2028", 7):
        assert "column 1 has no name" in refusal(
            folder, "csv", "x,y", header=False, names=[blank, "b"]
        )


@EVERY
def test_a_folder_is_no_file(name, folder):
    with pytest.raises(ValueError, match="is a folder; name a file"):
        KINDS[name].read(folder)


def test_a_score_that_no_probability_has(folder):
    message = refusal(folder, "scores", "1\na 1\n1e40 0\n")
    assert message == ", line 3: the score 1e40 is no natural logarithm of a probability"


def test_counts_that_do_not_fit_in_memory_are_refused_before(folder, monkeypatch):
    text = "a,b,k\n0,1,300000000\n1,0,100000000\n"
    monkeypatch.setattr("bnlab.memory.free_bytes", lambda: 10**9)
    message = refusal(folder, "csv", text, count="k")
    assert "a table of 400000000 rows needs 12,800,000,000 bytes" in message


def test_tables_that_do_not_fit_in_memory_are_refused_before(folder, monkeypatch):
    """A few lines stand for many probabilities where a default gives them."""
    monkeypatch.setattr("bnlab.memory.free_bytes", lambda: 10**8)
    names = [f"v{v}" for v in range(60)]
    net = "".join(f"variable {name} {{ type discrete [ 2 ] {{ b c }}; }}\n" for name in names)
    for v, name in enumerate(names):
        net += f"probability ( {name} {' '.join(names[max(0, v - 20) : v])} ) {{ default 1 0; }}\n"
    assert "probabilities needs 2," in refusal(folder, "bif", net)


def test_quoted_marks_are_names(folder):
    """They ended blocks and properties."""
    for mark in "{}()[];|":
        net = f"""network x {{ property "{mark}" a ; }}
        variable "{mark}" {{ type discrete [ 2 ] {{ "{mark}" c }}; property "{mark}" ; }}
        variable b {{ type discrete [ 2 ] {{ "{mark}" c }}; }}
        probability ( "{mark}" ) {{ table 0.5 0.5; }}
        probability ( b | "{mark}" ) {{ ("{mark}") 0.25 0.75; (c) 0.5 0.5; }}"""
        (folder / "net.bif").write_text(net)
        read = bn.read_bif(folder / "net.bif")
        assert read.levels == ((mark, "c"), (mark, "c"))
        assert read.dag.tolist() == [0, 1]
    assert "expected" in refusal(folder, "bif", 'network x { "}"')


def test_line_ends_of_all_systems(folder):
    """A comment went on to the end of the file, and names held what could not be written."""
    net = "variable a { // one\n type discrete [ 2 ] { b c }; }\nprobability ( a ) { table 1 0; }"
    (folder / "net.bif").write_bytes(net.replace("\n", "\r").encode())
    assert bn.read_bif(folder / "net.bif").n == 1
    assert ", line 3: " in refusal(folder, "bif", net.replace("\n", "\r").replace("1 0", "1 1"))
    assert "quotation is not closed" in refusal(folder, "bif", net.replace(" a ", ' "a\r" ', 1))


# Arrays and frames


ODD = [0, 1, 2, -1, 10**10, 10**30, 0.5, math.nan, math.inf, None, True, "a", "", "1", b"a", 1j]
ODD += [[], (0, 1), {}, np.int8(1), np.float32(0.5), pd.NA, pd.NaT, pd.Timestamp(0), object]


def test_odd_arrays():
    accepted = 0
    for number in range(3_000):
        dice = Dice(3, number)
        pool = dice.pick([[0, 1], [0, 1, 2], ODD])
        n = 1 + dice.below(3)
        values = [[dice.pick(pool) for _ in range(n)] for _ in range(6)]
        options = {
            key: dice.pick([None, [2, 2], [3] * n, ["a", "b"], *ODD])
            for key in ("arities", "names", "levels", "intervened")
            if dice.one_in(6)
        }
        try:
            data = bn.Data.from_arrays(dice.pick(ODD) if dice.one_in(4) else values, **options)
        except ValueError as error:
            check_message(str(error), "")
        else:
            accepted += 1
            assert data.values.max() < data.arities.max()
    assert accepted > 300


def test_odd_frames():
    accepted = 0
    for number in range(1_000):
        dice = Dice(4, number)
        columns = {}
        for _ in range(1 + dice.below(3)):
            pool = dice.pick([["x", "y"], [0, 1], [True, False], [0.5, 1.0], ODD])
            name = dice.pick(["a", "b", "c", *ODD[:11], "1", pd.NaT])
            columns[name] = [dice.pick(pool) for _ in range(6)]
        frame = pd.DataFrame(columns, index=[dice.below(3) for _ in range(6)])
        if dice.one_in(4):
            kind = dice.pick(["category", "string", "object"])
            frame = frame.astype(str).astype(kind) if kind == "category" else frame.astype(kind)
        options = {"missing": dice.pick(["error", "drop", "level"])}
        options |= {key: dice.pick(["a", 0, "z"]) for key in ("count",) if dice.one_in(9)}
        try:
            data = bn.Data.from_frame(frame, **options)
        except ValueError as error:
            check_message(str(error), "frame")
        else:
            accepted += 1
            assert all(isinstance(label, str) for labels in data.levels for label in labels)
            again = bn.Data.from_frame(
                pd.DataFrame(
                    {
                        name: pd.Categorical.from_codes(data.values[:, v], list(data.levels[v]))
                        for v, name in enumerate(data.names)
                    }
                )
            )
            assert np.array_equal(again.values, data.values)
            assert again.levels == data.levels
    assert accepted > 50
