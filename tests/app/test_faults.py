"""What went wrong can be read: why a chunk is a gap, what ended a run, what a file became."""

from __future__ import annotations

import shutil
import threading

import pytest

import server as api
from longjudge.judges.anthropic import AnthropicJudge
from longjudge.sessions import Session
from longjudge.store import Store
from server import MessagesServer

LONG = "your organisation has disabled this model for keys of this workspace; ask its owner"


def ended(desk):
    return lambda: desk.bench.run is not None and desk.bench.run.result is not None


async def run_to_the_end(desk):
    await desk.until(lambda: desk.rows("chunks"))
    await desk.press("r")
    await desk.until(ended(desk), "the end of the judgment")


def remote(server, monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-for-tests")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", server.base_url)
    return AnthropicJudge("claude-haiku-5-5")


def flowing(text: str) -> str:
    """Wrapped text in one line."""
    return " ".join(text.split())


async def test_what_ended_a_run_comes_before_the_evidence_and_in_a_message(
    open_desk, write_session, monkeypatch
):
    with MessagesServer(lambda *_: api.error(401, LONG)) as server:
        judge = remote(server, monkeypatch)
        async with open_desk(write_session("a.jsonl", 12), judge=judge) as desk:
            await run_to_the_end(desk)
            error = desk.bench.run.result.error
            desk.app.screen.tick()
            await desk.pilot.pause()
            status = desk.title("status")
            assert error in status
            assert status.index(error) < status.index("no part of the session could be judged")
            await desk.until(lambda: any(error in n.message for n in desk.app._notifications))
            assert all(not n.markup for n in desk.app._notifications)


async def test_a_gap_under_the_cursor_says_in_full_why(open_desk, write_session, monkeypatch):
    with MessagesServer(lambda *_: api.error(400, f"[/] {LONG}")) as server:
        judge = remote(server, monkeypatch)
        async with open_desk(write_session("a.jsonl", 6), judge=judge) as desk:
            await run_to_the_end(desk)
            await desk.until(lambda: "PART 1 · gap · provider_error" in desk.text)
            await desk.until(lambda: LONG in flowing("".join(desk.rows("detail")).replace("▷", "")))
            await desk.press("tab", "down", "shift+tab")
            await desk.sees("EVENT 1")
            await desk.press("enter")
            await desk.sees("PART 1 · gap")
            assert desk.app.focused.id == "detail"


async def test_a_gap_without_a_question_says_so(open_desk, write_session):
    async with open_desk(write_session("a.jsonl", 30), gated=True) as desk:
        await desk.until(lambda: desk.rows("chunks"))
        await desk.press("end", "r")
        await desk.sees("◐ running")
        await desk.press("x")
        await desk.until(ended(desk))
        await desk.sees("never asked")
        await desk.press("home")
        await desk.sees("cut off by a cancel")


async def test_a_changed_file_is_said_where_its_events_are_and_read_again_by_a_key(
    open_desk, write_session
):
    path = write_session("a.jsonl", 30)
    async with open_desk(path) as desk:
        await desk.until(lambda: desk.rows("chunks"))
        path.write_text(path.read_text().replace("ls", "pwd"))
        await desk.press("end")
        await desk.until(lambda: "! the file changed" in desk.rows("events")[0])
        await run_to_the_end(desk)
        await desk.sees("✗ the file changed while it was open")
        await desk.press("ctrl+r")
        await desk.until(lambda: "▸ Bash pwd" in desk.rows("events")[0])
        await run_to_the_end(desk)
        await desk.sees("complete:")


async def test_a_session_that_is_gone_when_read_again_stays_open_and_is_said(
    open_desk, write_session
):
    path = write_session("a.jsonl", 3)
    async with open_desk(path) as desk:
        await desk.until(lambda: desk.rows("chunks"))
        path.unlink()
        await desk.press("ctrl+r")
        await desk.until(lambda: "No such file" in desk.title("status"))
        assert desk.app.is_running
        await desk.until(lambda: desk.rows("chunks"))


async def test_a_session_of_a_folder_that_vanished_is_said_and_passed_over(
    open_desk, write_session, tmp_path
):
    folder = tmp_path / "folder"
    folder.mkdir()
    for name, events in (("c", 3), ("b", 6), ("a", 9)):
        path = write_session(f"{name}.jsonl", events)
        shutil.move(path, folder / path.name)
    async with open_desk(folder) as desk:
        await desk.press("enter")
        await desk.sees("9 events · 9 tool calls")
        (folder / "b.jsonl").unlink()
        await desk.press("n")
        await desk.sees("3 events")
        assert any("b.jsonl" in n.message for n in desk.app._notifications)


async def test_an_only_session_names_the_key_that_reads_it_again(open_desk, write_session):
    async with open_desk(write_session("a.jsonl", 3)) as desk:
        await desk.until(lambda: desk.rows("chunks"))
        await desk.press("n")
        await desk.sees("ctrl+r reads this one again")


async def test_where_the_rubric_does_not_apply_nothing_is_to_ask(open_desk, tmp_path):
    path = tmp_path / "talk.json"
    path.write_text('[{"kind": "user_message", "text": "hello"}]')
    async with open_desk(path) as desk:
        await desk.sees("nothing to ask: no tool call")
        await desk.press("r")
        await desk.until(ended(desk))
        desk.app.screen.tick()
        await desk.until(lambda: desk.title("status").count("not applicable") == 1)
        await desk.until(lambda: "not_applicable" not in desk.title("status"))


class Mishap(Exception):
    """What no part of the program expects."""


async def wait_for_the_end(desk) -> None:
    """Look at the app until it has ended, for a bounded time."""
    for _ in range(100):
        if not desk.app.is_running:
            return
        await desk.pilot.pause()


@pytest.mark.parametrize(("reads", "key"), [("text", "down"), ("raw", "i")])
async def test_a_fault_while_an_event_is_read_ends_the_app_and_is_not_waited_for(
    open_desk, write_session, monkeypatch, reads, key
):
    monkeypatch.setattr("longjudge_tui.bench.texts.SLOW_CHARS", 1)

    broken, read = threading.Event(), getattr(Session, reads)

    def read_or_die(session, event):
        if broken.is_set():
            raise Mishap
        return read(session, event)

    monkeypatch.setattr(Session, reads, read_or_die)

    async def use():
        async with open_desk(write_session("a.jsonl", 12)) as desk:
            await desk.until(lambda: "command: ls" in "".join(desk.rows("detail")))
            broken.set()
            await desk.press(key)
            await wait_for_the_end(desk)

    with pytest.raises(Mishap):
        await use()


async def test_a_fault_of_the_bench_ends_the_app_in_the_library_too(
    open_desk, write_session, monkeypatch
):
    async def die(*_):
        raise Mishap

    async def use():
        async with open_desk(write_session("a.jsonl", 3), write_session("b.jsonl", 3)) as desk:
            await desk.until(lambda: desk.rows("sessions") and not desk.shelf.looking)
            monkeypatch.setattr(Store, "all_keys", die)
            await desk.press("ctrl+r")
            await wait_for_the_end(desk)

    with pytest.raises(Mishap):
        await use()
