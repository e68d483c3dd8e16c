"""What a lab says of itself at its top, and the table of a syllabus made of that."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from bnlab.course.copies import Notebook, exercises

_GOAL = re.compile(r"^- (.+?)[;.]$", re.MULTILINE)
_NEEDS = re.compile(r"^You need: (.+?)\. Time: (\d+) minutes\.", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Outline:
    """The top of a lab.

    title : its question
    goals : what a student can do afterwards, in Markdown
    needs : what to know before, in Markdown
    minutes : how long it takes
    exercises : how many it has
    """

    title: str
    goals: tuple[str, ...]
    needs: str
    minutes: int
    exercises: int


def outline(lab: Notebook, /) -> Outline:
    """The outline of a lab, from its first cell.

    Parameters
    ----------
    lab : notebook in nbformat 4, as `json.load` reads it

    Raises
    ------
    ValueError
        If the first cell lacks title, goals, prerequisites or minutes.

    Examples
    --------
    >>> top = "# Why?\\n\\n- **tell** why.\\n\\nYou need: nothing. Time: 5 minutes. Run each cell."
    >>> outline({"cells": [{"cell_type": "markdown", "metadata": {}, "source": top}]}).minutes
    5
    """
    top = "".join(lab["cells"][0]["source"])
    goals, needs = _GOAL.findall(top), _NEEDS.search(top)
    title = top.splitlines()[0].removeprefix("# ")
    if not goals or needs is None:
        raise ValueError(
            f"{title}: its first cell needs goals (- ...) and a line: You need: ... Time: ... "
            "minutes."
        )
    return Outline(title, tuple(goals), needs[1], int(needs[2]), len(exercises(lab)))


def timetable(labs: Iterable[tuple[str, Outline]], /) -> list[str]:
    """The lines of a Markdown table of labs (file name, outline).

    Examples
    --------
    >>> print(timetable([("00_why.ipynb", Outline("Why?", ("**tell** why",), "nothing", 5, 3))])[2])
    | [00](00_why.ipynb) | Why? | **tell** why | nothing | 5 | 3 |
    """
    return [
        "| Lab | Question | Afterwards you can | You need | Minutes | Exercises |",
        "|---|---|---|---|---:|---:|",
        *(
            f"| [{name[:2]}]({name}) | {lab.title} | {'; '.join(lab.goals)} | {lab.needs} | "
            f"{lab.minutes} | {lab.exercises} |"
            for name, lab in labs
        ),
    ]
