"""tau-bench and tau2-bench: runs, the customer's own tools, examples written as text, voice."""

from __future__ import annotations

import pytest

from longjudge.errors import NotASessionError
from longjudge.sessions import EventKind, Severity
from longjudge.sessions.formats.tau_bench import EMPTY, UNRECORDED, USER_THREAD, TauBench
from retold_for_tests import retell

Record = dict[str, object]

CALL = EventKind.TOOL_CALL
RESULT = EventKind.TOOL_RESULT
USER = EventKind.USER_MESSAGE
SAID = EventKind.ASSISTANT_MESSAGE
THINKING = EventKind.THINKING
SYSTEM = EventKind.SYSTEM


def turn(role: str, content: object, **more: object) -> Record:
    return {"role": role, "content": content, **more}


def call(name: str, by: str = "assistant", call_id: str = "c1") -> list[Record]:
    return [{"id": call_id, "name": name, "arguments": {"id": "7"}, "requestor": by}]


def chat_call(name: str) -> list[Record]:
    return [{"id": "c1", "function": {"name": name, "arguments": '{"id": "7"}'}}]


def run(*messages: Record, **more: object) -> Record:
    return {"task_id": 3, "trial": 1, "reward": 0.0, "traj": list(messages), **more}


def simulated(*messages: Record, **more: object) -> Record:
    return {
        "id": "s",
        "task_id": "3",
        "trial": 0,
        "messages": list(messages),
        "termination_reason": "user_stop",
        "reward_info": {"reward": 1.0},
        **more,
    }


def test_every_run_is_a_session_named_by_its_task_and_trial() -> None:
    talk = (turn("system", "Policy."), turn("user", "Hi."), turn("assistant", "Hello."))
    told = retell(TauBench(), [run(*talk), run(*talk, task_id=4)])
    assert [event.kind for event in told.events("0")] == [SYSTEM, USER, SAID]
    assert told.sessions["0"]["id"] == "3_1"
    assert told.sessions["0"]["title"] == "task 3, trial 1, reward 0"
    assert told.sessions["1"]["id"] == "4_1"


def test_calls_and_results_of_the_agent_are_read() -> None:
    told = retell(
        TauBench(),
        [
            run(
                turn("assistant", None, tool_calls=chat_call("get_order")),
                turn("tool", "sent", name="get_order", tool_call_id="c1"),
            )
        ],
    )
    asked, answer = told.events("0")
    assert (asked.tool, asked.body, asked.call_id) == ("get_order", "id: 7", "c1")
    assert (answer.kind, answer.call_id) == (RESULT, "c1")


def test_what_the_simulated_customer_calls_stands_apart() -> None:
    told = retell(
        TauBench(),
        [
            simulated(
                turn("user", "My phone is dead.", tool_calls=call("check_sim", "user", "u1")),
                turn("tool", "no SIM", id="u1", requestor="user", error=False),
                turn("assistant", None, tool_calls=call("lookup")),
                turn("tool", "not found", id="c1", requestor="assistant", error=True),
            )
        ],
    )
    assert [(event.kind, event.tool) for event in told.events("0")] == [
        (USER, None),
        (CALL, "lookup"),
        (RESULT, None),
    ]
    assert told.events("0")[-1].is_error is True
    customer = told.events("0", USER_THREAD)
    assert [(event.kind, event.tool, event.call_id) for event in customer] == [
        (CALL, "check_sim", "u1"),
        (RESULT, None, "u1"),
    ]


def test_the_policy_that_all_runs_share_comes_first() -> None:
    info = {"environment_info": {"policy": "Never refund."}}
    told = retell(TauBench(), {"simulations": [simulated(turn("user", "Hi."))]}, {"info": info})
    assert [event.body for event in told.events("0")] == ["Never refund.", "Hi."]


def test_several_results_in_one_message_are_apart() -> None:
    several: Record = {
        "role": "tool",
        "tool_messages": [turn("tool", "a", id="1"), turn("tool", "b", id="2")],
    }
    told = retell(TauBench(), [simulated(turn("user", "Hi."), several)])
    assert [event.call_id for event in told.events("0")[1:]] == ["1", "2"]


def test_a_run_that_was_ended_says_why() -> None:
    told = retell(TauBench(), [simulated(turn("user", "Hi."), termination_reason="max_steps")])
    assert told.events("0")[-1].body == "the run ended: max_steps"


def test_calls_of_an_agent_that_writes_them_are_calls() -> None:
    told = retell(
        TauBench(),
        [
            run(
                turn("user", "Hi."),
                turn(
                    "assistant", 'Thought: look.\nAction: {"name": "get", "arguments": {"id": 7}}'
                ),
                turn("user", "API output: sent"),
                turn("assistant", 'Action: {"name": "respond", "arguments": {"content": "Sent."}}'),
                turn("user", "API output: is what I read"),
            )
        ],
    )
    assert [(event.kind, event.body) for event in told.events("0")] == [
        (USER, "Hi."),
        (THINKING, "Thought: look."),
        (CALL, "id: 7"),
        (RESULT, "sent"),
        (SAID, "Sent."),
        (USER, "API output: is what I read"),
    ]


def test_examples_written_as_text_lack_their_calls_and_say_so() -> None:
    display = "user: Hi,\nI am: Ann\nassistant: None\ntool: Error: no\nassistant: Sorry."
    told = retell(TauBench(), [{"messages_display": display}])
    assert [(event.kind, event.body) for event in told.events("0")] == [
        (USER, "Hi,\nI am: Ann"),
        (RESULT, "Error: no"),
        (SAID, "Sorry."),
    ]
    assert told.notes == [(UNRECORDED, 0, Severity.WARNING, 1)]


def chunk(role: str, text: str | None) -> Record:
    return {"role": role, "content": text, "is_audio": False}


def tick(agent: str | None = None, user: str | None = None, **more: object) -> Record:
    return {
        "tick_id": 1,
        "timestamp": "2026-06-30T11:17:32",
        "agent_chunk": chunk("assistant", agent),
        "user_chunk": chunk("user", user),
        **more,
    }


def test_ticks_of_a_voice_call_are_joined_to_turns() -> None:
    ticks = [
        tick(user="Hel"),
        tick(user="lo."),
        tick(),
        tick(agent="Hi, "),
        tick(agent="one moment."),
        tick(agent_tool_calls=call("lookup")),
        tick(agent_tool_results=[turn("tool", "found", id="c1")]),
        tick(agent="Found it."),
    ]
    told = retell(TauBench(), [simulated(ticks=ticks)])
    assert [(event.kind, event.body) for event in told.events("0")] == [
        (USER, "Hello."),
        (SAID, "Hi, one moment."),
        (CALL, "id: 7"),
        (RESULT, "found"),
        (SAID, "Found it."),
    ]


def test_of_a_spoken_message_the_script_is_told() -> None:
    spoken = turn("user", "UklGRg==", is_audio=True, audio_script_gold="Hello.")
    told = retell(TauBench(), [simulated(spoken)])
    assert [event.body for event in told.events("0")] == ["Hello."]


def test_an_index_without_messages_is_refused_with_what_it_is() -> None:
    index: Record = {"info": {"environment_info": {}}, "tasks": []}
    assert TauBench().recognise([index], None) == 1
    with pytest.raises(NotASessionError, match="an index of tau2 runs"):
        retell(TauBench(), [index])


def test_runs_without_messages_are_no_session() -> None:
    with pytest.raises(NotASessionError, match="none of which holds a message"):
        retell(TauBench(), [run(), simulated()])


def test_rows_of_other_tasks_are_not_taken() -> None:
    assert TauBench().recognise([{"task_id": 1, "messages": []}], None) == 0
    assert TauBench().recognise([run(), simulated()], None) == 1
    assert TauBench().recognise([{**simulated(), "messages": "list"}], None) == 1


def test_a_run_without_a_message_is_counted_as_lost() -> None:
    told = retell(TauBench(), [run(turn("user", "Hi.")), run(), simulated()])
    assert list(told.by_thread) == [("0", "main")]
    assert told.skipped == [(EMPTY, 1), (EMPTY, 2)]
