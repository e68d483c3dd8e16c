"""Data, read_csv, from_frame and discretize: what they keep, and what they refuse."""

import copy
import gzip
import pickle
from collections import Counter
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from mutations import mutations

import bnlab as bn
from bnlab.data.reader import parse_table
from bnlab.data.text import Options


def small():
    return bn.Data.from_arrays(
        [[0, 1, 0], [1, 0, 2], [1, 1, 1], [0, 0, 2]],
        names=["a", "b", "c"],
        intervened=np.eye(4, 3, dtype=bool),
    )


def write(tmp_path, text, name="table.csv", **options):
    path = tmp_path / name
    path.write_bytes(text.encode(options.get("encoding", "utf-8")))
    return path


def labels(data):
    """The rows as labels, the form in which a file has them."""
    return [
        tuple(data.levels[v][code] for v, code in enumerate(row)) for row in data.values.tolist()
    ]


class TestData:
    def test_fields(self):
        data = small()
        assert (data.m, data.n) == (4, 3)
        assert data.values.dtype == np.int32 and data.arities.dtype == np.int64
        assert data.arities.tolist() == [2, 2, 3]
        assert data.levels == (("0", "1"), ("0", "1"), ("0", "1", "2"))
        assert repr(data) == (
            "Data: 4 rows, 3 variables with 2 to 3 states (a, b, c), 3 rows with interventions"
        )

    def test_arrays_are_read_only_copies(self):
        codes = np.array([[0, 1], [1, 0]])
        data = bn.Data.from_arrays(codes)
        codes[0, 0] = 7
        assert data.values[0, 0] == 0
        for array in (data.values, data.arities, small().intervened):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 0
        with pytest.raises(FrozenInstanceError):
            data.names = ("p", "q")

    @pytest.mark.parametrize("duplicate", [copy.copy, lambda d: pickle.loads(pickle.dumps(d))])
    def test_copies_stay_read_only(self, duplicate):
        data = duplicate(small())
        assert np.array_equal(data.values, small().values) and data.names == ("a", "b", "c")
        assert not data.values.flags.writeable and not data.intervened.flags.writeable

    def test_bools_are_codes(self):
        assert bn.Data.from_arrays(np.array([[True], [False]])).values.tolist() == [[1], [0]]

    def test_replace_adds_interventions(self):
        data = replace(small(), intervened=None)
        assert data.intervened is None
        assert replace(data, intervened=np.ones((4, 3), bool)).intervened.all()

    def test_select_and_index(self):
        chosen = small().select(["c", "a"])
        assert chosen.names == ("c", "a") and chosen.arities.tolist() == [3, 2]
        assert chosen.values.tolist() == [[0, 0], [2, 1], [1, 1], [2, 0]]
        assert chosen.intervened.tolist() == small().intervened[:, [2, 0]].tolist()
        with pytest.raises(ValueError, match="no variable 'd'; there are a, b, c"):
            small().select(["d"])
        with pytest.raises(ValueError, match="list of names"):
            small().select("a")

    def test_prefixes_keep_arities_and_may_be_empty(self):
        data = small()
        assert data.prefix(1).arities.tolist() == [2, 2, 3]
        assert data.prefix(0).m == 0
        assert np.array_equal(data.prefix(3).prefix(2).values, data.prefix(2).values)
        assert data.prefix(2).intervened.shape == (2, 3)
        for m, wanted in (
            (-1, " rows asked of 4"),
            (5, " rows asked of 4"),
            (2.5, ": give an int"),
        ):
            with pytest.raises(ValueError, match=f"m={m}{wanted}"):
                data.prefix(m)
            with pytest.raises(ValueError, match=f"m={m}{wanted}"):
                data.subsample(m, np.random.default_rng(1))

    def test_subsamples_are_nested_rows_of_the_whole(self):
        data = bn.load_dataset("tic_tac_toe")
        large = data.subsample(100, np.random.default_rng(3))
        assert np.array_equal(
            large.prefix(40).values, data.subsample(40, np.random.default_rng(3)).values
        )
        assert not Counter(map(tuple, large.values.tolist())) - Counter(
            map(tuple, data.values.tolist())
        )
        shuffled = data.shuffled(np.random.default_rng(3))
        assert sorted(shuffled.values.tolist()) == sorted(data.values.tolist())

    @pytest.mark.parametrize("rng", [7, None, np.random])
    def test_only_generators_draw(self, rng):
        for draw in (small().shuffled, lambda rng: small().subsample(1, rng)):
            with pytest.raises(ValueError, match=r"no generator: pass numpy.random.default_rng"):
                draw(rng)

    @pytest.mark.parametrize(
        ("values", "options", "message"),
        [
            ([[0, 1], [1]], {}, "ragged"),
            ([0, 1], {}, r"shape \(2,\)"),
            (np.empty((2, 0), int), {}, "n >= 1"),
            ([[0.0, 1.5]], {"arities": [2, 2]}, "discretize"),
            ([["yes", "no"]], {}, "read_csv"),
            ([[0, -1], [1, 0]], {}, "row 0, variable 'x1': code -1 is negative"),
            ([[0, 1], [0, 0]], {}, "'x0' is constant"),
            ([[0, 2], [1, 0]], {}, "code 2 but never code 1"),
            ([[0, 1], [1, 2]], {"arities": [2, 2]}, "row 1, variable 'x1': code 2 is outside 0..1"),
            ([[0, 1]], {"arities": [2, 1]}, "'x1' has 1 level:"),
            ([[0, 1]], {"arities": [2]}, "2 integers"),
            ([[0, 1]], {"arities": [2.0, 2.0]}, "2 integers"),
            ([[0, 1], [1, 0]], {"names": ["a", "a"]}, "'a' occurs twice"),
            ([[0, 1], [1, 0]], {"names": ["a"]}, "1 names for 2 columns"),
            ([[0, 1], [1, 0]], {"names": ["a", ""]}, "non-empty"),
            ([[0, 1], [1, 0]], {"names": "ab"}, r"names='ab': a list of strings .* \['ab'\]"),
            ([[0, 1], [1, 0]], {"levels": ["no", "ja"]}, "levels of 'x0'='no': a list of strings"),
            ([[0, 1], [1, 0]], {"levels": [["n", "y"]]}, "one for each|2 integers"),
            ([[0, 1], [1, 0]], {"levels": [["n", "y"], ["n", "n"]]}, "two levels labelled 'n'"),
            ([[0, 1], [1, 0]], {"intervened": [[True, False]]}, "bool array of shape"),
            ([[0, 1], [1, 0]], {"intervened": np.zeros((2, 2))}, "bool array of shape"),
            ([[0, 2**40], [1, 0]], {"arities": [2, 2]}, "32 bits"),
            (np.zeros((2, 64), int), {}, "at most 63"),
            (np.empty((0, 2), int), {}, "pass arities="),
        ],
    )
    def test_refusals(self, values, options, message):
        with pytest.raises(ValueError, match=message):
            bn.Data.from_arrays(values, **options)

    def test_declared_arities_allow_unseen_states(self):
        data = bn.Data.from_arrays([[0, 2]], arities=[2, 5])
        assert data.arities.tolist() == [2, 5]


class TestReadCsv:
    def test_levels_and_names(self, tmp_path):
        path = write(tmp_path, 'size,10,kind\nsmall,10,b\nlarge, 9 ,a\nsmall,2,"c, d"\n')
        data = bn.read_csv(path)
        assert data.names == ("size", "10", "kind")
        assert data.levels == (("large", "small"), ("2", "9", "10"), ("a", "b", "c, d"))
        assert labels(data) == [("small", "10", "b"), ("large", "9", "a"), ("small", "2", "c, d")]

    @pytest.mark.parametrize("delimiter", [",", ";", "\t", "|", " ", "   "])
    @pytest.mark.parametrize("newline", ["\n", "\r\n"])
    def test_delimiters(self, tmp_path, delimiter, newline):
        lines = [delimiter.join(row) for row in (["a", "b"], ["1", "2"], ["2", "1"])]
        data = bn.read_csv(write(tmp_path, newline.join(lines)))
        assert data.names == ("a", "b") and data.values.tolist() == [[0, 1], [1, 0]]

    def test_options(self, tmp_path):
        path = write(tmp_path, "7:no:x\n\n8:yes:x\n9:no:y\n")
        data = bn.read_csv(
            path,
            delimiter=":",
            header=False,
            names=["id", "answer", "kind"],
            drop=["id"],
            levels={"answer": ["yes", "no", "never"]},
        )
        assert data.names == ("answer", "kind")
        assert data.levels[0] == ("yes", "no", "never")
        assert data.values.tolist() == [[1, 0], [0, 0], [1, 1]]
        assert bn.read_csv(path, delimiter=":", header=False).names == ("x0", "x1", "x2")

    def test_white_space_may_be_tabs_and_spaces(self, tmp_path):
        data = bn.read_csv(write(tmp_path, "a b\n1\t2\n2  \t 1\n"))
        assert data.values.tolist() == [[0, 1], [1, 0]]

    def test_gzip_bom_and_encoding(self, tmp_path):
        (tmp_path / "t.csv.gz").write_bytes(gzip.compress("\ufeffa\n1\n2\n".encode()))
        assert bn.read_csv(tmp_path / "t.csv.gz").names == ("a",)
        path = write(tmp_path, "a\nä\nö\n", encoding="latin-1")
        with pytest.raises(
            ValueError, match=r"table.csv, line 2: byte 0xe4 is not utf-8\. .*latin-1"
        ):
            bn.read_csv(path)
        assert bn.read_csv(path, encoding="latin-1").levels == (("ä", "ö"),)
        with pytest.raises(ValueError, match="unknown"):
            bn.read_csv(path, encoding="utf-99")
        path = write(tmp_path, "a\n1\n2\n", encoding="utf-16")
        with pytest.raises(ValueError, match=r'encoding="utf-16"'):
            bn.read_csv(path)
        assert bn.read_csv(path, encoding="utf-16").levels == (("1", "2"),)
        (tmp_path / "u.csv.gz").write_bytes(gzip.compress(b"a\n1\n")[:-9])
        with pytest.raises(ValueError, match="gzip"):
            bn.read_csv(tmp_path / "u.csv.gz")

    def test_missing_cells(self, tmp_path):
        path = write(tmp_path, "a,b,c\n1,?,x\n2,2,y\n1,1,\n1,1,x\n,2,y\n")
        with pytest.raises(ValueError) as error:
            bn.read_csv(path)
        for part in (
            "3 missing cells in 3 of 5 rows (line 2, line 4, line 6)",
            "'a' (1), 'b' (1), 'c' (1)",
            'missing="drop"',
            'missing="level"',
        ):
            assert part in str(error.value)
        dropped = bn.read_csv(path, missing="drop")
        assert labels(dropped) == [("2", "2", "y"), ("1", "1", "x")]
        kept = bn.read_csv(path, missing="level")
        assert kept.m == 5 and kept.levels[1] == ("1", "2", "missing")
        assert labels(kept)[0] == ("1", "missing", "x")
        assert bn.read_csv(path, missing_markers=["?"], missing="level").levels[0] == ("", "1", "2")
        with pytest.raises(ValueError, match='"error", "drop", "level" or "keep"'):
            bn.read_csv(path, missing="ignore")

    @pytest.mark.parametrize("cells", [str, str.upper, str.lower, "  {}  ".format])
    def test_markers_of_other_programs_in_any_capitals(self, cells, tmp_path):
        """As pandas, R, Excel (in some of its languages), SQL, SPSS and C write them."""
        usual = "? NA N/A n.a. <NA> NaN NaT -nan null (null) [NULL] \\N 1.#QNAN -1.#IND #N/A #REF!"
        usual = [*usual.split(), *"#VALUE! #DIV/0! #NUM! #NAME? #NULL! #NV #WERT! #N/D".split()]
        rows = "".join(f"{'xy'[i % 2]},{cells(marker)}\n" for i, marker in enumerate(usual))
        path = write(tmp_path, "a,b\n" + rows + "x,1\ny,2\n")
        assert bn.read_csv(path, missing="level").levels[1] == ("1", "2", "missing")
        with pytest.raises(ValueError, match=r"written|as '.*missing_markers="):
            bn.read_csv(path)
        frame = pd.DataFrame(
            {"a": ["x", "y"] * 20, "b": (list(map(cells, usual)) + ["z"] * 40)[:40]}
        )
        frame["c"] = frame["b"].astype("category")
        data = bn.Data.from_frame(frame, missing="level")
        assert data.levels[1:] == (("z", "missing"), ("z", "missing"))

    def test_markers_of_ones_own_are_taken_as_they_are_written(self, tmp_path):
        path = write(tmp_path, "a,b\nn,1\nN,2\nz,1\nNA,2\n")
        read = bn.read_csv(path, missing="level", missing_markers=["n"])
        assert read.levels[0] == ("N", "NA", "z", "missing")

    def test_a_declared_marker_is_a_level(self, tmp_path):
        path = write(tmp_path, "country,b\nNA,1\nDE,2\nNA,NA\n")
        data = bn.read_csv(path, missing="drop", levels={"country": ["DE", "NA"]})
        assert data.levels == (("DE", "NA"), ("1", "2")) and data.m == 2

    @pytest.mark.parametrize(
        ("cells", "said"),
        [
            (["unknown", "x", "y"], "'unknown': count it among missing_markers="),
            (["-", "x", "None"], "'-', 'None': count them"),
            (["Yes", "yes", "no"], "Yes and yes as different levels"),
            (["x y", "x  y", "z"], "x  y and x y as"),
        ],
    )
    def test_doubtful_labels_are_warned_of(self, cells, said, tmp_path):
        path = write(
            tmp_path, "a,b\n" + "".join(f"{cell},{i % 2}\n" for i, cell in enumerate(cells))
        )
        with pytest.warns(UserWarning, match=f"table.csv: a has .*{said}"):
            bn.read_csv(path)
        frame = pd.DataFrame({"a": cells, "b": [0, 1, 0]})
        with pytest.warns(UserWarning, match=f"frame: a has .*{said}"):
            bn.Data.from_frame(frame)
        assert bn.read_csv(path, levels={"a": cells}).levels[0] == tuple(cells)
        assert bn.Data.from_frame(frame.astype({"a": "category"})).m == 3

    def test_answers_are_not_warned_of(self, tmp_path):
        for cells in (["none", "one", "two"], ["none", "few", "many"], ["+", "-", "x"]):
            bn.read_csv(write(tmp_path, "a,b\n" + "".join(f"{c},{c}{c}a\n" for c in cells)))

    def test_what_nobody_sees_makes_no_level(self, tmp_path):
        cells = [
            "K\u00f6ln",
            "Ko\u0308ln",
            "K\u00f6ln\u200b",
            "\ufeffK\u00f6ln",
            "New York",
            "New\xa0York",
        ]
        path = write(tmp_path, "a,b\n" + "".join(f"{c},{i % 2}\n" for i, c in enumerate(cells)))
        assert bn.read_csv(path).levels[0] == ("K\u00f6ln", "New York")

    def test_counts(self, tmp_path):
        path = write(tmp_path, "a,b,count\nno,x,2\nno,y,0\nyes,x,3\nnever,y,0\nno,z,0\n")
        data = bn.read_csv(path, count="count")
        assert data.m == 5
        assert Counter(labels(data)) == {("no", "x"): 2, ("yes", "x"): 3}
        assert data.levels == (("never", "no", "yes"), ("x", "y", "z"))
        for bad in ("-1", "1.5", "many", "", "1e30"):
            path = write(tmp_path, f"a,count\nno,2\nyes,{bad}\n")
            with pytest.raises(ValueError, match=r"line 3: .*count"):
                bn.read_csv(path, count="count")
        with pytest.raises(ValueError, match="all zero"):
            bn.read_csv(write(tmp_path, "a,count\nno,0\nyes,0\n"), count="count")

    def test_interventions(self, tmp_path):
        text = "INT,a,b,count\n0,1,1,2\n2,2,1,1\na,1,2,1\n,2,2,1\n"
        data = bn.read_csv(write(tmp_path, text), intervention="INT", count="count")
        assert data.names == ("a", "b")
        assert data.intervened.tolist() == [
            [False, False],
            [False, False],
            [False, True],
            [True, False],
            [False, False],
        ]
        for bad in ("3", "-1", "1.5", "c"):
            path = write(tmp_path, f"INT,a,b\n0,1,1\n{bad},2,2\n")
            with pytest.raises(ValueError, match=f"line 3: .*'{bad}'.*number 1..2"):
                bn.read_csv(path, intervention="INT")

    def test_measurements(self, tmp_path):
        rows = "\n".join(f"{age},{age / 10},{'xy'[age % 2]}" for age in range(100))
        path = write(tmp_path, f"age,height,group\n{rows}\n")
        with pytest.raises(ValueError, match=r"'age' has 100 distinct values.*EqualFrequency"):
            bn.read_csv(path)
        with pytest.raises(ValueError, match=r"line 3: column 'height' holds measurements"):
            bn.read_csv(path, max_levels=100)
        for rule in (
            bn.EqualFrequency(4),
            {"age": bn.EqualFrequency(4), "height": bn.EqualWidth(4)},
        ):
            data = bn.read_csv(path, discretize=rule)
            assert data.arities.tolist() == [4, 4, 2]
        with pytest.raises(ValueError, match="line 2: column 'group' cannot be discretized: 'x'"):
            bn.read_csv(path, drop=["age", "height"], discretize={"group": bn.EqualWidth(2)})

    def test_discretized_missing_cells(self, tmp_path):
        path = write(tmp_path, "x,y\n1.5,a\n?,b\n2.5,a\n3.5,b\n")
        data = bn.read_csv(path, discretize={"x": bn.CutPoints([2.0])}, missing="level")
        assert labels(data)[1] == ("missing", "b")
        assert data.levels[0] == ("<= 2", "> 2", "missing")

    def test_one_number_in_many_spellings_is_one_level(self, tmp_path):
        data = bn.read_csv(write(tmp_path, "x\n1\n1.0\n+1\n01\n2\n"))
        assert data.levels == (("1", "2"),) and data.values.ravel().tolist() == [0, 0, 0, 0, 1]

    def test_large_whole_numbers_stay_apart(self, tmp_path):
        path = write(tmp_path, "x\n9007199254740992\n9007199254740993.0\n")
        assert bn.read_csv(path).levels == (("9007199254740992", "9007199254740993"),)

    @pytest.mark.parametrize(
        ("declared", "codes"),
        [
            (["2", "1"], [1, 1, 0]),
            (["2.5", "2", "1.0"], [2, 2, 1]),
            (["1.0", "01", "2"], [0, 1, 2]),
        ],
    )
    def test_declared_numbers_in_other_spellings(self, tmp_path, declared, codes):
        data = bn.read_csv(write(tmp_path, "x\n1.0\n01\n2\n"), levels={"x": declared})
        assert data.values.ravel().tolist() == codes and data.levels == (tuple(declared),)

    def test_declared_text_is_compared_as_text(self, tmp_path):
        path = write(tmp_path, "x\n1.0\n2\n")
        for declared in (["1", "2", "many"], ["1", "01", "2"]):
            with pytest.raises(ValueError, match=r"line 2: column 'x' holds '1\.0', not among"):
                bn.read_csv(path, levels={"x": declared})

    @pytest.mark.parametrize(
        ("text", "options", "message"),
        [
            ("", {}, "no rows of data; it is empty"),
            ("\n\n", {"header": False}, "no rows of data; it is empty"),
            ("a,b\n", {}, "no rows of data below the header"),
            ("a,b\n1,2\n2\n", {}, r"line 3: 1 cell where 2 are expected"),
            ("a,b\n1,2\n2,1,3\n", {}, r"line 3: 3 cells"),
            ("a,a\n1,2\n2,1\n", {}, "two columns are called 'a'.*header=False"),
            (",a\n1,2\n2,1\n", {}, "column 1 has no name.*header=False"),
            ("a,\n1,\n2,\n", {}, "column 2 has no name: the lines end with a delimiter"),
            ("a,b\n1,2\n2,1\n", {"names": ["a"]}, "1 names for 2 columns"),
            ("a,b\n1,2\n2,1\n", {"drop": ["c"]}, "drop names the column 'c'"),
            ("a,b\n1,2\n2,1\n", {"drop": ["a", "b"]}, "no data"),
            ("a,b\n1,2\n2,1\n", {"count": "c"}, "count names the column 'c'; there are a, b"),
            ("a,b\n1,2\n2,1\n", {"levels": {"c": ["1"]}}, "levels names the column 'c'"),
            ("a,b\n1,2\n2,1\n", {"count": "a", "intervention": "a"}, "both name the column 'a'"),
            ("a,b\n1,2\n2,1\n", {"levels": {"b": ["1", "3"]}}, "line 2: column 'b' holds '2'"),
            ("a,b\n1,2\n1,1\n", {}, "'a' is constant \\(only '1'\\).*pass levels="),
            (
                "a,b\n1.5,2\n1.5,1\n",
                {},
                "'a' is constant \\(only '1.5'\\). Leave it out with drop=",
            ),
            ("a,b\n1,2\n1,1\n", {"delimiter": "::"}, "one character"),
            ("a,b\n1,0.5\n2,0.7\n1,low\n", {}, "line 4: column 'b' mixes numbers with text"),
            ('a,b\n1,"2\n2,1\n', {}, "line 3: unexpected end of data"),
            ('a,b\n1,"2"x\n2,1\n', {}, "line 2"),
            ("a,b\n1,\0\n", {}, "null bytes"),
            ("a\n?\n?\n", {"missing": "level"}, "'a' has no values"),
            ("a\n?\n?\n", {"missing": "drop"}, "leave none"),
            ("a\n?\nmissing\n", {"missing": "level"}, "level 'missing'"),
            (
                "id\n" + "\n".join(f"person {i}" for i in range(70)),
                {"delimiter": ","},
                "identifier",
            ),
            (",".join(f"v{i}" for i in range(70)) + ("\n" + ",".join("12" * 35)) * 2, {}, "const"),
        ],
    )
    def test_refusals_name_the_file(self, tmp_path, text, options, message):
        with pytest.raises(ValueError, match=message) as error:
            bn.read_csv(write(tmp_path, text), **options)
        assert "table.csv" in str(error.value) or "delimiter" in options

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"missing_markers": "NA"}, "missing_markers='NA': a list of strings"),
            ({"drop": "ab"}, "drop='ab': a list of strings"),
            ({"names": "ab"}, "names='ab': a list of strings"),
            ({"names": 2}, "names=2: a list is needed"),
            ({"levels": {"a": "12"}}, r"levels\['a'\]='12': a list of strings"),
            ({"discretize": {"a": bn.EqualFrequency}}, r"EqualFrequency is no rule.*uency\(3\)"),
            ({"discretize": 3}, "3 is no rule"),
        ],
    )
    def test_options_of_the_wrong_kind(self, tmp_path, options, message):
        with pytest.raises(ValueError, match=message):
            bn.read_csv(write(tmp_path, "a,b\n1,2\n2,1\n"), **options)

    def test_too_many_variables(self, tmp_path):
        rows = [",".join(f"v{i}" for i in range(64)), ",".join("1" * 64), ",".join("2" * 64)]
        with pytest.raises(ValueError, match=r"table.csv: 64 variables.*63"):
            bn.read_csv(write(tmp_path, "\n".join(rows)))

    def test_no_such_file(self, tmp_path):
        with pytest.raises(FileNotFoundError):
            bn.read_csv(tmp_path / "absent.csv")

    @settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
    @given(
        text=st.text(st.sampled_from('ab1.5,;\t \n\r"?NA-e9é\0'), max_size=60),
        header=st.booleans(),
        missing=st.sampled_from(["error", "drop", "level"]),
        discretize=st.sampled_from([None, bn.EqualWidth(2), bn.EqualFrequency(2)]),
    )
    def test_any_text_is_read_or_refused(self, text, header, missing, discretize):
        try:
            options = Options(header=header, missing=missing, discretize=discretize)
            data = parse_table(text, "any", options)
        except ValueError as error:
            assert str(error).startswith("any")
        else:
            assert data.m > 0

    @settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
    @given(raw=st.binary(max_size=80), name=st.sampled_from(["t.csv", "t.csv.gz"]))
    def test_any_bytes_are_read_or_refused(self, tmp_path, raw, name):
        (tmp_path / name).write_bytes(raw)
        try:
            bn.read_csv(tmp_path / name)
        except ValueError as error:
            assert name in str(error)

    @pytest.mark.filterwarnings("ignore:.* has the levels? ", "ignore:.* as different levels")
    def test_mutated_files_are_read_or_refused(self, tmp_path):
        valid = 'size,n,"a kind",age\nsmall,1,"b, c",1.5\nlarge,2,?,2.5\nsmall,1,"say ""x""",3e1\n'
        options = {"missing": "level", "discretize": {"age": bn.EqualWidth(2)}}
        assert bn.read_csv(write(tmp_path, valid), **options).m == 3
        for raw in mutations(valid.encode(), 2000):
            (tmp_path / "table.csv").write_bytes(raw)
            try:
                bn.read_csv(tmp_path / "table.csv", **options)
            except ValueError as error:
                assert "table.csv" in str(error), raw

    @settings(deadline=None)
    @given(
        st.lists(
            st.tuples(
                st.sampled_from(["u", "v w", 'say "x"', "a,b", "<5", "ß"]),
                st.integers(-3, 12),
            ),
            min_size=2,
            max_size=20,
        ).filter(lambda rows: all(len(set(column)) > 1 for column in zip(*rows, strict=True)))
    )
    def test_round_trip(self, rows):
        text = pd.DataFrame(rows, columns=["p", "q"]).to_csv(index=False)
        data = parse_table(text, "round trip", Options())
        assert labels(data) == [(p, str(q)) for p, q in rows]

    def test_lines_before_the_table_are_skipped(self, tmp_path):
        path = write(tmp_path, "measured in May\r\n3 rows\r\na,b\r\n1,x\r\n2,y\r\n1,z\r\n")
        assert labels(bn.read_csv(path, skip=2)) == [("1", "x"), ("2", "y"), ("1", "z")]
        with pytest.raises(ValueError, match="line 6: 3 cells where 2"):
            bn.read_csv(write(tmp_path, "one\ntwo\na,b\n1,x\n2,y\n1,z,3\n"), skip=2)
        with pytest.raises(ValueError, match="empty"):
            bn.read_csv(path, skip=7)
        with pytest.raises(ValueError, match="skip=-1"):
            bn.read_csv(path, skip=-1)

    def test_letters_of_sequences_become_columns(self, tmp_path):
        path = write(tmp_path, "kind,dna\n+,acg\n-,ctg\n-,gct\n")
        data = bn.read_csv(path, letters=["dna"])
        assert data.names == ("kind", "dna.1", "dna.2", "dna.3")
        assert labels(data) == [("+", *"acg"), ("-", *"ctg"), ("-", *"gct")]
        assert bn.read_csv(path, letters=["dna"], drop=["dna.2"]).n == 3

    def test_a_missing_sequence_misses_every_letter(self, tmp_path):
        path = write(tmp_path, "kind,dna\n+,acg\n-,?\n-,gtt\n")
        assert bn.read_csv(path, letters=["dna"], missing="drop").m == 2
        data = bn.read_csv(path, letters=["dna"], missing="level")
        assert labels(data)[1] == ("-", "missing", "missing", "missing")

    def test_sequences_are_equally_long(self, tmp_path):
        path = write(tmp_path, "kind,dna\n+,acg\n-,ct\n")
        with pytest.raises(ValueError, match="line 3: column 'dna' has 2 letters where 3"):
            bn.read_csv(path, letters=["dna"])
        with pytest.raises(ValueError, match="letters names the column 'rna'"):
            bn.read_csv(path, letters=["rna"])


class TestFromFrame:
    def test_types(self):
        frame = pd.DataFrame(
            {
                "kind": pd.Categorical(["b", "a", "b"], categories=["b", "a", "c"]),
                "flag": [True, False, True],
                "whole": [3.0, 1.0, 1.0],
                "nullable": pd.array([10, 9, 9], dtype="Int64"),
                "text": ["q", "p", "q"],
                "mixed": np.array([1, 2.0, 1], dtype=object),
                7: np.array([0, 1, 1], np.uint8),
            },
            index=[5, 5, 9],
        )
        data = bn.Data.from_frame(frame)
        assert data.names == ("kind", "flag", "whole", "nullable", "text", "mixed", "7")
        assert data.levels == (
            ("b", "a", "c"),
            ("False", "True"),
            ("1", "3"),
            ("9", "10"),
            ("p", "q"),
            ("1", "2"),
            ("0", "1"),
        )
        assert data.values[:, 0].tolist() == [0, 1, 0]

    @pytest.mark.parametrize(
        ("column", "message"),
        [
            ([0.5, 1.0], "row 0: column 'c' holds measurements such as 0.5.*EqualFrequency"),
            ([1, None], "1 missing cells in 1 of 2 rows"),
            (["a", None], "row 1"),
            (["a", 1], "mixes text \\('a'\\) and numbers \\(1\\)"),
            ([True, "x"], "mixes bool"),
            (pd.to_datetime(["2020-01-01", "2021-01-01"]), "has type datetime64"),
            (["a", "a"], "constant.*convert the column to a categorical"),
            (["", "a"], "1 missing cells in 1 of 2 rows"),
            ([1.0, np.inf], "frame, row 1: column 'c' holds inf"),
            (pd.array([1.5, np.inf, None], "Float64")[:2], "row 1: column 'c' holds inf"),
        ],
    )
    def test_refusals(self, column, message):
        with pytest.raises(ValueError, match=message):
            bn.Data.from_frame(pd.DataFrame({"b": [1, 2], "c": column}))

    def test_text_is_compared_as_text(self):
        frame = pd.DataFrame({"a": ["10", "1", "01", "2"]})
        for typed in (frame, frame.astype(object), frame.astype("string")):
            assert bn.Data.from_frame(typed).levels == (("01", "1", "2", "10"),)

    def test_blank_text_is_missing_as_in_files(self):
        frame = pd.DataFrame({"a": ["", "x", " ", "y"], "b": [1, 2, 1, 2]})
        for typed in (frame, frame.astype({"a": "category"})):
            data = bn.Data.from_frame(typed, missing="level")
            assert data.levels[0] == ("x", "y", "missing")
            assert data.values[:, 0].tolist() == [2, 0, 2, 1]

    @pytest.mark.parametrize(
        ("names", "message"),
        [
            ([None, "b"], "frame: column 0 is called None|frame: column 0 is called nan"),
            ([("a", "b"), "c"], "frame: column 0 is called"),
            (["", "b"], "frame: names are non-empty"),
            (range(64), "frame: 64 variables"),
        ],
    )
    def test_names_and_their_number(self, names, message):
        columns = pd.Index(list(names), tupleize_cols=False)
        frame = pd.DataFrame([[0] * len(columns), [1] * len(columns)], columns=columns)
        with pytest.raises(ValueError, match=message):
            bn.Data.from_frame(frame)

    def test_missing_counts_and_interventions(self):
        frame = pd.DataFrame(
            {"a": ["x", "y", None], "b": [1, 2, 1], "k": [2, 1, 4], "INT": [0, 1, 2]}
        )
        data = bn.Data.from_frame(frame, count="k", intervention="INT", missing="level")
        assert data.m == 7 and data.levels[0] == ("x", "y", "missing")
        assert data.intervened.sum(axis=0).tolist() == [1, 4]
        assert bn.Data.from_frame(frame, count="k", intervention="INT", missing="drop").m == 3

    def test_discretize(self):
        frame = pd.DataFrame({"x": np.linspace(0, 1, 30), "y": ["a", "b"] * 15})
        data = bn.Data.from_frame(frame, discretize=bn.EqualFrequency(3))
        assert np.bincount(data.values[:, 0]).tolist() == [10, 10, 10]

    def test_not_a_frame(self):
        with pytest.raises(ValueError, match=r"DataFrame; got \[\[0, 1\]\]"):
            bn.Data.from_frame([[0, 1]])
        twice = pd.DataFrame([[0, 1], [1, 0]], columns=["a", "a"])
        with pytest.raises(ValueError, match="'a' occurs twice"):
            bn.Data.from_frame(twice)


class TestDiscretize:
    def test_code_counts_the_cut_points_below(self):
        values, cuts = [1.0, 2.0, 2.5, 3.0, 9.0], [2.0, 3.0]
        found = bn.discretize(values, bn.CutPoints(cuts))
        assert found.codes.tolist() == [sum(value > cut for cut in cuts) for value in values]
        assert found.levels == ("<= 2", "(2, 3]", "> 3")
        assert found.cut_points == (2.0, 3.0)

    @settings(deadline=None)
    @given(
        st.lists(st.integers(-50, 50), min_size=2, max_size=60),
        st.integers(2, 5),
        st.sampled_from([bn.EqualWidth, bn.EqualFrequency]),
    )
    def test_every_bin_is_filled_or_refused(self, values, bins, rule):
        try:
            codes, levels, cuts = bn.discretize(values, rule(bins))
        except ValueError as error:
            assert "constant" in str(error) or "fewer bins" in str(error)
            return
        assert sorted(set(codes.tolist())) == list(range(bins)) and len(set(levels)) == bins
        assert codes.tolist() == [sum(value > cut for cut in cuts) for value in values]

    def test_equal_frequency_without_ties(self):
        values = np.random.default_rng(1).permutation(90).astype(float)
        codes = bn.discretize(values, bn.EqualFrequency(3)).codes
        assert np.bincount(codes).tolist() == [30, 30, 30]

    def test_close_cut_points_have_distinct_labels(self):
        levels = bn.discretize([1.0, 2.0], bn.CutPoints([1.0000001, 1.0000002])).levels
        assert len(set(levels)) == 3

    @pytest.mark.parametrize(
        ("make", "message"),
        [
            (lambda: bn.EqualWidth(1), "bins=1"),
            (lambda: bn.EqualFrequency(2.5), "bins=2.5"),
            (lambda: bn.CutPoints([]), "at least one"),
            (lambda: bn.CutPoints([2, 1]), "increasing"),
            (lambda: bn.CutPoints([np.nan]), "finite"),
            (lambda: bn.CutPoints(3), "list of numbers"),
            (lambda: bn.CutPoints("12"), "got '12'"),
            (lambda: bn.discretize([-1.7e308, 1.7e308], bn.EqualWidth(2)), "too wide"),
            (lambda: bn.discretize([1, 2], bn.EqualWidth), "EqualWidth is no rule"),
            (lambda: bn.discretize([1, np.nan], bn.EqualWidth(2)), "row 1: nan"),
            (lambda: bn.discretize(["a"], bn.EqualWidth(2)), "only numbers"),
            (lambda: bn.discretize([], bn.EqualWidth(2)), "m >= 1"),
            (lambda: bn.discretize([3, 3], bn.EqualWidth(2)), "all values are 3"),
            (lambda: bn.discretize([3, 4], bn.EqualWidth(10**18)), "bins for 2 values: use fewer"),
            (lambda: bn.discretize([3, 4], bn.EqualFrequency(10**9)), "bins for 2 values"),
            (lambda: bn.discretize([10**400, 1], bn.EqualWidth(2)), "only numbers can be"),
            (lambda: bn.CutPoints([10**400]), "cut points are a list of numbers"),
            (lambda: bn.discretize([1, 1, 1, 2], bn.EqualFrequency(3)), "only 1 of 3|only 2 of 3"),
            (lambda: bn.discretize([0, 1, 100], bn.EqualWidth(3)), "only 2 of 3.*EqualFrequency"),
        ],
    )
    def test_refusals(self, make, message):
        with pytest.raises(ValueError, match=message):
            make()
