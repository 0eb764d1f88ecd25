"""Tells the conversations in a trace, span by span, each in the thread of its agent.

What a model was asked repeats all that was said before; what a tool's span holds, the model's
answer asked for; what an agent's span holds, its models said. `ToldOnce` keeps each to once.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import deque
from dataclasses import dataclass, replace
from sys import intern
from typing import TYPE_CHECKING, Generic, TypeVar

from longjudge.errors import NotASessionError
from longjudge.sessions.formats.retold import RetoldFormat
from longjudge.sessions.formats.spans import (
    Content,
    Detail,
    Span,
    SpanKind,
    arrange,
    asked_inside,
    continues,
    first_sessions,
    inside,
    is_told_by,
    main_models,
    said_inside,
    tells_more_inside,
    walk,
)
from longjudge.sessions.formats.told_once import call_key
from longjudge.sessions.formats.trace_threads import Thread, Threads
from longjudge.sessions.gather import MAIN_THREAD
from longjudge.sessions.model import EventKind, Severity
from longjudge.sessions.records import TOO_DEEP

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from longjudge.sessions.formats.retold import Given, Records, Telling
    from longjudge.sessions.model import Event

T = TypeVar("T")

NO_CONTENT = "spans of models or agents whose messages were not recorded"
COPIES = "traces that repeat another one's request and answer, left out"
TWICE = "spans that stand in the file twice, counted once"

_HELD_BYTES = 8_000_000


@dataclass(frozen=True, slots=True)
class Found:
    """A span as a record holds it: what it is, and the value that its content is read from."""

    span: Span
    value: dict[str, object]


class TraceFormat(RetoldFormat):
    """A format whose records hold spans."""

    what: str
    """What such a file holds, in the words of a refusal."""

    how: str
    """How to have the content recorded."""

    @abstractmethod
    def spans(self, given: Given) -> Iterable[Found]:
        """The spans of a record, in the order of the file."""

    @abstractmethod
    def content(self, found: Found) -> Content:
        """What a span recorded."""

    def session_around(self, around: Mapping[str, object]) -> str:
        """The conversation that a document names beside its spans, empty where it names none."""
        return ""

    def reader(self, records: Records) -> SpanReader:
        """Reads the spans of all records."""
        return SpanReader(self, records)

    def retell(self, records: Records, around: Mapping[str, object], telling: Telling) -> None:
        """Tell the conversations of all traces."""
        reader = self.reader(records)
        spans = list(reader.survey())
        for record in reader.lost:
            telling.skip(TOO_DEEP, record)
        if not any(span.kind is not SpanKind.OTHER or span.has_content for span in spans):
            raise NotASessionError(
                f"{self.what} ({len(spans)}), but none of a model, a tool or an agent: no"
                " conversation was recorded in them"
            )
        if not any(span.has_content for span in spans):
            raise NotASessionError(
                f"{self.what} ({len(spans)}), but no content recorded: what was said and done is"
                f" not in this file; {self.how}"
            )
        roots, count = arrange(spans), len(spans)
        spans.clear()
        kept = sum(1 for root in roots for _ in walk(root))
        if kept < count:
            telling.note(TWICE, None, count=count - kept)
        _Teller(telling, reader, self.session_around(around)).tell(roots)


class SpanReader:
    """The spans of all records, and their contents one by one.

    `lost` holds the records of spans that are nested too deeply to be read.
    """

    def __init__(self, format_: TraceFormat, records: Records) -> None:
        self._format = format_
        self._records = records
        self._held = HeldRecords(records, format_.spans)
        self.lost: list[int] = []

    def survey(self) -> Iterator[Span]:
        """Every span, with what must be known of it before anything is told."""
        for found in self.all_found():
            self.learn(found.span, found)
            yield found.span

    def learn(self, span: Span, found: Found) -> None:
        """Note what a span recorded, or that it cannot be read."""
        try:
            span.learn(self._format.content(found))
        except RecursionError:
            self.lost.append(span.record)

    def all_found(self) -> Iterator[Found]:
        """Every span of the file as it stands, with its place."""
        number, place = -1, 0
        for given in self._records:
            place = place if given.number == number else 0
            number = given.number
            for found in self._format.spans(given):
                found.span.record, found.span.place = number, place
                _share_texts(found.span)
                place += 1
                yield found

    def content(self, span: Span) -> Content:
        """What a span recorded; read again, since only the spans' outlines are held."""
        return self.read(self.found(span.record, span.place))

    def read(self, found: Found | None) -> Content:
        """The content of a span, none where it is nested too deeply."""
        try:
            return self._format.content(found) if found else Content()
        except RecursionError:
            return Content()

    def found(self, record: int, place: int) -> Found | None:
        """The span at a place of a record."""
        held = self._held.at(record)
        return held[place] if place < len(held) else None


class HeldRecords(Generic[T]):
    """What the records hold that were read last, so that each is not read for every part of it."""

    def __init__(self, records: Records, read: Callable[[Given], Iterable[T]]) -> None:
        self._records = records
        self._read = read
        self._held: dict[int, list[T]] = {}
        self._bytes = 0

    def at(self, record: int) -> list[T]:
        """What the record with a number holds."""
        held = self._held.get(record)
        if held is None:
            self._bytes += self._records.size(record)
            while self._held and self._bytes > _HELD_BYTES:
                oldest = next(iter(self._held))
                del self._held[oldest]
                self._bytes -= self._records.size(oldest)
            held = [each for given in self._records.at(record) for each in self._read(given)]
            self._held[record] = held
        return held


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a span stands: its thread, the tool and the agent around it.

    `model` is the model's span around it that told what it would tell.
    """

    thread: Thread
    tool: Span | None = None
    agent: Span | None = None
    model: Span | None = None


@dataclass(frozen=True, slots=True)
class _Say:
    """A stretch of an agent's answer, up to a call that a tool's span tells."""

    span: Span
    place: _Place
    first: int
    end: int | None


@dataclass(frozen=True, slots=True)
class _Close:
    """The end of a span, after everything inside it."""

    span: Span
    place: _Place
    says: bool


class _Teller:
    """Walks the spans and tells what each adds."""

    def __init__(self, telling: Telling, reader: SpanReader, session: str) -> None:
        self._session = session
        self._telling = telling
        self._reader = reader
        self._threads = Threads(telling)
        self._seen: set[int] = set()
        self._begun: dict[str, set[str]] = {}
        self._silent = 0

    def tell(self, roots: list[Span]) -> None:
        """Tell everything, root by root; the list is emptied, and what was told let go of."""
        sessions = first_sessions(roots)
        reached: dict[int, str] = {}
        copies = 0
        roots.reverse()
        while roots:
            root = roots.pop()
            named = root.session or sessions.get(root.trace) or self._session
            models = main_models(root)
            if not named and root.kind is SpanKind.MODEL and not _news(models, reached):
                copies += 1
                continue
            # Without a name, a conversation goes on where a trace begins with its last answer.
            going_on = reached.get(models[0].resumes) if models and models[0].resumes else None
            session = named or going_on or root.trace
            thread = self._threads.main(session)
            traces = self._begun.setdefault(session, set())
            if root.trace not in traces:
                traces.add(root.trace)
                thread.told.begin()
            self._walk(root, _Place(thread))
            for each in models:
                if each.reached:
                    reached.setdefault(each.reached, session)
        if copies:
            self._telling.note(COPIES, None, count=copies)
        if self._silent:
            self._telling.note(NO_CONTENT, None, Severity.WARNING, self._silent)

    def _walk(self, root: Span, place: _Place) -> None:
        self._seen.clear()
        pending: list[tuple[Span, _Place] | _Say | _Close] = [(root, place)]
        while pending:
            step = pending.pop()
            if isinstance(step, _Close):
                self._close(step)
            elif isinstance(step, _Say):
                content = self._reader.content(step.span)
                # Only its last words are known to be said when the agent ended.
                time = content.end if step.end is None else None
                answer = content.answer[step.first : step.end]
                step.place.thread.told.answer(answer, step.span.record, time)
            elif id(step[0]) not in self._seen:
                span, around = step
                self._seen.add(id(span))
                around = self._in_session(span, around)
                within = self._open(span, around, is_root=span is root)
                pending += reversed(self._steps(span, within, is_root=span is root))

    def _in_session(self, span: Span, place: _Place) -> _Place:
        thread = place.thread
        if not span.session or span.session == thread.session or thread.name != MAIN_THREAD:
            return place
        return _Place(self._threads.main(span.session))

    def _steps(
        self, span: Span, place: _Place, *, is_root: bool
    ) -> list[tuple[Span, _Place] | _Say | _Close]:
        """What is to be told inside a span, in order, and its end."""
        children = [(child, place) for child in span.children]
        is_agent = span.kind is SpanKind.AGENT or (is_root and span.kind is SpanKind.OTHER)
        says = is_agent and span.answered is not Detail.NONE and not said_inside(span)
        if not says or span.answered is not Detail.MESSAGES:
            return [*children, _Close(span, place, says)]
        tools = _Tools(inside(span, SpanKind.TOOL))
        steps: list[tuple[Span, _Place] | _Say | _Close] = []
        first = 0
        for number, event in enumerate(self._reader.content(span).answer):
            tool = tools.of(event) if event.kind is EventKind.TOOL_CALL else None
            if tool is not None:
                steps += [_Say(span, place, first, number), (tool, place)]
                first = number + 1
        if not steps:
            return [*children, _Close(span, place, says)]
        return [*steps, *children, _Say(span, place, first, None), _Close(span, place, False)]

    def _open(self, span: Span, place: _Place, *, is_root: bool) -> _Place:
        """Tell what a span adds at its start; gives the place of those inside it."""
        if span.kind is SpanKind.TOOL:
            return self._run_tool(span, place)
        if span.kind is SpanKind.AGENT:
            return self._open_agent(span, place)
        if span.kind is SpanKind.MODEL:
            return self._ask_model(span, place)
        if span.has_content and place.thread.told.open_call(span.name):
            return self._run_tool(span, place)
        if is_root and span.asked is not Detail.NONE and not asked_inside(span):
            self._tell_request(span, place.thread)
        return place

    def _tell_request(self, span: Span, thread: Thread) -> None:
        content = self._reader.content(span)
        thread.told.request(content.request, span.record, content.start)

    def _run_tool(self, span: Span, place: _Place) -> _Place:
        if place.tool is not None and place.tool.name == span.name and place.agent is None:
            # Two layers recorded one call.
            return place
        content = self._reader.content(span)
        if content.call is None:
            return place
        told = place.thread.told
        call_id = told.run(content.call, content.result, span.record)
        return _Place(self._threads.inside(place.thread, span.name, call_id), span)

    def _open_agent(self, span: Span, place: _Place) -> _Place:
        name = span.agent or span.name
        around = place.agent
        thread = place.thread
        if around is None:
            if place.tool is not None:
                thread = self._threads.taken(thread, name, span)
        elif name != (around.agent or around.name) and not continues(span, around):
            thread = self._threads.of_agent(thread, name, span)
        if span.asked is not Detail.NONE and not span.asked_below:
            self._tell_request(span, thread)
        elif not (span.has_content or span.asked_below or span.answered_below):
            self._silent += 1
        return _Place(thread, place.tool, span)

    def _ask_model(self, span: Span, place: _Place) -> _Place:
        if place.model is not None and is_told_by(span, place.model):
            return place
        if tells_more_inside(span):
            return place
        if not span.score and not span.failed:
            self._silent += 1
        content = self._reader.content(span)
        told = place.thread.told
        told.request(content.request, span.record, content.start)
        told.answer(content.answer, span.record, content.end)
        return replace(place, model=span)

    def _close(self, step: _Close) -> None:
        span, told = step.span, step.place.thread.told
        if step.says:
            content = self._reader.content(span)
            told.last_words(content.answer, span.record, content.end)
        if span.failed and (failure := self._reader.content(span).failure):
            told.failure(failure, span.record)


class _Tools:
    """The tools' spans inside an agent's, by the calls that they stand for."""

    def __init__(self, spans: Iterable[Span]) -> None:
        self._by_call: dict[str | int, deque[Span]] = {}
        for span in spans:
            for key in filter(None, (span.call_id, span.call_key)):
                self._by_call.setdefault(key, deque()).append(span)

    def of(self, call: Event) -> Span | None:
        """The next span of a call."""
        for key in filter(None, (call.call_id, call_key(call))):
            if spans := self._by_call.get(key):
                return spans.popleft()
        return None


def _share_texts(span: Span) -> None:
    """Hold once what the spans of a trace have in common."""
    span.trace, span.session = intern(span.trace), intern(span.session)
    span.id, span.parent, span.name = intern(span.id), intern(span.parent), intern(span.name)


def _news(models: Sequence[Span], reached: Mapping[int, str]) -> bool:
    """Whether any of some models answered what no trace before tells."""
    return not models or any(each.reached not in reached for each in models)
