"""A judgment of the past as it ended, put together again from what the store keeps of it."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

import msgspec

from longjudge.board import Ending, make_result
from longjudge.errors import SessionError
from longjudge.prompt import sent_event
from longjudge.report.outcome import read_outcome
from longjudge.states import ChunkState, GapReason, JudgmentStatus
from longjudge.store import read_gap_replies
from longjudge_tui.bench.run import Run
from longjudge_tui.bench.texts import SLOW_TO_REDACT_CHARS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from longjudge.chunks import Chunk
    from longjudge.report.outcome import Outcome
    from longjudge.rubric import Rubric
    from longjudge.store import KeptVerdict, PastJudgment, Store

SLICE = 100
"""Chunks looked up and placed before the loop gets a turn."""


class _Part(msgspec.Struct):
    part: int
    thread: str
    first_event: int
    last_event: int
    chars: int
    reason: str | None = None
    tokens: int = 0
    attempts: int = 0
    seconds: float = 0.0
    state: str = ""

    def is_at(self, chunk: Chunk) -> bool:
        here = (chunk.part, chunk.thread, chunk.first, chunk.last, chunk.chars)
        return here == (self.part, self.thread, self.first_event, self.last_event, self.chars)


class RecalledRun(Run):
    """Nothing is asked in it: it has ended. What it ended with, `restore` brings back.

    `moved` counts the parts that are cut otherwise now, since the session is another one; `lost`
    those that were judged and whose verdict is not found any more. Neither has a state. `renewed`
    have another verdict by now. `grown` says that the session begins as it did, and goes on.
    """

    recalled = True
    moved = 0
    lost = 0
    renewed = 0
    grown = False

    async def restore(self, past: PastJudgment, rubric: Rubric, store: Store) -> None:
        """Put every part where it ended.

        Raises:
            StoreError: the store cannot be read.
        """
        parts = await asyncio.to_thread(_parts, past.result)
        told = read_outcome(past.result) or read_outcome({})
        assert told is not None
        plan = self.outlook.plan
        here = [each for each in parts if 0 < each.part <= len(plan)]
        here = [each for each in here if each.is_at(plan[each.part - 1])]
        more = len(self._board.session.index) > told.session.events
        self.grown = more and any(each.part == 1 for each in here)
        self.moved = max(told.chunks, len(parts)) - len(here)
        await self._leave_gaps(here, past, store)
        judged = [each for each in here if each.reason is None]
        for start in range(0, len(judged), SLICE):
            await self._place(judged[start : start + SLICE], store)
        self.forced = told.fault or ""
        self._tell(told)
        tokens = [0] * len(plan)
        for each in here:
            tokens[each.part - 1] = each.tokens
        ending = self._ending(past, told, rubric)
        self.result = await asyncio.to_thread(make_result, self._board, tokens, ending)

    async def _leave_gaps(self, parts: Sequence[_Part], past: PastJudgment, store: Store) -> None:
        gaps = [each for each in parts if each.reason is not None]
        if not gaps:
            return
        replies = {each.part: each for each in await read_gap_replies(store, past.id)}
        for number, each in enumerate(gaps):
            record, said = self._board.chunks[each.part - 1], replies.get(each.part)
            record.attempts, record.seconds = each.attempts, each.seconds
            problem, reply = (said.problem, said.reply) if said else ("", "")
            self._board.gap(each.part - 1, _reason(each.reason), problem, reply)
            if number % SLICE == SLICE - 1:
                await asyncio.sleep(0)

    async def _place(self, parts: Sequence[_Part], store: Store) -> None:
        found = await store.kept([self.outlook.keys[each.part - 1] for each in parts])
        for each in parts:
            kept = found.get(self.outlook.keys[each.part - 1])
            if kept is None:
                self.lost += 1
            else:
                self.renewed += kept.verdict.flagged != (each.state == ChunkState.FLAGGED)
                await self._put(each.part - 1, kept)

    async def _put(self, position: int, kept: KeptVerdict) -> None:
        if kept.verdict.flagged:
            await self._bring_near(position)
        self._board.judged(position, kept, from_cache=True)
        if kept.verdict.flagged:
            # Its quotes were searched for.
            await asyncio.sleep(0)

    async def _bring_near(self, position: int) -> None:
        """Read a huge event in a thread, so that looking for its quotes does not read it here."""
        chunk, session = self.outlook.plan[position], self._board.session
        for event in range(chunk.first, chunk.last + 1):
            if session.index.chars[event] >= SLOW_TO_REDACT_CHARS:
                with contextlib.suppress(SessionError):
                    await asyncio.to_thread(sent_event, session, event, redact=self.outlook.redact)

    def _tell(self, told: Outcome) -> None:
        """What it asked and cost then."""
        spent = self._board.spent
        spent.calls, spent.cost_usd = told.calls, told.cost_usd
        self._saved = told.cached_chunks

    def _ending(self, past: PastJudgment, told: Outcome, rubric: Rubric) -> Ending:
        return Ending(
            id=past.id,
            model=past.model,
            rubric_name=past.rubric,
            rubric_version=past.rubric_version,
            criteria=tuple(rubric.criterion_ids),
            settings=self.settings.to_dict(),
            time_limit=self.settings.time_limit,
            limit_reached=past.status == JudgmentStatus.TIMED_OUT,
            cancelled=past.status == JudgmentStatus.CANCELLED,
            store_error=None,
            error=None,
            seconds=told.seconds,
            fault=told.fault,
        )


def _parts(result: Mapping[str, object]) -> list[_Part]:
    try:
        return msgspec.convert(result.get("parts", []), list[_Part])
    except (msgspec.ValidationError, RecursionError):
        return []


def _reason(reason: str | None) -> GapReason:
    try:
        return GapReason(reason)
    except ValueError:
        return GapReason.SKIPPED
