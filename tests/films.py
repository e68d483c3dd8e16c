"""The films of the labs' pages: what a widget shows at each stop of some controls, in a file.

    uv run --extra test python tests/films.py [NAME ...]               # all, or those named

A film holds the pictures at the first stop, as Bokeh's JSON, and for all others what differs:
values of properties of models, and columns of sources. `bnlab course` puts it into the page of its
lab, in the place of the widget, and `film.js` of `bnlab/templates` shows it there. Numbers are
rounded to what can be seen.
"""

import json
import math
import sys
import time
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

import ipywidgets
import numpy as np
from bokeh.core.json_encoder import serialize_json
from bokeh.core.property.vectorization import Field, Value
from bokeh.document import Document
from bokeh.model import Model, collect_models
from bokeh.models import Plot
from stills import GARDEN, NOTEBOOKS, RACED, run

from bnlab.labs.board import with_minus
from bnlab.labs.view import Experiment

DIGITS = 4  # of a number, or so many of the range of its column, whichever is finer


@dataclass(frozen=True, slots=True)
class Film:
    """A widget of a notebook, which the cells that begin so make, and the controls that move.

    panels : those shown; all if none is named
    still : a picture of the lab that the film shows first; the page has it where no script runs
    begin : where controls stand at first
    only : of a control, the stops that the film has
    runs : whether what is shown must be run first
    slow : made in over three seconds
    """

    notebook: str
    cells: tuple[str, ...]
    widget: str
    moved: tuple[str, ...]
    panels: tuple[str, ...] = ()
    still: str = ""
    begin: dict[str, Any] = field(default_factory=dict)
    only: dict[str, tuple[Any, ...]] = field(default_factory=dict)
    runs: bool = False
    slow: bool = False

    @property
    def name(self) -> str:
        return f"{self.notebook}.{self.widget}"

    @property
    def file(self) -> Path:
        return NOTEBOOKS / "images" / f"{self.name}.json"

    def view(self) -> Any:
        """The widget, its controls at their first stops."""
        view = run(self.notebook, self.cells)[self.widget]
        for name, value in self.begin.items():
            view.controls[name].value = value
        return view

    def boards(self, view: Any) -> Iterator[list[tuple[Any, str]]]:
        """Fresh pictures with captions, frame by frame: the last control moves fastest."""
        for stop in product(*(self.stops(view, name).values() for name in self.moved)):
            values = view.values() | dict(zip(self.moved, stop, strict=True))
            found = [view.found] if isinstance(view, Experiment) else []
            if self.runs:
                known = view.results.get(tuple(values.values()))
                found = [known or view.compute(lambda *_: True, **values)]
            board = view.draw(*found, **values)
            yield [board[name] for name in self.panels or board]

    def stops(self, view: Any, name: str) -> dict[str, Any]:
        """Label -> value, of a control."""
        control, only = view.controls[name], self.only.get(name)
        if isinstance(control, ipywidgets.IntSlider):
            return {str(value): value for value in range(control.min, control.max + 1)}
        pairs = (each if isinstance(each, tuple) else (each, each) for each in control.options)
        return {str(label): value for label, value in pairs if only is None or value in only}

    def controls(self, view: Any) -> list[dict[str, Any]]:
        """What the page has to say of the controls."""
        out = []
        for name in self.moved:
            control, stops = view.controls[name], self.stops(view, name)
            out.append(
                {
                    "label": control.description,
                    "stops": list(stops),
                    "at": list(stops.values()).index(control.value),
                    "choice": isinstance(control, ipywidgets.Dropdown),
                    "steps": name == view.stepped,
                }
            )
        return out


FILMS = {
    film.name: film
    for film in (
        Film("00_start_here", ("explorer = ",), "explorer", ("size",), ("heat", "net"), slow=True),
        Film(
            "01_bayesian_networks",
            ("net = ", "evidence = "),
            "evidence",
            ("asked", "known_2", "known_3"),
            begin={"asked": "Burglary"},
            still="bayesian_networks_evidence",
            slow=True,
        ),
        Film(
            "01_bayesian_networks",
            ("growth = ",),
            "growth",
            ("difference", "ess"),
            still="bayesian_networks_growth",
        ),
        Film("02_modular_priors", ("washout = ",), "washout", ("size",), slow=True),
        Film(
            "03_dynamic_programming",
            ("data = ", "walk = "),
            "walk",
            ("step",),
            begin={"variables": "4", "rows": 20, "step": 46},
            still="dynamic_programming_lattice",
            slow=True,
        ),
        Film(
            "04_order_mcmc",
            ("landscape = ",),
            "landscape",
            ("beta", "step"),
            begin={"step": 12},
            only={
                "beta": (0, 0.1, 0.3, 1),
                "step": (*range(1, 26), 50, 100, 200, 500, 1000, 2000),
            },
            slow=True,
        ),
        Film(
            "05_direct_dag_sampling",
            ("workers = ", "walk = "),
            "walk",
            ("size", "step"),
            slow=True,
        ),
        Film("05_direct_dag_sampling", ("workers = ", "hundred = "), "hundred", ("drawn",)),
        Film(
            "06_linear_extensions",
            ("extensions = ",),
            "extensions",
            ("shape", "step"),
            begin={"shape": "tree"},
            still="linear_extensions_down_sets",
            slow=True,
        ),
        Film("06_linear_extensions", ("certain = ",), "certain", ("size", "drawn"), slow=True),
        Film(
            "07_annealed_importance_sampling",
            ("fans = ",),
            "fans",
            ("steps",),
            slow=True,
        ),
        Film(
            "08_evidence_bounds",
            ("closing = ",),
            "closing",
            ("rows", "runs"),
            still="evidence_bounds",
            runs=True,
            slow=True,
        ),
        Film(
            "09_hidden_scores",
            ("scores = lab",),
            "scores",
            ("size",),
            still="hidden_scores",
            slow=True,
        ),
        Film(
            "10_hidden_annealing",
            ("loops = ",),
            "loops",
            ("steps", "shape", "moves"),
            still="hidden_loops",
            slow=True,
        ),
        Film(
            "11_structure_mcmc",
            (*RACED, "stuck = "),
            "stuck",
            ("walk",),
            still="structure_mcmc_stuck",
            slow=True,
        ),
        Film(
            "12_beliefs_and_interventions",
            ("beliefs = ",),
            "beliefs",
            ("prior", "rows"),
            begin={"rows": 200},
            still="beliefs_edges",
            slow=True,
        ),
        Film(
            "12_beliefs_and_interventions",
            ("doing = ",),
            "doing",
            ("which", "rows"),
            begin={"which": "C", "rows": 20},
            still="beliefs_doing",
            slow=True,
        ),
        Film(
            "13_structure_search",
            ("steps = ",),
            "steps",
            ("step",),
            begin={"dataset": "coronary", "step": 4},
            still="search_steps",
            slow=True,
        ),
        Film(
            "14_your_own_data",
            GARDEN,
            "network",
            ("threshold",),
            still="own_network",
            slow=True,
        ),
        Film(
            "15_scaling_out",
            ("speed = ",),
            "speed",
            ("jobs", "serial", "parcel"),
            still="scaling_speed_up",
            slow=True,
        ),
    )
}


def filmed(film: Film) -> dict[str, Any]:
    """A film as its file has it."""
    view = film.view()
    controls, boards = film.controls(view), list(film.boards(view))
    begin = frame_of(controls, [control["at"] for control in controls])
    frames = [collect_models(*(picture for picture, _ in board)) for board in boards]
    names = {model.id: f"{film.widget}-{place}" for place, model in enumerate(frames[begin])}
    tracks = [
        {"model": names[models[begin].id], **track}
        for models in zip(*frames, strict=True)
        for track in tracks_of(models, begin)
    ]
    shown = [picture for picture, _ in boards[begin]]
    return {
        "widget": film.widget,
        "still": film.still,
        "controls": controls,
        "begin": begin,
        "panels": [
            {
                "root": names[picture.id],
                "width": picture.width,
                "captions": [with_minus(board[i][1]) for board in boards],
            }
            for i, picture in enumerate(shown)
        ],
        "document": document_of(shown, names),
        "tracks": tracks,
    }


def frame_of(controls: list[dict[str, Any]], stops: list[int]) -> int:
    """The number of the frame at these stops: the last control moves fastest."""
    number = 0
    for control, stop in zip(controls, stops, strict=True):
        number = number * len(control["stops"]) + stop
    return number


def tracks_of(models: tuple[Any, ...], begin: int) -> Iterator[dict[str, Any]]:
    """What differs of a model from frame to frame; the first one shown is rounded as the rest."""
    first = models[begin]
    assert len({type(model) for model in models}) == 1, f"{first}: pictures of two builds"
    given = [model.properties_with_values(include_defaults=False) for model in models]
    for name in sorted({name for values in given for name in values}):
        whole = [getattr(model, name) for model in models]
        if name in ("width", "height") and isinstance(first, Plot):
            setattr(first, name, max(whole))  # there is room for each frame
            continue
        columns = list(whole[0]) if name == "data" else [""]
        for column in columns:
            rounded = plain([data[column] for data in whole] if column else whole)
            track = distinct(rounded)
            if column:
                first.data[column] = with_nan(rounded[begin])
            elif track and isinstance(rounded[begin], int | float):
                setattr(first, name, rounded[begin])
            if track:
                yield {"property": name, "column": column, **track}


def document_of(pictures: list[Any], names: dict[str, str]) -> Any:
    """Pictures as Bokeh's JSON, with these names for models."""
    document = Document()
    for picture in pictures:
        document.add_root(picture)
    return renamed(json.loads(serialize_json(document.to_json())), names)


def renamed(node: Any, names: dict[str, str]) -> Any:
    """JSON of a document with other names of models, which do not depend on others made before."""
    if isinstance(node, dict):
        return {
            key: names.setdefault(each, f"other-{len(names)}")
            if key == "id"
            else renamed(each, names)
            for key, each in node.items()
        }
    return [renamed(each, names) for each in node] if isinstance(node, list) else node


def distinct(values: list[Any]) -> dict[str, Any] | None:
    """The values that differ, and which of them each frame has; None if all are one."""
    told = [json.dumps(value) for value in values]
    kinds = list(dict.fromkeys(told))
    if len(kinds) == 1:
        return None
    return {
        "values": [json.loads(kind) for kind in kinds],
        "frames": [kinds.index(each) for each in told],
    }


def plain(values: Any) -> Any:
    """Lists of numbers and texts, as JSON has them: rounded, not-a-number is None."""
    numbers = [x for x in flat(values) if isinstance(x, float | np.floating) and math.isfinite(x)]
    spread = max(numbers) - min(numbers) if numbers else 0.0
    places = DIGITS - math.ceil(math.log10(spread)) if spread else 0

    def told(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: told(each) for key, each in value.items()}
        if isinstance(value, np.ndarray | list | tuple):
            return [told(each) for each in value]
        if isinstance(value, bool | np.bool_):
            return bool(value)
        if isinstance(value, int | np.integer):
            return int(value)
        if isinstance(value, float | np.floating) and not math.isinf(value):
            if math.isnan(value):
                return None
            near = [round(float(value), places), float(f"{value:.{DIGITS}g}")]
            best = min(near, key=lambda each: abs(each - value))
            return int(best) if best == int(best) else best
        if isinstance(value, Value):
            return {"value": told(value.value)}
        if isinstance(value, Field):
            return {"field": value.field}
        if value is None or isinstance(value, str):
            return value
        return "a model" if isinstance(value, Model) else repr(value)

    return told(values)


def flat(values: Any) -> Iterator[Any]:
    """The leaves of lists of lists."""
    if isinstance(values, np.ndarray | list | tuple):
        for each in values:
            yield from flat(each)
    else:
        yield values


def with_nan(column: Any) -> Any:
    """A column of a source, where None is no number."""
    if isinstance(column, list):
        return [with_nan(each) for each in column]
    return math.nan if column is None else column


def frame(film: dict[str, Any], number: int) -> list[tuple[Any, str]]:
    """The pictures and captions of a frame, as a page shows them."""
    document = Document.from_json(deepcopy(film["document"]))  # it is changed
    columns: dict[str, dict[str, Any]] = {}
    for track in film["tracks"]:
        value = track["values"][track["frames"][number]]
        if track["property"] == "data":
            columns.setdefault(track["model"], {})[track["column"]] = with_nan(value)
        else:
            setattr(document.get_model_by_id(track["model"]), track["property"], value)
    for model, moved in columns.items():
        source = document.get_model_by_id(model)
        source.data = dict(source.data) | moved
    return [
        (document.get_model_by_id(panel["root"]), panel["captions"][number])
        for panel in film["panels"]
    ]


def main() -> None:
    for name in sys.argv[1:] or FILMS:
        begun = time.perf_counter()
        made = filmed(FILMS[name])
        frames = len(made["panels"][0]["captions"])
        text = json.dumps(made, ensure_ascii=False, separators=(",", ":"))
        FILMS[name].file.write_text(text + "\n", encoding="utf-8")
        taken = time.perf_counter() - begun
        print(f"{name}: {frames} frames, {len(text.encode()) / 1000:.0f} kB, {taken:.1f} s")


if __name__ == "__main__":
    main()
