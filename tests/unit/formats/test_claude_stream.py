"""Claude's stream-json: answers in pieces are told once, and each agent has its thread."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from longjudge.sessions import EventKind
from longjudge.sessions.formats.claude_stream import COPIES, ClaudeStream
from retold_for_tests import retell

if TYPE_CHECKING:
    from retold_for_tests import Told

CALL = EventKind.TOOL_CALL
RESULT = EventKind.TOOL_RESULT
USER = EventKind.USER_MESSAGE
SAID = EventKind.ASSISTANT_MESSAGE
SYSTEM = EventKind.SYSTEM
INIT: dict[str, object] = {"type": "system", "subtype": "init", "session_id": "s1", "cwd": "/w"}
DONE: dict[str, object] = {"type": "result", "subtype": "success", "session_id": "s1"}


def answer(id_: str, *blocks: dict[str, object], **more: object) -> dict[str, object]:
    message = {"id": id_, "role": "assistant", "content": list(blocks)}
    return {"type": "assistant", "message": message, "session_id": "s1", **more}


def user(content: object, **more: object) -> dict[str, object]:
    return {"type": "user", "message": {"role": "user", "content": content}, **more}


def text(value: str) -> dict[str, object]:
    return {"type": "text", "text": value}


def use(id_: str, command: str) -> dict[str, object]:
    return {"type": "tool_use", "id": id_, "name": "Bash", "input": {"command": command}}


def output(id_: str, content: str) -> list[dict[str, object]]:
    return [{"type": "tool_result", "tool_use_id": id_, "content": content}]


def read(*records: dict[str, object], session: str = "s1") -> list[tuple[EventKind, str]]:
    return shown(retell(ClaudeStream(), records), session)


def shown(told: Told, session: str = "s1", thread: str = "main") -> list[tuple[EventKind, str]]:
    return [(event.kind, event.body) for event in told.events(session, thread)]


def test_a_run_is_its_prompt_its_answers_and_results_and_the_last_text_once() -> None:
    assert read(
        INIT,
        user("run it"),
        answer("msg_1", text("Running."), use("c1", "ls")),
        user(output("c1", "a.txt")),
        answer("msg_2", text("Done.")),
        {**DONE, "result": "Done."},
    ) == [
        (USER, "run it"),
        (SAID, "Running."),
        (CALL, "command: ls"),
        (RESULT, "a.txt"),
        (SAID, "Done."),
    ]


def test_blocks_of_one_answer_in_several_records_are_joined_and_their_copies_left_out() -> None:
    told = retell(
        ClaudeStream(),
        [
            answer("msg_1", text("First.")),
            answer("msg_1", text("First."), use("c1", "ls")),
            user(output("c1", "ok")),
            answer("msg_1", use("c2", "pwd")),
        ],
    )
    assert shown(told) == [
        (SAID, "First."),
        (CALL, "command: ls"),
        (RESULT, "ok"),
        (CALL, "command: pwd"),
    ]
    assert (COPIES, 1) in [(reason, count) for reason, _, _, count in told.notes]


def test_of_a_text_and_of_an_input_that_grow_the_last_state_counts() -> None:
    assert read(
        answer("msg_1", text("I will")),
        answer("msg_1", text("I will look"), use("c1", "")),
        answer("msg_1", use("c1", "ls -la")),
    ) == [(SAID, "I will look"), (CALL, "command: ls -la")]


def test_blocks_of_one_record_are_no_parts_of_each_other() -> None:
    assert read(answer("msg_1", text("I"), text("I will"), use("0", "ls"), use("0", "pwd"))) == [
        (SAID, "I"),
        (SAID, "I will"),
        (CALL, "command: ls"),
        (CALL, "command: pwd"),
    ]


def test_equal_texts_of_different_answers_and_of_placeholder_ids_are_all_told() -> None:
    assert (
        read(
            answer("msg_1", text("Next.")),
            answer("msg_2", text("Next.")),
            answer("[redacted]", text("Next.")),
            answer("[redacted]", text("Next.")),
        )
        == [(SAID, "Next.")] * 4
    )


def test_a_record_id_that_several_records_share_is_no_reason_to_leave_one_out() -> None:
    assert read(answer("msg_1", text("a"), uuid="u1"), answer("msg_1", text("b"), uuid="u1")) == [
        (SAID, "a"),
        (SAID, "b"),
    ]


def test_a_subagent_is_a_thread_linked_to_its_call_and_its_prompt_no_users() -> None:
    told = retell(
        ClaudeStream(),
        [
            answer("msg_1", use("task1", "go")),
            user("count the files", parent_tool_use_id="task1"),
            answer("msg_2", use("c2", "ls"), parent_tool_use_id="task1"),
            user(output("task1", "3 files")),
        ],
    )
    assert shown(told) == [(CALL, "command: go"), (RESULT, "3 files")]
    assert shown(told, thread="agent-task1") == [
        (SYSTEM, "count the files"),
        (CALL, "command: ls"),
    ]
    assert told.links == {("s1", "agent-task1"): "task1"}


def test_a_result_alone_is_the_answer_and_a_failed_one_an_error() -> None:
    assert read({**DONE, "result": "42"}) == [(SAID, "42")]
    failed = {**DONE, "subtype": "error_max_turns", "errors": ["too many turns"]}
    assert read(answer("msg_1", text("hm")), failed)[-1] == (
        EventKind.ERROR,
        "error_max_turns\ntoo many turns",
    )


def test_an_answer_of_which_only_pieces_were_streamed_is_put_together() -> None:
    def piece(type_: str, **more: object) -> dict[str, object]:
        return {"type": "stream_event", "session_id": "s1", "event": {"type": type_, **more}}

    def delta(index: int, **more: object) -> dict[str, object]:
        return piece("content_block_delta", index=index, delta=more)

    start = {"id": "msg_2", "role": "assistant"}
    told = retell(
        ClaudeStream(),
        [
            piece("message_start", message={"id": "msg_1"}),
            piece("content_block_start", index=0, content_block=text("")),
            delta(0, type="text_delta", text="whole"),
            piece("message_stop"),
            answer("msg_1", text("whole")),
            piece("message_start", message=start),
            piece("content_block_start", index=0, content_block=text("")),
            delta(0, type="text_delta", text="cut "),
            delta(0, type="text_delta", text="off"),
            piece("content_block_start", index=1, content_block=use("c1", "")),
            delta(1, type="input_json_delta", partial_json='{"command": '),
            delta(1, type="input_json_delta", partial_json='"ls"}'),
        ],
    )
    assert shown(told) == [(SAID, "whole"), (SAID, "cut off"), (CALL, "command: ls")]


def test_two_runs_in_one_file_are_two_sessions() -> None:
    other = {**answer("msg_2", text("b")), "session_id": "s2"}
    told = retell(ClaudeStream(), [INIT, answer("msg_1", text("a")), other])
    assert [told.sessions[key]["id"] for key in ("s1", "s2")] == ["s1", "s2"]
    assert shown(told, "s2") == [(SAID, "b")]


def test_what_the_program_adds_is_no_users_and_a_prompt_played_again_is_told_once() -> None:
    assert read(
        user("hook feedback", isSynthetic=True, session_id="s1"),
        user("hello", isReplay=True, uuid="u1"),
        user("hello", isReplay=True, uuid="u1"),
    ) == [(SYSTEM, "hook feedback"), (USER, "hello")]


def test_a_compaction_is_a_system_note() -> None:
    boundary = {**INIT, "subtype": "compact_boundary", "compact_metadata": {"trigger": "auto"}}
    assert read(boundary)[0][0] is SYSTEM


def test_the_web_export_and_the_relay_wrap_the_same_records() -> None:
    lines = [user("hi"), answer("msg_1", text("hello"))]
    expected = [(USER, "hi"), (SAID, "hello")]
    assert read({"loglines": lines}) == expected
    relayed: list[dict[str, object]] = [
        {"role": "user", "content": {"type": "text", "text": "hi"}},
        {"role": "agent", "content": {"type": "output", "data": lines[1]}},
    ]
    assert read(*relayed) == expected
    assert ClaudeStream().recognise(relayed, None) == 1.0


def test_a_tool_call_that_is_a_record_of_its_own_is_a_call_and_its_result() -> None:
    def record(subtype: str, **inner: object) -> dict[str, object]:
        call = {"shellToolCall": {"args": {"command": "ls"}, **inner}}
        named = {"type": "tool_call", "subtype": subtype, "call_id": "c1", "session_id": "s1"}
        return {**named, "tool_call": call}

    assert read(record("started"), record("completed", result={"success": "ok"})) == [
        (CALL, "command: ls"),
        (RESULT, '{"success":"ok"}'),
    ]


@pytest.mark.parametrize(
    "records",
    [
        [{"type": "user", "message": {"role": "user"}, "sessionId": "s", "uuid": "u"}],
        [{"type": "init", "session_id": "s"}, {"type": "message", "session_id": "s"}],
        [{"type": "user", "message": {"role": "user", "content": "no session named"}}],
        [{"role": "user", "content": "hi"}],
        [{"type": "tool_use", "session_id": "s", "agent_id": "a", "environment": "e"}],
    ],
)
def test_records_of_other_formats_are_not_taken(records: list[dict[str, object]]) -> None:
    assert ClaudeStream().recognise(records, None) < 0.8


def test_values_of_any_shape_never_raise() -> None:
    deep: object = "x"
    for _ in range(300):
        deep = [deep]
    told = retell(
        ClaudeStream(),
        [
            INIT,
            {"type": "assistant", "message": 5, "session_id": 7},
            {"type": "assistant", "message": {"id": 1, "content": {"type": "text", "text": 4}}},
            {"type": "user", "message": {"content": [deep, None]}},
            {"type": "result", "result": {"a": 1}},
            {"type": "stream_event", "event": []},
            {"type": "tool_call", "tool_call": {"x": 1}},
            {"type": "system", "subtype": ["x"], "content": deep},
        ],
    )
    assert [number for _, number in told.skipped] == [3, 7]


def test_an_answer_that_grows_piece_by_piece_is_told_once_however_many_there_are() -> None:
    text = "".join(f"word{number} " for number in range(600))
    records: list[dict[str, object]] = [
        {
            "type": "assistant",
            "session_id": "s",
            "message": {"id": "msg_1", "content": [{"type": "text", "text": text[: 7 * end]}]},
        }
        for end in range(1, 401)
    ]
    told = retell(ClaudeStream(), records)
    assert [event.body for event in told.events("s")] == [text[:2800]]
