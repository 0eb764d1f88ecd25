"""Gemini CLI sessions: what stands at the end is told once, in order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from longjudge.errors import NotASessionError
from longjudge.sessions import EventKind, Severity
from longjudge.sessions.formats.gemini import GeminiCli
from longjudge.sessions.formats.gemini_stream import GeminiStream
from retold_for_tests import retell

if TYPE_CHECKING:
    from retold_for_tests import Told

META: dict[str, object] = {
    "sessionId": "s1",
    "projectHash": "ab12",
    "startTime": "2026-04-29T21:39:22.319Z",
}
CALL = EventKind.TOOL_CALL
RESULT = EventKind.TOOL_RESULT
USER = EventKind.USER_MESSAGE
SAID = EventKind.ASSISTANT_MESSAGE
SYSTEM = EventKind.SYSTEM
THINKING = EventKind.THINKING
ODD: tuple[object, ...] = (None, 1, "x", [], {}, [1], [None], {"a": {"b": []}}, [{"x": 1}])


def message(id_: str, type_: str, content: object = "", **more: object) -> dict[str, object]:
    return {
        "id": id_,
        "timestamp": "2026-04-29T21:39:33Z",
        "type": type_,
        "content": content,
        **more,
    }


def call(id_: str, output: str | None = None, **more: object) -> dict[str, object]:
    answer = {"id": id_, "name": "run_shell_command", "response": {"output": output}}
    result = None if output is None else [{"functionResponse": answer}]
    args = {"command": f"echo {id_}"}
    return {"id": id_, "name": "run_shell_command", "args": args, "result": result, **more}


def shown(told: Told) -> list[tuple[EventKind, str]]:
    return [(event.kind, event.body) for event in told.events()]


def read(*records: dict[str, object]) -> Told:
    return retell(GeminiCli(), [META, *records])


def test_one_message_is_thoughts_text_and_each_call_with_its_result() -> None:
    told = read(
        message("u", "user", [{"text": "list"}]),
        message(
            "g",
            "gemini",
            "I will look.",
            thoughts=[{"subject": "Plan", "description": "look first"}],
            toolCalls=[call("a", "one", status="success"), call("b", "two", status="success")],
        ),
    )
    assert shown(told) == [
        (USER, "list"),
        (EventKind.THINKING, "Plan\nlook first"),
        (SAID, "I will look."),
        (CALL, "command: echo a"),
        (RESULT, "one"),
        (CALL, "command: echo b"),
        (RESULT, "two"),
    ]
    assert [event.is_error for event in told.events() if event.kind is RESULT] == [False, False]
    assert told.events()[3].tool == "run_shell_command"
    assert told.sessions[""] == {"id": "s1", "started": "2026-04-29T21:39:22.319Z"}


def test_a_later_record_with_the_same_id_takes_the_place_of_the_earlier_one() -> None:
    told = read(
        message("u", "user", "go"),
        message("g", "gemini", "", toolCalls=[call("a", status="executing")]),
        message("i", "info", "Working"),
        message("g", "gemini", "done", toolCalls=[call("a", "out", status="success")]),
    )
    assert [kind for kind, _ in shown(told)] == [USER, SAID, CALL, RESULT, SYSTEM]
    assert told.records == [1, 4, 4, 4, 3]
    assert ("messages written again as they grew; the last state counts", None) in [
        note[:2] for note in told.notes
    ]


def test_what_a_later_record_no_longer_holds_is_kept() -> None:
    told = read(
        message("g", "gemini", "I will", thoughts=[{"subject": "Plan"}]),
        message("g", "gemini", "", thoughts=[], toolCalls=[call("a", "out")]),
        message("g", "gemini", "", thoughts=[], toolCalls=[], tokens={"output": 1}),
    )
    assert shown(told) == [
        (THINKING, "Plan"),
        (SAID, "I will"),
        (CALL, "command: echo a"),
        (RESULT, "out"),
    ]


def test_a_record_that_only_thought_so_far_is_the_same_message() -> None:
    started: dict[str, object] = {"id": "g", "type": "gemini", "thoughts": [{"subject": "Plan"}]}
    told = read(started, message("g", "gemini", "done"))
    assert shown(told) == [(THINKING, "Plan"), (SAID, "done")]


def test_a_user_and_a_reply_under_one_placeholder_id_are_both_told() -> None:
    told = read(message("<redacted>", "user", "hi"), message("<redacted>", "gemini", "hello"))
    assert shown(told) == [(USER, "hi"), (SAID, "hello")]


def test_a_rewind_takes_back_the_message_and_all_after_it_and_says_so() -> None:
    told = read(
        message("u1", "user", "keep"),
        message("u2", "user", "wrong"),
        message("g2", "gemini", "wrong too"),
        {"$rewindTo": "u2"},
        message("u3", "user", "right"),
    )
    assert shown(told) == [(USER, "keep"), (USER, "right")]
    assert ("messages taken back by a rewind", None, Severity.INFO, 2) in told.notes


def test_a_rewind_to_an_unknown_message_takes_nothing_back() -> None:
    told = read(message("u1", "user", "keep"), {"$rewindTo": "nowhere"})
    assert shown(told) == [(USER, "keep")]
    assert told.notes == [("rewinds to a message that is not in the file", None, Severity.INFO, 1)]


def test_a_compressed_copy_of_the_conversation_adds_only_its_summary() -> None:
    told = read(
        {"$set": {"messages": [message("c", "user", [{"text": "<session_context>\nLinux"}])]}},
        message("u1", "user", "first"),
        message("g1", "gemini", "answer", toolCalls=[call("a", "out")]),
        {
            "$set": {
                "messages": [
                    message("n1", "user", [{"text": "<state_snapshot>so far"}]),
                    message("n2", "gemini", [{"text": "answer"}]),
                ],
                "lastUpdated": "2026-04-29T22:00:00Z",
            }
        },
        message("u2", "user", "second"),
        {"$set": {"messages": []}},
    )
    assert shown(told) == [
        (SYSTEM, "<session_context>\nLinux"),
        (USER, "first"),
        (SAID, "answer"),
        (CALL, "command: echo a"),
        (RESULT, "out"),
        (SYSTEM, "<state_snapshot>so far"),
        (USER, "second"),
    ]


def test_a_copy_of_what_a_message_grew_to_adds_nothing() -> None:
    told = read(
        message("g1", "gemini", "so"),
        {"$set": {"messages": [message("n1", "gemini", "so")]}},
        message("g1", "gemini", "so far"),
        {"$set": {"messages": [message("n2", "gemini", "so far")]}},
        {"$rewindTo": "n2"},
        message("u2", "user", "again"),
    )
    assert shown(told) == [(USER, "again")]


def test_a_rewind_may_name_a_message_by_the_id_of_its_copy() -> None:
    told = read(
        message("u1", "user", "first"),
        message("u2", "user", "second"),
        {"$set": {"messages": [message("n1", "user", "first"), message("n2", "user", "second")]}},
        {"$rewindTo": "n2"},
    )
    assert shown(told) == [(USER, "first")]


def test_the_id_of_a_copy_that_was_taken_back_names_nothing_anymore() -> None:
    told = read(
        message("u1", "user", "first"),
        message("u2", "user", "second"),
        {"$set": {"messages": [message("n1", "user", "first"), message("n2", "user", "second")]}},
        {"$rewindTo": "n2"},
        message("u3", "user", "third"),
        {"$rewindTo": "n2"},
    )
    assert shown(told) == [(USER, "first"), (USER, "third")]


def test_a_session_that_only_sets_its_messages_is_told_from_them() -> None:
    first = [message("u1", "user", "go on"), message("g1", "gemini", "ok")]
    second = [*first, message("u2", "user", "go on"), message("g2", "gemini", "done")]
    told = read({"$set": {"messages": first}}, {"$set": {"messages": second}})
    assert [body for _, body in shown(told)] == ["go on", "ok", "go on", "done"]
    assert told.records == [1, 1, 2, 2]


def test_masking_an_output_later_does_not_take_the_output_away() -> None:
    masked = message("g", "gemini", "", toolCalls=[call("a", "<tool_output_masked>gone")])
    told = read(
        message("g", "gemini", "", toolCalls=[call("a", "the output")]),
        {"$set": {"messages": [masked]}},
    )
    assert shown(told)[1] == (RESULT, "the output")


def test_an_output_that_only_stands_masked_is_a_warning() -> None:
    told = read(message("g", "gemini", "", toolCalls=[call("a", "<tool_output_masked>gone")]))
    assert [note[2] for note in told.notes] == [Severity.WARNING]


@pytest.mark.parametrize(
    ("more", "body", "failed"),
    [
        (
            {"result": [{"functionResponse": {"response": {"error": "no"}}}], "status": "error"},
            "no",
            True,
        ),
        ({"result": [{"functionResponse": {"response": {"error": "no"}}}]}, "no", True),
        ({"resultDisplay": "shown", "status": "success"}, "shown", False),
        ({"resultDisplay": [[{"text": "a"}, {"text": "b"}], [{"text": "c"}]]}, "ab\nc", None),
        ({"resultDisplay": {"fileDiff": "+x", "fileName": "f"}}, "+x", None),
        ({"status": "cancelled"}, "cancelled", None),
        ({"result": [{"functionResponse": {"response": {"a": 1, "b": "x"}}}]}, "a: 1\nb: x", None),
        (
            {"result": [{"inlineData": {"mimeType": "image/png", "data": "AAAA"}}]},
            "[image/png, 3 B]",
            None,
        ),
    ],
)
def test_a_result_keeps_its_words_and_says_whether_it_failed(
    more: dict[str, object], body: str, failed: bool | None
) -> None:
    told = read(message("g", "gemini", "", toolCalls=[call("a") | more]))
    result = told.events()[-1]
    assert (result.kind, result.body, result.is_error) == (RESULT, body, failed)


@pytest.mark.parametrize("status", ["executing", "scheduled", "awaiting_approval", None])
def test_a_call_without_a_result_has_none(status: str | None) -> None:
    told = read(message("g", "gemini", "", toolCalls=[call("a", status=status)]))
    assert [event.kind for event in told.events()] == [CALL]


def test_what_was_put_beside_a_prompt_is_not_what_the_user_said() -> None:
    files = "\n--- Content from referenced files ---"
    told = read(
        message("u1", "user", [{"text": "explain @a.ts"}, {"text": files}, {"text": "let a"}]),
        message("u2", "user", [{"text": "go"}, {"text": "<hook_context>by a hook"}]),
        message("u3", "user", "the prompt of a command", displayContent=[{"text": "/review"}]),
    )
    assert [body for kind, body in shown(told) if kind is USER] == [
        "explain @a.ts",
        "go",
        "/review",
    ]
    beside = "\n".join(body for kind, body in shown(told) if kind is SYSTEM)
    for text in ("let a", "by a hook", "the prompt of a command"):
        assert text in beside


def test_results_sent_back_in_the_users_name_are_told_once() -> None:
    answer = {"functionResponse": {"id": "a", "name": "x", "response": {"output": "out"}}}
    args: dict[str, object] = {}
    asked = [{"functionCall": {"id": "a", "name": "x", "args": args}}]
    told = read(
        message("g1", "gemini", asked, toolCalls=[call("a", "out")]),
        message("u1", "user", [answer]),
        message("g2", "gemini", [{"functionCall": {"id": "b", "name": "x", "args": {"n": 1}}}]),
        message("u2", "user", [{"functionResponse": {"id": "b", "response": {"output": "two"}}}]),
    )
    assert [kind for kind, _ in shown(told)] == [CALL, RESULT, CALL, RESULT]
    assert [event.call_id for event in told.events()] == ["a", "a", "b", "b"]


def test_notices_are_the_systems_and_errors_are_errors() -> None:
    told = read(
        message("i", "info", "Request cancelled."),
        message("w", "warning", [{"text": "careful"}]),
        message("e", "error", "boom"),
    )
    assert [kind for kind, _ in shown(told)] == [SYSTEM, SYSTEM, EventKind.ERROR]


def test_a_message_of_unknown_type_is_kept_and_noted() -> None:
    told = read(message("m", "mystery", "x"))
    assert shown(told) == [(SYSTEM, "x")]
    assert told.notes[0][0] == "messages of type mystery"


@pytest.mark.parametrize("name", ["messages", "history", "contents"])
def test_a_checkpoint_of_the_interfaces_contents_is_read(name: str) -> None:
    contents: list[dict[str, object]] = [
        {
            "role": "user",
            "parts": [{"text": "see"}, {"inlineData": {"mimeType": "image/png", "data": "AAAA"}}],
        },
        {
            "role": "model",
            "parts": [{"text": "hm", "thought": True}, {"functionCall": {"name": "f", "args": {}}}],
        },
        {
            "role": "user",
            "parts": [{"functionResponse": {"name": "f", "response": {"output": "x"}}}],
        },
        {"role": "gemini", "parts": [{"text": "done"}], "ts": 1695000005},
    ]
    for told in (
        retell(GeminiCli(), {name: contents}),
        retell(GeminiCli(), [{name: contents, "summary": "about it"}]),
    ):
        assert shown(told)[0] == (USER, "see\n[image/png, 3 B]")
        assert [kind for kind, _ in shown(told)[1:]] == [EventKind.THINKING, CALL, RESULT, SAID]
        made, given = told.events()[2:4]
        assert made.call_id
        assert made.call_id == given.call_id
        assert told.events()[-1].timestamp == "2023-09-18T01:20:05Z"


def test_calls_without_ids_are_paired_by_their_tools_in_order() -> None:
    def asked(tool: str) -> dict[str, object]:
        return {"functionCall": {"name": tool, "args": {}}}

    def answered(tool: str, output: str) -> dict[str, object]:
        return {"functionResponse": {"name": tool, "response": {"output": output}}}

    told = retell(
        GeminiCli(),
        [
            {"role": "model", "parts": [asked("a"), asked("b"), asked("a")]},
            {"role": "user", "parts": [answered("b", "b"), answered("a", "1"), answered("a", "2")]},
        ],
    )
    ids = [event.call_id for event in told.events()]
    assert ids[3:] == [ids[1], ids[0], ids[2]]


def test_code_that_the_model_ran_is_a_call_with_its_result() -> None:
    told = retell(
        GeminiCli(),
        [
            {
                "role": "model",
                "parts": [
                    {"executableCode": {"language": "PYTHON", "code": "1/0"}},
                    {"codeExecutionResult": {"outcome": "OUTCOME_FAILED", "output": "error"}},
                ],
            }
        ],
    )
    assert [(event.kind, event.is_error) for event in told.events()] == [
        (CALL, None),
        (RESULT, True),
    ]


def test_a_session_without_a_message_is_refused() -> None:
    with pytest.raises(NotASessionError, match="Gemini CLI session without a message"):
        read(message("u", "user", "wrong"), {"$rewindTo": "u"})


@pytest.mark.parametrize(
    ("head", "around", "fits"),
    [
        ([META], None, True),
        ([message("u", "user", "hi")], META, True),
        ([message("g", "gemini", "hi"), {"$set": {"lastUpdated": "x"}}], None, True),
        ([{"role": "model", "parts": [{"text": "a"}]}], None, True),
        ([{"history": [{"role": "user", "parts": [{"text": "a"}]}]}], None, True),
        ([message("u", "user", "hi")], None, False),
        ([{"role": "user", "parts": [{"type": "text", "text": "a"}]}], None, False),
        ([{"type": "user", "sessionId": "s", "message": {"content": "x"}, "id": "1"}], None, False),
        ([{"contents": ["a", "b"]}], None, False),
        ([], None, False),
    ],
)
def test_only_sessions_of_gemini_are_taken_for_one(
    head: list[dict[str, object]], around: dict[str, object] | None, fits: bool
) -> None:
    assert (GeminiCli().recognise(head, around) >= 0.8) is fits


@pytest.mark.parametrize(
    "name", ["type", "content", "toolCalls", "thoughts", "timestamp", "parts", "displayContent"]
)
def test_any_value_in_any_place_is_told_or_left_out(name: str) -> None:
    for odd in ODD:
        record = message("g", "gemini", "x", toolCalls=[call("a", "out")]) | {name: odd}
        sound = message("u", "user", "go")
        read(
            sound, record, {"$set": {"messages": [record, odd]}}, {"$set": odd}, {"$rewindTo": odd}
        )
        inner: dict[str, object] = {
            "id": odd,
            "args": odd,
            "result": odd,
            "status": odd,
            "name": odd,
        }
        read(
            sound,
            message("g", "gemini", [{"functionResponse": odd}, {name: odd}], toolCalls=[inner]),
        )


def test_a_value_nested_too_deeply_is_one_skipped_record() -> None:
    deep: object = "x"
    for _ in range(400):
        deep = [deep]
    calls = [call("a") | {"args": {"x": deep}}]
    nested = message("g", "gemini", "", toolCalls=calls)
    told = read(message("u", "user", "go"), nested, {"$set": {"messages": [nested]}})
    assert [number for _, number in told.skipped] == [2]
    told = read(message("u", "user", "go"), {"$set": {"messages": [nested]}})
    assert [number for _, number in told.skipped] == [2]


def stream(type_: str, **more: object) -> dict[str, object]:
    return {"type": type_, "timestamp": "2025-10-10T12:00:00.000Z", **more}


def test_a_streams_pieces_are_one_message_and_a_resumed_run_the_same_session() -> None:
    told = retell(
        GeminiStream(),
        [
            stream("init", session_id="s", model="gemini-3"),
            stream("message", role="user", content="List"),
            stream("message", role="assistant", content="He", delta=True),
            stream("message", role="assistant", content="re", delta=True),
            stream("tool_use", tool_name="Bash", tool_id="b", parameters={"command": "ls"}),
            stream(
                "tool_result", tool_id="b", status="error", error={"message": "no"}, output="no"
            ),
            stream("message", role="assistant", content="Done", delta=True),
            stream("result", status="success", stats={"total_tokens": 1}),
            stream("init", session_id="s", model="gemini-3"),
            stream("message", role="assistant", content="whole"),
            stream("error", severity="error", message="lost"),
            stream("result", status="error", error={"type": "x", "message": "quota"}),
        ],
    )
    assert shown(told) == [
        (USER, "List"),
        (SAID, "Here"),
        (CALL, "command: ls"),
        (RESULT, "no"),
        (SAID, "Done"),
        (SAID, "whole"),
        (EventKind.ERROR, "lost"),
        (EventKind.ERROR, "quota"),
    ]
    assert list(told.sessions) == [""]
    assert told.events()[3].is_error is True
    assert told.records[1] == 2


@pytest.mark.parametrize(
    ("record", "fits"),
    [
        (stream("init", session_id="s", model="m"), True),
        (stream("init", subtype="init", session_id="s", model="m"), False),
        (stream("message", role="user", content="x"), False),
        ({"type": "tool_use", "id": "1", "name": "x", "input": {}}, False),
    ],
)
def test_only_a_stream_of_gemini_is_taken_for_one(record: dict[str, object], fits: bool) -> None:
    assert (GeminiStream().recognise([record], None) >= 0.8) is fits
