"""Which events a query lets count, whatever their text: by kind, tool and error."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longjudge.sessions.model import KIND_CODES, EventKind

if TYPE_CHECKING:
    from longjudge.sessions.model import EventIndex
    from longjudge.sessions.search_query import Query

_ERROR = KIND_CODES[EventKind.ERROR]


class EventFilter:
    """Looks at nothing but the arrays of the index."""

    def __init__(self, index: EventIndex, query: Query) -> None:
        self._index = index
        self._wanted = query.filters
        self._errors = query.errors
        self._kinds = bytes(
            code < len(KIND_CODES) and (not query.kinds or code in _codes(query))
            for code in range(256)
        )
        names = enumerate(index.tool_names)
        self._tools = (
            frozenset(code for code, name in names if name and query.fits_tool(name))
            if query.tools
            else None
        )

    def mask(self, first: int, end: int) -> bytes | None:
        """For each event 1 where it counts, else 0; None where all do."""
        if not self._wanted:
            return None
        index = self._index
        kinds = index.kinds[first:end].tobytes()
        mask = kinds.translate(self._kinds)
        if self._errors:
            failed = map(_ERROR.__eq__, kinds)
            mask = bytes(map(int.__and__, mask, map(int.__or__, index.errors[first:end], failed)))
        if self._tools is not None:
            # A result is of the tool that was called, also where only the call names it.
            called = map(index.tools.__getitem__, index.calls[first:end])
            own = map(self._tools.__contains__, index.tools[first:end])
            either = map(int.__or__, own, map(self._tools.__contains__, called))
            mask = bytes(map(int.__and__, mask, either))
        return mask


def _codes(query: Query) -> set[int]:
    return {KIND_CODES[kind] for kind in query.kinds}
