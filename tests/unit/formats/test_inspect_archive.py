"""Inspect logs as files: archives of every packing, unfinished ones, chunks, and documents."""

from __future__ import annotations

import json
import struct
import zipfile
import zlib
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest
import zstandard

from longjudge.errors import NotASessionError, SessionError
from longjudge.sessions import load_sessions, zip_members
from longjudge.sessions.formats import inspect_archive, inspect_large
from longjudge.sessions.formats.inspect_archive import (
    CUT_SAMPLE,
    IN_PARTS,
    NO_DIRECTORY,
    UNFINISHED,
    UNKNOWN,
)
from longjudge.sessions.formats.inspect_log import BROKE_OFF, LOST, RUNNING

if TYPE_CHECKING:
    from pathlib import Path

    from longjudge.sessions import Session

HEADER = {"version": 2, "status": "success", "eval": {"task": "t"}}


def sample(id_: int, said: str = "Hi.") -> dict[str, object]:
    message = {"id": f"m{id_}", "role": "user", "content": said}
    return {"id": id_, "epoch": 1, "input": said, "messages": [message]}


def members(*ids: int) -> dict[str, object]:
    named = {f"samples/{id_}_epoch_1.json": sample(id_) for id_ in ids}
    return {"_journal/start.json": HEADER, **named, "header.json": HEADER}


def write(path: Path, content: dict[str, object], method: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, value in content.items():
            # As Inspect writes them: on many lines.
            archive.writestr(name, json.dumps(value, indent=2))
    return path


def by_zstandard(content: dict[str, object]) -> bytes:
    """An archive without its directory, as a run that was killed leaves it."""
    found = b""
    for name, value in content.items():
        text = json.dumps(value).encode()
        half = len(text) // 2
        data = zstandard.compress(text[:half]) + zstandard.compress(text[half:])
        fields = (20, 0, 93, 0, 0, zlib.crc32(text), len(data), len(text), len(name), 0)
        found += struct.pack("<4sHHHHHLLLHH", b"PK\x03\x04", *fields) + name.encode() + data
    return found


def loaded(path: Path) -> list[Session]:
    sessions = load_sessions(path)
    for session in sessions:
        session.close()
    return sessions


def reasons(sessions: list[Session]) -> list[str]:
    return [note.reason for note in sessions[0].diagnostics]


def test_every_sample_of_an_archive_is_a_session_in_order(tmp_path: Path) -> None:
    path = write(tmp_path / "a.eval", members(10, 2, 1))
    sessions = load_sessions(path)
    assert [each.id for each in sessions] == ["1_epoch_1", "2_epoch_1", "10_epoch_1"]
    assert [each.format for each in sessions] == ["inspect"] * 3
    assert sessions[0].text(0) == "user_message\nHi."
    assert json.loads(sessions[2].raw(0))["id"] == 10
    assert not reasons(sessions)
    for each in sessions:
        each.close()


def test_a_log_that_was_killed_is_read_by_its_headers(tmp_path: Path) -> None:
    content = members(1, 2)
    del content["header.json"]
    path = tmp_path / "a.eval"
    path.write_bytes(by_zstandard(content))
    sessions = loaded(path)
    assert [each.id for each in sessions] == ["1_epoch_1", "2_epoch_1"]
    assert reasons(sessions) == [NO_DIRECTORY, UNFINISHED]


def test_a_log_cut_inside_a_sample_keeps_what_it_asked_and_says_so(tmp_path: Path) -> None:
    path = tmp_path / "a.eval"
    path.write_bytes(by_zstandard(members(1, 2)).partition(b"header.json")[0][:-60])
    sessions = loaded(path)
    assert [each.id for each in sessions] == ["1_epoch_1", "2_epoch_1"]
    assert CUT_SAMPLE in reasons(sessions)


def test_a_running_log_says_that_it_is_unfinished(tmp_path: Path) -> None:
    content = members(1)
    del content["header.json"]
    assert reasons(loaded(write(tmp_path / "a.eval", content))) == [UNFINISHED]


def test_chunked_samples_stand_beside_whole_ones(tmp_path: Path) -> None:
    shell = {"id": "a/b", "epoch": 1, "input": "attachment://0", "message_refs": [[0, 2]]}
    prefix = "samples/a/b_epoch_1"
    content = {
        **members(1),
        f"{prefix}/sample.json": shell,
        f"{prefix}/skeleton.json": {},
        f"{prefix}/messages/0.json": [{"id": "x", "role": "user", "content": "attachment://0"}],
        f"{prefix}/messages/1.json": [{"id": "y", "role": "assistant", "content": "Yes."}],
        f"{prefix}/attachments/0.json": ["A long question."],
        f"{prefix}/events/stats.json": [],
    }
    sessions = load_sessions(write(tmp_path / "a.eval", content))
    assert [each.id for each in sessions] == ["1_epoch_1", "a/b_epoch_1"]
    assert sessions[1].text(0) == "user_message\nA long question."
    assert sessions[1].text(1) == "assistant_message\nYes."
    for each in sessions:
        each.close()


def large() -> dict[str, object]:
    """A sample with all that one may hold."""
    pool = [
        {"id": "s1", "role": "user", "content": "Research."},
        {"id": "s2", "role": "assistant", "content": "attachment://ab"},
    ]
    said = {"id": "m2", "role": "assistant", "content": "attachment://cd"}
    span = {"event": "span_begin", "id": "sub", "type": "agent", "name": "helper"}
    output = {"choices": [{"message": {"id": "s3", "role": "assistant", "content": "All."}}]}
    asked = {"event": "model", "span_id": "sub", "input_refs": [[0, 2]], "output": output}
    return {
        "id": 1,
        "epoch": 1,
        "input": "Do it.",
        "messages": [{"id": "m1", "role": "user", "content": 'Do "it".\\'}, said],
        "store": {"x": ["y"]},
        "events": [span, asked],
        "attachments": {"ab": "One.", "cd": 'Two \u2028 ".'},
        "events_data": {"messages": pool, "calls": []},
        "scores": {"includes": {"value": "C"}},
    }


def told(path: Path) -> list[tuple[str, str, list[str]]]:
    sessions = load_sessions(path)
    found = [
        (each.id, each.title, [each.text(number) for number in range(len(each.index))])
        for each in sessions
    ]
    assert not reasons(sessions)
    for each in sessions:
        each.close()
    return found


@pytest.mark.parametrize("chunk_bytes", [1, 100, 1 << 20])
def test_a_large_sample_is_read_in_parts_and_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chunk_bytes: int
) -> None:
    content = {**members(), "samples/1_epoch_1.json": large()}
    path = write(tmp_path / "a.eval", content)
    whole = told(path)
    assert whole[0][2][1:] == [
        'assistant_message\nTwo \u2028 ".',
        "user_message\nResearch.",
        "assistant_message\nOne.",
        "assistant_message\nAll.",
    ]
    monkeypatch.setattr(inspect_archive, "_LARGE_SAMPLE", 0)
    monkeypatch.setattr(inspect_large, "_CHUNK_BYTES", chunk_bytes)
    assert told(path) == whole


def test_what_is_whole_in_a_cut_sample_is_read(tmp_path: Path) -> None:
    text = json.dumps(sample(1)).encode()
    data = zstandard.compress(text[:-2]) + zstandard.compress(b"}]}")[:-4]
    name = b"samples/1_epoch_1.json"
    fields = (20, 0, 93, 0, 0, 0, len(data), len(text), len(name), 0)
    path = tmp_path / "a.eval"
    path.write_bytes(struct.pack("<4sHHHHHLLLHH", b"PK\x03\x04", *fields) + name + data)
    sessions = loaded(path)
    assert len(sessions[0].index) == 1
    assert CUT_SAMPLE in reasons(sessions)


def test_a_log_without_samples_is_refused_with_its_status(tmp_path: Path) -> None:
    path = write(tmp_path / "a.eval", {"header.json": {**HEADER, "status": "error"}})
    with pytest.raises(NotASessionError, match=r"without samples .its status: error"):
        load_sessions(path)


def test_a_bomb_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zip_members, "_BOMB_BYTES", 1 << 20)
    path = tmp_path / "a.eval"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("_journal/start.json", "{}")
        archive.writestr("samples/1_epoch_1.json", b" " * (2 << 20))
    with pytest.raises(NotASessionError, match=r"decompression bomb: samples/1_epoch_1\.json"):
        load_sessions(path)


def test_a_document_holds_the_same_samples(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    log = {**HEADER, "plan": {}, "samples": [sample(1), sample(2)], "reductions": []}
    path.write_text(json.dumps(log, indent=2))
    assert [each.id for each in loaded(path)] == ["1_epoch_1", "2_epoch_1"]


def test_a_document_without_samples_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps({**HEADER, "status": "cancelled", "plan": {}}))
    with pytest.raises(NotASessionError, match="an Inspect log without samples"):
        load_sessions(path)


def parts(*starts: int) -> dict[str, object]:
    """A sample in chunks of two messages each, of six in all."""
    content: dict[str, object] = members()
    shell = {"id": "q", "epoch": 1, "input": "x", "message_refs": [[0, 6]]}
    for start in starts:
        content[f"samples/q_epoch_1/messages/{start}.json"] = [
            {"id": f"m{n}", "role": "user", "content": str(n)} for n in (start, start + 1)
        ]
    return {**content, "samples/q_epoch_1/sample.json": shell}


@pytest.mark.parametrize(
    ("starts", "lost"),
    [((0, 2, 4), 0), ((0, 4), 2), ((0, 2), 2), ((2, 4), 2), ((0,), 4)],
)
def test_chunks_that_are_missing_are_told(
    tmp_path: Path, starts: tuple[int, ...], lost: int
) -> None:
    (session,) = loaded(write(tmp_path / "a.eval", parts(*starts)))
    assert len(session.index) == 6 - lost
    assert [(note.reason, note.count) for note in session.diagnostics] == [(LOST, lost)][: lost > 0]


def test_samples_of_which_only_parts_are_there_are_told(tmp_path: Path) -> None:
    content = {**members(1), **parts(0, 2)}
    del content["samples/q_epoch_1/sample.json"]
    sessions = loaded(write(tmp_path / "a.eval", {**content, "samples/other.json": {}}))
    assert [each.id for each in sessions] == ["1_epoch_1"]
    assert sorted(reasons(sessions)) == sorted([IN_PARTS, UNKNOWN])


def test_an_empty_sample_is_told(tmp_path: Path) -> None:
    path = write(tmp_path / "a.eval", members(1))
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("samples/2_epoch_1.json", b"")
    sessions = loaded(path)
    assert [each.id for each in sessions] == ["1_epoch_1"]
    assert sessions[0].skipped_lines == 1
    assert CUT_SAMPLE in reasons(sessions)


def test_a_large_sample_that_does_not_fit_is_told_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inspect_archive, "_LARGE_SAMPLE", 0)
    full = SimpleNamespace(f_bavail=0, f_frsize=1)
    monkeypatch.setattr("longjudge.sessions.unnamed.os.fstatvfs", lambda _: full)
    with pytest.raises(SessionError, match=r"a\.eval: its samples do not fit into .*; make room"):
        load_sessions(write(tmp_path / "a.eval", members(1)))


def test_logs_in_an_archive_are_read(tmp_path: Path) -> None:
    logs = [write(tmp_path / f"{name}.eval", members(1, 2)).read_bytes() for name in "ab"]
    path = tmp_path / "both.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in zip("ab", logs, strict=True):
            archive.writestr(f"logs/{name}.eval", data)
    sessions = loaded(path)
    assert [each.id for each in sessions] == [
        *("1_epoch_1", "2_epoch_1", "1_epoch_1#2", "2_epoch_1#2"),
    ]


def test_a_folder_called_samples_is_no_log(tmp_path: Path) -> None:
    path = tmp_path / "mine.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("samples/a.jsonl", b'{"kind": "user_message", "text": "x"}\n')
    (session,) = loaded(path)
    assert session.format == "events"
    with zipfile.ZipFile(path, "a") as archive:
        archive.write(path, "samples/again.zip")
    assert [each.id for each in loaded(path)] == ["a", "again"]


@pytest.mark.parametrize(
    ("status", "said"), [("success", []), ("started", [RUNNING]), ("cancelled", [BROKE_OFF])]
)
def test_a_log_whose_run_did_not_end_says_so(tmp_path: Path, status: str, said: list[str]) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps({**HEADER, "status": status, "plan": {}, "samples": [sample(1)]}))
    assert reasons(loaded(path)) == said
    header = {**HEADER, "status": status}
    archive = write(tmp_path / "a.eval", {**members(1), "header.json": header})
    assert reasons(loaded(archive)) == said
