"""Damaged copies of valid files, to see that readers refuse them in words."""

from collections.abc import Iterator

import numpy as np

# What means something in a table or in a BIF file, and bytes that are no text.
PIECES = [
    *(b"\x00 \t \n \r \" ' , ; | { } ( ) [ ] / * \\ \xff \xef\xbb\xbf".split(b" ")),
    *b" // /* */ 0 1 2 -1 1.5 1e999 nan NA ? table default property variable probability".split(),
]


def mutations(raw: bytes, count: int) -> Iterator[bytes]:
    """`count` variants of `raw`, each after one to three cuts, copies, swaps or insertions."""
    rng = np.random.default_rng(1)
    for _ in range(count):
        changed = raw
        for _ in range(rng.integers(1, 4)):
            start, stop = sorted(rng.integers(len(changed) + 1, size=2).tolist())
            stop = min(stop, start + int(rng.integers(1, 30)))
            here, there = changed[start:stop], int(rng.integers(len(changed) + 1))
            match rng.integers(5):
                case 0:
                    changed = changed[:start] + changed[stop:]
                case 1:
                    changed = changed[:there] + here + changed[there:]
                case 2:
                    changed = changed[:start] + here[::-1] + changed[stop:]
                case 3:
                    piece = PIECES[int(rng.integers(len(PIECES)))]
                    changed = changed[:there] + piece + changed[there:]
                case 4:
                    piece = PIECES[int(rng.integers(len(PIECES)))]
                    changed = changed[:start] + piece + changed[stop:]
        yield changed
