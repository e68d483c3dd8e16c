"""Score files: round trips, and errors that name file and line."""

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import bnlab as bn

GOOD = "3\na 3\n-3.5 0\n-2.5 1 b\n-2.25 2 b c\nb 1\n-3.0 0\nc 2\n-1 0\n-0.5 1 a\n"


def write(tmp_path, text):
    path = tmp_path / "some.jkl"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_table_returns_from_its_file(tmp_path):
    data = bn.load_dataset("coronary")
    data = bn.Data.from_arrays(data.values, arities=data.arities)
    table = bn.score_families(data, bn.BDeu(), max_parents=3, forbidden=[(0, 1)], prior=bn.Fair())
    bn.write_scores(table, tmp_path / "t.jkl")
    again = bn.read_scores(tmp_path / "t.jkl")
    assert again.names == table.names
    assert (again.parents == table.parents).all()
    assert (again.log_phi == table.log_phi).all()
    edges = bn.order_posterior(again).edges
    assert edges == pytest.approx(bn.order_posterior(table).edges, abs=1e-12)
    assert [p.name for p in tmp_path.iterdir()] == ["t.jkl"]


def test_families_left_out_have_no_weight(tmp_path):
    table = bn.read_scores(write(tmp_path, GOOD))
    assert table.max_parents == 2
    allowed = {
        name: {int(m): s for m, s in zip(table.parents[v], table.log_phi[v], strict=True)}
        for v, name in enumerate(table.names)
    }
    assert allowed["a"] == {0: -3.5, 2: -2.5, 4: -math.inf, 6: -2.25}
    assert allowed["b"] == {0: -3.0, 1: -math.inf, 4: -math.inf, 5: -math.inf}
    assert allowed["c"] == {0: -1.0, 1: -0.5, 2: -math.inf, 3: -math.inf}


def test_comments_and_blank_lines_are_skipped(tmp_path):
    text = "\ufeff# scores\n\n" + GOOD.replace("b 1\n", "b 1\n  # the root\n\n")
    again = bn.read_scores(write(tmp_path, text))
    assert (again.log_phi == bn.read_scores(write(tmp_path, GOOD)).log_phi).all()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("3\na", "x\na", "line 1: the number of variables is 'x'"),
        ("3\na", "64\na", r"line 1: the number of variables is 64, outside 1..63"),
        ("3\na", "3 4\na", "line 1: the first line"),
        ("b 1", "b", "line 6: expected `name count`"),
        ("b 1", "a 1", "line 6: variable 'a' stands twice"),
        ("b 1", "b 0", "line 6: the number of families is 0"),
        ("b 1", "b 2", "line 8: the score is 'c', not a finite"),
        ("-2.5 1 b", "-2.5 2 b", "line 4: expected `score k parent"),
        ("-2.5 1 b", "-2.5", "line 4: expected `score k parent"),
        ("-2.5 1 b", "-2.5 1 z", "line 4: parent 'z' is none"),
        ("-2.5 1 b", "-2.5 1 a", "line 4: the parents of 'a' must be different"),
        ("-2.25 2 b c", "-2.25 2 b b", "line 5: the parents of 'a' must be different"),
        ("-2.25 2 b c", "-2.25 1 b", "line 5: this family of 'a' stands twice"),
        ("-2.5 1 b", "nan 1 b", "line 4: the score is 'nan'"),
        ("-2.5 1 b", "1e999 1 b", "line 4: the score is '1e999'"),
        ("-2.5 1 b", "-1_0 1 b", "line 4: the score is '-1_0'"),
        ("-0.5 1 a\n", "", "line 9: the file ends where a family of 'c' should stand"),
        ("-0.5 1 a\n", "-0.5 1 a\nd 1\n", "line 11: nothing should follow the 3 variables"),
    ],
)
def test_errors_name_file_and_line(tmp_path, old, new, message):
    path = write(tmp_path, GOOD.replace(old, new, 1))
    with pytest.raises(ValueError, match=message) as error:
        bn.read_scores(path)
    assert str(error.value).startswith(str(path))


@pytest.mark.parametrize("score", ["1e16", "-1e16", "1.01e8", "-1.01e8"])
def test_scores_that_leave_sums_no_digits_are_refused(tmp_path, score):
    path = write(tmp_path, f"1\na 1\n{score} 0\n")
    with pytest.raises(ValueError, match=r"no natural logarithm|of 'a' given no parents") as error:
        bn.read_scores(path)
    assert str(error.value).startswith(str(path))


def test_an_empty_file_and_one_of_bytes(tmp_path):
    with pytest.raises(ValueError, match="the file ends where the number of variables"):
        bn.read_scores(write(tmp_path, ""))
    (tmp_path / "b.jkl").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ValueError, match="not UTF-8"):
        bn.read_scores(tmp_path / "b.jkl")


def test_names_that_the_format_cannot_carry(tmp_path):
    for name in ("M. Work", "#a"):
        data = bn.Data.from_arrays([[0, 0], [1, 1]], names=[name, "C#"])
        with pytest.raises(ValueError, match=f"the name '{name}' holds white space or begins"):
            bn.write_scores(bn.score_families(data, bn.BDeu()), tmp_path / "t.jkl")
    assert not list(tmp_path.iterdir())


PIECES = [*"0123abc#", "-1.5", "1e400", "nan", "\n", " ", "²", "9999999999", "-", "a 1", ""]


@settings(max_examples=500, deadline=None)
@given(
    edits=st.lists(
        st.tuples(st.integers(0, len(GOOD)), st.integers(0, 4), st.sampled_from(PIECES)),
        max_size=4,
    )
)
def test_any_edit_of_a_file_is_read_or_refused_with_a_value_error(edits, tmp_path_factory):
    text = GOOD
    for start, length, piece in edits:
        text = text[:start] + piece + text[start + length :]
    path = tmp_path_factory.getbasetemp() / "fuzz.jkl"
    path.write_text(text, encoding="utf-8")
    try:
        table = bn.read_scores(path)
    except ValueError as error:
        assert str(error).startswith(str(path)) or "no parent set" in str(error)
    else:
        assert np.isfinite(table.log_score).all()
        assert table.n <= 9
