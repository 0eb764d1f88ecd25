"""SWE-agent trajectories (`.traj`): the prompt from `history`, what was done from `trajectory`.

Both lists tell the same steps. A step holds what was really run and seen, so the history gives
only the prompt, and the ids and names of calls made through the tool interface. Later versions
repeat the whole prompt in every step (`query`, `messages`); it is read only where a cut file has
lost its history.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from longjudge.sessions.formats.passing_over import passing_over
from longjudge.sessions.formats.retold import RetoldFormat
from longjudge.sessions.model import Event, EventKind, Severity
from longjudge.sessions.render import render_content, render_input, render_value
from longjudge.sessions.values import is_array, is_object, text_or_none

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from longjudge.sessions.formats.retold import Given, Records, Telling

    Message = dict[str, object]

ATTEMPTS = "other attempts at the task, in the list `attempts`, left out"
DEMONSTRATION = "messages of a demonstration shown to the model, left out"
NO_PROMPT = "the file is cut before its history: the task is taken from the first step"

_STEPS = "trajectory"
_HISTORY = "history"
_SHELL = "bash"
_NO_NAMES = ("main", "swe_main")
_DONE = "submitted"


class SWEAgent(RetoldFormat):
    """Reads the trajectories of every version of SWE-agent."""

    name = "swe-agent"
    lists: Sequence[str] = (_HISTORY, _STEPS)

    def recognise(self, head: Sequence[Message], around: Mapping[str, object] | None) -> float:
        """Steps with an action and an observation, or messages that name their agent."""
        if around is None or not head:
            return 0.0
        if not any(map(_is_step, head)) and _STEPS not in around:
            return 0.0
        return sum(_is_step(each) or _is_message(each) for each in head) / len(head)

    def retell(self, records: Records, around: Mapping[str, object], telling: Telling) -> None:
        """Tell the prompt, then step after step."""
        prompt = _Prompt()
        calls = _Calls()
        for given in records:
            if _in_history(given):
                with passing_over(telling, given.number):
                    prompt.read(given)
                    calls.read(given.value)
        _tell_facts(around, telling)
        if around.get("attempts"):
            telling.note(ATTEMPTS, None, Severity.WARNING)
        if prompt.demonstrated:
            telling.note(DEMONSTRATION, prompt.first_demonstrated, count=prompt.demonstrated)
        for number, event in prompt.events:
            telling.event(event, number)
        last = None
        for given in records:
            if _in_history(given):
                continue
            with passing_over(telling, given.number):
                if last is None and not prompt.events:
                    _tell_repeated_prompt(given, telling)
                for event in _step_events(given.value, calls):
                    telling.event(event, given.number)
            last = given.number
        if last is None:
            last = _tell_history(records, telling)
        status = _exit_status(around)
        if status is not None and last is not None:
            telling.event(Event(EventKind.SYSTEM, f"exit status: {status}"), last)


@dataclass(slots=True)
class _Prompt:
    """What the model was given before its first answer."""

    events: list[tuple[int, Event]] = field(default_factory=list[tuple[int, Event]])
    demonstrated: int = 0
    first_demonstrated: int | None = None
    _answered: bool = False

    def read(self, given: Given) -> None:
        if _is_demonstration(given.value):
            self.demonstrated += 1
            if self.first_demonstrated is None:
                self.first_demonstrated = given.number
        elif given.value.get("role") == "assistant":
            self._answered = True
        elif not self._answered and (event := _prompt_event(given.value)):
            self.events.append((given.number, event))


class _Calls:
    """Names and ids of the calls in a history, by the action that they became.

    Held by a hash of the action: a history may hold many and long ones.
    """

    def __init__(self) -> None:
        self._by_action: dict[int, deque[tuple[str | None, str | None]]] = {}

    def read(self, message: Message) -> None:
        calls, action = message.get("tool_calls"), message.get("action")
        if _is_demonstration(message) or not is_array(calls) or not isinstance(action, str):
            return
        if calls and is_object(calls[0]):
            function = calls[0].get("function")
            name = text_or_none(function.get("name")) if is_object(function) else None
            found = (name, text_or_none(calls[0].get("id")))
            self._by_action.setdefault(hash(action), deque()).append(found)

    def take(self, action: str) -> tuple[str, str | None]:
        """The tool and the id of the next call with an action; the shell where none is known."""
        known = self._by_action.get(hash(action))
        name, call_id = known.popleft() if known else (None, None)
        return name or _SHELL, call_id


def _in_history(given: Given) -> bool:
    return given.entry == _HISTORY or (given.entry != _STEPS and not _is_step(given.value))


def _is_step(record: Message) -> bool:
    return "action" in record and "observation" in record and "role" not in record


def _is_message(record: Message) -> bool:
    return "role" in record and "content" in record and ("agent" in record or "action" in record)


def _is_demonstration(message: Message) -> bool:
    return message.get("is_demo") is True or message.get("message_type") == "demonstration"


def _prompt_event(message: Message) -> Event | None:
    body = render_content(message.get("content")) if message.get("content") else ""
    if not body:
        return None
    kind = EventKind.USER_MESSAGE if message.get("role") == "user" else EventKind.SYSTEM
    return Event(kind, body)


def _step_events(step: Message, calls: _Calls) -> Iterator[Event]:
    thought = render_value(step.get("thought") or step.get("response"))
    action = step.get("action")
    yield from _thinking_blocks(step.get("thinking_blocks"))
    if not isinstance(action, str) or not action.strip():
        yield from _wordless_step(step, thought)
        return
    if thought.strip():
        yield Event(EventKind.THINKING, thought)
    tool, call_id = calls.take(action)
    yield Event(EventKind.TOOL_CALL, render_input({"command": action}), tool, call_id)
    observation = step.get("observation")
    if observation is not None:
        yield Event(EventKind.TOOL_RESULT, render_content(observation), tool, call_id)


def _wordless_step(step: Message, thought: str) -> Iterator[Event]:
    """A step that ran nothing: an answer without a command, or the harness that gives up."""
    if thought.strip():
        ended = thought.startswith("Exit")
        yield Event(EventKind.SYSTEM if ended else EventKind.ASSISTANT_MESSAGE, thought)
    if observation := step.get("observation"):
        yield Event(EventKind.SYSTEM, render_content(observation))


def _thinking_blocks(blocks: object) -> Iterator[Event]:
    for block in blocks if is_array(blocks) else ():
        if is_object(block) and (text := render_value(block.get("thinking"))):
            yield Event(EventKind.THINKING, text)


def _tell_repeated_prompt(given: Given, telling: Telling) -> None:
    """The prompt as the first step repeats it."""
    told = False
    for message in _repeated(given.value):
        if message.get("role") == "assistant" and not _is_demonstration(message):
            break
        event = None if _is_demonstration(message) else _prompt_event(message)
        if event is not None:
            telling.event(event, given.number)
            told = True
    if told:
        telling.note(NO_PROMPT, given.number)


def _repeated(step: Message) -> Iterable[Message]:
    for key in ("query", "messages"):
        messages = step.get(key)
        if is_array(messages) and messages:
            return [each for each in messages if is_object(each)]
    return ()


def _tell_history(records: Records, telling: Telling) -> int | None:
    """Tell the answers of the history, of a file that has no steps; the last record's number."""
    last = None
    answered = False
    for given in records:
        message = given.value
        if _is_demonstration(message):
            continue
        last = given.number
        with passing_over(telling, given.number):
            if message.get("role") == "assistant":
                answered = True
                for event in _answer_events(message):
                    telling.event(event, given.number)
            elif answered and (body := render_content(message.get("content") or "")):
                telling.event(Event(EventKind.TOOL_RESULT, body), given.number)
    return last


def _answer_events(message: Message) -> Iterator[Event]:
    calls = _Calls()
    calls.read(message)
    step: Message = {**message, "response": message.get("content")}
    step.pop("observation", None)
    yield from _step_events(step, calls)


def _tell_facts(around: Mapping[str, object], telling: Telling) -> None:
    replayed = around.get("replay_config")
    problem = replayed.get("problem_statement") if is_object(replayed) else None
    for value in (
        around.get("instance_id"),
        around.get("environment"),
        problem.get("id") if is_object(problem) else None,
    ):
        if isinstance(value, str) and value and value not in _NO_NAMES:
            telling.facts(id=value, title=value)
            return


def _exit_status(around: Mapping[str, object]) -> str | None:
    """How the run ended, where it did not simply submit."""
    info = around.get("info")
    status = text_or_none(info.get("exit_status")) if is_object(info) else None
    return None if status in (None, _DONE) else render_value(status)
