"""LangSmith runs: exported, nested, or as the batches that an SDK sends."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from longjudge.errors import NotASessionError
from longjudge.sessions import EventKind, load_sessions
from longjudge.sessions.formats.langsmith import LangSmith
from retold_for_tests import retell

if TYPE_CHECKING:
    from pathlib import Path

    from retold_for_tests import Told

CALL = EventKind.TOOL_CALL
RESULT = EventKind.TOOL_RESULT
USER = EventKind.USER_MESSAGE
SAID = EventKind.ASSISTANT_MESSAGE

Run = dict[str, Any]
ROOT = "00000000-0000-4000-8000-000000000000"


def lc(name: str, /, **kwargs: object) -> dict[str, object]:
    return {"lc": 1, "type": "constructor", "id": ["langchain", name], "kwargs": kwargs}


HI = lc("HumanMessage", content="hi")
CALLS = lc("AIMessage", content="", tool_calls=[{"name": "f", "args": {"a": 1}, "id": "c1"}])
OUT = lc("ToolMessage", content="out", tool_call_id="c1", status="success")
BYE = lc("AIMessage", content="bye")


def run(
    type_: str, id_: str, second: int, inputs: object, outputs: object, /, **more: object
) -> Run:
    order = f"20260101T0000{second:02}000000Z{id_}"
    return {
        "id": id_,
        "trace_id": ROOT,
        "parent_run_id": None if id_ == ROOT else ROOT,
        "dotted_order": order if id_ == ROOT else f"20260101T000000000000Z{ROOT}.{order}",
        "run_type": type_,
        "name": "f" if type_ == "tool" else type_,
        "start_time": f"2026-01-01T00:00:{second:02}",
        "inputs": inputs,
        "outputs": outputs,
        "events": [{"name": "new_token", "kwargs": {"token": "by"}}],
        **more,
    }


RUNS = [
    run("chain", ROOT, 0, {"input": "hi"}, {"output": "bye"}),
    run("llm", "m1", 1, {"messages": [[HI]]}, {"generations": [[{"text": "", "message": CALLS}]]}),
    run("tool", "x1", 2, {"input": "{'a': 1}"}, {"output": OUT}),
    run(
        "llm",
        "m2",
        3,
        {"messages": [[HI, CALLS, OUT]]},
        {"generations": [[{"text": "bye", "message": BYE}, {"text": "no", "message": HI}]]},
    ),
]
SHOWN = [(USER, "hi"), (CALL, "a: 1"), (RESULT, "out"), (SAID, "bye")]


def shown(told: Told, session: str = ROOT) -> list[tuple[EventKind, str]]:
    return [(event.kind, event.body) for event in told.events(session)]


def test_runs_are_told_by_their_dotted_order() -> None:
    assert shown(retell(LangSmith(), RUNS[::-1])) == SHOWN


def test_a_call_and_its_tools_run_are_one_call() -> None:
    events = retell(LangSmith(), RUNS).events(ROOT)
    assert [event.call_id for event in events if event.call_id] == ["c1", "c1"]


@pytest.mark.parametrize("kind", ["lines", "runs", "nested", "batch", "batch lines"])
def test_every_export_gives_the_same_session(tmp_path: Path, kind: str) -> None:
    posts = [{**each, "outputs": {}} for each in RUNS]
    patches = [
        {
            "outputs": each["outputs"],
            "inputs": {},
            "dotted_order": each["dotted_order"],
            "trace_id": ROOT,
            "end_time": 1767225700000,
        }
        for each in RUNS
    ]
    batch = {"post": posts, "patch": patches}
    nested = {**RUNS[0], "child_runs": [{**each, "child_runs": []} for each in RUNS[1:]]}
    texts = {
        "lines": "".join(json.dumps(each) + "\n" for each in RUNS),
        "runs": json.dumps({"runs": RUNS}, indent=1),
        "nested": json.dumps(nested, indent=1),
        "batch": json.dumps(batch, indent=1),
        "batch lines": json.dumps({"post": posts}) + "\n" + json.dumps({"patch": patches}) + "\n",
    }
    path = tmp_path / "runs.json"
    path.write_text(texts[kind], encoding="utf-8")
    (session,) = load_sessions(path)
    events = [session.event(number) for number in range(len(session.index))]
    assert session.format == "langsmith"
    assert [(event.kind, event.body) for event in events] == SHOWN
    session.close()


def test_a_thread_is_one_session_over_its_traces() -> None:
    metadata = {"metadata": {"thread_id": "th"}}
    later = run("llm", "m9", 9, {"messages": [HI, BYE, lc("HumanMessage", content="and?")]}, BYE)
    told = retell(
        LangSmith(),
        [
            {**later, "trace_id": "t2", "parent_run_id": None, "extra": metadata},
            run("llm", ROOT, 1, {"messages": [HI]}, {"role": "assistant", "content": "bye"})
            | {"extra": metadata},
        ],
    )
    assert [body for _, body in shown(told, "th")] == ["hi", "bye", "and?", "bye"]


def test_errors_are_errors() -> None:
    failed = run("tool", "x1", 2, {"a": 1}, None, error="boom")
    model = run("llm", "m2", 3, {"messages": [HI]}, None, error="overloaded")
    told = retell(LangSmith(), [*RUNS[:2], failed, model])
    assert shown(told)[2:] == [(RESULT, "boom"), (EventKind.ERROR, "overloaded")]
    assert told.events(ROOT)[2].is_error is True


def test_runs_without_inputs_and_outputs_are_refused() -> None:
    with pytest.raises(NotASessionError, match="no content recorded"):
        retell(LangSmith(), [run("llm", ROOT, 0, {}, {})])
