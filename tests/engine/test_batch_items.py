"""What becomes of a batch's items, and of a batch that is not accepted: gaps that say why."""

from __future__ import annotations

import json
import signal
from typing import TYPE_CHECKING

import pytest

import server as api
from batch_server import CANCELED, EXPIRED
from batches_for_tests import (
    asked,
    check_sums,
    configure,
    finish,
    held_batches,
    judge_batch,
    judge_live,
    open_questions,
    rows,
    start_batch,
)
from commands_for_tests import longjudge
from sessions_for_tests import events as events_of
from sessions_for_tests import item_of, write_events, write_session

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from server import MessagesServer

COUNT = 4


@pytest.fixture(autouse=True)
def _settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, store_file: Path) -> None:
    monkeypatch.setenv("LONGJUDGE_CONFIG", str(configure(tmp_path, listed_after=0.3)))
    monkeypatch.setenv("LONGJUDGE_STORE", str(store_file))


@pytest.fixture
def session_file(tmp_path: Path) -> Path:
    return write_session(tmp_path / "s.jsonl", COUNT)


def for_item(number: int, reply: api.Reply) -> Callable[[api.Request, int], api.Reply]:
    """A script that answers one of the events in its own way."""
    return lambda request, _: reply if item_of(request.prompt) == number else api.clean(request)


NO_CONTENT = api.message([])
ITEMS = {
    "errored": (api.error(500, kind="api_error"), "provider_error", "partial", 0),
    "invalid": (api.error(400, kind="invalid_request_error"), "provider_error", "partial", 0),
    "too long": (
        api.error(400, "prompt is too long: 9 > 8", kind="invalid_request_error"),
        "too_large",
        "partial",
        0,
    ),
    "expired": (EXPIRED, "timed_out", "timed_out", 1),
    "canceled": (CANCELED, "cancelled", "partial", 1),
    "no json": (api.no_json(), "unparsable", "partial", 0),
    "truncated": (api.truncated(), "truncated", "partial", 0),
    "thinking only": (api.thinking_only(), "truncated", "partial", 0),
    "refused": (api.refusal(), "refused", "partial", 0),
    "no content": (NO_CONTENT, "unparsable", "partial", 0),
    "not a message": (api.Reply(body=b'"nothing"'), "provider_error", "partial", 0),
    "null": (api.Reply(body=b"null"), "provider_error", "partial", 0),
    "spoilt line": (api.Reply(body=b'{"type": "mess'), "provider_error", "partial", 0),
}


@pytest.mark.parametrize("name", ITEMS)
def test_an_item_without_an_answer_is_a_gap_that_is_asked_live_later(
    served: MessagesServer, session_file: Path, name: str
) -> None:
    reply, reason, status, without_reply = ITEMS[name]
    served.script = for_item(2, reply)
    done = judge_batch(session_file)
    [result] = done.objects
    check_sums(result)
    assert (done.code, result["status"], result["gaps"]) == (3, status, {reason: 1})
    assert (result["calls"], result["calls_without_reply"]) == (COUNT, without_reply)
    assert (result["parts"][2]["state"], result["parts"][2]["reason"]) == ("gap", reason)
    assert (served.requests, held_batches()) == ([], [])
    served.script = api.clean
    [again] = judge_live(session_file).objects
    assert (again["status"], again["calls"]) == ("complete", 1)
    assert [item_of(request.prompt) for request in served.requests] == [2]


def test_the_reply_of_a_gap_is_recorded_and_paid_for(
    served: MessagesServer, session_file: Path
) -> None:
    served.script = for_item(2, api.no_json())
    [result] = judge_batch(session_file).objects
    assert result["usage"]["input_tokens"] == 100 * COUNT
    [told] = longjudge("results", result["id"], "--json").objects
    assert "something else" in json.dumps(told["gap_replies"])


def test_a_gap_of_several_sessions_is_asked_once_in_a_run(
    served: MessagesServer, tmp_path: Path
) -> None:
    folder = tmp_path / "f"
    folder.mkdir()
    write_session(folder / "a.jsonl", 3)
    write_session(folder / "b.jsonl", 5)
    served.script = for_item(2, api.no_json())
    results = judge_batch(folder).objects
    assert asked(served) == [0, 1, 2, 3, 4]
    assert [result["gaps"] for result in results] == [{"unparsable": 1}] * 2
    assert sum(result["calls"] for result in results) == 5
    # The next run asks for the gap, and for nothing else.
    served.script = api.clean
    assert {result["status"] for result in judge_batch(folder).objects} == {"complete"}
    assert asked(served) == [0, 1, 2, 2, 3, 4]


def test_a_wait_that_is_ordered_is_kept_and_the_batch_is_sent_again(
    served: MessagesServer, session_file: Path
) -> None:
    served.batches.create_script = lambda n: api.rate_limited(1) if n == 1 else None
    done = judge_batch(session_file)
    assert (done.code, done.objects[0]["status"]) == (0, "complete")
    first, second = [call.arrived for call in served.batches.calls if call.method == "POST"][:2]
    assert second - first >= 1
    assert asked(served) == list(range(COUNT))


def test_a_session_that_is_done_is_told_while_another_is_put_off(
    served: MessagesServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LONGJUDGE_CONFIG", str(configure(tmp_path, max_requests=COUNT)))
    served.batches.create_script = lambda n: api.rate_limited(60) if n == 2 else None
    folder = tmp_path / "f"
    folder.mkdir()
    write_session(folder / "a.jsonl", COUNT)
    write_session(folder / "b.jsonl", 2 * COUNT)
    process = start_batch(folder)
    assert process.stdout is not None
    first = json.loads(process.stdout.readline())
    assert (first["status"], first["session"]["path"]) == ("complete", str(folder / "a.jsonl"))
    assert served.batches.called["create"] == 2
    process.send_signal(signal.SIGINT)
    [second], _ = finish(process)
    assert (process.returncode, second["gaps"]) == (130, {"skipped": COUNT})
    assert asked(served) == list(range(COUNT))


def test_what_is_put_off_until_its_time_is_over_is_not_sent_any_more(
    served: MessagesServer, session_file: Path
) -> None:
    served.batches.create_script = lambda _: api.rate_limited(1.5)
    done = judge_batch(session_file, "--time-limit", "1")
    [result] = done.objects
    check_sums(result)
    assert (result["status"], result["gaps"]) == ("timed_out", {"skipped": COUNT})
    assert (done.code, served.batches.called["create"]) == (3, 1)


def test_a_batch_that_is_put_off_too_often_is_given_up(
    served: MessagesServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("longjudge.cli.batch_sending.TOLD_MAX_WAIT", 0.01)
    served.batches.create_script = lambda n: api.rate_limited() if n <= 8 else None
    folder = tmp_path / "f"
    folder.mkdir()
    write_session(folder / "a.jsonl", 3)
    write_session(folder / "b.jsonl", 3)
    done = judge_batch(folder)
    assert served.batches.called["create"] == 8
    assert done.code == 3
    assert [result["gaps"] for result in done.objects] == [{"rate_limited": 3}] * 2


@pytest.mark.parametrize(
    ("status", "kind"), [(400, "invalid_request_error"), (422, "invalid_request_error")]
)
def test_a_refused_batch_is_not_sent_again(
    served: MessagesServer, session_file: Path, status: int, kind: str, store_file: Path
) -> None:
    served.batches.create_script = lambda _: api.error(status, "bad words", kind=kind)
    done = judge_batch(session_file)
    [result] = done.objects
    assert (done.code, result["status"], result["gaps"]) == (3, "failed", {"provider_error": COUNT})
    assert served.batches.called["create"] == 1
    assert (rows(store_file, "state"), open_questions(store_file)) == ([("lost",)], 0)
    assert "bad words" in done.err
    served.batches.create_script = lambda _: None
    assert judge_batch(session_file).objects[0]["status"] == "complete"


def test_a_batch_that_is_too_large_is_sent_in_parts(
    served: MessagesServer, session_file: Path
) -> None:
    served.batches.max_bytes = 9_000
    done = judge_batch(session_file)
    assert done.objects[0]["status"] == "complete", done.err
    assert len(served.batches.own) > 1
    assert asked(served) == list(range(COUNT))


def test_a_single_question_that_is_too_large_is_a_gap(
    served: MessagesServer, session_file: Path
) -> None:
    served.batches.max_bytes = 100
    [result] = judge_batch(session_file).objects
    assert result["gaps"] == {"too_large": COUNT}


@pytest.mark.parametrize("status", [401, 403])
def test_a_credential_that_is_refused_ends_the_run(
    served: MessagesServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    config = configure(tmp_path, max_requests=2, listed_after=0.3)
    monkeypatch.setenv("LONGJUDGE_CONFIG", str(config))
    served.batches.create_script = lambda _: api.error(status, kind="authentication_error")
    folder = tmp_path / "f"
    folder.mkdir()
    write_session(folder / "a.jsonl", 3)
    write_events(folder / "b.jsonl", [events_of(1)[0], *events_of(9)[5:]])
    done = judge_batch(folder)
    assert done.code == 3
    assert len(served.batches.calls) == 1
    results = done.objects
    assert len(results) == 2
    assert {result["status"] for result in results} == {"failed"}
    gaps = [result["gaps"] for result in results]
    assert sum(gap.get("provider_error", 0) for gap in gaps) in (2, 3)
    assert held_batches() == []


def test_an_endpoint_without_batches_says_so(served: MessagesServer, session_file: Path) -> None:
    served.batches.available = False
    done = judge_batch(session_file)
    [result] = done.objects
    assert (done.code, result["status"]) == (3, "failed")
    assert len([line for line in done.err.splitlines() if "404" in line]) == 1
    assert "takes no batches" in done.err
    assert len(served.batches.calls) == 1


def test_an_endpoint_that_nobody_answers_at_is_tried_five_times(
    session_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("longjudge.retries.FIRST_WAIT", 0.01)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-test")
    with api.MessagesServer() as gone:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", gone.base_url)
    done = judge_batch(session_file)
    [result] = done.objects
    assert (done.code, result["status"], result["gaps"]) == (3, "failed", {"provider_error": COUNT})
    assert held_batches() == []


def test_without_a_credential_nothing_is_sent_and_what_is_kept_is_told(
    served: MessagesServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = write_session(tmp_path / "a.jsonl", 2)
    judge_batch(kept)
    calls = len(served.batches.calls)
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    done = judge_batch(kept, write_session(tmp_path / "b.jsonl", 6))
    assert done.code == 2
    assert [result["chunks"] for result in done.objects] == [2]
    assert "ANTHROPIC_API_KEY" in done.err
    assert len(served.batches.calls) == calls


def test_without_a_credential_a_batch_that_was_left_keeps_nothing_from_being_told(
    served: MessagesServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = write_session(tmp_path / "a.jsonl", 2)
    judge_batch(kept)
    served.batches.latency = api.FOREVER
    other = write_session(tmp_path / "b.jsonl", 6)
    judge_batch(other, "--detach")
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    done = judge_batch(kept, other)
    assert (done.code, [result["chunks"] for result in done.objects]) == (2, [2])
    assert len(held_batches()) == 1


def test_a_store_that_cannot_be_written_is_refused(
    served: MessagesServer, session_file: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "not-a-folder"
    folder.write_text("", encoding="utf-8")
    done = judge_batch(session_file, "--store", folder / "store.sqlite")
    assert (done.code, done.out) == (2, "")
    assert "--store" in done.err
    assert len(done.err.splitlines()) <= 2
    assert served.batches.calls == []
