"""Samples of Inspect logs: the conversation, its subagents, what compaction took from it."""

from __future__ import annotations

import pytest

from longjudge.errors import NotASessionError
from longjudge.sessions import EventKind, Severity
from longjudge.sessions.formats.inspect_log import BESIDE, EMPTY, NO_ATTACHMENT, InspectLog
from longjudge.sessions.formats.inspect_samples import ITEMS, PART, PREFIX, START
from retold_for_tests import Told, retell

Record = dict[str, object]

CALL = EventKind.TOOL_CALL
RESULT = EventKind.TOOL_RESULT
USER = EventKind.USER_MESSAGE
SAID = EventKind.ASSISTANT_MESSAGE
THINKING = EventKind.THINKING
SYSTEM = EventKind.SYSTEM
ERROR = EventKind.ERROR


def user(id_: str, content: object, **more: object) -> Record:
    return {"id": id_, "role": "user", "content": content, **more}


def answer(id_: str, content: object, **more: object) -> Record:
    return {"id": id_, "role": "assistant", "content": content, **more}


def asks(id_: str, tool: str, call_id: str) -> Record:
    call = {"id": call_id, "function": tool, "arguments": {"cmd": "ls"}, "type": "function"}
    return answer(id_, "", tool_calls=[call])


def result(id_: str, call_id: str, content: str, **more: object) -> Record:
    message = {"id": id_, "role": "tool", "content": content, "tool_call_id": call_id}
    return {**message, "function": "bash", **more}


def sample(*messages: Record, **more: object) -> Record:
    return {"id": 1, "epoch": 2, "input": "Do it.", "messages": list(messages), **more}


def model(given: list[Record], said: Record, span: str | None = None, **more: object) -> Record:
    return {
        "event": "model",
        "span_id": span,
        "timestamp": "2026-01-01T00:00:00Z",
        "completed": "2026-01-01T00:00:05Z",
        "input": given,
        "output": {"choices": [{"message": said}]},
        **more,
    }


def span(id_: str, type_: str, name: str, parent: str | None = None) -> Record:
    return {"event": "span_begin", "id": id_, "type": type_, "name": name, "parent_id": parent}


def tool(call_id: str, function: str, span_id: str | None = None, **more: object) -> Record:
    event = {"event": "tool", "id": call_id, "function": function, "span_id": span_id}
    return {**event, "completed": "2026-01-01T00:00:09Z", **more}


def read(*samples: Record) -> Told:
    return retell(InspectLog(), {"samples": list(samples)})


def shown(told: Told, thread: str = "main") -> list[tuple[EventKind, str]]:
    return [(event.kind, event.body) for event in told.events("0", thread)]


def test_messages_are_told_once_though_events_repeat_them() -> None:
    talk = [user("m1", "Do it."), asks("m2", "bash", "c1"), result("m3", "c1", "a.py")]
    last = answer("m4", "Done.")
    events = [model(talk[:1], talk[1]), tool("c1", "bash"), model(talk, last)]
    told = read(sample(*talk, last, events=events))
    assert shown(told) == [
        (USER, "Do it."),
        (CALL, "cmd: ls"),
        (RESULT, "a.py"),
        (SAID, "Done."),
    ]
    assert [event.timestamp for event in told.events("0")] == [
        None,
        "2026-01-01T00:00:05Z",
        "2026-01-01T00:00:09Z",
        "2026-01-01T00:00:05Z",
    ]
    assert told.events("0")[2].call_id == "c1"


def test_every_sample_is_a_session_named_by_id_epoch_and_score() -> None:
    told = read(
        sample(user("a", "Do it."), scores={"includes": {"value": "C"}}),
        sample(user("b", "Do it."), id="x", epoch=1, error={"message": "out of memory"}),
    )
    assert told.sessions["0"]["id"] == "1_epoch_2"
    assert told.sessions["0"]["title"] == "sample 1, epoch 2, includes C: Do it."
    assert told.sessions["1"]["title"] == "sample x, epoch 1, error: Do it."
    assert told.events("1")[-1].kind is ERROR
    assert told.events("1")[-1].body == "out of memory"


@pytest.mark.parametrize("old", [False, True])
def test_attachments_are_read_in_their_place(old: bool) -> None:
    name = "tc://ab" if old else "attachment://ab"
    kept: Record = {"ab": "A long text."}
    where: Record = {"transcript": {"content": kept}} if old else {"attachments": kept}
    call = {"id": "c", "function": "bash", "arguments": {"cmd": name}}
    told = read(sample(user("a", name), answer("b", "", tool_calls=[call]), **where))
    assert shown(told) == [(USER, "A long text."), (CALL, "cmd: A long text.")]
    assert not told.notes


def test_an_attachment_that_is_missing_is_a_warning() -> None:
    told = read(sample(user("a", "attachment://gone")))
    assert shown(told) == [(USER, "attachment://gone")]
    assert (NO_ATTACHMENT, Severity.WARNING) in [(note[0], note[2]) for note in told.notes]


def test_blocks_of_content_have_their_kinds() -> None:
    told = read(
        sample(
            user("a", [{"type": "image", "image": "data:image/png;base64,AAAA"}]),
            answer(
                "b",
                [
                    {"type": "reasoning", "reasoning": "Hm."},
                    {"type": "reasoning", "reasoning": "gAAA", "redacted": True},
                    {
                        "type": "tool_use",
                        "tool_type": "web_search",
                        "id": "s1",
                        "name": "web_search",
                        "arguments": '{"query": "x"}',
                        "result": "found",
                    },
                    {"type": "text", "text": "There."},
                ],
            ),
        )
    )
    assert shown(told) == [
        (USER, "[image/png, 3 B]"),
        (THINKING, "Hm."),
        (THINKING, "[redacted]"),
        (CALL, "query: x"),
        (RESULT, "found"),
        (SAID, "There."),
    ]


def test_a_call_that_failed_says_so() -> None:
    fault = {"type": "timeout", "message": "took too long"}
    told = read(sample(asks("a", "bash", "c1"), result("b", "c1", "", error=fault)))
    failed = told.events("0")[-1]
    assert (failed.body, failed.is_error, failed.tool) == ("took too long", True, "bash")


def with_subagent(**of_call: object) -> Record:
    main = [user("m1", "Do it."), asks("m2", "research", "c1"), result("m3", "c1", "found")]
    asked, found = user("s1", "Research x."), answer("s2", "I found x.")
    return sample(
        *main,
        answer("m4", "Done."),
        events=[
            span("main", "agent", "react"),
            model(main[:1], main[1], "main"),
            span("run", "tool", "research", "main"),
            tool("c1", "research", "main", **of_call),
            span("sub", "agent", "researcher", "run"),
            model([asked], found, "sub"),
            model([asked, found, user("s3", "More.")], answer("s4", "That is all."), "sub"),
            model(main, answer("m4", "Done."), "main"),
        ],
    )


@pytest.mark.parametrize("of_call", [{}, {"agent_span_id": "sub"}])
def test_a_subagent_is_a_thread_that_its_call_started(of_call: Record) -> None:
    told = read(with_subagent(**of_call))
    assert shown(told)[-1] == (SAID, "Done.")
    assert shown(told, "researcher") == [
        (USER, "Research x."),
        (SAID, "I found x."),
        (USER, "More."),
        (SAID, "That is all."),
    ]
    assert told.links == {("0", "researcher"): "c1"}


def test_an_agent_whose_answers_the_conversation_holds_is_no_subagent() -> None:
    said = answer("m2", "Done.")
    told = read(
        sample(
            user("m1", "Do it."),
            said,
            events=[span("a", "agent", "helper"), model([user("m1", "Do it.")], said, "a")],
        )
    )
    assert list(told.by_thread) == [("0", "main")]


def test_what_an_agent_does_after_a_hand_off_is_read_where_it_was_not_made_text_of() -> None:
    main = [user("m1", "Do it."), asks("m2", "transfer_to_helper", "c1")]
    handed = result("m3", "c1", "Transferred.")
    called, found = asks("h1", "bash", "c2"), result("h2", "c2", "a.py")
    as_text = [answer("h1", "[helper] bash(ls)"), user("h2", "a.py"), answer("m4", "Done.")]
    told = read(
        sample(
            *(*main, handed, *as_text),
            events=[
                span("main", "agent", "react"),
                model(main[:1], main[1], "main"),
                span("hand", "handoff", "helper", "main"),
                span("run", "tool", "transfer_to_helper", "hand"),
                tool("c1", "transfer_to_helper", "main", agent="helper", message_id="m3"),
                span("sub", "agent", "helper", "run"),
                model([*main, handed], called, "sub"),
                tool("c2", "bash", "sub", message_id="h2"),
                model([*main, handed, called, found], answer("h3", "Ready."), "sub"),
                model([*main, handed, *as_text[:2]], as_text[2], "main"),
            ],
        )
    )
    assert [kind for kind, _ in shown(told)] == [USER, CALL, RESULT, SAID]
    assert shown(told, "helper") == [(CALL, "cmd: ls"), (RESULT, "a.py"), (SAID, "Ready.")]
    assert told.links == {("0", "helper"): "c1"}


def test_two_subagents_of_one_name_are_two_threads() -> None:
    talk = [user("m1", "Do it."), answer("m2", "Done.")]
    events = [
        *(span("a", "agent", "helper"), model([user("x", "One?")], answer("y", "1"), "a")),
        *(span("b", "agent", "helper"), model([user("z", "Two?")], answer("w", "2"), "b")),
    ]
    told = read(sample(*talk, events=events))
    assert shown(told, "helper")[-1] == (SAID, "1")
    assert shown(told, "helper#2")[-1] == (SAID, "2")


def test_a_model_that_plays_a_role_and_goes_on_is_a_thread() -> None:
    talk = [user("m1", "Audit."), answer("m2", "Done.")]
    one, two = user("t1", "Hi."), answer("t2", "Hello.")
    events = [
        model([one], two, role="target"),
        model([one, two, user("t3", "Bye.")], answer("t4", "Bye!"), role="target"),
    ]
    told = read(sample(*talk, events=events))
    assert [body for _, body in shown(told, "target")] == ["Hi.", "Hello.", "Bye.", "Bye!"]


def test_what_scorers_ask_is_no_part_of_the_session() -> None:
    talk = [user("m1", "Do it."), answer("m2", "Done.")]
    events = [
        span("s", "scorers", "scorers"),
        span("g", "scorer", "graded", "s"),
        model([user("x", "Is it right?")], answer("y", "GRADE: C"), "g"),
    ]
    told = read(sample(*talk, events=events))
    assert shown(told) == [(USER, "Do it."), (SAID, "Done.")]
    assert not told.notes


def test_a_second_opinion_is_left_out_and_counted() -> None:
    talk = [user("m1", "Do it."), answer("m2", "Done.")]
    told = read(sample(*talk, events=[model([user("x", "Criticise.")], answer("y", "Bad."))]))
    assert shown(told) == [(USER, "Do it."), (SAID, "Done.")]
    assert [(note[0], note[3]) for note in told.notes] == [(BESIDE, 1)]


def test_messages_lost_to_compaction_stand_where_they_were_said() -> None:
    first, early = user("m1", "Do it."), asks("m2", "bash", "c1")
    found, late = result("m3", "c1", "a.py"), answer("m5", "Done.")
    summary = user("m4", "Summary: listed.", metadata={"summary": True})
    prompt = user("p", "Summarise all that.")
    told = read(
        sample(
            *(first, summary, late),
            events=[
                model([first], early),
                model([first, early, found, prompt], answer("s", "Summary: listed.")),
                {"event": "compaction", "type": "summary"},
                model([first, summary], late),
            ],
        )
    )
    assert shown(told) == [
        (USER, "Do it."),
        (CALL, "cmd: ls"),
        (RESULT, "a.py"),
        (SYSTEM, "Summary: listed."),
        (SAID, "Done."),
    ]


def test_a_sample_that_broke_off_is_told_from_its_events() -> None:
    first, said = user("m1", "Do it."), asks("m2", "bash", "c1")
    later = result("m3", "c1", "a.py")
    events = [model([first], said), model([first, said, later], answer("m4", "Hm."))]
    told = read(sample(events=events, error={"message": "killed"}))
    assert [kind for kind, _ in shown(told)] == [USER, CALL, RESULT, SAID, ERROR]


@pytest.mark.parametrize("asked", ["Do it.", [{"role": "user", "content": "Do it."}]])
def test_a_sample_that_got_no_answer_tells_what_it_asked(asked: object) -> None:
    assert shown(read({**sample(), "input": asked})) == [(USER, "Do it.")]


def test_a_sample_without_anything_is_counted() -> None:
    assert read({**sample(), "input": ""}).skipped == [(EMPTY, 0)]


def test_a_limit_that_ended_a_sample_is_told() -> None:
    told = read(sample(user("a", "Do it."), limit={"type": "token", "limit": 1000}))
    assert shown(told)[-1] == (SYSTEM, "limit reached: token 1000")


def test_pooled_messages_are_found_by_their_range() -> None:
    pool = [user("s1", "Research x."), answer("s2", "x"), user("s3", "More.")]
    talk = [user("m1", "Do it."), answer("m2", "Done.")]
    events = [
        span("sub", "agent", "helper"),
        model([], answer("s4", "All."), "sub", input_refs=[[0, 3], [7, 99]]),
    ]
    told = read(sample(*talk, events=events, events_data={"messages": pool, "calls": []}))
    assert [body for _, body in shown(told, "helper")] == ["Research x.", "x", "More.", "All."]


def test_ranges_that_are_made_up_end() -> None:
    pool: list[Record] = [{}]
    refs = [[0, 10**9], [-5, 2], ["a", 1], None] * 1000
    events = [model([], answer("y", "z"), input_refs=refs)]
    told = read(sample(user("a", "Do it."), answer("b", "c"), events=events, message_pool=pool))
    assert len(shown(told)) == 2


def chunk(part: str, items: object, start: int = 0) -> Record:
    return {PART: part, PREFIX: "samples/1_epoch_1", START: start, ITEMS: items}


def test_a_sample_in_chunks_is_put_together() -> None:
    shell = {"id": 1, "epoch": 1, "input": "attachment://0", "message_refs": [[0, 1], [2, 4]]}
    records = [
        chunk("attachments", ["Do it.", "A"]),
        chunk("attachments", ["B"], 2),
        chunk("messages", [user("a", "attachment://0"), answer("x", "attachment://1")]),
        chunk("messages", [answer("b", "attachment://2"), user("c", "attachment://9")], 2),
        chunk("events", [model([], answer("b", "attachment://2"), input_refs=[[0, 1]])]),
        chunk("sample", shell),
    ]
    told = retell(InspectLog(), records)
    assert InspectLog().recognise(records, None) == 1
    assert [event.body for event in told.events("5")] == ["Do it.", "B", "attachment://9"]
    assert told.records == [2, 3, 3]
    assert told.sessions["5"]["title"] == "sample 1, epoch 1: Do it."


def test_a_log_without_samples_says_how_it_ended() -> None:
    log: Record = {"version": 2, "status": "error", "eval": {"task": "t"}, "plan": {}}
    assert InspectLog().recognise([log], None) == 1
    with pytest.raises(NotASessionError, match=r"without samples .its status: error"):
        retell(InspectLog(), [log])


def test_rings_of_spans_and_values_of_any_shape_are_survived() -> None:
    told = read(
        sample(
            user("a", "Do it."),
            {"role": "assistant", "content": None, "tool_calls": [None, {"function": 3}]},
            events=[
                span("x", "agent", "x", "y"),
                span("y", "agent", "y", "x"),
                model([], {}, "x"),
                {"event": "model", "output": {"choices": [None]}, "input_refs": 3},
                {"event": "tool", "id": 4},
                {"event": "span_begin", "id": None},
            ],
            attachments=[1],
            scores=3,
        )
    )
    assert shown(told)[0] == (USER, "Do it.")
