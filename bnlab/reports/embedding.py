"""Bokeh figures in a page, the same bytes each time: Bokeh's random names become numbers."""

import re
from collections.abc import Mapping
from typing import Any

from bokeh.embed import components

_RANDOM = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")


def embedded(figures: Mapping[str, Any], /) -> tuple[str, dict[str, str]]:
    """The script that draws the figures, and the HTML of each of them.

    Examples
    --------
    >>> from bnlab import plots
    >>> script, drawn = embedded({"edges": plots.heat_map([[0, 1], [0, 0]], ["rain", "wet"])})
    >>> drawn["edges"].split()[1]
    'id="bokeh-0"'
    """
    script, drawn = components(dict(figures))
    names: dict[str, str] = {}

    def named(found: re.Match[str]) -> str:
        return names.setdefault(found[0], f"bokeh-{len(names)}")

    parts = {name: _RANDOM.sub(named, part) for name, part in drawn.items()}
    return _RANDOM.sub(named, script), parts
