"""A progress callback that stops a run once a share of it is done, and what is left then."""

import bnlab as bn


class Stop:
    """Call me as progress: from `share` of the total on, return False, interrupt, or fail.

    told : what I was told, (done, total) each time
    """

    def __init__(self, how, share=0.6):
        assert how in ("returns False", "interrupts", "fails")
        self.how, self.share, self.told = how, share, []

    def __call__(self, done, total, snapshot):
        self.told.append((done, total))
        if done < self.share * total:
            return True
        if self.how == "interrupts":
            raise KeyboardInterrupt
        if self.how == "fails":
            raise RuntimeError("the screen is gone")
        return False


def outcome(call, stop, **options):
    """The result of a call that is stopped, or the exception that was raised instead."""
    try:
        return call(progress=stop, **options)
    except (bn.Stopped, KeyboardInterrupt) as raised:
        return raised
