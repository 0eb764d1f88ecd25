"""The chunk plan: where a session is cut, as a pure function of its index and one limit.

Each thread is filled greedily; only an event larger than the limit is cut into pieces. A cut is
moved back so that a call stays with its result, as long as the chunk keeps half of its size. Every
decision looks only at events up to the one that did not fit, so a growing session changes the
last chunk of a thread and no other.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING, overload

from longjudge.errors import UsageError
from longjudge.sessions.model import DIGEST_BYTES

if TYPE_CHECKING:
    from longjudge.sessions.model import EventIndex, Thread

DEFAULT_CHUNK_CHARS = 30_000
MIN_CHUNK_CHARS = 200
MAX_CHUNK_CHARS = 10_000_000


@dataclass(frozen=True, slots=True)
class Piece:
    """Piece `number` (from 1) of `of`: characters `start` to `end` of one event's text."""

    number: int
    of: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Chunk:
    """Events `first` to `last` (inclusive) of one thread; `chars` counts their texts.

    `part` counts from 1 over the whole session. `piece` is set where the chunk holds only a
    piece of one event, and then `first == last`.
    """

    part: int
    thread: str
    first: int
    last: int
    chars: int
    piece: Piece | None

    @property
    def split(self) -> list[int] | None:
        """`[k, of]` for a piece, the JSON form."""
        return [self.piece.number, self.piece.of] if self.piece else None


@dataclass(frozen=True, slots=True)
class Cuts:
    """Where a session is cut: first and last event and thread number of each chunk."""

    firsts: array[int] = field(default_factory=lambda: array("I"))
    lasts: array[int] = field(default_factory=lambda: array("I"))
    threads: array[int] = field(default_factory=lambda: array("I"))
    pieces: dict[int, Piece] = field(default_factory=dict[int, Piece])

    def add(self, thread: int, first: int, last: int, piece: Piece | None = None) -> None:
        """Append a chunk."""
        if piece:
            self.pieces[len(self.firsts)] = piece
        self.firsts.append(first)
        self.lasts.append(last)
        self.threads.append(thread)


class ChunkPlan(Sequence[Chunk]):
    """All chunks of a session under one limit; a chunk object is made when it is looked at."""

    __slots__ = ("_firsts", "_index", "_lasts", "_pieces", "_threads", "chunk_chars")

    def __init__(self, index: EventIndex, chunk_chars: int, cuts: Cuts) -> None:
        self._index = index
        self.chunk_chars = chunk_chars
        self._firsts = cuts.firsts
        self._lasts = cuts.lasts
        self._threads = cuts.threads
        self._pieces = cuts.pieces

    def __len__(self) -> int:
        return len(self._firsts)

    @overload
    def __getitem__(self, number: int) -> Chunk: ...
    @overload
    def __getitem__(self, number: slice) -> list[Chunk]: ...
    def __getitem__(self, number: int | slice) -> Chunk | list[Chunk]:
        """The chunk at a position from 0 (its part less one)."""
        if isinstance(number, slice):
            return [self[i] for i in range(*number.indices(len(self)))]
        if number < 0:
            number += len(self)
        first, last = self._firsts[number], self._lasts[number]
        piece = self._pieces.get(number)
        prefix = self._index.prefix
        chars = piece.end - piece.start if piece else prefix[last + 1] - prefix[first]
        thread = self._index.threads[self._threads[number]].name
        return Chunk(number + 1, thread, first, last, chars, piece)

    @property
    def total_chars(self) -> int:
        """Characters of event text in all chunks: those of the session."""
        return self._index.total_chars

    def part_of(self, event: int) -> int:
        """The part (from 1) that holds an event, its first piece where it is cut.

        Raises:
            IndexError: the session has no such event.
        """
        if not 0 <= event < len(self._index):
            raise IndexError(event)
        position = bisect_right(self._firsts, event) - 1
        while position > 0 and self._firsts[position - 1] == event:
            position -= 1
        return position + 1

    def context_calls(self, position: int) -> tuple[int, ...]:
        """Calls before the chunk that results in it answer, ascending: shown as one line each."""
        first, last = self._firsts[position], self._lasts[position]
        calls = self._index.calls[first : last + 1]
        if min(calls) >= first:
            return ()
        return tuple(sorted({call for call in calls if call < first}))

    def digest(self, position: int) -> bytes:
        """What the chunk's part of a verdict key is made of: the ordered text digests.

        A piece stands for (digest of the whole text, start, end), which decides its text. Calls
        shown as context decide the answer too, and come first with their number.
        """
        first, last = self._firsts[position], self._lasts[position]
        digests = self._index.digests
        state = sha256()
        context = self.context_calls(position)
        state.update(len(context).to_bytes(4, "big"))
        for call in context:
            state.update(self._index.digest(call))
        state.update(digests[first * DIGEST_BYTES : (last + 1) * DIGEST_BYTES])
        if piece := self._pieces.get(position):
            state.update(f"[{piece.start}:{piece.end}]".encode())
        return state.digest()


def check_chunk_chars(chunk_chars: int) -> int:
    """Return the limit if it is one.

    Raises:
        UsageError: outside `MIN_CHUNK_CHARS` to `MAX_CHUNK_CHARS`.
    """
    if not MIN_CHUNK_CHARS <= chunk_chars <= MAX_CHUNK_CHARS:
        raise UsageError(
            f"chunk size {chunk_chars} is out of range; use {MIN_CHUNK_CHARS} to"
            f" {MAX_CHUNK_CHARS} characters"
        )
    return chunk_chars


def plan_chunks(index: EventIndex, chunk_chars: int = DEFAULT_CHUNK_CHARS) -> ChunkPlan:
    """Cut a session into chunks of at most `chunk_chars` characters of event text.

    Raises:
        UsageError: the limit is out of range.
    """
    limit, cuts = check_chunk_chars(chunk_chars), Cuts()
    for number, thread in enumerate(index.threads):
        _cut_thread(cuts, index, number, thread, limit)
    return ChunkPlan(index, limit, cuts)


def _cut_thread(cuts: Cuts, index: EventIndex, number: int, thread: Thread, limit: int) -> None:
    prefix = index.prefix
    start = thread.first
    while start < thread.end:
        # The first event whose end passes the limit; everything before it fits.
        stop = bisect_right(prefix, prefix[start] + limit, start + 1, thread.end + 1) - 1
        if stop == start:
            _add_pieces(cuts, number, start, index.chars[start], limit)
            start += 1
            continue
        if stop < thread.end:
            stop = _keep_pairs(index, start, stop, limit)
        cuts.add(number, start, stop - 1)
        start = stop


def _keep_pairs(index: EventIndex, start: int, stop: int, limit: int) -> int:
    """Move a cut before event `stop` back so that no call is parted from its result.

    Looks at results up to and including event `stop`, never beyond: what comes later must not
    change an earlier chunk. Gives up where less than half of the limit would be left, or where
    the first event of the next chunk is too large to share a chunk at all.
    """
    calls, prefix = index.calls, index.prefix
    if index.chars[stop] > limit:
        return stop
    cut, seen = stop, stop + 1
    while cut < seen:
        earliest = min(calls[cut:seen])
        seen = cut
        if earliest >= cut:
            break
        cut = earliest
        if cut <= start or 2 * (prefix[cut] - prefix[start]) < limit:
            return stop
    return cut


def _add_pieces(cuts: Cuts, thread: int, event: int, chars: int, limit: int) -> None:
    of = -(-chars // limit)
    for k in range(of):
        piece = Piece(k + 1, of, k * limit, min((k + 1) * limit, chars))
        cuts.add(thread, event, event, piece)
