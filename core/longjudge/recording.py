"""What the store records of a judgment: its rubric as it begins, and all of it once it is over."""

from __future__ import annotations

import asyncio
import contextlib
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import msgspec

from longjudge.errors import StoreError
from longjudge.losses import forced_full_disk
from longjudge.sessions.values import is_object
from longjudge.states import JudgmentStatus
from longjudge.store import PastJudgment, StoreWriteError, note_rubric, real_path
from longjudge.store.past_pages import by_the_same

if TYPE_CHECKING:
    from collections.abc import Sequence

    from longjudge.board import Board
    from longjudge.result import Result, ResultFinding
    from longjudge.rubric import Rubric
    from longjudge.store import Store

NOTE_SECONDS = 1.0
"""How long the beginning of a judgment waits for the store to take its rubric."""

_MOST_LOOKED_AT: Final = 20
"""Among so many by other chunk sizes the newest one by the same is looked for."""

_CUT_BY: Final = ("chunk_chars", "chunk_tokens", "redact")
_SAID: Final = (
    "rubric",
    "status",
    "score",
    "chunks",
    "judged_chunks",
    "flagged_chunks",
    "gaps",
    "findings",
    "criteria",
    "disagreements",
    "fault",
)


async def note_rubric_used(store: Store, rubric: Rubric) -> None:
    """Note what a judgment judges by; a store that does not take it stops nothing.

    What makes that impossible is said of the first verdict that cannot be kept.
    """
    if store.write_error is not None:
        return
    with contextlib.suppress(StoreError, TimeoutError):
        async with asyncio.timeout(NOTE_SECONDS):
            await note_rubric(store, rubric)


def past_judgment(
    board: Board, rubric: Rubric, result: Result, batched: Sequence[tuple[str, str]] = ()
) -> PastJudgment:
    """The judgment by `rubric` that ended with `result`; slow where it has very many parts."""
    session = board.session
    return PastJudgment(
        id=result.id,
        path=session.name,
        real_path=real_path(session.path),
        session_id=session.id,
        rubric=rubric.name,
        rubric_version=rubric.version,
        model=result.model,
        status=result.status.value,
        created=time.time(),
        result=result.to_dict(),
        digests=tuple(_digest(board, finding) for finding in result.findings),
        gaps=board.gap_replies(),
        batched=tuple(batched),
    )


class Recording:
    """Records what came of a board by `rubric`; `store_error` is what is not kept of it, if any.

    `batched` are the batch and the key of every answer that came in a batch.
    """

    def __init__(
        self,
        store: Store,
        board: Board,
        rubric: Rubric,
        store_error: str | None,
        batched: Sequence[tuple[str, str]],
    ) -> None:
        self._store = store
        self._board = board
        self._rubric = rubric
        self._store_error = store_error
        self._batched = batched

    async def record(self, result: Result, *, forced: bool, once: bool) -> tuple[Result, bool]:
        """The result as it is told, and whether the store took it.

        One that says what is recorded already is not recorded `once` more: it has the id of that
        one. With `forced` the disk is full.
        """
        store = self._store
        past = await asyncio.to_thread(
            past_judgment, self._board, self._rubric, result, self._batched
        )
        if once and (id := await told_already(store, past)):
            return replace(result, id=id), False
        try:
            if forced:
                raise StoreWriteError(forced_full_disk(store))
            await store.record_judgment(past)
        except StoreWriteError as error:
            if not forced:
                store.owed.add_judgment(past, str(error))
            if result.store_error is None:
                return replace(result, store_error=str(error)), False
            return result, False
        if store.owed.verdicts and self._store_error is not None:
            # It says what is not kept, which is true until that is.
            store.owed.add_judgment(past, self._store_error)
        return result, True


async def told_already(store: Store, past: PastJudgment) -> str:
    """The id of the judgment that says what `past` does; empty where there is none.

    It is the newest of the session by the same rubric, judge and chunk size, and complete.
    """
    if past.status != JudgmentStatus.COMPLETE or not past.real_path:
        return ""
    said, settings = await asyncio.to_thread(_said, past.result)
    with contextlib.suppress(StoreError):
        async for earlier in by_the_same(store, past, _MOST_LOOKED_AT):
            same_said, same_settings = await asyncio.to_thread(_said, earlier.result)
            if settings == same_settings:
                return earlier.id if same_said == said else ""
    return ""


def _said(result: dict[str, object]) -> tuple[object, object]:
    """What a result says, and how its chunks were cut: as the store has it, slow if very large."""
    settings, session = result.get("settings"), result.get("session")
    cut = {name: settings.get(name) for name in _CUT_BY} if is_object(settings) else None
    events = session.get("events") if is_object(session) else None
    said = [events, *(result.get(name) for name in _SAID)]
    return msgspec.json.decode(msgspec.json.encode(said)), cut


def _digest(board: Board, finding: ResultFinding) -> str:
    """What a mark on the finding goes by: the event's text, else the chunk's."""
    if finding.event is None:
        return board.plan.digest(finding.part - 1).hex()
    return board.session.index.digest(finding.event).hex()
