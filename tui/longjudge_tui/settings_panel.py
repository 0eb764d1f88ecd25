"""What a run goes by: chunk size, time limit, model, rubric; and the buttons that run and stop."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.containers import Container, Horizontal
from textual.message import Message
from textual.widgets import Input

from longjudge.errors import UsageError
from longjudge.settings import in_seconds
from longjudge_tui.commands import command
from longjudge_tui.lines import CommandButton, FittedLine
from longjudge_tui.wording import line

if TYPE_CHECKING:
    from textual import events
    from textual.app import ComposeResult

    from longjudge_tui.bench import Bench


NUMBER_KEYS = frozenset("0123456789") | {"full_stop"}


class NumberField(Input):
    """A typed number; escape gives up, enter takes it.

    What cannot be part of a number is not typed, and goes on to the screen: it may be a command.
    """

    class GivenUp(Message):
        """Escape was pressed."""

        def __init__(self, field: NumberField) -> None:
            super().__init__()
            self.field = field

    async def on_key(self, event: events.Key) -> None:
        """Let the screen have what is no digit.

        Enter and escape are no bindings: those go to whatever has the keys by then.
        """
        if event.key == "enter":
            event.stop()
            await self.action_submit()
        elif event.key == "escape":
            event.stop()
            self.post_message(self.GivenUp(self))
        elif event.is_printable and event.key not in NUMBER_KEYS:
            event.prevent_default()

    def check_consume_key(self, key: str, character: str | None) -> bool:
        """Only what may be part of a number is the field's own."""
        return key in NUMBER_KEYS

    def restricted(self) -> None:
        """Leave out what would be no number, without a bell."""


class SettingsPanel(Container):
    """The fields follow the bench; what is typed is checked and then given to it."""

    class Done(Message):
        """A field was left by a key."""

        def __init__(self, field: Input) -> None:
            super().__init__()
            self.field = field

    class Changed(Message):
        """A setting is another one now."""

    def __init__(self, bench: Bench, *, id: str) -> None:
        super().__init__(id=id)
        self._bench = bench

    def compose(self) -> ComposeResult:
        """The fields, then what cannot be changed here, then the buttons."""
        title = FittedLine(classes="title", id="settings-title")
        title.show("SETTINGS")
        yield title
        for name, word in (("size", "chunk"), ("limit", "limit s")):
            label = FittedLine(classes="field-label")
            label.show(word)
            with Horizontal(classes="field"):
                yield label
                yield NumberField(
                    id=f"field-{name}",
                    compact=True,
                    select_on_focus=True,
                    restrict=r"[0-9]{0,9}" if name == "size" else r"[0-9]{0,7}(\.[0-9]{0,3})?",
                )
        yield FittedLine(id="settings-model", classes="fact")
        yield FittedLine(id="settings-rubric", classes="fact")
        yield CommandButton(command("run"), "Run")
        yield CommandButton(command("cancel_run"), "Stop")
        yield CommandButton(command("run_short"), "0.5 s")

    def on_mount(self) -> None:
        """Show what stands."""
        rubric = self._bench.rubric
        self.query_one("#settings-model", FittedLine).show(line(self._bench.judge.label, 60))
        self.query_one("#settings-rubric", FittedLine).show(
            f"{line(rubric.name, 40)} {rubric.version}", rubric.version
        )
        self.show_settings()

    def show_settings(self) -> None:
        """Let the fields show the settings as they are."""
        for field in (self._size_field, self._limit_field):
            field.value = self._standing(field)

    def edit_size(self) -> None:
        """Type a chunk size."""
        self.screen.set_focus(self._size_field)

    def edit_limit(self) -> None:
        """Type a time limit."""
        self.screen.set_focus(self._limit_field)

    def take(self) -> bool:
        """Use what is typed; False where it was refused, which is said and taken back."""
        taken = [self._take(field) for field in (self._size_field, self._limit_field)]
        return all(taken)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Take what was typed."""
        event.stop()
        if isinstance(event.input, NumberField):
            self._take(event.input)
        self.post_message(self.Done(event.input))

    def on_number_field_given_up(self, event: NumberField.GivenUp) -> None:
        """Show what stands again."""
        event.field.value = self._standing(event.field)
        self.post_message(self.Done(event.field))

    def on_descendant_blur(self, event: events.DescendantBlur) -> None:
        """Take what was typed, unless it was the whole terminal that lost the keys."""
        field = event.widget
        terminal_has_keys = self.app.app_focus  # pyright: ignore[reportUnknownMemberType]
        if terminal_has_keys and isinstance(field, NumberField) and not field.has_focus:
            self._take(field)

    def _take(self, field: NumberField) -> bool:
        typed, standing = field.value, self._standing(field)
        if typed == standing:
            return True
        try:
            if field is self._size_field:
                self._bench.set_chunk_chars(_chunk_size(typed))
            else:
                self._bench.set_time_limit(_time_limit(typed))
        except UsageError as error:
            self.notify(line(str(error), 200), severity="error", markup=False)
            return False
        finally:
            field.value = self._standing(field)
        self.post_message(self.Changed())
        return True

    def _standing(self, field: NumberField) -> str:
        settings = self._bench.settings
        if field is self._size_field:
            return str(settings.chunk_chars)
        return in_seconds(settings.time_limit)

    @property
    def _size_field(self) -> NumberField:
        return self.query_one("#field-size", NumberField)

    @property
    def _limit_field(self) -> NumberField:
        return self.query_one("#field-limit", NumberField)


def _chunk_size(typed: str) -> int:
    if not typed:
        raise UsageError("no chunk size was typed; type characters, such as 30000")
    return int(typed)


def _time_limit(typed: str) -> float:
    if not typed.strip("."):
        raise UsageError("no time limit was typed; type seconds, such as 600 or 0.5")
    return float(typed)
