"""The bar above the lower half: its tabs, what the open one holds, and the border to drag."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len
from textual.content import Content

from longjudge_tui.bench.layout import Tab
from longjudge_tui.commands import command
from longjudge_tui.widgets.action_line import Choice
from longjudge_tui.widgets.lines import CommandPressed
from longjudge_tui.widgets.splitter import Handle
from longjudge_tui.wording import fit

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from textual import events

COMMAND_OF: dict[Tab, str] = {tab: f"tab_{tab.value}" for tab in Tab}
_BRIEF = {Tab.FINDINGS: "FIND"}
_LEAST_RULE = 1


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of the bar, how it looks, and what a click on it does."""

    text: str
    look: str = ""
    command: str = ""


def bar_pieces(
    counts: Mapping[Tab, str], here: Tab, choices: Sequence[Choice], width: int, rule: str = "─"
) -> list[Piece]:
    """The bar as it fits: what the open tab says of itself first, then the names of the others.

    `choices` say the open one, longest first; `counts` is what the others hold.
    """
    for choice in choices:
        for brief in (False, True):
            left, right = _tabs(counts, here, choice.text, brief=brief), _words(choice)
            room = width - _cells(left) - _cells(right)
            if room >= _LEAST_RULE:
                return [*left, Piece(rule * room, "rule"), *right]
    left = _tabs(counts, here, "", brief=True)
    text = fit(choices[-1].text, max(0, width - _cells(left))) if choices else ""
    return _tabs(counts, here, text, brief=True)


def _tabs(counts: Mapping[Tab, str], here: Tab, text: str, *, brief: bool) -> list[Piece]:
    pieces: list[Piece] = []
    *_, last = Tab
    for tab in Tab:
        key = command(COMMAND_OF[tab]).shown
        if pieces:
            # Between a count and the key of the next tab, which are both numbers.
            pieces.append(Piece("│", "rule"))
        if tab is here:
            pieces.append(Piece(f" {key} {text} ", "here", COMMAND_OF[tab]))
            continue
        name = _BRIEF.get(tab, tab.value.upper()) if brief else tab.value.upper()
        count = f" {counts[tab]}" if counts.get(tab) else ""
        before, behind = (
            ("" if brief and pieces else " "),
            ("" if brief and tab is not last else " "),
        )
        pieces.append(Piece(f"{before}{key} {name}{count}{behind}", "tab", COMMAND_OF[tab]))
    return pieces


def _words(choice: Choice) -> list[Piece]:
    pieces: list[Piece] = []
    for word in choice.words:
        pieces += [Piece(" "), Piece(word.drawn, "word", word.command)]
    return [*pieces, Piece(" ")] if pieces else []


def _cells(pieces: Sequence[Piece]) -> int:
    return sum(cell_len(each.text) for each in pieces)


class TabBar(Handle):
    """A click on a tab opens it, and on a word does what it says; the rest can be dragged."""

    UPRIGHT: ClassVar[bool] = False
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "tabbar--tab",
        "tabbar--here",
        "tabbar--keys",
        "tabbar--rule",
        "tabbar--word",
    }

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._counts: dict[Tab, str] = {}
        self._here = Tab.FINDINGS
        self._has_keys: bool = False
        self._choices: tuple[Choice, ...] = (Choice(Tab.FINDINGS.value.upper()),)

    @property
    def text(self) -> str:
        """What the open tab says of itself, at its longest."""
        return self._choices[0].text

    def show(
        self, counts: dict[Tab, str], here: Tab, choices: Sequence[Choice], *, has_keys: bool
    ) -> None:
        """Show other tabs; nothing is painted where they are the same.

        The open one stands out more where it `has_keys`, as the title of a panel does.
        """
        shown = counts, here, tuple(choices), has_keys
        if shown != (self._counts, self._here, self._choices, self._has_keys):
            self._counts, self._here, self._choices, self._has_keys = shown
            self.refresh()

    def render(self) -> Content:
        """The bar as it fits."""
        parts: list[Content] = []
        for each in self._pieces():
            if each.look:
                look = "keys" if each.look == "here" and self._has_keys else each.look
                style = self.get_visual_style(f"tabbar--{look}")
                parts.append(Content.styled(each.text, style))
            else:
                parts.append(Content(each.text))
        return Content("").join(parts)

    def on_click(self, event: events.Click) -> None:
        """Open the tab, or do what the word says; a drag is no click."""
        offset = event.get_content_offset(self)
        if offset is None or self.was_dragged:
            return
        x = 0
        for each in self._pieces():
            x += cell_len(each.text)
            if offset.x < x:
                if each.command:
                    event.prevent_default()
                    self.post_message(CommandPressed(each.command))
                return

    def _pieces(self) -> list[Piece]:
        rule = "━" if self.held or self.mouse_hover else "─"
        return bar_pieces(self._counts, self._here, self._choices, self.content_size.width, rule)
