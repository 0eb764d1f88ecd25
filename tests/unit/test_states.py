"""The table of a chunk's states: complete, and the only way from one to the next."""

from __future__ import annotations

import copy
from itertools import pairwise
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longjudge import board as boards
from longjudge.board import Board, ChunkRecord
from longjudge.chunks import plan_chunks
from longjudge.sessions.memory import session_from_events
from longjudge.states import TRANSITIONS, ChunkState, GapReason
from longjudge.store import KeptVerdict
from longjudge.updates import ChunkUpdate
from longjudge.verdict import Finding, Verdict
from sessions_for_tests import CHUNK_CHARS, events

if TYPE_CHECKING:
    from collections.abc import Callable

    from longjudge.updates import Update

COUNT = 2
CLEAN = KeptVerdict(Verdict(("broken_promise",), ()), "", disagrees=False)
FLAGGED = KeptVerdict(
    Verdict(("broken_promise",), (Finding("broken_promise", "bad", 1, None),)), "", disagrees=False
)
SESSION = session_from_events(events(COUNT))
PLAN = plan_chunks(SESSION.index, CHUNK_CHARS)

CALLS: dict[str, Callable[[Board, int], object]] = {
    "started": lambda board, at: board.started(at),
    "stopped": lambda board, at: board.stopped(at),
    "waiting": lambda board, at: board.waiting(at),
    "queued": lambda board, at: board.queued(at),
    "reopened": lambda board, at: board.reopened(at),
    "retrying": lambda board, at: board.retrying(at, 1.0, GapReason.PROVIDER_ERROR, "503"),
    "clean": lambda board, at: board.judged(at, CLEAN, from_cache=False),
    "flagged": lambda board, at: board.judged(at, FLAGGED, from_cache=True),
    "gap": lambda board, at: board.gap(at, GapReason.TIMED_OUT, "late"),
    "stays skipped": lambda board, at: board.stays(at, None),
    "stays a gap": lambda board, at: board.stays(at, ChunkRecord(reason=GapReason.REFUSED)),
    "stays clean": lambda board, at: board.stays(at, ChunkRecord(kept=CLEAN)),
    "stands": lambda board, at: board.stands(at, CLEAN),
}


def test_the_table_names_every_state_and_every_state_can_be_reached_and_left_to_an_end() -> None:
    assert set(TRANSITIONS) == set(ChunkState)
    reached, new = set[ChunkState](), {ChunkState.QUEUED}
    while new:
        reached |= new
        new = {after for state in new for after in TRANSITIONS[state]} - reached
    assert reached == set(ChunkState)
    ends = {state for state in ChunkState if state.ended}
    assert all(ends <= TRANSITIONS[state] for state in set(ChunkState) - ends)


@given(st.lists(st.tuples(st.sampled_from(sorted(CALLS)), st.integers(0, COUNT - 1)), max_size=30))
def test_no_calls_lead_out_of_the_table_and_one_that_would_changes_nothing(
    calls: list[tuple[str, int]],
) -> None:
    updates: list[Update] = []
    board = Board(SESSION, PLAN, updates.append)
    for name, at in calls:
        before, told = copy.copy(board.chunks[at]), len(updates)
        calls_before = board.spent.calls
        try:
            CALLS[name](board, at)
        except AssertionError:
            assert board.chunks[at] == before
            assert board.spent.calls == calls_before
            assert len(updates) == told
    for position in range(COUNT):
        states = [ChunkState.QUEUED, *(each.state for each in of_part(updates, position + 1))]
        assert states[-1] is board.chunks[position].state
        for state, after in pairwise(states):
            assert after in TRANSITIONS[state]


def of_part(updates: list[Update], part: int) -> list[ChunkUpdate]:
    return [each for each in updates if isinstance(each, ChunkUpdate) and each.part == part]


def test_every_update_says_how_long_it_has_waited_and_worked_and_why(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 100.0

    def seconds_pass(wait: float) -> None:
        nonlocal now
        now += wait

    updates: list[Update] = []
    board = Board(SESSION, PLAN, updates.append)
    monkeypatch.setattr(boards, "time", SimpleNamespace(monotonic=lambda: now))
    board.waiting(0)
    seconds_pass(3)
    board.queued(0)
    seconds_pass(50)
    board.started(0)
    seconds_pass(2)
    board.stopped(0)
    board.retrying(0, 4.0, GapReason.RATE_LIMITED, "429")
    seconds_pass(4)
    board.started(0)
    seconds_pass(1)
    board.stopped(0)
    board.gap(0, GapReason.PROVIDER_ERROR, "500")
    told = [
        (each.state.value, each.attempt, each.reason, each.waited, each.seconds, each.note)
        for each in of_part(updates, 1)
    ]
    assert told == [
        ("waiting", 0, None, 0, 0, ""),
        ("queued", 0, None, 3, 0, ""),
        ("running", 1, None, 3, 0, ""),
        ("retrying", 1, "rate_limited", 3, 2, "429"),
        ("running", 2, None, 7, 2, ""),
        ("gap", 2, "provider_error", 7, 3, "500"),
    ]


@pytest.mark.parametrize("again", [False, True])
def test_what_was_wrong_with_a_try_is_no_reason_of_what_came_of_it(again: bool) -> None:
    board = Board(SESSION, PLAN, lambda update: None)
    board.started(0)
    board.retrying(0, 0.0, GapReason.UNPARSABLE, "no JSON")
    assert board.chunks[0].reason is None
    board.started(0)
    if again:
        board.gap(0, GapReason.REFUSED)
        board.reopened(0)
        board.started(0)
    board.judged(0, CLEAN, from_cache=False)
    assert board.chunks[0].reason is None
