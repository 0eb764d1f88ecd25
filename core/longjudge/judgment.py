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

from longjudge.batch_asking import BatchAsking
from longjudge.batch_pace import DAY
from longjudge.batched import counted_answers, settle_batched
from longjudge.board import Board, Ending, make_result, not_applicable
from longjudge.chunks import plan_chunks
from longjudge.errors import StoreError, UsageError
from longjudge.estimate import Estimator
from longjudge.factors import TokenWatch
from longjudge.flights import FLIGHTS
from longjudge.ids import judgment_id
from longjudge.judges.faulty import FaultyJudge
from longjudge.keys import KeyMaker
from longjudge.prices import price_of_run
from longjudge.prompt import chunk_tag
from longjudge.recording import Recording, note_rubric_used
from longjudge.redaction import find_secrets
from longjudge.rubric import Skip
from longjudge.settings import Settings
from longjudge.states import ChunkState, GapReason, StopCause
from longjudge.steering import Steering
from longjudge.store import learn_tokens, token_factor
from longjudge.turns import Turns
from longjudge.updates import JudgmentEnded, ignore_updates

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from longjudge.batched import Batched
    from longjudge.batches.queue import BatchQueue
    from longjudge.board import ChunkRecord
    from longjudge.budget import Budget
    from longjudge.factors import ObservedFactor
    from longjudge.faults import Fault
    from longjudge.judges.base import Judge
    from longjudge.prices import Usage
    from longjudge.result import Result
    from longjudge.rubric import Rubric
    from longjudge.sessions.model import Session
    from longjudge.store import Store
    from longjudge.updates import Listener

LOOKED_UP = 1_000
"""Keys looked up in the store at once, before the loop has its turn."""

LEARN_SECONDS = 1.0
"""How long a judgment that is over may wait for the store to take what it learned about tokens."""


class Judgment(Steering):
    """One run. `board` may be read at any time; `run` is called once.

    `blocked` says why no question may be sent at all
    (the endpoint refused another session): the store's verdicts are used and everything else is
    skipped.

    With `fresh` every chunk is asked whatever the store holds, and the new verdict replaces the
    kept one. `budget` is shared by all judgments that are given it. `only` names the positions to
    ask (from 0; chunks equal to them are asked with them, and with `fresh` no other chunk is): any
    other chunk that the store cannot answer ends as `earlier` has it, else as skipped. What such
    chunks are asked anew in vain keeps the verdict that it had, in the store or by `earlier`.

    Where it is not `recorded` the verdicts are kept as ever, and no past judgment tells of it: one
    chunk tried is no judgment of its session. With `once`, one that asked nothing and says what is
    recorded already (see `told_already`) is not recorded either: its result has the id of that one.

    With a `queue` what is not asked yet can be moved into batches, and back; with `as_batch` all of
    it goes there from the beginning, and nothing is asked live.

    With `batched` nothing is asked here: what its questions came to in batches is told.

    With `fault` failures are forced in front of the judge and the store, which are what they are
    to everything else.

    Raises:
        RubricError: the judge cannot answer a criterion.
        UsageError: the budget limits the cost, and the judge's price is unknown; or only the
            first events of the session were read.
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
        fault: Fault | None = None,
        recorded: bool = True,
        once: bool = False,
        batched: Batched | None = None,
        queue: BatchQueue | None = None,
        as_batch: bool = False,
    ) -> None:
        if session.partial:
            raise UsageError("only the first events of the session were read; read all of it first")
        judge.check_rubric(rubric)
        if budget is not None:
            budget.check_judge(judge)
        self.id = batched.judgment if batched is not None else judgment_id()
        self.session = session
        self.rubric = rubric
        self.fault = fault
        judge = judge if fault is None else FaultyJudge(judge, fault, self._to_ask)
        self.judge = judge
        self.settings = settings or Settings()
        self.budget = budget
        self.plan = plan_chunks(
            session.index, self.settings.chunk_chars, self.settings.chunk_tokens
        )
        redact = self.settings.redact
        self.board = Board(session, self.plan, listener, redacted=redact, answered=self._answered)
        self._keys: list[str] = []
        self._store = store
        self._listener = listener
        self._estimator = estimator
        self._blocked = blocked
        self._fresh = fresh
        self._only = only
        self._recorded = recorded
        self._once = once
        self._batched = batched
        self._earlier = earlier or {}
        self._stayed: set[int] = set()
        self._watch = TokenWatch()
        self._as_batch = as_batch
        self._asking = BatchAsking(
            self.board,
            keys=self._keys,
            holder=self.id,
            rubric=rubric,
            judge=judge,
            store=store,
            flights=FLIGHTS,
            listener=listener,
            concurrency=self.settings.concurrency,
            budget=budget,
            upper_price=self._upper_price,
            fresh=fresh,
            redact=redact,
        )
        if queue is not None:
            limit = self.settings.time_limit if as_batch else DAY
            self._asking.attach(queue, store, holder=self.id, time_limit=limit, alone=as_batch)

    @property
    def fatal_error(self) -> str | None:
        """Why the endpoint will answer nobody, None where it may."""
        return self._blocked or self._asking.fatal_error

    @property
    def failure(self) -> str | None:
        """What kept questions from being made (the session changed), None where nothing did."""
        return str(self._asking.failure) if self._asking.failure else None

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

    async def run(self) -> Result:
        """Judge until every chunk has ended, and return what is known then.

        A session that changes meanwhile ends it early: the result has the gaps, and says why in
        `error`.

        Raises:
            CredentialError: a chunk has to be asked and there is nothing to authenticate with.
            SessionError: the session had changed before anything was asked.
            StoreError: the store cannot be read.
        """
        started = time.monotonic() - self.paused_seconds
        started -= self._batched.seconds if self._batched else 0.0
        if self.fault is None or not self.fault.fills_whole_disk:
            await note_rubric_used(self._store, self.rubric)
        if self.rubric.skip is Skip.NO_TOOL_CALL and not self.session.index.tool_calls:
            self._asking.close()
            result = not_applicable(
                self.session, self._ending(started), redacted=self.settings.redact
            )
        else:
            # While the file is what it was: a change later on must not cost the result.
            await asyncio.to_thread(self._get_ready)
            with FLIGHTS.judging():
                try:
                    self._watch = TokenWatch(await self._known_factor())
                    await self._settle_kept()
                    if self._batched is not None:
                        if self._batched.stop is not None:
                            self._asking.stop(self._batched.stop)
                    elif self._blocked is None:
                        await self._asking.run(self.settings.time_limit)
                finally:
                    self._asking.close()
            await self._end_the_rest()
            await self._asking.keeper.keep_refused()
            # Nothing changes any more, and tens of thousands of parts take long.
            result = await asyncio.to_thread(self._result, started)
        if self._recorded:
            forced = self.fault is not None and self.fault.fills_whole_disk
            untold = self._once and not result.calls and self.fault is None
            batched = counted_answers(self.board, self._keys)
            recording = Recording(self._store, self.board, self.rubric, self.store_error, batched)
            result, taken = await recording.record(result, forced=forced, once=untold)
            if taken:
                await self._learn()
        self._listener(JudgmentEnded(result))
        return result

    async def _settle_kept(self) -> None:
        """Compute the keys and settle every chunk that is not to be asked."""
        # What was paid for before is not asked again, be there room for it by now or not.
        await self._asking.keeper.keep_refused(everything=True)
        if self._fresh:
            self._asking.count_from(time.time())
        turns = Turns()
        maker = KeyMaker(self.judge, self.rubric, redactor=self.settings.redactor)
        for key in maker.keys(self.plan):
            self._keys.append(key)
            await turns.give()
        if self._batched is not None:
            await settle_batched(self.board, self._keys, self._batched, self._store)
        named = self._named_keys()
        anew = named if self._fresh else frozenset[str]()
        for start in range(0, len(self._keys), LOOKED_UP):
            keys = self._keys[start : start + LOOKED_UP]
            wanted = [key for key in keys if key not in anew]
            kept = await self._store.kept(wanted, with_replies=False)
            for position, key in enumerate(keys, start):
                if self.board.chunks[position].state is not ChunkState.QUEUED:
                    continue
                owed = None if key in anew else self._asking.keeper.find_owed(key)
                if verdict := owed or kept.get(key):
                    if verdict.verdict.flagged:
                        await self._asking.bring_near(position)
                    self.board.judged(position, verdict, from_cache=True, stored=owed is None)
                elif key not in named:
                    self._stayed.add(position)
                    self.board.stays(position, self._earlier.get(position))
                await turns.give()
        if self._fresh and self._only is not None:
            await self._let_stand(named)

    async def _let_stand(self, named: frozenset[str]) -> None:
        """Note the verdicts of chunks that are asked anew by themselves.

        A run over everything says what it did not reach; one chunk's verdict is never lost so.
        """
        kept = await self._store.kept(sorted(named))
        for position, key in enumerate(self._keys):
            earlier = self._earlier.get(position)
            known = earlier.kept if earlier is not None else None
            if earlier is not None and known and (not earlier.stored or key not in kept):
                # The store would not take it, so what it holds is older; or it is gone from there.
                self.board.stands(position, known, stored=False)
            elif key in kept:
                self.board.stands(position, kept[key])

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

    def _to_ask(self) -> Iterator[tuple[int, str]]:
        """Part and tag of every chunk that has not ended."""
        for position in range(len(self.plan)):
            if not self.board.ended(position):
                yield position + 1, chunk_tag(self.plan.digest(position))

    def _get_ready(self) -> None:
        """Do in a thread what takes long the first time: prices, and what finds secrets."""
        self._measured()
        if self.settings.redact:
            find_secrets("")

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

    def _result(self, started: float) -> Result:
        tokens, _, _ = self._measured().chunks(self.plan)
        return make_result(self.board, tokens, self._ending(started))

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
            settings=self.settings.to_dict()
            | ({"batch": True} if self._batched or self._as_batch else {}),
            time_limit=self.settings.time_limit,
            limit_reached=cause is StopCause.LIMIT and cut_short,
            cancelled=cause is StopCause.CANCEL and cut_short,
            store_error=self.store_error,
            holds_left=self._batched.holds_left if self._batched else self.held,
            fault=self.fault.spec if self.fault else None,
            error=self.failure or self.fatal_error,
            seconds=time.monotonic() - started - self.paused_seconds,
            price=price_of_run(self.judge.model, self.judge.price),
        )
