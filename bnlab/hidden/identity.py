"""What makes a run on a model and data the one whose results a checkpoint may keep."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from bnlab.checkpoints import fingerprint
from bnlab.data import Data
from bnlab.hidden.completions import codes
from bnlab.hidden.model import HiddenModel
from bnlab.results import package_versions


def identity_of(model: HiddenModel, data: Data | ArrayLike, /) -> dict[str, object]:
    """What makes a model and data the ones whose runs a file may keep.

    Examples
    --------
    >>> identity_of(HiddenModel([0, 1], [2, 3], hidden=[0]), [[0]])["strength"]
    1.0
    """
    return {
        "model": _model(model),
        "strength": model.strength,
        "data": fingerprint(codes(model, data)),
        "bnlab": package_versions()["bnlab"],
    }


def identity_of_all(models: Sequence[HiddenModel], data: Data | ArrayLike, /) -> dict[str, object]:
    """The same of structures over the same observed nodes.

    Examples
    --------
    >>> identity_of_all([HiddenModel([0, 1], [2, 3], hidden=[0])], [[0]])["strength"]
    [1.0]
    """
    return {
        "models": [_model(model) for model in models],
        "strength": [model.strength for model in models],
        "data": fingerprint(*(codes(model, data) for model in models[:1])),
        "bnlab": package_versions()["bnlab"],
    }


def _model(model: HiddenModel) -> str:
    return fingerprint(model.parents, model.arities, np.array(model.hidden, np.int64))
