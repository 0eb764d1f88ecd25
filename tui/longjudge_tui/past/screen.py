"""Past judgments: of a session, of all, by version of a rubric, and gaps over time."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, cast

from textual import on
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Input

from longjudge.errors import StoreError
from longjudge_tui.bench.archive import Archive, words_of_group, words_of_period
from longjudge_tui.bench.going_on import SAVED
from longjudge_tui.bench.live import banner
from longjudge_tui.bench.reporting import Report, report_of_past
from longjudge_tui.clipboard import Clipboard, save, shown_path, where_saved
from longjudge_tui.commands import Scope, bindings, command
from longjudge_tui.past.past_list import PastList, PastView
from longjudge_tui.past.words import enter_words, picked_words, row_words, titles
from longjudge_tui.widgets.action_line import ActionLine, Choice, Word
from longjudge_tui.widgets.fields import Field
from longjudge_tui.widgets.line_list import LineList
from longjudge_tui.widgets.lines import FittedLine
from longjudge_tui.widgets.whole_screen import WholeScreen
from longjudge_tui.wording import line

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from textual import events
    from textual.app import App, ComposeResult
    from textual.binding import BindingType

    from longjudge.history import Entry
    from longjudge_tui.bench.bench import Bench

    Work = Callable[[Report], Awaitable[None]]

TOAST_SECONDS = 6
NOT_RECORDED = "this run was ended by force and not recorded: enter shows what is kept of it"


@dataclass(frozen=True, slots=True)
class Subject:
    """The session whose judgments are meant by "this": without an id, all of a file.

    `open` says that the bench works on it.
    """

    real_path: str
    session_id: str | None
    name: str
    open: bool


class PastField(Field):
    """The words to filter by; enter and down go back to the list, escape clears them."""

    class Left(Message):
        """The field was left by a key; `clear` where its words are to go."""

        def __init__(self, *, clear: bool) -> None:
            super().__init__()
            self.clear = clear

    async def on_key(self, event: events.Key) -> None:
        """Leave the field, or edit it."""
        if event.key in ("enter", "down", "escape", "tab"):
            event.stop()
            event.prevent_default()
            # At once: the next key is meant for the list.
            self.screen.focus_next("#past")
            self.post_message(self.Left(clear=event.key == "escape"))
            return
        await super().on_key(event)


class PastScreen(WholeScreen):
    """Lists what the store has; `chosen` is the judgment that is to be shown once it is closed."""

    SCOPE = Scope.PAST
    BAR = (
        "open",
        "next_past_view",
        "filter_past",
        "pick_past",
        "compare_past",
        "save_past_report",
        "copy_report",
        "order_past",
    )
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(Scope.PAST)]
    AUTO_FOCUS = "#past"

    class CompareWanted(Message):
        """Two judgments are to be compared, by their ids: the older one first."""

        def __init__(self, one: str, other: str) -> None:
            super().__init__()
            self.one, self.other = one, other

    def __init__(
        self, bench: Bench, subject: Subject | None, view: PastView = PastView.SESSION
    ) -> None:
        super().__init__(lambda: banner(bench))
        self.chosen: Entry | None = None
        self._bench = bench
        self._subject = subject
        self._view = view if subject is not None else PastView.ALL
        self._archive = Archive(bench.store)
        self._clipboard = Clipboard()
        self._reads_all = False
        self._arranging = False
        self._saved: tuple[str, ...] = ()

    def compose_body(self) -> ComposeResult:
        """The four views, the filter, the list, and what is known about the row."""
        yield ActionLine(id="past-views", classes="actions")
        with Horizontal(id="past-filter"):
            yield FittedLine(id="past-filter-label")
            yield PastField(id="past-words", compact=True, placeholder="words to filter by")
        yield FittedLine(id="past-columns")
        yield PastList(self._archive, self._view, id="past")
        yield FittedLine(id="past-row")
        yield FittedLine(id="past-does")

    def on_mount(self) -> None:
        """Begin to read."""
        self.lines = self.query_one("#past", PastList)
        self.field = self.query_one("#past-words", PastField)
        self.query_one("#past-filter-label", FittedLine).show("/ filter")
        if self._subject is not None:
            subject = self._subject
            self.chores.start(self._archive.read_session(subject.real_path, subject.session_id))

    def tick(self) -> None:
        """Take in and paint what is new."""
        super().tick()
        if self.lines.view is not PastView.SESSION and not self._reads_all:
            self._reads_all = True
            self.chores.start(self._archive.read_all())
        if self.lines.view.of_judgments:
            rows = self.lines.rows
            rows.show(self.field.value, rows.order)
            if rows.stale and not self._arranging:
                self._arranging = True
                self.chores.start(self._arrange())
        self.lines.follow()
        self._show_lines()

    async def _arrange(self) -> None:
        try:
            await self.lines.rows.arrange()
        finally:
            self._arranging = False

    def _show_lines(self) -> None:
        lines, archive, subject = self.lines, self._archive, self._subject
        name = subject.name if subject is not None else ""
        self.show_title(*titles(archive, lines.view, name))
        self.query_one("#past-views", ActionLine).show_choices(*_view_choices(lines.view))
        filtering = bool(self.field.value) or self.focused is self.field
        self.query_one("#past-filter", Horizontal).set_class(
            filtering and lines.view.of_judgments, "-on"
        )
        self.query_one("#past-columns", FittedLine).show(lines.columns())
        self.query_one("#past-row", FittedLine).show(*row_words(lines, archive))
        entry = lines.entry
        here = entry is not None and self._is_open(entry)
        picked = picked_words(list(lines.picked.values()))
        said = self._saved or enter_words(lines, picked, here=here)
        self.query_one("#past-does", FittedLine).show(*said)

    def choose_view(self, view: PastView) -> None:
        """Show another view."""
        self._saved = ()
        self.set_focus(self.lines)
        self.lines.show_view(view)
        self.tick()

    def action_past_of_session(self) -> None:
        """The judgments of this session."""
        if self._subject is None:
            self._say("no session is open, and none was under the cursor: 2 shows all")
        else:
            self.choose_view(PastView.SESSION)

    def action_past_of_all(self) -> None:
        """The judgments of all sessions."""
        self.choose_view(PastView.ALL)

    def action_past_rubrics(self) -> None:
        """What each version of a rubric came to."""
        self.choose_view(PastView.RUBRICS)

    def action_past_gaps(self) -> None:
        """Gaps over time."""
        self.choose_view(PastView.GAPS)

    def action_next_past_view(self) -> None:
        """The next view."""
        view = self.lines.view.next
        if view is PastView.SESSION and self._subject is None:
            view = view.next
        self.choose_view(view)

    def action_filter_past(self) -> None:
        """Type words to filter by."""
        if not self.lines.view.of_judgments:
            self.choose_view(PastView.ALL)
        self.query_one("#past-filter", Horizontal).add_class("-on")
        self.set_focus(self.field)

    @on(PastField.Left)
    def field_left(self, event: PastField.Left) -> None:
        """Give the keys back to the list."""
        if event.clear:
            self.field.value = ""
        self.set_focus(self.lines)
        self.tick()

    @on(Input.Changed, "#past-words")
    def words_changed(self) -> None:
        """Show what fits."""
        self.tick()

    @on(LineList.Moved, "#past")
    def row_moved(self) -> None:
        """Say what is under the cursor."""
        self._saved = ()
        self._show_lines()

    @on(LineList.Opened, "#past")
    def row_opened(self) -> None:
        """Show the judgment, or the judgments that a row sums up."""
        if (entry := self.lines.entry) is not None:
            if not entry.real_path and not self._is_open(entry):
                self._say("its session was given as events, not as a file: there is none to open")
                return
            self.chosen = entry
            self.dismiss(None)
        elif (group := self.lines.group) is not None:
            self._show_filtered(words_of_group(group))
        elif (period := self.lines.period) is not None:
            self._show_filtered(words_of_period(period))

    def _show_filtered(self, words: str) -> None:
        self.field.value = words
        self.choose_view(PastView.ALL)

    def action_order_past(self) -> None:
        """Sort by the next thing."""
        if self.lines.view.of_judgments:
            rows = self.lines.rows
            rows.show(rows.words, rows.order.next)
            self.tick()

    def action_pick_past(self) -> None:
        """Pick the judgment, or no more; of three, the last two."""
        entry = self.lines.entry
        if entry is None:
            self._say("no judgment is under the cursor")
            return
        if not entry.recorded:
            self._say(NOT_RECORDED)
            return
        picked = self.lines.picked
        if entry.id in picked:
            del picked[entry.id]
        else:
            if len(picked) > 1:
                del picked[next(iter(picked))]
            picked[entry.id] = entry
        self.tick()

    def action_compare_past(self) -> None:
        """Compare the two that are picked; with one, the one under the cursor is the other."""
        entry, picked = self.lines.entry, list(self.lines.picked)
        if len(picked) == 1 and entry is not None and entry.recorded and entry.id not in picked:
            picked.append(entry.id)
        if len(picked) < 2:
            picks = command("pick_past").shown
            self._say(f"pick two judgments of one session first ({picks})")
            return
        # Ids begin with the time of the judgment.
        self.post_message(self.CompareWanted(*sorted(picked)))

    def action_copy_report(self) -> None:
        """Copy the report."""
        self._with_report(self._copy)

    def action_save_past_report(self) -> None:
        """Save the report."""
        self._with_report(self._save)

    def _with_report(self, work: Work) -> None:
        entry = self.lines.entry
        if entry is None:
            self._say("no judgment is under the cursor")
        elif not entry.recorded:
            self._say(NOT_RECORDED)
        else:
            self.chores.start(self._report(entry, work))

    async def _report(self, entry: Entry, work: Work) -> None:
        bench = self._bench
        session = bench.session if self._is_open(entry) else None
        try:
            report = await report_of_past(
                bench.store, entry.id, session=session, redact=bench.settings.redact
            )
        except StoreError as error:
            self._say(str(error))
            return
        if report is None:
            self._say("this judgment does not read any more")
        else:
            await work(report)

    async def _copy(self, report: Report) -> None:
        app = cast("App[object]", self.app)  # pyright: ignore[reportUnknownMemberType]
        otherwise = f"{command('save_past_report').shown} saves a file"
        self._say(f"the report: {await self._clipboard.copy(app, report.text, otherwise)}")

    async def _save(self, report: Report) -> None:
        try:
            path = await asyncio.to_thread(save, report.text, report.name)
        except OSError as error:
            self._say(f"not saved: {error.strerror}")
        else:
            self._saved = where_saved(f"{SAVED}{shown_path(path)}")
            self._show_lines()

    def _is_open(self, entry: Entry) -> bool:
        """Whether the bench works on its session."""
        subject, session = self._subject, self._bench.session
        if subject is None or not subject.open or session is None:
            return False
        same = (session.format, session.title) == (entry.format, entry.title)
        here = same or entry.real_path == subject.real_path
        return here and session.id == entry.session_id

    def _say(self, words: str) -> None:
        self.notify(line(words, 1_000), markup=False, timeout=TOAST_SECONDS)


def _view_choices(view: PastView) -> list[Choice]:
    names = {each: (command(each.value).shown, command(each.value).label) for each in PastView}
    words = tuple(
        Word(each.value, f"{key} {name}" if each is not view else f"{key} ▸{name}")
        for each, (key, name) in names.items()
    )
    key = command("next_past_view").shown
    return [Choice(f"{key}: the next view", words), Choice("", words)]
