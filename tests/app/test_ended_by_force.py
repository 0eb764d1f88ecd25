"""A run that a crash or kill -9 ends is found again, also where what stands would not show it."""

from __future__ import annotations

import asyncio
import json
import time

import msgspec
import pytest

from longjudge.owner import this_process
from longjudge.paths import begun_path
from longjudge_tui.bench.begun import broken_off
from longjudge_tui.past.screen import PastScreen


@pytest.fixture
def kill_while_judging(open_desk):
    """Judge at 1,000 characters, and leave what kill -9 would leave in the middle of it."""

    async def kill(path):
        async with open_desk(path, gated=True) as desk:
            await desk.until(lambda: desk.bench.outlook is not None)
            await desk.press("r")
            await desk.until(lambda: [*begun_path().glob("*.json")])
            [note] = begun_path().glob("*.json")
            text = await asyncio.to_thread(note.read_bytes)
            desk.judge.gate.set()
            await desk.sees("judged 15 of 15")
            await desk.until(lambda: not note.exists(), "the note of a run that has ended is gone")
            # As it was with five verdicts; its process is one that was started here long ago.
            kept = sorted(desk.bench.kept_keys)
            await desk.bench.store.write(
                "DELETE FROM verdicts WHERE key IN (SELECT value FROM json_each(?))",
                (json.dumps(kept[5:]),),
            )
            await desk.bench.store.write("DELETE FROM judgments", ())
        row = msgspec.json.decode(text)
        assert row["pid"] == this_process().pid
        note.write_bytes(msgspec.json.encode(row | {"started": "1"}))
        return note

    return kill


async def test_what_a_killed_run_judged_is_found_and_gone_on_with(
    open_desk, write_session, kill_while_judging
):
    path = write_session("long.jsonl", 30, (24,))
    note = await kill_while_judging(path)
    async with open_desk(path, chunk_chars=30_000) as desk:
        await desk.sees("a run at 1,000 characters was ended by force")
        left = await asyncio.to_thread(note.read_bytes)
        lives = msgspec.json.decode(left) | {"host": "elsewhere", "begun": time.time()}
        note.write_bytes(msgspec.json.encode(lives))
        assert await broken_off(desk.bench.store) == []
        note.write_bytes(left)
        await desk.press("escape")
        await desk.sees("✗ broken off · ?/15 at 1k chars")
        await desk.sees("ended by force · J 1 enter r: goes on at 1k")
        await desk.press("enter")
        await desk.sees("a run at 1,000 characters was ended by force")
        await desk.press("J")
        await desk.until(lambda: isinstance(desk.app.screen, PastScreen))
        await desk.sees("✗ broken off")
        await desk.sees("?/15")
        await desk.sees("enter shows what is kept of it · then r goes on with what is missing")
        await desk.press("O")
        await desk.sees("ended by force and not recorded")
        await desk.press("2")
        await desk.sees("ALL PAST JUDGMENTS · 1")
        await desk.press("enter")
        await desk.sees("ended by force, what it judged is kept · r goes on: 10 to ask")
        assert desk.bench.settings.chunk_chars == 1000
        await desk.sees("5 of 15 kept")
        await desk.press("r")
        await desk.sees("judged 15 of 15")
        assert desk.bench.run.result.calls == 10
        # Its end is recorded by now: the run before it has nothing more to say.
        await desk.press("J")
        await desk.sees("complete")
        await desk.until(lambda: "broken off" not in desk.text)
        assert not note.exists()
        # One since that is gone on with and leaves nothing to record has nothing to say either.
        await desk.press("escape")
        note.write_bytes(msgspec.json.encode(msgspec.json.decode(left) | {"begun": time.time()}))
        assert len(await broken_off(desk.bench.store)) == 1
        await desk.press("r")
        await desk.until(lambda: not note.exists())
        assert len(await desk.bench.store.judgment_ids()) == 1
