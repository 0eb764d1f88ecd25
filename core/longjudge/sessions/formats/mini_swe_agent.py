"""mini-swe-agent trajectories: commands in code blocks of the answers, or real tool calls.

The first version writes every message as plain text: the answer holds one command in a code
block, and the next message in the user's name is its output. An answer with no block, or with
several, was rejected and nothing was run. The second version keeps messages as the model's
interface has them, and closes with a message of the role `exit`.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from longjudge.sessions.formats.message_events import message_events
from longjudge.sessions.formats.passing_over import passing_over
from longjudge.sessions.formats.retold import RetoldFormat
from longjudge.sessions.model import Event, EventKind
from longjudge.sessions.render import render_content, render_input, render_value
from longjudge.sessions.times import iso_time
from longjudge.sessions.values import is_array, is_object, text_or_none, word

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from longjudge.sessions.formats.retold import Records, Telling

    Message = dict[str, object]

_SHELL = "bash"
_BLOCK = re.compile(r"```(?:bash|mswea_bash_command)[ \t]*\n(.*?)\n?```", re.S)
_RETURN_CODE = re.compile(r"\s*<returncode>(-?\d+)</returncode>")
_TIMED_OUT = re.compile(r"The last command <command>.*timed out", re.S)
_THOUGHT = re.compile(r"\s*THOUGHT:\s*")
_NEW_TASK = "The user added a new task:"
_SUBMITTED = "Submitted"


class MiniSWEAgent(RetoldFormat):
    """Reads the trajectories of every version of mini-swe-agent, and bare lists of messages."""

    name = "mini-swe-agent"
    lists: Sequence[str] = ("messages",)

    def recognise(self, head: Sequence[Message], around: Mapping[str, object] | None) -> float:
        """A document that says so, or messages with commands in blocks and their return codes."""
        if around is not None:
            info = around.get("info")
            if word(around.get("trajectory_format")).startswith("mini-swe-agent"):
                return 1.0
            if is_object(info) and "mini_version" in info:
                return 1.0
        if not head or not all("role" in message for message in head):
            return 0.0
        commanded = any(_commands(m) for m in head if m.get("role") == "assistant")
        answered = any(_is_output(m) for m in head if m.get("role") == "user")
        return 1.0 if commanded and answered else 0.0

    def retell(self, records: Records, around: Mapping[str, object], telling: Telling) -> None:
        """Tell message after message."""
        if instance := text_or_none(around.get("instance_id")):
            telling.facts(id=instance, title=instance)
        state = _State()
        for given in records:
            with passing_over(telling, given.number):
                for event in state.events(given.value):
                    telling.event(event, given.number)


class _State:
    """What the next message in the user's name is: it depends on the answer before it."""

    def __init__(self) -> None:
        self._asked = False
        self._waiting = False
        self._rejected = False

    def events(self, message: Message) -> list[Event]:
        time = _time(message)
        role = message.get("role")
        if role == "exit":
            return _exit(message, time)
        if role == "assistant" and not message.get("tool_calls"):
            return list(self._answer(message, time))
        if role == "user":
            return self._user(message, time)
        events: list[Event] = []
        output = message.get("output")
        # An answer of the Responses interface is kept as a whole.
        items = output if message.get("object") == "response" and is_array(output) else [message]
        for item in items:
            if is_object(item):
                events += message_events(item, time)
        self._waiting = any(event.kind is EventKind.TOOL_CALL for event in events)
        return [_with_outcome(event, message) for event in events]

    def _answer(self, message: Message, time: str | None) -> Iterator[Event]:
        reasoning = _reasoning(message)
        if reasoning:
            yield Event(EventKind.THINKING, reasoning, timestamp=time)
        text = render_content(message.get("content") or "")
        blocks = list(_BLOCK.finditer(text))
        self._waiting = len(blocks) == 1
        ran = _actions(message)
        if not self._waiting and ran:
            # Another pattern than the usual one marks the command; what was run stands beside.
            self._waiting = True
            if text:
                yield Event(EventKind.THINKING, text, timestamp=time)
            for each in ran:
                yield Event(EventKind.TOOL_CALL, each, _SHELL, timestamp=time)
            return
        self._rejected = not self._waiting
        if not self._waiting:
            if text:
                yield Event(EventKind.ASSISTANT_MESSAGE, text, timestamp=time)
            return
        block = blocks[0]
        thought = _THOUGHT.sub("", text[: block.start()], count=1).strip()
        after = text[block.end() :].strip()
        if said := "\n\n".join(filter(None, (thought, after))):
            yield Event(EventKind.THINKING, said, timestamp=time)
        command = render_input({"command": block[1]})
        yield Event(EventKind.TOOL_CALL, command, _SHELL, timestamp=time)

    def _user(self, message: Message, time: str | None) -> list[Event]:
        body = render_content(message.get("content") or "")
        waiting, rejected = self._waiting, self._rejected
        self._waiting = self._rejected = False
        interrupt = _extra(message).get("interrupt_type")
        if interrupt == "UserInterruption" or body.startswith(_NEW_TASK):
            return [Event(EventKind.USER_MESSAGE, body, timestamp=time)]
        if interrupt is not None or rejected:
            # The second version keeps a rejected answer only beside its rejection.
            said = text_or_none(_extra(message).get("model_response"))
            answer = (EventKind.ASSISTANT_MESSAGE, render_value(said))
            told = (answer, (EventKind.SYSTEM, body))
            return [Event(kind, text, timestamp=time) for kind, text in told if text]
        if waiting or (self._asked and _is_output(message)):
            event = Event(EventKind.TOOL_RESULT, body, _SHELL, None, _failed(body), time)
            return [_with_outcome(event, message)]
        self._asked = True
        return [Event(EventKind.USER_MESSAGE, body, timestamp=time)] if body else []


def _actions(message: Message) -> list[str]:
    """The commands that were run for an answer, where it says so."""
    actions = _extra(message).get("actions")
    found = [
        each.get("command") for each in (actions if is_array(actions) else ()) if is_object(each)
    ]
    return [render_input({"command": each}) for each in found if isinstance(each, str)]


def _commands(message: Message) -> bool:
    return _BLOCK.search(render_content(message.get("content") or "")) is not None


def _is_output(message: Message) -> bool:
    content = message.get("content")
    if "raw_output" in _extra(message):
        return True
    return isinstance(content, str) and _RETURN_CODE.match(content) is not None


def _failed(body: str) -> bool | None:
    if code := _RETURN_CODE.match(body):
        return code[1].strip("-0") != ""
    return True if _TIMED_OUT.match(body) else None


def _with_outcome(event: Event, message: Message) -> Event:
    """A result that knows how its command ended by the code kept beside it."""
    code = _extra(message).get("returncode")
    if event.kind is not EventKind.TOOL_RESULT or event.is_error is not None:
        return event
    if not isinstance(code, int) or isinstance(code, bool):
        return event
    return replace(event, is_error=code != 0)


def _extra(message: Message) -> Message:
    extra = message.get("extra")
    return extra if is_object(extra) else {}


def _time(message: Message) -> str | None:
    return iso_time(_extra(message).get("timestamp"), "s")


def _reasoning(message: Message) -> str:
    """The reasoning beside an answer; the first version kept it only in the raw response."""
    response = _extra(message).get("response")
    choices = response.get("choices") if is_object(response) else None
    first = choices[0] if is_array(choices) and choices else None
    raw = first.get("message") if is_object(first) else None
    for source in (message, raw):
        if is_object(source):
            for key in ("reasoning_content", "reasoning"):
                if text := source.get(key):
                    return render_content(text)
    return ""


def _exit(message: Message, time: str | None) -> list[Event]:
    status = render_value(_extra(message).get("exit_status")) or _SUBMITTED
    body = render_content(message.get("content") or _extra(message).get("submission") or "")
    text = f"exit status: {status}\n{body}".strip()
    return [Event(EventKind.SYSTEM, text, timestamp=time)]
