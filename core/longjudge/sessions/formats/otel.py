"""OpenTelemetry spans of models, tools and agents, in whatever container and convention."""

from __future__ import annotations

from dataclasses import dataclass
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
    RESOURCE_LISTS,
    OtelSpan,
    is_span,
    raw_spans,
    read_span,
)
from longjudge.sessions.formats.spans import Content, Span, SpanKind
from longjudge.sessions.formats.told_once import events_of
from longjudge.sessions.formats.trace_events import call_event, failure_event, result_event
from longjudge.sessions.formats.traces import Found, TraceFormat

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from longjudge.sessions.formats.retold import Given


@dataclass(frozen=True, slots=True)
class _FoundSpan(Found):
    """A span with its shape, so that it is read once."""

    read: OtelSpan


class OtelSpans(TraceFormat):
    """Reads OTLP, Tempo, Jaeger and flat dumps; one session per conversation, else per trace."""

    name = "otel-genai"
    lists = ("resourceSpans", "batches", "trace.resourceSpans", "data", "spans")
    what = "OpenTelemetry spans"
    how = "turn on the recording of messages where the agent runs and export again"

    def recognise(
        self, head: Sequence[dict[str, object]], around: Mapping[str, object] | None
    ) -> float:
        """The share of records that are spans, or hold them in one of the known lists."""
        if not head:
            return 0.0
        return sum(map(_holds_spans, head)) / len(head)

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
            call = call_event(tool.name, tool.call_id, tool.input, span.start)
            result = result_event(tool.name, tool.call_id, tool.output, failure, span.end)
            return Content(call=call, result=result)
        request = request_of(span)
        answer = answer_of(span, is_agent=kind is not SpanKind.MODEL)
        return Content(
            request=events_of(request.messages, span.start),
            answer=events_of(answer.messages, span.end),
            asked=request.detail,
            answered=answer.detail,
            failure=failure_event(failure, span.end) if kind is not SpanKind.OTHER else None,
        )


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
    if any(key in record for key in (*RESOURCE_LISTS, "scopeSpans", "instrumentationLibrarySpans")):
        return True
    return next(raw_spans(record), None) is not None
