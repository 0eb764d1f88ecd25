"""Reading on in a file that has grown: the same session as if all of it were read again."""

from __future__ import annotations

import json
import os
import random

import pytest

from longjudge.chunks import plan_chunks
from longjudge.sessions import load_session, same_event

COLUMNS = ("kinds", "errors", "positions", "chars", "tokens", "tools", "calls")


def generic(number: int, rng: random.Random) -> str:
    call = {"kind": "tool_call", "tool": f"t{number % 300}", "input": {"n": number}}
    size = 70_000 if number % 50 == 49 else rng.randrange(400)
    answer = {"kind": "tool_result", "output": "x" * size, "call_id": f"c{number}"}
    lines = [json.dumps(call | {"call_id": f"c{number}"})]
    if number % 7:
        lines.append(json.dumps(answer))
    if number % 11 == 0:
        lines.append('{"nothing": 1}')
    return "".join(line + "\n" for line in lines)


def claude_code(number: int, rng: random.Random) -> str:
    shared = {"sessionId": "s", "isSidechain": False, "timestamp": f"2026-01-01T00:00:{number:02}Z"}
    call = {"type": "tool_use", "id": f"toolu_{number}", "name": "Bash", "input": {"n": number}}
    answer = {"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": "x" * number}
    said = {"id": f"msg_{number}", "role": "assistant", "content": [call]}
    asked = {"role": "user", "content": [answer]}
    records = [
        {"type": "assistant", "uuid": f"u{number}a", "message": said, **shared},
        {"type": "user", "uuid": f"u{number}b", "message": asked, **shared},
    ]
    # A record that is written again, as resumed sessions have them, is left out in any case.
    if number % 5 == 4:
        records.append(records[0])
    return "".join(json.dumps(each) + "\n" for each in records)


def assert_same(session, path) -> None:
    fresh = load_session(path)
    for name in COLUMNS:
        assert list(getattr(session.index, name)) == list(getattr(fresh.index, name)), name
    for name in ("records", "prefix", "token_prefix", "parting"):
        assert list(getattr(session.index, name)) == list(getattr(fresh.index, name)), name
    assert session.index.digests == fresh.index.digests
    assert session.index.threads == fresh.index.threads
    assert session.index.tool_names == fresh.index.tool_names
    assert session.index.total_tokens == fresh.index.total_tokens
    for name in ("title", "id", "bytes", "started", "ended", "skipped_lines", "diagnostics"):
        assert getattr(session, name) == getattr(fresh, name), name
    assert [session.text(n) for n in range(len(session.index))] == [
        fresh.text(n) for n in range(len(fresh.index))
    ]
    fresh.close()


def read_on(session):
    grown = session.growth.read(session)
    session.growth.take(grown, session)
    return len(grown.events)


@pytest.mark.parametrize("write", [generic, claude_code])
@pytest.mark.parametrize("planned", [False, True])
def test_reading_on_gives_the_session_that_reading_anew_gives(tmp_path, write, planned):
    path, rng = tmp_path / "live.jsonl", random.Random(7)
    path.write_text("".join(write(n, rng) for n in range(20)))
    session = load_session(path)
    if planned:
        assert session.index.parting
        assert session.index.token_prefix
    before = [session.text(n) for n in range(len(session.index))]
    plan = list(plan_chunks(session.index, 2_000))
    digests = list(plan_chunks(session.index, 2_000).digests())
    for first in (20, 30, 55):
        with path.open("a") as file:
            file.writelines(write(n, rng) for n in range(first, first + 5))
        assert read_on(session)
    assert_same(session, path)
    assert [session.text(n) for n in range(len(before))] == before
    # What was cut before is cut so still, but for the last chunk.
    after = plan_chunks(session.index, 2_000)
    assert list(after)[: len(plan) - 1] == plan[:-1]
    assert list(after.digests())[: len(plan) - 1] == digests[:-1]


def test_a_line_without_end_is_left_for_later(tmp_path):
    path, rng = tmp_path / "live.jsonl", random.Random(7)
    path.write_text("".join(generic(n, rng) for n in range(5)))
    session = load_session(path)
    more = generic(5, rng)
    with path.open("a") as file:
        file.write(more[:-20])
        file.flush()
        first = read_on(session)
        file.write(more[-20:])
    assert first + read_on(session) == 2
    assert_same(session, path)


def test_a_long_new_line_is_read(tmp_path):
    path, rng = tmp_path / "live.jsonl", random.Random(7)
    path.write_text("".join(generic(n, rng) for n in range(5)))
    session = load_session(path)
    with path.open("a") as file:
        file.write(json.dumps({"kind": "user", "text": "y" * 3_000_000}) + "\n")
        file.write(generic(5, rng))
    assert read_on(session) == 3
    assert_same(session, path)


def replaced(path):
    new = path.with_suffix(".new")
    new.write_bytes(path.read_bytes() * 2)
    os.replace(new, path)


def shortened(path):
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:3]))


def rewritten(path):
    path.write_text(path.read_text().replace("t0", "t9") * 2)


def another_thread(path):
    with path.open("a") as file:
        for agent in ("a", "b"):
            file.write(json.dumps({"kind": "tool_call", "tool": "t", "agent": agent}) + "\n")


def a_torn_record(path):
    with path.open("a") as file:
        file.write('{"kind": "user", "text": "one\ntwo"}\n')


@pytest.mark.parametrize("change", [replaced, shortened, rewritten, another_thread, a_torn_record])
def test_what_does_not_stand_behind_what_was_read_is_read_anew(tmp_path, change):
    path, rng = tmp_path / "live.jsonl", random.Random(7)
    path.write_text("".join(generic(n, rng) for n in range(5)))
    session = load_session(path)
    change(path)
    assert session.growth is not None
    assert session.growth.read(session) is None
    # Nor later: records may have been read that stand nowhere.
    assert session.growth.read(session) is None


def test_an_answer_whose_beginning_was_an_event_already_is_read_anew(tmp_path):
    def said(words):
        shared = {"sessionId": "s", "isSidechain": False, "timestamp": "2026-01-01T00:00:00Z"}
        content = [{"type": "text", "text": words}]
        message = {"id": "msg_1", "role": "assistant", "content": content}
        record = {"type": "assistant", "uuid": f"u{len(words)}", "message": message, **shared}
        return json.dumps(record) + "\n"

    path = tmp_path / "live.jsonl"
    path.write_text(said("Let me"))
    session = load_session(path)
    with path.open("a") as file:
        file.write(said("Let me look."))
    assert session.growth is not None
    assert session.growth.read(session) is None
    fresh = load_session(path)
    assert [fresh.event(n).body for n in range(len(fresh.index))] == ["Let me look."]
    fresh.close()
    session.close()


def test_what_has_no_plain_end_is_not_read_on(tmp_path):
    rng = random.Random(7)
    unfinished, array = tmp_path / "cut.jsonl", tmp_path / "array.json"
    unfinished.write_text("".join(generic(n, rng) for n in range(5))[:-5])
    array.write_text(json.dumps([{"kind": "user", "text": "x"}] * 5))
    for path in (unfinished, array):
        assert load_session(path).growth is None


def subagent(folder, name: str, events: int) -> None:
    shared = {"sessionId": "s", "isSidechain": True, "agentId": name}
    said = {"role": "assistant", "content": [{"type": "text", "text": "done"}]}
    with (folder / f"agent-{name}.jsonl").open("a") as file:
        for _ in range(events):
            file.write(json.dumps({"type": "assistant", "message": said, **shared}) + "\n")


def test_more_in_the_files_of_subagents_is_noticed(tmp_path):
    path, rng = tmp_path / "live.jsonl", random.Random(7)
    path.write_text("".join(claude_code(n, rng) for n in range(3)))
    session = load_session(path)
    folder = tmp_path / "live" / "subagents"
    folder.mkdir(parents=True)
    assert session.beside.growth() == 0
    subagent(folder, "a", 1)
    one = (folder / "agent-a.jsonl").stat().st_size
    assert session.beside.growth() == one
    session.close()
    session = load_session(path)
    assert len(session.index.threads) == 2
    assert session.beside.growth() == 0
    # The subagent's event is the same one, though there are more records before its own.
    with path.open("a") as file:
        file.write(claude_code(3, rng))
    last, again = len(session.index) - 1, load_session(path)
    assert same_event(session, last, again) == len(again.index) - 1
    again.close()
    # One more line in a file that is there, and another file; one that is empty says nothing yet.
    subagent(folder, "a", 1)
    subagent(folder, "b", 1)
    subagent(folder, "c", 0)
    assert session.beside.growth() == 2 * one
    (folder / "agent-a.jsonl").unlink()
    assert session.beside.growth() == one
    session.close()
