"""Kimi's wire log: a prompt counts once, and what the program injects is no user's."""

from __future__ import annotations

from longjudge.sessions import EventKind
from longjudge.sessions.formats.kimi import Kimi
from retold_for_tests import Told, retell

CALL = EventKind.TOOL_CALL
RESULT = EventKind.TOOL_RESULT
USER = EventKind.USER_MESSAGE
SAID = EventKind.ASSISTANT_MESSAGE
SYSTEM = EventKind.SYSTEM
THOUGHT = EventKind.THINKING
META: dict[str, object] = {"type": "metadata", "protocol_version": "1.4"}


def content(text: str) -> list[dict[str, object]]:
    return [{"type": "text", "text": text}]


def prompt(text: str) -> dict[str, object]:
    return {"type": "turn.prompt", "input": content(text), "origin": {"kind": "user"}}


def appended(text: str, origin: str = "user") -> dict[str, object]:
    message = {"role": "user", "content": content(text), "origin": {"kind": origin}}
    return {"type": "context.append_message", "message": message, "time": 1785612812820}


def loop(type_: str, **more: object) -> dict[str, object]:
    return {"type": "context.append_loop_event", "event": {"type": type_, **more}}


def wire(type_: str, /, **payload: object) -> dict[str, object]:
    return {"timestamp": 1704067200.5, "message": {"type": type_, "payload": payload}}


def shown(told: Told, thread: str = "main") -> list[tuple[EventKind, str]]:
    return [(event.kind, event.body) for event in told.events(thread=thread)]


def test_prompts_steps_calls_and_results_are_told_once_in_order() -> None:
    told = retell(
        Kimi(),
        [
            META,
            prompt("hi"),
            appended("hi"),
            loop("content.part", part={"type": "think", "think": "hm"}),
            loop("tool.call", toolCallId="Bash_0", name="Bash", args={"command": "ls"}),
            loop("tool.result", toolCallId="Bash_0", result={"output": "no", "isError": True}),
            loop("content.part", part={"type": "text", "text": "done"}),
            prompt("hi"),
            appended("hi"),
        ],
    )
    assert shown(told) == [
        (USER, "hi"),
        (THOUGHT, "hm"),
        (CALL, "command: ls"),
        (RESULT, "no"),
        (SAID, "done"),
        (USER, "hi"),
    ]
    assert told.events()[3].is_error is True
    assert told.events()[0].timestamp == "2026-08-01T19:33:32.820Z"


def test_what_is_injected_and_a_compaction_are_system_notes() -> None:
    told = retell(
        Kimi(),
        [
            prompt("go"),
            appended("remember", "injection"),
            {"type": "context.apply_compaction", "summary": "so far"},
        ],
    )
    assert shown(told) == [(USER, "go"), (SYSTEM, "remember"), (SYSTEM, "compaction\nso far")]


def test_a_prompt_that_never_reached_the_context_is_not_lost() -> None:
    assert shown(retell(Kimi(), [META, prompt("last words")])) == [(USER, "last words")]


def test_the_older_wire_messages_are_read_and_pieces_of_a_call_joined() -> None:
    told = retell(
        Kimi(),
        [
            META,
            wire("TurnBegin", user_input="go"),
            wire("ContentPart", type="think", think="hm"),
            wire("ToolCall", id="t1", function={"name": "Shell", "arguments": '{"command": '}),
            wire("ToolCallPart", arguments_part='"ls"}'),
            wire("ToolResult", tool_call_id="t1", return_value={"is_error": False, "output": "a"}),
            wire("ContentPart", type="text", text="done"),
        ],
    )
    assert shown(told) == [
        (USER, "go"),
        (THOUGHT, "hm"),
        (CALL, "command: ls"),
        (RESULT, "a"),
        (SAID, "done"),
    ]
    assert told.events()[3].is_error is False
    assert Kimi().recognise([META, wire("TurnBegin", user_input="go")], None) == 1.0


def test_a_subagents_events_are_a_thread_linked_to_their_call() -> None:
    def inner(type_: str, **payload: object) -> dict[str, object]:
        event = {"type": type_, "payload": payload}
        return wire("SubagentEvent", parent_tool_call_id="t1", agent_id="a1", event=event)

    told = retell(
        Kimi(),
        [
            wire("ToolCall", id="t1", function={"name": "Task", "arguments": "{}"}),
            inner("TurnBegin", user_input="a part"),
            inner("ContentPart", type="text", text="did it"),
            wire("ToolResult", tool_call_id="t1", return_value={"output": "ok"}),
        ],
    )
    assert shown(told) == [(CALL, ""), (RESULT, "ok")]
    assert shown(told, "agent-a1") == [(SYSTEM, "a part"), (SAID, "did it")]
    assert told.links == {("", "agent-a1"): "t1"}


def test_values_of_any_shape_never_raise() -> None:
    told = retell(
        Kimi(),
        [
            {"type": "turn.prompt", "input": 5},
            {"type": "context.append_message", "message": [1]},
            loop("tool.call", args="{", name=4),
            loop("tool.result", result=[1]),
            loop("content.part", part="x"),
            wire("ToolCall", function=5),
            wire("SubagentEvent", event=5),
            {"message": {"type": "ToolResult", "payload": 5}},
        ],
    )
    assert told.skipped == []
