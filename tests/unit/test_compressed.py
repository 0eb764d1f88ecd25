"""Compressed and wide files load by their content; what is damaged gives what came out of it."""

from __future__ import annotations

import bz2
import errno
import gzip
import io
import json
import lzma
import os
import random
import zipfile
from typing import TYPE_CHECKING

import pytest
import zstandard

from longjudge.errors import (
    LoadCancelledError,
    NotASessionError,
    SessionError,
    SeveralSessionsError,
)
from longjudge.sessions import Severity, compressed, load_session, load_sessions

if TYPE_CHECKING:
    from pathlib import Path

    from longjudge.sessions import Session

_random = random.Random(1)
RECORDS = [
    {"kind": "assistant_message", "text": f"item {n} é💥 {_random.randbytes(9).hex()}"}
    for n in range(900)
]
PLAIN = b"".join(json.dumps(each, ensure_ascii=False).encode() + b"\n" for each in RECORDS)
HALF = PLAIN.index(b"\n", len(PLAIN) // 2) + 1
SKIPPED_FRAME = b"\x50\x2a\x4d\x18\x04\0\0\0abcd"


def zstd(data: bytes) -> bytes:
    return zstandard.ZstdCompressor().compress(data)


def skipped_up_to(end: int, half: int) -> bytes:
    """A frame without data that ends so many bytes behind the beginning of the file."""
    size = end - len(zstd(PLAIN[:half])) - 8
    return SKIPPED_FRAME[:4] + size.to_bytes(4, "little") + b"a" * size


def gz(data: bytes) -> bytes:
    return gzip.compress(data, mtime=0)


def zipped(**members: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return file.getvalue()


def load(folder: Path, data: bytes, name: str = "session.txt") -> Session:
    path = folder / name
    path.write_bytes(data)
    return load_session(path)


def reasons(session: Session) -> list[str]:
    return [note.reason for note in session.diagnostics]


@pytest.mark.parametrize(
    "data",
    [
        gz(PLAIN),
        gz(PLAIN[:HALF]) + gz(PLAIN[HALF:]),
        gz(PLAIN) + b"\0" * 1000,
        bz2.compress(PLAIN),
        bz2.compress(PLAIN[:HALF]) + bz2.compress(PLAIN[HALF:]),
        lzma.compress(PLAIN),
        lzma.compress(PLAIN[:HALF]) + lzma.compress(PLAIN[HALF:]),
        zstd(PLAIN),
        zstd(PLAIN[:HALF]) + SKIPPED_FRAME + zstd(PLAIN[HALF:]),
        gz(json.dumps(RECORDS, indent=1).encode()),
        gz(zstd(PLAIN)),
        zipped(a=PLAIN),
        zipped(a=zstd(PLAIN)),
        gz(PLAIN[:HALF]) + b"\0" * 200_000 + gz(PLAIN[HALF:]) + b"\0" * 200_000,
        SKIPPED_FRAME + zstd(PLAIN),
        zstd(PLAIN[:HALF]) + skipped_up_to(65_534, HALF) + SKIPPED_FRAME + zstd(PLAIN[HALF:]),
        zipped(**{"a.zip": zipped(a=PLAIN)}),
    ],
    ids=[
        *("gz", "gz gz", "gz fill", "bz", "bz bz", "xz", "xz xz", "zst", "zst zst", "document"),
        *("two layers", "zip", "zip of zst", "filled between", "skipped first", "at a border"),
        "zip in zip",
    ],
)
def test_a_packed_session_is_read_under_any_name(tmp_path: Path, data: bytes) -> None:
    session = load(tmp_path, data)
    texts = [session.text(n).partition("\n")[2] for n in range(len(session.index))]
    assert texts == [each["text"] for each in RECORDS]
    assert session.bytes == len(data)
    assert (session.skipped_lines, session.diagnostics) == (0, ())
    session.close()


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_wide_text_is_read_with_its_mark_and_without(tmp_path: Path, encoding: str) -> None:
    session = load(tmp_path, PLAIN.decode().encode(encoding))
    assert session.text(3).partition("\n")[2] == RECORDS[3]["text"]
    assert len(session.index) == len(RECORDS)
    (note,) = session.diagnostics
    assert (note.severity, note.reason) == (
        Severity.INFO,
        f"{encoding[:6].upper()} text, read as UTF-8",
    )


def test_wide_text_in_an_archive_is_read(tmp_path: Path) -> None:
    session = load(tmp_path, zipped(**{"a.json": PLAIN.decode().encode("utf-16")}))
    assert len(session.index) == len(RECORDS)
    session.close()


@pytest.mark.parametrize(
    ("pack", "name"), [(gz, "gzip"), (zstd, "zstd"), (lzma.compress, "xz"), (bz2.compress, "bzip2")]
)
def test_a_cut_or_damaged_file_gives_what_was_unpacked_and_says_so(
    tmp_path: Path, pack, name: str
) -> None:
    first, second = pack(PLAIN[:HALF]), pack(PLAIN[HALF:])
    cut = load(tmp_path, first + second[: len(second) // 2])
    assert cut.index.chars[0]
    assert PLAIN[:HALF].count(b"\n") <= len(cut.index) < len(RECORDS)
    assert f"the {name} data ends before its end: the file is cut" in reasons(cut)[0]
    assert cut.diagnostics[0].severity is Severity.WARNING
    cut.close()
    trailing = load(tmp_path, first + second + b"some words")
    assert len(trailing.index) == len(RECORDS)
    assert reasons(trailing) == [f"something follows the {name} data, left out"]
    trailing.close()
    with pytest.raises(NotASessionError, match=f"{name} data that is cut or damaged"):
        load(tmp_path, first[:6] + b"\xff" * 300)


def test_gzip_that_is_damaged_in_its_middle_keeps_what_came_before(tmp_path: Path) -> None:
    data = gz(PLAIN)
    half = len(data) // 2
    session = load(tmp_path, data[:half] + b"\xff" * 40 + data[half + 40 :])
    assert session.text(3).partition("\n")[2] == RECORDS[3]["text"]
    assert 100 < len(session.index) < len(RECORDS)
    assert "the gzip data is damaged; what comes behind is lost" in reasons(session)
    session.close()


@pytest.mark.parametrize(
    "pack", [gz, zstd, lzma.compress, lambda data: zipped(a=data)], ids=["gz", "zst", "xz", "zip"]
)
def test_a_bomb_is_refused_before_it_fills_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pack
) -> None:
    monkeypatch.setattr(compressed, "_BOMB_BYTES", 1 << 20)
    monkeypatch.setattr("longjudge.sessions.zip_members._BOMB_BYTES", 1 << 20)
    with pytest.raises(NotASessionError, match="decompression bomb"):
        load(tmp_path, pack(b'{"a":' * (2 << 20)))


def test_layers_that_grow_a_little_each_are_a_bomb_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compressed, "_BOMB_BYTES", 1 << 20)
    inner = gz(b"x" * 9000) * 1000
    assert len(inner) * 500 > 9_000_000
    with pytest.raises(NotASessionError, match="decompression bomb"):
        load(tmp_path, gz(inner))


def test_members_that_overlap_are_a_bomb_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compressed, "_BOMB_BYTES", 1 << 20)
    data = zipped(**{"a.jsonl": b'{"a": 1}\n' * 5000})
    start = data.index(b"PK\x01\x02")
    entry, end = data[start : data.index(b"PK\x05\x06")], data[-22:]
    entries = b"".join(entry.replace(b"a.jsonl", b"%c.jsonl" % letter) for letter in range(65, 91))
    count = (26).to_bytes(2, "little") * 2
    end = end[:8] + count + len(entries).to_bytes(4, "little") + end[16:]
    with pytest.raises(NotASessionError, match="decompression bomb"):
        load(tmp_path, data[:start] + entries + end)


def test_a_full_disk_is_told_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    room = os.statvfs_result((4096, 4096, 9, 0, 0, 9, 9, 9, 0, 255))

    def no_room(descriptor: int) -> os.statvfs_result:
        return room

    monkeypatch.setattr(os, "fstatvfs", no_room)
    with pytest.raises(SessionError, match=f"{os.strerror(errno.ENOSPC)}; make room") as refusal:
        load(tmp_path, gz(PLAIN))
    assert str(refusal.value).startswith(f"{tmp_path / 'session.txt'}: what it holds does not fit")


def test_unpacking_stops_when_progress_says_so(tmp_path: Path) -> None:
    path = tmp_path / "x.gz"
    path.write_bytes(gz(PLAIN))
    with pytest.raises(LoadCancelledError):
        load_session(path, lambda done, total: False)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (gz(b""), "gzip-compressed data with nothing in it"),
        (gz(b"\x89PNG\r\n"), "PNG"),
        (gz(gz(gz(gz(PLAIN)))), "packed more than 3 times over; unpack it first"),
        (
            zipped(**{"a.jsonl": PLAIN, "b.json": b'[{"role": "user", "content": "x"}]'}),
            r"sessions in 2 formats: a\.jsonl \(events\), b\.json \(.*\); unpack it and name",
        ),
        (zipped(**{"a.json": b'{"x": 1}', "b.json": b"[1]"}), "2 files, none of them a session"),
        (zipped(**{"README.md": b"# hi"}), r"without a session; it holds: README\.md"),
        (zipped(), "no file in it"),
    ],
    ids=["nothing", "picture", "four layers", "mixed", "no session", "none", "empty"],
)
def test_packed_files_without_one_session_say_what_they_hold(
    tmp_path: Path, data: bytes, words: str
) -> None:
    with pytest.raises(NotASessionError, match=words) as refusal:
        load(tmp_path, data)
    assert "\n" not in str(refusal.value)


def test_several_sessions_in_an_archive_are_those_of_one_file(tmp_path: Path) -> None:
    path = tmp_path / "several.zip"
    lines = PLAIN.splitlines(keepends=True)
    parts = [b"".join(lines[:300]), b"".join(lines[300:])]
    path.write_bytes(
        zipped(**{"a.jsonl": parts[0], "b.jsonl.gz": gz(parts[1]), "package.json": b'{"x": 1}'})
    )
    sessions = load_sessions(path)
    assert [len(each.index) for each in sessions] == [300, 600]
    assert len({each.id for each in sessions}) == 2
    assert [each.siblings for each in sessions] == [2, 2]
    assert reasons(sessions[0]) == ["files in the archive that are no session, left out"]
    assert sessions[1].text(0).partition("\n")[2] == RECORDS[300]["text"]
    assert (sessions[1].file(3), sessions[1].line(3)) == (f"{path}/b.jsonl.gz", 4)
    wanted = sessions[1].id
    for session in sessions:
        session.close()
    with pytest.raises(SeveralSessionsError, match="holds 2 sessions; choose one"):
        load_session(path)
    chosen = load_session(path, session=wanted)
    assert len(chosen.index) == 600
    chosen.close()


def test_every_file_of_an_archive_is_looked_at_and_lost_ones_are_told(tmp_path: Path) -> None:
    path = tmp_path / "several.zip"
    others = {f"{number}.txt": b"x" for number in range(1200)}
    noisy = b"starting up\n" + PLAIN
    data = bytearray(
        zipped(**{"one.jsonl": noisy, **others, "two.jsonl": PLAIN, "three.jsonl": PLAIN})
    )
    at = data.index(b"three.jsonl") + len("three.jsonl")
    data[at : at + 40] = b"\xff" * 40
    path.write_bytes(data)
    sessions = load_sessions(path)
    assert [each.id for each in sessions] == ["one", "two"]
    assert [(note.reason, note.count) for note in sessions[1].diagnostics] == [
        ("other files in the archive, left out", 1200),
        ("files in the archive that are cut or damaged, left out", 1),
    ]
    for session in sessions:
        session.close()


def test_a_session_of_an_archive_that_cannot_be_read_is_no_mere_file_beside(
    tmp_path: Path,
) -> None:
    path = tmp_path / "several.zip"
    path.write_bytes(zipped(**{"a.jsonl": PLAIN, "b.jsonl": PLAIN, "c.jsonl": b'{"kind": "us'}))
    sessions = load_sessions(path)
    (note,) = sessions[0].diagnostics
    assert (note.severity, note.count) == (Severity.WARNING, 1)
    for session in sessions:
        session.close()


def test_several_sessions_two_archives_deep_are_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "deep.zip"
    path.write_bytes(zipped(**{"in.zip": zipped(a=PLAIN, b=PLAIN), "c.jsonl": PLAIN}))
    with pytest.raises(
        SessionError, match=r"deep\.zip: an archive within an archive holds several"
    ):
        load_sessions(path)


def test_what_stands_beside_the_session_in_an_archive_is_counted(tmp_path: Path) -> None:
    session = load(tmp_path, zipped(**{"README": b"hi", "s.jsonl": PLAIN, "__MACOSX/._s": b"x"}))
    assert len(session.index) == len(RECORDS)
    assert reasons(session) == ["other files in the archive, left out"]
    session.close()


def test_nothing_stays_open_when_unpacking_fails(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(gz(b""))
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    for _ in range(5):
        with pytest.raises(NotASessionError):
            load_session(path)
    after = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    assert after <= before + 1
