"""A part of a report alone: a block of its template."""

from typing import Any

from markupsafe import Markup

from bnlab.pages import render
from bnlab.reports import Analysis, Reading, Sensitivity, assumptions, pictures, sections


def part(
    name: str,
    analysis: Analysis,
    found: Sensitivity | None = None,
    reading: Reading | None = None,
    **values: Any,
) -> Markup:
    """The block "glance", "edges", "paths", "whatif" or "sensitivity" of a report's page."""
    modules = {"assumptions": assumptions, "pictures": pictures, "sections": sections}
    given = {"analysis": analysis, "found": found, "reading": reading, "recut": None}
    return render("report.html", name, **modules, **given | values)
