"""What a teacher hands out: copies without solutions, nbgrader's sources, and web pages.

All of it is made from the labs themselves, each of which holds its exercises and solutions.
"""

from bnlab.course.copies import Exercise, exercises, solved_copy, student_copy
from bnlab.course.handing_out import make_course
from bnlab.course.outline import Outline, outline, timetable
from bnlab.course.pages import Page, lab_page, text_page

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
