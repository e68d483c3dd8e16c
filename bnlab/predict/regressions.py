"""Posterior predictive densities of families with measurements, beside those of states."""

from typing import NamedTuple

import numpy as np

from bnlab.checks import Bools, Floats, Ints
from bnlab.data import Data
from bnlab.data.table import counted
from bnlab.graphs import members
from bnlab.predict.tables import Codes, Tables, posterior_tables
from bnlab.scores import AnyScore, BGe, ConditionalGaussian, score_parts
from bnlab.scores.gaussian import Units, WishartPrior, regression, units_of, wishart_prior


class Regressions(NamedTuple):
    """Data and a score, which together give each family its regressions, or its table."""

    arities: Ints
    data: Data
    columns: Floats  # (n, m), in the units of the score
    units: Units
    prior: WishartPrior
    tables: Tables  # of the variables with states

    def log_densities(self, families: list[Ints], rows: Data, /) -> list[Floats]:
        """ln of the mean density of x_v given parent masks (F,), (F, rows) for each node, nats."""
        numbers, codes = self.units.columns(rows.measurements), np.array(rows.values.T, order="C")
        out = []
        for v, masks in enumerate(families):
            if self.data.measured[v]:
                every = np.empty((masks.size, rows.m))
                for f, mask in enumerate(masks):
                    every[f] = self._log_density(v, members(mask), numbers, codes)
                out.append(every - np.log(self.units.scale[v]))
            else:
                self._check_parents(v, masks)
                out.append(self.tables.log_means(v, masks, codes))
        return out

    def _log_density(self, v: int, parents: list[int], numbers: Floats, codes: Codes) -> Floats:
        """A regression for each joint state of some of the parents, in the score's units."""
        measured = self.data.measured
        family = np.array([*(u for u in parents if measured[u]), v])
        states, known = [u for u in parents if not measured[u]], counted(self.data)[v]
        joint, group = np.unique(codes[states], axis=1, return_inverse=True)
        out = np.empty(codes.shape[1])
        for g, state in enumerate(joint.T):
            same = known & (self.data.values[:, states] == state).all(axis=1)
            some: Bools = group.ravel() == g
            fitted = regression(self.columns[np.ix_(family, same)], self.prior)
            out[some] = fitted.log_density(numbers[np.ix_(family, some)])
        return out

    def _check_parents(self, v: int, masks: Ints) -> None:
        parents = members(int(np.bitwise_or.reduce(masks, initial=0)))
        wrong = [self.data.names[u] for u in parents if self.data.measured[u]]
        if wrong:
            raise ValueError(
                f"an edge from {wrong[0]!r}, which is measured, to {self.data.names[v]!r}, which "
                "has states: ConditionalGaussian has no such families"
            )


def posterior_of(data: Data, score: AnyScore, /) -> Tables | Regressions:
    """The posterior parameters of all families; a ValueError if score and data do not fit."""
    score_parts(data, score)
    if not isinstance(score, BGe | ConditionalGaussian):
        return posterior_tables(data, score)
    both = ConditionalGaussian(measured=score) if isinstance(score, BGe) else score
    tables = posterior_tables(data, both.discrete)
    if not data.measured.any():
        return tables
    units, prior = units_of(both.measured, data), wishart_prior(both.measured, data)
    columns = units.columns(data.measurements)
    return Regressions(data.arities, data, columns, units, prior, tables)
