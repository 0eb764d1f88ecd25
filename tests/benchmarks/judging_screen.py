"""The app with a judgment in flight, in a process of its own, for `bench_judging.py`.

Run by it as `python judging_screen.py '{...}'`; prints one line of JSON. Keys are pressed all the
time, first with nothing going on, then while the judgment runs.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from pathlib import Path

from judging_child import MODEL, Lag, say

from longjudge.judges.make import make_judge
from longjudge.rubric import load_rubric
from longjudge.sessions import find_sessions
from longjudge.settings import Settings
from longjudge.store import Store
from longjudge_tui.app import LongjudgeApp
from longjudge_tui.bench.bench import Bench
from longjudge_tui.library.shelf import Found, Shelf
from longjudge_tui.pauses import spare_pauses

SWITCH_INTERVAL = 0.0005
KEY_SECONDS = 0.07
IDLE_SECONDS = 3.0


async def watch(arguments: dict[str, object]) -> None:
    """Open the session in the app, judge it, and print the loop's lag idle and at work."""
    path, folder = Path(str(arguments["session"])), Path(str(arguments["folder"]))
    judge, store = make_judge(MODEL), await Store.open(folder / "screen.sqlite")
    await judge.prepare()
    settings = Settings(int(str(arguments["chars"])), int(str(arguments["concurrency"])))
    found = Found(find_sessions([path]), "the benchmark")
    kept: set[str] = set()
    bench = Bench(
        list(found.files),
        judge=judge,
        rubric=load_rubric("chunks"),
        store=store,
        settings=settings,
        kept=kept,
        model_name=MODEL,
    )
    shelf = Shelf(found, find=lambda: found, bench=bench, store=store, kept=kept)
    app = LongjudgeApp(bench, shelf, at_bench=True)
    idle, busy = Lag(), Lag()
    try:
        async with app.run_test(size=(120, 40)) as pilot:
            bench.open_first()
            while bench.outlook is None:
                await pilot.pause(0.05)
            await pilot.pause(0.5)
            spare_pauses()

            async def press_for(seconds: float) -> None:
                end = time.perf_counter() + seconds
                while time.perf_counter() < end or bench.running:
                    app.simulate_key("down")
                    await asyncio.sleep(KEY_SECONDS)

            async with idle:
                await press_for(IDLE_SECONDS)
            async with busy:
                bench.start()
                await press_for(1.0)
    finally:
        await shelf.aclose()
        await bench.aclose()
        await store.aclose()
    result = bench.run.result if bench.run else None
    say(
        calls=result.calls if result else 0,
        seconds=result.seconds if result else 0.0,
        idle=idle.facts(),
        busy=busy.facts(),
    )


def main() -> None:
    """Watch one judgment."""
    sys.setswitchinterval(SWITCH_INTERVAL)
    asyncio.run(watch(json.loads(sys.argv[1])))


if __name__ == "__main__":
    main()
