"""`longjudge results`: what was judged before is listed, shown, reported, and filtered by marks."""

from __future__ import annotations

import asyncio
import json
import os
import re
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from commands_for_tests import longjudge
from longjudge.marks import Mark
from longjudge.paths import sample_sessions
from longjudge.store import GapReply, PastJudgment, Store
from sessions_for_tests import write_events, write_session

if TYPE_CHECKING:
    from collections.abc import Sequence

SAMPLE = str(sample_sessions() / "checkout-refactor.jsonl")
TALK = str(sample_sessions() / "release-questions.jsonl")
CHUNKS = ("--chunk-chars", "5000")


@pytest.fixture(autouse=True)
def store_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    path = tmp_path / "store.sqlite"
    monkeypatch.setenv("LONGJUDGE_STORE", str(path))
    return path


def judge(*arguments: object, cwd: Path | None = None) -> list[dict[str, Any]]:
    finished = longjudge("judge", "--json", "--model", "offline", *arguments, cwd=cwd)
    return finished.objects


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
        for digest, criterion, mark in marks:
            await store.set_mark(bytes.fromhex(digest), criterion, mark)
        await store.aclose()

    asyncio.run(write())


def last(store_file: Path) -> list[PastJudgment]:
    async def read() -> list[PastJudgment]:
        store = await Store.open_to_read(store_file)
        try:
            return await store.last_judgments()
        finally:
            await store.aclose()

    return asyncio.run(read())


def past(id: str, findings: Sequence[dict[str, object]] = (), **members: Any) -> PastJudgment:
    result: dict[str, object] = {
        "id": id,
        "session": {"path": "a.jsonl", "title": "A title", "format": "events", "id": "s"},
        "status": "partial",
        "score": 0.5,
        "score_range": [0.25, 0.75],
        "chunks": 4,
        "judged_chunks": 2,
        "flagged_chunks": 1,
        "gaps": {"truncated": 1, "skipped": 1},
        "findings": list(findings),
        "parts": [
            {"part": 1, "reason": None},
            {"part": 2, "reason": None},
            {"part": 3, "reason": "truncated"},
            {"part": 4, "reason": "skipped"},
        ],
        "model": "claude-haiku-5-5",
        "rubric": {"name": "chunks", "version": "9f2c1a7b"},
        "settings": {"chunk_chars": 30000},
    } | members
    digests = tuple(f"{number:032x}" for number in range(len(findings)))
    return PastJudgment(
        id, "a.jsonl", "/a.jsonl", "s", "chunks", "9f2c1a7b", "m", "partial", 1e9, result, digests
    )


def test_json_gives_the_objects_that_judge_printed_newest_first() -> None:
    first = judge(SAMPLE, *CHUNKS)
    second = judge(TALK)
    results = longjudge("results", "--json")
    assert (results.code, results.err) == (0, "")
    assert results.objects == [*second, *first]


def test_a_row_holds_status_score_with_range_coverage_judge_and_settings(store_file: Path) -> None:
    judge(SAMPLE, *CHUNKS)
    record(store_file, past("j_0_partial"))
    rows = longjudge("results").out.splitlines()
    assert len(rows) == 2
    assert "complete" in rows[0]
    for words in ("0.974 (0.974-0.974)", "115/115 parts", "3 findings", "offline rules"):
        assert words in rows[0]
    assert "5000 chars a chunk" in rows[0]
    assert SAMPLE in rows[0]
    for words in ("j_0_partial", "partial", "0.500 (0.250-0.750)", "2/4 parts", "9f2c1a7b"):
        assert words in rows[1]


def test_one_judgment_is_shown_by_the_beginning_of_its_id(store_file: Path) -> None:
    [result] = judge(SAMPLE, *CHUNKS)
    record(store_file, past("j_0_other"), past("j_0_more"))
    shown = longjudge("results", result["id"][:6])
    assert shown.code == 0
    assert result["id"] in shown.out.splitlines()[0]
    assert "part 109 · destructive_action · event 561 · verified: force-pushed over main" in (
        shown.out
    )
    assert longjudge("results", "j_0_more", "--json").objects[0]["id"] == "j_0_more"
    several = longjudge("results", "j_0_")
    assert (several.code, several.out) == (2, "")
    assert "j_0_more, j_0_other" in several.err
    assert "give more of the id" in several.err
    unknown = longjudge("results", "j_9")
    assert (unknown.code, unknown.out) == (2, "")
    assert "no judgment of that id" in unknown.err
    assert longjudge("results", "").code == 2


def test_since_leaves_out_what_is_older(store_file: Path) -> None:
    [result] = judge(TALK)
    record(store_file, past("j_old"))
    objects = longjudge("results", "--json", "--since", "24h").objects
    assert [item["id"] for item in objects] == [result["id"]]
    assert longjudge("results", "--json", "--since", "2w").objects == objects
    wrong = longjudge("results", "--since", "yesterday")
    assert (wrong.code, len(wrong.err.splitlines())) == (2, 1)
    assert "24h" in wrong.err


def test_without_a_store_nothing_is_listed_and_nothing_is_made(store_file: Path) -> None:
    nothing = longjudge("results")
    assert (nothing.code, nothing.out) == (0, "")
    assert "no judgments in the store yet" in nothing.err
    assert longjudge("results", "--json").out == ""
    assert not store_file.exists()


def test_a_session_is_the_same_through_another_relative_path(
    store_file: Path, tmp_path: Path
) -> None:
    file = write_session(tmp_path / "session.jsonl", 2)
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "link.jsonl").symlink_to(file)
    judge("session.jsonl", cwd=tmp_path)
    judge("../session.jsonl", cwd=inside)
    [newest] = judge("link.jsonl", cwd=inside)
    found = [item for item in last(store_file) if item.session_id == newest["session"]["id"]]
    assert newest["id"] in {item.id for item in found}
    assert {item.real_path for item in last(store_file)} == {str(file.resolve())}


def test_a_mark_is_shown_and_filtered_in_every_format(store_file: Path) -> None:
    judge(SAMPLE, *CHUNKS)
    [judgment] = last(store_file)
    criterion = "destructive_action"
    mark(
        store_file,
        (judgment.digests[0], criterion, Mark.WRONG),
        (judgment.digests[2], criterion, Mark.RIGHT),
        (judgment.digests[1], "another_criterion", Mark.RIGHT),
    )
    [result] = longjudge("results", "--json").objects
    marks = [finding.get("mark", "-") for finding in result["findings"]]
    assert marks == ["wrong", "-", "right"]
    assert "mark" not in result["findings"][1]
    assert "3 findings (1 right, 1 wrong)" in longjudge("results").out
    wrong = longjudge("results", judgment.id, "--marks", "wrong").out
    assert "verified · marked wrong:" in wrong
    assert "force-pushed" not in wrong
    [unmarked] = longjudge("results", judgment.id, "--marks", "none", "--json").objects
    assert [finding["part"] for finding in unmarked["findings"]] == [93]
    report = longjudge("results", judgment.id, "--format", "md").out
    assert "verified, marked wrong:" in report
    assert "verified, marked right:" in report


def test_a_mark_outlives_another_chunk_size(store_file: Path) -> None:
    judge(SAMPLE, *CHUNKS)
    [judgment] = last(store_file)
    mark(store_file, (judgment.digests[2], "destructive_action", Mark.WRONG))
    [other] = judge(SAMPLE, "--chunk-chars", "20000")
    [shown] = longjudge("results", other["id"], "--json").objects
    marked = [finding["event"] for finding in shown["findings"] if finding.get("mark") == "wrong"]
    assert marked == [561]


def test_a_list_filtered_by_marks_leaves_out_judgments_without_one(store_file: Path) -> None:
    judge(SAMPLE, *CHUNKS)
    judge(TALK)
    [digest] = {item.digests[0] for item in last(store_file) if item.digests}
    mark(store_file, (digest, "destructive_action", Mark.RIGHT))
    assert len(longjudge("results", "--marks", "right").out.splitlines()) == 1
    assert len(longjudge("results", "--marks", "right", "--json").objects) == 1
    none = longjudge("results", "--marks", "wrong")
    assert (none.out, none.code) == ("", 0)
    assert "no judgment has such a finding" in none.err


def test_a_finding_without_an_event_is_marked_by_its_chunk(store_file: Path) -> None:
    finding: dict[str, object] = {
        "part": 1,
        "criterion": "broken_promise",
        "note": "n",
        "event": None,
        "quote": None,
        "verified": False,
    }
    record(store_file, past("j_1", [finding]))
    mark(store_file, (f"{0:032x}", "broken_promise", Mark.RIGHT))
    assert "no event · not verified · marked right: n" in longjudge("results", "j_1").out


def test_the_report_says_everything_and_is_the_same_every_time(store_file: Path) -> None:
    finding: dict[str, object] = {
        "part": 2,
        "criterion": "broken_promise",
        "note": "never ran the tests",
        "event": 7,
        "quote": "I ran the tests",
        "verified": False,
    }
    record(
        store_file,
        past("j_1", [finding], cost_usd=0.25, calls=3, cached_chunks=1, seconds=4.25),
    )
    report = longjudge("results", "j_1", "--format", "md")
    assert report.out == longjudge("results", "j_1", "--format", "md", TZ="Asia/Tokyo").out
    lines = report.out.splitlines()
    assert lines[0] == "# A title"
    assert (
        "**partial** · score 0.500 (could be 0.250-0.750) · 2 of 4 parts judged, 1 flagged" in lines
    )
    assert lines[4] == "Judged by claude-haiku-5-5."
    assert lines[6].startswith("The score is the share of the judged parts in which nothing was")
    assert "### broken_promise (1)" in lines
    assert "- part 2, event 7, not verified: never ran the tests" in lines
    assert "  I ran the tests" in lines
    assert "- truncated × 1: part 3" in lines
    assert "- skipped × 1: part 4" in lines
    assert "- Settings: chunk_chars 30000" in lines
    assert "- Cost: $0.25" in lines
    assert "- Calls: 3, 1 saved by the store" in lines
    assert any("2001-09-09 01:46:40 UTC" in line for line in lines)


def test_the_report_names_the_thread_of_a_finding_where_there_are_several(store_file: Path) -> None:
    finding: dict[str, object] = {
        "part": 2,
        "criterion": "broken_promise",
        "note": "never ran the tests",
        "event": 7,
        "quote": None,
        "verified": False,
    }
    for id, threads in (("j_1", ("main", "agent [x](y)")), ("j_2", ("main", "main"))):
        parts = [
            {"part": part, "state": "clean", "reason": None, "thread": thread}
            for part, thread in enumerate(threads, start=1)
        ]
        record(store_file, past(id, [finding], parts=parts))
    told = "- part 2, event 7, thread agent \\[x\\](y), not verified: never ran the tests"
    assert told in longjudge("results", "j_1", "--format", "md").out.splitlines()
    told = "- part 2, event 7, not verified: never ran the tests"
    assert told in longjudge("results", "j_2", "--format", "md").out.splitlines()


def test_no_text_breaks_out_of_the_report_or_reaches_the_terminal(store_file: Path) -> None:
    finding: dict[str, object] = {
        "part": 1,
        "criterion": "broken_promise",
        "note": "<b>[x](javascript:1)</b>\n# Fake \x1b[2J*bold*",
        "event": 0,
        "quote": "a\n````\n# Not a heading\n``` \x1b]0;x\x07\u202e",
        "verified": True,
    }
    session = {"path": "a\n# b.jsonl", "title": "![i](http://x) `code`\x1b[31m", "id": "`"}
    settings = {"chunk_chars": "9\u202e\n# 8", "<b>\x07": "\u202e\n## Fake"}
    record(
        store_file,
        past("j_1", [finding], session=session, evidence="\x1b[2J", settings=settings),
    )
    for form in ("md", "text"):
        for command in (["results", "j_1"], ["results"]):
            shown = longjudge(*command, "--format", form)
            assert shown.code == 0
            assert not {"\x1b", "\x07", "\u202e"} & set(shown.out)
    lines = longjudge("results", "j_1", "--format", "md").out.splitlines()
    assert lines[0].startswith("# \\!\\[i\\](http://x) \\`code\\`")
    start = lines.index("  `````text")
    end = lines.index("  `````", start)
    assert lines[start + 1 : start + 4] == ["  a", "  ````", "  # Not a heading"]
    assert end == start + 5
    outside = lines[:start] + lines[end:]
    headings = [line for line in outside if line.startswith("#")]
    assert headings[1:] == [
        "## What was asked",
        "## Findings (1)",
        "### broken_promise (1)",
        "## Gaps",
        "## How it was judged",
        "## How to look at it",
    ]
    assert not any("<b>" in line.replace("\\<b", "") for line in outside)


HOSTILE = (
    "a\n````\n# Not a heading\n``` \x1b]0;x\x07\r\u202e\n## Gaps\n  part 9 · clean\x85\u2028end"
)
GAPS = (
    GapReply(3, "the reply holds no JSON object \x1b[2J", HOSTILE),
    GapReply(4, "503 (api_error): no luck", ""),
)


def with_gaps(*gaps: GapReply) -> PastJudgment:
    return replace(past("j_1"), gaps=gaps)


def test_what_was_wrong_with_each_gap_is_told_with_the_reply(store_file: Path) -> None:
    record(store_file, with_gaps(*GAPS), past("j_2"))
    shown = longjudge("results", "j_1")
    assert not {"\x1b", "\x07", "\r", "\u202e", "\x85", "\u2028"} & set(shown.out)
    lines = shown.out.splitlines()
    start = lines.index(
        "  part 3 · truncated: the reply holds no JSON object ␛[2J; the last reply was:"
    )
    assert lines[start + 1 : start + 5] == [
        "      │ a",
        "      │ ````",
        "      │ # Not a heading",
        "      │ ``` ␛]0;x␇␍\ufffd",
    ]
    assert lines[start + 6] == "      │   part 9 · clean\ufffd\ufffdend"
    assert lines[start + 7 :] == ["  part 4 · skipped: 503 (api_error): no luck"]
    assert "no JSON object" not in longjudge("results", "j_2").out
    assert "no JSON object" not in longjudge("results").out


def test_no_reply_of_a_gap_breaks_out_of_the_report(store_file: Path) -> None:
    record(store_file, with_gaps(*GAPS))
    shown = longjudge("results", "j_1", "--format", "md").out
    assert not {"\x1b", "\x07", "\r", "\u202e", "\x85", "\u2028"} & set(shown)
    lines = shown.splitlines()
    assert lines.index("### Part 3: truncated") < lines.index("## How it was judged")
    assert "the reply holds no JSON object ␛\\[2J" in lines
    start = lines.index("`````text")
    end = lines.index("`````", start)
    assert lines[start + 1 : start + 4] == ["a", "````", "# Not a heading"]
    headings = [line for line in lines[:start] + lines[end:] if line.startswith("#")]
    assert headings[-5:] == [
        "## Gaps",
        "### Part 3: truncated",
        "### Part 4: skipped",
        "## How it was judged",
        "## How to look at it",
    ]
    assert "503 (api_error): no luck" in lines


def test_json_has_the_replies_of_gaps_with_an_id_alone(store_file: Path) -> None:
    record(store_file, with_gaps(*GAPS), past("j_2"))
    shown = json.loads(longjudge("results", "j_1", "--json").out)
    assert shown["gap_replies"] == [
        {
            "part": 3,
            "reason": "truncated",
            "problem": "the reply holds no JSON object \x1b[2J",
            "reply": HOSTILE,
        },
        {"part": 4, "reason": "skipped", "problem": "503 (api_error): no luck", "reply": ""},
    ]
    assert "gap_replies" not in longjudge("results", "j_2", "--json").objects[0]
    assert not any("gap_replies" in item for item in longjudge("results", "--json").objects)


def test_gaps_with_the_same_trouble_and_no_reply_are_told_together(store_file: Path) -> None:
    parts = [{"part": number, "reason": "provider_error"} for number in range(1, 8)]
    gaps = [GapReply(number, "no luck", "") for number in (1, 2, 3, 7)]
    record(store_file, replace(past("j_1", parts=parts), gaps=(*gaps, GapReply(5, "other", ""))))
    shown = longjudge("results", "j_1").out
    assert "  part 1-3, 7 · provider_error: no luck\n  part 5 · provider_error: other" in shown
    [whole] = longjudge("results", "j_1", "--json").objects
    assert [gap["part"] for gap in whole["gap_replies"]] == [1, 2, 3, 5, 7]


def test_a_secret_in_the_reply_of_a_gap_is_left_out_everywhere(store_file: Path) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    record(store_file, with_gaps(GapReply(3, f"it said {secret}", f"the token is {secret}")))
    for form in ("text", "md", "json"):
        shown = longjudge("results", "j_1", "--format", form).out
        assert "the token is" in shown
        assert secret not in shown


def test_a_judgment_that_is_recorded_again_has_the_replies_of_its_last_record(
    store_file: Path,
) -> None:
    record(store_file, with_gaps(*GAPS))
    record(store_file, with_gaps(GapReply(4, "another", "reply")))
    [shown] = longjudge("results", "j_1", "--json").objects
    assert [(gap["part"], gap["reply"]) for gap in shown["gap_replies"]] == [(4, "reply")]


def test_reports_of_several_judgments_stand_apart(store_file: Path) -> None:
    record(store_file, past("j_1"), past("j_2"))
    report = longjudge("results", "--format", "md").out
    assert report.count("\n---\n") == 1
    assert report.count("# A title\n") == 2
    assert not report.startswith("\n")


def test_a_judgment_that_an_older_version_recorded_is_shown(store_file: Path) -> None:
    record(store_file, past("j_1"))
    with sqlite3.connect(store_file) as connection:
        few = json.dumps({"id": "j_1", "status": "complete", "score": 1.0, "findings": []})
        connection.execute("UPDATE judgments SET result = ?, summary = ?", (few, few))
    connection.close()
    assert "complete" in longjudge("results").out
    assert "score 1.000" in longjudge("results", "j_1").out
    assert "# events" in longjudge("results", "j_1", "--format", "md").out


@pytest.mark.parametrize("format", ["text", "md", "json"])
def test_what_is_no_text_in_the_store_is_left_out_and_said(store_file: Path, format: str) -> None:
    gaps = GapReply(1, "why", "reply"), GapReply(2, "but", "why")
    record(store_file, past("j_damaged"), replace(past("j_whole"), gaps=gaps))
    mark(store_file, ("aa", "broken_promise", Mark.RIGHT))
    with closing(sqlite3.connect(store_file)) as store, store:
        store.execute("UPDATE judgments SET path = x'ff' WHERE id = 'j_damaged'")
        store.execute("UPDATE gap_replies SET reply = x'ff' WHERE part = 1")
        store.execute("UPDATE marks SET digest = x'ff'")
    listed = longjudge("results", "--format", format)
    said = "longjudge: 1 judgment cannot be read and is left out\n"
    assert (listed.code, listed.err) == (0, said)
    assert "j_whole" in listed.out
    assert "j_damaged" not in listed.out
    shown = longjudge("results", "j_whole", "--format", format)
    assert (shown.code, shown.err) == (0, "")
    assert "but" in shown.out
    gone = longjudge("results", "j_damaged")
    assert (gone.code, gone.out) == (2, "")
    with closing(sqlite3.connect(store_file)) as store, store:
        store.execute("DELETE FROM judgments WHERE id = 'j_whole'")
    # There is one, and it cannot be shown: that is not the same as none.
    assert longjudge("results", "--format", format).err == said


def test_a_judgment_of_an_unknown_shape_hides_no_other(store_file: Path) -> None:
    record(store_file, past("j_1"), past("j_2", findings="none", score="good"))
    listed = longjudge("results")
    assert (listed.code, len(listed.out.splitlines())) == (0, 2)
    assert "--json gives what was recorded" in longjudge("results", "j_2", "--format", "md").out
    assert longjudge("results", "j_2", "--json").code == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([os.fsdecode(b"j_\xff")], "no judgment of that id"),
        (["--json", "--format", "md"], "two things"),
        (["j_1", "--since", "1h"], "two things"),
        (["--format", "xml"], "xml"),
        (["--marks", "maybe"], "maybe"),
    ],
)
def test_what_cannot_be_meant_is_one_line_and_exit_2(arguments: list[str], said: str) -> None:
    finished = longjudge("results", *arguments)
    assert (finished.code, finished.out, len(finished.err.splitlines())) == (2, "", 1)
    assert said in finished.err


def test_a_newer_store_is_refused_in_one_line(store_file: Path, tmp_path: Path) -> None:
    write_events(tmp_path / "a.jsonl", [{"kind": "user_message", "text": "x"}])
    record(store_file, past("j_1"))
    with sqlite3.connect(store_file) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    for command in (["results"], ["cache", "stats"], ["estimate", str(tmp_path / "a.jsonl")]):
        finished = longjudge(*command)
        assert (finished.code, len(finished.err.splitlines())) == (2, 1)
        assert "newer longjudge" in finished.err


def test_a_record_says_that_its_quotes_were_checked_when_it_was_judged(store_file: Path) -> None:
    def found(**members: object) -> dict[str, object]:
        return {
            "part": 1,
            "criterion": "broken_promise",
            "note": "n",
            "event": 9,
            "quote": "q",
            "verified": True,
        } | members

    corrected = found(start=3, end=4, named_event=7, corrected=True)
    nowhere = found(note="m", named_event=None, corrected=True)
    lost = found(event=None, verified=False)
    # What an older version recorded has none of the newer members.
    record(store_file, past("j_1", [corrected, nowhere, lost, found()]), past("j_2"))
    row = next(each for each in longjudge("results").out.splitlines() if "j_1" in each)
    assert "4 findings, quotes 3/4 verified" in row
    text = longjudge("results", "j_1").out
    assert text.count("quotes 3/4 verified when it was judged") == 1
    assert "event 9 · verified · the judge named event 7: n" in text
    assert "event 9 · verified · the judge named no event of the chunk: m" in text
    assert "event 9 · verified: n" in text
    report = longjudge("results", "j_1", "--format", "md").out
    assert report.count("- Evidence: quotes 3/4 verified when it was judged") == 1
    assert "- part 1, event 9, verified, the judge named event 7: n" in report
    assert longjudge("results", "j_1", "--json").objects[0]["findings"][0] == corrected
    for form in ("text", "md"):
        assert "quotes" not in longjudge("results", "j_2", "--format", form).out


def test_findings_that_are_not_shown_count_among_the_quotes(store_file: Path) -> None:
    judge(SAMPLE, *CHUNKS)
    [judgment] = last(store_file)
    mark(store_file, (judgment.digests[0], "destructive_action", Mark.WRONG))
    shown = longjudge("results", judgment.id, "--marks", "wrong").out
    assert "findings shown: 1 of 3, by mark" in shown
    assert "quotes 3/3 verified when it was judged" in shown


def test_a_colleague_finds_each_quote_by_the_report(tmp_path: Path) -> None:
    """By the line of the file as long as it is the one that was judged, and by what opens it."""
    path = tmp_path / "copy.jsonl"
    path.write_bytes(Path(SAMPLE).read_bytes())
    [judged] = judge(path)
    report = longjudge("results", judged["id"], "--format", "md").out
    lines = path.read_text().splitlines()
    places = re.findall(r"^- part \d+, event \d+, line (\d+), verified", report, re.M)
    assert len(places) == len(judged["findings"]) > 0
    for place, finding in zip(sorted(map(int, places)), judged["findings"], strict=True):
        assert finding["quote"][:20] in lines[place - 1]
    assert f"`longjudge {path}`" in report
    again = re.search(r"`longjudge (results \S+ --store \S+)`", report)
    assert again is not None
    assert longjudge(*again[1].split(), "--format", "md").out == report
    path.write_text("\n".join(["", *lines[:100]]) + "\n")
    report = longjudge("results", judged["id"], "--format", "md").out
    assert ", line " not in report
    assert "Lines of the file: not known for" in report
    path.unlink()
    report = longjudge("results", judged["id"], "--format", "md").out
    assert "Lines of the file: not known: " in report
    assert "git push --force" in report
