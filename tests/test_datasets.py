"""Known data sets: equal to their sources, and clear when a file cannot be had."""

import csv
import functools
import hashlib
import http.server
import json
import subprocess
import sys
import threading
import zipfile
from pathlib import Path

import numpy as np
import pooch
import pytest

import bnlab as bn
from bnlab.data import list_datasets
from bnlab.files import RemoteFile, fetch

OFFLINE = ["tic_tac_toe", "wine", "iris", "coronary"]
FETCHED = ["mushroom", "promoters", "zoo", "german", "votes", "primary_tumor", "sachs"]
SHAPES = {
    "tic_tac_toe": (958, 10),
    "wine": (178, 13),
    "iris": (150, 5),
    "coronary": (1841, 6),
    "mushroom": (8124, 22),
    "promoters": (106, 58),
    "zoo": (101, 17),
    "german": (1000, 21),
    "votes": (435, 17),
    "primary_tumor": (339, 18),
    "sachs": (5400, 11),
}
# Files and recoded columns, named as in the table of recodings.
RAW = {
    "tic_tac_toe": "tic-tac-toe/tic-tac-toe.data",
    "wine": "wine/wine.data",
    "iris": "iris/iris.data",
    "zoo": "zoo/zoo.data",
    "german": "german/german.data",
}


def cells(path, delimiter=","):
    with open(path, newline="") as file:
        return [row for row in csv.reader(file, delimiter=delimiter) if row]


def labels(data):
    return [
        tuple(data.levels[v][code] for v, code in enumerate(row)) for row in data.values.tolist()
    ]


def test_names_and_descriptions():
    listed = list_datasets()
    assert sorted(listed) == sorted(SHAPES)
    for name, description in listed.items():
        assert str(SHAPES[name][0]) in description and "[" in description


@pytest.mark.parametrize("name", OFFLINE)
def test_offline_shapes(name, monkeypatch):
    monkeypatch.delenv("BNLAB_DATA_DIR", raising=False)
    data = bn.load_dataset(name)
    assert (data.m, data.n) == SHAPES[name]


@pytest.mark.parametrize("name", FETCHED)
def test_fetched_shapes(name, data_dir):
    data = bn.load_dataset(name)
    assert (data.m, data.n) == SHAPES[name]


def test_unknown_name():
    with pytest.raises(ValueError, match="no data set 'titanic'; there are tic_tac_toe, wine"):
        bn.load_dataset("titanic")
    with pytest.raises(ValueError, match="missing='bogus': choose \"error\""):
        bn.load_dataset("coronary", missing="bogus")


def test_tic_tac_toe_is_the_published_file_row_by_row(data_dir):
    data = bn.load_dataset("tic_tac_toe")
    published = [tuple(row) for row in cells(data_dir / "raw" / RAW["tic_tac_toe"])]
    assert len(set(published)) == 958
    assert labels(data) == published


def test_tic_tac_toe_counts():
    outcome = bn.load_dataset("tic_tac_toe").values
    x_wins = outcome[:, -1] == 1
    full = (outcome[:, :9] != 2).all(axis=1)
    # 626 final boards won by x, 316 by o, 16 draws.
    assert x_wins.sum() == 626
    assert (~x_wins & ~full).sum() == 316
    assert (~x_wins & full).sum() == 16


@pytest.mark.parametrize("name", sorted(RAW))
def test_codes_follow_from_the_published_recoding(name, data_dir):
    columns = json.loads((data_dir / "htw_recoding.json").read_text())[name]["columns"]
    rows = cells(data_dir / "raw" / RAW[name], " " if name == "german" else ",")
    if name == "zoo":
        rows = [row[1:] for row in rows]
    data = bn.load_dataset(name)
    assert data.names == tuple(column["column"] for column in columns)
    assert len(rows) == data.m
    for v, column in enumerate(columns):
        if column["kind"] == "map":
            expected = [column["map"][row[v]] for row in rows]
        else:
            expected = [sum(float(row[v]) > bound for bound in column["bounds"]) for row in rows]
        assert data.values[:, v].tolist() == expected, column["column"]


@pytest.mark.parametrize(("name", "first", "columns"), [("wine", 1, 12), ("iris", 0, 4)])
def test_codes_are_the_measurements_cut(name, first, columns):
    measured, kinds = getattr(pytest.importorskip("sklearn.datasets"), f"load_{name}")(
        return_X_y=True
    )
    data = bn.load_dataset(name)
    np.testing.assert_array_equal(data.values[:, data.index("class")], kinds)
    for v in range(columns):
        cuts = [
            float(level.removeprefix("<= ").strip("(]").split(", ")[-1])
            for level in data.levels[first + v][:-1]
        ]
        codes = [sum(cut < value for cut in cuts) for value in measured[:, v]]
        assert data.values[:, first + v].tolist() == codes


def test_coronary_is_the_published_table(data_dir):
    data = bn.load_dataset("coronary")
    table = bn.read_csv(data_dir / "coronary_table.csv", count="count")
    assert table.names == data.names and table.levels == data.levels
    assert np.array_equal(table.values, data.values)


def test_missing_cells(data_dir):
    for name, total in (("mushroom", 2480), ("votes", 392), ("primary_tumor", 225)):
        data = bn.load_dataset(name)
        missing = sum(
            int((data.values[:, v] == labels.index("missing")).sum())
            for v, labels in enumerate(data.levels)
            if "missing" in labels
        )
        assert missing == total
        dropped = bn.load_dataset(name, missing="drop")
        assert 0 < dropped.m < data.m
        assert not any("missing" in column for column in dropped.levels)
        with pytest.raises(ValueError, match=f"{total} missing cells"):
            bn.load_dataset(name, missing="error")


def test_mushroom_columns_hold_what_their_names_say(data_dir):
    data = bn.load_dataset("mushroom")
    edible = data.levels[0].index("e")
    assert (data.values[:, 0] == edible).sum() == 4208
    assert "missing" in data.levels[data.index("stalk-root")]
    # Mushrooms that smell of almond or anise are all edible.
    odor = data.index("odor")
    pleasant = np.isin(data.values[:, odor], [data.levels[odor].index(a) for a in "al"])
    assert (data.values[pleasant, 0] == edible).all() and pleasant.sum() == 800


def test_promoters_positions(data_dir):
    data = bn.load_dataset("promoters")
    assert data.names[:2] == ("class", "p-50") and data.names[-8:-6] == ("p-1", "p1")
    assert data.levels[0] == ("+", "-") and np.bincount(data.values[:, 0]).tolist() == [53, 53]
    assert set(data.levels[1:]) == {("a", "c", "g", "t")}
    assert "".join(labels(data)[0][1:]).startswith("tactagcaatacgcttgcg")


def test_sachs_interventions_and_both_files(data_dir, tmp_path, monkeypatch):
    data = bn.load_dataset("sachs")
    assert data.names[:3] == ("Raf", "Mek", "Plcg")
    counts = dict(zip(data.names, data.intervened.sum(axis=0).tolist(), strict=True))
    assert {name: count for name, count in counts.items() if count} == {
        "Mek": 600,
        "PIP2": 600,
        "Akt": 600,
        "PKA": 600,
        "PKC": 1200,
    }
    # The file as published: tabs, Windows line ends, none at the end.
    tidy = (data_dir / "sachs_interventional.csv").read_bytes()
    published = tidy.replace(b",", b"\t").replace(b"\n", b"\r\n").removesuffix(b"\r\n")
    path = tmp_path / "raw" / "sachs" / "sachs.interventional.txt"
    path.parent.mkdir(parents=True)
    path.write_bytes(published)
    monkeypatch.setenv("BNLAB_DATA_DIR", str(tmp_path))
    again = bn.load_dataset("sachs")
    assert np.array_equal(again.values, data.values)
    assert np.array_equal(again.intervened, data.intervened)


@pytest.fixture
def empty_cache(tmp_path, monkeypatch):
    """No data folder, an empty cache, and a server of one small file."""
    monkeypatch.delenv("BNLAB_DATA_DIR", raising=False)
    monkeypatch.setattr(pooch, "os_cache", lambda project: tmp_path / "cache" / project)
    return tmp_path / "cache" / "bnlab"


@pytest.fixture
def server(tmp_path):
    folder = tmp_path / "served"
    folder.mkdir()
    (folder / "table.csv").write_bytes(b"a\n1\n2\n")

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *arguments):
            """Tests print nothing."""

    handler = functools.partial(Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as running:
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{running.server_port}/table.csv"
        running.shutdown()
        thread.join()


SHA256 = hashlib.sha256(b"a\n1\n2\n").hexdigest()


def test_a_download_is_checked_and_cached(empty_cache, server):
    path = fetch(RemoteFile("raw/small/table.csv", server, SHA256))
    assert path == empty_cache / "raw" / "small" / "table.csv"
    assert path.read_bytes() == b"a\n1\n2\n"
    # Cached: the address is not asked again.
    assert fetch(RemoteFile("raw/small/table.csv", "http://127.0.0.1:9/gone", SHA256)) == path


def test_a_wrong_download_is_refused(empty_cache, server):
    with pytest.raises(ValueError, match="hash"):
        fetch(RemoteFile("raw/small/table.csv", server, "0" * 64))
    assert not (empty_cache / "raw" / "small" / "table.csv").exists()


def test_offline_says_where_to_put_the_file(empty_cache, capfd):
    file = RemoteFile("raw/small/table.csv", "http://127.0.0.1:9/table.csv", SHA256)
    with pytest.raises(FileNotFoundError) as error:
        fetch(file)
    for part in (file.url, str(empty_cache / file.name), "BNLAB_DATA_DIR"):
        assert part in str(error.value)
    assert capfd.readouterr() == ("", "")


def test_a_cache_that_cannot_be_written_is_named(empty_cache, server):
    empty_cache.parent.write_text("a file where the folder should be")
    file = RemoteFile("raw/small/table.csv", server, SHA256)
    with pytest.raises(FileNotFoundError, match=r"cache folder .* cannot be written") as error:
        fetch(file)
    for part in (file.url, str(empty_cache / "raw" / "small"), "BNLAB_DATA_DIR"):
        assert part in str(error.value)


def test_data_folder_comes_first_and_is_checked(tmp_path, monkeypatch):
    file = RemoteFile("raw/table.csv", "http://127.0.0.1:9/table.csv", SHA256)
    monkeypatch.setenv("BNLAB_DATA_DIR", str(tmp_path))
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw" / "table.csv").write_bytes(b"a\n1\n2\n")
    assert fetch(file) == tmp_path / "raw" / "table.csv"
    (tmp_path / "raw" / "table.csv").write_bytes(b"a\n1\n3\n")
    with pytest.raises(ValueError, match="another version"):
        fetch(file)
    monkeypatch.setenv("BNLAB_DATA_DIR", str(tmp_path / "absent"))
    with pytest.raises(ValueError, match="absent is no folder"):
        fetch(file)


@pytest.mark.slow
def test_the_mirror_of_a_release_is_a_data_folder(data_dir, tmp_path, monkeypatch):
    script = Path(__file__).resolve().parents[1] / ".github" / "mirror.py"
    subprocess.run([sys.executable, script, tmp_path / "data.zip"], check=True, timeout=300)
    with zipfile.ZipFile(tmp_path / "data.zip") as archive:
        archive.extractall(tmp_path / "there")
    monkeypatch.setenv("BNLAB_DATA_DIR", str(tmp_path / "there"))
    for name in set(FETCHED) - {"sachs"}:
        data = bn.load_dataset(name)
        assert (data.m, data.n) == SHAPES[name]
    assert bn.load_network("hailfinder").n == 56
    assert not list((tmp_path / "there").rglob("*sachs*interventional*"))


def test_an_absent_library_names_the_extra(monkeypatch):
    monkeypatch.delenv("BNLAB_DATA_DIR", raising=False)
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install bnlab\[data\]"):
        bn.load_dataset("zoo")
