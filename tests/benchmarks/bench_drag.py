"""Drags the chunk size over a session of 100,000 events in the real app, and times every frame.

Run it as a script: `python tests/benchmarks/bench_drag.py [--events 100000] [--sizes 120]`.
The mouse goes from the small end of the slider to the large one, with half of the verdicts kept.
Printed are p50, p95 and the longest of: planning (plan, keys, totals), painting (from the mouse
move to the drawn frame, planning included; with the wait for the frame's turn, and without: the
processor time), and a plain greedy loop with one hash per chunk over
the same sizes, with the ratio to it. It passes or fails nothing.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import statistics
import sys
import tempfile
import time
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import longjudge_tui

# isort: split
from textual import events
from textual.geometry import Offset

from longjudge.chunks import plan_chunks
from longjudge.judges.offline import OfflineJudge
from longjudge.keys import KeyMaker
from longjudge.rubric import load_rubric
from longjudge.sessions import find_sessions
from longjudge.settings import Settings
from longjudge.store import Store
from longjudge_tui.app import LongjudgeApp
from longjudge_tui.bench.bench import Bench
from longjudge_tui.bench.outlook import Outlook
from longjudge_tui.library.shelf import Found, Shelf
from longjudge_tui.pauses import spare_pauses
from longjudge_tui.workbench.size_slider import SizeSlider

if TYPE_CHECKING:
    from textual.pilot import Pilot

    from longjudge.sessions import Session

SWITCH_INTERVAL = 0.0005
SAME_SIZE_SECONDS = 0.1
"""After so long without a new plan, the move was to the size that stood."""


def say(line: str) -> None:
    """Print a line at once, so that a long run shows where it is."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def write_session(path: Path, count: int) -> None:
    """Write calls with their results, the same for the same count."""
    rng = random.Random(20240229)
    words = ["".join(rng.choices("abcdefghijklmnopqrstuvwxyz_", k=8)) for _ in range(4000)]
    pool = [" ".join(rng.choices(words, k=1500)) for _ in range(50)]
    with path.open("w", encoding="utf-8") as file:
        for number in range(count // 2):
            size = rng.choices((200, 1_000, 4_000, 12_000), (50, 30, 18, 2))[0]
            call_id = f"call-{number}"
            output = f"{number} " + rng.choice(pool)[: rng.randint(size // 3, size)]
            command = {"command": f"run {number} {rng.choice(words)}"}
            for record in (
                {"kind": "tool_call", "tool": "Bash", "input": command, "call_id": call_id},
                {"kind": "tool_result", "tool": "Bash", "output": output, "call_id": call_id},
            ):
                file.write(json.dumps(record) + "\n")


class Stopwatch:
    """Seconds of many turns of the same work."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.seconds: list[float] = []

    def report(self, goal: str = "") -> float:
        """Print p50, p95 and max in milliseconds; returns p50."""
        found = sorted(self.seconds)
        p50, p95 = statistics.median(found), found[int(0.95 * (len(found) - 1))]
        say(
            f"{self.name:<26}p50 {p50 * 1000:6.1f}   p95 {p95 * 1000:6.1f}   max"
            f" {found[-1] * 1000:6.1f} ms   {goal}"
        )
        return p50


def baseline(session: Session, sizes: list[int]) -> Stopwatch:
    """A greedy loop over the events, and one hash over the digests of each chunk."""
    index = session.index
    chars, digests = list(index.chars), [index.digest(i) for i in range(len(index))]
    watch = Stopwatch("greedy loop, one hash each")
    for size in sizes:
        begin = time.perf_counter()
        filled, state = 0, sha256()
        keys: list[str] = []
        for count, digest in zip(chars, digests, strict=True):
            if filled and filled + count > size:
                keys.append(state.hexdigest())
                filled, state = 0, sha256()
            filled += count
            state.update(digest)
        keys.append(state.hexdigest())
        watch.seconds.append(time.perf_counter() - begin)
    return watch


async def drag(folder: Path, count: int, steps: int) -> None:
    """Open the app on the session and drag."""
    path = folder / "session.jsonl"
    write_session(path, count)
    judge, rubric = OfflineJudge(), load_rubric("chunks")
    store = await Store.open(folder / "store.sqlite")
    found = Found(find_sessions([path]), "the benchmark")
    kept: set[str] = set()
    bench = Bench(
        list(found.files), judge=judge, rubric=rubric, store=store, settings=Settings(), kept=kept
    )
    shelf = Shelf(found, find=lambda: found, bench=bench, store=store, kept=kept)
    app = LongjudgeApp(bench, shelf, at_bench=True)
    try:
        async with app.run_test(size=(120, 40)) as pilot:
            bench.open_first()
            while bench.session is None:
                await pilot.pause(0.05)
            session = bench.session
            scale = bench.tuning.scale(session.index.total_chars)
            say(
                f"session                   {len(session.index):,} events,"
                f" {session.index.total_chars / 1e6:.0f} million characters; slider from"
                f" {scale.low:,} to {scale.high:,}"
            )
            # Half of the verdicts of one size are kept, so that looking them up is part of it.
            keys = list(KeyMaker(judge, rubric).keys(plan_chunks(session.index, scale.low)))
            kept.update(keys[::2])
            spare_pauses()
            await pilot.pause(0.3)
            await drag_slider(pilot, app, bench, steps)
    finally:
        await shelf.aclose()
        await bench.aclose()
        await store.aclose()


class Frames:
    """When each frame was drawn."""

    def __init__(self, app: LongjudgeApp) -> None:
        self.drawn: list[float] = []
        self._one_more = asyncio.Event()
        self._display = app._display
        app._display = self._noted

    def _noted(self, screen: object, renderable: object) -> None:
        self._display(screen, renderable)
        self.drawn.append(time.perf_counter())
        self._one_more.set()

    async def after(self, plans: Plans, number: int) -> bool:
        """Wait for the first frame after a plan; false where there is no such plan."""
        while len(plans.chunks) == number or len(self.drawn) == plans.frames_before[number]:
            self._one_more.clear()
            try:
                async with asyncio.timeout(SAME_SIZE_SECONDS):
                    await self._one_more.wait()
            except TimeoutError:
                if len(plans.chunks) == number:
                    return False
        return True


class Plans:
    """How long each plan took, how large it was, and how many frames had been drawn by then."""

    def __init__(self, frames: Frames) -> None:
        self.watch = Stopwatch("planning")
        self.chunks: list[int] = []
        self.frames_before: list[int] = []
        self._frames = frames
        self._plan_of = Outlook.of

    def __call__(self, *arguments: object) -> Outlook:
        begin = time.perf_counter()
        outlook = self._plan_of(*arguments)
        self.watch.seconds.append(time.perf_counter() - begin)
        self.chunks.append(len(outlook.plan))
        self.frames_before.append(len(self._frames.drawn))
        return outlook


async def drag_slider(pilot: Pilot[None], app: LongjudgeApp, bench: Bench, steps: int) -> None:
    """Move the mouse step by step, each after the frame of the one before, and print."""
    frames = Frames(app)
    plans = Plans(frames)
    painting, busy = Stopwatch("move to drawn frame"), Stopwatch("same, processor time")
    sizes: list[int] = []
    slider = app.screen.query_one(SizeSlider)
    region = slider.content_region

    def mouse(kind: type[events.MouseEvent], x: float) -> None:
        # With a fraction of a cell, as terminals that report pixels send it.
        where = region.x + x, region.y
        app.mouse_position = Offset(int(where[0]), where[1])
        app.screen._forward_event(kind(None, *where, 0, 0, 1, False, False, False, *where))

    mouse(events.MouseDown, 0)
    await pilot.pause()
    Outlook.of = plans
    for step in range(1, steps + 1):
        number = len(plans.chunks)
        begin, used = time.perf_counter(), time.thread_time()
        mouse(events.MouseMove, step / steps * (region.width - 1))
        if await frames.after(plans, number):
            painting.seconds.append(frames.drawn[plans.frames_before[number]] - begin)
            busy.seconds.append(time.thread_time() - used)
            sizes.append(bench.tuning.size)
    mouse(events.MouseUp, region.width - 1)
    assert bench.session is not None
    say(
        f"drag                      {len(set(sizes))} sizes, {plans.chunks[0]:,} to"
        f" {plans.chunks[-1]:,} chunks"
    )
    plans.watch.report("goal: p95 under 16 ms")
    painting.report("goal: p95 under 33 ms")
    busy.report()
    bare = baseline(bench.session, sizes).report()
    say(f"planning to greedy loop   {statistics.median(plans.watch.seconds) / bare:.2f}x")


def main() -> None:
    """Build the session in a temporary folder and drag over it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=100_000)
    parser.add_argument("--sizes", type=int, default=130)
    arguments = parser.parse_args()
    sys.setswitchinterval(SWITCH_INTERVAL)
    say(f"frames                    at most {longjudge_tui.FRAMES_PER_SECOND} a second")
    with tempfile.TemporaryDirectory(prefix="longjudge-drag-") as folder:
        asyncio.run(drag(Path(folder), arguments.events, arguments.sizes))


if __name__ == "__main__":
    main()
