"""Sessions too long to read before anything is shown, and those that grow while they are open."""

from __future__ import annotations

import asyncio
import json
import os
import threading

import pytest

from longjudge.errors import SessionError
from longjudge.sessions import first_look
from longjudge_tui.bench import bench, following, opening


def record(number: int, words: str = "ls") -> str:
    call = {
        "kind": "tool_call",
        "tool": "Bash",
        "input": {"command": f"{words} {number} " + "x" * 200},
    }
    return json.dumps(call) + "\n"


def records(first: int, end: int) -> str:
    return "".join(map(record, range(first, end)))


@pytest.fixture
def held_reading(monkeypatch):
    """Holds the reading of whole files until the test opens the gate; every file is a long one."""
    gate = threading.Event()
    read = opening.open_session

    async def wait_then_read(path, report, session):
        report(1_000, 8_000)
        await asyncio.to_thread(gate.wait, 20)
        return await read(path, report, session)

    monkeypatch.setattr(first_look, "LONG_BYTES", 1)
    monkeypatch.setattr(opening, "open_session", wait_then_read)
    yield gate
    gate.set()


async def test_the_first_events_are_shown_while_the_rest_is_read(open_desk, tmp_path, held_reading):
    path = tmp_path / "long.jsonl"
    path.write_text(records(0, 900))
    async with open_desk(path, size=(160, 40)) as desk:
        await desk.sees("Bash ls 0 x")
        await desk.sees("reading long.jsonl · 12 %, first events only")
        await desk.until(lambda: "FIRST EVENTS (0-299)" in desk.title("events-title"))
        await desk.until(lambda: desk.title("chunks-title") == "CHUNKS · cut once all is read")
        await desk.until(lambda: desk.rows("chunks") == [])
        # Nothing that could be taken for the whole: no price, no count of chunks or events.
        await desk.until(lambda: "$" not in desk.text)
        await desk.until(lambda: "to ask" not in desk.text)
        await desk.until(lambda: "900" not in desk.text)
        await desk.press("r")
        await desk.sees("the session is still being read")
        assert desk.bench.run is None
        await desk.press("tab", "down", "down", "down")
        await desk.until(lambda: "EVENT 3" in desk.title("detail-title"))
        held_reading.set()
        await desk.sees("900 events")
        await desk.until(lambda: desk.rows("chunks"))
        # What was looked at is looked at still.
        await desk.until(lambda: desk.app.screen.events.cursor == 3)
        await desk.until(lambda: desk.app.screen.chunks.cursor == 0)
        await desk.until(lambda: "EVENT 3" in desk.title("detail-title"))
        assert desk.bench.first is None


async def test_a_session_that_is_still_read_can_be_left_for_another_one(
    open_desk, tmp_path, held_reading
):
    long, short = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    long.write_text(records(0, 900))
    short.write_text(records(5_000, 5_010))
    async with open_desk(long, short, size=(160, 40)) as desk:
        await desk.until(lambda: len(desk.rows("sessions")) == 2)
        await desk.press("enter")
        await desk.sees("FIRST EVENTS (0-299)")
        await desk.press("n")
        held_reading.set()
        await desk.sees("b.jsonl")
        await desk.sees("10 events")
        assert desk.bench.first is None
        await desk.sees("5000")


async def test_a_long_session_that_cannot_be_read_to_its_end_keeps_its_first_events(
    open_desk, tmp_path, held_reading, monkeypatch
):
    path = tmp_path / "torn.jsonl"
    path.write_text(records(0, 900))

    async def fail(path, report, session):
        raise SessionError("torn.jsonl: cannot be read: Input/output error")

    monkeypatch.setattr(opening, "open_session", fail)
    other = tmp_path / "other.jsonl"
    other.write_text(records(0, 5))
    async with open_desk(path, other, size=(160, 40)) as desk:
        await desk.until(lambda: len(desk.rows("sessions")) == 2)
        await desk.press("home", "enter")
        await desk.sees("cannot be read: Input/output error")
        await desk.until(lambda: "FIRST EVENTS (0-299)" in desk.title("events-title"))
        await desk.until(lambda: desk.rows("chunks") == [])


@pytest.fixture
def looked_at_always(monkeypatch):
    monkeypatch.setattr(following, "LOOK_SECONDS", 0.0)


async def test_what_a_file_grows_by_is_offered_and_read_on(open_desk, tmp_path, looked_at_always):
    path = tmp_path / "live.jsonl"
    path.write_text(records(0, 40))
    async with open_desk(path, size=(160, 40)) as desk:
        await desk.sees("40 events")
        await desk.press("r")
        await desk.until(lambda: desk.bench.run and desk.bench.run.result)
        judged = len(desk.bench.outlook.plan)
        session = desk.bench.session
        await desk.press("tab", "down", "down")
        await desk.until(lambda: "EVENT 2" in desk.title("detail-title"))
        with path.open("a") as file:
            file.write(records(40, 60))
        await desk.sees("20 new lines, ")
        await desk.sees("R reads on")
        await desk.sees("40 events")
        await desk.press("R")
        await desk.sees("60 events")
        # Only what is new was read, and all chunks but the last are as they were.
        assert desk.bench.session is session
        await desk.until(lambda: desk.bench.preview and desk.bench.preview.done)
        totals = desk.bench.outlook.totals
        assert totals.kept >= judged - 1
        assert totals.chunks > judged
        await desk.until(lambda: desk.app.screen.events.cursor == 2)
        await desk.until(lambda: "EVENT 2" in desk.title("detail-title"))
        await desk.until(lambda: "R reads on" not in desk.text)


async def test_a_file_that_grows_is_read_on_by_itself_when_told_to(
    open_desk, tmp_path, looked_at_always
):
    path = tmp_path / "live.jsonl"
    path.write_text(records(0, 10))
    async with open_desk(path, size=(160, 40)) as desk:
        await desk.sees("10 events")
        await desk.press("L")
        await desk.sees("reads on by itself")
        with path.open("a") as file:
            file.write(records(10, 15))
        await desk.sees("15 events")
        await desk.press("L")
        await desk.sees("reads on when asked to")


async def test_a_file_written_anew_is_said_and_read_again(open_desk, tmp_path, looked_at_always):
    path = tmp_path / "live.jsonl"
    path.write_text(records(0, 40))
    async with open_desk(path, size=(160, 40)) as desk:
        await desk.sees("40 events")
        path.write_text(records(0, 7))
        await desk.sees("the file was written anew: R reads it again")
        await desk.press("R")
        await desk.sees("7 events")
        await desk.until(lambda: "written anew" not in desk.text)
        os.remove(path)
        await desk.sees("the file is gone")
        await desk.sees("7 events")


async def test_a_line_that_is_still_written_waits_for_its_end(
    open_desk, tmp_path, looked_at_always
):
    path, last = tmp_path / "live.jsonl", record(40)
    path.write_text(records(0, 40))
    async with open_desk(path, size=(160, 40)) as desk:
        await desk.sees("40 events")
        with path.open("a") as file:
            file.write(last[:50])
        await desk.sees("50 B more in the file")
        await desk.press("R")
        await desk.until(lambda: desk.bench.loading is None)
        await desk.sees("40 events")
        with path.open("a") as file:
            file.write(last[50:])
        await desk.sees("1 new line")
        await desk.press("R")
        await desk.sees("41 events")
        assert desk.bench.session.skipped_lines == 0


async def test_of_a_document_that_grows_no_lines_are_counted(open_desk, tmp_path, looked_at_always):
    path = tmp_path / "live.json"
    calls = [json.loads(record(number)) for number in range(5)]
    path.write_text(json.dumps(calls, indent=1))
    async with open_desk(path, size=(160, 40)) as desk:
        await desk.sees("5 events")
        path.write_text(json.dumps([*calls, *calls], indent=1))
        await desk.sees("more in the file: R reads on")
        await desk.until(lambda: "new line" not in desk.text)
        await desk.press("R")
        await desk.sees("10 events")


async def test_a_subagent_that_works_on_in_its_own_file_is_noticed_and_read(
    open_desk, tmp_path, looked_at_always
):
    def line(words: str, **more: object) -> str:
        said = {"role": "assistant", "content": [{"type": "text", "text": words}]}
        return json.dumps({"type": "assistant", "sessionId": "s", "message": said, **more}) + "\n"

    path = tmp_path / "live.jsonl"
    path.write_text(line("one") + line("two"))
    agent = tmp_path / "live" / "subagents" / "agent-a.jsonl"
    agent.parent.mkdir(parents=True)
    async with open_desk(path, size=(160, 40)) as desk:
        await desk.sees("2 events")
        for events in (3, 4):
            with agent.open("a") as file:
                file.write(line("sub", agentId="a", isSidechain=True))
            await desk.sees("more in its subagents' files: R reads on")
            await desk.press("R")
            await desk.sees(f"{events} events")
            await desk.sees("2 threads")
            await desk.until(lambda: "subagents' files" not in desk.text)


async def test_a_file_that_takes_long_to_read_is_not_read_by_itself_all_the_time(
    open_desk, tmp_path, looked_at_always, monkeypatch
):
    monkeypatch.setattr(opening, "REST", 1_000_000)
    path = tmp_path / "live.jsonl"
    path.write_text(records(0, 10))
    async with open_desk(path, size=(160, 40)) as desk:
        await desk.sees("10 events")
        await desk.press("L")
        with path.open("a") as file:
            file.write(records(10, 15))
        await desk.sees("5 new lines, ")
        # Who asks for it has it at once.
        await desk.press("R")
        await desk.sees("15 events")


async def test_a_session_that_is_let_go_of_to_be_read_again_is_shown_where_it_was_left(
    open_desk, tmp_path, held_reading, monkeypatch
):
    monkeypatch.setattr(bench, "LARGE_EVENTS", 100)
    path = tmp_path / "long.jsonl"
    path.write_text(records(0, 900))
    held_reading.set()
    async with open_desk(path, size=(160, 40)) as desk:
        await desk.sees("900 events")
        await desk.until(lambda: desk.rows("chunks"))
        await desk.press("end", "tab", "down", "down")
        await desk.until(lambda: "EVENT 898" in desk.title("detail-title"))
        title, part = desk.title("detail-title"), desk.app.screen.chunks.cursor
        held_reading.clear()
        await desk.press("ctrl+r")
        await desk.sees("FIRST EVENTS (0-299)")
        held_reading.set()
        await desk.sees("900 events")
        await desk.until(lambda: desk.title("detail-title") == title)
        await desk.until(lambda: desk.app.screen.chunks.cursor == part > 0)
        # Whoever has moved through the first events stays there.
        held_reading.clear()
        await desk.press("ctrl+r")
        await desk.sees("FIRST EVENTS (0-299)")
        await desk.press("down")
        held_reading.set()
        await desk.sees("900 events")
        await desk.until(lambda: "EVENT 1" in desk.title("detail-title"))
        await desk.until(lambda: desk.app.screen.chunks.cursor == 0)
