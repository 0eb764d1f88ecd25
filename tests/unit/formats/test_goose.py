"""Goose: calls answered or not made, what only the user was shown, and odd values."""

from __future__ import annotations

import pytest

from longjudge.errors import NotASessionError
from longjudge.sessions import EventKind
from longjudge.sessions.formats.goose import Goose
from longjudge.sessions.recognise import recognise
from retold_for_tests import Told, retell

HEAD: dict[str, object] = {"working_dir": "/w", "description": "The shelf", "message_count": 2}
Block = dict[str, object]
ODD: list[object] = [None, 7, 1e400, True, [], {}, "", [[[]]], [{"type": []}]]


def message(*content: object, role: str = "assistant", created: object = 1760000000) -> Block:
    return {"role": role, "created": created, "content": list(content)}


def said(text: object) -> Block:
    return {"type": "text", "text": text}


def request(call: object, id: object = "c1") -> Block:
    return {"type": "toolRequest", "id": id, "toolCall": call}


def response(result: object, id: object = "c1") -> Block:
    return {"type": "toolResponse", "id": id, "toolResult": result}


def called(name: str, arguments: object) -> Block:
    return {"status": "success", "value": {"name": name, "arguments": arguments}}


def told(*records: Block) -> Told:
    return retell(Goose(), [HEAD, *records])


def test_the_first_line_names_the_session_and_is_no_event() -> None:
    found = told(message(said("Tidy up."), role="user"))
    assert found.sessions[""] == {"title": "The shelf"}
    (event,) = found.events()
    assert (event.kind, event.body) == (EventKind.USER_MESSAGE, "Tidy up.")
    assert event.timestamp == "2025-10-09T08:53:20Z"
    assert not found.notes


def test_a_result_answers_its_call_and_says_whether_it_failed() -> None:
    asked = message(
        request(called("shell", {"command": "ls"}), "c1"),
        request(called("shell", {"command": "cat"}), "c2"),
    )
    gave = message(
        response({"status": "success", "value": [said("a.txt")]}, "c1"),
        response({"status": "error", "error": "no such file"}, "c2"),
        role="user",
    )
    first, second, good, bad = told(asked, gave).events()
    assert (first.kind, first.tool, first.body) == (EventKind.TOOL_CALL, "shell", "command: ls")
    assert (good.kind, good.body, good.is_error) == (EventKind.TOOL_RESULT, "a.txt", False)
    assert (bad.body, bad.is_error) == ("no such file", True)
    assert (good.call_id, bad.call_id) == (first.call_id, second.call_id)


def test_a_result_without_a_status_does_not_say_that_it_failed() -> None:
    (event,) = told(message(response({"value": [said("a.txt")]}), role="user")).events()
    assert (event.body, event.is_error) == ("a.txt", None)


def test_a_call_that_could_not_be_made_is_an_error() -> None:
    failed = request({"status": "error", "error": "missing field `path`"}, "c3")
    (event,) = told(message(failed)).events()
    assert (event.kind, event.body) == (EventKind.ERROR, "missing field `path`")
    assert (event.call_id, event.text) == ("c3", "error\nmissing field `path`")


def test_what_repeats_a_result_for_the_user_is_told_once() -> None:
    value = [
        {**said("a.txt"), "annotations": {"audience": ["assistant"]}},
        {**said("a.txt"), "annotations": {"audience": ["user"], "priority": 0.0}},
        {**said("b.txt"), "annotations": {"audience": ["user", "assistant"]}},
    ]
    (event,) = told(message(response({"status": "success", "value": value}))).events()
    assert event.body == "a.txt\nb.txt"


def test_a_result_that_only_the_user_got_is_kept() -> None:
    value = [{**said("a.txt"), "annotations": {"audience": ["user"]}}]
    (event,) = told(message(response({"status": "success", "value": value}))).events()
    assert event.body == "a.txt"


def test_a_notice_of_the_harness_is_no_word_of_the_user() -> None:
    notice = {"type": "contextLengthExceeded", "msg": "Summarised."}
    (event,) = told(message(notice, role="user")).events()
    assert (event.kind, event.body) == (EventKind.SYSTEM, "Summarised.")


def test_texts_and_images_are_one_message_and_thinking_another() -> None:
    image = {"type": "image", "data": "aGVsbG8=", "mimeType": "image/png"}
    thinking = {"type": "thinking", "thinking": "Hm.", "signature": "x"}
    found = told(message(image, said("This?"), role="user"), message(thinking, said("Yes.")))
    assert [(event.kind, event.body) for event in found.events()] == [
        (EventKind.USER_MESSAGE, "[image/png, 5 B]\nThis?"),
        (EventKind.THINKING, "Hm."),
        (EventKind.ASSISTANT_MESSAGE, "Yes."),
    ]


def test_a_session_in_which_nobody_spoke_is_refused() -> None:
    with pytest.raises(NotASessionError, match="nobody spoke"):
        told()


def test_what_is_no_event_is_said_by_its_kind() -> None:
    found = told(message({"type": "mood"}, said("x")), message(said(7)), message(), {"tide": 1})
    assert [event.body for event in found.events()] == ["x"]
    assert [reason for reason, *_ in found.notes] == [
        "mood blocks, no events",
        "messages without content",
        "records of tide, no events",
    ]
    assert found.skipped == [("text blocks that cannot be read", 2)]


def test_a_value_that_is_too_deep_costs_its_block_only() -> None:
    deep: object = "x"
    for _ in range(10_000):
        deep = [deep]
    found = told(message(said("Look."), request(called("shell", {"command": deep}))))
    assert [event.body for event in found.events()] == ["Look."]
    assert [number for _, number in found.skipped] == [1]


@pytest.mark.parametrize("value", ODD)
def test_odd_values_never_raise(value: object) -> None:
    call, result = called("shell", {}), {"status": "success", "value": [said("x")]}
    blocks: list[object] = [value]
    blocks += [{**request(call), key: value} for key in ("type", "id", "toolCall")]
    blocks += [request({**call, key: value}) for key in ("status", "value")]
    blocks += [request({"status": "success", "value": {"name": value, "arguments": value}})]
    blocks += [{**response(result), key: value} for key in ("type", "id", "toolResult")]
    blocks += [response({**result, key: value}) for key in ("status", "value")]
    blocks += [response({"status": "error", "error": value})]
    blocks += [response({"value": [{**said("x"), "annotations": {"audience": value}}, value]})]
    blocks += [{"type": "contextLengthExceeded", "msg": value}, {"type": "thinking"}]
    blocks += [{"type": "thinking", "thinking": value}, {"type": "image", "data": value}]
    records = [message(block) for block in [*blocks, said(value)]]
    records += [{**message(said("x")), key: value} for key in ("role", "created", "content")]
    records += [{**HEAD, "description": value}]
    assert 0 <= Goose().recognise(records, None) <= 1
    found = told(*records)
    assert found.all_events
    assert found.skipped


def test_it_is_recognised_by_its_head_or_by_a_block_of_its_own() -> None:
    asked = message(request(called("shell", {"command": "ls"})))
    assert recognise([HEAD, message(said("hi"), role="user")]).name == "goose"
    assert recognise([message(said("hi"), role="user"), asked]).name == "goose"


@pytest.mark.parametrize(
    "record",
    [
        {"role": "user", "content": "hi"},
        {"role": "user", "content": [{"type": "text", "text": "hi"}], "created": 1760000000},
        {"role": "assistant", "content": [{"type": "toolRequest"}]},
        {"working_dir": "/w", "description": "a task"},
    ],
)
def test_other_logs_are_not_taken_for_it(record: Block) -> None:
    assert Goose().recognise([record], None) == 0.0
