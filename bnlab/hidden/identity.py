"""What makes a run on a model and data the one whose results a checkpoint may keep."""

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
    hidden = np.array(model.hidden, np.int64)
    return {
        "model": fingerprint(model.parents, model.arities, hidden),
        "strength": model.strength,
        "data": fingerprint(codes(model, data)),
        "bnlab": package_versions()["bnlab"],
    }
