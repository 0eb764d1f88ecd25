"""Visits the sessions of a batch run: plans them, has them asked, and makes their results."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from longjudge.answers import is_disputed
from longjudge.batched import Batched
from longjudge.batches.sending import Ready
from longjudge.cli.batch_work import Packed, Pending, Work
from longjudge.cli.in_batches import in_batches_words
from longjudge.cli.present import too_large_words
from longjudge.factors import TokenWatch
from longjudge.judgment import Judgment
from longjudge.prompt import build_question
from longjudge.report.words import plural
from longjudge.rubric import Skip
from longjudge.states import StopCause
from longjudge.store import batches as rows
from longjudge.store.batch_rows import BatchItem
from longjudge.streams import tell

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from longjudge.batches.batching import Batching
    from longjudge.cli.batch_sending import BatchSending
    from longjudge.cli.batch_telling import Telling
    from longjudge.cli.judge_run import Run
    from longjudge.preview import Preview
    from longjudge.result import Result
    from longjudge.sessions import Session
    from longjudge.store.batch_rows import ItemOutcome


class Visitor:
    """`stop` is what ended the run; with `detach` sessions are sent, and nobody is told of them."""

    def __init__(
        self,
        run: Run,
        batching: Batching,
        sending: BatchSending,
        telling: Telling,
        show: Callable[[Result], None],
    ) -> None:
        self.stop: StopCause | None = None
        self.detach = False
        self._run = run
        self._batching = batching
        self._sending = sending
        self._telling = telling
        self._show = show

    async def session(self, work: Work, number: int, session: Session) -> None:
        """Do the next thing about a session: have it asked, or show its result.

        Raises:
            CredentialError: there is nothing to authenticate with.
            SessionError: the file no longer holds what was indexed.
        """
        run = self._run
        pending = work.sessions.setdefault(number, Pending())
        if run.rubric.skip is Skip.NO_TOOL_CALL and not session.index.tool_calls:
            await self._finish(work, number, session, None, {}, {})
            return
        preview = await run.preview(session)
        answers = await self._answers(pending)
        open_keys = self._open_keys(preview, answers)
        others = await self._sending.known_of(open_keys)
        open_keys = {key: at for key, at in open_keys.items() if key not in others}
        if open_keys and self._may_ask:
            if await self._ask(work, pending, session, preview, open_keys):
                return
            # What could not be sent may be known to be a gap by now.
            answers = await self._answers(pending)
            others = await self._sending.known_of(self._open_keys(preview, answers))
        await self._finish(work, number, session, preview, answers, others)

    @property
    def _may_ask(self) -> bool:
        return self.stop is None and not self._run.blocked and not self._run.stop.requested

    async def _answers(self, pending: Pending) -> dict[str, ItemOutcome]:
        if not pending.sent:
            return dict(pending.refused)
        return await rows.outcomes_of(self._run.store, pending.judgment) | pending.refused

    def _open_keys(self, preview: Preview, answers: dict[str, ItemOutcome]) -> dict[str, int]:
        """The questions that nothing has come of yet, each with the first chunk that asks it."""
        found: dict[str, int] = {}
        for position, key in enumerate(preview.keys):
            if key not in preview.kept and key not in answers:
                found.setdefault(key, position)
        return found

    async def _ask(
        self,
        work: Work,
        pending: Pending,
        session: Session,
        preview: Preview,
        open_keys: dict[str, int],
    ) -> bool:
        """Have the open questions sent, or wait for who asks them; False where none can be."""
        if not pending.told:
            pending.told = True
            await self._run.note.say(preview.totals.to_ask)
            more = await self._run.secrets(session, preview)
            more += await in_batches_words(self._run.store, preview)
            self._telling.session(self._run.name(session), preview, self._run.judge, more)
        limit = self._run.settings.time_limit
        if not self._may_ask or pending.late(limit, time.monotonic()):
            return False
        await self._batching.api.prepare()
        pending.begun = pending.begun or time.monotonic()
        on_the_way = await rows.on_the_way(self._run.store, list(open_keys))
        # What has come home since the store was looked at waits for nothing that is put off.
        kept = set[str]() if self._run.fresh else await self._run.store.kept_keys(list(open_keys))
        followed = {batch.id for batch in self._batching.live}
        waiting = self._sending.waiting
        for key, position in open_keys.items():
            if not self._may_ask:
                break
            if key in kept:
                work.elsewhere.add(key)
            elif self._sending.has(key):
                waiting.for_packed(work, key)
            elif (batch := on_the_way.get(key, "")) in followed:
                waiting.for_batch(work, batch)
            elif batch:
                work.elsewhere.add(key)
            elif not await self._pack(work, pending, session, preview, key, position):
                break
        waited = work.waits
        # A batch may have come to its end while others were packed.
        self._sending.drop_what_is_over()
        return waited

    async def _pack(
        self,
        work: Work,
        pending: Pending,
        session: Session,
        preview: Preview,
        key: str,
        position: int,
    ) -> bool:
        """Add a question to the next batch; False where the budget has no room for it now."""
        run, sending = self._run, self._sending
        # What this model's tokens came to before counts, as it does for live questions.
        dearer_by = TokenWatch(preview.observed).dearer_by
        upper = preview.estimator.upper_price(preview.plan, position, sending.max_tokens, dearer_by)
        reservation = sending.reserve(upper)
        if reservation is None:
            work.hungry = not sending.budget_ended
            return False
        question = build_question(
            session, preview.plan, position, run.rubric, redact=run.settings.redact
        )
        request = self._batching.api.request(key, question, max_tokens=sending.max_tokens)
        digest = preview.plan.digest(position).hex()
        disputed = is_disputed(run.judge, question)
        item = BatchItem(key, pending.judgment, position + 1, digest, disputed)
        await sending.add(Packed(Ready(item, request), work, pending, reservation))
        return True

    async def _finish(
        self,
        work: Work,
        number: int,
        session: Session,
        preview: Preview | None,
        answers: dict[str, ItemOutcome],
        others: dict[str, ItemOutcome],
    ) -> None:
        """Make and show the result of a session."""
        run, pending = self._run, work.sessions.pop(number)
        work.done.add(number)
        if self.detach and not run.stop.requested:
            # Who comes back for the batches gets the results of all.
            self._say_what_is_not_sent(session, {**others, **answers})
            return
        held = await self._unfinished(preview, answers) if preview else {}
        own = await rows.unanswered(run.store, pending.judgment) if pending.sent else set[str]()
        stop = self.stop
        if stop is None and any(each.reason == StopCause.LIMIT.value for each in answers.values()):
            stop = StopCause.LIMIT
        if stop is None and (held or self._had_its_time(pending, preview, {**others, **answers})):
            stop = StopCause.LIMIT
        judgment = Judgment(
            session,
            rubric=run.rubric,
            judge=run.judge,
            store=run.store,
            settings=run.settings,
            estimator=preview.estimator if preview else None,
            blocked=run.blocked,
            fresh=run.fresh,
            batched=Batched(
                judgment=pending.judgment,
                answers=answers,
                unfinished=frozenset(own),
                in_others=frozenset(held.keys() - own - others.keys()),
                others=others,
                stop=stop,
                holds_left=len(set(held.values())),
                seconds=time.monotonic() - pending.begun if pending.begun else 0.0,
            ),
        )
        result = await judgment.run()
        name = run.name(session)
        if words := too_large_words(result):
            tell(f"longjudge: {name}: {words}")
        if result.error:
            self._telling.stopped(name, result.error)
        self._sending.say_where_the_budget_ended(name, result)
        self._show(result)

    def _had_its_time(
        self, pending: Pending, preview: Preview | None, answers: dict[str, ItemOutcome]
    ) -> bool:
        """Whether questions of a session were not sent while it had time."""
        if preview is None or not pending.late(self._run.settings.time_limit, time.monotonic()):
            return False
        return bool(self._open_keys(preview, answers))

    def _say_what_is_not_sent(self, session: Session, outcomes: Mapping[str, ItemOutcome]) -> None:
        """Say what will be missing of a session that nobody waits for, and why."""
        gaps = [each for each in outcomes.values() if each.reason]
        name = self._run.name(session)
        if gaps:
            self._run.unsent = True
            count = plural(len(gaps), "question")
            tell(f"longjudge: {name}: {count} not sent: {gaps[0].problem or gaps[0].reason}")

    async def _unfinished(
        self, preview: Preview, answers: dict[str, ItemOutcome]
    ) -> dict[str, str]:
        """The questions that are still in a batch: the batch of each."""
        keys = list(self._open_keys(preview, answers))
        return await rows.on_the_way(self._run.store, keys)
