"""Langfuse exports: a trace with its observations, whose inputs and outputs are JSON in strings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longjudge.sessions.formats.held_messages import held_messages
from longjudge.sessions.formats.otel_content import bare_input
from longjudge.sessions.formats.otlp import sortable_time
from longjudge.sessions.formats.spans import Content, Span, SpanKind, detail_of
from longjudge.sessions.formats.told_once import events_of
from longjudge.sessions.formats.trace_events import (
    call_event,
    failure_event,
    result_call_id,
    result_event,
)
from longjudge.sessions.formats.traces import Found, TraceFormat
from longjudge.sessions.formats.unpacked import unpacked
from longjudge.sessions.times import iso_time
from longjudge.sessions.values import is_array, is_object, text_or_none

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from longjudge.sessions.formats.retold import Given

    Observation = dict[str, object]

_KINDS = {
    "GENERATION": SpanKind.MODEL,
    "TOOL": SpanKind.TOOL,
    "RETRIEVER": SpanKind.TOOL,
    "AGENT": SpanKind.AGENT,
    "SPAN": SpanKind.OTHER,
    "EVENT": SpanKind.OTHER,
    "CHAIN": SpanKind.OTHER,
    "EMBEDDING": SpanKind.OTHER,
    "EVALUATOR": SpanKind.OTHER,
    "GUARDRAIL": SpanKind.OTHER,
}
_TIME_KEYS = ("startTime", "start_time", "startTimeUnix")
_END_KEYS = ("endTime", "end_time")
_SESSION_KEYS = ("sessionId", "session_id")


class Langfuse(TraceFormat):
    """Reads a trace with its observations, several of them, and observations by themselves."""

    name = "langfuse"
    lists = ("observations", "data")
    what = "Langfuse observations"
    how = "have the inputs and outputs recorded where the agent runs and export again"

    def recognise(
        self, head: Sequence[dict[str, object]], around: Mapping[str, object] | None
    ) -> float:
        """The share of records that are observations, or traces that hold them."""
        if not head:
            return 0.0
        return sum(_is_observation(record) or _is_trace(record) for record in head) / len(head)

    def spans(self, given: Given) -> Iterator[Found]:
        """The observations of a record."""
        value = given.value
        if _is_observation(value):
            yield _found(value, "")
            return
        session = self.session_around(value)
        listed = value.get("observations")
        for item in listed if is_array(listed) else []:
            if is_object(item) and _is_observation(item):
                yield _found(item, session)

    def session_around(self, around: Mapping[str, object]) -> str:
        """The conversation that a trace belongs to."""
        trace = around.get("trace")
        return _text(around, _SESSION_KEYS) or (
            _text(trace, _SESSION_KEYS) if is_object(trace) else ""
        )

    def content(self, found: Found) -> Content:
        """What an observation recorded."""
        value, span = found.value, found.span
        start = _time(value, _TIME_KEYS)
        end = _time(value, _END_KEYS) or start
        given, output = value.get("input"), value.get("output")
        failure = _failure(value)
        if span.kind is SpanKind.TOOL or (span.kind is SpanKind.OTHER and _may_be_call(value)):
            call_id = result_call_id(output)
            call = call_event(span.name, call_id, bare_input(given), start)
            result = result_event(span.name, call_id, output, failure, end)
            if span.kind is SpanKind.TOOL:
                return Content(call=call, result=result)
        else:
            call = result = None
        request = held_messages(given, "user") if _is_asked(given) else []
        answer = held_messages(output, "assistant")
        return Content(
            request=events_of(request),
            answer=events_of(answer),
            asked=detail_of(request, given),
            answered=detail_of(answer, output),
            call=call,
            result=result,
            failure=failure_event(failure, end),
            start=start,
            end=end,
        )


def _found(value: Observation, session: str) -> Found:
    type_ = value.get("type")
    kind = _KINDS.get(type_.upper() if isinstance(type_, str) else "", SpanKind.OTHER)
    name = str(value.get("name") or "")
    start = _time(value, _TIME_KEYS) or ""
    span = Span(
        id=_text(value, ("id",)),
        parent=_text(value, ("parentObservationId", "parent_observation_id")),
        trace=_text(value, ("traceId", "trace_id")),
        name=name,
        kind=kind,
        start=sortable_time(start),
        record=0,
        place=0,
        session=_text(value, _SESSION_KEYS) or session,
        agent=name if kind is SpanKind.AGENT else "",
    )
    return Found(span, value)


def _is_observation(record: Observation) -> bool:
    type_ = record.get("type")
    known = isinstance(type_, str) and type_.upper() in _KINDS
    return known and any(key in record for key in ("traceId", "trace_id")) and "id" in record


def _is_trace(record: Observation) -> bool:
    listed = record.get("observations")
    if not is_array(listed):
        return False
    if not listed:
        return is_object(record.get("trace")) or "projectId" in record
    return all(is_object(item) and _is_observation(item) for item in listed[:5])


def _may_be_call(value: Observation) -> bool:
    """Whether an observation without a kind may be a tool's: it has an input that is no list."""
    given = unpacked(value.get("input"))
    return is_object(given) and "messages" not in given and value.get("output") is not None


def _is_asked(given: object) -> bool:
    """Not so an object that only looks like a message: without a role it is what a bug left."""
    value = unpacked(given)
    return not (is_object(value) and set(value) == {"content"})


def _failure(value: Observation) -> str | None:
    if value.get("level") != "ERROR":
        return None
    said = value.get("statusMessage", value.get("status_message"))
    return text_or_none(said) or "failed"


def _text(value: Mapping[str, object], keys: tuple[str, ...]) -> str:
    for key in keys:
        found = value.get(key)
        if isinstance(found, str) and found:
            return found[:200]
    return ""


def _time(value: Observation, keys: tuple[str, ...]) -> str | None:
    return next((time for key in keys if (time := iso_time(value.get(key), "ms"))), None)
