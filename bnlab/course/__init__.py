"""What a teacher hands out: copies without solutions, nbgrader's sources, and web pages.

All of it is made from the labs themselves, each of which holds its exercises and solutions.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from bnlab.course.copies import (
    Exercise,
    Outline,
    exercises,
    outline,
    solved_copy,
    student_copy,
    timetable,
)

if TYPE_CHECKING:
    from bnlab.course.handing_out import Page, lab_page, make_course, text_page

__all__ = [
    "Exercise",
    "Outline",
    "Page",
    "exercises",
    "lab_page",
    "make_course",
    "outline",
    "solved_copy",
    "student_copy",
    "text_page",
    "timetable",
]


def __getattr__(name: str) -> object:
    """Load what writes web pages when it is asked for: copies need no nbconvert."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.handing_out"), name)
