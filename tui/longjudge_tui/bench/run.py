"""One judgment as the screen sees it: the engine's updates folded into counts and rows."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from longjudge.judgment import Judgment
from longjudge.result import score_of, score_range
from longjudge.states import ChunkState, GapReason, JudgmentStatus
from longjudge.updates import (
    AskedBy,
    BatchSaid,
    ChunkUpdate,
    JudgmentEnded,
    Paused,
    PausedByHand,
    Stopping,
    StoreFailed,
    StoreTakes,
    WentOn,
)
from longjudge_tui.bench.begun import Begun
from longjudge_tui.bench.figures import Figures, Rate
from longjudge_tui.bench.run_batches import RunBatches
from longjudge_tui.bench.run_log import RunLog

if TYPE_CHECKING:
    from longjudge.batches.queue import BatchQueue
    from longjudge.board import ChunkRecord
    from longjudge.calls import InHand
    from longjudge.faults import Fault
    from longjudge.judges.base import Judge
    from longjudge.result import Result
    from longjudge.rubric import Rubric
    from longjudge.sessions import Session
    from longjudge.settings import Settings
    from longjudge.store import Store
    from longjudge.updates import Update
    from longjudge_tui.bench.event_log import EventLog
    from longjudge_tui.bench.outlook import Outlook
    from longjudge_tui.bench.records import Records

_CUT_SHORT = frozenset({GapReason.CANCELLED, GapReason.TIMED_OUT, GapReason.SKIPPED})
"""What ended so says nothing about how fast a judge is."""


class Run(RunBatches):
    """A judgment and what its updates said.

    `before` is what was known until it began. With `fresh` it asks anew about the chunks of `only`,
    whose verdicts stand until there are others. `forced` is the spec of `fault`, empty without one.
    One that is `recalled` is of the past.
    """

    recalled = False

    def __init__(
        self,
        session: Session,
        outlook: Outlook,
        *,
        rubric: Rubric,
        judge: Judge,
        store: Store,
        settings: Settings,
        kept: set[str],
        only: frozenset[int] | None = None,
        before: Records | None = None,
        fresh: bool = False,
        fault: Fault | None = None,
        log: EventLog | None = None,
        queue: BatchQueue | None = None,
        as_batch: bool = False,
    ) -> None:
        self.outlook = outlook
        self.as_batch = as_batch
        self.end_seconds = queue.batching.pace.end if queue is not None else 0.0
        self._log = RunLog(log, session, outlook.plan) if log is not None else None
        self.settings = settings
        self.result: Result | None = None
        self.stop_cause: str | None = None
        self.forced = fault.spec if fault is not None else ""
        self.store_error: str | None = store.write_error
        self._kept = kept
        self._owed = store.owed
        self._only = only
        self._before = before
        self._newly_kept: set[str] = set()
        self._ticking = set()
        self._retry_at: dict[int, float] = {}
        self._paused = 0.0, ""
        self._rate = Rate()
        self._retries = 0
        self._saved = 0
        self._started = time.monotonic()
        earlier = before.earlier() if before else {}
        self._standing = self._standing_of(earlier) if fresh else {}
        self._begun = Begun(
            session,
            store,
            rubric=rubric,
            judge=judge,
            settings=settings,
            chunks=len(outlook.plan),
        )
        self._judgment = Judgment(
            session,
            rubric=rubric,
            judge=judge,
            store=store,
            settings=settings,
            estimator=outlook.estimator,
            listener=self._listen,
            only=only,
            earlier=earlier,
            fresh=fresh,
            fault=fault,
            once=True,
            queue=queue,
            as_batch=as_batch,
        )
        super().__init__(self._judgment.board)
        if self._log is not None:
            self._log.begun(outlook.totals, judge, rubric, settings, self.forced, batch=as_batch)
        records = self._judgment.board.chunks
        self._states = {place: record.state for place, record in enumerate(records)}
        self._tally = Counter(self._states.values())
        for place, record in enumerate(records):
            if record.state.ended:
                self._changed(place)

    def _standing_of(self, earlier: dict[int, ChunkRecord]) -> dict[int, ChunkRecord]:
        """The records of the chunks that are asked anew, and of those equal to them."""
        keys = {self.outlook.keys[position] for position in self._only or ()}
        return {
            position: record
            for position, record in earlier.items()
            if record.kept is not None and self.outlook.keys[position] in keys
        }

    @property
    def asks_all(self) -> bool:
        """Whether it asks whatever is not kept, and not only what it was begun for."""
        return self._only is None

    @property
    def stopping(self) -> bool:
        """Whether a limit or a cancel has begun to end it."""
        return self._judgment.stopping

    @property
    def held(self) -> int:
        """How much it holds outside now, and after its end what could not be released yet."""
        return self._judgment.held

    @property
    def in_hand(self) -> InHand:
        """What it has in hand now: calls, verdicts on their way into the store, leases."""
        return self._judgment.in_hand

    def look_at_store(self) -> None:
        """After its end the store may have taken what it had not: then that is said no more."""
        result, owed = self.result, self._owed
        if result is None or self.recalled or not self.store_error:
            return
        still = self._judgment.store_error
        if still is None and not owed.lacks(result.id):
            self.result = replace(result, store_error=None)
            for place, record in enumerate(self._judgment.board.chunks):
                if record.kept is not None and not record.stored:
                    record.stored = True
                    self._changed(place)
        self.store_error = still if still or not owed.lacks(result.id) else self.store_error

    @property
    def paused(self) -> bool:
        """Whether somebody lets it ask nothing now."""
        return self._judgment.paused

    @property
    def resting(self) -> bool:
        """Whether nothing is on its way but batches, and nothing is to be asked now."""
        return (self.paused and not self.in_hand) or (self.rests_in_batch and not self.stopping)

    def pause(self) -> bool:
        """Ask nothing until it goes on; False where it pauses already, or is being ended."""
        return self.result is None and self._judgment.pause()

    def go_on(self) -> bool:
        """Ask again after a pause; False where there is none."""
        return self._judgment.go_on()

    @property
    def open_chunks(self) -> int:
        """How many chunks have not ended."""
        return sum(count for state, count in self._tally.items() if not state.ended)

    @property
    def seconds(self) -> float:
        """How long it has run, without the pauses by hand."""
        if self.result is not None:
            return self.result.seconds
        return max(0.0, time.monotonic() - self._started - self._judgment.paused_seconds)

    @property
    def fatal_error(self) -> str | None:
        """Why the endpoint will answer nobody, None where it may."""
        return self._judgment.fatal_error

    @property
    def told(self) -> bool:
        """Whether it asked nothing and said what is recorded already: it is not recorded again."""
        return self.result is not None and self.result.id != self._judgment.id

    async def judge(self) -> None:
        """Judge to the end; `result` holds what came of it.

        Raises:
            LongjudgeError: no credential, or the session changed.
        """
        self._started = time.monotonic() - self._judgment.paused_seconds
        async with self._begun:
            self.result = await self._judgment.run()
            if self.told:
                await self._begun.drop_earlier()
        # Every chunk has ended; keeping what was before would keep what was before that, too.
        self._before = None

    def cancel(self, *, keep_batches: bool = False) -> None:
        """End the judgment, its batches too unless they are to run on; again: wait for none."""
        self._judgment.cancel(keep_batches=keep_batches)

    def cancel_part(self, part: int) -> bool:
        """End one chunk; False where it has ended already."""
        return self.result is None and self._judgment.cancel_part(part)

    def record(self, position: int) -> ChunkRecord:
        """What is known about one chunk: what was, until this run has looked at it too."""
        record = super().record(position)
        asked = self._only is None or position in self._only
        if asked or self._before is None or record.state is not ChunkState.QUEUED:
            return record
        return self._before.record(position)

    def set_concurrency(self, calls: int) -> None:
        """Have so many calls in flight from now on."""
        self._judgment.set_concurrency(calls)

    def ask_again(self, part: int) -> bool:
        """Ask about a gap again; False where that cannot be any more."""
        return self.result is None and self._judgment.ask_again(part)

    @property
    def in_flight(self) -> tuple[int, int] | None:
        """The first and the last chunk that is asked about now, else one that waits for a retry."""
        ticking = self._ticks
        running = [each for each in ticking if self._states[each] is ChunkState.RUNNING]
        asked = running or ticking
        return (min(asked), max(asked)) if asked else None

    @property
    def newest(self) -> int | None:
        """The chunk that was asked about last, and so is in flight the longest from now on."""
        asked = [(self.record(each).asked_at or 0.0, each) for each in self._ticks]
        return max(asked)[1] if asked else None

    def gap_positions(self) -> list[int]:
        """Every gap, in order: also those from before about which this run does not ask."""
        gaps = set(self._gaps)
        if self._before is not None and self._only is not None:
            gaps |= {*filter(self.is_gap, self._before.gap_positions())}
        return sorted(gaps)

    def standing(self, position: int) -> ChunkRecord | None:
        """The verdict that counts until a chunk that is asked anew has another one."""
        return None if self._states[position].ended else self._standing.get(position)

    def in_vain(self, position: int) -> str:
        """Why asking a chunk anew brought no verdict; empty where it did."""
        return self._board.chunks[position].in_vain

    def retry_in(self, position: int) -> float:
        """Seconds until a chunk is asked again."""
        due = self._retry_at.get(position, 0.0)
        return max(0.0, max(due, self._paused[0]) - time.monotonic())

    def asked_by(self, position: int) -> str:
        """Which other process asks what a chunk waits for; empty where it is this one."""
        return self._judgment.asked_by(position + 1)

    @property
    def ordered_wait(self) -> tuple[float, str] | None:
        """How long the provider lets nothing be asked from now on, and what it said."""
        until, note = self._paused
        left = until - time.monotonic()
        return (left, note) if left > 0 and self.result is None and not self.stopping else None

    def take_dirty(self) -> set[int]:
        """Positions that changed since the last call, and those whose clock is running."""
        return super().take_dirty() | self._ticks

    def take_kept(self) -> set[str]:
        """Keys that were kept since the last call and not before."""
        more, self._newly_kept = self._newly_kept, set()
        return more

    def figures(self) -> Figures:
        """The numbers now, or those of the result."""
        chunks = len(self.outlook.plan)
        flagged = self._tally[ChunkState.FLAGGED]
        judged = flagged + self._tally[ChunkState.CLEAN]
        to_end = chunks - judged - self._tally[ChunkState.GAP]
        standing = [each.state for place in self._standing if (each := self.standing(place))]
        flagged += standing.count(ChunkState.FLAGGED)
        judged += len(standing)
        spent = self._board.spent
        found, verified = self.counts()
        seconds = self.seconds
        if self.result is not None:
            score, rate, left = self.result.score, None, None
        else:
            score = score_of(JudgmentStatus.PARTIAL, judged, flagged)
            rate = self._rate.per_minute(seconds)
            # Nobody can tell of a batch how long it takes.
            left = None if self.in_batch else self._rate.left(seconds, to_end)
        return Figures(
            findings=found,
            disagreements=self.disagreements,
            verified=verified,
            score=score,
            score_range=score_range(chunks, judged, flagged) if chunks else (0.0, 1.0),
            judged=judged,
            chunks=chunks,
            gaps=self._tally[ChunkState.GAP],
            calls=spent.calls,
            retries=self._retries,
            saved=self._saved,
            cost_usd=spent.cost_usd,
            seconds=seconds,
            rate=rate,
            left=left,
            open=to_end,
            until_limit=max(0.0, self.limit - seconds),
            in_batch=self.in_batch,
        )

    def _listen(self, update: Update) -> None:
        if self._log is not None:
            about = update.part - 1 if isinstance(update, ChunkUpdate) else None
            self._log.hear(update, None if about is None else self._board.chunks[about])
        match update:
            case ChunkUpdate():
                self._chunk(update)
            case Paused():
                self._paused = time.monotonic() + update.wait, update.note
            case AskedBy():
                self._changed(update.part - 1)
            case PausedByHand() | WentOn() | BatchSaid():
                # What waits says so in its row, and so does what is in a batch.
                self._dirty |= {*self._unended()}
            case StoreFailed():
                self.store_error = update.message
            case StoreTakes():
                self.store_error = None
            case Stopping():
                self.stop_cause, self.stopping_since = update.cause, time.monotonic()
            case JudgmentEnded():
                self.store_error = update.result.store_error or self.store_error

    def _unended(self) -> list[int]:
        return [position for position, state in self._states.items() if not state.ended]

    def _chunk(self, update: ChunkUpdate) -> None:
        position = update.part - 1
        self._tally[self._states[position]] -= 1
        self._tally[update.state] += 1
        self._states[position] = update.state
        self._changed(position)
        if update.state in (ChunkState.RUNNING, ChunkState.RETRYING):
            self._ticking.add(position)
        else:
            self._ticking.discard(position)
        if update.state is ChunkState.RETRYING:
            self._retry_at[position] = time.monotonic() + update.wait
            self._retries += 1
        answered = update.state.ended and update.attempt and update.reason not in _CUT_SHORT
        if answered and not self._board.chunks[position].in_batch:
            self._rate.ended(self.seconds)
        self._saved += update.state.ended and update.from_cache and not update.attempt
        judged = update.state in (ChunkState.CLEAN, ChunkState.FLAGGED)
        key = self.outlook.keys[position]
        if judged and update.stored and key not in self._kept:
            self._kept.add(key)
            self._newly_kept.add(key)
