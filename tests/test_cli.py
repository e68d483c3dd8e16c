"""The command line: what it writes, its exit codes, and errors in one line."""

import csv
import errno
import gzip
import html
import json
import operator
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

import numpy as np
import pytest
from bokeh.plotting import figure

import bnlab as bn
from bnlab import CutPoints, Data, EqualFrequency, EqualWidth, memory
from bnlab.cli import labs, main, options, parser, report, reproduce, terminal
from bnlab.cli.options import INSTEAD, KNOWN, MODEL, TABLE, as_option
from bnlab.errors import InputError, Public, Setting
from bnlab.papers.beal2003 import study, world
from bnlab.papers.htw2016.study import TABLE_1
from bnlab.papers.page import Part, Table
from bnlab.reports import Analysis, choose_method, read_table

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")

pytestmark = pytest.mark.usefixtures("lean")  # programs that tests start do without


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of one's own to work in, with a small table."""
    monkeypatch.chdir(tmp_path)
    write_table(tmp_path / "weather.csv")
    return tmp_path


def write_table(path: Path, m: int = 60, n: int = 3) -> None:
    """A table in which each column follows the one before, most of the time."""
    rng = np.random.default_rng(1)
    values = np.cumsum(rng.random((m, n)) < np.r_[0.5, np.full(n - 1, 0.1)], axis=1) % 2
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([f"day {j}" for j in range(n)])
        writer.writerows(np.array(["dry", "wet"])[values])


def bnlab(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "bnlab", *arguments], cwd=folder, capture_output=True, text=True
    )


def one_line(capsys: pytest.CaptureFixture[str]) -> str:
    """What was said on stderr, which must be one line and no traceback."""
    text = capsys.readouterr().err
    assert text.count("\n") == 1 and "Traceback" not in text, text
    return text


# The whole command


def test_help_starts_without_the_compiler(tmp_path: Path) -> None:
    code = (
        "import sys; sys.argv = ['bnlab', *sys.argv[1:]]\n"
        "from bnlab.cli import main\n"
        "try: main()\n"
        "except SystemExit as end: assert end.code == 0\n"
        "assert not {'numpy', 'numba', 'bokeh', 'jupyterlab'} & set(sys.modules)\n"
    )
    for arguments in (["--help"], ["report", "--help"], ["labs", "-h"], ["--version"]):
        found = subprocess.run(
            [sys.executable, "-c", code, *arguments], cwd=tmp_path, capture_output=True, text=True
        )
        assert (found.returncode, found.stderr) == (0, ""), found.stderr
        assert "bnlab" in found.stdout


@pytest.mark.parametrize("command", ["labs", "report", "reproduce"])
def test_help_has_examples_that_parse(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main([command, "--help"])
    assert end.value.code == 0
    _parse_all(capsys.readouterr().out)


def test_readme_has_commands_that_parse() -> None:
    _parse_all(README)


def _parse_all(text: str) -> None:
    """Every command in a text must be one that the parser takes."""
    from bnlab.cli import _own, parser

    lines = re.findall(r"^ *(?:pip .* )?bnlab ((?:labs|report|reproduce)\b.*)$", text, re.MULTILINE)
    found = [re.split(r" {2,}", line)[0] for line in lines]
    assert found
    for line in found:
        parser().parse_args(_own(shlex.split(line)))


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["nonsense"],
        ["report"],
        ["report", "weather.csv", "--nonsense"],
        ["report", "weather.csv", "--seed", "one"],
        ["report", "weather.csv", "--seed", "-1"],
        ["report", "weather.csv", "--ess", "0"],
        ["report", "weather.csv", "--seconds", "inf"],
        ["report", "weather.csv", "--max-parents", "2.5"],
        ["report", "weather.csv", "--prior", "flat"],
        ["report", "weather.csv", "--prior", "penalty"],
        ["report", "weather.csv", "--prior", "penalty:1e300"],
        ["report", "weather.csv", "--score", "bge"],
        ["report", "weather.csv", "--method", "magic"],
        ["report", "weather.csv", "--missing", "guess"],
        ["report", "weather.csv", "--delimiter", ";;"],
        ["report", "weather.csv", "--discretize", "3"],
        ["report", "weather.csv", "--discretize", "width:2.5"],
        ["report", "weather.csv", "--discretize", "width:1"],
        ["report", "weather.csv", "--discretize", "day=cuts:x"],
        ["reproduce"],
        ["reproduce", "X"],
    ],
    ids=" ".join,
)
def test_wrong_options_are_exit_code_2(
    arguments: list[str], here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        main(arguments)
    assert end.value.code == 2
    assert "usage: bnlab" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--score", "k2", "--ess", "2"], "--ess is for bdeu"),
        (["--discretize", "width:2", "--discretize", "day=width:3"], "one rule for all"),
        (["--discretize", "day=width:2", "--discretize", "day=cuts:3"], "'day' is given twice"),
        (["--levels", "day=a,b", "--levels", "day=b,a"], "'day' is given twice"),
    ],
    ids=["ess of k2", "two rules", "two rules of a column", "levels twice"],
)
def test_contradictions_are_exit_code_2(
    options: list[str], said: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["report", "weather.csv", "--quiet", *options]) == terminal.USAGE
    assert said in one_line(capsys)


def test_exit_codes_of_the_process(here: Path) -> None:
    (here / "empty.csv").write_text("")
    for arguments, code in (
        (["--version"], 0),
        (["labs", "copy", "--no-open"], 0),
        (["report", "no_such.csv"], 1),
        (["report", "empty.csv"], 1),
        (["report", "weather.csv", "--ess", "none"], 2),
    ):
        found = bnlab(*arguments, folder=here)
        assert found.returncode == code, found.stderr
        assert "Traceback" not in found.stderr


@pytest.mark.parametrize(
    ("raised", "code", "said"),
    [
        (ValueError("two\nlines"), 1, "two lines"),
        (PermissionError(13, "Permission denied", "x.csv"), 1, "x.csv: Permission denied"),
        (OSError("disk full"), 1, "disk full"),
        (FileNotFoundError(2, "No such file", "a\x1b[31m\nb"), 1, "a\ufffd[31m b: No such"),
        (MemoryError(), 1, "not enough memory"),
        (terminal.Failure("make the folder first"), 1, "make the folder first"),
        (terminal.Misuse("one or the other"), 2, "one or the other"),
        (ZeroDivisionError("by zero"), 1, "ZeroDivisionError: by zero (a mistake of bnlab's: "),
        (KeyboardInterrupt(), 130, "interrupted"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else "",
)
def test_errors_are_one_line(
    raised: BaseException,
    code: int,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fails(options: object) -> int:
        raise raised

    monkeypatch.setattr(report, "run", fails)
    assert main(["report", "x.csv"]) == code
    assert said in one_line(capsys)
    with pytest.raises(type(raised)):
        main(["report", "x.csv", "--debug"])


def test_a_full_disk_without_a_name_is_that_of_compiled_code() -> None:
    said = terminal.one_line(OSError(errno.ENOSPC, "No space left on device"))
    assert said.startswith("No space left on device; make room in ")
    assert said.endswith("or set NUMBA_CACHE_DIR to another folder")


def test_terminals_without_every_letter(here: Path) -> None:
    letters = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    (here / "leer.csv").write_text("größe,größe\n1,2\n", encoding="utf-8")
    for arguments, code in ((["reproduce", "-h"], 0), (["report", "leer.csv"], 1)):
        found = subprocess.run(
            [sys.executable, "-m", "bnlab", *arguments], cwd=here, capture_output=True, env=letters
        )
        assert found.returncode == code and b"Traceback" not in found.stderr
        assert b"?" in found.stdout + found.stderr


def test_stopped_runs_are_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from bnlab import Stopped

    def stops(options: object) -> int:
        raise Stopped("stopped before the first draw")

    monkeypatch.setattr(report, "run", stops)
    assert main(["report", "x.csv"]) == terminal.FAILED
    assert "before the first draw" in one_line(capsys)


def test_progress_is_told_in_tenths(capsys: pytest.CaptureFixture[str]) -> None:
    with terminal.shown("chains") as tell:
        for done in range(101):
            assert tell(done, 100, "drawing")
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 11 and lines[-1] == "chains, drawing: 100 of 100"


def test_progress_on_a_terminal_is_a_bar(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with terminal.shown("chains") as tell:
        assert tell(3, 10, None)
    assert "chains" in capsys.readouterr().err


def test_the_first_ctrl_c_stops_and_the_second_leaves(capsys: pytest.CaptureFixture[str]) -> None:
    before = signal.getsignal(signal.SIGINT)
    with terminal.shown("chains", quiet=True) as told, terminal.stoppable(told) as tell:
        with pytest.raises(KeyboardInterrupt):  # nothing is at hand
            signal.raise_signal(signal.SIGINT)
        assert tell(1, 10, None)
        signal.raise_signal(signal.SIGINT)
        assert tell(2, 10, None) is False
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before
    assert one_line(capsys).startswith("stopping with what is at hand")


# bnlab labs


def test_labs_are_copied_with_papers_and_pictures(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["labs", "--no-open"]) == 0
    copies = {
        path.relative_to("bnlab-labs").as_posix(): path
        for path in Path("bnlab-labs").rglob("*.*")
        if path.is_file()
    }
    shipped = {
        path.relative_to(ROOT / "notebooks").as_posix()
        for path in (ROOT / "notebooks").rglob("*.*")
        if path.suffix in (".ipynb", ".md")
        and not {".ipynb_checkpoints", "lecturers"} & {*path.parts}  # notes hold answers
    }
    pictures = {
        f"{name.rpartition('/')[0]}/{picture}".lstrip("/")
        for name in shipped
        for picture in re.findall(r"\]\((images/[^)]+)\)", copies[name].read_text("utf-8"))
    }
    assert copies.keys() == shipped | pictures | {labs.RECORD}
    assert "files copied" in capsys.readouterr().out


def test_changed_labs_are_kept_and_others_brought_up_to_date(tmp_path: Path) -> None:
    source, folder = tmp_path / "source", tmp_path / "mine"
    source.mkdir()
    for name in ("a.md", "b.md", "c.md"):
        (source / name).write_text("version 1")
    assert labs.copy_to(source, folder) == (3, [])
    (folder / "a.md").write_text("my answer")
    (folder / "c.md").unlink()
    for name in ("a.md", "b.md"):
        (source / name).write_text("version 2")
    assert labs.copy_to(source, folder) == (2, ["a.md"])
    texts = [(folder / f"{name}.md").read_text() for name in "abc"]
    assert texts == ["my answer", "version 2", "version 1"]
    assert labs.copy_to(source, folder) == (0, ["a.md"])


def test_a_copy_is_brought_up_to_date_until_it_is_run(tmp_path: Path) -> None:
    source, folder = tmp_path / "source", tmp_path / "mine"
    source.mkdir()

    def write(path: Path, code: str, **cell: object) -> None:
        whole = {"cell_type": "code", "metadata": {}, "source": code, "outputs": []} | cell
        lab = {"cells": [whole], "metadata": {}, "nbformat": 4, "nbformat_minor": 4}
        path.write_text(json.dumps(lab))

    def code() -> str:
        (cell,) = json.loads((folder / "a.ipynb").read_text())["cells"]
        return str(cell["source"])

    write(source / "a.ipynb", "x = 1", execution_count=3)
    assert labs.copy_to(source, folder) == (1, [])
    assert labs.copy_to(source, folder) == (0, [])
    write(source / "a.ipynb", "x = 2", execution_count=3)
    assert labs.copy_to(source, folder) == (1, []) and code() == "x = 2"
    write(folder / "a.ipynb", "x = 2", execution_count=1)
    write(source / "a.ipynb", "x = 3", execution_count=3)
    assert labs.copy_to(source, folder) == (0, ["a.ipynb"]) and code() == "x = 2"


def test_a_file_that_was_there_before_is_kept(tmp_path: Path) -> None:
    source, folder = tmp_path / "source", tmp_path / "mine"
    for place in (source, folder):
        place.mkdir()
        (place / "a.md").write_text(place.name)
    (folder / labs.RECORD).write_text("spoilt {")
    assert labs.copy_to(source, folder) == (0, ["a.md"])
    (folder / labs.RECORD).write_text("[1]")
    assert labs.copy_to(source, folder) == (0, ["a.md"])
    assert (folder / "a.md").read_text() == "mine"
    assert json.loads((folder / labs.RECORD).read_text()) == {}


def test_fresh_copies_go_beside_old_ones(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("mine", "mine-2", "mine-3"):
        assert main(["labs", "mine", "--fresh", "--no-open"]) == 0
        assert (here / name / labs.FIRST).is_file()
    capsys.readouterr()


def test_kept_labs_are_named(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["labs", "mine", "--no-open"])
    (here / "mine" / labs.FIRST).write_text("mine")
    assert main(["labs", "mine", "--no-open"]) == 0
    assert "kept as you have changed them: 00_start_here.ipynb" in capsys.readouterr().out


def test_labs_need_a_folder(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["labs", "weather.csv", "--no-open"]) == terminal.FAILED
    assert "weather.csv" in one_line(capsys)


def test_labs_name_the_remedy_where_nothing_may_be_written(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path, **_: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr(Path, "mkdir", refuse)
    assert main(["labs", "--no-open", "mine"]) == terminal.FAILED
    assert "mine: Permission denied; name a folder of yours" in capsys.readouterr().err


def test_the_labs_themselves_are_not_copied_onto_themselves(here: Path) -> None:
    assert main(["labs", str(labs.shipped()), "--no-open"]) == 0
    assert not (labs.shipped() / labs.RECORD).exists()


def test_jupyterlab_is_opened_with_its_options(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BOKEH_RESOURCES")  # then pictures need no network
    seen = []

    class Lab:
        def __init__(self, command: list[str], cwd: Path, env: dict[str, str]) -> None:
            seen.append((command[1:], cwd, env["BOKEH_RESOURCES"]))
            self.interrupts = 2

        def __enter__(self) -> "Lab":
            return self

        def __exit__(self, *error: object) -> None:
            pass

        def wait(self) -> int:
            self.interrupts -= 1
            if self.interrupts >= 0:
                raise KeyboardInterrupt
            return 0

    monkeypatch.setattr(labs.subprocess, "Popen", Lab)
    assert main(["labs", "mine", "--", "--port", "9999"]) == 0
    command = ["-m", "jupyterlab", labs.FIRST, "--port", "9999"]
    assert seen == [(command, Path("mine"), "inline")]


@pytest.mark.parametrize(
    ("arguments", "module"),
    [
        (["labs", "mine"], "jupyterlab"),
        (["report", "weather.csv"], "bokeh"),
        (["reproduce", "B"], "bokeh"),
    ],
    ids=["labs", "report", "reproduce"],
)
def test_a_missing_extra_is_named(
    arguments: list[str],
    module: str,
    here: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    find = terminal.find_spec
    monkeypatch.setattr(terminal, "find_spec", lambda name: None if name == module else find(name))
    assert main(arguments) == terminal.FAILED
    said = one_line(capsys)
    assert module in said and 'pip install "bnlab[lab]"' in said
    assert not (here / "mine").exists()


# bnlab report


def page_of(path: Path) -> str:
    """The page without what differs from run to run: the seconds that it took."""
    text = re.sub(r"\bp\d{4,}\b", "p", path.read_text(encoding="utf-8"))  # Bokeh's, counted on
    return re.sub(r"(seconds[^<]*</th><td[^>]*>)[\d.e-]+|[\d.,]+ GB that are free", r"\1", text)


def command_of(page: str) -> list[str]:
    """The arguments of the command on a page."""
    (command,) = re.findall(r"<code>(bnlab report .*?)</code>", page)
    program, *arguments = shlex.split(html.unescape(command))
    assert program == "bnlab"
    return arguments


@pytest.mark.slow
def test_report_is_the_same_bytes_and_its_command_makes_it_again(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = bnlab("report", "weather.csv", "-o", "a page.html", folder=here)
    assert first.returncode == 0, first.stderr
    assert re.fullmatch(r"a page.html: \d\.\d MB, seed \d+\n", first.stdout)
    one = page_of(here / "a page.html")
    arguments = command_of(one)
    assert arguments[:4] == ["report", "weather.csv", "-o", "a page.html"]
    assert arguments[4::2] == ["--seed", "--method", "--max-parents"]
    (here / "a page.html").unlink()
    assert (main([*arguments, "--quiet"]), capsys.readouterr().err) == (0, "")
    assert page_of(here / "a page.html") == one


QUICK = {
    "planning": {
        "MOST_MOVES": 60_000,
        "LEAST_MOVES": 10_000,
        "WEIGHTED": 3_000,
        "LEAST_CYCLES": 50,
        "CYCLES": 1,
    },
    "sensitivity": {"DRAWS": 500, "CHAIN_DRAWS": 50, "CHAIN_BURN_IN": 50, "MOST_CUTS": 50},
}


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reports of few draws and moves."""
    for module, settings in QUICK.items():
        for name, value in settings.items():
            monkeypatch.setattr(sys.modules[f"bnlab.reports.{module}"], name, value)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("free", "method"), [(6e7, "exact-orders"), (1e7, "partitions")], ids=["60 MB", "10 MB"]
)
def test_the_command_gives_the_same_numbers_where_more_memory_is_free(
    free: float, method: str, here: Path, quick: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With all the memory of this machine it would be the exact sum over DAGs."""
    write_table(here / "wide.csv", m=60, n=18)
    with monkeypatch.context() as small:
        small.setattr(memory, "free_bytes", lambda: int(free))
        assert main(["report", "wide.csv", "--seconds", "20", "--csv", "one.csv", "--quiet"]) == 0
    one = page_of(here / "wide-report.html")
    arguments = command_of(one)
    assert arguments[:6] == ["report", "wide.csv", "--seconds", "20", "--csv", "one.csv"]
    assert arguments[6::2] == ["--seed", "--method", "--max-parents"] and arguments[9] == method
    first = (here / "one.csv").read_bytes()
    assert main([*arguments, "--quiet"]) == 0
    assert (here / "one.csv").read_bytes() == first
    again = page_of(here / "wide-report.html")
    why = re.compile(r'<section id="method".*?</section>', re.DOTALL)
    assert why.sub("", again) == why.sub("", one)


def test_the_command_says_nothing_twice() -> None:
    plan = choose_method(Data.from_arrays([[0, 0], [1, 1]]))
    typed = ["report", "a.csv", "--method=exact-dags", "--checkpoint=a.ckpt", "--open"]
    found = "bnlab report a.csv --method=exact-dags --seed 7 --max-parents 1"
    assert report.command(typed, 7, plan) == found
    assert report.command(found.split()[1:], 7, plan) == found


KILLED = """
import sys
sys.path.insert(0, sys.argv[1])
import test_cli
from bnlab import checkpoints

for module, settings in test_cli.QUICK.items():
    vars(sys.modules[f"bnlab.reports.{module}"]).update(settings)
checkpoints.EVERY_SECONDS, checkpoints.SAVING_SHARE = 0.0, 1e9
test_cli.main(sys.argv[2:])
"""


@pytest.mark.parametrize("method", ["orders", pytest.param("search", marks=pytest.mark.slow)])
def test_a_killed_report_goes_on_to_the_same_page(
    method: str, here: Path, quick: None, capsys: pytest.CaptureFixture[str]
) -> None:
    """The seed is in no option: the killed command drew it, and the next one takes it over."""
    write_table(here / "wide.csv", m=100, n=24)
    options = ["--method", method, "--max-parents", "1", "--seconds", "8", "--checkpoint", "a.ckpt"]
    command = ["report", "wide.csv", *options]
    program = [sys.executable, "-c", KILLED, str(Path(__file__).parent), *command, "--quiet"]
    with subprocess.Popen(program, cwd=here) as run:
        while not (here / "a.ckpt").exists():
            assert run.poll() is None, "ended before it had saved anything"
            time.sleep(0.005)
        run.kill()
    assert run.returncode == -signal.SIGKILL and not (here / "wide-report.html").exists()
    assert main(command) == 0
    said = capsys.readouterr()
    assert "seed and plan are those of a.ckpt.plan" in said.err
    assert re.search(rf"{method}, (walking|climbing)", said.err), "nothing was left to do"
    page = page_of(here / "wide-report.html")
    assert main([*command_of(page), "--quiet"]) == 0  # without the checkpoint
    assert page_of(here / "wide-report.html") == page
    before = (here / "a.ckpt").read_bytes(), (here / "a.ckpt.plan").read_bytes()
    assert main([*command, "--ess", "2", "--quiet"]) == terminal.FAILED
    assert "a.ckpt.plan is the checkpoint of another run: its command is" in one_line(capsys)
    write_table(here / "wide.csv", m=99, n=24)
    assert main([*command, "--quiet"]) == terminal.FAILED
    assert "a.ckpt.plan is the checkpoint of another run: its table is" in one_line(capsys)
    assert before == ((here / "a.ckpt").read_bytes(), (here / "a.ckpt.plan").read_bytes())


def test_an_exact_method_says_that_it_keeps_nothing(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pages = []
    for _ in range(2):
        assert main(["report", "weather.csv", "--checkpoint", "a.ckpt"]) == 0
        assert "exact DAGs keeps nothing in between" in capsys.readouterr().err
        pages.append(page_of(here / "weather-report.html"))
    assert pages[0] == pages[1]  # of the same seed
    assert not (here / "a.ckpt").exists()


def test_report_writes_other_files_and_tells_what_it_does(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(report.webbrowser, "open", opened.append)
    files = ["--csv", "edges.csv", "--graphml", "edges.graphml", "--bif", "best.bif", "--open"]
    files += ["--xdsl", "best.xdsl", "--net", "best.net", "--dot", "best.dot"]
    settings = ["--seed", "3", "--ess", "2", "--max-parents", "1", "--prior", "penalty:1"]
    assert main(["report", "weather.csv", *files, *settings]) == 0
    said = capsys.readouterr()
    assert "method: exact DAGs" in said.err and "seed 3" in said.out
    with (here / "edges.csv").open(newline="") as file:
        assert next(csv.reader(file)) == ["from", "to", "probability", "low", "high"]
    assert "<graphml" in (here / "edges.graphml").read_text()
    assert re.search("^network", (here / "best.bif").read_text(), re.MULTILINE)
    assert "<smile" in (here / "best.xdsl").read_text()
    assert "potential (" in (here / "best.net").read_text()
    assert (here / "best.dot").read_text().startswith("digraph {")
    assert opened == [(here / "weather-report.html").as_uri()]


def test_report_takes_the_table_as_it_is_told(here: Path, quick: None) -> None:
    rows = ["1;2.5;x;3;9", "2;3.5;y;1;8", "2;1.5;x;2;7", "?;2.0;y;1;6"]
    (here / "no_names.txt").write_text("\n".join(rows))
    table = ["--no-header", "--delimiter", "semicolon", "--missing", "drop", "--count", "x3"]
    more = ["--drop", "x4", "--discretize", "x1=cuts:2,3", "--method", "exact-orders"]
    arguments = ["report", "no_names.txt", *table, *more, "--seed", "1", "--quiet"]
    assert main(arguments) == 0
    page = (here / "no_names-report.html").read_text(encoding="utf-8")
    assert "3 variables, 6 rows" in page
    assert shlex.join(["bnlab", *arguments[:-1]]) in page


@pytest.mark.parametrize(
    ("text", "options", "said"),
    [
        ("", [], "empty"),
        ("a,b\n1,2\n1\n", [], "line 3"),
        ("a,a\n1,2\n2,1\n", [], "a"),
        ("a,b\n1,2\n2,1\n", ["--drop", "c"], "c"),
        ("a,b\n1,2\n2,1\n", ["--count", "c"], "c"),
        ("a,b\n1,2\n2,1\n", ["--encoding", "no-such"], "--encoding no-such is unknown"),
        ("a,b\nx,y\nz,1\ny,\xdf\n", [], "line 4: byte 0xdf is not utf-8"),
        ("a,b\nx,y\nz,1\ny,\xdf\n", [], "or pass --encoding latin-1"),
        ("a,n\n1,2\n2,3\n1,4\n", [], "--count n or --no-count"),
        ("a,b\n1,2\n2,x\n3,4\n4,3\n", [], "--missing-marker TEXT, leave"),
        ("a,b\n1,2\n?,1\n", ["--missing", "error"], "missing"),
    ],
    ids=[
        *("empty", "ragged", "header", "drop", "count", "encoding", "line", "latin", "counts"),
        *("mixed", "missing"),
    ],
)
def test_bad_tables_are_exit_code_1(
    text: str,
    options: list[str],
    said: str,
    here: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (here / "bad.csv").write_text(text, encoding="latin-1")
    assert main(["report", "bad.csv", "--quiet", *options]) == terminal.FAILED
    assert said in one_line(capsys)
    assert not (here / "bad-report.html").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["no_such.csv"], "no_such.csv: No such file"),
        (["weather.csv", "-o", "no/folder/page.html"], "make the folder first"),
        (["weather.csv", "-o", "."], "name a file"),
        (["weather.csv", "-o", "weather.csv"], "weather.csv is a file to be read"),
        (["weather.csv", "--csv", "no/folder/edges.csv"], "make the folder first"),
        (["weather.csv", "--checkpoint", "no/folder/a.ckpt"], "make the folder first"),
        (["weather.csv", "-o", "a", "--csv", "./a"], "a and a are one place"),
        (["weather.csv", "-o", "a", "--checkpoint", "a"], "are one place"),
        (["weather.csv", "--bif", "a.plan", "--checkpoint", "a"], "are one place"),
        (["weather.csv", "--graphml", "weather-report.html"], "are one place"),
        (["weather.csv", "--dot", "weather-report.html"], "are one place"),
        (["."], "."),
    ],
    ids=[
        *("no file", "no folder", "a folder", "the table", "csv", "kept", "two", "page and chains"),
        *("plan", "page and network", "page and dot", "folder as table"),
    ],
)
def test_places_are_checked_before_the_work(
    arguments: list[str], said: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(here.iterdir())
    assert main(["report", *arguments, "--quiet"]) == terminal.FAILED
    assert said in one_line(capsys)
    assert sorted(here.iterdir()) == before


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_full_disk_is_one_line(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "page.html").symlink_to("/dev/full")
    assert main(["report", "weather.csv", "-o", "page.html", "--quiet"]) == terminal.FAILED
    assert "page.html: No space left on device; make room there, or" in one_line(capsys)
    assert (here / "page.html").is_symlink() and Path("/dev/full").is_char_device()


@pytest.mark.skipif(not Path("/dev/stdout").exists(), reason="there is no /dev/stdout")
def test_a_page_on_stdout_is_the_page_alone(here: Path) -> None:
    done = bnlab("report", "weather.csv", "-o", "/dev/stdout", "--quiet", folder=here)
    assert done.returncode == 0 and done.stderr.startswith("/dev/stdout: seed ")
    assert done.stdout.startswith("<!DOCTYPE html>") and done.stdout.rstrip().endswith("</html>")


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere"
)
def test_a_place_that_may_not_be_written(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "locked").mkdir(mode=0o500)
    assert main(["report", "weather.csv", "-o", "locked/page.html", "--quiet"]) == terminal.FAILED
    assert "Permission denied" in one_line(capsys)


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="no SIGINT for one process")
def test_ctrl_c_writes_what_is_at_hand(here: Path) -> None:
    write_table(here / "wide.csv", m=100, n=24)
    command = [sys.executable, "-m", "bnlab", "report", "wide.csv", "-o", "page.html"]
    options = ["--seed", "1", "--method", "orders", "--seconds", "8"]
    with subprocess.Popen(
        [*command, *options], cwd=here, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as run:
        assert run.stderr is not None
        for line in run.stderr:
            if re.match(r"orders, .*: [4-9]\d\d of 1,000", line):
                break
        run.send_signal(signal.SIGINT)
        out, err = run.communicate(timeout=120)
    assert "Traceback" not in err, err
    assert run.returncode == 0 and "stopped early" in out
    assert "Stopped early" in (here / "page.html").read_text(encoding="utf-8")


@pytest.mark.skipif(os.name == "nt", reason="no SIGINT for one process")
def test_ctrl_c_before_there_is_anything(here: Path) -> None:
    write_table(here / "wide.csv", m=100, n=24)
    command = [sys.executable, "-m", "bnlab", "report", "wide.csv", "--seconds", "600"]
    with subprocess.Popen(command, cwd=here, stderr=subprocess.PIPE, text=True) as run:
        assert run.stderr is not None
        for line in run.stderr:
            if "scoring families" in line:
                break
        run.send_signal(signal.SIGINT)
        _, err = run.communicate(timeout=120)
    assert run.returncode == terminal.INTERRUPTED
    assert err.splitlines()[-1] == "bnlab report: interrupted" and "Traceback" not in err
    assert not (here / "wide-report.html").exists()


ODD = "count=007, drop=() header=True levels=  max_levels='9' pass letters="
"""What a folder, a column or a cell may be called, though it looks like settings."""


@pytest.mark.parametrize(
    ("names", "rows", "settings"),
    [
        ([ODD, "b"], ["x,1", "x,2"], ["drop", "levels"]),
        ([ODD, "b"], ["0.5,1", "1.5,2", ODD[:9] + ",3"], ["missing_markers", "drop", "levels"]),
        (["a", "b"], ["x,1", "y,2", f'z,"{ODD}"', "z,4"], ["missing_markers", "drop", "levels"]),
        ([ODD, ODD], ["x,1", "y,2"], ["header"]),
        (["a", ODD], [f"x{i},{'pq'[i % 2]}" for i in range(70)], ["drop", "max_levels"]),
        ([ODD, "b"], ["x,1", "y"], ["delimiter"]),
        ([ODD, "b"], ["x,1", "x\xdf,2"], ["encoding"]),
        ([ODD, "n"], ["x,1", "y,2", "x,3"], ["count"]),
        (["a", ODD], [f'{"xyz"[i % 3]},"{i + 2},123"' for i in range(30)], ["decimal"]),
        (["a", ODD], [f"{'xyz'[i % 3]},{i + 2} kg" for i in range(30)], ["drop", "levels"]),
    ],
    ids=[
        *("constant", "mixed", "cell", "twice", "names", "ragged", "encoding", "count", "commas"),
        "units",
    ],
)
def test_texts_that_look_like_settings_stay_as_they_are(
    names: list[str],
    rows: list[str],
    settings: list[str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / ODD / f"{ODD}.csv"
    path.parent.mkdir()
    header = ",".join(f'"{name}"' for name in names)
    path.write_text("\n".join([header, *rows]) + "\n", encoding="latin-1")
    options = ["--no-drop"] if names[1] == ODD and len(rows) > 50 else []
    assert main(["report", str(path), "--quiet", *options]) == terminal.FAILED
    said = one_line(capsys)
    assert str(path) in said
    with pytest.raises(InputError) as raised:
        read_table(path, drop=() if options else None)
    parts = raised.value.args
    assert {*settings} <= {part.name for part in parts if isinstance(part, Setting)}
    for part in parts:
        text = as_option(part) if isinstance(part, Setting) else part
        assert text in said
    quoted = sum(part.count(ODD) for part in parts if isinstance(part, str))
    assert said.count(ODD) == quoted > 1


# Ctrl-C while options are read, where Python drops it, and where a compiled module takes it for an
# error of its own.
MOMENTS = {
    "options": "cli.parser = stop",
    "cleaning up": """
class Late:
    def __del__(self):
        stop()

def run(options):
    Late()
    time.sleep(60)

report.run = run
""",
    "a compiled module": """
def run(options):
    try:
        stop()
    except KeyboardInterrupt as error:
        raise SystemError("returned a result with an exception set") from error

report.run = run
""",
}
INTERRUPTED = """
import signal, time
import bnlab.__main__
from bnlab import cli
from bnlab.cli import report

def stop():
    signal.raise_signal(signal.SIGINT)

{moment}
raise SystemExit(bnlab.__main__.run())
"""


@pytest.mark.skipif(os.name == "nt", reason="no SIGINT for one process")
@pytest.mark.parametrize("moment", MOMENTS)
def test_ctrl_c_at_odd_moments_is_one_line(moment: str, here: Path) -> None:
    program = [sys.executable, "-c", INTERRUPTED.format(moment=MOMENTS[moment])]
    done = subprocess.run(
        [*program, "report", "weather.csv"], capture_output=True, text=True, timeout=50
    )
    assert done.returncode == terminal.INTERRUPTED, done.stderr
    assert re.fullmatch(r"bnlab( report)?: interrupted\n", done.stderr)


def test_ctrl_c_while_the_page_is_made_loses_nothing(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from bnlab.reports import page

    drawn = page.pictures.heat_picture

    def interrupted(analysis: Analysis) -> object:
        signal.raise_signal(signal.SIGINT)
        return drawn(analysis)

    monkeypatch.setattr(page.pictures, "heat_picture", interrupted)
    assert main(["report", "weather.csv", "--csv", "edges.csv", "--quiet"]) == 0
    assert one_line(capsys).startswith("stopping with what is at hand")
    assert (here / "weather-report.html").exists() and (here / "edges.csv").exists()


@pytest.mark.parametrize("caught", [True, False])
def test_ctrl_c_while_code_is_made_ends_with_130(caught: bool, tmp_path: Path) -> None:
    """Python takes an interrupt within `exec` for unhandled, whoever handles it."""
    code = f"""
import sys, bnlab.cli
from bnlab.__main__ import run
def main():
    try:
        exec("raise KeyboardInterrupt")
    except KeyboardInterrupt:
        if {caught}:
            return 130
        raise
bnlab.cli.main = main
sys.exit(run())
"""
    (tmp_path / "interrupted.py").write_text(code)
    command = [sys.executable, "-m", "interrupted"]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True)
    assert ran.returncode == terminal.INTERRUPTED


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="no SIGINT for one process")
def test_ctrl_c_at_any_moment(here: Path) -> None:
    """Of the start, of the analysis, and while the page is made."""
    command = [sys.executable, "-m", "bnlab", "report", "weather.csv", "-o", "page.html"]
    options = ["--method", "orders", "--seconds", "1", "--checkpoint", "a.ckpt"]
    begun = time.monotonic()
    subprocess.run([*command, *options], cwd=here, check=True, capture_output=True)
    whole, page = time.monotonic() - begun, here / "page.html"
    for share in np.linspace(0.1, 0.95, 9):
        for path in (page, here / "a.ckpt", here / "a.ckpt.plan"):
            path.unlink(missing_ok=True)
        with subprocess.Popen(
            [*command, *options], cwd=here, stderr=subprocess.PIPE, text=True
        ) as run:
            time.sleep(share * whole)
            run.send_signal(signal.SIGINT)
            _, err = run.communicate(timeout=120)
        assert run.returncode in (0, terminal.INTERRUPTED), (share, err)
        assert "Traceback" not in err and "Exception" not in err
        assert page.exists() == (run.returncode == 0)
        assert not page.exists() or page.read_text().rstrip().endswith("</html>")
        assert not list(here.glob(".*partial"))


@pytest.mark.parametrize("step", ["write_page", "write"])
def test_errors_of_what_is_written_name_options_too(
    step: str, here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*arguments: object, **options: object) -> None:
        raise InputError("header=True of ", Setting("max_parents", 9))

    module = "page" if step == "write_page" else "exports"
    monkeypatch.setattr(sys.modules[f"bnlab.reports.{module}"], step, fail)
    assert main(["report", "weather.csv", "--quiet", "--csv", "edges.csv"]) == terminal.FAILED
    assert one_line(capsys) == "bnlab report: header=True of --max-parents 9\n"


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        (Setting("drop", ()), "--no-drop"),
        (Setting("levels"), "--levels COLUMN=A,B"),
        (Setting("count", "a b"), "--count 'a b'"),
        (Setting("count", "-n"), "--count=-n"),
        (Setting("count", "a\nb"), "--count COLUMN"),
        (Setting("count", False), "--no-count"),
        (Setting("header", True), "--header"),
        (Setting("delimiter", "\t"), "--delimiter tab"),
        (Setting("decimal", ","), "--decimal ','"),
        (Setting("method", "exact DAGs"), "--method exact-dags"),
        (Setting("discretize", {"it's = x": EqualFrequency(3)}), ""),
        (Setting("discretize", {"x": CutPoints([-1.5, 3])}), "--discretize x=cuts:-1.5,3.0"),
        (Setting("recount", 1), "recount=1"),
    ],
)
def test_settings_are_options(said: Setting, meant: str) -> None:
    if meant:
        assert as_option(said) == meant
    else:
        typed = parser().parse_args(["report", "a.csv", *shlex.split(as_option(said))])
        assert options.rules(typed.discretize) == said.value


def test_public_names_in_remedies_are_options() -> None:
    for name, typed in INSTEAD.items():
        assert callable(operator.attrgetter(name)(bn)) and as_option(Public(name)) == typed
        words = typed.replace("COLUMN", "x").replace("BINS", "3").replace("X,Y", "1,2").split()
        parser().parse_args(["report", "a.csv", *words])
    assert as_option(Public("reweight_unique")) == "reweight_unique"


@pytest.mark.parametrize(
    ("rule", "words", "cells"),
    [
        ("x=width:9", ["--discretize COLUMN=frequency:BINS"], [0.5, 1.5, 900.5]),
        ("x=frequency:3", ["--discretize COLUMN=cuts:X,Y"], [0.5, 0.5, 0.5, 2.5]),
        ("x=width:2", ["COLUMN=frequency:BINS", "COLUMN=cuts:X,Y"], [-1.5e308, 0.5, 1.5e308]),
    ],
    ids=["too many widths", "ties", "too wide"],
)
def test_a_remedy_for_cut_points_is_an_option(
    rule: str, words: list[str], cells: list[float], here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [f"{cell},{'ab'[i % 2]}" for i, cell in enumerate(cells * 10)]
    (here / "cut.csv").write_text("\n".join(["x,y", *rows]) + "\n", encoding="utf-8")
    assert main(["report", "cut.csv", "--quiet", "--discretize", rule]) == terminal.FAILED
    said = one_line(capsys)
    assert all(word in said for word in words) and "Equal" not in said and "CutPoints" not in said


def test_notes_name_options(here: Path, quick: None, capsys: pytest.CaptureFixture[str]) -> None:
    answers = ["yes", "no", "unknown", "no", "NA", "yes"] * 10
    rows = [f"{answer},{7 if i else -1},{i // 9}" for i, answer in enumerate(answers)]
    rows = [f"{row},{i % 7 / 8}" for i, row in enumerate(rows)]
    text = "\n".join(["answer,weight,years,mm", *rows]) + "\n"
    (here / "noted.csv").write_text(text, encoding="utf-8")
    reading = read_table("noted.csv", discretize={"mm": EqualWidth(4)})
    python = {"missing_markers=", "levels=", "drop="}
    said = " ".join(reading.notes)
    assert all(name in said for name in python)
    typed = ["report", "noted.csv", "--seed", "1", "--discretize", "mm=width:4"]
    assert main(typed) == terminal.DONE
    page = (here / "noted-report.html").read_text(encoding="utf-8")
    page = page[page.index('<section id="read"') : page.index('<section id="again"')]
    for shown in (capsys.readouterr().err, page):
        assert not any(f" {name}" in shown for name in python)
        for option in ("--missing-marker TEXT", "--levels COLUMN=A,B", "--drop COLUMN"):
            assert option in shown


def test_the_cost_of_an_edge_is_refused_in_own_words(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["report", "weather.csv", "--prior", "penalty:-1e300"])
    said = capsys.readouterr().err.splitlines()[-1]
    assert "--prior: 'penalty:-1e300': NATS are -1e8 to 1e8" in said and "nats=" not in said


def test_every_setting_is_an_option(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["report", "--help"])
    shown = capsys.readouterr().out
    typed = [options.typed(name) for name in (*MODEL, *KNOWN, *TABLE)]
    assert [option for option in typed if f"--{option} " not in shown] == []


def fed(path: Path, content: bytes) -> Thread:
    """A pipe at `path`, and who writes to it, once."""
    if not path.exists():
        os.mkfifo(path)
    writer = Thread(target=path.write_bytes, args=(content,), daemon=True)
    writer.start()
    return writer


@contextmanager
def on_stdin(content: bytes) -> Iterator[None]:
    """What this process finds on its standard input, which is a pipe."""
    (reading, writing), before = os.pipe(), os.dup(0)
    os.dup2(reading, 0)
    os.close(reading)

    def write() -> None:
        with open(writing, "wb") as pipe:
            pipe.write(content)

    writer = Thread(target=write, daemon=True)
    writer.start()
    try:
        yield
    finally:
        os.dup2(before, 0)
        os.close(before)
        writer.join()


@pytest.mark.skipif(os.name == "nt", reason="no pipes with names")
@pytest.mark.slow
@pytest.mark.parametrize("packed", [False, True], ids=["text", "gzip"])
def test_report_of_standard_input(packed: bool, here: Path) -> None:
    rows = (here / "weather.csv").read_bytes() * 20  # more than a reader ahead would take
    raw = gzip.compress(rows) if packed else rows
    command = [sys.executable, "-m", "bnlab", "report", "-", "--seed", "1", "--no-header"]
    done = subprocess.run(command, cwd=here, input=raw, capture_output=True)
    assert done.returncode == 0, done.stderr
    page = page_of(here / "table-report.html")
    assert "The table: which variables" in page and "Source: /dev/stdin, a pipe or" in page
    assert "bn.read_csv(path, " in page and "Given the same table again, this command" in page
    (here / "table-report.html").unlink()
    with on_stdin(raw):
        assert main([*command_of(page), "--quiet"]) == 0
    assert page_of(here / "table-report.html") == page
    (here / "table.csv").write_bytes(rows)
    assert main(["report", "table.csv", "--seed", "1", "--no-header", "--quiet"]) == 0
    results = re.compile(r'<section id="edges".*?</section>', re.DOTALL)
    assert results.search(page_of(here / "table-report.html"))[0] == results.search(page)[0]


@pytest.mark.skipif(os.name == "nt", reason="no pipes with names")
def test_a_report_of_a_pipe_goes_on_with_the_same_table_only(
    here: Path, quick: None, capsys: pytest.CaptureFixture[str]
) -> None:
    write_table(here / "wide.csv", m=100, n=12)
    raw = (here / "wide.csv").read_bytes()
    command = ["report", "pipe", "--method", "orders", "--seconds", "2", "--checkpoint", "a.ckpt"]
    pages = []
    for _ in range(2):
        writer = fed(here / "pipe", raw)
        assert main(command) == 0
        writer.join()
        pages.append(page_of(here / "table-report.html"))
    assert "seed and plan are those of a.ckpt.plan" in capsys.readouterr().err
    assert pages[0] == pages[1]
    fed(here / "pipe", raw[: raw.rindex(b"\n", 0, -1) + 1])
    assert main([*command, "--quiet"]) == terminal.FAILED
    assert "a.ckpt.plan is the checkpoint of another run: its table is" in one_line(capsys)


# bnlab reproduce


@pytest.mark.parametrize("paper", reproduce.PAPERS)
def test_parts_of_papers_have_names_for_files(paper: str) -> None:
    parts = reproduce.parts_of(reproduce.PAPERS[paper][0])
    names = [part.name for part in parts]
    assert len(set(names)) == len(names) > 10
    for part in parts:
        assert re.fullmatch(r"[a-z0-9_]+", part.name)
        assert part.title and part.about.endswith("."), part.name


def test_a_table_of_a_paper_is_that_of_its_notebook(here: Path) -> None:
    assert main(["reproduce", "b", "-o", "out", "--only", "table_6_5", "--quiet"]) == 0
    with (here / "out" / "table_6_5.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["n"] == "2560"]
    assert [int(row["ours"]) for row in rows] == study.first_ranks(study.saved(), 2560).tolist()
    published = world.TABLE_6_5[world.SIZES.index(2560)]
    assert [int(row["print"]) for row in rows] == published.tolist()
    page = (here / "out" / "beal2003.html").read_text(encoding="utf-8")
    assert "Table 6.5" in page and "bnlab reproduce b -o out --only table_6_5" in page


def test_papers_come_out_without_widgets(here: Path) -> None:
    code = """
import importlib, sys
sys.modules.update(dict.fromkeys(("ipywidgets", "IPython", "jupyter_bokeh")))
from bnlab.cli import main, reproduce
for package, _ in reproduce.PAPERS.values():
    importlib.import_module(f"bnlab.papers.{package}.page")
sys.exit(main(["reproduce", "HTW", "--only", "table_1", "--quiet"]))
"""
    found = subprocess.run([sys.executable, "-c", code], cwd=here, capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    with (here / "bnlab-HTW" / "table_1.csv").open(newline="") as file:
        assert len(list(csv.reader(file))) == 1 + len(TABLE_1)


def a_paper(*makes: Callable[[], object]) -> Callable[[str], tuple[Part, ...]]:
    parts = tuple(Part(f"part_{i}", f"Part {i}", make, "So.") for i, make in enumerate(makes))
    return lambda package: parts


def a_table() -> Table:
    return Table(("name", "value"), (("a,b", 1234.5), ("<c>", 1.5e-11)))


def no_file() -> Table:
    raise FileNotFoundError("zoo.data is not here: put it into DIR")


def interrupted() -> Table:
    raise KeyboardInterrupt


def test_parts_become_files(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    picture = figure(title="A picture")
    monkeypatch.setattr(reproduce, "parts_of", a_paper(a_table, lambda: picture, no_file))
    assert main(["reproduce", "B"]) == 0
    said = capsys.readouterr()
    assert "part_2" in said.err and "3 parts, 1 tables" in said.out
    with (here / "bnlab-B" / "part_0.csv").open(newline="") as file:
        assert list(csv.reader(file)) == [["name", "value"], ["a,b", "1234.5"], ["<c>", "1.5e-11"]]
    page = (here / "bnlab-B" / "beal2003.html").read_text(encoding="utf-8")
    for text in ("&lt;c&gt;", "1,234.50", "1.5e-11", "A picture", "Left out: zoo.data"):
        assert text in page, text
    assert "http://" not in page.partition("<main")[2].partition("</main>")[0]


def test_an_interrupted_paper_keeps_its_tables(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(reproduce, "parts_of", a_paper(a_table, interrupted))
    assert main(["reproduce", "B", "--quiet"]) == terminal.INTERRUPTED
    assert "stopped" in capsys.readouterr().out
    assert (here / "bnlab-B" / "part_0.csv").exists()
    assert "Stopped before the end" in (here / "bnlab-B" / "beal2003.html").read_text()


def test_a_paper_interrupted_at_once_writes_no_page(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(reproduce, "parts_of", a_paper(interrupted))
    assert main(["reproduce", "B", "--quiet"]) == terminal.INTERRUPTED
    assert one_line(capsys) == "bnlab reproduce: interrupted\n"
    assert not list((here / "bnlab-B").iterdir())


def test_no_part_of_that_name(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "B", "--only", "table_9"]) == terminal.FAILED
    assert "no such part" in one_line(capsys)
    assert not (here / "bnlab-B").exists()


def test_pages_of_papers_are_the_same_bytes(tmp_path: Path) -> None:
    part = Part("a", "A", a_table, "So.")
    made = {part: reproduce.make(part)}
    pages = []
    for name in ("one.html", "two.html"):
        path = tmp_path / name
        reproduce.write_paper(path, made, title="T & T", command="bnlab", stopped=False)
        pages.append(path.read_bytes())
    assert pages[0] == pages[1]


@pytest.mark.slow
def test_a_paper_comes_out(here: Path) -> None:
    assert main(["reproduce", "B", "-o", "out"]) == terminal.DONE
    assert (here / "out" / "beal2003.html").stat().st_size > 1e6
