"""Sessions of Failproof AI: exports, the spool of its SDK, its event feed, its hooks' log.

A spool holds the events of many sessions, repeats lines where a delivery was tried again, and has
no ids. The feed stands newest first. Whatever the container, an event is a type with a payload.
"""

from __future__ import annotations

from array import array
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import msgspec

from longjudge.sessions.formats.failproof_events import FailproofAgent, Happened
from longjudge.sessions.formats.passing_over import kind_name, passing_over
from longjudge.sessions.formats.retold import RetoldFormat
from longjudge.sessions.gather import MAIN_THREAD
from longjudge.sessions.model import Event, EventKind, Severity
from longjudge.sessions.render import render_value
from longjudge.sessions.times import iso_time
from longjudge.sessions.values import is_array, is_object, text_or_none, word

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from longjudge.sessions.formats.retold import Given, Records, Telling

REPEATED = "events delivered again, left out"
SHORTENED = "the feed goes on behind its `next_cursor`; fetch all of it with `--all` and `--limit`"
MISSING = "events that the export counts and does not hold"
NO_PAYLOADS = (
    "events without their payload: only summaries are here; fetch them with `fp sessions export`"
)
_EVENTS = "events"
_encode = msgspec.json.Encoder().encode


class Failproof(RetoldFormat):
    """Reads exported sessions, spools, feeds and hook logs."""

    name = "failproof"
    lists = (_EVENTS, "timeline.events")

    def recognise(
        self, head: Sequence[dict[str, object]], around: Mapping[str, object] | None
    ) -> float:
        """The share of its events; of exported sessions, one a line; of hook decisions."""
        return sum(map(_fits, head)) / len(head) if head else 0.0

    def retell(self, records: Records, around: Mapping[str, object], telling: Telling) -> None:
        """Two passes: who is in it and in which order, and then the events."""
        survey = _Survey(around)
        for number, position, event in _all(records):
            survey.take(event, number, position)
        _note_missing(around, len(survey), telling)
        agents: dict[tuple[str, str], FailproofAgent] = {}
        for key, facts in survey.sessions.items():
            telling.facts(session=key, id=key or None, started=facts.started)
        for number, event in survey.in_order(records, telling):
            _tell(event, number, survey, agents, telling)


def _fits(record: Mapping[str, object]) -> bool:
    if isinstance(record.get("event_type"), str):
        return "ts" in record and ("payload" in record or "summary" in record)
    if {"session_id", "agent_id", "environment", "type"} <= record.keys():
        return isinstance(record["type"], str)
    if isinstance(record.get("eventType"), str):
        return "decision" in record and ("policyName" in record or "sessionId" in record)
    return _is_export(record)


def _note_missing(around: Mapping[str, object], found: int, telling: Telling) -> None:
    """Say what the document itself says is not in it."""
    if around.get("next_cursor") is not None:
        telling.note(SHORTENED, None, Severity.WARNING)
    count = around.get("event_count")
    if isinstance(count, int) and count > found:
        telling.note(MISSING, None, Severity.WARNING, count - found)


def _is_export(record: Mapping[str, object]) -> bool:
    events = record.get(_EVENTS)
    if not is_array(events) or "session_id" not in record or "schema_version" not in record:
        return False
    return all(is_object(each) and "event_type" in each for each in events[:5])


def _all(records: Records) -> Iterator[tuple[int, int, Happened]]:
    """Every event, with the number of its record and its place in it."""
    before, first = -1, 0
    for given in records:
        # Several records on one damaged line share their number.
        first = first + 1 if given.number == before else 0
        before = given.number
        for position, event in enumerate(_events(given), first):
            first = position
            yield given.number, position, event


def _events(given: Given) -> list[Happened]:
    record = given.value
    inner = record.get(_EVENTS)
    if not given.entry and is_array(inner) and "event_type" not in record:
        return [_happened(each, record) for each in filter(is_object, inner)]
    return [_happened(record, {})]


def _happened(record: dict[str, object], session: Mapping[str, object]) -> Happened:
    named = text_or_none(record.get("session_id")) or text_or_none(record.get("sessionId"))
    agent = text_or_none(record.get("agent_id")) or text_or_none(session.get("agent_id"))
    payload: object = record
    summary: str | None = None
    if "event_type" in record:
        summary = text_or_none(record.get("summary"))
        payload = record.get("payload")
        if is_object(payload):
            agent = text_or_none(payload.get("agent_id")) or agent
    hook = "eventType" in record
    time = record.get("ts", record.get("timestamp"))
    return Happened(
        type="hook_decision" if hook else word(record.get("event_type", record.get("type"))),
        # The light feed has an empty one.
        payload=payload if is_object(payload) and (payload or not summary) else None,
        session=named or text_or_none(session.get("session_id")) or "",
        agent=agent or "",
        started=text_or_none(session.get("started_at")),
        time=iso_time(time, "ms") if not isinstance(time, str) else time[:60],
        summary=summary,
        failed=record.get("is_error") is True if "is_error" in record else None,
        record=record,
    )


def _fingerprint(event: Happened) -> int | None:
    """The same for an event that was delivered again; None where nothing can be said."""
    try:
        return hash((event.session, event.agent, _encode(event.record)))
    except (ValueError, OverflowError, RecursionError):
        return None


class _SessionFacts:
    """What the first pass learns of a session."""

    def __init__(self) -> None:
        self.started: str | None = None
        self.agents: dict[str, None] = {}
        self.parents: dict[str, str] = {}
        self.called: set[str] = set()

    def main(self, preferred: str) -> str:
        """The agent whose events are the main thread: the first one that nobody started."""
        if preferred in self.agents and preferred not in self.parents:
            return preferred
        roots = (agent for agent in self.agents if agent not in self.parents)
        return next(roots, next(iter(self.agents), ""))


class _Survey:
    """The first pass: sessions, agents, calls, order, and what is there twice."""

    def __init__(self, around: Mapping[str, object]) -> None:
        self.sessions: dict[str, _SessionFacts] = {}
        self._around = around
        self._started = text_or_none(around.get("started_at"))
        self._seen: set[int] = set()
        self._moments: array[float] = array("d")
        self._records: array[int] = array("I")
        self._positions: array[int] = array("I")
        self._repeated: set[tuple[int, int]] = set()
        self._mains: dict[str, str] = {}
        self._sorted = True

    def __len__(self) -> int:
        return len(self._moments) + len(self._repeated)

    def take(self, event: Happened, number: int, position: int) -> None:
        digest = _fingerprint(event)
        if digest in self._seen:
            self._repeated.add((number, position))
            return
        if digest is not None:
            self._seen.add(digest)
        facts = self.sessions.setdefault(self.key(event), _SessionFacts())
        facts.started = facts.started or event.started or self._started
        facts.agents.setdefault(event.agent)
        payload = event.payload or {}
        parent = text_or_none(payload.get("parent_id"))
        if event.type == "agent_start" and parent and parent != event.agent:
            facts.parents.setdefault(event.agent, parent)
        if event.type == "tool_use" and (call_id := text_or_none(payload.get("tool_call_id"))):
            facts.called.add(call_id)
        before = self._moments[-1] if self._moments else 0.0
        moment = _moment(event.time)
        self._sorted = self._sorted and (moment is None or moment >= before)
        self._moments.append(before if moment is None else moment)
        self._records.append(number)
        self._positions.append(position)

    def key(self, event: Happened) -> str:
        """The session of an event; what names none is of the document's."""
        return event.session or text_or_none(self._around.get("session_id")) or ""

    def thread(self, event: Happened) -> str:
        """The thread of an event's agent."""
        key = self.key(event)
        if key not in self._mains:
            preferred = text_or_none(self._around.get("agent_id")) or ""
            self._mains[key] = self.sessions[key].main(preferred)
        return MAIN_THREAD if event.agent == self._mains[key] else f"agent-{event.agent}"

    def parent_thread(self, event: Happened) -> str:
        """The thread of the agent that started an event's agent."""
        facts = self.sessions[self.key(event)]
        parent = facts.parents.get(event.agent, "")
        return MAIN_THREAD if parent == self._mains[self.key(event)] else f"agent-{parent}"

    def in_order(self, records: Records, telling: Telling) -> Iterator[tuple[int, Happened]]:
        """Every event once, by time where the file has another order."""
        repeated = self._repeated
        if repeated:
            telling.note(REPEATED, min(repeated)[0], count=len(repeated))
        if self._sorted:
            for number, position, event in _all(records):
                if (number, position) not in repeated:
                    yield number, event
            return
        moments = self._moments
        places = list(range(len(moments)))
        if moments[0] > moments[-1]:
            # Newest first: what has the same time stands in reverse as well.
            places.reverse()
            telling.note("the events stand newest first and were put in order", None)
        else:
            telling.note("the events were put in the order of their times", None)
        places.sort(key=moments.__getitem__)
        for place in places:
            number, position = self._records[place], self._positions[place]
            events = [event for given in records.at(number) for event in _events(given)]
            if position < len(events):
                yield number, events[position]


def _moment(time: str | None) -> float | None:
    try:
        moment = datetime.fromisoformat(time) if time else None
    except ValueError:
        return None
    if moment is None:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _tell(
    event: Happened,
    number: int,
    survey: _Survey,
    agents: dict[tuple[str, str], FailproofAgent],
    telling: Telling,
) -> None:
    key, thread = survey.key(event), survey.thread(event)
    facts = survey.sessions[key]
    if (key, thread) not in agents:
        agents[key, thread] = FailproofAgent(thread == MAIN_THREAD, facts.called)
    agent = agents[key, thread]
    if event.type == "agent_start" and event.agent in facts.parents:
        parent = survey.parent_thread(event)
        starter = agents.get((key, parent))
        if starter is not None and (call_id := starter.only_open_call):
            telling.starts(thread, call_id=call_id, session=key, parent=parent)
    if event.payload is None and event.type != "hook_decision":
        _tell_summary(event, number, key, thread, telling)
        return
    with passing_over(telling, number):
        events = agent.events(event)
        for each in events:
            telling.event(each, number, session=key, thread=thread)
        if not events:
            telling.note(f"{kind_name(event.type)} events without content", number)
    for reason in agent.notes():
        telling.note(reason, number)


_KINDS = {
    "tool_use": EventKind.TOOL_CALL,
    "tool_result": EventKind.TOOL_RESULT,
    "model_response": EventKind.ASSISTANT_MESSAGE,
    "human_input": EventKind.USER_MESSAGE,
    "error": EventKind.ERROR,
}


def _tell_summary(event: Happened, number: int, key: str, thread: str, telling: Telling) -> None:
    """The light feed has a line of summary in place of what happened."""
    if not event.summary:
        telling.skip("events without a payload", number)
        return
    telling.note(NO_PAYLOADS, number, Severity.WARNING)
    kind = _KINDS.get(event.type, EventKind.SYSTEM)
    if event.failed and kind is not EventKind.TOOL_RESULT:
        kind = EventKind.ERROR
    failed = event.failed if kind is EventKind.TOOL_RESULT else None
    told = Event(kind, render_value(event.summary), None, None, failed or None, event.time)
    telling.event(told, number, session=key, thread=thread)
