"""Lists of messages as the models' interfaces take them, and files of many conversations."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from claude_code_records import events, jsonl, load, notes
from longjudge.errors import NotASessionError, SessionError
from longjudge.sessions import load_sessions, session_from_events
from longjudge.sessions.model import Severity

if TYPE_CHECKING:
    from pathlib import Path

    from longjudge.sessions import Session

    Message = dict[str, object]


def user(content: object) -> Message:
    return {"role": "user", "content": content}


def says(content: object, **more: object) -> Message:
    return {"role": "assistant", "content": content, **more}


def calls(name: str, arguments: object, call_id: str = "c1") -> Message:
    function = {"name": name, "arguments": arguments}
    return says(None, tool_calls=[{"id": call_id, "type": "function", "function": function}])


def result(content: object, call_id: str = "c1") -> Message:
    return {"role": "tool", "tool_call_id": call_id, "content": content}


CHAT: list[Message] = [
    {"role": "system", "content": "Be brief."},
    user("List the files."),
    calls("bash", '{"command": "ls"}'),
    result("a.txt"),
    says("There is a.txt."),
]
CHAT_EVENTS = [
    ("system", "Be brief."),
    ("user_message", "List the files."),
    ("tool_call", "command: ls"),
    ("tool_result", "a.txt"),
    ("assistant_message", "There is a.txt."),
]
BLOCKS: list[Message] = [
    user([{"type": "text", "text": "List the files."}]),
    says(
        [
            {"type": "thinking", "thinking": "hm", "signature": "x"},
            {"type": "text", "text": "I look."},
            {"type": "tool_use", "id": "t1", "name": "bash", "input": {"command": "ls"}},
        ]
    ),
    user(
        [
            {
                "type": "tool_result",
                "tool_use_id": "t1",
                "is_error": True,
                "content": [{"type": "text", "text": "denied"}],
            }
        ]
    ),
]
BLOCK_EVENTS = [
    ("user_message", "List the files."),
    ("thinking", "hm"),
    ("assistant_message", "I look."),
    ("tool_call", "command: ls"),
    ("tool_result", "denied"),
]
ITEMS: list[Message] = [
    {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Find it."}]},
    {"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": "hm"}]},
    {"type": "function_call", "call_id": "f1", "name": "find", "arguments": '{"q": "it"}'},
    {"type": "function_call_output", "call_id": "f1", "output": "here"},
    {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": "Found."}],
    },
]
ITEM_EVENTS = [
    ("user_message", "Find it."),
    ("thinking", "hm"),
    ("tool_call", "q: it"),
    ("tool_result", "here"),
    ("assistant_message", "Found."),
]


def load_all(folder: Path, data: bytes) -> list[Session]:
    path = folder / "file.jsonl"
    path.write_bytes(data)
    return load_sessions(path)


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize(
    ("messages", "expected", "name"),
    [
        (CHAT, CHAT_EVENTS, "openai-chat"),
        (BLOCKS, BLOCK_EVENTS, "anthropic-messages"),
        (ITEMS, ITEM_EVENTS, "openai-responses"),
        ([{**each, "ts": 1783376868634} for each in BLOCKS], BLOCK_EVENTS, "cline"),
    ],
)
def test_a_list_is_read_from_an_array_a_document_and_lines(
    tmp_path: Path,
    messages: list[Message],
    expected: list[tuple[str, str]],
    name: str,
    indent: int | None,
) -> None:
    wrapped = {"model": "m", "messages": messages, "tools": [{"name": "bash"}]}
    for data in (
        json.dumps(messages, indent=indent).encode(),
        json.dumps(wrapped, indent=indent).encode(),
        jsonl(messages),
    ):
        session = load(tmp_path, data)
        assert session.format == name
        assert events(session) == expected
        assert not session.diagnostics
        assert len(session.index.threads) == 1
        number = [kind for kind, _ in expected].index("tool_result")
        assert session.index.calls[number] == number - 1
        assert session.title == expected[[kind for kind, _ in expected].index("user_message")][1]


def test_a_document_may_break_its_lines_anywhere(tmp_path: Path) -> None:
    data = b'{"model": "m", "messages": [\n' + b",\n".join(jsonl([m])[:-1] for m in CHAT) + b"\n]}"
    assert events(load(tmp_path, data)) == CHAT_EVENTS


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (calls("f", "{broken"), [("tool_call", "{broken")]),
        (calls("f", '"{\\"a\\": 1}"'), [("tool_call", "a: 1")]),
        (calls("f", {"a": 1}), [("tool_call", "a: 1")]),
        (
            says(None, function_call={"name": "f", "arguments": '{"a": 1}'}),
            [("tool_call", "a: 1")],
        ),
        ({"role": "function", "name": "f", "content": "o"}, [("tool_result", "o")]),
        ({"role": "developer", "content": "d"}, [("system", "d")]),
        (
            says("yes", reasoning_content="why"),
            [("thinking", "why"), ("assistant_message", "yes")],
        ),
        (says(None, refusal="I can't."), [("assistant_message", "I can't.")]),
        (
            user(
                [
                    {"type": "text", "text": "see"},
                    {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
                ]
            ),
            [
                (
                    "user_message",
                    'see\n{"type":"image_url","image_url":{"url":"[image/png, 3 B]"}}',
                )
            ],
        ),
        (
            user([{"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}}]),
            [("user_message", "[audio/wav, 3 B]")],
        ),
        (
            says([{"type": "redacted_thinking", "data": "x"}, {"type": "text", "text": "ok"}]),
            [("thinking", "[redacted]"), ("assistant_message", "ok")],
        ),
        (
            says(
                [
                    {"type": "server_tool_use", "id": "s", "name": "web", "input": {"q": "x"}},
                    {
                        "type": "web_search_tool_result",
                        "tool_use_id": "s",
                        "content": [{"title": "T", "encrypted_content": "zzz"}],
                    },
                ]
            ),
            [("tool_call", "q: x"), ("tool_result", '{"title":"T"}')],
        ),
        (
            says(
                [{"type": "tool_use", "id": "c1", "name": "f", "input": {"a": 1}}],
                tool_calls=[{"id": "c1", "function": {"name": "f", "arguments": '{"a": 1}'}}],
            ),
            [("tool_call", "a: 1")],
        ),
        (
            user(
                [
                    {"type": "tool_result", "tool_use_id": "t", "content": "o"},
                    {"type": "text", "text": "go on"},
                ]
            ),
            [("tool_result", "o"), ("user_message", "go on")],
        ),
        (
            {"type": "mcp_call", "id": "m", "name": "f", "arguments": '{"a": 1}', "output": "o"},
            [("tool_call", "a: 1"), ("tool_result", "o")],
        ),
        (
            {"type": "mcp_call", "id": "m", "name": "f", "arguments": "{}", "error": "boom"},
            [("tool_call", ""), ("tool_result", "boom")],
        ),
        (
            {"type": "web_search_call", "id": "w", "action": {"type": "search", "query": "q"}},
            [("tool_call", "type: search\nquery: q")],
        ),
        (
            {"type": "custom_tool_call", "call_id": "c", "name": "patch", "input": "*** Begin"},
            [("tool_call", "*** Begin")],
        ),
        (
            {"type": "code_interpreter_call", "id": "c", "code": "1+1", "outputs": "2"},
            [("tool_call", "code: 1+1"), ("tool_result", "2")],
        ),
        (
            {"type": "image_generation_call", "id": "i", "revised_prompt": "p", "result": "AAAA"},
            [("tool_call", "prompt: p"), ("tool_result", "[image/png, 3 B]")],
        ),
        (
            {"type": "reasoning", "id": "r", "summary": [], "encrypted_content": "zz"},
            [("thinking", "[redacted]")],
        ),
    ],
)
def test_every_dialect_gives_its_events(
    tmp_path: Path, message: Message, expected: list[tuple[str, str]]
) -> None:
    session = load(tmp_path, jsonl([user("hello"), message]))
    assert events(session)[1:] == expected
    assert not session.skipped_lines


def test_a_failed_result_says_so(tmp_path: Path) -> None:
    session = load(tmp_path, jsonl(BLOCKS))
    assert session.event(4).is_error is True
    assert session.text(4).startswith("tool_result (error)\n")


def test_what_says_nothing_is_no_loss(tmp_path: Path) -> None:
    listed = {"type": "mcp_list_tools", "id": "l", "tools": [{"name": "f"}]}
    empty = {"type": "reasoning", "id": "r", "summary": []}
    session = load(tmp_path, jsonl([user("hi"), listed, empty, *ITEMS, says("")]))
    assert session.skipped_lines == 0
    assert {note.severity for note in session.diagnostics} == {Severity.INFO}
    assert notes(session) == {
        "mcp_list_tools items, no events": 1,
        "reasoning items, no events": 1,
        "messages without content": 1,
    }


@pytest.mark.parametrize("indent", [None, 2])
def test_a_system_prompt_and_a_response_beside_the_messages_belong_to_them(
    tmp_path: Path, indent: int | None
) -> None:
    request = {
        "messages": BLOCKS,
        "system": [{"type": "text", "text": "Be br\u00eff."}],
        "response": {"role": "assistant", "content": [{"type": "text", "text": "No luck."}]},
    }
    session = load(tmp_path, json.dumps(request, indent=indent, ensure_ascii=False).encode())
    assert session.format == "anthropic-messages"
    assert events(session) == [
        ("system", "Be br\u00eff."),
        *BLOCK_EVENTS,
        ("assistant_message", "No luck."),
    ]
    assert session.raw(0).startswith(b'"system"')
    assert json.loads(session.raw(1)) == BLOCKS[0]


def test_a_response_that_the_messages_end_with_counts_once(tmp_path: Path) -> None:
    response = {"choices": [{"message": CHAT[-1]}, {"message": says("Other.")}]}
    document = {"messages": CHAT, "response": response}
    assert events(load(tmp_path, json.dumps(document).encode())) == CHAT_EVENTS
    (row,) = load_all(tmp_path, jsonl([{"data": 1, **document}] * 2))
    assert events(row) == CHAT_EVENTS
    assert notes(row)["further answers to the same request, left out"] == 2


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        ({"messages": CHAT[:-1], "response": {"choices": [{"message": CHAT[-1]}]}}, CHAT_EVENTS),
        ({"messages": CHAT[:-1], "choices": [{"message": CHAT[-1]}]}, CHAT_EVENTS),
        ({"messages": CHAT[:-1], "completion": "There is a.txt."}, CHAT_EVENTS),
        ({"messages": CHAT[:-1], "output": "There is a.txt."}, CHAT_EVENTS),
        ({"input": CHAT[:-1], "output": "There is a.txt."}, CHAT_EVENTS),
        ({"request": {"messages": CHAT[:-1]}, "response": CHAT[-1]}, CHAT_EVENTS),
        ({"messages": json.dumps(CHAT), "instance_id": "i"}, CHAT_EVENTS),
        (
            {
                "custom_id": "1",
                "body": {"messages": CHAT[:-1]},
                "response": {"body": {"choices": [{"message": CHAT[-1]}]}},
            },
            CHAT_EVENTS,
        ),
        ({"system": "Be brief.", "messages": CHAT[1:]}, CHAT_EVENTS),
        ({"system": "Be brief.", "messages": CHAT}, CHAT_EVENTS),
        ({"object": "response", "input": ITEMS[:1], "output": ITEMS[1:]}, ITEM_EVENTS),
        ({"object": "response", "input": "Find it.", "output": ITEMS[1:]}, ITEM_EVENTS),
        ({"object": "list", "data": ITEMS}, ITEM_EVENTS),
        ({"object": "response", "output": ITEMS[1:]}, ITEM_EVENTS[1:]),
    ],
)
def test_requests_with_their_responses_are_conversations(
    tmp_path: Path, record: Message, expected: list[tuple[str, str]]
) -> None:
    for data in (json.dumps(record).encode(), json.dumps(record, indent=1).encode()):
        assert events(load(tmp_path, data)) == expected


def rows(count: int) -> list[Message]:
    return [
        {"messages": [user(f"task {number}"), *CHAT[2:]], "instance_id": f"task-{number}"}
        for number in range(count)
    ]


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(jsonl(rows(3)), id="lines"),
        pytest.param(json.dumps(rows(3)).encode(), id="array"),
        pytest.param(json.dumps(rows(3), indent=2).encode(), id="pretty array"),
        pytest.param(json.dumps({"data": rows(3)}).encode(), id="wrapped"),
        pytest.param(
            jsonl([{**row, "messages": json.dumps(row["messages"])} for row in rows(3)]),
            id="messages in strings",
        ),
    ],
)
def test_each_conversation_of_a_file_is_a_session(tmp_path: Path, data: bytes) -> None:
    sessions = load_all(tmp_path, data)
    assert [each.id for each in sessions] == ["task-0", "task-1", "task-2"]
    assert [each.title for each in sessions] == ["task 0", "task 1", "task 2"]
    assert {each.siblings for each in sessions} == {3}
    for number, each in enumerate(sessions):
        assert events(each) == [("user_message", f"task {number}"), *CHAT_EVENTS[2:]]
        assert each.index.tool_calls == 1


def test_lines_that_are_arrays_are_conversations(tmp_path: Path) -> None:
    listed: list[object] = [row["messages"] for row in rows(2)]
    for data in (jsonl(listed), json.dumps(listed).encode()):
        sessions = load_all(tmp_path, data)
        assert [each.title for each in sessions] == ["task 0", "task 1"]
        assert not sessions[0].skipped_lines


def test_a_log_of_growing_requests_is_one_session(tmp_path: Path) -> None:
    log = [{"messages": CHAT[:end], "id": f"request-{end}"} for end in (2, 4, 4, 5)]
    other = {"messages": [user("something else")], "id": "other"}
    first, second = load_all(tmp_path, jsonl([*log[:2], other, *log[2:]]))
    assert (first.id, second.id) == ("other", "request-5")
    assert events(second) == CHAT_EVENTS
    assert events(first) == [("user_message", "something else")]
    copied = "conversations that another one repeats and continues, left out"
    assert notes(second) == {copied: 3}
    assert {note.severity for note in second.diagnostics} == {Severity.INFO}


def test_thinking_that_later_requests_leave_out_is_told(tmp_path: Path) -> None:
    thought = says("There is a.txt.", reasoning_content="hm")
    log = [
        {"messages": CHAT[:-1], "response": {"choices": [{"message": thought}]}},
        {"messages": [*CHAT, user("Thanks.")]},
    ]
    (session,) = load_all(tmp_path, jsonl(log))
    assert events(session) == [*CHAT_EVENTS, ("user_message", "Thanks.")]
    lost = "thinking that the later, longer requests no longer hold, left out"
    assert notes(session)[lost] == 1
    assert session.diagnostics[0].severity is Severity.WARNING


CALL_TEXT = """I look around.

<function=bash>
<parameter=command>ls
pwd</parameter>
<parameter=timeout>5</parameter>
</function>"""


def test_calls_written_as_text_are_calls(tmp_path: Path) -> None:
    answer = "EXECUTION RESULT of [bash]:\na.txt"
    session = load(tmp_path, jsonl([user("Go."), says(CALL_TEXT), user(answer), says("Done.")]))
    assert events(session) == [
        ("user_message", "Go."),
        ("assistant_message", "I look around."),
        ("tool_call", "command: ls\npwd\ntimeout: 5"),
        ("tool_result", "a.txt"),
        ("assistant_message", "Done."),
    ]
    assert session.index.tool(2) == session.index.tool(3) == "bash"
    assert session.index.calls[3] == 2


def test_several_calls_in_one_text_leave_no_blanks_between_them(tmp_path: Path) -> None:
    content = f"{CALL_TEXT}\n\n<function=submit>\n</function>\n\nDone."
    found = events(load(tmp_path, jsonl([user("Go."), says(content)])))
    assert [kind for kind, _ in found[1:]] == [
        "assistant_message",
        "tool_call",
        "tool_call",
        "assistant_message",
    ]
    assert found[-1][1].strip() == "Done."


@pytest.mark.parametrize(
    "content",
    [
        f"Write it like this:\n```\n{CALL_TEXT}\n```",
        "<function=bash>\n<parameter=command>ls\n",
        "<function=bash>\nls\n</function>",
        "Use `<function=bash>` for that.",
    ],
)
def test_talk_about_calls_is_no_call(tmp_path: Path, content: str) -> None:
    session = load(tmp_path, jsonl([user(CALL_TEXT), says(content)]))
    assert events(session) == [("user_message", CALL_TEXT), ("assistant_message", content)]


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        ("Your command ran successfully and did not produce any output.", "tool_result"),
        ("Observation: a.txt", "tool_result"),
        ("Please go on.", "user_message"),
    ],
)
def test_what_a_harness_answers_is_known_behind_its_call_only(
    tmp_path: Path, reply: str, kind: str
) -> None:
    row = {"messages": [user(reply), says(CALL_TEXT), user(reply)]}
    found = events(load_all(tmp_path, jsonl([row, {"messages": CHAT}]))[0])
    assert found[0][0] == "user_message"
    assert found[-1][0] == kind


def test_messages_in_memory_are_read_as_such() -> None:
    chat = session_from_events(CHAT)
    assert (chat.format, events(chat)) == ("openai-chat", CHAT_EVENTS)
    assert chat.id.startswith("events-")
    assert session_from_events(BLOCKS).format == "anthropic-messages"
    assert events(session_from_events(ITEMS)) == ITEM_EVENTS


@pytest.mark.parametrize(
    "item",
    [
        {"kind": "tool_call", "tool": "bash", "input": {"command": "ls"}},
        {"type": "tool_call", "name": "bash", "input": {"command": "ls"}},
        {"role": "assistant", "content": "x", "agent": "helper"},
    ],
)
def test_one_event_of_the_generic_list_makes_it_one(tmp_path: Path, item: Message) -> None:
    plain = [user("hi"), says("hello"), item]
    assert load(tmp_path, jsonl(plain)).format == "events"
    assert session_from_events(plain).format == "events"


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ({"log": {"version": "1.2", "entries": []}}, "HAR"),
        ([user("x"), says([{"toolUse": {"name": "f", "input": {}}}])], "not read yet"),
        ({"instruction": "a", "input": "b", "output": "c"}, "no session"),
        ([{"messages": "user: a\nassistant: b"}], "no session"),
    ],
)
def test_other_formats_are_not_taken_for_messages(
    tmp_path: Path, document: object, words: str
) -> None:
    for indent in (None, 1):
        with pytest.raises(NotASessionError, match=words):
            load_all(tmp_path, json.dumps(document, indent=indent).encode())


@pytest.mark.parametrize("indent", [None, 1])
def test_messages_in_the_envelope_of_an_agent_are_read_as_that_agents(
    tmp_path: Path, indent: int | None
) -> None:
    document = {"info": {"mini_version": "1"}, "messages": CHAT}
    (session,) = load_all(tmp_path, json.dumps(document, indent=indent).encode())
    assert session.format == "mini-swe-agent"
    session.close()


def test_a_damaged_system_prompt_does_not_cost_the_session(tmp_path: Path) -> None:
    data = b'{"system": "a\\ud83d b", "messages": ' + json.dumps(BLOCKS).encode() + b"}"
    assert events(load(tmp_path, data)) == [("system", "a\ufffd b"), *BLOCK_EVENTS]


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner),
    max_leaves=6,
)
NAMES = st.sampled_from(
    [
        *("text", "thinking", "tool_use", "tool_result", "input_text", "image", "function_call"),
        *("reasoning", "mcp_call", "function_call_output", "web_search_call", "message"),
    ]
)
TEXTS = st.sampled_from(["", "hi", CALL_TEXT, "OBSERVATION:\nx", "<function=f>", '{"a": 1}', "\n"])
FIELDS = st.fixed_dictionaries(
    {},
    optional={
        "type": NAMES,
        **dict.fromkeys(["text", "thinking", "name", "id", "call_id", "arguments"], TEXTS),
        **dict.fromkeys(["input", "output", "summary", "error", "source", "code"], JSON_VALUES),
        "content": TEXTS | JSON_VALUES,
    },
)
MESSAGES = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant", "tool", "system", "function"])},
    optional={
        "content": TEXTS | JSON_VALUES | st.lists(FIELDS | JSON_VALUES, max_size=4),
        "tool_calls": st.lists(
            st.fixed_dictionaries({"id": TEXTS, "function": FIELDS}) | JSON_VALUES, max_size=3
        )
        | JSON_VALUES,
        **dict.fromkeys(["function_call", "reasoning", "refusal", "audio"], FIELDS | JSON_VALUES),
        **dict.fromkeys(["ts", "name", "created"], JSON_VALUES),
    },
)
ROWS = st.fixed_dictionaries(
    {"messages": st.lists(MESSAGES | FIELDS, max_size=4) | JSON_VALUES},
    optional={"system": JSON_VALUES, "response": FIELDS | JSON_VALUES | MESSAGES},
)


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    deadline=None,
    max_examples=50,
)
@given(st.lists(MESSAGES | FIELDS | ROWS, min_size=1, max_size=8), st.sampled_from("alwr"))
def test_any_list_of_messages_reads_back_as_it_was_indexed_or_is_refused(
    tmp_path: Path, records: list[Message], shape: str
) -> None:
    # What a file is, is decided by its first records.
    records = [*[user("hi")] * 50, *records]
    document: object = records
    if shape == "w":
        document = {"system": "s", "messages": records, "response": records[-1]}
    elif shape == "r":
        document = {"input": records, "output": records}
    data = jsonl(records) if shape == "l" else json.dumps(document).encode()
    try:
        sessions = load_all(tmp_path, data)
    except NotASessionError:
        return
    for session in sessions:
        for number in range(len(session.index)):
            assert len(session.text(number)) == session.index.chars[number]
        session.close()


@pytest.mark.parametrize("indent", [None, 2])
def test_an_empty_list_before_the_messages_hides_nothing(
    tmp_path: Path, indent: int | None
) -> None:
    document = {"steps": [], "messages": CHAT, "data": []}
    session = load(tmp_path, json.dumps(document, indent=indent).encode())
    assert events(session) == events(load(tmp_path, json.dumps({"messages": CHAT}).encode()))
    assert (session.skipped_lines, session.diagnostics) == (0, ())


def test_a_file_of_many_sessions_says_which_in_one_line_whatever_its_name(tmp_path: Path) -> None:
    lines = [{"id": f"c{number}", "messages": [user(f"q{number}")]} for number in range(2)]
    with pytest.raises(SessionError, match=r"holds 2 sessions; .* c0, c1$") as error:
        load(tmp_path, *lines, name="a\n\x1b[31m.jsonl")
    assert str(error.value).isprintable()
