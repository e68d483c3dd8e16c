"""The files that set the suite up: pins, conda and Binder environments, README, version, CI."""

import importlib.metadata
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from kept import is_git_checkout

import bnlab
from bnlab.cli import main
from bnlab.results import package_versions

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
EXTRAS = PROJECT["project"]["optional-dependencies"]
README = (ROOT / "README.md").read_text(encoding="utf-8")
CI = (ROOT / ".ci" / "run").read_text(encoding="utf-8")

LITE = ROOT / "docs" / "lite"
# A Python that can start neither threads nor processes and has no sockets, as in a browser.
TAB = """
import json, socket, subprocess, sys, threading
import numba

def start(*_, **__):
    raise RuntimeError("can't start new thread")

def none(*_, **__):
    raise OSError("emscripten does not support processes.")

sys.platform, threading.Thread.start = "emscripten", start
subprocess.Popen.__init__ = socket.socket.__init__ = none
sys.modules.update(dict.fromkeys(["tornado", "multiprocessing", "zmq"]))
names = {"__name__": "__main__"}
with open(sys.argv[1], encoding="utf-8") as notebook:
    for cell in json.load(notebook)["cells"]:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), names)
names["runner"].run_now()
"""

LAB_COMMAND = "uv run --extra lab bnlab labs"
TEST_COMMAND = "uv run --extra test pytest"
PIP_COMMAND = "pip install --no-deps -e ."
# In environment.yml but no dependency of the package: what binder/postBuild installs with.
INSTALLERS = {"pip", "setuptools"}


def _names(requirements: list[str]) -> set[str]:
    """Package names as conda-forge and PyPI both spell them, the extras of bnlab left out."""
    names = {re.split(r"[<>=!~\[; ]", requirement)[0] for requirement in requirements}
    return {name.replace("_", "-").lower() for name in names} - {"bnlab"}


def _pins() -> dict[str, str]:
    constraints = PROJECT["tool"]["uv"]["constraint-dependencies"]
    return dict(constraint.split("==") for constraint in constraints)


def _conda() -> dict[str, str]:
    text = (ROOT / "environment.yml").read_text(encoding="utf-8")
    entries = re.findall(r"^  - ([a-z0-9_-]+)(?:=([\d.]+))?$", text.split("dependencies:")[1], re.M)
    return {name.replace("_", "-"): pin for name, pin in entries}


def test_every_direct_dependency_is_pinned() -> None:
    wanted = _names(PROJECT["project"]["dependencies"])
    for requirements in EXTRAS.values():
        wanted |= _names(requirements)
    assert set(_pins()) == wanted


def test_binder_has_the_same_environment() -> None:
    root, binder = ROOT / "environment.yml", ROOT / "binder" / "environment.yml"
    assert root.read_bytes() == binder.read_bytes()


def test_conda_environment_agrees_with_pyproject() -> None:
    conda, pins = _conda(), _pins()
    assert conda.pop("python") == "3.12"
    wanted = _names(PROJECT["project"]["dependencies"] + EXTRAS["lab"] + EXTRAS["data"])
    assert set(conda) == wanted | INSTALLERS
    for name in wanted:
        assert f"{pins[name]}.".startswith(f"{conda[name]}."), f"{name}: {conda[name]}"


def test_conda_environment_has_no_pip_section() -> None:
    assert "pip:" not in (ROOT / "environment.yml").read_text(encoding="utf-8")


def test_post_build_can_be_executed() -> None:
    assert os.name == "nt" or os.access(ROOT / "binder" / "postBuild", os.X_OK)


@pytest.mark.slow
def test_post_build_warms_the_cache_with_a_program_that_runs() -> None:
    script = (ROOT / "binder" / "postBuild").read_text(encoding="utf-8")
    program = re.search(r"<<'PYTHON'\n(.*)\nPYTHON\n", script, re.DOTALL)
    assert program
    subprocess.run([sys.executable, "-W", "error", "-c", program[1]], check=True, timeout=300)


def test_binder_opens_a_copy_that_post_build_makes() -> None:
    script = (ROOT / "binder" / "postBuild").read_text(encoding="utf-8")
    assert "\npython -m bnlab labs --no-open\n" in script
    assert "(https://mybinder.org/v2/gh/bnlab/bnlab/HEAD?urlpath=lab/tree/bnlab-labs/" in README


def test_binder_dry_run() -> None:
    """repo2docker reads the folder and prints its Dockerfile, for which it needs no Docker."""
    tool = shutil.which("jupyter-repo2docker", path=str(Path(sys.executable).parent))
    if tool is None:
        pytest.skip("jupyter-repo2docker is not installed; the `test` extra brings it")
    result = subprocess.run(
        [tool, "--no-build", "--debug", "."], cwd=ROOT, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr
    dockerfile = result.stdout + result.stderr
    assert "binder/environment.yml" in dockerfile
    assert "binder/postBuild" in dockerfile
    assert "python=3.12" in dockerfile


def test_readme_installs_the_package_into_the_conda_environment() -> None:
    name = re.search(r"^name: (.*)$", (ROOT / "environment.yml").read_text(encoding="utf-8"), re.M)
    assert name
    line = f"conda env create -f environment.yml && conda activate {name[1]} && {PIP_COMMAND}"
    assert f"`{line}`" in README


def test_binder_installs_the_package_as_the_readme_does() -> None:
    script = (ROOT / "binder" / "postBuild").read_text(encoding="utf-8")
    assert script.replace("--no-build-isolation ", "").count(f"python -m {PIP_COMMAND}\n") == 1


@pytest.mark.parametrize("command", [LAB_COMMAND, TEST_COMMAND])
def test_readme_has_the_command_as_one_line_that_needs_only_pip(command: str) -> None:
    assert f"\npip install uv && {command}\n" in README


def test_ci_runs_the_test_command_of_the_readme() -> None:
    assert CI.splitlines()[-1] == TEST_COMMAND


def test_workflow_runs_the_same_script() -> None:
    workflow = (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
    assert "bash .ci/run" in workflow


def test_readme_links_lead_somewhere() -> None:
    targets = re.findall(r"\]\(([^)#]+)\)", README)
    local = [target for target in targets if "://" not in target]
    assert [target for target in local if not (ROOT / target).exists()] == []


def test_readme_examples_run() -> None:
    examples = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert len(examples) == 2
    exec("\n".join(examples), {})


def test_version_is_the_same_everywhere() -> None:
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {bnlab.__version__}\n" in citation
    assert importlib.metadata.version("bnlab") == bnlab.__version__
    assert "__version__" in bnlab.__all__


def test_a_checkout_that_is_not_installed_has_a_version(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    find = importlib.metadata.version

    def not_installed(name: str) -> str:
        if name == "bnlab":
            raise importlib.metadata.PackageNotFoundError(name)
        return find(name)

    monkeypatch.setattr(importlib.metadata, "version", not_installed)
    assert package_versions.__wrapped__()["bnlab"] == bnlab.__version__
    with pytest.raises(SystemExit):
        main(["--version"])
    assert capsys.readouterr().out == f"bnlab {bnlab.__version__}\n"


def test_conda_recipe_agrees_with_pyproject() -> None:
    yaml = pytest.importorskip("yaml", reason="the extra `lab` brings it")
    recipe = yaml.safe_load((ROOT / ".github" / "conda" / "recipe.yaml").read_text("utf-8"))
    project, needs = PROJECT["project"], recipe["requirements"]

    def bounds(lines: list[str]) -> set[str]:
        return {
            line.replace(" ", "").replace("_", "-") for line in lines if "python_min" not in line
        }

    assert bounds(needs["run"]) == bounds(project["dependencies"])
    assert bounds(needs["host"]) == {"pip", *bounds(PROJECT["build-system"]["requires"])}
    assert f">={recipe['context']['python_min']}" == project["requires-python"]
    assert recipe["context"]["version"] == bnlab.__version__
    entries = [f"{name} = {place}" for name, place in project["scripts"].items()]
    assert recipe["build"]["python"]["entry_points"] == entries
    about = recipe["about"]
    assert (about["summary"], about["license"]) == (project["description"], project["license"])
    assert about["repository"] == project["urls"]["Repository"]


def test_release_writes_the_hash_into_the_recipe() -> None:
    recipe = (ROOT / ".github" / "conda" / "recipe.yaml").read_text(encoding="utf-8")
    assert recipe.count("sha256: SHA256\n") == 1  # no valid recipe before a release has filled it
    workflow = (ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8")
    assert "s/sha256: SHA256/sha256: " in workflow


def test_metadata_names_every_python_that_is_supported() -> None:
    classifiers = PROJECT["project"]["classifiers"]
    minors = [int(c.rpartition(".")[2]) for c in classifiers if re.search(r":: 3\.\d+$", c)]
    assert PROJECT["project"]["requires-python"] == f">=3.{min(minors)}"
    assert int(_conda()["python"].rpartition(".")[2]) in minors


def test_no_file_names_a_package_registry() -> None:
    if not is_git_checkout():
        pytest.skip("not a git checkout: the tracked files are not known")
    listing = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    hosts = [
        ".".join(parts)
        for parts in [
            ("pypi", "org"),
            ("pythonhosted", "org"),
            ("npmjs", "org"),
            ("anaconda", "org"),
            ("debian", "org"),
        ]
    ]
    tracked = [ROOT / name for name in listing.stdout.split("\0") if name]
    named = [
        f"{path.relative_to(ROOT)}: {host}"
        for path in tracked
        if path.is_file()
        for host in hosts
        if host.encode() in path.read_bytes()
    ]
    assert named == []


def test_the_kernel_of_a_browser_tab_has_what_the_labs_import() -> None:
    yaml = pytest.importorskip("yaml", reason="the extra `lab` brings it")
    kernel = yaml.safe_load((LITE / "environment.yml").read_text(encoding="utf-8"))
    assert kernel["channels"] == ["$WASM_CHANNEL", "conda-forge"]  # no address
    names = {entry.split("=")[0].replace("_", "-") for entry in kernel["dependencies"]}
    needed = _names(PROJECT["project"]["dependencies"] + EXTRAS["lab"])
    assert names == (needed - {"jupyterlab"}) | {"python", "xeus-python"}  # the page is JupyterLab
    # What starts processes, listens or opens connections has no place in a tab.
    assert not names & (_names(EXTRAS["cluster"]) | {"playwright", "pooch", "pyzmq"})
    built = json.loads((LITE / "jupyter_lite_config.json").read_text(encoding="utf-8"))["XeusAddon"]
    python = next(entry for entry in kernel["dependencies"] if entry.startswith("python="))
    assert built["environment_file"] == ["environment.yml"]
    assert built["mounts"] == [f"wheel:/lib/python{python.removeprefix('python=')}/site-packages"]
    page = json.loads((LITE / "jupyter-lite.json").read_text(encoding="utf-8"))
    assert page["jupyter-lite-schema-version"] == 0


def test_the_page_for_a_tab_is_built_where_the_repository_names_a_channel() -> None:
    yaml = pytest.importorskip("yaml", reason="the extra `lab` brings it")
    text = (ROOT / ".github" / "workflows" / "site.yml").read_text(encoding="utf-8")
    assert "://" not in text
    steps = yaml.safe_load(text)["jobs"]["build"]["steps"]
    *_, tools, page, upload = steps
    assert tools["if"] == page["if"] == "vars.WASM_CHANNEL != ''"
    assert page["env"] == {"WASM_CHANNEL": "${{ vars.WASM_CHANNEL }}"}
    assert upload["with"]["path"] == "docs/_build"
    assert '--output-dir "$GITHUB_WORKSPACE/docs/_build/lite"' in page["run"]
    for name in re.findall(r"docs/lite/([\w.]+)(?=\s)", page["run"]):
        assert (LITE / name).is_file(), name


@pytest.mark.slow
def test_the_smoke_notebook_runs_on_the_ordinary_kernel() -> None:
    nbclient = pytest.importorskip("nbclient", reason="the extra `lab` brings it")
    import nbformat

    notebook = nbformat.read(LITE / "smoke.ipynb", as_version=4)
    assert all(cell.get("outputs", []) == [] for cell in notebook.cells)
    nbclient.NotebookClient(notebook, timeout=300).execute()
    shown = [str(output) for cell in notebook.cells for output in cell.get("outputs", [])]
    assert sum("application/vnd.jupyter.widget-view+json" in output for output in shown) == 2


@pytest.mark.slow
def test_the_smoke_notebook_runs_without_what_a_tab_lacks() -> None:
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", TAB, str(LITE / "smoke.ipynb")],
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.splitlines()[-1] == "3,000 inverses"
