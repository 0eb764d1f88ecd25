"""The questions of a judgment's chunks, as many at a time as one batch takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longjudge.answers import is_disputed
from longjudge.batches.sending import Ready
from longjudge.prompt import build_question
from longjudge.retries import MORE_TOKENS
from longjudge.store.batch_rows import BatchItem
from longjudge.turns import Turns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from longjudge.batches.batching import Batching
    from longjudge.board import Board
    from longjudge.judges.base import Judge
    from longjudge.rubric import Rubric


class BatchPages:
    """Makes questions by position; `judgment` is the id under which they are noted."""

    def __init__(
        self,
        board: Board,
        keys: Sequence[str],
        judgment: str,
        rubric: Rubric,
        judge: Judge,
        batching: Batching,
        *,
        redact: bool,
    ) -> None:
        self._board = board
        self._keys = keys
        self._judgment = judgment
        self._rubric = rubric
        self._judge = judge
        self._batching = batching
        self._redact = redact

    async def next(
        self, to_send: list[int], sending: dict[str, int]
    ) -> dict[str, tuple[int, Ready]]:
        """Take the next questions out of `to_send`, and note each by its key in `sending`.

        Raises:
            SessionError: the file no longer holds what was indexed.
        """
        pace, api = self._batching.pace, self._batching.api
        page: dict[str, tuple[int, Ready]] = {}
        size, turns, board = 0, Turns(), self._board
        while to_send and len(page) < pace.max_requests:
            await turns.give()
            if not to_send:
                break
            position = to_send[0]
            question = build_question(
                board.session, board.plan, position, self._rubric, redact=self._redact
            )
            key = self._keys[position]
            request = api.request(key, question, max_tokens=MORE_TOKENS)
            if page and size + request.size > pace.max_bytes:
                break
            del to_send[0]
            size += request.size
            digest = board.plan.digest(position).hex()
            disputed = is_disputed(self._judge, question)
            item = BatchItem(key, self._judgment, position + 1, digest, disputed)
            page[key] = position, Ready(item, request)
            sending[key] = position
        return page
