"""Effects of one measured variable on another, averaged over its parent sets."""

import numpy as np

from bnlab.checks import Floats
from bnlab.data import Data
from bnlab.exact import DagPosterior, OrderPosterior
from bnlab.graphs import members
from bnlab.scores import BGe
from bnlab.scores.gaussian import prepared, wishart_prior


def coefficients(
    posterior: OrderPosterior | DagPosterior, data: Data, x: int, y: int, score: BGe, /
) -> tuple[Floats, ...]:
    """Return the coefficients of x in regressions of y on x and its parents U [PensarEtAl2020].

    A mixture: weights, locations, scales and degrees of freedom, (P,) each, of Student's t, in
    units of y for a unit of x. The last part is 0 for certain: y is in U.

    Given U, with R the matrix of BGe after the data and Z = {x} + U, that coefficient is Student t
    with nu = alpha_w - n + |U| + 2 + rows degrees of freedom, location (R_ZZ^-1 R_Zy)_x and squared
    scale (R_ZZ^-1)_xx (R_yy - R_yZ R_ZZ^-1 R_Zy) / nu. Rows in which a variable but x was set are
    left out.
    """
    prior, columns = wishart_prior(score, data), prepared(score, data)
    if data.intervened is not None:
        columns = columns[:, ~np.delete(data.intervened, x, axis=1).any(axis=1)]
    rows, sums = columns.shape[1], columns.sum(axis=1)
    after = columns @ columns.T - np.outer(sums, sums) / (rows + prior.alpha_mu)
    after += prior.t * np.eye(data.n)
    masks, p = posterior.table.parents[x], posterior.families[x]
    chosen = (p > 0) & (masks >> y & 1 == 0)
    found = [(1 - min(1.0, p[chosen].sum()), 0.0, 0.0, 3.0)]
    for weight, parents in zip(p[chosen], masks[chosen].tolist(), strict=True):
        given, nu = [x, *members(parents)], prior.excess + parents.bit_count() + 2 + rows
        inverse = np.linalg.inv(after[np.ix_(given, given)])
        slopes = inverse @ after[given, y]
        left = after[y, y] - slopes @ after[given, y]
        found.append((weight, slopes[0], np.sqrt(inverse[0, 0] * left / nu), nu))
    weights, location, scale, degrees = np.array(found[::-1]).T
    unit = 1.0
    if score.standardize and data.measurements is not None and data.m > 1:
        spread = [float(data.measurements[:, v].std()) or 1.0 for v in (x, y)]
        unit = spread[1] / spread[0]
    return weights, unit * location, unit * scale, degrees
