"""Trajectories in Harbor's interchange format (ATIF): steps with calls and observations inside.

A step of the agent is one answer: its reasoning, its text, its calls, and what came back. Steps
that were copied from an earlier part are told there. Terminus writes its commands into the text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from longjudge.sessions.formats.atif_terminus import read_terminus
from longjudge.sessions.formats.message_events import read_arguments
from longjudge.sessions.formats.passing_over import passing_over
from longjudge.sessions.formats.retold import RetoldFormat
from longjudge.sessions.gather import MAIN_THREAD
from longjudge.sessions.model import Event, EventKind
from longjudge.sessions.render import render_content, render_input, render_value
from longjudge.sessions.values import is_array, is_object, text_or_none, word

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from longjudge.sessions.formats.retold import Records, Telling

    Object = dict[str, object]

COPIED = "steps copied from an earlier part, left out"
CONTINUED = "the trajectory goes on in another file"
CONTINUES = "the trajectory goes on from another file"
ELSEWHERE = "subagents in files of their own, not read"

_STEPS = "steps"
_SUBAGENTS = "subagent_trajectories"
_MAX_DEPTH = 20
_SOURCES = {"user": EventKind.USER_MESSAGE, "system": EventKind.SYSTEM}
_OF_AGENTS = ("tool_calls", "reasoning_content", "metrics", "model_name")
_FAILED = frozenset({"error", "failed", "failure"})


class Atif(RetoldFormat):
    """Reads ATIF documents, and files with one of them a line."""

    name = "atif"
    lists = (_STEPS, _SUBAGENTS)

    def recognise(self, head: Sequence[Object], around: Mapping[str, object] | None) -> float:
        """Surely where the schema says so, around the steps or in each record."""
        if around is not None and _is_atif(around):
            return 1.0
        return sum(map(_is_atif, head)) / len(head) if head else 0.0

    def retell(self, records: Records, around: Mapping[str, object], telling: Telling) -> None:
        """One pass; every record is a step, an embedded trajectory, or a whole one."""
        teller = _Teller(telling)
        main = _Place(telling)
        if _is_atif(around):
            _tell_facts(around, main)
        whole = _count_whole(records)
        for given in records:
            if given.entry == _STEPS:
                teller.step(given.value, given.number, main)
            elif given.entry == _SUBAGENTS:
                teller.subagent(given.value, given.number, main, 1)
            elif whole:
                place = _Place(telling, session=str(given.number) if whole > 1 else "")
                teller.trajectory(given.value, given.number, place)
            else:
                teller.step(given.value, given.number, main)


def _count_whole(records: Records) -> int:
    """How many records are a trajectory each; none where the first one is a step of a document."""
    first = next(iter(records), None)
    if first is None or first.entry:
        return 0
    return sum(_is_atif(given.value) for given in records)


def _is_atif(value: Mapping[str, object]) -> bool:
    return word(value.get("schema_version")).startswith("ATIF")


@dataclass(slots=True)
class _Place:
    """Where the steps of a trajectory go, and how many came before."""

    telling: Telling
    session: str = ""
    thread: str = MAIN_THREAD
    steps: int = 0
    depth: int = 0
    unnamed: int = 0
    told: int = 0

    def say(self, events: Sequence[Event], number: int) -> None:
        self.told += len(events)
        for event in events:
            self.telling.event(event, number, session=self.session, thread=self.thread)


def _tell_facts(trajectory: Mapping[str, object], place: _Place) -> None:
    telling = place.telling
    telling.facts(session=place.session, id=text_or_none(trajectory.get("session_id")))
    agent = trajectory.get("agent")
    extra = agent.get("extra") if is_object(agent) else None
    if is_object(extra) and extra.get("continuation_index"):
        telling.note(CONTINUES, None)
    if trajectory.get("continued_trajectory_ref"):
        telling.note(CONTINUED, None)


class _Teller:
    def __init__(self, telling: Telling) -> None:
        self._telling = telling

    def trajectory(self, trajectory: Object, number: int, place: _Place) -> None:
        """A whole one, its subagents included."""
        if place.thread == MAIN_THREAD:
            _tell_facts(trajectory, place)
        steps, inner = trajectory.get(_STEPS), trajectory.get(_SUBAGENTS)
        for step in filter(is_object, steps if is_array(steps) else []):
            self.step(step, number, place)
        for each in filter(is_object, inner if is_array(inner) else []):
            self.subagent(each, number, place, place.depth + 1)

    def subagent(self, trajectory: Object, number: int, parent: _Place, depth: int) -> None:
        """An embedded one: a thread by the name that a call refers to."""
        if depth > _MAX_DEPTH:
            self._telling.skip("subagents nested too deeply", number)
            return
        parent.unnamed += 1
        name = text_or_none(trajectory.get("trajectory_id")) or text_or_none(
            trajectory.get("session_id")
        )
        thread = _thread(name) if name else f"{parent.thread}/{parent.unnamed}"
        place = _Place(self._telling, parent.session, thread, depth=depth)
        self.trajectory(trajectory, number, place)

    def step(self, step: Object, number: int, place: _Place) -> None:
        """The events of one step."""
        told = place.told
        with passing_over(self._telling, number):
            self._step(step, number, place)
            if place.told == told and step.get("is_copied_context") is not True:
                self._telling.note("steps of an ATIF trajectory without content", number)

    def _step(self, step: Object, number: int, place: _Place) -> None:
        place.steps += 1
        if step.get("is_copied_context") is True:
            self._telling.note(COPIED, number)
            return
        source = step.get("source")
        kind = _SOURCES.get(source) if isinstance(source, str) else None
        if kind is EventKind.USER_MESSAGE and place.thread != MAIN_THREAD:
            # A subagent's task comes from the agent that started it.
            kind = EventKind.SYSTEM
        time = text_or_none(step.get("timestamp"))
        results = _results(step)
        if kind is None and (source == "agent" or any(step.get(key) for key in _OF_AGENTS)):
            self._agent_step(step, results, number, place)
            return
        if kind is None:
            self._telling.note("steps of an unknown source, told as system notes", number)
        body = "\n".join(filter(None, (_message(step), *map(_references, results))))
        outputs = [result for result in results if result.get("content") is not None]
        if body:
            place.say([Event(kind or EventKind.SYSTEM, body, timestamp=time)], number)
        place.say([_result(each, None, time) for each in outputs], number)
        for result in results:
            self._link(result, None, number, place)

    def _agent_step(
        self, step: Object, results: Sequence[Object], number: int, place: _Place
    ) -> None:
        time = text_or_none(step.get("timestamp"))
        thought = step.get("reasoning_content")
        if thought and (body := render_content(thought)):
            place.say([Event(EventKind.THINKING, body, timestamp=time)], number)
        text, calls = _message(step), _calls(step)
        if not calls and (answer := read_terminus(text)):
            text, calls = answer.text, answer.calls
        if text:
            place.say([Event(EventKind.ASSISTANT_MESSAGE, text, timestamp=time)], number)
        told = _distinct_ids(calls, place.steps)
        place.say(
            [
                Event(EventKind.TOOL_CALL, _input(call), _tool(call), call_id, None, time)
                for call, call_id in zip(calls, told, strict=True)
            ],
            number,
        )
        for result, call in zip(results, _answered(results, calls), strict=True):
            call_id = None if call is None else told[call]
            place.say([_result(result, call_id, time)], number)
            self._link(result, call_id, number, place)

    def _link(self, result: Object, call_id: str | None, number: int, place: _Place) -> None:
        references = result.get("subagent_trajectory_ref")
        for reference in references if is_array(references) else [references]:
            if not is_object(reference):
                continue
            name = text_or_none(reference.get("trajectory_id"))
            if name and call_id:
                self._telling.starts(
                    _thread(name), call_id=call_id, session=place.session, parent=place.thread
                )
            elif not name:
                self._telling.note(ELSEWHERE, number)


def _thread(name: str) -> str:
    return f"agent-{name}"


def _message(step: Object) -> str:
    message = step.get("message")
    return render_content(message) if message is not None else ""


def _results(step: Object) -> list[Object]:
    observation = step.get("observation")
    results = observation.get("results") if is_object(observation) else observation
    return list(filter(is_object, results)) if is_array(results) else []


def _calls(step: Object) -> list[Object]:
    calls = step.get("tool_calls")
    return list(filter(is_object, calls)) if is_array(calls) else []


def _tool(call: Object) -> str | None:
    return text_or_none(call.get("function_name"))


def _input(call: Object) -> str:
    return render_input(read_arguments(call.get("arguments")))


def _distinct_ids(calls: Sequence[Object], step: int) -> list[str]:
    """An id for each call: its own, unless it has none or shares it (redacted files do)."""
    given = [text_or_none(call.get("tool_call_id")) for call in calls]
    return [
        own if own and given.count(own) == 1 else f"{own or 'call'}#{step}.{position}"
        for position, own in enumerate(given, 1)
    ]


def _answered(results: Sequence[Object], calls: Sequence[Object]) -> list[int | None]:
    """For each result the call that it answers: by its id, else by its place.

    One result without an id answers all calls of the step together; it stands by the last.
    """
    waiting: dict[str, list[int]] = {}
    for position, call in enumerate(calls):
        waiting.setdefault(word(call.get("tool_call_id")), []).append(position)
    found: list[int | None] = []
    for position, result in enumerate(results):
        own = result.get("source_call_id")
        if own is not None:
            open_ = waiting.get(word(own))
            found.append(open_.pop(0) if open_ else None)
        elif len(results) == len(calls):
            found.append(position)
        else:
            found.append(len(calls) - 1 if calls and len(results) == 1 else None)
    return found


def _result(result: Object, call_id: str | None, time: str | None) -> Event:
    content = result.get("content")
    parts = (render_content(content) if content is not None else "", _references(result))
    extra = result.get("extra")
    failed: bool | None = None
    for said in (result, extra if is_object(extra) else {}):
        flag = said.get("is_error")
        if isinstance(flag, bool):
            failed = flag
        elif word(said.get("status")) in _FAILED:
            failed = True
    body = "\n".join(filter(None, parts))
    return Event(EventKind.TOOL_RESULT, body, None, call_id, failed, time)


def _references(result: Object) -> str:
    """The subagents that a result stands for, by what is said about them."""
    references = result.get("subagent_trajectory_ref")
    said: list[str] = []
    for reference in references if is_array(references) else [references]:
        if not is_object(reference):
            continue
        extra = reference.get("extra")
        summary = text_or_none(extra.get("summary")) if is_object(extra) else None
        name = reference.get("trajectory_path") or reference.get("trajectory_id")
        said.append(f"[subagent: {summary or render_value(name) or 'unnamed'}]")
    return "\n".join(said)
