"""Copies of a lab for a class, made from the one lab that holds exercises and solutions.

In a lab an exercise is code for the student to change, then `solved_1 = lab.check_something(...)`,
then cells with the tag "solution". In a copy the code and the check are two cells with the
metadata of nbgrader: the first is the student's, the second is locked and graded.
"""

import ast
import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

Cell = dict[str, Any]
Notebook = dict[str, Any]

SOLUTION = "solution"
BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"
GOES_ON = "raises-exception"  # Jupyter's tag: a cell that fails does not stop "Run all"


@dataclass(frozen=True, slots=True)
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
        solution, call = _without_check(self.solution, _function(self.check))
        pairs = zip(self.check.args, call.args, strict=True)
        names = [f"{ast.unparse(name)} = {ast.unparse(value)}" for name, value in pairs]
        return "\n".join([self.answer, "", "", BEGIN, solution, "", "", *names, END])


def student_copy(lab: Notebook, /) -> Notebook:
    """A lab without its solutions, for students.

    Parameters
    ----------
    lab : notebook in nbformat 4, as `json.load` reads it; left as it is

    Returns
    -------
    dict
        The copy. Its checks fail until their exercises are solved, and "Run all" goes on after
        them.

    Raises
    ------
    ValueError
        If a check has no code before it that a student could change, or no solution after it.

    Examples
    --------
    >>> code = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": 1}
    >>> stub = code | {"source": "x = None\\nsolved_1 = lab.check_x(x)"}
    >>> solved = code | {"source": "assert lab.check_x(3)", "metadata": {"tags": ["solution"]}}
    >>> [cell["source"] for cell in student_copy({"cells": [stub, solved]})["cells"]]
    ['x = None', 'assert lab.check_x(x)']
    """
    return _copied(lab, solved=False)


def solved_copy(lab: Notebook, /) -> Notebook:
    """A lab whose exercises are solved in the student's cells: nbgrader's source version.

    `nbgrader generate_assignment` takes out what stands between its marks.

    Parameters
    ----------
    lab : as for `student_copy`

    Examples
    --------
    >>> code = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": 1}
    >>> stub = code | {"source": "x = None\\nsolved_1 = lab.check_x(x)"}
    >>> solved = code | {"source": "assert lab.check_x(3)", "metadata": {"tags": ["solution"]}}
    >>> solved_copy({"cells": [stub, solved]})["cells"][0]["source"].splitlines()[-2]
    'x = 3'
    """
    return _copied(lab, solved=True)


def exercises(lab: Notebook, /) -> list[Exercise]:
    """The exercises of a lab, in order.

    Examples
    --------
    >>> exercises({"cells": []})
    []
    """
    return [part for part in _parts(lab["cells"]) if isinstance(part, Exercise)]


def _copied(lab: Notebook, *, solved: bool) -> Notebook:
    cells, number = list[Cell](), 0
    for part in _parts(lab["cells"]):
        if not isinstance(part, Exercise):
            cells.append(copy.deepcopy(part))
            continue
        number += 1
        answer = part.solved_answer if solved else part.answer
        cells.append(_graded(f"answer-{number}", answer, solution=True, locked=False))
        check = _graded(
            f"check-{number}", f"assert {ast.unparse(part.check)}", grade=True, points=1
        )
        check["metadata"]["tags"] = [GOES_ON]
        cells.append(check)
    return {**copy.deepcopy({k: v for k, v in lab.items() if k != "cells"}), "cells": cells}


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
        while waiting and SOLUTION in waiting[0]["metadata"].get("tags", []):
            solutions.append(_unmarked(_source(waiting.pop(0))))
        if not code or not solutions:
            what = "solution after it" if code else "code before it to change"
            raise ValueError(f"{ast.unparse(check)}: the check has no {what}")
        yield Exercise(code, check, "\n\n".join(solutions))


def _split(cell: Cell) -> tuple[str, ast.Call] | None:
    """The code before a check, and the check, if a cell ends with one."""
    if not _is_code(cell) or SOLUTION in cell["metadata"].get("tags", []):
        return None
    source = _source(cell)
    try:
        body = ast.parse(source).body
    except SyntaxError:  # IPython's own commands
        return None
    last = body[-1] if body else None
    if not (isinstance(last, ast.Assign) and _is_check(last.value)):
        return None
    assert isinstance(last.value, ast.Call)
    return "\n".join(source.splitlines()[: last.lineno - 1]).rstrip(), last.value


def _without_check(solution: str, function: str) -> tuple[str, ast.Call]:
    """A solution without its `assert lab.check_something(...)`, and that call."""
    for statement in ast.parse(solution).body:
        if isinstance(statement, ast.Assert) and _is_check(statement.test):
            assert isinstance(statement.test, ast.Call)
            if _function(statement.test) == function:
                lines = solution.splitlines()
                del lines[statement.lineno - 1 : statement.end_lineno]
                return "\n".join(lines).rstrip(), statement.test
    raise ValueError(f"the solution does not assert {function}(...)")


def _is_check(value: ast.expr) -> bool:
    return isinstance(value, ast.Call) and _function(value).startswith("lab.check_")


def _function(call: ast.Call) -> str:
    return ast.unparse(call.func)


def _is_code(cell: Cell) -> bool:
    return bool(cell["cell_type"] == "code")


def _source(cell: Cell) -> str:
    """The text of a cell, which notebooks on disk keep as lines."""
    return "".join(cell["source"])


def _unmarked(solution: str) -> str:
    lines = [line for line in solution.splitlines() if line.strip() not in (BEGIN, END)]
    return "\n".join(lines)
