"""bnlab beside five packages that pip installs, on the same inputs, in one run.

    uv run --extra test python benchmarks/page.py            # a quarter of an hour, idle machine
    uv run --extra test python benchmarks/page.py --quick    # tiny inputs, bnlab alone: a minute

Writes `benchmarks/page.json`, from which the site draws its page; with --quick only where --output
says. Each package gets an environment of its own, made by uv in a folder that is removed. Each task
runs in one process for each package, all on the same processor, round by round: the first round is
told apart, the others give median and range, each the mean of as many runs as fill 0.2 s. A package
that takes more than --limit seconds of the processor for one is stopped. Answers are compared after
the first round.
"""

import argparse
import json
import os
import platform
import select
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from peers import gaussian_bic
from timing import sample_table

import bnlab as bn

HERE = Path(__file__).parent
# What pip is asked for, beside the package.
PEERS: dict[str, list[str]] = {
    "sumu": [],  # its sampler Gadget fails in a step that Cython 3 reads differently
    "pgmpy": [],
    "pybnesian": ["pandas"],
    "pyagrum": ["pandas"],
    "causal-learn": [],
}
ROUNDS = 7  # at most, beside the first
TICK = 0.004  # seconds; the clock of the processor may move by so much at a time
LEAST = 50 * TICK  # seconds of a round

Inputs = Mapping[str, np.ndarray]
Compare = Callable[[Inputs, np.ndarray, np.ndarray], dict[str, object]]


@dataclass(frozen=True)
class Task:
    """What is done with which inputs, by which packages, and how answers are compared."""

    name: str
    does: str
    title: str
    inputs: Callable[[], Inputs]
    packages: tuple[str, ...]
    compare: Compare


def relabelled(values: np.ndarray) -> np.ndarray:
    """Columns that vary, as codes that all occur, for packages that count levels in the table."""
    return np.column_stack([np.unique(x, return_inverse=True)[1] for x in values.T if np.ptp(x)])


def same_scores(inputs: Inputs, ours: np.ndarray, theirs: np.ndarray) -> dict[str, object]:
    """Whether scores agree to 1e-9 of their size, and by how much they differ at most."""
    worst = float(np.max(np.abs(ours - theirs)))
    return {"agrees": bool(np.allclose(ours, theirs, rtol=1e-9, atol=1e-9)), "difference": worst}


def reached(score: bn.scores.Score) -> Compare:
    """The score by bnlab of the DAG that was found, or of one of a class: larger is better."""

    def compare(inputs: Inputs, ours: np.ndarray, theirs: np.ndarray) -> dict[str, object]:
        data = bn.Data.from_arrays(inputs["values"])
        if theirs.ndim == 2:  # arrows and lines of a class
            theirs = bn.graphs.consistent_extension(theirs > 0)
        scores = bn.LazyScores(data, score, max(1, int(np.bitwise_count(theirs).max())))
        return {"log_target": round(float(scores.log_target(theirs)), 4)}

    return compare


def same_tree(inputs: Inputs, ours: np.ndarray, theirs: np.ndarray) -> dict[str, object]:
    """Whether the trees are equally likely."""
    scores = bn.LazyScores(bn.Data.from_arrays(inputs["values"]), bn.LogLikelihood(), 1)
    return same_scores(inputs, scores.log_target(ours), scores.log_target(theirs))


def same_optimum(inputs: Inputs, ours: np.ndarray, theirs: np.ndarray) -> dict[str, object]:
    """Whether DAGs have the same linear-Gaussian BIC."""
    table = bn.ScoreTable(*gaussian_bic(inputs["values"], int(inputs["k"])))
    return same_scores(inputs, table.log_target(ours), table.log_target(theirs))


def edge_error(inputs: Inputs, ours: np.ndarray, theirs: np.ndarray) -> dict[str, object]:
    """The largest error of an edge's frequency among DAGs, against the exact posterior."""
    scores, k = inputs["log_phi"], int(inputs["k"])
    names = tuple(f"x{v}" for v in range(len(scores)))
    table = bn.ScoreTable(inputs["parents"], scores, np.zeros_like(scores), names, k)
    found = bn.graphs.to_adjacency(theirs).mean(axis=0)
    return {"error": round(float(np.abs(found - bn.dag_posterior(table).edges).max()), 4)}


def nothing(inputs: Inputs, ours: np.ndarray, theirs: np.ndarray) -> dict[str, object]:
    return {}


def tasks(quick: bool) -> list[Task]:
    """All tasks, or the same ones with tiny inputs."""

    def random_table(n: int, m: int) -> np.ndarray:
        return relabelled(sample_table(6 if quick else n, 50 if quick else m).values)

    def alarm(m: int) -> np.ndarray:
        if quick:
            return random_table(6, 50)
        try:
            net = bn.load_network("alarm")
        except OSError as error:
            raise SystemExit(f"{error}\nthe network alarm is needed: go online once") from error
        return relabelled(net.sample(m, np.random.default_rng(0)).values)

    def measured(n: int, m: int) -> np.ndarray:
        """Standardised rows of a random linear-Gaussian network."""
        rng, n = np.random.default_rng(0), 6 if quick else n
        dag = bn.graphs.from_adjacency(np.triu(rng.random((n, n)) < 0.2, 1))
        values = bn.GaussianNet.random_coefficients(dag, rng).sample(m, rng).measurements
        return (values - values.mean(axis=0)) / values.std(axis=0)

    def with_table(n: int, m: int) -> Inputs:
        data = bn.Data.from_arrays(random_table(n, m))
        table = bn.score_families(data, bn.BDeu())
        parts = {"parents": table.parents, "log_phi": table.log_phi, "k": np.array(3)}
        return {"values": data.values, **parts}

    def some_dags(n: int, m: int) -> Inputs:
        values, rng = random_table(n, m), np.random.default_rng(1)
        n = values.shape[1]
        table = bn.score_families(
            bn.Data.from_arrays(values[:50], arities=values.max(axis=0) + 1), bn.BDeu()
        )
        dags = bn.sample_dags(bn.order_posterior(table), draws=20, rng=rng).values.reshape(-1, n)
        return {"values": values, "dags": dags}

    def plain(values: np.ndarray, k: int = 3) -> Inputs:
        return {"values": values, "k": np.array(k)}

    every, bdeu, bic = ("sumu", "pybnesian", "pyagrum", "pgmpy"), bn.BDeu(), bn.BIC()
    climbers, learn, k3 = every[1:], ("causal-learn",), "up to 3 parents"
    listed: list[tuple[str, str, str, Callable[[], Inputs], tuple[str, ...], Compare]] = [
        ("table-20", "bdeu", f"BDeu scores of all families: 20 variables, 1,000 rows, {k3}",
         lambda: plain(random_table(20, 1000)), every, same_scores),
        ("table-37", "bdeu", f"BDeu scores of all families: alarm, what varies in 100 rows, {k3}",
         lambda: plain(alarm(100)), every, same_scores),
        ("bge", "bge", f"BGe scores of all families: 20 columns of 300 measurements, {k3}",
         lambda: plain(measured(20, 300)), ("sumu", "pybnesian"), same_scores),
        ("dags", "dags", "BDeu scores of 20 single DAGs, one by one: 20 variables, 1,000 rows",
         lambda: some_dags(20, 1000), every + learn, same_scores),
        ("climb-bdeu", "climb-bdeu", "Hill climbing by BDeu: alarm, 1,000 rows, up to 4 parents",
         lambda: plain(alarm(1000), 4), climbers, reached(bdeu)),
        ("climb-bic", "climb-bic", "Hill climbing by BIC: alarm, 1,000 rows, up to 4 parents",
         lambda: plain(alarm(1000), 4), climbers, reached(bic)),
        ("ges", "ges", f"Greedy equivalence search by BDeu: 10 variables, 500 rows, {k3}",
         lambda: plain(random_table(10, 500)), learn, reached(bdeu)),
        ("tree", "tree", "Chow-Liu tree: alarm, 1,000 rows",
         lambda: plain(alarm(1000)), ("pgmpy",), same_tree),
        ("best", "best", f"Best DAG by linear-Gaussian BIC: 12 columns, 300 rows, {k3}",
         lambda: plain(measured(12, 300)), learn, same_optimum),
        ("edges-12", "edges", f"Edges over all DAGs, scores given: 12 variables, {k3}",
         lambda: with_table(12, 1000), ("sumu",), same_scores),
        ("edges-16", "edges", f"Edges over all DAGs, scores given: 16 variables, {k3}",
         lambda: with_table(16, 1000), ("sumu",), same_scores),
        ("draws", "draws", f"1,000 DAGs of an exact posterior, scores given: 12 variables, {k3}",
         lambda: with_table(12, 200), (), edge_error),
        ("orders-20", "orders", f"Edges over orders, with scores: 20 variables, 1,000 rows, {k3}",
         lambda: plain(random_table(20, 1000)), (), nothing),
        ("orders-22", "orders", f"Edges over orders, with scores: 22 variables, 1,000 rows, {k3}",
         lambda: plain(random_table(22, 1000)), (), nothing),
        ("many", "many", f"20,000 DAGs by way of orders, scores given: 20 variables, {k3}",
         lambda: with_table(20, 1000), (), nothing),
    ]  # fmt: skip
    return [Task(*entry) for entry in listed]


class Worker:
    """One package at one task, in a process that answers line by line."""

    def __init__(
        self,
        python: str,
        package: str,
        does: str,
        folder: Path,
        limit: float,
        settings: Mapping[str, str] = {},
    ) -> None:
        """Start it on `folder / "inputs.npz"`."""
        self.answer, self.limit = folder / f"{package}.npy", limit
        self.patience = max(600.0, 20 * limit)  # on a busy machine
        self.errors = (folder / f"{package}.log").open("w+")
        command = [python, str(HERE / "peers.py"), package, does]
        threads = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "MKL", "OPENBLAS", "NUMBA")}
        self.process = subprocess.Popen(
            [*command, str(folder / "inputs.npz"), str(self.answer), str(limit)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            text=True,
            env=os.environ | threads | settings,
        )
        self.started = self.reply()

    def reply(self) -> dict[str, object]:
        """What it says next; if it ended, {"stopped": limit} or why it failed."""
        assert self.process.stdout is not None
        ready, _, _ = select.select([self.process.stdout], [], [], self.patience)
        line = self.process.stdout.readline() if ready else ""
        if line:
            return json.loads(line)
        self.end()
        if not ready or self.process.returncode == -signal.SIGPROF:
            return {"stopped": self.limit}
        self.errors.seek(0)
        last = self.errors.read().strip().splitlines()[-1:] or [f"ended: {self.process.returncode}"]
        return {"failed": last[0][:200]}

    def once(self, least: float = 0.0) -> dict[str, object]:
        """Let it do the task, and again until `least` seconds are over; the mean time of one."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{least}\n")
        self.process.stdin.flush()
        return self.reply()

    def end(self) -> None:
        """End it."""
        self.process.kill()
        self.process.communicate()


def run(task: Task, pythons: Mapping[str, str], limit: float, rounds: int) -> dict[str, object]:
    """Do a task by all its packages that there are, in turn."""
    inputs = task.inputs()
    rows: dict[str, dict[str, object]] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        np.savez(folder / "inputs.npz", **inputs)
        workers: dict[str, Worker] = {}
        for package in ("bnlab", *task.packages):
            if package in pythons:
                worker = Worker(pythons[package], package, task.does, folder, limit)
                rows[package] = {"package": package, **worker.started}
                if "imported" in worker.started:
                    workers[package] = worker
        times: dict[str, list[float]] = {package: [] for package in workers}
        peaks: dict[str, int] = {}
        ours = None
        for package, worker in list(workers.items()):
            first = worker.once()
            row = rows[package]
            if "seconds" not in first:
                del workers[package]
                row |= first
                continue
            row["first"], peaks[package] = max(first["seconds"], TICK), first["peak"]
            found = np.load(worker.answer)
            ours = found if package == "bnlab" else ours
            if ours is not None:
                row |= task.compare(inputs, ours, found)
        for _ in range(rounds):
            for package, worker in list(workers.items()):
                known = times[package][-1:] or [rows[package]["first"] / 2]
                if sum(times[package]) + known[0] > limit / 4:
                    continue
                reply = worker.once(LEAST)
                if "seconds" not in reply:
                    del workers[package]
                    rows[package] |= reply
                    continue
                times[package].append(reply["seconds"])
                peaks[package] = max(peaks[package], reply["peak"])
        for package, worker in workers.items():
            worker.end()
            told = times[package] or [rows[package]["first"]]
            rows[package] |= {
                "median": statistics.median(told),
                "low": min(told),
                "high": max(told),
                "runs": len(times[package]),
                "peak_mb": round(peaks[package] / 1e6, 1),
            }
    median = rows["bnlab"].get("median")
    for row in rows.values():
        if median and "median" in row:
            row["ratio"] = row["median"] / median
    return {"name": task.name, "title": task.title, "rows": list(rows.values())}


def environments(folder: Path, asked: list[str]) -> tuple[dict[str, str], dict[str, str]]:
    """Pythons of packages, each in an environment of its own, and why others are missing."""
    pythons, missing = {"bnlab": sys.executable}, {}
    for package in asked:
        place = folder / package
        python = place / ("Scripts" if os.name == "nt" else "bin") / "python"
        try:
            made = ["uv", "venv", "--quiet", "--python", sys.executable, str(place)]
            subprocess.run(made, check=True, capture_output=True, text=True)
            install = ["uv", "pip", "install", "--quiet", "--python", str(python), package]
            subprocess.run([*install, *PEERS[package]], check=True, capture_output=True, text=True)
        except (OSError, subprocess.CalledProcessError) as error:
            told = (getattr(error, "stderr", None) or str(error)).strip().splitlines()
            missing[package] = told[0][:200]
            print(f"{package} is left out: {missing[package]}", flush=True)
        else:
            pythons[package] = str(python)
    return pythons, missing


def first_compilation(limit: float) -> float | None:
    """Processor seconds of the first scores after an installation, nothing compiled yet."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        np.savez(folder / "inputs.npz", values=np.array([[0, 0], [1, 1]]))
        fresh = {"NUMBA_CACHE_DIR": str(folder / "compiled")}
        worker = Worker(sys.executable, "bnlab", "bdeu", folder, 5 * limit, fresh)
        reply = worker.once() if "imported" in worker.started else worker.started
        worker.end()
        return reply.get("seconds")


def commit() -> str:
    """The commit of this clone, with a plus if files that a run uses differ from it."""
    git = ["git", "-C", str(HERE)]
    head = subprocess.run([*git, "rev-parse", "HEAD"], capture_output=True, text=True)
    used = [str(HERE), str(HERE.parent / "bnlab")]
    changed = subprocess.run([*git, "diff", "--quiet", "HEAD", "--", *used]).returncode
    return head.stdout.strip() + "+" * bool(changed)


def processor() -> str:
    """What the operating system calls it."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = [line.partition(": ")[2] for line in lines if line.startswith("model name")]
    return f"{names[0] if names else platform.processor()}, {os.cpu_count()} processors"


def rounded(value: object) -> object:
    """Floats to five digits, all the way down."""
    if isinstance(value, dict):
        return {key: rounded(x) for key, x in value.items()}
    if isinstance(value, list):
        return [rounded(x) for x in value]
    return float(f"{value:.5g}") if isinstance(value, float) and abs(value) < 1000 else value


def packages(made: list[dict]) -> dict[str, dict[str, object]]:
    """Package -> versions, and the median time of its import."""
    found: dict[str, list[dict]] = {}
    for row in (row for task in made for row in task["rows"] if "imported" in row):
        found.setdefault(row["package"], []).append(row)
    return {
        name: {
            "version": rows[0]["version"],
            "numpy": rows[0]["numpy"],
            "import": statistics.median(row["imported"] for row in rows),
        }
        for name, rows in found.items()
    }


def slim(made: list[dict]) -> list[dict]:
    """Tasks without what `packages` tells."""
    told = {"version", "numpy", "imported"}
    return [
        task | {"rows": [{k: x for k, x in row.items() if k not in told} for row in task["rows"]]}
        for task in made
    ]


def main() -> None:
    """Run what is asked for, and store it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="tiny inputs, bnlab alone")
    parser.add_argument("--packages", nargs="*", choices=PEERS, help="peers; all by default")
    parser.add_argument("--tasks", nargs="*", help="names of tasks; all by default")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds for one task")
    parser.add_argument("--output", type=Path, help="the file to write")
    options = parser.parse_args()
    asked = options.packages
    if asked is None:
        asked = [] if options.quick else list(PEERS)
    left_out = [package for package in PEERS if package not in asked]
    if left_out:
        print(f"peers that are left out: {', '.join(left_out)}", flush=True)
    output = options.output or (None if options.quick else HERE / "page.json")
    begun, made = time.monotonic(), []
    page = {
        "date": datetime.now(UTC).date().isoformat(),
        "commit": commit(),
        "processor": processor(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "quick": options.quick,
        "limit": options.limit,
        "compilation": None if options.quick else first_compilation(options.limit),
        "tasks": made,
    }
    with tempfile.TemporaryDirectory() as name:
        pythons, missing = environments(Path(name), asked)
        for task in tasks(options.quick):
            if options.tasks is None or task.name in options.tasks:
                rounds = 1 if options.quick else ROUNDS
                made.append(run(task, pythons, options.limit, rounds))
                print(f"{task.title}, after {time.monotonic() - begun:.0f} s", flush=True)
                for row in made[-1]["rows"]:
                    shown = {key: x for key, x in row.items() if key not in ("version", "numpy")}
                    print("   ", rounded(shown), flush=True)
                page |= {"minutes": (time.monotonic() - begun) / 60, "missing": missing}
                if output is not None:  # after each task, so that a run may be ended
                    stored = rounded(page | {"packages": packages(made), "tasks": slim(made)})
                    output.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
