"""The same events on two sides: where both cut alike chunk by chunk, else by what overlaps.

The events of a thread are counted from its first one: where a session has grown, the threads
behind have other numbers.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from longjudge.comparison.sides import JUDGED
from longjudge.states import ChunkState

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from longjudge.comparison.sides import Side, SideFinding, SidePart


@dataclass(frozen=True, slots=True)
class Cell:
    """What one side says about a stretch of events: its chunks there, their state, its findings.

    `first` and `last` are the numbers that the side's own session has. Where a chunk reaches over
    the stretch, only its findings inside count. `unjudged` counts those of its chunks that have no
    verdict: a huge event may be flagged by one piece while another is a gap.
    """

    parts: tuple[int, ...]
    state: ChunkState
    reason: str
    first: int
    last: int
    findings: tuple[SideFinding, ...]
    unjudged: int = 0

    @property
    def judged(self) -> bool:
        """Whether the side says clean or flagged."""
        return self.state in JUDGED

    @property
    def covered(self) -> bool:
        """Whether it has a verdict about all of it, so that what it does not find is not there."""
        return self.judged and not self.unjudged


@dataclass(frozen=True, slots=True)
class Stretch:
    """Events of a thread on both sides; a cell is None where a side's session does not have them.

    `whole` says that it is one chunk of each side that has it, `text_differs` that the two sides
    have read other texts there, as far as that is known.
    """

    thread: str
    one: Cell | None
    other: Cell | None
    whole: bool
    text_differs: bool


_Thread = tuple[str, int]
"""A thread's name, and which of the threads of that name it is."""


def stretches(one: Side, other: Side) -> Iterator[Stretch]:
    """All events of both sides, thread by thread, in their order."""
    mine, its = _by_thread(one), _by_thread(other)
    for thread in dict.fromkeys((*mine, *its)):
        for left, right, low, high in _overlaps(mine.get(thread, []), its.get(thread, [])):
            yield from _stretches(thread[0], left, right, low, high)


class _Block:
    """One chunk, or all pieces of one event; places are counted from the thread's first event."""

    __slots__ = (
        "_findings",
        "_places",
        "chars",
        "digests",
        "first",
        "last",
        "parts",
        "start",
        "unjudged",
    )

    def __init__(
        self, parts: Sequence[SidePart], start: int, findings: dict[int, list[SideFinding]]
    ) -> None:
        self.parts = parts
        self.start = start
        self.first, self.last = parts[0].first - start, parts[-1].last - start
        here = [found for part in parts for found in findings.get(part.part, ())]
        placed = sorted(((self._place(found), number) for number, found in enumerate(here)))
        self._places = [place for place, _ in placed]
        self._findings = [here[number] for _, number in placed]
        self.chars = sum(part.chars for part in parts)
        self.unjudged = sum(not part.judged for part in parts)
        self.digests = {
            found.event - start: found.digest
            for found in here
            if found.event is not None and found.digest
        }

    def cell(self, low: int, high: int) -> Cell:
        """What is said about places `low` to `high`."""
        findings = self._findings_in(low, high)
        state, reason = self._state(low, findings)
        numbers = tuple(part.part for part in self.parts)
        first, last = low + self.start, high + self.start
        return Cell(numbers, state, reason, first, last, findings, self.unjudged)

    def pieces(self) -> Iterator[Cell]:
        """Each part by itself; for one that is a whole chunk the same as its cell."""
        by_part: defaultdict[int, list[SideFinding]] = defaultdict(list)
        for found in self._findings:
            by_part[found.part].append(found)
        for part in self.parts:
            found = tuple(by_part[part.part])
            lacks = int(not part.judged)
            yield Cell((part.part,), part.state, part.reason, part.first, part.last, found, lacks)

    def cut_like(self, other: _Block) -> bool:
        """Whether both hold the same pieces of the same events."""
        if (self.first, self.last) != (other.first, other.last):
            return False
        if len(self.parts) == 1 == len(other.parts):
            return True
        return [part.chars for part in self.parts] == [part.chars for part in other.parts]

    def _place(self, finding: SideFinding) -> int:
        """Where a finding counts: without an event at the start, as it is shown everywhere."""
        place = self.first if finding.event is None else finding.event - self.start
        return min(max(place, self.first), self.last)

    def _findings_in(self, low: int, high: int) -> tuple[SideFinding, ...]:
        start, end = bisect_left(self._places, low), bisect_right(self._places, high)
        return tuple(self._findings[start:end])

    def _state(self, low: int, findings: Sequence[SideFinding]) -> tuple[ChunkState, str]:
        """Flagged where something is found there, clean only where all of it is judged."""
        if findings:
            return ChunkState.FLAGGED, ""
        for part in self.parts:
            if part.state not in JUDGED:
                return part.state, part.reason
        # A verdict that flags without a finding to show is about the chunk, and so at its start.
        flags = not self._findings and any(p.state is ChunkState.FLAGGED for p in self.parts)
        return (ChunkState.FLAGGED if flags and low == self.first else ChunkState.CLEAN), ""


def _by_thread(side: Side) -> dict[_Thread, list[_Block]]:
    """The blocks of each thread, in their order."""
    findings: defaultdict[int, list[SideFinding]] = defaultdict(list)
    for found in side.findings:
        findings[found.part].append(found)
    threads: dict[_Thread, list[list[SidePart]]] = {}
    seen: Counter[str] = Counter()
    blocks: list[list[SidePart]] = []
    before: SidePart | None = None
    for part in side.parts:
        if before is None or part.thread != before.thread:
            blocks = threads[part.thread, seen[part.thread]] = []
            seen[part.thread] += 1
        elif part.first == part.last == before.last:
            blocks[-1].append(part)
            continue
        blocks.append([part])
        before = part
    return {
        thread: [_Block(parts, each[0][0].first, findings) for parts in each]
        for thread, each in threads.items()
    }


def _overlaps(
    one: Sequence[_Block], other: Sequence[_Block]
) -> Iterator[tuple[_Block | None, _Block | None, int, int]]:
    """Each stretch of places over which the block of neither side changes."""
    left = right = place = 0
    while left < len(one) or right < len(other):
        ahead = [*one[left : left + 1], *other[right : right + 1]]
        low = max(place, min(block.first for block in ahead))
        here = [block if block.first <= low else None for block in ahead]
        ends = [block.last if block.first <= low else block.first - 1 for block in ahead]
        high = min(ends)
        mine = here[0] if left < len(one) else None
        its = here[-1] if right < len(other) else None
        yield mine, its, low, high
        place = high + 1
        left += mine is not None and mine.last < place
        right += its is not None and its.last < place


def _stretches(
    thread: str, one: _Block | None, other: _Block | None, low: int, high: int
) -> Iterator[Stretch]:
    if one is not None and other is not None:
        differs = _text_differs(one, other)
        if one.cut_like(other):
            for mine, its in zip(one.pieces(), other.pieces(), strict=True):
                yield Stretch(thread, mine, its, whole=True, text_differs=differs)
            return
        mine, its = one.cell(low, high), other.cell(low, high)
        yield Stretch(thread, mine, its, whole=False, text_differs=differs)
        return
    block = one or other
    if block is None:
        return
    whole = (block.first, block.last) == (low, high)
    cells = list(block.pieces()) if whole else [block.cell(low, high)]
    for cell in cells:
        mine, its = (cell, None) if one is not None else (None, cell)
        yield Stretch(thread, mine, its, whole=whole, text_differs=False)


def _text_differs(one: _Block, other: _Block) -> bool:
    """Whether the two have read other texts: of other lengths, or of other digests."""
    same_span = (one.first, one.last) == (other.first, other.last)
    if same_span and one.chars != other.chars and one.chars and other.chars:
        return True
    few, many = sorted((one.digests, other.digests), key=len)
    return any(many.get(place, digest) != digest for place, digest in few.items())
