"""ShareGPT rows: each a session, in the dialects of tools."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from longjudge.sessions import EventKind, load_sessions
from longjudge.sessions.formats.sharegpt import ShareGpt
from retold_for_tests import retell

if TYPE_CHECKING:
    from pathlib import Path

CALL = EventKind.TOOL_CALL
RESULT = EventKind.TOOL_RESULT
USER = EventKind.USER_MESSAGE
SAID = EventKind.ASSISTANT_MESSAGE
SYSTEM = EventKind.SYSTEM
THOUGHT = EventKind.THINKING

Turn = dict[str, object]


def turn(whose: str, value: object) -> Turn:
    return {"from": whose, "value": value}


def tell(*turns: Turn, **row: object) -> list[tuple[EventKind, str]]:
    told = retell(ShareGpt(), [{"conversations": list(turns), **row}])
    return [(event.kind, event.body) for event in told.all_events]


ONE = json.dumps({"name": "f", "arguments": {"a": 1}})
TEXT = json.dumps({"name": "f", "arguments": '{"a": 1}'})
SEVERAL = json.dumps([{"name": "f", "arguments": {"a": 1}}, {"name": "g", "arguments": {}}])


@pytest.mark.parametrize(
    ("turns", "events"),
    [
        (
            [turn("function_call", ONE), turn("observation", "out")],
            [(CALL, "a: 1"), (RESULT, "out")],
        ),
        ([turn("tool_call", TEXT), turn("tool", "out")], [(CALL, "a: 1"), (RESULT, "out")]),
        (
            [turn("function_call", SEVERAL), turn("observation", "1"), turn("observation", "2")],
            [(CALL, "a: 1"), (CALL, ""), (RESULT, "1"), (RESULT, "2")],
        ),
        ([turn("function_call", '{"name": "f", "argum')], [(CALL, '{"name": "f", "argum')]),
        (
            [
                turn(
                    "gpt",
                    f"<think>hm</think>I look.\n<tool_call>\n{ONE}\n</tool_call>\n"
                    f"<tool_call>\n{ONE}\n</tool_call>",
                ),
                turn(
                    "tool",
                    '<tool_response>\n{"name": "f", "content": {"b": 2}}\n</tool_response>\n'
                    "<tool_response>\nout\n</tool_response>",
                ),
            ],
            [
                (THOUGHT, "hm"),
                (SAID, "I look."),
                (CALL, "a: 1"),
                (CALL, "a: 1"),
                (RESULT, '{"b":2}'),
                (RESULT, "out"),
            ],
        ),
        (
            [
                turn(
                    "function_call",
                    "I look.\n<function=f>\n<parameter=a>1</parameter>\n</function>",
                ),
                turn("human", "EXECUTION RESULT of [f]:\nout"),
            ],
            [(SAID, "I look."), (CALL, "a: 1"), (RESULT, "out")],
        ),
    ],
    ids=["call", "text arguments", "several", "cut", "hermes", "written out"],
)
def test_calls_and_results_in_every_dialect(
    turns: list[Turn], events: list[tuple[EventKind, str]]
) -> None:
    told = tell(turn("human", "hi"), *turns, turn("gpt", "bye"))
    assert told == [(USER, "hi"), *events, (SAID, "bye")]


def test_calls_and_results_are_paired_in_their_order() -> None:
    told = retell(
        ShareGpt(),
        [{"conversations": [turn("function_call", SEVERAL), *[turn("observation", "x")] * 2]}],
    )
    ids = [event.call_id for event in told.all_events]
    assert ids[:2] == ids[2:]
    assert ids[0] != ids[1]


def test_the_system_prompt_stands_beside_the_turns_or_among_them() -> None:
    assert tell(turn("human", "hi"), system="be brief")[0] == (SYSTEM, "be brief")
    assert tell(turn("system", "be brief"), turn("human", "hi"))[0] == (SYSTEM, "be brief")


def test_a_chosen_answer_is_part_of_the_row_and_a_rejected_one_is_not() -> None:
    told = retell(
        ShareGpt(),
        [
            {
                "conversations": [turn("human", "hi")],
                "chosen": turn("gpt", "yes"),
                "rejected": turn("gpt", "no"),
            }
        ],
    )
    assert [event.body for event in told.all_events] == ["hi", "yes"]
    assert len(told.notes) == 1


def test_turns_that_are_nobodys_are_skipped_and_said() -> None:
    told = retell(ShareGpt(), [{"conversations": [turn("human", "hi"), turn("narrator", "x")]}])
    assert [event.body for event in told.all_events] == ["hi"]
    assert len(told.skipped) == 1


@pytest.mark.parametrize("wrap", ["array", "lines", "data"])
def test_every_row_is_a_session(tmp_path: Path, wrap: str) -> None:
    rows = [
        {"id": "a", "conversations": [turn("human", "hi"), turn("gpt", "bye")], "tools": "[]"},
        {"conversations": [turn("human", "hi"), turn("gpt", "bye")]},
        {"id": 3, "conversations": [{"role": "user", "content": "ho"}]},
    ]
    texts = {
        "array": json.dumps(rows, indent=1),
        "lines": "".join(json.dumps(each) + "\n" for each in rows),
        "data": json.dumps({"data": rows}),
    }
    path = tmp_path / "rows.json"
    path.write_text(texts[wrap], encoding="utf-8")
    sessions = load_sessions(path)
    assert [(each.format, each.id) for each in sessions] == [
        ("sharegpt", "a"),
        ("sharegpt", "row-2"),
        ("sharegpt", "3"),
    ]
    assert [len(each.index) for each in sessions] == [2, 2, 1]
    for each in sessions:
        each.close()


def test_one_row_in_a_document_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "row.json"
    path.write_text(json.dumps({"conversations": [turn("human", "hi")]}, indent=1))
    (session,) = load_sessions(path)
    assert session.event(0).body == "hi"
    session.close()
