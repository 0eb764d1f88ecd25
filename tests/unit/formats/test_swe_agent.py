"""SWE-agent trajectories: the prompt from the history, what was done from the steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longjudge.sessions import EventKind, load_session
from longjudge.sessions.formats.swe_agent import ATTEMPTS, DEMONSTRATION, NO_PROMPT, SWEAgent
from retold_for_tests import retell

if TYPE_CHECKING:
    from pathlib import Path

    from retold_for_tests import Told

Record = dict[str, object]

CALL = EventKind.TOOL_CALL
RESULT = EventKind.TOOL_RESULT
USER = EventKind.USER_MESSAGE
THINKING = EventKind.THINKING
SYSTEM = EventKind.SYSTEM


def step(thought: str, action: str, observation: str, **more: object) -> Record:
    return {
        "thought": thought,
        "action": action,
        "observation": observation,
        "response": f"{thought}\n```\n{action}\n```",
        "state": {"working_dir": "/repo"},
        **more,
    }


def asked(role: str, content: str, **more: object) -> Record:
    return {"role": role, "content": content, "agent": "primary", **more}


PROMPT = [asked("system", "You have a shell."), asked("user", "Fix the bug.")]


def answered(action: str, name: str, call_id: str) -> Record:
    call = {"id": call_id, "type": "function", "function": {"name": name, "arguments": "{}"}}
    return asked("assistant", "…", action=action, tool_calls=[call])


def read(steps: list[Record], history: list[Record], **around: object) -> Told:
    return retell(SWEAgent(), {"trajectory": steps, "history": history}, around)


def shown(told: Told) -> list[tuple[EventKind, str]]:
    return [(event.kind, event.body) for event in told.events()]


def test_a_step_is_told_once_though_the_history_repeats_it() -> None:
    history = [
        *PROMPT,
        asked("assistant", "Look.\n```\nls\n```", thought="Look.", action="ls"),
        asked("user", "a.py\nbash-$"),
    ]
    assert shown(read([step("Look.", "ls", "a.py")], history)) == [
        (SYSTEM, "You have a shell."),
        (USER, "Fix the bug."),
        (THINKING, "Look."),
        (CALL, "command: ls"),
        (RESULT, "a.py"),
    ]


def test_names_and_ids_of_calls_come_from_the_history() -> None:
    view = "str_replace_editor view /a.py"
    history = [*PROMPT, answered("ls", "bash", "t1"), answered(view, "str_replace_editor", "t2")]
    told = read([step("", "ls", "a.py"), step("", view, "1 x")], history)
    calls = [event for event in told.events() if event.kind in (CALL, RESULT)]
    assert [(event.tool, event.call_id) for event in calls] == [
        *[("bash", "t1")] * 2,
        *[("str_replace_editor", "t2")] * 2,
    ]


def test_the_same_action_twice_keeps_two_ids() -> None:
    history = [*PROMPT, answered("ls", "bash", "t1"), answered("ls", "bash", "t2")]
    told = read([step("", "ls", "a"), step("", "ls", "b")], history)
    calls = [event.call_id for event in told.events() if event.kind is CALL]
    assert calls == ["t1", "t2"]


def test_a_demonstration_is_counted_and_not_told() -> None:
    history = [
        PROMPT[0],
        asked("user", "Here is how it is done.", is_demo=True),
        asked("assistant", "ls", message_type="demonstration"),
        PROMPT[1],
    ]
    told = read([step("t", "ls", "o")], history)
    assert [event.body for event in told.events()[:2]] == ["You have a shell.", "Fix the bug."]
    assert [(note[0], note[3]) for note in told.notes] == [(DEMONSTRATION, 2)]


def test_a_file_cut_before_its_history_takes_the_task_from_the_first_step() -> None:
    steps = [
        step("a", "ls", "x", query=PROMPT),
        step("b", "pwd", "/", query=[*PROMPT, asked("assistant", "a"), asked("user", "x")]),
    ]
    told = read(steps, [])
    assert [event.kind for event in told.events()].count(USER) == 1
    assert told.events()[1].body == "Fix the bug."
    assert told.notes[0][0] == NO_PROMPT


def test_a_file_without_steps_is_told_from_its_history() -> None:
    history = [
        *PROMPT,
        asked("assistant", "Look.", thought="Look.", action="ls"),
        asked("user", "a.py"),
    ]
    assert [kind for kind, _ in shown(read([], history))][2:] == [THINKING, CALL, RESULT]


def test_giving_up_is_not_something_the_agent_said() -> None:
    last = step("Exit due to cost limit", "", "")
    told = read([step("t", "ls", "o"), last], PROMPT, info={"exit_status": "exit_cost"})
    assert shown(told)[-2:] == [
        (SYSTEM, "Exit due to cost limit"),
        (SYSTEM, "exit status: exit_cost"),
    ]


def test_an_empty_observation_is_still_a_result() -> None:
    assert shown(read([step("t", "submit", "")], PROMPT))[-1] == (RESULT, "")


def test_the_instance_names_the_session() -> None:
    told = read([step("t", "ls", "o")], PROMPT, environment="django__django-11138")
    assert told.sessions[""]["id"] == "django__django-11138"
    assert "" not in read([step("t", "ls", "o")], PROMPT, environment="swe_main").sessions


def test_messages_that_name_no_agent_are_not_taken_for_a_trajectory() -> None:
    messages: list[Record] = [{"role": "user", "content": "hi"}]
    assert SWEAgent().recognise(messages, {}) == 0
    assert SWEAgent().recognise([*PROMPT], None) == 0
    assert SWEAgent().recognise([step("t", "ls", "o"), *PROMPT], {}) == 1


def test_a_file_cut_inside_a_step_keeps_the_steps_before(tmp_path: Path) -> None:
    path = tmp_path / "a.traj"
    path.write_text(
        '{\n"environment": "main",\n"trajectory": [\n'
        '{"action": "ls", "observation": "a", "response": "r", "thought": "Look."},\n'
        '{"action": "cat a", "observation": "lo'
    )
    session = load_session(path)
    assert session.format == "swe-agent"
    assert session.index.kind(1) is CALL
    assert session.skipped_lines == 1
    session.close()


def test_other_attempts_at_the_task_are_not_left_out_in_silence() -> None:
    told = read([step("Look.", "ls", "a.py")], PROMPT, attempts=[{"trajectory": []}])
    assert [note[0] for note in told.notes] == [ATTEMPTS]
