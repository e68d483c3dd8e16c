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
    boards: dict[tuple[int, ...], int] = {}

    def play(board: tuple[int, ...], mover: int) -> None:
        winner = next(
            (board[a] for a, b, c in _LINES if board[a] == board[b] == board[c] != 2), None
        )
        if winner is not None or 2 not in board:
            boards[board] = 2 if winner is None else winner
            return
        for square in range(9):
            if board[square] == 2:
                play((*board[:square], mover, *board[square + 1 :]), 1 - mover)

    play((2,) * 9, 0)
    finals = sorted(boards, key=lambda board: (boards[board], board))
    return Data.from_arrays(
        [(*board, int(boards[board] == 0)) for board in finals],
        names=(*_SQUARES, "class"),
        levels=(("x", "o", "b"),) * 9 + (("negative", "positive"),),
    )
