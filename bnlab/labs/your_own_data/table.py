"""The table: chosen, read, shown, and read again when a control moves."""

import tempfile
from collections.abc import Callable, Mapping
from html import escape
from pathlib import Path
from typing import Any

import ipywidgets as widgets

from bnlab.data import Discretizer, EqualFrequency, EqualWidth
from bnlab.data.columns import Missing
from bnlab.labs.board import choice, side_by_side, size_slider, stacked
from bnlab.reports import Reading, read_table
from bnlab.reports.markup import Cell, html

AS_PROPOSED = "as proposed"
RULES: dict[str, Callable[[int], Discretizer]] = {
    "equally full levels": EqualFrequency,
    "equally wide levels": EqualWidth,
}
MISSING: dict[str, Missing | None] = {
    AS_PROPOSED: None,
    "leave the row out": "drop",
    "a level of its own": "level",
}
BINS = (2, 3, 4, 5)
MOST_LEVELS = 6  # shown

Watcher = Callable[[Reading], None]


class Table:
    """A table of data, by name or uploaded, with what was read and controls to change it.

    Parameters
    ----------
    path : of a CSV file
    options : for `read_table`, where it asks for something to be said

    Attributes
    ----------
    widget : what to display
    upload : the button that takes a file from the reader's own machine
    rule, bins : how measurements are cut
    missing : what becomes of rows with missing cells
    status : what went wrong, if something did; the reading is then that of before
    reading : the `Reading`
    code : the Python that reads the same, given `import bnlab as bn` and `read_table`
    """

    def __init__(self, path: str | Path, options: Mapping[str, Any] | None = None, /) -> None:
        self._path, self._options = Path(path), dict(options or {})
        self._watchers: list[Watcher] = []
        self.reading = read_table(self._path, **self._options)
        self.code = f"read_table({str(path)!r}{_told(self._options)})"
        self.upload = widgets.FileUpload(
            description="Another file", layout=widgets.Layout(width="160px")
        )
        self.rule = choice("measurements", [AS_PROPOSED, *RULES])
        self.bins = size_slider("levels", BINS, 3)
        self.bins.layout.width = "260px"
        self.missing = choice("missing cells", list(MISSING))
        self.status = widgets.HTML()
        self._shown = widgets.HTML()
        self.upload.observe(self._take, "value")
        for control in (self.rule, self.bins, self.missing):
            control.observe(self._change, "value")
        self.widget = stacked(
            side_by_side(self.upload, self.rule, self.bins, self.missing), self.status, self._shown
        )
        self._show()

    def watch(self, watcher: Watcher, /) -> None:
        """Call `watcher(reading)` whenever the table is read anew."""
        self._watchers.append(watcher)

    def use(self, path: str | Path, options: Mapping[str, Any] | None = None, /) -> None:
        """Read another file; if it cannot be read, `status` says why and nothing changes."""
        before = self._path, self._options
        self._path, self._options = Path(path), dict(options or {})
        if not self._read():
            self._path, self._options = before

    def _take(self, change: Any) -> None:
        for file in change["new"]:
            folder = tempfile.mkdtemp(prefix="bnlab-upload-")
            path = Path(folder, Path(file["name"]).name)
            path.write_bytes(bytes(file["content"]))
            self.use(path)

    def _change(self, change: Any) -> None:
        self.bins.disabled = self.rule.value == AS_PROPOSED
        self._read()

    def _read(self) -> bool:
        options, missing = dict(self._options), MISSING[self.missing.value]
        if self.rule.value != AS_PROPOSED:
            options["discretize"] = RULES[self.rule.value](self.bins.value)
        if missing is not None:
            options["missing"] = missing
        try:
            self.reading = read_table(self._path, **options)
        except (ValueError, OSError) as error:
            self.status.value = f'<p role="alert"><b>Not read:</b> {escape(str(error))}</p>'
            return False
        self.code = f"read_table({str(self._path)!r}{_told(options)})"
        self._show()
        for watcher in self._watchers:
            watcher(self.reading)
        return True

    def _show(self) -> None:
        self.status.value = ""
        self.bins.disabled = self.rule.value == AS_PROPOSED
        self._shown.value = reading_html(self.reading)


def _told(options: Mapping[str, Any]) -> str:
    return "".join(f", {name}={_code(value)}" for name, value in options.items())


def _code(value: Any) -> str:
    """An option as Python, with rules as names of `bn`."""
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{key!r}: {_code(own)}' for key, own in value.items())}}}"
    return f"bn.{value!r}" if hasattr(value, "cut_points") else repr(value)


def reading_html(reading: Reading, /) -> str:
    """What was read, as a table: a row for each column of the file."""
    rows: list[list[Cell]] = []
    for column in reading.columns:
        pairs = list(zip(column.levels, column.counts, strict=True))
        levels = ", ".join(f"{level} ({count:,})" for level, count in pairs[:MOST_LEVELS])
        more = f" and {len(pairs) - MOST_LEVELS} more" if len(pairs) > MOST_LEVELS else ""
        rows.append([column.name, column.role, levels + more, column.missing, column.note])
    heads = ("column", "role", "levels (rows)", "missing", "what was done")
    head = "".join(f'<th scope="col" style="{LEFT}">{escape(text)}</th>' for text in heads)
    body = "".join(
        f'<tr><th scope="row" style="{LEFT}">{html(row[0])}</th>'
        + "".join(f'<td style="{LEFT}">{html(cell)}</td>' for cell in row[1:])
        + "</tr>"
        for row in rows
    )
    summary = (
        f"{Path(reading.source).name}: {reading.data.n} variables, {reading.rows_kept:,} of "
        f"{reading.rows_read:,} rows kept."
    )
    return (
        f'<p role="status">{escape(summary)}</p><table style="border-collapse:collapse">'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )


LEFT = "text-align:left;vertical-align:top;padding:2px 12px 2px 0;line-height:1.35;max-width:26em"
