"""Messages of a team of AutoGen's agents, as its runs give them back and its logs keep them.

Every message names its class and its source. Agents of a team talk to each other, so they are one
thread, and what an agent says begins with its name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from longjudge.sessions.formats.message_events import message_events
from longjudge.sessions.formats.passing_over import passing_over
from longjudge.sessions.formats.retold import RetoldFormat
from longjudge.sessions.model import Event, EventKind
from longjudge.sessions.render import render_content, render_value
from longjudge.sessions.values import is_array, is_object, text_or_none, word

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from longjudge.sessions.formats.retold import Records, Telling

    Message = dict[str, object]

REPEATED = "summaries of tool calls and pieces of streamed answers, which repeat others, left out"

_SAYS = frozenset(
    {"TextMessage", "MultiModalMessage", "StopMessage", "HandoffMessage", "StructuredMessage"}
)
_REPEATS = frozenset({"ToolCallSummaryMessage", "ModelClientStreamingChunkEvent"})
_ASIDE = frozenset({"MemoryQueryEvent", "SelectSpeakerEvent", "SelectorEvent"})
_ALL = frozenset(
    {
        *(*_SAYS, *_REPEATS, *_ASIDE, "ThoughtEvent", "UserInputRequestedEvent"),
        *("ToolCallRequestEvent", "ToolCallExecutionEvent"),
    }
)


class AutoGenTeam(RetoldFormat):
    """Reads the messages of a run, as a list, in a result or one a line."""

    name = "autogen"
    lists: Sequence[str] = ("messages",)

    def recognise(self, head: Sequence[Message], around: Mapping[str, object] | None) -> float:
        """Messages by their class and source."""
        if not head:
            return 0.0
        return sum(word(m.get("type")) in _ALL and "source" in m for m in head) / len(head)

    def retell(self, records: Records, around: Mapping[str, object], telling: Telling) -> None:
        """Tell message after message."""
        for given in records:
            kind = str(given.value.get("type"))
            if kind in _REPEATS:
                telling.note(REPEATED, given.number)
                continue
            with passing_over(telling, given.number):
                for event in _events(given.value, kind):
                    telling.event(event, given.number)
            if kind not in _ALL:
                telling.note(f"messages of the class {kind[:60]}", given.number)


def _events(message: Message, kind: str) -> list[Event]:
    content, source = message.get("content"), render_value(message.get("source"))
    time = text_or_none(message.get("created_at"))
    if kind == "ToolCallRequestEvent":
        calls = [{"id": c.get("id"), "function": c} for c in _objects(content)]
        return message_events({"role": "assistant", "content": None, "tool_calls": calls}, time)
    if kind == "ToolCallExecutionEvent":
        return [
            event
            for each in _objects(content)
            for event in message_events(
                {**each, "role": "tool", "tool_call_id": each.get("call_id")}, time
            )
        ]
    body = render_content(content) if content else ""
    if not body.strip():
        return []
    if kind in _SAYS and source.lower() in ("user", "user_proxy"):
        return [Event(EventKind.USER_MESSAGE, body, timestamp=time)]
    if kind in _SAYS:
        return [Event(EventKind.ASSISTANT_MESSAGE, f"{source}: {body}", timestamp=time)]
    if kind == "ThoughtEvent":
        return [Event(EventKind.THINKING, f"{source}: {body}", timestamp=time)]
    return [Event(EventKind.SYSTEM, body, timestamp=time)]


def _objects(content: object) -> list[Message]:
    return [each for each in (content if is_array(content) else []) if is_object(each)]
