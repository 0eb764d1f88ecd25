"""The failure lab: picks a failure to force, or takes a typed spec. Every later run has it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, ClassVar, Final

from rich.cells import cell_len
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.message import Message
from textual.screen import ModalScreen
from textual.widgets import Static

from longjudge.errors import UsageError
from longjudge.faults import Fault
from longjudge_tui.lab import wishes
from longjudge_tui.widgets.fields import Field
from longjudge_tui.widgets.line_list import Cells, LineList
from longjudge_tui.widgets.lines import FittedLine
from longjudge_tui.wording import fit, line

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from textual import events
    from textual.app import ComposeResult
    from textual.binding import BindingType
    from textual.widgets import Input

OTHER_LINES: Final = 13
"""What the dialog has beside its list and its words: frame, title, choices, spec, banner."""

LEAST_WORDS, MOST_WORDS = 3, 6
"""The lines of what is said: as many stay free as mostly are needed, so that the list stays."""

DIALOG_CELLS, FRAME_CELLS = 100, 5
NAME_CELLS: Final = 14
_PRINTABLE: Final = r"[^\x00-\x1f\x7f-\x9f]{0,200}"


@dataclass(frozen=True, slots=True)
class Scene:
    """What the lab knows: the spec that stands, the part under the cursor, what to say.

    `reach` says how many chunks a fault may meet, where that can be told; `note` what stands in
    the way of seeing it.
    """

    standing: str
    here: int | None
    banner: str
    note: str
    reach: Callable[[Fault], str]


class KindList(LineList):
    """No failure, and each kind with what it does."""

    def __init__(self, standing: str, *, id: str) -> None:
        super().__init__(id=id)
        self._kinds = wishes.kinds()
        self._standing = standing

    def on_mount(self) -> None:
        """Begin at what stands."""
        names = [name for name, _ in self._kinds]
        self.reset_rows(len(names), names.index(self._standing))

    @property
    def kind(self) -> str:
        """The name under the cursor."""
        return self._kinds[self.cursor][0]

    def row_facts(self, row: int) -> Hashable:
        """The kind."""
        return self._kinds[row]

    def row_cells(self, row: int, width: int) -> Cells:
        """Whether it stands, its name, what it does."""
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


WHERE, OFTEN, VALUE = "where", "how often", "value"
_IN_SPEC: Final[tuple[str, ...]] = (VALUE, OFTEN, WHERE)
"""In the order in which a spec has them."""


class FailureLab(ModalScreen[bool]):
    """Gives the fault that was picked, or None for no failure, to `accept`."""

    BINDINGS: ClassVar[list[BindingType]] = [
        ("escape", "close", "Close"),
        ("w", f"next('{WHERE}')", "Where"),
        ("n", f"next('{OFTEN}')", "How often"),
        ("v", f"next('{VALUE}')", "Value"),
        ("s", "edit", "Spec"),
    ]
    AUTO_FOCUS = "#kinds"

    def __init__(self, scene: Scene, accept: Callable[[Fault | None], None]) -> None:
        super().__init__()
        self._scene = scene
        self._accept = accept
        self._chosen: dict[str, int] = dict.fromkeys(_IN_SPEC, 0)
        self._fault: Fault | None = None
        self._refused = ""
        self._read = ""
        self._said: list[str] = []

    def compose(self) -> ComposeResult:
        """The kinds, three choices, the spec, and what it will do."""
        standing = wishes.NONE
        if self._scene.standing:
            standing = Fault.parse(self._scene.standing).forced[0].kind.value
        with Vertical(classes="dialog wide lab"):
            yield Static(
                Content("FAILURE LAB · what failures look like; none is paid or kept"),
                classes="title",
            )
            yield KindList(standing, id="kinds")
            yield OptionLine("w", WHERE)
            yield OptionLine("n", OFTEN)
            yield OptionLine("v", VALUE)
            with Horizontal(id="spec-row"):
                yield Static(Content("s  spec"), id="spec-label")
                yield SpecField(
                    self._scene.standing,
                    id="spec",
                    compact=True,
                    restrict=_PRINTABLE,
                    select_on_focus=False,
                )
            yield Static(id="lab-words")
            yield FittedLine(id="lab-keys", classes="banner")

    def on_mount(self) -> None:
        """Make the list as high as there is room, and say what stands."""
        self._choose(self._scene.standing)
        self._read_spec()
        keys = "enter uses it from the next run on · esc closes"
        banner = self._scene.banner
        short = "enter uses it · esc closes"
        # Who judges, and whether anything is kept, comes before keys that are the same everywhere.
        forms = f"{keys} · {banner}", f"{short} · {banner}", banner
        self.query_one("#lab-keys", FittedLine).show(*forms)

    def on_resize(self) -> None:
        """Make the list as high as there is room now."""
        self._fit()

    def _fit(self) -> None:
        kinds, words = self.query_one("#kinds", KindList), self.query_one("#lab-words", Static)
        width = max(20, min(DIALOG_CELLS, self.size.width * 9 // 10) - FRAME_CELLS)
        said = sum(-(-max(1, cell_len(each)) // width) for each in self._said)
        lines = min(MOST_WORDS, max(LEAST_WORDS, said))
        words.styles.height = lines
        room = self.size.height - OTHER_LINES - lines
        kinds.styles.height = max(3, min(len(wishes.kinds()), room))

    @property
    def _kind(self) -> str:
        return self.query_one("#kinds", KindList).kind

    def _options(self, name: str) -> tuple[wishes.Option, ...]:
        match name:
            case "where":
                return wishes.places(self._kind, self._scene.here)
            case "how often":
                return wishes.times(self._kind)
            case _:
                return wishes.values(self._kind)

    def _choose(self, spec: str) -> None:
        """Pick what makes a spec, where something does."""
        for places in product(*(range(len(self._options(each))) for each in _IN_SPEC)):
            chosen = dict(zip(_IN_SPEC, places, strict=True))
            if self._spec_of(chosen) == spec:
                self._chosen = chosen
                return

    def _spec_of(self, chosen: dict[str, int]) -> str:
        kind = self._kind
        if kind == wishes.NONE:
            return ""
        return "".join([kind, *(self._picked(each, chosen).spec for each in _IN_SPEC)])

    def _picked(self, name: str, chosen: dict[str, int]) -> wishes.Option:
        options = self._options(name)
        return options[min(chosen[name], len(options) - 1)]

    def _show_options(self, *, typed: bool) -> None:
        for each in self.query(OptionLine):
            options = self._options(each.option_name)
            chosen = min(self._chosen[each.option_name], len(options) - 1)
            each.show_options(options, None if typed else chosen)

    def _build(self) -> None:
        """Put what is picked into the field."""
        spec = self._spec_of(self._chosen)
        field = self.query_one("#spec", SpecField)
        field.value = spec
        field.cursor_position = len(spec)
        self._read_spec()

    def _read_spec(self) -> None:
        """Say what the spec in the field does, or what is wrong with it."""
        self._read = self.query_one("#spec", SpecField).value
        typed = self._read.strip()
        self._show_options(typed=typed != self._spec_of(self._chosen))
        self._fault, self._refused = None, ""
        words = [f"{wishes.NONE_HELP}: no failure is forced"]
        if typed:
            try:
                self._fault = Fault.parse(typed)
            except UsageError as error:
                self._refused = line(str(error), 400)
                words = [f"✗ {self._refused}"]
            else:
                reach = self._scene.reach(self._fault)
                words = [*wishes.words_of(self._fault), *([reach] if reach else [])]
        if self._scene.note:
            words.append(f"! {self._scene.note}")
        self._said = words
        said = self.query_one("#lab-words", Static)
        said.set_class(bool(self._refused), "-refused")
        said.update(Content("\n".join(words)))
        self._fit()

    def on_line_list_moved(self, event: LineList.Moved) -> None:
        """Another kind is under the cursor."""
        event.stop()
        self._chosen[VALUE] = 0
        self._build()

    async def on_line_list_opened(self, event: LineList.Opened) -> None:
        """The kind under the cursor is meant, as it is picked."""
        event.stop()
        self._use()

    def on_option_line_next(self, event: OptionLine.Next) -> None:
        """A line was clicked."""
        self.action_next(event.name)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Something else stands in the field."""
        event.stop()
        # What was typed in one burst comes letter by letter, and only all of it counts.
        if event.value == event.input.value != self._read:
            self._read_spec()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """What was typed is meant."""
        event.stop()
        self._use()

    def on_spec_field_left(self) -> None:
        """Back to the list."""
        self.set_focus(self.query_one("#kinds"))

    def action_next(self, name: str) -> None:
        """Pick the next of what a place may hold."""
        options = self._options(name)
        self._chosen[name] = (min(self._chosen[name], len(options) - 1) + 1) % len(options)
        self._build()

    def action_edit(self) -> None:
        """Type the spec."""
        self.set_focus(self.query_one("#spec"))

    def _use(self) -> None:
        # The message about what was typed last may still be on its way.
        self._read_spec()
        if not self._refused:
            self._accept(self._fault)
            self.dismiss(True)

    def action_close(self) -> None:
        """Change nothing."""
        self.dismiss(False)
