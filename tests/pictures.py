"""What every picture has."""

from bokeh.embed import json_item
from bokeh.models import CategoricalAxis


def columns(picture, name):
    """The columns of a named source of a picture."""
    return picture.select_one({"name": name}).data


def check_picture(picture, *sources):
    """Its named sources, a text for screen readers, and no value that JSON cannot say."""
    for name in sources:
        assert picture.select_one({"name": name}) is not None
    assert picture.html_attributes["role"] == "img"
    assert len(picture.html_attributes["aria-label"]) > 15
    assert json_item(picture)


def check_plot(picture, *sources):
    """A title too, and what each axis of numbers counts."""
    check_picture(picture, *sources)
    assert picture.title.text
    numeric = [axis for axis in picture.axis if not isinstance(axis, CategoricalAxis)]
    assert all(axis.axis_label for axis in numeric if axis.visible)
