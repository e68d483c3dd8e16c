"""Copies of a lab for a class, made from the one lab that holds exercises and solutions.

In a lab an exercise is code for the student to change, then `solved_1 = lab.check_something(...)`,
then cells with the tag "solution". Copies lack the solutions and are as if never run. For nbgrader
the code and the check become two cells: the first is the student's, the second is locked and
graded.

A lab asks by `guess = lab.predict(...)` and answers by `guess.reveal(...)`. Copies hold no pictures
in between, and no outcome that could be read in the code.
"""

import ast
import base64
import copy
import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from bnlab.checks import checked, frozen, shown

Cell = dict[str, Any]
Notebook = dict[str, Any]

SOLUTION = "solution"
CELL_TYPES = ("markdown", "code", "raw")
BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"
GOES_ON = "raises-exception"  # Jupyter's tag: a cell that fails does not stop "Run all"

# A picture, with what folds it and the caption in italics below.
_SHOWS = re.compile(
    r"(?:<details[^!]*)?!\[[^\]]*\]\([^)]*\)\s*(?:\*(?!\*).*\s*)?(?:</details>\s*)?"
)
_PICTURE = re.compile(r"\]\((images/[^)]+)\)")
_ASKS, _REVEALS = re.compile(r"(\w+) = lab\.predict\("), re.compile(r"(\w+)\.reveal\(")


@frozen(eq=True)
class Exercise:
    """One exercise of a lab.

    answer : code that the student changes
    check : the call `lab.check_something(...)` on the names that the answer gives a value
    solution : code that answers, and calls the same check
    """

    answer: str
    check: ast.Call
    solution: str

    @property
    def solved_answer(self) -> str:
        """The answer with the solution below it, between nbgrader's marks.

        The solution's own call of the check is replaced by giving its arguments the names that
        the student's have.
        """
        solution, call = _without_check(self.solution, ast.unparse(self.check.func))
        pairs = zip(self.check.args, call.args, strict=True)
        names = [f"{ast.unparse(name)} = {ast.unparse(value)}" for name, value in pairs]
        return "\n".join([self.answer, "", "", BEGIN, solution, "", "", *names, END])


@checked
def student_copy(lab: Notebook, /) -> Notebook:
    """Return a lab or a paper's page without solutions and without answers to what it asks.

    Parameters
    ----------
    lab : notebook in nbformat 4, as `json.load` reads it; left as it is

    Returns
    -------
    dict
        The copy, as if it had never been run: no outputs, no numbers of cells, no state of
        widgets. Pictures between a prediction and its outcome are left out.
    """
    cells = cells_of(lab)
    return _like(lab, _unanswered([cell for cell in cells if SOLUTION not in _tags(cell)]))


@checked
def solved_copy(lab: Notebook, /) -> Notebook:
    """Return a lab with its exercises solved in the student's cells: nbgrader's source version.

    `nbgrader generate_assignment` takes out what stands between its marks; as its release goes to
    students, this copy has no results either, and the pictures of `student_copy` only. A check
    that fails does not stop "Run all".

    Parameters
    ----------
    lab : as for `student_copy`

    Raises
    ------
    ValueError
        If a check has no code before it that a student could change, or no solution after it.
    """
    cells, number = list[Cell](), 0
    for part in _parts(cells_of(lab)):
        if not isinstance(part, Exercise):
            cells.append(part)
            continue
        number += 1
        cells.append(_graded(f"answer-{number}", part.solved_answer, solution=True, locked=False))
        check = f"assert {ast.unparse(part.check)}"
        cells.append(_graded(f"check-{number}", check, grade=True, points=1))
        cells[-1]["metadata"]["tags"] = [GOES_ON]
    return _like(lab, _unanswered(cells))


@checked
def exercises(lab: Notebook, /) -> list[Exercise]:
    """List the exercises of a lab, in order."""
    return [part for part in _parts(cells_of(lab)) if isinstance(part, Exercise)]


def cells_of(lab: Notebook, /) -> list[Cell]:
    """Return the cells of a notebook, or raise a ValueError for what is none."""
    cells: Any = lab.get("cells")
    try:
        json.dumps(lab)
        whole = (
            isinstance(cells, list)
            and isinstance(lab.get("metadata", {}), dict)
            and all(
                isinstance(cell.get("metadata", {}), dict)
                and isinstance("".join(cell["source"]), str)
                and all(output["output_type"] for output in cell.get("outputs", []))
                for cell in cells
            )
        )
    except (TypeError, ValueError, KeyError, AttributeError):
        whole = False
    if not whole or any(cell.get("cell_type") not in CELL_TYPES for cell in cells):
        raise ValueError(f"lab={shown(lab)}: give a notebook in nbformat 4, as json.load reads it")
    return list(cells)


def pictures_in(text: str, /) -> list[str]:
    """Return the files of the pictures that a text in Markdown, or a notebook's file, shows."""
    return _PICTURE.findall(text)


def written(lab: Notebook, /) -> bytes:
    """Return a notebook as a file holds it."""
    return (json.dumps(lab, indent=1, ensure_ascii=False) + "\n").encode()


def _like(lab: Notebook, cells: list[Cell]) -> Notebook:
    """The notebook with other cells, and without the state of its widgets."""
    whole = copy.deepcopy({key: value for key, value in lab.items() if key != "cells"})
    whole.get("metadata", {}).pop("widgets", None)
    return {**whole, "cells": cells}


def _unanswered(cells: Sequence[Cell]) -> list[Cell]:
    """The cells as if never run, without pictures between a prediction and its outcome."""
    kept, waiting = list[Cell](), set[str]()
    for cell in map(_unrun, cells):
        if _is_code(cell):
            waiting |= set(_ASKS.findall(_source(cell)))
            waiting -= set(_REVEALS.findall(_source(cell)))
            if _REVEALS.search(_source(cell)):
                cell["source"] = _sealed(_source(cell))
        elif waiting:
            cell["source"] = _SHOWS.sub("", _source(cell))
        if _source(cell):
            kept.append(cell)
    return kept


def _sealed(source: str) -> str:
    """The code of a cell, an outcome that stands in it sealed (see `labs.predict`)."""
    for node in [each for statement in _statements(source) for each in ast.walk(statement)]:
        if not isinstance(node, ast.Call) or not _REVEALS.match(ast.unparse(node)):
            continue
        try:
            outcome = [ast.literal_eval(value) for value in node.args]
        except ValueError:  # it is computed
            continue
        if outcome:
            code = base64.b64encode(json.dumps(outcome).encode()).decode()
            sealed = ast.keyword("sealed", ast.Constant(code))
            call = ast.unparse(ast.Call(node.func, [], [sealed, *node.keywords]))
            source = source.replace(ast.get_source_segment(source, node) or "", call)
    return source


def _unrun(cell: Cell) -> Cell:
    """A cell as if it had never been run."""
    fresh = copy.deepcopy(cell)
    fresh.get("metadata", {}).pop("execution", None)
    return fresh | {"outputs": [], "execution_count": None} if _is_code(cell) else fresh


def _graded(name: str, source: str, **metadata: object) -> Cell:
    """A code cell that nbgrader knows as `name` (its format 3)."""
    known = {"schema_version": 3, "grade_id": name, "cell_type": "code", "task": False}
    roles = {"grade": False, "solution": False, "locked": True}
    return {
        "cell_type": "code",
        "id": name,
        "metadata": {"nbgrader": known | roles | metadata},
        "source": source,
        "outputs": [],
        "execution_count": None,
    }


def _parts(cells: Sequence[Cell]) -> Iterator[Cell | Exercise]:
    """The cells of a lab, with those of an exercise put together."""
    waiting = list(cells)
    while waiting:
        cell = waiting.pop(0)
        follows = _split(waiting[0]) if waiting else None
        code, check = _split(cell) or (None, None)
        # In some labs the check stands alone, in the cell after the code.
        if check is None and _is_code(cell) and follows is not None and not follows[0]:
            code, check = _source(cell), follows[1]
            waiting.pop(0)
        if check is None:
            yield cell
            continue
        solutions = []
        while waiting and SOLUTION in _tags(waiting[0]):
            lines = _source(waiting.pop(0)).splitlines()
            solutions.append("\n".join(line for line in lines if line.strip() not in (BEGIN, END)))
        if not code or not solutions:
            what = "solution after it" if code else "code before it to change"
            raise ValueError(f"{ast.unparse(check)}: the check has no {what}")
        yield Exercise(code, check, "\n\n".join(solutions))


def _split(cell: Cell) -> tuple[str, ast.Call] | None:
    """The code before a check, and the check, if a cell ends with one."""
    if not _is_code(cell) or SOLUTION in _tags(cell):
        return None
    source = _source(cell)
    body = _statements(source)
    last = body[-1] if body else None
    check = _check_in(last.value) if isinstance(last, ast.Assign) else None
    if last is None or check is None:
        return None
    return "\n".join(source.splitlines()[: last.lineno - 1]).rstrip(), check


def _statements(source: str) -> list[ast.stmt]:
    """The statements of a cell's code; none of what has IPython's own commands."""
    try:
        return ast.parse(source).body
    except SyntaxError:
        return []


def _without_check(solution: str, function: str) -> tuple[str, ast.Call]:
    """A solution without its `assert lab.check_something(...)`, and that call."""
    for statement in ast.parse(solution).body:
        call = _check_in(statement.test) if isinstance(statement, ast.Assert) else None
        if call is not None and ast.unparse(call.func) == function:
            lines = solution.splitlines()
            del lines[statement.lineno - 1 : statement.end_lineno]
            return "\n".join(lines).rstrip(), call
    raise ValueError(f"the solution does not assert {function}(...)")


def _check_in(value: ast.expr) -> ast.Call | None:
    """The call of a check, if that is what this is."""
    if isinstance(value, ast.Call) and ast.unparse(value.func).startswith("lab.check_"):
        return value
    return None


def _is_code(cell: Cell) -> bool:
    return bool(cell["cell_type"] == "code")


def _tags(cell: Cell) -> list[str]:
    return list(cell.get("metadata", {}).get("tags", []))


def _source(cell: Cell) -> str:
    """The text of a cell, which notebooks on disk keep as lines."""
    return "".join(cell["source"])
