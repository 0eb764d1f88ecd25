"""During a run the chunk list follows what is judged, until the user moves through it."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager

import pytest
from textual import events

from longjudge.judges.offline import OfflineJudge

ANSWERED = 40


class PausingJudge(OfflineJudge):
    """Answers the first questions, and the others when the test lets it."""

    def __init__(self) -> None:
        super().__init__()
        self.asked, self.allowed = 0, ANSWERED
        self.changed = asyncio.Event()

    def allow(self, more: int) -> None:
        self.allowed += more
        self.changed.set()
        self.changed = asyncio.Event()

    async def ask(self, question, *, max_tokens):
        self.asked += 1
        number = self.asked
        while number > self.allowed:
            await self.changed.wait()
        return await super().ask(question, max_tokens=max_tokens)


def running(desk) -> list[str]:
    """The rows in sight of chunks that are judged, with their cancel."""
    return [row for row in desk.rows("chunks") if "◐ running" in row and row.endswith("]")]


def gaps(desk) -> str:
    return "\n".join(row for row in desk.rows("chunks") if "✗ gap" in row)


def cursor_in_sight(desk) -> bool:
    return any(row.startswith(("▶", "▷")) for row in desk.rows("chunks"))


@pytest.fixture
def held(open_desk, write_session):
    """A run over 100 chunks that has come to the one after `ANSWERED` and is held there."""

    @asynccontextmanager
    async def opened(**options):
        judge = PausingJudge()
        path = write_session("long.jsonl", 200, (4,))
        async with open_desk(path, judge=judge, concurrency=3, **options) as desk:
            await desk.until(lambda: len(desk.rows("chunks")) > 1)
            await desk.press("r")
            await desk.until(lambda: judge.asked == ANSWERED + 3)
            yield desk
            judge.allow(1_000)
            await desk.until(lambda: desk.bench.run.result is not None)

    return opened


async def told(desk) -> None:
    """Several ticks have passed."""
    for _ in range(3):
        desk.app.screen.tick()
        await desk.pilot.pause()


@pytest.mark.parametrize("size", [(80, 24), pytest.param((120, 40), marks=pytest.mark.thorough)])
async def test_what_is_judged_stays_in_sight_with_its_cancel(held, size):
    async with held(size=size) as desk:
        await desk.until(lambda: len(running(desk)) == 3)
        await desk.until(lambda: not cursor_in_sight(desk))
        await desk.sees("EVENTS of part 1 ")
        desk.judge.allow(30)
        await desk.until(lambda: [row.split()[0] for row in running(desk)] == ["71", "72", "73"])


async def test_at_the_end_the_list_is_back_at_its_cursor(held):
    async with held() as desk:
        await desk.until(lambda: running(desk))
        desk.judge.allow(1_000)
        await desk.until(lambda: desk.bench.run.result is not None)
        await desk.until(lambda: cursor_in_sight(desk))


@pytest.mark.parametrize("by", ["key at the edge", "wheel", "click", "finding"])
async def test_whoever_moves_through_the_chunks_stays_where_he_is(held, by):
    async with held() as desk:
        await desk.until(lambda: len(running(desk)) == 3)
        match by:
            case "key at the edge":
                await desk.press("up")
                await desk.until(lambda: desk.rows("chunks")[0].startswith("▶"))
            case "wheel":
                before = desk.rows("chunks")[0]
                for _ in range(5):
                    await desk.pilot._post_mouse_events([events.MouseScrollUp], "#chunks")
                await desk.until(lambda: desk.rows("chunks")[0] != before)
            case "click":
                await desk.pilot.click("#chunks", offset=(10, 0))
                await desk.until(lambda: desk.rows("chunks")[0].startswith("▶"))
            case _:
                await desk.until(lambda: len(desk.rows("findings")) == 1)
                await desk.press("full_stop")
                await desk.until(lambda: cursor_in_sight(desk))
        await desk.pilot.pause(0.3)
        parts = [row[1:].split()[0] for row in desk.rows("chunks")]
        desk.judge.allow(30)
        await desk.until(lambda: desk.judge.asked == ANSWERED + 33)
        await told(desk)
        await desk.until(lambda: [row[1:].split()[0] for row in desk.rows("chunks")] == parts)


async def test_a_key_leads_to_what_is_judged_and_follows_again(held):
    async with held() as desk:
        await desk.until(lambda: running(desk))
        await desk.press("home")
        await desk.until(lambda: not running(desk))
        await desk.press("j")
        await desk.until(lambda: len(running(desk)) == 3)
        # The one that was asked about last: the others may end before the next key.
        await desk.until(lambda: running(desk)[-1].startswith("▶"))
        # From another panel, the log here, it brings the keys along.
        await desk.press("4", "j", "M")
        await desk.until(lambda: len(desk.rows("chunks")) > 20 and "EVENTS of" not in desk.text)
        await desk.press("4", "0", "M")
        await desk.until(lambda: len(desk.rows("chunks")) > 20 and "EVENTS of" not in desk.text)
        await desk.press("M")
        await desk.sees(f"EVENTS of part {ANSWERED + 3} ")
        asked = desk.judge.asked
        desk.judge.allow(30)
        await desk.until(lambda: desk.judge.asked >= asked + 30)
        await desk.until(lambda: any(row.startswith("▶") for row in running(desk)))


async def test_after_an_ask_again_the_list_stays_with_that_chunk(held):
    async with held() as desk:
        await desk.until(lambda: len(running(desk)) == 3)
        await desk.press("end", "c")
        await desk.until(lambda: any("✗ gap" in row for row in desk.rows("chunks")))
        desk.app.screen.query_one("#chunks").following = True
        desk.judge.allow(24)
        await desk.until(lambda: running(desk) and not cursor_in_sight(desk))
        await desk.press("a")
        await desk.until(lambda: cursor_in_sight(desk))
        asked = desk.judge.asked
        desk.judge.allow(20)
        await desk.until(lambda: desk.judge.asked > asked + 15)
        await told(desk)
        await desk.until(lambda: cursor_in_sight(desk))
        await desk.press("j")
        await desk.until(lambda: desk.app.screen.query_one("#chunks").following)


async def test_a_cancel_means_the_newest_chunk_where_the_list_has_left_the_cursor(held):
    async with held() as desk:
        await desk.until(lambda: len(running(desk)) == 3 and not cursor_in_sight(desk))
        newest = desk.bench.run.newest + 1
        await desk.press("c")
        await desk.sees(f"part {newest} cancelled")
        await desk.until(lambda: f"▶ {newest} " in gaps(desk))
        # It goes on following; after the key that leads to the newest one, with the cursor too.
        desk.judge.allow(24)
        await desk.until(lambda: running(desk) and not cursor_in_sight(desk))
        await desk.press("j")
        await desk.until(lambda: any(row.startswith("▶") for row in running(desk)))
        newest = desk.bench.run.newest + 1
        await desk.press("c")
        await desk.sees(f"part {newest} cancelled")
        desk.judge.allow(20)
        await desk.until(lambda: desk.bench.run.newest > newest + 10)
        await desk.until(lambda: any(row.startswith("▶") for row in running(desk)))


async def test_a_clicked_cancel_keeps_the_rows_where_they_are(held):
    async with held() as desk:
        await desk.until(lambda: len(running(desk)) == 3)
        row = desk.rows("chunks").index(running(desk)[1])
        await desk.pilot.click("#chunks", offset=(len(desk.rows("chunks")[row]) - 3, row))
        await desk.until(lambda: "cancelled" in desk.rows("chunks")[row])
        parts = [each[1:].split()[0] for each in desk.rows("chunks")]
        desk.judge.allow(30)
        await desk.until(lambda: desk.judge.asked >= ANSWERED + 33)
        await told(desk)
        await desk.until(lambda: [each[1:].split()[0] for each in desk.rows("chunks")] == parts)


async def test_the_next_run_is_followed_again(held):
    async with held() as desk:
        await desk.until(lambda: running(desk))
        await desk.press("home", "x")
        await desk.until(lambda: desk.bench.run.result is not None and not desk.bench.running)
        await desk.press("r")
        await desk.until(lambda: len(running(desk)) == 3 and not cursor_in_sight(desk))


async def test_a_cancel_that_comes_too_late_says_where_to_go(held):
    async with held() as desk:
        await desk.until(lambda: running(desk))
        await desk.press("home", "c")
        await desk.sees("part 1 has ended already: j goes to the newest one")
        await desk.press("end", "c")
        await desk.sees("chunk alone, before it was asked")


async def test_without_a_run_the_key_says_so(open_desk, write_session):
    async with open_desk(write_session("a.jsonl", 10)) as desk:
        await desk.until(lambda: len(desk.rows("chunks")) > 1)
        await desk.press("j")
        await desk.sees("nothing is being judged")
