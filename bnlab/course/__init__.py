"""What a teacher hands out: copies without solutions, nbgrader's sources, and web pages.

All of it is made from the labs themselves, each of which holds its exercises and solutions.
"""

from typing import TYPE_CHECKING

import lazy_loader

from bnlab.course.copies import Exercise, exercises, solved_copy, student_copy

if TYPE_CHECKING:
    from bnlab.course.handing_out import Page, lab_page, make_course, text_page

__all__ = [
    "Exercise",
    "Page",
    "exercises",
    "lab_page",
    "make_course",
    "solved_copy",
    "student_copy",
    "text_page",
]

# What writes web pages is loaded when it is asked for: copies need no nbconvert.
__getattr__, _, _ = lazy_loader.attach(
    __name__, submod_attrs={"handing_out": ["Page", "lab_page", "make_course", "text_page"]}
)
