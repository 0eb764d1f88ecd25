"""`longjudge results --format junit`: a report in which a partial result is no whole one."""

from __future__ import annotations

import asyncio
import itertools
import re
import sqlite3
import xml.etree.ElementTree as ET
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from commands_for_tests import longjudge
from longjudge.marks import Mark
from longjudge.paths import sample_sessions
from longjudge.states import GapReason
from longjudge.store import GapReply, PastJudgment, Store

if TYPE_CHECKING:
    from pathlib import Path

SAMPLE = str(sample_sessions() / "checkout-refactor.jsonl")
TALK = str(sample_sessions() / "release-questions.jsonl")
SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
COUNTS = ("tests", "failures", "errors", "skipped")

SUREFIRE_TIME = re.compile(r"(([0-9]{0,3},)*[0-9]{3}|[0-9]{0,3})*(\.[0-9]*)?")
# What the schema of Jenkins' xUnit plugin (junit-10.xsd) allows: elements in it, attributes that
# must be there, and others; as far as anything of it is used here.
SCHEMA: dict[str, tuple[set[str], set[str], set[str]]] = {
    "testsuites": ({"testsuite"}, set(), {"name", "time", "tests", "failures", "errors"}),
    "testsuite": (
        {"properties", "testcase", "system-out"},
        {"name", "tests", "failures", "errors"},
        {"time", "skipped", "timestamp", "id", "file"},
    ),
    "properties": ({"property"}, set(), set()),
    "property": (set(), {"name", "value"}, set()),
    "testcase": (
        {"skipped", "error", "failure", "system-out"},
        {"name"},
        {"time", "classname"},
    ),
    "failure": (set(), set(), {"type", "message"}),
    "error": (set(), set(), {"type", "message"}),
    "skipped": (set(), set(), {"type", "message"}),
    "system-out": (set(), set(), set()),
}


@pytest.fixture(autouse=True)
def store_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    path = tmp_path / "store.sqlite"
    monkeypatch.setenv("LONGJUDGE_STORE", str(path))
    return path


numbers = itertools.count(1)


def part(number: int, state: str = "clean", reason: str | None = None, **more: Any) -> dict:
    return {
        "part": number,
        "state": state,
        "reason": reason,
        "thread": "main",
        "first_event": number * 10,
        "last_event": number * 10 + 9,
        "seconds": 0.5,
    } | more


def found(number: int, **members: Any) -> dict[str, Any]:
    return {
        "part": number,
        "criterion": "broken_promise",
        "note": "never ran the tests",
        "event": 17,
        "quote": "I ran the tests",
        "verified": True,
    } | members


def past(*parts: dict[str, Any], session: str = "s", **members: Any) -> PastJudgment:
    states = [each["state"] for each in parts]
    number = next(numbers)
    gaps = states.count("gap")
    result: dict[str, Any] = {
        "id": f"j_{number:04}",
        "session": {"path": f"{session}.jsonl", "title": "T", "format": "events", "id": session},
        "status": "partial" if gaps else "complete",
        "score": 0.5,
        "score_range": [0.25, 0.75],
        "chunks": len(parts),
        "judged_chunks": len(parts) - gaps,
        "flagged_chunks": states.count("flagged"),
        "gaps": {},
        "evidence": "what it rests on",
        "findings": [],
        "parts": list(parts),
        "model": "claude-haiku-5-5",
        "rubric": {"name": "chunks", "version": "9f2c1a7b"},
        "settings": {"chunk_chars": 30000},
        "fault": None,
        "seconds": 1.25,
    } | members
    return PastJudgment(
        id=result["id"],
        path=f"{session}.jsonl",
        real_path=f"/{session}.jsonl",
        session_id=session,
        rubric="chunks",
        rubric_version="9f2c1a7b",
        model="claude-haiku-5-5",
        status=result["status"],
        created=1e9 + number,
        result=result,
        digests=tuple(f"{at:032x}" for at in range(len(result["findings"]))),
    )


def record(store_file: Path, *judgments: PastJudgment) -> None:
    async def write() -> None:
        store = await Store.open(store_file)
        for judgment in judgments:
            await store.record_judgment(judgment)
        await store.aclose()

    asyncio.run(write())


def junit(*arguments: object) -> ET.Element:
    """The document, which is held against the schema, and whose counts are counted again."""
    finished = longjudge("results", *arguments, "--format", "junit")
    assert (finished.code, finished.err) == (0, "")
    return checked(finished.out)


def checked(text: str) -> ET.Element:
    assert text.isascii()
    assert text.startswith('<?xml version="1.0" encoding="UTF-8"?>\n<testsuites ')
    root = ET.fromstring(text)
    for element in root.iter():
        children, needed, others = SCHEMA[element.tag]
        assert {child.tag for child in element} <= children
        assert needed <= set(element.attrib) <= needed | others
        assert SUREFIRE_TIME.fullmatch(element.get("time", ""))
    for suite in root:
        cases = suite.findall("testcase")
        counted = [len(cases), *(len(suite.findall(f"testcase/{x}")) for x in kinds())]
        assert [int(suite.attrib[name]) for name in COUNTS] == counted
        assert all(len(list(case)) <= 1 or case.find("system-out") is not None for case in cases)
    for name in COUNTS[:3]:
        assert int(root.attrib[name]) == sum(int(suite.attrib[name]) for suite in root)
    total = sum(float(suite.attrib["time"]) for suite in root)
    assert float(root.attrib["time"]) == pytest.approx(total, abs=0.002)
    tests = [(case.get("classname"), case.get("name")) for case in root.iter("testcase")]
    assert len(set(tests)) == len(tests)
    return root


def kinds() -> tuple[str, ...]:
    return "failure", "error", "skipped"


def outcomes(suite: ET.Element) -> list[str]:
    """What became of each test, by the element that says so."""
    return [
        next((child.tag for child in case if child.tag in kinds()), "passed")
        for case in suite.iter("testcase")
    ]


def properties(suite: ET.Element) -> dict[str, str]:
    return {each.attrib["name"]: each.attrib["value"] for each in suite.iter("property")}


def test_each_judgment_is_a_suite_and_each_part_a_test() -> None:
    arguments = ("--json", "--model", "offline", "--chunk-chars", "5000")
    [judged] = longjudge("judge", SAMPLE, *arguments).objects
    longjudge("judge", TALK, *arguments)
    talk, sample = junit()
    assert outcomes(talk) == ["skipped"]
    [skipped] = talk.iter("skipped")
    assert skipped.attrib["message"] == "not applicable: no tool call"
    states = {"clean": "passed", "flagged": "failure"}
    assert outcomes(sample) == [states[each["state"]] for each in judged["parts"]]
    assert sample.attrib["failures"] == str(judged["flagged_chunks"]) != "0"
    assert sample.attrib["time"] == f"{judged['seconds']:.3f}"
    texts = "\n".join(each.text or "" for each in sample.iter("failure"))
    for finding in judged["findings"]:
        assert f"{finding['criterion']} · event {finding['event']} · verified" in texts
        assert finding["note"] in texts
        assert finding["quote"].split("\n")[0] in texts
    told = properties(sample)
    assert told["score"] == str(judged["score"])
    assert told["model"] == "offline"
    assert told["rubric_version"] == judged["rubric"]["version"]
    assert told["chunk_chars"] == "5000"
    assert told["coverage"] == f"{judged['chunks']} of {judged['chunks']} parts judged"
    [alone] = junit(judged["id"])
    assert ET.tostring(alone) == ET.tostring(sample)


@pytest.mark.parametrize("reason", GapReason)
def test_a_gap_is_an_error_whatever_its_reason(store_file: Path, reason: GapReason) -> None:
    record(
        store_file,
        past(part(1), part(2, "gap", reason.value), part(3, "flagged"), findings=[found(3)]),
    )
    [suite] = junit()
    assert outcomes(suite) == ["passed", "error", "failure"]
    [error] = suite.iter("error")
    assert error.attrib["type"] == reason.value
    assert "neither clean nor flagged" in error.attrib["message"]
    assert reason.value in (error.text or "")
    assert properties(suite)["coverage"] == "2 of 3 parts judged"
    assert properties(suite)["status"] == "partial"


@pytest.mark.parametrize(
    "members",
    [
        {"parts": []},
        {"parts": [part(1)]},
        {"parts": [part(1), part(2), part(3)], "status": "cancelled"},
        {"parts": [part(1), part(2, "running"), part(3)]},
        {"parts": "none"},
        {"score": "good"},
        {"parts": [], "chunks": 0},
    ],
)
def test_what_is_not_recorded_whole_never_passes(store_file: Path, members: dict[str, Any]) -> None:
    record(store_file, past(part(1), part(2), part(3), **members))
    [suite] = junit()
    assert "error" in outcomes(suite)


def test_a_record_without_states_is_read_by_its_gaps_and_findings(store_file: Path) -> None:
    parts = [{"part": 1, "reason": None}, {"part": 2, "reason": None}]
    parts.append({"part": 3, "reason": "truncated"})
    judgment = past(part(1), part(2), part(3, "gap"), findings=[found(2)], parts=parts)
    record(store_file, judgment)
    [suite] = junit()
    assert outcomes(suite) == ["passed", "failure", "error"]


def test_a_failure_tells_all_findings_of_its_part_and_their_marks(store_file: Path) -> None:
    findings = [
        found(1, note="one"),
        found(1, note="two", criterion="destructive_action", event=None, quote=None),
        found(2, note="three", corrected=True, named_event=3, verified=False),
    ]
    record(store_file, past(part(1, "flagged"), part(2, "flagged"), findings=findings))

    async def mark() -> None:
        store = await Store.open(store_file)
        await store.set_mark(bytes(16), "broken_promise", Mark.WRONG)
        await store.aclose()

    asyncio.run(mark())
    first, second = junit().iter("failure")
    assert first.attrib == {"type": "broken_promise, destructive_action", "message": "one; two"}
    assert (first.text or "").splitlines() == [
        "broken_promise · event 17 · verified · marked wrong: one",
        "    │ I ran the tests",
        "destructive_action · no event · verified: two",
    ]
    assert "not verified · the judge named event 3: three" in (second.text or "")


def test_names_stay_the_same_and_tell_tests_apart(store_file: Path) -> None:
    threads = [part(1, thread="main"), part(2, thread="helper", last_event=20)]
    older, newer = past(*threads, session="a"), past(*threads, session="a")
    others = [
        past(part(1), session="a", settings={"chunk_chars": 5000}),
        past(part(1), session="b", model="gpt.4.1"),
    ]
    record(store_file, older, newer, *others)
    names = [suite.attrib["name"] for suite in junit()]
    name = "a.jsonl · chunks 9f2c1a7b · claude-haiku-5-5 · 30000 chars a chunk"
    assert names == [
        "b.jsonl · chunks 9f2c1a7b · gpt_4_1 · 30000 chars a chunk",
        "a.jsonl · chunks 9f2c1a7b · claude-haiku-5-5 · 5000 chars a chunk",
        name,
        f"{name} · {older.id}",
    ]
    [suite] = junit(newer.id)
    assert [(case.get("classname"), case.get("name")) for case in suite.iter("testcase")] == [
        (name, "part 1, thread main, events 10-19"),
        (name, "part 2, thread helper, event 20"),
    ]


def test_times_are_in_seconds_and_moments_in_utc(store_file: Path) -> None:
    odd = part(2, seconds=-1.0), part(3, seconds=1e-9), part(4, seconds=123456.7891)
    judgment = replace(past(part(1, seconds=2.5), *odd, seconds=1e7), created=1e9)
    record(store_file, judgment, replace(past(part(1), seconds=0.0625), created=1e300))
    beyond, suite = junit()
    times = [case.attrib["time"] for case in suite.iter("testcase")]
    assert times == ["2.500", "0.000", "0.000", "123456.789"]
    assert suite.attrib["time"] == "10000000.000"
    assert suite.attrib["timestamp"] == "2001-09-09T01:46:40"
    assert "timestamp" not in beyond.attrib


HOSTILE = (
    ']]> <b a="1">&amp;&#0;<![CDATA[ \x00\x1b[2J\x0b\r\n\'\t\x85\u2028\u202e\ufffe\uffff\U0001f600'
    '</failure></testcase><testcase name="x"/>'
)


def test_any_text_leaves_the_document_valid_and_says_nothing_in_its_name(store_file: Path) -> None:
    everywhere = found(1, note=HOSTILE, quote=HOSTILE, criterion=HOSTILE)
    judgment = past(
        part(1, "flagged", thread=HOSTILE),
        part(2, "gap", HOSTILE),
        session=HOSTILE,
        findings=[everywhere],
        status=HOSTILE,
        evidence=HOSTILE,
        model=HOSTILE,
        rubric={"name": HOSTILE, "version": HOSTILE},
        settings={"chunk_chars": HOSTILE, HOSTILE: HOSTILE, "model": "another"},
        fault=HOSTILE,
        store_error=HOSTILE,
    )
    record(store_file, replace(judgment, gaps=(GapReply(2, HOSTILE, HOSTILE),)))
    for arguments in ((), (judgment.id,)):
        root = junit(*arguments)
        [suite] = root
        assert outcomes(suite) == ["failure", "error"]
        assert properties(suite)["model"] != "another"
        values = [value for each in root.iter() for value in (*each.attrib.values(), each.text)]
        assert not {"\x1b", "\x00", "\u202e", "\ufffe", "\x85"} & set("".join(filter(None, values)))
        [failure] = suite.iter("failure")
        assert ']]> <b a="1">&amp;&#0;<![CDATA[ ' in (failure.text or "")
        assert "\U0001f600</failure></testcase>" in (failure.text or "")


def test_what_was_wrong_with_a_gap_is_told_with_an_id_and_no_secret_at_all(
    store_file: Path,
) -> None:
    judgment = past(
        part(1, "gap", "unparsable"),
        part(2, "flagged"),
        findings=[found(2, note=f"told {SECRET}", quote=f"it is {SECRET}")],
        session=f"dir-{SECRET}",
    )
    record(store_file, replace(judgment, gaps=(GapReply(1, f"no JSON in {SECRET}", "reply"),)))
    for arguments in ((), (judgment.id,)):
        text = longjudge("results", *arguments, "--format", "junit").out
        assert SECRET not in text
        assert "told [redacted" in text
        assert ("no JSON in [redacted" in text) == bool(arguments)
    assert SECRET in longjudge("results", "--format", "junit", "--no-redact").out


def test_forced_failures_are_named(store_file: Path) -> None:
    record(store_file, past(part(1, "gap", "timed_out"), fault="timeout@30%"))
    [suite] = junit()
    assert suite.attrib["name"].endswith(" · forced failures")
    assert properties(suite)["fault"] == "timeout@30%"
    assert "forced failures: timeout@30%" in (suite.findtext("system-out") or "")


def test_a_part_that_the_rules_flag_says_so(store_file: Path) -> None:
    record(store_file, past(part(1, disagrees=True), part(2)))
    [suite] = junit()
    assert outcomes(suite) == ["passed", "passed"]
    told = [case.findtext("system-out") for case in suite.iter("testcase")]
    assert told == ["the offline rules flag what the model calls clean", None]


def test_without_judgments_the_document_is_whole_and_empty(store_file: Path) -> None:
    nothing = longjudge("results", "--format", "junit")
    assert nothing.code == 0
    assert "no judgments in the store yet" in nothing.err
    assert checked(nothing.out).attrib["tests"] == "0"
    record(store_file, past(part(1)))
    nothing = longjudge("results", "--format", "junit", "--since", "1h")
    assert "no judgment since then" in nothing.err
    assert (nothing.code, len(checked(nothing.out))) == (0, 0)
    assert not store_file.with_name("results").exists()


def test_nothing_is_printed_of_what_cannot_be_read_to_its_end(store_file: Path) -> None:
    record(store_file, past(part(1)))
    with closing(sqlite3.connect(store_file)) as store, store:
        store.execute("DROP TABLE gap_replies")
    [listed] = junit()
    broken = longjudge("results", properties(listed)["judgment"], "--format", "junit")
    assert (broken.code, broken.out, len(broken.err.splitlines())) == (2, "", 1)


def test_a_judgment_that_does_not_read_is_said_to_be_missing(store_file: Path) -> None:
    damaged = past(part(1))
    record(store_file, damaged, past(part(1)))
    with closing(sqlite3.connect(store_file)) as store, store:
        store.execute("UPDATE judgments SET path = x'ff' WHERE id = ?", (damaged.id,))
    listed = longjudge("results", "--format", "junit")
    assert (listed.code, len(checked(listed.out))) == (0, 1)
    assert "1 judgment cannot be read and is left out" in listed.err
    gone = longjudge("results", damaged.id, "--format", "junit")
    assert (gone.code, gone.out) == (2, "")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--marks", "right"], "leave --marks out"),
        (["j_1", "--against", "j_2"], "--against has no --format junit"),
        (["--json"], "two things"),
        (["j_9"], "no judgment of that id"),
        (["j_9", "--since", "1h"], "two things"),
        ([""], "an empty ID"),
    ],
)
def test_what_such_a_report_cannot_say_is_refused(arguments: list[str], said: str) -> None:
    finished = longjudge("results", *arguments, "--format", "junit")
    assert (finished.code, finished.out, len(finished.err.splitlines())) == (2, "", 1)
    assert said in finished.err
