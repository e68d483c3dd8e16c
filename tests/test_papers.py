"""The pages of papers on a machine that has nothing but the package."""

import json
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

PAGES = sorted((Path(__file__).resolve().parents[1] / "notebooks" / "papers").glob("*.ipynb"))
STAND_INS = {"nk2013": 3}  # for the data sets that are files, each told in a line


@pytest.mark.slow
@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_a_page_runs_without_files_and_network(path, tmp_path, monkeypatch):
    monkeypatch.delenv("BNLAB_DATA_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    page = nbformat.read(path, as_version=4)
    folder = {"metadata": {"path": str(path.parent)}}
    NotebookClient(page, timeout=300, resources=folder).execute()
    printed = json.dumps([cell.get("outputs", []) for cell in page.cells])
    assert printed.count("a stand-in: n=") == STAND_INS.get(path.stem, 0)
