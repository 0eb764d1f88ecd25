"""What is no session is refused in one line: the file, what it is, what to do."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path

import pytest

from claude_code_records import load, record, user
from longjudge.errors import NotASessionError, SessionError
from longjudge.sessions import load_session


def lines(*items: object) -> bytes:
    return "\n".join(json.dumps(item) for item in items).encode()


def listed(**entries: object) -> bytes:
    return json.dumps(entries).encode()


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "empty"),
        (b" \n\r\n\x00\x00", "blanks"),
        (b"SQLite format 3\x00xxxx", "SQLite"),
        (b"\x89PNG\r\n\x1a\n\x00", "PNG"),
        (b"\xff\xd8\xff\xe0", "JPEG"),
        (b"GIF89a", "GIF"),
        (b"%PDF-1.7", "PDF"),
        (b"RIFF1234WEBP", "picture"),
        (b"\x00\x00\x00\x18ftypmp42", "film"),
        (b"PAR1\x15\x04", "Parquet.*export its rows as JSONL"),
        (b"x" * 257 + b"ustar\x00", "tar archive; unpack it and name the folder"),
        (b"7z\xbc\xaf\x27\x1c\x00", "7z archive; unpack it"),
        (b"\x7fELF\x02", "program"),
        (b"#!/bin/sh\necho", "script"),
        (bytes(range(1, 32)) * 40, "binary"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:1\n", "Git LFS pointer.*pull"),
        (b"<!DOCTYPE html><html>", "HTML.*name the JSON"),
        (b"\n <html>", "HTML"),
        (b"just some words\nand more\n", "no JSON object.*first line is: just some words; export"),
        (b"[16:29:14] Starting\n[16:29:15] x", "no JSON object"),
        (b"a,b\n1,2\n", "first line is: a,b"),
        (lines(*[[{"kind": "user_message", "text": "x"}]] * 2), "lists of events.*split -l 1"),
        (listed(messages=[]), "a conversation, which needs something to read in `messages`"),
        (b"\x89PNG\r\n", "PNG image, no session; name the JSON"),
        (b"[", "cut"),
        (b'{"kind": "user_message", "te', "cut"),
        (b"[]", "no JSON object"),
        (b"[1, 2]", "no JSON object"),
        (b'{"name": "x", "type": "module"}', "one JSON object .*keys: name, type"),
        (lines({"type": "summary", "summary": "s", "leafUuid": "1"}), "summary records"),
        (
            lines({"timestamp": 1, "type": "session_meta", "payload": {}}),
            "only: session_meta records, no events",
        ),
        (lines({"role": "user", "content": ""}), "only: messages without content"),
        (lines(record("progress")), "only: progress records"),
        (lines(*[user("x")] * 6, *[{"kind": "step"}] * 4), "mix.*60%.*claude-code"),
        (
            lines(*[{"display": "x", "timestamp": 1, "project": "y", "pastedContents": {}}] * 3),
            r"index of the prompts.*~/\.claude/projects",
        ),
        (lines(*[{"session_id": "a", "ts": 1, "text": "b"}] * 2), r"index.*~/\.codex/sessions"),
        (listed(agentType="x", description="y", toolUseId="z"), r"subagent.*\.jsonl file beside"),
        (listed(name="x", version="1", scripts={}, dependencies={}), "description of a package"),
        (listed(name="x", lockfileVersion=3, packages={}), "lock file"),
        (listed(permissions={"allow": []}, hooks={}, model="opus"), "settings"),
        (listed(mcpServers={"a": {}}), "settings"),
        (listed(version=2, dailyActivity=[], modelUsage={}, totalSessions=3), "statistics"),
        (
            lines({"version": 2, "width": 80, "height": 24}) + b'\n[0.1, "o", "$ "]\n',
            "recording of a terminal",
        ),
        (listed(action="opened", issue={}, repository={}, sender={}), "event of GitHub"),
        (
            lines(*[{"id": "1", "type": "PushEvent", "actor": {}, "repo": {}, "payload": {}}] * 2),
            "event of GitHub",
        ),
        (listed(cells=[], nbformat=4, metadata={}), "notebook"),
        (listed(**{"$schema": "x", "properties": {}}), "JSON schema"),
    ],
)
def test_a_refusal_says_what_was_seen(tmp_path: Path, data: bytes, words: str) -> None:
    path = tmp_path / "some\nfile.jsonl"
    path.write_bytes(data)
    with pytest.raises(NotASessionError, match=words) as refusal:
        load_session(path)
    message = str(refusal.value)
    assert message.startswith(f"{tmp_path}/some⏎file.jsonl: ")
    assert "\n" not in message


@pytest.mark.parametrize(
    ("data", "seen", "nearest", "missing"),
    [
        (lines({"a": 1, "b": 2}, {"a": 3}), "2 JSON objects", "generic event list", "`kind` and"),
        (listed(a=1), r"one JSON object .*\(keys: a\)", "generic event list", "`text`"),
        (listed(a=1, steps=[{"b": 1}]), "one JSON object", "generic event list", "`kind`"),
        (listed(schema_version=1, agent={}), "one JSON object", "ATIF", "`steps`"),
        (
            lines(*[{"turn": 1, "message": {"role": "user", "content": "x"}}] * 60),
            "60 JSON objects",
            "generic event list",
            "`kind`",
        ),
        (listed(instances=[{"trace_id": "1", "span_id": "2"}], trace={}), "one", "Langfuse", "obs"),
        (listed(contents=[{"role": "user"}]), "keys: contents", "generic event list", "`kind`"),
    ],
)
def test_unknown_json_is_told_with_its_nearest_format_and_the_way_out(
    tmp_path: Path, data: bytes, seen: str, nearest: str, missing: str
) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(data)
    with pytest.raises(NotASessionError, match=seen) as refusal:
        load_session(path)
    message = str(refusal.value)
    assert re.search(f"nearest format is an?? ?(the )?{nearest}|{nearest}", message), message
    assert re.search(missing, message), message
    assert '{"kind": "user_message", "text": "..."}' in message
    assert "\n" not in message


def test_hostile_keys_are_shown_cleaned_and_cut(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(json.dumps({"\x1b[31m\n": 1, **{f"k{n}" * 90: n for n in range(40)}}).encode())
    with pytest.raises(NotASessionError, match="one JSON object") as refusal:
        load_session(path)
    assert str(refusal.value).isprintable()
    assert len(str(refusal.value)) < 700


def test_the_name_of_a_file_decides_nothing(tmp_path: Path) -> None:
    session = load(tmp_path, user("hi"), name="picture.png")
    assert session.format == "claude-code"


def test_folders_pipes_and_devices_are_refused_without_waiting(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(NotASessionError, match="folder"):
        load_session(tmp_path)
    for path in (pipe, type(pipe)("/dev/zero")):
        with pytest.raises(NotASessionError, match="pipe, socket or device"):
            load_session(path)


def test_unreadable_files_are_named_with_the_systems_words(tmp_path: Path) -> None:
    with pytest.raises(SessionError, match=r"gone\.jsonl: cannot be read: No such file"):
        load_session(tmp_path / "gone.jsonl")
    with pytest.raises(SessionError, match="no file name"):
        load_session(tmp_path / "a\x00b")


@pytest.mark.skipif(sys.platform != "linux", reason="needs a limit on a process's memory")
def test_a_file_that_the_memory_cannot_hold_is_an_error_in_one_line(tmp_path: Path) -> None:
    import resource

    path = tmp_path / "huge.jsonl"
    path.write_bytes(b'{"kind": "user_message", "text": "')
    os.truncate(path, 100 << 20)
    in_use = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (in_use + (64 << 20), hard))
    try:
        with pytest.raises(SessionError, match=r"huge\.jsonl: too large for the memory"):
            load_session(path)
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def test_no_descriptor_stays_open_after_a_refusal(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"words")
    before = set(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else set()
    for _ in range(20):
        with pytest.raises(NotASessionError):
            load_session(path)
    after = set(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else set()
    assert len(after) <= len(before) + 1
