"""The spans of a trace: which ones hold a conversation, and how they stand in one another."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

from longjudge.sessions.formats.held_messages import is_structured
from longjudge.sessions.formats.told_once import call_key
from longjudge.sessions.model import EventKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from longjudge.sessions.model import Event


_OPENINGS = 4


class SpanKind(Enum):
    """What a span stands for."""

    MODEL = "model"
    TOOL = "tool"
    AGENT = "agent"
    OTHER = "other"


class Detail(Enum):
    """How a span recorded what went in or came out."""

    NONE = 0
    TEXT = 1
    MESSAGES = 2


def detail_of(messages: Sequence[dict[str, object]], value: object) -> Detail:
    """How a value recorded the messages that were found in it."""
    if not messages:
        return Detail.NONE
    return Detail.MESSAGES if is_structured(messages, value) else Detail.TEXT


@dataclass(frozen=True, slots=True)
class Content:
    """What a span recorded, as events; `request` is all that was said before the `answer`.

    `start` and `end` count for events without a time.
    """

    request: Sequence[Event] = ()
    answer: Sequence[Event] = ()
    asked: Detail = Detail.NONE
    answered: Detail = Detail.NONE
    call: Event | None = None
    result: Event | None = None
    failure: Event | None = None
    start: str | None = None
    end: str | None = None


@dataclass(slots=True)
class Span:
    """One span without its content, which stands in record `record` at `place`.

    `start` sorts the spans of a file. `session` is the conversation that the span names itself.
    """

    id: str
    parent: str
    trace: str
    name: str
    kind: SpanKind
    start: str
    record: int
    place: int
    session: str = ""
    agent: str = ""
    call_id: str | None = None
    call_key: int = 0
    asked: Detail = Detail.NONE
    answered: Detail = Detail.NONE
    openings: tuple[int, ...] = ()
    holds_run: bool = False
    failed: bool = False
    resumes: int = 0
    request: int = 0
    reached: int = 0
    children: list[Span] = field(default_factory=list["Span"], repr=False)
    asked_below: bool = False
    answered_below: bool = False
    openings_below: tuple[int, ...] = ()
    request_below: int = 0

    def learn(self, content: Content) -> None:
        """Take from the content what must be known before it is told."""
        self.asked, self.answered = content.asked, content.answered
        self.openings = openings_of(content.request)
        self.failed = content.failure is not None
        if self.kind is SpanKind.MODEL:
            self.resumes, self.request, self.reached = _course(content)
        self.holds_run = content.call is not None and bool(
            content.call.body or (content.result and content.result.body)
        )
        if content.call is not None:
            self.call_id, self.call_key = content.call.call_id, call_key(content.call)

    @property
    def has_content(self) -> bool:
        """Whether the span recorded anything that was said or done."""
        said = self.asked is not Detail.NONE or self.answered is not Detail.NONE
        return said or self.holds_run

    @property
    def score(self) -> int:
        """How much of a conversation a model's span tells."""
        return self.asked.value + self.answered.value


def openings_of(events: Sequence[Event]) -> tuple[int, ...]:
    """What tells conversations apart: the first things that a user said in it."""
    said = [event.body for event in events if event.kind is EventKind.USER_MESSAGE]
    return tuple(hash(body.strip()) for body in said[:_OPENINGS])


def _course(content: Content) -> tuple[int, int, int]:
    """What stands for a conversation up to its last answer, the request, and this answer."""
    state = resumes = 0
    for event in content.request:
        state = _went_on(state, event)
        if event.kind not in (EventKind.SYSTEM, EventKind.USER_MESSAGE):
            resumes = state
    request = state
    for event in content.answer:
        state = _went_on(state, event)
    return resumes, request, state if content.answer else 0


def _went_on(state: int, event: Event) -> int:
    """The conversation with one more event; thoughts and prompts come and go in requests."""
    if event.kind in (EventKind.SYSTEM, EventKind.THINKING):
        return state
    said = call_key(event) if event.kind is EventKind.TOOL_CALL else event.body.strip()
    return hash((state, event.kind, said))


def arrange(spans: Iterable[Span]) -> list[Span]:
    """The spans that stand in no other, in order of time, each with those inside it in order.

    Of two with the same id the one that recorded more counts.
    """
    known: dict[tuple[str, str], Span] = {}
    for number, span in enumerate(spans):
        key = (span.trace, span.id or f"#{number}")
        earlier = known.get(key)
        if earlier is None or span.score >= earlier.score:
            known[key] = span
    roots: list[Span] = []
    for span in known.values():
        parent = known.get((span.trace, span.parent)) if span.parent else None
        if parent is None or parent is span:
            roots.append(span)
        else:
            parent.children.append(span)
    for span in known.values():
        span.children.sort(key=_order)
    roots.sort(key=_order)
    # A ring of spans hangs on no root; its first one is taken for one.
    reached = {id(span) for root in roots for span in walk(root)}
    for span in known.values():
        if id(span) not in reached:
            _part_from_ring(span)
            roots.append(span)
            reached.update(id(each) for each in walk(span))
    for root in roots:
        _look_below(root)
    return roots


def _part_from_ring(span: Span) -> None:
    """Take a span out of the one that it stands in, so that a walk from it ends."""
    for each in walk(span):
        each.children = [child for child in each.children if child is not span]


def _order(span: Span) -> tuple[str, int, int]:
    return (span.start, span.record, span.place)


def walk(root: Span) -> Iterator[Span]:
    """A span and all inside it, each before those inside it."""
    seen: set[int] = set()
    pending = [root]
    while pending:
        span = pending.pop()
        if id(span) in seen:
            continue
        seen.add(id(span))
        yield span
        pending += reversed(span.children)


def _look_below(root: Span) -> None:
    """Note for each span whether the models inside it tell what was asked and answered.

    What a tool does inside is another conversation, and so may be an agent inside an agent.
    """
    for span in reversed(list(walk(root))):
        nested: tuple[int, ...] = ()
        for child in span.children:
            if child.kind is SpanKind.TOOL:
                continue
            if child.kind is SpanKind.AGENT:
                nested = nested or child.openings_below
                continue
            if child.kind is SpanKind.MODEL:
                span.asked_below |= child.asked is not Detail.NONE
                span.answered_below |= child.answered is not Detail.NONE
                span.openings_below = span.openings_below or child.openings
                span.request_below = span.request_below or child.request
            span.asked_below |= child.asked_below
            span.answered_below |= child.answered_below
            span.openings_below = span.openings_below or child.openings_below
            span.request_below = span.request_below or child.request_below
        if span.kind is SpanKind.AGENT and span.openings:
            span.openings_below = span.openings
        span.openings_below = span.openings_below or nested


def inside(span: Span, kind: SpanKind) -> list[Span]:
    """The nearest spans of a kind inside another, with nothing but plumbing between."""
    found: list[Span] = []
    pending = list(reversed(span.children))
    while pending:
        child = pending.pop()
        if child.kind is kind:
            found.append(child)
        elif child.kind is SpanKind.OTHER:
            pending += reversed(child.children)
    return found


def is_told_by(span: Span, around: Span) -> bool:
    """Whether a model's span inside another one records the same exchange, one layer deeper."""
    known = span.asked is Detail.MESSAGES and around.asked is Detail.MESSAGES
    return not (known and span.openings and not set(span.openings) & set(around.openings))


def tells_more_inside(span: Span) -> bool:
    """Whether the models inside a model's span tell at least what the span itself tells."""
    models = [each for each in inside(span, SpanKind.MODEL) if each.score]
    models = [each for each in models if is_told_by(each, span)]
    if not models:
        return False
    if span.answered is Detail.NONE:
        return any(each.answered is not Detail.NONE for each in models)
    if any(each.answered is Detail.NONE for each in models):
        return False
    # Of one layer the better record counts; several steps inside are told one by one.
    return len(models) > 1 or models[0].score >= span.score


def main_models(root: Span) -> list[Span]:
    """The models of a trace's own agent, in order."""
    found: list[Span] = []
    pending = [root]
    while pending:
        span = pending.pop()
        if span.kind is SpanKind.MODEL and span.score:
            found.append(span)
        if span.kind is not SpanKind.TOOL:
            pending += reversed(span.children)
    return found


def first_sessions(roots: Sequence[Span]) -> dict[str, str]:
    """For each trace the first conversation that one of its spans names."""
    found: dict[str, str] = {}
    for root in roots:
        for span in walk(root):
            if span.session:
                found.setdefault(span.trace, span.session)
    return found


def continues(span: Span, around: Span) -> bool:
    """Whether an agent inside another one takes part in the same conversation."""
    return any(opening in around.openings_below[:1] for opening in span.openings_below) or any(
        opening in span.openings_below[:1] for opening in around.openings_below
    )


def asked_inside(span: Span) -> bool:
    """Whether a model or an agent in it, or it itself, recorded what was asked."""
    return any(
        each.asked is not Detail.NONE and each.kind in (SpanKind.MODEL, SpanKind.AGENT)
        for each in walk(span)
    )


def said_inside(span: Span) -> bool:
    """Whether a model or an agent in it, or it itself, recorded what was answered."""
    if span.answered_below or span.kind is SpanKind.AGENT:
        return span.answered_below
    return any(
        each.answered is not Detail.NONE and each.kind in (SpanKind.MODEL, SpanKind.AGENT)
        for each in walk(span)
    )
