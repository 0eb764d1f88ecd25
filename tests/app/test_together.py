"""What the library estimates and judges together counts as on the command line."""

from __future__ import annotations

import json
import os
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

import server as api
from claude_code_records import assistant, call, result, text, user
from commands_for_tests import longjudge
from longjudge.errors import SessionError
from longjudge.judges.anthropic import AnthropicJudge
from longjudge.sessions import SessionFile
from longjudge_tui.library import together as of_library
from longjudge_tui.library.listing import Listing
from longjudge_tui.library.shelf import Shelf
from longjudge_tui.library.together import Together
from server import MessagesServer

CHUNK_CHARS = 1000


def write(path, records):
    path.write_text("".join(json.dumps(each) + "\n" for each in records))
    return path


def work(name: str, steps: int) -> list[dict]:
    records: list[dict] = []
    for number in range(steps):
        call_id = f"toolu_{name}{number}"
        command = f"ls {name} {number} " + "x" * 400
        records.append(assistant(call("Bash", call_id, command=command)))
        records.append(user([result(f"{name} {number} is done", call_id)]))
    return records


def resumed(records: list[dict], session_id: str) -> list[dict]:
    return [{**each, "sessionId": session_id} for each in records]


@pytest.fixture
def family(tmp_path):
    """A session, one that goes on with it, an early copy, and one with nothing in common."""
    folder = tmp_path / "family"
    folder.mkdir()
    begun = [user("go"), *work("begun", 12)]
    write(folder / "goes-on.jsonl", resumed(begun[:-4], "on") + resumed(work("more", 10), "on"))
    write(folder / "old.jsonl", resumed(begun, "old"))
    write(folder / "early.jsonl", resumed(begun[:7], "early"))
    write(folder / "other.jsonl", resumed([user("else"), *work("other", 6)], "other"))
    return folder


@pytest.fixture
def model(monkeypatch):
    """A model behind a server that the test answers for."""

    def use(server):
        monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-for-tests")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.base_url)
        return AnthropicJudge("claude-haiku-5-5")

    return use


def summed(desk) -> str:
    return desk.title("library-sum")


def command(name, *arguments, store):
    finished = longjudge(
        name, *arguments, "--json", "--chunk-chars", CHUNK_CHARS, LONGJUDGE_STORE=str(store)
    )
    assert finished.code == 0, finished.err
    return finished.objects


async def test_the_estimate_of_several_is_that_of_the_command(open_desk, family, model, tmp_path):
    with MessagesServer(lambda *_: api.error(500, "not asked")) as server:
        judge = model(server)
        *_, total = command("estimate", family, store=tmp_path / "none.sqlite")
        async with open_desk(family, judge=judge) as desk:
            await desk.press("A", "e")
            await desk.until(lambda: "to ask" in summed(desk) and not desk.shelf.pricing.waiting)
            await desk.until(lambda: "estimated together" not in summed(desk))
            price = desk.shelf.sum_selected().price
            assert (price.chunks, price.to_ask) == (total["chunks"], total["to_ask"])
            assert price.low == pytest.approx(total["cost_usd_low"])
            assert price.high == pytest.approx(total["cost_usd_high"])
            await desk.until(
                lambda: "all of it is in another file" in "".join(desk.rows("sessions"))
            )
            # Without the file that it goes on from, an estimate that leaned on it holds no more.
            whole = price.to_ask
            assert desk.shelf.listing.view[0].path.name == "goes-on.jsonl"
            await desk.press("home", "space")
            await desk.sees("3 selected")
            await desk.until(lambda: "1 of 3 estimated together" in summed(desk))
            await desk.press("e")
            await desk.until(lambda: "estimated" not in summed(desk))
            names = [family / f"{name}.jsonl" for name in ("old", "early", "other")]
            *_, total = command("estimate", *names, store=tmp_path / "none.sqlite")
            price = desk.shelf.sum_selected().price
            assert (price.chunks, price.to_ask) == (total["chunks"], total["to_ask"])
            assert price.to_ask < whole


async def test_sessions_judged_together_are_those_of_the_command(
    open_desk, family, model, tmp_path
):
    with MessagesServer(api.clean) as server:
        judge = model(server)
        results = command("judge", family, store=tmp_path / "command.sqlite")
        asked = len(server.requests)
        server.requests.clear()
        async with open_desk(family, judge=judge) as desk:
            await desk.press("A", "r")
            await desk.sees("Judge at this price?")
            await desk.sees(f"ask {asked} questions about 3 sessions")
            await desk.press("enter")
            await desk.until(lambda: len(desk.shelf.lasts) == 3 and not desk.shelf.busy)
            assert len(server.requests) == asked
            judged = {
                file.path.name: (last.judged, last.chunks, last.score)
                for file, last in desk.shelf.lasts.items()
            }
            assert judged == {
                each["session"]["path"].rsplit("/", 1)[-1]: (
                    each["judged_chunks"],
                    each["chunks"],
                    each["score"],
                )
                for each in results
            }


async def test_what_costs_nothing_is_judged_together_too(open_desk, family, tmp_path):
    results = command("judge", family, "--model", "offline", store=tmp_path / "command.sqlite")
    async with open_desk(family) as desk:
        await desk.press("A", "r")
        await desk.until(lambda: len(desk.shelf.lasts) == 3 and not desk.shelf.busy)
        assert sorted(last.chunks for last in desk.shelf.lasts.values()) == sorted(
            each["chunks"] for each in results
        )
        await desk.until(lambda: "– all of it is in another file" in desk.text)


async def test_what_a_cancelled_session_holds_counts_in_the_next(open_desk, family):
    huge = [user("huge"), *work("huge", 60)]
    names = [
        write(family / "huge.jsonl", resumed(huge, "huge")),
        family / "goes-on.jsonl",
        family / "old.jsonl",
    ]
    async with open_desk(names[2]) as desk:
        await desk.until(lambda: len(desk.rows("chunks")) > 1)
        whole = len(desk.bench.outlook.plan)
    async with open_desk(*names, gated=True) as desk:
        await desk.press("A", "r")
        await desk.until(lambda: desk.judge.asked)
        await desk.press("down", "c")
        await desk.until(lambda: any("✗ cancelled" in row for row in desk.rows("sessions")))
        desk.judge.gate.set()
        await desk.until(lambda: not desk.shelf.busy)
        judged = {file.path: last.chunks for file, last in desk.shelf.lasts.items()}
        assert judged[names[2]] == whole
        # Together with the other it is less.
        await desk.press("A", "space", "end", "space", "r")
        await desk.until(lambda: not desk.shelf.busy and len(desk.shelf.lasts) == 3)
        judged = {file.path: last.chunks for file, last in desk.shelf.lasts.items()}
        assert judged[names[2]] < whole


async def test_the_size_of_a_session_is_that_with_its_subagents(open_desk, tmp_path):
    folder = tmp_path / "project"
    started = user([result("ok", "toolu_1")], toolUseResult={"agentId": "a1"})
    asked = assistant(call("Task", "toolu_1", prompt="look"))
    write(folder_of(folder) / "main.jsonl", [user("go"), asked, started])
    side = [user("look"), *work("side", 40), assistant(text("found"))]
    agents = folder_of(folder / "main" / "subagents")
    write(
        agents / "agent-a1.jsonl",
        [{**each, "isSidechain": True, "agentId": "a1"} for each in side],
    )
    write(folder / "small.jsonl", resumed([user("else"), *work("other", 3)], "other"))
    (shown,) = [each for each in command_sessions(folder) if each["path"].endswith("main.jsonl")]
    assert shown["bytes"] > 20_000
    kilobytes = f"{shown['bytes'] / 1000:.0f} kB"
    async with open_desk(folder) as desk:
        await desk.until(lambda: kilobytes in desk.row(shown["title"]))
        whole = sum(each["bytes"] for each in command_sessions(folder))
        await desk.until(lambda: f"{whole / 1000:.0f} kB" in desk.lines[0])
        await desk.press("A")
        await desk.until(lambda: f"2 selected · {whole / 1000:.0f} kB" in desk.text)
        await desk.press("A", *"ooooo")
        await desk.sees("sorted by file size, largest first")
        await desk.until(lambda: kilobytes in desk.rows("sessions")[0])


def folder_of(path):
    path.mkdir(parents=True, exist_ok=True)
    return path


def command_sessions(folder):
    return longjudge("sessions", folder, "--json").objects


def listed(path, *names):
    return [SessionFile(path, True, 1, 0.0, name) for name in names]


def open_files() -> int:
    return len(os.listdir("/proc/self/fd"))


@pytest.fixture
def conversations(tmp_path):
    path = tmp_path / "three.jsonl"

    def of(*names):
        lines = [
            json.dumps({"id": name, "messages": [{"role": "user", "content": f"hi {name}"}]})
            for name in names
        ]
        path.write_text("\n".join(lines))
        return path

    return of


@pytest.fixture
def reads(monkeypatch):
    """The paths of the files that are read."""
    seen = []
    load = of_library.load_sessions

    def counted(path, *rest):
        seen.append(path)
        return load(path, *rest)

    monkeypatch.setattr(of_library, "load_sessions", counted)
    return seen


def always(_done, _total):
    return True


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="counts open files by /proc")
def test_a_file_of_several_sessions_is_read_once_and_let_go(conversations, reads):
    path = conversations("a", "b", "c")
    before = open_files()
    files = listed(path, "a", "b", "c")
    together = Together(files)
    for file in files:
        session = together.load(file, always).session
        assert session.text(0) == f"user_message\nhi {file.session}"
        session.close()
    assert reads == [path]
    together.close()
    assert open_files() == before


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="counts open files by /proc")
def test_sessions_that_are_wanted_no_more_are_let_go(conversations, reads):
    path = conversations("a", "b", "c")
    before = open_files()
    files = listed(path, "a", "b")
    together = Together(files)
    together.load(files[0], always).session.close()
    assert open_files() > before
    together.leave_out(files[1])
    assert open_files() == before


def test_a_file_that_changed_meanwhile_is_read_again(conversations, reads):
    path = conversations("a", "b", "c")
    files = listed(path, "a", "b", "c")
    together = Together(files)
    together.load(files[0], always).session.close()
    conversations("a", "b")
    together.load(files[1], always).session.close()
    with pytest.raises(SessionError, match="no session c in it"):
        together.load(files[2], always)
    together.close()
    assert reads == [path] * 3


def test_the_sessions_of_a_file_are_taken_in_its_own_order():
    names = [f"sample {number}" for number in range(40)]
    files = [*listed(Path("b.eval"), *names), *listed(Path("a.eval"), *names)]
    listing = Listing({}, dict)
    listing.show(files)
    listing.select(files)
    taken = Shelf.chosen(cast("Shelf", SimpleNamespace(listing=listing)), None)
    assert taken == [*files[40:], *files[:40]]


async def test_the_screen_about_all_counts_as_the_command_does(open_desk, family, tmp_path):
    options = ("--model", "offline", "--chunk-chars", CHUNK_CHARS, "--store", tmp_path / "none")
    told = longjudge("estimate", "--json", *options, family).objects[-1]
    async with open_desk(family) as desk:
        await desk.press("E")
        await desk.sees("all 4 sessions estimated")
        await desk.sees("1 passed over: all of it is in another file")
        tally = desk.shelf.estimates.current.tally
        assert {key: tally.to_dict()[key] for key in ("chunks", "to_ask", "tokens_high")} == {
            key: told[key] for key in ("chunks", "to_ask", "tokens_high")
        }
        assert tally.sessions == told["sessions"] == 3
