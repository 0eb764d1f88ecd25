"""What a run goes by: chunk size, rubric, model, calls in flight, limit; and run and stop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.containers import Container, Horizontal
from textual.message import Message

from longjudge.errors import UsageError
from longjudge.settings import in_seconds
from longjudge_tui.bench.limit_words import limit_is_next, limit_variants
from longjudge_tui.bench.run_words import hand_labels
from longjudge_tui.bench.sizes import Unit
from longjudge_tui.commands import command
from longjudge_tui.widgets.fields import Field
from longjudge_tui.widgets.lines import CommandButton, CommandFact, FittedLine
from longjudge_tui.widgets.splitter import Splitter
from longjudge_tui.wording import line, seen_words
from longjudge_tui.workbench.size_slider import SizeSlider

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual import events
    from textual.app import ComposeResult
    from textual.widgets import Input

    from longjudge_tui.bench.bench import Bench
    from longjudge_tui.bench.tuning import Tuning


NUMBER_KEYS = frozenset("0123456789") | {"full_stop", "comma"}
"""Keys that people type in numbers; a comma is left out of what is typed."""
MAKER = "claude-"
"""What the names of most models begin with, and so tells none from another."""

_CLOSER = ((20, "-snug"), (17, "-close"), (14, "-closer"), (10, "-closest"), (8, "-least"))
"""Below how many rows at the side what comes closer together, or makes room for the buttons."""

_WHOLE, _SECONDS = r"[0-9]{0,9}", r"[0-9]{0,7}(\.[0-9]{0,3})?"


@dataclass(frozen=True, slots=True)
class Number:
    """A typed setting: what may be typed, what stands, and how it is taken.

    `word` is its label, `typed` says what is to be typed.
    """

    name: str
    word: str
    typed: str
    restrict: str
    standing: Callable[[Tuning], str]
    take: Callable[[Tuning, str], None]


class NumberField(Field):
    """A typed number; escape gives up, enter takes it.

    What cannot be part of a number is not typed, and goes on to the screen: it may be a command.
    """

    class GivenUp(Message):
        """Escape was pressed."""

        def __init__(self, field: NumberField) -> None:
            super().__init__()
            self.field = field

    def __init__(self, number: Number) -> None:
        super().__init__(
            id=f"field-{number.name}",
            compact=True,
            select_on_focus=True,
            restrict=number.restrict,
        )
        self.number = number
        self._shown = ""
        self._fresh = False

    @property
    def typed_over(self) -> bool:
        """Whether something else was typed than what was shown last."""
        return self.value != self._shown

    def show(self, value: str) -> None:
        """Show a number instead of whatever was typed."""
        self._shown = self.value = value

    def on_focus(self) -> None:
        """The first click is to take the whole number, as the key does."""
        self._fresh = True

    def on_click(self) -> None:
        """Take the whole number at first; another click puts the cursor where the mouse is."""
        if self._fresh:
            self._fresh = False
            self.select_all()

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
    """The fields follow the bench; what is typed is checked and then given to it.

    Where there is little room, the calls in flight stand where the limit does, while they are
    typed.
    """

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
        self._fields = [NumberField(each) for each in (_SIZE, _FLIGHT, _LIMIT)]

    def compose(self) -> ComposeResult:
        """The size with its slider, what is asked and by whom, the limits, then the buttons."""
        yield Splitter(id="split-settings")
        title = FittedLine(classes="title", id="settings-title")
        title.show("SETTINGS")
        yield title
        size, flight, limit = self._fields
        yield from self._row(size)
        yield SizeSlider(self._bench, id="slider")
        yield CommandFact(command("switch_unit"))
        yield CommandFact(command("choose_rubric"))
        yield CommandFact(command("choose_model"))
        yield from self._row(flight)
        yield from self._row(limit)
        yield FittedLine(id="limit-advice", classes="fact")
        yield CommandButton(command("run"), "Run")
        yield CommandButton(command("cancel_run"), "Cancel")
        yield CommandButton(command("run_short"), "0.5 s")
        yield CommandButton(command("pause"), "Pause")
        yield CommandFact(command("show_prompt"))
        yield CommandFact(command("show_reply"))

    def _row(self, field: NumberField) -> ComposeResult:
        number = field.number
        with Horizontal(classes="field", id=f"row-{number.name}"):
            label = FittedLine(classes="field-label", id=f"label-{number.name}")
            label.show(number.word)
            yield label
            yield field

    def on_mount(self) -> None:
        """Show what stands."""
        self.show_settings()

    def on_resize(self, event: events.Resize) -> None:
        """Leave no button out of sight where there are few rows; one row is not at the side."""
        rows = event.size.height
        for rows_for_more, name in _CLOSER:
            self.set_class(1 < rows < rows_for_more, name)

    def show_settings(self) -> None:
        """Show the settings as they are; a field that is being typed in stays."""
        tuning, rubric = self._bench.tuning, self._bench.rubric
        self.follow_drag()
        by_tokens = tuning.unit is Unit.TOKENS
        self.query_one("#label-size", FittedLine).show("tokens" if by_tokens else "chunk")
        limit = "next s" if limit_is_next(self._bench) else _LIMIT.word
        self.query_one("#label-limit", FittedLine).show(limit)
        name = line(rubric.name, 40)
        for each, words in (
            ("switch_unit", (f"in {tuning.unit.value}", tuning.unit.value)),
            ("choose_rubric", (f"{name} {rubric.version}", name)),
            ("choose_model", _model_words(self._bench)),
            ("show_prompt", ("exact prompt",)),
            ("show_reply", ("raw reply",)),
        ):
            self.query_one(f"#fact-{each.replace('_', '-')}", CommandFact).show(*words)
        self._show_buttons()

    def _show_buttons(self) -> None:
        """While a judgment runs it can be paused, and no other one begun for half a second."""
        bench, run = self._bench, self._bench.run
        self.query_one("#button-pause", CommandButton).say("Go on" if bench.paused else "")
        self.set_class(bench.running, "-running")
        releasing: tuple[str, ...] = ()
        if run is not None and bench.stopping:
            releasing = ("Do not wait", "Skip") if run.batches else hand_labels(run.in_hand)
        self.query_one("#button-cancel-run", CommandButton).say("", *releasing)

    def follow_drag(self) -> None:
        """Show the numbers and the slider as they are: all that a drag changes here."""
        terminal_has_keys = self.app.app_focus  # pyright: ignore[reportUnknownMemberType]
        for field in self._fields:
            if not terminal_has_keys or field.has_focus:
                continue
            if field.typed_over:
                # It has left the keys, and the message that takes it is still on its way.
                self._take(field)
            else:
                field.show(field.number.standing(self._bench.tuning))
        self.query_one(SizeSlider).follow()
        self.query_one("#limit-advice", FittedLine).show(*limit_variants(self._bench))

    def edit(self, name: str) -> None:
        """Type a setting: `size`, `flight` or `limit`."""
        self.set_class(name == "flight", "-flight")
        self.screen.set_focus(self.query_one(f"#field-{name}", NumberField))

    def take(self) -> bool:
        """Use what is typed; False where it was refused, which is said and taken back."""
        taken = [self._take(field) for field in self._fields]
        return all(taken)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Take what was typed."""
        event.stop()
        if isinstance(event.input, NumberField):
            self._take(event.input)
        self.post_message(self.Done(event.input))

    def on_number_field_given_up(self, event: NumberField.GivenUp) -> None:
        """Show what stands again."""
        event.field.show(event.field.number.standing(self._bench.tuning))
        self.post_message(self.Done(event.field))

    def on_descendant_blur(self, event: events.DescendantBlur) -> None:
        """Take what was typed, unless it was the whole terminal that lost the keys."""
        field = event.widget
        terminal_has_keys = self.app.app_focus  # pyright: ignore[reportUnknownMemberType]
        if terminal_has_keys and isinstance(field, NumberField) and not field.has_focus:
            self._take(field)
            if field.number is _FLIGHT:
                self.remove_class("-flight")

    def _take(self, field: NumberField) -> bool:
        tuning = self._bench.tuning
        typed, standing = field.value, field.number.standing(tuning)
        if typed == standing:
            field.show(standing)
            return True
        try:
            field.number.take(tuning, typed)
        except UsageError as error:
            self.notify(line(str(error), 200), severity="error", markup=False)
            return False
        finally:
            field.show(field.number.standing(tuning))
        self.post_message(self.Changed())
        return True

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """The wheel on the size is the wheel on its slider."""
        self._wheel(event, 1)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """The wheel on the size is the wheel on its slider."""
        self._wheel(event, -1)

    def _wheel(self, event: events.MouseEvent, direction: int) -> None:
        if self.query_one("#row-size").region.contains(*event.screen_offset):
            event.stop()
            self.post_message(SizeSlider.Turned(direction))


def model_variants(label: str) -> tuple[str, ...]:
    """A model's label, and what tells it from the others where there is little room."""
    short = label.replace(MAKER, "")
    return (label, short) if short != label else (label,)


def _model_words(bench: Bench) -> tuple[str, ...]:
    """The model, with what to know before it is asked, or how its tokens turned out before."""
    names = model_variants(line(bench.judge.label, 60))
    if notice := bench.model_notice:
        said = [f"{name} · {line(notice.short, 80)}" for name in names]
        return (*said, *(f"! {notice.word}: {name}" for name in names))
    if observed := bench.observed:
        return (*(f"{name} {seen_words(observed)}" for name in names), *names)
    return names


def _take_size(tuning: Tuning, typed: str) -> None:
    if not typed:
        raise UsageError(f"no chunk size was typed; type {tuning.unit.value}, such as 30000")
    tuning.set_size(int(typed))


def _take_limit(tuning: Tuning, typed: str) -> None:
    if not typed.strip("."):
        raise UsageError("no time limit was typed; type seconds, such as 600 or 0.5")
    tuning.set_time_limit(float(typed))


def _take_flight(tuning: Tuning, typed: str) -> None:
    if not typed:
        raise UsageError("no number of calls was typed; type one, such as 4")
    tuning.set_concurrency(int(typed))


_SIZE = Number("size", "chunk", "a size", _WHOLE, lambda tuning: str(tuning.size), _take_size)
_FLIGHT = Number(
    "flight",
    "in flight",
    "how many calls are in flight",
    r"[0-9]{0,4}",
    lambda tuning: str(tuning.settings.concurrency),
    _take_flight,
)
_LIMIT = Number(
    "limit",
    "limit s",
    "a limit in seconds",
    _SECONDS,
    lambda tuning: in_seconds(tuning.settings.time_limit),
    _take_limit,
)
