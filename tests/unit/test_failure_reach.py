"""What a fault is said to do before it does: which parts it meets, and how a run would end."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from longjudge.faults import Fault, FaultKind
from longjudge.judges import faulty
from longjudge.judges.anthropic import CALL_SECONDS
from longjudge.judges.base import AskError
from longjudge.judges.reply import read_reply
from longjudge.rubric import load_rubric
from longjudge_tui.bench.forcing import MOST_RECENT, Forcing
from longjudge_tui.lab import course, reach
from longjudge_tui.lab.reach import Foreseen, Reach, command_line


class Plan(list):
    def digests(self):
        return [bytes([number]) * 16 for number in self]


def foresee(spec, parts=10, kept=(), limit=600.0, *, keys=(), applies=True):
    bench = SimpleNamespace(
        outlook=SimpleNamespace(plan=Plan(range(parts)), keys=keys or [*map(str, range(parts))]),
        applies=applies,
        is_kept=lambda place: place + 1 in kept,
        settings=SimpleNamespace(concurrency=4, time_limit=limit),
    )
    return Reach(bench).foresee(Fault.parse(spec))


@pytest.mark.parametrize(
    ("spec", "met", "outcome"),
    [
        (
            "badjson",
            "meets 10 of 10 chunks, 7 of them to ask",
            "a run asks 7 chunks: 7 gaps (7 unparsable), 0 judged",
        ),
        (
            "429x2@1-4,9",
            "meets 5 of 10 chunks (1-4,9), 2 of them to ask",
            "a run asks 7 chunks: all 7 judged, 2 of them asked again first",
        ),
        (
            "refusal@4+drop@5+slow=2@9-10",
            "meets 4 of 10 chunks (4-5,9-10), 4 of them to ask",
            "a run asks 7 chunks: 2 gaps (1 refused, 1 provider_error), 5 judged, 2 late",
        ),
        (
            "full-disk@4+crash=3",
            "meets 1 of 10 chunks (4), 1 of them to ask",
            "a run asks 7 chunks: the app is killed after 3 verdicts",
        ),
        (
            "badjson@1",
            "meets 1 of 10 chunks (1), 0 of them to ask",
            "a run asks 7 chunks: all 7 judged",
        ),
    ],
)
def test_what_comes_of_a_spec_is_said_before_it_is_used(spec, met, outcome):
    foreseen = foresee(spec, kept=(1, 2, 3))
    assert (foreseen.met, foreseen.outcome) == (met, outcome)


@pytest.mark.parametrize(
    ("spec", "limit", "outcome"),
    [
        # Who waits for nothing takes every place, and who is behind is never asked.
        (
            "timeout@1-6",
            4,
            "16 gaps (12 skipped, 4 timed_out), 0 judged, roughly, since the limit of 4 s ends it",
        ),
        ("timeout@1-3", 4, "3 gaps (3 timed_out), 13 judged, roughly, since the limit of 4 s"),
        ("timeout@1", 2000, "1 gap (1 provider_error), 15 judged, with some 901 s of waits"),
        ("slow=2", 4, "8 gaps (8 skipped), 8 judged, 8 late, roughly, since the limit of 4 s"),
        ("500=20x3@1", 60, "1 gap (1 provider_error), 15 judged, with some 21 s of waits"),
        ("500x3@1", 60, "all 16 judged, 1 of them asked again first"),
        ("429=2", 5, "16 gaps (12 skipped, 4 timed_out), 0 judged, roughly"),
        ("429x7@1+500x9@1", 600, "all 16 judged, 1 of them asked again first"),
        ("badjsonx1+empty@3", 60, "1 gap (1 unparsable), 15 judged, 15 of them asked again first"),
        ("full-disk@1-4+crash=13", 60, "all 16 judged, 4 not kept"),
        ("full-disk@1-4+crash=12", 60, "the app is killed after 12 verdicts"),
    ],
)
def test_what_is_foreseen_counts_with_the_limit_and_with_what_a_chunk_met_before(
    spec, limit, outcome
):
    assert foresee(spec, parts=16, limit=limit).outcome.startswith(
        f"a run asks 16 chunks: {outcome}"
    )


def test_what_a_run_does_not_ask_about_fails_in_no_preview():
    nothing = foresee("refusal@1-3", applies=False)
    assert nothing.met == "meets 3 of 10 chunks (1-3), 0 of them to ask"
    assert nothing.outcome == "a run asks nothing now, so nothing fails"
    # Equal chunks are asked about once.
    assert foresee("refusal@1", parts=3, keys=["a", "a", "b"]).outcome == (
        "a run asks 2 chunks: 1 gap (1 refused), 1 judged"
    )


def test_what_would_take_too_long_to_look_at_is_left_open(monkeypatch):
    monkeypatch.setattr(course, "MOST_STEPS", 20)
    assert foresee("429", parts=10).outcome == (
        "a run asks 10 chunks: 10 gaps (10 rate_limited), 0 judged,"
        " how long that takes is not foreseen"
    )


@pytest.mark.parametrize("kind", [each for each in FaultKind if each.keeps_back])
async def test_what_is_foreseen_of_a_kind_is_what_is_forced_in_front_of_a_judge(kind, monkeypatch):
    assert course.CALL_SECONDS == CALL_SECONDS
    monkeypatch.setattr(faulty, "CALL_SECONDS", 0.0)
    forced = Fault.parse(kind.value).forced[0]
    if kind in course._REPLIES:
        answer = await faulty._fail(forced)
        assert read_reply(answer, load_rubric("chunks")).reason is course._REPLIES[kind]
    else:
        with pytest.raises(AskError) as failed:
            await faulty._fail(forced)
        foreseen = course._error(forced)
        assert (foreseen.again, foreseen.reason) == (failed.value.again, failed.value.reason)


def test_the_picture_marks_the_parts_and_keeps_a_lone_one_in_sight():
    assert foresee("drop@1,5-6", kept=(5,)).picture(40) == "█···▒█····"
    crowd = Foreseen("", "", ("·",) * 777 + ("█",) + ("·",) * 222).picture(50)
    assert len(crowd) == 50
    assert crowd.count("█") == 1
    assert foresee("drop", kept=range(1, 11)).outcome == "a run asks nothing now, so nothing fails"


def test_much_looking_is_left_out(monkeypatch):
    monkeypatch.setattr(reach, "MOST_LOOKS", 19)
    assert foresee("drop@1,3") is None
    assert foresee("drop@1") is not None


@pytest.mark.parametrize(
    ("path", "named"),
    [("/s/my file's.jsonl", "'/s/my file'\"'\"'s.jsonl'"), ("/s/\x1b[2J.jsonl", "PATH")],
)
def test_the_same_run_is_given_for_a_shell(path, named):
    unit = reach.Unit.CHARACTERS
    bench = SimpleNamespace(
        settings=SimpleNamespace(redact=True),
        tuning=SimpleNamespace(unit=unit, size=8000, model_name="offline"),
        file=SimpleNamespace(path=path),
    )
    assert command_line(bench, "429@30%") == (
        f"longjudge judge {named} --model offline --chunk-chars 8000 --fault 429@30%"
    )


def test_the_last_specs_are_remembered_once_each():
    forcing = Forcing()
    for spec in ("drop", "empty", "drop", None, "refusal", "badjson", "500", "529"):
        forcing.use(Fault.parse(spec) if spec else None)
    assert forcing.recent[:3] == ("529", "500", "badjson")
    assert len(forcing.recent) == MOST_RECENT == len(set(forcing.recent))
