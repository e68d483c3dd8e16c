"""How the arrays that come with the package were made."""

import bnlab as bn
from bnlab.labs.papers.stat521a.cells import cells_arrays
from bnlab.labs.papers.stat521a.discovery import child_arrays
from bnlab.labs.papers.stat521a.stored import Array
from bnlab.labs.papers.stat521a.world import alarm_arrays

PARTS = ("alarm", "cells", "child")


def made(part: str, /) -> dict[str, Array]:
    """One part of `stored()`: "alarm" and "cells" from files, "child" in a minute or so.

    Raises
    ------
    ValueError
        For any other name.
    FileNotFoundError
        If a file is neither kept in a folder nor can be downloaded; see `load_dataset`.

    Examples
    --------
    >>> made("adult")
    Traceback (most recent call last):
        ...
    ValueError: no part 'adult'; there are alarm, cells, child
    """
    if part == "alarm":
        return alarm_arrays(bn.load_network("alarm"))
    if part == "cells":
        return cells_arrays(bn.load_dataset("sachs"))
    if part == "child":
        return child_arrays()
    raise ValueError(f"no part {part!r}; there are {', '.join(PARTS)}")
