"""`longjudge estimate`: what judging would ask and cost, after the store, asking nobody."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING

import pytest

from commands_for_tests import longjudge
from longjudge.paths import sample_sessions
from server import MessagesServer
from sessions_for_tests import CHUNK_CHARS, events, write_events, write_session

if TYPE_CHECKING:
    from pathlib import Path

COUNT = 8
SIZE = ("--chunk-chars", CHUNK_CHARS)
TALK = sample_sessions() / "release-questions.jsonl"
FIELDS = {
    "path",
    "id",
    "status",
    "chunks",
    "kept",
    "to_ask",
    "tokens_low",
    "tokens_high",
    "cost_usd_low",
    "cost_usd_high",
    "cost_usd_batch",
    "seconds",
    "advised_time_limit",
    "observed_factor",
    "redacted",
}


@pytest.fixture(autouse=True)
def store_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    path = tmp_path / "store.sqlite"
    monkeypatch.setenv("LONGJUDGE_STORE", str(path))
    return path


@pytest.fixture
def session_file(tmp_path: Path) -> Path:
    return write_session(tmp_path / "session.jsonl", COUNT)


def test_it_needs_no_credential_asks_nobody_and_makes_nothing(
    session_file: Path, store_file: Path
) -> None:
    with MessagesServer() as server:
        finished = longjudge(
            "estimate", session_file, "--json", *SIZE, ANTHROPIC_BASE_URL=server.base_url
        )
        assert server.requests == []
    assert (finished.code, finished.err) == (0, "")
    session, total = finished.objects
    assert set(session) == FIELDS
    assert session["path"] == str(session_file)
    assert (session["status"], session["chunks"], session["kept"]) == ("to_ask", COUNT, 0)
    assert session["to_ask"] == COUNT
    assert 0 < session["tokens_low"] < session["tokens_high"]
    low, high, batch = (session[f"cost_usd_{name}"] for name in ("low", "high", "batch"))
    assert low / 2 <= batch <= high / 2
    assert session["seconds"] > 0
    assert total["total"] is True
    assert total["to_ask"] == COUNT
    assert not store_file.exists()


def test_it_says_what_judge_then_asks(session_file: Path) -> None:
    with MessagesServer() as server:
        environment = {"ANTHROPIC_BASE_URL": server.base_url, "ANTHROPIC_API_KEY": "sk-ant-x"}

        def estimate(*arguments: object) -> list[dict[str, object]]:
            return longjudge(
                "estimate", session_file, "--json", *SIZE, *arguments, **environment
            ).objects

        assert longjudge("judge", session_file, *SIZE, **environment).code == 0
        session, total = estimate()
        assert (session["status"], session["kept"], session["to_ask"]) == ("kept", COUNT, 0)
        for name in ("tokens_low", "tokens_high", "cost_usd_low", "cost_usd_batch", "seconds"):
            assert session[name] == total[name] == 0
        assert estimate("--fresh")[0]["to_ask"] == COUNT
        write_events(session_file, [*events(COUNT), {"kind": "user_message", "text": "more " * 70}])
        session, _ = estimate()
        assert (session["status"], session["kept"], session["to_ask"]) == ("to_ask", COUNT, 1)
        [judged] = longjudge("judge", session_file, "--json", *SIZE, **environment).objects
        assert judged["calls"] == session["to_ask"]


def test_tokens_and_price_are_for_what_is_to_ask_alone(session_file: Path, tmp_path: Path) -> None:
    with MessagesServer() as server:
        environment = {"ANTHROPIC_BASE_URL": server.base_url, "ANTHROPIC_API_KEY": "sk-ant-x"}
        whole = longjudge("estimate", session_file, "--json", *SIZE, **environment).objects[0]
        first = write_events(tmp_path / "first.jsonl", events(COUNT)[: COUNT // 2])
        assert longjudge("judge", first, *SIZE, **environment).code == 0
        half = longjudge("estimate", session_file, "--json", *SIZE, **environment).objects[0]
    assert (half["kept"], half["to_ask"]) == (COUNT // 2, COUNT // 2)
    for name in ("tokens_low", "tokens_high", "cost_usd_low", "cost_usd_high", "cost_usd_batch"):
        assert half[name] == pytest.approx(whole[name] / 2, rel=0.1)


def test_what_an_earlier_session_of_the_command_brings_is_asked_once(
    session_file: Path, tmp_path: Path
) -> None:
    copy = write_session(tmp_path / "a-copy.jsonl", COUNT)
    first, second, total = longjudge("estimate", session_file, copy, "--json", *SIZE).objects
    assert (first["to_ask"], second["to_ask"], total["to_ask"]) == (COUNT, 0, COUNT)
    assert total["cost_usd_high"] == first["cost_usd_high"]


def test_a_session_the_rubric_leaves_out_counts_nothing(session_file: Path) -> None:
    lines = longjudge("estimate", TALK, session_file, "--json", *SIZE).objects
    [left_out] = [line for line in lines if line.get("path") == str(TALK)]
    assert left_out["status"] == "not_applicable"
    no_sums = {"path", "id", "status", "observed_factor", "redacted", "advised_time_limit"}
    assert {left_out[name] for name in FIELDS - no_sums} == {0}
    assert lines[-1]["chunks"] == COUNT
    assert "not applicable: no tool call" in longjudge("estimate", TALK).out


def test_an_unreadable_named_file_leaves_the_others_estimated(session_file: Path) -> None:
    finished = longjudge("estimate", "none.jsonl", session_file, "--json", *SIZE)
    assert finished.code == 2
    assert "none.jsonl" in finished.err
    assert [line["path"] for line in finished.objects] == [str(session_file), None]
    assert finished.objects[-1]["total"] is True


def test_the_duration_comes_from_what_was_measured(session_file: Path, tmp_path: Path) -> None:
    def seconds(*arguments: object) -> float:
        lines = longjudge("estimate", session_file, "--json", *SIZE, *arguments).objects
        return float(lines[0]["seconds"])

    model = ("--model", "offline")
    before = seconds(*model, "--concurrency", "1")
    assert seconds(*model, "--concurrency", "4") == pytest.approx(before / 4)
    # Never shorter than one question.
    assert seconds(*model, "--concurrency", "256") == pytest.approx(before / COUNT)
    other = write_events(tmp_path / "other.jsonl", [{"kind": "tool_call", "tool": "Bash"}])
    [judged] = longjudge("judge", other, "--json", *model).objects
    measured = judged["parts"][0]["seconds"]
    assert seconds(*model, "--concurrency", "1") == pytest.approx(measured * COUNT)


def test_the_limit_is_advised_from_what_was_measured(session_file: Path) -> None:
    def first_line(*arguments: object) -> str:
        return longjudge("estimate", session_file, *SIZE, *arguments).out.splitlines()[0]

    # Nobody has measured this model: five seconds a chunk, four at a time.
    words = first_line("--model", "claude-haiku-5-5", "--time-limit", "20")
    assert "about 10 s (a guess, nothing was measured yet);" in words
    assert "--time-limit 60 advised (20 s is set)" in words
    assert "a limit of 600 s is enough" in first_line("--model", "claude-haiku-5-5")
    offline = first_line("--model", "offline")
    assert "a guess" not in offline
    assert "a limit of 600 s is enough" in offline
    slow = ("--model", "claude-haiku-5-5", "--concurrency", "1")
    session, total = longjudge("estimate", session_file, "--json", *SIZE, *slow).objects
    assert session["advised_time_limit"] == total["advised_time_limit"] == 90
    assert session["seconds"] == 5 * COUNT


def test_nothing_to_ask_needs_no_limit(session_file: Path) -> None:
    longjudge("judge", session_file, "--model", "offline", *SIZE)
    [session, total] = longjudge(
        "estimate", session_file, "--json", "--model", "offline", *SIZE
    ).objects
    assert session["advised_time_limit"] is total["advised_time_limit"] is None
    text = longjudge("estimate", session_file, "--model", "offline", *SIZE).out
    assert "limit" not in text


def test_an_unknown_price_stays_unknown(session_file: Path) -> None:
    session, total = longjudge(
        "estimate", session_file, "--json", "--model", "no-such-model", *SIZE
    ).objects
    for line in (session, total):
        assert line["cost_usd_low"] is line["cost_usd_high"] is line["cost_usd_batch"] is None
    text = longjudge("estimate", session_file, "--model", "no-such-model", *SIZE).out
    assert "price unknown" in text


def test_text_has_a_line_for_each_session_and_the_total(session_file: Path) -> None:
    lines = longjudge("estimate", session_file, TALK, *SIZE).out.splitlines()
    assert len(lines) == 3
    assert f"{COUNT} chunks, 0 kept, {COUNT} to ask" in lines[-1]
    assert lines[-1].startswith("total of 2 sessions:")
    assert "as a batch" in lines[-1]


def folder_of(path: Path, count: int) -> Path:
    """Sessions of 1 to `count` chunks, and one that the rubric leaves out."""
    path.mkdir()
    for number in range(count):
        made = events(number + 1)
        made[0] = {"kind": "tool_call", "tool": "Bash", "input": {"command": f"ls {number}" * 40}}
        for event in made[1:]:
            event["text"] = f"{number} {event['text']}"
        write_events(path / f"s{number:03}.jsonl", made)
    write_events(path / "talk.jsonl", [{"kind": "user_message", "text": "Only talk."}])
    return path


def test_the_total_counts_what_does_not_apply_and_names_the_longest(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "many", 14)
    *sessions, total = longjudge("estimate", folder, "--json", *SIZE).objects
    assert len(sessions) == total["sessions"] == 15
    assert total["not_applicable"] == 1
    assert total["extrapolated"] is False
    longest = sorted(sessions, key=lambda line: -line["to_ask"])[:10]
    assert [row["path"] for row in total["longest"]] == [line["path"] for line in longest]
    row = total["longest"][0]
    assert row.keys() == {"path", "id", "chunks", "to_ask", "tokens", "cost_usd"}
    assert (row["chunks"], row["to_ask"]) == (14, 14)
    assert longest[0]["tokens_low"] < row["tokens"] < longest[0]["tokens_high"]
    assert longest[0]["cost_usd_low"] < row["cost_usd"] < longest[0]["cost_usd_high"]


def test_text_ends_with_the_longest_and_the_total(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "many", 14)
    lines = longjudge("estimate", folder, *SIZE, "--concurrency", "3").out.splitlines()
    assert len(lines) == 15 + 1 + 10 + 1
    assert lines[15] == "the 10 longest:"
    assert lines[16].split()[:2] == ["14", "to"]
    assert lines[16].endswith("s013.jsonl")
    assert lines[-1].startswith("total of 15 sessions: 1 not applicable, 105 chunks, 0 kept, 105")
    assert "as a batch, usually within an hour, at most a day" in lines[-1]
    assert "with 3 in flight" in lines[-1]
    few = longjudge("estimate", folder / "s013.jsonl", *SIZE).out
    assert "longest" not in few


def test_a_sample_reads_a_few_files_and_tells_of_all(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "many", 59)
    *_, exact = longjudge("estimate", folder, "--json", *SIZE).objects
    *sessions, total = longjudge("estimate", folder, "--json", *SIZE, "--sample", "20").objects
    assert len(sessions) == 20
    assert {*sessions[0]} == FIELDS
    assert (total["sampled"], total["of"], total["extrapolated"]) == (20, 60, True)
    assert total["sessions"] == pytest.approx(60, abs=1)
    for name in ("chunks", "to_ask"):
        assert total[f"{name}_low"] <= exact[name] <= total[f"{name}_high"]
        assert total[name] == pytest.approx(exact[name], rel=0.1)
        assert total[f"{name}_low"] < total[name] <= total[f"{name}_high"]
    # What is said of the price is wider than the band of an exact estimate.
    assert total["cost_usd_low"] < exact["cost_usd_low"] < exact["cost_usd_high"]
    assert exact["cost_usd_high"] < total["cost_usd_high"] < 2 * exact["cost_usd_high"]
    assert {*exact} < {*total}
    # The longest is always among the drawn.
    assert total["longest"][0] == exact["longest"][0]


def test_the_same_seed_draws_the_same_files(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "many", 30)

    def paths(*arguments: object) -> list[str]:
        sample = ("--sample", "10", *arguments)
        return [line["path"] for line in longjudge("estimate", folder, "--json", *sample).objects]

    assert paths() == paths("--seed", "0") != paths("--seed", "1")


def test_text_of_a_sample_says_that_it_is_one_and_how_to_judge_it_first(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "my sessions", 30)
    lines = longjudge("estimate", folder, *SIZE, "--sample", "11").out.splitlines()
    assert sum(f"{folder}/" in line for line in lines[:11]) == 11
    assert lines[-1].startswith("EXTRAPOLATED from 11 of 31 files: about 31 (")
    assert lines[-2].startswith("only 11 of 31 files were read; each sum below lies in its range")
    assert "total of" not in "".join(lines)
    said, _, command = lines[-3].partition(": longjudge judge ")
    assert said == "to judge the drawn files first, with the same options"
    judged = longjudge("judge", *shlex.split(command), "--json", "--model", "offline", *SIZE)
    assert judged.code == 0
    assert len(judged.objects) == 11


def test_a_secret_in_a_path_is_not_printed_as_a_command(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "ghp_16C7e42F292c6912E7710c838347Ae178B4a", 12)
    out = longjudge("estimate", folder, *SIZE, "--sample", "10").out
    assert "ghp_" not in out
    assert "name the files above to `longjudge judge`" in out


def test_what_is_kept_of_a_sample_is_not_kept_of_all(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "many", 30)
    offline = ("--model", "offline", *SIZE)
    sample = ("estimate", folder, "--json", *offline, "--sample", "12")
    *drawn, _ = longjudge(*sample).objects
    assert longjudge("judge", *(line["path"] for line in drawn), *offline).code == 0
    *kept, total = longjudge(*sample).objects
    assert {line["status"] for line in kept} <= {"kept", "not_applicable"}
    assert total["to_ask"] == total["to_ask_low"] == 0
    assert total["to_ask_high"] > 0
    text = longjudge("estimate", folder, *offline, "--sample", "12").out
    assert "nothing to pay" not in text.splitlines()[-1]


def test_a_sample_of_no_fewer_than_there_are_is_an_exact_estimate(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "many", 5)
    exact = longjudge("estimate", folder, "--json", *SIZE).objects
    sample = longjudge("estimate", folder, "--json", *SIZE, "--sample", "6").objects
    assert sample[:-1] == exact[:-1]
    assert sample[-1] == exact[-1] | {"sampled": 6, "of": 6}
    assert longjudge("estimate", folder, *SIZE, "--sample", "6").out.count("total of 6 ") == 1


def test_what_the_drawn_files_have_in_common_is_counted_in_each(tmp_path: Path) -> None:
    folder = tmp_path / "copies"
    folder.mkdir()
    for number in range(20):
        write_session(folder / f"{number}.jsonl", COUNT)
    *_, exact = longjudge("estimate", folder, "--json", *SIZE).objects
    *sessions, total = longjudge("estimate", folder, "--json", *SIZE, "--sample", "10").objects
    assert exact["to_ask"] == COUNT
    assert {line["to_ask"] for line in sessions} == {COUNT}
    assert total["to_ask"] == 20 * COUNT
    said = longjudge("estimate", folder, *SIZE, "--sample", "10").out
    assert "what sessions have in common is counted in each of them" in said


def test_a_drawn_file_that_is_no_session_is_passed_over_and_counts(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "many", 20)
    for number in range(20):
        (folder / f"no{number}.json").write_text(json.dumps({"settings": ["x" * 4_000, number]}))
    finished = longjudge("estimate", folder, "--json", *SIZE, "--sample", "30")
    assert finished.code == 0
    assert "that are no sessions" in finished.err
    total = finished.objects[-1]
    assert total["of"] == 41
    assert total["sessions_low"] <= 21 <= total["sessions_high"] < 41
    (tmp_path / "none").mkdir()
    for number in range(20):
        (tmp_path / "none" / f"{number}.json").write_text(json.dumps({"settings": number}))
    finished = longjudge("estimate", tmp_path / "none", "--sample", "10")
    assert (finished.code, finished.out) == (2, "")
    assert "none of the 10 files drawn of 20 holds such a session" in finished.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--sample", "9"], "a sample of 9 is too small to tell of 31 files; draw 10 or more"),
        (["--sample", "-1"], "too small"),
        (["--seed", "3"], "name --sample as well"),
        (["--sample", "10", "--session", "s"], "leave one of them out"),
        (["--sample", "some"], "--sample"),
    ],
)
def test_a_sample_that_tells_nothing_is_refused(
    arguments: list[str], said: str, tmp_path: Path
) -> None:
    finished = longjudge("estimate", folder_of(tmp_path / "many", 30), *arguments)
    assert (finished.code, finished.out, len(finished.err.splitlines())) == (2, "", 1)
    assert said in finished.err


@pytest.mark.parametrize(
    ("arguments", "said"), [([], "needs a PATH"), (["x", "--chunk-chars", "3"], "out of range")]
)
def test_wrong_usage_is_one_line_and_exit_2(arguments: list[str], said: str) -> None:
    finished = longjudge("estimate", *arguments)
    assert (finished.code, finished.out, len(finished.err.splitlines())) == (2, "", 1)
    assert said in finished.err
