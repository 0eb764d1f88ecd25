"""The text area of the rubric editor: nothing that acts on a terminal gets into it."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, cast

from textual.binding import Binding
from textual.message import Message
from textual.widgets import TextArea
from textual.widgets.text_area import EditResult

from longjudge.text import clean
from longjudge.toml_lines import MAX_TOML_BYTES
from longjudge_tui.bench.rubric_source import editable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.text import Text
    from textual import events
    from textual.binding import BindingType
    from textual.widgets.text_area import Edit

LONGEST_WRAPPED = 4_000
"""A longer line takes seconds to draw in pieces."""

_FAULT, _WARNING = "rubrictext--fault", "rubrictext--warning"


class RubricText(TextArea):
    """A rubric as TOML. Its keys act in the order they were typed, also when they come in a burst.

    It holds no more than a rubric's file may.
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {_FAULT, _WARNING}
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+home", "text_start", show=False),
        Binding("ctrl+end", "text_end", show=False),
        Binding("ctrl+shift+home", "text_start(True)", show=False),
        Binding("ctrl+shift+end", "text_end(True)", show=False),
    ]

    class Refused(Message):
        """What was typed or pasted is not there, or not all of it as it was."""

        def __init__(self, words: str) -> None:
            super().__init__()
            self.words = words

    def __init__(self, *, id: str) -> None:
        super().__init__(
            id=id, show_line_numbers=True, compact=True, read_only=True, max_checkpoints=500
        )
        self.cursor_blink = False
        self._marks: Mapping[int, bool] = {}

    def on_unmount(self) -> None:
        """Be followed by the app's theme no more, which else keeps text and history for good."""
        app = cast("object", self.app)  # pyright: ignore[reportUnknownMemberType]
        watchers = cast("dict[str, list[tuple[object, object]]]", getattr(app, "__watchers", {}))
        themed = watchers.get("theme", [])
        themed[:] = [each for each in themed if each[0] is not self]

    async def on_key(self, event: events.Key) -> None:
        """Run an editing key at once: as a binding it would be overtaken by letters after it."""
        if event.is_printable or event.key == "enter" or self.read_only:
            return
        for binding in self._bindings.key_to_bindings.get(event.key, ()):
            event.stop()
            event.prevent_default()
            await self.run_action(binding.action)
            return

    def check_consume_key(self, key: str, character: str | None = None) -> bool:
        """Letters are text here, also while the text is still being read."""
        return character is not None and character.isprintable()

    def edit(self, edit: Edit) -> EditResult:
        """Do an edit, with stand-ins for what acts on a terminal, or not at all."""
        # Terminals send the line ends of what is pasted as carriage returns.
        text = editable(edit.text).replace("\r", "\n")
        edit.text = clean(text)
        if edit.text != text:
            changed = sum(a != b for a, b in zip(text, edit.text, strict=True))
            words = f"{changed:,} characters that act on a terminal have stand-ins now"
            self.post_message(self.Refused(words))
        # Most edits are short; only what could pass the limit is measured.
        if len(edit.text) > 1 or edit.text == "\n":
            replaced = self.document.get_text_range(edit.top, edit.bottom)
            stays = len(self.text.encode()) - len(replaced.encode())
            if edit.text and stays + len(edit.text.encode()) > MAX_TOML_BYTES:
                self.post_message(
                    self.Refused(f"nothing was put in: a rubric has {MAX_TOML_BYTES} bytes at most")
                )
                return EditResult(edit.to_location, "")
        line = self.document.get_line(edit.from_location[0])
        self._wrap_or_not(max(len(line), *map(len, edit.text.split("\n"))))
        return super().edit(edit)

    def load_text(self, text: str) -> None:
        """Hold another text, without a way back."""
        self._wrap_or_not(max(map(len, text.split("\n"))))
        super().load_text(text)

    def _wrap_or_not(self, longest: int) -> None:
        if self.soft_wrap and longest > LONGEST_WRAPPED:
            self.soft_wrap = False
            words = f"a line has more than {LONGEST_WRAPPED:,} characters: lines are not wrapped"
            self.post_message(self.Refused(words))

    def action_undo(self) -> None:
        """Take back the last change, or say that there is none."""
        if not self.read_only and not self.history.undo_stack:
            self.post_message(self.Refused("there is nothing to take back"))
        super().action_undo()

    def action_cursor_line_end(self, select: bool = False) -> None:
        """Go to the end of a row; from there to that of its line."""
        before = self.cursor_location
        super().action_cursor_line_end(select)
        if self.cursor_location == before:
            line = before[0]
            self.move_cursor((line, len(self.document.get_line(line))), select=select)

    def action_cursor_line_start(self, select: bool = False) -> None:
        """Go to the start of a row; from there to that of its line."""
        before = self.cursor_location
        super().action_cursor_line_start(select)
        if self.cursor_location == before:
            self.move_cursor((before[0], 0), select=select)

    def action_text_start(self, select: bool = False) -> None:
        """Go to the start of the text."""
        self.move_cursor((0, 0), select=select)

    def action_text_end(self, select: bool = False) -> None:
        """Go to the end of the text."""
        self.move_cursor(self.document.end, select=select)

    def mark_lines(self, marks: Mapping[int, bool]) -> None:
        """Underline lines, from 1: those of faults, and where it is False of warnings."""
        if marks != self._marks:
            self._marks = marks
            self.notify_style_update()
            self.refresh()

    def get_line(self, line_index: int) -> Text:
        """A line as it is drawn."""
        drawn = super().get_line(line_index)
        if (fault := self._marks.get(line_index + 1)) is not None:
            drawn.stylize(
                self.get_component_rich_style(_FAULT if fault else _WARNING, partial=True)
            )
        return drawn

    def go_to(self, line: int) -> None:
        """Put the cursor on a line, from 1."""
        self.move_cursor((max(0, line - 1), 0), center=True)

    def take(self, text: str) -> None:
        """Hold another text, as one step that can be undone."""
        self.history.checkpoint()
        self.replace(text, (0, 0), self.document.end)
        self.history.checkpoint()
        self.move_cursor((0, 0))
