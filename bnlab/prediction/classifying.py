"""The posterior of a class variable by one DAG."""

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnlab.data import Data
from bnlab.data.nodes import node_number
from bnlab.prediction.densities import plug_in_log_density
from bnlab.prediction.rows import check_rows
from bnlab.scores import BDeu, Score

Floats = NDArray[np.float64]


def log_class_posterior(
    dag: ArrayLike,
    data: Data,
    target: int | str,
    new_rows: Data | ArrayLike,
    /,
    *,
    score: Score = BDeu(),
) -> Floats:
    """ln p(class | the other cells, G, D) of each new row by one DAG, such as `bnlab.tan` gives.

    The joint densities of `plug_in_log_density` with every class in turn, normalised. The class of
    a new row is not looked at; other missing cells are summed out. The parameters are averaged, the
    structure is not.

    Parameters
    ----------
    dag : (n,) parent masks
    data : Data that the parameters are learned from
    target : the class, a name or a number
    new_rows : (rows, n) integer codes with -1 for a missing cell, or Data of the same variables
    score : BDeu or K2

    Returns
    -------
    float64 (rows, classes), nats; the largest in a row is the most probable class

    Raises
    ------
    ValueError
        As `plug_in_log_density` does, or if there is no such variable.

    Examples
    --------
    >>> data = Data.from_arrays([[0, 0], [0, 0], [1, 1]], names=["petal", "kind"])
    >>> np.exp(log_class_posterior([2, 0], data, "kind", [[0, -1]])).round(3)
    array([[0.9, 0.1]])
    """
    rows = check_rows(data, new_rows)
    c = node_number(data.names, target)
    joint = np.empty((len(rows.values), int(data.arities[c])))
    for state in range(joint.shape[1]):
        values = rows.values.copy()
        values[:, c] = state
        filled: Data | NDArray[np.int32] = values
        if isinstance(new_rows, Data):
            filled = replace(new_rows, values=values)
        joint[:, state] = plug_in_log_density(dag, data, filled, score=score)
    posterior: Floats = joint - np.logaddexp.reduce(joint, axis=1, keepdims=True)
    return posterior
