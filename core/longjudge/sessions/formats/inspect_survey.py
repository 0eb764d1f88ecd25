"""What the events of a sample say about its conversation: times, subagents, lost messages.

The messages of a sample are its conversation, and its events repeat them with every request. The
events alone know of subagents (spans of agents whose answers the conversation lacks), of messages
that were dropped when the context was compacted, and of when something happened. Scorers ask
models too; that is no part of the session.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from longjudge.sessions.formats.inspect_messages import digest, events_of
from longjudge.sessions.formats.inspect_samples import Inputs
from longjudge.sessions.values import is_array, is_object, text_or_none

if TYPE_CHECKING:
    from collections.abc import Iterator

    from longjudge.sessions.formats.inspect_messages import Resolver
    from longjudge.sessions.formats.inspect_samples import Sample

    Message = dict[str, object]

MAIN = ""
_SCORING = "scoring"
_BY_ROLE = "\0"
_SCORERS = frozenset({"scorer", "scorers"})
_MAX_SPANS = 1000
"""How many spans a span may stand in; more are a ring."""


@dataclass(slots=True)
class Group:
    """The agent of a span: its answers that the conversation holds, and those that it lacks.

    `call_id` names the call that started it, `own` its answers and the results of its calls. What
    it says after a hand-off, the conversation repeats as text.
    """

    name: str
    known: int = 0
    unknown: int = 0
    last: str | None = None
    own: set[str] = field(default_factory=set[str])
    parent: str = MAIN
    call_id: str | None = None
    in_call: bool = False


@dataclass(slots=True)
class _Span:
    parent: str | None
    type: str | None
    name: str


@dataclass(slots=True)
class Survey:
    """What one pass over the events of a sample found; `MAIN` is the group outside of all agents.

    Messages go by their key: their id, or a digest of what they say.
    """

    groups: dict[str, Group] = field(default_factory=dict[str, Group])
    times: dict[str, str] = field(default_factory=dict[str, str])
    call_times: dict[str, str] = field(default_factory=dict[str, str])
    held: set[str] = field(default_factory=set[str])
    continued: set[str] = field(default_factory=set[str])
    answers: int = 0
    compacted: bool = False
    started: str | None = None
    ended: str | None = None
    limit: str | None = None
    _keys: dict[str, str] = field(default_factory=dict[str, str])
    _spans: dict[str, _Span] = field(default_factory=dict[str, _Span])
    _calls: dict[str, str] = field(default_factory=dict[str, str])
    _waiting_spans: dict[tuple[str, str], deque[str]] = field(
        default_factory=dict[tuple[str, str], "deque[str]"]
    )
    _waiting_calls: dict[tuple[str, str], deque[str]] = field(
        default_factory=dict[tuple[str, str], "deque[str]"]
    )

    def holds(self, key: str) -> bool:
        """Whether the conversation holds a message."""
        return key in self.held

    def know(self, message: Message, said: str) -> str:
        """Take up a message of the conversation; `said` is the digest. Returns its key."""
        key = text_or_none(message.get("id")) or said
        self.held.add(key)
        self._keys.setdefault(key, key)
        self._keys.setdefault(said, key)
        self.answers += message.get("role") == "assistant"
        return key

    def key(self, message: Message, resolver: Resolver) -> str:
        """The key of a message; the conversation's own where it holds the same."""
        name = text_or_none(message.get("id"))
        if name in self._keys:
            return self._keys[name]
        try:
            said = digest(events_of(message, resolver))
        except RecursionError:
            return name or "#"
        key = self._keys.get(said) or name or said
        if name is not None:
            self._keys[name] = key
        return key

    def read(self, sample: Sample, resolver: Resolver) -> None:
        """Go through all events."""
        inputs = Inputs(sample)
        for _, event in sample.events():
            time = _time(event)
            self.started = self.started or time
            self.ended = time or self.ended
            kind = event.get("event")
            if kind == "span_begin":
                self._begin(event)
            elif kind == "tool":
                self._called(event)
            elif kind == "compaction":
                self.compacted = True
            elif kind == "sample_limit":
                self.limit = text_or_none(event.get("message")) or self.limit
            elif kind == "model":
                self._model(event, sample, inputs, resolver)
        for name, group in self.groups.items():
            self._link(name.partition(_BY_ROLE)[0], group)

    def group_of(self, event: Message) -> str:
        """The group of an event: its nearest agent's span, and the role of the model asked.

        `MAIN` where there is neither.
        """
        found = MAIN
        for name, span in self._around(text_or_none(event.get("span_id"))):
            if span.type in _SCORERS:
                return _SCORING
            if span.type == "agent" and found == MAIN:
                found = name
        role = text_or_none(event.get("role"))
        return f"{found}{_BY_ROLE}{role}" if role else found

    def is_subagent(self, name: str) -> bool:
        """Whether a group's messages are a conversation of their own."""
        group = self.groups[name]
        if name == MAIN or not group.own:
            return False
        if group.known:
            return group.in_call
        if _BY_ROLE in name:
            return not self.continued.isdisjoint(group.own)
        return bool(self.answers or group.in_call or group.parent != MAIN)

    def is_part(self, event: Message, answer: str) -> bool:
        """Whether an answer is part of a conversation: it is kept, gone on from, or the last one.

        A summary for the agent itself, or a second opinion, is neither.
        """
        if answer in self.held or answer in self.continued:
            return True
        name = self.group_of(event)
        if name not in self.groups or self.groups[name].last != answer:
            return False
        return not self.answers or self.is_subagent(name)

    def _begin(self, event: Message) -> None:
        name = text_or_none(event.get("id"))
        if name is None:
            return
        span = _Span(
            text_or_none(event.get("parent_id")),
            text_or_none(event.get("type")),
            text_or_none(event.get("name")) or "agent",
        )
        self._spans[name] = span
        if span.type == "tool":
            outer = self._spans.get(span.parent or "")
            # A hand-off has a span between the agent's and the tool's.
            within = outer.parent if outer and outer.type == "handoff" else span.parent
            where = (within or "", span.name)
            if calls := self._waiting_calls.get(where):
                self._calls[name] = calls.popleft()
            else:
                self._waiting_spans.setdefault(where, deque()).append(name)

    def _called(self, event: Message) -> None:
        call_id = text_or_none(event.get("id"))
        if call_id is None:
            return
        if time := text_or_none(event.get("completed")) or _time(event):
            self.call_times[call_id] = time
        result, group = text_or_none(event.get("message_id")), self.groups.get(self.group_of(event))
        if result is not None and group is not None:
            group.own.add(result)
        if agent := text_or_none(event.get("agent_span_id")):
            self._calls[agent] = call_id
        where = (text_or_none(event.get("span_id")) or "", str(event.get("function")))
        if spans := self._waiting_spans.get(where):
            self._calls[spans.popleft()] = call_id
        else:
            self._waiting_calls.setdefault(where, deque()).append(call_id)

    def _model(self, event: Message, sample: Sample, inputs: Inputs, resolver: Resolver) -> None:
        name = self.group_of(event)
        if name == _SCORING:
            return
        group = self.groups.get(name)
        if group is None:
            span = self._spans.get(name)
            role = text_or_none(event.get("role"))
            group = self.groups[name] = Group(role or (span.name if span else "main"))
        for handle in inputs.of(event):
            message = sample.message(handle)
            if message is not None and message.get("role") == "assistant":
                self.continued.add(self.key(message, resolver))
        answer = answer_of(event)
        if answer is None:
            return
        key = self.key(answer, resolver)
        if time := text_or_none(event.get("completed")) or _time(event):
            self.times.setdefault(key, time)
        group.last = key
        group.own.add(key)
        if self.holds(key):
            group.known += 1
        else:
            group.unknown += 1

    def _link(self, span_id: str, group: Group) -> None:
        group.call_id = self._calls.get(span_id)
        group.in_call = group.call_id is not None
        span = self._spans.get(span_id)
        for key, outer in self._around(span.parent if span else None):
            if outer.type == "tool":
                group.in_call = True
                group.call_id = group.call_id or self._calls.get(key)
            if outer.type == "agent":
                group.parent = key
                return

    def _around(self, name: str | None) -> Iterator[tuple[str, _Span]]:
        """A span and those that it stands in, from the inside out."""
        for _ in range(_MAX_SPANS):
            span = self._spans.get(name or "")
            if name is None or span is None:
                return
            yield name, span
            name = span.parent


def answer_of(event: Message) -> Message | None:
    """The message that a model answered with."""
    output = event.get("output")
    choices = output.get("choices") if is_object(output) else None
    first = choices[0] if is_array(choices) and choices else None
    message = first.get("message") if is_object(first) else None
    return message if is_object(message) else None


def _time(event: Message) -> str | None:
    return text_or_none(event.get("timestamp"))
