"""`longjudge judge --batch`: what is sent, what it costs, and that nothing is asked twice."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

import server as api
from batch_server import Cut, result_line
from batches_for_tests import (
    asked,
    check_sums,
    configure,
    finish,
    held_batches,
    judge_batch,
    judge_live,
    rows,
    start_batch,
)
from commands_for_tests import longjudge
from judgments_for_tests import bad
from server import FOREVER, MessagesServer
from sessions_for_tests import events, item_of, write_equal, write_events, write_session

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def _settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, store_file: Path) -> None:
    monkeypatch.setenv("LONGJUDGE_CONFIG", str(configure(tmp_path)))
    monkeypatch.setenv("LONGJUDGE_STORE", str(store_file))


def write_folder(folder: Path, *counts: int) -> Path:
    """Sessions with different events, so many in each; the item numbers go on from file to file."""
    folder.mkdir()
    first = 0
    for name, count in enumerate(counts):
        items = events(first + count)
        write_events(folder / f"s{name}.jsonl", [items[0], *items[first + 1 :]])
        first += count
    return folder


def test_the_result_says_what_was_sent_and_costs_half(
    served: MessagesServer, tmp_path: Path
) -> None:
    def script(request: api.Request, _: int) -> api.Reply:
        return bad(request) if item_of(request.prompt) == 2 else api.clean(request)

    served.script = script
    done = judge_batch(write_session(tmp_path / "s.jsonl", 5))
    [result] = done.objects
    assert done.code == 0, done.err
    check_sums(result)
    assert (result["status"], result["score"], result["score_range"]) == (
        "complete",
        0.8,
        [0.8, 0.8],
    )
    assert (result["calls"], result["cached_chunks"], result["calls_without_reply"]) == (5, 0, 0)
    assert result["usage"]["input_tokens"] == 500
    assert (result["settings"]["time_limit"], result["holds_left"]) == (86400, 0)
    assert [part["from_cache"] for part in result["parts"]] == [False] * 5
    assert [finding["part"] for finding in result["findings"]] == [3]
    # No live call, and one batch.
    assert served.requests == []
    [batch] = served.batches.own
    assert all(re.fullmatch(r"[a-zA-Z0-9_]{10}-[a-zA-Z0-9_-]{43}", id) for id in batch.custom_ids)
    live = judge_live(write_session(tmp_path / "s.jsonl", 5), "--fresh").objects[0]
    assert result["cost_usd"] == pytest.approx(live["cost_usd"] / 2)
    assert served.batches.called["create"] == 1
    assert "ended, 5 answered" in done.err
    assert held_batches() == []


def test_a_second_run_asks_nothing_and_calls_nobody(
    served: MessagesServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_folder(tmp_path / "f", 3, 2)
    first = judge_batch(folder)
    calls = len(served.batches.calls)
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    again = judge_batch(folder)
    assert (first.code, again.code, len(again.objects)) == (0, 0, 2)
    assert len(served.batches.calls) == calls
    for result in again.objects:
        assert (result["calls"], result["cost_usd"]) == (0, 0)
        assert result["cached_chunks"] == result["chunks"]


def test_sessions_share_a_batch_and_equal_chunks_are_asked_once(
    served: MessagesServer, tmp_path: Path
) -> None:
    folder = tmp_path / "f"
    folder.mkdir()
    write_equal(folder / "a.jsonl", 3)
    write_equal(folder / "b.jsonl", 2)
    write_session(folder / "c.jsonl", 4)
    done = judge_batch(folder)
    assert done.code == 0
    assert len(served.batches.own) == 1
    assert asked(served) == [0, 1, 2, 3]
    results = done.objects
    for result in results:
        check_sums(result)
        assert result["status"] == "complete"
    assert sum(result["calls"] for result in results) == 4
    assert sum(result["cached_chunks"] for result in results) == 4 + 3 + 4 - 4


@pytest.mark.parametrize("fresh", [False, True], ids=["kept", "fresh"])
def test_small_batches_are_made_of_many_sessions(
    served: MessagesServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fresh: bool
) -> None:
    monkeypatch.setenv("LONGJUDGE_CONFIG", str(configure(tmp_path, max_requests=3)))
    done = judge_batch(write_folder(tmp_path / "f", 4, 2, 5), *["--fresh"] * fresh)
    assert done.code == 0
    assert max(len(batch.custom_ids) for batch in served.batches.own) == 3
    assert asked(served) == sorted(set(asked(served)))
    assert sum(result["calls"] for result in done.objects) == len(asked(served))
    assert all(result["status"] == "complete" for result in done.objects)


def test_a_batch_is_no_larger_than_its_bytes(
    served: MessagesServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LONGJUDGE_CONFIG", str(configure(tmp_path, max_bytes=100_000)))
    served.batches.max_bytes = 100_000
    done = judge_batch(write_session(tmp_path / "s.jsonl", 60))
    assert done.objects[0]["status"] == "complete"
    assert len(served.batches.own) > 1
    # None was refused for its size.
    assert served.batches.called["create"] == len(served.batches.own)
    assert asked(served) == list(range(60))


def test_fresh_asks_everything_again_and_equal_chunks_once(
    served: MessagesServer, tmp_path: Path
) -> None:
    folder = tmp_path / "f"
    folder.mkdir()
    write_equal(folder / "a.jsonl", 3)
    write_session(folder / "b.jsonl", 4)
    judge_batch(folder)
    served.script = lambda request, _: bad(request)
    done = judge_batch(folder, "--fresh", "--time-limit", "20")
    assert [result["status"] for result in done.objects] == ["complete"] * 2
    assert asked(served) == sorted([0, 1, 2, 3] * 2)
    for result in done.objects:
        check_sums(result)
        assert result["flagged_chunks"] == result["chunks"]
    assert judge_batch(folder).objects[0]["score"] == 0


def test_results_count_by_their_ids_and_by_nothing_else(
    served: MessagesServer, tmp_path: Path
) -> None:
    def script(request: api.Request, _: int) -> api.Reply:
        return bad(request) if item_of(request.prompt) == 2 else api.clean(request)

    served.script, served.batches.duplicates = script, 4
    key = "A" * 43
    served.batches.extra_lines = [
        b"no json at all",
        b"",
        b"[]",
        b'{"custom_id": 7, "result": {"type": "succeeded"}}',
        b'{"custom_id": "x", "result": null}',
        result_line("somebody-else", api.text("no")),
        result_line(f"0123456789-{key}", api.text("no")),
    ]
    done = judge_batch(write_session(tmp_path / "s.jsonl", 6))
    [result] = done.objects
    assert (result["status"], result["calls"]) == ("complete", 6)
    assert [finding["part"] for finding in result["findings"]] == [3]


@pytest.mark.parametrize("ending", ["drop", "end"])
def test_results_that_are_cut_off_are_fetched_again(
    served: MessagesServer, tmp_path: Path, ending: str
) -> None:
    served.batches.results_script = lambda n: Cut(n * 2, ending=ending) if n < 3 else None  # type: ignore[arg-type]
    done = judge_batch(write_session(tmp_path / "s.jsonl", 6))
    [result] = done.objects
    assert (done.code, result["status"], result["calls"]) == (0, "complete", 6)
    assert served.batches.called["results"] == 3
    assert result["usage"]["input_tokens"] == 600
    assert asked(served) == list(range(6))


def test_the_key_goes_to_no_other_address(served: MessagesServer, tmp_path: Path) -> None:
    with MessagesServer() as other:
        served.batches.results_origin = other.base_url
        done = judge_batch(write_session(tmp_path / "s.jsonl", 2))
        assert done.objects[0]["status"] == "complete"
        assert (other.batches.calls, other.requests) == ([], [])


def test_a_new_batch_may_be_hidden_for_a_while(served: MessagesServer, tmp_path: Path) -> None:
    served.batches.hidden_retrieves = 3
    done = judge_batch(write_session(tmp_path / "s.jsonl", 2))
    assert (done.code, done.objects[0]["status"]) == (0, "complete")
    assert served.batches.called["create"] == 1


def test_a_session_is_told_of_while_another_batch_is_still_running(
    served: MessagesServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LONGJUDGE_CONFIG", str(configure(tmp_path, max_requests=4)))
    served.batches.latency = FOREVER
    folder = write_folder(tmp_path / "f", 4, 3)
    process = start_batch(folder)
    served.wait_for(lambda: len(served.batches.all) == 2)
    first = served.batches.all[0]
    served.batches.finish(first.id)
    assert process.stdout is not None
    told = json.loads(process.stdout.readline())
    assert (told["status"], told["chunks"]) == ("complete", 4)
    assert served.batches.all[1].status == "in_progress"
    served.batches.finish()
    [result], _ = finish(process)
    assert (process.returncode, result["status"]) == (0, "complete")


def test_what_does_not_apply_is_never_sent(served: MessagesServer, tmp_path: Path) -> None:
    talk = write_events(tmp_path / "talk.jsonl", events(4)[1:])
    done = judge_batch(talk)
    assert (done.code, done.objects[0]["status"]) == (0, "not_applicable")
    assert served.batches.calls == []


def test_the_others_are_judged_where_one_cannot_be_read(
    served: MessagesServer, tmp_path: Path
) -> None:
    missing = tmp_path / "missing.jsonl"
    done = judge_batch(missing, write_session(tmp_path / "s.jsonl", 2))
    assert (done.code, done.objects[0]["status"]) == (2, "complete")
    assert "missing.jsonl" in done.err


def test_of_a_file_with_several_sessions_all_or_one_is_judged(
    served: MessagesServer, tmp_path: Path
) -> None:
    lines = [
        {"sessionId": f"s{number}", "kind": item["kind"], **item}
        for number in (1, 2)
        for item in events(2 * number)
    ]
    file = tmp_path / "many.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    sessions = longjudge("sessions", file, "--json").objects
    done = judge_batch(file)
    assert [result["session"]["id"] for result in done.objects] == [each["id"] for each in sessions]
    assert len(served.batches.own) == 1
    one = judge_batch(file, "--session", sessions[-1]["id"])
    assert [result["session"]["id"] for result in one.objects] == [sessions[-1]["id"]]


def test_exit_codes_are_those_of_judge(served: MessagesServer, tmp_path: Path) -> None:
    served.script = lambda request, _: bad(request)
    file = write_session(tmp_path / "s.jsonl", 2)
    assert judge_batch(file, "--fail-under", "0.5").code == 1
    served.script = lambda request, _: api.no_json()
    assert judge_batch(file, "--fresh").code == 3
    assert judge_batch(file, "--fresh", "--max-gaps", "1").code == 3
    assert judge_batch(tmp_path / "none.jsonl").code == 2


def test_a_time_limit_is_told_as_it_was_given(served: MessagesServer, tmp_path: Path) -> None:
    [result] = judge_batch(write_session(tmp_path / "s.jsonl", 1), "--time-limit", "99").objects
    assert (result["settings"]["time_limit"], result["settings"]["batch"]) == (99, True)


@pytest.mark.parametrize(
    ("words", "named"),
    [(["--detach"], "--batch"), (["--batch", "--fault", "500"], "--fault")],
)
def test_options_without_a_meaning_are_refused(
    served: MessagesServer, tmp_path: Path, words: list[str], named: str
) -> None:
    done = longjudge("judge", write_session(tmp_path / "s.jsonl", 1), *words)
    assert (done.code, done.out) == (2, "")
    assert named in done.err
    assert served.batches.calls == []


def test_a_budget_of_calls_is_never_passed(served: MessagesServer, tmp_path: Path) -> None:
    done = judge_batch(write_folder(tmp_path / "f", 3, 3), "--max-calls", "4")
    assert len(asked(served)) == 4
    assert done.code == 3
    assert sum(result["gaps"].get("skipped", 0) for result in done.objects) > 0
    assert {result["status"] for result in done.objects} <= {"complete", "partial", "failed"}
    assert "the budget ended it" in done.err


def test_a_budget_of_dollars_is_never_passed(served: MessagesServer, tmp_path: Path) -> None:
    def script(request: api.Request, _: int) -> api.Reply:
        # As dear as an answer can be.
        body = json.loads(api.clean(request).body)
        usage = body["usage"] | {"input_tokens": 900, "output_tokens": 4096}
        return api.Reply(body=json.dumps(body | {"usage": usage}).encode())

    served.script, limit = script, 0.005
    done = judge_batch(write_session(tmp_path / "s.jsonl", 12), "--max-cost", limit)
    [result] = done.objects
    check_sums(result)
    assert limit / 2 < result["cost_usd"] <= limit
    assert (done.code, result["status"], set(result["gaps"])) == (3, "partial", {"skipped"})
    assert asked(served) == list(range(result["judged_chunks"]))
    assert "the budget ended it" in done.err


def test_questions_wait_for_room_in_the_budget(served: MessagesServer, tmp_path: Path) -> None:
    # An answer costs far less than it might, so there is room again when it is there.
    done = judge_batch(write_session(tmp_path / "s.jsonl", 6), "--max-cost", "0.003")
    assert (done.code, done.objects[0]["status"]) == (0, "complete")
    assert [len(batch.custom_ids) for batch in served.batches.own] == [2, 2, 2]


def test_offline_needs_no_key(
    tmp_path: Path, store_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("longjudge.judges.offline_batches.SECONDS", 0.05)
    done = judge_batch(write_session(tmp_path / "s.jsonl", 4), "--model", "offline")
    [result] = done.objects
    assert (done.code, result["status"], result["cost_usd"]) == (0, "complete", 0)
    assert rows(store_file, "state, endpoint, count") == [("harvested", "offline", 4)]
