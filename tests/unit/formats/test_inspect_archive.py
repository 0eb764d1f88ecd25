"""Inspect logs as files: archives of every packing, unfinished ones, chunks, and documents."""

from __future__ import annotations

import json
import struct
import zipfile
import zlib
from typing import TYPE_CHECKING

import pytest
import zstandard

from longjudge.errors import NotASessionError
from longjudge.sessions import load_sessions, zip_members
from longjudge.sessions.formats import inspect_archive, inspect_large
from longjudge.sessions.formats.inspect_archive import CUT_SAMPLE, NO_DIRECTORY, UNFINISHED

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
