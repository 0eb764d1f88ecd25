"""VS Code's chat sessions: a document of requests, or the log of changes to one."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

from longjudge.errors import NotASessionError
from longjudge.sessions.formats.mutation_log import MutationLog, is_log_entry
from longjudge.sessions.formats.retold import RetoldFormat
from longjudge.sessions.formats.vscode_turns import Turn, request_events
from longjudge.sessions.model import Severity
from longjudge.sessions.records import TOO_DEEP
from longjudge.sessions.times import iso_time
from longjudge.sessions.values import is_array, is_object, text_or_none

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from longjudge.sessions.formats.retold import Records, Telling

_REQUESTS = "requests"
_MISFITS = "changes that fit nothing in the session, left out"


class VsCodeChat(RetoldFormat):
    """Reads a chat request by request; a log of changes is replayed first."""

    name = "copilot-vscode"
    lists = (_REQUESTS,)

    def recognise(
        self, head: Sequence[dict[str, object]], around: Mapping[str, object] | None
    ) -> float:
        """The share of records that are requests, changes, or whole chats."""
        if not head:
            return 0.0
        if is_log_entry(head[0]):
            first = head[0].get("v")
            if not is_object(first) or _REQUESTS not in first:
                return 0.0
            return sum(map(is_log_entry, head)) / len(head)
        return sum(_is_request(record) or _is_chat(record) for record in head) / len(head)

    def retell(self, records: Records, around: Mapping[str, object], telling: Telling) -> None:
        """Tell every request with its response."""
        touched = _Touched()
        log = MutationLog(touched.take)
        replayed = False
        chats = 0
        for given in records:
            if is_log_entry(given.value):
                log.take(given.value, given.number)
                replayed = True
            elif _is_chat(given.value):
                chats += 1
                key = text_or_none(given.value.get("sessionId")) or f"chat {chats}"
                _tell_chat(given.value, given.number, key, telling)
            else:
                _tell_request(given.value, given.number, "", telling)
        _facts(around, "", telling)
        if replayed and is_object(log.value):
            _tell_chat(log.value, touched, "", telling)
        if log.misfits:
            telling.note(_MISFITS, None, Severity.WARNING, log.misfits)
        if replayed and not _requests(log.value):
            raise NotASessionError("a chat of VS Code in which nothing was asked yet")


class _Touched:
    """Which record last changed which request."""

    def __init__(self) -> None:
        self._first = 0
        self._records: dict[int, int] = {}
        self._order: list[int] = []

    def take(self, path: list[object], record: int, first: int) -> None:
        """A change to what stands at a path."""
        if not path:
            self._first = record
            self._records.clear()
        elif path[0] != _REQUESTS:
            return
        elif len(path) == 1:
            # What is appended comes without its number; all from here on is new.
            for number in [each for each in self._records if each >= first]:
                del self._records[number]
            self._records[first] = record
        elif isinstance(path[1], int):
            self._records[path[1]] = record

    def record_of(self, request: int) -> int:
        """The record of a request."""
        if len(self._order) != len(self._records):
            self._order = sorted(self._records)
        place = bisect_right(self._order, request)
        return self._records[self._order[place - 1]] if place else self._first


def _tell_chat(
    chat: dict[str, object], records: int | _Touched, key: str, telling: Telling
) -> None:
    _facts(chat, key, telling)
    for number, request in enumerate(_requests(chat)):
        record = records if isinstance(records, int) else records.record_of(number)
        if is_object(request):
            _tell_request(request, record, key, telling)


def _tell_request(request: dict[str, object], record: int, session: str, telling: Telling) -> None:
    turn = Turn(lambda reason: telling.note(reason, record))
    try:
        for told in request_events(request, turn):
            telling.event(told.event, record, session=session, thread=told.thread)
            if told.starter:
                telling.starts(told.thread, call_id=told.starter, session=session)
    except RecursionError:
        telling.skip(TOO_DEEP, record)


def _facts(source: Mapping[str, object], session: str, telling: Telling) -> None:
    telling.facts(
        session=session,
        id=text_or_none(source.get("sessionId")),
        title=text_or_none(source.get("customTitle")),
        started=iso_time(source.get("creationDate"), "ms"),
    )


def _requests(chat: object) -> list[object]:
    requests = chat.get(_REQUESTS) if is_object(chat) else None
    return requests if is_array(requests) else []


def _is_request(record: dict[str, object]) -> bool:
    said = record.get("message")
    return "requestId" in record and is_object(said) and is_array(record.get("response"))


def _is_chat(record: dict[str, object]) -> bool:
    return is_array(record.get(_REQUESTS)) and "responderUsername" in record
