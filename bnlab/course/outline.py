"""What a lab says of itself at its top, and the table of a syllabus made of that."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from bnlab.checks import checked
from bnlab.course.copies import Notebook, cells_of, exercises

_GOAL = re.compile(r"^- (.+?)[;.]$", re.MULTILINE)
_NEEDS = re.compile(r"^You need: (.+?)\. Time: (\d+) minutes\.", re.MULTILINE)


@checked
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


@checked
def outline(lab: Notebook, /) -> Outline:
    """Read the outline of a lab from its first cell.

    Parameters
    ----------
    lab : notebook in nbformat 4, as `json.load` reads it

    Raises
    ------
    ValueError
        If the first cell lacks title, goals, prerequisites or minutes.
    """
    top = "".join("".join(cell["source"]) for cell in cells_of(lab)[:1])
    goals, needs = _GOAL.findall(top), _NEEDS.search(top)
    title = top.partition("\n")[0].removeprefix("# ")
    if not goals or needs is None:
        raise ValueError(
            f"{title}: its first cell needs goals (- ...) and a line: You need: ... Time: ... "
            "minutes."
        )
    return Outline(title, tuple(goals), needs[1], int(needs[2]), len(exercises(lab)))


@checked
def timetable(labs: Sequence[tuple[str, Outline]], /) -> list[str]:
    """Return the lines of a Markdown table of labs (file name, outline)."""
    return [
        "| Lab | Question | Afterwards you can | You need | Minutes | Exercises |",
        "|---|---|---|---|---:|---:|",
        *(
            f"| [{name[:2]}]({name}) | {lab.title} | {'; '.join(lab.goals)} | {lab.needs} | "
            f"{lab.minutes} | {lab.exercises} |"
            for name, lab in labs
        ),
    ]
