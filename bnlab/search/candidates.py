"""`candidate_parents`: the few variables that tell most about each variable."""

import numpy as np

from bnlab.data import Data
from bnlab.runs import check_counts
from bnlab.search.trees import check_observed, information


def candidate_parents(data: Data, /, *, count: int = 8) -> dict[int, list[int]]:
    """For each variable the `count` others of largest mutual information with it.

    For `score_families(..., candidates=)`, which allows no other parents: the first step of the
    sparse-candidate algorithm [FriedmanNachmanPeer1999]. What works on that table then keeps to
    them: `hill_climb`, `occams_window`, `shotgun_search`, `sample_orders`, `sample_structures` and
    others, up to 63 variables. `ges` refuses such a table, since members of a class then have no
    common score: give it all families of at most `max_parents` parents. The table takes as much
    memory as without candidates. Mutual information is of pairs, so a parent that tells something
    only together with another may be left out.

    The limit is 63 variables: sets of variables are 64-bit masks throughout, and `Data` refuses
    more. Of more columns choose 63 before making `Data`.

    Parameters
    ----------
    data : Data, m rows of n variables, without interventions
    count : at least 1; more than n - 1 is the same as n - 1. Of equally good ones the smaller
        number comes first

    Returns
    -------
    dict
        of node number to a list of node numbers, most informative first

    Raises
    ------
    ValueError
        If `count` is not positive, the data have interventions, or memory is short.

    Examples
    --------
    >>> data = Data.from_arrays([[0, 0, 1], [0, 0, 0], [1, 1, 0], [1, 1, 1]])
    >>> candidate_parents(data, count=1)
    {0: [1], 1: [0], 2: [0]}
    """
    check_observed(data, "mutual information is")
    (count,) = check_counts(count=count)
    gain = information(data.values, data.arities)
    np.fill_diagonal(gain, -np.inf)
    ranking = np.argsort(-gain, axis=1, kind="stable")[:, : min(count, data.n - 1)]
    return {v: others.tolist() for v, others in enumerate(ranking)}
