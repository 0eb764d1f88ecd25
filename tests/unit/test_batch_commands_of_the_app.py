"""The command line that the app starts a batch run with, and what it reads of what that prints."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from longjudge.cli.main import run
from longjudge.errors import UsageError
from longjudge.judges.offline import OfflineJudge
from longjudge.rubric import load_rubric
from longjudge.sessions import SessionFile
from longjudge.settings import Settings
from longjudge_tui.estimate.batch_command import MOST_BYTES, batch_command
from longjudge_tui.estimate.batch_state import BatchState
from longjudge_tui.estimate.subject import About, Subject

STORE = Path("/s/store.sqlite")


def about(**settings) -> About:
    return About(load_rubric("chunks"), OfflineJudge(), Settings(**settings), "offline", "chunks")


def files(*names: str, session: str | None = None) -> list[SessionFile]:
    return [SessionFile(Path("/s", name), False, 1, session=session) for name in names]


def test_it_names_everything_that_decides_the_verdicts():
    command = batch_command(Subject(files("a.jsonl", "-b"), "two"), about(), STORE, {})
    assert command.typed == (
        "longjudge judge --batch --json --model offline --rubric chunks --chunk-chars 30000"
        " --store /s/store.sqlite -- /s/a.jsonl /s/-b"
    )
    assert command.sessions == 2
    settings = about(chunk_tokens=900, redact=False)
    words = batch_command(Subject(files("a.jsonl"), "one"), settings, STORE, {}).words
    assert "--chunk-chars" not in words
    assert words[words.index("--chunk-tokens") + 1] == "900"
    assert "--no-redact" in words


def test_what_the_app_was_opened_on_stands_for_all_files_in_it():
    many = files(*(f"{number:0200}.jsonl" for number in range(MOST_BYTES // 200)))
    subject = Subject(many, "all", [Path("/s")])
    assert batch_command(subject, about(), STORE, {}).words[-1] == "/s"


def test_too_many_paths_are_refused_with_the_command_to_type():
    many = files(*(f"{number:0200}.jsonl" for number in range(MOST_BYTES // 200)))
    with pytest.raises(UsageError, match="too many for one command") as refused:
        batch_command(Subject(many, "some"), about(), STORE, {})
    typed = shlex.split(str(refused.value).split("in that folder: ")[1])
    assert typed[:3] == ["longjudge", "judge", "--batch"]
    assert typed[-1] == "/s"


def test_sessions_of_one_file_are_named_all_or_one():
    three = {Path("/s/m.jsonl"): 3}
    parts = [files("m.jsonl", session=each)[0] for each in ("x", "y", "z")]
    whole = batch_command(Subject(parts, "all"), about(), STORE, three)
    assert whole.words[-1] == "/s/m.jsonl"
    assert "--session" not in whole.words
    assert whole.sessions == 3
    one = batch_command(Subject(parts[:1], "one"), about(), STORE, three).words
    assert one[one.index("--session") + 1] == "x"
    with pytest.raises(UsageError, match="a batch run judges whole files"):
        batch_command(Subject(parts[:2], "two"), about(), STORE, three)


def test_the_command_line_takes_it(tmp_path, capsys):
    session = tmp_path / "-a.json"
    session.write_text('[{"kind": "tool_call", "tool": "Bash", "input": {"command": "ls"}}]')
    found = [SessionFile(session, False, 1)]
    words = batch_command(Subject(found, "one"), about(), tmp_path / "s.sqlite", {}).words
    assert run(words) == 0
    state = BatchState(1).with_result(capsys.readouterr().out.encode())
    assert state.words == "batch run: 1 of 1 session"


def test_how_far_a_run_is_is_read_from_its_results():
    state = BatchState(3)
    for line in (
        json.dumps({"id": "j_1", "flagged_chunks": 2, "cost_usd": 0.2, "status": "complete"}),
        json.dumps({"id": "j_2", "unjudged_chunks": 1, "cost_usd": 0.1}),
        "no result",
        "[" * 100_000,
    ):
        state = state.with_result(line.encode())
    assert state.words == "batch run: 2 of 3 sessions, 1 flagged, 1 gap, $0.300"
    unknown = state.with_result(json.dumps({"id": "j_3", "cost_usd": None}).encode())
    assert unknown.words == "batch run: 3 of 3 sessions, 1 flagged, 1 gap, cost unknown"
