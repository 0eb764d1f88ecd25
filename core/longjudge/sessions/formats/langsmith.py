"""LangSmith runs: exported one by one, or as the batches of inserts and updates that SDKs send."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from longjudge.sessions.formats.held_messages import held_messages
from longjudge.sessions.formats.otel_content import bare_input
from longjudge.sessions.formats.spans import Content, Span, SpanKind, detail_of
from longjudge.sessions.formats.told_once import events_of
from longjudge.sessions.formats.trace_events import (
    call_event,
    failure_event,
    result_call_id,
    result_event,
)
from longjudge.sessions.formats.traces import Found, SpanReader, TraceFormat
from longjudge.sessions.times import iso_time
from longjudge.sessions.values import is_array, is_object, text_or_none

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from longjudge.sessions.formats.retold import Given, Records

    Run = dict[str, object]

_KINDS = {"llm": SpanKind.MODEL, "tool": SpanKind.TOOL, "retriever": SpanKind.TOOL}
_TYPES = frozenset({*_KINDS, "chain", "prompt", "parser", "embedding"})
_SESSION_KEYS = ("thread_id", "session_id", "conversation_id")
_EMPTY: tuple[object, ...] = (None, "", {}, [])
_ORDER_ID = re.compile(r"^\d{8}T\d{6,12}Z")
_NOT_DIGITS = re.compile(r"\D+")
_DIGITS = 20


class LangSmith(TraceFormat):
    """Reads runs; what several records say of one run is put together."""

    name = "langsmith"
    lists = ("post", "patch", "runs")
    what = "LangSmith runs"
    how = "have inputs and outputs recorded where the agent runs and export again"

    def recognise(
        self, head: Sequence[dict[str, object]], around: Mapping[str, object] | None
    ) -> float:
        """The share of records that are runs, or batches of them."""
        if not head:
            return 0.0
        return sum(_is_run(record) or _is_batch(record) for record in head) / len(head)

    def reader(self, records: Records) -> SpanReader:
        """Reads runs, each put together of all that is said of it."""
        return _MergedRuns(self, records)

    def spans(self, given: Given) -> Iterator[Found]:
        """The runs of a record, and those inside them."""
        pending: list[object] = [given.value]
        while pending:
            value = pending.pop()
            if not is_object(value):
                continue
            if _is_batch(value):
                listed = [value[key] for key in ("post", "patch", "runs") if key in value]
                pending += reversed([run for runs in listed if is_array(runs) for run in runs])
            elif _is_run(value):
                yield Found(outline(value), value)
                children = value.get("child_runs")
                pending += reversed(children if is_array(children) else [])

    def content(self, found: Found) -> Content:
        """What a run recorded."""
        run, span = found.value, found.span
        start = iso_time(run.get("start_time"), "ms")
        end = iso_time(run.get("end_time"), "ms") or start
        inputs, outputs = run.get("inputs"), run.get("outputs")
        failure = text_or_none(run.get("error"))
        if span.kind is SpanKind.TOOL:
            output = _bare_output(outputs)
            call_id = result_call_id(output) or _call_id(inputs)
            call = call_event(span.name, call_id, bare_input(inputs), start)
            result = result_event(span.name, call_id, output, failure, end)
            return Content(call=call, result=result)
        request = held_messages(inputs, "user")
        answer = held_messages(outputs, "assistant")
        return Content(
            request=events_of(request),
            answer=events_of(answer),
            asked=detail_of(request, inputs),
            answered=detail_of(answer, outputs),
            failure=failure_event(failure, end),
            start=start,
            end=end,
        )


class _MergedRuns(SpanReader):
    """Reads runs that stand in several records: an insert, and the updates to it."""

    def __init__(self, format_: LangSmith, records: Records) -> None:
        super().__init__(format_, records)
        self._places: dict[str, list[tuple[int, int]]] = {}

    def survey(self) -> Iterator[Span]:
        """Every run once, at the place where it is first spoken of."""
        for found in self.all_found():
            span = found.span
            id_ = span.id or f"#{span.record}.{span.place}"
            self._places.setdefault(id_, []).append((span.record, span.place))
        for id_, places in self._places.items():
            found = self._merged(places)
            if found is not None:
                found.span.id = id_
                found.span.record, found.span.place = places[0]
                self.learn(found.span, found)
                yield found.span

    def content(self, span: Span) -> Content:
        """What all records together say of a run."""
        return self.read(self._merged(self._places[span.id]))

    def _merged(self, places: Sequence[tuple[int, int]]) -> Found | None:
        parts = [found for place in places if (found := self.found(*place))]
        if len(parts) < 2:
            return parts[0] if parts else None
        run: Run = {}
        for part in parts:
            run.update({key: item for key, item in part.value.items() if item not in _EMPTY})
        return Found(outline(run), run)


def outline(run: Run) -> Span:
    """What a run is, without what it recorded."""
    type_ = run.get("run_type")
    order = run.get("dotted_order")
    last = order.rpartition(".")[2] if isinstance(order, str) else ""
    id_ = _text(run, "id") or (_ORDER_ID.sub("", last) if last else "")
    start = last.partition("Z")[0] if last else iso_time(run.get("start_time"), "ms") or ""
    return Span(
        id=id_,
        parent=_text(run, "parent_run_id") or _parent_of(order),
        trace=_text(run, "trace_id") or id_,
        name=_text(run, "name"),
        kind=_KINDS.get(type_ if isinstance(type_, str) else "", SpanKind.OTHER),
        start=_NOT_DIGITS.sub("", start)[:_DIGITS].ljust(_DIGITS, "0"),
        record=0,
        place=0,
        session=_session(run),
    )


def _parent_of(order: object) -> str:
    parts = order.split(".") if isinstance(order, str) else []
    return _ORDER_ID.sub("", parts[-2]) if len(parts) > 1 else ""


def _is_run(record: Run) -> bool:
    type_ = record.get("run_type")
    if isinstance(type_, str) and type_ in _TYPES:
        return "inputs" in record or "outputs" in record or "dotted_order" in record
    return isinstance(record.get("dotted_order"), str) and "trace_id" in record


def _is_batch(record: Run) -> bool:
    lists = [record[key] for key in ("post", "patch", "runs") if key in record]
    runs = [run for items in lists if is_array(items) for run in items[:3]]
    return bool(runs) and all(is_object(run) and _is_run(run) for run in runs)


def _session(run: Run) -> str:
    extra = run.get("extra")
    for source in (extra, run):
        metadata = source.get("metadata") if is_object(source) else None
        for key in _SESSION_KEYS if is_object(metadata) else ():
            if is_object(metadata) and (found := _text(metadata, key)):
                return found
    return ""


def _bare_output(outputs: object) -> object:
    if is_object(outputs) and len(outputs) == 1 and "output" in outputs:
        return outputs["output"]
    return outputs


def _call_id(inputs: object) -> str | None:
    return text_or_none(inputs.get("tool_call_id")) if is_object(inputs) else None


def _text(source: Run, key: str) -> str:
    value = source.get(key)
    return value[:200] if isinstance(value, str) else ""
