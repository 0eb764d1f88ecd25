"""OpenCode sessions: each part once, in its last state, in the thread of its agent."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from longjudge.errors import NotASessionError
from longjudge.sessions import EventKind
from longjudge.sessions.formats.opencode import OpenCode
from retold_for_tests import retell

if TYPE_CHECKING:
    from collections.abc import Mapping

    from retold_for_tests import Told

CALL = EventKind.TOOL_CALL
RESULT = EventKind.TOOL_RESULT
USER = EventKind.USER_MESSAGE
SAID = EventKind.ASSISTANT_MESSAGE
SYSTEM = EventKind.SYSTEM
THINKING = EventKind.THINKING
ERROR = EventKind.ERROR
ODD: tuple[object, ...] = (None, 1, "x", [], {}, [1], [None], {"a": {"b": []}}, [{"x": 1}])
CREATED = 1_730_000_100_000
BEGAN = "2024-10-27T03:35:00Z"
PIXEL = "data:image/png;base64,AAAA"
Record = dict[str, object]


def session(id_: str, parent: str | None = None, **more: object) -> Record:
    made: Record = {"id": id_, "projectID": "p", "title": f"About {id_}", "parentID": parent}
    return made | {"time": {"created": CREATED}} | more


def info(id_: str, role: str, in_: str = "ses_1", **more: object) -> Record:
    return {"id": id_, "sessionID": in_, "role": role, "time": {"created": CREATED}} | more


def part(id_: str, of: str, type_: str = "text", in_: object = "ses_1", **more: object) -> Record:
    return {"id": id_, "messageID": of, "sessionID": in_, "type": type_} | more


def tool(
    id_: str, of: str, in_: object = "ses_1", name: object = "bash", **state: object
) -> Record:
    whole: Record = {"status": "completed", "input": {"command": id_}} | state
    return part(id_, of, "tool", in_, callID=f"call {id_}", tool=name, state=whole)


def event(type_: str, **properties: object) -> Record:
    return {"timestamp": CREATED, "event": {"type": type_, "properties": properties}}


def updated(each: Record) -> Record:
    return event("message.part.updated", part=each)


def delta(of: str, id_: str, text: str, in_: str = "ses_1") -> Record:
    return event(
        "message.part.delta", sessionID=in_, messageID=of, partID=id_, field="text", delta=text
    )


def read(*records: Mapping[str, object]) -> Told:
    return retell(OpenCode(), [dict(record) for record in records])


def shown(told: Told, key: str = "ses_1", thread: str = "main") -> list[tuple[EventKind, str]]:
    return [(each.kind, each.body) for each in told.events(key, thread)]


def exported(in_: str = "ses_1") -> list[Record]:
    return [
        {"info": info("m1", "user", in_), "parts": [part("p1", "m1", text="go", in_=in_)]},
        {
            "info": info("m2", "assistant", in_),
            "parts": [
                part("p2", "m2", "step-start", in_),
                part("p3", "m2", "reasoning", in_, text="hm"),
                tool("p4", "m2", in_, output="out", time={"start": CREATED, "end": CREATED + 500}),
                part("p5", "m2", "text", in_, text="done"),
                part("p6", "m2", "step-finish", in_, tokens={"input": 1}),
            ],
        },
    ]


def test_an_export_is_its_messages_and_their_parts() -> None:
    told = retell(OpenCode(), {"messages": exported()}, {"info": session("ses_1")})
    assert shown(told) == [
        (USER, "go"),
        (THINKING, "hm"),
        (CALL, "command: p4"),
        (RESULT, "out"),
        (SAID, "done"),
    ]
    call, result = told.events("ses_1")[2:4]
    assert (call.tool, call.call_id, result.is_error) == ("bash", "call p4", False)
    assert (call.timestamp, result.timestamp) == (
        "2024-10-27T03:35:00Z",
        "2024-10-27T03:35:00.500Z",
    )
    assert told.records == [0, 1, 1, 1, 1]
    facts = {"id": "ses_1", "title": "About ses_1", "started": BEGAN}
    assert told.sessions == {"ses_1": facts}


def test_exports_one_a_line_are_several_sessions() -> None:
    told = read(
        {"info": session("a"), "messages": exported("a")},
        {"info": session("b"), "messages": exported("b")},
    )
    assert shown(told, "a") == shown(told, "b")
    assert len(shown(told, "a")) == 5


def test_messages_of_an_export_whose_ids_are_all_the_same_are_all_told() -> None:
    same = {
        "info": info("x", "user"),
        "parts": [part("y", "x", text="1"), part("y", "x", text="2")],
    }
    assert len(shown(read(same, same))) == 4


def test_an_event_log_tells_the_last_state_of_each_part_where_it_first_stood() -> None:
    told = read(
        event("session.created", info=session("ses_1")),
        event("message.updated", info=info("m1", "user")),
        updated(part("p1", "m1", text="go")),
        event("message.updated", info=info("m2", "assistant")),
        updated(part("p2", "m2", text="")),
        delta("m2", "p2", "Hel"),
        updated(tool("p3", "m2", status="running")),
        delta("m2", "p2", "lo"),
        updated(part("p2", "m2", text="Hello")),
        updated(tool("p3", "m2", output="out")),
        event("session.idle", sessionID="ses_1"),
    )
    assert shown(told) == [(USER, "go"), (SAID, "Hello"), (CALL, "command: p3"), (RESULT, "out")]
    assert told.records == [2, 8, 9, 9]


def test_text_that_came_only_in_pieces_is_told() -> None:
    told = read(
        event("message.updated", info=info("m2", "assistant")),
        updated(part("p2", "m2", "reasoning", text="I ")),
        delta("m2", "p2", "think"),
        delta("m2", "p3", "cut "),
        delta("m2", "p3", "off"),
    )
    assert shown(told) == [(THINKING, "I think"), (SAID, "cut off")]


def test_sessions_in_one_log_are_told_apart() -> None:
    told = read(
        event("message.updated", info=info("m1", "user", "a")),
        event("message.updated", info=info("n1", "user", "b")),
        updated(part("p1", "m1", in_="a", text="one")),
        updated(part("q1", "n1", in_="b", text="two")),
    )
    assert shown(told, "a") == [(USER, "one")]
    assert shown(told, "b") == [(USER, "two")]


def test_what_is_taken_away_again_is_not_told() -> None:
    told = read(
        event("message.updated", info=info("m1", "user")),
        updated(part("p1", "m1", text="keep")),
        updated(part("p2", "m1", text="drop")),
        event("message.part.removed", sessionID="ses_1", messageID="m1", partID="p2"),
        event("message.updated", info=info("m2", "user")),
        updated(part("p3", "m2", text="drop too")),
        event("message.removed", sessionID="ses_1", messageID="m2"),
    )
    assert shown(told) == [(USER, "keep")]
    assert [note[0] for note in told.notes] == [
        "parts taken away again",
        "messages taken away again",
    ]


@pytest.mark.parametrize("wrapper", ["event", "payload", None])
def test_events_are_read_however_they_are_wrapped(wrapper: str | None) -> None:
    def wrapped(type_: str, **properties: object) -> Record:
        bare: Record = {"type": type_, "properties": properties}
        return {wrapper: bare} if wrapper else bare

    told = read(
        wrapped("message.updated", info=info("m1", "user")),
        wrapped("message.part.updated", part=part("p1", "m1", text="go")),
    )
    assert shown(told) == [(USER, "go")]


def test_a_printed_run_is_the_agents_and_says_that_the_prompt_is_missing() -> None:
    def printed(type_: str, **more: object) -> Record:
        return {"type": type_, "timestamp": CREATED, "sessionID": "ses_1"} | more

    told = read(
        printed("step_start", part=part("p1", "m1", "step-start")),
        printed("tool_use", part=tool("p2", "m1", status="error", error="no such file")),
        printed("text", part=part("p3", "m2", text="done")),
        printed("error", error={"name": "APIError", "data": {"message": "quota"}}),
        printed("done", reason="idle", rejected=["bash"]),
    )
    assert shown(told) == [
        (CALL, "command: p2"),
        (RESULT, "no such file"),
        (SAID, "done"),
        (ERROR, "quota"),
    ]
    assert told.events("ses_1")[1].is_error is True
    assert [note[0] for note in told.notes] == ["a printed run does not hold what the user asked"]


@pytest.mark.parametrize("named_in", ["metadata", "output"])
def test_a_child_session_is_the_thread_of_the_call_that_started_it(named_in: str) -> None:
    state: Record = {"metadata": {"sessionId": "ses_2"}, "output": "found"}
    if named_in == "output":
        state = {"output": "found\n<task_metadata>\nsession_id: ses_2\n</task_metadata>"}
    told = read(
        event("session.created", info=session("ses_1")),
        event("session.created", info=session("ses_2", "ses_1")),
        event("message.updated", info=info("m1", "assistant")),
        updated(tool("p1", "m1", name="task", **state)),
        event("message.updated", info=info("n1", "user", "ses_2")),
        updated(part("q1", "n1", in_="ses_2", text="find it")),
    )
    assert shown(told, "ses_1", "ses_2") == [(USER, "find it")]
    assert told.links == {("ses_1", "ses_2"): "call p1"}
    assert list(told.sessions) == ["ses_1"]


def test_a_child_of_a_child_is_a_thread_of_the_first_session() -> None:
    told = read(
        {"info": session("c", "b"), "messages": exported("c")},
        {"info": session("b", "a"), "messages": exported("b")},
        {"info": session("a"), "messages": exported("a")},
    )
    assert {key for key, _ in told.by_thread} == {"a"}
    assert {thread for _, thread in told.by_thread} == {"main", "b", "c"}


def test_a_child_whose_parent_is_not_in_the_file_is_a_session_with_its_title() -> None:
    told = read({"info": session("b", "a"), "messages": exported("b")})
    assert told.sessions["b"]["title"] == "About b"
    assert len(shown(told, "b")) == 5


def test_sessions_that_start_each_other_are_sessions() -> None:
    told = read(
        {"info": session("a", "b"), "messages": exported("a")},
        {"info": session("b", "a"), "messages": exported("b")},
    )
    assert set(told.by_thread) == {("a", "main"), ("b", "main")}


def test_what_the_program_put_in_is_not_what_the_user_said() -> None:
    parts = [
        part("p1", "m1", text="see @a.ts"),
        part("p2", "m1", text="Called the Read tool", synthetic=True),
        part("p3", "m1", text="for the screen only", ignored=True),
        part("p4", "m1", "file", filename="a.png", mime="image/png", url=PIXEL),
        part("p5", "m1", "subtask", prompt="look", description="find", agent="explore"),
        part("p6", "m1", "agent", name="explore"),
    ]
    told = read({"info": info("m1", "user"), "parts": parts})
    assert shown(told) == [
        (USER, "see @a.ts"),
        (SYSTEM, "Called the Read tool"),
        (SYSTEM, "for the screen only"),
        (SYSTEM, "attached a.png image/png [image/png, 3 B]"),
        (USER, "find\nlook"),
    ]


def test_compaction_and_its_summary_are_the_systems() -> None:
    told = read(
        {"info": info("m1", "user"), "parts": [part("p1", "m1", "compaction", auto=True)]},
        {"info": info("m2", "assistant", summary=True), "parts": [part("p2", "m2", text="so far")]},
        {
            "info": info("m3", "user", summary={"title": "x"}),
            "parts": [part("p3", "m3", text="go")],
        },
    )
    assert shown(told) == [
        (SYSTEM, "The conversation was compacted."),
        (SYSTEM, "so far"),
        (USER, "go"),
    ]


def test_how_a_message_ended_badly_is_told_once() -> None:
    failed = {"name": "APIError", "data": {"message": "overloaded", "statusCode": 529}}
    aborted = {"name": "MessageAbortedError", "data": {"message": "aborted"}}
    told = read(
        event("message.updated", info=info("m1", "assistant", error=failed)),
        event("session.error", sessionID="ses_1", error=failed),
        event("session.error", sessionID="ses_1", error={"name": "Unknown"}),
        event("message.updated", info=info("m2", "assistant", error=aborted)),
        updated(part("p1", "m2", "retry", attempt=1, error=failed)),
    )
    assert shown(told) == [
        (ERROR, "overloaded"),
        (ERROR, "Unknown"),
        (ERROR, "overloaded"),
        (SYSTEM, "interrupted: aborted"),
    ]


@pytest.mark.parametrize(
    ("state", "results"),
    [
        ({"status": "pending", "input": {}, "raw": '{"command": "x"}'}, []),
        ({"status": "running"}, []),
        ({"status": "completed", "output": ""}, [("", False)]),
        ({"status": "error", "error": "no", "output": "no"}, [("no", True)]),
        ({"status": "error", "output": "no"}, [("no", True)]),
        ({"status": "completed", "content": [{"type": "text", "text": "x"}]}, [("x", False)]),
        (
            {
                "output": "x",
                "attachments": [{"mime": "image/png", "url": PIXEL}],
            },
            [("x\nattached image/png [image/png, 3 B]", False)],
        ),
    ],
)
def test_a_call_has_a_result_once_it_ended(state: Record, results: list[tuple[str, bool]]) -> None:
    told = read({"info": info("m1", "assistant"), "parts": [tool("p1", "m1", **state)]})
    events = told.events("ses_1")
    assert events[0].kind is CALL
    assert [(each.body, each.is_error) for each in events[1:]] == results


def test_undone_messages_are_kept_and_said_to_be_undone() -> None:
    told = read({"info": session("ses_1", revert={"messageID": "m2"}), "messages": exported()})
    assert len(shown(told)) == 5
    assert "undone by the user" in told.notes[0][0]


def test_a_title_that_names_nothing_is_left_to_the_first_message() -> None:
    unnamed = session("ses_1") | {"title": "New session - 2026-01-01T00:00:00.000Z"}
    told = retell(OpenCode(), {"messages": exported()}, {"info": unnamed})
    assert "title" not in told.sessions["ses_1"]


@pytest.mark.parametrize(
    "fragment", [session("ses_1"), info("m1", "user"), part("p1", "m1", text="x"), tool("p1", "m1")]
)
def test_one_file_of_a_storage_folder_is_refused_with_the_folder_to_open(fragment: Record) -> None:
    assert OpenCode().recognise([fragment], None) == 1.0
    with pytest.raises(NotASessionError, match="open the folder that holds"):
        read(fragment)


def test_all_files_of_a_storage_folder_in_one_are_a_session() -> None:
    told = read(session("ses_1"), info("m1", "user"), part("p1", "m1", text="go"))
    assert shown(told) == [(USER, "go")]


def test_sessions_without_a_message_are_refused() -> None:
    with pytest.raises(NotASessionError, match="no message"):
        read(event("session.created", info=session("ses_1")))


def test_the_later_schema_is_read() -> None:
    def row(id_: str, type_: str, **data: object) -> Record:
        whole: Record = {"time": {"created": CREATED}} | data
        return {
            "table": "session_message",
            "id": id_,
            "session_id": "ses_1",
            "type": type_,
            "data": whole,
        }

    content: list[Record] = [
        {"type": "reasoning", "id": "r", "text": "hm"},
        {"type": "text", "id": "t", "text": "done"},
        {
            "type": "tool",
            "id": "c",
            "name": "bash",
            "state": {
                "status": "completed",
                "input": {"command": "ls"},
                "content": [{"type": "text", "text": "a"}],
            },
        },
    ]
    told = read(
        row("1", "user", text="go", files=[{"uri": "file:///a", "mime": "text/plain"}]),
        row("2", "model-switched", model={}),
        row("3", "assistant", content=content, error={"type": "unknown", "message": "lost"}),
        row("4", "synthetic", text="put in"),
        row("5", "shell", callID="s", command="pwd", output="/"),
        row("6", "compaction", summary="so far"),
        row("7", "oracle"),
        row("8", "sibyl", text="words"),
        row("9", "assistant", content=[{"type": "omen", "sign": "x"}]),
        row("10", "skill", skill="s", text="how to"),
        row("11", "shell", shellID="t", command="top", status="running"),
        row("12", "shell", shellID="u", command="who", output={"output": "me", "size": 2}),
        row("13", "compaction", status="failed", error={"message": "too long"}),
    )
    assert shown(told) == [
        (USER, "go"),
        (SYSTEM, "attached text/plain file:///a"),
        (THINKING, "hm"),
        (SAID, "done"),
        (CALL, "command: ls"),
        (RESULT, "a"),
        (ERROR, "lost"),
        (SYSTEM, "put in"),
        (CALL, "command: pwd"),
        (RESULT, "/"),
        (SYSTEM, "The conversation was compacted:\nso far"),
        (SYSTEM, "how to"),
        (CALL, "command: top"),
        (CALL, "command: who"),
        (RESULT, "me"),
        (ERROR, "too long"),
    ]
    assert told.notes[0][0] == "messages of type oracle"
    assert told.notes[1][0] == "parts of type omen"
    assert told.skipped == [("messages of type sibyl", 7)]


def test_parts_of_an_unknown_type_are_noted_and_their_text_kept() -> None:
    parts = [part("p1", "m1", "oracle", text="beware"), part("p2", "m1", "omen")]
    told = read({"info": info("m1", "assistant"), "parts": parts})
    assert shown(told) == [(SYSTEM, "beware")]
    assert [note[0] for note in told.notes] == ["parts of type omen"]


@pytest.mark.parametrize(
    ("head", "fits"),
    [
        (exported(), True),
        ([{"info": session("s"), "messages": exported()}], True),
        ([updated(part("p", "m"))], True),
        ([event("file.watcher.updated", file="x")], False),
        ([{"type": "text", "sessionID": "s", "part": part("p", "m")}], True),
        ([{"type": "text", "part": part("p", "m")}], True),
        ([{"type": "text", "part": {"text": "x"}}], False),
        ([{"info": {"exit_status": "x"}, "messages": exported()}], False),
        ([{"info": {"role": "user"}}], False),
        ([{"type": "session.start", "data": {"sessionID": "s"}}], False),
        ([{"id": "1", "role": "user", "parts": [{"type": "text", "text": "x"}]}], False),
        ([{"table": "users", "id": 1}], False),
    ],
)
def test_only_sessions_of_opencode_are_taken_for_one(head: list[Record], fits: bool) -> None:
    assert (OpenCode().recognise(head, None) >= 0.8) is fits


@pytest.mark.parametrize(
    "type_",
    ["text", "tool", "file", "subtask", "retry", "reasoning", "tool_call", "tool_result", "new"],
)
def test_any_value_in_any_place_is_told_or_left_out(type_: str) -> None:
    for odd in ODD:
        names = (
            "text",
            "state",
            "callID",
            "tool",
            "metadata",
            "time",
            "filename",
            "error",
            "prompt",
        )
        whole = dict.fromkeys((*names, "input", "content", "name", "id", "is_error"), odd)
        inner = dict.fromkeys(
            ("status", "input", "output", "metadata", "error", "time", "attachments"), odd
        )
        parts = [part("p", "m", type_, **whole), part("p", "m", type_, state=inner), odd]
        whole_message = {
            "info": info("m", "user", time=odd, error=odd, summary=odd),
            "parts": parts,
        }
        read(whole_message, *exported())
        for named in (
            "message.part.updated",
            "message.updated",
            "session.created",
            "session.error",
        ):
            properties = {"part": odd, "info": odd, "sessionID": odd, "error": odd}
            read(updated(part("p", "m", text="x")), event(named, **properties))
        for table in ("session", "message", "part", "session_message", "sessions", "messages"):
            row = dict.fromkeys(
                ("id", "session_id", "message_id", "data", "parts", "role", "type"), odd
            )
            read(updated(part("p", "m", text="x")), {"table": table, "time_created": odd} | row)


def test_answers_whose_parts_are_missing_are_said_to_be() -> None:
    ended: Record = {"created": CREATED, "completed": CREATED + 1}
    told = read(
        {"type": "message.updated", "properties": {"info": info("m1", "assistant")}},
        {"type": "message.updated", "properties": {"info": info("m2", "assistant", time=ended)}},
        updated(part("p", "m3", text="go")),
    )
    assert [note[0] for note in told.notes if "part" in note[0]] == [
        "answers without a part of theirs",
        "answers that were begun and have no part yet",
    ]
