"""Pi sessions: the last branch is the main thread, and nothing that happened is lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longjudge.sessions import EventKind
from longjudge.sessions.formats.pi import BRANCHES, Pi
from retold_for_tests import retell

if TYPE_CHECKING:
    from retold_for_tests import Told

CALL = EventKind.TOOL_CALL
RESULT = EventKind.TOOL_RESULT
USER = EventKind.USER_MESSAGE
SAID = EventKind.ASSISTANT_MESSAGE
SYSTEM = EventKind.SYSTEM
HEADER: dict[str, object] = {"type": "session", "version": 3, "id": "s1", "cwd": "/w"}


def entry(role: str, content: object, /, **more: object) -> dict[str, object]:
    return {"type": "message", "message": {"role": role, "content": content, **more}}


def node(id_: str, parent: str | None, text: str) -> dict[str, object]:
    return {**entry("user", text), "id": id_, "parentId": parent}


def shown(told: Told, thread: str = "main") -> list[tuple[EventKind, str]]:
    return [(event.kind, event.body) for event in told.events(thread=thread)]


def said(told: Told, thread: str = "main") -> list[str]:
    return [body for _, body in shown(told, thread)]


def test_a_linear_session_without_ids_is_one_thread_in_order() -> None:
    call = {"type": "toolCall", "id": "t1", "name": "write", "arguments": {"path": "a"}}
    told = retell(
        Pi(),
        [
            HEADER,
            entry("user", "go"),
            entry("assistant", [{"type": "thinking", "thinking": "hm"}, call]),
            entry(
                "toolResult", [{"type": "text", "text": "denied"}], toolCallId="t1", isError=True
            ),
            entry("assistant", [{"type": "text", "text": "no"}]),
        ],
    )
    assert shown(told) == [
        (USER, "go"),
        (EventKind.THINKING, "hm"),
        (CALL, "path: a"),
        (RESULT, "denied"),
        (SAID, "no"),
    ]
    assert told.events()[3].is_error is True
    assert told.events()[3].call_id == told.events()[2].call_id == "t1"
    assert told.sessions[""]["id"] == "s1"


def test_a_result_says_that_it_failed_only_where_the_file_does() -> None:
    told = retell(
        Pi(), [HEADER, entry("toolResult", "ok"), entry("toolResult", "ok", isError=False)]
    )
    assert [event.is_error for event in told.events()] == [None, False]


def test_the_branch_to_the_last_entry_is_main_and_one_left_behind_a_thread() -> None:
    told = retell(
        Pi(),
        [
            HEADER,
            node("a", None, "ask"),
            node("b", "a", "first try"),
            node("c", "b", "more of it"),
            {"type": "branch_summary", "id": "d", "parentId": "a", "summary": "tried b"},
            node("e", "d", "second try"),
        ],
    )
    assert said(told) == ["ask", "branch_summary\ntried b", "second try"]
    assert said(told, "branch-1") == ["first try", "more of it"]
    assert (BRANCHES, 1) in [(reason, count) for reason, _, _, count in told.notes]


def test_a_mark_that_goes_back_to_an_entry_decides_the_branch() -> None:
    told = retell(
        Pi(),
        [
            HEADER,
            node("a", None, "ask"),
            node("b", "a", "left"),
            {"type": "leaf", "id": "m", "parentId": "b", "targetId": "a"},
            node("c", "m", "kept"),
        ],
    )
    assert said(told) == ["ask", "kept"]
    assert said(told, "branch-1") == ["left"]


def test_a_parent_that_is_lost_costs_nothing_of_the_branch() -> None:
    told = retell(Pi(), [HEADER, node("a", None, "one"), node("c", "damaged", "three")])
    assert said(told) == ["one", "three"]


def test_entries_that_follow_each_other_in_a_ring_end() -> None:
    told = retell(Pi(), [HEADER, node("a", "b", "one"), node("b", "a", "two")])
    assert said(told) == ["one", "two"]


def test_what_a_user_runs_and_what_extensions_and_compactions_add_is_a_system_note() -> None:
    shell = {"role": "bashExecution", "command": "ls", "output": "a.txt", "exitCode": 0}
    told = retell(
        Pi(),
        [
            HEADER,
            {"type": "message", "message": shell},
            {"type": "compaction", "summary": "so far"},
            {"type": "custom_message", "customType": "ext", "content": "injected"},
            {"type": "custom", "customType": "ext", "data": {"n": 1}},
        ],
    )
    assert [event.kind for event in told.events()] == [SYSTEM, SYSTEM, SYSTEM]
    assert told.events()[0].body == "bash\ncommand: ls\nexitCode: 0\noutput: a.txt"
    assert ("custom records, no events", 4) in [(why, number) for why, number, _, _ in told.notes]


def test_an_answer_that_failed_is_an_error_and_hidden_thoughts_are_marked() -> None:
    hidden = {"type": "thinking", "thinking": "", "redacted": True}
    told = retell(
        Pi(), [HEADER, entry("assistant", [hidden], stopReason="error", errorMessage="overloaded")]
    )
    assert shown(told) == [(EventKind.THINKING, "[redacted]"), (EventKind.ERROR, "overloaded")]


def test_the_name_that_a_user_gave_is_the_title() -> None:
    told = retell(Pi(), [HEADER, entry("user", "x"), {"type": "session_info", "name": "Auth"}])
    assert told.sessions[""]["title"] == "Auth"


def test_what_pi_streams_is_told_once() -> None:
    message = {"role": "assistant", "content": [{"type": "text", "text": "done"}]}
    stream: list[dict[str, object]] = [
        HEADER,
        {"type": "message_start", "message": {"role": "assistant", "content": []}},
        {"type": "message_update", "message": {"role": "assistant", "content": "do"}},
        {"type": "message_end", "message": message},
        {"type": "turn_end", "message": message},
        {"type": "agent_end", "messages": [message]},
    ]
    assert shown(retell(Pi(), stream)) == [(SAID, "done")]
    assert Pi().recognise(stream, None) == 1.0


def test_pi_is_told_from_other_typed_records() -> None:
    pi = Pi()
    assert pi.recognise([HEADER, entry("user", "x"), {"type": "new", "parentId": "a"}], None) == 1
    assert pi.recognise([entry("user", "x"), entry("toolResult", "y")], None) == 1
    droid: dict[str, object] = {"type": "session_start", "id": "s"}
    assert pi.recognise([droid, entry("user", "x")], None) < 0.8
    assert pi.recognise([{"type": "session.start", "data": {}, "parentId": None}], None) < 0.8


def test_values_of_any_shape_never_raise() -> None:
    told = retell(
        Pi(),
        [
            {"type": "session", "id": 5},
            {"type": "message", "message": 5, "id": 3, "parentId": []},
            {"type": "message", "message": {"role": 1, "content": {"a": 1}}},
            entry("assistant", [1, None, {"type": "toolCall", "arguments": 3}]),
            entry("toolResult", None, toolCallId=3),
            {"type": "compaction", "summary": [1]},
        ],
    )
    assert told.skipped == []
