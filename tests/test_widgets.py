"""One contract of every widget: after any move it shows what one made with those settings shows.

Sources, titles, captions, ranges of axes, legends, texts for screen readers, buttons and progress
are all compared, as a page gets them. What belongs to an earlier setting may stay if it says so.
"""

import inspect
import json
import pkgutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from itertools import islice
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import ipywidgets
import numpy as np
import pytest
from jupyter_bokeh import BokehModel
from pictures import check_plot

import bnlab as bn
from bnlab import labs
from bnlab.labs import (
    annealed_importance_sampling,
    bayesian_networks,
    beliefs_and_interventions,
    direct_dag_sampling,
    dynamic_programming,
    evidence_bounds,
    hidden_annealing,
    hidden_scores,
    landscape,
    linear_extensions,
    modular_priors,
    scaling_out,
    start_here,
    structure_mcmc,
    structure_search,
    your_own_data,
)
from bnlab.labs.board import FADED, Figure
from bnlab.labs.view import View
from bnlab.labs.your_own_data import study

CONTROLS = (
    ipywidgets.Dropdown,
    ipywidgets.SelectionSlider,
    ipywidgets.IntSlider,
    ipywidgets.Text,
)
MARKS = ("earlier setting", "table has changed")

Values = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Case:
    """A class of widgets: how to make one, on little data, and whether it waits for Run."""

    of: type
    make: Callable[[], Any]
    runs: bool = False

    def __str__(self) -> str:
        return f"{self.of.__module__.split('.')[2]}.{self.of.__name__}"


@cache
def rows(network: str) -> bn.Data:
    return bn.random_network(network, np.random.default_rng(0)).sample(50, np.random.default_rng(1))


@cache
def few_rows() -> bn.OrderPosterior:
    return bn.order_posterior(bn.score_families(cancer(), bn.BDeu(1.0)))


@cache
def garden() -> Path:
    return Path(your_own_data.write_garden(mkdtemp()))


@cache
def analysed() -> your_own_data.Study:
    made = your_own_data.Study(your_own_data.Table(garden()))
    made.runner.run_now()
    return made


@cache
def walked() -> tuple[dict[str, bn.Draws], bn.DagPosterior, dict[str, tuple[int, int]], str]:
    """Chains by kind of walk, the exact posterior, and two modes by their edges."""
    table = bn.score_families(cancer(), bn.BDeu(1.0))
    runs = {
        walk: sample(table, draws=20, burn_in=0, rng=np.random.default_rng(1))
        for walk, sample in (("small", bn.sample_structures), ("parts", bn.sample_partitions))
    }
    return runs, bn.dag_posterior(table), {"up": (0, 2), "down": (2, 0)}, "parts"


def cancer() -> bn.Data:
    return bn.load_network("cancer").sample(20, np.random.default_rng(1))


ais, hidden, annealed, search = (
    annealed_importance_sampling,
    hidden_scores,
    hidden_annealing,
    structure_search,
)
CASES = [
    Case(start_here.Explorer, start_here.Explorer),
    Case(
        bayesian_networks.Evidence,
        lambda: bayesian_networks.Evidence(bn.load_network("earthquake")),
    ),
    Case(bayesian_networks.Growth, bayesian_networks.Growth),
    Case(modular_priors.PriorExplorer, modular_priors.PriorExplorer),
    Case(modular_priors.Washout, modular_priors.Washout),
    Case(dynamic_programming.Walk, lambda: dynamic_programming.Walk(cancer())),
    Case(
        dynamic_programming.FullSpeed,
        lambda: dynamic_programming.FullSpeed(rows("child"), start=6),
        runs=True,
    ),
    Case(landscape.Landscape, landscape.Landscape),
    Case(
        direct_dag_sampling.WalkDown,
        lambda: direct_dag_sampling.WalkDown(cancer().select(["A", "B", "C"])),
    ),
    Case(
        direct_dag_sampling.Hundred,
        lambda: direct_dag_sampling.Hundred(few_rows(), 0, 2, stops=(10, 20)),
    ),
    Case(
        direct_dag_sampling.MoreRows,
        lambda: direct_dag_sampling.MoreRows(cancer(), "A", "B", "C"),
    ),
    Case(linear_extensions.Extensions, linear_extensions.Extensions),
    Case(linear_extensions.Certain, lambda: linear_extensions.Certain(cancer())),
    Case(ais.Paths, ais.Paths),
    Case(ais.Shapes, ais.Shapes),
    Case(evidence_bounds.Bounds, lambda: evidence_bounds.Bounds(stops=[10, 30]), runs=True),
    Case(hidden.Scores, lambda: hidden.Scores(sizes=(10, 40), size=40)),
    Case(hidden.Ranks, lambda: hidden.Ranks(sizes=(10, 40)), runs=True),
    Case(annealed.Sides, lambda: annealed.Sides(stops=[16, 64]), runs=True),
    Case(annealed.Loops, annealed.Loops),
    Case(structure_mcmc.Stuck, lambda: structure_mcmc.Stuck(*walked())),
    Case(beliefs_and_interventions.Beliefs, beliefs_and_interventions.Beliefs),
    Case(beliefs_and_interventions.Doing, beliefs_and_interventions.Doing),
    Case(search.Members, search.Members),
    Case(search.Steps, search.Steps),
    Case(search.Averages, search.Averages),
    Case(your_own_data.Table, lambda: your_own_data.Table(garden())),
    Case(
        your_own_data.Study,
        lambda: your_own_data.Study(your_own_data.Table(garden())),
    ),
    Case(your_own_data.Network, lambda: your_own_data.Network(analysed())),
    Case(scaling_out.SpeedUp, scaling_out.SpeedUp),
]
RUNS = [case for case in CASES if case.runs]
LONG = {
    "annealed_importance_sampling.Paths",
    "annealed_importance_sampling.Shapes",
    "bayesian_networks.Evidence",
    "beliefs_and_interventions.Beliefs",
    "beliefs_and_interventions.Doing",
    "direct_dag_sampling.MoreRows",
    "direct_dag_sampling.WalkDown",
    "dynamic_programming.Walk",
    "hidden_annealing.Loops",
    "hidden_scores.Scores",
    "landscape.Landscape",
    "linear_extensions.Certain",
    "linear_extensions.Extensions",
    "modular_priors.Washout",
    "start_here.Explorer",
    "structure_search.Averages",
    "structure_search.Steps",
}


@pytest.fixture(autouse=True)
def _nobody_looks(monkeypatch: pytest.MonkeyPatch, lean: None) -> None:
    """No page is open: widgets need not send it their pictures."""
    monkeypatch.setattr(ipywidgets.Widget, "open", lambda widget: None)


def parts(widget: Any) -> Iterator[Any]:
    """What a page shows of a widget, from top to bottom."""
    if widget.layout is not None and widget.layout.display == "none":
        return
    yield widget
    for child in getattr(widget, "children", ()):
        yield from parts(child)


def controls(made: Any) -> dict[str, Any]:
    found = [part for part in parts(made.widget) if isinstance(part, CONTROLS)]
    by_name = {control.description: control for control in found}
    assert len(by_name) == len(found), "two controls of one name"
    return by_name


def values(made: Any) -> Values:
    return {name: control.value for name, control in controls(made).items()}


def stops(control: Any) -> list[Any]:
    if isinstance(control, ipywidgets.IntSlider):
        return list(range(control.min, control.max + 1))
    if isinstance(control, ipywidgets.Text):
        low, _, high = control.placeholder.partition(" to ")
        return ["", low, high, "many"]
    return [option[1] if isinstance(option, tuple) else option for option in control.options]


def some(all_stops: list[Any], now: Any) -> list[Any]:
    """The last stop, or the first if the control stands there: all of them take minutes."""
    return [stop for stop in (all_stops[-1], all_stops[0]) if stop != now][:1]


@contextmanager
def beginning_with(wanted: Values) -> Iterator[None]:
    """Controls that are made in here begin with these values."""
    with pytest.MonkeyPatch.context() as patch:
        for kind in CONTROLS:
            patch.setattr(kind, "__init__", _beginning(kind, wanted))
        yield


def _beginning(kind: type, wanted: Values) -> Callable[..., None]:
    usual = kind.__init__

    def begin(self: Any, *given: Any, **named: Any) -> None:
        if named.get("description") in wanted:
            given = (wanted[named["description"]], *given[1:])
            if not issubclass(kind, ipywidgets.IntSlider | ipywidgets.Text):
                given, named["value"] = (), given[0]
        usual(self, *given, **named)

    return begin


def shown(made: Any) -> dict[str, Any]:
    """Place -> what stands there, of all that a page gets."""
    out: dict[str, Any] = {}
    for i, part in enumerate(parts(made.widget)):
        place = f"{i} {type(part).__name__}"
        if isinstance(part, BokehModel):
            document = json.loads(part.get_state("render_bundle")["render_bundle"])
            for model in document["docs_json"].values():
                _flatten(model["roots"], place, out, {})
        elif isinstance(part, ipywidgets.IntProgress):
            out[place] = part.value and (part.value, part.max)
        else:
            for trait in ("value", "description", "disabled", "placeholder", "options", "max"):
                if hasattr(part, trait):
                    out[f"{place}.{trait}"] = getattr(part, trait)
    return out


def _flatten(node: Any, place: str, out: dict[str, Any], seen: dict[str, int]) -> None:
    """The leaves of a picture, with the models numbered as they come."""
    if isinstance(node, dict):
        for key, value in node.items():
            if key == "id":
                out[f"{place}.id"] = seen.setdefault(value, len(seen))
            else:
                _flatten(value, f"{place}.{key}", out, seen)
    elif isinstance(node, list):
        for i, value in enumerate(node):
            _flatten(value, f"{place}[{i}]", out, seen)
    else:
        out[place] = node


def differences(one: dict[str, Any], other: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
    places = [place for place in {**one, **other} if one.get(place) != other.get(place)]
    return {place: (one.get(place), other.get(place)) for place in places}


def marked(made: Any) -> bool:
    """Whether the widget says that what it shows belongs to an earlier setting."""
    said = " ".join(str(getattr(part, "value", "")) for part in parts(made.widget))
    return any(mark in said for mark in MARKS)


def fresh(case: Case, wanted: Values) -> Any:
    """A widget made with these settings."""
    if case.of is your_own_data.Table:  # its settings are options of the reading
        options: dict[str, Any] = {}
        if wanted["measurements"] in study.RULES:
            options["discretize"] = study.RULES[wanted["measurements"]](wanted["levels"])
        if wanted["missing cells"] in study.MISSING:
            options["missing"] = study.MISSING[wanted["missing cells"]]
        return your_own_data.Table(garden(), options)
    with beginning_with(wanted):
        made = case.make()
    assert values(made) == wanted
    return made


def check(case: Case, made: Any) -> None:
    """The moved widget shows what a fresh one shows, or is marked."""
    if marked(made):
        return
    new = shown(fresh(case, values(made)))
    found = shown(made)
    if case.of is your_own_data.Table:
        is_text = lambda place: place.split()[1].startswith("HTML")  # noqa: E731
        new, found = ({k: v for k, v in x.items() if is_text(k)} for x in (new, found))
    stale = differences(found, new)
    few = "\n".join(f"{place}: {a!r}, not {b!r}" for place, (a, b) in islice(stale.items(), 8))
    assert not stale, f"{case} at {values(made)} shows otherwise than a new one:\n{few}"


def test_every_class_of_widgets_is_here() -> None:
    modules = [
        import_module(f"{labs.__name__}.{found.name}")
        for found in pkgutil.iter_modules(labs.__path__)
    ]
    public = {
        kind
        for module in modules
        for kind in vars(module).values()
        if inspect.isclass(kind)
        and not inspect.isabstract(kind)
        and (issubclass(kind, View) or "widget : what to display" in (kind.__doc__ or ""))
    }
    assert {case.of for case in CASES} == public


def check_moves(case: Case, chosen: Callable[[list[Any], Any], list[Any]]) -> None:
    """Move each control in turn to the stops chosen of its own and of where it stands."""
    made = case.make()
    for name in controls(made):
        for stop in chosen(stops(controls(made)[name]), values(made)[name]):
            controls(made)[name].value = stop
            check(case, made)
    for part in parts(made.widget):
        if isinstance(part, Figure):
            check_plot(part.picture)


@pytest.mark.parametrize("case", [case for case in CASES if str(case) not in LONG], ids=str)
def test_a_moved_widget_shows_what_a_new_one_shows(case: Case) -> None:
    check_moves(case, some)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_stop_of_every_control(case: Case) -> None:
    check_moves(case, lambda every, now: every)


@cache
def own() -> bn.Data:
    """Five variables and few rows, as a reader may bring them."""
    return bn.load_network("cancer").sample(60, np.random.default_rng(3))


OWN: dict[type, Callable[[], Any]] = {
    start_here.Explorer: lambda: start_here.Explorer(own()),
    modular_priors.Washout: lambda: modular_priors.Washout(own()),
    landscape.Landscape: lambda: landscape.Landscape(own()),
    linear_extensions.Certain: lambda: linear_extensions.Certain(own()),
    ais.Paths: lambda: ais.Paths(own()),
    ais.Shapes: lambda: ais.Shapes(own()),
    evidence_bounds.Bounds: lambda: evidence_bounds.Bounds(own(), stops=[10, 30]),
    beliefs_and_interventions.Beliefs: lambda: beliefs_and_interventions.Beliefs(own()),
    beliefs_and_interventions.Doing: lambda: beliefs_and_interventions.Doing(
        bn.load_network("cancer")
    ),
    search.Members: lambda: search.Members(own()),
    search.Steps: lambda: search.Steps(own()),
    search.Averages: lambda: search.Averages(own()),
}


@pytest.mark.parametrize("kind", OWN, ids=lambda kind: f"{kind.__module__.split('.')[2]}.{kind}")
def test_a_table_of_the_readers_own_stands_in_for_the_data_sets(kind: type) -> None:
    made = OWN[kind]()
    if hasattr(made, "runner"):
        made.runner.run_now()
    moved = controls(made)
    assert "data set" not in moved and "network" not in moved
    for control in moved.values():
        for stop in some(stops(control), control.value):
            control.value = stop
            assert all(panel.caption for panel in made.panels.values())


@pytest.mark.parametrize("case", RUNS, ids=str)
def test_what_was_run_turns_grey_at_other_settings_and_says_so(case: Case) -> None:
    """Away from its settings it stays, as of an earlier one; back there it is as new."""
    made = case.make()
    made.runner.run_now()
    found, settings = shown(made), values(made)
    assert found != shown(case.make())
    for name, control in controls(made).items():
        for stop in some(stops(control), settings[name]):
            control.value = stop
            for panel in made.panels.values():
                assert FADED in panel.figure._dom_classes
                assert (
                    f"{name} " in panel.children[1].value and "earlier" in panel.children[1].value
                )
            assert made.runner.status.value.endswith("for the earlier setting")
            control.value = settings[name]
            assert differences(shown(made), found) == {}
            assert not any(FADED in panel.figure._dom_classes for panel in made.panels.values())
