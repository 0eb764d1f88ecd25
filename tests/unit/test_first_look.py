"""The first events of a long file, before all of it is read."""

from __future__ import annotations

import json
import os

import pytest

from longjudge.errors import UsageError
from longjudge.judges.offline import OfflineJudge
from longjudge.judgment import Judgment
from longjudge.rubric import load_rubric
from longjudge.sessions import first_events, first_look, load_session, same_event

CALL = {"kind": "tool_call", "tool": "Bash", "input": {"command": "ls"}}


@pytest.fixture(autouse=True)
def _every_file_is_long(monkeypatch):
    monkeypatch.setattr(first_look, "LONG_BYTES", 1)


def write(path, records):
    path.write_text("".join(json.dumps(each) + "\n" for each in records))
    return path


def test_the_first_events_are_those_that_the_whole_session_begins_with(tmp_path):
    records = [CALL | {"call_id": str(number), "n": number} for number in range(1_000)]
    path = write(tmp_path / "long.jsonl", records)
    partial, whole = first_events(path), load_session(path)
    assert partial is not None
    assert partial.partial
    assert not whole.partial
    assert len(partial.index) == first_look.LOOK_RECORDS
    for event in range(len(partial.index)):
        assert partial.text(event) == whole.text(event)
        assert partial.line(event) == whole.line(event)
        assert same_event(partial, event, whole) == event
    partial.close()


def test_an_event_of_a_subagent_is_found_behind_all_of_main(tmp_path):
    records = [CALL | {"agent": "a" if n % 3 else "b", "n": n} for n in range(900)]
    path = write(tmp_path / "agents.jsonl", records)
    partial, whole = first_events(path), load_session(path)
    assert partial is not None
    threads = {thread.name for thread in partial.index.threads}
    assert len(threads) == 2
    for event in range(len(partial.index)):
        there = same_event(partial, event, whole)
        assert whole.text(there) == partial.text(event)
        assert whole.line(there) == partial.line(event)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n\n\n",
        b"no JSON\n" * 50,
        b"[" + json.dumps(CALL).encode() + b"]\n",
        b'[\n{"kind":"user","text":"x"},\n{"kind":"user","text":"y"}\n]\n',
        b'{\n"messages": []\n}\n',
        b"\x1f\x8b\x08\x00 packed\n" * 10,
        b'{"a": 1}\n' * 100,
        b"\xff\xfe{\x00\n\x00" * 20,
        b'{"kind": "user", "text": "' + b"x" * first_look.LOOK_BYTES + b'"}\n' * 2,
    ],
    ids=lambda content: repr(content[:12]),
)
def test_what_does_not_begin_with_records_has_no_first_events(tmp_path, content):
    path = tmp_path / "odd"
    path.write_bytes(content)
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    assert first_events(path) is None
    if before:
        assert len(os.listdir("/proc/self/fd")) == before


def test_what_is_no_file_has_no_first_events(tmp_path):
    assert first_events(tmp_path) is None
    assert first_events(tmp_path / "nothing") is None


def test_a_short_file_is_read_whole_at_once(tmp_path, monkeypatch):
    monkeypatch.setattr(first_look, "LONG_BYTES", 8_000_000)
    assert first_events(write(tmp_path / "short.jsonl", [CALL] * 50)) is None


def test_only_the_session_that_is_meant_is_shown(tmp_path):
    records = [CALL | {"session_id": "s1"} for _ in range(400)]
    path = write(tmp_path / "one.jsonl", records)
    assert first_events(path, "s2") is None
    found = first_events(path, "s1")
    assert found is not None
    assert found.id == "s1"


def test_first_events_are_never_judged(tmp_path):
    partial = first_events(write(tmp_path / "long.jsonl", [CALL] * 400))
    assert partial is not None
    with pytest.raises(UsageError, match="only the first events"):
        Judgment(partial, rubric=load_rubric("chunks"), judge=OfflineJudge(), store=None)
