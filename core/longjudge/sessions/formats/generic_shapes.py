"""What follows from the keys of an event object alone, found once for all that have the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from longjudge.sessions.model import Event, EventKind
from longjudge.sessions.render import render_content, render_input, render_value
from longjudge.sessions.values import bool_or_none

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class Shape:
    """Which key says what in objects of one kind with the same keys."""

    kind: EventKind
    body_key: str
    tool_key: str | None
    id_key: str | None
    time_key: str | None
    error_keys: Sequence[str]
    extras: Sequence[str]

    def event(self, record: dict[str, object]) -> Event | None:
        """The event of an object without nulls; None where its values decide more."""
        kind, tool = self.kind, None
        if self.tool_key is not None:
            tool = record[self.tool_key]
            if not isinstance(tool, str) or not tool:
                return None
        value = record[self.body_key]
        body = render_input(value) if kind is EventKind.TOOL_CALL else render_content(value)
        if self.extras:
            body = join(body, render_input({key: record[key] for key in self.extras}))
        is_error = None
        for key in self.error_keys:
            is_error = bool_or_none(record[key]) if is_error is None else is_error
        return Event(
            kind,
            body,
            tool,
            (render_value(record[self.id_key]) or None) if self.id_key else None,
            is_error,
            render_value(record[self.time_key]) if self.time_key else None,
        )


def join(body: str, extras: str) -> str:
    """What an event says, and what else its object says."""
    return f"{body}\n{extras}" if body and extras else body or extras
