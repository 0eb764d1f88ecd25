"""Copilot CLI's sessions of 2025: one document with the messages that the model was sent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longjudge.errors import NotASessionError
from longjudge.sessions.formats.message_events import message_events
from longjudge.sessions.formats.retold import RetoldFormat
from longjudge.sessions.records import TOO_DEEP
from longjudge.sessions.values import is_array, is_object, text_or_none

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from longjudge.sessions.formats.retold import Records, Telling

_MESSAGES = "chatMessages"


class CopilotHistory(RetoldFormat):
    """A file of `history-session-state`; its timeline repeats the messages for the screen."""

    name = "copilot-cli"
    lists = (_MESSAGES,)

    def recognise(
        self, head: Sequence[dict[str, object]], around: Mapping[str, object] | None
    ) -> float:
        """All or nothing: whether the document has its messages under that name."""
        document = around if around is not None else head[0] if len(head) == 1 else {}
        return float(_MESSAGES in document and ("sessionId" in document or "timeline" in document))

    def retell(self, records: Records, around: Mapping[str, object], telling: Telling) -> None:
        """Tell the messages in order."""
        _tell_facts(around, telling)
        told = 0
        for number, message in _messages(records, telling):
            try:
                events = message_events(message)
            except RecursionError:
                telling.skip(TOO_DEEP, number)
                continue
            for event in events:
                told += 1
                telling.event(event, number)
        if not told:
            raise NotASessionError("a Copilot CLI session without a message")


def _messages(records: Records, telling: Telling) -> Iterator[tuple[int, dict[str, object]]]:
    for given in records:
        inner = given.value.get(_MESSAGES)
        if not is_array(inner):
            yield given.number, given.value
            continue
        _tell_facts(given.value, telling)
        for message in inner:
            if is_object(message):
                yield given.number, message


def _tell_facts(document: Mapping[str, object], telling: Telling) -> None:
    telling.facts(
        id=text_or_none(document.get("sessionId")),
        started=text_or_none(document.get("startTime")),
    )
