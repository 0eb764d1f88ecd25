"""What is known about every chunk of one judgment while it runs, and the result made of it.

The board is the only place where a chunk changes its state: each change is checked against the
table of transitions and told to the listener.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from longjudge import result as results
from longjudge.evidence import place_findings
from longjudge.prices import Usage
from longjudge.states import TRANSITIONS, WAITS, ChunkState, GapReason, JudgmentStatus
from longjudge.store import GapReply
from longjudge.updates import ChunkUpdate

if TYPE_CHECKING:
    from collections.abc import Callable

    from longjudge.chunks import ChunkPlan
    from longjudge.prices import RunPrice
    from longjudge.sessions.model import Session
    from longjudge.store import KeptVerdict
    from longjudge.updates import Listener


@dataclass(slots=True)
class ChunkRecord:
    """One chunk: `asked_at` is the start of the call in flight (monotonic), None without one.

    `waited` is how long it has been in `waiting` and `retrying`, `waits_since` when it came there
    (monotonic). `in_vain` says why a new question brought no verdict where an earlier one stands.
    `kept` has its reply only where it is not `stored`; else the store has it. `tokens` and
    `cost_usd` are those of its answers, None where a price is unknown. `batches`, by our ids, are
    those that answers came in: their seconds say nothing about the judge.
    """

    state: ChunkState = ChunkState.QUEUED
    reason: GapReason | None = None
    from_cache: bool = False
    stored: bool = True
    attempts: int = 0
    seconds: float = 0.0
    asked_at: float | None = None
    waited: float = 0.0
    waits_since: float | None = None
    kept: KeptVerdict | None = None
    findings: tuple[results.ResultFinding, ...] = ()
    raw_reply: str = ""
    problem: str = ""
    in_vain: str = ""
    tokens: int = 0
    cost_usd: float | None = 0.0
    batches: tuple[str, ...] = ()

    @property
    def in_batch(self) -> bool:
        """Whether any answer came in a batch."""
        return bool(self.batches)

    @property
    def disagrees(self) -> bool:
        """Whether the offline rules flag what the model called clean."""
        return self.kept is not None and self.kept.disagrees


@dataclass(slots=True)
class Spent:
    """What the judgment has asked and used; `cost_usd` is None once one price is unknown."""

    calls: int = 0
    calls_without_reply: int = 0
    usage: Usage = field(default_factory=Usage)
    cost_usd: float | None = 0.0

    def add(self, usage: Usage, cost_usd: float | None) -> None:
        """Count one answer."""
        self.usage += usage
        if self.cost_usd is not None:
            self.cost_usd = None if cost_usd is None else self.cost_usd + cost_usd


class Board:
    """The chunks of one judgment by position, from 0.

    `redacted`: the judge reads texts without secrets. `answered` hears what each answer used.
    """

    def __init__(
        self,
        session: Session,
        plan: ChunkPlan,
        listener: Listener,
        *,
        redacted: bool = False,
        answered: Callable[[int, Usage], None] = lambda position, usage: None,
    ) -> None:
        self.session = session
        self.plan = plan
        self.chunks = [ChunkRecord() for _ in range(len(plan))]
        self.spent = Spent()
        self._listener = listener
        self._standing: dict[int, tuple[KeptVerdict, bool]] = {}
        self._lean: dict[KeptVerdict, KeptVerdict] = {}
        self.redacted = redacted
        self._still = False
        self._answered = answered

    def started(self, position: int) -> None:
        """A question about the chunk goes out now."""
        record = self._going_to(position, ChunkState.RUNNING)
        record.attempts += 1
        record.asked_at = time.monotonic()
        self.spent.calls += 1
        self._move(position, ChunkState.RUNNING)

    def stopped(self, position: int) -> None:
        """The call about the chunk is over, whatever came of it."""
        record = self.chunks[position]
        if record.asked_at is not None:
            record.seconds += time.monotonic() - record.asked_at
            record.asked_at = None

    def answered(self, position: int, usage: Usage, cost_usd: float | None) -> None:
        """An answer about the chunk came, and was paid for."""
        self.spent.add(usage, cost_usd)
        self._answered(position, usage)
        record = self.chunks[position]
        record.tokens += usage.prompt_tokens + usage.output_tokens
        if record.cost_usd is not None:
            record.cost_usd = None if cost_usd is None else record.cost_usd + cost_usd

    def stand_still(self) -> None:
        """Count no wait until `move_on`: nobody is waited for, it is a person who pauses."""
        self._still, now = True, time.monotonic()
        for record in self.chunks:
            if record.waits_since is not None:
                record.waited += now - record.waits_since
                record.waits_since = None

    def move_on(self) -> None:
        """Count waits again, from now on."""
        self._still, now = False, time.monotonic()
        for record in self.chunks:
            if record.state in WAITS:
                record.waits_since = now

    def waiting(self, position: int) -> None:
        """Another judgment is asking the same."""
        self._move(position, ChunkState.WAITING)

    def queued(self, position: int) -> None:
        """Nobody else answered; the chunk is asked after all."""
        self._move(position, ChunkState.QUEUED)

    def reopened(self, position: int) -> None:
        """A gap is asked again; what was wrong with it is forgotten."""
        record = self._going_to(position, ChunkState.QUEUED)
        record.reason, record.problem = None, ""
        self._move(position, ChunkState.QUEUED)

    def stays(self, position: int, earlier: ChunkRecord | None) -> None:
        """The chunk is not asked: it ends as an earlier judgment left it, else as skipped."""
        if earlier is None:
            self.gap(position, GapReason.SKIPPED)
        elif earlier.kept is not None:
            self.judged(position, earlier.kept, from_cache=True, stored=earlier.stored)
        else:
            record = self._going_to(position, ChunkState.GAP)
            record.attempts, record.seconds = earlier.attempts, earlier.seconds
            record.waited, record.raw_reply = earlier.waited, earlier.raw_reply
            self.gap(position, earlier.reason or GapReason.SKIPPED, earlier.problem)

    def stands(self, position: int, kept: KeptVerdict, *, stored: bool = True) -> None:
        """A verdict that counts on where asking about the chunk anew brings no other."""
        self._standing[position] = kept, stored

    def retrying(self, position: int, wait: float, reason: GapReason, problem: str) -> None:
        """The chunk is asked again after `wait` seconds, for what went wrong with the last try."""
        self._going_to(position, ChunkState.RETRYING).problem = problem
        self._move(position, ChunkState.RETRYING, reason, wait=wait, note=problem)

    def judged(
        self, position: int, kept: KeptVerdict, *, from_cache: bool, stored: bool = True
    ) -> None:
        """A verdict that is committed, or that the store would not take (`stored` false)."""
        flagged = kept.verdict.flagged
        state = ChunkState.FLAGGED if flagged else ChunkState.CLEAN
        record = self._going_to(position, state)
        if record.raw_reply == kept.raw_reply:
            record.raw_reply = ""
        record.kept = self._without_reply(kept) if stored else kept
        record.from_cache, record.reason, record.stored = from_cache, None, stored
        record.findings = place_findings(
            self.session, self.plan[position], kept.verdict.findings, redacted=self.redacted
        )
        self._move(position, state, note=record.findings[0].note if flagged else "")

    def gap(self, position: int, reason: GapReason, problem: str = "", reply: str = "") -> None:
        """The chunk ends without a new verdict: a gap, unless an earlier verdict stands.

        `reply` is what was said about an equal one.
        """
        record = self._going_to(position, ChunkState.GAP)
        record.problem = problem or record.problem
        record.raw_reply = reply or record.raw_reply
        if standing := self._standing.get(position):
            kept, stored = standing
            record.in_vain = f"{reason.value}: {problem}" if problem else reason.value
            self.judged(position, kept, from_cache=True, stored=stored)
            return
        record.reason = reason
        self._move(position, ChunkState.GAP, reason, note=record.problem)

    def _without_reply(self, kept: KeptVerdict) -> KeptVerdict:
        """What stays in memory of a verdict that the store has; clean ones are all one object."""
        lean = replace(kept, raw_reply="")
        return lean if lean.verdict.flagged else self._lean.setdefault(lean, lean)

    def ended(self, position: int) -> bool:
        """Whether the chunk is done with."""
        return self.chunks[position].state.ended

    def counts(self) -> tuple[int, int]:
        """How many chunks are judged, and how many of these are flagged."""
        states = [record.state for record in self.chunks]
        flagged = states.count(ChunkState.FLAGGED)
        return flagged + states.count(ChunkState.CLEAN), flagged

    def gap_replies(self) -> tuple[GapReply, ...]:
        """What is known about every gap beyond its reason: what is wrong, and the last reply."""
        return tuple(
            GapReply(position + 1, record.problem, record.raw_reply)
            for position, record in enumerate(self.chunks)
            if record.state is ChunkState.GAP and (record.problem or record.raw_reply)
        )

    def _going_to(self, position: int, state: ChunkState) -> ChunkRecord:
        """The record of a chunk that is about to change; nothing of it may change before."""
        record = self.chunks[position]
        if state not in TRANSITIONS[record.state]:
            raise AssertionError(f"part {position + 1} cannot go from {record.state} to {state}")
        return record

    def _move(
        self,
        position: int,
        state: ChunkState,
        reason: GapReason | None = None,
        *,
        wait: float = 0.0,
        note: str = "",
    ) -> None:
        record, now = self._going_to(position, state), time.monotonic()
        record.state = state
        if record.waits_since is not None:
            record.waited += now - record.waits_since
        record.waits_since = now if state in WAITS and not self._still else None
        self._listener(
            ChunkUpdate(
                part=position + 1,
                state=state,
                reason=reason,
                from_cache=record.from_cache,
                stored=record.stored,
                attempt=record.attempts,
                wait=wait,
                seconds=record.seconds,
                note=note,
                waited=record.waited,
            )
        )


@dataclass(frozen=True, slots=True)
class Ending:
    """What the board does not know about a judgment: who asked what, and how it ended."""

    id: str
    model: str
    rubric_name: str
    rubric_version: str
    criteria: tuple[str, ...]
    settings: dict[str, int | float]
    time_limit: float
    limit_reached: bool
    cancelled: bool
    store_error: str | None
    error: str | None
    seconds: float
    price: RunPrice | None = None
    holds_left: int = 0
    fault: str | None = None


def make_result(board: Board, tokens: list[int], ending: Ending) -> results.Result:
    """The result of a judgment that applied; `tokens` is the estimate per chunk."""
    chunks = len(board.plan)
    judged, flagged = board.counts()
    status = results.judgment_status(
        chunks, judged, limit_reached=ending.limit_reached, cancelled=ending.cancelled
    )
    findings = tuple(finding for record in board.chunks for finding in record.findings)
    parts = _parts(board, tokens)
    spent = board.spent
    return results.Result(
        id=ending.id,
        session=board.session.describe(redact=board.redacted),
        status=status,
        score=results.score_of(status, judged, flagged),
        score_range=results.score_range(chunks, judged, flagged),
        chunks=chunks,
        judged_chunks=judged,
        flagged_chunks=flagged,
        unjudged_chunks=chunks - judged,
        gaps=results.gap_counts(parts),
        evidence=results.evidence_line(status, chunks, judged, findings, ending.time_limit),
        findings=findings,
        criteria=results.criterion_scores(ending.criteria, judged, findings, status),
        parts=parts,
        calls=spent.calls,
        calls_without_reply=spent.calls_without_reply,
        cached_chunks=sum(part.from_cache for part in parts),
        usage=spent.usage,
        cost_usd=spent.cost_usd,
        model=ending.model,
        rubric={"name": ending.rubric_name, "version": ending.rubric_version},
        settings=ending.settings,
        verified_share=results.verified_share(findings),
        disagreements=sum(record.disagrees for record in board.chunks),
        store_error=ending.store_error,
        fault=ending.fault,
        seconds=ending.seconds,
        holds_left=ending.holds_left,
        price=ending.price,
        error=ending.error,
    )


def not_applicable(session: Session, ending: Ending, *, redacted: bool) -> results.Result:
    """The result for a session that the rubric's skip condition leaves out."""
    status = JudgmentStatus.NOT_APPLICABLE
    return results.Result(
        id=ending.id,
        session=session.describe(redact=redacted),
        status=status,
        score=None,
        score_range=(0.0, 1.0),
        chunks=0,
        judged_chunks=0,
        flagged_chunks=0,
        unjudged_chunks=0,
        gaps={},
        evidence=results.evidence_line(status, 0, 0, (), ending.time_limit),
        findings=(),
        criteria=results.criterion_scores(ending.criteria, 0, (), status),
        parts=(),
        calls=0,
        calls_without_reply=0,
        cached_chunks=0,
        usage=Usage(),
        cost_usd=0.0,
        model=ending.model,
        rubric={"name": ending.rubric_name, "version": ending.rubric_version},
        settings=ending.settings,
        verified_share=1.0,
        disagreements=0,
        store_error=None,
        fault=ending.fault,
        seconds=ending.seconds,
        holds_left=0,
        price=ending.price,
    )


def _parts(board: Board, tokens: list[int]) -> tuple[results.ResultPart, ...]:
    parts: list[results.ResultPart] = []
    for position, record in enumerate(board.chunks):
        chunk = board.plan[position]
        parts.append(
            results.ResultPart(
                part=chunk.part,
                state=record.state,
                reason=record.reason,
                from_cache=record.from_cache,
                thread=chunk.thread,
                first_event=chunk.first,
                last_event=chunk.last,
                chars=chunk.chars,
                tokens=tokens[position],
                attempts=record.attempts,
                seconds=record.seconds,
                waited=record.waited,
                disagrees=record.disagrees,
                in_batch=record.in_batch,
            )
        )
    return tuple(parts)
