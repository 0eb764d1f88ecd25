"""The log and the field to filter it: what happened, as it happens."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, ClassVar, cast

from textual import on
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import Input

from longjudge.redaction import redacted_text
from longjudge_tui.bench.event_log import LogKind
from longjudge_tui.bench.log_view import GROUPS, LogView
from longjudge_tui.chores import Chores
from longjudge_tui.clipboard import ONLY_YOURS, Clipboard, save, shown_path
from longjudge_tui.commands import Scope, bindings, command
from longjudge_tui.held.log_list import LogList
from longjudge_tui.pace import look_often
from longjudge_tui.widgets.action_line import Choice, Word
from longjudge_tui.widgets.fields import Field
from longjudge_tui.widgets.line_list import LineList
from longjudge_tui.wording import line, plural

if TYPE_CHECKING:
    from pathlib import Path

    from textual import events
    from textual.app import App, ComposeResult
    from textual.binding import BindingType

    from longjudge_tui.bench.event_log import EventLog, LogLine


class LogField(Field):
    """The words to filter by; enter, up and down go back to the lines, escape clears them."""

    class Left(Message):
        """The field was left by a key; `clear` where its words are to go."""

        def __init__(self, *, clear: bool) -> None:
            super().__init__()
            self.clear = clear

    async def on_key(self, event: events.Key) -> None:
        """Leave the field, or edit it."""
        if event.key in ("enter", "up", "down", "escape"):
            event.stop()
            event.prevent_default()
            self.post_message(self.Left(clear=event.key == "escape"))


class LogPanel(Vertical):
    """Shows a log for as long as it is displayed; it paints itself."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings(Scope.LOG)]
    DEFAULT_CSS = """
    LogPanel > #log-filter { height: 1; background: $panel; display: none; }
    LogPanel.-typing > #log-filter { display: block; }
    """

    class Wanted(Message):
        """The chunk that a line is about is wanted."""

        def __init__(self, line: LogLine) -> None:
            super().__init__()
            self.line = line

    def __init__(self, log: EventLog, *, id: str = "log-panel", classes: str = "panel") -> None:
        super().__init__(id=id, classes=classes)
        self.log_of = log
        self._view = LogView(log)
        self._clipboard, self._chores = Clipboard(), Chores()

    def compose(self) -> ComposeResult:
        """The lines, the field."""
        yield LogList(self._view, id="log")
        yield LogField(id="log-filter", compact=True, placeholder="words to filter the log by")

    def on_mount(self) -> None:
        """Begin to paint."""
        self.lines = self.query_one("#log", LogList)
        self.field = self.query_one("#log-filter", LogField)
        self.follow()
        look_often(self, self.follow)

    async def on_unmount(self) -> None:
        """End what a key has started and is not done."""
        await self._chores.end()

    def follow(self) -> None:
        """Paint what is new, where it is in sight."""
        self._chores.raise_failure()
        if self.display and self.size.height:
            self.lines.follow()

    def choices(self) -> list[Choice]:
        """How many lines, which, how many are gone, where the file is; with the keys."""
        log, view = self.log_of, self._view
        shown, held = len(view.rows), len(log)
        count = f"LOG {shown:,} of {held:,}" if view.filters else f"LOG {held:,}"
        gone = f" · the oldest {log.dropped:,} only in the file" if log.dropped else ""
        if log.file_fault or not log.file:
            gone = f" · the oldest {log.dropped:,} are gone" if log.dropped else ""
        fault = f" · NO FILE: {line(log.file_fault, 60)}" if log.file_fault else ""
        file = f" · {log.file}" if log.file and not log.file_fault else fault
        words = f" · “{line(view.words, 30)}”" if view.words else ""
        following = view.next_group
        kinds = Word("log_kinds", f"{view.group.name}, f: {following.name}")
        keys = (kinds, Word("filter_log", "filter /"), Word("copy_log", "copy Y"))
        return [
            Choice(f"{count}{words}{gone}{file}", keys),
            Choice(f"{count}{words}{gone}{file}", keys[:2]),
            Choice(f"{count}{words}{gone}{file}", keys[:1]),
            Choice(f"{count}{words}{file}", keys[:1]),
            Choice(f"{count}{words}{gone}{fault}", keys[:2]),
            Choice(f"{count}{words}{gone}{fault}", keys[:1]),
            Choice(f"{count}{words}", keys[:1]),
            Choice(f"{count}{words}"),
        ]

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Escape clears a filter where there is one; in the field, a slash is a slash."""
        if action == "filter_log" and self.screen.focused is self.field:
            return False
        return action != "clear_log_filter" or self._view.filters

    @on(LineList.Opened, "#log")
    def line_opened(self, event: LineList.Opened) -> None:
        """Go to what the line is about."""
        event.stop()
        found = self.lines.here
        if found is not None:
            self.post_message(self.Wanted(found))

    @on(LineList.Moved, "#log")
    def line_moved(self, event: LineList.Moved) -> None:
        """Nothing else follows the cursor here."""
        event.stop()

    @on(Input.Changed, "#log-filter")
    def filter_changed(self, event: Input.Changed) -> None:
        """Show what fits, the newest of it in sight."""
        event.stop()
        self._view.show_words(event.value.strip())
        self._show_anew()

    @on(LogField.Left)
    def field_left(self, event: LogField.Left) -> None:
        """Give the keys back to the lines."""
        event.stop()
        if event.clear:
            self.field.value = ""
        self.set_class(bool(self.field.value), "-typing")
        self.screen.set_focus(self.lines)

    def action_filter_log(self) -> None:
        """Type words to filter by."""
        self.add_class("-typing")
        self.screen.set_focus(self.field)

    def action_clear_log_filter(self) -> None:
        """Show every line again."""
        self.field.value = ""
        self.remove_class("-typing")
        self._view.show_words("")
        self._view.show_group(GROUPS[0])
        self._show_anew()

    def action_log_kinds(self) -> None:
        """Show the next kinds of lines."""
        self._view.show_group(self._view.next_group)
        self._show_anew()

    def action_copy_log_line(self) -> None:
        """Copy the line under the cursor."""
        found = self.lines.here
        if found is None:
            self._say("no line is under the cursor")
        else:
            self._chores.start(self._copy(found.text, "the line"))

    def action_copy_log(self) -> None:
        """Copy every line that is shown."""
        text = self._text()
        self._chores.start(self._copy(text, plural(len(self._view.rows), "line")))

    def action_save_log(self) -> None:
        """Save every line that is shown."""
        self._chores.start(self._save(self._text()))

    def _show_anew(self) -> None:
        self._view.follow()
        self.lines.show_rows(at_end=True)
        self.follow()

    def _text(self) -> str:
        found = map(self.log_of.line, self._view.rows)
        return "".join(f"{each.text}\n" for each in found if each is not None)

    async def _copy(self, text: str, what: str) -> None:
        app = cast("App[object]", self.app)  # pyright: ignore[reportUnknownMemberType]
        otherwise = f"{command('save_log').shown} saves a file"
        text = await asyncio.to_thread(redacted_text, text)
        self._say(f"{what}: {await self._clipboard.copy(app, text, otherwise)}")

    async def _save(self, text: str) -> None:
        name = time.strftime("longjudge-log-%Y%m%d-%H%M%S")
        try:
            path: Path = await asyncio.to_thread(_save_redacted, text, name)
        except OSError as error:
            self._say(f"not saved: {error.strerror}")
            self.log_of.add(LogKind.ERROR, f"the log was not saved: {error.strerror}")
        else:
            self._say(f"the log is saved as {shown_path(path)} · {ONLY_YOURS}")

    def _say(self, words: str) -> None:
        self.notify(line(words, 1_000), markup=False)


def _save_redacted(text: str, name: str) -> Path:
    """In a thread: what leaves the screen has its secrets replaced."""
    return save(redacted_text(text), name, ".log")
