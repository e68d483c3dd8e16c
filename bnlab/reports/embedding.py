"""Bokeh figures in a page, the same bytes each time: Bokeh's random names become numbers."""

import re
from collections.abc import Mapping
from typing import Any

from bokeh.embed import components

_PLACE = re.compile(r'id="([0-9a-f-]{36})"')
_DOCUMENT = re.compile(r'"docid":"([0-9a-f-]{36})"')


def embedded(figures: Mapping[str, Any], /) -> tuple[str, dict[str, str]]:
    """The script that draws the figures, and the HTML of each of them.

    Examples
    --------
    >>> from bnlab import plots
    >>> script, drawn = embedded({"edges": plots.heat_map([[0, 1], [0, 0]], ["rain", "wet"])})
    >>> drawn["edges"].split()[1]
    'id="bokeh-1"'
    """
    script, drawn = components(dict(figures))
    names = [*_DOCUMENT.findall(script), *_PLACE.findall("".join(drawn.values()))]
    for number, name in enumerate(dict.fromkeys(names)):
        script = script.replace(name, f"bokeh-{number}")
        drawn = {key: part.replace(name, f"bokeh-{number}") for key, part in drawn.items()}
    return script, drawn
