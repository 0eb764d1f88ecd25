"""The chunk plan: where a session is cut, as a pure function of its index and one limit.

The limit counts the events' texts, in characters or in the fixed token estimate of the index. Each
thread is filled greedily; only an event larger than the limit is cut into pieces. A cut is
moved back so that a call stays with its result, as long as the chunk keeps half of its size. Every
decision looks only at events up to the one that did not fit, so a growing session changes the
last chunk of a thread and no other.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
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
MIN_CHUNK_TOKENS = 100
MAX_CHUNK_TOKENS = 2_000_000

_NO_CONTEXT = bytes(4)


@dataclass(frozen=True, slots=True)
class Piece:
    """Piece `number` (from 1) of `of`: characters `start` to `end` of one event's text."""

    number: int
    of: int
    start: int
    end: int

    @property
    def mark(self) -> bytes:
        """What tells it from other pieces of its event in a digest."""
        return f"[{self.start}:{self.end}]".encode()


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

    def add_pieces(self, thread: int, event: int, bounds: Sequence[int]) -> None:
        """Append the pieces of one event, the `k`-th between two neighbours of `bounds`."""
        of = len(bounds) - 1
        for k in range(of):
            self.pieces[len(self.firsts)] = Piece(k + 1, of, bounds[k], bounds[k + 1])
            self.firsts.append(event)
            self.lasts.append(event)
            self.threads.append(thread)


@dataclass(frozen=True, slots=True)
class Measure:
    """What a plan counts: the size of each event, the running total, and the most of a chunk."""

    limit: int
    by_tokens: bool
    sizes: array[int]
    prefix: array[int]

    @classmethod
    def of(cls, index: EventIndex, chunk_chars: int, chunk_tokens: int | None) -> Measure:
        """Tokens where a limit in tokens is given, else characters.

        Raises:
            UsageError: the limit is out of range.
        """
        if chunk_tokens is None:
            return cls(check_chunk_chars(chunk_chars), False, index.chars, index.prefix)
        return cls(check_chunk_tokens(chunk_tokens), True, index.tokens, index.token_prefix)

    def bounds(self, chars: int, size: int) -> Sequence[int]:
        """Where an event of `chars` characters and `size`, over the limit, is cut into pieces."""
        if not self.by_tokens:
            return [*range(0, chars, self.limit), chars]
        most = max(1, chars * self.limit // size)
        of = -(-chars // most)
        return [k * chars // of for k in range(of + 1)]


class ChunkPlan(Sequence[Chunk]):
    """All chunks of a session under one limit; a chunk object is made when it is looked at."""

    __slots__ = ("_firsts", "_index", "_lasts", "_measure", "_pieces", "_threads")

    def __init__(self, index: EventIndex, measure: Measure, cuts: Cuts) -> None:
        self._index = index
        self._measure = measure
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
            if number < 0:
                raise IndexError(number)
        first, last = self._firsts[number], self._lasts[number]
        piece = self._pieces.get(number)
        prefix = self._index.prefix
        chars = piece.end - piece.start if piece else prefix[last + 1] - prefix[first]
        thread = self._index.threads[self._threads[number]].name
        return Chunk(number + 1, thread, first, last, chars, piece)

    @property
    def limit(self) -> int:
        """The most of a chunk, in characters or, `by_tokens`, in tokens of event text."""
        return self._measure.limit

    @property
    def by_tokens(self) -> bool:
        """Whether the limit counts tokens."""
        return self._measure.by_tokens

    def size(self, position: int) -> int:
        """What of the limit a chunk takes, in its unit."""
        first, last = self._firsts[position], self._lasts[position]
        prefix = self._measure.prefix
        whole = prefix[last + 1] - prefix[first]
        piece = self._pieces.get(position)
        if piece is None:
            return whole
        return -(-whole * (piece.end - piece.start) // self._index.chars[first])

    def fill(self, position: int) -> float:
        """How much of the limit a chunk takes, from 0 to 1."""
        return self.size(position) / self._measure.limit

    def thread_of(self, position: int) -> Thread:
        """The thread whose events a chunk holds."""
        return self._index.threads[self._threads[position]]

    def begins_thread(self, position: int) -> bool:
        """Whether a chunk is the first of one thread among several."""
        if len(self._index.threads) < 2:
            return False
        return not position or self._threads[position - 1] != self._threads[position]

    def thread_starts(self) -> list[tuple[int, int]]:
        """Number of each thread that has chunks, and the position of its first one, in order."""
        firsts, threads = self._firsts, self._threads
        starts: list[tuple[int, int]] = []
        for number, thread in enumerate(self._index.threads):
            position = bisect_left(firsts, thread.first)
            if position < len(firsts) and threads[position] == number:
                starts.append((number, position))
        return starts

    def extents(self) -> tuple[list[int], list[int]]:
        """Characters and number of events of every chunk, without making chunk objects."""
        prefix, lasts = self._index.prefix, self._lasts
        chars = [
            prefix[last + 1] - prefix[first]
            for first, last in zip(self._firsts, lasts, strict=True)
        ]
        for position, piece in self._pieces.items():
            chars[position] = piece.end - piece.start
        return chars, [last - first + 1 for first, last in zip(self._firsts, lasts, strict=True)]

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
        if not self._index.parting[first]:
            return ()
        calls = self._index.calls[first : last + 1]
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
            state.update(piece.mark)
        return state.digest()

    def digests(self) -> Iterator[bytes]:
        """`digest` of every chunk in order, in much less time than one by one."""
        digests, parting, pieces = self._index.digests, self._index.parting, self._pieces
        # A copy of a hash is made in half the time of a new one.
        copy = sha256(_NO_CONTEXT).copy
        for position, (first, last) in enumerate(zip(self._firsts, self._lasts, strict=True)):
            if parting[first]:
                yield self.digest(position)
                continue
            state = copy()
            state.update(digests[first * DIGEST_BYTES : (last + 1) * DIGEST_BYTES])
            if position in pieces:
                state.update(pieces[position].mark)
            yield state.digest()


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


def check_chunk_tokens(chunk_tokens: int) -> int:
    """Return the limit in tokens if it is one.

    Raises:
        UsageError: outside `MIN_CHUNK_TOKENS` to `MAX_CHUNK_TOKENS`.
    """
    if not MIN_CHUNK_TOKENS <= chunk_tokens <= MAX_CHUNK_TOKENS:
        raise UsageError(
            f"chunk size {chunk_tokens} is out of range; use {MIN_CHUNK_TOKENS} to"
            f" {MAX_CHUNK_TOKENS} tokens"
        )
    return chunk_tokens


def plan_chunks(
    index: EventIndex, chunk_chars: int = DEFAULT_CHUNK_CHARS, chunk_tokens: int | None = None
) -> ChunkPlan:
    """Cut a session into chunks of at most `chunk_chars` characters of event text.

    With `chunk_tokens` the limit is that many tokens instead, by the index's fixed estimate.

    Raises:
        UsageError: the limit is out of range.
    """
    measure, cuts = Measure.of(index, chunk_chars, chunk_tokens), Cuts()
    for number, thread in enumerate(index.threads):
        _cut_thread(cuts, index, number, thread, measure)
    return ChunkPlan(index, measure, cuts)


def _cut_thread(
    cuts: Cuts, index: EventIndex, number: int, thread: Thread, measure: Measure
) -> None:
    prefix, limit, calls = measure.prefix, measure.limit, index.calls
    add_first, add_last, add_thread = cuts.firsts.append, cuts.lasts.append, cuts.threads.append
    start, end, near = thread.first, thread.end, 16
    while start < end:
        full = prefix[start] + limit
        # The end is near where the last one was; looking there first saves most of the search.
        high = start + near
        if high > end or prefix[high] <= full:
            high = end + 1
        # The first event whose end passes the limit; everything before it fits.
        stop = bisect_right(prefix, full, start + 1, high) - 1
        if stop == start:
            cuts.add_pieces(number, start, measure.bounds(index.chars[start], measure.sizes[start]))
            start += 1
            continue
        if stop < end and calls[stop] != stop:
            stop = _keep_pairs(calls, measure, start, stop)
        add_first(start)
        add_last(stop - 1)
        add_thread(number)
        near = 2 * (stop - start) + 2
        start = stop


def _keep_pairs(calls: array[int], measure: Measure, start: int, stop: int) -> int:
    """Move a cut before event `stop` back so that no call is parted from its result.

    Looks at results up to and including event `stop`, never beyond: what comes later must not
    change an earlier chunk. Gives up where less than half of the limit would be left, or where
    the first event of the next chunk is too large to share a chunk at all.
    """
    prefix, limit = measure.prefix, measure.limit
    if measure.sizes[stop] > limit:
        return stop
    cut, seen, earliest = stop, stop, calls[stop]
    while earliest < cut:
        cut = earliest
        if cut <= start or 2 * (prefix[cut] - prefix[start]) < limit:
            return stop
        earliest, seen = min(calls[cut:seen]), cut
    return cut
