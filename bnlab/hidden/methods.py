"""Methods by which the evidence of networks with hidden nodes is estimated, and their settings."""

import math
from dataclasses import dataclass, field

from bnlab.checks import check_counts, checked
from bnlab.weights import Schedule, Warped


@checked
@dataclass(frozen=True, slots=True)
class JointDirichlet:
    """All table rows are proposed at once, each around itself [Beal2003, eq. 6.59].

    Attributes
    ----------
    strength : sum of the parameters of each row's Dirichlet, the same at all temperatures. The
        thesis does not print its own: with the default, 43, 61 and 80 % of the proposals are
        rejected for 640, 2560 and 10240 rows, on the mean of its 136 structures; 42, 59 and 79 % in
        its Table 6.4

    Examples
    --------
    >>> JointDirichlet()
    JointDirichlet(strength=2000.0)
    """

    strength: float = 2000.0

    def __post_init__(self) -> None:
        _check_positive(strength=self.strength)


@checked
@dataclass(frozen=True, slots=True)
class RowDirichlet:
    """Each step proposes one table row, the rows in turn, from a Dirichlet that follows the walk.

    Its parameters are lambda + growth * tau * m * theta for m rows of data: the prior at tau = 0,
    and narrower as the posterior is [Beal2003, sec. 6.5.1].

    Examples
    --------
    >>> RowDirichlet()
    RowDirichlet(growth=0.3)
    """

    growth: float = 0.3

    def __post_init__(self) -> None:
        _check_positive(growth=self.growth)


@checked
@dataclass(frozen=True, slots=True)
class TemperedGibbs:
    """Tables given completions, completions given tables, on the path p(theta) p(y, s|theta)**tau.

    Examples
    --------
    >>> TemperedGibbs()
    TemperedGibbs()
    """


@checked
@dataclass(frozen=True, slots=True)
class CompletionGibbs:
    """Each row's completion given all others in turn, on the path p(y, s)**tau, tables integrated.

    A step is a sweep over all rows of data; suggested by Neal [Beal2003, sec. 6.6].

    Examples
    --------
    >>> CompletionGibbs()
    CompletionGibbs()
    """


Moves = JointDirichlet | RowDirichlet | TemperedGibbs | CompletionGibbs


@checked
@dataclass(frozen=True, slots=True)
class AIS:
    """Annealed importance sampling [Neal2001]: one move at each step of a schedule.

    Attributes
    ----------
    schedule : Warped, or anything with `betas` from 0 to 1
    moves : JointDirichlet (the thesis'), RowDirichlet, TemperedGibbs or CompletionGibbs

    Examples
    --------
    >>> AIS(Warped(500)).schedule.betas.size
    501
    """

    schedule: Schedule = field(default_factory=lambda: Warped(16384))
    moves: Moves = field(default_factory=RowDirichlet)


@checked
@dataclass(frozen=True, slots=True)
class SMC:
    """Particles that complete the rows of data one by one, tables integrated out.

    Attributes
    ----------
    particles : at least 1

    Examples
    --------
    >>> SMC(500)
    SMC(particles=500)
    """

    particles: int = 256

    def __post_init__(self) -> None:
        check_counts(particles=self.particles)


def _check_positive(**values: float) -> None:
    for name, value in values.items():
        if not 0 < value < math.inf:
            raise ValueError(f"{name}={value}: give a number above 0")
