"""Known data sets: `load_dataset` and `list_datasets`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bnlab.checks import checked
from bnlab.data.discretizing import CutPoints, discretize
from bnlab.data.reader import parse_table
from bnlab.data.table import Data
from bnlab.data.text import Missing, Options, read_text
from bnlab.files import RemoteFile, fetch

KNOWN = Path(__file__).with_name("known")
_GITHUB = "https://raw.githubusercontent.com"

# Cut points and codes with which He, Tian & Wu (2016) discretised UCI's tables; their case files
# follow from them row by row. Proline, the last column of wine, was left out there.
_WINE_CUTS = {
    "alcohol": CutPoints((12.29, 13.56)),
    "malic-acid": CutPoints((2.4, 4.1)),
    "ash": CutPoints((1.98, 2.6)),
    "alcalinity-of-ash": CutPoints((17.0, 23.5)),
    "magnesium": CutPoints((100.0, 128.0)),
    "total-phenols": CutPoints((1.93, 2.9)),
    "flavanoids": CutPoints((1.92, 3.49)),
    "nonflavanoid-phenols": CutPoints((0.3, 0.48)),
    "proanthocyanins": CutPoints((1.46, 2.5)),
    "color-intensity": CutPoints((5.1, 9.01)),
    "hue": CutPoints((0.88, 1.28)),
    "od280-od315": CutPoints((2.15, 3.08)),
}
_IRIS_CUTS = {
    "sepal-length": CutPoints((5.5, 6.7)),
    "sepal-width": CutPoints((2.8, 3.6)),
    "petal-length": CutPoints((1.9, 4.9)),
    "petal-width": CutPoints((0.6, 1.7)),
}
_GERMAN_CUTS = {
    "duration": CutPoints((21.0, 36.0)),
    "amount": CutPoints((4788.0, 9283.0, 13756.0)),
    "age": CutPoints((33.0, 47.0, 61.0)),
}
_GERMAN_PURPOSES = ("A40", "A41", "A42", "A43", "A44", "A45", "A46", "A48", "A49", "A410")

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

# [Reinis1981], as tabulated by Edwards (2000): counts of the 64 cells, the last variable
# running fastest.
_CORONARY_LEVELS = {
    "Smoking": ("no", "yes"),
    "M. Work": ("no", "yes"),
    "P. Work": ("no", "yes"),
    "Pressure": ("<140", ">140"),
    "Proteins": ("<3", ">3"),
    "Family": ("neg", "pos"),
}
_CORONARY_COUNTS = (
    *(44, 5, 23, 7, 35, 4, 24, 4, 129, 9, 50, 9, 109, 14, 51, 5),
    *(112, 21, 70, 14, 80, 11, 73, 13, 12, 1, 7, 2, 7, 5, 7, 4),
    *(107, 7, 32, 3, 12, 3, 25, 0, 145, 17, 80, 16, 67, 17, 63, 14),
    *(0, 9, 66, 14, 33, 8, 57, 11, 23, 4, 13, 3, 9, 2, 16, 4),
)

_MUSHROOM_NAMES = (
    "class cap-shape cap-surface cap-color bruises odor gill-attachment gill-spacing gill-size "
    "gill-color stalk-shape stalk-root stalk-surface-above-ring stalk-surface-below-ring "
    "stalk-color-above-ring stalk-color-below-ring veil-type veil-color ring-number ring-type "
    "spore-print-color population habitat"
).split()
_ZOO_NAMES = (
    "animal hair feathers eggs milk airborne aquatic predator toothed backbone breathes venomous "
    "fins legs tail domestic catsize type"
).split()
_GERMAN_NAMES = (
    "status duration credit-history purpose amount savings employment installment-rate "
    "personal-status-sex other-debtors residence-since property age other-installment-plans "
    "housing existing-credits job liable-people telephone foreign-worker class"
).split()
_VOTES_NAMES = (
    "class handicapped-infants water-project-cost-sharing adoption-of-the-budget-resolution "
    "physician-fee-freeze el-salvador-aid religious-groups-in-schools anti-satellite-test-ban "
    "aid-to-nicaraguan-contras mx-missile immigration synfuels-corporation-cutback "
    "education-spending superfund-right-to-sue crime duty-free-exports "
    "export-administration-act-south-africa"
).split()
_TUMOR_NAMES = (
    "row age sex histologic-type degree-of-diffe bone bone-marrow lung pleura peritoneum liver "
    "brain skin neck supraclavicular axillar mediastinum abdominal class"
).split()


@checked
def list_datasets() -> dict[str, str]:
    """Return the names that `load_dataset` knows, each with a line on content and source.

    Examples
    --------
    >>> sorted(list_datasets())[:3]
    ['coronary', 'german', 'iris']
    """
    return {name: known.about for name, known in _DATASETS.items()}


@checked
def load_dataset(name: str, /, *, missing: Missing = "level") -> Data:
    """Load a known data set; `list_datasets()` names them all.

    tic_tac_toe, coronary, wine and iris are part of the package. The others are downloaded once
    into `pooch.os_cache("bnlab")` and checked by SHA-256, unless the folder named by the
    environment variable BNLAB_DATA_DIR has them.

    wine, iris, zoo and german are coded as in the cases of [HeTianWu2016]; identifiers (the
    animals of zoo), the constant veil-type of mushroom and proline in wine are left out. The rows
    come in the order of the source, often sorted by class: use `shuffled` before `prefix`.

    Parameters
    ----------
    missing : for mushroom, primary_tumor and votes, which have missing cells: "level" (default)
        keeps all rows and makes "missing" a level of its own, "drop" leaves those rows out, "keep"
        leaves the cells missing, "error" refuses.

    Raises
    ------
    ValueError
        For an unknown name, or a file with other bytes than expected.
    FileNotFoundError
        When a file has to be downloaded and cannot be; the message says where to put it.
    ModuleNotFoundError
        When a download is needed without pooch: `pip install bnlab[data]`.

    Examples
    --------
    >>> load_dataset("coronary")
    Data: 1841 rows, 6 variables with 2 states (Smoking, M. Work, P. Work, ...)
    """
    if name not in _DATASETS:
        raise ValueError(f"no data set {name!r}; there are {', '.join(_DATASETS)}")
    _, source, options = _DATASETS[name]
    if not isinstance(source, RemoteFile):
        return source()
    found = read_text(fetch(source), "utf-8")
    if name == "promoters":  # a column for each position
        lines = [line.split(",") for line in found.splitlines()]
        found = "\n".join(",".join((sign, *sequence.strip())) for sign, _, sequence in lines)
    return parse_table(found, name, replace(options, missing=missing))


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


def _coronary() -> Data:
    cells = np.array(list(product((0, 1), repeat=6)))
    return Data.from_arrays(
        np.repeat(cells, _CORONARY_COUNTS, axis=0),
        names=tuple(_CORONARY_LEVELS),
        levels=tuple(_CORONARY_LEVELS.values()),
    )


def _wine() -> Data:
    return _coded("wine", {"class": ("1", "2", "3"), **_bins(_WINE_CUTS)})


def _iris() -> Data:
    kinds = "Iris-setosa", "Iris-versicolor", "Iris-virginica"
    return _coded("iris", {**_bins(_IRIS_CUTS), "class": kinds})


def _bins(cuts: dict[str, CutPoints]) -> dict[str, tuple[str, ...]]:
    """The levels into which columns are cut."""
    return {name: discretize([0.0], rule).levels for name, rule in cuts.items()}


def _coded(name: str, levels: dict[str, tuple[str, ...]]) -> Data:
    """A table that the package holds as codes, a row of digits for each row."""
    lines = (KNOWN / f"{name}.txt").read_text(encoding="ascii").split()
    codes = [[int(digit) for digit in line] for line in lines]
    return Data.from_arrays(codes, names=tuple(levels), levels=tuple(levels.values()))


class _Known(NamedTuple):
    """A data set: a line about it; its file, or what makes its data; how a file is read."""

    about: str
    source: RemoteFile | Callable[[], Data]
    options: Options = Options()


_POSITIONS = [f"p{position}" for position in range(-50, 8) if position]
_DATASETS = {
    "tic_tac_toe": _Known(
        "958 final boards of tic-tac-toe and whether x won, 10 variables [UCI 101, Aha 1991]",
        _tic_tac_toe,
    ),
    "wine": _Known(
        "178 wines of three cultivars, 13 variables [UCI 109, Aeberhard & Forina 1991; coded as "
        "in He, Tian & Wu 2016]",
        _wine,
    ),
    "iris": _Known(
        "150 irises of three species, 5 variables [UCI 53, Fisher 1936; coded as in He, Tian & "
        "Wu 2016]",
        _iris,
    ),
    "coronary": _Known(
        "1841 men and six risk factors of coronary heart disease [Reinis et al. 1981; Edwards "
        "2000]",
        _coronary,
    ),
    "mushroom": _Known(
        "8124 mushrooms, edible or poisonous, 22 variables [UCI 73, Schlimmer 1981]",
        RemoteFile(
            "raw/mushroom/agaricus-lepiota.data",
            f"{_GITHUB}/jbmasemza/Decision_trees/c43b845a39c9192d58658beab49ae08d3a338161"
            "/Data/agaricus-lepiota.data",
            "e65d082030501a3ebcbcd7c9f7c71aa9d28fdfff463bf4cf4716a3fe13ac360e",
        ),
        Options(header=False, names=_MUSHROOM_NAMES, drop=["veil-type"]),
    ),
    "promoters": _Known(
        "106 E. coli sequences of 57 bases, promoter or not, 58 variables [UCI 67, Harley, "
        "Reynolds & Noordewier 1990]",
        RemoteFile(
            "raw/promoters/promoters.data",
            f"{_GITHUB}/farhan-137/dna-promoter-classifier"
            "/585478d4bcbeb8a6293f777d9d1abfae91c6db59/data/promoters.data",
            "9cba9e8661ab04760d69b857f62259233446f2dce5ec9b515efe0b23c315bb29",
        ),
        Options(header=False, names=["class", *_POSITIONS]),
    ),
    "zoo": _Known(
        "101 animals of seven classes, 17 variables [UCI 111, Forsyth 1990]",
        RemoteFile(
            "raw/zoo/zoo.data",
            f"{_GITHUB}/layeeq07/DataSets/36b24b14416fcfda083dbcaa7527979b0a2171ef/zoo.data",
            "cddc71c26ab9bc82795b8f4ff114cade41885d92720c6af29ffb69bcf73f0315",
        ),
        Options(header=False, names=_ZOO_NAMES, drop=["animal"]),
    ),
    "german": _Known(
        "1000 credits, good or bad, 21 variables [UCI 144, Hofmann 1994; coded as in He, Tian & "
        "Wu 2016]",
        RemoteFile(
            "raw/german/german.data",
            f"{_GITHUB}/uknowwho/pafer/2156a51ab19a41b359307d5488c1b5d836aea59f/german.data",
            "b21f3d81db8071257d5ff1deaeba1fd4303b62712e6fcc9715c7a86202cb5871",
        ),
        Options(
            header=False,
            names=_GERMAN_NAMES,
            levels={"purpose": _GERMAN_PURPOSES},
            discretize=_GERMAN_CUTS,
        ),
    ),
    "votes": _Known(
        "435 members of the US House in 1984 and 16 votes, 17 variables [UCI 105, Schlimmer 1987]",
        RemoteFile(
            "raw/votes/house-votes-84.data",
            f"{_GITHUB}/KaloshinPE/MEM_detector/4ce48e4c82a75942e034726dd139d66609669603"
            "/data/house-votes-84.data",
            "c87c14110a5ba91d4a1e313ec7392824458152bf071fa5f5452340488337936e",
        ),
        Options(header=False, names=_VOTES_NAMES),
    ),
    "primary_tumor": _Known(  # four lines come first, then a row number in each row; 0 is missing
        "339 tumours and where they began, 18 variables [UCI 83, Zwitter & Soklic 1988]",
        RemoteFile(
            "raw/primary-tumor/primary-tumor.data",
            f"{_GITHUB}/wilsonjr/OverlapRemoval/d09420b0ae13c9065af0a6ab53fc59c5b601e9f4"
            "/datasets/primary-tumor.data",
            "2a34f9e98eac75b6126c7f86abba8ad24e83063e5b31f1fbc9857b8188fd2b77",
        ),
        Options(skip=4, header=False, names=_TUMOR_NAMES, drop=["row"], missing_markers=["0"]),
    ),
    "sachs": _Known(
        "5400 cells and 11 signalling proteins, five of them set by intervention in 3600 cells "
        "[Sachs et al. 2005; levels of Scutari & Denis 2014]",
        RemoteFile(
            "raw/sachs/sachs.interventional.txt",
            f"{_GITHUB}/GregoryTomy/Bayesian-Networks/32a336bf64f854da97bb1b6d1c46c0639982ab13"
            "/data/sachs.interventional.txt",
            "2823492b28b53599f4a6ef55f6f41336e3891994e6b3a2e3229af5479217f91f",
            twins={
                "sachs_interventional.csv": (
                    "f4b70352930aade8f37ff9e6da0a0ecfa1b6bb1373f67b68f026ac6a7df54a2e"
                )
            },
        ),
        Options(intervention="INT"),
    ),
}
