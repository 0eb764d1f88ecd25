"""OpenTelemetry's containers: OTLP JSON old and new, Tempo, Jaeger, and the SDKs' own dumps.

Attributes are a list of keys with typed values, or an object; numbers stand in strings; ids,
times and parents go by many names. Here they become one shape.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from longjudge.sessions.times import iso_time
from longjudge.sessions.values import first_of, is_array, is_object

if TYPE_CHECKING:
    from collections.abc import Iterator

    Attributes = dict[str, object]

RESOURCE_LISTS = ("resourceSpans", "resource_spans", "batches")
LOG_LISTS = ("resourceLogs", "resource_logs")
_LOG_LISTS = (*LOG_LISTS, "scopeLogs", "scope_logs", "logRecords", "log_records")
_SCOPE_LISTS = ("scopeSpans", "scope_spans", "instrumentationLibrarySpans")
_LISTS = (*RESOURCE_LISTS, *_SCOPE_LISTS, "spans", "data", "trace")
_TRACE_KEYS = ("traceId", "trace_id", "traceID")
_SPAN_KEYS = ("spanId", "span_id", "spanID")
_PARENT_KEYS = ("parentSpanId", "parent_span_id", "parentSpanID", "parent_id", "parentId")
_CONTEXT_KEYS = ("spanContext", "context", "span_context", "_spanContext")
_PARENT_CONTEXTS = ("parentSpanContext", "parent_span_context", "parent")
_START_KEYS = ("startTimeUnixNano", "start_time_unix_nano", "startTime", "start_time", "timestamp")
_END_KEYS = ("endTimeUnixNano", "end_time_unix_nano", "endTime", "end_time")
_EVENT_KEYS = ("events", "span_events", "spanEvents", "logs")
_TYPED = {
    *("stringValue", "string_value", "intValue", "int_value", "doubleValue", "double_value"),
    *("boolValue", "bool_value", "bytesValue", "bytes_value"),
}
_LIST_VALUES = ("arrayValue", "array_value")
_MAP_VALUES = ("kvlistValue", "kvlist_value")
_FAILED = ("2", "error", "status_code_error", "statuscode.error")
_SPANS = frozenset(_SPAN_KEYS)
_STARTS = frozenset(_START_KEYS)
_SURE_STARTS = _STARTS - {"timestamp"}
_ATTRIBUTES = frozenset({"attributes", "tags"})
_NAMES = frozenset({"name", "operationName"})
_MAX_DEPTH = 20
_MAX_NESTING = 6
_NANOSECONDS = {"s": 1_000_000_000, "ms": 1_000_000, "us": 1_000, "ns": 1}


@dataclass(frozen=True, slots=True)
class OtelEvent:
    """An event of a span."""

    name: str
    attributes: Attributes


@dataclass(frozen=True, slots=True)
class OtelSpan:
    """A span in one shape; `start` is a date, `order` sorts by it, `ended` is as it stands."""

    id: str
    parent: str
    trace: str
    name: str
    order: str
    start: str | None
    ended: object
    attributes: Attributes
    events: tuple[OtelEvent, ...] = field(default=())
    failed: bool = False
    message: str | None = None

    @property
    def end(self) -> str | None:
        """When the span ended, else when it began."""
        return _time(self.ended)[1] or self.start


def raw_spans(value: object, depth: int = 0) -> Iterator[dict[str, object]]:
    """The spans as they stand in a container, or the one that a value is."""
    if is_array(value):
        for item in value:
            if is_object(item) and is_span(item):
                yield item
            else:
                yield from raw_spans(item, depth)
        return
    if not is_object(value) or depth > _MAX_NESTING:
        return
    if is_span(value):
        yield value
        return
    for name in _LISTS:
        inner = value.get(name)
        if is_array(inner) or (name == "trace" and is_object(inner)):
            yield from raw_spans(inner, depth + 1)


def is_span(value: dict[str, object]) -> bool:
    """Whether an object is one span: it has a span's id, a name and a time.

    Messages and lines of logs may name the span that they were written in, and have a time too.
    """
    if _STARTS.isdisjoint(value) or _NAMES.isdisjoint(value) or "role" in value:
        return False
    if _SURE_STARTS.isdisjoint(value) and _ATTRIBUTES.isdisjoint(value):
        return False
    return not _SPANS.isdisjoint(value) or any(_has_ids(value.get(key)) for key in _CONTEXT_KEYS)


def _has_ids(value: object) -> bool:
    return is_object(value) and not _SPANS.isdisjoint(value)


def read_span(raw: dict[str, object]) -> OtelSpan:
    """One span, whatever its entries are called."""
    contexts = [inner for key in _CONTEXT_KEYS if is_object(inner := raw.get(key))]
    attributes = read_attributes(raw.get("attributes", raw.get("tags")))
    order, start = _time(first_of(raw, _START_KEYS))
    failed, message = _status(raw, attributes)
    return OtelSpan(
        id=_id(raw, contexts, _SPAN_KEYS),
        parent=_parent(raw),
        trace=_id(raw, contexts, _TRACE_KEYS),
        name=str(first_of(raw, ("name", "operationName")) or ""),
        order=order,
        start=start,
        ended=first_of(raw, _END_KEYS),
        attributes=attributes,
        events=tuple(_events(first_of(raw, _EVENT_KEYS))),
        failed=failed,
        message=message,
    )


def read_attributes(value: object) -> Attributes:
    """Attributes by name, with plain values; objects inside an object become dotted names."""
    found: Attributes = {}
    if is_array(value):
        for item in value:
            if is_object(item) and isinstance(key := item.get("key"), str):
                found[key] = _plain(item.get("value"), 0)
    elif is_object(value):
        for key, item in value.items():
            plain = _plain(item, 0)
            if is_object(plain) and "." not in key:
                _flatten(found, key, plain, 0)
            else:
                found[key] = plain
    return found


def text_at(attributes: Attributes, keys: tuple[str, ...]) -> str:
    """The first of several attributes that is a text or a number and not empty."""
    for key in keys:
        value = attributes.get(key)
        if isinstance(value, str | int) and not isinstance(value, bool) and value != "":
            return str(value)
    return ""


def nested(attributes: Attributes, prefix: str) -> object:
    """What stands under a name, put together again where it was flattened: `a.0.b` and so on."""
    if prefix in attributes:
        return attributes[prefix]
    start = f"{prefix}."
    # A conversation that was flattened has thousands of names, and is asked for dozens of others.
    if f"\n{start}" not in "\n".join(("", *attributes)):
        return None
    root: dict[str, object] = {}
    for key, value in attributes.items():
        if not key.startswith(start):
            continue
        *parents, last = key[len(start) :].split(".")
        if len(parents) >= _MAX_DEPTH:
            continue
        at = root
        for part in parents:
            inner = at.get(part)
            if not isinstance(inner, _Branch):
                inner = at[part] = _Branch(inner if is_object(inner) else {})
            at = inner
        at.setdefault(last, value)
    return _listed(root) if root else None


class _Branch(dict[str, object]):
    """What stands under a part of a flattened name, as against a value that is an object."""


def _listed(branch: dict[str, object]) -> object:
    """Objects whose names are numbers as the lists that they were."""
    items = {
        key: _listed(item) if isinstance(item, _Branch) else item for key, item in branch.items()
    }
    if all(key.isdecimal() and len(key) < 10 for key in items):
        return [items[key] for key in sorted(items, key=int)]
    return items


def _flatten(found: Attributes, prefix: str, value: dict[str, object], depth: int) -> None:
    for key, item in value.items():
        if is_object(item) and depth < _MAX_DEPTH:
            _flatten(found, f"{prefix}.{key}", item, depth + 1)
        else:
            found[f"{prefix}.{key}"] = item


def _plain(value: object, depth: int) -> object:
    """The value inside its type."""
    if not is_object(value) or depth > _MAX_DEPTH or not 0 < len(value) <= 2:
        return value
    if is_object(inner := value.get("Value")):
        value = inner
    for key, item in value.items():
        if key in _TYPED:
            if key.lower().startswith("int") and isinstance(item, str) and _is_number(item):
                return int(item)
            return item
        if key in _LIST_VALUES:
            values = item.get("values") if is_object(item) else item
            return [_plain(each, depth + 1) for each in values] if is_array(values) else []
        if key in _MAP_VALUES:
            pairs = item.get("values") if is_object(item) else item
            return {
                str(pair.get("key")): _plain(pair.get("value"), depth + 1)
                for pair in (pairs if is_array(pairs) else [])
                if is_object(pair)
            }
    return value


def _is_number(text: str) -> bool:
    return text.removeprefix("-").isdecimal() and len(text) < 25


def _id(raw: dict[str, object], contexts: list[dict[str, object]], keys: tuple[str, ...]) -> str:
    for source in (raw, *contexts):
        value = first_of(source, keys)
        if isinstance(value, str | int):
            return str(value)[:200]
    return ""


def _parent(raw: dict[str, object]) -> str:
    value = first_of(raw, _PARENT_KEYS)
    if isinstance(value, str | int):
        return str(value)[:200]
    for key in _PARENT_CONTEXTS:
        inner = raw.get(key)
        if is_object(inner):
            return _id(inner, [], _SPAN_KEYS)
    references = raw.get("references")
    for reference in references if is_array(references) else []:
        if is_object(reference) and reference.get("refType", "CHILD_OF") == "CHILD_OF":
            return _id(reference, [], _SPAN_KEYS)
    return ""


def _time(value: object) -> tuple[str, str | None]:
    """A time as what it sorts by, and as a date."""
    if is_array(value) and len(value) == 2:
        seconds, rest = value
        if isinstance(seconds, int) and isinstance(rest, int):
            value = seconds * 1_000_000_000 + rest
    if isinstance(value, str) and _is_number(value):
        value = int(value)
    if isinstance(value, bool) or value is None:
        return "", None
    if isinstance(value, int | float):
        unit = _unit(value)
        if value != value or value in (float("inf"), float("-inf")):
            return "", None
        return f"{int(value * _NANOSECONDS[unit]):025d}", iso_time(value, unit)
    if not isinstance(value, str):
        return "", None
    return sortable_time(value), iso_time(value, "ns")


def sortable_time(text: str) -> str:
    """What a date sorts by beside others that are written in other ways."""
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        return text[:60]
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    since = moment - datetime(1970, 1, 1, tzinfo=UTC)
    microseconds = (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds
    return f"{microseconds * 1_000:025d}"


def _unit(value: float) -> str:
    if abs(value) > 1e17:
        return "ns"
    if abs(value) > 1e14:
        return "us"
    return "ms" if abs(value) > 1e11 else "s"


def _events(listed: object) -> Iterator[OtelEvent]:
    for item in listed if is_array(listed) else []:
        if is_object(item):
            yield read_event(item)


def read_event(item: dict[str, object]) -> OtelEvent:
    """An event of a span, or the record of a log that stands for one."""
    attributes = read_attributes(item.get("attributes", item.get("fields")))
    body = _plain(item.get("body"), 0)
    if is_object(body):
        attributes = {**read_attributes(body), **attributes}
    name = first_of(item, ("name", "event_name", "eventName")) or first_of(
        attributes, ("event.name", "event", "name")
    )
    return OtelEvent(str(name or ""), attributes)


def raw_logs(value: object, depth: int = 0) -> Iterator[dict[str, object]]:
    """The records of a container of logs that name the span that they belong to."""
    if is_array(value):
        for item in value:
            yield from raw_logs(item, depth)
        return
    if not is_object(value) or depth > _MAX_NESTING:
        return
    if not _SPANS.isdisjoint(value) and "body" in value:
        yield value
        return
    for name in _LOG_LISTS:
        if is_array(inner := value.get(name)):
            yield from raw_logs(inner, depth + 1)


def log_place(raw: dict[str, object]) -> tuple[str, str]:
    """The trace and the span that the record of a log belongs to."""
    return (_id(raw, [], _TRACE_KEYS), _id(raw, [], _SPAN_KEYS))


def _status(raw: dict[str, object], attributes: Attributes) -> tuple[bool, str | None]:
    """Whether a span failed, and what is said of it."""
    status = raw.get("status")
    code: object = status
    message: object = first_of(raw, ("status_message", "statusMessage"))
    if is_object(status):
        code = first_of(status, ("code", "status_code", "statusCode"))
        message = first_of(status, ("message", "description")) or message
    code = code if code is not None else raw.get("status_code")
    code = code if code is not None else attributes.get("otel.status_code")
    message = message or attributes.get("otel.status_description")
    failed = str(code).lower() in _FAILED or attributes.get("error") is True
    return failed, message if isinstance(message, str) and message else None
