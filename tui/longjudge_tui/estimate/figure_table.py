"""A table of figures: what each is called, and one or two columns of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.content import Content
from textual.widget import Widget

from longjudge_tui.wording import fit, widest

if TYPE_CHECKING:
    from collections.abc import Sequence

Cell = str | tuple[str, ...]
"""A figure; where there may be too little room, in several lengths, longest first."""

_LABEL_CELLS = 16
_MOST_CELLS = 46


class FigureTable(Widget):
    """As high as its rows and the line over them; texts are safe to show."""

    ALLOW_SELECT = False
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "figuretable--label",
        "figuretable--head",
        "figuretable--guess",
    }

    def __init__(self, labels: Sequence[str], *, id: str) -> None:
        super().__init__(id=id)
        self._labels = labels
        self._heads: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
        self._columns: tuple[tuple[Cell, ...], tuple[Cell, ...]] = ((), ())
        self.styles.height = len(labels) + 1

    def show(
        self,
        heads: tuple[tuple[str, ...], tuple[str, ...]],
        columns: tuple[tuple[Cell, ...], tuple[Cell, ...]],
    ) -> None:
        """Show other figures: over each column the longest head that fits, below its figures."""
        if (heads, columns) != (self._heads, self._columns):
            self._heads, self._columns = heads, columns
            self.refresh()

    def render(self) -> Content:
        """The rows as they fit."""
        width = self.content_size.width
        first = min(_MOST_CELLS, max(0, width - _LABEL_CELLS) // 2)
        if not any(self._heads[1]):
            first = max(0, width - _LABEL_CELLS)
        second = max(0, width - _LABEL_CELLS - first)
        label, head, guess = (
            self.get_visual_style(f"figuretable--{name}") for name in ("label", "head", "guess")
        )
        one, other = (
            widest(each or ("",), room - 1)
            for each, room in zip(self._heads, (first, second), strict=True)
        )
        rows = [
            Content.assemble(
                fit("", _LABEL_CELLS), (fit(one, first), head), (fit(other, second), guess)
            )
        ]
        for place, name in enumerate(self._labels):
            cells = [each[place] if place < len(each) else "" for each in self._columns]
            rows.append(
                Content.assemble(
                    (fit(name, _LABEL_CELLS), label),
                    _fitted(cells[0], first),
                    (_fitted(cells[1], second), guess if cells[1] else label),
                )
            )
        return Content("\n").join(rows)


def _fitted(cell: Cell, room: int) -> str:
    """A figure, with a space behind it."""
    variants = (cell,) if isinstance(cell, str) else cell
    return fit(widest(variants, max(0, room - 1)), room)
