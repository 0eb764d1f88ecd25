"""mini-swe-agent trajectories: commands in code blocks, or real calls."""

from __future__ import annotations

import pytest

from longjudge.sessions import EventKind
from longjudge.sessions.formats.mini_swe_agent import MiniSWEAgent
from retold_for_tests import retell

Record = dict[str, object]

CALL = EventKind.TOOL_CALL
RESULT = EventKind.TOOL_RESULT
USER = EventKind.USER_MESSAGE
SAID = EventKind.ASSISTANT_MESSAGE
THINKING = EventKind.THINKING
SYSTEM = EventKind.SYSTEM

TASK: list[Record] = [
    {"role": "system", "content": "One block.\n```bash\nyour_command_here\n```"},
    {"role": "user", "content": "Fix it."},
]


def said(text: str, **extra: object) -> Record:
    return {"role": "assistant", "content": text, "extra": extra}


def user(text: str, **extra: object) -> Record:
    return {"role": "user", "content": text, "extra": extra}


def command(text: str, fence: str = "bash") -> Record:
    return said(f"THOUGHT: Look.\n\n```{fence}\n{text}\n```")


def output(text: str, code: int = 0) -> Record:
    return user(f"<returncode>{code}</returncode>\n<output>\n{text}\n</output>")


def shown(*messages: Record) -> list[tuple[EventKind, str]]:
    told = retell(MiniSWEAgent(), [*TASK, *messages])
    return [(event.kind, event.body) for event in told.events()][2:]


@pytest.mark.parametrize("fence", ["bash", "mswea_bash_command"])
def test_one_block_is_a_call_and_the_next_message_its_result(fence: str) -> None:
    assert shown(command("ls -la", fence), output("a.py")) == [
        (THINKING, "Look."),
        (CALL, "command: ls -la"),
        (RESULT, "<returncode>0</returncode>\n<output>\na.py\n</output>"),
    ]


@pytest.mark.parametrize("text", ["No block.", "```bash\nls\n```\n```bash\npwd\n```"])
def test_a_rejected_answer_ran_nothing(text: str) -> None:
    told = shown(said(text), user("Please always provide EXACTLY ONE action."))
    assert told == [(SAID, text), (SYSTEM, "Please always provide EXACTLY ONE action.")]


def test_the_submission_is_the_result_of_the_last_call_and_not_the_users() -> None:
    assert shown(command("submit"), user("diff --git a b"))[-1] == (RESULT, "diff --git a b")


@pytest.mark.parametrize(
    ("answer", "failed"),
    [
        (output("x", 0), False),
        (output("x", 1), True),
        (output("x", -9), True),
        (user("The last command <command>sleep</command> timed out."), True),
        (user("plain"), None),
        (user("plain", returncode=0), False),
    ],
)
def test_a_result_fails_by_its_code(answer: Record, failed: bool | None) -> None:
    told = retell(MiniSWEAgent(), [*TASK, command("x"), answer])
    assert told.events()[-1].is_error is failed


def test_real_calls_are_read_with_their_ids_times_and_codes() -> None:
    call = {"id": "c1", "function": {"name": "bash", "arguments": '{"command": "ls"}'}}
    told = retell(
        MiniSWEAgent(),
        [
            *TASK,
            {
                "role": "assistant",
                "content": "I look.",
                "tool_calls": [call],
                "extra": {"timestamp": 1_769_000_000.5},
            },
            {
                "role": "tool",
                "tool_call_id": "c1",
                "content": "a.py",
                "extra": {"returncode": 2},
            },
            {"role": "exit", "content": "diff", "extra": {"exit_status": "LimitsExceeded"}},
        ],
    )
    events = told.events()[2:]
    assert [event.kind for event in events] == [SAID, CALL, RESULT, SYSTEM]
    assert events[1].body == "command: ls"
    assert events[1].timestamp == "2026-01-21T12:53:20.500Z"
    assert (events[2].call_id, events[2].is_error) == ("c1", True)
    assert events[3].body == "exit status: LimitsExceeded\ndiff"


def test_answers_of_the_responses_interface_are_read() -> None:
    response: Record = {
        "object": "response",
        "output": [
            {"type": "message", "role": "assistant", "content": "I look."},
            {"type": "function_call", "call_id": "c1", "name": "bash", "arguments": "{}"},
        ],
    }
    found: Record = {"type": "function_call_output", "call_id": "c1", "output": "a.py"}
    assert [kind for kind, _ in shown(response, found)] == [SAID, CALL, RESULT]


def test_what_a_person_adds_is_the_users() -> None:
    told = shown(command("ls"), user("Stop, not there.", interrupt_type="UserInterruption"))
    assert told[-1] == (USER, "Stop, not there.")


def test_a_rejected_answer_of_the_second_version_stands_beside_its_rejection() -> None:
    kept = {"interrupt_type": "FormatError", "model_response": "No block."}
    told = shown(user("Expected exactly 1 action, found 0.", **kept))
    assert told == [(SAID, "No block."), (SYSTEM, "Expected exactly 1 action, found 0.")]


def test_a_command_marked_in_another_way_is_known_by_what_was_run() -> None:
    told = shown(said("Look. <run>ls</run>", actions=[{"command": "ls"}]), output("a.py"))
    assert told[:2] == [(THINKING, "Look. <run>ls</run>"), (CALL, "command: ls")]


def test_a_command_that_a_person_runs_is_the_users_and_its_output_a_result() -> None:
    ran = user("User command: \n```bash\nls\n```", actions=[{"command": "ls"}])
    told = shown(ran, user("a.py", raw_output="a.py", returncode=0))
    assert [kind for kind, _ in told] == [USER, RESULT]


def test_reasoning_kept_only_in_the_raw_answer_is_told_and_the_answer_not_twice() -> None:
    raw = {"choices": [{"message": {"content": "…", "reasoning_content": "Hm."}}]}
    told = shown(said("```bash\nls\n```", response=raw))
    assert told == [(THINKING, "Hm."), (CALL, "command: ls")]


def test_documents_say_what_they_are_and_bare_lists_show_it() -> None:
    format_ = MiniSWEAgent()
    assert format_.recognise(TASK, {"trajectory_format": "mini-swe-agent-1.1"}) == 1
    assert format_.recognise(TASK, {"info": {"mini_version": "1.15.0"}}) == 1
    assert format_.recognise([*TASK, command("ls"), output("a")], None) == 1
    assert format_.recognise([*TASK, command("ls"), user("thanks")], None) == 0
    assert format_.recognise(TASK, None) == 0
