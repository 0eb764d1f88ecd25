"""What is no session is refused in one line: the file, what it is, what to do."""

from __future__ import annotations

import gzip
import json
import os
import sys
from pathlib import Path

import pytest

from claude_code_records import load, record, user
from longjudge.errors import NotASessionError, SessionError
from longjudge.sessions import load_session


def lines(*items: object) -> bytes:
    return "\n".join(json.dumps(item) for item in items).encode()


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "empty"),
        (b" \n\r\n\x00\x00", "blanks"),
        (gzip.compress(b"{}", mtime=0), "gzip.*unpack"),
        (b"\x28\xb5\x2f\xfdxxxx", "zstd.*unpack"),
        (b"PK\x03\x04xxxx", "zip archive.*unpack"),
        (b"SQLite format 3\x00xxxx", "SQLite"),
        ("{}".encode("utf-16"), "UTF-16.*convert"),
        ('{"a":1}'.encode("utf-16-le"), "UTF-16.*convert"),
        (b"\x89PNG\r\n\x1a\n\x00", "PNG"),
        (bytes(range(1, 32)) * 40, "binary"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:1\n", "Git LFS pointer"),
        (b"<!DOCTYPE html><html>", "HTML"),
        (b"\n <html>", "HTML"),
        (b"just some words\nand more\n", "no JSON object"),
        (b"[", "cut"),
        (b'{"name": "x", "type": "module"}', "keys of the first: name, type"),
        (b"[]", "no JSON object"),
        (b"[1, 2]", "no JSON object"),
        (lines({"type": "summary", "summary": "s", "leafUuid": "1"}), "summary records"),
        (
            lines({"timestamp": 1, "type": "session_meta", "payload": {}}),
            "only: session_meta records, no events",
        ),
        (lines({"sessionId": "1", "projectHash": "2", "messages": []}), "Gemini CLI"),
        (
            json.dumps({"schema_version": "ATIF-v1.4", "steps": [{"source": "user"}]}).encode(),
            "ATIF",
        ),
        (lines({"contents": [{"role": "user"}]}), "reads .*lists of OpenAI and Anthropic messages"),
        (lines({"role": "user", "content": ""}), "only: messages without content"),
        (lines(record("progress")), "only: progress records"),
        (
            lines({"display": "x", "project": "y"}, {"display": "z", "project": "y"}),
            "2 JSON objects",
        ),
        (lines(*[user("x")] * 6, *[{"kind": "step"}] * 4), "mix.*60%.*claude-code"),
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

    path = tmp_path / "huge.json"
    path.write_bytes(b"[\n")
    os.truncate(path, 1 << 30)
    in_use = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (in_use + (64 << 20), hard))
    try:
        with pytest.raises(SessionError, match=r"huge\.json: too large for the memory"):
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
