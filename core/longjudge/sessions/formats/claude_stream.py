"""What Claude Code prints and what its SDK yields (`--output-format stream-json`).

The records are those of a transcript without its envelope. An answer comes in pieces under one
message id, the last record repeats the last text, and a subagent's records name the call that
started it. The web export and the Happy relay wrap the same records.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from longjudge.sessions.formats.answers_in_parts import AnswersInParts
from longjudge.sessions.formats.claude_code import ClaudeCode
from longjudge.sessions.formats.claude_partials import PartialAnswers
from longjudge.sessions.formats.claude_records import convert_streamed
from longjudge.sessions.formats.passing_over import kind_name, passing_over
from longjudge.sessions.formats.retold import RetoldFormat
from longjudge.sessions.gather import MAIN_THREAD
from longjudge.sessions.model import Event, EventKind
from longjudge.sessions.render import elide_media, render_content, render_input
from longjudge.sessions.values import is_array, is_object, text_or_none, word

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from longjudge.sessions.formats.retold import Records, Telling

COPIES = "copies and parts of streamed answers, left out"
_TYPES = frozenset(
    {
        *("system", "user", "assistant", "result", "stream_event", "rate_limit_event"),
        *("tool_progress", "tool_use_summary", "auth_status", "keep_alive", "prompt_suggestion"),
        *("control_request", "control_response", "control_cancel_request", "tool_call"),
        *("thinking", "summary", "interaction_query"),
    }
)
_OWN = frozenset({"system", "user", "assistant", "result", "stream_event", "tool_call"})
_OBJECTS = {
    "user": "message",
    "assistant": "message",
    "stream_event": "event",
    "tool_call": "tool_call",
}
_WITH_SUBTYPE = frozenset({"system", "result", "thinking"})
_NOTICES = frozenset({"compact_boundary", "task_notification"})
_NOTICE_IDS = frozenset({"type", "uuid", "session_id", "task_id", "tool_use_id", "timestamp"})

_transcript = ClaudeCode()


class ClaudeStream(RetoldFormat):
    """Reads stream-json, as lines or as one array."""

    name = "claude-stream-json"
    lists = ("loglines",)

    def recognise(
        self, head: Sequence[dict[str, object]], around: Mapping[str, object] | None
    ) -> float:
        """The share of its types, provided that a session is named as a stream names it."""
        if around is not None and "loglines" in around:
            return 1.0
        records = [record for value in head for record in unwrapped(value)]
        if len(head) == 1 and is_array(head[0].get("loglines")):
            return 1.0
        relayed = any(map(_is_relayed, head))
        named = any("session_id" in r and word(r.get("type")) in _OWN for r in records)
        if not head or not (named or relayed):
            return 0.0
        return sum(map(_fits, head)) / len(head)

    def retell(self, records: Records, around: Mapping[str, object], telling: Telling) -> None:
        """Two passes: what is said again later, and then the rest."""
        survey = _Survey()
        for _, record in _all(records):
            survey.take(record)
        _Retelling(survey, telling).tell(records)


def unwrapped(value: dict[str, object]) -> Iterator[dict[str, object]]:
    """The records that a record wraps, or itself."""
    lines = value.get("loglines")
    if is_array(lines):
        yield from filter(is_object, lines)
        return
    content = value.get("content")
    if _is_relayed(value) and is_object(content):
        inner = content.get("data")
        if is_object(inner):
            yield inner
        else:
            text = content.get("text", "")
            yield {"type": "user", "message": {"role": "user", "content": text}}
        return
    yield value


def _is_relayed(value: Mapping[str, object]) -> bool:
    content = value.get("content")
    if not is_object(content) or value.get("role") not in ("agent", "user"):
        return False
    if content.get("type") == "output":
        return is_object(content.get("data"))
    return value.get("role") == "user" and isinstance(content.get("text"), str)


def _fits(value: dict[str, object]) -> bool:
    if _is_relayed(value):
        return True
    type_ = word(value.get("type"))
    if type_ not in _TYPES or "sessionId" in value or "event_type" in value:
        return False
    # Lists of events in general have types of the same names.
    if needed := _OBJECTS.get(type_):
        return is_object(value.get(needed))
    return type_ not in _WITH_SUBTYPE or "subtype" in value


def _all(records: Records) -> Iterator[tuple[int, dict[str, object]]]:
    for given in records:
        for record in unwrapped(given.value):
            yield given.number, record


def _events(record: dict[str, object]) -> list[Event]:
    """The events of a record as its transcript would tell them."""
    sidechain = bool(record.get("parent_tool_use_id"))
    meta = bool(record.get("isSynthetic"))
    return _transcript.record_events(convert_streamed(record, sidechain=sidechain, meta=meta))


def _message_id(record: dict[str, object]) -> str | None:
    message = record.get("message")
    return text_or_none(message.get("id")) if is_object(message) else None


def _session_id(record: dict[str, object]) -> str | None:
    return text_or_none(record.get("session_id")) or text_or_none(record.get("sessionId"))


class _Survey:
    """The first pass: parts of answers, messages that came whole, the first session's id."""

    def __init__(self) -> None:
        self.answers = AnswersInParts()
        self.whole: set[str] = set()
        self.first_session = ""
        self._ordinal = 0
        self._record = 0

    def take(self, record: dict[str, object]) -> None:
        self.first_session = self.first_session or _session_id(record) or ""
        if record.get("type") != "assistant":
            return
        message_id = _message_id(record)
        if message_id:
            self.whole.add(message_id)
        self._record += 1
        with suppress(RecursionError):
            for event in _events(record):
                self.answers.survey(message_id, event, self._ordinal, self._record)
                self._ordinal += 1


class _Retelling:
    """The second pass."""

    def __init__(self, survey: _Survey, telling: Telling) -> None:
        self._survey = survey
        self._telling = telling
        self._session = survey.first_session
        self._partials = PartialAnswers(survey.whole)
        self._ordinal = 0
        self._last_said: dict[str, int] = {}
        self._replayed: set[int] = set()
        self._linked: set[tuple[str, str]] = set()
        self._thoughts: list[str] = []

    def tell(self, records: Records) -> None:
        number = 0
        self._telling.facts(session=self._session, id=self._session or None)
        for number, record in _all(records):
            session = _session_id(record) or self._session
            if session != self._session:
                self._session = session
                self._telling.facts(session=session, id=session)
            with passing_over(self._telling, number):
                self._record(record, number)
        for (session, parent), events in self._partials.rest():
            self._session = session
            self._partial(events, number, parent)
        if len(self._survey.answers):
            self._telling.note(COPIES, None, count=len(self._survey.answers))

    def _record(self, record: dict[str, object], number: int) -> None:
        type_ = record.get("type")
        parent = text_or_none(record.get("parent_tool_use_id"))
        events: list[Event] = []
        if type_ == "assistant":
            for event in _events(record):
                if not self._survey.answers.is_left_out(self._ordinal):
                    events.append(event)
                self._ordinal += 1
            self._say(events, number, parent)
        elif type_ == "user":
            self._user(record, number, parent)
        elif type_ == "result":
            self._result(record, number)
        elif type_ == "stream_event":
            pieces = self._partials.take(record.get("event"), (self._session, parent))
            self._partial(pieces, number, parent)
            self._telling.note("parts of streamed answers", number)
        elif type_ == "tool_call":
            events = _tool_call(record)
            if not events:
                subtype = kind_name(record.get("subtype"))
                self._telling.note(f"tool_call {subtype} records, no events", number)
            self._say(events, number, parent)
        elif type_ == "thinking":
            self._thinking(record, number)
        elif type_ == "system":
            self._system(record, number, parent)
        else:
            self._telling.note(f"{kind_name(type_)} records, no events", number)

    def _user(self, record: dict[str, object], number: int, parent: str | None) -> None:
        events = _events(record)
        uuid = text_or_none(record.get("uuid"))
        if record.get("isReplay") and uuid:
            key = hash((uuid, *(event.text for event in events)))
            if key in self._replayed:
                self._telling.note(COPIES, number)
                return
            self._replayed.add(key)
        self._say(events, number, parent)

    def _system(self, record: dict[str, object], number: int, parent: str | None) -> None:
        events = _events(record)
        subtype = word(record.get("subtype"))
        if not events and subtype in _NOTICES:
            said = {k: v for k, v in record.items() if k not in _NOTICE_IDS and v is not None}
            said.pop("subtype", None)
            body = f"{subtype}\n{render_input(said)}".rstrip()
            events = [Event(EventKind.SYSTEM, body, timestamp=_time(record))]
        if not events:
            self._telling.note(f"system {kind_name(subtype)} records, no events", number)
        self._say(events, number, parent)

    def _thinking(self, record: dict[str, object], number: int) -> None:
        """Thoughts in pieces, as Cursor's agent writes them."""
        if piece := text_or_none(record.get("text")):
            self._thoughts.append(piece)
        if record.get("subtype") == "delta" or not self._thoughts:
            return
        body = elide_media("".join(self._thoughts))
        self._thoughts.clear()
        self._say([Event(EventKind.THINKING, body, timestamp=_time(record))], number, None)

    def _partial(self, events: list[Event], number: int, parent: str | None) -> None:
        if events:
            self._telling.note("an answer of which only streamed parts are there", number)
        self._say(events, number, parent)

    def _result(self, record: dict[str, object], number: int) -> None:
        """The last record repeats the last text, unless it says how the run failed."""
        text = render_content(record.get("result")) if record.get("result") else ""
        said = self._last_said.get(self._session)
        if text and said == _digest(text):
            text = ""
        subtype = word(record.get("subtype"))
        time = _time(record)
        if subtype.startswith("error"):
            errors = record.get("errors")
            more = render_content(errors) if errors else ""
            body = "\n".join(filter(None, (subtype, text, more)))
            self._say([Event(EventKind.ERROR, body, timestamp=time)], number, None)
        elif text:
            failed = record.get("is_error") is True
            kind = EventKind.ERROR if failed else EventKind.ASSISTANT_MESSAGE
            self._say([Event(kind, text, timestamp=time)], number, None)

    def _say(self, events: list[Event], number: int, parent: str | None) -> None:
        thread = f"agent-{parent}" if parent else MAIN_THREAD
        for event in events:
            if not parent and event.kind in (EventKind.ASSISTANT_MESSAGE, EventKind.ERROR):
                self._last_said[self._session] = _digest(event.body)
            self._telling.event(event, number, session=self._session, thread=thread)
        if parent and events and (self._session, parent) not in self._linked:
            self._linked.add((self._session, parent))
            self._telling.starts(thread, call_id=parent, session=self._session)


def _tool_call(record: dict[str, object]) -> list[Event]:
    """A call or a result that is a record of its own, as Cursor's agent writes them."""
    call = record.get("tool_call")
    if not is_object(call) or not call:
        return []
    name, inner = next(iter(call.items()))
    inner = inner if is_object(inner) else {}
    tool = text_or_none(inner.get("name")) or name.removesuffix("ToolCall")
    call_id, time = text_or_none(record.get("call_id")), _time(record)
    if record.get("subtype") == "started":
        given = render_input(inner.get("args", inner))
        return [Event(EventKind.TOOL_CALL, given, tool, call_id, None, time)]
    if record.get("subtype") != "completed":
        return []
    result = inner.get("result")
    failed = True if is_object(result) and ("error" in result or "failure" in result) else None
    return [Event(EventKind.TOOL_RESULT, render_content(result), tool, call_id, failed, time)]


def _time(record: dict[str, object]) -> str | None:
    return text_or_none(record.get("timestamp"))


def _digest(text: str) -> int:
    return hash(text.strip())
