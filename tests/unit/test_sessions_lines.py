"""The newline index: only newlines end lines, and a growing file is read to where it was."""

from __future__ import annotations

import io
import os
from array import array
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claude_code_records import assistant, jsonl, text, user
from longjudge.errors import LoadCancelledError, NotASessionError
from longjudge.sessions import lines as lines_module
from longjudge.sessions import load_session
from longjudge.sessions.lines import read_line_blocks, read_line_ends
from longjudge.sessions.records import TOO_LONG

if TYPE_CHECKING:
    from pathlib import Path


def line_ends(data: bytes, size: int | None = None) -> list[int]:
    ends: array[int] = array("Q")
    list(read_line_ends(io.BytesIO(data), len(data) if size is None else size, ends))
    return list(ends)


@given(st.lists(st.sampled_from([b"\n", b"\r", b"a", b"\x0b", "\u2028\x85".encode()]), max_size=60))
def test_lines_end_at_newlines_and_nowhere_else(parts: list[bytes]) -> None:
    data = b"".join(parts)
    lines = data.split(b"\n")
    expected = [line + b"\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])
    ends = line_ends(data)
    assert [data[start:end] for start, end in zip([0, *ends], ends, strict=False)] == expected


@pytest.mark.parametrize(
    ("size", "ends"), [(9, [3, 6, 9]), (8, [3, 6, 8]), (6, [3, 6]), (4, [3, 4]), (0, [])]
)
def test_what_a_file_grew_by_is_left_out(size: int, ends: list[int]) -> None:
    assert line_ends(b"ab\ncd\nef\ngh\n", size) == ends


def test_blocks_hold_every_line_once_in_order(tmp_path: Path) -> None:
    lines = [b"x" * (number * 7919 % 90_000) for number in range(120)] + [b"end"]
    path = tmp_path / "lines"
    path.write_bytes(b"\n".join(lines))
    descriptor = os.open(path, os.O_RDONLY)
    try:
        blocks = list(read_line_blocks(descriptor, array("Q", line_ends(path.read_bytes()))))
    finally:
        os.close(descriptor)
    assert [line for _, block in blocks for line in block] == lines
    assert [first for first, _ in blocks] == [
        sum(len(block) for _, block in blocks[:position]) for position in range(len(blocks))
    ]
    assert len(blocks) > 5


@pytest.mark.parametrize("end", [b"", b"\n", b"\nab\n", b"\n\nb"])
def test_a_line_longer_than_what_is_read_at_a_time_is_one(
    monkeypatch: pytest.MonkeyPatch, end: bytes
) -> None:
    monkeypatch.setattr(lines_module, "_SLICE_BYTES", 3)
    data = b"a\n" + b"x" * 10 + end
    expected = [position + 1 for position, byte in enumerate(data) if byte == 10]
    assert line_ends(data) == sorted({*expected, len(data)})


HIT = b'{"kind": "user_message", "text": "hi"}'


@pytest.mark.parametrize(
    "data",
    [HIT + b'\n{"kind": "error", "text": "%s"}\n' + HIT, b'[%s,\n{"kind": "%%s"},%s]' % (HIT, HIT)],
    ids=["line", "element"],
)
def test_a_record_that_is_too_long_is_left_out_and_said(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, data: bytes
) -> None:
    monkeypatch.setattr(lines_module, "MOST_RECORD_BYTES", 300_000)
    path = tmp_path / "x.jsonl"
    path.write_bytes(data % (b"x" * 300_000))
    session = load_session(path)
    assert (len(session.index), session.skipped_lines) == (2, 1)
    assert [note.reason for note in session.diagnostics] == [TOO_LONG]
    session.close()


@pytest.mark.parametrize("data", [b'{"text": "%s', b'\n{"text": "%s"}\n', b'{\n"text": "%s"}'])
def test_one_record_that_is_too_long_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, data: bytes
) -> None:
    monkeypatch.setattr(lines_module, "MOST_RECORD_BYTES", 300_000)
    path = tmp_path / "x.json"
    path.write_bytes(data % (b"x" * 5_000_000))
    with pytest.raises(NotASessionError, match=r"x\.json: .*(of 5 MB|too long)"):
        load_session(path)


@pytest.fixture
def large(tmp_path: Path) -> Path:
    path = tmp_path / "large.jsonl"
    turn = [user("go " * 500), assistant(text("done " * 500))]
    path.write_bytes(jsonl(turn * 1000))
    return path


def test_progress_rises_to_the_whole_file(large: Path) -> None:
    told: list[tuple[int, int]] = []

    def on_progress(done: int, total: int) -> bool:
        told.append((done, total))
        return True

    load_session(large, on_progress).close()
    size = large.stat().st_size
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert told[-1] == (size, size)


def test_loading_stops_while_subagents_are_read(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(jsonl([user("go")]))
    beside = tmp_path / "s" / "subagents"
    beside.mkdir(parents=True)
    side = user("look " * 500, isSidechain=True, agentId="a1")
    (beside / "agent-a1.jsonl").write_bytes(jsonl([side] * 500))
    told: list[int] = []

    def on_progress(done: int, total: int) -> bool:
        told.append(done)
        return len(told) < most

    most = 1_000_000
    load_session(path, on_progress).close()
    # The last that is told is told of the subagent's file, far behind the session's own.
    most, _ = len(told), told.clear()
    with pytest.raises(LoadCancelledError, match=r"s\.jsonl: stopped"):
        load_session(path, on_progress)


def test_loading_stops_when_progress_says_so(large: Path) -> None:
    with pytest.raises(LoadCancelledError, match=r"large\.jsonl: stopped"):
        load_session(large, lambda done, total: False)
