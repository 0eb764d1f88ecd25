"""What a run goes by: chunk size, time limit, model, rubric; and the buttons that run and stop."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.containers import Container, Horizontal
from textual.message import Message
from textual.widgets import Input

from longjudge.errors import UsageError
from longjudge_tui.commands import command
from longjudge_tui.lines import CommandButton, FittedLine
from longjudge_tui.wording import line

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.binding import BindingType

    from longjudge_tui.bench import Bench


class NumberField(Input):
    """A typed number; escape gives up, enter takes it."""

    BINDINGS: ClassVar[list[BindingType]] = [("escape", "give_up", "Give up")]

    class GivenUp(Message):
        """Escape was pressed."""

    def action_give_up(self) -> None:
        """Leave the field as it was."""
        self.post_message(self.GivenUp())


class SettingsPanel(Container):
    """The fields follow the bench; what is typed is checked and then given to it."""

    class Done(Message):
        """A field was left; `changed` says whether the plan has to be drawn again."""

        def __init__(self, *, changed: bool) -> None:
            super().__init__()
            self.changed = changed

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
        yield FittedLine(id="settings-error")
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
        settings = self._bench.settings
        self._size_field.value = str(settings.chunk_chars)
        self._limit_field.value = f"{settings.time_limit:g}"
        self._say("")

    def edit_size(self) -> None:
        """Type a chunk size."""
        self._size_field.focus()

    def edit_limit(self) -> None:
        """Type a time limit."""
        self._limit_field.focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Take what was typed, or say what is wrong with it."""
        event.stop()
        try:
            if event.input is self._size_field:
                self._bench.set_chunk_chars(int(event.value or 0))
            else:
                self._bench.set_time_limit(float(event.value or 0))
        except (UsageError, ValueError) as error:
            self._say(line(str(error), 200))
            self.notify(line(str(error), 200), severity="error", markup=False)
            return
        self.show_settings()
        self.post_message(self.Done(changed=event.input is self._size_field))

    def on_number_field_given_up(self) -> None:
        """Show what stands again."""
        self.show_settings()
        self.post_message(self.Done(changed=False))

    def on_descendant_blur(self) -> None:
        """What was typed and not taken is forgotten."""
        self.show_settings()

    @property
    def _size_field(self) -> NumberField:
        return self.query_one("#field-size", NumberField)

    @property
    def _limit_field(self) -> NumberField:
        return self.query_one("#field-limit", NumberField)

    def _say(self, words: str) -> None:
        error = self.query_one("#settings-error", FittedLine)
        error.show(words)
        error.set_class(bool(words), "-shown")
