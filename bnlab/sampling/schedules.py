"""Schedules of inverse temperatures, from uniform orders at 0 to the posterior at 1."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from bnlab.runs import check_counts

Floats = NDArray[np.float64]


class Schedule(Protocol):
    """Inverse temperatures, of an annealing run or of coupled chains.

    Examples
    --------
    >>> schedule: Schedule = Linear(4)
    """

    @property
    def betas(self) -> Floats:
        """(steps + 1,) from 0 to 1, never falling."""
        ...


@dataclass(frozen=True, slots=True)
class Linear:
    """beta_i = i / steps [NiinimakiKoivisto2013, sec. 2.3].

    Examples
    --------
    >>> Linear(4).betas
    array([0.  , 0.25, 0.5 , 0.75, 1.  ])
    """

    steps: int

    def __post_init__(self) -> None:
        check_counts(steps=self.steps)

    @property
    def betas(self) -> Floats:
        """(steps + 1,) from 0 to 1."""
        return np.linspace(0.0, 1.0, self.steps + 1)


@dataclass(frozen=True, slots=True)
class Harmonic:
    """beta_i = 1 / (steps + 1 - i) for i >= 1, after beta_0 = 0 [GeyerThompson1995].

    Examples
    --------
    >>> Harmonic(4).betas.round(3)
    array([0.   , 0.25 , 0.333, 0.5  , 1.   ])
    """

    steps: int

    def __post_init__(self) -> None:
        check_counts(steps=self.steps)

    @property
    def betas(self) -> Floats:
        """(steps + 1,) from 0 to 1."""
        return np.append(0.0, 1.0 / np.arange(self.steps, 0, -1))


@dataclass(frozen=True, slots=True)
class Betas:
    """Inverse temperatures of your own: from 0 to 1, never falling.

    Examples
    --------
    >>> Betas((0.0, 0.1, 1.0)).betas
    array([0. , 0.1, 1. ])
    """

    values: tuple[float, ...]

    def __post_init__(self) -> None:
        betas = np.asarray(self.values, float)
        if not (
            betas.size > 1 and betas[0] == 0 and betas[-1] == 1 and (np.diff(betas) >= 0).all()
        ):
            raise ValueError(f"{self!r}: inverse temperatures rise from 0 to 1")

    @property
    def betas(self) -> Floats:
        """(steps + 1,) from 0 to 1."""
        return np.asarray(self.values, np.float64)
