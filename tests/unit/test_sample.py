"""Samples: the same for the same seed, as long as asked for, and wrong exactly where they say."""

from __future__ import annotations

import errno
import io
import json
import os
import resource
import subprocess
import sys
from hashlib import sha256
from typing import TYPE_CHECKING

import pytest

from commands_for_tests import longjudge
from longjudge.judges.base import QuestionEvent
from longjudge.judges.rules import criteria_with_rules, find_problems
from longjudge.redaction import redact
from longjudge.sample import MIN_EVENTS, SAMPLE_VERSION, Sample, make_sample
from longjudge.sample.beats import Kind
from longjudge.sample.dice import Dice
from longjudge.sample.project import FILES_AT_MOST, LINES_AT_MOST, Project
from longjudge.sessions import EventKind, Session, load_session

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

GOLDEN = ("1", "2e10354b342f2e72")


_opened: list[Session] = []


@pytest.fixture(autouse=True)
def _closes_what_it_opens() -> Iterator[None]:
    yield
    while _opened:
        _opened.pop().close()


def opened(path: Path) -> Session:
    _opened.append(load_session(path))
    return _opened[-1]


def made(path: Path, events: int, seed: int) -> tuple[Sample, Session]:
    with path.open("wb") as stream:
        sample = make_sample(stream, events, seed)
    return sample, opened(path)


def text_of(events: int, seed: int) -> bytes:
    stream = io.BytesIO()
    make_sample(stream, events, seed)
    return stream.getvalue()


def flagged_by_rules(session: Session) -> set[tuple[int, str]]:
    found: set[tuple[int, str]] = set()
    for thread in session.index.threads:
        events = [
            QuestionEvent(n, session.index.kind(n), session.index.tool(n), session.text(n))
            for n in range(thread.first, thread.end)
        ]
        for criterion, problems in find_problems(events, criteria_with_rules()).items():
            found |= {(each.event, criterion) for each in problems if each.event is not None}
    return found


def test_the_same_seed_gives_the_same_bytes_and_another_one_does_not() -> None:
    text = text_of(120, 7)
    assert text == text_of(120, 7)
    assert text != text_of(120, 8)
    assert text.splitlines()[0] != text_of(121, 7).splitlines()[0]


def test_a_change_of_what_a_seed_gives_raises_the_version() -> None:
    assert (SAMPLE_VERSION, sha256(text_of(400, 1)).hexdigest()[:16]) == GOLDEN


@pytest.mark.parametrize(("events", "seed"), [(MIN_EVENTS, 1), (51, 2), (137, 3), (1_000, 4)])
def test_the_session_has_the_events_that_were_asked_for(
    tmp_path: Path, events: int, seed: int
) -> None:
    sample, session = made(tmp_path / "s.jsonl", events, seed)
    assert sample.events == len(session.index) == events
    assert sample.bytes == session.bytes == (tmp_path / "s.jsonl").stat().st_size
    assert session.format == "claude-code"
    assert session.skipped_lines == 0
    assert sample.planted
    assert session.index.kind(events - 1) is EventKind.ASSISTANT_MESSAGE or (
        len(session.index.threads) > 1
    )


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_listing_names_the_event_the_thread_and_the_words(tmp_path: Path, seed: int) -> None:
    sample, session = made(tmp_path / "s.jsonl", 1_200, seed)
    assert {each.kind for each in sample.planted} == set(Kind)
    assert [each.event for each in sample.planted] == sorted(each.event for each in sample.planted)
    threads = {thread.name: thread for thread in session.index.threads}
    for planted in sample.planted:
        assert planted.quote in session.text(planted.event)
        thread = threads[planted.thread]
        assert thread.first <= planted.event < thread.end
    assert all(thread.call is not None for name, thread in threads.items() if name != "main")


def test_problems_are_planted_in_threads_of_subagents_too(tmp_path: Path) -> None:
    sample, _ = made(tmp_path / "s.jsonl", 3_000, 5)
    places = [each.thread for each in sample.planted]
    assert "main" in places
    assert any(place.startswith("agent-") for place in places)


@pytest.mark.parametrize(("events", "seed"), [(MIN_EVENTS, 4), (200, 5), (1_500, 6)])
def test_the_rules_find_what_is_planted_for_them_and_nothing_else(
    tmp_path: Path, events: int, seed: int
) -> None:
    sample, session = made(tmp_path / "s.jsonl", events, seed)
    planted = {(each.event, each.criterion) for each in sample.planted if each.rules}
    assert planted
    assert flagged_by_rules(session) == planted


def test_a_session_holds_what_long_ones_hold(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    _, session = made(path, 1_500, 9)
    kinds = {session.index.kind(n) for n in range(len(session.index))}
    assert kinds == set(EventKind)
    tools = {session.index.tool(n) for n in range(len(session.index))}
    assert {"Bash", "Read", "Edit", "Grep", "Glob", "Task", "TodoWrite"} <= tools
    assert any(session.text(n).startswith("tool_result (error)") for n in range(1_500))
    assert b'"isCompactSummary":true' in path.read_bytes()
    assert len(session.index.threads) > 3


def test_nothing_in_it_looks_like_a_secret_but_what_is_planted(tmp_path: Path) -> None:
    sample, session = made(tmp_path / "s.jsonl", 1_000, 11)
    leaks = {each.event for each in sample.planted if each.kind is Kind.LEAKED_SECRET}
    looks = {n for n in range(1_000) if redact(session.text(n)).replacements}
    assert looks <= leaks


def test_the_project_keeps_its_size_however_long_it_is_worked_on() -> None:
    project = Project(Dice("long"))
    for _ in range(6_000):
        file = project.room_in(project.any_file())
        project.grow(file)
    assert len(project.files) == len(project.tests) <= FILES_AT_MOST
    assert max(len(file.lines) for file in project.files) < LINES_AT_MOST + 40


def test_judging_a_sample_offline_flags_what_rules_can_see(tmp_path: Path) -> None:
    path, store = tmp_path / "s.jsonl", tmp_path / "store.sqlite"
    made_ = longjudge("sample", "--events", 600, "--seed", 3, "--out", path, "--json")
    planted = {(each["event"], each["criterion"]) for each in made_.objects if each["rules"]}
    judged = longjudge("judge", path, "--model", "offline", "--json", "--store", store)
    (result,) = judged.objects
    found = {(each["event"], each["criterion"]) for each in result["findings"]}
    assert planted
    assert found == planted
    assert result["session"]["events"] == 600


def test_the_command_prints_the_listing_and_what_to_do_next(tmp_path: Path) -> None:
    path = tmp_path / "a b.jsonl"
    done = longjudge("sample", "--events", 400, "--out", path)
    assert done.code == 0
    for kind in Kind:
        assert kind.value in done.out
    assert f"longjudge judge '{path}' --model offline" in done.err
    assert len(opened(path).index) == 400


def test_the_listing_goes_to_a_file_where_one_is_named(tmp_path: Path) -> None:
    path, listing = tmp_path / "s.jsonl", tmp_path / "planted.jsonl"
    done = longjudge("sample", "--events", 300, "--out", path, "--listing", listing)
    rows = [json.loads(line) for line in listing.read_text().splitlines()]
    assert done.out == ""
    assert [*rows[0]] == ["event", "thread", "kind", "what", "criterion", "quote", "rules"]
    assert len(rows) == len(Kind)


def test_the_session_goes_to_standard_output_for_a_dash(tmp_path: Path) -> None:
    done = longjudge("sample", "--events", 60, "--out", "-")
    assert done.out.encode() == text_of(60, 1)
    refused = longjudge("sample", "--events", 60, "--out", "-", "--json")
    assert refused.code == 2
    assert "--listing" in refused.err


def test_a_file_is_replaced_only_when_that_was_said(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text("mine")
    refused = longjudge("sample", "--events", 60, "--out", path)
    assert refused.code == 2
    assert (
        refused.err == f"longjudge: {path}: exists; name another file, or replace it with --force\n"
    )
    assert path.read_text() == "mine"
    assert longjudge("sample", "--events", 60, "--out", path, "--force").code == 0
    assert len(opened(path).index) == 60
    assert [each.name for each in tmp_path.iterdir()] == ["s.jsonl"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--events", "3", "--out", "s"), "--events 3 is out of range; use 50"),
        (("--out", "nowhere/s.jsonl"), "nowhere: no such folder"),
        (("--out", "."), "is no file"),
        (("--out", ""), "empty"),
        (("--out", "s", "--listing", "s"), "a file of its own"),
        ((), "--out"),
    ],
)
def test_a_request_that_cannot_be_met_is_refused(
    tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    refused = longjudge("sample", *words, cwd=tmp_path)
    assert refused.code == 2
    assert said in refused.err
    assert refused.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_left_of_a_session_that_could_not_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("longjudge.cli.sample.make_sample", fail)
    assert longjudge("sample", "--out", tmp_path / "s.jsonl").code == 130
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_told_with_the_name_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("longjudge.cli.sample.make_sample", fail)
    refused = longjudge("sample", "--out", tmp_path / "s.jsonl")
    assert (refused.code, refused.err.count("\n")) == (2, 1)
    assert "s.jsonl: No space left on device; make room" in refused.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.thorough
def test_a_long_session_takes_no_more_memory_than_a_short_one() -> None:
    script = (
        "import sys\n"
        "from longjudge.cli.main import run\n"
        "sys.exit(run(['sample', '--events', sys.argv[1], '--out', '-']))"
    )
    peaks: list[int] = []
    for events in (20_000, 400_000):
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        done = subprocess.run(
            [sys.executable, "-c", script, str(events)],
            stdout=subprocess.DEVNULL,
            check=False,
            env=dict(os.environ),
        )
        assert done.returncode == 0
        peaks.append(max(before, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss))
    assert peaks[1] - peaks[0] < 20_000
