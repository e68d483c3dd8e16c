"""Rules that the code keeps by itself: style, types, floors, documented names."""

import ast
import importlib.util
import inspect
import os
import re
import subprocess
import sys
import types
from pathlib import Path

import pytest

import bnlab as bn

ROOT = Path(__file__).resolve().parents[1]
MODULES = sorted((ROOT / "bnlab").rglob("*.py"))

# What a floor may import besides the standard library and bnlab itself. Other modules: CORE.
CORE = {"lazy_loader", "networkx", "numba", "numpy"}
MAY_IMPORT = {
    "kernels": {"numpy", "numba"},
    "data": CORE | {"pandas"},
    "files": CORE | {"pooch"},
    "predict": CORE | {"pandas", "sklearn"},
    "records": CORE | {"pandas"},
    "plots": CORE | {"bokeh", "playwright"},
    "papers": CORE | {"bokeh"},
    "pages": CORE | {"bokeh", "jinja2", "markupsafe"},
    "reports": CORE | {"bokeh", "markupsafe"},
    "cli": CORE | {"bokeh", "tqdm"},
    "course": CORE
    | {"bokeh", "jinja2", "latex2mathml", "markupsafe", "nbconvert", "nbformat", "pygments"},
    "labs": CORE
    | {"bokeh", "ipywidgets", "IPython", "jupyter_bokeh", "pandas", "tqdm"}
    | {"distributed", "ipyparallel", "mpi4py"},  # where they are asked for and there
}
# Not loaded by `import bnlab`, which needs numpy, numba and networkx alone.
OPTIONAL = {"bokeh", "ipywidgets", "IPython", "pandas", "sklearn", "pooch", "tqdm", "distributed"}
# Decorators of compiled functions.
COMPILED = {"kernel", "inner", "inlined", "small"}


def run(*command: str) -> None:
    """Run a tool's module in this environment; skip when it is absent, fail on any complaint."""
    module = command[0]
    if importlib.util.find_spec(module) is None:
        pytest.skip(f"{module} is not installed; the `test` extra brings it")
    _check(sys.executable, "-m", *command)


def _check(*command: str) -> None:
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize("arguments", [("check",), ("format", "--check")], ids=["lint", "format"])
def test_ruff(arguments: tuple[str, ...]) -> None:
    run("ruff", *arguments, ".")


def test_spelling() -> None:
    texts = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "CITATION.cff", "pyproject.toml"]
    run("codespell_lib", *texts, "benchmarks", "bnlab", "docs", "notebooks", "tests", ".github")


@pytest.mark.slow
def test_types() -> None:
    """What mypy has read outlives the clone, as machine code does; changes it reads anew."""
    kept = Path(os.environ["NUMBA_CACHE_DIR"]).with_name("types") / ROOT.name
    run("mypy", f"--cache-dir={kept}")


def test_imports_only_go_down() -> None:
    if importlib.util.find_spec("importlinter") is None:
        pytest.skip("import-linter is not installed; the `test` extra brings it")
    _check(
        sys.executable,
        "-c",
        "from importlinter.cli import lint_imports; raise SystemExit(lint_imports())",
    )


@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_floor_imports_what_it_may(module: Path) -> None:
    floor = module.relative_to(ROOT / "bnlab").with_suffix("").parts[0]
    for name in _imported(module):
        package, _, rest = name.partition(".")
        if package == "bnlab":
            assert floor == "labs" or not rest.startswith("labs"), "only from labs"
        elif package not in sys.stdlib_module_names:
            assert package in MAY_IMPORT.get(floor, CORE), f"{name} does not belong on this floor"


def _imported(module: Path) -> list[str]:
    names = []
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}: imports are absolute here"
            names += [f"{node.module}.{alias.name}" for alias in node.names]
    return names


def test_import_needs_the_core_alone() -> None:
    code = f"import sys; from bnlab import *; print(*sorted({OPTIONAL!r} & set(sys.modules)))"
    result = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert result.stdout.split() == []


def test_modules_stay_readable() -> None:
    lengths = {
        path.relative_to(ROOT).as_posix(): len(path.read_text(encoding="utf-8").splitlines())
        for path in MODULES
    }
    assert {name: lines for name, lines in lengths.items() if lines > 450} == {}


def test_kernels_shift_no_integer_of_32_bits() -> None:
    """Where addresses have 32 bits, in browsers, numba gives a literal as many: 1 << 40 is 256."""
    assert _narrow_shifts("@kernel\ndef f(v):\n    return -1 << v, 1 << 9, np.int64(1) << v") == [3]
    found = {path.name: _narrow_shifts(path.read_text(encoding="utf-8")) for path in MODULES}
    assert {name: lines for name, lines in found.items() if lines} == {}


def _narrow_shifts(source: str) -> list[int]:
    """Lines of compiled functions that shift a literal by what is none."""
    return [
        part.lineno
        for function in ast.walk(ast.parse(source))
        if isinstance(function, ast.FunctionDef)
        and COMPILED & set(map(ast.unparse, function.decorator_list))
        for part in ast.walk(function)
        if isinstance(part, ast.BinOp) and isinstance(part.op, ast.LShift)
        if _is_literal(part.left) and not _is_literal(part.right)
    ]


def _is_literal(part: ast.expr) -> bool:
    return isinstance(part.operand if isinstance(part, ast.UnaryOp) else part, ast.Constant)


def _public() -> dict[str, object]:
    """Every name of `bnlab.__all__`, with the public functions and classes of its modules."""
    found: dict[str, object] = {}
    for name in bn.__all__:
        thing = getattr(bn, name)
        found[name] = thing
        if isinstance(thing, types.ModuleType):
            for inner, member in inspect.getmembers(thing):
                home = getattr(member, "__module__", "") or ""
                if home.startswith(thing.__name__) and not inner.startswith("_"):
                    found[f"{name}.{inner}"] = member
    return found


@pytest.mark.parametrize("name", _public())
def test_public_name_is_documented(name: str) -> None:
    thing = _public()[name]
    documentation = inspect.getdoc(thing) or ""
    assert documentation, f"bnlab.{name} has no docstring"
    if inspect.isfunction(thing) or inspect.isclass(thing):
        assert ">>> " in documentation, f"bnlab.{name} has no example"


@pytest.mark.parametrize("name", _public())
def test_signature_is_readable(name: str) -> None:
    thing = _public()[name]
    if not inspect.isfunction(thing):
        return
    signature = str(inspect.signature(thing))
    assert not re.search(r"numpy\.|typing\.|collections\.|bnlab\.", signature), signature


def test_cited_works_are_in_the_bibliography() -> None:
    bibliography = (ROOT / "bnlab" / "references.bib").read_text(encoding="utf-8")
    keys = re.findall(r"^@\w+\{(\w+),", bibliography, re.MULTILINE)
    assert len(keys) == len(set(keys))
    pages = [path for kind in ("*.ipynb", "*.md") for path in (ROOT / "notebooks").rglob(kind)]
    sources = [*MODULES, *pages, ROOT / "README.md"]
    missing = {
        f"{path.relative_to(ROOT).as_posix()}: {key}"
        for path in sources
        for key in re.findall(
            r"(?:\[|; )([A-Z][A-Za-z]+(?:19|20)\d\d[a-z]?)[\],;]", path.read_text(encoding="utf-8")
        )
        if key not in keys
    }
    assert missing == set()
