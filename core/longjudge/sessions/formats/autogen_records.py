"""Requests to a model as AutoGen's recorder keeps them: messages, and the response that they got.

A request that repeats the one before it and goes on from there continues its conversation; any
other begins a session of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from longjudge.sessions.formats.message_events import message_events
from longjudge.sessions.formats.passing_over import passing_over
from longjudge.sessions.formats.retold import RetoldFormat
from longjudge.sessions.model import Event, EventKind, text_digest
from longjudge.sessions.values import is_array, is_object, text_or_none, word

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from longjudge.sessions.formats.retold import Given, Records, Telling

    Record = dict[str, object]

_ROLES = {"SystemMessage": "system", "UserMessage": "user", "AssistantMessage": "assistant"}
_RESULTS = "FunctionExecutionResultMessage"


class AutoGenRecords(RetoldFormat):
    """Reads what the recorder of AutoGen's clients keeps."""

    name = "autogen"

    def recognise(self, head: Sequence[Record], around: Mapping[str, object] | None) -> float:
        """Requests with their mode, and messages by their class."""
        if not head:
            return 0.0
        return sum(map(_is_request, head)) / len(head)

    def retell(self, records: Records, around: Mapping[str, object], telling: Telling) -> None:
        """Tell what each request adds, and its response."""
        told: list[bytes] = []
        session = ""
        for given in records:
            with passing_over(telling, given.number):
                events = _request_events(given)
                marks = [text_digest(event.text) for event in events]
                if not told or marks[: len(told)] != told:
                    session, told = str(given.number), []
                answer = _response_events(given.value.get("response"))
                for event in [*events[len(told) :], *answer]:
                    telling.event(event, given.number, session=session)
                told = [*marks, *(text_digest(event.text) for event in answer)]


def _is_request(record: Record) -> bool:
    messages = record.get("messages")
    if "mode" not in record or "response" not in record or not is_array(messages):
        return False
    return all(is_object(each) and _is_message(each) for each in messages)


def _is_message(message: Record) -> bool:
    return message.get("type") == _RESULTS or word(message.get("type")) in _ROLES


def _request_events(given: Given) -> list[Event]:
    messages = given.value.get("messages")
    return [
        event
        for message in (messages if is_array(messages) else ())
        if is_object(message)
        for event in _message_events(message)
    ]


def _message_events(message: Record) -> list[Event]:
    content = message.get("content")
    if message.get("type") == _RESULTS:
        results = content if is_array(content) else []
        return [
            event
            for each in results
            if is_object(each)
            for event in message_events(
                {**each, "role": "tool", "tool_call_id": each.get("call_id")}
            )
        ]
    role = _ROLES.get(str(message.get("type")), "system")
    if role == "assistant":
        return _response_events(message)
    return message_events({"role": role, "content": content})


def _response_events(response: object) -> list[Event]:
    """An answer: a text, or calls with a thought beside them."""
    if isinstance(response, str):
        response = {"content": response}
    if not is_object(response):
        return []
    events: list[Event] = []
    if thought := text_or_none(response.get("thought")):
        events.append(Event(EventKind.THINKING, thought))
    content = response.get("content")
    if not is_array(content):
        return events + message_events({"role": "assistant", "content": content})
    calls = [{"id": each.get("id"), "function": each} for each in content if is_object(each)]
    return events + message_events({"role": "assistant", "content": None, "tool_calls": calls})
