"""Conversations between agents: who says what, and whether it is said or thought."""

from __future__ import annotations

from longjudge.sessions import EventKind
from longjudge.sessions.formats.agent_chats import AgentChats
from retold_for_tests import retell

Record = dict[str, object]

AROUND: Record = {"question": "How tall?", "question_ID": "q1", "mistake_agent": "x"}


def shown(*messages: Record, around: Record = AROUND) -> list[tuple[EventKind, str]]:
    told = retell(AgentChats(), {"history": list(messages)}, around)
    return [(event.kind, event.body) for event in told.events()]


def test_every_message_begins_with_its_speaker() -> None:
    assert shown(
        {"role": "human", "content": "How tall?"},
        {"role": "Orchestrator (thought)", "content": "Ask the web."},
        {"role": "Orchestrator (-> WebSurfer)", "content": "Search."},
        {"role": "assistant", "name": "Excel_Expert", "content": "5 m."},
    ) == [
        (EventKind.USER_MESSAGE, "How tall?"),
        (EventKind.THINKING, "Orchestrator: Ask the web."),
        (EventKind.ASSISTANT_MESSAGE, "Orchestrator (-> WebSurfer): Search."),
        (EventKind.ASSISTANT_MESSAGE, "Excel_Expert: 5 m."),
    ]


def test_a_question_that_no_message_repeats_is_told_first() -> None:
    told = shown({"role": "assistant", "name": "A", "content": "5 m."})
    assert told[0] == (EventKind.USER_MESSAGE, "How tall?")


def test_histories_of_others_are_not_taken() -> None:
    message: Record = {"role": "user", "content": "x"}
    assert AgentChats().recognise([message], {}) == 0
    assert AgentChats().recognise([message], None) == 0
    assert AgentChats().recognise([message], AROUND) == 1
