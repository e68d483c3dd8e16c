"""The steps of an exact computation, told to its progress callback."""

from bnlab.runs import Progress, Stopped, goes_on


class Steps:
    """Counts the steps of a run for its progress callback.

    Examples
    --------
    >>> steps = Steps(lambda done, total, snapshot: print(done, "of", total), total=2)
    >>> steps.tick()
    1 of 2
    """

    def __init__(self, progress: Progress | None, total: int) -> None:
        self.progress, self.total, self.done = progress, total, 0

    def tick(self) -> None:
        """One more step is done; raises Stopped when progress returns False before the last."""
        self.done += 1
        if not goes_on(self.progress, self.done, self.total) and self.done < self.total:
            raise Stopped(f"stopped after step {self.done} of {self.total}: no result yet")
