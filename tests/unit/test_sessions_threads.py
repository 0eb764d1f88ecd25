"""Subagents are threads of the session that started them, wherever their records stand."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from claude_code_records import assistant, call, record, result, text, user
from longjudge.chunks import plan_chunks
from longjudge.errors import SessionError
from longjudge.sessions import Severity, find_sessions, load_session
from longjudge.text import clean_line

if TYPE_CHECKING:
    from longjudge.sessions import Session


def write(path: Path, *records: dict) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(each) + "\n" for each in records))
    return path


def bodies(session: Session) -> dict[str, list[str]]:
    return {
        thread.name: [session.event(number).body for number in range(thread.first, thread.end)]
        for thread in session.index.threads
    }


def starters(session: Session) -> dict[str, str]:
    """By thread, the input of the call that started it."""
    return {
        thread.name: session.event(thread.call).body
        for thread in session.index.threads
        if thread.call is not None
    }


def side(agent: str | None, *records: dict) -> list[dict]:
    for each in records:
        each["isSidechain"] = True
        if agent:
            each["agentId"] = agent
    return list(records)


def started(call_id: str, agent: str) -> dict:
    return user([result("done", call_id)], toolUseResult={"agentId": agent, "status": "ok"})


MAIN = (
    user("go"),
    assistant(call("Task", "toolu_1", prompt="find it", description="find")),
    assistant(call("Task", "toolu_2", prompt="count it", description="count")),
    started("toolu_2", "b2"),
    started("toolu_1", "a1"),
    assistant(text("all done")),
)
FINDER = side("a1", user("find it"), assistant(text("found")))
COUNTER = side("b2", user("count it"), assistant(call("Bash", "toolu_9", command="wc")))
BODIES = {
    "main": [
        "go",
        "prompt: find it\ndescription: find",
        "prompt: count it\ndescription: count",
        "done",
        "done",
        "all done",
    ],
    "agent-a1": ["find it", "found"],
    "agent-b2": ["count it", "command: wc"],
}
STARTERS = {
    "agent-a1": "prompt: find it\ndescription: find",
    "agent-b2": "prompt: count it\ndescription: count",
}


def _inline(folder: Path) -> Path:
    # Interleaved, as agents that run at the same time write.
    mixed = [COUNTER[0], FINDER[0], COUNTER[1], FINDER[1]]
    return write(folder / "s.jsonl", *MAIN[:3], *mixed, *MAIN[3:])


def _in_the_sessions_folder(folder: Path) -> Path:
    write(folder / "s" / "subagents" / "agent-a1.jsonl", *FINDER)
    write(folder / "s" / "subagents" / "workflows" / "wf_1" / "agent-b2.jsonl", *COUNTER)
    (folder / "s" / "subagents" / "agent-a1.meta.json").write_text('{"agentType": "x"}')
    write(folder / "s" / "subagents" / "journal.jsonl", {"type": "started"})
    return write(folder / "s.jsonl", *MAIN)


def _beside_the_session(folder: Path) -> Path:
    write(folder / "agent-a1.jsonl", *FINDER)
    write(folder / "agent-b2.jsonl", *COUNTER)
    stranger = [{**each, "sessionId": "another"} for each in FINDER]
    write(folder / "agent-c3.jsonl", *stranger)
    return write(folder / "5e55.jsonl", *MAIN)


LAYOUTS = (_inline, _in_the_sessions_folder, _beside_the_session)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_subagents_records_are_a_thread_linked_to_its_call(layout, tmp_path: Path) -> None:
    session = load_session(layout(tmp_path))
    assert bodies(session) == BODIES
    assert list(bodies(session)) == ["main", "agent-a1", "agent-b2"]
    assert starters(session) == STARTERS
    assert session.index.tool_calls == 3
    assert (session.id, session.title) == ("5e55", "go")
    assert session.diagnostics == ()


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_texts_of_threads_are_the_same_wherever_they_stand(layout, tmp_path: Path) -> None:
    session, first = load_session(layout(tmp_path)), load_session(_inline(tmp_path / "first"))
    assert [session.index.digest(n) for n in range(10)] == [
        first.index.digest(n) for n in range(10)
    ]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_event_says_in_which_file_and_line_it_stands(layout, tmp_path: Path) -> None:
    session = load_session(layout(tmp_path))
    for number in range(len(session.index)):
        place, line = session.file(number), session.line(number)
        assert place is not None
        assert line is not None
        with open(place, "rb") as file:
            assert file.readlines()[line - 1].rstrip(b"\n") == session.raw(number)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_folder_lists_a_session_once_and_no_subagents_of_it(layout, tmp_path: Path) -> None:
    path = layout(tmp_path)
    strangers = {"agent-c3.jsonl"} & {each.name for each in tmp_path.iterdir()}
    found = {each.path.name for each in find_sessions([tmp_path])}
    assert found - {"journal.jsonl", "agent-a1.meta.json"} == {path.name, *strangers}


def test_a_named_folder_of_subagents_lists_them(tmp_path: Path) -> None:
    _in_the_sessions_folder(tmp_path)
    names = {each.path.name for each in find_sessions([tmp_path / "s" / "subagents"])}
    assert {"agent-a1.jsonl", "agent-b2.jsonl"} <= names


def test_the_sizes_of_all_files_are_the_sessions(tmp_path: Path) -> None:
    path = _beside_the_session(tmp_path)
    names = ("5e55", "agent-a1", "agent-b2")
    files = sum((tmp_path / f"{name}.jsonl").stat().st_size for name in names)
    assert load_session(path).bytes == files


def test_no_chunk_mixes_threads_and_every_event_is_in_one(tmp_path: Path) -> None:
    session = load_session(_inline(tmp_path))
    for size in (200, 1000, 30_000):
        plan = plan_chunks(session.index, size)
        held = [n for chunk in plan for n in range(chunk.first, chunk.last + 1)]
        assert held == list(range(10))
        for chunk in plan:
            names = {session.index.thread_of(n).name for n in range(chunk.first, chunk.last + 1)}
            assert names == {chunk.thread}


def _progress() -> list[dict]:
    data = {"type": "agent_progress", "agentId": "a1"}
    return [record("progress", parentToolUseID="toolu_1", data=data)]


def _notice() -> list[dict]:
    words = "<task-notification><task-id>a1</task-id>\n<tool-use-id>toolu_1</tool-use-id>"
    return [{"type": "queue-operation", "operation": "enqueue", "content": words}]


@pytest.mark.parametrize("say", [_progress, _notice])
@pytest.mark.parametrize("before", [True, False])
def test_progress_records_and_notices_link_an_agent(say, before: bool, tmp_path: Path) -> None:
    asked = assistant(call("Agent", "toolu_1", prompt="something else"))
    order = [*say(), asked] if before else [asked, *say()]
    session = load_session(write(tmp_path / "s.jsonl", user("go"), *order, *FINDER))
    assert starters(session) == {"agent-a1": "prompt: something else"}


def test_without_any_word_the_prompt_links(tmp_path: Path) -> None:
    asked = assistant(call("Task", "toolu_1", prompt="find it "))
    session = load_session(write(tmp_path / "s.jsonl", user("go"), asked, *FINDER))
    assert starters(session) == {"agent-a1": "prompt: find it "}


def test_a_subagent_that_nothing_links_is_still_read_last(tmp_path: Path) -> None:
    lost = side("zz", user("who am I"), assistant(text("nobody")))
    session = load_session(write(tmp_path / "s.jsonl", *lost, *MAIN, *FINDER))
    assert list(bodies(session)) == ["main", "agent-a1", "agent-zz"]
    assert "agent-zz" not in starters(session)


def test_a_subagent_of_a_subagent_follows_it(tmp_path: Path) -> None:
    write(
        tmp_path / "s" / "subagents" / "agent-p.jsonl",
        *side("p", user("outer"), assistant(call("Task", "toolu_5", prompt="inner"))),
        *side("p", user([result("ok", "toolu_5")], toolUseResult={"agentId": "a"})),
    )
    write(tmp_path / "s" / "subagents" / "agent-a.jsonl", *side("a", user("inner")))
    asked = assistant(call("Task", "toolu_1", prompt="outer"))
    session = load_session(write(tmp_path / "s.jsonl", user("go"), asked))
    assert list(bodies(session)) == ["main", "agent-p", "agent-a"]
    assert starters(session) == {"agent-p": "prompt: outer", "agent-a": "prompt: inner"}


def test_agents_that_start_each_other_are_read_once(tmp_path: Path) -> None:
    rings = []
    for me, other in (("x", "y"), ("y", "x")):
        rings += side(me, user(f"I am {me}"), assistant(call("Task", f"toolu_{me}", prompt=me)))
        rings += side(me, started(f"toolu_{me}", other))
    session = load_session(write(tmp_path / "s.jsonl", user("go"), *rings))
    assert sorted(bodies(session)) == ["agent-x", "agent-y", "main"]


def test_side_records_without_an_agent_follow_their_parents(tmp_path: Path) -> None:
    one, two = side(None, user("first side"), user("second side"))
    more = side(
        None,
        assistant(text("of two"), parentUuid=two["uuid"]),
        assistant(text("of one"), parentUuid=one["uuid"]),
    )
    session = load_session(write(tmp_path / "s.jsonl", user("go"), one, two, *more))
    assert bodies(session) == {
        "main": ["go"],
        "sidechain-1": ["first side", "of one"],
        "sidechain-2": ["second side", "of two"],
    }


def test_a_subagents_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    path = _in_the_sessions_folder(tmp_path)
    broken = tmp_path / "s" / "subagents" / "agent-e0.jsonl"
    broken.write_bytes(b"")
    half = write(tmp_path / "s" / "subagents" / "agent-f0.jsonl", *side("f0", user("half")))
    half.write_bytes(half.read_bytes() + b'{"type": "user", "mess\n{"cut')
    session = load_session(path)
    assert bodies(session)["agent-f0"] == ["half"]
    warnings = {n.reason: n.line for n in session.diagnostics if n.severity is Severity.WARNING}
    assert warnings == {
        "the subagent's file agent-e0.jsonl was left out: it is empty": None,
        "agent-f0.jsonl: no complete JSON record": 2,
    }
    assert session.skipped_lines == 2


def test_a_closed_session_holds_no_file(tmp_path: Path) -> None:
    before = _open_files()
    session = load_session(_beside_the_session(tmp_path))
    assert _open_files() - before or not OPEN_FILES.is_dir()
    session.close()
    session.close()
    assert not _open_files() - before


OPEN_FILES = Path("/proc/self/fd")


def _open_files() -> set[tuple[str, str]]:
    """Every open file of this process, unnamed ones too; what earlier tests left may close."""
    opened: set[tuple[str, str]] = set()
    for each in OPEN_FILES.iterdir() if OPEN_FILES.is_dir() else ():
        with contextlib.suppress(FileNotFoundError):
            opened.add((each.name, os.readlink(each)))
    # The look itself opens a folder for as long as it takes.
    return {(number, file) for number, file in opened if not file.endswith("/fd")}


def test_a_call_and_a_result_that_are_records_of_their_own_are_read(tmp_path: Path) -> None:
    asked = {"type": "tool_use", "sessionId": "5e55", "name": "bash", "input": {"command": "ls"}}
    answer = {"type": "tool_result", "sessionId": "5e55", "name": "bash", "output": "a.py"}
    session = load_session(write(tmp_path / "s.jsonl", user("go"), asked, answer))
    assert bodies(session)["main"] == ["go", "command: ls", "a.py"]
    assert session.index.tool_calls == 1


def _with_companions(folder: Path, count: int) -> Path:
    path = write(folder / "s.jsonl", *MAIN)
    for number in range(count):
        agent = f"x{number:04d}"
        said = side(agent, user("go"), assistant(text(f"done {number}")))
        write(folder / "s" / "subagents" / f"agent-{agent}.jsonl", *said)
    return path


def test_more_subagents_than_files_a_process_may_hold_are_all_read(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    path = _with_companions(tmp_path, 150)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    in_use = len(os.listdir("/dev/fd"))
    resource.setrlimit(resource.RLIMIT_NOFILE, (in_use + 60, hard))
    try:
        session = load_session(path)
        assert not [note for note in session.diagnostics if note.severity is Severity.WARNING]
        assert [told[-1] for name, told in bodies(session).items() if name != "main"] == [
            f"done {number}" for number in range(150)
        ]
        session.close()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_subagents_file_that_is_gone_or_changed_when_read_again_is_an_error(
    tmp_path: Path,
) -> None:
    path = _with_companions(tmp_path, 40)
    session = load_session(path)
    last = session.index.threads[-1]
    file = tmp_path / "s" / "subagents" / f"{last.name}.jsonl"
    whole = file.read_bytes()
    file.unlink()
    with pytest.raises(SessionError, match=r"cannot be read again: No such file"):
        session.text(last.first)
    file.write_bytes(whole.replace(b"done", b"gone"))
    with pytest.raises(SessionError, match="the file changed while it was open"):
        session.text(last.end - 1)
    assert session.event(last.first - 1).body == "done 38"
    session.close()


@pytest.mark.parametrize(
    "agent", ["\udcff", "\x1b[31m\n/../x", "a" * 5000], ids=["no-text", "controls", "long"]
)
def test_a_threads_name_can_be_shown_and_written_whatever_the_file_says(
    agent: str, tmp_path: Path
) -> None:
    records = [*MAIN, *side(agent, user("go")), *side(agent + "b", user("go on"))]
    path = tmp_path / "s.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in records))
    names = [thread.name for thread in load_session(path).index.threads]
    assert len(set(names)) == 3
    assert all(name == clean_line(name, 210) for name in names)
    assert "".join(names).encode().decode().isprintable()


@pytest.mark.skipif(sys.platform != "linux", reason="file names are text elsewhere")
def test_a_subagents_file_may_have_a_name_that_is_no_text(tmp_path: Path) -> None:
    path = write(tmp_path / "s.jsonl", *MAIN)
    name = os.fsdecode(b"agent-\xff.jsonl")
    write(tmp_path / "s" / "subagents" / name, *side("x", user("go")))
    threads = load_session(path).index.threads
    assert [thread.name.encode().decode() for thread in threads] == ["main", "agent-\ufffd"]
