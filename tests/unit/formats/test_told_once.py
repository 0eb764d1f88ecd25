"""Telling a conversation once that its file repeats."""

from __future__ import annotations

import pytest

from longjudge.sessions import Event, EventKind
from longjudge.sessions.formats.known_messages import known_message
from longjudge.sessions.formats.told_once import ToldOnce, events_of

CALL = EventKind.TOOL_CALL
RESULT = EventKind.TOOL_RESULT
ASK = Event(EventKind.USER_MESSAGE, "hi")
SAID = Event(EventKind.ASSISTANT_MESSAGE, "ok")


def call(text: str, id_: str | None = None, tool: str = "f") -> Event:
    return Event(CALL, text, tool, id_)


def gave(text: str, id_: str | None = None, tool: str | None = "f") -> Event:
    return Event(RESULT, text, tool, id_)


class Heard:
    def __init__(self) -> None:
        self.events: list[Event] = []
        self.told = ToldOnce(lambda event, record: self.events.append(event))

    @property
    def bodies(self) -> list[str]:
        return [event.body for event in self.events]


def test_results_without_ids_answer_the_calls_in_their_order() -> None:
    heard = Heard()
    heard.told.request([ASK, call("a"), call("b"), gave("1"), gave("2")], 0)
    heard.told.request([ASK, call("a"), call("b"), gave("1"), gave("2"), SAID], 1)
    assert heard.bodies == ["hi", "a", "b", "1", "2", "ok"]
    assert [event.call_id for event in heard.events if event.kind is RESULT] == [
        event.call_id for event in heard.events if event.kind is CALL
    ]


@pytest.mark.parametrize("known", ["c1", None])
def test_a_tools_record_finds_the_call_by_id_or_by_input(known: str | None) -> None:
    heard = Heard()
    heard.told.answer([call("a: 1", "c1")], 0)
    assert heard.told.run(call("a: 1", known), gave("x", known), 1) == "c1"
    heard.told.request([call("a: 1", "c1"), gave("another rendering", "c1")], 2)
    assert heard.bodies == ["a: 1", "x"]
    assert heard.events[1].call_id == "c1"


def test_a_tools_record_without_input_finds_its_call_by_name() -> None:
    heard = Heard()
    heard.told.answer([call("a: 1", "c1"), call("b: 1", "c2", "g")], 0)
    assert heard.told.run(call("", None, "g"), gave("x", None, "g"), 1) == "c2"


def test_a_model_that_asks_again_calls_again() -> None:
    heard = Heard()
    heard.told.answer([call("a")], 0)
    heard.told.run(call("a"), gave("1"), 1)
    heard.told.answer([call("a")], 2)
    heard.told.run(call("a"), gave("2"), 3)
    assert heard.bodies == ["a", "1", "a", "2"]


def test_a_call_that_the_tool_told_first_is_not_told_by_the_answer() -> None:
    heard = Heard()
    heard.told.run(call("a", "c1"), gave("1", "c1"), 0)
    heard.told.answer([SAID, call("a", "c1")], 1)
    assert heard.bodies == ["a", "1", "ok"]


def test_results_of_no_known_call_are_all_told() -> None:
    heard = Heard()
    heard.told.answer([gave("done", "x"), gave("done", "y"), gave("done", None)], 0)
    assert heard.bodies == ["done"] * 3


def test_last_words_are_told_only_where_nobody_said_them() -> None:
    heard = Heard()
    heard.told.answer([SAID], 0)
    heard.told.last_words([SAID, Event(EventKind.ASSISTANT_MESSAGE, "more")], 1)
    assert heard.bodies == ["ok", "more"]


def test_many_calls_by_one_id_take_no_time() -> None:
    heard = Heard()
    many = [event for n in range(3000) for event in (call(f"{n}", "0"), gave("x", "0"))]
    heard.told.request(many, 0)
    heard.told.request([*many, SAID], 1)
    assert len(heard.events) == len(many) + 1


def test_a_call_that_the_history_gives_another_id_is_the_same_call() -> None:
    heard = Heard()
    heard.told.answer([call("a: 1", "call_1")], 0)
    heard.told.run(call("a: 1"), gave("x"), 1)
    heard.told.request([ASK, call("a: 1", "fc_1"), gave("x", "call_1")], 2)
    heard.told.answer([call("a: 1", "call_2")], 3)
    assert heard.bodies == ["a: 1", "x", "hi", "a: 1"]


@pytest.mark.parametrize("id_", ["0", None])
def test_a_request_that_leaves_out_equal_calls_repeats_the_later_ones(id_: str | None) -> None:
    heard = Heard()
    again = Event(EventKind.USER_MESSAGE, "and again")
    heard.told.request([ASK], 0)
    heard.told.answer([call("a", id_)], 0)
    heard.told.request([ASK, call("a", id_), gave("1", id_)], 1)
    heard.told.answer([SAID], 1)
    heard.told.request([again], 2)
    heard.told.answer([call("a", id_)], 2)
    heard.told.request([again, call("a", id_), gave("1", id_)], 3)
    assert heard.bodies == ["hi", "a", "1", "ok", "and again", "a", "1"]


@pytest.mark.parametrize("id_", ["0", None])
def test_a_request_whose_middle_was_dropped_gives_the_last_result(id_: str | None) -> None:
    heard = Heard()
    for result in ("1", "2", "3"):
        heard.told.answer([call("a", id_)], 0)
        heard.told.request([ASK, call("a", id_), gave(result, id_)], 1)
    assert heard.bodies == ["a", "hi", "1", "a", "2", "a", "3"]


def test_a_request_that_is_sent_again_repeats_the_first_of_equal_calls() -> None:
    heard = Heard()
    heard.told.request([ASK, call("a"), gave("1")], 0)
    heard.told.answer([call("a")], 0)
    heard.told.request([ASK, call("a"), gave("1")], 1)
    assert heard.bodies == ["hi", "a", "1", "a"]


def test_the_same_question_is_asked_again_where_a_trace_begins() -> None:
    heard = Heard()
    for _ in range(2):
        heard.told.begin()
        heard.told.request([ASK], 0)
        heard.told.request([ASK], 0)
        heard.told.answer([SAID], 0)
    assert heard.bodies == ["hi", "ok", "hi", "ok"]


@pytest.mark.parametrize(
    "again",
    [[ASK, SAID], [Event(EventKind.SYSTEM, "give it a title"), ASK]],
    ids=["the conversation goes on", "another agent is asked"],
)
def test_a_trace_that_begins_with_what_was_said_asks_nothing_again(again: list[Event]) -> None:
    heard = Heard()
    heard.told.request([ASK], 0)
    heard.told.answer([SAID], 0)
    heard.told.begin()
    heard.told.request(again, 1)
    assert heard.bodies.count("hi") == 1


def test_a_question_that_nobody_answered_is_asked_once() -> None:
    heard = Heard()
    for _ in range(2):
        heard.told.begin()
        heard.told.request([ASK], 0)
        heard.told.failure(Event(EventKind.ERROR, "overloaded"), 0)
    assert heard.bodies == ["hi", "overloaded"]


def test_a_message_that_every_request_repeats_is_read_once() -> None:
    calls = {"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "f"}}]}
    gave_ = {"role": "tool", "tool_call_id": "c", "content": "out"}
    first, second = (
        events_of(filter(None, map(known_message, (calls, gave_, gave_)))) for _ in range(2)
    )
    assert [one is other for one, other in zip(first, second, strict=True)] == [True] * 3
