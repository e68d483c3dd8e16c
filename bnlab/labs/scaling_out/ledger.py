"""An executor that keeps books: what each job would cost to send, and what it does."""

import pickle
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from bnlab.labs.scaling_out.laws import sized


class Ledger:
    """Does jobs one after another, here, each packed and unpacked as if it went to a worker.

    Attributes
    ----------
    sent, returned : bytes of each job, and of what came back
    seconds : computing time of each job, and `unpacking` that of its parcel

    Examples
    --------
    >>> ledger = Ledger()
    >>> list(ledger.map(abs, [-1, 2])), ledger.jobs
    ([1, 2], 2)
    """

    def __init__(self) -> None:
        self.sent: list[int] = []
        self.returned: list[int] = []
        self.seconds: list[float] = []
        self.unpacking: list[float] = []

    @property
    def jobs(self) -> int:
        """How many so far."""
        return len(self.sent)

    def map(self, fn: Callable[..., Any], /, *iterables: Iterable[Any]) -> Iterator[Any]:
        """Apply `fn` to the items; results in the order of the items."""
        for items in zip(*iterables, strict=True):
            yield self._done(pickle.dumps((fn, items)))

    def _done(self, parcel: bytes) -> Any:
        begun = time.process_time()
        fn, items = pickle.loads(parcel)
        opened = time.process_time()
        result = fn(*items)
        ended = time.process_time()
        self.sent.append(len(parcel))
        self.returned.append(len(pickle.dumps(result)))
        self.unpacking.append(opened - begun)
        self.seconds.append(ended - opened)
        return result

    def __repr__(self) -> str:
        if not self.jobs:
            return "no jobs so far"
        sent, returned, seconds = (
            sum(each) / self.jobs for each in (self.sent, self.returned, self.seconds)
        )
        return (
            f"jobs: {self.jobs}; each {sized(sent)} there, {sized(returned)} back, "
            f"{seconds:.2g} s of computing"
        )
