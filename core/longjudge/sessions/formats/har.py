"""HTTP archives and test recordings of calls to a model.

Each request repeats the conversation, each answer goes on with it.
"""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING

from longjudge.errors import NotASessionError
from longjudge.sessions.formats.held_messages import held_messages
from longjudge.sessions.formats.retold import RetoldFormat
from longjudge.sessions.formats.spans import openings_of
from longjudge.sessions.formats.streamed_answers import answer_messages
from longjudge.sessions.formats.told_once import ToldOnce, events_of
from longjudge.sessions.formats.unpacked import unpacked
from longjudge.sessions.model import Event, EventKind, Severity
from longjudge.sessions.records import TOO_DEEP
from longjudge.sessions.render import compact_json, render_value
from longjudge.sessions.times import iso_time
from longjudge.sessions.values import is_array, is_object

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from longjudge.sessions.formats.retold import Records, Telling

    Entry = dict[str, object]

NO_ANSWER = "requests to a model whose answer was not recorded"

_ASKED = ("messages", "contents", "input", "prompt")
_POSTED_KEYS = ("postData", "content", "body")
_BODY_KEYS = ("text", "data", "string")
_FAILED = 400


class HttpArchive(RetoldFormat):
    """Reads the requests to models; each conversation, known by how it begins, is a session."""

    name = "har"
    lists: Sequence[str] = ("log.entries",)

    def recognise(
        self, head: Sequence[dict[str, object]], around: Mapping[str, object] | None
    ) -> float:
        """The share of records that are a request with its response, or an archive of none."""
        return sum(_is_entry(each) or _is_archive(each) for each in head) / len(head or [1])

    def retell(self, records: Records, around: Mapping[str, object], telling: Telling) -> None:
        """Tell of each request what is new, and its answer."""
        told: dict[tuple[int, ...], ToldOnce] = {}
        count = 0
        for given in records:
            count += _is_entry(given.value)
            body = _request(given.value)
            if body is None:
                continue
            try:
                _tell_exchange(given.value, body, given.number, told, telling)
            except RecursionError:
                telling.skip(TOO_DEEP, given.number)
        if not told:
            raise NotASessionError(
                f"an HTTP archive (HAR) with {count} requests, none of them to a model; record the"
                " calls to the model's interface"
            )


class RequestRecordings(HttpArchive):
    """Reads what a test recorded of its requests to a model, named by the model's interface."""

    lists = ("interactions",)

    def __init__(self, name: str, *, anthropic: bool) -> None:
        self.name = name
        self._anthropic = anthropic

    def recognise(
        self, head: Sequence[dict[str, object]], around: Mapping[str, object] | None
    ) -> float:
        """The share of records that are a request with its response, to this interface."""
        if any(map(_is_to_anthropic, head)) is not self._anthropic:
            return 0.0
        return sum(map(_is_entry, head)) / len(head or [1])


def _is_to_anthropic(entry: Entry) -> bool:
    request = entry.get("request")
    url = request.get("url", request.get("uri")) if is_object(request) else None
    return isinstance(url, str) and "/v1/messages" in url


def _tell_exchange(
    entry: Entry,
    body: Entry,
    record: int,
    told: dict[tuple[int, ...], ToldOnce],
    telling: Telling,
) -> None:
    time = iso_time(entry.get("startedDateTime"), "ms")
    events = events_of(held_messages(body, "user"))
    key = openings_of(events)[:1]
    if key not in told:
        told[key] = _teller(telling, f"conversation {len(told) + 1}")
    told[key].begin()
    told[key].request(events, record, time)
    if not _tell_answer(entry, record, time, told[key], telling):
        telling.skip("answers of a model that cannot be read", record)


def _teller(telling: Telling, session: str) -> ToldOnce:
    telling.facts(session=session, id=session.replace(" ", "-"))
    return ToldOnce(lambda event, record: telling.event(event, record, session=session))


def _tell_answer(
    entry: Entry, record: int, time: str | None, told: ToldOnce, telling: Telling
) -> bool:
    """Tell the answer; false where there is one that holds no message."""
    response = entry.get("response")
    if not is_object(response):
        response = {}
    text = _body(response.get("content", response.get("body")))
    status = response.get("status", response.get("status_code"))
    code = status.get("code") if is_object(status) else status
    if isinstance(code, int) and code >= _FAILED:
        told.failure(Event(EventKind.ERROR, render_value(text or f"HTTP {code}")), record)
        return True
    if not text.strip():
        telling.note(NO_ANSWER, record, Severity.WARNING)
        return True
    events = events_of(answer_messages(text))
    told.answer(events, record, time)
    return bool(events)


def _body(content: object) -> str:
    """The text of a body, which may stand in an object, be encoded, or be JSON itself."""
    if not is_object(content):
        return content if isinstance(content, str) else ""
    text = next((content[key] for key in _BODY_KEYS if isinstance(content.get(key), str)), None)
    if not isinstance(text, str):
        return compact_json(content) if content else ""
    if content.get("encoding") != "base64":
        return text
    try:
        return base64.b64decode(text).decode("utf-8", "replace")
    except (binascii.Error, ValueError):
        return text


def _is_archive(record: Entry) -> bool:
    log = record.get("log")
    return is_object(log) and "entries" in log and "version" in log


def _is_entry(record: Entry) -> bool:
    request = record.get("request")
    named = is_object(request) and ("url" in request or "uri" in request)
    return named and "response" in record


def _request(entry: Entry) -> Entry | None:
    """What a model was asked, None where the request is to anything else."""
    request = entry.get("request")
    if not is_object(request):
        return None
    posted = next((request[key] for key in _POSTED_KEYS if request.get(key)), None)
    text = posted.get("text", posted.get("string")) if is_object(posted) else None
    body = unpacked(text if text is not None else posted)
    if not is_object(body):
        return None
    asked = any(is_array(body.get(key)) or isinstance(body.get(key), str) for key in _ASKED)
    return body if asked and ("model" in body or "contents" in body) else None
