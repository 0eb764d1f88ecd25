"""One judgment as the screen sees it: the engine's updates folded into counts and rows."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from longjudge.judgment import Judgment
from longjudge.result import score_of, score_range
from longjudge.states import ChunkState, JudgmentStatus
from longjudge.updates import ChunkUpdate, JudgmentEnded, Paused, Stopping, StoreFailed, StoreTakes
from longjudge_tui.bench.records import Records

if TYPE_CHECKING:
    from longjudge.board import ChunkRecord
    from longjudge.faults import Fault
    from longjudge.judges.base import Judge
    from longjudge.result import Result
    from longjudge.rubric import Rubric
    from longjudge.sessions import Session
    from longjudge.settings import Settings
    from longjudge.store import Store
    from longjudge.updates import Update
    from longjudge_tui.bench.outlook import Outlook


@dataclass(frozen=True, slots=True)
class Figures:
    """The live line's numbers. `left` is None where nothing can be said yet.

    `verified` is how many of the findings' quotes were found, `disagreements` the chunks that the
    offline rules flag and the model called clean, `saved` the chunks whose verdict needed no call.
    """

    findings: int
    disagreements: int
    verified: int
    score: float | None
    score_range: tuple[float, float]
    judged: int
    chunks: int
    gaps: int
    calls: int
    saved: int
    cost_usd: float | None
    seconds: float
    left: float | None


class Run(Records):
    """A judgment and what its updates said.

    `before` is what was known until it began. With `fresh` it asks anew about the chunks of `only`,
    whose verdicts stand until there are others. `forced` is the spec of `fault`, empty without one.
    """

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
    ) -> None:
        self.outlook = outlook
        self.settings = settings
        self.result: Result | None = None
        self.stop_cause: str | None = None
        self.forced = fault.spec if fault is not None else ""
        self.store_error: str | None = store.write_error
        self._kept = kept
        self._only = only
        self._before = before
        self._newly_kept: set[str] = set()
        self._ticking: set[int] = set()
        self._retry_at: dict[int, float] = {}
        self._paused = 0.0, ""
        self._asked_ends = 0
        self._saved = 0
        self._started = time.monotonic()
        earlier = before.earlier() if before else {}
        self._standing = self._standing_of(earlier) if fresh else {}
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
        )
        super().__init__(self._judgment.board)
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
        """How much it holds outside now."""
        return self._judgment.held if self.result is None else self.result.holds_left

    @property
    def fatal_error(self) -> str | None:
        """Why the endpoint will answer nobody, None where it may."""
        return self._judgment.fatal_error

    async def judge(self) -> None:
        """Judge to the end; `result` holds what came of it.

        Raises:
            LongjudgeError: no credential, or the session changed.
        """
        self._started = time.monotonic()
        self.result = await self._judgment.run()
        # Every chunk has ended; keeping what was before would keep what was before that, too.
        self._before = None

    def cancel(self) -> None:
        """End the judgment; safe to call again."""
        self._judgment.cancel()

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
        running = [each for each in self._ticking if self._states[each] is ChunkState.RUNNING]
        asked = running or self._ticking
        return (min(asked), max(asked)) if asked else None

    @property
    def newest(self) -> int | None:
        """The chunk that was asked about last, and so is in flight the longest from now on."""
        asked = [(self.record(each).asked_at or 0.0, each) for each in self._ticking]
        return max(asked)[1] if asked else None

    def is_gap(self, position: int) -> bool:
        """Whether a chunk has ended without a verdict."""
        return self.record(position).state is ChunkState.GAP

    def standing(self, position: int) -> ChunkRecord | None:
        """The verdict that counts until a chunk that is asked anew has another one."""
        return None if self._states[position].ended else self._standing.get(position)

    def in_vain(self, position: int) -> str:
        """Why asking a chunk anew brought no verdict; empty where it did."""
        return self._board.chunks[position].in_vain

    def retry_in(self, position: int) -> float:
        """Seconds until a chunk is asked again."""
        return max(0.0, self._retry_at.get(position, 0.0) - time.monotonic())

    @property
    def pause(self) -> tuple[float, str] | None:
        """How long the provider lets nothing be asked from now on, and what it said."""
        until, note = self._paused
        left = until - time.monotonic()
        return (left, note) if left > 0 and self.result is None and not self.stopping else None

    def take_dirty(self) -> set[int]:
        """Positions that changed since the last call, and those whose clock is running."""
        return super().take_dirty() | self._ticking

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
        if self.result is not None:
            score, seconds, left = self.result.score, self.result.seconds, None
        else:
            seconds = time.monotonic() - self._started
            score = score_of(JudgmentStatus.PARTIAL, judged, flagged)
            left = None if self.stopping else self._left(seconds, to_end)
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
            saved=self._saved,
            cost_usd=spent.cost_usd,
            seconds=seconds,
            left=left,
        )

    def _left(self, seconds: float, open_chunks: int) -> float | None:
        if not self._asked_ends or not open_chunks:
            return None
        pace = seconds / self._asked_ends * open_chunks
        return min(pace, max(0.0, self.settings.time_limit - seconds))

    def _listen(self, update: Update) -> None:
        match update:
            case ChunkUpdate():
                self._chunk(update)
            case Paused():
                self._paused = time.monotonic() + update.wait, update.note
            case StoreFailed():
                self.store_error = update.message
            case StoreTakes():
                self.store_error = None
            case Stopping():
                self.stop_cause = update.cause
            case JudgmentEnded():
                self.store_error = update.result.store_error or self.store_error

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
        if update.state.ended and not update.from_cache:
            self._asked_ends += 1
        self._saved += update.state.ended and update.from_cache and not update.attempt
        judged = update.state in (ChunkState.CLEAN, ChunkState.FLAGGED)
        key = self.outlook.keys[position]
        if judged and update.stored and key not in self._kept:
            self._kept.add(key)
            self._newly_kept.add(key)
