"""Aider's chats: what the user asked, what the model answered, which files aider changed.

The model's answer holds its edits as text; that aider applied one is told as a call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from longjudge.sessions.formats.aider_text import ASSISTANT, BLOCK, TOOL, USER
from longjudge.sessions.formats.retold import RetoldFormat
from longjudge.sessions.model import Event, EventKind
from longjudge.sessions.render import elide_media, render_input
from longjudge.sessions.values import text_or_none

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from longjudge.sessions.formats.retold import Records, Telling

IDLE = "starts of aider without a conversation"

_SPEAKERS = (USER, ASSISTANT, TOOL)
_ACTIONS = (
    ("Applied edit to ", "edit", "path"),
    ("Creating empty file ", "create", "path"),
    ("Running ", "run", "command"),
)


class Aider(RetoldFormat):
    """Tells the blocks of a chat history; each start of aider is a session."""

    name = "aider"

    def recognise(
        self, head: Sequence[dict[str, object]], around: Mapping[str, object] | None
    ) -> float:
        """The share of blocks."""
        fitting = sum(each.get(BLOCK) in _SPEAKERS and "session" in each for each in head)
        return fitting / len(head) if head else 0.0

    def retell(self, records: Records, around: Mapping[str, object], telling: Telling) -> None:
        """One pass; a start of which only aider's own words follow is no session."""
        waiting: list[tuple[Event, int]] = []
        session, spoken, idle = "", False, 0
        for given in records:
            block = given.value
            if (key := str(block.get("session"))) != session:
                idle += bool(waiting)
                waiting.clear()
                session, spoken = key, False
            events = block_events(block)
            if not spoken and all(event.kind is EventKind.SYSTEM for event in events):
                waiting += [(event, given.number) for event in events]
                continue
            if not spoken:
                spoken = True
                started = text_or_none(block.get("started"))
                id_ = started.replace(" ", "T") if started else None
                telling.facts(session=session, id=id_, started=started)
            for event, number in waiting:
                telling.event(event, number, session=session)
            waiting.clear()
            for event in events:
                telling.event(event, given.number, session=session)
        if idle := idle + bool(waiting):
            telling.note(IDLE, None, count=idle)


def block_events(block: Mapping[str, object]) -> list[Event]:
    """The events of one block."""
    text = block.get("text")
    body = elide_media(text) if isinstance(text, str) else ""
    if not body:
        return []
    if block.get(BLOCK) == TOOL:
        return _tool_events(body.split("\n"))
    user = block.get(BLOCK) == USER
    return [Event(EventKind.USER_MESSAGE if user else EventKind.ASSISTANT_MESSAGE, body)]


def _tool_events(lines: list[str]) -> list[Event]:
    """What aider did, and what it said in between; behind a command stands its output."""
    events: list[Event] = []
    said: list[str] = []

    def flush() -> None:
        body = "\n".join(said).strip("\n")
        ran = bool(events) and events[-1].tool == "run"
        kind = EventKind.TOOL_RESULT if ran else EventKind.SYSTEM
        if body:
            events.append(Event(kind, body))
        said.clear()

    for line in lines:
        action = next((each for each in _ACTIONS if line.startswith(each[0])), None)
        if action is None:
            said.append(line)
            continue
        flush()
        start, tool, name = action
        given = render_input({name: line.removeprefix(start).strip()})
        events.append(Event(EventKind.TOOL_CALL, given, tool))
    flush()
    return events
