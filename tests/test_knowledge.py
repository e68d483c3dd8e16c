"""What is known of edges: which DAGs it leaves, what contradicts itself, files, and reports."""

import html
import math
import re
import shlex
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import oracles
import pytest
from report_parts import part

import bnlab as bn
from bnlab import graphs
from bnlab.cli import main, terminal
from bnlab.reports import analyse, choose_method, sensitivity
from bnlab.reports.sections import linked_pairs

NAMES = ("age", "smoking", "cancer", "tar")
TIERS = (("age",), ("smoking", "tar"), ("cancer",))
TEXT = """
# What is known of the clinic's table.
tiers = [["age"], ["smoking", "tar"], ["cancer"]]
required = ["smoking -> cancer"]
forbidden = ["age → cancer"]  # as the page writes it

[beliefs]
strength = 5
"smoking -> tar" = 0.8
"""


def data(m=60, seed=1, names=NAMES):
    """Rows of a chain of variables, each of them mostly like the one before."""
    rng = np.random.default_rng(seed)
    values = np.cumsum(rng.random((m, len(names))) < [0.5, *[0.2] * (len(names) - 1)], axis=1) % 2
    return bn.Data.from_arrays(values, names=names)


def written(folder, text, name="known.toml"):
    path = Path(folder, name)
    path.write_text(text, encoding="utf-8")
    return path


def some_knowledge(rng, n):
    """Edges and tiers at random, which contradict each other now and then."""
    pairs = [(u, v) for u in range(n) for v in range(n) if u != v]
    required, forbidden = (
        [pairs[i] for i in rng.choice(len(pairs), rng.integers(0, most), replace=False)]
        for most in (n, 2 * n - 1)
    )
    places = rng.integers(0, 4, n)  # the last one is none
    tiers = [[int(v) for v in np.flatnonzero(places == place)] for place in range(3)]
    return {"required": required, "forbidden": forbidden, "tiers": tiers}


def test_what_is_left_over_is_what_enumeration_leaves_and_nothing_is_refused():
    rng, refused = np.random.default_rng(3), 0
    for n in (2, 3, 4):
        table = data(20, names=NAMES[:n])
        for _ in range(60):
            known, k = some_knowledge(rng, n), int(rng.integers(0, n))
            left = oracles.known_dags(n, k, **known)
            if not left:
                refused += 1
                with pytest.raises(ValueError, match=r"required|loop"):
                    bn.score_families(table, bn.BDeu(), max_parents=k, **known)
                continue
            scored = bn.score_families(table, bn.BDeu(), max_parents=k, **known)
            finite = scored.log_target(np.array(oracles.all_dags(n))) > -math.inf
            found = [dag for dag, is_in in zip(oracles.all_dags(n), finite, strict=True) if is_in]
            assert found == left
    assert 40 < refused < 140


@pytest.mark.parametrize(
    ("known", "said"),
    [
        (
            {"required": [("age", "tar"), ("tar", "cancer"), ("cancer", "tar")]},
            r"make a cycle (tar -> cancer -> tar|cancer -> tar -> cancer): leave one",
        ),
        (
            {"required": [("age", "tar")], "forbidden": [("age", "tar")]},
            "edge age -> tar is required, yet it is forbidden too",
        ),
        (
            {"required": [("cancer", "age")], "tiers": TIERS},
            "cancer -> age is required, yet cancer stands in tier 3, age in the earlier tier 1",
        ),
        (
            {"required": [("age", "tar")], "candidates": {"tar": ["smoking"]}},
            "age -> tar is required, yet age is none of the candidates of tar",
        ),
        (
            {"required": [(name, "cancer") for name in ("tar", "age", "smoking")]},
            "give cancer the parents age, smoking, tar: raise max_parents=2 to 3",
        ),
        ({"tiers": [[], [], [], [], [], ["age"], ["tarr"]]}, "no variable 'tarr'; there are age"),
    ],
    ids=["cycle", "forbidden", "tier", "candidates", "parents", "unknown"],
)
def test_contradictions_are_refused_before_anything_is_computed(known, said, monkeypatch):
    monkeypatch.setattr("bnlab.memory.require", lambda *_, **__: pytest.fail("memory was asked"))
    with pytest.raises(ValueError, match=said):
        bn.score_families(data(), bn.BDeu(), max_parents=2, **known)


def test_empty_tiers_bar_nothing():
    table = bn.score_families(data(), bn.BDeu(), tiers=[[], [], [], [], [], [], ["age"]])
    assert (table.log_prior == 0).all()


def test_a_measured_parent_of_a_column_with_states_is_refused_in_words():
    rows = np.column_stack([np.random.default_rng(0).normal(size=20), np.arange(20) % 2])
    mixed = bn.Data.from_arrays(rows, arities=[0, 2], names=["weight", "sex"])
    score = bn.ConditionalGaussian()
    with pytest.raises(ValueError, match="measured columns cannot be parents of columns with st"):
        bn.score_families(mixed, score, required=[("weight", "sex")])
    table = bn.score_families(mixed, score)
    with pytest.raises(
        ValueError, match=r"'sex' given weight is forbidden, .* a parent is measure"
    ):
        bn.ges(table)
    assert table.log_prior.tolist() == [[0, 0], [0, -math.inf]]


# Files


def test_a_file_says_what_the_options_say(tmp_path):
    table = data()
    known = bn.read_knowledge(written(tmp_path, TEXT), table)
    assert known["tiers"] == TIERS
    assert known["required"] == (("smoking", "cancer"),)
    assert known["forbidden"] == (("age", "cancer"),)
    beliefs = np.full((4, 4), 0.5)
    beliefs[1, 3] = 0.8
    expected = bn.EdgeBeliefs(beliefs, 5.0)
    off = ~np.eye(4, dtype=bool)
    assert (np.asarray(known["prior"].beliefs)[off] == beliefs[off]).all()
    assert known["prior"].strength == 5
    assert repr(known["prior"]) == "EdgeBeliefs(4 variables, strength=5)"
    by_hand = bn.score_families(
        table,
        bn.BDeu(),
        prior=expected,
        required=[("smoking", "cancer")],
        forbidden=[
            *[("age", "cancer"), ("smoking", "age"), ("tar", "age")],
            *[("cancer", u) for u in ("age", "smoking", "tar")],
        ],
    )
    found = bn.score_families(table, bn.BDeu(), **known)
    np.testing.assert_array_equal(found.log_phi, by_hand.log_phi)
    assert bn.read_knowledge(written(tmp_path, "\ufeff# nothing\r\n"), table) == {}
    with_edge, without = found.log_prior[3, found.parents[3] == 2], found.log_prior[3, 0]
    assert with_edge - without == pytest.approx(5 * (2 * 0.8 - 1))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("required = [age -> tar]", r'not TOML in UTF-8 \(.*line 1.*quotes, as required = \["'),
        ("tiers = " + "[" * 5_000, "not TOML in UTF-8"),
        ("strength = " + "9" * 5_000, "not TOML in UTF-8"),
        ('require = ["age -> tar"]', "'require' is none of tiers, beliefs, required, forbidden"),
        ('tiers = ["age", "tar"]', r"tiers=\['age', 'tar'\], of which 'age': a list of strings"),
        ("tiers = [[0], [1]]", r"tiers=\[\[0\], \[1\]\], of which \[0\].*string"),
        ('tiers = [["age"], ["age"]]', "'age' stands in two of them"),
        ('required = "age -> tar"', r"required='age -> tar': a list of strings is needed, as \["),
        ('required = ["age, tar"]', "'age, tar' is no edge: write \"PARENT -> CHILD\""),
        ('required = ["age -> tar -> cancer"]', "is no edge"),
        ('required = ["age ->"]', "is no edge"),
        ('forbidden = ["age -> age"]', "edge age -> age is a loop"),
        ('forbidden = ["age -> tobacco"]', "no variable 'tobacco'; there are age, smoking"),
        ("beliefs = 3", "beliefs=3: give a dict"),
        ('[beliefs]\n"age -> tar" = 1.5', "belief 1.5 in age -> tar: give a number from 0 to 1"),
        ('[beliefs]\n"age -> tar" = "high"', "of which 'high': give a number"),
        ('[beliefs]\nstrength = -1\n"age -> tar" = 0.5', "strength=-1"),
        ('[beliefs]\nrequired = ["age -> tar"]', r"beliefs=.*required.*: give a number"),
    ],
)
def test_a_file_that_says_something_else_is_refused_in_one_line(text, said, tmp_path):
    path = written(tmp_path, text)
    with pytest.raises(ValueError, match=said) as refused:
        bn.read_knowledge(path, data())
    message = str(refused.value)
    assert message.startswith(f"{path}: ") and message.isprintable() and len(message) < 1000


# Reports


def enumerated(table, known, score=None):
    """Edge probabilities (n, n) by a sum over the DAGs that are left."""
    scored = bn.score_families(table, score or bn.BDeu(), max_parents=table.n - 1)
    prior = known.get("prior", bn.Uniform())
    numbers = {
        key: [tuple(map(table.index, some)) for some in known.get(key, ())]
        for key in ("required", "forbidden", "tiers")
    }
    left = np.array(oracles.known_dags(table.n, table.n - 1, **numbers))
    log_weight = scored.log_target(left)
    for v in range(table.n):
        log_weight += prior.log_factor(table.n, v, left[:, v])
    weight = np.exp(log_weight - log_weight.max())
    return np.einsum("g,guv->uv", weight, graphs.to_adjacency(left)) / weight.sum()


@pytest.mark.parametrize("method", ["exact DAGs", "exact orders", "partitions", "orders", "search"])
def test_every_method_of_an_analysis_keeps_to_it(method, tmp_path):
    table = data()
    known = bn.read_knowledge(written(tmp_path, TEXT), table)
    plan = choose_method(table, method=method, max_parents=3, seconds=5)
    plan = replace(plan, draws=min(plan.draws, 2_000), burn_in=plan.burn_in and 500, thin=5)
    found = analyse(table, rng=np.random.default_rng(1), plan=plan, **known)
    assert found.known == {key: known[key] for key in ("required", "forbidden", "tiers")}
    assert graphs.to_adjacency(found.best)[1, 2]
    expected, edges = enumerated(table, known), found.edges.probability
    assert edges[1, 2] == pytest.approx(1)
    assert (edges[expected == 0] == 0).all()
    if method != "search":
        assert edges == pytest.approx(expected, abs=1e-9 if method == "exact DAGs" else 0.1)


def test_other_priors_are_compared_under_the_same_knowledge(tmp_path, monkeypatch):
    table = data()
    known = bn.read_knowledge(written(tmp_path, TEXT), table)
    found = analyse(table, rng=np.random.default_rng(1), **known)
    priors = [found.prior, bn.Uniform(), bn.Fair()]
    tried = sensitivity(found, ess=[1.0, 10.0], priors=priors)
    assert tried.edges[0, 0] == pytest.approx(found.edges.probability, abs=1e-9)
    for a, ess in enumerate(tried.ess):
        for b, prior in enumerate(priors):
            expected = enumerated(table, known | {"prior": prior}, bn.BDeu(ess))
            assert tried.edges[a, b] == pytest.approx(expected, abs=1e-9)
    required = [(name, "cancer") for name in ("age", "smoking", "tar")]
    many = analyse(table, rng=np.random.default_rng(1), required=required)
    for name, value in {"MOST_EXACT": 2, "MOST_ORDERS": 2, "CHAIN_DRAWS": 50}.items():
        monkeypatch.setattr(sys.modules["bnlab.reports.sensitivity"], name, value)
    tried = sensitivity(many, ess=[1.0])
    assert (tried.how, tried.max_parents) == ("short chains", 3)
    assert (tried.edges[0, :, [0, 1, 3], 2] == 1).all()


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder of one's own, with a table and what is known of it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("bnlab.memory.free_bytes", lambda: 10**9)  # a page says how much is free
    table = data(200)
    rows = [",".join(NAMES), *(",".join("ny"[cell] for cell in row) for row in table.values)]
    written(tmp_path, "\n".join(rows), "clinic.csv")
    written(tmp_path, TEXT)
    return tmp_path


def page_of(folder):
    """The words of the page, and the command at its end."""
    text = Path(folder, "clinic-report.html").read_text(encoding="utf-8")
    (command,) = re.findall(r"<code>bnlab (report .*?)</code>", text)
    body = re.sub(r"<script.*?</script>|<style.*?</style>", "", text, flags=re.DOTALL)
    words = " ".join(html.unescape(re.sub(r"<[^>]*>", " ", body)).split())
    return words, shlex.split(html.unescape(command))


def test_the_page_says_what_was_assumed_and_how_to_do_it_again(here):
    typed = ["clinic.csv", "--knowledge", "known.toml", "--forbid", "tar,cancer", "--seed", "1"]
    assert main(["report", *typed, "--csv", "a.csv", "--quiet"]) == terminal.DONE
    words, command = page_of(here)
    for said in (
        "In time, the earliest first: age; then smoking, tar; then cancer.",
        "Required, so in every DAG, whatever the table says: smoking → cancer.",
        "Forbidden, whatever the table says: age → cancer and tar → cancer.",
        "Belief 0.8 in smoking → tar: a DAG with this edge counts 20.1 times as much",
        "Assumed, so no finding: the required smoking → cancer; the direction of age → smoking; "
        "the absence of 7 of 12 possible edges.",
        "Required, hence 1: smoking → cancer.",
        "the prior over DAGs is EdgeBeliefs(4 variables, strength=5)",
    ):
        assert said in words, said
    assert command[1:6] == typed[:5]
    first = Path("a.csv").read_bytes()
    assert main([*command, "--quiet"]) == terminal.DONE
    assert Path("a.csv").read_bytes() == first and page_of(here)[1] == command


def test_options_say_the_same_as_a_file(here):
    written(here, TEXT.partition("[beliefs]")[0])
    tiers = ["--tiers", "age:smoking, tar:cancer", "--require", "smoking,cancer"]
    found = []
    for options in (["--knowledge", "known.toml"], [*tiers, "--forbid=age,cancer"]):
        typed = ["report", "clinic.csv", *options, "--seed", "1", "--csv", "a.csv", "--quiet"]
        assert main(typed) == terminal.DONE
        words, command = page_of(here)
        assert all(word in command for word in options)
        section = re.search(r"In time, the earliest first.*?at most 3 parents", words)
        found.append((section[0], Path("a.csv").read_bytes()))
    assert found[0] == found[1]


def test_a_page_without_knowledge_says_so(here):
    assert main(["report", "clinic.csv", "--seed", "1", "--quiet"]) == terminal.DONE
    words, _ = page_of(here)
    assert "No edge was required, forbidden or believed in; no order in time was given." in words
    assert "no finding" not in words and "Belief 0" not in words


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (["--knowledge", "none.toml"], 1, "none.toml: No such file"),
        (["--knowledge", "known.toml", "-o", "known.toml"], 1, "known.toml is a file to be read"),
        (["--knowledge", "known.toml", "--tiers", "age:tar"], 2, "--tiers: known.toml says that"),
        (["--knowledge", "known.toml", "--prior", "fair"], 2, "--prior: known.toml says that"),
        (["--knowledge", "clinic.csv"], 1, "clinic.csv: not TOML"),
        (["--knowledge", "known.toml", "--require", "cancer,age"], 1, "yet cancer stands in"),
        (["--require", "age,tar", "--require", "tar,age"], 1, "make a cycle"),
        (["--require", "age,tar", "--forbid", "age,tar"], 1, "edge age -> tar is required, yet it"),
        (["--forbid", "age,tobacco"], 1, "no variable 'tobacco'; there are age, smoking"),
        (
            ["--require", "age,tar", "--require", "cancer,tar", "--max-parents", "1"],
            1,
            "give tar the parents age, cancer: raise --max-parents 1 to 2",
        ),
        (["--tiers", "age,:tar"], 1, "no variable ''; there are age"),
        (["--require", "age"], None, "'age' is not PARENT,CHILD"),
        (["--forbid", "a,b,c"], None, "names with a comma go into a file (--knowledge)"),
    ],
)
def test_contradictions_end_the_command_before_it_begins(options, code, said, here, capsys):
    before = sorted(here.iterdir())
    typed = ["report", "clinic.csv", "--quiet", "--checkpoint", "a.ckpt", *options]
    if code is None:
        with pytest.raises(SystemExit):
            main(typed)
    else:
        assert main(typed) == code
    assert said in capsys.readouterr().err.splitlines()[-1]
    assert sorted(here.iterdir()) == before


def test_nothing_is_left_to_find_where_all_is_required():
    table = data(names=("a", "b"))
    found = analyse(table, rng=np.random.default_rng(1), required=[(1, "a")])
    assert found.known["required"] == (("b", "a"),)
    assert linked_pairs(found) == ([], [], [])
    assert "Every two variables have a required edge" in part("glance", found)
    searched = choose_method(table, method="search")
    found = analyse(table, rng=np.random.default_rng(1), required=[(1, 0)], plan=searched)
    assert "Assumed, so no finding: the required b → a." in part("glance", found)
