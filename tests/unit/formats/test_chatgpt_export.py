"""Exports of ChatGPT: the path that was read on, and what was discarded beside it."""

from __future__ import annotations

from longjudge.sessions import EventKind
from longjudge.sessions.formats.chatgpt_export import BROKEN, DISCARDED, EMPTY, ChatGPTExport
from retold_for_tests import retell

Record = dict[str, object]

USER = EventKind.USER_MESSAGE
SAID = EventKind.ASSISTANT_MESSAGE


def node(parent: str | None, role: str, *parts: object, **more: object) -> Record:
    content: Record = {"content_type": "text", "parts": list(parts)}
    author = {"role": role, "name": more.pop("name", None)}
    message = {"author": author, "content": content, "create_time": 1_784_164_500.0, **more}
    return {"parent": parent, "message": message}


def conversation(nodes: dict[str, Record], current: str | None = None) -> Record:
    root: Record = {"parent": None, "message": None}
    return {
        "title": "A talk",
        "conversation_id": "c",
        "mapping": {"root": root, **nodes},
        "current_node": current,
    }


def shown(record: Record) -> list[tuple[EventKind, str | None, str]]:
    told = retell(ChatGPTExport(), [record])
    return [(event.kind, event.tool, event.body) for event in told.events("0")]


def test_only_the_path_to_the_current_node_is_told() -> None:
    nodes = {
        "u": node("root", "user", "Hi."),
        "old": node("u", "assistant", "Superseded."),
        "a": node("u", "assistant", "Hello."),
    }
    told = retell(ChatGPTExport(), [conversation(nodes, "a")])
    assert [event.body for event in told.events("0")] == ["Hi.", "Hello."]
    assert [(note[0], note[3]) for note in told.notes] == [(DISCARDED, 1)]
    assert told.sessions["0"]["title"] == "A talk"
    assert told.events("0")[0].timestamp == "2026-07-16T01:15:00Z"


def test_tools_thoughts_and_context_have_their_kinds() -> None:
    nodes = {
        "c": node(
            "root",
            "user",
            content={"content_type": "user_editable_context", "user_profile": "I am Ann."},
        ),
        "t": node(
            "c",
            "assistant",
            content={
                "content_type": "thoughts",
                "thoughts": [{"summary": "Plan", "content": "Search."}],
            },
        ),
        "k": node("t", "assistant", '{"query": "x"}', recipient="browser.search"),
        "p": node(
            "k",
            "assistant",
            content={"content_type": "code", "text": "print(1)"},
            recipient="python",
        ),
        "r": node(
            "p", "tool", content={"content_type": "execution_output", "text": "1"}, name="python"
        ),
        "s": node(
            "r", "user", "See", {"content_type": "image_asset_pointer", "asset_pointer": "file://1"}
        ),
    }
    assert shown(conversation(nodes, "s")) == [
        (EventKind.SYSTEM, None, "I am Ann."),
        (EventKind.THINKING, None, "Plan\nSearch."),
        (EventKind.TOOL_CALL, "browser.search", "query: x"),
        (EventKind.TOOL_CALL, "python", "print(1)"),
        (EventKind.TOOL_RESULT, "python", "1"),
        (USER, None, "See\n[image file://1]"),
    ]


def test_a_ring_of_parents_ends() -> None:
    nodes = {"a": node("b", "user", "A"), "b": node("a", "assistant", "B")}
    assert [body for _, _, body in shown(conversation(nodes, "b"))] == ["A", "B"]


def test_without_a_current_node_the_last_one_counts() -> None:
    nodes = {"u": node("root", "user", "Hi."), "a": node("u", "assistant", "Hello.")}
    assert [kind for kind, _, _ in shown(conversation(nodes))] == [USER, SAID]


def test_many_conversations_are_many_sessions() -> None:
    told = retell(ChatGPTExport(), [conversation({"u": node("root", "user", "Hi.")}, "u")] * 2)
    assert [len(told.events(key)) for key in ("0", "1")] == [1, 1]


def test_other_mappings_are_not_taken() -> None:
    assert ChatGPTExport().recognise([{"mapping": {"a": 1}}], None) == 0
    assert ChatGPTExport().recognise([conversation({}, "x")], None) == 1
    assert ChatGPTExport().recognise([{"mapping": "dict", "current_node": "x"}], None) == 1


def test_a_conversation_that_is_empty_or_has_lost_its_beginning_is_told() -> None:
    torn = conversation({"a": node("gone", "assistant", "Hello.")}, "a")
    told = retell(ChatGPTExport(), [torn, conversation({})])
    assert [event.body for event in told.all_events] == ["Hello."]
    assert [(note[0], note[1]) for note in told.notes] == [(BROKEN, 0), (EMPTY, 1)]
