"""Errors and notes whose remedies are data, so that a command line can spell them as its own."""

from __future__ import annotations

import sys
import warnings
from ast import literal_eval
from collections.abc import Callable
from dataclasses import dataclass
from string import Formatter


@dataclass(frozen=True, slots=True)
class Setting:
    """An argument that a message names: `name=value`, or `name=` for a value of the caller's."""

    name: str
    value: object = ...

    def __str__(self) -> str:
        if self.value is ...:
            return f"{self.name}="
        text = repr(self.value)
        if isinstance(self.value, str) and text == f"'{self.value}'" and '"' not in text:
            text = f'"{self.value}"'
        return f"{self.name}={text}"


@dataclass(frozen=True, slots=True)
class Public:
    """A public name of the package that a message gives as a remedy, such as `sample_orders`."""

    name: str

    def __str__(self) -> str:
        return self.name


Named = Setting | Public
Part = str | Named  # of a message
Spell = Callable[[Named], str]


class Note(str):
    """A text that knows the settings and names in it."""

    parts: tuple[Part, ...]

    def __new__(cls, *parts: Part) -> Note:
        note = super().__new__(cls, "".join(map(str, parts)))
        note.parts = tuple(piece for part in parts for piece in getattr(part, "parts", (part,)))
        return note

    @classmethod
    def of(cls, said: str, remedy: str, /, **values: object) -> Note:
        """Return a note of a text as it is and a template.

        There `{name=}` and `{name=literal}` are settings, others are among the values.
        """
        found: list[Part] = [said]
        formatter = Formatter()
        for text, field, spec, conversion in formatter.parse(remedy):
            piece: object = ""
            name, equals, literal = (field or "").partition("=")
            if equals:
                piece = Setting(name, literal_eval(literal) if literal else ...)
            elif name:
                piece, _ = formatter.get_field(name, (), values)
                if conversion or not isinstance(piece, Named | tuple):
                    piece = format(formatter.convert_field(piece, conversion), spec or "")
            for part in (text, *(piece if isinstance(piece, tuple) else (piece,))):
                if isinstance(part, str) and isinstance(found[-1], str):
                    found[-1] += part
                else:
                    found.append(part)
        return cls(*found)

    def spelled(self, spell: Spell, /) -> str:
        """Return the text with what it names as `spell` writes it."""
        return "".join(part if isinstance(part, str) else spell(part) for part in self.parts)


class InputError(ValueError):
    """A ValueError made of texts and of the settings that it is about, or that would mend it."""

    def __init__(self, *parts: Part) -> None:
        super().__init__(*parts)

    @classmethod
    def of(cls, said: str, remedy: str, /, **values: object) -> InputError:
        """Return the error of what `Note.of` makes of these."""
        return cls(*Note.of(said, remedy, **values).parts)

    def __str__(self) -> str:
        return self.spelled(str)

    def spelled(self, spell: Spell, /) -> str:
        """Return the message with what it names as `spell` writes it; its texts as they are."""
        return Note(*self.args).spelled(spell)


def parts_of(error: Exception, /) -> tuple[Part, ...]:
    """Return the parts of a message, to put it into another."""
    return error.args if isinstance(error, InputError) else (str(error),)


def warn(message: str, /) -> None:
    """Issue a `UserWarning` at the line outside this package that led to it."""
    level, frame = 1, sys._getframe(0)
    homes = ("bnlab", "contextlib")  # decorators may be context managers
    while frame.f_back is not None and frame.f_globals["__name__"].split(".")[0] in homes:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, stacklevel=level)
