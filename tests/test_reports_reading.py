"""Tables that nobody has described: what is found out, what is refused, what can be said."""

import gzip
import importlib
import io
import os
import pickle
import re
import shlex
from dataclasses import dataclass, replace
from threading import Thread

import numpy as np
import pandas as pd
import pytest
from awkward_tables import MESSY, outcome
from mutations import mutations

import bnlab as bn
from bnlab.cli import parser
from bnlab.cli.options import as_option
from bnlab.data import Intervals
from bnlab.errors import Setting
from bnlab.predict import typed_row
from bnlab.reports import analyse, read_table


@dataclass(frozen=True)
class Table:
    """A raw file, and what is known of it."""

    file: str
    m: int
    n: int
    like: str  # the data set of the package with the same levels; "" where it cuts elsewhere
    options: dict


TEN = {
    "mushroom": Table(
        "raw/mushroom/agaricus-lepiota.data",
        8124,
        22,
        "mushroom",
        {"header": False, "drop": ("x16",), "missing": "level"},
    ),
    "primary_tumor": Table(
        "raw/primary-tumor/primary-tumor.data",
        339,
        18,
        "primary_tumor",
        {"header": False, "skip": 4, "drop": ("x0",), "delimiter": ";"},
    ),
    "votes": Table(
        "raw/votes/house-votes-84.data", 435, 17, "votes", {"header": False, "missing": "level"}
    ),
    "german": Table("raw/german/german.data", 1000, 21, "", {"header": False, "delimiter": " "}),
    "zoo": Table("raw/zoo/zoo.data", 101, 17, "zoo", {"header": False, "drop": ("x0",)}),
    "sachs": Table("sachs_interventional.csv", 5400, 11, "sachs", {"intervention": "INT"}),
    "wine": Table("raw/wine/wine.data", 178, 14, "", {"header": False}),
    "iris": Table("raw/iris/iris.data", 150, 5, "", {"header": False}),
    "coronary": Table("coronary_table.csv", 1841, 6, "coronary", {"count": "count"}),
    "promoters": Table(
        "raw/promoters/promoters.data",
        106,
        58,
        "promoters",
        {"header": False, "letters": ("x2",), "drop": ("x1",)},
    ),
}


def write(tmp_path, text, name="table.csv", encoding="utf-8"):
    path = tmp_path / name
    path.write_bytes(text.encode(encoding))
    return path


def same(one, other):
    """Whether two data have the same rows, names, levels and interventions."""
    held = [
        np.zeros(d.values.shape, bool) if d.intervened is None else d.intervened
        for d in (one, other)
    ]
    return (
        one.names == other.names
        and one.levels == other.levels
        and np.array_equal(one.values, other.values)
        and np.array_equal(*held)
    )


@pytest.mark.parametrize("name", TEN)
class TestTen:
    def test_read_without_help(self, name, data_dir):
        table = TEN[name]
        reading = read_table(data_dir / table.file)
        assert (reading.data.m, reading.data.n) == (table.m, table.n)
        assert table.options.items() <= reading.options.items()

    def test_the_options_give_the_same_data(self, name, data_dir):
        path = data_dir / TEN[name].file
        reading = read_table(path)
        assert same(bn.read_csv(path, **reading.options), reading.data)
        again = {key: value for key, value in reading.options.items() if key != "names"}
        assert same(read_table(path, **again).data, reading.data)

    def test_columns_tell_what_the_data_hold(self, name, data_dir):
        reading = read_table(data_dir / TEN[name].file)
        variables = [column for column in reading.columns if column.role == "variable"]
        assert tuple(column.name for column in variables) == reading.data.names
        for v, column in enumerate(variables):
            assert column.levels == reading.data.levels[v]
            assert column.counts == tuple(np.bincount(reading.data.values[:, v]))
        for column in reading.columns:
            if column.role != "variable":
                assert column.note in reading.notes and not column.levels


@pytest.mark.parametrize("name", [name for name, table in TEN.items() if table.like])
def test_scores_are_those_of_the_known_data_set(name, data_dir):
    """Labels may differ ("0" or "missing"), the partition of the rows may not."""
    known, read = bn.load_dataset(TEN[name].like), read_table(data_dir / TEN[name].file).data
    scores = [bn.score_families(d, bn.BDeu(), max_parents=1).log_score for d in (known, read)]
    assert np.allclose(np.sort(scores[0], axis=None), np.sort(scores[1], axis=None))


def cells_of(name, data_dir):
    """Header and rows of one of the ten, the header made up where the file has none."""
    path = data_dir / TEN[name].file
    reading = read_table(path)
    lines = path.read_text().splitlines()[reading.options.get("skip", 0) :]
    cut = None if reading.delimiter == " " else reading.delimiter
    rows = [[cell.strip() for cell in line.split(cut)] for line in lines if line.strip()]
    header = rows.pop(0) if reading.header else [f"c{v}" for v in range(len(rows[0]))]
    left = [v for v in range(len(header)) if len({row[v] for row in rows}) > 1]  # mushroom has one
    return [header[v] for v in left], [[row[v] for v in left] for row in rows]


def inserted(header, rows, name, cells):
    """The table with one more column before the last."""
    header = [*header[:-1], name, header[-1]]
    return header, [[*row[:-1], cell, row[-1]] for row, cell in zip(rows, cells, strict=True)]


def ragged(header, rows):
    rows[6] = rows[6][:-1]
    return header, rows


def twice(header, rows):
    header[1] = header[0]
    return header, rows


def constant(header, rows):
    return inserted(header, rows, "extra", ["same"] * len(rows))


def many_levels(header, rows):
    rows = [[*rows[i % len(rows)]] for i in range(max(6000, len(rows)))]
    for i, row in enumerate(rows):
        for v, cell in enumerate(row):
            if header[v] in ("c0", "c1") and len({r[v] for r in rows[:100]}) > 90:
                row[v] = f"{cell}{i}"  # row labels stay different when rows are repeated
    return inserted(header, rows, "extra", [f"level{i % 5000}" for i in range(len(rows))])


def mixed(header, rows):
    numbers = [str(i % 7) for i in range(len(rows))]
    numbers[8] = "seven"
    return inserted(header, rows, "extra", numbers)


def foreign(header, rows):
    rows[3][0] = "Zürich"
    return header, rows


def too_wide(header, rows):
    while len(header) < 70:
        name = f"more{len(header)}"
        header, rows = inserted(header, rows, name, [f"u{i % 2}" for i in range(len(rows))])
    return header, rows


BAD = {  # what is done to the table, where the message says it is, and what to do about it
    "ragged row": (ragged, "line 8: .* cells where", "Correct the line"),
    "duplicated header": (twice, "two columns are called", "rename one"),
    "constant column": (constant, "column 'extra' is constant", "Leave it out with drop="),
    "5000 levels": (
        many_levels,
        "column 'extra' has 5000 distinct values",
        "leave it out with drop=",
    ),
    "mixed types": (mixed, "line 10: column 'extra' mixes numbers with text .*seven", "Correct"),
    "empty": (None, "it is empty", "no rows of data"),
    "wrong encoding": (foreign, "line 5: byte 0xfc is not utf-8", "UTF-8, or pass encoding="),
    "70 columns": (too_wide, "variables; .* at most 63", "Choose fewer columns"),
}


FOR = {  # what a reader may put in those places
    **{"COLUMN=A,B": "x=a,b", "COLUMN=RULE": "x=width:3", "COLUMN": "x", "TEXT": "-999"},
    **{"D": ";", "N": "9"},
}


def as_options(error):
    """What is typed when the remedies of an error are followed, which must be understood."""
    typed = [as_option(part) for part in error.args if isinstance(part, Setting)]
    words = [[FOR.get(word, word) for word in shlex.split(text)] for text in typed]
    for option in words:
        assert option[0].startswith("--")
        parser().parse_args(["report", "table.csv", *option])


@pytest.mark.quick("iris", "votes")
@pytest.mark.parametrize("fault", BAD)
@pytest.mark.parametrize("name", TEN)
def test_bad_versions_get_one_line_with_place_and_remedy(name, fault, data_dir, tmp_path):
    spoil, place, remedy = BAD[fault]
    text = ""
    if spoil is not None:
        header, rows = spoil(*cells_of(name, data_dir))
        text = "\n".join(",".join(cells) for cells in [header, *rows])
    path = write(tmp_path, text, encoding="latin-1" if fault == "wrong encoding" else "utf-8")
    with pytest.raises(ValueError, match=place) as raised:
        read_table(path)
    message = str(raised.value)
    assert message.startswith(str(path)) and remedy in message
    assert message.isprintable() and len(message) < 900
    as_options(raised.value)


@pytest.mark.filterwarnings("ignore:(?s).*( has the level|as different levels)")
@pytest.mark.parametrize(
    "raw",
    [
        b"rain,wind,mm,count\nno,calm,0.5,3\nyes,?,2.5,1\nno,storm,1.5,2\n",
        b",a,b\n0,x,y\n1,x,z\n2,u,z\n",
        b"DY\n3\n2\nattr;attr\n0;1;2\n1;2;2\n2;1;1\n",
        "a;b\n1,5;2\n2,5;3\n".encode("utf-16"),
        b"+,S10,acgtacgtac\n-,S11,ttgtacgtac\n+,S12,acgtaccccc\n",
    ],
    ids=["counts", "row labels", "described", "wide", "sequences"],
)
def test_damaged_files_are_read_or_refused_in_words(raw, tmp_path):
    path = tmp_path / "table.csv"
    for damaged in mutations(raw, 200):
        path.write_bytes(damaged)
        try:
            reading = read_table(path)
        except ValueError as error:
            assert str(error).startswith(str(path)) and str(error).isprintable()
        else:
            assert same(bn.read_csv(path, **reading.options), reading.data)


class TestTypedRows:
    """A number as somebody types it, against numpy and pandas on the raw columns."""

    @pytest.mark.parametrize("name", ["wine", "iris", "german"])
    def test_numbers_find_their_intervals(self, name, data_dir):
        path = data_dir / TEN[name].file
        data = read_table(path).data
        raw = np.genfromtxt(path, delimiter="," if name != "german" else None, dtype=str)
        cut = [v for v in range(data.n) if data.intervals[v] is not None]
        assert cut
        for v in cut:
            intervals = data.intervals[v]
            numbers = raw[:, v].astype(float)
            assert (intervals.low, intervals.high) == (numbers.min(), numbers.max())
            codes = np.digitize(numbers, intervals.cut_points, right=True)
            assert np.array_equal(codes, data.values[:, v])
            bounds = [-np.inf, *intervals.cut_points, np.inf]
            assert np.array_equal(codes, pd.cut(numbers, bounds, labels=False))
            for cell, code in zip(raw[::9, v], codes[::9], strict=True):
                for typed in (cell, f" {cell} ", float(cell)):
                    assert typed_row(data, {data.names[v]: typed})[v] == code
        row = {other: cell for other, cell in zip(data.names, raw[0], strict=True)}
        assert np.array_equal(typed_row(data, row), data.values[0])

    def test_the_bounds_belong_to_the_left(self, tmp_path):
        data = self.heights(tmp_path)
        assert data.levels[0] == ("<= 1.5", "(1.5, 2.5]", "> 2.5", "missing")
        typed = [1.5, "1.50", 1.5000001, "2.5", 3, "1e0", "+2.", " (1.5, 2.5] ", "missing"]
        assert [typed_row(data, {"height": x})[0] for x in typed] == [0, 0, 1, 1, 2, 0, 1, 1, 3]

    def test_what_is_missing_is_left_out(self, tmp_path):
        data = self.heights(tmp_path)
        for typed in (None, "", " ", "?", "NA", float("nan"), np.nan):
            assert typed_row(data, {"height": typed, "kind": typed}).tolist() == [-1, -1, -1]

    def test_beyond_what_was_seen(self, tmp_path):
        data = self.heights(tmp_path)
        for typed, code, level in ((99, 2, "> 2.5"), ("-1", 0, "<= 1.5")):
            message = f"'height' was seen from 0.5 to 3.5; {typed} is taken for {level}"
            with pytest.warns(UserWarning, match=message):
                assert typed_row(data, {"height": typed})[0] == code

    def test_whole_numbers_in_any_spelling(self, tmp_path):
        data = self.heights(tmp_path)
        assert data.levels[2] == ("1", "2", "10")
        typed = ["10", "10.0", "010", 10, 10.0, np.int64(10), "1e1"]
        assert {int(typed_row(data, {"code": x})[2]) for x in typed} == {2}

    def test_unknown_cells_are_told(self, tmp_path):
        data = self.heights(tmp_path)
        with pytest.raises(ValueError, match=r"'kind' has no level 'c'; there are a, b, missing"):
            typed_row(data, {"kind": "c"})
        with pytest.raises(
            ValueError, match=r"'height' has no number or level '1,7'; there are <="
        ):
            typed_row(data, {"height": "1,7"})
        with pytest.raises(ValueError, match=r"'code' has no level '3'; there are 1, 2, 10"):
            typed_row(data, {"code": 3})
        with pytest.raises(ValueError, match="no variable 'width'"):
            typed_row(data, {"width": 1})

    def test_rows_and_columns_chosen_keep_their_intervals(self, tmp_path):
        data = self.heights(tmp_path)
        some = pickle.loads(pickle.dumps(data.select(["code", "height"]).prefix(2)))
        assert typed_row(some, {"height": 2}).tolist() == [-1, 1]
        with pytest.raises(ValueError, match="intervals has 1 entries for 3 columns"):
            replace(data, intervals=(None,))
        with pytest.raises(ValueError, match="'code' has 3 levels, too few for 3 cut points"):
            replace(data, intervals=(None, None, Intervals((1.0, 2.0, 3.0), 0.0, 4.0)))

    def test_a_prediction_from_numbers(self, tmp_path):
        data = self.heights(tmp_path)
        found = analyse(data, rng=np.random.default_rng(1))
        expected = found.predict({"height": "(1.5, 2.5]", "code": "10"}, "kind")
        got = found.predict({"height": 1.7, "code": 10.0, "kind": None}, "kind")
        assert np.array_equal(got, expected)

    @staticmethod
    def heights(tmp_path):
        rows = "".join(f"{i % 4 + 0.5},{'ab'[i % 2]},{(1, 2, 10)[i % 3]}\n" for i in range(36))
        path = write(tmp_path, "height,kind,code\n" + rows + "?,?,1\n" * 4)
        return read_table(path, discretize={"height": bn.CutPoints([1.5, 2.5])}).data


DISCRETE = "rain,wind\nno,calm\nyes,calm\nno,storm\nno,calm\n"


class TestGuesses:
    @pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
    def test_encodings(self, encoding, tmp_path):
        path = write(tmp_path, DISCRETE.replace("calm", "ruhig ß"), encoding=encoding)
        reading = read_table(path)
        assert reading.data.levels == (("no", "yes"), ("ruhig ß", "storm"))
        assert ("encoding" in reading.options) == (encoding == "utf-16")
        assert same(bn.read_csv(path, **reading.options), reading.data)

    def test_latin_1_only_when_asked(self, tmp_path):
        path = write(tmp_path, DISCRETE.replace("calm", "ruhig ß"), encoding="latin-1")
        with pytest.raises(ValueError, match=r'line 2: byte 0xdf is not utf-8.*encoding="latin-1"'):
            read_table(path)
        reading = read_table(path, encoding="latin-1")
        assert reading.data.levels[1] == ("ruhig ß", "storm")
        assert same(bn.read_csv(path, **reading.options), reading.data)

    def test_gzip(self, tmp_path):
        path = tmp_path / "table.csv.gz"
        path.write_bytes(gzip.compress(DISCRETE.encode("utf-16")))
        assert read_table(path).data.m == 4

    @pytest.mark.quick("True")
    @pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names")
    @pytest.mark.parametrize("packed", [False, True])
    def test_pipes_are_read_once(self, packed, tmp_path):
        raw = ("sex,dose\n" + "f,low\nm,high\nf,mid\n" * 4000).encode()
        os.mkfifo(tmp_path / "pipe")
        path = tmp_path / "table.csv"
        path.write_bytes(raw)
        for read in (read_table, bn.read_csv):
            writer = Thread(
                target=(tmp_path / "pipe").write_bytes,
                args=(gzip.compress(raw) if packed else raw,),
                daemon=True,
            )
            writer.start()
            found = read(tmp_path / "pipe")
            writer.join()
            assert same(getattr(found, "data", found), bn.read_csv(path))
            assert not getattr(found, "lasts", False)
        assert read_table(path).lasts

    @pytest.mark.parametrize("delimiter", [",", ";", "\t", "|", " "])
    def test_delimiters(self, delimiter, tmp_path):
        reading = read_table(write(tmp_path, DISCRETE.replace(",", delimiter)))
        assert (reading.delimiter, reading.data.m, reading.header) == (delimiter, 4, True)

    def test_the_delimiter_is_the_even_one(self, tmp_path):
        path = write(tmp_path, 'size;"what, then"\n3;red, dark, old\n4;blue\n3;blue\n')
        assert read_table(path).data.names == ("size", "what, then")

    def test_two_even_delimiters_are_a_question(self, tmp_path):
        path = write(tmp_path, "a,b;c,d\n1,2;3,4\n1,3;3,4\n2,2;1,4\n")
        with pytest.raises(ValueError, match=r"line 1: ',' and ';' each cut.*delimiter="):
            read_table(path)
        assert read_table(path, delimiter=";").options["decimal"] == ","

    def test_data_without_header(self, tmp_path):
        reading = read_table(write(tmp_path, DISCRETE.split("\n", 1)[1]))
        assert not reading.header and reading.data.m == 4

    def test_row_labels_without_a_name(self, tmp_path):
        rows = "".join(f"{i},{'xy'[i % 2]},{'uvw'[i % 3]}\n" for i in range(20))
        reading = read_table(write(tmp_path, ",a,b\n" + rows))
        assert reading.data.names == ("a", "b") and reading.columns[0].role == "left out"
        assert same(bn.read_csv(reading.source, **reading.options), reading.data)

    @pytest.mark.parametrize(
        "first", ["gene,2001,2002", "a,no"], ids=["years as names", "a name among the cells"]
    )
    def test_a_doubtful_header_is_a_question(self, first, tmp_path):
        rows = {"gene,2001,2002": "3,0,1\n4,1,1\n3,1,0\n", "a,no": "1,no\n2,yes\n1,no\n"}[first]
        path = write(tmp_path, f"{first}\n{rows}")
        with pytest.raises(ValueError, match=r"line 1: are .* names or data.*header=True"):
            read_table(path)
        assert read_table(path, header=True).data.m == 3

    def test_a_header_in_the_middle(self, tmp_path):
        with pytest.raises(ValueError, match="line 6: the header once more"):
            read_table(write(tmp_path, DISCRETE + DISCRETE))

    def test_few_missing_rows_are_left_out(self, tmp_path):
        reading = read_table(
            write(tmp_path, DISCRETE * 1 + "no,calm\nyes,storm\n" * 10 + "?,calm\n")
        )
        assert (reading.rows_read, reading.rows_kept, reading.data.m) == (25, 24, 24)
        assert "1 of 25 rows (4 %) have a missing cell and are left out: few enough" in str(
            reading.notes
        )

    def test_many_missing_rows_get_a_level(self, tmp_path):
        reading = read_table(write(tmp_path, DISCRETE + "?,calm\n"))
        assert reading.rows_kept == 5 and reading.data.levels[0] == ("no", "yes", "missing")

    def test_rows_stay_where_a_column_would_become_constant(self, tmp_path):
        rows = "no,calm\nno,storm\n" * 20 + "yes,?\n"
        reading = read_table(write(tmp_path, "rain,wind\n" + rows))
        assert reading.options["missing"] == "level"
        assert "would be constant" in " ".join(reading.notes)

    def test_measurements_with_ties(self, tmp_path):
        values = ["0.0"] * 60 + ["1.5", "2.5", "0.5"] * 5 + ["9.5"] * 1
        rows = "".join(f"{'xy'[i % 2]},{value}\n" for i, value in enumerate(values))
        reading = read_table(write(tmp_path, "kind,mm\n" + rows))
        assert reading.options["discretize"] == {"mm": bn.EqualFrequency(2)}
        top = "".join(f"{'xy'[i % 2]},{9.5 if i > 9 else 1.5}\n" for i in range(50))
        reading = read_table(write(tmp_path, "kind,mm\n" + top))
        assert reading.options["discretize"] == {"mm": bn.CutPoints([1.5])}

    def test_whole_numbers_stay_levels_up_to_24_of_them(self, tmp_path):
        rows = "".join(f"{i % 24},{i % 25}\n" for i in range(600))
        reading = read_table(write(tmp_path, "code,age\n" + rows))
        assert reading.data.arities.tolist() == [24, 3]

    def test_counts(self, tmp_path):
        text = "rain,wind,n\nno,calm,3\nyes,calm,0\nno,storm,2\nyes,storm,4\n"
        reading = read_table(write(tmp_path, text))
        assert reading.data.m == 9 and reading.columns[-1].role == "count"
        assert read_table(reading.source, count=False).data.n == 3
        with pytest.raises(ValueError, match=r"does the column 'n' count rows.*count=False"):
            read_table(write(tmp_path, text + "no,calm,1\n"))

    def test_interventions(self, tmp_path):
        text = "rain,wind,INT\nno,calm,0\nyes,calm,1\nno,storm,2\nyes,storm,0\n"
        reading = read_table(write(tmp_path, text))
        assert reading.data.intervened.sum() == 2
        assert read_table(reading.source, intervention=False).data.n == 3
        words = read_table(write(tmp_path, text.replace(",1", ",rain").replace(",2", ",wind")))
        assert same(words.data, reading.data)

    def test_numbers_of_variables_beside_a_column_left_out(self, tmp_path):
        rows = "".join(f"id{i},{'xy'[i % 2]},{'uv'[i // 2 % 2]},{i % 3}\n" for i in range(30))
        with pytest.raises(ValueError, match=r"column 'INT' gives numbers.*name is left out"):
            read_table(write(tmp_path, "name,a,b,INT\n" + rows))

    def test_identifiers_stand_in_the_first_half(self, tmp_path):
        rows = "".join(f"{'xy'[i % 2]},{'uv'[i // 2 % 2]},id{i}\n" for i in range(100))
        with pytest.raises(
            ValueError, match=r"column 'note' has 100 distinct values.*leave it out"
        ):
            read_table(write(tmp_path, "a,b,note\n" + rows))
        reading = read_table(tmp_path / "table.csv", drop=["note"])
        assert reading.data.names == ("a", "b") and reading.options["drop"] == ("note",)

    @pytest.mark.parametrize(("different", "left_out"), [(9, True), (8, False)])
    def test_labels_of_nine_rows_in_ten_name_the_rows(self, different, left_out, tmp_path):
        rows = "".join(
            f"id{min(i, different - 1)},{'xy'[i % 2]},{'uv'[i // 2 % 2]}\n" for i in range(10)
        )
        names = read_table(write(tmp_path, "who,a,b\n" + rows), max_levels=10).data.names
        assert ("who" not in names) == left_out

    @pytest.mark.parametrize("others", [[3, -3, 3, -3, 2], [1, 0, 0, 0, 1]])
    def test_a_last_cell_that_the_others_sum_up_to_is_a_total_above_them_all(
        self, others, tmp_path
    ):
        rows = "".join(f"{'xy'[i % 2]},{x}\n" for i, x in enumerate([*others, sum(others)]))
        path = write(tmp_path, "a,x\n" + rows)
        if sum(others) > max(others):
            with pytest.raises(ValueError, match="the sum of all cells above"):
                read_table(path)
        else:
            assert read_table(path).data.m == 6

    def test_counts_are_not_negative(self, tmp_path):
        rows = "".join(f"{'xy'[i % 2]},{'uv'[i // 2]},{i - 1}\n" for i in range(4))
        with pytest.raises(ValueError, match=r"'count' count rows\? Its name says so, .*'-1'"):
            read_table(write(tmp_path, "a,b,count\n" + rows))

    @pytest.mark.parametrize(
        ("largest", "arities"), [(9, None), (9.9, [3, 2]), (10, [4, 2])]
    )  # measurements are cut into three
    def test_more_than_ten_times_the_others_may_mean_missing(self, largest, arities, tmp_path):
        values = [1, 2, largest, 99]
        rows = "".join(f"{values[i % 4]},{'xy'[i // 4 % 2]}\n" for i in range(40))
        path = write(tmp_path, "x,a\n" + rows)
        if arities is None:
            with pytest.raises(ValueError, match="holds 99 beside numbers from 1 to 9"):
                read_table(path)
        else:
            assert read_table(path).data.arities.tolist() == arities

    def test_a_constant_in_a_made_file_is_an_error(self, tmp_path):
        """Only files without a header, and at most one column in twenty."""
        few = "".join(f"{'xy'[i % 2]},k\n" for i in range(30))
        with pytest.raises(ValueError, match="column 'x1' is constant"):
            read_table(write(tmp_path, few))
        columns = [["uk"[i >> v & 1] for v in range(5)] * 4 + ["k"] for i in range(32)]
        text = "".join(",".join(row) + "\n" for row in columns)
        with pytest.raises(ValueError, match="column 'x20' is constant"):
            read_table(write(tmp_path, text.replace("k\n", "foreign\n")))
        assert read_table(write(tmp_path, text)).options["drop"] == ("x20",)
        with pytest.raises(ValueError, match="column 'x20' is constant"):
            read_table(tmp_path / "table.csv", drop=())

    def test_what_is_asked_for_is_done(self, tmp_path):
        rows = "".join(f"{i % 3},{i / 8},{i % 2}\n" for i in range(40))
        path = write(tmp_path, "a,b,c\n" + rows)
        reading = read_table(
            path, levels={"a": ["0", "1", "2", "3"]}, discretize={"b": bn.CutPoints([2.0])}
        )
        assert reading.data.arities.tolist() == [4, 2, 2]
        halves = read_table(path, discretize=bn.EqualFrequency(2))
        assert halves.data.arities.tolist() == [3, 2, 2]
        assert same(bn.read_csv(path, **halves.options), halves.data)

    def test_markers(self, tmp_path):
        path = write(tmp_path, "a,b\n1,x\n2,y\n.,x\n1,y\n")
        with pytest.raises(ValueError, match=r"line 4: .*mixes numbers with text \(here '\.'\)"):
            read_table(path)
        reading = read_table(path, missing_markers=["."])
        assert reading.data.levels[0] == ("1", "2", "missing")
        assert same(bn.read_csv(path, **reading.options), reading.data)

    def test_a_column_with_a_rule_is_no_identifier(self, tmp_path):
        path = write(tmp_path, "age,sex\n" + "".join(f"{i},{'fm'[i % 2]}\n" for i in range(40)))
        assert read_table(path).columns[0].role == "left out"
        reading = read_table(path, discretize={"age": bn.EqualFrequency(2)})
        assert reading.data.levels == (("<= 19", "> 19"), ("f", "m"))

    @pytest.mark.parametrize("read", [read_table, bn.read_csv])
    def test_more_lines_to_skip_than_there_are(self, read, tmp_path):
        path = write(tmp_path, "a,b\n0,1\n1,0\n")
        for skip in (3, 10**18):
            with pytest.raises(ValueError, match=f"no rows of data below line {skip}"):
                read(path, skip=skip)
        with pytest.raises(ValueError, match=r"skip=1\.5: give an integer"):
            read(path, skip=1.5)

    def test_several_columns_that_must_go_are_told_at_once(self, tmp_path):
        rows = "".join(
            f"{i},{'mf'[i % 2]},name{i},{'A' * (i % 3 == 0)}{i},c{i % 70},{i / 4}\n"
            for i in range(90)
        )
        path = write(tmp_path, "id,sex,name,ticket,cabin,fare\n" + rows)
        with pytest.raises(ValueError, match=r"the columns 'ticket', 'cabin' mix .* with drop="):
            read_table(path)
        reading = read_table(path, drop=["ticket", "cabin"])
        assert reading.data.names == ("sex", "fare")
        assert set(reading.options["drop"]) == {"id", "name", "ticket", "cabin"}

    def test_no_file(self, tmp_path):
        with pytest.raises(FileNotFoundError):
            read_table(tmp_path / "absent.csv")
        with pytest.raises(ValueError, match="is a folder"):
            read_table(tmp_path)


ROWS = [("f", "low", "31"), ("m", "mid", "45"), ("f", "high", "31"), ("m", "low", "18")] * 3


def lines_of(rows, delimiter=","):
    return "".join(delimiter.join(row) + "\n" for row in rows)


HEAD = "sex,dose,age\n"
LAID_OUT = {  # files as programs write them, all of the same table
    "plain": HEAD + lines_of(ROWS),
    "a mark of UTF-8": "\ufeff" + HEAD + lines_of(ROWS),
    "Windows line ends": (HEAD + lines_of(ROWS)).replace("\n", "\r\n"),
    "old Mac line ends": (HEAD + lines_of(ROWS)).replace("\n", "\r"),
    "Excel's sep=": "sep=;\r\n" + (HEAD + lines_of(ROWS)).replace(",", ";").replace("\n", "\r\n"),
    "a title": "My study, 2024\n\n" + (HEAD + lines_of(ROWS)).replace(",", ";"),
    "comments": "# exported: 1, 2, 3, 4\n# by nobody\n" + HEAD + lines_of(ROWS),
    "spaces": "sex   dose  age\n" + lines_of([[f"{c:6}" for c in row] for row in ROWS], ""),
    "lines end with a delimiter": (HEAD + lines_of(ROWS)).replace("\n", ",\n"),
    "rows end with a delimiter": HEAD + lines_of(ROWS).replace("\n", ",\n"),
    "empty columns of a spreadsheet": (HEAD + lines_of(ROWS)).replace("\n", ",,\n"),
    "an empty column": "sex,dose,remark,age\n"
    + lines_of([(*row[:2], "NA", row[2]) for row in ROWS]),
    "row names without a name": ',"sex","dose","age"\n'
    + lines_of([(str(i), *row) for i, row in enumerate(ROWS)]),
    "row names of pandas": "Unnamed: 0,sex,dose,age\n"
    + lines_of([(str(i), *row) for i, row in enumerate(ROWS)]),
    "row names of R": '"sex","dose","age"\n'
    + lines_of([(f'"{i}"', *row) for i, row in enumerate(ROWS)]),
    "row names of R, white space": "sex dose age\n"
    + lines_of([(f"Case{i}", *row) for i, row in enumerate(ROWS)], " "),
}


@pytest.mark.parametrize("text", LAID_OUT.values(), ids=LAID_OUT)
def test_layouts_of_other_programs(text, tmp_path):
    reading = read_table(write(tmp_path, text))
    assert reading.data.names == ("sex", "dose", "age")
    assert reading.data.levels == (("f", "m"), ("high", "low", "mid"), ("18", "31", "45"))
    plain = read_table(write(tmp_path, LAID_OUT["plain"], "plain.csv"))
    assert same(reading.data, plain.data)
    assert same(bn.read_csv(reading.source, **reading.options), reading.data)
    left = [column for column in reading.columns if column.role != "variable"]
    assert all(column.note in reading.notes for column in left)


def test_line_breaks_inside_names(tmp_path):
    text = '"sex\nof child";dose\n' + lines_of([row[:2] for row in ROWS], ";")
    reading = read_table(write(tmp_path, text))
    assert reading.data.names == ("sex\nof child", "dose")
    assert same(bn.read_csv(reading.source, **reading.options), reading.data)


def column_of(cells, name="x"):
    """A table of labels and that column behind them."""
    return f"sex;dose;{name}\n" + "".join(
        f"{'fm'[i % 2]};{('low', 'mid', 'high')[i % 3]};{cell}\n" for i, cell in enumerate(cells)
    )


REFUSED = {  # cells of a column; what is said of them; options that settle it, as was said
    "percent": ([f"{i / 2}%" for i in range(30)], "written as '0.0%'. Write them as 0.0", {}),
    "currency": ([f"€ {i * 977:,}.50" for i in range(30)], "'€ 0.50'. Write them as 0.50", {}),
    "units": ([f"{i + 40} kg" for i in range(30)], "as '40 kg'. Write them as 40", {}),
    "thousands": (
        [f"{i + 2},123" for i in range(30)],
        'If they are decimal commas, say so with decimal=","; if they group thousands, remove',
        {"decimal": ","},
    ),
    "groups": ([f"{i + 2},123,000" for i in range(30)], "Write them as 2123000", {}),
    "stand-in": (
        [-999 if i % 9 == 0 else 20 + i for i in range(30)],
        "line 2: column 'x' holds -999 beside numbers from 21 to 49. If it means missing",
        {"missing_markers": ["", "-999"]},
    ),
    "code of a survey": (
        [99 if i == 4 else i % 5 for i in range(30)],
        "line 6: column 'x' holds 99 beside numbers from 0 to 4",
        {"levels": {"x": ["0", "1", "2", "3", "4", "99"]}},
    ),
    "rule for a stand-in": (
        [-9 if i == 4 else i % 10 for i in range(30)],
        "column 'x' holds -9 beside",
        {"discretize": {"x": bn.EqualFrequency(3)}},
    ),
    "one label a row": (
        [f"well, {i}" for i in range(30)],
        "has a label of its own in almost every row (30 in 30): leave it out with drop=",
        {"drop": ["x"]},
    ),
    "remarks": (["" if i % 2 else f"see {i}" for i in range(30)], "in 15", {"drop": ["x"]}),
    "times": ([f"{i // 2 + 8:02d}:{i:02d}" for i in range(30)], "leave it out", {"drop": ["x"]}),
    "below a limit": (
        ["<5" if i % 3 else i + 0.5 for i in range(30)],
        "line 3: column 'x' mixes numbers with text (here '<5')",
        {"missing_markers": ["<5"]},
    ),
}


@pytest.mark.parametrize("fault", REFUSED)
def test_doubtful_cells_are_refused_with_a_remedy_that_works(fault, tmp_path):
    cells, message, remedy = REFUSED[fault]
    path = write(tmp_path, column_of(cells))
    with pytest.raises(ValueError, match=re.escape(message)) as raised:
        read_table(path)
    assert str(raised.value).startswith(str(path)) and "column 'x'" in str(raised.value)
    for option in remedy:
        assert f"{option}=" in str(raised.value)
    as_options(raised.value)
    if remedy:
        reading = read_table(path, **remedy)
        assert same(bn.read_csv(path, **reading.options), reading.data)


@pytest.mark.parametrize("name", MESSY)
def test_awkward_tables_are_read_rightly_told_or_refused(name, tmp_path):
    found, said = outcome(MESSY[name], tmp_path)
    assert not found.startswith("WRONG"), f"{found}\n{said}"


class TestNumbers:
    def test_decimal_commas(self, tmp_path):
        numbers = [i / 8 for i in range(24)]
        commas = [f"{number}".replace(".", ",") for number in numbers]
        found = read_table(write(tmp_path, column_of(commas)))
        points = read_table(write(tmp_path, column_of(numbers), "points.csv"))
        assert same(found.data, points.data) and found.data.intervals == points.data.intervals
        assert found.options["decimal"] == "," and "Numbers have decimal commas." in found.notes
        assert same(bn.read_csv(found.source, **found.options), found.data)
        several = column_of([f"{a};{a}" for a in commas], "x;y")  # two commas, two semicolons
        assert read_table(write(tmp_path, several)).data.n == 4

    def test_commas_beside_points_are_a_question(self, tmp_path):
        path = write(tmp_path, column_of([f"{i},5;{i}.25" for i in range(20)], "x;y"))
        with pytest.raises(ValueError, match=r"'x' has decimal commas, as 0,5, and column 'y' has"):
            read_table(path)
        assert read_table(path, decimal=",").data.intervals[3].high == 19.25

    def test_decimal_is_a_point_or_a_comma(self, tmp_path):
        path = write(tmp_path, column_of("ab" * 9))
        with pytest.raises(ValueError, match=r"decimal=';': choose"):
            bn.read_csv(path, decimal=";")

    def test_few_units_are_labels(self, tmp_path):
        reading = read_table(write(tmp_path, column_of(["5 mg", "10 mg", "20 mg"] * 8)))
        assert reading.data.levels[2] == ("10 mg", "20 mg", "5 mg")

    def test_ages_of_few_people_are_measurements(self, tmp_path):
        ages = [18 + 7 * i % 40 for i in range(20)]
        assert read_table(write(tmp_path, column_of(ages))).columns[2].kind == "measurements"
        months = [i % 12 + 1 for i in range(20)]
        assert read_table(write(tmp_path, column_of(months))).columns[2].kind == "whole numbers"


class TestTold:
    def test_copies(self, tmp_path):
        copies = "sex,code,dose\n" + "f,1,low\nm,2,low\nf,1,mid\n" * 4
        reading = read_table(write(tmp_path, copies))
        assert "code tells the same as sex in every row" in reading.columns[1].note
        assert reading.columns[1].note in reading.notes and not reading.columns[2].note

    def test_capitals(self, tmp_path):
        reading = read_table(write(tmp_path, column_of(["yes", " Yes ", "no", "no "] * 4)))
        assert reading.data.levels[2] == ("Yes", "no", "yes")
        assert "x has Yes and yes as different levels: write them alike" in reading.columns[2].note

    def test_markers_of_other_programs(self, tmp_path):
        cells = ["a", "b", "n/a", "#N/A", "<NA>", "NULL", "NaN", ""] * 4
        reading = read_table(write(tmp_path, column_of(cells)))
        assert reading.columns[2].missing == 24 and reading.data.levels[2] == ("a", "b", "missing")

    def test_several_constants_at_once(self, tmp_path):
        path = write(tmp_path, column_of(["UK;2024"] * 12, "country;year"))
        with pytest.raises(ValueError, match=r"the columns 'country', 'year' are constant\. Leave"):
            read_table(path)
        assert read_table(path, drop=["country", "year"]).data.n == 2

    def test_identifiers_by_name(self, tmp_path):
        rows = "".join(f"{i * 37 % 1009},{'pq'[i % 2]},{i % 3}\n" for i in range(30))
        for name in ("patient_id", "Case", "Sample No", "ID"):
            reading = read_table(write(tmp_path, f"{name},a,b\n{rows}"))
            assert reading.columns[0].role == "left out"
        assert read_table(write(tmp_path, f"income,a,b\n{rows}")).data.n == 3

    def test_letters_of_windows(self, tmp_path):
        path = write(tmp_path, column_of(["5 €", "über"] * 9), encoding="cp1252")
        with pytest.raises(ValueError, match=r'byte 0x80 is not utf-8.*encoding="cp1252"'):
            read_table(path)
        assert read_table(path, encoding="cp1252").data.levels[2] == ("5 €", "über")

    def test_workbooks(self, tmp_path):
        path = tmp_path / "table.xlsx"
        path.write_bytes(b"PK\3\4 and so on")
        with pytest.raises(ValueError, match=r"a workbook of Excel or an archive.*as CSV"):
            read_table(path)

    @pytest.mark.parametrize(
        ("kind", "to"),
        [
            ("a file of Parquet", lambda frame, path: frame.to_parquet(path)),
            ("a file of Arrow", lambda frame, path: frame.to_feather(path)),
            ("a pickle of Python", lambda frame, path: frame.to_pickle(path)),
            ("a file of Stata", lambda frame, path: frame.to_stata(path, version=118)),
            ("an array of NumPy", lambda frame, path: np.save(path, frame.to_numpy())),
            ("arrays of NumPy", lambda frame, path: np.savez(path, NAME=frame.to_numpy())),
        ],
    )
    def test_files_of_other_programs(self, kind, to, tmp_path, monkeypatch):
        """What the message says, typed, makes a table that is read."""
        if kind in ("a file of Parquet", "a file of Arrow"):
            pytest.importorskip("pyarrow", reason="pandas writes it with pyarrow (extra peers)")
        monkeypatch.chdir(tmp_path)
        frame = pd.DataFrame({"a": [0, 1, 1, 0] * 9, "b": [2, 3, 3, 3] * 9})
        content = io.BytesIO()
        if kind == "a pickle of Python":
            content.write(pickle.dumps(frame))
        else:
            to(frame, content)
        path = tmp_path / "it's a table"
        path.write_bytes(content.getvalue())
        with pytest.raises(ValueError, match=f"{kind}, no text") as raised:
            read_table(path)
        exec(
            str(raised.value).partition("Make a table of text with ")[2],
            {"pandas": pd, "numpy": np},
        )
        data = read_table("table.csv").data
        assert data.levels == (("0", "1"), ("2", "3"))

    def test_gzip_without_its_ending(self, tmp_path):
        text = column_of(["yes", "no", "no"] * 6)
        (tmp_path / "table.csv").write_bytes(gzip.compress(text.encode()))
        (tmp_path / "plain.csv.gz").write_text(text)
        readings = [read_table(tmp_path / name) for name in ("table.csv", "plain.csv.gz")]
        assert same(readings[0].data, readings[1].data) and readings[0].data.n == 3

    @pytest.mark.parametrize("module", ["bz2", "lzma"])
    def test_compressed_otherwise(self, module, tmp_path):
        path = tmp_path / "table.csv"
        path.write_bytes(importlib.import_module(module).compress(b"a,b\n1,2\n"))
        with pytest.raises(ValueError, match=r"compressed, but not by gzip\. Decompress it first"):
            read_table(path)

    def test_headers_that_begin_like_other_files(self, tmp_path):
        for name in ("PAR1", "BZh9", "PK", "ARROW1"):
            path = write(tmp_path, column_of("ab" * 9).replace("sex", name))
            assert read_table(path).data.names[0] == name
