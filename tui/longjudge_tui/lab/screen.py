"""The failure lab: picks failures to force, or takes a typed spec. Every later run has them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any, ClassVar, Final, cast

from rich.cells import cell_len
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from longjudge.errors import UsageError
from longjudge.faults import Fault
from longjudge_tui.chores import Chores
from longjudge_tui.clipboard import Clipboard
from longjudge_tui.commands import Scope, binding_of, bindings, command
from longjudge_tui.lab import wishes
from longjudge_tui.lab.parts import KindList, OptionLine, SpecField
from longjudge_tui.lab.reach import MARKS
from longjudge_tui.pace import look_often
from longjudge_tui.widgets.help_dialog import show_help
from longjudge_tui.widgets.lines import FittedLine
from longjudge_tui.wording import line

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.app import App, ComposeResult
    from textual.binding import BindingType
    from textual.widgets import Input

    from longjudge_tui.lab.reach import Foreseen
    from longjudge_tui.widgets.line_list import LineList

OTHER_LINES: Final = 14
"""What the dialog has beside its list and its words: frame, title, choices, spec, keys, banner."""

LEAST_WORDS, MOST_WORDS = 4, 8
"""The lines of what is said: as many stay free as mostly are needed, so that the list stays."""

DIALOG_CELLS, FRAME_CELLS = 100, 5
_PRINTABLE: Final = r"[^\x00-\x1f\x7f-\x9f]{0,200}"
WHERE, OFTEN, VALUE = "where", "how often", "value"
_IN_SPEC: Final[tuple[str, ...]] = (VALUE, OFTEN, WHERE)
"""In the order in which a spec has them."""

_KEYS: Final = ("lab_add", "lab_drop", "lab_off", "lab_copy", "help")


@dataclass(frozen=True, slots=True)
class Scene:
    """What the lab knows: the spec that stands, those of before, the part under the cursor.

    `parts` is how many there are. `note` is what stands in the way of seeing a failure, `foresee`
    what a fault would do, and `command_line` gives the same run outside of the app.
    """

    standing: str
    recent: tuple[str, ...]
    here: int | None
    parts: int
    banner: str
    note: str
    foresee: Callable[[Fault], Foreseen | None]
    command_line: Callable[[str], str]


class FailureLab(ModalScreen[bool]):
    """Gives the fault that was picked, or None for no failure, to `accept`.

    What was picked before another one stands in `_before`, as a spec has it.
    """

    BINDINGS: ClassVar[list[BindingType]] = [*bindings(Scope.LAB), binding_of("help")]
    AUTO_FOCUS = "#kinds"

    def __init__(self, scene: Scene, accept: Callable[[Fault | None], None]) -> None:
        super().__init__()
        self._scene = scene
        self._accept = accept
        self._before, _, self._last = scene.standing.rpartition("+")
        self._chosen: dict[str, int] = dict.fromkeys(_IN_SPEC, 0)
        self._fault: Fault | None = None
        self._refused = ""
        self._read = ""
        self._said: list[str] = []
        self._chores = Chores()
        self._clipboard = Clipboard()

    def compose(self) -> ComposeResult:
        """The kinds, three choices, the spec, and what it will do."""
        standing = wishes.NONE
        if self._last:
            standing = Fault.parse(self._last).forced[0].kind.value
        with Vertical(classes="dialog wide lab"):
            yield Static(
                Content("FAILURE LAB · what failures look like; none is paid or kept"),
                classes="title",
            )
            yield KindList(standing, self._scene.recent, id="kinds")
            yield OptionLine(command("lab_where").shown, WHERE)
            yield OptionLine(command("lab_often").shown, OFTEN)
            yield OptionLine(command("lab_value").shown, VALUE)
            with Horizontal(id="spec-row"):
                yield Static(Content(f"{command('lab_spec').shown}  spec"), id="spec-label")
                yield SpecField(
                    self._scene.standing,
                    id="spec",
                    compact=True,
                    restrict=_PRINTABLE,
                    select_on_focus=False,
                )
            yield Static(id="lab-words")
            yield FittedLine(id="lab-actions", classes="option")
            yield FittedLine(id="lab-keys", classes="banner")

    def on_mount(self) -> None:
        """Make the list as high as there is room, and say what stands."""
        self._choose(self._last)
        self._read_spec()
        keys = "enter uses it from the next run on · esc closes"
        banner = self._scene.banner
        short = "enter uses it · esc closes"
        # Who judges, and whether anything is kept, comes before keys that are the same everywhere.
        forms = f"{keys} · {banner}", f"{short} · {banner}", banner
        self.query_one("#lab-keys", FittedLine).show(*forms)
        words = [f"{command(each).bar_key} {command(each).label.lower()}" for each in _KEYS]
        actions = [" · ".join(words[:count]) for count in range(len(words), 0, -1)]
        self.query_one("#lab-actions", FittedLine).show(*actions)
        look_often(self, self._chores.raise_failure)

    async def on_unmount(self) -> None:
        """End what is still being copied."""
        await self._chores.end()

    def on_resize(self) -> None:
        """Make the list as high as there is room now."""
        self._read_spec()

    @property
    def _width(self) -> int:
        return max(20, min(DIALOG_CELLS, self.size.width * 9 // 10) - FRAME_CELLS)

    def _fit(self) -> None:
        kinds, words = self.query_one("#kinds", KindList), self.query_one("#lab-words", Static)
        said = sum(-(-max(1, cell_len(each)) // self._width) for each in self._said)
        room = self.size.height - OTHER_LINES
        lines = min(MOST_WORDS, max(LEAST_WORDS, said), max(1, room - 3))
        words.styles.height = lines
        kinds.styles.height = max(3, min(kinds.rows, room - lines))

    @property
    def _kind(self) -> str:
        return self.query_one("#kinds", KindList).kind

    def _options(self, name: str) -> tuple[wishes.Option, ...]:
        match name:
            case "where":
                return wishes.places(self._kind, self._scene.here, self._scene.parts)
            case "how often":
                return wishes.times(self._kind)
            case _:
                return wishes.values(self._kind)

    def _choose(self, spec: str) -> None:
        """Pick what makes the last failure of a spec, where something does."""
        for places in product(*(range(len(self._options(each))) for each in _IN_SPEC)):
            chosen: dict[str, int] = dict(zip(_IN_SPEC, places, strict=True))
            if self._picked_spec(chosen) == spec:
                self._chosen = chosen
                return

    def _picked_spec(self, chosen: dict[str, int]) -> str:
        """What is picked now, without what was picked before."""
        kind = self._kind
        if kind == wishes.NONE:
            return ""
        return "".join([kind, *(self._picked(each, chosen).spec for each in _IN_SPEC)])

    def _spec_of(self, chosen: dict[str, int]) -> str:
        if recent := self.query_one("#kinds", KindList).recent:
            # It is a whole one, whatever was picked before.
            return recent
        return "+".join(filter(None, (self._before, self._picked_spec(chosen))))

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
                words = [*wishes.words_of(self._fault), *self._foresee(self._fault)]
        if self._scene.note:
            words.append(f"! {self._scene.note}")
        self._said = words
        said = self.query_one("#lab-words", Static)
        said.set_class(bool(self._refused), "-refused")
        said.update(Content("\n".join(words)))
        self._fit()

    def _foresee(self, fault: Fault) -> list[str]:
        """Which chunks it meets, in words and as a picture, and how a run would end."""
        foreseen = self._scene.foresee(fault)
        if foreseen is None:
            return []
        picture = foreseen.picture(self._width - 2)
        some = MARKS[0] in picture and picture.strip(MARKS[0])
        return [foreseen.met, *([picture] if some else []), f"→ {foreseen.outcome}"]

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
        self._next(event.name)

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

    def action_lab_where(self) -> None:
        """Pick the next place."""
        self._next(WHERE)

    def action_lab_often(self) -> None:
        """Pick the next number of times."""
        self._next(OFTEN)

    def action_lab_value(self) -> None:
        """Pick the next value."""
        self._next(VALUE)

    def _next(self, name: str) -> None:
        """Pick the next of what a place may hold."""
        options = self._options(name)
        self._chosen[name] = (min(self._chosen[name], len(options) - 1) + 1) % len(options)
        self._build()

    def action_lab_add(self) -> None:
        """Keep what stands, and pick another failure beside it."""
        self._read_spec()
        if self._refused or self._fault is None:
            self.notify("pick a failure first; then another one beside it", markup=False)
            return
        self._pick_beside(self._fault.spec)

    def action_lab_drop(self) -> None:
        """Take the last failure of the spec out."""
        spec = self.query_one("#spec", SpecField).value.strip()
        self._pick_beside(spec.rpartition("+")[0])

    def _pick_beside(self, before: str) -> None:
        """Pick a failure beside those of a spec, from none on."""
        kinds = self.query_one("#kinds", KindList)
        self._before = before
        for each in _IN_SPEC:
            self._chosen[each] = 0
        with self.prevent(KindList.Moved):
            kinds.move_to(0)
        self._build()

    def action_lab_spec(self) -> None:
        """Type the spec."""
        self.set_focus(self.query_one("#spec"))

    def action_lab_off(self) -> None:
        """Force nothing any more."""
        self._accept(None)
        self.dismiss(True)

    def action_lab_copy(self) -> None:
        """Copy the same run for the command line."""
        self._read_spec()
        if self._refused:
            self.notify("what stands is no spec; nothing is copied", markup=False)
            return
        spec = self._fault.spec if self._fault is not None else ""
        self._chores.start(self._copy(self._scene.command_line(spec)))

    async def _copy(self, words: str) -> None:
        app = cast("App[Any]", self.app)  # pyright: ignore[reportUnknownMemberType]
        said = await self._clipboard.copy(app, words)
        self.notify(line(f"{words} · {said}", 600), markup=False)

    def action_help(self) -> None:
        """Show the keys."""
        show_help(self, self._scene.banner, Scope.LAB)

    def _use(self) -> None:
        # The message about what was typed last may still be on its way.
        self._read_spec()
        if not self._refused:
            self._accept(self._fault)
            self.dismiss(True)

    def action_close_lab(self) -> None:
        """Change nothing."""
        self.dismiss(False)
