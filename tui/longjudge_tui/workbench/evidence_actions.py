"""What the workbench does with findings: go through them, look closer, mark, copy, save."""

from __future__ import annotations

import asyncio
from itertools import chain
from typing import TYPE_CHECKING, cast

from textual import on

from longjudge.disputes import RuleFinding
from longjudge.marks import Mark
from longjudge.prices import OFFLINE_MODEL
from longjudge.proof import Opinion, Proof, as_json, as_markdown
from longjudge_tui.bench.layout import Panel, Tab
from longjudge_tui.bench.marking import MARK_WORDS
from longjudge_tui.chores import Chores
from longjudge_tui.clipboard import ONLY_YOURS, Clipboard, save, shown_path
from longjudge_tui.commands import command
from longjudge_tui.widgets.line_list import LineList
from longjudge_tui.wording import line
from longjudge_tui.workbench.below_actions import BelowActions
from longjudge_tui.workbench.detail_panel import Passage, View
from longjudge_tui.workbench.detail_words import About
from longjudge_tui.workbench.findings_order import FindingOrder, place_around
from longjudge_tui.workbench.handout import Handout

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual import events
    from textual.app import App
    from textual.widget import Widget

    from longjudge.chunks import Piece
    from longjudge.result import ResultFinding
    from longjudge.rubric import Criterion
    from longjudge_tui.bench.records import Records
    from longjudge_tui.workbench.detail_panel import DetailPanel
    from longjudge_tui.workbench.event_list import EventList

TOAST_SECONDS = 5


class EvidenceActions(BelowActions):
    """The part of the workbench that works on findings; its lists are the workbench's own."""

    events: EventList
    detail: DetailPanel

    def __init__(self) -> None:
        super().__init__()
        self._clipboard = Clipboard()
        self._chores = Chores()
        self._marks_seen = -1
        self._findings_seen: tuple[Records | None, int] = (None, 0)
        self._listed: tuple[str, str] | None = None
        self._gone_to = False

    def on_mount(self) -> None:
        """Have the marks read."""
        self.bench.marking.begin()

    async def on_unmount(self) -> None:
        """End what a key has started and is not done."""
        await self._chores.end()

    @property
    def _behind(self) -> bool:
        """Whether the plan is another one than what is painted."""
        raise NotImplementedError

    @property
    def _here(self) -> tuple[int, int]:
        """The chunk and the event in sight."""
        raise NotImplementedError

    def _show_chunk(self, position: int) -> None:
        """Show the events of a chunk."""
        raise NotImplementedError

    def _show_passage(self, passage: Passage) -> None:
        """Show an event."""
        raise NotImplementedError

    @property
    def _records(self) -> Records | None:
        """What the painted findings are from; None while they are those of another plan."""
        return None if self._behind else self.bench.records

    @property
    def findings_changed(self) -> bool:
        """Whether there are other findings than those that are listed."""
        return _findings_of(self.bench.records) != self._findings_seen

    def show_findings(self) -> None:
        """Fill the list, and mark the events that findings name."""
        records = self.bench.records
        self._findings_seen = _findings_of(records)
        self._leave_filter_behind()
        self.findings.use_rubric(self.bench.rubric)
        found, disputes = (records.findings(), records.disputes()) if records else ([], [])
        self.findings.show_findings(found, self._mark_of, disputes)
        self.events.mark_flagged(records.flagged_events() if records else set())

    def show_evidence(self) -> None:
        """Paint what changed about findings and marks."""
        self._chores.raise_failure()
        if self._marks_seen != self.bench.marking.changes:
            self._marks_seen = self.bench.marking.changes
            self.show_findings()
            self.chunks.refresh()
        self.follow_below()
        self.detail.say(self._about(self.detail.finding))

    @on(LineList.Moved, "#findings")
    def finding_moved(self, event: LineList.Moved) -> None:
        """Show the finding under the cursor: what is shown is what a copy or a mark means."""
        finding = self.findings.finding_at(event.row)
        if event.row != self.findings.cursor:
            return
        self.findings.ahead = False
        if finding is not None:
            self._go_to(finding)

    @on(LineList.Opened, "#findings")
    def finding_opened(self, event: LineList.Opened) -> None:
        """Go to the finding's chunk, its event, and its quote."""
        finding = self.findings.finding_at(event.row)
        if finding is not None:
            self._go_to(finding)

    def on_key(self, event: events.Key) -> None:
        """Escape leads back from a closer look before it leads anywhere else."""
        if event.key == "escape" and self.detail.turn_back():
            event.stop()
            event.prevent_default()

    def action_next_finding(self) -> None:
        """Go to the next finding."""
        self._step_finding(1)

    def action_previous_finding(self) -> None:
        """Go to the previous finding."""
        self._step_finding(-1)

    def action_filter_findings(self) -> None:
        """Show other findings."""
        self.show_tab(Tab.FINDINGS)
        if not self.findings.next_filter():
            some = bool(self.findings.all_findings)
            self._say("no other filter holds a finding" if some else "no finding yet to filter")
        self.show_evidence()

    def action_order_findings(self) -> None:
        """Show the findings in another order."""
        self.show_tab(Tab.FINDINGS)
        self.findings.next_order()
        self.show_evidence()

    def action_context(self) -> None:
        """Show the event with its neighbours, or alone again."""
        self._turn(View.CONTEXT)

    def action_raw_record(self) -> None:
        """Show the record as it stands in the file, or the event again."""
        self._turn(View.RAW)

    def action_mark_right(self) -> None:
        """Mark the finding right."""
        self._mark(Mark.RIGHT)

    def action_mark_wrong(self) -> None:
        """Mark the finding wrong."""
        self._mark(Mark.WRONG)

    def action_copy(self) -> None:
        """Copy as Markdown."""
        self._hand_out(as_markdown)

    def action_copy_json(self) -> None:
        """Copy as JSON."""
        self._hand_out(as_json)

    def action_save(self) -> None:
        """Save as Markdown."""
        handout = self._prepare()
        if handout is not None:
            self._chores.start(self._save(handout))

    def _leave_filter_behind(self) -> None:
        """A filter is for the session that it was chosen for, also when that is read again."""
        session = self.bench.session
        if session is None or self._listed == (session.name, session.id):
            return
        self._listed, self._gone_to = (session.name, session.id), False
        self.findings.show_all()

    def _about(self, finding: ResultFinding | None) -> About:
        if finding is None:
            return About()
        which = "rules" if isinstance(finding, RuleFinding) else "finding"
        place, mark = self.findings.place_of(finding), self._mark_of(finding)
        criterion = self._criterion(finding)
        return About(
            place="" if place is None else f"{which} {place + 1} of {len(self.findings.findings)}",
            criterion=(criterion.label if criterion else "") or finding.criterion,
            severity=criterion.severity if criterion else "",
            mark=MARK_WORDS[mark] if mark else "",
        )

    def _criterion(self, finding: ResultFinding) -> Criterion | None:
        criteria = self.bench.rubric.criteria
        return next((each for each in criteria if each.id == finding.criterion), None)

    def _mark_of(self, finding: ResultFinding) -> Mark | None:
        records = self._records
        if records is None or isinstance(finding, RuleFinding):
            return None
        return self.bench.marking.get(records.mark_key(finding))

    def panel_widget(self, panel: Panel) -> Widget:
        """What has the keys in a panel."""
        match panel:
            case Panel.CHUNKS:
                return self.chunks
            case Panel.EVENTS:
                return self.events
            case Panel.BELOW:
                return self.panel_below
            case Panel.TEXT:
                return self.detail.view

    def go_to_part(self, position: int) -> None:
        """Show a chunk of the plan, and what is known about it."""
        if self._records is None:
            return
        with self.prevent(LineList.Moved):
            self.chunks.go_to(position, middle=True)
            self._show_chunk(position)

    def _go_to(self, finding: ResultFinding) -> None:
        records = self._records
        if records is None:
            return
        spot = records.locate(finding)
        self._gone_to = True
        with self.prevent(LineList.Moved):
            self.chunks.go_to(spot.position, middle=True)
            self._show_chunk(spot.position)
            self.events.move_to(self.events.row_of(spot.event), middle=True)
        self._show_passage(Passage(spot.event, spot.piece, finding))
        self.show_evidence()

    def _step_finding(self, direction: int) -> None:
        found = self.findings.findings
        if not found:
            filtered = self.findings.hides_some
            self._say("no finding is shown; f shows others" if filtered else "no finding yet")
            return
        place = self.findings.place_of(self.detail.finding)
        place = self._place_from_here(direction) if place is None else place + direction
        place %= len(found)
        with self.prevent(LineList.Moved):
            self.findings.move_to_place(place)
        self._take(found[place])

    def lead_to(self, finding: ResultFinding) -> None:
        """Go to a finding, whatever filter hides it."""
        if self.findings.place_of(finding) is None:
            self.findings.show_all()
        self.findings.point_at(finding)
        self._take(finding)

    def _take(self, finding: ResultFinding) -> None:
        self.show_tab(Tab.FINDINGS)
        if self.maximised is not Panel.TEXT:
            # Enter, a mark and a copy mean this finding from here on.
            self.set_focus(self.findings)
        self._go_to(finding)

    def _place_from_here(self, direction: int) -> int:
        """Which of the findings comes next, or before, where the one in sight is none of them."""
        findings = self.findings
        if findings.order is not FindingOrder.PART or self._records is None:
            # No event has a place in another order: from where someone was in the list.
            start = findings.place_here if self._gone_to else 0
            return start - (direction < 0)
        spots = map(self._records.locate, findings.findings)
        return place_around([(each.position, each.event) for each in spots], self._here, direction)

    def _found_at(self, event: int, piece: Piece | None) -> ResultFinding | None:
        """The first finding of an event, or of a piece of one; of those listed, where one is."""
        records = self._records
        if records is None:
            return None
        for each in chain(self.findings.findings, records.findings()):
            if each.event == event and records.locate(each).piece == piece:
                return each
        return None

    def _turn(self, look: View) -> None:
        if not self.detail.turn(look):
            self._say("no event is shown here")

    def _finding_meant(self) -> ResultFinding | None:
        """The finding that is shown, or about to be: keys may come before a move is painted."""
        ahead = self.focused is self.findings and self.findings.ahead
        return (self.findings.here if ahead else None) or self.detail.finding

    def _mark(self, mark: Mark) -> None:
        finding, records = self._finding_meant(), self._records
        if finding is None or records is None:
            self._say("no finding here to mark; . goes to the next one")
            return
        if isinstance(finding, RuleFinding):
            self._say("the model has not found this, but the offline rules: there is no mark on it")
            return
        self.bench.marking.toggle(records.mark_key(finding), mark)

    def _hand_out(self, written: Callable[[Proof], str]) -> None:
        handout = self._prepare()
        if handout is not None:
            self._chores.start(self._copy(handout, written))

    async def _copy(self, handout: Handout, written: Callable[[Proof], str]) -> None:
        proof = await handout.proof()
        app = cast("App[object]", self.app)  # pyright: ignore[reportUnknownMemberType]
        otherwise = f"{command('save').shown} saves a file"
        done = await self._clipboard.copy(app, written(proof), otherwise)
        self.detail.say_saved("")
        # A message that says more would lie over the text that it is about.
        what = handout.brief if self.has_class("-narrow") else handout.words
        self._say(f"{what}: {done}")

    async def _save(self, handout: Handout) -> None:
        proof = await handout.proof()
        try:
            path = await asyncio.to_thread(save, as_markdown(proof), handout.name)
        except OSError as error:
            self._say(f"not saved: {error.strerror}")
        else:
            # A message about a copy would lie over the path.
            self.app.clear_notifications()  # pyright: ignore[reportUnknownMemberType]
            self.detail.say_saved(shown_path(path))
            self._say(f"{handout.words}: saved, {ONLY_YOURS}; the path is above the text")

    def _say(self, words: str) -> None:
        self.notify(line(words, 1_000), markup=False, timeout=TOAST_SECONDS)

    def _prepare(self) -> Handout | None:
        """What is meant by a copy, as it is now; None, and said, where there is nothing."""
        session, records = self.bench.session, self._records
        outlook = None if self._behind else self.bench.outlook
        passage = self.detail.passage
        finding = self._finding_meant()
        if finding is not None and records is not None:
            spot = records.locate(finding)
            passage = Passage(spot.event, spot.piece, finding)
        if passage is None or session is None or outlook is None:
            self._say("nothing to copy: no event is shown")
            return None
        part = finding.part if finding else outlook.plan.part_of(passage.event)
        opinion = self._opinion(finding) if finding else None
        return Handout(session, passage, part, opinion, redact=self.bench.settings.redact)

    def _opinion(self, finding: ResultFinding) -> Opinion:
        bench = self.bench
        criterion = self._criterion(finding)
        return Opinion(
            finding=finding,
            label=criterion.label if criterion else "",
            question=criterion.question if criterion else "",
            model=OFFLINE_MODEL if isinstance(finding, RuleFinding) else bench.judge.model,
            rubric=bench.rubric.name,
            rubric_version=bench.rubric.version,
            mark=self._mark_of(finding),
        )


def _findings_of(records: Records | None) -> tuple[Records | None, int]:
    """Whose findings these are, and how often they have changed."""
    return records, records.changes if records is not None else 0
