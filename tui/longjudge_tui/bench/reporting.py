"""The report of a judgment: of one that the store recorded, or of what stands on the bench now."""

from __future__ import annotations

import asyncio
import os
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from longjudge.board import Ending
from longjudge.comparison.caveats import unread_of_version
from longjudge.judges.offline import changed_words, unread_questions
from longjudge.redaction import redacted_fields, redacted_text
from longjudge.report.asked import Questions, asked_markdown, questions_of_version
from longjudge.report.gaps import gap_markdown, told_gaps
from longjudge.report.markdown import Beside, markdown_report
from longjudge.report.outcome import JudgedSession, Outcome, marks_of, read_outcome
from longjudge.report.places import places_of
from longjudge.result import gap_counts, score_range
from longjudge.states import ChunkState, JudgmentStatus
from longjudge.store import PastJudgment, read_gap_replies, real_path
from longjudge.store.past_pages import whole_judgment
from longjudge_tui.bench.run import Run
from longjudge_tui.wording import plural

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from longjudge.marks import Mark
    from longjudge.result import Result
    from longjudge.sessions import Session
    from longjudge.store import GapReply, Store
    from longjudge_tui.bench.bench import Bench
    from longjudge_tui.bench.records import Records

IN_FLIGHT = "in flight"
KEPT_ONLY = "not run"
"""What stands for a status where no judgment has ended."""


@dataclass(frozen=True, slots=True)
class Report:
    """A report as Markdown, and what a file of it is called."""

    text: str
    name: str


async def report_of_past(
    store: Store, id: str, *, session: Session | None, redact: bool
) -> Report | None:
    """The report of a recorded judgment; None where it does not read.

    `session` is the one that it is about, where that is open: then lines of its file are named.

    Raises:
        StoreError: the store cannot be read.
    """
    past = await whole_judgment(store, id)
    if past is None:
        return None
    replies = await read_gap_replies(store, id)
    marks = await store.marks()
    unread = await unread_of_version(store, past.model, past.rubric_version)
    asked = await questions_of_version(store, past.rubric, past.rubric_version)
    return await asyncio.to_thread(
        _written, past, replies, marks, os.fspath(store.path), session, redact, unread, asked
    )


async def report_now(bench: Bench) -> Report | None:
    """The report of the judgment on the bench as it is now; None where nothing is known yet.

    Raises:
        StoreError: the store cannot be read.
    """
    records, session = bench.records, bench.session
    if records is None or session is None or bench.outlook is None:
        return None
    redact = bench.settings.redact
    run = records if isinstance(records, Run) else None
    if run is not None and run.result is not None:
        known = await report_of_past(bench.store, run.result.id, session=session, redact=redact)
        if known is not None:
            return known
    result = run.result if run is not None else None
    if result is None:
        result = await asyncio.to_thread(_so_far, bench, records)
    past = await asyncio.to_thread(_as_recorded, bench, records, session, result)
    if run is None or run.result is None:
        past = replace(past, status=IN_FLIGHT if run is not None else KEPT_ONLY)
    marks, store = await bench.store.marks(), os.fspath(bench.store.path)
    unread = () if bench.judge.judges_meaning else unread_questions(bench.rubric)
    asked = Questions.of(bench.rubric)
    return await asyncio.to_thread(
        _written, past, records.gap_replies(), marks, store, session, redact, unread, asked
    )


def _so_far(bench: Bench, records: Records) -> Result:
    """What is known by now as a result, but for a score: that is for what has ended."""
    settings = bench.run.settings if bench.run is not None else bench.settings
    figures = bench.run.figures() if bench.run is not None else None
    ending = Ending(
        id="not recorded yet",
        model=bench.judge.model,
        rubric_name=bench.rubric.name,
        rubric_version=bench.rubric.version,
        criteria=tuple(bench.rubric.criterion_ids),
        settings=settings.to_dict(),
        time_limit=settings.time_limit,
        limit_reached=False,
        cancelled=True,
        store_error=bench.store_error,
        error=None,
        seconds=figures.seconds if figures is not None else 0.0,
        fault=(bench.run.forced if bench.run is not None else "") or None,
    )
    result = records.result_so_far(ending)
    # More may have come in while it was put together: its parts are what it is about.
    flagged = sum(part.state is ChunkState.FLAGGED for part in result.parts)
    judged = flagged + sum(part.state is ChunkState.CLEAN for part in result.parts)
    return replace(
        result,
        score=None,
        score_range=score_range(result.chunks, judged, flagged),
        judged_chunks=judged,
        flagged_chunks=flagged,
        unjudged_chunks=result.chunks - judged,
        gaps=gap_counts(result.parts),
    )


def _as_recorded(bench: Bench, records: Records, session: Session, result: Result) -> PastJudgment:
    """A result as the store would have it."""
    return PastJudgment(
        id=result.id,
        path=session.name,
        real_path=real_path(session.path),
        session_id=session.id,
        rubric=bench.rubric.name,
        rubric_version=bench.rubric.version,
        model=result.model,
        status=result.status.value,
        created=time.time(),
        result=result.to_dict(),
        digests=tuple(records.mark_key(each)[0].hex() for each in result.findings),
    )


def _written(
    past: PastJudgment,
    replies: Sequence[GapReply],
    marks: Mapping[tuple[bytes, str], Mark],
    store: str,
    session: Session | None,
    redact: bool,
    unread: Sequence[str],
    asked: Questions | None,
) -> Report:
    """In a thread: a judgment may have very many parts."""
    gaps = told_gaps(past, replies, redact=redact)
    if redact:
        past = replace(
            past,
            path=redacted_text(past.path),
            session_id=redacted_text(past.session_id),
            result=redacted_fields(past.result),
        )
        store = redacted_text(store)
        asked = asked.redacted() if asked is not None else None
    outcome = _outcome(past, marks)
    places = None
    if session is not None:
        places = places_of(session, outcome.findings, past.digests, redact=redact)
    beside = Beside(
        gap_lines=gap_markdown(gaps),
        places=places,
        store=store,
        recorded=outcome.status not in (IN_FLIGHT, KEPT_ONLY),
        remark=" · ".join(
            filter(None, [changed_words(unread) if unread else "", _remark(outcome)])
        ),
        asked_lines=asked_markdown(past.rubric, past.rubric_version, asked),
    )
    text = markdown_report(outcome, past.created, beside)
    stem = os.path.splitext(os.path.basename(past.path))[0] or "events"
    return Report(text, f"{stem}-judgment")


def _outcome(past: PastJudgment, marks: Mapping[tuple[bytes, str], Mark]) -> Outcome:
    outcome = read_outcome(past.result | {"status": past.status})
    if outcome is None:
        return Outcome(
            id=past.id,
            session=JudgedSession(path=past.path, id=past.session_id),
            status=past.status,
            model=past.model,
            evidence="this version cannot show more of it",
            unknown=True,
        )
    return outcome.selected(marks_of(past, marks), None)


def _remark(outcome: Outcome) -> str:
    """What nobody may overlook: that this is not all of it."""
    of = f"{outcome.judged_chunks} of {plural(outcome.chunks, 'part')}"
    if outcome.status == IN_FLIGHT:
        return f"NOT FINISHED: this judgment was still running, {of} had a verdict"
    if outcome.status == KEPT_ONLY:
        return f"NO JUDGMENT HAS RUN: these are verdicts that are kept, {of} have one"
    if outcome.bare or outcome.status == JudgmentStatus.COMPLETE:
        return ""
    return f"NOT ALL OF IT: {of} have a verdict"
