"""What the store records of a judgment: its rubric as it begins, and all of it once it is over."""

from __future__ import annotations

import asyncio
import contextlib
import time
from typing import TYPE_CHECKING

from longjudge.errors import StoreError
from longjudge.store import PastJudgment, note_rubric, real_path

if TYPE_CHECKING:
    from longjudge.board import Board
    from longjudge.result import Result, ResultFinding
    from longjudge.rubric import Rubric
    from longjudge.store import Store

NOTE_SECONDS = 1.0
"""How long the beginning of a judgment waits for the store to take its rubric."""


async def note_rubric_used(store: Store, rubric: Rubric) -> None:
    """Note what a judgment judges by; a store that does not take it stops nothing.

    What makes that impossible is said of the first verdict that cannot be kept.
    """
    if store.write_error is not None:
        return
    with contextlib.suppress(StoreError, TimeoutError):
        async with asyncio.timeout(NOTE_SECONDS):
            await note_rubric(store, rubric)


def past_judgment(board: Board, rubric: Rubric, result: Result) -> PastJudgment:
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
    )


def _digest(board: Board, finding: ResultFinding) -> str:
    """What a mark on the finding goes by: the event's text, else the chunk's."""
    if finding.event is None:
        return board.plan.digest(finding.part - 1).hex()
    return board.session.index.digest(finding.event).hex()
