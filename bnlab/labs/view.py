"""A view: controls, and the pictures that a pure function of their values draws.

A widget of a lab is a class with its controls and a method `draw`, which returns fresh pictures
with their captions. When a control moves, what is on display becomes what `draw` returns, so that
nothing can stay stale. Views that compute for long are `bnlab.labs.running.Experiment`s.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from bokeh.models import LayoutDOM

from bnlab.labs.board import Panel, side_by_side, stacked

Board = Mapping[str, tuple[LayoutDOM, str]]
"""Name -> picture and caption."""


class View(ABC):
    """Controls, and the pictures that `draw` makes of their values.

    A subclass hands its controls on to `__init__` by name. What `draw` needs besides their values
    it sets before.

    Attributes
    ----------
    widget : what to display
    panels : name -> `Panel`; each control and each panel is an attribute, too, by its name
    """

    beside: Sequence[Sequence[str]] = ()  # names of panels, row by row; all in one if not given

    def __init__(self, **controls: Any) -> None:
        self._settling = False
        self.use(**controls)
        self.panels = {name: Panel(*shown) for name, shown in self.board().items()}
        vars(self).update(self.panels)
        self.widget = stacked(*self.arrange())

    def use(self, **controls: Any) -> None:
        """Listen to these controls."""
        self.controls = controls
        vars(self).update(controls)
        for name, control in controls.items():
            control.observe(partial(self._move, name), "value")

    @abstractmethod
    def draw(self, *args: Any, **values: Any) -> Board:
        """Return fresh pictures and captions for these values of the controls."""

    def settle(self, moved: str) -> None:
        """Bring the other controls in line with the one that has moved."""
        return

    def arrange(self) -> list[Any]:
        """Return what to display, from top to bottom."""
        rows = self.beside or [list(self.panels)]
        panels = [side_by_side(*(self.panels[name] for name in row)) for row in rows]
        return [side_by_side(*self.controls.values()), *panels]

    def values(self) -> dict[str, Any]:
        """Return the values of the controls by name."""
        return {name: control.value for name, control in self.controls.items()}

    def board(self) -> Board:
        """Return fresh pictures and captions."""
        return self.draw(**self.values())

    def show(self, *, anew: bool = False) -> None:
        """Bring all panels up to date, with pictures of their own if `anew`.

        A new picture reaches a page that does not show the panel yet; new columns do not.
        """
        for name, (picture, caption) in self.board().items():
            panel = self.panels[name]
            (panel.show if anew else panel.refresh)(picture, caption)

    def _move(self, name: str, change: Any) -> None:
        if not self._settling:
            self._settling = True
            try:
                self.settle(name)
            finally:
                self._settling = False
            self.follow()

    def follow(self) -> None:
        """React to controls that have moved."""
        self.show()
