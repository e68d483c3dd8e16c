"""Tables and figures of a paper, each written once: for its notebook, `bnlab reproduce` and tests.

And what papers share: long runs stored by name, random numbers, DAGs, chains, weights.

@page.table("figures_4_5", "of", "sampler", "median area", "lowest", "highest", form=".3f")
def areas() -> Rows:
    "Figures 4 and 5 as numbers. Areas under the ROC curve; median and range of ten data sets."
    yield ...
"""

import csv
import io
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

import bnlab as bn
from bnlab import graphs
from bnlab.checks import Floats, Ints
from bnlab.results import with_arrays

Cell = str | int | float
Rows = Iterator[Sequence[Any]]
Make = Callable[..., Any]
Settings = Mapping[str, Any]
Array = NDArray[Any]
Arrays = Mapping[str, Array]


@dataclass(frozen=True, slots=True)
class Table:
    """A table of plain values: text, integers, numbers."""

    header: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    form: str = ""  # of numbers on display; by default four significant digits, or two decimals
    across: str = ""  # column whose values become columns on display, for long tables
    cell: str = ""  # with `across`, what a place says: "{ours} [{print}]"; without empty brackets

    @classmethod
    def of(cls, header: Iterable[str], rows: Iterable[Iterable[Any]], **how: str) -> "Table":
        """Return a table of cells that may be numpy's."""
        return cls(tuple(header), tuple(tuple(map(_plain, row)) for row in rows), **how)

    def csv(self) -> str:
        """Return all rows as CSV; numbers have eight significant digits."""
        out = io.StringIO(newline="")
        writer = csv.writer(out)
        writer.writerow(self.header)
        writer.writerows([f"{v:.8g}" if isinstance(v, float) else v for v in r] for r in self.rows)
        return out.getvalue()

    def display(self) -> tuple[list[str], list[list[str]]]:
        """Return header and rows as they are shown, as text."""
        if not self.across:
            return list(self.header), [[self._shown(cell) for cell in row] for row in self.rows]
        place = self.header.index(self.across)
        found: dict[tuple[Cell, ...], dict[str, str]] = {}
        for row in self.rows:
            text = self.cell.format(**dict(zip(self.header, row, strict=True)))
            column, places = str(row[place]), found.setdefault(row[:place], {})
            text = re.sub(r" *\[ *\]", "", text)
            places[column] = f"{places[column]} {text}" if column in places else text
        columns = list(dict.fromkeys(str(row[place]) for row in self.rows))
        rows = [
            [*map(self._shown, key), *(places.get(column, "") for column in columns)]
            for key, places in found.items()
        ]
        return [*self.header[:place], *columns], rows

    def text(self) -> str:
        """Return lines of text: columns of text to the left, those of numbers to the right."""
        header, rows = self.display()
        widths, heads, left = [], [], []
        for place, (name, *cells) in enumerate(zip(header, *rows, strict=True)):
            width = max(max(map(len, cells)), max(map(len, name.split())))
            widths.append(width)
            heads.append(textwrap.wrap(name, width, break_long_words=False, break_on_hyphens=False))
            key = not self.across or place < self.header.index(self.across)
            left.append(key and isinstance(self.rows[0][place], str))
        height = max(map(len, heads))
        lines = zip(*([""] * (height - len(head)) + head for head in heads), strict=True)
        out = []
        for line in (*lines, *rows):
            columns = zip(line, widths, left, strict=True)
            texts = (c.ljust(w) if to_left else c.rjust(w) for c, w, to_left in columns)
            out.append("  ".join(texts).rstrip())
        return "\n".join(out)

    def _shown(self, cell: Cell) -> str:
        if isinstance(cell, float):
            decimals = ",.2f" if 100 <= abs(cell) < 1e9 else ".4g"
            return format(cell, self.form or decimals)
        return f"{cell:,}" if isinstance(cell, int) and not isinstance(cell, bool) else str(cell)


@dataclass(frozen=True, slots=True)
class Part:
    """A table or a figure of a paper, and ours beside it."""

    name: str  # for files, such as "table_6_1"
    title: str  # as it is called in the paper, and what it is about
    make: Make  # gives the Table or the Bokeh figure
    about: str  # how to read it; for a figure, what there is to see


class Page:
    """The tables and figures of a paper by name, in their order, made when they are asked for."""

    def __init__(self) -> None:
        self.parts: dict[str, Part] = {}

    def table(
        self,
        name: str,
        *header: str,
        form: str = "",
        across: str = "",
        cell: str = "",
        each: Sequence[Settings] = ({},),
    ) -> Callable[[Make], Make]:
        """Register a function that yields the rows of a table.

        The first sentence of its docstring is the title, the rest tells how to read the table.

        Parameters
        ----------
        header : names of the columns
        form, across, cell : see Table
        each : settings of the function, one table for each; name and docstring may hold them in
            braces
        """

        def tabled(make: Make, /, **settings: Any) -> Table:
            return Table.of(header, make(**settings), form=form, across=across, cell=cell)

        return self._register(name, each, lambda make: partial(tabled, make))

    def figure(self, name: str, *, each: Sequence[Settings] = ({},)) -> Callable[[Make], Make]:
        """Register a function that returns a Bokeh figure; the same as for tables."""
        return self._register(name, each, lambda make: make)

    def _register(
        self, name: str, each: Sequence[Settings], wrap: Callable[[Make], Make]
    ) -> Callable[[Make], Make]:
        def register(make: Make) -> Make:
            text = " ".join((make.__doc__ or "").split())
            for settings in each:
                called = re.sub(r"\W", "_", name.format(**settings)).lower()
                title, about = re.split(r"(?<=[.?]) ", text.format(**settings), maxsplit=1)
                made = partial(wrap(make), **settings)
                self.parts[called] = Part(called, title.removesuffix("."), made, about)
            return make

        return register

    def show(self, name: str, /, **settings: Any) -> None:
        """Print a table, or show a figure in the notebook, and print what it shows in numbers.

        Parameters
        ----------
        settings : other than the usual ones, such as longer runs
        """
        made = self.parts[name].make(**settings)
        if isinstance(made, Table):
            print(made.text())
        else:
            from bokeh.io import show

            from bnlab.plots import summary

            show(made)
            print(summary(made))


def pairs(published: Iterable[Any], ours: Iterable[Any]) -> Iterator[Any]:
    """Alternate published values and ours."""
    for pair in zip(published, ours, strict=True):
        yield from pair


def _plain(cell: Any) -> Any:
    return cell.item() if hasattr(cell, "item") else cell


@cache
def stored(paper: str, /) -> Arrays:
    """Return the stored arrays of a paper, such as "em2007", which `benchmarks/stored.py` makes."""
    with np.load(Path(__file__).parent / paper / "long.npz") as kept:
        return MappingProxyType({name: kept[name] for name in kept.files})


def streams(seed: int, /) -> Callable[..., np.random.Generator]:
    """Return a function that gives random numbers of their own for each key."""

    def stream(*key: int) -> np.random.Generator:
        return np.random.default_rng([seed, *key])

    return stream


def random_dag(n: int, rng: np.random.Generator, /, max_parents: int = 3) -> Ints:
    """Draw a DAG: a random order of nodes, each with a uniform number of parents before it."""
    dag, order = np.zeros(n, np.int64), rng.permutation(n)
    for place, v in enumerate(order):
        count = rng.integers(0, min(place, max_parents) + 1)
        dag[v] = (np.int64(1) << rng.choice(order[:place], count, replace=False)).sum()
    return graphs.check_dag(dag)


def chain(draws: bn.Draws, c: int, first: int = 0, /) -> bn.Draws:
    """Return one of the chains, alone and without its stats, from draw `first` on."""
    return replace(with_arrays(draws, lambda array: array[c : c + 1, first:]), stats={})


def normalised(log_weights: Floats, /) -> Floats:
    """Return weights that add up to 1."""
    weights = np.exp(log_weights - log_weights.max())
    return np.asarray(weights / weights.sum())
