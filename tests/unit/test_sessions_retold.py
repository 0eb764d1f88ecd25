"""Sessions that are told anew: what the loader makes of a format whose records need one another."""

from __future__ import annotations

import errno
import json
import os
import tempfile
from typing import TYPE_CHECKING

import pytest

from longjudge.errors import LoadCancelledError, NotASessionError, SessionError
from longjudge.sessions import Event, EventKind, Severity, load_session, load_sessions
from longjudge.sessions.formats import retold_table
from longjudge.sessions.formats.retold import RetoldFormat
from longjudge.sessions.times import iso_time
from longjudge.text import without_surrogates

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from longjudge.sessions.formats.retold import Records, Telling


class Diary(RetoldFormat):
    """Records `{"diary": name, "said": text, …}`; `piece` records build up one event."""

    name = "diary"
    lists = ("steps",)

    def recognise(
        self, head: Sequence[dict[str, object]], around: Mapping[str, object] | None
    ) -> float:
        return sum("diary" in each for each in head) / len(head)

    def retell(self, records: Records, around: Mapping[str, object], telling: Telling) -> None:
        last = {str(each.value.get("of")): each.number for each in records}
        for each in records:
            value = each.value
            session = str(value["diary"])
            if "said" in value:
                thread = str(value.get("thread", "main"))
                kind = EventKind(str(value.get("kind", "assistant_message")))
                event = Event(kind, str(value["said"]), call_id=_text(value.get("call")))
                telling.event(event, each.number, session=session, thread=thread)
            elif "of" in value and last[str(value["of"])] == each.number:
                (again,) = records.at(each.number)
                event = Event(EventKind.USER_MESSAGE, f"last of {again.value['of']}")
                telling.event(event, each.number, session=session)
            elif "starts" in value:
                telling.starts(str(value["starts"]), call_id=str(value["by"]), session=session)
            elif "lost" in value:
                telling.skip("a lost page", each.number)
            if "title" in value:
                telling.facts(session=session, id="d-1", title=str(value["title"]))


def _text(value: object) -> str | None:
    return None if value is None else str(value)


@pytest.fixture(autouse=True)
def _diaries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retold_table, "RETOLD", (Diary(),))


def _write(path: Path, records: Sequence[object]) -> Path:
    path.write_text("".join(json.dumps(each) + "\n" for each in records))
    return path


def test_each_told_event_is_read_again_with_its_record_and_line(tmp_path: Path) -> None:
    records = [
        {"diary": "a", "said": "Müde [bold]", "kind": "user_message"},
        {"diary": "a", "of": "x"},
        {"diary": "a", "of": "x"},
        {"diary": "a", "said": "the end"},
    ]
    session = load_session(_write(tmp_path / "diary.jsonl", records))
    assert [session.event(n).body for n in range(3)] == ["Müde [bold]", "last of x", "the end"]
    assert [session.line(n) for n in range(3)] == [1, 3, 4]
    assert json.loads(session.raw(1)) == records[2]
    assert (session.format, session.title) == ("diary", "Müde [bold]")
    session.close()


def test_several_sessions_share_a_file_until_the_last_is_closed(tmp_path: Path) -> None:
    path = _write(tmp_path / "d.jsonl", [{"diary": name, "said": name} for name in "abca"])
    before = len(os.listdir("/proc/self/fd"))
    sessions = load_sessions(path)
    assert [len(each.index) for each in sessions] == [2, 1, 1]
    for session in sessions[:2]:
        session.close()
    assert sessions[2].event(0).body == "c"
    sessions[2].close()
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_closed_session_reads_nothing_of_the_next_one(tmp_path: Path) -> None:
    first = load_session(_write(tmp_path / "a.jsonl", [{"diary": "a", "said": "first"}]))
    first.close()
    second = load_session(_write(tmp_path / "b.jsonl", [{"diary": "a", "said": "other"}]))
    with pytest.raises(SessionError):
        first.event(0)
    assert second.event(0).body == "other"
    second.close()


@pytest.mark.parametrize("link_first", [False, True])
def test_a_thread_is_linked_to_the_call_that_started_it(tmp_path: Path, link_first: bool) -> None:
    call = {"diary": "a", "said": "go", "kind": "tool_call", "call": "c1"}
    link = {"diary": "a", "starts": "sub", "by": "c1"}
    inside = {"diary": "a", "said": "inside", "thread": "sub"}
    opening = {"diary": "a", "said": "hello"}
    records = [opening, link, call, inside] if link_first else [opening, call, link, inside]
    session = load_session(_write(tmp_path / "d.jsonl", records))
    main, sub = session.index.threads
    assert (main.name, main.call) == ("main", None)
    assert (sub.name, sub.call) == ("sub", 1)
    session.close()


def test_a_document_gives_the_elements_of_the_formats_list(tmp_path: Path) -> None:
    path = tmp_path / "d.json"
    pages = [{"diary": "a", "said": "one"}, {"diary": "a", "said": "two", "title": "My year"}]
    path.write_text(json.dumps({"version": 1, "steps": pages}))
    session = load_session(path)
    assert [session.event(n).body for n in range(len(session.index))] == ["one", "two"]
    assert (session.title, session.id, session.line(0)) == ("My year", "d-1", None)
    assert json.loads(session.raw(1)) == pages[1]
    session.close()


def test_what_is_lost_is_counted_and_said(tmp_path: Path) -> None:
    path = tmp_path / "d.jsonl"
    path.write_bytes(
        b'{"diary": "a", "said": "one"}\nno record\n{"diary": "a", "lost": 1}\n{"diary": "a'
    )
    session = load_session(path)
    reasons = {each.reason: (each.line, each.severity) for each in session.diagnostics}
    assert reasons["a lost page"] == (3, Severity.WARNING)
    assert reasons["no complete JSON record"] == (2, Severity.WARNING)
    assert [line for line, severity in reasons.values() if severity is Severity.INFO] == [4]
    assert session.skipped_lines == 3
    session.close()


@pytest.mark.parametrize(("indent", "line"), [(None, 1), (1, 8)])
def test_what_is_lost_of_a_document_is_said_with_its_line(
    tmp_path: Path, indent: int | None, line: int
) -> None:
    pages = [{"diary": "a", "said": "one"}, {"diary": "a", "lost": 1}, {"diary": "a", "lost": 2}]
    path = tmp_path / "d.json"
    path.write_text(json.dumps({"version": 1, "steps": pages}, indent=indent))
    session = load_session(path)
    (note,) = session.diagnostics
    assert (note.reason, note.count, note.line) == ("a lost page", 2, line)
    session.close()


def test_a_short_session_is_told_where_little_room_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    room = os.statvfs_result((4096, 4096, 9, 3, 3, 9, 9, 9, 0, 255))

    def little(descriptor: int) -> os.statvfs_result:
        return room

    monkeypatch.setattr(os, "fstatvfs", little)
    load_session(_write(tmp_path / "d.jsonl", [{"diary": "a", "said": "one"}])).close()
    pages = [{"diary": "a", "said": "x" * 6000}] * 3
    with pytest.raises(SessionError, match=r"do not fit into .*TMPDIR"):
        load_session(_write(tmp_path / "e.jsonl", pages))


def test_a_file_without_a_told_event_is_no_session(tmp_path: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(NotASessionError, match=r"d\.jsonl: no session"):
        load_session(_write(tmp_path / "d.jsonl", [{"diary": "a", "lost": 1}]))
    assert len(os.listdir("/proc/self/fd")) == before


def test_no_room_for_the_events_is_one_line_that_names_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = _write(tmp_path / "d.jsonl", [{"diary": "a", "said": "one"}])

    def full(descriptor: int, data: bytes) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    before = len(os.listdir("/proc/self/fd"))
    monkeypatch.setattr(os, "write", full)
    with pytest.raises(SessionError, match=r"do not fit into .*TMPDIR"):
        load_session(path)
    monkeypatch.undo()
    assert len(os.listdir("/proc/self/fd")) == before


def test_no_folder_for_temporary_files_is_told_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = _write(tmp_path / "d.jsonl", [{"diary": "a", "said": "one"}])
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))
    with pytest.raises(SessionError, match=r"no temporary file can be made: .*TMPDIR"):
        load_session(path)


@pytest.mark.parametrize("kept", [0, 40, None], ids=["emptied", "cut", "written over"])
def test_a_file_that_is_changed_while_it_is_read_is_no_shorter_session(
    tmp_path: Path, kept: int | None
) -> None:
    path = _write(tmp_path / "d.jsonl", [{"diary": "a", "said": "page"}] * 3)
    data = path.read_bytes()

    def change(done: int, total: int) -> bool:
        if done == total:
            path.write_bytes(data.replace(b"page", b"PAGE") if kept is None else data[:kept])
        return True

    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(SessionError, match=r"d\.jsonl: was changed while it was read"):
        load_session(path, change)
    assert len(os.listdir("/proc/self/fd")) == before


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_record_that_was_written_over_is_not_shown_for_the_one_told(
    tmp_path: Path, end: str
) -> None:
    pages = [json.dumps({"diary": "a", "said": said}) + end for said in ("one", "two")]
    path = tmp_path / "d.jsonl"
    path.write_bytes("".join(pages).encode())
    session = load_session(path)
    with path.open("r+b") as file:
        file.write(pages[1].encode())
    assert json.loads(session.raw(1)) == {"diary": "a", "said": "two"}
    assert session.event(0).body == "one"
    with pytest.raises(SessionError, match="the file changed while it was open"):
        session.raw(0)
    session.close()


def test_telling_can_be_stopped_between_slices(tmp_path: Path) -> None:
    path = _write(tmp_path / "d.jsonl", [{"diary": "a", "said": "x" * 1000}] * 2000)
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(LoadCancelledError):
        load_session(path, lambda done, total: done < total // 2)
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_lone_surrogate_put_together_from_pieces_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "d.jsonl"
    path.write_text('{"diary": "a", "said": "half \\ud83d", "title": "\\udc00!"}\n')
    session = load_session(path)
    assert session.event(0).body == without_surrogates("half \ud83d")
    assert session.title == "\ufffd!"
    session.close()


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (1_700_000_000, "s", "2023-11-14T22:13:20Z"),
        (1_700_000_000.25, "s", "2023-11-14T22:13:20.250Z"),
        (1_700_000_000_250, "ms", "2023-11-14T22:13:20.250Z"),
        ("1700000000000000000", "ns", "2023-11-14T22:13:20Z"),
        ("2023-11-14T22:13:20", "s", "2023-11-14T22:13:20"),
        (0, "ms", None),
        (True, "s", None),
        (float("nan"), "s", None),
        (float("inf"), "s", None),
        (10**40, "s", None),
        (10**400, "s", None),
        (-(10**400), "ms", None),
        (253_402_300_799_999_999_999, "ns", None),
        (-5, "s", None),
        (None, "s", None),
        ([1], "s", None),
        ("9" * 400, "s", "9" * 60),
    ],
)
def test_times_of_any_unit_become_utc_or_nothing(
    value: object, unit: str, text: str | None
) -> None:
    assert iso_time(value, unit) == text
