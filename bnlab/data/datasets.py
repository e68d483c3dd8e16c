"""Known data sets: `load_dataset` and `list_datasets`."""

from __future__ import annotations

from bnlab.data.table import Data

_SQUARES = tuple(
    f"{row}-{column}-square"
    for row in ("top", "middle", "bottom")
    for column in ("left", "middle", "right")
)
_LINES = (
    *((0, 1, 2), (3, 4, 5), (6, 7, 8)),
    *((0, 3, 6), (1, 4, 7), (2, 5, 8)),
    *((0, 4, 8), (2, 4, 6)),
)


def load_dataset(name: str, /) -> Data:
    """A known data set."""
    if name == "tic_tac_toe":
        return _tic_tac_toe()
    raise ValueError(f"no data set {name!r}")


def _tic_tac_toe() -> Data:
    """All final boards of games that x begins: x wins, then o wins, then draws."""
    finals: dict[tuple[int, ...], int] = {}
    running: set[tuple[int, ...]] = {(2,) * 9}
    for turn in range(9):
        boards: set[tuple[int, ...]] = {
            (*board[:square], turn % 2, *board[square + 1 :])
            for board in running
            for square in range(9)
            if board[square] == 2
        }
        won = {
            board: board[a]
            for board in boards
            for a, b, c in _LINES
            if board[a] == board[b] == board[c] != 2
        }
        running = boards - won.keys()
        finals |= won
    finals |= dict.fromkeys(running, 2)
    ordered = sorted(finals, key=lambda board: (finals[board], board))
    return Data.from_arrays(
        [(*board, int(finals[board] == 0)) for board in ordered],
        names=(*_SQUARES, "class"),
        levels=(("x", "o", "b"),) * 9 + (("negative", "positive"),),
    )
