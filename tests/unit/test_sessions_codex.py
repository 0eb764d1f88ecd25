"""Codex rollouts: each text and call once, whatever was written twice, injected or inherited."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from claude_code_records import events, notes
from codex_records import (
    call,
    done,
    item,
    jsonl,
    meta,
    notice,
    output,
    reasoning,
    record,
    said,
    turn,
)
from longjudge.errors import NotASessionError
from longjudge.sessions import Severity, discover_sessions, find_sessions, load_session

if TYPE_CHECKING:
    from pathlib import Path

    from longjudge.sessions import Session

REPEATED = "texts and calls that another record tells as well, left out"
INHERITED = "events copied from the session that this one was forked from, left out"


def load(folder: Path, *records: object, name: str = "rollout-1.jsonl") -> Session:
    path = folder / name
    path.write_bytes(jsonl(records))
    return load_session(path)


def told(folder: Path, *records: object) -> list[tuple[str, str]]:
    """Kind and body of every event of a session that begins with its head."""
    return events(load(folder, meta(), *records))


def warnings(session: Session) -> list[str]:
    return [note.reason for note in session.diagnostics if note.severity is Severity.WARNING]


def test_a_current_rollout_becomes_a_session(tmp_path: Path) -> None:
    session = load(
        tmp_path,
        meta("0199-a"),
        record("turn_context", {"cwd": "/repo", "model": "m"}),
        turn("turn-1"),
        said("developer", "<permissions instructions>ask</permissions instructions>"),
        said("user", "<environment_context>\n  <cwd>/repo</cwd>\n</environment_context>"),
        said("user", "fix the parser"),
        notice("user_message", message="fix the parser", images=[]),
        notice("agent_reasoning", text="**Looking**"),
        reasoning("**Looking**", encrypted_content="gAAAA" * 5000),
        call("call_1", "exec_command", cmd="ls", workdir="/repo"),
        output("call_1", "Process exited with code 0\nOutput:\nsrc\n"),
        notice("token_count", info=None),
        notice("agent_message", message="Found it."),
        said("assistant", "Found it.", phase="final_answer"),
        notice("task_complete", turn_id="turn-1", last_agent_message="Found it."),
    )
    assert session.format == "codex"
    assert (session.id, session.title) == ("0199-a", "fix the parser")
    assert events(session) == [
        ("system", "<permissions instructions>ask</permissions instructions>"),
        ("system", "<environment_context>\n  <cwd>/repo</cwd>\n</environment_context>"),
        ("user_message", "fix the parser"),
        ("thinking", "**Looking**"),
        ("tool_call", "cmd: ls\nworkdir: /repo"),
        ("tool_result", "Process exited with code 0\nOutput:\nsrc\n"),
        ("assistant_message", "Found it."),
    ]
    index = session.index
    assert index.tool(4) == "exec_command"
    assert index.calls[5] == 4
    assert session.skipped_lines == 0
    assert not warnings(session)
    assert notes(session)[REPEATED] == 4


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        pytest.param(
            [
                notice("user_message", message="one"),
                said("assistant", "answer one"),
                notice("user_message", message="two"),
            ],
            ["one", "answer one", "two"],
            id="user only in notices",
        ),
        pytest.param(
            [said("user", "one"), notice("agent_message", message="answer")],
            ["one", "answer"],
            id="assistant only in notices",
        ),
        pytest.param(
            [
                notice("user_message", message="one"),
                said("user", "two"),
                notice("user_message", message="two"),
                notice("user_message", message="three"),
            ],
            ["one", "two", "three"],
            id="some only in notices",
        ),
        pytest.param(
            [
                notice("user_message", message="again"),
                notice("user_message", message="other"),
                said("user", "again"),
                notice("user_message", message="again"),
            ],
            ["again", "other", "again"],
            id="the same text twice, once as an item",
        ),
        pytest.param(
            [
                done("UserMessage", content=[{"type": "text", "text": "one"}]),
                notice("user_message", message="one"),
                done("AgentMessage", content=[{"type": "Text", "text": "answer"}]),
                notice("task_complete", last_agent_message="answer"),
            ],
            ["one", "answer"],
            id="completed items beside notices",
        ),
        pytest.param(
            [
                notice("user_message", message="one"),
                notice("task_complete", last_agent_message="a"),
            ],
            ["one", "a"],
            id="the answer only at the end of the turn",
        ),
        pytest.param(
            [
                said("user", "see [Image #1]", "<image name=[Image #1]>", "</image>"),
                notice("user_message", message="see [Image #1]", local_images=["/tmp/a.png"]),
            ],
            ["see [Image #1]\n<image name=[Image #1]>\n</image>"],
            id="a picture beside the text",
        ),
        pytest.param(
            [
                notice("agent_reasoning", text="**a**"),
                notice("agent_reasoning", text="**b**"),
                reasoning("**a**", "**b**"),
                notice("agent_reasoning", text="**c**"),
            ],
            ["**a**\n\n**b**", "**c**"],
            id="reasoning part by part",
        ),
    ],
)
def test_each_text_is_told_once(
    tmp_path: Path, records: list[dict[str, object]], expected: list[str]
) -> None:
    assert [body for _, body in told(tmp_path, *records)] == expected


def test_many_equal_texts_are_counted_not_compared_one_by_one(tmp_path: Path) -> None:
    many = [notice("user_message", message="go") for _ in range(3000)]
    session = load(tmp_path, meta(), *[said("user", "go")] * 1000, *many)
    assert len(session.index) == 3000


@pytest.mark.parametrize(
    ("text", "injected", "own"),
    [
        ("plain", None, "plain"),
        ("<user_instructions>be brief</user_instructions>", True, None),
        ("<user_instructions>never closed", True, None),
        ("# AGENTS.md instructions for /repo\n\n<INSTRUCTIONS>\nx\n</INSTRUCTIONS>", True, None),
        ("<environment_context>e</environment_context>\n\nfix it", True, "fix it"),
        (
            "# AGENTS.md instructions\n<INSTRUCTIONS>x</INSTRUCTIONS>\n"
            "<environment_context>e</environment_context>\nfix it",
            True,
            "fix it",
        ),
        ("# Context from my IDE setup:\na.py\n## My request for Codex:\nfix it\n", True, "fix it"),
        ("## My request for Codex:\nfix it\n", None, "fix it"),
        ("<recommended-plugins>p</recommended-plugins>", True, None),
        ("<div>why is this not centred?</div>", None, "<div>why is this not centred?</div>"),
        ("# Title\nplease write a README", None, "# Title\nplease write a README"),
    ],
)
def test_what_the_program_injects_is_no_users_word(
    tmp_path: Path, text: str, injected: bool | None, own: str | None
) -> None:
    found = told(tmp_path, said("user", text), said("assistant", "ok"))[:-1]
    kinds = ["system"] * bool(injected) + ["user_message"] * (own is not None)
    assert [kind for kind, _ in found] == kinds
    if own is not None:
        assert found[-1][1] == own


def test_the_title_is_the_first_real_prompt(tmp_path: Path) -> None:
    session = load(
        tmp_path,
        meta(),
        said("user", "<environment_context>e</environment_context>"),
        said("user", "the real one"),
    )
    assert session.title == "the real one"


@pytest.mark.parametrize(
    ("value", "body", "failed"),
    [
        ("plain text", "plain text", False),
        ({"content": "went wrong", "success": False}, "went wrong", True),
        ({"content": [{"type": "input_text", "text": "fine"}], "success": True}, "fine", False),
        (json.dumps({"output": "no", "metadata": {"exit_code": 2}}), "no", True),
        (json.dumps({"output": "yes", "metadata": {"exit_code": 0}}), "yes", False),
        ('{"agent_id": "x"}', '{"agent_id": "x"}', False),
        ('{"output": cut', '{"output": cut', False),
        ("Exit code: 1\nWall time: 0.1 s\nOutput:\nboom", None, True),
        ("Chunk ID: a\nProcess exited with code 0\nOutput:\nExit code: 1", None, False),
        ({"type": "input_text", "text": "one"}, "one", False),
        ({"stdout": "a", "stderr": "b", "exitCode": 3}, "stdout: a\nstderr: b\nexitCode: 3", True),
        (None, "", False),
    ],
)
def test_an_output_says_whether_it_failed(
    tmp_path: Path, value: object, body: str | None, failed: bool
) -> None:
    session = load(tmp_path, meta(), call("c", "shell", command=["ls"]), output("c", value))
    event = session.event(1)
    assert event.body == (value if body is None else body)
    assert session.text(1).startswith("tool_result (error)") is failed
    assert session.index.calls[1] == 0


def test_arguments_that_are_no_json_stay_as_they_are(tmp_path: Path) -> None:
    found = told(
        tmp_path,
        item("function_call", name="shell", arguments='{"command": ["rm', call_id="a"),
        item("custom_tool_call", name="apply_patch", input="*** Begin Patch\n+x", call_id="b"),
        item("function_call", name="shell", arguments={"command": "ls"}, call_id="c"),
    )
    assert [body for _, body in found] == [
        '{"command": ["rm',
        "*** Begin Patch\n+x",
        "command: ls",
    ]


def test_calls_of_the_models_own_tools(tmp_path: Path) -> None:
    action = {"type": "exec", "command": ["bash", "-lc", "ls"], "timeout_ms": None}
    session = load(
        tmp_path,
        meta(),
        item("local_shell_call", call_id="a", action=action),
        output("a", "src"),
        item("web_search_call", id="ws_1", action={"type": "search", "query": "tides"}),
        notice("web_search_end", call_id="ws_1", query="tides", results=[{"title": "Tides"}]),
        item("function_call", namespace="mcp__docs__", name="find", arguments="{}", call_id="d"),
    )
    assert [session.text(number) for number in range(5)] == [
        'tool_call local_shell\ncommand: ["bash","-lc","ls"]',
        "tool_result\nsrc",
        "tool_call web_search\ntype: search\nquery: tides",
        'tool_result\n[{"title":"Tides"}]',
        "tool_call mcp__docs__find",
    ]
    assert session.index.calls[3] == 2


def test_calls_that_stand_only_in_notices_are_kept(tmp_path: Path) -> None:
    known = call("call_1", "exec_command", cmd="make")
    command = {"command": ["bash", "-lc", "make"], "exit_code": 2, "aggregated_output": "boom"}
    session = load(
        tmp_path,
        meta(),
        known,
        notice("exec_command_end", call_id="call_1", **command),
        done("CommandExecution", id="exec-2", **command),
        notice("exec_command_end", call_id="exec-2", **command),
        notice(
            "mcp_tool_call_end",
            call_id="m",
            invocation={"server": "docs", "tool": "find", "arguments": {"q": "x"}},
            result={"Err": "no such page"},
        ),
        notice(
            "patch_apply_end",
            call_id="p",
            success=True,
            stdout="Success",
            changes={"/repo/a.py": {"type": "update", "unified_diff": "-a\n+b"}},
        ),
    )
    texts = [session.text(number) for number in range(len(session.index))]
    assert texts == [
        "tool_call exec_command\ncmd: make",
        "tool_result (error)\nboom",
        'tool_call exec_command\ncommand: ["bash","-lc","make"]',
        "tool_result (error)\nboom",
        "tool_call mcp__docs__find\nq: x",
        "tool_result (error)\nno such page",
        "tool_call apply_patch\nupdate /repo/a.py\n-a\n+b",
        "tool_result\nSuccess",
    ]
    # The result that only a notice holds goes with the call that an item holds.
    assert session.index.calls[1] == 0


def test_what_ends_a_turn_is_told(tmp_path: Path) -> None:
    assert told(
        tmp_path,
        said("user", "go"),
        notice("turn_aborted", reason="interrupted"),
        notice("error", message="stream closed"),
        notice("task_complete", last_agent_message=None, error={"message": "stream closed"}),
        record("compacted", {"message": "so far: x", "replacement_history": [{"role": "user"}]}),
    ) == [
        ("user_message", "go"),
        ("system", "turn aborted: interrupted"),
        ("error", "stream closed"),
        ("system", "the conversation was compacted\nso far: x"),
    ]


def test_what_is_encrypted_is_counted_and_not_shown(tmp_path: Path) -> None:
    secret = "gAAAAAB" * 9000
    session = load(
        tmp_path,
        meta(),
        said("user", "go"),
        reasoning(encrypted_content=secret, content=None),
        item(
            "agent_message",
            author="/root",
            recipient="/root/a",
            content=[{"type": "encrypted_content", "encrypted_content": secret}],
        ),
    )
    assert events(session) == [
        ("user_message", "go"),
        ("system", "message from /root to /root/a\n[encrypted]"),
    ]
    assert notes(session)["encrypted reasoning records, no events"] == 1
    assert not warnings(session)


def test_an_unknown_record_that_says_something_is_a_warning(tmp_path: Path) -> None:
    session = load(
        tmp_path,
        meta(),
        said("user", "go"),
        notice("brand_new", message="something happened"),
        notice("other_new", count=3),
        notice("background_event", message="connected"),
        done("BrandNew", text="something was done"),
        record("new_envelope", {"x": 1}),
    )
    assert len(session.index) == 1
    assert warnings(session) == [
        "event_msg brand_new records, no events",
        "event_msg item_completed BrandNew records, no events",
    ]
    assert session.skipped_lines == 0


def test_an_old_rollout_without_envelopes(tmp_path: Path) -> None:
    session = load(
        tmp_path,
        {"id": "old-1", "timestamp": "2025-08-08T10:39:10.241Z", "instructions": None, "git": {}},
        {"record_type": "state"},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]},
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x"},
        {"type": "function_call", "name": "shell", "arguments": "{}", "call_id": "c"},
        {"type": "function_call_output", "call_id": "c", "output": "done"},
        {"record_type": "state"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "y"}]},
    )
    assert (session.format, session.id, session.title) == ("codex", "old-1", "hi")
    assert [kind for kind, _ in events(session)] == [
        "user_message",
        "tool_call",
        "tool_result",
        "assistant_message",
    ]
    assert not warnings(session)


def test_bare_items_alone_are_no_rollout(tmp_path: Path) -> None:
    path = tmp_path / "items.jsonl"
    path.write_bytes(jsonl([said("user", "x")["payload"], said("assistant", "y")["payload"]]))
    assert load_session(path).format != "codex"


def test_a_file_of_bookkeeping_is_no_session(tmp_path: Path) -> None:
    with pytest.raises(NotASessionError, match="only: session_meta records, no events"):
        load(tmp_path, meta(), notice("token_count", info=None))


def test_damage_costs_only_what_is_damaged(tmp_path: Path) -> None:
    glued = jsonl([said("assistant", "glued")]).strip()
    session = load(
        tmp_path,
        meta(),
        said("user", "one"),
        b'{"timestamp": "2026", "type": "response_it\n',
        b'{"timestamp": "2026", "type": "resp' + glued + b"\n",
        jsonl([said("user", "a")]).strip() + jsonl([said("user", "b")]),
        notice("user_message", message="b"),
        b"\x00\x00" + jsonl([said("assistant", "after")]),
        b'{"timestamp": "2026", "type": "response_item", "payl',
    )
    assert [body for _, body in events(session)] == ["one", "glued", "a", "b", "after"]
    assert session.skipped_lines == 3
    assert notes(session)["the last line has no end: the file is cut, or still being written"] == 1


def test_a_record_that_was_written_again_is_a_copy(tmp_path: Path) -> None:
    again = said("assistant", "ok", id="msg_7")
    other = {**said("assistant", "ok", id="msg_7"), "timestamp": "2026-08-03T11:00:00.000Z"}
    session = load(tmp_path, meta(), said("user", "go"), again, again, other)
    assert [body for _, body in events(session)] == ["go", "ok", "ok"]
    assert notes(session)["copies of earlier events, left out"] == 1


OLD_TURN = "019fc000-0000-7000-8000-000000000001"
PARENT = "019fc111-0000-7000-8000-00000000000a"
CHILD = "019fc222-0000-7000-8000-00000000000b"
NEW_TURN = "019fc222-0005-7000-8000-000000000002"


def history(turn_id: str, time: str = "2026-08-03T10:48:56.001Z") -> list[dict[str, object]]:
    return [
        turn(turn_id, time),
        item("message", time, role="user", content="asked before"),
        item("message", time, role="assistant", content="answered before"),
        notice("task_complete", time, turn_id=turn_id, last_agent_message="answered before"),
    ]


@pytest.mark.parametrize(
    ("head", "copied", "own"),
    [
        pytest.param(
            [meta(CHILD, forked_from_id=PARENT), meta(PARENT)],
            history(OLD_TURN),
            [turn(NEW_TURN)],
            id="ids that tell the time",
        ),
        pytest.param(
            [meta(CHILD, parent_thread_id=PARENT)],
            history(OLD_TURN),
            [turn(NEW_TURN)],
            id="no second head",
        ),
        pytest.param(
            [meta("child", forked_from_id="parent"), meta("parent")],
            [turn("t1", started_at=1_600_000_000), *history("t1")[1:]],
            [turn("t2", started_at=1_785_754_137)],
            id="turns that tell when they began",
        ),
        pytest.param(
            [meta("child", forked_from_id="parent"), meta("parent")],
            [*history("t1"), *history("t2")],
            [turn("t3", "2026-08-03T10:49:56.000Z")],
            id="a pause of the writer",
        ),
        pytest.param(
            [meta("child", source={"subagent": {"thread_spawn": {}}}), meta("parent")],
            [*history("t1"), *history("t2")],
            [turn("t3")],
            id="a subagent begins at once",
        ),
    ],
)
def test_the_history_of_another_session_is_left_out(
    tmp_path: Path,
    head: list[dict[str, object]],
    copied: list[dict[str, object]],
    own: list[dict[str, object]],
) -> None:
    later = "2026-08-03T10:50:00.000Z"
    mine = item("message", later, role="user", content="asked now")
    session = load(tmp_path, *head, *copied, *own, mine, said("assistant", "answered now"))
    assert [body for _, body in events(session)] == ["asked now", "answered now"]
    assert session.id == head[0]["payload"]["id"]
    assert session.title == "asked now"
    assert notes(session)[INHERITED] >= 2


def test_a_fork_that_did_nothing_yet_is_refused_with_the_reason(tmp_path: Path) -> None:
    head = [meta(CHILD, forked_from_id=PARENT), meta(PARENT)]
    with pytest.raises(NotASessionError, match=r"events copied from the session .* \(3\)"):
        load(tmp_path, *head, *history(OLD_TURN))


def test_a_session_that_was_resumed_keeps_everything(tmp_path: Path) -> None:
    session = load(
        tmp_path,
        meta("one"),
        turn("t1"),
        said("user", "first"),
        meta("two"),
        said("user", "second"),
        meta("one"),
        said("user", "third"),
    )
    assert session.id == "one"
    assert [body for _, body in events(session)] == ["first", "second", "third"]


def test_a_fork_without_inherited_lines_keeps_everything(tmp_path: Path) -> None:
    session = load(
        tmp_path,
        meta(CHILD, parent_thread_id=PARENT),
        turn(NEW_TURN),
        said("user", "all of it"),
    )
    assert [body for _, body in events(session)] == ["all of it"]


def spawning(*linking: dict[str, object]) -> list[dict[str, object]]:
    return [
        meta(PARENT),
        said("user", "go"),
        call("call_x", "spawn_agent", message="count the files"),
        call("call_y", "spawn_agent", message="read the docs"),
        *linking,
        said("assistant", "all done"),
    ]


def child_file(folder: Path, *records: object) -> Path:
    head = meta(CHILD, parent_thread_id=PARENT, source={"subagent": {"thread_spawn": {}}})
    path = folder / f"rollout-2026-08-03T10-50-00-{CHILD}.jsonl"
    path.write_bytes(jsonl([head, *(records or [said("user", "read the docs")])]))
    return path


NAME = f"rollout-2026-08-03T10-48-00-{PARENT}.jsonl"


@pytest.mark.parametrize(
    "linking",
    [
        [notice("collab_agent_spawn_end", call_id="call_y", new_thread_id=CHILD)],
        [notice("sub_agent_activity", event_id="call_y", kind="started", agent_thread_id=CHILD)],
        [done("CollabAgentToolCall", id="call_y", receiver_thread_ids=[CHILD])],
        [output("call_y", json.dumps({"agent_id": CHILD}))],
        [],
    ],
    ids=["notice", "activity", "completed item", "result", "prompt"],
)
def test_a_subagent_beside_its_session_is_a_thread_of_it(
    tmp_path: Path, linking: list[dict[str, object]]
) -> None:
    child_file(tmp_path, turn(NEW_TURN), said("user", "read the docs"), said("assistant", "read"))
    session = load(tmp_path, *spawning(*linking), name=NAME)
    main, child = session.index.threads
    assert (main.name, child.name) == ("main", f"agent-{CHILD}")
    assert [session.event(n).body for n in range(child.first, child.end)] == [
        "read the docs",
        "read",
    ]
    assert child.call is not None
    assert session.event(child.call).body == "message: read the docs"
    assert session.title == "go"


def test_a_subagents_subagent_is_found_too(tmp_path: Path) -> None:
    child_file(tmp_path, said("user", "x"), call("call_z", "spawn_agent", message="deeper"))
    grandchild = tmp_path / "rollout-2026-08-03T10-51-00-g.jsonl"
    grandchild.write_bytes(jsonl([meta("g", parent_thread_id=CHILD), said("user", "deeper")]))
    session = load(tmp_path, *spawning(), name=NAME)
    assert [thread.name for thread in session.index.threads] == [
        "main",
        f"agent-{CHILD}",
        "agent-g",
    ]
    assert session.event(session.index.threads[2].call or 0).body == "message: deeper"


def test_a_copied_history_of_a_subagent_is_left_out_of_its_thread(tmp_path: Path) -> None:
    child_file(tmp_path, meta(PARENT), *history(OLD_TURN), turn(NEW_TURN), said("user", "own"))
    session = load(tmp_path, *spawning(), name=NAME)
    child = session.index.threads[1]
    assert [session.event(n).body for n in range(child.first, child.end)] == ["own"]
    assert notes(session)[INHERITED] == 3


def test_other_files_of_the_day_are_no_threads(tmp_path: Path) -> None:
    (tmp_path / "rollout-other.jsonl").write_bytes(jsonl([meta("other"), said("user", "x")]))
    (tmp_path / "broken.jsonl").write_bytes(b"\x00\xff{")
    (tmp_path / "empty.jsonl").write_bytes(b"")
    (tmp_path / "folder.jsonl").mkdir()
    session = load(tmp_path, *spawning(), name=NAME)
    assert len(session.index.threads) == 1


def test_a_folder_lists_a_subagent_with_its_session_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    day = tmp_path / "sessions/2026/08/03"
    day.mkdir(parents=True)
    child = child_file(day)
    assert [file.path for file in find_sessions([tmp_path])] == [child]
    load(day, *spawning(), name=NAME).close()
    monkeypatch.setenv("CODEX_HOME", str(tmp_path))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "none"))
    assert [file.path.name for file in find_sessions([tmp_path])] == [NAME]
    assert [file.path.name for file in discover_sessions()] == [NAME]
    assert [file.path for file in find_sessions([child])] == [child]


@pytest.mark.parametrize(
    "starters",
    [{"a1": "a1"}, {"a1": "b2", "b2": "a1"}, {"a1": "b2", "b2": None}],
    ids=["itself", "each other", "an empty file"],
)
def test_a_file_that_no_session_holds_is_a_session(
    starters: dict[str, str | None], tmp_path: Path
) -> None:
    for id, starter in starters.items():
        records = [meta(id, parent_thread_id=starter), said("user", "go")] if starter else []
        (tmp_path / f"rollout-2026-08-03T10-00-00-{id}.jsonl").write_bytes(jsonl(records))
    assert len(find_sessions([tmp_path])) == len(starters)


def test_a_subagents_own_file_is_a_session(tmp_path: Path) -> None:
    session = load_session(child_file(tmp_path))
    assert (session.id, session.title) == (CHILD, "read the docs")


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "text", "content", "output", "message", "id", "x"]),
            inner,
            max_size=3,
        )
    ),
    max_leaves=6,
)
SAMPLES = [
    meta("s", parent_thread_id="p", source={"subagent": {}}),
    turn(NEW_TURN, started_at=1),
    said("user", "<environment_context>e</environment_context> hi", "there"),
    said("assistant", "answer"),
    reasoning("a", "b", content=[{"type": "reasoning_text", "text": "c"}]),
    call("c", "spawn_agent", message="m"),
    output("c", {"content": "x", "success": False}),
    item("custom_tool_call", name="apply_patch", input="p", call_id="d"),
    item("local_shell_call", call_id="e", action={"type": "exec", "command": ["ls"]}),
    item("web_search_call", id="w", action={"type": "search", "query": "q"}),
    item("image_generation_call", id="g", result="aGk=", revised_prompt="p"),
    item("mcp_call", server_label="s", name="n", arguments="{}", output="o"),
    item("tool_search_output", call_id="t", tools=[{"name": "n"}]),
    item("agent_message", author="a", recipient="b", content=[{"type": "input_text", "text": "t"}]),
    notice("user_message", message="hi", images=["data:image/png;base64,aGk="]),
    notice("agent_message", message="answer"),
    notice("agent_reasoning", text="a"),
    notice("exec_command_end", call_id="c", command=["ls"], stdout="o", exit_code=1),
    notice("mcp_tool_call_end", call_id="m", invocation={"server": "s"}, result={"Ok": {}}),
    notice("patch_apply_end", call_id="p", changes={"a": {"type": "add", "content": "c"}}),
    notice("web_search_end", call_id="w", query="q", results=[1]),
    notice("collab_agent_spawn_end", call_id="c", new_thread_id="n", prompt="p", status="s"),
    notice("guardian_assessment", status="denied", action={"type": "command"}),
    notice("exited_review_mode", review_output={"findings": []}),
    notice("dynamic_tool_call_request", callId="y", tool="t", arguments={}),
    notice("dynamic_tool_call_response", call_id="y", content_items=[], success=False),
    notice("task_complete", last_agent_message="answer", error={"message": "e"}),
    done("UserMessage", content=[{"type": "text", "text": "hi"}]),
    done("Reasoning", summary_text=["a"], raw_content=[]),
    done("CommandExecution", id="c", command="ls", aggregated_output="o", exit_code=0),
    done("Extension", kind="k", id="x", results=[]),
    done("CollabAgentToolCall", id="c", receiver_thread_ids=["n"], tool="spawnAgent"),
    record("compacted", {"message": "m"}),
    {"record_type": "state"},
    {"type": "message", "role": "user", "content": "bare"},
]


@settings(deadline=None, max_examples=150)
@given(st.data())
def test_drift_never_raises_and_every_text_reads_back(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    rng = random.Random(data.draw(st.integers(0, 2**32)))
    # Enough sound records that the file is known for what it is.
    records: list[object] = [meta(), said("user", "x"), *[notice("token_count")] * 48]
    for sample in data.draw(st.lists(st.sampled_from(SAMPLES), max_size=12)):
        changed = json.loads(json.dumps(sample))
        where = changed.get("payload", changed) if rng.random() < 0.8 else changed
        if isinstance(where.get("item"), dict) and rng.random() < 0.5:
            where = where["item"]
        if where and rng.random() < 0.7:
            where[rng.choice([*where, "new"])] = data.draw(VALUES)
        if where and rng.random() < 0.3:
            del where[rng.choice([*where])]
        keys = list(changed)
        rng.shuffle(keys)
        records.append({key: changed[key] for key in keys})
    session = load(tmp_path_factory.mktemp("drift"), *records)
    for number in range(len(session.index)):
        session.text(number)
    session.close()
