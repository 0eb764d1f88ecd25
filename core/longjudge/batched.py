"""What a judgment's questions came to in batches, told to its board as if asked one by one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from longjudge.states import ChunkState, GapReason
from longjudge.turns import Turns

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from longjudge.board import Board
    from longjudge.states import StopCause
    from longjudge.store import KeptVerdict, Store
    from longjudge.store.batch_rows import ItemOutcome

LOOKED_UP = 1_000
"""Keys looked up in the store at once, before the loop has its turn."""


@dataclass(frozen=True, slots=True)
class Batched:
    """What came of the questions that were sent under the id `judgment`, by verdict key.

    `unfinished` were asked, and their batch, one of `holds_left`, has not ended; `in_others` are in
    a batch that was sent for another judgment. `others` says what came of equal questions of
    other sessions, which it has not asked. `stop` is what ended the run, None where it came to its
    end. It has taken `seconds` until now.
    """

    judgment: str
    answers: Mapping[str, ItemOutcome] = field(default_factory=dict[str, "ItemOutcome"])
    unfinished: frozenset[str] = frozenset()
    in_others: frozenset[str] = frozenset()
    others: Mapping[str, ItemOutcome] = field(default_factory=dict[str, "ItemOutcome"])
    stop: StopCause | None = None
    holds_left: int = 0
    seconds: float = 0.0


async def settle_batched(board: Board, keys: Sequence[str], batched: Batched, store: Store) -> None:
    """Settle every chunk that was asked in a batch; a chunk equal to one before it follows that.

    What is unfinished is left `running`, for whatever ends the judgment.

    Raises:
        StoreError: the store cannot be read.
    """
    turns, first = Turns(), dict[str, int]()
    for start in range(0, len(keys), LOOKED_UP):
        page = keys[start : start + LOOKED_UP]
        answered = [key for key in page if key in batched.answers or key in batched.others]
        kept = await store.kept(answered, with_replies=False) if answered else {}
        for position, key in enumerate(page, start):
            await turns.give()
            if key in first:
                if board.ended(first[key]):
                    _follow(board, position, first[key], kept.get(key))
            elif key in batched.answers:
                first[key] = position
                _settle(board, position, batched.answers[key], kept.get(key))
            elif key in batched.unfinished:
                first[key] = position
                board.started(position)
                board.stopped(position)
                board.spent.calls_without_reply += 1
            elif key in batched.others:
                _take(board, position, batched.others[key], kept.get(key))
            elif key in batched.in_others and batched.stop is not None:
                board.gap(position, batched.stop.value, "its batch has not ended yet")


def count_answer(board: Board, position: int, outcome: ItemOutcome) -> None:
    """Count what came of a chunk's question in a batch."""
    board.stopped(position)
    board.chunks[position].batches += (outcome.batch,)
    board.answered(position, outcome.usage, outcome.cost_usd)
    board.spent.calls_without_reply += not outcome.replied


def counted_answers(board: Board, keys: Sequence[str]) -> list[tuple[str, str]]:
    """The batch and the key of every answer that is counted in what a judgment has spent."""
    records = zip(keys, board.chunks, strict=False)
    return [(batch, key) for key, record in records for batch in record.batches]


def _settle(board: Board, position: int, outcome: ItemOutcome, kept: KeptVerdict | None) -> None:
    board.started(position)
    count_answer(board, position, outcome)
    if outcome.reason:
        board.gap(position, GapReason(outcome.reason), outcome.problem, outcome.reply)
    elif kept is not None:
        board.judged(position, kept, from_cache=False)
    else:
        board.gap(position, GapReason.SKIPPED, "its verdict was removed from the store meanwhile")


def _take(board: Board, position: int, outcome: ItemOutcome, kept: KeptVerdict | None) -> None:
    """Settle a chunk by what another session's question came to."""
    if outcome.reason:
        board.gap(position, GapReason(outcome.reason), outcome.problem, outcome.reply)
    elif kept is not None:
        board.judged(position, kept, from_cache=True)


def _follow(board: Board, position: int, first: int, kept: KeptVerdict | None) -> None:
    record = board.chunks[first]
    if kept is not None and record.state is not ChunkState.GAP:
        board.judged(position, kept, from_cache=True)
    elif record.reason is not None:
        board.gap(position, record.reason, record.problem, record.raw_reply)
