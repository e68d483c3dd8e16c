"""A progress callback that stops a run once a share of it is done."""


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
