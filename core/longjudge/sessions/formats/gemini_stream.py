"""The output of `gemini --output-format stream-json`: one event of a run on each line.

An answer comes in pieces (`delta`), which are one message until something else happens.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from longjudge.sessions.formats.message_events import read_arguments
from longjudge.sessions.formats.retold import RetoldFormat
from longjudge.sessions.model import Event, EventKind
from longjudge.sessions.records import TOO_DEEP
from longjudge.sessions.render import render_content, render_input, render_value
from longjudge.sessions.times import iso_time
from longjudge.sessions.values import is_object, text_or_none

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from longjudge.sessions.formats.retold import Records, Telling

    Record = dict[str, object]

_ROLES = {"user": EventKind.USER_MESSAGE, "assistant": EventKind.ASSISTANT_MESSAGE}


class GeminiStream(RetoldFormat):
    """The events that Gemini CLI prints while it runs."""

    name = "gemini-stream-json"

    def recognise(
        self, head: Sequence[dict[str, object]], around: Mapping[str, object] | None
    ) -> float:
        """The share of records that fit, where one at least can be of no other program."""
        if not any(map(_is_sure, head)):
            return 0.0
        return sum(map(_fits, head)) / len(head)

    def retell(self, records: Records, around: Mapping[str, object], telling: Telling) -> None:
        """Tell every event; a resumed run that follows in the same file is the same session."""
        pieces = _Pieces(telling)
        for given in records:
            record = given.value
            try:
                event = None if pieces.take(record, given.number) else _event(record)
            except RecursionError:
                telling.skip(TOO_DEEP, given.number)
                continue
            if event is not None:
                pieces.end()
                telling.event(event, given.number)
            elif record.get("type") == "init":
                pieces.end()
                telling.facts(id=text_or_none(record.get("session_id")), started=_time(record))
            elif not _fits(record):
                telling.note(f"records of type {record.get('type')}", given.number)
        pieces.end()


class _Pieces:
    """An answer in the making."""

    def __init__(self, telling: Telling) -> None:
        self._telling = telling
        self._texts: list[str] = []
        self._record = 0
        self._time: str | None = None

    def take(self, record: Record, number: int) -> bool:
        """Whether a record is a piece of an answer."""
        if record.get("type") != "message" or record.get("role") != "assistant":
            return False
        text = render_content(record.get("content"))
        if record.get("delta") is not True:
            if "".join(self._texts) != text:
                return False
            # All of the answer once more behind its pieces.
            return bool(self._texts)
        if not self._texts:
            self._record, self._time = number, _time(record)
        self._texts.append(text)
        return True

    def end(self) -> None:
        """Something else happened: the answer is complete."""
        body = "".join(self._texts)
        if body:
            event = Event(EventKind.ASSISTANT_MESSAGE, body, timestamp=self._time)
            self._telling.event(event, self._record)
        self._texts.clear()


def _event(record: Record) -> Event | None:
    type_, time = record.get("type"), _time(record)
    if type_ == "message":
        role = record.get("role")
        kind = _ROLES.get(role, EventKind.SYSTEM) if isinstance(role, str) else EventKind.SYSTEM
        body = render_content(record.get("content"))
        return Event(kind, body, timestamp=time) if body else None
    if type_ == "tool_use":
        body = render_input(read_arguments(record.get("parameters", {})))
        tool = text_or_none(record.get("tool_name"))
        return Event(
            EventKind.TOOL_CALL, body, tool, text_or_none(record.get("tool_id")), None, time
        )
    if type_ == "tool_result":
        status = record.get("status")
        failed = True if status == "error" else False if status == "success" else None
        body = render_value(record.get("output"))
        error = render_value(_message(record.get("error")))
        # An error is often told twice, as the output and as itself.
        if error and error not in body:
            body = f"{body}\n{error}" if body else error
        id_ = text_or_none(record.get("tool_id"))
        return Event(EventKind.TOOL_RESULT, body, None, id_, failed, time)
    if type_ == "error":
        kind = EventKind.SYSTEM if record.get("severity") == "warning" else EventKind.ERROR
        return Event(kind, render_value(record.get("message")), timestamp=time)
    if type_ == "result" and record.get("error"):
        return Event(EventKind.ERROR, render_value(_message(record["error"])), timestamp=time)
    return None


def _message(error: object) -> object:
    return error.get("message", error) if is_object(error) else error


def _time(record: Record) -> str | None:
    return iso_time(record.get("timestamp"), "ms")


def _is_sure(record: Record) -> bool:
    type_ = record.get("type")
    if type_ == "init":
        return "session_id" in record and "model" in record and "subtype" not in record
    return type_ == "tool_use" and "tool_id" in record and "parameters" in record


def _fits(record: Record) -> bool:
    type_ = record.get("type")
    if type_ == "message":
        return isinstance(record.get("role"), str) and "content" in record
    if type_ == "tool_result":
        return "tool_id" in record
    if type_ == "error":
        return "message" in record
    if type_ == "result":
        return "status" in record and "subtype" not in record
    return _is_sure(record)
