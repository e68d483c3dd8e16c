"""What a paper's page is made of: tables and figures, each by name, made when they are asked for.

`bnlab reproduce` writes the parts of a paper to files; the notebooks of papers show the same
functions' results one by one. Every paper's package has a module `parts` with its PARTS.
"""

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

Cell = str | int | float


@dataclass(frozen=True, slots=True)
class Table:
    """A table of plain values: text, integers, numbers.

    Attributes
    ----------
    header : names of the columns
    rows : as many cells each
    """

    header: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]

    def csv(self) -> str:
        """As CSV; numbers have eight significant digits.

        Examples
        --------
        >>> Table(("n", "rank"), ((10, 3.0),)).csv()
        'n,rank\\r\\n10,3\\r\\n'
        """
        out = io.StringIO(newline="")
        writer = csv.writer(out)
        writer.writerow(self.header)
        writer.writerows([f"{v:.8g}" if isinstance(v, float) else v for v in r] for r in self.rows)
        return out.getvalue()


@dataclass(frozen=True, slots=True)
class Part:
    """A table or a figure of a paper, and ours beside it.

    Attributes
    ----------
    name : for files, such as "table_6_1"
    title : as it is called in the paper, and what it is about
    make : gives the Table or the Bokeh figure
    about : a sentence or two on how to read it; for a figure, what there is to see
    """

    name: str
    title: str
    make: Callable[[], Any]
    about: str


def table(header: Sequence[str], rows: Sequence[Sequence[Any]], /) -> Table:
    """A Table; NumPy's numbers become Python's.

    Examples
    --------
    >>> import numpy as np
    >>> table(["n"], [[np.int64(3)]])
    Table(header=('n',), rows=((3,),))
    """
    return Table(tuple(header), tuple(tuple(_plain(cell) for cell in row) for row in rows))


def _plain(cell: Any) -> Cell:
    value: Cell = cell.item() if hasattr(cell, "item") else cell
    return value
