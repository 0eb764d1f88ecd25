"""`longjudge estimate`: what judging would ask and cost, after the store, asking nobody."""

from __future__ import annotations

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


@pytest.mark.parametrize(
    ("arguments", "said"), [([], "needs a PATH"), (["x", "--chunk-chars", "3"], "out of range")]
)
def test_wrong_usage_is_one_line_and_exit_2(arguments: list[str], said: str) -> None:
    finished = longjudge("estimate", *arguments)
    assert (finished.code, finished.out, len(finished.err.splitlines())) == (2, "", 1)
    assert said in finished.err
