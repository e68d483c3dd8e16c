"""Bokeh without the work that it throws away, for tests that make and tell thousands of models.

To tell which properties of a model are set, Bokeh works out all others too, and for each of them
collects the defaults of all classes anew. What comes out is the same.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
from bokeh.core.has_props import HasProps

USUAL = HasProps.query_properties_with_values


def _of_those_set(
    model: Any, query: Callable[[Any], bool], *, include_defaults: bool = True, **options: bool
) -> dict[str, Any]:
    """The properties for which the query is true, with their values."""
    if include_defaults:
        return USUAL(model, query, **options)
    given = {*model._property_values, *model._unstable_default_values}
    given.update(model.themed_values() or ())
    return USUAL(
        model, lambda each: each.name in given and query(each), include_defaults=False, **options
    )


def make_lean(patch: pytest.MonkeyPatch) -> None:
    """Have it so for a test."""
    patch.setattr(HasProps, "query_properties_with_values", _of_those_set)
    defaults: Any = cache(HasProps._overridden_defaults.__func__)
    patch.setattr(HasProps, "_overridden_defaults", classmethod(defaults))
