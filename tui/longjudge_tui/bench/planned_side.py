"""A side of a comparison that is no recorded judgment: what a plan's chunks say now.

Where the bench stands at the side's terms, its own records are read, and so a run is followed
live; else the verdicts that the store keeps for the side's own plan.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from longjudge.comparison.sides import READING, Side, SideFinding, SidePart, SideSession
from longjudge.judges.offline import unread_questions
from longjudge.redaction import redacted_text
from longjudge.report.asked import Questions
from longjudge.result import score_of, score_range
from longjudge.states import ChunkState, JudgmentStatus
from longjudge.store import real_path
from longjudge_tui.bench.preview import Preview
from longjudge_tui.bench.run import Run
from longjudge_tui.bench.side_terms import Terms

if TYPE_CHECKING:
    from collections.abc import Hashable

    from longjudge.result import Result
    from longjudge.sessions import Session
    from longjudge_tui.bench.bench import Bench
    from longjudge_tui.bench.outlook import Outlook
    from longjudge_tui.bench.records import Records


class PlannedSide:
    """What stands now under some terms, for the session that is open."""

    def __init__(self, bench: Bench, terms: Terms) -> None:
        self.terms = terms
        self._bench = bench
        self._outlook: Outlook | None = None
        self._preview: Preview | None = None
        self._shown: Preview | None = None

    @property
    def is_live(self) -> bool:
        """Whether the bench itself stands at these terms."""
        return self.terms.same_as(Terms.standing(self._bench.tuning))

    @property
    def state(self) -> Hashable:
        """Changes whenever the side says something else."""
        bench = self._bench
        records = self._records
        run = records if isinstance(records, Run) else None
        figures = run.figures() if run is not None else None
        counts = (figures.judged, figures.gaps) if figures is not None else None
        ended = run is not None and run.result is not None
        filled = isinstance(records, Preview) and records.done
        changes = records.changes if records is not None else 0
        generation = bench.generation if self.is_live else 0
        return (generation, id(records), changes, counts, ended, filled, id(self._outlook))

    async def read(self, session: Session) -> None:
        """Read what the store keeps for its plan, where the bench has not read it before.

        Raises:
            StoreError: the store cannot be read.
        """
        bench, measured = self._bench, self._bench.outlook
        if measured is None:
            return
        if self.is_live:
            if bench.run is not None and self._shown is None:
                shown = Preview(session, measured, bench.kept_keys, bench.store)
                await shown.fill()
                self._shown = shown
            return
        self._outlook = await asyncio.to_thread(
            self.terms.outlook, session, measured.estimator, bench.kept_keys
        )
        preview = Preview(session, self._outlook, bench.kept_keys, bench.store)
        self._preview = preview
        await preview.fill()

    def side(self, session: Session) -> Side | None:
        """What it says now; for a thread. None while there is no plan."""
        outlook = self._bench.outlook if self.is_live else self._outlook
        if outlook is None:
            return None
        return _side(session, outlook, self._records, self._shown, self.terms)

    @property
    def _records(self) -> Records | None:
        records = self._bench.records if self.is_live else self._preview
        if isinstance(records, Preview):
            self._shown = records
        return records


def _side(
    session: Session,
    outlook: Outlook,
    records: Records | None,
    shown: Preview | None,
    terms: Terms,
) -> Side:
    """A run takes a while to find what is kept: until then that stands as it was `shown` before."""
    parts: list[SidePart] = []
    findings: list[SideFinding] = []
    for position in range(len(outlook.plan)):
        chunk = outlook.plan[position]
        said_by = records
        if shown is not None and not _is_settled(records, position):
            said_by = shown if shown.is_about(position, outlook.keys[position]) else records
        record = said_by.record(position) if said_by is not None else None
        # The state first: a chunk has its findings before it is called flagged.
        state = record.state if record is not None else ChunkState.QUEUED
        reason = record.reason.value if record is not None and record.reason else ""
        parts.append(
            SidePart(chunk.part, state, reason, chunk.thread, chunk.first, chunk.last, chunk.chars)
        )
        if said_by is not None and record is not None and state is ChunkState.FLAGGED:
            findings += [
                SideFinding(
                    part=found.part,
                    criterion=found.criterion,
                    note=found.note,
                    event=found.event,
                    quote=found.quote,
                    verified=found.verified,
                    digest=said_by.mark_key(found)[0].hex(),
                    span=found.span,
                )
                for found in record.findings
            ]
    result = records.result if isinstance(records, Run) else None
    score, between = _score(parts, result)
    recorded = result is not None and result.store_error is None
    return Side(
        id=result.id if result is not None and recorded else "",
        created=None,
        status=_status(records, result),
        by=terms.by,
        session=session_of(session),
        parts=tuple(parts),
        findings=tuple(findings),
        criteria=tuple(terms.rubric.criterion_ids),
        score=score,
        score_range=between,
        fault=(result.fault or "") if result is not None else "",
        unread=() if terms.judge.judges_meaning else unread_questions(terms.rubric),
        asked=Questions.of(terms.rubric),
    )


def _status(records: Records | None, result: Result | None) -> str:
    """How it ended; empty for what is not over, also once all that is kept has been read."""
    if result is not None:
        return result.status.value
    return READING if isinstance(records, Preview) and not records.done else ""


def _is_settled(records: Records | None, position: int) -> bool:
    """Whether anything is known about a chunk but that it may be asked."""
    return records is not None and records.record(position).state is not ChunkState.QUEUED


def session_of(session: Session) -> SideSession:
    """The session that is open, as a recorded side would know it; looks at the disk."""
    return SideSession(
        path=session.name,
        real_path=real_path(session.path),
        id=session.id,
        title=redacted_text(session.title),
        format=session.format,
        events=len(session.index),
    )


def _score(
    parts: list[SidePart], result: Result | None
) -> tuple[float | None, tuple[float, float]]:
    """The score of what is judged so far, with what it could become."""
    if result is not None:
        return result.score, result.score_range
    judged = sum(part.judged for part in parts)
    flagged = sum(part.state is ChunkState.FLAGGED for part in parts)
    between = score_range(len(parts), judged, flagged) if parts else (0.0, 1.0)
    return score_of(JudgmentStatus.PARTIAL, judged, flagged), between
