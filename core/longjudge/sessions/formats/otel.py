"""OpenTelemetry spans of models, tools and agents, in whatever container and convention."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from longjudge.sessions.formats.otel_content import (
    answer_of,
    failure_of,
    request_of,
    tool_name,
    tool_of,
)
from longjudge.sessions.formats.otel_kinds import agent_of, kind_of, session_of
from longjudge.sessions.formats.otlp import (
    LOG_LISTS,
    RESOURCE_LISTS,
    OtelEvent,
    OtelSpan,
    is_span,
    log_place,
    raw_logs,
    raw_spans,
    read_event,
    read_span,
)
from longjudge.sessions.formats.spans import Content, Span, SpanKind
from longjudge.sessions.formats.told_once import events_of
from longjudge.sessions.formats.trace_events import (
    call_event,
    failure_event,
    result_call_id,
    result_event,
)
from longjudge.sessions.formats.traces import Found, HeldRecords, SpanReader, TraceFormat

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from longjudge.sessions.formats.retold import Given, Records


_CONTAINERS = (
    *(*RESOURCE_LISTS, "scopeSpans", "instrumentationLibrarySpans"),
    *(*LOG_LISTS, "scopeLogs"),
)


@dataclass(frozen=True, slots=True)
class _FoundSpan(Found):
    """A span with its shape, so that it is read once."""

    read: OtelSpan


class OtelSpans(TraceFormat):
    """Reads OTLP, Tempo, Jaeger and flat dumps; one session per conversation, else per trace."""

    name = "otel-genai"
    lists = ("resourceSpans", "batches", "trace.resourceSpans", "data", "spans", "resourceLogs")
    inner = (
        *("scopeSpans.spans", "scope_spans.spans", "instrumentationLibrarySpans.spans", "spans"),
        *("scopeLogs.logRecords", "scope_logs.log_records"),
    )
    what = "OpenTelemetry spans"
    how = "turn on the recording of messages where the agent runs and export again"

    def recognise(
        self, head: Sequence[dict[str, object]], around: Mapping[str, object] | None
    ) -> float:
        """The share of records that are spans, or hold them in one of the known lists."""
        if not head:
            return 0.0
        return sum(map(_holds_spans, head)) / len(head)

    def reader(self, records: Records) -> SpanReader:
        """Reads spans with what logs beside them hold of their messages."""
        return _SpansWithLogs(self, records)

    def spans(self, given: Given) -> Iterator[Found]:
        """The spans of a record."""
        for raw in raw_spans(given.value):
            span = read_span(raw)
            yield _FoundSpan(_outline(span), raw, span)

    def content(self, found: Found) -> Content:
        """What a span recorded."""
        kind = found.span.kind
        if kind is SpanKind.OTHER and found.span.parent:
            return Content()
        span = found.read if isinstance(found, _FoundSpan) else read_span(found.value)
        failure = failure_of(span)
        if kind is SpanKind.TOOL:
            tool = tool_of(span)
            call_id = tool.call_id or result_call_id(tool.output)
            call = call_event(tool.name, call_id, tool.input, span.start)
            result = result_event(tool.name, call_id, tool.output, failure, span.end)
            return Content(call=call, result=result)
        request = request_of(span)
        answer = answer_of(span, is_agent=kind is not SpanKind.MODEL)
        return Content(
            request=events_of(request.messages),
            answer=events_of(answer.messages),
            asked=request.detail,
            answered=answer.detail,
            failure=failure_event(failure, span.end) if kind is not SpanKind.OTHER else None,
            start=span.start,
            end=span.end,
        )


class _SpansWithLogs(SpanReader):
    """Adds to each span the events that stand in logs; only where they stand is held."""

    def __init__(self, format_: OtelSpans, records: Records) -> None:
        super().__init__(format_, records)
        self._logs: dict[tuple[str, str], list[tuple[int, int]]] = {}
        self._held_logs = HeldRecords(records, lambda given: raw_logs(given.value))

    def survey(self) -> Iterator[Span]:
        """Every span, once it is known which logs belong to it."""
        number, place = -1, 0
        for given in self._records:
            place = place if given.number == number else 0
            number = given.number
            for raw in raw_logs(given.value):
                self._logs.setdefault(log_place(raw), []).append((number, place))
                place += 1
        yield from super().survey()

    def all_found(self) -> Iterator[Found]:
        """Every span with its logs."""
        return map(self._with_logs, super().all_found())

    def found(self, record: int, place: int) -> Found | None:
        """A span with its logs."""
        found = super().found(record, place)
        return self._with_logs(found) if found else None

    def _with_logs(self, found: Found) -> Found:
        places = self._logs.get((found.span.trace, found.span.id))
        if not places or not isinstance(found, _FoundSpan):
            return found
        events = [event for place in places for event in self._event(*place)]
        span = replace(found.read, events=(*found.read.events, *events))
        return replace(found, read=span)

    def _event(self, record: int, place: int) -> Iterator[OtelEvent]:
        logs = self._held_logs.at(record)
        if place < len(logs):
            yield read_event(logs[place])


def _outline(span: OtelSpan) -> Span:
    kind = kind_of(span)
    return Span(
        id=span.id,
        parent=span.parent.strip("0") and span.parent,
        trace=span.trace,
        name=tool_name(span) if kind is SpanKind.TOOL else span.name,
        kind=kind,
        start=span.order,
        record=0,
        place=0,
        session=session_of(span.attributes),
        agent=agent_of(span.attributes) if kind is SpanKind.AGENT else "",
    )


def _holds_spans(record: dict[str, object]) -> bool:
    if is_span(record):
        return True
    if any(key in record for key in _CONTAINERS):
        return True
    return next(raw_spans(record), None) is not None
