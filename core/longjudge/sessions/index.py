"""Builds the event index row by row, and pairs each result with its call."""

from __future__ import annotations

from array import array

from longjudge.sessions.columns import followed, joined, widened
from longjudge.sessions.model import DIGEST_BYTES, KIND_CODES, Event, EventIndex, EventKind

_CALL, _RESULT = EventKind.TOOL_CALL, EventKind.TOOL_RESULT

MOST_OPEN = 100_000
"""How many calls wait for their results; the one that waits longest is given up for a newer one."""


class ToolNames:
    """The tools of a session, each with the number that the index stores."""

    def __init__(self) -> None:
        self.names = [""]
        self._codes = {"": 0}

    def code(self, tool: str) -> int:
        """The number of a tool, a new one for a new tool."""
        code = self._codes.get(tool)
        if code is None:
            code = self._codes[tool] = len(self.names)
            self.names.append(tool)
        return code


def extend_index(index: EventIndex, more: EventIndex, offset: int = 0) -> None:
    """Append rows, `offset` added to the calls that they answer; the index is not sealed then."""
    records = more.records
    assert isinstance(records, array)
    index.records = followed(index.records, records)
    for name in ("kinds", "errors", "positions", "chars", "tokens", "tools"):
        setattr(index, name, joined(getattr(index, name), getattr(more, name)))
    index.calls = joined(index.calls, more.calls, offset)
    index.digests += more.digests


class IndexBuilder:
    """Rows of one thread, in order; the tools' names are those of the whole session.

    `rewritten` says that a row was to be taken back that stands in an index already given out.
    """

    def __init__(self, tools: ToolNames) -> None:
        self._tools = tools
        self.rewritten = False
        self._before = 0
        self._open_by_id: dict[str, list[int]] = {}
        self._open_last: int | None = None
        self._last_id: str | None = None
        self.index = self._new_index()

    def __len__(self) -> int:
        return self._before + len(self.index.kinds)

    def go_on(self) -> EventIndex:
        """Add rows to another index from now on, one that is to stand behind what there is."""
        self._before = len(self)
        self.index = self._new_index()
        return self.index

    def _new_index(self) -> EventIndex:
        index = self.index = EventIndex(
            positions=array("B"), chars=array("H"), tokens=array("H"), tools=array("B")
        )
        # Bound once: these run for every event of a file.
        self._add_kind = index.kinds.append
        self._add_error = index.errors.append
        records: array[int] = array("I")
        index.records = records
        self._add_record = records.append
        self._add_call = index.calls.append
        self._add_digest = index.digests.extend
        self._bind_columns()
        return index

    def _bind_columns(self) -> None:
        """Those whose items may become larger."""
        index = self.index
        self._add_position = index.positions.append
        self._add_chars = index.chars.append
        self._add_tokens = index.tokens.append
        self._add_tool = index.tools.append

    def add(
        self, event: Event, record: int, position: int, digest: bytes, chars: int, tokens: int
    ) -> None:
        """Append a row for an event: the `position`-th of a record."""
        kind = event.kind
        tool = self._tools.code(event.tool) if event.tool else 0
        row = len(self.index.kinds)
        call = self._before + row
        if kind is _CALL:
            if event.call_id:
                self._note_open(event.call_id, call)
            self._open_last, self._last_id = call, event.call_id
        else:
            if kind is _RESULT:
                call = self._call_of(call, event.call_id)
            self._open_last = None
        self._add_kind(KIND_CODES[kind])
        self._add_error(1 if event.is_error else 0)
        self._add_record(record)
        self._add_call(call)
        self._add_digest(digest)
        try:
            self._add_position(position)
            self._add_chars(chars)
            self._add_tokens(tokens)
            self._add_tool(tool)
        except OverflowError:
            self._make_room(row, positions=position, chars=chars, tokens=tokens, tools=tool)

    def take_back(self) -> bool:
        """Drop the last row, of an event that is no call and no result; false where it is fixed."""
        index = self.index
        if not index.kinds:
            self.rewritten = True
            return False
        records = index.records
        assert isinstance(records, array)
        for column in (index.kinds, index.errors, records, index.positions, index.chars):
            column.pop()
        for column in (index.tokens, index.tools, index.calls):
            column.pop()
        del index.digests[-DIGEST_BYTES:]
        return True

    def _make_room(self, row: int, **values: int) -> None:
        """Append what is still missing of a row, to columns that are widened where they must be."""
        for name, value in values.items():
            column: array[int] = getattr(self.index, name)
            if len(column) > row:
                continue
            while value >> (8 * column.itemsize):
                column = widened(column)
                setattr(self.index, name, column)
            column.append(value)
        self._bind_columns()

    def _note_open(self, call_id: str, call: int) -> None:
        waiting = self._open_by_id
        if call_id in waiting:
            waiting[call_id].append(call)
            return
        waiting[call_id] = [call]
        if len(waiting) > MOST_OPEN:
            del waiting[next(iter(waiting))]

    def _call_of(self, number: int, call_id: str | None) -> int:
        """The call that a result answers, or the result itself.

        Ids may be missing, repeated or all the same: the latest call of that id that has no
        answer yet is meant. Without id, only a call directly before can be.
        """
        if not call_id:
            if self._open_last is None:
                return number
            call_id = self._last_id
            if not call_id:
                return self._open_last
        waiting = self._open_by_id.get(call_id)
        if not waiting:
            return number
        call = waiting.pop()
        if not waiting:
            del self._open_by_id[call_id]
        return call
