"""Searches all events of a session: finds what a look at each event's text would, but faster.

The bytes of the records are looked through, a slice at a time, for a word that every text that fits
has in common (`search_words`); only what holds it is decoded, and its text decides. Filters need no
more than the index. Where no word is certain, every event is read: `reads_all` says so.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import compress, count
from operator import gt
from typing import TYPE_CHECKING

from longjudge.errors import SessionError, UsageError
from longjudge.sessions.model import KINDS, Event
from longjudge.sessions.search_factors import ignores_case, pattern_words
from longjudge.sessions.search_filter import EventFilter
from longjudge.sessions.search_match import Phrase
from longjudge.sessions.search_pattern import PatternProcess, StoppedError
from longjudge.sessions.search_query import Mode, Query
from longjudge.sessions.search_words import Needles, best_word, find_needles, verbatim_needles

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator, Sequence

    from longjudge.sessions.model import EventIndex, Session
    from longjudge.sessions.search_places import Place

SLICE_BYTES = 1 << 20
"""How much is searched in one step."""

LOOK_BYTES = 1 << 18
"""How much of it is looked through in one go: what fits into the processor's cache."""

FILTER_EVENTS = 1 << 16
"""The same where only the index is looked at."""

MOST_SLOW = 3
"""A pattern that takes too long for so many events is given up."""

_SPARSE = 8
_FEW_RECORDS = 64


@dataclass(frozen=True, slots=True)
class _Block:
    """Events `first` to `end` (exclusive), whose records stand together in one place."""

    place: Place
    first: int
    end: int


class Search:
    """One search; `hits` are events in order, all of those before `done`, of `events` in all.

    Each of the `steps` is short; `stopped` is asked within those that are not. `unread` counts
    events that cannot be read any more, `slow` those that a pattern took too long for. Made where
    the session is open, it may go on in a thread, and needs to be closed where it takes no step.
    """

    def __init__(
        self,
        session: Session,
        query: Query,
        stopped: Callable[[], bool] = lambda: False,
        *,
        after: Search | None = None,
    ) -> None:
        """Search all events, or those that the session has grown by since `after` has ended."""
        self.hits: array[int] = after.hits if after is not None else array("I")
        self.done = after.done if after is not None else 0
        self.unread = after.unread if after is not None else 0
        self.slow = after.slow if after is not None else 0
        self.reads_all = False
        self.query = query
        self._index = session.index
        # What the session grows by meanwhile is for another search.
        self.events = len(session.index)
        self._stopped = stopped
        self._filter = EventFilter(session.index, query)
        self._phrase = Phrase(query.words, ignore_case=query.ignores_case)
        self._words = _common_words(query)
        self._headers = _Headers(session.index, self._fits_header)
        self._places: Sequence[Place] = ()
        self._needles: list[Needles | None] = []
        if query.mode is not Mode.NONE:
            self._places = session.source.places()
            self._needles = [self._needles_in(place) for place in self._places]
            self.reads_all = any(each is None for each in self._needles)

    @property
    def share(self) -> float:
        """How much of the session is searched, 0 to 1."""
        total = self._index.prefix[self.events]
        return self._index.prefix[self.done] / total if total else 1.0

    def steps(self) -> Generator[None]:
        """Search on, a step at a time.

        Raises:
            UsageError: the pattern takes too long, or cannot be matched here.
        """
        try:
            if self.query.mode is Mode.NONE:
                yield from self._filter_steps()
            else:
                yield from self._text_steps()
        except StoppedError:
            return
        finally:
            self.close()

    def close(self) -> None:
        """Let go of the files."""
        for place in self._places:
            place.close()

    def _filter_steps(self) -> Iterator[None]:
        for first in range(self.done, self.events, FILTER_EVENTS):
            end = min(self.events, first + FILTER_EVENTS)
            allowed = self._filter.mask(first, end)
            self.hits.extend(range(first, end) if allowed is None else _events(first, allowed))
            self.done = end
            yield

    def _text_steps(self) -> Iterator[None]:
        query = self.query
        pattern = (
            PatternProcess(query.words, query.flags, self._stopped)
            if query.mode is Mode.PATTERN
            else None
        )
        with pattern or nullcontext():
            last: Place | None = None
            for block in _blocks(self._index, self.done, self.events, self._places):
                if last is not None and last is not block.place:
                    last.rest()
                last = block.place
                self.hits.extend(self._look_at(block, pattern))
                self.done = block.end
                yield

    def _look_at(self, block: _Block, pattern: PatternProcess | None) -> list[int]:
        """The hits of a block."""
        first, end = block.first, block.end
        named = self._headers.mask(first, end)
        needles = self._needles[self._places.index(block.place)]
        bytes_of = _Bytes(block, self._index)
        wanted: set[int] = set(range(first, end) if needles is None else ())
        if needles is not None:
            wanted |= bytes_of.candidates(needles)
        if 1 in named:
            wanted.update(_events(first, named))
        if not wanted:
            return []
        allowed = self._filter.mask(first, end)
        events = sorted(event for event in wanted if allowed is None or allowed[event - first])
        # What a phrase without line ends stands in the header of is sure; anything else is read.
        sure = pattern is None and "\n" not in self.query.words
        known = [event for event in events if sure and named[event - first]]
        open_ = [event for event in events if not (sure and named[event - first])]
        texts = bytes_of.texts(open_)
        self.unread += bytes_of.unread
        if pattern is None:
            found = [event for event, text in texts if self._phrase.is_in(text)]
        else:
            found = self._match(list(texts), pattern)
        self.unread += bytes_of.unread
        return sorted(known + found) if known else found

    def _match(self, texts: Sequence[tuple[int, str]], pattern: PatternProcess) -> list[int]:
        found: list[int] = []
        while texts:
            answers = pattern.which_hold([text for _, text in texts])
            found += compress((event for event, _ in texts), answers)
            texts = texts[len(answers) :]
            if texts:
                self.slow += 1
                if self.slow >= MOST_SLOW:
                    raise UsageError(
                        f"given up: the pattern takes too long, at last on event {texts[0][0]};"
                        " a simpler one may not"
                    )
                texts = texts[1:]
        return found

    def _fits_header(self, header: str) -> bool:
        """Whether a header holds the phrase; of a pattern, whether a match may reach into it."""
        if self.query.mode is Mode.TEXT and "\n" not in self.query.words:
            return self._phrase.is_in(header)
        low = header.lower()
        return any(word.lower() in low for word in self._words or ())

    def _needles_in(self, place: Place) -> Needles | None:
        query = self.query
        if query.mode is Mode.PATTERN:
            fold = ignores_case(query.words, query.flags)
        else:
            fold = query.ignores_case
            if place.made is None and (whole := verbatim_needles(query.words, ignore_case=fold)):
                return whole
        if not self._words:
            return None
        pattern = query.mode is Mode.PATTERN
        return find_needles(self._words, ignore_case=fold, made=place.made, pattern=pattern)


class _Headers:
    """Which events have a header that fits; each different header is looked at once."""

    def __init__(self, index: EventIndex, fits: Callable[[str], bool]) -> None:
        self._index = index
        self._fits = fits
        self._known: dict[tuple[int, int, int], bool] = {}

    def mask(self, first: int, end: int) -> bytes:
        """For each event 1 where its header fits, else 0."""
        index, known = self._index, self._known
        columns = (index.kinds[first:end], index.errors[first:end], index.tools[first:end])
        keys = list(zip(*columns, strict=True))
        for key in set(keys).difference(known):
            kind, error, tool = key
            name = index.tool_names[tool] or None
            header = Event(KINDS[kind], "", name, is_error=bool(error)).header
            known[key] = self._fits(header)
        return bytes(map(known.__getitem__, keys))


class _Bytes:
    """The records of a block: read once, and one that is longer than a slice by slices."""

    def __init__(self, block: _Block, index: EventIndex) -> None:
        self._block = block
        self._index = index
        records, place = index.records, block.place
        self._first, last = records[block.first], records[block.end - 1]
        self._is_single = self._first == last
        self._start, self._end = place.span(self._first)[0], place.span(last)[1]
        self._data: bytes | None = None
        self.unread = 0

    def candidates(self, needles: Needles) -> set[int]:
        """The events in whose records one of the needles stands."""
        block, found = self._block, set[int]()
        step = min(LOOK_BYTES, SLICE_BYTES)
        for start in range(self._start, self._end, step):
            end = min(self._end, start + step)
            try:
                data = block.place.read(start, min(self._end, end + needles.overlap))
            except SessionError:
                # Each of them is tried, and counted, where it is read.
                return set(range(block.first, block.end))
            found |= self._records_in(needles.prepared(data), start, needles)
            for oddity in needles.oddities:
                places = block.place.oddities.places(oddity, start, end, data)
                found.update(map(self._record_at, places))
            if found and self._is_single:
                break
        return {event for record in found for event in self._events_of(record)}

    def texts(self, events: Sequence[int]) -> Iterator[tuple[int, str]]:
        """The events with their texts, without those that cannot be read any more."""
        index, place = self._index, self._block.place
        record, held = -1, ()
        for event in events:
            if index.records[event] != record:
                record = index.records[event]
                try:
                    held = place.events(self._read(*place.span(record)))
                except (SessionError, ValueError):
                    held = ()
            position = index.positions[event]
            text = held[position].text if position < len(held) else None
            if text is None or len(text) != index.chars[event]:
                self.unread += 1
            else:
                yield event, text

    def _read(self, start: int, end: int) -> bytes:
        """Part of the block; of a long one read anew, of a short one cut out."""
        place = self._block.place
        if self._end - self._start > SLICE_BYTES:
            return place.read(start, end)
        if self._data is None:
            self._data = place.read(self._start, self._end)
        return self._data[start - self._start : end - self._start]

    def _records_in(self, data: bytes, start: int, needles: Needles) -> set[int]:
        """The records in which a needle begins."""
        span = self._block.place.span
        found: set[int] = set()
        for needle in needles.spelled:
            at = data.find(needle)
            while at >= 0:
                record = self._record_at(start + at)
                found.add(record)
                if self._is_single:
                    break
                at = data.find(needle, span(record)[1] - start)
        return found

    def _record_at(self, offset: int) -> int:
        return self._first if self._is_single else self._block.place.last_before(offset) + 1

    def _events_of(self, record: int) -> range:
        block, records = self._block, self._index.records
        first = bisect_left(records, record, block.first, block.end)
        return range(first, bisect_right(records, record, first, block.end))


def _blocks(
    index: EventIndex, first: int, events: int, places: Sequence[Place]
) -> Iterator[_Block]:
    """All events from `first` on, in order, a slice of a file at a time.

    Threads may take turns in a file; where the records of others lie between those of one, the
    blocks become smaller rather than reading all of it again and again.
    """
    records = index.records
    if len(records) > events:
        records = records[:events]
    starts = [place.first for place in places]
    while first < len(records):
        place = places[bisect_right(starts, records[first]) - 1]
        stop = bisect_left(records, place.end, first, _end_of_run(records, first))
        while first < stop:
            end = _end_of_block(records, place, first, stop)
            yield _Block(place, first, end)
            first = end


def _end_of_run(records: Sequence[int], first: int) -> int:
    """The event from which on records do not ascend any more."""
    if isinstance(records, range):
        return len(records)
    look = 256
    while first + 1 < len(records):
        part = records[first : first + look + 1]
        falls = compress(count(first + 1), map(gt, part, part[1:]))
        if (end := next(falls, None)) is not None:
            return end
        first, look = first + len(part) - 1, min(2 * look, FILTER_EVENTS)
    return len(records)


def _end_of_block(records: Sequence[int], place: Place, first: int, stop: int) -> int:
    record = last = records[first]
    if place.ordered:
        limit = place.span(record)[0] + SLICE_BYTES
        last = min(max(record, place.last_before(limit)), records[stop - 1])
    end = bisect_right(records, last, first, stop)
    while last - record > _SPARSE * (end - first) + _FEW_RECORDS:
        last = record + (last - record) // 2
        end = bisect_right(records, last, first, stop)
    return end


def _events(first: int, mask: Iterable[int]) -> Iterator[int]:
    return compress(count(first), mask)


def _common_words(query: Query) -> frozenset[str] | None:
    """Words of which each text that fits has one; None where nothing is sure."""
    if query.mode is Mode.PATTERN:
        return pattern_words(query.words, query.flags)
    word = best_word(query.words)
    return frozenset({word}) if word else None
