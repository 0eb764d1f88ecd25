"""`longjudge results --aggregate`: what was judged comes down to sums that hide nothing."""

from __future__ import annotations

import asyncio
import itertools
import json
import sqlite3
import time
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from commands_for_tests import longjudge
from longjudge.marks import Mark
from longjudge.paths import sample_sessions
from longjudge.store import PastJudgment, Store

if TYPE_CHECKING:
    from pathlib import Path

SAMPLE = str(sample_sessions() / "checkout-refactor.jsonl")
TALK = str(sample_sessions() / "release-questions.jsonl")
SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
HOUR = 3_600.0


@pytest.fixture(autouse=True)
def store_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    path = tmp_path / "store.sqlite"
    monkeypatch.setenv("LONGJUDGE_STORE", str(path))
    return path


numbers = itertools.count(1)


def past(session: str = "s", *, age: float = 0.0, **members: Any) -> PastJudgment:
    """A judgment of four parts, of which one is flagged, by a model."""
    number = next(numbers)
    findings = members.get("findings", [])
    result: dict[str, Any] = {
        "id": f"j_{number:04}",
        "session": {"path": f"{session}.jsonl", "title": "T", "format": "events", "id": session},
        "status": "complete",
        "score": 0.75,
        "score_range": [0.75, 0.75],
        "chunks": 4,
        "judged_chunks": 4,
        "flagged_chunks": 1,
        "gaps": {},
        "findings": findings,
        "parts": [],
        "calls": 3,
        "cached_chunks": 1,
        "cost_usd": 0.25,
        "model": "claude-haiku-5-5",
        "rubric": {"name": "chunks", "version": "9f2c1a7b"},
        "settings": {"chunk_chars": 30000, "concurrency": 4, "time_limit": 600},
        "fault": None,
    } | members
    return PastJudgment(
        id=result["id"],
        path=f"{session}.jsonl",
        real_path=f"/{session}.jsonl",
        session_id=session,
        rubric=result["rubric"]["name"],
        rubric_version=result["rubric"]["version"],
        model=result["model"],
        status=result["status"],
        created=time.time() - age + number / 1_000,
        result=result,
        digests=tuple(f"{number:016x}{at:016x}" for at in range(len(findings))),
    )


def found(note: str, event: int | None = 7, **members: Any) -> dict[str, Any]:
    return {
        "part": 2,
        "criterion": "destructive_action",
        "note": note,
        "event": event,
        "quote": "git push --force",
        "verified": True,
    } | members


def record(store_file: Path, *judgments: PastJudgment) -> None:
    async def write() -> None:
        store = await Store.open(store_file)
        for judgment in judgments:
            await store.record_judgment(judgment)
        await store.aclose()

    asyncio.run(write())


def mark(store_file: Path, *marks: tuple[str, str, Mark]) -> None:
    async def write() -> None:
        store = await Store.open(store_file)
        for digest, criterion, word in marks:
            await store.set_mark(bytes.fromhex(digest), criterion, word)
        await store.aclose()

    asyncio.run(write())


def sums(*arguments: str) -> dict[str, Any]:
    finished = longjudge("results", "--aggregate", "--json", *arguments)
    assert (finished.code, finished.err) == (0, "")
    [told] = finished.objects
    return told


def text(*arguments: str) -> str:
    finished = longjudge("results", "--aggregate", *arguments)
    assert (finished.code, finished.err) == (0, "")
    return finished.out


def test_what_judge_printed_is_added_up() -> None:
    judged = [
        *longjudge("judge", SAMPLE, TALK, "--json", "--model", "offline").objects,
        *longjudge(
            "judge", SAMPLE, "--json", "--model", "offline", "--chunk-chars", "5000"
        ).objects,
    ]
    told = sums()
    assert list(told)[:8] == [
        "since",
        "sessions",
        "by_status",
        "gaps",
        "by_rubric",
        "recurring",
        "cost_usd",
        "calls_saved",
    ]
    assert (told["since"], told["sessions"], told["gaps"]) == (None, 2, {})
    assert told["by_status"] == {"not_applicable": 1, "complete": 2}
    assert (told["cost_usd"], told["judgments"], told["replaced"]) == (0.0, 3, 0)
    assert told["calls_saved"] == sum(each["cached_chunks"] for each in judged)
    expected = {
        each["settings"]["chunk_chars"]: (
            each["score"],
            each["judged_chunks"],
            each["flagged_chunks"],
        )
        for each in judged
        if each["status"] == "complete"
    }
    rows = {
        row["settings"]["chunk_chars"]: (row["score_mean"], row["judged"], row["flagged"])
        for row in told["by_rubric"]
    }
    assert rows == expected
    assert {(row["rubric"], row["model"]) for row in told["by_rubric"]} == {("chunks", "offline")}
    assert longjudge("results", "--aggregate", "--format", "json").objects == [told]


def test_a_session_that_was_judged_again_counts_once_and_its_cost_each_time(
    store_file: Path,
) -> None:
    gaps = {"timed_out": 3}
    record(
        store_file,
        past("a", age=HOUR, status="timed_out", score=None, judged_chunks=1, gaps=gaps),
        past("a", score=0.5, flagged_chunks=2),
        past("b", score=1.0, flagged_chunks=0),
    )
    told = sums()
    assert (told["sessions"], told["judgments"], told["replaced"]) == (2, 3, 1)
    assert (told["by_status"], told["gaps"]) == ({"complete": 2}, {})
    assert (told["cost_usd"], told["calls_saved"]) == (0.75, 3)
    [row] = told["by_rubric"]
    assert (row["judged"], row["flagged"], row["score_mean"]) == (8, 2, 0.75)
    assert "1 judgment replaced by a newer one of the same session" in text()


def test_scores_are_averaged_only_where_they_mean_the_same(store_file: Path) -> None:
    tokens = {"chunk_tokens": 30000}
    record(
        store_file,
        past("a", score=1.0),
        past("b", score=0.5),
        past("a", score=0.25, settings={"chunk_chars": 20000}),
        past("a", score=0.125, settings=tokens),
        past("a", score=0.75, settings={"chunk_chars": 30000, "redact": False}),
        past("a", score=0.375, model="claude-opus-5"),
        past("a", score=0.625, model="offline"),
        past("a", score=0.875, rubric={"name": "chunks", "version": "00000000"}),
    )
    told = sums()
    assert told["sessions"] == 2
    assert sum(told["by_status"].values()) == 8
    assert [
        (row["version"], row["model"], row["settings"], row["score_mean"])
        for row in reversed(told["by_rubric"])
    ] == [
        ("9f2c1a7b", "claude-haiku-5-5", {"chunk_chars": 30000}, 0.75),
        ("9f2c1a7b", "claude-haiku-5-5", {"chunk_chars": 20000}, 0.25),
        ("9f2c1a7b", "claude-haiku-5-5", tokens, 0.125),
        ("9f2c1a7b", "claude-haiku-5-5", {"chunk_chars": 30000, "redact": False}, 0.75),
        ("9f2c1a7b", "claude-opus-5", {"chunk_chars": 30000}, 0.375),
        ("9f2c1a7b", "offline", {"chunk_chars": 30000}, 0.625),
        ("00000000", "claude-haiku-5-5", {"chunk_chars": 30000}, 0.875),
    ]
    shown = text()
    assert "chunks 9f2c1a7b · offline rules · 30000 chars a chunk" in shown
    assert "30000 chars a chunk, secrets left in" in shown
    assert "30000 tokens a chunk" in shown


def test_a_partial_result_never_looks_like_a_whole_one(store_file: Path) -> None:
    record(
        store_file,
        past("a", score=1.0, flagged_chunks=0),
        past(
            "b",
            status="partial",
            score=0.5,
            judged_chunks=2,
            gaps={"unparsable": 1, "skipped": 1},
        ),
        past("c", status="failed", score=None, judged_chunks=0, flagged_chunks=0, gaps={"x": 4}),
        past("d", status="not_applicable", score=None, chunks=0, judged_chunks=0),
    )
    told = sums()
    assert told["by_status"] == {"not_applicable": 1, "complete": 1, "failed": 1, "partial": 1}
    assert told["gaps"] == {"unparsable": 1, "skipped": 1, "x": 4}
    [row] = told["by_rubric"]
    assert (row["judged"], row["chunks"], row["score_mean"]) == (6, 12, 0.75)
    assert (row["sessions"], row["sessions_with_gaps"]) == (3, 2)
    assert (row["scores"], row["scores_with_gaps"]) == (2, 1)
    for form in ("text", "md"):
        shown = text("--format", form)
        assert "mean score 0.750 of 2 sessions, 1 with gaps" in shown
        assert "6 of 12" in shown
        assert "unparsable 1 · skipped 1 · x 4" in shown
    assert "in 3 sessions, 1 without a score" in text()


def test_an_unknown_price_is_never_nothing(store_file: Path) -> None:
    record(store_file, past("a"), past("b", cost_usd=None), past("b", age=HOUR, cost_usd=0.5))
    told = sums()
    assert (told["cost_usd"], told["cost_known_usd"], told["cost_unknown"]) == (None, 0.75, 1)
    for form in ("text", "md"):
        words = text("--format", form).replace("\\", "").lower()
        assert (
            "cost unknown: no price is known for 1 judgment, all others together cost $0.75 · 3"
            " calls saved by the store"
        ) in words


def test_forced_failures_and_what_does_not_read_are_told_and_left_out(store_file: Path) -> None:
    forced = past("a", fault="timeout@30%", status="timed_out", cost_usd=9.0)
    odd, damaged = past("b", score="good"), past("c")
    record(store_file, past("a", age=HOUR), forced, odd, damaged, past("d"))
    with closing(sqlite3.connect(store_file)) as store, store:
        store.execute("UPDATE judgments SET path = x'ff' WHERE id = ?", (damaged.id,))
    told = sums()
    assert (told["judgments"], told["forced"], told["unread"]) == (2, 1, 2)
    assert (told["sessions"], told["by_status"]) == (2, {"complete": 2})
    assert (told["cost_usd"], told["cost_known_usd"], told["cost_unknown"]) == (None, 0.5, 2)
    shown = text()
    assert "1 judgment with forced failures left out" in shown
    assert "2 judgments left out: this version cannot read them" in shown


def test_since_leaves_out_what_is_older(store_file: Path) -> None:
    record(store_file, past("a"), past("b", age=30 * HOUR))
    told = sums("--since", "24h")
    assert (told["since"], told["sessions"], told["cost_usd"]) == ("24h", 1, 0.25)
    assert told["start"].endswith("Z")
    assert sums("--since", "2d")["sessions"] == 2
    assert text("--since", "24h").startswith("1 judgment of 1 session in the last 24h\n")
    wrong = longjudge("results", "--aggregate", "--since", "yesterday")
    assert (wrong.code, wrong.out, len(wrong.err.splitlines())) == (2, "", 1)


def test_what_recurs_is_shown_with_places_in_different_sessions_first(store_file: Path) -> None:
    record(
        store_file,
        past("a", findings=[found("Force-pushed over main", 1), found("promised a report", 2)]),
        past("b", findings=[found("force-pushed over main", 3), found("force-pushed main", 4)]),
        past("c", findings=[found("force-pushed over main again", 5)]),
        past("d", findings=[found("force-pushed over main", 1, criterion="broken_promise")]),
    )
    told = sums()
    [group] = told["recurring"]
    assert (group["criterion"], group["count"], group["sessions"]) == ("destructive_action", 4, 3)
    assert group["note"] in ("force-pushed over main", "force-pushed main")
    places = [(each["path"], each["part"], each["event"]) for each in group["examples"]]
    assert places == [("c.jsonl", 2, 5), ("b.jsonl", 2, 3), ("a.jsonl", 2, 1)]
    assert {each["quote"] for each in group["examples"]} == {"git push --force"}
    for each in group["examples"]:
        [judgment] = longjudge("results", each["judgment"], "--json").objects
        assert judgment["session"]["path"] == each["path"]
    assert told["findings"] == {"recurring": 4, "alone": 2, "marked_wrong": 0}
    shown = text()
    assert "findings that recur: 4 findings in 1 group; 2 more of which none is like" in shown
    assert "4× destructive_action, in 3 sessions: force-pushed" in shown
    assert "**4×** destructive\\_action" not in text("--format", "md")
    assert "- **4×** destructive_action, in 3 sessions: force-pushed" in text("--format", "md")


def test_findings_marked_wrong_do_not_recur(store_file: Path) -> None:
    judgments = [past(name, findings=[found("force-pushed over main")]) for name in "abc"]
    record(store_file, *judgments)
    mark(store_file, *((each.digests[0], "destructive_action", Mark.WRONG) for each in judgments))
    mark(store_file, (judgments[0].digests[0], "destructive_action", Mark.RIGHT))
    told = sums()
    assert told["recurring"] == []
    assert told["findings"] == {"recurring": 0, "alone": 1, "marked_wrong": 2}
    assert "findings that recur: none; 1 more of which none is like another; 2 marked wrong" in (
        text()
    )


def test_an_event_that_two_chunk_sizes_flag_is_found_once(store_file: Path) -> None:
    note = found("force-pushed over main", 7)
    record(
        store_file,
        past("a", findings=[note]),
        past("a", findings=[note], settings={"chunk_chars": 5000}),
    )
    assert sums()["recurring"] == []
    record(store_file, past("b", findings=[note]))
    [group] = sums()["recurring"]
    assert (group["count"], group["sessions"]) == (2, 2)


def test_people_see_the_most_frequent_groups_and_how_many_more_there_are(store_file: Path) -> None:
    notes = [f"{one}{other}r {one}{other}n" for one in "bdfgk" for other in "aeiou"]
    record(store_file, *(past(name, findings=[*map(found, notes)]) for name in "ab"))
    assert len(sums()["recurring"]) == 25
    for form in ("text", "md"):
        shown = text("--format", form)
        assert shown.count("2×") == 20
        assert "5 groups more; --json has all of them" in shown


HOSTILE = "a\x1b[2J\n# Heading <b>[x](y)</b> | \u202e\x07 force"


def test_no_text_of_a_session_acts_or_passes_for_the_report(store_file: Path) -> None:
    session = "p\x1b]0;x\x07\n# Path |"
    findings = [found(HOSTILE, at, quote=HOSTILE, criterion=HOSTILE) for at in (1, 2)]
    record(
        store_file,
        past(session, findings=findings, status="x\x1b[31m\n# S", gaps={"y\x07\n# G": 1}),
        past("b", rubric={"name": "r\x1b\n# R |", "version": "v\x07"}, model="m\x1b | \n# M"),
    )
    for form in ("text", "md"):
        shown = text("--format", form)
        assert not {"\x1b", "\x07", "\u202e"} & set(shown)
        headings = [line for line in shown.splitlines() if line.startswith("#")]
        assert headings[1:] == ([] if form == "text" else ["## Scores", "## Findings that recur"])
    rows = [line for line in text("--format", "md").splitlines() if line.startswith("|")]
    assert len(rows) == 4
    assert {row.replace("\\|", "").count("|") for row in rows} == {7}
    json.dumps(sums())


@pytest.mark.parametrize("form", ["text", "md", "json"])
def test_secrets_are_left_out(store_file: Path, form: str) -> None:
    findings = [found(f"told {SECRET}", at, quote=f"the token is {SECRET}") for at in (1, 2)]
    record(store_file, past(f"dir-{SECRET}", findings=findings))
    shown = longjudge("results", "--aggregate", "--format", form).out
    assert "the token is" in shown
    assert SECRET not in shown
    raw = longjudge("results", "--aggregate", "--format", form, "--no-redact").out
    assert SECRET in raw.replace("\\", "")


def test_of_no_judgments_there_are_sums_for_programs_and_a_line_for_people(
    store_file: Path,
) -> None:
    told = sums()
    assert (told["sessions"], told["by_status"], told["by_rubric"]) == (0, {}, [])
    assert (told["recurring"], told["cost_usd"], told["calls_saved"]) == ([], 0.0, 0)
    assert not store_file.exists()
    for form in ("text", "md"):
        nothing = longjudge("results", "--aggregate", "--format", form)
        assert (nothing.code, nothing.out) == (0, "")
        assert "no judgments in the store yet" in nothing.err
    record(store_file, past("a", age=48 * HOUR))
    nothing = longjudge("results", "--aggregate", "--since", "24h")
    assert (nothing.code, nothing.out) == (0, "")
    assert "no judgment since then" in nothing.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["j_1"], "leave an ID out"),
        (["j_1", "--against", "j_2"], "leave --against out"),
        (["--marks", "right"], "leave --marks out"),
        (["--format", "junit"], "--aggregate has no --format junit"),
        (["--json", "--format", "md"], "two things"),
    ],
)
def test_what_cannot_be_said_of_sums_is_refused(arguments: list[str], said: str) -> None:
    finished = longjudge("results", "--aggregate", *arguments)
    assert (finished.code, finished.out, len(finished.err.splitlines())) == (2, "", 1)
    assert said in finished.err
