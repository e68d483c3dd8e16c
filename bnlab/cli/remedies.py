"""The settings and names in errors and notes, as options of `bnlab report`."""

import shlex

from bnlab.cli import choices
from bnlab.errors import Named, Public

OPTIONS = {
    "header": ("header", ""),
    "delimiter": ("delimiter", "D"),
    "decimal": ("decimal", "SIGN"),
    "encoding": ("encoding", "NAME"),
    "skip": ("skip", "N"),
    "drop": ("drop", "COLUMN"),
    "letters": ("letters", "COLUMN"),
    "levels": ("levels", "COLUMN=A,B"),
    "max_levels": ("max-levels", "N"),
    "count": ("count", "COLUMN"),
    "intervention": ("intervention", "COLUMN"),
    "missing": ("missing", "HOW"),
    "missing_markers": ("missing-marker", "TEXT"),
    "discretize": ("discretize", "COLUMN=RULE"),
    "max_parents": ("max-parents", "K"),
    "seconds": ("seconds", "S"),
    "method": ("method", "NAME"),
    "ess": ("ess", "X"),
    "checkpoint": ("checkpoint", "FILE"),
}
"""Arguments of `read_table`, `choose_method`, `analyse` and `BDeu`: options, what follows them."""


INSTEAD = {
    "Data.select": "--drop COLUMN",
    "order_posterior": "--method exact-orders",
    "sample_orders": "--method orders",
    "sample_partitions": "--method partitions",
    "CutPoints": "--discretize COLUMN=cuts:X,Y",
    "EqualFrequency": "--discretize COLUMN=frequency:BINS",
}
"""Public names that serve as remedies: the options that do the same."""


def as_option(setting: Named, /) -> str:
    """Return a setting or a public name as an option; as in Python if there is none.

    Examples
    --------
    >>> from bnlab.errors import Setting
    >>> print(as_option(Setting("header", False)), as_option(Setting("missing_markers")))
    --no-header --missing-marker TEXT
    >>> from bnlab.data import EqualFrequency
    >>> as_option(Setting("discretize", {"age [y]": EqualFrequency(3)}))
    "--discretize 'age [y]=frequency:3'"
    """
    if isinstance(setting, Public):
        return INSTEAD.get(setting.name, setting.name)
    if setting.name not in OPTIONS:
        return str(setting)
    option, what = OPTIONS[setting.name]
    if setting.value is False or setting.value == ():
        return f"--no-{option}"
    if setting.value is True:
        return f"--{option}"
    words = [] if setting.value is ... else choices.said(setting.name, setting.value)
    if not words or not all(map(str.isprintable, words)):
        return f"--{option} {what}"
    return " ".join(f"--{option}{_after(word)}" for word in words)


def _after(word: str) -> str:
    """A value behind its option, as a shell takes it."""
    quoted = shlex.quote(word)
    if quoted == word and not any(map(str.isalnum, word)):
        quoted = f"'{word}'"  # a comma would pass for one of the sentence
    return f"={quoted}" if word.startswith("-") else f" {quoted}"
