"""The command line: what it writes, its exit codes, and errors in one line."""

import csv
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from bokeh.plotting import figure

from bnlab import Data, memory
from bnlab.cli import again, errors, labs, main, paper_page, progress, report, reproduce
from bnlab.cli.remedies import NAMES, in_options
from bnlab.labs.papers import beal2003
from bnlab.labs.papers.contents import Part, Table
from bnlab.reports import choose_method

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


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
        ["report", "weather.csv", "--score", "bge"],
        ["report", "weather.csv", "--method", "magic"],
        ["report", "weather.csv", "--missing", "guess"],
        ["report", "weather.csv", "--delimiter", ";;"],
        ["report", "weather.csv", "--discretize", "3"],
        ["report", "weather.csv", "--discretize", "width:2.5"],
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
    assert main(["report", "weather.csv", "--quiet", *options]) == errors.USAGE
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
        (errors.Failure("make the folder first"), 1, "make the folder first"),
        (errors.Misuse("one or the other"), 2, "one or the other"),
        (ZeroDivisionError("division by zero"), 1, "ZeroDivisionError"),
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
    assert main(["report", "x.csv"]) == errors.FAILED
    assert "before the first draw" in one_line(capsys)


def test_progress_is_told_in_tenths(capsys: pytest.CaptureFixture[str]) -> None:
    with progress.shown("chains") as tell:
        for done in range(101):
            assert tell(done, 100, "drawing")
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 11 and lines[-1] == "chains, drawing: 100 of 100"


def test_progress_on_a_terminal_is_a_bar(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with progress.shown("chains") as tell:
        assert tell(3, 10, None)
    assert "chains" in capsys.readouterr().err


def test_the_first_ctrl_c_stops_and_the_second_leaves(capsys: pytest.CaptureFixture[str]) -> None:
    before = signal.getsignal(signal.SIGINT)
    with progress.shown("chains", quiet=True) as told, progress.stoppable(told) as tell:
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
    copied = {p.relative_to("bnlab-labs").as_posix() for p in Path("bnlab-labs").rglob("*.*")}
    shipped = {
        path.relative_to(ROOT / "notebooks").as_posix()
        for path in (ROOT / "notebooks").rglob("*.*")
        if path.suffix in (".ipynb", ".png", ".md") and ".ipynb_checkpoints" not in path.parts
    }
    assert shipped <= copied
    assert "files copied" in capsys.readouterr().out


def test_changed_labs_are_kept_and_others_brought_up_to_date(tmp_path: Path) -> None:
    source, folder = tmp_path / "source", tmp_path / "mine"
    source.mkdir()
    for name in ("a.ipynb", "b.ipynb", "c.ipynb"):
        (source / name).write_text("version 1")
    assert labs.copy_to(source, folder) == (3, [])
    (folder / "a.ipynb").write_text("my answer")
    (folder / "c.ipynb").unlink()
    for name in ("a.ipynb", "b.ipynb"):
        (source / name).write_text("version 2")
    assert labs.copy_to(source, folder) == (2, ["a.ipynb"])
    texts = [(folder / f"{name}.ipynb").read_text() for name in "abc"]
    assert texts == ["my answer", "version 2", "version 1"]
    assert labs.copy_to(source, folder) == (0, ["a.ipynb"])


def test_a_file_that_was_there_before_is_kept(tmp_path: Path) -> None:
    source, folder = tmp_path / "source", tmp_path / "mine"
    for place in (source, folder):
        place.mkdir()
        (place / "a.ipynb").write_text(place.name)
    (folder / labs.RECORD).write_text("spoilt {")
    assert labs.copy_to(source, folder) == (0, ["a.ipynb"])
    (folder / labs.RECORD).write_text("[1]")
    assert labs.copy_to(source, folder) == (0, ["a.ipynb"])
    assert (folder / "a.ipynb").read_text() == "mine"
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
    assert main(["labs", "weather.csv", "--no-open"]) == errors.FAILED
    assert "weather.csv" in one_line(capsys)


def test_the_labs_themselves_are_not_copied_onto_themselves(here: Path) -> None:
    assert main(["labs", str(labs.shipped()), "--no-open"]) == 0
    assert not (labs.shipped() / labs.RECORD).exists()


def test_jupyterlab_is_opened_with_its_options(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    class Lab:
        def __init__(self, command: list[str], cwd: Path) -> None:
            seen.append((command[1:], cwd))
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
    assert seen == [(["-m", "jupyterlab", labs.FIRST, "--port", "9999"], Path("mine"))]


@pytest.mark.parametrize(
    ("arguments", "module"),
    [
        (["labs", "mine"], "jupyterlab"),
        (["report", "weather.csv"], "bokeh"),
        (["reproduce", "B"], "ipywidgets"),
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
    find = errors.find_spec
    monkeypatch.setattr(errors, "find_spec", lambda name: None if name == module else find(name))
    assert main(arguments) == errors.FAILED
    said = one_line(capsys)
    assert module in said and 'pip install "bnlab[lab]"' in said
    assert not (here / "mine").exists()


# bnlab report


def page_of(path: Path) -> str:
    """The page without what differs from run to run: the seconds that it took."""
    text = re.sub(r"\bp\d{4}\b", "p", path.read_text(encoding="utf-8"))  # Bokeh's, counted on
    return re.sub(r"(seconds[^<]*</th><td[^>]*>)[\d.e-]+|[\d.,]+ GB that are free", r"\1", text)


def command_of(page: str) -> list[str]:
    """The arguments of the command on a page."""
    (command,) = re.findall(r"<code>(bnlab report .*?)</code>", page)
    program, *arguments = shlex.split(command.replace("&#x27;", "'"))
    assert program == "bnlab"
    return arguments


def test_report_is_the_same_bytes_and_its_command_makes_it_again(here: Path) -> None:
    first = bnlab("report", "weather.csv", "-o", "a page.html", folder=here)
    assert first.returncode == 0, first.stderr
    assert re.fullmatch(r"a page.html: \d\.\d MB, seed \d+\n", first.stdout)
    one = page_of(here / "a page.html")
    arguments = command_of(one)
    assert arguments[:4] == ["report", "weather.csv", "-o", "a page.html"]
    assert arguments[4::2] == ["--seed", "--method", "--max-parents"]
    (here / "a page.html").unlink()
    again = bnlab(*arguments, "--quiet", folder=here)
    assert (again.returncode, again.stderr) == (0, ""), again.stderr
    assert page_of(here / "a page.html") == one


QUICK = {
    "planning": {"MOST_MOVES": 60_000, "LEAST_MOVES": 10_000, "WEIGHTED": 3_000},
    "sensitivity": {"DRAWS": 500, "CHAIN_DRAWS": 50, "CHAIN_BURN_IN": 50},
}


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reports of few draws and moves."""
    for module, settings in QUICK.items():
        for name, value in settings.items():
            monkeypatch.setattr(sys.modules[f"bnlab.reports.{module}"], name, value)


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
    assert again.command(typed, 7, plan) == found
    assert again.command(found.split()[1:], 7, plan) == found


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
    assert main([*command, "--ess", "2", "--quiet"]) == errors.FAILED
    assert "a.ckpt.plan is the checkpoint of another run: its command is" in one_line(capsys)
    write_table(here / "wide.csv", m=99, n=24)
    assert main([*command, "--quiet"]) == errors.FAILED
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
    settings = ["--seed", "3", "--ess", "2", "--max-parents", "1", "--prior", "penalty:1"]
    assert main(["report", "weather.csv", *files, *settings]) == 0
    said = capsys.readouterr()
    assert "method: exact DAGs" in said.err and "seed 3" in said.out
    with (here / "edges.csv").open(newline="") as file:
        assert next(csv.reader(file)) == ["from", "to", "probability", "low", "high"]
    assert "<graphml" in (here / "edges.graphml").read_text()
    assert re.search("^network", (here / "best.bif").read_text(), re.MULTILINE)
    assert opened == [(here / "weather-report.html").as_uri()]


def test_report_takes_the_table_as_it_is_told(here: Path) -> None:
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
        ("a,b\nx,y\nz,1\ny,\xdf\n", [], "use --encoding latin-1"),
        ("a,n\n1,2\n2,3\n1,4\n", [], "--count n or --no-count"),
        ("a,b\n1,2\n2,x\n3,4\n4,3\n", [], "--missing-marker, leave"),
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
    assert main(["report", "bad.csv", "--quiet", *options]) == errors.FAILED
    assert said in one_line(capsys)
    assert not (here / "bad-report.html").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["no_such.csv"], "no_such.csv: No such file"),
        (["weather.csv", "-o", "no/folder/page.html"], "make the folder first"),
        (["weather.csv", "-o", "."], "name a file"),
        (["weather.csv", "-o", "weather.csv"], "is the table itself"),
        (["weather.csv", "--csv", "no/folder/edges.csv"], "make the folder first"),
        (["weather.csv", "--checkpoint", "no/folder/a.ckpt"], "make the folder first"),
        (["."], "."),
    ],
    ids=["no file", "no folder", "a folder", "the table", "csv", "kept", "folder as table"],
)
def test_places_are_checked_before_the_work(
    arguments: list[str], said: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(here.iterdir())
    assert main(["report", *arguments, "--quiet"]) == errors.FAILED
    assert said in one_line(capsys)
    assert sorted(here.iterdir()) == before


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere"
)
def test_a_place_that_may_not_be_written(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "locked").mkdir(mode=0o500)
    assert main(["report", "weather.csv", "-o", "locked/page.html", "--quiet"]) == errors.FAILED
    assert "Permission denied" in one_line(capsys)


@pytest.mark.skipif(os.name == "nt", reason="no SIGINT for one process")
def test_ctrl_c_writes_what_is_at_hand(here: Path) -> None:
    write_table(here / "wide.csv", m=100, n=24)
    command = [sys.executable, "-m", "bnlab", "report", "wide.csv", "-o", "page.html"]
    options = ["--seed", "1", "--method", "orders", "--seconds", "20"]
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
    assert run.returncode == errors.INTERRUPTED
    assert err.splitlines()[-1] == "bnlab report: interrupted" and "Traceback" not in err
    assert not (here / "wide-report.html").exists()


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("keep every column with drop=()", "keep every column with --no-drop"),
        ("pass levels=", "use --levels"),
        ("count='a b' or count=False", "--count 'a b' or --no-count"),
        ("missing_markers=, max_parents=2", "--missing-marker, --max-parents 2"),
        ("recount=1", "recount=1"),
    ],
)
def test_remedies_are_options(said: str, meant: str) -> None:
    assert in_options(said) == meant


def test_every_remedy_is_an_option(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["report", "--help"])
    shown = capsys.readouterr().out
    assert [option for option in NAMES.values() if f"--{option} " not in shown] == []


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
    long = beal2003.saved()
    assert [int(row["ours"]) for row in rows] == beal2003.table_6_5(long, 2560).tolist()
    printed = beal2003.TABLE_6_5[beal2003.SIZES.index(2560)]
    assert [int(row["print"]) for row in rows] == printed.tolist()
    page = (here / "out" / "beal2003.html").read_text(encoding="utf-8")
    assert "Table 6.5" in page and "bnlab reproduce b -o out --only table_6_5" in page


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
    assert main(["reproduce", "B", "--quiet"]) == errors.INTERRUPTED
    assert "stopped" in capsys.readouterr().out
    assert (here / "bnlab-B" / "part_0.csv").exists()
    assert "Stopped before the end" in (here / "bnlab-B" / "beal2003.html").read_text()


def test_a_paper_interrupted_at_once_writes_no_page(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(reproduce, "parts_of", a_paper(interrupted))
    assert main(["reproduce", "B", "--quiet"]) == errors.INTERRUPTED
    assert one_line(capsys) == "bnlab reproduce: interrupted\n"
    assert not list((here / "bnlab-B").iterdir())


def test_no_part_of_that_name(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "B", "--only", "table_9"]) == errors.FAILED
    assert "no such part" in one_line(capsys)
    assert not (here / "bnlab-B").exists()


def test_pages_of_papers_are_the_same_bytes(tmp_path: Path) -> None:
    made = [paper_page.make(Part("a", "A", a_table, "So."))]
    pages = []
    for name in ("one.html", "two.html"):
        path = tmp_path / name
        paper_page.write_paper(path, made, title="T & T", command="bnlab", stopped=False)
        pages.append(path.read_bytes())
    assert pages[0] == pages[1]


@pytest.mark.slow
@pytest.mark.parametrize("paper", reproduce.PAPERS)
def test_papers_come_out(paper: str, here: Path) -> None:
    found = bnlab("reproduce", paper, "-o", "out", folder=here)
    assert found.returncode == 0, found.stderr
    assert (here / "out" / f"{reproduce.PAPERS[paper][0]}.html").stat().st_size > 1e6
