"""OpenHands: events of both generations, and the output of evaluations."""

from __future__ import annotations

import pytest

from longjudge.sessions import EventKind
from longjudge.sessions.formats.openhands import EMPTY, OpenHands
from retold_for_tests import retell

Record = dict[str, object]

CALL = EventKind.TOOL_CALL
RESULT = EventKind.TOOL_RESULT
USER = EventKind.USER_MESSAGE
SAID = EventKind.ASSISTANT_MESSAGE
THINKING = EventKind.THINKING
SYSTEM = EventKind.SYSTEM
ERROR = EventKind.ERROR


def action(number: int, name: str, source: str = "agent", **args: object) -> Record:
    return {
        "id": number,
        "timestamp": "2025-01-27T22:44:56.900854",
        "source": source,
        "message": "",
        "action": name,
        "args": args,
    }


def seen(cause: int, name: str, content: str, **more: object) -> Record:
    # The source of an observation is the agent more often than not.
    found: Record = {"id": cause + 1, "source": "agent", "message": "", "observation": name}
    return {**found, "cause": cause, "content": content, "extras": {}, **more}


def called(call_id: str, function: str) -> Record:
    answer = {"id": "r1", "choices": [{"message": {"content": "I look."}}]}
    return {
        "tool_call_metadata": {
            "tool_call_id": call_id,
            "function_name": function,
            "model_response": answer,
        }
    }


def shown(*records: Record) -> list[tuple[EventKind, str]]:
    return [(event.kind, event.body) for event in retell(OpenHands(), list(records)).events()]


def test_an_action_and_its_observation_are_a_call_and_its_result() -> None:
    run = {
        **action(7, "run", command="ls", thought="I look.", blocking=False),
        **called("t1", "execute_bash"),
    }
    told = retell(OpenHands(), [run, {**seen(7, "run", "a.py"), **called("t1", "execute_bash")}])
    thought, call, result = told.events()
    assert (thought.kind, thought.body) == (THINKING, "I look.")
    assert (call.kind, call.tool, call.call_id, call.body) == (
        CALL,
        "execute_bash",
        "t1",
        "command: ls",
    )
    assert (result.kind, result.tool, result.call_id) == (RESULT, "execute_bash", "t1")
    assert call.timestamp == "2025-01-27T22:44:56.900854"


def test_without_ids_the_cause_links_them() -> None:
    told = retell(OpenHands(), [action(7, "run", command="ls"), seen(7, "run", "a.py")])
    assert [(event.tool, event.call_id) for event in told.events()] == [("run", "#7")] * 2


def test_bookkeeping_has_no_events() -> None:
    assert not shown(
        action(1, "change_agent_state", "environment", agent_state="init"),
        seen(1, "null", ""),
        {**seen(1, "agent_state_changed", ""), "source": "environment"},
        action(2, "recall", "user", query="x"),
        {**seen(2, "recall", "Added context"), "source": "environment"},
    )


def test_thinking_and_finishing_are_no_calls_and_their_echoes_no_results() -> None:
    assert shown(
        action(1, "message", "user", content="Do it."),
        action(2, "think", thought="Hm."),
        seen(2, "think", "Your thought has been logged."),
        action(4, "finish", final_thought="Done."),
        seen(4, "null", ""),
    ) == [(USER, "Do it."), (THINKING, "Hm."), (SAID, "Done.")]


def test_what_the_system_and_the_agent_say() -> None:
    assert shown(
        action(0, "system", content="You are an agent."),
        action(1, "message", "agent", content="Which one?"),
        action(2, "message", "user", content="See.", image_urls=["data:image/png;base64,AAAA"]),
    ) == [(SYSTEM, "You are an agent."), (SAID, "Which one?"), (USER, "See.\n[image/png, 3 B]")]


@pytest.mark.parametrize(
    ("more", "failed"),
    [
        ({"extras": {"metadata": {"exit_code": 0}}}, False),
        ({"extras": {"metadata": {"exit_code": 100}}}, True),
        ({"extras": {"metadata": {"exit_code": -1}}}, None),
        ({"success": False}, True),
        ({}, None),
    ],
)
def test_an_exit_code_says_whether_it_failed(more: Record, failed: bool | None) -> None:
    told = retell(OpenHands(), [action(1, "run", command="x"), {**seen(1, "run", "o"), **more}])
    assert told.events()[-1].is_error is failed


def test_an_error_answers_its_call_or_stands_alone() -> None:
    told = retell(
        OpenHands(),
        [action(1, "edit", path="a"), seen(1, "error", "no file"), {**seen(9, "error", "lost")}],
    )
    assert [(event.kind, event.is_error) for event in told.events()] == [
        (CALL, None),
        (RESULT, True),
        (ERROR, None),
    ]


def test_unknown_kinds_are_told_as_calls_or_noted() -> None:
    told = retell(OpenHands(), [{"id": 1, "source": "agent", "kind": "TeleportEvent"}])
    assert told.notes[0][0] == "events of the unknown kind TeleportEvent"
    assert not told.events()


@pytest.mark.parametrize("paired", [False, True])
def test_every_instance_of_an_evaluation_is_a_session(paired: bool) -> None:
    one = [action(0, "message", "user", content="Fix."), seen(0, "null", "")]
    two = [action(2, "run", command="ls"), seen(2, "run", "a.py")]
    history = [one, two] if paired else [*one, *two]
    line: Record = {"instance_id": "a-1", "history": history, "error": None}
    told = retell(OpenHands(), [line, {**line, "instance_id": "b-2", "error": "timed out"}])
    assert [event.kind for event in told.events("0")] == [USER, CALL, RESULT]
    assert [event.kind for event in told.events("1")] == [USER, CALL, RESULT, ERROR]
    assert told.sessions["1"]["id"] == "b-2"
    assert OpenHands().recognise([line], None) == 1


def test_a_pair_on_a_line_is_read() -> None:
    pair: list[object] = [action(2, "run", command="ls"), seen(2, "run", "a.py")]
    assert [kind for kind, _ in shown({"messages": pair})] == [CALL, RESULT]


def event(kind: str, source: str = "agent", **more: object) -> Record:
    return {"id": "e", "timestamp": "2026-06-16T05:39:18", "source": source, "kind": kind, **more}


def text(said: str) -> list[Record]:
    return [{"type": "text", "text": said}]


def test_the_second_generation_is_read_by_its_kinds() -> None:
    call = {"tool_name": "terminal", "tool_call_id": "c1"}
    told = retell(
        OpenHands(),
        [
            event("SystemPromptEvent", system_prompt={"type": "text", "text": "You are."}),
            event("MessageEvent", "user", llm_message={"role": "user", "content": text("Go.")}),
            event(
                "ActionEvent",
                thought=text("<think>Hm.</think>\n\nI look."),
                reasoning_content="Hm.",
                action={"command": "ls", "timeout": None, "kind": "TerminalAction"},
                **call,
            ),
            event(
                "ObservationEvent",
                "environment",
                observation={"content": text("a.py"), "is_error": False, "exit_code": 0},
                **call,
            ),
            event("AgentErrorEvent", error="bad arguments", **call),
            event("UserRejectObservation", "user", rejection_reason="no", **call),
            event("ConversationStateUpdateEvent", "environment", key="stats", value={}),
            event("Condensation", summary="So far: ls."),
            event("ConversationErrorEvent", "environment", code="Budget", detail="spent"),
        ],
    )
    assert [(each.kind, each.body, each.is_error) for each in told.events()] == [
        (SYSTEM, "You are.", None),
        (USER, "Go.", None),
        (THINKING, "Hm.", None),
        (SAID, "I look.", None),
        (CALL, "command: ls", None),
        (RESULT, "a.py", False),
        (RESULT, "bad arguments", True),
        (RESULT, "no", None),
        (SYSTEM, "So far: ls.", None),
        (ERROR, "Budget\nspent", None),
    ]
    assert not told.notes


def test_thinking_and_finishing_tools_of_the_second_generation_are_words() -> None:
    think = {"tool_name": "think", "tool_call_id": "c1"}
    finish = {"tool_name": "finish", "tool_call_id": "c2"}
    assert shown(
        event("ActionEvent", action={"thought": "Hm.", "kind": "ThinkAction"}, **think),
        event("ObservationEvent", observation={"kind": "ThinkObservation"}, **think),
        event("ActionEvent", action={"message": "Done.", "kind": "FinishAction"}, **finish),
        event("ObservationEvent", observation={"kind": "FinishObservation"}, **finish),
    ) == [(THINKING, "Hm."), (SAID, "Done.")]


def test_a_call_that_could_not_be_parsed_shows_what_was_asked() -> None:
    call = {"id": "c1", "name": "terminal", "arguments": '{"command": "ls"}'}
    told = shown(event("ActionEvent", action=None, tool_name="terminal", tool_call=call))
    assert told == [(CALL, "command: ls")]


def test_other_events_with_a_source_are_not_taken() -> None:
    assert OpenHands().recognise([{"source": "a", "text": "x"}], None) == 0
    assert OpenHands().recognise([{"kind": "user_message", "source": "a", "text": "x"}], None) == 0
    assert OpenHands().recognise([action(1, "run"), event("MessageEvent")], None) == 1


def test_what_is_thought_beside_the_last_words_is_kept() -> None:
    assert shown(action(1, "finish", final_thought="Done.", thought="All tests pass.")) == [
        (THINKING, "All tests pass."),
        (SAID, "Done."),
    ]
    assert shown(action(1, "finish", final_thought="Done.", thought="Done.")) == [(SAID, "Done.")]


def test_an_instance_without_a_history_is_told() -> None:
    history = [action(0, "message", "user", content="Go.")]
    instances: list[Record] = [
        {"instance_id": "a", "history": history},
        {"instance_id": "b", "history": []},
    ]
    told = retell(OpenHands(), instances)
    assert list(told.by_thread) == [("0", "main")]
    assert [(note[0], note[1]) for note in told.notes] == [(EMPTY, 1)]
