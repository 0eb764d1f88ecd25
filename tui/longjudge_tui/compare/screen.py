"""The screen of two judgments side by side: which is better, what flipped, and asking the rest."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, cast

from textual import on
from textual.containers import Container, Vertical
from textual.message import Message

from longjudge.comparison import words
from longjudge.comparison.redacting import redacted_comparison
from longjudge.comparison.report import markdown_comparison, markdown_row
from longjudge.comparison.sides import Side
from longjudge.marks import Mark
from longjudge_tui.bench.compared_lines import Shown
from longjudge_tui.bench.comparing import Comparing
from longjudge_tui.bench.sought import sought_of
from longjudge_tui.clipboard import ONLY_YOURS, Clipboard, save, shown_path
from longjudge_tui.commands import Scope, bindings, command
from longjudge_tui.compare.ask_actions import AskActions
from longjudge_tui.compare.row_list import RowList
from longjudge_tui.compare.side_list import SideList
from longjudge_tui.compare.words import about_side, caveat_words, file_name, nothing_found
from longjudge_tui.widgets.detail import DetailView, Marked
from longjudge_tui.widgets.line_list import LineList
from longjudge_tui.widgets.lines import FittedLine, GrowingLine
from longjudge_tui.wording import line

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from textual.app import App, ComposeResult
    from textual.binding import BindingType

    from longjudge.comparison.compare import Comparison
    from longjudge_tui.bench.bench import Bench


WIDE = 100
"""Below, warnings are said in brief, so that nothing of them is cut."""


class CompareScreen(AskActions):
    """Follows a comparison while it is read and while one side is asked."""

    SCOPE = Scope.COMPARE
    BAR = (
        "next_flip",
        "ask_other",
        "copy_row",
        "save_comparison",
        "choose_one",
        "choose_other",
        "filter_rows",
        "open",
        "row_right",
        "row_wrong",
        "swap_sides",
        "ask_one",
        "cancel_asking",
    )
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(Scope.COMPARE)]
    AUTO_FOCUS = "#compared"

    class EventWanted(Message):
        """The event that is sought is to be seen in the workbench."""

    def __init__(
        self,
        bench: Bench,
        banner: Callable[[], str],
        one_id: str | None = None,
        other_id: str | None = None,
    ) -> None:
        super().__init__(banner)
        self._bench = bench
        self.comparing = Comparing(bench, self.chores, one_id, other_id)
        self._clipboard = Clipboard()
        self._choosing_one: bool | None = None
        self._seen = -1
        self._told: Hashable = None

    def compose_body(self) -> ComposeResult:
        """The two sides, what differs, the rows, and what each side says about one."""
        for name in ("one", "other"):
            yield FittedLine(id=f"about-{name}", classes="about")
        yield GrowingLine(id="caveats")
        yield GrowingLine(id="better")
        yield FittedLine(id="flips")
        yield FittedLine(id="found")
        yield FittedLine(id="covered")
        yield GrowingLine(id="remarks")
        yield FittedLine(id="compared-title", classes="title")
        yield RowList(id="compared")
        yield SideList(id="sides")
        with Container(id="beside"):
            for name in ("one", "other"):
                with Vertical(classes="panel"):
                    yield FittedLine(id=f"title-{name}", classes="title")
                    yield DetailView(id=f"side-{name}")

    def on_mount(self) -> None:
        """Begin to read."""
        self.query_one("#sides").display = False
        self.comparing.begin()
        super().on_mount()

    @property
    def _rows(self) -> RowList:
        return self.query_one("#compared", RowList)

    @property
    def _sides(self) -> SideList:
        return self.query_one("#sides", SideList)

    def tick(self) -> None:
        """Paint what changed."""
        super().tick()
        comparing = self.comparing
        comparing.follow()
        for notice in comparing.notices:
            self.say(notice)
        comparing.notices.clear()
        if self._seen != comparing.changes:
            self._seen = comparing.changes
            self._rows.show_lines(comparing.lines)
            self._show_summary()
            if self._choosing_one is not None:
                self._show_offers()
        self._show_title()
        self._show_caveats()
        self._show_row()

    def _show_caveats(self) -> None:
        said = caveat_words(self.comparing.comparison, brief=self.size.width < WIDE)
        caveats = self.query_one("#caveats", GrowingLine)
        caveats.show_whole(f"! {said}")
        caveats.display = bool(said)

    def _show_title(self) -> None:
        comparing = self.comparing
        both = comparing.comparison
        session = both.one.session if both is not None else None
        name = f" · {line(session.path or session.id, 200)}" if session is not None else ""
        doing = f" · {self.doing_words()}" if self._bench.running else ""
        self.show_title(f"BEFORE / AFTER{doing}{name}", f"BEFORE / AFTER{doing}")
        title = self.query_one("#compared-title", FittedLine)
        if self._choosing_one is not None:
            side = "A, the side before" if self._choosing_one else "B, the side after"
            title.show(f"CHOOSE {side} · enter takes a judgment · esc takes none")
        else:
            key, shown = command("filter_rows").bar_key, self._rows.shown
            lines = comparing.lines
            counts = [(each, f"{each.value} {lines.stretches(each):,}") for each in Shown]
            marked = [f"‹{said}›" if each is shown else f" {said} " for each, said in counts]
            units = words.units_of(both).upper() if both is not None else "ROWS"
            title.show(f"{units} [{key}] {' '.join(marked)}", f"{units}: {shown.value}")

    def _show_summary(self) -> None:
        comparison, comparing = self.comparing.comparison, self.comparing
        better = self.query_one("#better", GrowingLine)
        of_these = comparison if comparing.is_current else None
        for name, source in (("one", comparing.one), ("other", comparing.other)):
            self._line(f"about-{name}").show(*about_side(source, of_these, one=name == "one"))
        if comparison is None:
            reading = comparing.reading or (comparing.one is not None and not comparing.problem)
            better.show_whole(comparing.problem or ("reading the judgments …" if reading else ""))
            for name in ("flips", "found", "covered", "remarks"):
                self._line(name).show("")
            return
        better.show_whole(words.verdict_words(comparison))
        brief = words.flip_words_in_brief(comparison)
        self._line("flips").show(words.flip_words(comparison), brief)
        scores = words.score_words(comparison)
        self._line("found").show(words.found_words(comparison))
        self._line("covered").show(f"{scores} · {words.coverage_words(comparison)}", scores)
        self.query_one("#remarks", GrowingLine).show_whole(
            line(" · ".join(comparison.other_remarks), 1_000)
        )
        self.query_one("#remarks").display = bool(comparison.other_remarks)

    def _line(self, name: str) -> FittedLine:
        return self.query_one(f"#{name}", FittedLine)

    def _show_row(self) -> None:
        """What each side says about the row under the cursor."""
        lines, here = self.comparing.lines, self._rows.here
        told = (id(lines), here.place if here is not None else None, self._bench.running)
        if told == self._told:
            return
        self._told = told
        cells = (here.row.one, here.row.other) if here is not None else (None, None)
        for name, label, cell in zip(("one", "other"), "AB", cells, strict=True):
            title, view = self._line(f"title-{name}"), self.query_one(f"#side-{name}", DetailView)
            if here is None:
                title.show(label)
                view.show_nothing()
                continue
            title.show(f"{label} · {words.cell_words(cell)}")
            text, heads = lines.cell_text(cell, here)
            one = name == "one"
            being_asked = self.comparing.is_asking(one=one)
            said = text or nothing_found(cell, one=one, being_asked=being_asked)
            view.show_text(said, Marked(heads=heads))

    def on_line_list_moved(self, event: LineList.Moved) -> None:
        """Another row is under the cursor."""
        self._show_row()

    @on(LineList.Opened, "#compared")
    def row_opened(self, event: LineList.Opened) -> None:
        """Go to the event in the workbench."""
        event.stop()
        here, session = self._rows.here, self.comparing.session
        if here is None:
            return
        if session is None:
            self.say("the session of these judgments is not the one that is open: open it first")
            return
        own = self.comparing
        live = [not isinstance(each, Side) for each in (own.one, own.other)]
        self._bench.sought = sought_of(here, session, live=(live[0], live[1]))
        self.post_message(self.EventWanted())

    @on(LineList.Opened, "#sides")
    def side_opened(self, event: LineList.Opened) -> None:
        """Take a side."""
        event.stop()
        one = bool(self._choosing_one)
        offer = self._sides.offers[event.row]
        self._choose_no_more()
        self.comparing.choose(offer, one=one)

    def action_close_screen(self) -> None:
        """Leave the choice of a side first."""
        if self._choosing_one is None:
            super().action_close_screen()
        else:
            self._choose_no_more()

    def action_choose_one(self) -> None:
        """Choose A."""
        self._choose_side(one=True)

    def action_choose_other(self) -> None:
        """Choose B."""
        self._choose_side(one=False)

    def _choose_side(self, *, one: bool) -> None:
        comparing = self.comparing
        if not comparing.offers:
            self.say(comparing.problem or "the judgments are still being read")
            return
        self._choosing_one = one
        comparing.read_offers_again()
        self._sides.offers = ()
        self._show_offers()
        self._sides.display, self._rows.display = True, False
        self.set_focus(self._sides)
        self._show_title()

    def _show_offers(self) -> None:
        comparing = self.comparing
        source = comparing.one if self._choosing_one else comparing.other
        standing = source.id if isinstance(source, Side) else None
        self._sides.show_offers(comparing.offers, standing)

    def _is_choosing(self) -> bool:
        """Whether a side is chosen in place of the rows; it is said what ends that."""
        if self._choosing_one is not None:
            side = "A" if self._choosing_one else "B"
            self.say(f"{side} is being chosen: enter takes a judgment, esc goes back to the rows")
        return self._choosing_one is not None

    def _choose_no_more(self) -> None:
        self._choosing_one = None
        self._sides.display, self._rows.display = False, True
        self.set_focus(self._rows)
        self._show_title()

    def action_swap_sides(self) -> None:
        """Swap A and B."""
        self.comparing.swap()
        self.tick()

    def action_filter_rows(self) -> None:
        """Show other rows."""
        if self._is_choosing():
            return
        if not self._rows.next_filter():
            self.say("no other filter holds a row")
        self._show_title()
        self._show_row()

    def action_next_flip(self) -> None:
        """Go to the next flip."""
        self._step_flip(1)

    def action_previous_flip(self) -> None:
        """Go to the previous flip."""
        self._step_flip(-1)

    def _step_flip(self, direction: int) -> None:
        if self._is_choosing():
            return
        if not self._rows.step_flip(direction):
            self.say("nothing has flipped in what both sides judged")
        self.set_focus(self._rows)
        self._show_title()
        self._show_row()

    def action_row_right(self) -> None:
        """Mark the finding right."""
        self._mark(Mark.RIGHT)

    def action_row_wrong(self) -> None:
        """Mark the finding wrong."""
        self._mark(Mark.WRONG)

    def _mark(self, mark: Mark) -> None:
        if self._is_choosing():
            return
        here = self._rows.here
        finding = here.finding if here is not None else None
        if finding is None:
            self.say("neither side found anything in this row: there is nothing to mark")
        elif not finding.digest:
            self.say("what this finding is about was not noted then, so a mark has no place")
        else:
            key = bytes.fromhex(finding.digest), finding.criterion
            self._bench.marking.toggle(key, mark)

    def action_copy_row(self) -> None:
        """Copy the row."""
        comparison, here = self.comparing.comparison, self._rows.here
        if self._is_choosing():
            return
        if comparison is None or here is None:
            self.say("no row is shown to copy")
            return
        self.chores.start(self._copy(replace(comparison, rows=(here.row,))))

    async def _copy(self, comparison: Comparison) -> None:
        text = await asyncio.to_thread(self._handed_out, comparison, markdown_row)
        app = cast("App[object]", self.app)  # pyright: ignore[reportUnknownMemberType]
        otherwise = f"{command('save_comparison').shown} saves a file"
        self.say(f"the row: {await self._clipboard.copy(app, text, otherwise)}")

    def action_save_comparison(self) -> None:
        """Save all of it."""
        comparison = self.comparing.comparison
        if comparison is None:
            self.say("there is no comparison to save")
        else:
            self.chores.start(self._save(comparison))

    async def _save(self, comparison: Comparison) -> None:
        try:
            text = await asyncio.to_thread(self._handed_out, comparison, markdown_comparison)
            redacts = self._bench.settings.redact
            path = await asyncio.to_thread(save, text, file_name(comparison, redact=redacts))
        except OSError as error:
            self.say(f"not saved: {error.strerror}")
        else:
            self.say(f"saved: {shown_path(path)} · {ONLY_YOURS}")

    def _handed_out(self, comparison: Comparison, written: Callable[[Comparison], str]) -> str:
        """What is copied or saved, without secrets where a judge does not read them either."""
        redacts = self._bench.settings.redact
        return written(redacted_comparison(comparison) if redacts else comparison)
