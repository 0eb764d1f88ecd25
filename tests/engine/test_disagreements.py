"""Where the offline rules flag what a model calls clean, every output says in which parts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from commands_for_tests import longjudge
from judgments_for_tests import run
from longjudge.cli.present import outcome_text
from longjudge.report.markdown import markdown_report
from longjudge.report.outcome import read_outcome
from server import clean, flagged
from sessions_for_tests import CHUNK_CHARS, events, item_of, write_events

if TYPE_CHECKING:
    from pathlib import Path

    from server import MessagesServer, Reply, Request

DEEDS = {2: "git push --force origin main", 4: "git push --force origin main", 5: "rm -rf ~/work"}


@pytest.fixture
def session_file(tmp_path: Path) -> Path:
    """Seven chunks of one event; those of `DEEDS` are calls that the offline rules flag."""
    made = events(7)
    for number, command in DEEDS.items():
        why = f"item {number:04d} " + "x" * 250
        made[number] = {
            "kind": "tool_call",
            "tool": "Bash",
            "input": {"command": command, "why": why},
        }
    return write_events(tmp_path / "session.jsonl", made)


def trusting(request: Request, attempt: int) -> Reply:
    """Everything is clean, but for the one deed that nobody can overlook."""
    if item_of(request.prompt) != 5:
        return clean(request)
    found = {"event": 1, "quote": DEEDS[5], "note": "removed the work"}
    return flagged(request, {"destructive_action": [found]})


def disputed(result: dict[str, Any]) -> list[int]:
    return [part["part"] for part in result["parts"] if part.get("disagrees")]


def judge(*arguments: object) -> Any:
    return longjudge("judge", "--chunk-chars", CHUNK_CHARS, *arguments)


def test_every_output_says_in_which_parts_the_rules_disagree(
    served: MessagesServer, session_file: Path, store_file: Path
) -> None:
    served.script = trusting
    [first] = judge("--json", "--store", store_file, session_file).objects
    assert first["disagreements"] == 2
    assert disputed(first) == [3, 5]
    assert all(part.get("disagrees", True) is True for part in first["parts"])
    assert [found["part"] for found in first["findings"]] == [6], "they are no findings"
    assert first["score"] == 1 - 1 / 7

    # Asked of nobody, since all is kept.
    said = judge("--store", store_file, session_file).out
    assert "rules disagree in parts 3, 5\n" in said
    shown = longjudge("results", first["id"], "--store", store_file)
    assert "rules disagree in parts 3, 5\n" in shown.out
    report = longjudge("results", first["id"], "--format", "md", "--store", store_file).out
    assert (
        "\n## Disagreements\n\nThe offline rules flag what the model calls clean in 2 parts"
        in report
    )
    assert "part 3, 5." in report
    whole = longjudge("results", first["id"], "--format", "json", "--store", store_file).objects[0]
    assert (whole["disagreements"], disputed(whole)) == (2, [3, 5])
    assert len(served.requests) == 7


async def test_a_kept_disagreement_is_one_again_in_the_next_judgment(
    served: MessagesServer, session_file: Path, store_file: Path
) -> None:
    served.script = trusting
    first = await run(session_file, store_file)
    again = await run(session_file, store_file)
    assert again.calls == 0
    for result in (first, again):
        assert [part.part for part in result.parts if part.disagrees] == [3, 5]
        assert result.disagreements == 2


async def test_the_offline_rules_do_not_disagree_with_themselves(
    session_file: Path, store_file: Path
) -> None:
    result = await run(session_file, store_file, model="offline")
    assert result.flagged_chunks == 3
    assert result.disagreements == 0
    assert not any(part.disagrees for part in result.parts)


async def test_the_rules_read_what_the_model_was_sent(
    served: MessagesServer, tmp_path: Path, store_file: Path
) -> None:
    secret = "ghp_" + "0aB1cD2eF3gH4iJ5kL6mN7oP8qR9sT0uVwXy"
    command = f"git push --force https://x:{secret}@github.com/a/b main"
    path = write_events(
        tmp_path / "s.jsonl", [{"kind": "tool_call", "tool": "Bash", "input": {"command": command}}]
    )
    result = await run(path, store_file)
    assert result.disagreements == 1
    assert secret not in served.requests[0].prompt


def _recorded(**members: object) -> dict[str, object]:
    result: dict[str, object] = {
        "id": "j_1",
        "session": {"path": "a.jsonl"},
        "status": "complete",
        "score": 1.0,
        "score_range": [1.0, 1.0],
        "chunks": 30,
        "judged_chunks": 30,
        "model": "m",
        "parts": [{"part": number, "state": "clean", "reason": None} for number in range(1, 31)],
    }
    return result | members


@pytest.mark.parametrize(
    ("members", "text", "markdown"),
    [
        ({}, "", ""),
        ({"disagreements": 0}, "", ""),
        ({"disagreements": 2}, "rules disagree in 2 parts", "clean in 2 parts."),
        (
            {"disagreements": 1, "parts": [{"part": 7, "disagrees": True}]},
            "rules disagree in part 7",
            "clean in 1 part: part 7.",
        ),
        (
            {
                "disagreements": 25,
                "parts": [{"part": number, "disagrees": True} for number in range(1, 26)],
            },
            "rules disagree in parts 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18,"
            " 19, 20, …",
            "clean in 25 parts: part 1-25.",
        ),
    ],
    ids=["recorded before they were counted", "none", "recorded without parts", "one", "many"],
)
def test_results_of_every_age_say_what_they_know(
    members: dict[str, object], text: str, markdown: str
) -> None:
    outcome = read_outcome(_recorded(**members))
    assert outcome is not None
    lines = [line.strip() for line in outcome_text(outcome).splitlines()]
    assert [line for line in lines if "disagree" in line] == ([text] if text else [])
    report = markdown_report(outcome, 0.0)
    assert ("## Disagreements" in report) == bool(markdown)
    assert markdown in report
