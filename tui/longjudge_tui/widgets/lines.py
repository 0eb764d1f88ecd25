"""One-line widgets: titles, the header, the live lines, the keys at the bottom."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len
from textual.content import Content
from textual.message import Message
from textual.widget import Widget

from longjudge_tui.commands import BAR, Command, command, is_command
from longjudge_tui.commands.panels import panel_of
from longjudge_tui.widgets.fields import Field
from longjudge_tui.widgets.line_list import LineList
from longjudge_tui.widgets.wrapping import wrap
from longjudge_tui.wording import fit, widest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from textual import events

    from longjudge_tui.commands.panels import Panel

_ALWAYS = ("close_screen",)
"""Stand in every bar that has them, beside help and quit."""

_OTHERWISE_IN_FIELDS = frozenset({"open", "back"})
"""In a field, enter takes what is typed, and escape leaves it."""


class FittedLine(Widget):
    """One line of safe text: the longest variant that fits, and a word at the right end."""

    ALLOW_SELECT = False

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._variants: tuple[str, ...] = ("",)
        self._right = ""

    @property
    def text(self) -> str:
        """The longest variant."""
        return self._variants[0]

    def show(self, *variants: str, right: str = "") -> None:
        """Show other text; nothing is painted where it is the same."""
        if (variants, right) != (self._variants, self._right):
            self._variants, self._right = variants or ("",), right
            self.refresh()

    def render(self) -> Content:
        """The line as it fits."""
        width = self.content_size.width
        right = self._right
        room = width - (cell_len(right) + 1 if right else 0)
        left = widest(self._variants, max(0, room))
        if not right:
            return Content(left)
        return Content(left + " " * (width - cell_len(left) - cell_len(right)) + right)


class PanelTitle(FittedLine):
    """The title of a panel: a click gives the panel the keys, a second one the whole screen.

    While the panel has all of it, the title says how to come back.
    """

    class Pressed(Message):
        """It was clicked, once or `twice`."""

        def __init__(self, title: PanelTitle, *, twice: bool) -> None:
            super().__init__()
            self.title = title
            self.twice = twice

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id, classes="title")
        self._way_back = ""

    def show(self, *variants: str, right: str = "") -> None:
        """Show other text; the way back stands at the right end, where there is one."""
        super().show(*variants, right=self._way_back or right)

    def show_way_back(self, word: str) -> None:
        """Show it from now on, or no more."""
        self._way_back = word
        self.show(*self._variants)

    def on_click(self, event: events.Click) -> None:
        """Say so; a click on the way back is one for going there."""
        room = self.content_size.width - cell_len(self._way_back)
        offset = event.get_content_offset(self)
        if self._way_back and offset is not None and offset.x >= room:
            event.stop()
            self.post_message(CommandPressed("maximise"))
        else:
            self.post_message(self.Pressed(self, twice=event.chain == 2))


class GrowingLine(FittedLine):
    """A line that grows to a few, where what must be read whole has no room in one."""

    MOST_LINES = 3

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._whole = False

    def show_whole(self, words: str) -> None:
        """Show all of some words."""
        self._whole = True
        super().show(words)
        self._grow()

    def show(self, *variants: str, right: str = "") -> None:
        """Show one line."""
        self._whole = False
        super().show(*variants, right=right)
        self._grow()

    def on_resize(self) -> None:
        """Take as many lines as the words need now."""
        self._grow()

    def render(self) -> Content:
        """The line as it fits, or all lines."""
        lines = self._lines()
        return Content("\n".join(lines)) if len(lines) > 1 else super().render()

    def _lines(self) -> list[str]:
        if not self._whole:
            return [self.text]
        width = max(1, self.content_size.width)
        places = wrap(self.text, 0, len(self.text), width)
        lines = [self.text[start:end].rstrip() for start, end in places[: self.MOST_LINES]]
        if len(places) > self.MOST_LINES:
            rest = self.text[places[self.MOST_LINES - 1][0] :]
            lines[-1] = fit(" ".join(rest.split()), width).rstrip()
        return lines

    def _grow(self) -> None:
        # Set only where it is another one: a height lays the whole screen out again.
        lines = max(1, len(self._lines())) if self.content_size.width else 1
        if self.styles.height is None or self.styles.height.value != lines:
            self.styles.height = lines


class TourLine(GrowingLine):
    """What to do next, whole; not there where there is nothing to say."""

    def on_mount(self) -> None:
        """Not there yet."""
        self.display = False

    def say(self, words: str) -> None:
        """Say it."""
        if words != self.text or not self.display:
            self.display = bool(words)
            self.show_whole(words)


class KeyBar(Widget):
    """The commands with their keys, those of the panel in use first; a click runs one."""

    ALLOW_SELECT = False
    COMPONENT_CLASSES: ClassVar[set[str]] = {"keybar--key"}

    def __init__(self, names: tuple[str, ...] = BAR, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._names = self._shown = names
        self._own_words: Mapping[str, str] = {}
        self._typing = False

    def on_mount(self) -> None:
        """Follow the keys from panel to panel."""
        self.watch(self.screen, "focused", self._follow_focus)

    def follow(self) -> None:
        """Show what the list that has the keys puts first by now, and calls by its own words."""
        self._follow_focus(self.screen.focused)

    def show_names(self, names: tuple[str, ...]) -> None:
        """Show other commands."""
        if names != self._names:
            self._names = names
            self._follow_focus(self.screen.focused)

    def _follow_focus(self, focused: Widget | None) -> None:
        panel = panel_around(focused)
        first = panel.keys if panel is not None else ()
        own = focused.bar_keys if isinstance(focused, LineList) else ()
        own_words: Mapping[str, str] = {}
        if isinstance(focused, LineList):
            own_words = focused.bar_words
        names = dict.fromkeys([*own, *first, *self._names])
        shown = tuple(
            each
            for each in names
            if own_words.get(each, _word(command(each)))
            and not _is_fields_own(focused, command(each))
        )
        typing = _is_fields_own(focused, command("help"))
        if (shown, own_words, typing) != (self._shown, self._own_words, self._typing):
            self._shown, self._own_words, self._typing = shown, own_words, typing
            self.refresh()

    def render(self) -> Content:
        """As many as fit; help, quit and the way back from a screen of its own always do."""
        style = self.get_visual_style("keybar--key")
        parts: list[Content] = []
        for each in self._fitting():
            word = Content(f" {self._word(each)}  ")
            parts += [Content.styled(self._key(each), style), word]
        return Content("").join(parts)

    def _key(self, each: Command) -> str:
        """The key to press now: where letters are text, help has one that is none."""
        return each.shown.split()[-1] if self._typing and each.id == "help" else each.bar_key

    def _word(self, each: Command) -> str:
        return self._own_words.get(each.id, _word(each))

    def on_click(self, event: events.Click) -> None:
        """Run the command under the mouse."""
        x = 0
        for each in self._fitting():
            x += self._width(each)
            if event.x < x:
                self.post_message(CommandPressed(each.id))
                return

    def _fitting(self) -> list[Command]:
        always = [command(name) for name in _ALWAYS if name in self._shown]
        always += [command("help"), command("quit")]
        room = self.content_size.width - sum(self._width(each) for each in always)
        chosen: list[Command] = []
        for each in map(command, self._shown):
            if each in always:
                chosen.append(each)
                continue
            room -= self._width(each)
            if room < 0:
                break
            chosen.append(each)
        return chosen + [each for each in always if each not in chosen]

    def _width(self, each: Command) -> int:
        return len(self._key(each)) + len(self._word(each)) + 3


def _is_fields_own(focused: Widget | None, each: Command) -> bool:
    """Whether a command's key is the own one of the field that has the keys."""
    key, shown = each.keys[0], each.bar_key
    if isinstance(focused, Field) and each.id in _OTHERWISE_IN_FIELDS:
        return True
    character = shown if len(shown) == 1 else None
    return focused is not None and focused.check_consume_key(key, character)


def _word(each: Command) -> str:
    return each.label or each.button.capitalize()


def panel_around(widget: Widget | None) -> Panel | None:
    """The panel that a widget is, or is in, with those of its keys that work there.

    A panel of the same name may stand in a screen that can do less.
    """
    around = widget.ancestors_with_self if widget is not None else []
    panel = panel_of(tuple(node.id for node in around))
    if panel is None:
        return None
    keys = (key for key in panel.keys if any(hasattr(node, f"action_{key}") for node in around))
    return replace(panel, keys=tuple(filter(is_command, keys)))


class CommandPressed(Message):
    """A command was chosen with the mouse."""

    def __init__(self, command: str) -> None:
        super().__init__()
        self.command = command


class CommandFact(FittedLine):
    """What stands, with the key that changes it at the right end; a click changes it too."""

    def __init__(self, each: Command) -> None:
        super().__init__(id=f"fact-{each.id.replace('_', '-')}", classes="fact")
        self._command = each

    def show(self, *variants: str, right: str = "") -> None:
        """Show other text beside the key."""
        super().show(*variants, right=right or self._command.bar_key)

    def on_click(self) -> None:
        """Change it."""
        self.post_message(CommandPressed(self._command.id))


class CommandButton(Widget):
    """A command as a button of one line, its key at the right end."""

    ALLOW_SELECT = False

    def __init__(self, each: Command, short: str) -> None:
        super().__init__(id=f"button-{each.id.replace('_', '-')}", classes="button")
        self._command = each
        self._short = short
        self._word = ""
        self._states: tuple[str, ...] = ()

    def say(self, word: str = "", *states: str) -> None:
        """Show another word beside the key, or, longest first, what goes on in place of both."""
        if (word, states) != (self._word, self._states):
            self._word, self._states = word, states
            self.refresh()

    def render(self) -> Content:
        """`[ Run      r ]`."""
        width = self.content_size.width
        key = self._command.shown
        if self._states:
            room = max(0, width - 4)
            return Content(f"[ {widest(self._states, room):<{room}} ]")
        word = self._word or (self._command.button if width >= 16 else self._short)
        return Content(f"[ {word}{key:>{max(2, width - len(word) - 4)}} ]")

    def on_click(self) -> None:
        """Run the command."""
        self.post_message(CommandPressed(self._command.id))
