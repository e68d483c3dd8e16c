"""The figures of `benchmarks/page.json` as tables and a picture, for the page on benchmarks."""

import json
import math
from html import escape
from pathlib import Path

UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"))
LEFT, WIDTH, LINE = 130, 820, 18  # pixels


def page_of(path: Path) -> str:
    """Markdown of a stored run: circumstances, losses, a picture, a table for each task."""
    page = json.loads(path.read_text(encoding="utf-8"))
    parts = [head(page), "## What bnlab loses", losses(page), "## Times, as multiples of bnlab's"]
    parts += [f"```{{raw}} html\n{picture(page)}\n```", "## Figures"]
    for task in page["tasks"]:
        parts += [f"### {task['title']}", table(task)]
    return "\n\n".join(parts)


def head(page: dict) -> str:
    """The circumstances of the run, and the packages with their versions."""
    commit = page["commit"].rstrip("+")
    link = f"[{commit[:9]}](https://github.com/bnlab/bnlab/tree/{commit})"
    lines = [
        f"Made on {page['date']} in {page['minutes']:.0f} minutes at commit {link}"
        f"{' and files changed since' * page['commit'].endswith('+')}, on {page['processor']}, "
        f"{page['system']}, Python {page['python']}. A package was stopped after "
        f"{page['limit']:.0f} s of the processor for one task.",
        "",
        "| package | version | with NumPy | import |",
        "|---|---|---|---|",
    ]
    for name, about in page["packages"].items():
        imported = spoken(about["import"])
        lines.append(f"| {name} | {about['version']} | {about['numpy']} | {imported} |")
    lines += [f"| {name} | not installed: {why} | | |" for name, why in page["missing"].items()]
    if page["compilation"] is not None:
        lines += ["", "The very first scores after an installation, when nothing is compiled yet, "]
        lines[-1] += f"take bnlab {spoken(page['compilation'])}."
    return "\n".join(lines)


def spoken(seconds: float) -> str:
    """A time with three digits and its unit."""
    size, unit = next((u for u in UNITS if seconds >= u[0]), UNITS[-1])
    return f"{seconds / size:.3g} {unit}"


def table(task: dict) -> str:
    """One task: a row for each package."""
    lines = [
        "| package | median | range, rounds | first time | times bnlab's | memory | answer |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in task["rows"]:
        lines.append(f"| {' | '.join((row['package'], *cells(row)))} |")
    return "\n".join(lines)


def cells(row: dict) -> tuple[str, ...]:
    """What a row says after the name of the package."""
    if "median" not in row:
        told = f"> {row['stopped']:.0f} s" if "stopped" in row else f"failed: {row['failed']}"
        return (told, *[""] * 5)
    spread = f"{spoken(row['low'])} to {spoken(row['high'])}, {row['runs']}"
    return (
        spoken(row["median"]),
        spread if row["runs"] else "the first time only",
        spoken(row["first"]),
        times(row["ratio"]) if "ratio" in row else "",
        f"{row['peak_mb']:.0f} MB",
        answer(row),
    )


def answer(row: dict) -> str:
    """How an answer compares with bnlab's, or how good it is."""
    if "log_target" in row:
        return f"ln score {row['log_target']:.2f}"
    if "error" in row:
        return f"largest error of an edge {row['error']:.3f}"
    if "agrees" not in row or row["package"] == "bnlab":
        return ""
    return "the same" if row["agrees"] else f"**differs** by up to {row['difference']:.2g}"


def losses(page: dict) -> str:
    """Every figure of the run in which another package is ahead."""
    lines = []
    for task in page["tasks"]:
        ours, *others = task["rows"]
        found = [
            f"{row['package']} ({', '.join(told)})" for row in others if (told := ahead(row, ours))
        ]
        if found:
            lines.append(f"- **{task['title']}**: {', '.join(found)}.")
    return "\n".join(lines) or "Nothing in this run."


def ahead(row: dict, ours: dict) -> list[str]:
    """What a row has better than ours."""
    if "median" not in row or "median" not in ours:
        return []
    faster, first = (ours[name] / row[name] for name in ("median", "first"))
    higher = row.get("log_target", -math.inf) - ours.get("log_target", math.inf)
    told = [f"{times(faster)} times as fast"] if faster > 1 else []
    told += [f"{times(first)} times as fast the first time"] if first > 1 else []
    if row["peak_mb"] < ours["peak_mb"]:
        told.append(f"{row['peak_mb']:.0f} MB in place of {ours['peak_mb']:.0f}")
    return told + ([f"ends {higher:.2f} higher"] if higher > 1e-6 else [])


def times(ratio: float) -> str:
    """A ratio with three digits, and no exponent."""
    return f"{ratio:.3g}" if ratio < 100 else f"{float(f'{ratio:.3g}'):,.0f}"


def picture(page: dict) -> str:
    """Bars on a logarithmic axis, left of the line for packages that are faster."""
    compared = [task for task in page["tasks"] if len(task["rows"]) > 1]
    found = [(task, row, *ratio(task, row)) for task in compared for row in task["rows"][1:]]
    drawn = [entry for entry in found if entry[2] is not None]
    logs = [math.log10(entry[2]) for entry in drawn] or [0.0]
    low, high = min(math.floor(min(logs)), -1), max(math.ceil(max(logs)), 1)

    def x(power: float) -> float:
        return LEFT + (power - low) / (high - low) * (WIDTH - LEFT - 80)

    height = LINE * (len(compared) + len(drawn) + 2)
    marks = []
    for power in range(low, high + 1):
        line = f'<line x1="{x(power):.1f}" x2="{x(power):.1f}" y1="{LINE}" y2="{height - LINE}"'
        strength = 1 if power == 0 else 0.2
        marks.append(f'{line} stroke="currentColor" opacity="{strength}"/>')
        label = f"{10.0**power:,g}"
        marks.append(
            f'<text x="{x(power):.1f}" y="{height - 4}" text-anchor="middle">{label}</text>'
        )
    y, said = LINE, ""
    for task, row, multiple, sign in drawn:
        if task["title"] != said:
            said = task["title"]
            marks.append(f'<text x="0" y="{y + 13}" font-weight="bold">{escape(said)}</text>')
            y += LINE
        start, end = sorted((x(0), x(math.log10(multiple))))
        colour = "#0072b2" if multiple >= 1 else "#d55e00"
        label = sign + times(multiple)
        marks.append(
            f'<text x="{LEFT - 8}" y="{y + 13}" text-anchor="end">{row["package"]}</text>'
            f'<rect x="{start:.1f}" y="{y + 4}" width="{max(end - start, 1):.1f}" height="10" '
            f'fill="{colour}"/><text x="{end + 4:.1f}" y="{y + 13}">{label}</text>'
        )
        y += LINE
    told = f"Times of {len(drawn)} runs by other packages as multiples of bnlab's; see the tables"
    return (
        f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{told}" font-size="12" '
        f'fill="currentColor" style="width: 100%; max-width: {WIDTH}px">{"".join(marks)}</svg>'
    )


def ratio(task: dict, row: dict) -> tuple[float | None, str]:
    """A row's time as a multiple of bnlab's, and ">" before it where it was stopped."""
    if "ratio" in row:
        return row["ratio"], ""
    ours = task["rows"][0].get("median")
    return (row["stopped"] / ours, "> ") if ours and "stopped" in row else (None, "")
