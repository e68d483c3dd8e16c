"""A table as people have them: an untidy file about a garden, of which we know the truth."""

import os
from pathlib import Path

import numpy as np

ROWS = 240
SEED = 9
TRUTH = (
    ("soil", "slugs"),
    ("water", "growth"),
    ("slugs", "growth"),
    ("growth", "flowers"),
    ("flowers", "bees"),
)
"""The edges of the network that the garden follows."""

_HEADER = ("plot", "soil", "slugs", "water", "growth", "flowers", "bees")
_SLUGS = ("none", "few", "many")
_GAPS = 3  # missing cells in each of two columns
_BEST_WATER = (3.5, 6.5)  # litres: less or more is bad for growth


def write_garden(folder: str | os.PathLike[str], /, *, rows: int = ROWS, seed: int = SEED) -> Path:
    """Write garden.csv to a folder and return its path.

    Semicolons between cells, a number for each plot, measurements, counts, labels, and a few cells
    that nobody filled in. `TRUTH` has the edges behind it; water
    helps growth in the middle of its range only.

    Examples
    --------
    >>> import tempfile
    >>> write_garden(tempfile.mkdtemp()).read_text(encoding="utf-8").splitlines()[0]
    'plot;soil;slugs;water;growth;flowers;bees'
    """
    rng = np.random.default_rng(seed)
    clay = rng.random(rows) < 0.5
    slugs = np.where(
        clay, rng.choice(3, rows, p=[0.1, 0.3, 0.6]), rng.choice(3, rows, p=[0.7, 0.2, 0.1])
    )
    water = rng.uniform(0, 10, rows)
    good = (water > _BEST_WATER[0]) & (water < _BEST_WATER[1])
    growth = 12 + 6 * good - 2 * slugs + rng.normal(0, 1.5, rows)
    flowers = rng.random(rows) < 1 / (1 + np.exp(12 - growth))
    bees = rng.poisson(np.where(flowers, 40.0, 8.0))
    cells = [
        [f"P{i + 1:03d}" for i in range(rows)],
        ["clay" if is_clay else "sand" for is_clay in clay],
        [_SLUGS[level] for level in slugs],
        [f"{litres:.1f}" for litres in water],
        [f"{height:.1f}" for height in growth],
        ["yes" if has else "no" for has in flowers],
        [str(count) for count in bees],
    ]
    for column, marker in ((1, "?"), (3, "")):
        for row in rng.choice(rows, _GAPS, replace=False):
            cells[column][row] = marker
    lines = [";".join(_HEADER), *(";".join(row) for row in zip(*cells, strict=True))]
    path = Path(folder, "garden.csv")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
