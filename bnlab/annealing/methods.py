"""The methods by which orders are annealed, and their settings."""

from dataclasses import dataclass, field

from bnlab.checks import Count, Several, checked
from bnlab.sampling import Moves
from bnlab.weights import Linear, Schedule, betas_of


@checked
@dataclass(frozen=True, slots=True)
class AIS:
    """Annealed importance sampling [Neal2001]: one move on orders at each step of a schedule.

    Attributes
    ----------
    schedule : Linear, Harmonic, Betas, or anything with `betas`; the paper takes Linear(n * m) to
        Linear(16 * n * m) [NiinimakiKoivisto2013]
    moves : Moves

    Examples
    --------
    >>> AIS(Linear(500))
    AIS(schedule=Linear(steps=500), moves=Moves(swap=1.0, adjacent=0.0, relocate=0.0))
    """

    schedule: Schedule = field(default_factory=lambda: Linear(10_000))
    moves: Moves = field(default_factory=Moves)

    def __post_init__(self) -> None:
        betas_of(self.schedule)


@checked
@dataclass(frozen=True, slots=True)
class SMC:
    """Tempered sequential Monte Carlo [DelMoralDoucetJasra2006]: many orders annealed together.

    A step goes to the next inverse temperature: the particles are weighed, resampled
    systematically if their weights have become too unequal, and moved. A run chooses its own
    temperatures, so that each step changes the weights by about as much; its estimate of the
    evidence is then right as the number of particles grows, and unbiased under a given schedule.

    Attributes
    ----------
    particles : orders in a run, at least 2
    schedule : the inverse temperatures; None lets each run choose them
    share : of the particles, between 0 and 1: the conditional effective sample size of a chosen
        step [ZhouJohansenAston2016]. More means more and smaller steps
    resample : resample when the effective sample size is below so large a share of the particles
    moves_each : Metropolis moves of each particle at each step; None makes n of them
    moves : Moves

    Examples
    --------
    >>> SMC(particles=500).share
    0.95
    """

    particles: Several = 1000
    schedule: Schedule | None = None
    share: float = 0.95
    resample: float = 0.5
    moves_each: Count | None = None
    moves: Moves = field(default_factory=Moves)

    def __post_init__(self) -> None:
        if self.schedule is not None:
            betas_of(self.schedule)
        for name in ("share", "resample"):
            if not 0 < getattr(self, name) < 1:
                raise ValueError(f"{name}={getattr(self, name)!r}: give a share between 0 and 1")


@checked
@dataclass(frozen=True, slots=True)
class MC3:
    """Coupled Markov chains at several temperatures [Geyer1991; NiinimakiKoivisto2013, sec. 2.3].

    Attributes
    ----------
    schedule : inverse temperatures of the chains that are coupled
    draws, burn_in, thin, moves : as in `sample_orders`

    Examples
    --------
    >>> MC3(Linear(8), draws=500).schedule
    Linear(steps=8)
    """

    schedule: Schedule = field(default_factory=lambda: Linear(16))
    draws: Count = 1000
    burn_in: int | None = None
    thin: int | None = None
    moves: Moves = field(default_factory=Moves)

    def __post_init__(self) -> None:
        betas_of(self.schedule)


DEFAULT = AIS()
