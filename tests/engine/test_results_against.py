"""`longjudge results ID --against ID2`: two judgments of a session side by side."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from commands_for_tests import longjudge
from longjudge.marks import Mark
from longjudge.store import PastJudgment, Store

if TYPE_CHECKING:
    from pathlib import Path

DIGEST = "ab" * 32
GITHUB_TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "kLmNoPqRsTuVwXyZ"


@pytest.fixture(autouse=True)
def store_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Holds two judgments of a session, one of another, and a mark."""
    path = tmp_path / "store.sqlite"
    monkeypatch.setenv("LONGJUDGE_STORE", str(path))
    note = f"pushed with {GITHUB_TOKEN}"
    finding = {"part": 2, "criterion": "c", "note": note, "event": 5, "quote": "git push"}

    async def write() -> None:
        store = await Store.open(path)
        await store.record_judgment(past("j_before", "v1", "clean"))
        await store.record_judgment(past("j_after", "v2", "flagged", finding))
        await store.record_judgment(past("j_other", "v1", "clean", session_id="another"))
        await store.record_judgment(past("j_torn", "v1", "no state"))
        await store.set_mark(bytes.fromhex(DIGEST), "c", Mark.RIGHT)
        await store.aclose()

    asyncio.run(write())
    return path


def past(
    id: str, version: str, state: str, *findings: dict[str, Any], session_id: str = "s"
) -> PastJudgment:
    parts = [
        {
            "part": n + 1,
            "state": each,
            "thread": "main",
            "first_event": 4 * n,
            "last_event": 4 * n + 3,
        }
        for n, each in enumerate(["clean", state])
    ]
    result: dict[str, Any] = {
        "session": {"path": "a.jsonl", "title": "T", "format": "generic", "events": 8},
        "settings": {"chunk_chars": 1000},
        "score": 1.0,
        "score_range": [1.0, 1.0],
        "parts": parts,
        "findings": list(findings),
    }
    digests = (DIGEST,) * len(findings)
    names = ("a.jsonl", f"/{session_id}.jsonl", session_id, "mine", version, "offline", "complete")
    return PastJudgment(id, *names, 0.0, result, digests)


def test_the_flips_come_first_with_both_sides_and_the_answer_at_the_top() -> None:
    told = longjudge("results", "j_b", "--against", "j_a")
    assert told.code == 0
    lines = told.out.splitlines()
    assert lines[3].strip() == "of 1 finding marked right, A finds 0, B 1"
    assert "1 clean → flagged · 0 flagged → clean · the same in 1 of 2 chunks" in told.out
    at = lines.index("clean → flagged (1)")
    assert [line.strip() for line in lines[at + 1 : at + 4]] == [
        "events 4-7 · main",
        "A part 2 clean",
        "B part 2 flagged",
    ]
    assert "git push" in told.out
    assert GITHUB_TOKEN not in told.out


def test_the_json_says_the_same_in_one_object() -> None:
    [told] = longjudge("results", "j_before", "--against", "j_after", "--json").objects
    assert (told["one"]["id"], told["other"]["id"]) == ("j_before", "j_after")
    assert (told["one"]["rubric"]["version"], told["other"]["rubric"]["version"]) == ("v1", "v2")
    assert (told["comparable"], told["same_plan"], told["shared_events"]) == (True, True, 8)
    assert told["counts"]["clean_to_flagged"] == len(told["flips"]) == 1
    [flip] = told["flips"]
    assert (flip["one"]["state"], flip["other"]["state"]) == ("clean", "flagged")
    assert flip["findings"][0]["one"] is None
    assert flip["findings"][0]["other"]["mark"] == "right"
    assert told["marks"]["right"] == {
        "marked": 1,
        "one": 0,
        "other": 1,
        "one_not_judged": 0,
        "other_not_judged": 0,
        "one_not_asked": 0,
        "other_not_asked": 0,
    }
    assert len(told["both_clean"]) == 1


def test_markdown_is_a_report_and_secrets_are_shown_only_when_asked_for() -> None:
    arguments = ("results", "j_before", "--against", "j_after", "--format", "md")
    report = longjudge(*arguments).out
    assert report.startswith("# Before and after: T\n")
    assert "## Clean → flagged (1)" in report
    assert GITHUB_TOKEN not in report
    assert GITHUB_TOKEN in longjudge(*arguments, "--no-redact").out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--against", "j_after"), "--against needs an ID before it"),
        (("j_before", "--against", "j_nowhere"), "no judgment of that id"),
        (("j_before", "--against", "j_b"), "both sides are this judgment"),
        (("j_before", "--against", "j_other"), "different sessions"),
        (("j_before", "--against", "j_torn"), "cannot compare"),
        (("j_before", "--against", "j_after", "--marks", "right"), "leave --marks out"),
        (("j_before", "--against", "j_after", "--since", "24h"), "two things"),
    ],
)
def test_what_cannot_be_compared_is_one_line_and_exit_code_2(
    arguments: tuple[str, ...], words: str
) -> None:
    told = longjudge("results", *arguments)
    assert (told.code, told.out) == (2, "")
    assert words in told.err
    assert len(told.err.splitlines()) == 1
