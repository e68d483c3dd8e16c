"""How long, how much, how dear: the formulas of the plans."""

import math
from dataclasses import dataclass

import bnlab as bn

BASE_BYTES = 200e6  # of a worker that has loaded Python, NumPy, numba and bnlab
ROWS = 106


@dataclass(frozen=True, slots=True)
class Load:
    """Work in jobs that cannot be divided."""

    jobs: int  # how many
    seconds: float  # of each
    once: float = 0.0  # seconds before and after, for which all but one core wait
    send: float = 0.0  # seconds to send a job; one follows the other, while the workers work

    def wall(self, cores: int, /) -> float:
        """Seconds by the clock on the wall."""
        sending = self.jobs * self.send + self.seconds
        return self.once + max(sending, math.ceil(self.jobs / cores) * self.seconds)

    def speed_up(self, cores: int, /) -> float:
        """How many times faster than one core that need not send anything."""
        return (self.once + self.jobs * self.seconds) / self.wall(cores)

    def cost(self, cores: int, /) -> float:
        """Core-seconds that are paid for, those of waiting cores among them."""
        return cores * self.wall(cores)


def amdahl(serial: float, cores: float, /) -> float:
    """The speed-up if a share of the work is for one core and the rest divides evenly.

    [Amdahl1967]
    """
    return 1 / (serial + (1 - serial) / cores)


def annealing_steps(n: int, factor: int = 16, rows: int = ROWS) -> int:
    """Steps of a run of AIS: factor * n * m, to 16 in [NiinimakiKoivisto2013]."""
    return factor * n * rows


def move_terms(n: int, max_parents: int = 3) -> float:
    """What a move on orders of n > 22 variables costs, in family weights read, roughly."""
    return (20.0 + math.comb(n, max_parents + 1) / n) * (1 + n / 3)


def parcel_bytes(n: int, max_parents: int = 3) -> int:
    """Bytes that a job brings along: ln of each family's weight."""
    return 8 * n * sum(math.comb(n - 1, size) for size in range(max_parents + 1))


def worker_bytes(n: int, max_parents: int = 3) -> float:
    """Bytes that a worker takes for n > 22: itself, the parcel, and what it lays out from it."""
    parcel = parcel_bytes(n, max_parents)
    return BASE_BYTES + 4 * parcel + 8 * n * math.comb(n - 1, 2)


dp_bytes = bn.exact.order_posterior_bytes
"""Bytes of the exact sum over orders of n variables, any n."""


def dp_seconds(n: int, seconds_a_term: float, /) -> float:
    """Seconds of the exact sum: so many for each of n 2**n terms."""
    return seconds_a_term * n * 2.0**n


def spoken(seconds: float, /) -> str:
    """A time in words."""
    units = (("years", 31_557_600), ("days", 86_400), ("hours", 3600), ("minutes", 60))
    for unit, length in units:
        if seconds >= length * (2 if unit in ("years", "days") else 1):
            return f"{seconds / length:,.2g} {unit}"
    return f"{seconds:.2g} seconds"


def sized(count: float, /) -> str:
    """A number of bytes in words."""
    units = (("EB", 1e18), ("PB", 1e15), ("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3))
    unit, size = next((each for each in units if count >= each[1]), units[-1])
    return f"{count / size:.0f} {unit}" if count >= 10 * size else f"{count / size:.2g} {unit}"
