"""The remedies that errors name, from the words of Python to those of the command line."""

import ast
import re
import shlex

NAMES = {
    "missing_markers": "missing-marker",
    **{
        name: name.replace("_", "-")
        for name in (
            *("header", "delimiter", "skip", "letters", "drop", "levels", "discretize", "count"),
            *("decimal", "intervention", "missing", "encoding", "max_levels", "max_parents"),
            *("method", "seconds", "ess"),
        )
    },
}
"""Arguments of `read_table`, `choose_method` and `BDeu`, and the options for them."""

_ARGUMENT = re.compile(
    rf"(?:(?:tell read_csv|pass) )?\b({'|'.join(NAMES)})="
    r"(\(\)|True\b|False\b|[\d.]+\b|\"[^\"]*\"|'[^']*'|)"
)


def in_options(text: str, /) -> str:
    """A message with the arguments of functions written as options.

    Examples
    --------
    >>> in_options("Say it with header=True or header=False")
    'Say it with --header or --no-header'
    >>> in_options('UTF-8, or tell read_csv encoding="latin-1"')
    'UTF-8, or use --encoding latin-1'
    """
    return _ARGUMENT.sub(_option, text)


def _option(found: re.Match[str]) -> str:
    option, value = f"--{NAMES[found[1]]}", found[2]
    if value in ("False", "()"):
        option = f"--no-{NAMES[found[1]]}"
    elif value not in ("True", ""):
        option += f" {shlex.quote(str(ast.literal_eval(value)))}"
    return option if found[0].startswith(found[1]) else f"use {option}"
