"""Bokeh without the work that it throws away, for tests that make and tell thousands of models.

To tell which properties of a model are set, Bokeh works out the defaults of all others too, and
each default anew for each model; of each new model it asks every property whether its default can
be changed; it looks for callbacks to warn of, also where it is to warn of none; with each document
it goes through all classes for models of data; it tries many ways to write a text or a number,
which JSON has as it is; and for each value it works out anew what a property takes beside names of
columns. What comes out is the same: kept films are made without this.
"""

from collections.abc import Callable
from functools import cache
from math import isfinite
from typing import Any

from bokeh.core.has_props import HasProps, is_DataModel
from bokeh.core.property.dataspec import DataSpec
from bokeh.core.property.descriptors import PropertyDescriptor
from bokeh.core.property.nothing import Nothing
from bokeh.core.property.primitive import String
from bokeh.core.property.singletons import Intrinsic, Undefined
from bokeh.core.property.vectorization import Field, Value
from bokeh.core.property.wrappers import (
    PropertyValueContainer,
    PropertyValueDict,
    PropertyValueList,
    PropertyValueSet,
)
from bokeh.core.serialization import Serializer
from bokeh.document import document
from bokeh.embed import util

ENCODE = Serializer.encode
QUERY, DEFAULT = HasProps.query_properties_with_values, PropertyDescriptor._get_default
PLAIN = (type(None), bool, int, float, str, Field, Value)
EMPTY = (PropertyValueDict, PropertyValueList, PropertyValueSet)

plain_defaults: dict[tuple[type, str], Any] = {}
empty_defaults: dict[tuple[type, str], type] = {}
own_defaults: dict[type, list[Any]] = {}


def _of_those_set(
    model: Any, query: Callable[[Any], bool], *, include_defaults: bool = True, **options: bool
) -> dict[str, Any]:
    """The properties for which the query is true, with their values."""
    if include_defaults:
        return QUERY(model, query, **options)
    own, themed = model._unstable_default_values, model.themed_values() or {}
    given, found = {*model._property_values, *own, *themed}, {}
    for name in filter(given.__contains__, model.properties(_with_props=True)):
        if query(descriptor := model.lookup(name)):
            value = descriptor.get_value(model)
            untouched = name in own and name not in themed
            if not (untouched and isinstance(value, PropertyValueContainer)):
                found[name] = value
    return found


def _default(descriptor: Any, model: Any) -> Any:
    """A property's default, looked up once for each class if nobody changes it, or if empty."""
    name, own = descriptor.name, model._unstable_default_values
    if name in (model.themed_values() or ()):
        return DEFAULT(descriptor, model)
    if name in own:
        return own[name]
    key = type(model), name
    if key in empty_defaults:
        own[name] = empty_defaults[key]()
        own[name]._register_owner(model, descriptor)
        return own[name]
    if key not in plain_defaults:
        value = DEFAULT(descriptor, model)
        if isinstance(value, EMPTY) and not value and name in own:
            empty_defaults[key] = type(value)
        if type(value) not in PLAIN or name in own:
            return value
        plain_defaults[key] = value
    return plain_defaults[key]


def _begin(model: Any, **given: Any) -> None:
    """`HasProps.__init__`: which properties have a default of the model's own is the class's."""
    super(HasProps, model).__init__()
    model._property_values = {}
    model._unstable_default_values = {}
    model._unstable_themed_values = {}
    for name, value in given.items():
        if value is not Undefined and value is not Intrinsic:
            setattr(model, name, value)
    kind = type(model)
    if kind not in own_defaults:
        every = map(model.lookup, model.properties(_with_props=True))
        own_defaults[kind] = [each for each in every if each.has_unstable_default(model)]
    for descriptor in own_defaults[kind]:
        if descriptor.name not in given:
            descriptor._get(model)
    model._initialized = True


def _themed(model: Any) -> Any:
    """What a theme sets: without it Bokeh would look for a property of that name first."""
    return vars(model).get("__themed_values__")


def _vectorized(spec: Any, model: Any, name: str, value: Any) -> Any:
    """`DataSpec.to_serializable`: a value of the property's own type, or the name of a column."""
    if not hasattr(spec, "wordless"):
        spec.wordless = spec.value_type.replace(String, Nothing())
    try:
        spec.wordless.validate(value, False)
    except ValueError:
        return Field(value) if isinstance(value, str) else value
    return Value(value)


def _told(serializer: Any, value: Any) -> Any:
    """What JSON has for a value."""
    kind = type(value)
    plain = kind is str or (kind is float and isfinite(value))
    return value if plain else ENCODE(serializer, value)


def make_lean(change: Callable[[Any, str, Any], None]) -> None:
    """Have it so: `change` is `setattr`, or what changes back after a test."""
    change(HasProps, "query_properties_with_values", _of_those_set)
    change(PropertyDescriptor, "_get_default", _default)
    change(HasProps, "__init__", _begin)
    change(HasProps, "themed_values", _themed)
    change(DataSpec, "to_serializable", _vectorized)
    change(Serializer, "encode", _told)
    change(document, "is_DataModel", cache(is_DataModel))
    change(util, "submodel_has_python_callbacks", lambda models: False)
