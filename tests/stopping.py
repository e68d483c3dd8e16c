"""A progress callback that stops a run once a share of it is done, and what is left then."""


class Stop:
    """Call me as progress: from `share` of the total on, return False or interrupt.

    told : what I was told, (done, total) each time
    """

    def __init__(self, how, share=0.6):
        assert how in ("returns False", "interrupts")
        self.how, self.share, self.told = how, share, []

    def __call__(self, done, total, snapshot):
        self.told.append((done, total))
        if done < self.share * total:
            return True
        if self.how == "interrupts":
            raise KeyboardInterrupt
        return False


def draws_kept(part, whole):
    """How many draws of each chain a stopped run has: the first ones of the whole run."""
    kept = part.values.shape[1]
    assert part.run.stopped
    assert 0 < kept < whole.values.shape[1]
    assert (part.values == whole.values[:, :kept]).all()
    return kept
