"""One event of OpenHands, of the first generation (action, observation) or the second (kind).

An event of the first generation is an observation where it has the key, whoever its `source` is.
The raw answer of the model is repeated with each of its calls and never read.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from longjudge.sessions.formats.message_events import read_arguments
from longjudge.sessions.model import Event, EventKind
from longjudge.sessions.render import render_content, render_input, render_value
from longjudge.sessions.values import bool_or_none, is_array, is_object, text_or_none

if TYPE_CHECKING:
    from collections.abc import Mapping

    Record = dict[str, object]

UNKNOWN = "events of the unknown kind"

_NO_ACTIONS = frozenset({"null", "recall", "change_agent_state", "start", "stop", "pause"})
_NO_OBSERVATIONS = frozenset({"null", "recall", "agent_state_changed", "think", "condense"})
_PLUMBING = frozenset(
    {
        *("thought", "blocking", "hidden", "confirmation_state", "is_confirmed", "keep_prompt"),
        *("security_risk", "is_static", "impl_source", "include_extra", "kernel_init_code"),
        *("translated_ipython_code", "view_range_lines", "wait_for_response"),
    }
)
_CONDENSED = ("Condensation", "CondensationSummaryEvent")
_SILENT = frozenset(
    {
        *("ConversationStateUpdateEvent", "CondensationRequest", "LLMCompletionLogEvent"),
        *("TokenEvent", "StreamingDeltaEvent", "StateChangeEvent"),
    }
)
_WRAPPED_THOUGHT = re.compile(r"\s*<think(?:ing)?>.*?</think(?:ing)?>\s*", re.S)


class Pairing:
    """Which call an observation answers: the tools of the calls so far, by id."""

    def __init__(self) -> None:
        self._tools: dict[str, str] = {}
        self._unseen: set[str] = set()

    def call(self, call_id: str | None, tool: str) -> None:
        """A tool was called."""
        if call_id:
            self._tools[call_id] = tool

    def passed_over(self, call_id: str | None) -> None:
        """An action that is told as a message: its observation only echoes it."""
        if call_id:
            self._unseen.add(call_id)

    def echoes(self, call_id: str | None) -> bool:
        """Whether an observation answers an action that was told as a message."""
        return call_id in self._unseen

    def tool(self, call_id: str | None) -> str | None:
        """The tool that was called under an id."""
        return self._tools.get(call_id or "")


def is_first_generation(record: Mapping[str, object]) -> bool:
    """Whether a record is an event with an action or an observation."""
    return (
        "source" in record
        and ("action" in record or "observation" in record)
        and not ("kind" in record or "role" in record)
    )


def is_second_generation(record: Mapping[str, object]) -> bool:
    """Whether a record is an event that names its kind."""
    kind = record.get("kind")
    if not isinstance(kind, str) or "source" not in record:
        return False
    return kind.endswith(("Event", "Observation")) or kind.startswith("Condensation")


def first_generation(record: Record, pairing: Pairing) -> list[Event] | None:
    """The events of an action or observation; None where its kind is not known."""
    time = text_or_none(record.get("timestamp"))
    if "observation" in record:
        return _observation(record, pairing, time)
    action = record.get("action")
    args = _object(record.get("args"))
    if not isinstance(action, str):
        return None
    if action in _NO_ACTIONS:
        return []
    if action in ("message", "system"):
        return _message(record, action, args, time)
    call_id = _call_id(record, record.get("id"))
    if action == "think":
        pairing.passed_over(call_id)
        return _said(EventKind.THINKING, args.get("thought") or record.get("message"), time)
    if action in ("finish", "reject"):
        pairing.passed_over(call_id)
        thought = render_value(args.get("thought"))
        said = args.get("final_thought") or record.get("message") or thought
        last = _said(EventKind.ASSISTANT_MESSAGE, said or args.get("outputs"), time)
        repeated = any(thought.strip() in event.body for event in last)
        return last if repeated else [*_said(EventKind.THINKING, thought, time), *last]
    if action.startswith("condens"):
        return _said(EventKind.SYSTEM, args.get("summary"), time)
    tool = _function(record) or action
    pairing.call(call_id, tool)
    given = {
        key: value
        for key, value in args.items()
        if key not in _PLUMBING and value is not None and value != ""
    }
    return [
        *_said(EventKind.THINKING, args.get("thought"), time),
        Event(EventKind.TOOL_CALL, render_input(given), tool, call_id, None, time),
    ]


def _message(record: Record, action: str, args: Record, time: str | None) -> list[Event]:
    body = render_value(args.get("content") or record.get("message"))
    images = args.get("image_urls")
    if is_array(images) and images:
        body = "\n".join([body, *map(render_value, images)])
    source = record.get("source")
    kind = EventKind.SYSTEM
    if action == "message" and source in ("user", "agent"):
        kind = EventKind.USER_MESSAGE if source == "user" else EventKind.ASSISTANT_MESSAGE
    return _said(kind, body, time)


def _observation(record: Record, pairing: Pairing, time: str | None) -> list[Event] | None:
    kind = record.get("observation")
    if not isinstance(kind, str):
        return None
    call_id = _call_id(record, record.get("cause"))
    if kind in _NO_OBSERVATIONS or pairing.echoes(call_id):
        return []
    body = render_content(record.get("content") or record.get("message") or "")
    tool = _function(record) or pairing.tool(call_id)
    if kind == "error" and tool is None:
        return [Event(EventKind.ERROR, body, timestamp=time)]
    failed = True if kind == "error" else _failed(record)
    return [Event(EventKind.TOOL_RESULT, body, tool or kind, call_id, failed, time)]


def _failed(record: Record) -> bool | None:
    """Whether a command failed: by its exit code, or what the event says of itself."""
    extras = _object(record.get("extras"))
    code = _object(extras.get("metadata")).get("exit_code", extras.get("exit_code"))
    if isinstance(code, int) and not isinstance(code, bool) and code != -1:
        return code != 0
    return True if record.get("success") is False else None


def _call_id(record: Record, fallback: object) -> str | None:
    """The id of a call, or the number of its action; an orphan has neither."""
    made = text_or_none(_object(record.get("tool_call_metadata")).get("tool_call_id"))
    return made or (f"#{fallback}" if isinstance(fallback, int) and fallback >= 0 else None)


def _function(record: Record) -> str | None:
    return text_or_none(_object(record.get("tool_call_metadata")).get("function_name"))


def second_generation(record: Record, pairing: Pairing) -> list[Event] | None:
    """The events of a record that names its kind; None where that is not known."""
    time = text_or_none(record.get("timestamp"))
    kind = record.get("kind")
    call_id = text_or_none(record.get("tool_call_id"))
    tool = text_or_none(record.get("tool_name"))
    if kind == "ActionEvent":
        return _action(record, pairing, tool, call_id, time)
    if kind == "ObservationEvent":
        return _answer(record, pairing, tool, call_id, time)
    if kind == "MessageEvent":
        return _spoken(record, time)
    if kind == "SystemPromptEvent":
        prompt = render_content(record.get("system_prompt") or "")
        more = render_content(record.get("dynamic_context") or "")
        return _said(EventKind.SYSTEM, "\n".join(filter(None, (prompt, more))), time)
    if kind == "AgentErrorEvent":
        body = render_value(record.get("error"))
        return [Event(EventKind.TOOL_RESULT, body, tool, call_id, True, time)]
    if kind == "UserRejectObservation":
        body = render_value(record.get("rejection_reason")) or "rejected by the user"
        return [Event(EventKind.TOOL_RESULT, body, tool, call_id, None, time)]
    if kind == "ConversationErrorEvent":
        parts = map(render_value, (record.get("code"), record.get("detail")))
        return _said(EventKind.ERROR, "\n".join(filter(None, parts)), time)
    if kind in ("PauseEvent", "InterruptEvent"):
        return [Event(EventKind.SYSTEM, "paused by the user", timestamp=time)]
    if kind in _CONDENSED:
        return _said(EventKind.SYSTEM, record.get("summary"), time)
    return [] if kind in _SILENT else None


def _action(
    record: Record, pairing: Pairing, tool: str | None, call_id: str | None, time: str | None
) -> list[Event]:
    action = _object(record.get("action"))
    events = _thoughts(record, record.get("thought"), time)
    if action.get("kind") == "ThinkAction":
        pairing.passed_over(call_id)
        return events + _said(EventKind.THINKING, action.get("thought"), time)
    if action.get("kind") == "FinishAction":
        pairing.passed_over(call_id)
        return events + _said(EventKind.ASSISTANT_MESSAGE, action.get("message"), time)
    given: object = {
        key: value for key, value in action.items() if key != "kind" and value is not None
    }
    if not given:
        call = _object(record.get("tool_call"))
        function = _object(call.get("function"))
        given = read_arguments(call.get("arguments") or function.get("arguments")) or {}
    pairing.call(call_id, tool or "")
    return [*events, Event(EventKind.TOOL_CALL, render_input(given), tool, call_id, None, time)]


def _answer(
    record: Record, pairing: Pairing, tool: str | None, call_id: str | None, time: str | None
) -> list[Event]:
    seen = _object(record.get("observation"))
    if pairing.echoes(call_id) and seen.get("kind") in ("ThinkObservation", "FinishObservation"):
        return []
    content = seen.get("content") or seen.get("output") or seen.get("error")
    body = render_content(content) if content else ""
    failed = bool_or_none(seen.get("is_error"))
    code = _object(seen.get("metadata")).get("exit_code", seen.get("exit_code"))
    if not failed and isinstance(code, int) and not isinstance(code, bool) and code > 0:
        failed = True
    return [Event(EventKind.TOOL_RESULT, body, tool, call_id, failed, time)]


def _spoken(record: Record, time: str | None) -> list[Event]:
    message = _object(record.get("llm_message"))
    source = record.get("source")
    if source == "agent":
        return _thoughts({**message, **record}, message.get("content"), time)
    kind = EventKind.USER_MESSAGE if source == "user" else EventKind.SYSTEM
    content = message.get("content")
    events = _said(kind, render_content(content) if content else "", time)
    more = record.get("extended_content")
    return events + _said(EventKind.SYSTEM, render_content(more) if more else "", time)


def _thoughts(record: Record, spoken: object, time: str | None) -> list[Event]:
    """What an answer reasons and what it says; some models repeat the one inside the other."""
    reasoning = render_value(record.get("reasoning_content"))
    if not reasoning:
        blocks = record.get("thinking_blocks")
        texts = [_object(each).get("thinking") for each in (blocks if is_array(blocks) else ())]
        reasoning = "\n".join(filter(None, map(render_value, texts)))
    text = render_content(spoken) if spoken else ""
    if reasoning:
        text = _WRAPPED_THOUGHT.sub("", text, count=1)
    return [
        *_said(EventKind.THINKING, reasoning, time),
        *_said(EventKind.ASSISTANT_MESSAGE, text, time),
    ]


def _said(kind: EventKind, text: object, time: str | None) -> list[Event]:
    body = render_value(text)
    return [Event(kind, body, timestamp=time)] if body.strip() else []


def _object(value: object) -> Record:
    return value if is_object(value) else {}
