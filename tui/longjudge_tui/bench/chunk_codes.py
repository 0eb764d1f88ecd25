"""What has become of every chunk, as one byte each: what the strip and the threads are drawn from.

The larger a byte the more urgent it is.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, Protocol

from longjudge.states import ChunkState

if TYPE_CHECKING:
    from collections.abc import Iterable

    from longjudge.board import ChunkRecord
    from longjudge_tui.bench.outlook import Outlook
    from longjudge_tui.bench.records import Records
    from longjudge_tui.bench.run import Run

SLICE = 5_000
"""So many chunks are looked at in one frame at most; the others come with the next ones."""


class Code(IntEnum):
    """What has become of a chunk, the least urgent first."""

    NOT_ASKED = 0
    KEPT = 1
    CLEAN = 2
    TO_ASK = 3
    QUEUED = 4
    WAITING = 5
    IN_BATCH = 6
    RETRYING = 7
    RUNNING = 8
    DISPUTED = 9
    GAP = 10
    FLAGGED = 11


_BY_URGENCY = tuple(sorted(Code, reverse=True))

JUDGED = (Code.KEPT, Code.CLEAN, Code.DISPUTED, Code.FLAGGED)

_TROUBLE = (Code.GAP, Code.FLAGGED)

_OF_STATE = {
    ChunkState.QUEUED: Code.QUEUED,
    ChunkState.WAITING: Code.WAITING,
    ChunkState.RETRYING: Code.RETRYING,
    ChunkState.RUNNING: Code.RUNNING,
    ChunkState.CLEAN: Code.CLEAN,
    ChunkState.FLAGGED: Code.FLAGGED,
    ChunkState.GAP: Code.GAP,
}


class Source(Protocol):
    """What the codes are read from: the bench."""

    generation: int

    @property
    def run(self) -> Run | None:
        """The judgment, where there is one."""
        ...

    @property
    def outlook(self) -> Outlook | None:
        """The plan with its keys."""
        ...

    @property
    def applies(self) -> bool:
        """Whether the rubric applies, so that anything is ever asked."""
        ...

    @property
    def records(self) -> Records | None:
        """What is known about the chunks."""
        ...

    def is_kept(self, position: int) -> bool:
        """Whether the store holds a chunk's verdict."""
        ...

    def in_batch_of(self, position: int) -> str:
        """Which batch a chunk is in that no judgment here waits for; empty where it is in none."""
        ...


class ChunkCodes:
    """The codes of the plan that stands; `follow` takes in what changed.

    `counts` says of a stretch how many chunks are what.
    """

    def __init__(self, source: Source) -> None:
        self._source = source
        self._generation = -1
        self._pending: set[int] = set()
        self.codes = bytearray()

    def follow(self, dirty: Iterable[int]) -> set[int] | None:
        """Look at the chunks that changed; those whose code is another one now.

        None where the plan or the judgment is another one, so that any may be.
        """
        source = self._source
        if self._generation != source.generation:
            self._generation = source.generation
            self._fill()
            records = source.records
            self._pending = {*dirty} | (records.earlier().keys() if records else set())
            self._look()
            return None
        self._pending |= {*dirty}
        return self._look()

    def counts(self, start: int, end: int, *codes: Code) -> int:
        """How many chunks of a stretch have one of some codes."""
        return sum(self.codes.count(code, start, end) for code in codes)

    def most_urgent(self, start: int, end: int) -> Code | None:
        """The most urgent code of a stretch; None where it is empty."""
        # Ten searches for a byte take less than one look at every byte.
        find = self.codes.find
        return next((code for code in _BY_URGENCY if find(code, start, end) >= 0), None)

    def trouble(self, position: int, direction: int) -> int | None:
        """The next flagged chunk or gap from one on, up (1) or down (-1), and around."""
        codes, size = self.codes, len(self.codes)
        if direction > 0:
            found = [codes.find(code, position + 1) for code in _TROUBLE]
            found += [codes.find(code) for code in _TROUBLE] if max(found) < 0 else []
            return min((each for each in found if each >= 0), default=None)
        found = [codes.rfind(code, 0, max(0, min(position, size))) for code in _TROUBLE]
        if max(found) < 0:
            found = [codes.rfind(code) for code in _TROUBLE]
        return None if max(found) < 0 else max(found)

    def _fill(self) -> None:
        source = self._source
        outlook = source.outlook
        chunks = len(outlook.plan) if outlook is not None else 0
        if self._asks:
            self.codes = bytearray([Code.QUEUED]) * chunks
        elif not source.applies:
            self.codes = bytearray([Code.NOT_ASKED]) * chunks
        else:
            self.codes = bytearray(map(self._unasked, range(chunks)))

    @property
    def _asks(self) -> bool:
        """Whether what has no verdict waits for one: a judgment of the past asks nothing."""
        run = self._source.run
        return run is not None and not run.recalled

    def _look(self) -> set[int]:
        records = self._source.records
        if records is None or not self._source.applies:
            self._pending.clear()
            return set()
        changed: set[int] = set()
        if len(self._pending) <= SLICE:
            here, self._pending = self._pending, set()
        else:
            here = {self._pending.pop() for _ in range(SLICE)}
        for position in here:
            if position >= len(self.codes):
                continue
            code = self._code(position, records.record(position))
            if code != self.codes[position]:
                self.codes[position] = code
                changed.add(position)
        return changed

    def _code(self, position: int, record: ChunkRecord) -> Code:
        if not self._asks and not record.state.ended:
            return self._unasked(position)
        if record.state is ChunkState.CLEAN:
            if record.disagrees:
                return Code.DISPUTED
            return Code.KEPT if record.from_cache else Code.CLEAN
        if record.state is ChunkState.RUNNING and self._in_batch(position):
            return Code.IN_BATCH
        return _OF_STATE[record.state]

    def _unasked(self, position: int) -> Code:
        if self._source.is_kept(position):
            return Code.KEPT
        return Code.WAITING if self._source.in_batch_of(position) else Code.TO_ASK

    def _in_batch(self, position: int) -> bool:
        run = self._source.run
        return run is not None and run.batch_of(position) is not None
