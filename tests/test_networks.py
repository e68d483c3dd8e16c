"""BayesNet, BIF files and reference networks."""

import gzip
import pickle
import warnings
from collections import Counter
from dataclasses import replace
from itertools import product
from math import inf, log, prod

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from mutations import mutations

import bnlab as bn
from bnlab import graphs
from bnlab.networks import list_networks, load_network, random_network
from bnlab.networks.bif import parse_bif

# Nodes, edges and free parameters of the files of the network repository.
REPOSITORY = {
    "alarm": (37, 46, 509),
    "child": (20, 25, 230),
    "insurance": (27, 52, 1008),
    "asia": (8, 8, 18),
    "cancer": (5, 4, 10),
    "sachs": (11, 17, 178),
    "hailfinder": (56, 66, 2656),
    "survey": (6, 6, 21),
    "earthquake": (5, 4, 10),
}
ROUNDED = {"alarm": 6, "sachs": 29}
OFFLINE = ["cancer", "lung_cancer", "asia", "earthquake", "survey"]


def size(net):
    return net.n, len(graphs.to_edges(net.dag)), net.free_parameters


def same(one, two):
    return (
        np.array_equal(one.dag, two.dag)
        and one.names == two.names
        and one.levels == two.levels
        and all(np.array_equal(a, b) for a, b in zip(one.tables, two.tables, strict=True))
    )


def probability(net, row):
    """Twin of log_likelihood: the product of the table entries, in plain Python."""
    factors = []
    for v in range(net.n):
        parents = [u for u in range(net.n) if net.dag[v] >> u & 1]
        configurations = list(product(*(range(net.arities[p]) for p in parents)))
        j = configurations.index(tuple(row[p] for p in parents))
        factors.append(float(net.tables[v][j][row[v]]))
    return prod(factors)


def random_net(n, seed, concentration=1.0):
    rng = np.random.default_rng(seed)
    order = rng.permutation(n)
    dag = np.zeros(n, np.int64)
    for i, v in enumerate(order):
        for u in order[:i]:
            if rng.random() < 0.5:
                dag[v] |= 1 << int(u)
    return bn.BayesNet.random_tables(
        dag, rng.integers(2, 5, size=n), rng, concentration=concentration
    )


class TestBayesNet:
    def test_arrays_are_read_only_and_survive_pickling(self):
        net = random_net(4, 1)
        for copied in (net, pickle.loads(pickle.dumps(net))):
            assert same(net, copied)
            assert not any(
                array.flags.writeable for array in (copied.dag, copied.arities, *copied.tables)
            )

    def test_random_tables(self):
        args = [0, 1, 3], [2, 3, 4]
        net = bn.BayesNet.random_tables(*args, np.random.default_rng(1), names=["a", "b", "c"])
        assert [table.shape for table in net.tables] == [(1, 2), (2, 3), (6, 4)]
        assert same(
            net,
            bn.BayesNet.random_tables(*args, np.random.default_rng(1), names=["a", "b", "c"]),
        )
        sharp = bn.BayesNet.random_tables(*args, np.random.default_rng(1), concentration=0.01)
        assert sharp.tables[2].max(axis=1).mean() > net.tables[2].max(axis=1).mean()

    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"dag": np.array([2, 1])}, "cycle"),
            ({"dag": np.array([0, 0])}, r"table of 'b' has shape \(2, 2\); .* \(1, 2\)"),
            ({"tables": (np.array([[0.5, 0.5]]),)}, "1 tables for 2 variables"),
            ({"names": ("a", "a")}, "'a' occurs twice"),
            ({"arities": np.array([2, 1])}, "'b' has 1 level"),
            ({"levels": (("n", "y"), ("n", "n"))}, "labelled 'n'"),
        ],
    )
    def test_refusals(self, changes, message):
        net = bn.BayesNet.random_tables([0, 1], [2, 2], np.random.default_rng(1), names=["a", "b"])
        with pytest.raises(ValueError, match=message):
            replace(net, **changes)

    @pytest.mark.parametrize(
        ("row", "message"),
        [
            ([0.5, 0.4], "row 0 of the table of 'x0' sums to 0.9"),
            ([-0.5, 1.5], "'x0' holds -0.5"),
            ([np.nan, 1.0], "'x0' holds nan"),
            ([0.5, np.inf], "'x0' holds inf"),
            ([1e308, 1e308], r"'x0' holds 1e\+308"),
        ],
    )
    def test_refuses_rows_that_are_no_distribution(self, row, message):
        net = bn.BayesNet.random_tables([0], [2], np.random.default_rng(1))
        with pytest.raises(ValueError, match=message):
            replace(net, tables=(np.array([row]),))

    def test_random_tables_refusals(self):
        rng = np.random.default_rng(1)
        with pytest.raises(ValueError, match="concentration=0"):
            bn.BayesNet.random_tables([0], [2], rng, concentration=0)
        with pytest.raises(ValueError, match="2 integers"):
            bn.BayesNet.random_tables([0, 0], [2], rng)
        with pytest.raises(ValueError, match="fewer parents"):
            bn.BayesNet.random_tables([0] * 30 + [2**30 - 1], [2] * 31, rng)
        with pytest.raises(ValueError, match=f"{4**32} rows of 4"):
            bn.BayesNet.random_tables([0] * 32 + [2**32 - 1], [4] * 33, rng)
        with pytest.raises(ValueError, match=r"concentration=1e\+308.*overflow"):
            bn.BayesNet.random_tables([0], [2], rng, concentration=1e308)
        with pytest.raises(ValueError, match="'x1' has -1 levels"):
            bn.BayesNet.random_tables([0, 0], [2, -1], rng)
        for options in ({"names": ["a"]}, {"names": "ab"}, {"levels": ["01", "01"]}):
            with pytest.raises(ValueError, match=r"names|levels"):
                bn.BayesNet.random_tables([0, 0], [2, 2], rng, **options)

    @pytest.mark.parametrize("rng", [7, None, np.random])
    def test_only_generators_draw(self, rng):
        for draw in (
            lambda: load_network("asia").sample(2, rng),
            lambda: bn.BayesNet.random_tables([0], [2], rng),
            lambda: random_network("child", rng),
        ):
            with pytest.raises(ValueError, match=r"no generator: pass numpy.random.default_rng"):
                draw()

    def test_log_likelihood_is_the_product_of_table_entries(self):
        for seed in range(10):
            net = random_net(4, seed, concentration=0.3)
            data = net.sample(50, np.random.default_rng(seed))
            expected = [log(probability(net, row)) for row in data.values.tolist()]
            np.testing.assert_allclose(net.log_likelihood(data), expected, rtol=1e-12)

    def test_log_likelihood_sums_to_one_and_knows_impossible_rows(self):
        net = load_network("asia")
        cells = list(product((0, 1), repeat=8))
        data = bn.Data.from_arrays(cells, names=net.names, levels=net.levels)
        found = net.log_likelihood(data)
        expected = [log(p) if (p := probability(net, row)) else -inf for row in cells]
        np.testing.assert_allclose(found, expected, rtol=1e-12)
        assert (found == -inf).any()
        assert np.exp(found).sum() == pytest.approx(1, abs=1e-12)

    def test_log_likelihood_leaves_interventions_out(self):
        net = load_network("cancer")
        data = net.sample(20, np.random.default_rng(1))
        mask = np.zeros((20, 5), bool)
        mask[:, 2] = True
        manipulated = net.log_likelihood(replace(data, intervened=mask))
        cut = net.dag.copy()
        cut[2] = 0
        tables = list(net.tables)
        tables[2] = np.array([[0.5, 0.5]])
        without = replace(net, dag=cut, tables=tuple(tables)).log_likelihood(data)
        np.testing.assert_allclose(manipulated, without - log(0.5), rtol=1e-12)

    def test_log_likelihood_wants_the_same_variables(self):
        net = load_network("cancer")
        data = net.sample(3, np.random.default_rng(1))
        with pytest.raises(ValueError, match=r"data.select\(net.names\)"):
            net.log_likelihood(data.select(["B", "A", "C", "D", "E"]))
        with pytest.raises(ValueError, match="no variable 'E'"):
            net.log_likelihood(data.select(["A", "B", "C", "D"]))
        swapped = replace(data, levels=(("2", "1"), *data.levels[1:]))
        with pytest.raises(ValueError, match="'A' has levels"):
            net.log_likelihood(swapped)

    def test_sample_follows_the_joint_distribution(self):
        net = random_net(4, 5)
        m = 200_000
        data = net.sample(m, np.random.default_rng(2))
        seen = Counter(map(tuple, data.values.tolist()))
        for row in product(*(range(arity) for arity in net.arities)):
            p = probability(net, row)
            assert abs(seen[row] / m - p) < 5 * np.sqrt(p * (1 - p) / m) + 1e-9

    def test_sample_marginals_of_asia(self):
        net = load_network("asia")
        joint = {row: probability(net, row) for row in product((0, 1), repeat=8)}
        m = 100_000
        data = net.sample(m, np.random.default_rng(4))
        assert data.names == net.names and data.levels == net.levels
        for v in range(8):
            p = sum(mass for row, mass in joint.items() if row[v] == 1)
            assert abs(data.values[:, v].mean() - p) < 5 * np.sqrt(p * (1 - p) / m)
        assert np.isfinite(net.log_likelihood(data)).all()

    def test_samples_are_nested_and_reproducible(self):
        net = random_net(5, 3)
        large = net.sample(50, np.random.default_rng(9))
        small = net.sample(20, np.random.default_rng(9))
        assert np.array_equal(large.prefix(20).values, small.values)
        assert net.sample(0, np.random.default_rng(9)).m == 0
        for m in (-1, 2.5):
            with pytest.raises(ValueError, match=f"m={m}"):
                net.sample(m, np.random.default_rng(9))

    def test_states_of_probability_zero_are_never_drawn(self):
        # Seven sevenths add up to a little less than 1.
        row = np.array([[1 / 7] * 7 + [0.0]])
        net = replace(bn.BayesNet.random_tables([0], [8], np.random.default_rng(1)), tables=(row,))

        class Last(np.random.Generator):
            """Draws the largest float below 1, the draw that rounding would betray."""

            def random(self, shape):
                return np.full(shape, np.nextafter(1, 0))

        assert net.sample(3, Last(np.random.PCG64(1))).values.ravel().tolist() == [6, 6, 6]


TWO = """network two { property author "A, B"; property unquoted text (73, 165) ; }
// a comment with } and "quotes
variable "long name" { type discrete[2] { yes, "no way" }; property position = (1,2); }
variable b {
  property first ;
  type discrete [ 3 ] { <5, 5-12, 12+ };  /* three
  states { */
}
probability ( "long name" ) { table 25e-2 .75; }
probability ( b | "long name" ) {
  default 0.2, 0.3, 0.5;
  (yes) 1.0, 0.0, 0e0;
}
"""


class TestBif:
    def test_the_whole_grammar(self):
        net, rounded = parse_bif(TWO, "two")
        assert net.names == ("long name", "b") and not rounded.size
        assert net.levels == (("yes", "no way"), ("<5", "5-12", "12+"))
        assert net.dag.tolist() == [0, 1]
        assert net.tables[0].tolist() == [[0.25, 0.75]]
        assert net.tables[1].tolist() == [[1, 0, 0], [0.2, 0.3, 0.5]]

    def test_table_lists_own_states_slowest(self):
        # The example of the format's definition: p(on | out) = 0.6, p(on | in) = 0.05.
        net, _ = parse_bif(
            'variable "family-out" { type discrete [2] { "true" "false" }; }'
            'variable "light-on" { type discrete [2] { "true" "false" }; }'
            'probability ( "family-out" ) { table 0.15 0.85; }'
            'probability ( "light-on" "family-out" ) { table 0.6 0.05 0.4 0.95; }',
            "definition",
        )
        assert net.tables[1].tolist() == [[0.6, 0.4], [0.05, 0.95]]

    def test_parents_in_any_order(self):
        text = (
            "variable a { type discrete [2] { 0, 1 }; }"
            "variable b { type discrete [3] { 0, 1, 2 }; }"
            "variable c { type discrete [2] { 0, 1 }; }"
            "probability (a) { table 0.5, 0.5; } probability (b) { table 0.2, 0.3, 0.5; }"
            "probability (c | b, a) {"
        )
        for b, a in product("012", "01"):
            p = (int(a) * 3 + int(b)) / 8
            text += f"({b}, {a}) {p}, {1 - p};"
        net, _ = parse_bif(text + "}", "order")
        assert net.tables[2][:, 0].tolist() == [i / 8 for i in range(6)]

    @pytest.mark.parametrize("name", sorted(REPOSITORY))
    def test_repository_files(self, name, data_dir, tmp_path):
        path = data_dir / "raw" / "networks" / f"{name}.bif.gz"
        if name in ROUNDED:
            with pytest.warns(UserWarning, match="renormalised") as record:
                net = bn.read_bif(path)
            assert len(record) == 1
            message = str(record[0].message)
            assert f"{name}.bif.gz: {ROUNDED[name]} rows" in message
            assert record[0].filename == __file__
        else:
            net = bn.read_bif(path)
        assert size(net) == REPOSITORY[name]
        for file in (tmp_path / "again.bif", tmp_path / "again.bif.gz"):
            net.write_bif(file)
            assert same(bn.read_bif(file), net)

    @pytest.mark.parametrize(
        ("old", "new", "message"),
        [
            ("variable b {", "variabel b {", "line 4: expected network, variable or prob"),
            ("[ 3 ]", "[ 4 ]", "line 6: 'b' announces 4 states and lists 3"),
            ("[ 3 ]", "[ x ]", "line 6: 'b' announces x"),
            ("type discrete [ 3 ]", "type continuous [ 3 ]", "line 6: expected 'discrete'"),
            ("variable b", 'variable "long name"', "line 4: a second variable 'long name'"),
            ("<5, 5-12", "12+,\n 5-12", "line 7: 'b' has two states '12\\+'"),
            (
                "[ 3 ] { <5, 5-12, 12+ }",
                "[ 0 ] { }",
                "line 6: 'b' needs at least 2 states and has 0",
            ),
            (
                "[ 3 ] { <5, 5-12, 12+ }",
                "[ 1 ] { <5 }",
                "line 6: 'b' needs at least 2 states and has 1",
            ),
            ("variable b {", 'variable "" {', "line 4: a variable without a name"),
            (
                '( "long name" ) {',
                '( "long name" | b ) {',
                r"line (9|10): the edges form a cycle",
            ),
            ("/* three", "/ * three", "line 6"),
            ("states { */", "states {", "line 6: this comment is not closed"),
            ('"no way"', '"no way', "line 3: this quotation is not closed"),
            ("probability ( b |", "probability ( c |", "line 10: 'c' is no variable"),
            ('| "long name" )', "| c )", "line 10: 'c' is no variable"),
            ('| "long name" )', "| b )", "line 10: a variable occurs twice"),
            ('( b | "long name" )', '( "long name" )', "line 10: a second probability block"),
            ("(yes) 1.0", "(maybe) 1.0", "line 12: 'maybe' is no state of 'long name'"),
            ("(yes) 1.0", "(yes, yes) 1.0", "line 12: 'b' has 1 parents; here are 2 states"),
            ("1.0, 0.0, 0e0", "1.0, 0.0", "line 12: 'b' has 3 states; here are 2 numbers"),
            ("1.0, 0.0, 0e0", "1.0, 0.0, none", "line 12: 'none' is no probability"),
            ("1.0, 0.0, 0e0", "1.0, 0.0, nan", "line 12: 'nan' is no probability"),
            ("1.0, 0.0, 0e0", "1.0, 0.0, -1", "line 12: -1 is outside 0..1"),
            ("1.0, 0.0, 0e0", "1.0, 0.0, 1e999", "line 12: 1e999 is outside"),
            ("1.0, 0.0, 0e0", "0.5, 0.2, 0.2", "line 12: probabilities of 'b' sum to 0.9"),
            ("  default 0.2, 0.3, 0.5;\n", "", "no probabilities of 'b' given no way"),
            ("(yes) 1.0, 0.0, 0e0;", "(yes) 1, 0, 0; (yes) 1, 0, 0;", "line 12: a second row"),
            ("(yes) 1.0, 0.0, 0e0;", "table 1, 0, 0;", "line 12: 'b' has a table beside"),
            ("default 0.2", "table 0.2", "line 11: 'b' has a table beside other entries"),
            ("table 25e-2 .75", "table 0.25", "line 9: the table of 'long name' needs 2 numbers"),
            (".75; }", ".75; ", "line 10: expected one table"),
            ("0e0;\n}", "0e0", "line 13: expected a probability or ';', found 'end of file'"),
            ("property first ;", "property first", "line 4: variable 'b' has no type"),
        ],
    )
    def test_errors_name_file_and_line(self, tmp_path, old, new, message):
        assert TWO.count(old) == 1
        path = tmp_path / "two.bif"
        path.write_text(TWO.replace(old, new))
        with pytest.raises(ValueError, match=message) as error:
            bn.read_bif(path)
        assert "two.bif" in str(error.value)

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("", "line 1: no variables: is this a BIF file"),
            ("a,b\n1,2\n", "line 1: expected network, variable or probability, found 'a'"),
            ("variable a { }", "line 1: variable 'a' has no type"),
            ("variable a { type discrete [2] { 0, 1 }; }", "'a' has no probability block"),
            (
                "".join(f"variable v{i} {{ type discrete [2] {{ 0, 1 }}; }}\n" for i in range(64))
                + "".join(f"probability ( v{i} ) {{ table 0.5, 0.5; }}\n" for i in range(64)),
                "line 64: a variable beyond the first 63",
            ),
            (
                "".join(f"variable v{i} {{ type discrete [2] {{ 0, 1 }}; }}\n" for i in range(40))
                + "probability ( v0 | "
                + ", ".join(f"v{i}" for i in range(1, 40))
                + " ) { }",
                "line 41: the table of 'v0' would have",
            ),
            (
                "".join(f"variable {name} {{ type discrete [2] {{ 0, 1 }}; }}\n" for name in "abcd")
                + "probability (a) { default 1, 0; }\n"
                + "probability (b | a, d) { default 1, 0; }\n"
                + "probability (c | d) { default 1, 0; }\n"
                + "probability (d | b) { default 1, 0; }\n",
                "line 8: the edges form a cycle b -> d -> b",
            ),
        ],
    )
    def test_no_network(self, tmp_path, text, message):
        path = tmp_path / "none.bif"
        path.write_text(text)
        with pytest.raises(ValueError, match=message) as error:
            bn.read_bif(path)
        assert "none.bif" in str(error.value)

    def test_broken_files(self, tmp_path):
        (tmp_path / "a.bif.gz").write_bytes(gzip.compress(TWO.encode())[:-10])
        (tmp_path / "b.bif").write_bytes(b"\xff\xfe")
        for name in ("a.bif.gz", "b.bif"):
            with pytest.raises(ValueError, match=name):
                bn.read_bif(tmp_path / name)
        with pytest.raises(FileNotFoundError):
            bn.read_bif(tmp_path / "absent.bif")

    def test_rounded_rows_warn_once(self, tmp_path):
        path = tmp_path / "two.bif"
        path.write_text(
            TWO.replace("0.2, 0.3, 0.5", "0.333, 0.333, 0.333").replace(".75;", ".7501;")
        )
        with pytest.warns(UserWarning, match=r"2 rows .* up to 0.001") as record:
            net = bn.read_bif(path)
        assert len(record) == 1
        for table in net.tables:
            np.testing.assert_allclose(table.sum(axis=1), 1, atol=1e-15)

    def test_labels_that_bif_cannot_hold(self, tmp_path):
        net = bn.BayesNet.random_tables(
            [0], [2], np.random.default_rng(1), levels=[('say "x"', "y")]
        )
        with pytest.raises(ValueError, match="quotation mark"):
            net.write_bif(tmp_path / "never.bif")
        assert not (tmp_path / "never.bif").exists()

    @settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
    @given(
        seed=st.integers(0, 2**32 - 1),
        n=st.integers(1, 5),
        concentration=st.sampled_from([0.001, 0.1, 1.0]),
        extra=st.text(st.characters(codec="utf-8", exclude_characters='"\n\r\ufeff'), max_size=5),
    )
    def test_round_trip_is_exact(self, tmp_path, seed, n, concentration, extra):
        net = random_net(n, seed, concentration)
        net = replace(
            net,
            names=tuple(f"{name}{extra}" for name in net.names),
            levels=tuple(tuple(f"{extra}{label}" for label in own) for own in net.levels),
        )
        net.write_bif(tmp_path / "net.bif")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert same(bn.read_bif(tmp_path / "net.bif"), net)

    @settings(deadline=None)
    @given(
        st.lists(
            st.sampled_from(
                [
                    *'{}()[];|,"/',
                    *("//", "/*", "*/", "\n", " ", "a", "b", "0.5", "1", "2"),
                    *("variable", "probability", "network", "type", "discrete"),
                    *("table", "default", "property"),
                ]
            ),
            max_size=60,
        ),
        st.integers(0, len(TWO)),
        st.integers(0, len(TWO)),
    )
    def test_any_text_is_read_or_refused(self, pieces, start, stop):
        for text in (" ".join(pieces), TWO[:start] + "".join(pieces) + TWO[stop:]):
            try:
                parse_bif(text, "any.bif")
            except ValueError as error:
                assert str(error).startswith("any.bif")

    def test_mutated_files_are_read_or_refused(self, tmp_path):
        path = tmp_path / "two.bif"
        for raw in mutations(TWO.encode(), 2000):
            path.write_bytes(raw)
            try:
                with warnings.catch_warnings():
                    warnings.filterwarnings("ignore", ".*have been renormalised")
                    bn.read_bif(path)
            except ValueError as error:
                assert "two.bif, line" in str(error), raw


class TestLibrary:
    def test_listed(self):
        listed = list_networks()
        assert set(OFFLINE) < set(listed) and set(REPOSITORY) < set(listed)
        with pytest.raises(ValueError, match="no network 'pigs'; there are cancer"):
            load_network("pigs")

    @pytest.mark.parametrize("name", OFFLINE)
    def test_offline(self, name, monkeypatch):
        monkeypatch.setenv("BNLAB_DATA_DIR", "")
        net = load_network(name)
        assert f"{net.n} nodes" in list_networks()[name]

    def test_cancer_of_friedman_murphy_russell(self):
        net = load_network("cancer")
        assert net.names == tuple("ABCDE")
        assert graphs.to_edges(net.dag) == [(0, 1), (0, 2), (1, 3), (2, 3), (2, 4)]
        assert [table[:, 0].tolist() for table in net.tables] == [
            [0.1],
            [0.1, 0.9],
            [0.1, 0.9],
            [0.15, 0.3, 0.7, 0.9],
            [0.9, 0.1],
        ]

    @pytest.mark.parametrize(
        ("name", "file"),
        [
            ("lung_cancer", "cancer"),
            ("asia", "asia"),
            ("earthquake", "earthquake"),
            ("survey", "survey"),
        ],
    )
    def test_own_tables_equal_the_repository(self, name, file, data_dir):
        published = bn.read_bif(data_dir / "raw" / "networks" / f"{file}.bif.gz")
        assert same(load_network(name), published)

    @pytest.mark.parametrize("name", ["alarm", "child", "insurance", "hailfinder", "sachs"])
    def test_fetched(self, name, data_dir):
        assert size(load_network(name)) == REPOSITORY[name]

    @pytest.mark.parametrize("name", ["alarm", "child", "insurance"])
    def test_random_networks_have_the_published_structure(self, name, data_dir):
        published = load_network(name)
        net = random_network(name, np.random.default_rng(1))
        assert np.array_equal(net.dag, published.dag) and net.names == published.names
        assert np.array_equal(net.arities, published.arities)

    def test_random_networks_are_seeded(self):
        one, two = (random_network("child", np.random.default_rng(s)) for s in (1, 1))
        assert same(one, two) and size(one) == REPOSITORY["child"]
        assert not same(one, random_network("child", np.random.default_rng(2)))
        with pytest.raises(ValueError, match="there are child, alarm, insurance"):
            random_network("asia", np.random.default_rng(1))
