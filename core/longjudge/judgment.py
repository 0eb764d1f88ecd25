"""One rubric over one session by one judge: from the plan to the result, for every ending.

What the store holds is settled before the first question; the rest is asked by bounded workers
under one deadline (`asking.py`); and whatever ended it, the result says what is missing and why.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from longjudge.asking import Asking, StopCause
from longjudge.board import Board, Ending, make_result, not_applicable
from longjudge.chunks import plan_chunks
from longjudge.errors import StoreError
from longjudge.estimate import Estimator
from longjudge.factors import TokenWatch
from longjudge.flights import FLIGHTS
from longjudge.ids import judgment_id
from longjudge.keys import KeyMaker
from longjudge.prices import price_of_run
from longjudge.rubric import Skip
from longjudge.settings import Settings
from longjudge.states import GapReason
from longjudge.store import PastJudgment, StoreWriteError, learn_tokens, real_path, token_factor
from longjudge.turns import Turns
from longjudge.updates import JudgmentEnded, ignore_updates

if TYPE_CHECKING:
    from collections.abc import Mapping

    from longjudge.board import ChunkRecord
    from longjudge.budget import Budget
    from longjudge.factors import ObservedFactor
    from longjudge.judges.base import Judge
    from longjudge.prices import Usage
    from longjudge.result import Result, ResultFinding
    from longjudge.rubric import Rubric
    from longjudge.sessions.model import Session
    from longjudge.store import Store
    from longjudge.updates import Listener

LEARN_SECONDS = 1.0
"""How long a judgment that is over may wait for the store to take what it learned about tokens."""


class Judgment:
    """One run. `board` may be read at any time; `run` is called once.

    `blocked` says why no question may be sent at all
    (the endpoint refused another session): the store's verdicts are used and everything else is
    skipped.

    With `fresh` every chunk is asked whatever the store holds, and the new verdict replaces the
    kept one. `budget` is shared by all judgments that are given it. `only` names the positions to
    ask (from 0; chunks equal to them are asked with them, and with `fresh` no other chunk is): any
    other chunk that the store cannot answer ends as `earlier` has it, else as skipped.

    Raises:
        RubricError: the judge cannot answer a criterion.
        UsageError: the budget limits the cost, and the judge's price is unknown.
    """

    def __init__(
        self,
        session: Session,
        *,
        rubric: Rubric,
        judge: Judge,
        store: Store,
        settings: Settings | None = None,
        estimator: Estimator | None = None,
        listener: Listener = ignore_updates,
        blocked: str | None = None,
        fresh: bool = False,
        budget: Budget | None = None,
        only: frozenset[int] | None = None,
        earlier: Mapping[int, ChunkRecord] | None = None,
    ) -> None:
        judge.check_rubric(rubric)
        if budget is not None:
            budget.check_judge(judge)
        self.id = judgment_id()
        self.session = session
        self.rubric = rubric
        self.judge = judge
        self.settings = settings or Settings()
        self.budget = budget
        self.plan = plan_chunks(
            session.index, self.settings.chunk_chars, self.settings.chunk_tokens
        )
        redact = self.settings.redact
        self.board = Board(session, self.plan, listener, redacted=redact)
        self._keys: list[str] = []
        self._store = store
        self._listener = listener
        self._estimator = estimator
        self._blocked = blocked
        self._fresh = fresh
        self._only = only
        self._earlier = earlier or {}
        self._stayed: set[int] = set()
        self._watch = TokenWatch()
        self._asking = Asking(
            self.board,
            keys=self._keys,
            rubric=rubric,
            judge=judge,
            store=store,
            flights=FLIGHTS,
            listener=listener,
            concurrency=self.settings.concurrency,
            budget=budget,
            upper_price=self._upper_price,
            answered=self._answered,
            fresh=fresh,
            redact=redact,
        )

    @property
    def fatal_error(self) -> str | None:
        """Why the endpoint will answer nobody, None where it may."""
        return self._blocked or self._asking.fatal_error

    @property
    def failure(self) -> str | None:
        """What kept questions from being made (the session changed), None where nothing did."""
        return str(self._asking.failure) if self._asking.failure else None

    @property
    def store_error(self) -> str | None:
        """Why nothing is kept, None while everything is."""
        return self._asking.store_error

    @property
    def stopping(self) -> bool:
        """Whether a limit, a cancel or a fatal error has begun to end it."""
        return self._asking.stop_cause is not None

    @property
    def budget_ended(self) -> bool:
        """Whether the budget kept chunks from being asked."""
        return self._asking.budget_ended

    @property
    def concurrency(self) -> int:
        """How many questions may be in flight."""
        return self.settings.concurrency

    def set_concurrency(self, concurrency: int) -> None:
        """Let another number of questions be in flight, at once.

        More are sent as soon as they may; surplus ones are awaited and not followed by others.

        Raises:
            UsageError: out of range.
        """
        self.settings = replace(self.settings, concurrency=concurrency)
        self._asking.set_concurrency(concurrency)

    def ask_again(self, part: int) -> bool:
        """Ask about a gap (a part, from 1) once more, and about the gaps equal to it.

        False where the part is no gap, or where nothing is asked any more: the judgment is being
        stopped or over, or its budget has ended.
        """
        opened = self._asking.ask_again(part - 1)
        self._stayed.difference_update(opened)
        return bool(opened)

    def cancel(self) -> None:
        """End the whole judgment; safe to call at any time, and again."""
        self._asking.stop(StopCause.CANCEL)

    def cancel_part(self, part: int) -> bool:
        """End one chunk (from 1) as a gap; False where it has ended already."""
        return self._asking.cancel(part - 1)

    async def run(self) -> Result:
        """Judge until every chunk has ended, and return what is known then.

        A session that changes meanwhile ends it early: the result has the gaps, and says why in
        `error`.

        Raises:
            CredentialError: a chunk has to be asked and there is nothing to authenticate with.
            SessionError: the session had changed before anything was asked.
            StoreError: the store cannot be read.
        """
        started = time.monotonic()
        if self.rubric.skip is Skip.NO_TOOL_CALL and not self.session.index.tool_calls:
            result = not_applicable(
                self.session, self._ending(started), redacted=self.settings.redact
            )
        else:
            # While the file is what it was: a change later on must not cost the result.
            self._measured()
            with FLIGHTS.judging():
                await self._settle_kept()
                self._watch = TokenWatch(await self._known_factor())
                try:
                    if self._blocked is None:
                        await self._asking.run(self.settings.time_limit)
                finally:
                    self._asking.close()
            await self._end_the_rest()
            tokens = self._tokens()
            result = make_result(self.board, tokens, self._ending(started))
        result = await self._record(result)
        self._listener(JudgmentEnded(result))
        return result

    async def _settle_kept(self) -> None:
        """Compute the keys and settle every chunk that is not to be asked."""
        turns = Turns()
        maker = KeyMaker(self.judge, self.rubric, redactor=self.settings.redactor)
        for key in maker.keys(self.plan):
            self._keys.append(key)
            await turns.give()
        named = self._named_keys()
        anew = named if self._fresh else frozenset[str]()
        kept = await self._store.kept([key for key in self._keys if key not in anew])
        for position, key in enumerate(self._keys):
            if self.board.ended(position):
                continue
            if key in kept:
                if kept[key].verdict.flagged:
                    await self._asking.bring_near(position)
                self.board.judged(position, kept[key], from_cache=True)
            elif key not in named:
                self._stayed.add(position)
                self.board.stays(position, self._earlier.get(position))
            await turns.give()

    def _named_keys(self) -> frozenset[str]:
        """The keys of the chunks that this run is about."""
        if self._only is None:
            return frozenset(self._keys)
        return frozenset(self._keys[i] for i in self._only if 0 <= i < len(self._keys))

    async def _end_the_rest(self) -> None:
        """What has not ended was asked and cut off, or was never asked."""
        cause, turns = self._asking.stop_cause, Turns()
        for position, record in enumerate(self.board.chunks):
            if not record.state.ended:
                asked = record.attempts and cause is not None
                reason = cause.value if cause and asked else GapReason.SKIPPED
                self.board.gap(position, reason)
                await turns.give()

    def _measured(self) -> Estimator:
        if self._estimator is None:
            judge = self.judge
            self._estimator = Estimator.of(self.session, self.rubric, judge.model, judge.price)
        return self._estimator

    def _upper_price(self, position: int, max_tokens: int) -> float | None:
        """The most that a question about a chunk may cost; nothing where no cost is limited."""
        if self.budget is None or self.budget.max_cost is None:
            return None
        factor = self._watch.dearer_by
        return self._measured().upper_price(self.plan, position, max_tokens, factor)

    async def _known_factor(self) -> ObservedFactor | None:
        """What was seen of the model's tokens before, where anything goes by it."""
        if self.budget is None or self.budget.max_cost is None:
            return None
        with contextlib.suppress(StoreError):
            return await token_factor(self._store, self.judge.model, self.session.format)
        return None

    def _answered(self, position: int, usage: Usage) -> None:
        if self.judge.judges_meaning:
            self._watch.see(usage, self._measured().chunk(self.plan, position).tokens)

    async def _learn(self) -> None:
        """Keep what the answers taught about tokens; where that fails, nobody is the worse."""
        if not self._watch.ratios or self.store_error is not None:
            return
        model, format = self.judge.model, self.session.format
        with contextlib.suppress(StoreError, TimeoutError):
            async with asyncio.timeout(LEARN_SECONDS):
                await learn_tokens(self._store, model, format, self._watch.ratios)

    def _tokens(self) -> list[int]:
        expected, _, _ = self._measured().chunks(self.plan)
        return expected

    def _ending(self, started: float) -> Ending:
        cause = self._asking.stop_cause
        # A stop that found every chunk ended by itself has ended nothing.
        stop_gaps = {cause.value if cause else None}
        if not self.budget_ended:
            stop_gaps.add(GapReason.SKIPPED)
        cut_short = any(
            record.reason in stop_gaps and position not in self._stayed
            for position, record in enumerate(self.board.chunks)
        )
        return Ending(
            id=self.id,
            model=self.judge.model,
            rubric_name=self.rubric.name,
            rubric_version=self.rubric.version,
            criteria=self.rubric.criterion_ids,
            settings=self.settings.to_dict(),
            time_limit=self.settings.time_limit,
            limit_reached=cause is StopCause.LIMIT and cut_short,
            cancelled=cause is StopCause.CANCEL and cut_short,
            store_error=self.store_error,
            error=self.failure or self.fatal_error,
            seconds=time.monotonic() - started,
            price=price_of_run(self.judge.model, self.judge.price),
        )

    async def _record(self, result: Result) -> Result:
        past = PastJudgment(
            id=result.id,
            path=self.session.name,
            real_path=real_path(self.session.path),
            session_id=self.session.id,
            rubric=self.rubric.name,
            rubric_version=self.rubric.version,
            model=result.model,
            status=result.status.value,
            created=time.time(),
            result=result.to_dict(),
            digests=tuple(self._digest(finding) for finding in result.findings),
            gaps=self.board.gap_replies(),
        )
        try:
            await self._store.record_judgment(past)
        except StoreWriteError as error:
            if result.store_error is None:
                return replace(result, store_error=str(error))
        else:
            await self._learn()
        return result

    def _digest(self, finding: ResultFinding) -> str:
        """What a mark on the finding goes by: the event's text, else the chunk's."""
        if finding.event is None:
            return self.plan.digest(finding.part - 1).hex()
        return self.session.index.digest(finding.event).hex()
