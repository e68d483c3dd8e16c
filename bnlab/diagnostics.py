"""How far an estimate is from a reference."""

import numpy as np
from numpy.typing import ArrayLike, NDArray


def sad(estimate: ArrayLike, reference: ArrayLike, /) -> float:
    """Sum of absolute differences over the ordered pairs u != v [EatonMurphy2007, HeTianWu2016].

    Parameters
    ----------
    estimate, reference : (n, n) matrices of probabilities; the diagonal is left out

    Examples
    --------
    >>> sad([[0.0, 0.5], [0.25, 0.0]], [[0.0, 0.75], [0.25, 0.0]])
    0.25
    """
    return float(_differences(estimate, reference).sum())


def max_error(estimate: ArrayLike, reference: ArrayLike, /) -> float:
    """Largest absolute difference over the ordered pairs u != v.

    Examples
    --------
    >>> max_error([[0.0, 0.5], [0.25, 0.0]], [[0.0, 0.75], [0.25, 0.0]])
    0.25
    """
    return float(_differences(estimate, reference).max(initial=0.0))


def _differences(estimate: ArrayLike, reference: ArrayLike) -> NDArray[np.float64]:
    a, b = np.asarray(estimate, float), np.asarray(reference, float)
    if a.shape != b.shape or a.ndim != 2 or a.shape[0] != a.shape[1]:
        raise ValueError(f"two (n, n) matrices are compared; got shapes {a.shape} and {b.shape}")
    off_diagonal = ~np.eye(len(a), dtype=bool)
    differences: NDArray[np.float64] = np.abs(a - b)[off_diagonal]
    if np.isnan(differences).any():
        raise ValueError("nan among the probabilities: nothing to compare")
    return differences
