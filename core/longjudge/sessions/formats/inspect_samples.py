"""The parts of a sample of an Inspect log, wherever they are kept.

A sample is one JSON object, or it is kept in chunks: a shell, and the chunks of its messages,
events and attachments, each a record of its own. Of those a few at a time are held.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict
from typing import TYPE_CHECKING, Protocol

from longjudge.sessions.values import is_array, is_object

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from longjudge.sessions.formats.retold import Given, Records

    Message = dict[str, object]
    Handle = int | Message

PART = "inspect_part"
"""Names what a chunk holds, in a record that an archive's reader made of it."""
PREFIX = "sample_prefix"
START = "start"
ITEMS = "items"
NAMES = "names"
"""Names the names of attachments, where they do not go by their number."""
CONVERSATION = "conversation"
"""Names the messages of a sample that was taken apart, where those of the pool are `messages`."""
SHELL = "sample"

_CHUNKS_HELD = 3
_MAX_REPEATED, _MAX_REPEATS = 1_000_000, 50
"""How often requests may give the messages of a pool again; more is made up."""


class Sample(Protocol):
    """What a sample holds.

    A handle is a message, or its number in the pool; `message` gets the message again.
    """

    number: int
    fields: Message

    @property
    def lost(self) -> int:
        """How many messages and events the log should hold and does not, as far as it was read."""
        ...

    def messages(self) -> Iterator[tuple[int, Handle]]:
        """The messages of the conversation, each with the number of its record."""
        ...

    def events(self) -> Iterator[tuple[int, Message]]:
        """The events, in order, each with the number of its record."""
        ...

    def message(self, handle: Handle) -> Message | None:
        """The message of a handle."""
        ...

    def pool_size(self) -> int:
        """How many messages the pool holds."""
        ...

    def attachment(self, name: str) -> str | None:
        """The text that a reference names."""
        ...


class WholeSample:
    """A sample that is one record."""

    def __init__(self, given: Given) -> None:
        self.number = given.number
        self.fields = fields = given.value
        old = fields.get("transcript")
        old = old if is_object(old) else {}
        data = fields.get("events_data")
        pool = data.get("messages") if is_object(data) else fields.get("message_pool")
        self._pool = pool if is_array(pool) else []
        events = fields.get("events") or old.get("events")
        self._events = events if is_array(events) else []
        self._attachments = [fields.get("attachments"), old.get("content")]

    @property
    def lost(self) -> int:
        """None: it is whole."""
        return 0

    def messages(self) -> Iterator[tuple[int, Handle]]:
        """The messages of the conversation."""
        messages = self.fields.get("messages")
        for message in messages if is_array(messages) else ():
            if is_object(message):
                yield self.number, message

    def events(self) -> Iterator[tuple[int, Message]]:
        """The events, in order."""
        for event in self._events:
            if is_object(event):
                yield self.number, event

    def message(self, handle: Handle) -> Message | None:
        """The message of a handle."""
        if not isinstance(handle, int):
            return handle
        found = self._pool[handle] if 0 <= handle < len(self._pool) else None
        return found if is_object(found) else None

    def pool_size(self) -> int:
        """How many messages the pool holds."""
        return len(self._pool)

    def attachment(self, name: str) -> str | None:
        """The text that a reference names."""
        for known in self._attachments:
            found = known.get(name) if is_object(known) else None
            if isinstance(found, str):
                return found
        return None


class ChunkedSample:
    """A sample whose messages, events and attachments stand in chunks."""

    def __init__(self, shell: Given, records: Records, chunks: dict[str, dict[int, int]]) -> None:
        fields = shell.value.get(ITEMS)
        self.number = shell.number
        self.fields: Message = fields if is_object(fields) else {}
        self._conversation = _Chunks(records, chunks.get(CONVERSATION, {}))
        self._messages = _Chunks(records, chunks.get("messages", {}))
        self._events = _Chunks(records, chunks.get("events", {}))
        self._attachments = _Chunks(records, chunks.get("attachments", {}))
        self._places = self._attachments.places()
        self._lost = 0

    @property
    def lost(self) -> int:
        """Messages and events that the log should hold and does not."""
        return self._lost + self._conversation.gaps() + self._messages.gaps() + self._events.gaps()

    def messages(self) -> Iterator[tuple[int, Handle]]:
        """The messages of the conversation: its own, or ranges of the pool.

        The handle of one of its own is below zero.
        """
        for number, first, items in self._conversation.all():
            yield from ((number, -1 - first - offset) for offset in range(len(items)))
        if len(self._conversation):
            return
        refs = self.fields.get("message_refs")
        if not is_array(refs):
            refs = [[0, self._messages.known_end()]]
        self._lost = _beyond(refs, self._messages.known_end())
        for position in positions(refs, self._messages.known_end()):
            yield self._messages.record(position) or self.number, position

    def events(self) -> Iterator[tuple[int, Message]]:
        """The events, in order."""
        for number, _, items in self._events.all():
            for item in items:
                if is_object(item):
                    yield number, item

    def message(self, handle: Handle) -> Message | None:
        """The message of a handle."""
        if not isinstance(handle, int):
            return handle
        chunks = self._messages if handle >= 0 else self._conversation
        found = chunks.item(handle if handle >= 0 else -1 - handle)
        return found if is_object(found) else None

    def pool_size(self) -> int:
        """How many messages the pool holds."""
        return self._messages.known_end()

    def attachment(self, name: str) -> str | None:
        """The text that a reference names, or gives the number of."""
        place = self._places.get(name)
        if place is None and not self._places and name.isdecimal() and len(name) < 10:
            place = int(name)
        found = None if place is None else self._attachments.item(place)
        return found if isinstance(found, str) else None


class _Chunks:
    """A sequence in chunks, by the position of their first item; a few chunks are held."""

    def __init__(self, records: Records, chunks: dict[int, int]) -> None:
        self._records = records
        self._starts = sorted(chunks)
        self._numbers = [chunks[start] for start in self._starts]
        self._held: OrderedDict[int, Sequence[object]] = OrderedDict()
        self._sizes: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._starts)

    def places(self) -> dict[str, int]:
        """The positions of items by their names, where they have any."""
        found: dict[str, int] = {}
        for start, number in zip(self._starts, self._numbers, strict=True):
            for given in self._records.at(number):
                names = given.value.get(NAMES)
                for offset, name in enumerate(names if is_array(names) else ()):
                    found[str(name)] = start + offset
        return found

    def known_end(self) -> int:
        """The position behind the last item."""
        if not self._starts:
            return 0
        return self._starts[-1] + len(self._items(self._numbers[-1]))

    def all(self) -> Iterator[tuple[int, int, Sequence[object]]]:
        """The items of each chunk, with the number of its record and the position of the first."""
        for start, number in zip(self._starts, self._numbers, strict=True):
            yield number, start, self._items(number)

    def gaps(self) -> int:
        """How many items are missing between the chunks that were read and those behind them."""
        ends = (
            start + self._sizes.get(number, following - start)
            for start, number, following in zip(
                self._starts, self._numbers, self._starts[1:], strict=False
            )
        )
        missing = (max(0, start - end) for start, end in zip(self._starts[1:], ends, strict=False))
        return sum(missing) + (self._starts[0] if self._starts else 0)

    def record(self, position: int) -> int | None:
        """The number of the record that an item stands in."""
        chunk = bisect_right(self._starts, position) - 1
        return self._numbers[chunk] if chunk >= 0 else None

    def item(self, position: int) -> object:
        """The item at a position."""
        chunk = bisect_right(self._starts, position) - 1
        if chunk < 0:
            return None
        items = self._items(self._numbers[chunk])
        offset = position - self._starts[chunk]
        return items[offset] if offset < len(items) else None

    def _items(self, number: int) -> Sequence[object]:
        if number in self._held:
            self._held.move_to_end(number)
            return self._held[number]
        given = self._records.at(number)
        items = given[0].value.get(ITEMS) if given else None
        found = items if is_array(items) else []
        self._held[number] = found
        self._sizes[number] = len(found)
        if len(self._held) > _CHUNKS_HELD:
            self._held.popitem(last=False)
        return found


def positions(refs: object, size: int) -> Iterator[int]:
    """The positions of ranges `[start, end)` in a pool, as many as it holds at most."""
    left = size
    for start, end in _ranges(refs, size):
        found = range(start, end)[:left]
        left -= len(found)
        yield from found


def _beyond(refs: Sequence[object], size: int) -> int:
    """How many positions the ranges name that are behind the end of the pool."""
    ends = (pair[1] for pair in refs if is_array(pair) and len(pair) == 2)
    return max((end - size for end in ends if isinstance(end, int)), default=0)


def _ranges(refs: object, size: int) -> Iterator[tuple[int, int]]:
    """The ranges that are not empty, cut to the size of the pool."""
    for pair in refs if is_array(refs) else ():
        if not is_array(pair) or len(pair) != 2:
            continue
        start, end = pair
        if isinstance(start, int) and isinstance(end, int):
            start, end = max(0, start), min(end, size)
            if start < end:
                yield start, end


class Inputs:
    """What models were given, request after request: messages, or positions in the pool.

    A request repeats the ones before it. Of a range that goes on where an earlier one with the
    same start ended, only what is new is given, behind the last one that is not.
    """

    def __init__(self, sample: Sample) -> None:
        self._size = sample.pool_size()
        self._left = _MAX_REPEATED + _MAX_REPEATS * self._size
        self._ends: dict[int, int] = {}

    def of(self, event: Message) -> Iterator[Handle]:
        """The messages of a request, as far as they may be new."""
        given = event.get("input")
        if is_array(given) and given:
            yield from (each for each in given if is_object(each))
            return
        for start, end in _ranges(event.get("input_refs"), self._size):
            known = self._ends.get(start, start)
            first = max(start, min(known, end) - 1)
            self._left -= end - first
            if self._left < 0:
                return
            self._ends[start] = max(known, end)
            yield from range(first, end)
