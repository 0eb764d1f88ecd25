"""A queue that answers as none should: nothing is paid twice, lost, or waited for without end."""

from __future__ import annotations

import json
import sqlite3
import time
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

import server as api
from batch_records import view
from batch_server import ACCEPT_AND_DROP, Accepted, Cut
from batches_for_tests import asked, configure, finish, held_batches, judge_batch, start_batch
from commands_for_tests import longjudge
from server import FOREVER
from sessions_for_tests import write_session

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from server import MessagesServer

    Shown = dict[str, Any]

COUNT = 4
YEARS = 4e8


@pytest.fixture(autouse=True)
def _settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, store_file: Path) -> None:
    monkeypatch.setenv("LONGJUDGE_CONFIG", str(configure(tmp_path, listed_after=0.5)))
    monkeypatch.setenv("LONGJUDGE_STORE", str(store_file))


@pytest.fixture
def session_file(tmp_path: Path) -> Path:
    return write_session(tmp_path / "s.jsonl", COUNT)


def lose_the_answer(served: MessagesServer) -> None:
    """Let the first batch be accepted, and nobody told."""
    served.batches.create_script = lambda number: ACCEPT_AND_DROP if number == 1 else None


def a_list(
    served: MessagesServer, change: Callable[[list[Shown]], object], *, more: bool = False
) -> api.Reply:
    """The list as it is, but for a change."""
    batches = served.batches
    shown = [view(each, each.status, batches.origin) for each in reversed(batches.all)]
    for each, batch in zip(shown, reversed(batches.all), strict=True):
        each["request_counts"]["processing"] = len(batch.custom_ids)
    change(shown)
    ends = {"first_id": shown[0]["id"], "last_id": shown[-1]["id"]}
    body = {"data": shown, "has_more": more} | ends
    return api.Reply(body=json.dumps(body).encode())


def another(**members: object) -> Callable[[list[Shown]], object]:
    """Somebody else's batch of another size before ours, odd in some of its members."""
    plain = {"id": "msgbatch_other", "request_counts": {"processing": 77}}
    return lambda shown: shown.insert(0, shown[0] | plain | members)


def uncounted(shown: list[Shown]) -> None:
    """Ours, without a word of how many questions it has."""
    shown[0]["request_counts"] = None


ODD_LISTS: dict[str, Callable[[list[Shown]], object]] = {
    "one without a time": another(created_at=None),
    "an older one first": another(created_at="2001-01-01T00:00:00Z"),
    "a time that is none": another(created_at="0001-01-01T00:00:00"),
    "ours without counts": uncounted,
}


@pytest.mark.parametrize("name", ODD_LISTS)
def test_a_batch_is_found_in_an_odd_list(
    served: MessagesServer, session_file: Path, name: str
) -> None:
    lose_the_answer(served)
    served.batches.list_script = lambda _: a_list(served, ODD_LISTS[name])
    done = judge_batch(session_file)
    assert (done.code, done.objects[0]["status"]) == (0, "complete")
    assert asked(served) == list(range(COUNT))


def test_nothing_is_sent_again_while_the_list_names_what_has_no_address(
    served: MessagesServer, session_file: Path
) -> None:
    lose_the_answer(served)
    served.batches.list_script = lambda number: (
        a_list(served, another(id="../files")) if number < 4 else None
    )
    done = judge_batch(session_file)
    assert (done.code, done.objects[0]["status"]) == (0, "complete")
    assert asked(served) == list(range(COUNT))


def test_a_batch_whose_name_is_none_is_not_sent_again(
    served: MessagesServer, session_file: Path
) -> None:
    odd: Shown = {"id": "a/../b", "processing_status": "in_progress", "request_counts": {}}
    reply = api.Reply(body=json.dumps(odd).encode())
    served.batches.create_script = lambda _: Accepted(reply)
    done = judge_batch(session_file)
    assert (done.code, done.objects[0]["status"]) == (0, "complete")
    assert asked(served) == list(range(COUNT))


def test_a_list_without_an_end_is_left_and_says_nothing(
    served: MessagesServer, session_file: Path
) -> None:
    lose_the_answer(served)
    served.batches.list_script = lambda number: (
        a_list(served, another(), more=True) if number < 9 else None
    )
    done = judge_batch(session_file)
    assert (done.code, done.objects[0]["status"]) == (0, "complete")
    assert asked(served) == list(range(COUNT))
    assert "has no end" in done.err


@pytest.mark.parametrize("half", [False, True])
def test_results_that_were_cut_off_do_not_say_that_a_batch_is_nobodys(
    served: MessagesServer, session_file: Path, half: bool
) -> None:
    lose_the_answer(served)
    cut = Cut(0, half=half, ending="end")
    served.batches.results_script = lambda number: cut if number < 3 else None
    done = judge_batch(session_file)
    assert (done.code, done.objects[0]["status"]) == (0, "complete")
    assert asked(served) == list(range(COUNT))


@pytest.mark.parametrize("skew", [-3600.0, 3600.0])
def test_a_batch_is_found_by_a_clock_that_is_an_hour_off(
    served: MessagesServer, session_file: Path, skew: float
) -> None:
    served.batches.skew = skew
    lose_the_answer(served)
    done = judge_batch(session_file)
    assert (done.code, done.objects[0]["status"]) == (0, "complete")
    assert asked(served) == list(range(COUNT))


@pytest.mark.parametrize("skew", [-YEARS, -3600.0, 3600.0])
def test_a_verdict_is_as_old_as_it_is_whatever_the_provider_says(
    served: MessagesServer, session_file: Path, store_file: Path, skew: float
) -> None:
    judge_batch(session_file)
    served.batches.skew = skew
    before = time.time()
    assert judge_batch(session_file, "--fresh").objects[0]["cached_chunks"] == 0
    with closing(sqlite3.connect(store_file)) as connection:
        made = [row[0] for row in connection.execute("SELECT created FROM verdicts")]
    assert len(made) == COUNT
    assert all(before <= moment <= time.time() for moment in made)


def leave_one_behind(served: MessagesServer, session_file: Path, store: Path, age: float) -> str:
    """Send a batch, and let that be so many seconds ago; its id."""
    served.batches.latency = FOREVER
    judge_batch(session_file, "--detach")
    served.batches.finish()
    served.batches.latency = 0.0
    with closing(sqlite3.connect(store)) as connection:
        connection.execute(
            "UPDATE batches SET created = created - ?1, submitted = submitted - ?1", (age,)
        )
        connection.commit()
    return served.batches.all[0].id


@pytest.mark.parametrize("sweep", [False, True])
def test_a_batch_whose_results_are_gone_is_held_no_longer(
    served: MessagesServer, session_file: Path, store_file: Path, sweep: bool
) -> None:
    left = leave_one_behind(served, session_file, store_file, 30 * 86_400)
    served.batches.archive(left)
    if sweep:
        longjudge("holds", "--sweep")
        assert held_batches() == []
    done = judge_batch(session_file)
    assert (done.code, done.objects[0]["status"]) == (0, "complete")
    assert held_batches() == []


def test_a_batch_that_is_not_found_once_is_still_there(
    served: MessagesServer, session_file: Path, store_file: Path
) -> None:
    leave_one_behind(served, session_file, store_file, 3 * 86_400)
    served.batches.retrieve_script = lambda _: (
        api.Reply(404, b"<html>") if served.batches.all[0].retrieves < 3 else None
    )
    served.batches.all[0].retrieves = 0
    done = judge_batch(session_file)
    assert (done.code, done.objects[0]["status"]) == (0, "complete")
    assert asked(served) == list(range(COUNT))


SUCCEEDED = '{"custom_id": "%s", "result": {"type": "succeeded", "message": %s}}'
ODD_LINES = {
    "a name of the SDK's": '{"custom_id": "%s", "_fields_set": 1, "result": {"type": "expired"}}',
    "one of them within": '{"custom_id": "%s", "result": {"type": "expired", "_fields_set": 1}}',
    "too deep": SUCCEEDED.replace("%s", "%%s", 1) % ("[" * 100_000),
    "deep": SUCCEEDED.replace("%s", "%%s", 1) % ('{"a":' * 400 + "1" + "}" * 400),
    "a byte that is nothing": "\0%s",
}


@pytest.mark.parametrize("name", ODD_LINES)
def test_an_odd_line_spoils_none_of_the_others(
    served: MessagesServer, session_file: Path, name: str
) -> None:
    served.batches.extra_lines = [(ODD_LINES[name] % "somebody").encode()]
    served.batches.seed = 4
    done = judge_batch(session_file)
    assert (done.code, done.objects[0]["status"]) == (0, "complete")
    assert served.batches.called["results"] == 1
    assert "own" not in done.err


def test_half_a_character_in_a_line_is_taken_as_a_live_reply_is(
    served: MessagesServer, session_file: Path
) -> None:
    def with_half(request: api.Request, _: int) -> api.Reply:
        reply = api.clean(request)
        return api.Reply(body=reply.body.replace(b'"model"', b'"odd": "\\ud83d", "model"', 1))

    served.script = with_half
    done = judge_batch(session_file)
    assert (done.code, done.objects[0]["status"]) == (0, "complete")
    assert served.batches.called["results"] == 1


def test_a_reader_that_has_gone_ends_the_run_without_a_word(
    served: MessagesServer, tmp_path: Path
) -> None:
    served.batches.latency = FOREVER
    process = start_batch(write_session(tmp_path / "s.jsonl", COUNT))
    served.wait_for(lambda: bool(served.batches.all))
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    served.batches.finish()
    said = process.stderr.read()
    process.stderr.close()
    process.wait(60)
    assert "Traceback" not in said
    assert "Error" not in said
    assert held_batches() == []


@pytest.mark.parametrize("left", [None, "", "{}"])
def test_a_session_that_is_gone_when_its_batch_ends_is_named_and_no_success(
    served: MessagesServer, tmp_path: Path, left: str | None
) -> None:
    served.batches.latency = FOREVER
    folder = tmp_path / "f"
    folder.mkdir()
    gone = write_session(folder / "a.jsonl", COUNT)
    write_session(folder / "b.jsonl", COUNT + 2)
    process = start_batch(folder)
    served.wait_for(lambda: bool(served.batches.all))
    text = gone.read_text()
    if left is None:
        gone.unlink()
    else:
        gone.write_text(left)
    served.batches.finish()
    results, said = finish(process)
    assert (process.returncode, [each["status"] for each in results]) == (2, ["complete"])
    assert "a.jsonl: gone since it was sent" in said
    gone.write_text(text)
    served.batches.latency = 0.0
    done = judge_batch(folder)
    assert [each["calls"] for each in done.objects] == [0, 0]
