"""The log: what a judgment tells as lines, how many are held, and which of them are shown."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from longjudge.board import ChunkRecord
from longjudge.states import ChunkState, GapReason
from longjudge.updates import ChunkUpdate, Paused, Stopping, StoreFailed, StoreTakes
from longjudge_tui.bench import event_log
from longjudge_tui.bench.event_log import EventLog, LogKind, Part, Subject
from longjudge_tui.bench.log_view import GROUPS, LogView
from longjudge_tui.bench.run_log import RunLog

SUBJECT = Subject("a.jsonl", ("/x/a.jsonl", "1"))


def words(log):
    return [line.words for line in log.since(0)]


def run_log(log):
    session = SimpleNamespace(path=SimpleNamespace(name="a.jsonl"), name="/x/a.jsonl", id="1")
    return RunLog(log, session, [SimpleNamespace(first=7 * place) for place in range(9)])


def test_the_oldest_lines_go_and_are_counted(monkeypatch):
    monkeypatch.setattr(event_log, "MOST_LINES", 100)
    monkeypatch.setattr(event_log, "DROPPED_AT_ONCE", 10)
    log, written = EventLog(), []
    log.on_line = written.append
    for number in range(250):
        log.add(LogKind.SAID if number % 2 else LogKind.RUN, f"{number}")
    assert len(log) <= 100
    assert log.dropped + len(log) == 250 == len(written)
    assert log.line(log.dropped).words == f"{log.dropped}"
    assert log.line(log.dropped - 1) is None
    assert log.counts.total() == len(log)


def test_what_is_said_again_at_once_is_counted_on_its_line():
    log, written = EventLog(), []
    log.on_line = written.append
    for _ in range(3):
        log.add(LogKind.SAID, "nothing is being judged")
    log.add(LogKind.SAID, "another")
    assert [line.times for line in log.since(0)] == [3, 1]
    assert len(written) == 2
    assert "(×3)" in log.line(0).text


def test_a_hostile_line_is_one_line_and_acts_on_nothing():
    log = EventLog()
    log.add(LogKind.ERROR, "[/] \x1b]0;owned\x07\nsecond \u202e" + "x" * 9_000)
    (line,) = log.since(0)
    assert "\x1b" not in line.text
    assert "\n" not in line.text
    assert "\u202e" not in line.text
    assert "[/]" in line.text
    assert len(line.text) < 700


def test_a_secret_at_the_end_of_a_long_line_is_not_cut_in_two():
    log, secret = EventLog(), "ghp_9fK2mQx7Lw3ZtB8vRc5NdY1HsJ6PgA4uEoTi"
    for length in range(460, 500, 10):
        log.add(LogKind.VERDICT, "x " * (length // 2) + secret + " and more")
    assert not any(secret[:5] in line.text for line in log.since(0))


def test_what_a_judgment_tells_becomes_lines_with_what_it_took():
    log = EventLog()
    run = run_log(log)
    flagged = ChunkUpdate(3, ChunkState.FLAGGED, attempt=2, seconds=3.21, note="force-pushed")
    run.hear(flagged, ChunkRecord(tokens=1204, cost_usd=0.5, findings=(object(),)))
    run.hear(ChunkUpdate(4, ChunkState.RETRYING, GapReason.RATE_LIMITED, attempt=1, wait=8), None)
    run.hear(ChunkUpdate(4, ChunkState.GAP, GapReason.REFUSED, attempt=2, seconds=1), None)
    run.hear(Paused(20.0, "429"), None)
    run.hear(StoreFailed("disk full"), None)
    run.hear(StoreTakes(), None)
    run.hear(Stopping("limit"), None)
    assert words(log) == [
        "flagged, 1 finding · 3.2 s · 2 attempts · 1,204 tokens · $0.500 · force-pushed",
        "rate_limited: attempt 1, asked again in 8 s",
        "gap: refused · 1.0 s · 2 attempts",
        "all wait 20 s: 429",
        "the store takes nothing: disk full",
        "the store takes everything again, what it had missed too",
        "stopping: limit",
    ]
    assert log.line(0).part == Part(3, 14)
    assert log.line(0).text.endswith("· a.jsonl")


def test_what_was_never_asked_floods_no_log():
    log = EventLog()
    run = run_log(log)
    kept = ChunkUpdate(1, ChunkState.CLEAN, from_cache=True)
    run.hear(kept, ChunkRecord())
    run.hear(ChunkUpdate(2, ChunkState.GAP, GapReason.SKIPPED), ChunkRecord())
    run.hear(ChunkUpdate(3, ChunkState.RUNNING), ChunkRecord())
    assert not words(log)
    run.hear(replace(kept, attempt=1, stored=False), ChunkRecord())
    assert "NOT KEPT" in words(log)[0]


def test_lines_are_filtered_by_words_and_kinds_as_they_come(monkeypatch):
    monkeypatch.setattr(event_log, "MOST_LINES", 20)
    monkeypatch.setattr(event_log, "DROPPED_AT_ONCE", 5)
    log = EventLog()
    view = LogView(log)
    for number in range(12):
        log.add(LogKind.VERDICT, f"clean {number}", Part(number + 1, 0), SUBJECT)
    log.add(LogKind.GAP, "gap: refused", Part(3, 0), SUBJECT)
    assert view.follow()
    assert len(view.rows) == 13
    assert not view.follow()
    view.show_words("PART 3:")
    assert view.follow()
    assert [log.line(row).words for row in view.rows] == ["clean 2", "gap: refused"]
    assert view.next_group.name == "trouble"
    view.show_group(view.next_group)
    view.follow()
    assert [log.line(row).words for row in view.rows] == ["gap: refused"]
    for number in range(20):
        log.add(LogKind.GAP, f"gap: again {number}", Part(3, 0), SUBJECT)
        view.follow()
    assert len(view.rows) == len(log) <= 20
    assert all(log.line(row) is not None for row in view.rows)
    view.show_words("")
    view.show_group(GROUPS[0])
    view.follow()
    assert len(view.rows) == len(log)


@pytest.mark.parametrize("group", GROUPS, ids=lambda group: group.name)
def test_every_kind_is_in_a_group_of_its_own_sort(group):
    assert group.kinds
    assert set().union(*(each.kinds for each in GROUPS[1:])) == set(LogKind)
