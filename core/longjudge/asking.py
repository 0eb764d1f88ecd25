"""The workers of one judgment: they take a chunk, ask once, and decide what follows.

Each question is a task of its own, so that it can be cut off while its worker lives on: a worker
that has an answer always commits it. Equal chunks follow the first of them; a chunk that another
judgment of this process is asking waits for that answer and holds no worker meanwhile.
"""

from __future__ import annotations

import asyncio
import contextlib
from enum import Enum
from typing import TYPE_CHECKING

from longjudge.errors import LongjudgeError
from longjudge.judges.base import Again, Answer, AskError, Usage
from longjudge.judges.reply import BadReply, read_reply
from longjudge.judges.rules import has_problems
from longjudge.prices import cost_usd
from longjudge.prompt import build_question
from longjudge.retries import BAD_REPLIES, MORE_TOKENS, RetryCount, RetryPolicy
from longjudge.schedule import Schedule
from longjudge.states import ChunkState, GapReason
from longjudge.store import KeptVerdict, Provenance, StoreWriteError
from longjudge.updates import Stopping, StoreFailed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from longjudge.board import Board
    from longjudge.flights import Flight, Flights
    from longjudge.judges.base import Judge, Question
    from longjudge.rubric import Rubric
    from longjudge.settings import Settings
    from longjudge.store import Store
    from longjudge.updates import Listener

GRACE_SECONDS = 1.0
"""How long answers on their way may still arrive after a stop."""

COMMIT_SECONDS = 1.0
"""How long an answer may still wait for the store after that."""

STAGGER_SECONDS = 0.015
"""Each four workers start this much after the four before, so that no burst blocks the loop."""


class StopCause(Enum):
    """What ends a judgment before all its chunks have ended, and what it makes of asked ones."""

    LIMIT = GapReason.TIMED_OUT
    CANCEL = GapReason.CANCELLED
    FATAL = GapReason.PROVIDER_ERROR


class Asking:
    """Asks about the chunks of a board that the store could not answer."""

    def __init__(
        self,
        board: Board,
        *,
        keys: Sequence[str],
        rubric: Rubric,
        judge: Judge,
        store: Store,
        flights: Flights,
        listener: Listener,
    ) -> None:
        self.stop_cause: StopCause | None = None
        self.fatal_error: str | None = None
        self.failure: LongjudgeError | None = None
        self.store_error = store.write_error
        self._board = board
        self._keys = keys
        self._rubric = rubric
        self._judge = judge
        self._store = store
        self._listener = listener
        self._over = asyncio.Event()
        self._schedule = Schedule(())
        self._twins: dict[int, list[int]] = {}
        self._questions: dict[int, asyncio.Task[Answer]] = {}
        self._flights = flights
        self._departed: dict[str, int] = {}
        self._waiting: set[int] = set()
        self._borrowed: dict[int, KeptVerdict] = {}
        self._cancelled: set[int] = set()
        self._retries: dict[int, RetryCount] = {}
        self._policy = RetryPolicy()
        self._commits: set[asyncio.Timeout] = set()
        self._commits_bounded = False
        self._workers = 0

    def stop(self, cause: StopCause) -> None:
        """Start nothing new; the first cause counts, and a later call changes nothing."""
        if self.stop_cause is None and not self._over.is_set():
            self.stop_cause = cause
            self._schedule.close()
            self._over.set()
            self._listener(Stopping(cause.name.lower()))

    def cancel(self, position: int) -> bool:
        """End one chunk as a gap; False where it has ended already."""
        if position >= len(self._keys) or self._board.ended(position):
            return False
        self._cancelled.add(position)
        if question := self._questions.get(position):
            question.cancel()
        elif self._board.chunks[position].state is not ChunkState.RUNNING:
            if position in self._waiting:
                self._waiting.discard(position)
                self._schedule.finish()
            else:
                self._schedule.discard(position)
            self._end(position, GapReason.CANCELLED)
        return True

    async def run(self, settings: Settings) -> None:
        """Ask until every chunk has ended or a stop is through.

        `failure` says then what kept a question from being made: a session that changed, or a
        judge without a credential, for which alone this raises.

        Raises:
            CredentialError: there is nothing to authenticate with; nothing was asked.
        """
        everything_ended = all(map(self._board.ended, range(len(self._keys))))
        if everything_ended or self.stop_cause is not None:
            return
        await self._judge.prepare()
        # What was cancelled meanwhile leads no others.
        leaders = self._group_equal()
        if not leaders or self.stop_cause is not None:
            return
        self._schedule = Schedule(leaders)
        self._workers = min(settings.concurrency, len(leaders))
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._watch(settings.time_limit))
                for number in range(self._workers):
                    group.create_task(self._work(number))
        finally:
            for key in self._departed:
                self._flights.arrive(key, None)
            self._departed.clear()

    def _group_equal(self) -> list[int]:
        """The chunks to ask, the first of each set of equal ones; the others follow it."""
        leaders: dict[str, int] = {}
        for position, key in enumerate(self._keys):
            if not self._board.ended(position):
                leader = leaders.setdefault(key, position)
                if leader != position:
                    self._twins.setdefault(leader, []).append(position)
        return list(leaders.values())

    async def _watch(self, time_limit: float) -> None:
        """Wait for the end, the limit or a stop; after a stop, give the grace and cut off."""
        try:
            async with asyncio.timeout(time_limit):
                await self._over.wait()
        except TimeoutError:
            self.stop(StopCause.LIMIT)
        if self.stop_cause is None:
            return
        if self._questions:
            await asyncio.wait(list(self._questions.values()), timeout=GRACE_SECONDS)
        for question in self._questions.values():
            question.cancel()
        # A store that another process holds must not keep a stopped judgment from its end.
        self._commits_bounded = True
        soon = asyncio.get_running_loop().time() + COMMIT_SECONDS
        for bound in self._commits:
            bound.reschedule(soon)

    async def _work(self, number: int) -> None:
        try:
            if number >= 4:
                await asyncio.sleep(number // 4 * STAGGER_SECONDS)
            while (position := await self._schedule.take()) is not None:
                if await self._take_up(position):
                    self._schedule.finish()
        except LongjudgeError as error:
            self.failure = self.failure or error
            self.stop(StopCause.FATAL)
        finally:
            self._workers -= 1
            if not self._workers:
                self._over.set()

    async def _take_up(self, position: int) -> bool:
        """Do the next thing about a chunk; whether the schedule is done with it."""
        key = self._keys[position]
        if self._board.ended(position):
            return True
        if borrowed := self._borrowed.pop(position, None):
            await self._settle(position, borrowed, Usage(), 0.0, from_cache=True)
            return True
        if key not in self._departed:
            if flight := self._flights.depart(key):
                self._wait_for(position, flight)
                return False
            self._departed[key] = position
        question = build_question(self._board.session, self._board.plan, position, self._rubric)
        answer = await self._ask(position, question)
        if answer is None:
            return self._board.ended(position)
        return await self._understand(position, question, answer)

    def _wait_for(self, position: int, flight: Flight) -> None:
        """Let another judgment's answer bring the chunk back; it may come on any thread."""
        self._board.waiting(position)
        self._waiting.add(position)
        loop = asyncio.get_running_loop()

        def arrived(flight: Flight) -> None:
            # This judgment, and its loop with it, may be over by then.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(self._flight_arrived, position, flight.result())

        flight.add_done_callback(arrived)

    def _flight_arrived(self, position: int, kept: KeptVerdict | None) -> None:
        """Another judgment's question is over: take its verdict, or ask after all."""
        if position not in self._waiting:
            return
        self._waiting.discard(position)
        if kept is not None:
            self._borrowed[position] = kept
        else:
            self._board.queued(position)
        self._schedule.put_back(position)

    async def _ask(self, position: int, question: Question) -> Answer | None:
        """Send one question; None where no answer came and what follows is decided."""
        count = self._retries.setdefault(position, RetryCount())
        self._board.started(position)
        asked = asyncio.ensure_future(self._judge.ask(question, max_tokens=count.max_tokens))
        self._questions[position] = asked
        try:
            return await asked
        except AskError as error:
            self._board.spent.calls_without_reply += not error.replied
            self._no_answer(position, error, count)
        except asyncio.CancelledError:
            worker = asyncio.current_task()
            if worker is not None and worker.cancelling():
                if asked.done() and not asked.cancelled() and asked.exception() is None:
                    await self._keep_late(position, question, asked.result())
                raise
            self._board.spent.calls_without_reply += 1
            cut_off = self.stop_cause.value if self.stop_cause else GapReason.CANCELLED
            own = GapReason.CANCELLED if position in self._cancelled else cut_off
            self._end(position, own)
        finally:
            self._questions.pop(position, None)
            self._board.stopped(position)
        return None

    async def _keep_late(self, position: int, question: Question, answer: Answer) -> None:
        """The caller was cancelled in the moment the answer came: keep what is paid for."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(COMMIT_SECONDS):
                await self._understand(position, question, answer)

    def _no_answer(self, position: int, error: AskError, count: RetryCount) -> None:
        now = asyncio.get_running_loop().time()
        if position in self._cancelled:
            self._end(position, GapReason.CANCELLED, error.message)
            return
        if error.again is Again.END:
            self.fatal_error = self.fatal_error or error.message
            self.stop(StopCause.FATAL)
        wait = self._policy.next_wait(error, count, now)
        if wait is None:
            self._end(position, error.reason, error.message)
            return
        if error.again is Again.WHEN_TOLD:
            self._schedule.pause(now + wait)
        self._board.retrying(position, wait, error.message)
        self._schedule.put_back(position, now + wait)

    async def _understand(self, position: int, question: Question, answer: Answer) -> bool:
        """Read an answer that was paid for; whether the schedule is done with the chunk."""
        cost = cost_usd(self._judge.model, answer.usage)
        self._board.spent.add(answer.usage, cost)
        self._board.chunks[position].raw_reply = answer.text
        verdict = read_reply(answer, self._rubric)
        if isinstance(verdict, BadReply):
            return self._bad_reply(position, verdict)
        disagrees = (
            self._judge.judges_meaning
            and not verdict.flagged
            and has_problems(question.events, self._rubric.criterion_ids)
        )
        kept = KeptVerdict(verdict, answer.text, disagrees)
        await self._settle(position, kept, answer.usage, cost, from_cache=False)
        return True

    def _bad_reply(self, position: int, reply: BadReply) -> bool:
        count = self._retries[position]
        count.bad_replies += 1
        if position in self._cancelled:
            self._end(position, GapReason.CANCELLED, reply.detail)
        elif reply.reason is GapReason.REFUSED or count.bad_replies >= BAD_REPLIES:
            self._end(position, reply.reason, reply.detail)
        else:
            if reply.reason is GapReason.TRUNCATED:
                count.max_tokens = MORE_TOKENS
            self._board.retrying(position, 0.0, reply.detail)
            self._schedule.put_back(position)
            return False
        return True

    async def _settle(
        self,
        position: int,
        kept: KeptVerdict,
        usage: Usage,
        cost: float | None,
        *,
        from_cache: bool,
    ) -> None:
        """Commit a verdict, then show it, on the chunk and on those equal to it."""
        key = self._keys[position]
        judge, rubric = self._judge, self._rubric
        provenance = Provenance(
            judge.model, judge.endpoint, rubric.name, rubric.version, usage, cost
        )
        soon = asyncio.get_running_loop().time() + COMMIT_SECONDS
        bound = asyncio.timeout_at(soon if self._commits_bounded else None)
        self._commits.add(bound)
        stored = False
        try:
            async with bound:
                await self._store.keep(key, kept, provenance, replace=not from_cache)
        except StoreWriteError as error:
            self._not_kept(str(error))
        except TimeoutError:
            self._not_kept("the store did not take a verdict in time; another process holds it")
        else:
            stored = True
        finally:
            self._commits.discard(bound)
            # Also where the caller was cancelled: the verdict is paid for, and on its way.
            self._land(position, kept)
        if not self._board.ended(position):
            self._board.judged(position, kept, from_cache=from_cache, stored=stored)
        for twin in self._twins.pop(position, []):
            if not self._board.ended(twin):
                self._board.judged(twin, kept, from_cache=True, stored=stored)

    def _not_kept(self, problem: str) -> None:
        if self.store_error is None:
            self.store_error = problem
            self._listener(StoreFailed(problem))

    def _end(self, position: int, reason: GapReason, problem: str = "") -> None:
        """End a chunk as a gap, and decide about those equal to it.

        A chunk cancelled by itself passes its place on; what went wrong with the question itself
        would go wrong for its twins; a stop leaves them to be skipped.
        """
        self._board.gap(position, reason, problem)
        self._land(position, None)
        twins = [twin for twin in self._twins.pop(position, []) if not self._board.ended(twin)]
        if not twins or self.stop_cause is not None:
            return
        if position in self._cancelled:
            heir, *others = twins
            self._twins[heir] = others
            self._schedule.add(heir)
        else:
            for twin in twins:
                self._board.gap(twin, reason, problem)

    def _land(self, position: int, kept: KeptVerdict | None) -> None:
        key = self._keys[position]
        # An equal chunk that only follows has no flight of its own to end.
        if self._departed.get(key) == position:
            del self._departed[key]
            self._flights.arrive(key, kept)
