"""VS Code's chats: documents, and logs of changes that are replayed."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import TYPE_CHECKING, Any

import pytest

from longjudge.errors import NotASessionError
from longjudge.sessions import EventKind, Severity, load_sessions
from longjudge.sessions.formats.vscode_chat import VsCodeChat
from retold_for_tests import retell

if TYPE_CHECKING:
    from pathlib import Path

    from retold_for_tests import Told

CALL = EventKind.TOOL_CALL
RESULT = EventKind.TOOL_RESULT
USER = EventKind.USER_MESSAGE
SAID = EventKind.ASSISTANT_MESSAGE
THOUGHT = EventKind.THINKING

Item = dict[str, Any]


def text(said: str) -> Item:
    return {"value": said, "supportHtml": False}


def invocation(id_: str, tool: str = "read", **more: object) -> Item:
    return {"kind": "toolInvocationSerialized", "toolCallId": id_, "toolId": tool, **more}


def request(asked: str, *response: Item, **result: object) -> Item:
    return {
        "requestId": f"r {asked}",
        "message": {"text": asked, "parts": []},
        "response": list(response),
        "result": result,
        "timestamp": 1767225600000,
    }


def rounds(*calls: tuple[str, str], results: Item | None = None) -> Item:
    return {
        "toolCallRounds": [
            {"toolCalls": [{"id": id_, "name": "x", "arguments": given} for id_, given in calls]}
        ],
        "toolCallResults": results or {},
    }


def tree(*texts: str) -> Item:
    children = [{"type": 2, "text": each, "lineBreakBefore": True} for each in texts]
    return {"content": [{"value": {"node": {"type": 1, "children": children}}}]}


def chat(*requests: Item) -> Item:
    return {
        "version": 3,
        "responderUsername": "Copilot",
        "sessionId": "s",
        "customTitle": "A title",
        "requests": list(requests),
    }


def shown(told: Told, thread: str = "main", session: str = "") -> list[tuple[EventKind, str]]:
    return [(event.kind, event.body) for event in told.events(session, thread)]


def tell(*requests: Item) -> Told:
    return retell(VsCodeChat(), {"requests": requests})


def test_texts_and_references_are_one_message_up_to_a_call() -> None:
    reference = {"kind": "inlineReference", "inlineReference": {"path": "/w/a.py"}}
    told = tell(
        request(
            "hi",
            {"kind": "mcpServersStarting"},
            text("See "),
            reference,
            text(".\n"),
            {"kind": "prepareToolInvocation", "toolName": "read"},
            invocation("u1"),
            text("\n```\n"),
            {"kind": "codeblockUri"},
            {"kind": "textEditGroup", "edits": []},
            text("\n```\n"),
            text("bye"),
            metadata=rounds(("c9", '{"a": 1}'), results={"c9": tree("one", "two")}),
        )
    )
    assert shown(told) == [
        (USER, "hi"),
        (SAID, "See `a.py`.\n"),
        (CALL, "a: 1"),
        (RESULT, "one\ntwo"),
        (SAID, "\nbye"),
    ]
    assert told.events()[0].timestamp == "2026-01-01T00:00:00Z"
    assert told.notes == []


@pytest.mark.parametrize(
    ("item", "events"),
    [
        (
            {
                "toolSpecificData": {
                    "kind": "terminal",
                    "commandLine": {"original": "ls"},
                    "terminalCommandOutput": {"text": "a.py"},
                }
            },
            [(CALL, "command: ls"), (RESULT, "a.py")],
        ),
        (
            {"resultDetails": {"input": '{"a": 1}', "output": [{"value": "out"}]}},
            [(CALL, "a: 1"), (RESULT, "out")],
        ),
        ({"invocationMessage": {"value": "Reading a.py"}}, [(CALL, "Reading a.py")]),
        ({"isConfirmed": {"type": 0}}, [(CALL, ""), (RESULT, "denied")]),
    ],
    ids=["terminal", "details", "words", "denied"],
)
def test_a_call_whose_arguments_were_not_kept_says_what_is_shown_of_it(
    item: Item, events: list[tuple[EventKind, str]]
) -> None:
    told = tell(request("hi", invocation("u1", **item)))
    assert shown(told)[1:] == events


def test_thoughts_come_in_pieces_and_may_be_kept_from_us() -> None:
    told = tell(
        request(
            "hi",
            {"kind": "thinking", "value": "h"},
            {"kind": "thinking", "value": ["m"]},
            text("ok"),
            {"kind": "thinking", "value": [], "id": "encrypted"},
        )
    )
    assert shown(told)[1:] == [(THOUGHT, "hm"), (SAID, "ok"), (THOUGHT, "[redacted]")]


def test_a_subagents_calls_are_a_thread_of_the_call_that_ran_it() -> None:
    data = {"kind": "subagent", "agentName": "helper", "prompt": "look", "result": "found"}
    told = tell(
        request(
            "hi",
            invocation("u1", "runSubagent", toolSpecificData=data),
            invocation("u2", "read", subAgentInvocationId="u1", invocationMessage="Reading"),
            invocation("u3"),
            metadata=rounds(("x", '{"prompt": "look"}'), ("y", '{"a": 2}')),
        )
    )
    assert shown(told)[1:] == [(CALL, "prompt: look"), (RESULT, "found"), (CALL, "a: 2")]
    assert shown(told, "helper u1") == [(CALL, "Reading")]
    assert told.links == {("", "helper u1"): "u1"}


def test_errors_and_cancels_are_said() -> None:
    failed = request("hi", errorDetails={"message": "rate limit"})
    told = tell(failed | {"isCanceled": True}, request("ho", {"kind": "novelty"}))
    assert shown(told)[1:3] == [
        (EventKind.ERROR, "rate limit"),
        (EventKind.SYSTEM, "the request was canceled"),
    ]
    assert told.notes == [("response parts of kind novelty", 1, Severity.INFO, 1)]


@pytest.mark.parametrize("indent", [None, 1])
def test_a_document_is_one_session(tmp_path: Path, indent: int | None) -> None:
    path = tmp_path / "chat.json"
    path.write_text(json.dumps(chat(request("hi", text("bye"))), indent=indent))
    (session,) = load_sessions(path)
    assert (session.format, session.id, session.title) == ("copilot-vscode", "s", "A title")
    assert [session.event(n).body for n in range(len(session.index))] == ["hi", "bye"]
    session.close()


LOG: list[Item] = [
    {"kind": 0, "v": chat(request("hi"))},
    {"kind": 2, "k": ["requests", 0, "response"], "v": [text("on"), text("lost")]},
    {"kind": 2, "k": ["requests", 0, "response"], "v": [text("e")], "i": 1},
    {"kind": 1, "k": ["requests", 0, "isCanceled"], "v": True},
    {"kind": 3, "k": ["requests", 0, "isCanceled"]},
    {"kind": 2, "k": ["requests"], "v": [request("ho", text("two"))]},
    {"kind": 1, "k": ["customTitle"], "v": "Renamed"},
]


def test_a_log_of_changes_is_replayed(tmp_path: Path) -> None:
    path = tmp_path / "chat.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in LOG))
    (session,) = load_sessions(path)
    bodies = [session.event(n).body for n in range(len(session.index))]
    assert bodies == ["hi", "one", "ho", "two"]
    assert session.title == "Renamed"
    assert [session.line(n) for n in range(4)] == [5, 5, 6, 6]
    session.close()


@pytest.mark.parametrize(
    "change",
    [
        {"kind": 1, "k": ["requests", 7, "x"], "v": 1},
        {"kind": 1, "k": ["requests", 10**9], "v": 1},
        {"kind": 2, "k": ["sessionId"], "v": [1]},
        {"kind": 3, "k": []},
        {"kind": 1, "k": [None, {}], "v": 1},
    ],
)
def test_changes_that_fit_nothing_are_counted_and_change_nothing(change: Item) -> None:
    told = retell(VsCodeChat(), deepcopy([*LOG, change]))
    assert [event.body for event in told.events()] == ["hi", "one", "ho", "two"]
    assert [note[2:] for note in told.notes] == [(Severity.WARNING, 1)]


def test_a_chat_in_which_nothing_was_asked_is_refused() -> None:
    with pytest.raises(NotASessionError, match="nothing was asked"):
        retell(VsCodeChat(), [{"kind": 0, "v": chat()}])
