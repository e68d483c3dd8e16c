"""The methods by which orders are annealed, and their settings."""

from dataclasses import dataclass, field

from bnlab.sampling import Linear, Moves, Schedule


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


DEFAULT = AIS()
