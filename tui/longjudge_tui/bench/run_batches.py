"""What a run has in a provider's batches, as the screen sees it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from longjudge.batch_pace import DAY
from longjudge.states import ChunkState
from longjudge.store.batch_rows import BatchState
from longjudge_tui.bench.batch_words import short_name
from longjudge_tui.bench.records import Records

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Sequence

    from longjudge.judgment import Judgment
    from longjudge.store.batch_rows import Batch
    from longjudge_tui.bench.outlook import Outlook


class RunBatches(Records):
    """The part of a run that is not asked live. `as_batch` says that nothing of it ever was."""

    _judgment: Judgment
    outlook: Outlook
    as_batch = False
    moved = False
    stopping_since = 0.0
    end_seconds = 0.0
    _only: frozenset[int] | None
    _tally: Counter[ChunkState]
    _ticking: set[int]

    @property
    def batches(self) -> Sequence[Batch]:
        """Its batches that are still held."""
        return self._judgment.batches

    @property
    def in_batch(self) -> int:
        """How many chunks are in a batch, or about to be."""
        return len(self._judgment.in_batch)

    def batch_of(self, position: int) -> str | None:
        """The name of the batch that a chunk is in, short; None where it is in none."""
        id = self._judgment.batch_of(position + 1)
        # One that has ended may be in a batch whose answer is still to come.
        if id is None or self._board.chunks[position].state.ended:
            return None
        found = next((each for each in self.batches if each.id == id), None)
        return short_name(found) if found is not None else ""

    def move_to_batch(self) -> int:
        """Have what is not being asked sent as a batch; how many chunks these are."""
        count = self._judgment.move_to_batch()
        self.moved = self.moved or bool(count)
        return count

    def move_to_live(self) -> bool:
        """Have its batches cancelled, and what they do not answer asked live."""
        moved = self._judgment.move_to_live()
        self.as_batch = self.as_batch and not moved
        return moved

    def sent_batch(self, id: str) -> bool:
        """Whether a batch, by our id of it, is one of its own."""
        return self._judgment.sent_batch(id)

    def ends_with(self, id: str) -> bool:
        """Whether nothing more comes of it once a batch, by our id of it, is cancelled."""
        batch = next((each for each in self.batches if each.id == id), None)
        if batch is None or not self.rests_in_batch:
            return False
        ending = {each.id for each in self.batches if each.cancel} | {id}
        batches = map(self._judgment.batch_of, self._judgment.in_batch)
        left = sum(each not in ending for each in batches)
        # Which questions it has is known once it is accepted; until then, how many.
        return left == 0 or (batch.state is BatchState.INTENT and left <= batch.count)

    @property
    def unasked(self) -> int:
        """How many questions are not asked yet and in nobody's hands."""
        if self._judgment.has_begun:
            return self._judgment.unasked
        return self.outlook.totals.to_ask if self._only is None else len(self._only)

    @property
    def in_hands(self) -> tuple[int, int]:
        """How many chunks are asked live, and how many wait for what another judgment asks."""
        asked = self._tally[ChunkState.RUNNING] - self.in_batch
        return max(0, asked), self._tally[ChunkState.WAITING]

    @property
    def rests_in_batch(self) -> bool:
        """Whether there is something in batches, and nothing else is asked or to be asked."""
        judgment = self._judgment
        return bool(self.batches) and not judgment.in_hand and not judgment.unasked

    def live_price(self, count: int) -> float | None:
        """What so many of its questions cost live, about; None where nobody knows."""
        totals = self.outlook.totals
        if totals.cost_usd is None or not totals.to_ask:
            return totals.cost_usd
        return totals.cost_usd * count / totals.to_ask

    @property
    def limit(self) -> float:
        """How many seconds it may take: what went into a batch takes as long as that does."""
        return DAY if self.moved else self._judgment.settings.time_limit

    @property
    def end_left(self) -> float:
        """How many seconds at most are still waited for its batches, once it is being ended."""
        return max(0.0, self.stopping_since + self.end_seconds - time.monotonic())

    @property
    def sent_since(self) -> float | None:
        """How many seconds ago the oldest of its batches was sent; None without one."""
        sent = [each.submitted or each.created for each in self.batches]
        return max(0.0, time.time() - min(sent)) if sent else None

    @property
    def _ticks(self) -> set[int]:
        """The chunks that are asked, or to be asked again: what is in a batch has no clock."""
        ticking, batch_of = self._ticking, self._judgment.batch_of
        return {each for each in ticking if batch_of(each + 1) is None} if self.batches else ticking
