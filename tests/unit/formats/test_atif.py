"""ATIF trajectories: a step becomes its thought, text, calls and results, once each."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from longjudge.sessions import EventKind
from longjudge.sessions.formats.atif import CONTINUED, COPIED, ELSEWHERE, Atif
from retold_for_tests import retell

if TYPE_CHECKING:
    from collections.abc import Mapping

    from retold_for_tests import Told

CALL = EventKind.TOOL_CALL
RESULT = EventKind.TOOL_RESULT
USER = EventKind.USER_MESSAGE
SAID = EventKind.ASSISTANT_MESSAGE
SYSTEM = EventKind.SYSTEM
AROUND: dict[str, object] = {"schema_version": "ATIF-v1.7", "session_id": "s1"}


def step(source: str, message: object = "", **more: object) -> dict[str, object]:
    return {"source": source, "message": message, **more}


def call(id_: str, name: str = "bash", **arguments: object) -> dict[str, object]:
    return {"tool_call_id": id_, "function_name": name, "arguments": arguments}


def seen(*results: Mapping[str, object]) -> dict[str, object]:
    return {"results": list(results)}


def read(*steps: dict[str, object], **around: object) -> Told:
    return retell(Atif(), {"steps": steps}, {**AROUND, **around})


def shown(told: Told, thread: str = "main", session: str = "") -> list[tuple[EventKind, str]]:
    return [(event.kind, event.body) for event in told.events(session, thread)]


def test_a_step_of_the_agent_is_thought_text_calls_and_results() -> None:
    told = read(
        step("system", "rules"),
        step("user", "go"),
        step(
            "agent",
            "Looking.",
            reasoning_content="hm",
            tool_calls=[call("a", command="ls"), call("b", command="pwd")],
            observation=seen(
                {"source_call_id": "b", "content": "/w"}, {"source_call_id": "a", "content": "x"}
            ),
        ),
    )
    assert shown(told) == [
        (SYSTEM, "rules"),
        (USER, "go"),
        (EventKind.THINKING, "hm"),
        (SAID, "Looking."),
        (CALL, "command: ls"),
        (CALL, "command: pwd"),
        (RESULT, "/w"),
        (RESULT, "x"),
    ]
    assert [event.call_id for event in told.events()][4:] == ["a", "b", "b", "a"]
    assert told.sessions[""]["id"] == "s1"


def test_calls_that_share_an_id_are_told_and_paired_each_for_itself() -> None:
    same = [call("<redacted>", "read"), call("<redacted>", "read"), call("<redacted>", "write")]
    results = [{"source_call_id": "<redacted>", "content": text} for text in "123"]
    told = read(step("agent", tool_calls=same, observation=seen(*results)))
    ids = [event.call_id for event in told.events()]
    assert len(set(ids[:3])) == 3
    assert ids[:3] == ids[3:]


@pytest.mark.parametrize(("results", "answered"), [(2, ["a", "b"]), (1, ["b"]), (3, [None] * 3)])
def test_results_without_an_id_are_paired_by_their_place(
    results: int, answered: list[str | None]
) -> None:
    outputs = [{"source_call_id": None, "content": str(n)} for n in range(results)]
    told = read(step("agent", tool_calls=[call("a"), call("b")], observation=seen(*outputs)))
    assert [event.call_id for event in told.events() if event.kind is RESULT] == answered


def test_copied_steps_are_left_out_and_counted() -> None:
    told = read(step("user", "old", is_copied_context=True), step("user", "new"))
    assert shown(told) == [(USER, "new")]
    assert [number for reason, number, _, _ in told.notes if reason == COPIED] == [0]


def test_commands_inside_of_the_text_are_calls() -> None:
    answer = {
        "analysis": "empty",
        "plan": "make it",
        "commands": [{"keystrokes": "touch a\n", "duration": 0.1}, {"keystrokes": "ls\n"}],
        "task_complete": True,
    }
    told = read(step("agent", json.dumps(answer), observation=seen({"content": "a"})))
    assert [(event.kind, event.tool) for event in told.events()] == [
        (SAID, None),
        (CALL, "bash_command"),
        (CALL, "bash_command"),
        (CALL, "mark_task_complete"),
        (RESULT, None),
    ]
    assert told.events()[0].body == "analysis: empty\nplan: make it"
    assert told.events()[1].body.startswith("keystrokes: touch a")


@pytest.mark.parametrize(
    "message",
    [
        'Sure:\n```json\n{"plan": "p", "commands": [{"keystrokes": "ls\\n"}]}\n```',
        '{"state_analysis": "s", "commands": [{"keystrokes": "ls\\n", "is_blocking": true}]}',
        "<response><analysis>a</analysis><commands>"
        '<keystrokes duration="0.1">ls\n</keystrokes></commands></response>',
    ],
)
def test_the_other_spellings_of_commands_are_read_too(message: str) -> None:
    told = read(step("agent", message))
    assert [event.tool for event in told.events() if event.kind is CALL] == ["bash_command"]


@pytest.mark.parametrize(
    "message",
    ['{"commands": "none"}', 'I wrote {"commands": [1]} to a file', '{"commands": ['],
)
def test_text_that_only_mentions_commands_stays_text(message: str) -> None:
    assert shown(read(step("agent", message))) == [(SAID, message)]


def test_an_embedded_subagent_is_a_thread_linked_by_its_trajectory_id() -> None:
    inner = {
        **AROUND,
        "trajectory_id": "t2",
        "steps": [step("user", "sub task"), step("agent", "sub done")],
    }
    result = {"source_call_id": "a", "subagent_trajectory_ref": [{"trajectory_id": "t2"}]}
    told = retell(
        Atif(),
        {
            "steps": [step("agent", tool_calls=[call("a", "task")], observation=seen(result))],
            "subagent_trajectories": [inner],
        },
        AROUND,
    )
    assert shown(told, "agent-t2") == [(SYSTEM, "sub task"), (SAID, "sub done")]
    assert told.links == {("", "agent-t2"): "a"}


def test_subagents_and_parts_in_other_files_are_named_in_notes() -> None:
    reference = {"trajectory_path": "t.json", "extra": {"summary": "wrote a summary"}}
    told = read(
        step("system", "handoff", observation=seen({"subagent_trajectory_ref": [reference]})),
        continued_trajectory_ref="t.cont-1.json",
    )
    assert shown(told) == [(SYSTEM, "handoff\n[subagent: wrote a summary]")]
    assert {CONTINUED, ELSEWHERE} <= {reason for reason, _, _, _ in told.notes}


def test_whole_trajectories_as_records_are_a_session_each() -> None:
    def whole(name: str) -> dict[str, object]:
        return {**AROUND, "session_id": name, "steps": [step("user", name)]}

    records = [whole("one"), whole("two")]
    assert Atif().recognise(records, None) == 1.0
    told = retell(Atif(), records)
    assert [facts["id"] for facts in told.sessions.values()] == ["one", "two"]
    assert shown(told, session="1") == [(USER, "two")]


def test_a_result_says_that_it_failed_only_where_the_file_does() -> None:
    outputs: list[dict[str, object]] = [
        {"content": "a"},
        {"content": "b", "extra": {"is_error": True}},
    ]
    told = read(step("agent", tool_calls=[call("1"), call("2")], observation=seen(*outputs)))
    assert [event.is_error for event in told.events() if event.kind is RESULT] == [None, True]


def test_only_the_schema_says_that_it_is_one() -> None:
    assert Atif().recognise([step("user", "x")], AROUND) == 1.0
    assert Atif().recognise([step("user", "x")], {"schema_version": "1"}) == 0.0
    assert Atif().recognise([step("user", "x")], None) == 0.0


def test_values_of_any_shape_never_raise() -> None:
    told = read(
        step("agent", 5, tool_calls="x", observation=[1]),
        step("agent", [None, {"type": "image"}], tool_calls=[1, {"arguments": 4}]),
        step("agent", tool_calls=[call("a")], observation={"results": [{"content": {"a": 1}}]}),
        {"source": ["x"], "message": None, "observation": {"results": "no"}},
    )
    assert told.skipped == []
