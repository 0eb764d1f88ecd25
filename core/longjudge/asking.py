"""The workers of one judgment: they take a chunk, ask once, and decide what follows.

A worker that has an answer always commits it. Equal chunks follow the first of them; a chunk that
another judgment is asking, in this process or in another, waits for that answer and holds no worker
meanwhile. A budget that has no room for the next question ends what is not in flight, and nothing
else.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from typing import TYPE_CHECKING

from longjudge.answers import understand
from longjudge.budget import Purse
from longjudge.calls import Calls, InHand
from longjudge.crew import Crew
from longjudge.equals import Equals
from longjudge.errors import LongjudgeError, SessionError
from longjudge.gaps import Gaps
from longjudge.huge import HugeTexts
from longjudge.judges.base import Again, AskError
from longjudge.judges.reply import BadReply, bounded_reply
from longjudge.keeping import COMMIT_SECONDS, Keeper
from longjudge.leases import Leases
from longjudge.pauses import PAUSES, Waits
from longjudge.pausing import Pausing
from longjudge.prompt import build_question
from longjudge.redaction import NO_REDACTOR, REDACTOR_VERSION
from longjudge.reopening import Reopening
from longjudge.retries import MAX_TOKENS, RetryCount, RetryPolicy
from longjudge.schedule import Schedule
from longjudge.settling import Settling
from longjudge.sharing import Sharing
from longjudge.states import ChunkState, GapReason, StopCause
from longjudge.updates import AskedBy, Paused, Stopping

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from longjudge.board import Board
    from longjudge.budget import Budget
    from longjudge.flights import Flights
    from longjudge.judges.base import Answer, Judge, Question
    from longjudge.pauses import Pause
    from longjudge.rubric import Rubric
    from longjudge.store import KeptVerdict, Store
    from longjudge.updates import Listener

GRACE_SECONDS = 1.0
"""How long answers on their way may still arrive after a stop."""


class Asking:
    """Asks about the chunks of a board that the store could not answer; `keeper` keeps verdicts.

    `holder` is the judgment's id, under which leases are taken.
    `upper_price(position, max_tokens)` is the most that a question may cost, for the budget. With
    `fresh` only answers to questions that are on their way, or still to come, count; with `redact`
    they hold no secret.
    """

    def __init__(
        self,
        board: Board,
        *,
        keys: Sequence[str],
        holder: str,
        rubric: Rubric,
        judge: Judge,
        store: Store,
        flights: Flights,
        listener: Listener,
        concurrency: int,
        budget: Budget | None = None,
        upper_price: Callable[[int, int], float | None] = lambda position, max_tokens: None,
        fresh: bool = False,
        redact: bool = True,
    ) -> None:
        self.stop_cause: StopCause | None = None
        self.fatal_error: str | None = None
        self.failure: LongjudgeError | None = None
        self._board = board
        self._keys = keys
        self._rubric = rubric
        self._judge = judge
        self._redact = redact
        self._huge = HugeTexts(board.session, board.plan, redact=redact)
        redactor = REDACTOR_VERSION if redact else NO_REDACTOR
        self.keeper = Keeper(store, judge, rubric, redactor, listener, judgment=holder)
        self._purse = Purse(budget, upper_price)
        self._calls = Calls(judge, board, self._purse, self._keep_late)
        name = board.session.name
        self.leases = Leases(
            store,
            keys,
            holder=holder,
            doing=f"judging {name} by {rubric.name} with {judge.label}",
            detail=lambda position: f"part {position + 1} of {name}",
            over=self._came_elsewhere,
            named=lambda position, who: listener(AskedBy(position + 1, who)),
            offer=self.keeper.keep_refused,
        )
        self._sharing = Sharing(
            keys, flights, self.leases, self._wait_is_over, fresh=fresh, alone=self._calls.unsent
        )
        self._listener = listener
        self._over = asyncio.Event()
        self._waits = Waits(PAUSES, judge.endpoint)
        self._schedule = Schedule(pause=self._waits.current)
        self._equals = Equals(keys)
        self._settling = Settling(board, keys, self.keeper, self._sharing, self._equals)
        self._gaps = Gaps(
            board,
            self._schedule,
            self._sharing,
            self._equals,
            lambda: self.stop_cause is not None,
            listener,
        )
        self._retries: dict[int, RetryCount] = {}
        self.pausing = Pausing(board, self._schedule, self._sharing, self._retries, listener)
        self._policy = RetryPolicy()
        self._crew = Crew(self._work, concurrency, left=self._over.set)
        self._reopening = Reopening(
            board,
            self._schedule,
            self._equals,
            self._gaps,
            self._crew,
            lambda position: self._retries.pop(position, None),
        )

    @property
    def store_error(self) -> str | None:
        """What is not kept and why, None while everything is."""
        return self.keeper.store_error

    @property
    def budget_ended(self) -> bool:
        """Whether the budget kept chunks from being asked."""
        return self._gaps.budget_ended

    @property
    def in_hand(self) -> InHand:
        """What it has in hand now."""
        return InHand(len(self._calls), len(self._settling.under_way), self.leases.left)

    def count_from(self, moment: float) -> None:
        """Let no verdict from before a moment (seconds since 1970) count, whoever gave it."""
        self.leases.since = self._settling.since = moment

    def stop(self, cause: StopCause) -> None:
        """Start nothing new; the first cause counts, and a later call changes nothing."""
        if self.stop_cause is None and not self._over.is_set():
            self.stop_cause = cause
            self.pausing.end()
            self._schedule.close()
            self._over.set()
            self._listener(Stopping(cause.name.lower()))

    def cancel(self, position: int) -> bool:
        """End one chunk as a gap; False where it has ended already, or its verdict is here."""
        if not self._is_known(position) or self._board.ended(position):
            return False
        if position in self._settling.under_way:
            return False
        self._gaps.cancelled.add(position)
        in_flight = self._calls.cut_off(position)
        if not in_flight and self._board.chunks[position].state is not ChunkState.RUNNING:
            if self._sharing.leave(position):
                self._schedule.finish()
            else:
                self._schedule.discard(position)
            self._gaps.end(position, GapReason.CANCELLED)
        return True

    def ask_again(self, position: int) -> list[int]:
        """Ask about a gap once more, and about the gaps equal to it; those that open again.

        None of them where the chunk is no gap, or no question can follow any more.
        """
        if self._over.is_set() or self.budget_ended or not self._is_known(position):
            return []
        return self._reopening.ask_again(position)

    def set_concurrency(self, concurrency: int) -> None:
        """Start more workers at once, or let surplus ones leave after their current call."""
        self._crew.concurrency = concurrency
        if not self._over.is_set():
            self._crew.fill_up(len(self._schedule))
        self._schedule.wake()

    async def bring_near(self, position: int) -> None:
        """Return once a huge text of the chunk can be had at once, if at all."""
        with contextlib.suppress(SessionError):
            await self._huge.bring(position)

    def close(self) -> None:
        """Ask about nothing any more; called when whatever was to be asked has been."""
        self.pausing.end()
        self._over.set()

    async def run(self, time_limit: float) -> None:
        """Ask until every chunk has ended or a stop is through.

        `failure` says then what kept a question from being made: a session that changed, or a
        judge without a credential, for which alone this raises.

        Raises:
            CredentialError: there is nothing to authenticate with; nothing was asked.
        """
        first = next(iter(self._open_chunks()), None)
        if first is None or self.stop_cause is not None:
            return
        if self._purse.refuses(first, MAX_TOKENS):
            self._gaps.stop_at_budget()
            return
        await self._judge.prepare()
        # What was cancelled meanwhile leads no others.
        leaders = [position for position in self._open_chunks() if self._equals.join(position)]
        if not leaders or self.stop_cause is not None:
            return
        self._schedule.fill(leaders)
        try:
            async with self.leases.at_work():
                await self._let_work(time_limit, len(leaders))
                await self.keeper.keep_refused()
        finally:
            self._sharing.end()
            await self.leases.aclose()

    async def _let_work(self, time_limit: float, leaders: int) -> None:
        with self._waits.heard(self._paused):
            async with asyncio.TaskGroup() as group:
                self._crew.begin(group, leaders)
                try:
                    await self._watch(time_limit)
                finally:
                    # Before the group winds up, which takes nobody on any more.
                    self._crew.end()

    def _paused(self, pause: Pause) -> None:
        if self.stop_cause is None and not self._over.is_set():
            self._listener(Paused(pause.left, pause.note))

    def _is_known(self, position: int) -> bool:
        return 0 <= position < len(self._keys)

    def _open_chunks(self) -> Iterator[int]:
        return (i for i in range(len(self._keys)) if not self._board.ended(i))

    async def _watch(self, time_limit: float) -> None:
        """Wait for the end, the limit or a stop; after a stop, give the grace and cut off."""
        try:
            async with self.pausing.limited(time_limit):
                await self._over.wait()
        except TimeoutError:
            self.stop(StopCause.LIMIT)
        if self.stop_cause is None:
            return
        await self._calls.wind_up(GRACE_SECONDS)
        # A store that another process holds must not keep a stopped judgment from its end.
        self.keeper.bound()
        self.leases.bound()

    async def _work(self) -> None:
        try:
            while (position := await self._schedule.take(self._crew.wanted)) is not None:
                if await self._take_up(position):
                    self._schedule.finish()
        except LongjudgeError as error:
            self.failure = self.failure or error
            self.stop(StopCause.FATAL)

    async def _take_up(self, position: int) -> bool:
        """Do the next thing about a chunk; whether the schedule is done with it."""
        given_up = self._gaps.given_up(position)
        await self._huge.bring(position)
        if given_up():
            return True
        if borrowed := self._sharing.take(position):
            await self._settling.settle_borrowed(position, borrowed)
            return True
        if self.stop_cause is not None:
            return True
        if not await self._sharing.take_on(position, given_up):
            self._board.waiting(position)
            return False
        if borrowed := self._sharing.take(position):
            await self._settling.settle_borrowed(position, borrowed)
            return True
        await self._calls.pace.turn()
        if given_up() or self.stop_cause is not None:
            return True
        if self.pausing.keeps_back(position):
            return False
        board = self._board
        question = build_question(
            board.session, board.plan, position, self._rubric, redact=self._redact
        )
        count = self._retries.setdefault(position, RetryCount())
        reservation = self._purse.reserve(position, count.max_tokens, self._schedule.wake)
        if reservation is None:
            if self._purse.is_empty:
                self._gaps.end_unasked(position)
                return True
            # What is on its way may cost less than it was taken for.
            self._schedule.hold(position)
            return False
        try:
            answer = await self._calls.ask(position, question, count.max_tokens, reservation)
        except AskError as error:
            return self._no_answer(position, error)
        if answer is None:
            cut_off = self.stop_cause.value if self.stop_cause else GapReason.CANCELLED
            cancelled = position in self._gaps.cancelled
            self._gaps.end(position, GapReason.CANCELLED if cancelled else cut_off)
            return True
        return await self._understand(position, question, answer)

    def _came_elsewhere(self, position: int, kept: KeptVerdict | None) -> None:
        self._sharing.came_elsewhere(position, kept)

    def _wait_is_over(self, position: int, answered: bool) -> None:
        """Another judgment's question is over: take its verdict, or ask after all."""
        self._schedule.put_back(position)
        # In a pause neither comes soon, and nobody in this process may wait for it meanwhile.
        if self.pausing.let_go(position) or not answered:
            self._board.queued(position)

    async def _keep_late(self, position: int, question: Question, answer: Answer) -> None:
        """The caller was cancelled in the moment the answer came: keep what is paid for."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(COMMIT_SECONDS):
                await self._understand(position, question, answer)

    def _no_answer(self, position: int, error: AskError) -> bool:
        """Ask again later or give up; whether the schedule is done with the chunk."""
        count = self._retries[position]
        wait = self._policy.next_wait(error, count, time.monotonic())
        if error.again is Again.WHEN_TOLD:
            self._waits.order(wait or error.wait or 0.0, error.message, forced=error.forced)
        if position in self._gaps.cancelled:
            self._gaps.end(position, GapReason.CANCELLED, error.message)
            return True
        if error.again is Again.NEVER and count.cut_off:
            # The larger cap is what the model does not take; the cut reply stays what came of it.
            problem = f"the reply was cut off, and a larger cap was refused: {error.message}"
            self._gaps.end(position, GapReason.TRUNCATED, problem)
            return True
        if error.again is Again.END or (wait is None and error.fatal):
            self.fatal_error = self.fatal_error or error.message
            self.stop(StopCause.FATAL)
        if wait is None:
            self._gaps.end(position, error.reason, error.message)
            return True
        return self._again(position, wait, error.reason, error.message)

    def _again(self, position: int, wait: float, reason: GapReason, problem: str) -> bool:
        """Put the chunk back where the budget lets it be asked once more; else it ends, True."""
        self._gaps.trouble(position, reason, problem)
        stopping = self.stop_cause is not None
        if not stopping and self._purse.refuses(position, self._retries[position].max_tokens):
            self._gaps.end_unasked(position)
            return True
        # First put back, then told: a listener may cancel the chunk at once.
        self._schedule.put_back(position, time.monotonic() + wait)
        self.pausing.let_go(position)
        self._board.retrying(position, wait, reason, problem)
        return False

    async def _understand(self, position: int, question: Question, answer: Answer) -> bool:
        """Read an answer that was paid for; whether the schedule is done with the chunk."""
        cost = self._calls.cost(answer)
        self._board.answered(position, answer.usage, cost)
        self._board.chunks[position].raw_reply = bounded_reply(answer.text)
        kept = understand(self._judge, question, answer)
        if isinstance(kept, BadReply):
            await self.keeper.note_cost(cost)
            return self._bad_reply(position, kept)
        self._retries.pop(position, None)
        await self._settling.settle(position, kept, answer.usage, cost, from_cache=False)
        return True

    def _bad_reply(self, position: int, reply: BadReply) -> bool:
        cancelled = position in self._gaps.cancelled
        if not cancelled and self._retries[position].asks_again(reply.reason):
            return self._again(position, 0.0, reply.reason, reply.detail)
        self._gaps.end(position, GapReason.CANCELLED if cancelled else reply.reason, reply.detail)
        return True
