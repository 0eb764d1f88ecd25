"""Conversations of several agents in one room, as AutoGen keeps them and Who&When hands them out.

Every message names its speaker, in `name` or in the role: `Orchestrator (-> WebSurfer)`. All of
them talk to each other, so they stay one thread, and each message begins with who says it. Calls
and outputs are code and text in messages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from longjudge.sessions.formats.passing_over import passing_over
from longjudge.sessions.formats.retold import RetoldFormat
from longjudge.sessions.model import Event, EventKind
from longjudge.sessions.render import render_content, render_value
from longjudge.sessions.values import text_or_none

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from longjudge.sessions.formats.retold import Records, Telling

    Message = dict[str, object]

_LISTS = ("history",)
_PEOPLE = frozenset({"human", "human_user", "user", "user_proxy", "userproxy"})
_MARKS = frozenset({"mistake_agent", "question_ID", "groundtruth", "ground_truth", "is_correct"})
_LABEL_CHARS = 100


class AgentChats(RetoldFormat):
    """Reads histories of conversations between agents."""

    name = "autogen"
    lists: Sequence[str] = _LISTS

    def recognise(self, head: Sequence[Message], around: Mapping[str, object] | None) -> float:
        """Messages with names for their speakers, in a history with the question it is about."""
        if not head or around is None or not _MARKS & around.keys():
            return 0.0
        return sum(map(_is_message, head)) / len(head)

    def retell(self, records: Records, around: Mapping[str, object], telling: Telling) -> None:
        """Tell the question, where no message repeats it, and the messages."""
        question = render_value(text_or_none(around.get("question")))
        telling.facts(id=text_or_none(around.get("question_ID")), title=question.strip() or None)
        asked = not question
        for given in records:
            with passing_over(telling, given.number):
                event = _event(given.value)
                if event is None:
                    continue
                if not asked:
                    if question.strip() not in event.body:
                        telling.event(Event(EventKind.USER_MESSAGE, question), given.number)
                    asked = True
                telling.event(event, given.number)


def _is_message(record: Message) -> bool:
    return "content" in record and isinstance(record.get("role"), str) and "kind" not in record


def _event(message: Message) -> Event | None:
    """A message by its speaker: a person, an agent, or an agent that thinks."""
    body = render_content(message.get("content") or "")
    if not body.strip():
        return None
    speaker, aside = _speaker(message)
    if aside == "thought":
        return Event(EventKind.THINKING, f"{speaker}: {body}")
    if speaker.lower() in _PEOPLE:
        return Event(EventKind.USER_MESSAGE, body)
    if message.get("role") == "system":
        return Event(EventKind.SYSTEM, body)
    to = f" ({aside})" if aside else ""
    return Event(EventKind.ASSISTANT_MESSAGE, f"{speaker}{to}: {body}")


def _speaker(message: Message) -> tuple[str, str]:
    """The name of who speaks, and what stands behind it in brackets."""
    label = text_or_none(message.get("name")) or render_value(message.get("role"))
    name, bracket, rest = label.strip().partition("(")
    name, inside = name.strip(), rest.removesuffix(")")
    closed = not bracket or rest != inside
    if not 0 < len(name) <= _LABEL_CHARS or ")" in name or len(inside) > _LABEL_CHARS or not closed:
        return label[:200], ""
    return name, inside.strip()
