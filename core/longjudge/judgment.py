"""One rubric over one session by one judge: from the plan to the result, for every ending.

What the store holds is settled before the first question; the rest is asked by bounded workers
under one deadline (`asking.py`); and whatever ended it, the result says what is missing and why.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from longjudge.asking import Asking, StopCause
from longjudge.board import Board, Ending, make_result, not_applicable
from longjudge.chunks import plan_chunks
from longjudge.estimate import Estimator
from longjudge.flights import FLIGHTS
from longjudge.ids import judgment_id
from longjudge.keys import KeyMaker
from longjudge.rubric import Skip
from longjudge.settings import Settings
from longjudge.states import GapReason
from longjudge.store import StoreWriteError
from longjudge.updates import JudgmentEnded, ignore_updates

if TYPE_CHECKING:
    from longjudge.judges.base import Judge
    from longjudge.result import Result
    from longjudge.rubric import Rubric
    from longjudge.sessions.model import Session
    from longjudge.store import Store
    from longjudge.updates import Listener

SLICE = 50
"""Chunks settled from the store before the loop gets a turn."""


class Judgment:
    """One run. `board` may be read at any time; `run` is called once.

    `blocked` says why no question may be sent at all
    (the endpoint refused another session): the store's verdicts are used and everything else is
    skipped.
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
    ) -> None:
        judge.check_rubric(rubric)
        self.id = judgment_id()
        self.session = session
        self.rubric = rubric
        self.judge = judge
        self.settings = settings or Settings()
        self.plan = plan_chunks(session.index, self.settings.chunk_chars)
        self.board = Board(session, self.plan, listener)
        self._keys: list[str] = []
        self._store = store
        self._listener = listener
        self._estimator = estimator
        self._blocked = blocked
        self._asking = Asking(
            self.board,
            keys=self._keys,
            rubric=rubric,
            judge=judge,
            store=store,
            flights=FLIGHTS,
            listener=listener,
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
            StoreError: the store cannot be read.
        """
        started = time.monotonic()
        if self.rubric.skip is Skip.NO_TOOL_CALL and not self.session.index.tool_calls:
            result = not_applicable(self.session, self._ending(started))
        else:
            with FLIGHTS.judging():
                await self._settle_kept()
                if self._blocked is None:
                    await self._asking.run(self.settings)
            await self._end_the_rest()
            tokens = self._tokens()
            result = make_result(self.board, tokens, self._ending(started))
        result = await self._record(result)
        self._listener(JudgmentEnded(result))
        return result

    async def _settle_kept(self) -> None:
        """Compute the keys and settle every chunk whose verdict the store holds."""
        maker = KeyMaker(self.judge, self.rubric)
        for position in range(len(self.plan)):
            self._keys.append(maker.key(self.plan.digest(position)))
            await _breathe(position)
        kept = await self._store.kept(self._keys)
        for position, key in enumerate(self._keys):
            if key in kept:
                if not self.board.ended(position):
                    self.board.judged(position, kept[key], from_cache=True)
                await _breathe(position)

    async def _end_the_rest(self) -> None:
        """What has not ended was asked and cut off, or was never asked."""
        cause = self._asking.stop_cause
        for position, record in enumerate(self.board.chunks):
            if not record.state.ended:
                asked = record.attempts and cause is not None
                reason = cause.value if cause and asked else GapReason.SKIPPED
                self.board.gap(position, reason)
                await _breathe(position)

    def _tokens(self) -> list[int]:
        estimator = self._estimator or Estimator.of(self.session, self.rubric, self.judge.model)
        return [estimator.chunk(self.plan, i).tokens for i in range(len(self.plan))]

    def _ending(self, started: float) -> Ending:
        cause = self._asking.stop_cause
        # A stop that found every chunk ended by itself has ended nothing.
        stop_gaps = {GapReason.SKIPPED, cause.value if cause else None}
        cut_short = any(record.reason in stop_gaps for record in self.board.chunks)
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
        )

    async def _record(self, result: Result) -> Result:
        row = (
            result.id,
            self.session.name,
            self.session.id,
            self.rubric.name,
            self.rubric.version,
            result.model,
            result.status.value,
        )
        try:
            await self._store.record_judgment(result.to_dict(), row)
        except StoreWriteError as error:
            if result.store_error is None:
                return replace(result, store_error=str(error))
        return result


async def _breathe(position: int) -> None:
    """Give the loop a turn now and then in a long stretch of settling."""
    if position % SLICE == SLICE - 1:
        await asyncio.sleep(0)
