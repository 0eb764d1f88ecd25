"""Tells a conversation that its file repeats over and over, each thing once.

Every request to a model holds all that was said before it, the tools' own records hold calls and
results a second time, and the agent's record a third. Each is told where it first appears.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING

from longjudge.sessions.formats.known_messages import known_events
from longjudge.sessions.model import Event, EventKind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    Message = dict[str, object]
    Tell = Callable[[Event, int], None]

_RECENT = 64
_SMALL_INPUT = 2_000


@dataclass(slots=True)
class _Call:
    """A call that was told; `named` says that its id is the file's own."""

    id: str
    named: bool
    key: int
    tool: str | None
    answered: bool = False
    said: bool = False
    run: bool = False
    result: int = 0


class _Repeats:
    """How often a request holds each call, and what each gave, by its place in the request."""

    def __init__(self, events: Sequence[Event]) -> None:
        self.counts: dict[str | int, int] = {}
        self.results: dict[int, int] = {}
        waiting: dict[str | None, deque[int]] = {}
        for place, event in enumerate(events):
            if event.kind is EventKind.TOOL_CALL:
                for name in filter(None, (event.call_id, call_key(event))):
                    self.counts[name] = self.counts.get(name, 0) + 1
                waiting.setdefault(event.call_id, deque()).append(place)
            elif event.kind is EventKind.TOOL_RESULT and (places := waiting.get(event.call_id)):
                self.results[places.popleft()] = _key(event)


@dataclass(slots=True)
class _Seen:
    """What one request was found to repeat; `waiting` holds its calls without a result so far.

    `is_new` says that it begins anew. Its last question was told when there were `first` calls.
    """

    events: Sequence[Event] = ()
    is_new: bool = False
    first: int = 0
    counts: dict[int, int] = field(default_factory=dict[int, int])
    calls: set[int] = field(default_factory=set[int])
    heads: dict[str | int, int] = field(default_factory=dict["str | int", int])
    likely_heads: dict[str | int, int] = field(default_factory=dict["str | int", int])
    repeats: _Repeats | None = None
    waiting: dict[int, None] = field(default_factory=dict[int, None])
    waiting_by_id: dict[str, deque[int]] = field(default_factory=dict[str, "deque[int]"])

    def add(self, number: int, call_id: str | None) -> None:
        """One of the request's calls."""
        self.calls.add(number)
        if call_id:
            self.waiting_by_id.setdefault(call_id, deque()).append(number)
        self.waiting[number] = None


def events_of(messages: Iterable[Message]) -> list[Event]:
    """The events of messages, in order."""
    found: list[Event] = []
    after_call = False
    for message in messages:
        events = known_events(message, after_call)
        after_call = bool(events) and events[-1].kind is EventKind.TOOL_CALL
        found += events
    return found


def call_key(event: Event) -> int:
    """What makes two calls the same one where an id is missing: tool and input, in any order."""
    body = event.body
    if len(body) <= _SMALL_INPUT:
        body = "".join(sorted(body.split()))
    return hash((event.tool, body))


class ToldOnce:
    """One conversation: what was told of it, and what of the next record is new."""

    def __init__(self, tell: Tell, name: str = "call") -> None:
        self._tell = tell
        self._name = name
        self._time: str | None = None
        self._told: dict[int, int] = {}
        self._calls: list[_Call] = []
        self._by_id: dict[str, list[int]] = {}
        self._by_key: dict[int, list[int]] = {}
        self._unsaid: dict[str | int, int] = {}
        self._unrun: dict[str | int, int] = {}
        self._open: dict[str | int, int] = {}
        self._failures: set[int] = set()
        self._asked: dict[int, list[int]] = {}
        self._begins = False
        self._is_asked = False

    def begin(self) -> None:
        """A trace of its own begins: its first request may ask again what was asked before."""
        self._begins = True

    def request(self, events: Sequence[Event], record: int, time: str | None = None) -> None:
        """All that was said up to here: what was not told yet is told.

        What stands in it n times is new where it was told less than n times. `time` counts for
        events without one, here as for answers.
        """
        self._time = time
        seen = _Seen(events, self._is_new(events))
        self._begins = False
        for place, event in enumerate(events):
            if event.kind is EventKind.TOOL_CALL:
                number = self._repeated(event, place, seen)
                if number is None:
                    number = self._new_call(event, record)
                self._calls[number].said = True
                seen.add(number, event.call_id)
            elif event.kind is EventKind.TOOL_RESULT:
                self._result(event, record, self._waiting_call(event, seen), seen)
            else:
                self._message(event, record, seen)

    def _is_new(self, events: Sequence[Event]) -> bool:
        """Whether a request asks the same agent anew: with nothing of what it answered before."""
        if not self._begins or self._is_asked:
            return False
        return all(
            event.kind is EventKind.USER_MESSAGE
            or (event.kind is EventKind.SYSTEM and _key(event) in self._told)
            for event in events
        )

    def answer(self, events: Iterable[Event], record: int, time: str | None = None) -> None:
        """What a model said: new, but for calls that the tools' records told before."""
        self._time = time
        for event in events:
            if event.kind is EventKind.TOOL_CALL:
                self.say_call(event, record)
            elif (number := self._answers(event)) is not None:
                self._result(event, record, number, _Seen())
            else:
                self._count(event)
                self._say(event, record)

    def say_call(self, event: Event, record: int) -> str:
        """A call that a model asked for; gives the id that it goes by."""
        number = self._first(event, self._unsaid, lambda each: not self._calls[each].said)
        if number is None:
            number = self._new_call(event, record)
        self._calls[number].said = True
        return self._calls[number].id

    def run(self, call: Event, result: Event | None, record: int) -> str:
        """What a tool did, by its own record; gives the id that the call goes by."""
        self._time = None
        number = self._first(call, self._open, self._is_open)
        if number is None:
            number = self._first(call, self._unrun, lambda each: not self._calls[each].run)
        if number is None:
            number = self._new_call(call, record)
        known = self._calls[number]
        known.run = True
        if result is not None:
            self._result(result, record, number, _Seen())
        return known.id

    def _is_open(self, number: int) -> bool:
        call = self._calls[number]
        return not call.run and not call.answered

    def open_call(self, tool: str) -> bool:
        """Whether a call of a tool was told that has no result yet."""
        return any(call.tool == tool and not call.answered for call in self._calls[-_RECENT:])

    def last_words(self, events: Iterable[Event], record: int, time: str | None = None) -> None:
        """What is said to be the outcome: told where nothing said it before."""
        self._time = time
        for event in events:
            if event.kind is EventKind.TOOL_CALL:
                self.say_call(event, record)
            elif event.kind is EventKind.TOOL_RESULT:
                self._result(event, record, self._told_call(event), _Seen())
            elif _key(event) not in self._told:
                self._count(event)
                self._say(event, record)

    def failure(self, event: Event, record: int) -> None:
        """An error; one that spans pass on to those around them is told once."""
        key = hash(event.body.strip())
        if key not in self._failures:
            self._failures.add(key)
            self._say(event, record)

    def _say(self, event: Event, record: int) -> None:
        if event.timestamp is None and self._time is not None:
            event = replace(event, timestamp=self._time)
        if event.kind not in (EventKind.SYSTEM, EventKind.ERROR):
            self._is_asked = event.kind is EventKind.USER_MESSAGE
        self._tell(event, record)

    def _message(self, event: Event, record: int, seen: _Seen) -> None:
        key = _key(event)
        count = seen.counts.get(key, 0) + 1
        told = self._told.get(key, 0)
        if seen.is_new and event.kind is EventKind.USER_MESSAGE:
            count = told + 1
        seen.counts[key] = count
        if event.kind is EventKind.USER_MESSAGE:
            asked = self._asked.setdefault(key, [])
            seen.first = asked[count - 1] if count <= len(asked) else 0
            if told < count:
                asked.append(len(self._calls))
        if told < count:
            self._told[key] = count
            self._say(event, record)

    def _count(self, event: Event) -> None:
        key = _key(event)
        self._told[key] = self._told.get(key, 0) + 1

    def _result(self, event: Event, record: int, number: int | None, seen: _Seen) -> None:
        """Tell a result unless its call has one; without a call it counts as a message does."""
        if number is None:
            self._message(event, record, seen)
        elif not (call := self._calls[number]).answered:
            call.answered = True
            call.result = _key(event)
            self._say(replace(event, call_id=call.id), record)

    def _waiting_call(self, event: Event, seen: _Seen) -> int | None:
        """The call of a request that a result in it answers: by its id, else the oldest."""
        if event.call_id:
            numbers = seen.waiting_by_id.get(event.call_id)
            if numbers is None:
                # The request leaves out the call that it holds the result of.
                return self._told_call(event)
            number = numbers.popleft() if numbers else None
            seen.waiting.pop(-1 if number is None else number, None)
            return number
        for number in islice(seen.waiting, _RECENT):
            if event.tool is None or self._calls[number].tool in (None, event.tool):
                del seen.waiting[number]
                return number
        return None

    def _answers(self, event: Event) -> int | None:
        """The call that an event answers, None for one that is no result."""
        return self._told_call(event) if event.kind is EventKind.TOOL_RESULT else None

    def _told_call(self, event: Event) -> int | None:
        """The call told before that a result answers: by its id, else the oldest open one."""
        if event.call_id:
            numbers: Sequence[int] = self._by_id.get(event.call_id, ())[-_RECENT:]
            waiting = [number for number in numbers if not self._calls[number].answered]
            return next(iter(waiting or reversed(numbers)), None)
        for number in range(max(0, len(self._calls) - _RECENT), len(self._calls)):
            call = self._calls[number]
            if not call.answered and (event.tool is None or call.tool in (None, event.tool)):
                return number
        return None

    def _repeated(self, event: Event, place: int, seen: _Seen) -> int | None:
        """The call told before that one in a request repeats; some give it another id there."""
        number = self._likely(event, place, seen)
        if number is not None:
            return number

        def is_left(number: int) -> bool:
            return number not in seen.calls

        number = self._first(event, seen.heads, is_left)
        if number is None and event.body and event.call_id not in self._by_id:
            key = call_key(event)
            number = self._next(self._by_key.get(key, ()), key, seen.heads, is_left)
        return number

    def _likely(self, event: Event, place: int, seen: _Seen) -> int | None:
        """The one of several equal calls that a request repeats which leaves out some of them.

        It was told after the request's last question, and gave the same or nothing yet.
        """
        name = event.call_id if event.call_id in self._by_id else call_key(event)
        told = self._by_id[name] if isinstance(name, str) else self._by_key.get(name or 0, ())
        if len(told) < 2:
            return None
        repeats = seen.repeats = seen.repeats or _Repeats(seen.events)
        if not name or repeats.counts.get(name, 0) >= len(told):
            return None
        result = repeats.results.get(place)

        def is_likely(number: int) -> bool:
            call = self._calls[number]
            if number in seen.calls or number < seen.first:
                return False
            return not call.answered or result in (None, call.result)

        return self._next(told, name, seen.likely_heads, is_likely)

    def _first(
        self, event: Event, heads: dict[str | int, int], fits: Callable[[int], bool]
    ) -> int | None:
        """The first call that may be this one: the same id, or one without and the same input.

        `heads` holds for each id and input how many calls will never fit again.
        """
        if event.call_id:
            number = self._next(self._by_id.get(event.call_id, ()), event.call_id, heads, fits)
            if number is not None:
                return number
        key = call_key(event)
        number = self._next(self._by_key.get(key, ()), key, heads, fits)
        if number is not None and not (event.call_id and self._calls[number].named):
            return number
        if event.body or event.call_id in self._by_id:
            return None
        # The tool's own record may name no input.
        first = max(0, len(self._calls) - _RECENT)
        for number in range(first, len(self._calls)):
            if self._calls[number].tool == event.tool and fits(number):
                return number
        return None

    @staticmethod
    def _next(
        numbers: Sequence[int],
        key: str | int,
        heads: dict[str | int, int],
        fits: Callable[[int], bool],
    ) -> int | None:
        head = heads.get(key, 0)
        while head < len(numbers) and not fits(numbers[head]):
            head += 1
        heads[key] = head
        return numbers[head] if head < len(numbers) else None

    def _new_call(self, event: Event, record: int) -> int:
        number = len(self._calls)
        id_ = event.call_id or f"{self._name}:{number + 1}"
        key = call_key(event)
        self._calls.append(_Call(id_, event.call_id is not None, key, event.tool))
        self._by_id.setdefault(id_, []).append(number)
        self._by_key.setdefault(key, []).append(number)
        self._say(replace(event, call_id=id_), record)
        return number


def _key(event: Event) -> int:
    return hash((event.kind, event.body.strip()))
