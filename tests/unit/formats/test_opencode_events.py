"""Later events of OpenCode's server: what happened, one after the other, is told once."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from longjudge.sessions import EventKind, Severity, load_sessions
from longjudge.sessions.formats.opencode import OpenCode
from longjudge.sessions.records import NOT_JSON, UNFINISHED
from longjudge.sessions.values import is_object
from retold_for_tests import Told, retell

if TYPE_CHECKING:
    from pathlib import Path

Record = dict[str, object]

CALL, RESULT = EventKind.TOOL_CALL, EventKind.TOOL_RESULT
USER, SAID = EventKind.USER_MESSAGE, EventKind.ASSISTANT_MESSAGE
SYSTEM, THINKING, ERROR = EventKind.SYSTEM, EventKind.THINKING, EventKind.ERROR
TIME = 1_780_000_000_000


def next_(type_: str, **properties: object) -> Record:
    said = {"timestamp": TIME, "sessionID": "ses_1", **properties}
    return {"id": f"evt_{type_}", "type": f"session.next.{type_}", "properties": said}


def in_answer(type_: str, of: str = "msg_2", **properties: object) -> Record:
    return next_(type_, assistantMessageID=of, **properties)


def properties_of(record: Record) -> Record:
    properties = record["properties"]
    assert is_object(properties)
    return properties


def newest(record: Record) -> Record:
    """The same event as the newest servers send it."""
    properties = dict(properties_of(record))
    del properties["timestamp"]
    if "textID" in properties:
        properties["ordinal"] = int(str(properties.pop("textID")))
    type_ = str(record["type"]).replace("session.next.", "session.") + ".1"
    return {"id": record["id"], "type": type_, "created": TIME, "durable": {}, "data": properties}


RUN = [
    next_("prompt.admitted", messageID="msg_1", prompt={"text": "go"}),
    next_("prompted", messageID="msg_1", prompt={"text": "go", "files": [{"uri": "f.txt"}]}),
    in_answer("step.started", agent="build"),
    in_answer("reasoning.started", reasoningID="1"),
    in_answer("reasoning.delta", reasoningID="1", delta="hm"),
    in_answer("reasoning.ended", reasoningID="1", text="hmm"),
    in_answer("text.started", textID="1"),
    in_answer("text.delta", textID="1", delta="I lo"),
    in_answer("text.ended", textID="1", text="I look."),
    in_answer("tool.input.started", callID="c1", name="bash"),
    in_answer("tool.input.delta", callID="c1", delta='{"co'),
    in_answer("tool.input.ended", callID="c1", text='{"command":"ls"}'),
    in_answer("tool.called", callID="c1", input={"command": "ls"}),
    in_answer("tool.progress", callID="c1", content=[{"type": "text", "text": "a"}]),
    in_answer("tool.success", callID="c1", content=[{"type": "text", "text": "a b"}]),
    in_answer("tool.called", callID="c2", tool="read", input={"path": "x"}),
    in_answer("tool.failed", callID="c2", error={"type": "unknown", "message": "no file"}),
    in_answer("text.ended", textID="2", text="Done."),
    in_answer("step.ended", finish="stop", tokens={}),
]
TOLD = [
    (USER, "go"),
    (SYSTEM, "attached f.txt"),
    (THINKING, "hmm"),
    (SAID, "I look."),
    (CALL, "command: ls"),
    (RESULT, "a b"),
    (CALL, "path: x"),
    (RESULT, "no file"),
    (SAID, "Done."),
]


def read(*records: Record) -> Told:
    return retell(OpenCode(), list(records))


def shown(told: Told) -> list[tuple[EventKind, str]]:
    return [(event.kind, event.body) for event in told.events("ses_1")]


@pytest.mark.parametrize("sent", [dict[str, object], newest], ids=["next", "newest"])
def test_a_run_is_told_once_from_what_happened(sent: type) -> None:
    records = [sent(record) for record in RUN]
    assert OpenCode().recognise(records, None) == 1
    told = read(*records)
    events = told.events("ses_1")
    assert [(event.kind, event.body) for event in events] == TOLD
    calls = [(e.tool, e.call_id, e.is_error) for e in events if e.kind in (CALL, RESULT)]
    assert calls[:2] == [("bash", "c1", None), ("bash", "c1", False)]
    assert calls[2:] == [("read", "c2", None), ("read", "c2", True)]
    assert {event.timestamp for event in events} == {"2026-05-28T20:26:40Z"}
    assert told.notes == told.skipped == []


def test_what_was_cut_off_is_told_as_far_as_it_came() -> None:
    told = read(
        in_answer("reasoning.delta", reasoningID="r", delta="I th"),
        in_answer("reasoning.delta", reasoningID="r", delta="ink"),
        in_answer("text.delta", textID="t", delta="I sa"),
        in_answer("text.delta", textID="t", delta="id"),
        in_answer("tool.input.started", callID="c", name="bash"),
        in_answer("tool.input.ended", callID="c", text='{"command":"ls"}'),
        in_answer("tool.progress", callID="c", content=[{"type": "text", "text": "half"}]),
    )
    said = [(THINKING, "I think"), (SAID, "I said"), (CALL, "command: ls"), (RESULT, "half")]
    assert shown(told) == said
    assert told.events("ses_1")[-1].is_error is None


def test_what_names_no_message_or_part_is_never_taken_for_another() -> None:
    told = read(
        {
            "type": "session.next.prompted",
            "properties": {"sessionID": "ses_1", "prompt": {"text": "a"}},
        },
        {
            "type": "session.next.prompted",
            "properties": {"sessionID": "ses_1", "prompt": {"text": "b"}},
        },
        next_("text.ended", text="one"),
        next_("text.ended", text="two"),
        next_("text.delta", delta="th"),
    )
    assert [body for _, body in shown(told)] == ["a", "b", "one", "two"]
    assert [note[0] for note in told.notes] == [
        "pieces of text that do not say what they belong to"
    ]


def test_a_server_that_sends_both_kinds_is_told_by_the_earlier_ones() -> None:
    def earlier(id_: str, role: str, text: str) -> list[Record]:
        about = {"id": id_, "sessionID": "ses_1", "role": role, "time": {"created": TIME}}
        part = {"id": f"p {id_}", "messageID": id_, "sessionID": "ses_1", "type": "text"}
        return [
            {"type": "message.updated", "properties": {"info": about}},
            {"type": "message.part.updated", "properties": {"part": {**part, "text": text}}},
        ]

    both = [*earlier("msg_1", "user", "go"), *RUN, *earlier("msg_2", "assistant", "I look.")]
    told = read(*both)
    assert shown(told) == [(USER, "go"), (SAID, "I look.")]
    reason = "messages that later events tell once more"
    assert told.notes == [(reason, None, Severity.INFO, 2)]
    # The answers are not lost where only what the user said was sent in both ways.
    assert shown(read(*earlier("msg_1", "user", "go"), *RUN)) == [TOLD[0], *TOLD[2:]]


def test_what_else_happens_in_a_session_is_the_systems_or_an_error() -> None:
    told = read(
        next_("created", title="A title"),
        next_("synthetic", messageID="m1", text="put in"),
        next_("shell.started", messageID="m2", callID="s", command="pwd"),
        next_("shell.ended", callID="s", output="/home"),
        next_("retried", attempt=1, error={"message": "busy"}),
        next_("compaction.ended", messageID="m3", text="in short"),
        in_answer("step.failed", of="m4", error={"message": "broke"}),
        next_("execution.failed", error={"message": "broke"}),
        next_("revert.committed", messageID="m2"),
        next_("agent.switched", agent="plan"),
    )
    assert shown(told) == [
        (SYSTEM, "put in"),
        (CALL, "command: pwd"),
        (RESULT, "/home"),
        (ERROR, "busy"),
        (SYSTEM, "The conversation was compacted:\nin short"),
        (ERROR, "broke"),
    ]
    assert told.sessions["ses_1"]["title"] == "A title"
    assert [note[0] for note in told.notes] == [
        "the last messages were undone by the user, and are kept here"
    ]


def test_a_call_that_starts_a_session_is_linked_to_its_thread() -> None:
    child = {"sessionID": "ses_2", "messageID": "m9", "prompt": {"text": "help"}}
    told = read(
        in_answer("tool.called", callID="c", tool="task", input={}),
        next_("prompted", **child),
        in_answer("tool.success", callID="c", structured={"sessionID": "ses_2"}, content=[]),
    )
    assert [event.body for event in told.events("ses_1", "ses_2")] == ["help"]
    assert told.links == {("ses_1", "ses_2"): "c"}


def test_events_of_an_unknown_type_are_counted_and_texts_of_them_are_lost() -> None:
    told = read(RUN[0], next_("omen", sign="x"), next_("oracle", text="words"))
    assert told.notes == [("events of type session.next.omen", 1, Severity.INFO, 1)]
    assert told.skipped == [("events of type session.next.oracle", 2)]


@pytest.mark.parametrize("record", [*RUN, next_("shell.ended"), next_("created")])
def test_any_value_in_any_place_is_told_or_left_out(record: Record) -> None:
    odd: tuple[object, ...] = (None, 1, "x", [], {}, [1], [None], {"a": {"b": []}}, [{"x": 1}])
    properties = properties_of(record)
    for name in [*properties, "info", "shell", "input", "error"]:
        for value in odd:
            read(
                next_("text.ended", text="x"), {**record, "properties": {**properties, name: value}}
            )


@pytest.mark.parametrize("first", [{"type": "server.connected", "properties": {}}, RUN[2]])
def test_a_stream_that_was_saved_as_it_came_is_read_line_by_line(
    tmp_path: Path, first: Record
) -> None:
    sent = "".join(f"event: message\ndata: {json.dumps(each)}\n\n" for each in [first, *RUN])
    path = tmp_path / "events.log"
    path.write_text(": hello\n" + sent + 'torn\n\ndata: {"type": "session.next.te')
    (session,) = load_sessions(path)
    assert [session.event(number).body for number in range(9)] == [body for _, body in TOLD]
    assert (session.format, session.line(0), session.skipped_lines) == ("opencode", 9, 2)
    assert [(note.reason, note.severity) for note in session.diagnostics] == [
        (NOT_JSON, Severity.WARNING),
        (UNFINISHED, Severity.INFO),
    ]
    session.close()
