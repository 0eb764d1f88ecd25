"""The widgets of the failure lab: the kinds, what may be picked of each, and the spec."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from textual.message import Message

from longjudge_tui.lab import wishes
from longjudge_tui.widgets.fields import Field
from longjudge_tui.widgets.line_list import Cells, LineList
from longjudge_tui.widgets.lines import FittedLine
from longjudge_tui.wording import fit, line

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from textual import events

NAME_CELLS: Final = 14


class KindList(LineList):
    """No failure, each kind with what it does, and the specs that were used last."""

    def __init__(self, standing: str, recent: Sequence[str], *, id: str) -> None:
        super().__init__(id=id)
        self._kinds = wishes.kinds()
        self._recent = tuple(recent)
        self._standing = standing

    def on_mount(self) -> None:
        """Begin at what stands."""
        names = [name for name, _ in self._kinds]
        here = names.index(self._standing) if self._standing in names else 0
        self.reset_rows(len(names) + len(self._recent), here)

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(self._kinds) + len(self._recent)

    @property
    def kind(self) -> str:
        """The kind under the cursor; none where a spec of before is."""
        return self._kinds[self.cursor][0] if self.cursor < len(self._kinds) else wishes.NONE

    @property
    def recent(self) -> str:
        """The spec of before under the cursor; empty where a kind is."""
        place = self.cursor - len(self._kinds)
        return self._recent[place] if 0 <= place < len(self._recent) else ""

    def row_facts(self, row: int) -> Hashable:
        """The kind, or the spec."""
        return row

    def row_cells(self, row: int, width: int) -> Cells:
        """Whether it stands, its name, what it does."""
        if row >= len(self._kinds):
            spec = self._recent[row - len(self._kinds)]
            return [("↺ ", "active"), (line(spec, 200), "strong"), ("  used before", "dim")]
        name, help = self._kinds[row]
        stands = "● " if name == self._standing else "  "
        return [(stands, "active"), (fit(name, NAME_CELLS), "strong"), (f" {help}", "dim")]


class SpecField(Field):
    """The spec; up and down go back to the list."""

    class Left(Message):
        """The field was left by a key."""

    async def on_key(self, event: events.Key) -> None:
        """Leave the field, or edit it."""
        if event.key in ("up", "down"):
            event.stop()
            event.prevent_default()
            self.post_message(self.Left())


class OptionLine(FittedLine):
    """What may be picked for one place of the spec; its key, or a click, picks the next."""

    class Next(Message):
        """The next one is wanted."""

        def __init__(self, name: str) -> None:
            super().__init__()
            self.name = name

    def __init__(self, key: str, name: str) -> None:
        super().__init__(id=f"option-{name.replace(' ', '-')}", classes="option")
        self._key = key
        self.option_name = name

    def show_options(self, options: tuple[wishes.Option, ...], chosen: int | None) -> None:
        """Show all, the chosen one between marks; where there is little room, that one alone.

        None is chosen where the spec was typed.
        """
        label = f"{self._key}  {self.option_name:<10}"
        marked = [
            f"‹{each.words}›" if place == chosen else f" {each.words} "
            for place, each in enumerate(options)
        ]
        alone = " as typed" if chosen is None else marked[chosen]
        self.show(f"{label}{' '.join(marked)}", f"{label}{alone}")

    def on_click(self) -> None:
        """Pick the next."""
        self.post_message(self.Next(self.option_name))
