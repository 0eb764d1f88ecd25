"""Builds the event index row by row, and pairs each result with its call."""

from __future__ import annotations

from longjudge.sessions.model import KIND_CODES, Event, EventIndex, EventKind, Thread


class IndexBuilder:
    """Rows of one thread, in order."""

    def __init__(self) -> None:
        self.index = EventIndex()
        self._tool_codes = {"": 0}
        self._open_by_id: dict[str, list[int]] = {}
        self._open_last: int | None = None
        self._last_id: str | None = None

    def __len__(self) -> int:
        return len(self.index.kinds)

    def add(self, event: Event, record: int, position: int, digest: bytes, chars: int) -> None:
        """Append a row for an event: the `position`-th of a record."""
        index = self.index
        number = len(index.kinds)
        kind = event.kind
        index.kinds.append(KIND_CODES[kind])
        index.errors.append(1 if event.is_error else 0)
        index.records.append(record)
        index.positions.append(position)
        index.chars.append(chars)
        index.digests += digest
        index.tools.append(self._tool_code(event.tool) if event.tool else 0)
        call = number
        if kind is EventKind.TOOL_CALL:
            if event.call_id:
                self._open_by_id.setdefault(event.call_id, []).append(number)
            self._open_last, self._last_id = number, event.call_id
        else:
            if kind is EventKind.TOOL_RESULT:
                call = self._call_of(number, event.call_id)
            self._open_last = None
        index.calls.append(call)

    def finish(self) -> EventIndex:
        """The sealed index, one thread named `main`."""
        self.index.seal((Thread("main", 0, len(self)),) if len(self) else ())
        return self.index

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

    def _tool_code(self, tool: str) -> int:
        code = self._tool_codes.get(tool)
        if code is None:
            code = self._tool_codes[tool] = len(self.index.tool_names)
            self.index.tool_names.append(tool)
        return code
