"""The page on benchmarks has a source for each row; its command and the benchpress module run."""

import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import bnlab as bn

ROOT = Path(__file__).resolve().parents[1]
STORED = ROOT / "benchmarks" / "page.json"
MODULE = ROOT / "benchmarks" / "benchpress" / "bnlab_edges"


@pytest.fixture(scope="module")
def drawing() -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        "benchmark_page", ROOT / "docs" / "benchmark_page.py"
    )
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def page() -> dict:
    return json.loads(STORED.read_text(encoding="utf-8"))


def test_stored_run_says_where_it_comes_from(page):
    assert re.fullmatch(r"[0-9a-f]{40}", page["commit"]), "a run of files that no commit has"
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", page["date"])
    assert page["processor"] and page["system"] and page["python"] and not page["quick"]
    used = {row["package"] for task in page["tasks"] for row in task["rows"]}
    assert used == set(page["packages"]) and "bnlab" in used
    assert all(about["version"] and about["numpy"] for about in page["packages"].values())
    assert STORED.stat().st_size < 60_000


def test_stored_figures_hold_together(page):
    """Medians lie in their ranges, ratios are to bnlab's, every answer was compared."""
    for task in page["tasks"]:
        ours, *others = task["rows"]
        assert ours["package"] == "bnlab" and "median" in ours
        for row in task["rows"]:
            if "median" in row:
                assert 0 < row["low"] <= row["median"] <= row["high"]
                assert row["ratio"] == pytest.approx(row["median"] / ours["median"], rel=1e-3)
        for row in others:
            assert "failed" not in row
            if "median" in row:
                assert {"agrees", "log_target"} & set(row)
                rounding = (row["package"], task["name"]) == ("sumu", "edges-16")
                known = row["package"] == "pyagrum" or (rounding and row["difference"] < 1e-7)
                assert row.get("agrees", True) or known, "say why on the page"


def test_each_row_of_the_page_has_a_source(drawing, page):
    text = drawing.page_of(STORED)
    rows = [tuple(map(str.strip, line.strip("|").split("|"))) for line in text.splitlines()]
    shown = [row for row in rows if len(row) == 7 and row[0] in page["packages"]]
    expected = [
        (row["package"], *drawing.cells(row)) for task in page["tasks"] for row in task["rows"]
    ]
    assert shown == [tuple(cell.strip() for cell in row) for row in expected]


def test_losses_are_listed(drawing):
    rows = [
        {"package": "bnlab", "median": 2.0, "first": 3.0, "peak_mb": 5.0, "log_target": -7.0},
        {"package": "other", "median": 1.0, "first": 4.0, "peak_mb": 4.0, "log_target": -6.0},
        {"package": "third", "stopped": 60.0},
    ]
    found = drawing.losses({"tasks": [{"title": "Task", "rows": rows}]})
    told = "2 times as fast, 4 MB in place of 5, ends 1.00 higher"
    assert found == f"- **Task**: other ({told})."
    assert drawing.cells(rows[2])[0] == "> 60 s"


@pytest.mark.slow
def test_quick_run_needs_no_network(tmp_path):
    out = tmp_path / "page.json"
    command = [sys.executable, str(ROOT / "benchmarks" / "page.py"), "--quick", "--output", out]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "peers that are left out: sumu, pgmpy" in done.stdout
    tasks = json.loads(out.read_text(encoding="utf-8"))["tasks"]
    assert len(tasks) >= 14
    assert all([row["package"] for row in task["rows"]] == ["bnlab"] for task in tasks)
    assert all(task["rows"][0]["first"] > 0 and task["rows"][0]["runs"] > 0 for task in tasks)


@pytest.mark.quick("bdeu")
@pytest.mark.parametrize("score", ["bdeu", "bge"])
def test_benchpress_script_writes_the_matrix(tmp_path, score):
    rng = np.random.default_rng(0)
    names = ["a", "b", "c", "d"]
    if score == "bdeu":
        values = rng.integers(0, 2, size=(400, 4))
        values[:, 1] = np.where(rng.random(400) < 0.9, values[:, 0], values[:, 1])
        rows, data = [[2] * 4, *values.tolist()], bn.Data.from_arrays(values, names=names)
    else:
        values = rng.normal(size=(400, 4))
        values[:, 1] += 2 * values[:, 0]
        rows, data = values.tolist(), bn.Data.from_arrays(values, names=names)
    lines = [",".join(names), *(",".join(map(repr, row)) for row in rows)]
    source, target = tmp_path / "data.csv", tmp_path / "adjmat.csv"
    source.write_text("\n".join(lines) + "\n")
    command = [sys.executable, str(MODULE / "script.py"), source, target, "--score", score]
    subprocess.run([*command, "--cutoff", "0.25"], check=True)
    kind = bn.BDeu() if score == "bdeu" else bn.BGe()
    expected = bn.dag_posterior(bn.score_families(data, kind)).edges >= 0.25
    head, *found = target.read_text().splitlines()
    assert head == "a,b,c,d"
    assert [[int(x) for x in row.split(",")] for row in found] == expected.astype(int).tolist()
    assert expected[0, 1] or expected[1, 0]


def test_benchpress_settings_are_those_that_the_script_reads():
    schema = json.loads((MODULE / "schema.json").read_text())["items"]
    script = (MODULE / "script.py").read_text()
    read = set(re.findall(r'ways\["(\w+)"\]', script)) - {"seed"}
    assert read | {"id"} == set(schema["required"]) == set(schema["properties"])
    assert set(schema["examples"][0]) == set(schema["required"])
