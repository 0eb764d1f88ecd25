"""Whether a session is recent goes by its last event, and most files say so at their end."""

from __future__ import annotations

import contextlib
import json
import os
import time
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from claude_code_records import assistant, text, user
from codex_records import meta, said
from longjudge.errors import SessionError
from longjudge.sessions import SessionFile, load_sessions, recent
from longjudge.sessions.recent import Since, moment_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

LIMIT = datetime(2026, 3, 1, tzinfo=UTC)
SINCE = Since(LIMIT.timestamp())
OLD, NEW = "2026-02-27T10:00:00Z", "2026-03-02T10:00:00.250Z"


def claude(time: str | None, words: str = "Hello.") -> dict[str, object]:
    return user(words, timestamp=time)


def codex(time: str | None, words: str = "Hello.") -> dict[str, object]:
    return {**said("user", words), "timestamp": time}


def generic(time: str | None, words: str = "Hello.") -> dict[str, object]:
    return {"kind": "user_message", "text": words} | ({"timestamp": time} if time else {})


FORMATS = {"claude": claude, "codex": codex, "generic": generic}


def write(path: Path, records: Sequence[object]) -> SessionFile:
    lines = [each if isinstance(each, str) else json.dumps(each) for each in records]
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    facts = path.stat()
    return SessionFile(path, False, facts.st_size, facts.st_mtime)


def holds(file: SessionFile) -> list[bool]:
    """For each session of a file whether it is recent, once it is read."""
    sessions = load_sessions(file.path)
    try:
        return [SINCE.holds(session, file) for session in sessions]
    finally:
        for session in sessions:
            session.close()


@pytest.mark.parametrize("make", FORMATS.values(), ids=FORMATS)
def test_the_end_of_a_file_says_when_its_session_ended(
    make: Callable[..., dict[str, object]], tmp_path: Path
) -> None:
    start = [meta()] if make is codex else []
    old = write(tmp_path / "old.jsonl", [*start, make(OLD), make(OLD)])
    new = write(tmp_path / "new.jsonl", [*start, make(OLD), make(NEW)])
    assert (SINCE.may_hold(old), holds(old)) == (False, [False])
    assert (SINCE.may_hold(new), holds(new)) == (True, [True])


def test_the_time_of_the_file_counts_only_where_no_event_has_one(tmp_path: Path) -> None:
    old, new = LIMIT - timedelta(days=1), LIMIT + timedelta(days=1)
    for modified in (old, new):
        at = modified.timestamp()
        for name, time_ in (("old", OLD), ("new", NEW), ("none", None)):
            file = write(tmp_path / f"{name}.jsonl", [generic(time_)])
            os.utime(file.path, (at, at))
            file = SessionFile(file.path, False, file.bytes, at)
            expected = {"old": False, "new": True, "none": modified is new}[name]
            assert holds(file) == [expected]
            assert SINCE.may_hold(file) or not expected


def test_little_of_a_long_file_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = write(tmp_path / "long.jsonl", [claude(OLD, "words " * 40) for _ in range(20_000)])
    read: list[int] = []
    read_range = recent.read_range

    def counted(descriptor: int, start: int, end: int) -> bytes:
        read.append(end - start)
        return read_range(descriptor, start, end)

    monkeypatch.setattr(recent, "read_range", counted)
    assert not SINCE.may_hold(file)
    assert file.bytes > 5_000_000
    assert sum(read) <= recent.HEAD_BYTES + recent.TAIL_BYTES


def test_where_long_records_stand_at_the_end_more_of_it_is_read(tmp_path: Path) -> None:
    silent = {"type": "progress", "sessionId": "5e55", "data": "x" * 60_000}
    file = write(tmp_path / "a.jsonl", [claude(OLD), silent])
    assert not SINCE.may_hold(file)
    # Nobody knows before all of it is read.
    huge = write(tmp_path / "b.jsonl", [claude(OLD), claude(OLD), {**silent, "data": "x" * 2**21}])
    assert SINCE.may_hold(huge)


@pytest.mark.parametrize(
    "content",
    [
        json.dumps({"events": [generic(OLD)]}),
        json.dumps([generic(OLD), generic(OLD)], indent=1),
        "".join(
            json.dumps({"role": "user", "content": "x", "timestamp": OLD}) + "\n" for _ in "ab"
        ),
        json.dumps(generic(OLD)) + "\n" + json.dumps({**generic(OLD), "timestamp": "once"}) + "\n",
        "no session at all\n",
        "",
    ],
)
def test_what_the_end_does_not_tell_is_read_whole(content: str, tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text(content, encoding="utf-8")
    assert SINCE.may_hold(SessionFile(path, True, len(content)))


def test_what_cannot_be_read_is_left_to_who_says_why(tmp_path: Path) -> None:
    assert SINCE.may_hold(SessionFile(tmp_path / "none.jsonl", True, 0))
    assert SINCE.may_hold(SessionFile(tmp_path, True, 0))
    os.mkfifo(tmp_path / "pipe.jsonl")
    assert SINCE.may_hold(SessionFile(tmp_path / "pipe.jsonl", True, 0))


MOMENTS = st.one_of(
    st.none(),
    st.sampled_from(["", "soon", "2026-02-30", "1772323200", "1772409600000", "2026-03-01"]),
    st.datetimes(datetime(2026, 2, 20), datetime(2026, 3, 10)).map(datetime.isoformat),
    st.datetimes(datetime(2026, 2, 20), datetime(2026, 3, 10)).map(lambda t: f"{t.isoformat()}Z"),
)
LINES = st.one_of(
    st.tuples(MOMENTS, st.sampled_from(["x", "a long text " * 300])),
    st.sampled_from(["", "{", '{"torn": "', "[]", "null", "\x00\x00"]),
)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(sorted(FORMATS)), st.lists(LINES, min_size=1, max_size=12))
def test_a_file_that_is_not_read_holds_nothing_recent(
    tmp_path: Path, format_: str, lines: list[tuple[str | None, str] | str]
) -> None:
    records: list[object] = [meta()] if format_ == "codex" else []
    records += [each if isinstance(each, str) else FORMATS[format_](*each) for each in lines]
    file = write(tmp_path / "s.jsonl", records)
    if SINCE.may_hold(file):
        return
    with contextlib.suppress(SessionError):
        assert not any(holds(file))


@pytest.mark.parametrize(
    ("words", "moment"),
    [
        ("2026-03-01T00:00:00Z", LIMIT),
        ("2026-03-01T01:00:00.000+01:00", LIMIT),
        (" 2026-03-01 00:00:00+00:00 ", LIMIT),
        ("1772323200", LIMIT),
        ("1772323200.0", LIMIT),
        ("1772323200000", LIMIT),
        ("1772323200000000", LIMIT),
        ("1772323200000000000", LIMIT),
        ("yesterday", None),
        ("", None),
        ("9" * 30, None),
        ("٣", None),
    ],
)
def test_times_are_read_as_files_write_them(words: str, moment: datetime | None) -> None:
    assert moment_of(words) == (moment and moment.timestamp())


@pytest.mark.parametrize(("zone", "hours"), [("UTC-9", 0), ("UTC+5", 5)])
def test_a_time_without_a_zone_is_the_later_of_local_and_utc(
    zone: str, hours: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        later = LIMIT + timedelta(hours=hours)
        assert moment_of("2026-03-01T00:00:00") == later.timestamp()
    finally:
        monkeypatch.undo()
        time.tzset()


def test_the_last_event_of_the_main_thread_is_what_counts(tmp_path: Path) -> None:
    late = assistant(text("Done."), timestamp=NEW, isSidechain=True, agentId="a1")
    file = write(tmp_path / "s.jsonl", [claude(OLD), late])
    # The end names something recent, so that the file is read; its own session is older.
    assert (SINCE.may_hold(file), holds(file)) == (True, [False])
