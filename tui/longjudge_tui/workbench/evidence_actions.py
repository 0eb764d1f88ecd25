"""What the workbench does with findings: go through them, look closer, mark, copy, save."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, cast

from textual import on
from textual.screen import Screen

from longjudge.errors import SessionError
from longjudge.evidence import find_quote
from longjudge.marks import Mark
from longjudge.proof import (
    CONTEXT_CHARS,
    EVENT_CHARS,
    Opinion,
    Proof,
    Source,
    as_json,
    as_markdown,
    excerpt,
)
from longjudge_tui.bench.marking import MARK_WORDS
from longjudge_tui.chores import Chores
from longjudge_tui.clipboard import Clipboard, save, shown_path
from longjudge_tui.commands import command
from longjudge_tui.widgets.action_line import ActionLine
from longjudge_tui.widgets.line_list import LineList
from longjudge_tui.wording import line
from longjudge_tui.workbench.detail_panel import Passage, View

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual import events
    from textual.app import App

    from longjudge.result import ResultFinding
    from longjudge.sessions import Session
    from longjudge_tui.bench.bench import Bench
    from longjudge_tui.bench.records import Records
    from longjudge_tui.workbench.chunk_list import ChunkList
    from longjudge_tui.workbench.detail_panel import DetailPanel
    from longjudge_tui.workbench.event_list import EventList
    from longjudge_tui.workbench.findings_list import FindingsList

TOAST_SECONDS = 5


class EvidenceActions(Screen[None]):
    """The part of the workbench that works on findings; its lists are the workbench's own."""

    bench: Bench
    chunks: ChunkList
    events: EventList
    findings: FindingsList
    detail: DetailPanel

    def __init__(self) -> None:
        super().__init__()
        self._clipboard = Clipboard()
        self._chores = Chores()
        self._marks_seen = -1

    def on_mount(self) -> None:
        """Have the marks read."""
        self.bench.marking.begin()

    async def on_unmount(self) -> None:
        """End what is still copying."""
        await self._chores.end()

    @property
    def _behind(self) -> bool:
        """Whether the plan is another one than what is painted."""
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

    def show_findings(self) -> None:
        """Fill the list, and mark the events that findings name."""
        records = self.bench.records
        self.findings.use_rubric(self.bench.rubric)
        self.findings.show_findings(records.findings() if records else [], self._mark_of)
        self.events.mark_flagged(records.flagged_events() if records else set())

    def show_evidence(self) -> None:
        """Paint what changed about findings and marks."""
        self._chores.raise_failure()
        if self._marks_seen != self.bench.marking.changes:
            self._marks_seen = self.bench.marking.changes
            self.show_findings()
            self.chunks.refresh()
        self.query_one("#findings-title", ActionLine).show_choices(*self.findings.choices())
        finding = self.detail.finding
        place = self.findings.place_of(finding)
        where = "" if place is None else f"finding {place + 1} of {len(self.findings.findings)}"
        mark = self._mark_of(finding) if finding else None
        self.detail.say(where, MARK_WORDS[mark] if mark else "")

    @on(LineList.Moved, "#findings")
    def finding_moved(self, event: LineList.Moved) -> None:
        """Show the finding under the cursor: what is shown is what a copy or a mark means."""
        finding = self.findings.finding_at(event.row)
        if event.row == self.findings.cursor and finding is not None:
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

    def action_next_finding(self) -> None:
        """Go to the next finding."""
        self._step_finding(1)

    def action_previous_finding(self) -> None:
        """Go to the previous finding."""
        self._step_finding(-1)

    def action_filter_findings(self) -> None:
        """Show other findings."""
        self.findings.next_filter()
        self.show_evidence()

    def action_order_findings(self) -> None:
        """Show the findings in another order."""
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
        prepared = self._prepare()
        if prepared is not None:
            self._chores.start(self._save(prepared))

    def _mark_of(self, finding: ResultFinding) -> Mark | None:
        records = self._records
        return self.bench.marking.get(records.mark_key(finding)) if records else None

    def _go_to(self, finding: ResultFinding) -> None:
        records = self._records
        if records is None:
            return
        spot = records.locate(finding)
        with self.prevent(LineList.Moved):
            self.chunks.move_to(spot.position, middle=True)
            self._show_chunk(spot.position)
            self.events.move_to(self.events.row_of(spot.event), middle=True)
        self._show_passage(Passage(spot.event, spot.piece, finding))
        self.show_evidence()

    def _step_finding(self, direction: int) -> None:
        found = self.findings.findings
        if not found:
            filtered = bool(self.findings.all_findings)
            self._say("no finding is shown; f shows others" if filtered else "no finding yet")
            return
        place = self.findings.place_of(self.detail.finding)
        if place is not None:
            place += direction
        else:
            place = self.findings.place_here - (direction < 0)
        place %= len(found)
        with self.prevent(LineList.Moved):
            self.findings.move_to_place(place)
        # Enter, a mark and a copy mean this finding from here on.
        self.set_focus(self.findings)
        self._go_to(found[place])

    def _turn(self, look: View) -> None:
        if not self.detail.turn(look):
            self._say("no event is shown here")

    def _finding_meant(self) -> ResultFinding | None:
        """The finding under the cursor of the list, where that has the keys, else the shown one."""
        here = self.findings.here if self.focused is self.findings else None
        return here or self.detail.finding

    def _mark(self, mark: Mark) -> None:
        finding, records = self._finding_meant(), self._records
        if finding is None or records is None:
            self._say("no finding here to mark; . goes to the next one")
            return
        self.bench.marking.toggle(records.mark_key(finding), mark)

    def _hand_out(self, written: Callable[[Proof], str]) -> None:
        prepared = self._prepare()
        if prepared is not None:
            self._chores.start(self._copy(prepared, written))

    async def _copy(self, prepared: _Prepared, written: Callable[[Proof], str]) -> None:
        proof = await prepared.proof()
        app = cast("App[object]", self.app)  # pyright: ignore[reportUnknownMemberType]
        otherwise = f"{command('save').shown} saves a file"
        done = await self._clipboard.copy(app, written(proof), otherwise)
        self._say(f"{prepared.words}: {done}")

    async def _save(self, prepared: _Prepared) -> None:
        proof = await prepared.proof()
        try:
            path = await asyncio.to_thread(save, as_markdown(proof), prepared.name)
        except OSError as error:
            self._say(f"not saved: {error.strerror}")
        else:
            self._say(f"{prepared.words}: saved as {shown_path(path)}")

    def _say(self, words: str) -> None:
        self.notify(line(words, 1_000), markup=False, timeout=TOAST_SECONDS)

    def _prepare(self) -> _Prepared | None:
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
        return _Prepared(session, passage, part, opinion)

    def _opinion(self, finding: ResultFinding) -> Opinion:
        bench = self.bench
        criteria = {each.id: each for each in bench.rubric.criteria}
        criterion = criteria.get(finding.criterion)
        return Opinion(
            finding=finding,
            label=criterion.label if criterion else "",
            question=criterion.question if criterion else "",
            model=bench.judge.model,
            rubric=bench.rubric.name,
            rubric_version=bench.rubric.version,
            mark=self._mark_of(finding),
        )


class _Prepared:
    """Something to hand out, whose text is still to be read."""

    def __init__(
        self, session: Session, passage: Passage, part: int, opinion: Opinion | None
    ) -> None:
        self._session = session
        self._passage = passage
        self._part = part
        self._opinion = opinion

    @property
    def name(self) -> str:
        """What a file of it is called."""
        path = self._session.path
        what = f"-{self._opinion.finding.criterion}" if self._opinion else ""
        return f"{path.stem if path else 'events'}-event-{self._passage.event}{what}"

    @property
    def words(self) -> str:
        """What it is, for people."""
        event = f"event {self._passage.event}"
        return f"the finding at {event}" if self._opinion else event

    async def proof(self) -> Proof:
        """Read the text, in a thread: it may be a large one."""
        try:
            return await asyncio.to_thread(self._proof)
        except SessionError:
            return Proof(self._source(""), None, self._opinion)

    def _proof(self) -> Proof:
        event, piece = self._passage.event, self._passage.piece
        text = self._session.text(event)
        start, end = (piece.start, piece.end) if piece else (0, len(text))
        finding = self._opinion.finding if self._opinion else None
        span = find_quote(text[start:end], finding.quote) if finding and finding.quote else None
        limit = CONTEXT_CHARS if finding else EVENT_CHARS
        low, high = span or (0, min(end - start, limit))
        at = (start + low, start + high)
        return Proof(self._source(text), excerpt(text, at, limit), self._opinion)

    def _source(self, text: str) -> Source:
        session, event = self._session, self._passage.event
        return Source(
            path=session.name,
            format=session.format,
            id=session.id,
            title=session.title,
            thread=session.index.thread_of(event).name,
            part=self._part,
            event=event,
            header=text[:1_000].partition("\n")[0] or session.index.kind(event).value,
            file=session.file(event),
            line=session.line(event),
        )
