"""The app in a process of its own, for `bench_screen.py`: keys under load, scrolling, an hour.

Run by it as `python screen_child.py WORK '{...}'`; prints one line of JSON into the file named in
the arguments, since the terminal is the app's.
"""

from __future__ import annotations

import asyncio
import gc
import itertools
import json
import os
import random
import resource
import statistics
import sys
import threading
import time
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import longjudge_tui

# isort: split
from longjudge.judges.offline import OfflineJudge
from longjudge.rubric import load_rubric
from longjudge.sessions import find_sessions
from longjudge.settings import Settings
from longjudge.states import ChunkState
from longjudge.store import Store
from longjudge.updates import ChunkUpdate
from longjudge_tui.app import LongjudgeApp
from longjudge_tui.bench.bench import Bench
from longjudge_tui.bench.run import Run
from longjudge_tui.driver import PatientDriver
from longjudge_tui.library.shelf import Found, Shelf
from longjudge_tui.pauses import spare_pauses
from longjudge_tui.widgets.line_list import LineList
from longjudge_tui.workbench.chunk_list import ChunkList

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from textual.pilot import Pilot

    from longjudge.judges.base import Answer, Question
    from longjudge.updates import Update

SWITCH_SECONDS = 0.0005
KEY_SECONDS = 0.07
UPDATES_PER_SECOND, FEED_SECONDS = 1_000, 0.01
CHANGING = 500
WAIT_SECONDS = 5.0
TERMINAL = (120, 40)
assert longjudge_tui.FRAMES_PER_SECOND


class SteadyJudge(OfflineJudge):
    """Answers each question after the same time, so that a given number of calls makes a rate."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.seconds = seconds
        self.in_flight = 0

    async def ask(self, question: Question, *, max_tokens: int) -> Answer:
        self.in_flight += 1
        try:
            await asyncio.sleep(self.seconds)
        finally:
            self.in_flight -= 1
        return await super().ask(question, max_tokens=max_tokens)


class Frames:
    """When each frame was drawn, and with the cursor of which list where."""

    def __init__(self, app: LongjudgeApp) -> None:
        self.times: list[float] = []
        self.cursor = -1
        self.moved: list[float] = []
        self._app = app
        self._one_more = asyncio.Event()
        self._display = app._display
        app._display = self._noted

    def _noted(self, screen: object, renderable: object) -> None:
        self._display(screen, renderable)
        if renderable is None:
            return
        now = time.monotonic()
        self.times.append(now)
        chunks = getattr(self._app.screen, "chunks", None)
        if chunks is not None and chunks.cursor != self.cursor:
            self.cursor = chunks.cursor
            self.moved.append(now)
        self._one_more.set()

    async def next(self, count: int) -> float:
        """The time of the first frame after so many."""
        return await self._at(self.times, count)

    async def next_move(self, count: int) -> float:
        """The same of the frames in which the cursor stood elsewhere."""
        return await self._at(self.moved, count)

    async def _at(self, times: list[float], count: int) -> float:
        async with asyncio.timeout(WAIT_SECONDS):
            while len(times) <= count:
                self._one_more.clear()
                await self._one_more.wait()
        return times[count]


@contextmanager
def counted_updates() -> Iterator[list[int]]:
    """How many updates the judgment has sent to the screen."""
    seen, known = [0], Run._listen

    def listen(self: Run, update: Update) -> None:
        seen[0] += 1
        known(self, update)

    Run._listen = listen
    try:
        yield seen
    finally:
        Run._listen = known


async def feed(run: Run, first: int) -> None:
    """Tell a run of so many changes a second of some chunks from `first` on, as its engine would.

    Beside the screen that is measured, the engine itself does not come to so many.
    """
    parts = range(first + 1, first + 1 + CHANGING)
    told, begin = 0, time.monotonic()
    turns = itertools.cycle((ChunkState.RUNNING, ChunkState.QUEUED))
    for state in turns:
        for part in parts:
            if told >= (time.monotonic() - begin) * UPDATES_PER_SECOND:
                await asyncio.sleep(FEED_SECONDS)
            record = run._board.chunks[part - 1]
            record.state = state
            record.asked_at = time.monotonic() if state is ChunkState.RUNNING else None
            run._listen(ChunkUpdate(part, state))
            told += 1


@asynccontextmanager
async def opened(arguments: dict[str, object], judge: OfflineJudge) -> AsyncIterator[LongjudgeApp]:
    """The app on the session of the arguments, with a store of its own; not shown yet."""
    folder = Path(str(arguments["folder"]))
    store = await Store.open(folder / f"screen-{os.getpid()}.sqlite")
    found = Found(find_sessions([Path(str(arguments["session"]))]), "the benchmark")
    kept: set[str] = set()
    settings = Settings(
        int(str(arguments.get("chars", 30_000))), int(str(arguments.get("calls", 4)))
    )
    bench = Bench(
        list(found.files),
        judge=judge,
        rubric=load_rubric("chunks"),
        store=store,
        settings=settings,
        kept=kept,
        make_judge=lambda _: judge,
    )
    shelf = Shelf(found, find=lambda: found, bench=bench, store=store, kept=kept)
    app = LongjudgeApp(bench, shelf, at_bench=True)
    try:
        yield app
    finally:
        await shelf.aclose()
        await bench.aclose()
        await store.aclose()


@asynccontextmanager
async def shown(app: LongjudgeApp, *, on_terminal: bool) -> AsyncIterator[None]:
    """The app on this process's terminal, or on none, with its session read."""
    app.bench.open_first()
    if not on_terminal:
        async with app.run_test(size=TERMINAL) as pilot:
            while app.bench.outlook is None:
                await pilot.pause(0.05)
            await pilot.pause(0.5)
            spare_pauses()
            yield
        return
    app.driver_class = PatientDriver
    running = asyncio.ensure_future(app.run_async())
    while app.bench.outlook is None or not app.is_running:  # noqa: ASYNC110
        await asyncio.sleep(0.05)
    await asyncio.sleep(0.5)
    spare_pauses()
    try:
        yield
    finally:
        app.leave()
        await running


def spread(seconds: list[float]) -> dict[str, float]:
    """Median, 95th percentile and worst, in milliseconds."""
    found = sorted(seconds) or [0.0]
    at = {"p50": 0.5, "p95": 0.95}
    told = {name: found[int(share * (len(found) - 1))] * 1000 for name, share in at.items()}
    return {**told, "max": found[-1] * 1000, "count": len(seconds)}


async def keys(arguments: dict[str, object]) -> dict[str, object]:
    """Press a key every 70 ms, first with nothing going on, then while everything does."""
    judge = SteadyJudge(float(str(arguments["latency"])))
    seconds = float(str(arguments["seconds"]))
    on_terminal = bool(arguments["terminal"])
    async with opened(arguments, judge) as app:
        frames = Frames(app)
        calls: list[int] = []

        async def press() -> list[float]:
            taken: list[float] = []
            end, number = time.monotonic() + seconds, 0
            while time.monotonic() < end:
                moved, begin = len(frames.moved), time.monotonic()
                app.simulate_key("up" if number % 2 else "down")
                number += 1
                await asyncio.sleep(KEY_SECONDS)
                taken.append(await frames.next_move(moved) - begin)
                calls.append(judge.in_flight)
            return taken

        async with shown(app, on_terminal=on_terminal):
            idle = await press()
            calls.clear()
            with counted_updates() as seen:
                app.bench.start()
                while not isinstance(run := app.bench.run, Run):  # noqa: ASYNC110
                    await asyncio.sleep(0.05)
                # Far from where the engine is, and in sight.
                far = len(run.outlook.plan) // 2
                feeding = asyncio.ensure_future(feed(run, far))
                app.screen.query_one("#chunks", ChunkList).go_to(far + 5)
                await asyncio.sleep(1.0)
                before, used, begin = seen[0], time.process_time(), time.monotonic()
                painted = len(frames.times)
                busy = await press()
                took = time.monotonic() - begin
                facts = {
                    "updates": (seen[0] - before) / took,
                    "cpu": (time.process_time() - used) / took,
                    "frames": (len(frames.times) - painted) / took,
                    "running": app.bench.running,
                    "calls": statistics.median(calls),
                }
                feeding.cancel()
                await asyncio.wait([feeding])
            app.bench.cancel()
    return {"idle": spread(idle), "busy": spread(busy), **facts}


async def scroll(arguments: dict[str, object]) -> dict[str, object]:
    """Go by pages and by jumps through the chunks of a long session, and the events of one."""
    async with opened(arguments, OfflineJudge()) as app:
        frames = Frames(app)
        async with shown(app, on_terminal=False):
            found: dict[str, object] = {"session": len(app.bench.session.index)}
            for name in ("chunks", "events"):
                lines = app.screen.query_one(f"#{name}", LineList)
                app.screen.set_focus(lines)
                await asyncio.sleep(0.3)
                timed = await scrolled(lines, frames, int(str(arguments["jumps"])))
                found[name] = {"rows": lines.row_count, **timed}
    return found


async def scrolled(lines: LineList, frames: Frames, jumps: int) -> dict[str, object]:
    """By turns a page on and a jump anywhere, each after the frame of the one before."""
    rng = random.Random(1)
    far: list[float] = []
    near: list[float] = []
    for number in range(jumps):
        count, begin = len(frames.times), time.monotonic()
        if number % 2:
            lines.move_to(rng.randrange(lines.row_count - lines.size.height))
        else:
            lines.action_page_down()
        (far if number % 2 else near).append(await frames.next(count) - begin)
        await asyncio.sleep(0.02)
    return {"page": spread(near), "jump": spread(far)}


HOUR = (
    *("down", "down", "enter", "tab", "down", "pagedown", "end", "home", "tab", "r", "x"),
    *("left_square_bracket", "right_square_bracket", "e", "escape", "slash", "g", "i", "t"),
    *("enter", "n", "escape", "question_mark", "escape", "u", "u", "full_stop", "comma", "z"),
    *("z", "m", "escape", "b", "escape", "C", "escape", "J", "escape", "F", "escape", "1", "2"),
    *("3", "4", "1", "B", "escape", "D", "escape", "M", "M", "ctrl+r", "resize", "resize"),
    *("library", "down", "up", "enter"),
)


def held() -> dict[str, int]:
    """What a leak would add to."""
    return {
        "rss_kb": resident(),
        "tasks": len(asyncio.all_tasks()),
        "threads": threading.active_count(),
        "fds": len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").exists() else 0,
    }


def resident() -> int:
    """Kilobytes of this process in memory now."""
    statm = Path("/proc/self/statm")
    if not statm.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(statm.read_text().split()[1]) * resource.getpagesize() // 1024


async def hour(arguments: dict[str, object]) -> dict[str, object]:
    """Do what somebody does in an hour, one action a second; as fast as it goes unless told so."""
    actions, pace = int(str(arguments["actions"])), float(str(arguments["pace"]))
    samples: list[dict[str, int]] = []
    async with (
        opened(arguments, SteadyJudge(0.02)) as app,
        app.run_test(size=TERMINAL, notifications=True) as pilot,
    ):
        app.bench.open_first()
        while app.bench.outlook is None:
            await pilot.pause(0.05)
        spare_pauses()
        for number in range(actions):
            begin = time.monotonic()
            await act(pilot, app, HOUR[number % len(HOUR)])
            if number % max(1, actions // int(arguments.get("samples", 24))) == 0:
                gc.collect()
                samples.append(held())
            if (rest := pace - (time.monotonic() - begin)) > 0:
                await asyncio.sleep(rest)
        app.bench.cancel()
        while app.bench.running:
            await pilot.pause(0.05)
        gc.collect()
        samples.append(held())
    return {"samples": samples}


async def act(pilot: Pilot[None], app: LongjudgeApp, what: str) -> None:
    """Press a key, or do what takes none."""
    if what == "resize":
        wide = app.size.width == TERMINAL[0]
        await pilot.resize_terminal(*((80, 24) if wide else TERMINAL))
    elif what == "library":
        if len(app.screen_stack) > 1:
            await pilot.press("escape")
        await pilot.press("escape")
    else:
        await pilot.press(what)


WORKS = {"keys": keys, "scroll": scroll, "hour": hour}


def main() -> None:
    """Do one work and write what it found."""
    sys.setswitchinterval(SWITCH_SECONDS)
    arguments = json.loads(sys.argv[2])
    found = asyncio.run(WORKS[sys.argv[1]](arguments))
    Path(arguments["found"]).write_text(json.dumps(found))


if __name__ == "__main__":
    main()
