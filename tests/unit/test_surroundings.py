"""An event among its neighbours."""

from __future__ import annotations

import pytest

from longjudge.redaction import unredacted
from longjudge.sessions import session_from_events
from longjudge.sessions.model import Thread
from longjudge_tui.bench.surroundings import NEAR, SLOW_NEIGHBOUR_CHARS, neighbours, surroundings


def message(number, text=""):
    return {"kind": "assistant_message", "text": text or f"message {number}"}


def call(name):
    return {"kind": "tool_call", "tool": "Bash", "call_id": name, "input": {"command": name}}


def result(name):
    return {"kind": "tool_result", "call_id": name, "output": f"output of {name}"}


@pytest.fixture
def session():
    """A call (3) whose result (20) comes long after it."""
    events = [message(number) for number in range(30)]
    events[3], events[20] = call("push"), result("push")
    return session_from_events(events)


def test_the_nearest_events_are_shown(session):
    assert neighbours(session, 12) == list(range(12 - NEAR, 12 + NEAR + 1))
    assert neighbours(session, 0) == list(range(NEAR + 1))


def test_a_call_comes_with_its_result_and_a_result_with_its_call(session):
    assert 20 in neighbours(session, 3)
    assert 3 in neighbours(session, 20)
    assert 3 not in neighbours(session, 19)


def test_no_event_of_another_thread_is_a_neighbour(session):
    session.index.seal((Thread("main", 0, 10), Thread("sub", 10, 30)))
    assert neighbours(session, 9) == list(range(9 - NEAR, 10))
    assert neighbours(session, 11) == list(range(10, 11 + NEAR + 1))
    assert 3 not in neighbours(session, 20)


def test_the_event_stands_under_its_header_with_its_whole_text(session):
    shown = session.text(3)
    around = surroundings(session, 3, unredacted(shown))
    assert around.text[around.start : around.start + len(shown)] == shown
    heads = [around.text[low:high] for low, high in around.heads]
    assert heads[3].startswith("▶▶ event 3 · tool_call Bash")
    assert "answers event 3" in heads[-1]
    assert (around.first, around.last) == (0, 20)
    assert "output of push" in around.text


def test_a_long_neighbour_is_cut_and_a_huge_one_only_named():
    events = [message(0, "long " * 1_000), message(1), message(2, "x" * SLOW_NEIGHBOUR_CHARS)]
    around = surroundings(session_from_events(events), 1, unredacted("shown"))
    assert "(… 3,500 characters more)" in around.text
    assert f"({SLOW_NEIGHBOUR_CHARS + 18:,} characters, shown by itself only)" in around.text
    assert len(around.text) < 3_000
