"""The rubric editor: the text, and beside it the prompt, the reply of a try, or the versions."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Static, TextArea

from longjudge.errors import LongjudgeError
from longjudge_tui.bench.edit_session import EditSession
from longjudge_tui.commands import Scope, bindings, command
from longjudge_tui.editor.lists import DiffList, FaultList, PastList
from longjudge_tui.editor.save_field import SaveField
from longjudge_tui.editor.saving import SaveActions
from longjudge_tui.editor.text import RubricText
from longjudge_tui.editor.words import price_words, title_words, try_choices, verdict_words
from longjudge_tui.widgets.action_line import ActionLine
from longjudge_tui.widgets.detail import DetailView, Marked
from longjudge_tui.widgets.lines import CommandPressed, FittedLine
from longjudge_tui.wording import line

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.app import ComposeResult
    from textual.binding import BindingType

    from longjudge_tui.bench.bench import Bench
    from longjudge_tui.widgets.line_list import LineList

MOST_FAULT_ROWS = 5


class Pane(StrEnum):
    """What stands beside the text, or in its place where there is no room for both."""

    PROMPT = "prompt"
    REPLY = "reply"
    VERSIONS = "versions"


class PaneTitle(FittedLine):
    """What stands beside the text; a click shows the next."""

    def on_click(self) -> None:
        """Show the next."""
        self.post_message(CommandPressed("next_pane"))


class RubricEditor(SaveActions):
    """Edits the rubric of a bench, beside the chunk at `position`, from 0."""

    SCOPE = Scope.EDITOR
    BAR = (
        "use_rubric",
        "save_rubric",
        "next_pane",
        "close_screen",
        "chunk_before",
        "chunk_after",
        "next_fault",
        "try_rubric",
        "save_rubric_as",
        "cancel_try",
    )
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(Scope.EDITOR)]
    AUTO_FOCUS = "#rubric-text"

    def __init__(self, bench: Bench, banner: Callable[[], str], position: int) -> None:
        super().__init__(banner)
        self.bench = bench
        self.session: EditSession | None = None
        self.pane = Pane.PROMPT
        self._beside = False
        self._position = position
        self._shown: object = None

    def compose_body(self) -> ComposeResult:
        """The text with its faults, what stands beside it, what it costs."""
        with Horizontal(id="rubric-body"):
            with Vertical(id="rubric-left"):
                yield RubricText(id="rubric-text")
                yield FittedLine(id="rubric-verdict")
                yield FaultList(id="rubric-faults")
            with Vertical(id="rubric-right"):
                yield PaneTitle(id="rubric-pane", classes="title")
                yield DetailView(id="rubric-view")
                yield PastList(id="rubric-past")
                yield DiffList(id="rubric-diff")
        yield FittedLine(id="rubric-price")
        yield ActionLine(id="rubric-try")
        with Horizontal(id="rubric-save"):
            yield Static(Content("SAVE AS"), id="rubric-save-label")
            yield SaveField(id="rubric-save-path")
            yield Static(Content("enter saves, escape does not"), id="rubric-save-keys")

    def on_mount(self) -> None:
        """Find the text, and begin to paint."""
        self.area = self.query_one("#rubric-text", RubricText)
        self.faults = self.query_one("#rubric-faults", FaultList)
        self.past = self.query_one("#rubric-past", PastList)
        self.diff = self.query_one("#rubric-diff", DiffList)
        self.query_one("#rubric-save").display = False
        self.chores.start(self._open())
        self._show_pane(Pane.PROMPT)
        super().on_mount()

    async def _open(self) -> None:
        bench = self.bench
        session = EditSession(bench, await bench.editing.open(bench), self._position)
        session.look_at(self._position)
        self.area.load_text(session.text)
        self.area.read_only = False
        self.session = session
        if bench.editing.attempt is not None and bench.editing.trying:
            self._show_pane(Pane.REPLY)

    async def on_unmount(self) -> None:
        """Write the draft, and end what is still being found out."""
        if self.session is not None:
            await self.session.aclose()

    def on_resize(self) -> None:
        """Say what fits now, at once; what has the keys may have no room any more."""
        self.call_after_refresh(self._fit)

    def _fit(self) -> None:
        if self.focused is None or not self.focused.region:
            self.give_text_the_keys()
        self.tick()

    def tick(self) -> None:
        """Paint what changed."""
        super().tick()
        session = self.session
        if session is None:
            self.show_title("RUBRIC · reading…")
            return
        session.follow()
        self.bench.editing.raise_failure()
        for said in (*session.said, *self.bench.notices):
            self.notify(line(said, 500), markup=False)
        session.said.clear()
        self.bench.notices.clear()
        self.show_title(*title_words(session))
        verdict = self.query_one("#rubric-verdict", FittedLine)
        verdict.show(*verdict_words(session))
        verdict.set_class(bool(session.draft_problem) or self._is_wrong(session), "-alarm")
        self.query_one("#rubric-price", FittedLine).show(*price_words(session))
        self.query_one("#rubric-try", ActionLine).show_choices(*try_choices(session))
        self._show_faults(session)
        self._show_beside(session)
        self.follow_naming()

    @staticmethod
    def _is_wrong(session: EditSession) -> bool:
        checked = session.checked
        return checked is not None and session.is_checked and bool(checked.wrong or checked.refusal)

    def _show_faults(self, session: EditSession) -> None:
        faults = session.checked.faults if session.checked is not None else ()
        self.faults.show_faults(faults)
        rows = min(MOST_FAULT_ROWS, len(faults), max(1, self.size.height // 6))
        if self.faults.display != bool(faults):
            if self.faults.has_focus:
                self.set_focus(self.area)
            self.faults.display = bool(faults)
        if faults and (
            self.faults.styles.height is None or self.faults.styles.height.value != rows
        ):
            self.faults.styles.height = rows
        self.area.mark_lines({each.line: not each.warning for each in reversed(faults)})

    def _show_beside(self, session: EditSession) -> None:
        """Paint the pane that is shown, where it has something new."""
        title, view = self.query_one("#rubric-pane", FittedLine), self.query_one(DetailView)
        key = command("next_pane").bar_key
        others = " ".join(f"‹{each}›" if each is self.pane else each for each in Pane)
        right = f"{others} {key}" if self.size.width >= 115 else f"‹{self.pane}› {key}"
        attempt = self.bench.editing.attempt
        match self.pane:
            case Pane.PROMPT:
                prompt, of = session.prompt, f"PROMPT of part {session.position + 1}"
                # Another part's prompt stands until this one's is built, and is not called so.
                is_here = prompt is not None and session.prompt_at == session.position
                titles = prompt.titles if prompt is not None and is_here else (f"{of} · …",)
                if session.is_checked and session.checked and session.checked.rubric is None:
                    titles = (f"{of} · as of the last text without a fault", f"{of}, before")
                title.show(*titles, right=right)
                if prompt is not None and prompt is not self._shown:
                    view.show_text(prompt.text, Marked(heads=prompt.heads))
                self._shown = prompt
            case Pane.REPLY:
                outcome = attempt.outcome if attempt is not None else None
                said = attempt.words if attempt is not None else "nothing was tried yet"
                title.show(f"REPLY · {said}", "REPLY", right=right)
                if outcome is None:
                    shown = "it is being asked…" if attempt is not None else _NOT_TRIED
                    if self._shown != shown:
                        view.show_text(shown)
                    self._shown = shown
                elif outcome is not self._shown:
                    view.show_text(outcome.text, Marked(heads=outcome.heads))
                    self._shown = outcome
            case Pane.VERSIONS:
                self.show_versions(session, title, right)

    def _show_pane(self, pane: Pane) -> None:
        self.pane, self._shown = pane, None
        versions = pane is Pane.VERSIONS
        if versions and self.session is not None:
            self.session.read_past()
        self.query_one("#rubric-view").display = not versions
        self.past.display = self.diff.display = versions

    def _show_beside_alone(self, beside: bool) -> None:
        """Where there is room for one alone, show what stands beside the text, or the text."""
        self._beside = beside
        self.set_class(beside, "-beside")

    @property
    def _narrow(self) -> bool:
        return self.has_class("-narrow")

    @on(TextArea.Changed)
    def typed(self, event: TextArea.Changed) -> None:
        """Take what was typed."""
        event.stop()
        if self.session is not None:
            self.session.type(self.area.text)

    @on(RubricText.Refused)
    def refused(self, event: RubricText.Refused) -> None:
        """Say what is not there as it was typed."""
        self.notify(event.words, severity="warning", markup=False)

    @on(FaultList.Opened, "#rubric-faults")
    def fault_opened(self, event: LineList.Opened) -> None:
        """Go to the line of a fault."""
        event.stop()
        self._go_to_fault(event.row)

    def _go_to_fault(self, row: int) -> None:
        fault = self.faults.faults[row]
        self.give_text_the_keys()
        self.area.go_to(fault.line or 1)

    def give_text_the_keys(self) -> None:
        """Let the text have the keys."""
        self._show_beside_alone(False)
        self.set_focus(self.area)

    def action_next_fault(self) -> None:
        """Go to the next fault behind the cursor, from the last one to the first."""
        faults = self.faults.faults
        if not faults:
            self.notify("no fault is known", markup=False)
            return
        here = self.area.cursor_location[0] + 1
        behind = (row for row, each in enumerate(faults) if each.line > here)
        row = next(behind, 0)
        self.faults.move_to(row)
        self._go_to_fault(row)

    def action_next_pane(self) -> None:
        """Show the next pane; where it is a list, or alone, it has the keys."""
        panes = list(Pane)
        after = (panes.index(self.pane) + 1) % len(panes)
        if not self._narrow or self._beside:
            self._show_pane(panes[after])
            self._show_beside_alone(self._narrow and after > 0)
        else:
            self._show_beside_alone(True)
        if self.pane is Pane.VERSIONS:
            self.set_focus(self.past)
        else:
            self.set_focus(self.query_one(DetailView) if self._beside else self.area)
        self.tick()

    def action_chunk_before(self) -> None:
        """Look at the chunk before."""
        self._step(-1)

    def action_chunk_after(self) -> None:
        """Look at the chunk after."""
        self._step(1)

    def _step(self, direction: int) -> None:
        if self.session is not None:
            before = self.session.position
            self.session.look_at(before + direction)
            if self.session.position == before:
                end = "first" if direction < 0 else "last"
                self.notify(f"this is the {end} part", markup=False)
            self.tick()

    def action_try_rubric(self) -> None:
        """Ask about the chunk."""
        if self.session is not None:
            self.chores.start(self._try(self.session))

    async def _try(self, session: EditSession) -> None:
        if said := await session.try_on():
            self.notify(line(said, 500), severity="warning", markup=False)
        elif self.pane is not Pane.REPLY or self._narrow:
            self._show_pane(Pane.REPLY)
            self._show_beside_alone(self._narrow)
            self.set_focus(self.query_one(DetailView) if self._beside else self.area)

    def action_cancel_try(self) -> None:
        """Cancel the try in flight."""
        if not self.bench.editing.trying:
            self.notify("nothing is being tried", markup=False)
        self.bench.editing.cancel()

    def action_use_rubric(self) -> None:
        """Judge by the text from the next run on, and go back."""
        if self.session is not None and not self.is_naming(command("use_rubric").bar_key):
            self.chores.start(self._use(self.session))

    async def _use(self, session: EditSession) -> None:
        try:
            said = await session.use()
        except LongjudgeError as error:
            self.notify(line(str(error), 500), severity="error", markup=False)
            return
        self.notify(said, markup=False)
        if self.is_current:
            self.dismiss(None)


_NOT_TRIED = "nothing was tried yet: the price of a try stands below"
