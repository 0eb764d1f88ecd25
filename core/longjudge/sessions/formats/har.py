"""HTTP archives of calls to a model: each request repeats the conversation, each answer goes on."""

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
from longjudge.sessions.model import Event, EventKind
from longjudge.sessions.render import render_value
from longjudge.sessions.times import iso_time
from longjudge.sessions.values import is_array, is_object

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from longjudge.sessions.formats.retold import Records, Telling

    Entry = dict[str, object]

_ASKED = ("messages", "contents", "input", "prompt")
_FAILED = 400


class HttpArchive(RetoldFormat):
    """Reads the requests to models; each conversation, known by how it begins, is a session."""

    name = "har"
    lists = ("log.entries",)

    def recognise(
        self, head: Sequence[dict[str, object]], around: Mapping[str, object] | None
    ) -> float:
        """The share of records that are a request with its response."""
        return sum(map(_is_entry, head)) / len(head) if head else 0.0

    def retell(self, records: Records, around: Mapping[str, object], telling: Telling) -> None:
        """Tell of each request what is new, and its answer."""
        told: dict[tuple[int, ...], ToldOnce] = {}
        count = 0
        for given in records:
            count += 1
            body = _request(given.value)
            if body is None:
                continue
            time = iso_time(given.value.get("startedDateTime"), "ms")
            events = events_of(held_messages(body, "user"), time)
            key = openings_of(events)[:1]
            if key not in told:
                told[key] = _teller(telling, f"conversation {len(told) + 1}")
            told[key].request(events, given.number)
            if not _tell_answer(given.value, given.number, time, told[key]):
                telling.skip("answers of a model that cannot be read", given.number)
        if not told:
            raise NotASessionError(
                f"an HTTP archive with {count} requests, none of them to a model; record the"
                " calls to the model's interface"
            )


def _teller(telling: Telling, session: str) -> ToldOnce:
    telling.facts(session=session, id=session.replace(" ", "-"))
    return ToldOnce(lambda event, record: telling.event(event, record, session=session))


def _tell_answer(entry: Entry, record: int, time: str | None, told: ToldOnce) -> bool:
    """Tell the answer; false where there is one that holds no message."""
    response = entry.get("response")
    if not is_object(response):
        return True
    text = _body(response.get("content"))
    status = response.get("status")
    if isinstance(status, int) and status >= _FAILED:
        told.failure(Event(EventKind.ERROR, render_value(text or f"HTTP {status}")), record)
        return True
    events = events_of(answer_messages(text), time)
    told.answer(events, record)
    return bool(events) or not text.strip()


def _body(content: object) -> str:
    if not is_object(content) or not isinstance(text := content.get("text"), str):
        return ""
    if content.get("encoding") != "base64":
        return text
    try:
        return base64.b64decode(text).decode("utf-8", "replace")
    except (binascii.Error, ValueError):
        return text


def _is_entry(record: Entry) -> bool:
    request = record.get("request")
    return is_object(request) and "url" in request and "response" in record


def _request(entry: Entry) -> Entry | None:
    """What a model was asked, None where the request is to anything else."""
    request = entry.get("request")
    posted = request.get("postData") if is_object(request) else None
    body = unpacked(posted.get("text")) if is_object(posted) else None
    if not is_object(body):
        return None
    asked = any(is_array(body.get(key)) or isinstance(body.get(key), str) for key in _ASKED)
    return body if asked and ("model" in body or "contents" in body) else None
