"""`--since`: sessions by their last event, else by their file's time; none left is no error."""

from __future__ import annotations

import asyncio
import json
import os
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from claude_code_records import assistant, text, user
from commands_for_tests import longjudge
from longjudge.cli.files import Reading, since_of
from longjudge.sessions import find_sessions
from sessions_for_tests import write_events

if TYPE_CHECKING:
    from pathlib import Path

DAY = 86_400


@pytest.fixture(autouse=True)
def no_store(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("LONGJUDGE_STORE", str(tmp_path / "store.sqlite"))


def ago(days: float) -> str:
    return datetime.fromtimestamp(time.time() - days * DAY, UTC).isoformat()


def session(path: Path, days: float | None, *, written: float = 0.0) -> Path:
    """A session whose last event is so many days old, in a file that was written so long ago."""
    call: dict[str, object] = {"kind": "tool_call", "tool": "Bash", "input": {"command": path.name}}
    write_events(path, [call | ({"timestamp": ago(days)} if days is not None else {})])
    at = time.time() - written * DAY
    os.utime(path, (at, at))
    return path


def names(*arguments: object) -> list[str]:
    lines = longjudge("estimate", *arguments, "--json").objects
    return [os.path.basename(line["path"]) for line in lines if line["path"]]


def test_the_last_event_counts_and_not_when_the_file_was_written(tmp_path: Path) -> None:
    session(tmp_path / "checked-out.jsonl", 30, written=0)
    session(tmp_path / "restored.jsonl", 1, written=30)
    session(tmp_path / "timeless-new.jsonl", None, written=1)
    session(tmp_path / "timeless-old.jsonl", None, written=30)
    assert sorted(names(tmp_path, "--since", "7d")) == ["restored.jsonl", "timeless-new.jsonl"]
    assert len(names(tmp_path, "--since", "9w")) == 4
    finished = longjudge("estimate", tmp_path, "--since", "7d")
    assert finished.code == 0
    assert finished.err == "longjudge: left out 2 sessions older than --since\n"
    assert "total of 2 sessions" in finished.out


def test_a_folder_or_file_that_is_all_left_out_is_no_error(tmp_path: Path) -> None:
    path = session(tmp_path / "old.jsonl", 30)
    for named in (tmp_path, path):
        finished = longjudge("estimate", named, "--json", "--since", "24h")
        assert finished.code == 0
        [total] = finished.objects
        assert (total["total"], total["sessions"], total["to_ask"]) == (True, 0, 0)
        assert finished.err == "longjudge: left out 1 session older than --since\n"
        assert longjudge("estimate", named, "--since", "24h").out == ""
    (tmp_path / "empty").mkdir()
    assert longjudge("estimate", tmp_path / "empty", "--since", "24h").code == 2


def test_what_has_to_be_read_whole_is_left_out_just_the_same(tmp_path: Path) -> None:
    for name, days in (("old.json", 30), ("new.json", 1)):
        event = {"kind": "tool_call", "tool": "Bash", "timestamp": ago(days)}
        (tmp_path / name).write_text(json.dumps({"events": [event]}))
    finished = longjudge("estimate", tmp_path, "--json", "--since", "7d")
    assert [line["path"] for line in finished.objects] == [str(tmp_path / "new.json"), None]
    assert "left out 1 session" in finished.err


def test_an_unreadable_named_file_is_an_error_all_the_same(tmp_path: Path) -> None:
    old = session(tmp_path / "old.jsonl", 30)
    finished = longjudge("estimate", old, tmp_path / "none.jsonl", "--since", "7d")
    assert finished.code == 2
    assert "none.jsonl" in finished.err
    assert "left out 1 session" in finished.err


def test_an_old_session_takes_nothing_from_the_one_that_repeats_it(tmp_path: Path) -> None:
    def said(days: float, number: int) -> dict[str, object]:
        block = {"type": "tool_use", "id": f"t{number}", "name": "Bash", "input": {"n": number}}
        return assistant(text(f"word {number}"), block, timestamp=ago(days))

    start = [user("Begin.", timestamp=ago(30)), *(said(30, number) for number in range(9))]
    more = [said(29, number) for number in range(9, 40)]
    old, new = tmp_path / "old.jsonl", tmp_path / "new.jsonl"
    for path, records in ((old, start + more), (new, [*start, said(1, 50)])):
        path.write_text("".join(json.dumps(each) + "\n" for each in records))
    *_, both = longjudge("estimate", tmp_path, "--json", "--chunk-chars", "400").objects
    [line, _] = longjudge(
        "estimate", tmp_path, "--json", "--since", "7d", "--chunk-chars", "400"
    ).objects
    [alone, _] = longjudge("estimate", new, "--json", "--chunk-chars", "400").objects
    assert line == alone
    assert line["path"] == str(new)
    assert both["chunks"] > alone["chunks"]


def test_a_sample_is_drawn_of_what_is_recent(tmp_path: Path) -> None:
    for number in range(24):
        session(tmp_path / f"{number}.jsonl", 1 if number % 2 else 30)
    drawn = names(tmp_path, "--since", "7d", "--sample", "10")
    assert len(drawn) == 10
    assert all(int(name.split(".")[0]) % 2 for name in drawn)
    *_, total = longjudge("estimate", tmp_path, "--since", "7d", "--sample", "10", "--json").objects
    assert total["of"] == 12


def test_what_is_no_age_is_refused(tmp_path: Path) -> None:
    session(tmp_path / "s.jsonl", 1)
    finished = longjudge("estimate", tmp_path, "--since", "yesterday")
    assert (finished.code, finished.out) == (2, "")
    assert "--since 'yesterday' is no age; use a whole number and a unit" in finished.err


def test_whoever_reads_files_gets_the_recent_ones(tmp_path: Path) -> None:
    for number in range(1_100):
        session(tmp_path / f"{number}.jsonl", 30 if number % 10 else 1)
    reading = Reading(since=since_of("7d"))
    files = asyncio.run(reading.recent(find_sessions([tmp_path])))
    assert (len(files), reading.left_out) == (110, 990)
    assert asyncio.run(Reading().recent(files)) == files
