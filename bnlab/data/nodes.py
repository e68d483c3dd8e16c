"""Nodes by name or by number."""

from collections.abc import Sequence
from numbers import Integral


def node_number(names: Sequence[str], node: int | str, /) -> int:
    """The number of a node that is given by its name or by its number.

    Raises
    ------
    ValueError
        If there is no such node.
    """
    if isinstance(node, str):
        if node not in names:
            raise ValueError(f"no variable {node!r}; there are {', '.join(names)}")
        return list(names).index(node)
    if not _is_whole(node) or not 0 <= node < len(names):
        raise ValueError(f"node {node!r} is neither a name nor a number in 0..{len(names) - 1}")
    return int(node)


def _is_whole(number: object) -> bool:
    return isinstance(number, Integral)
