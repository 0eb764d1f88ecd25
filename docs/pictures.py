"""Take the README's two pictures anew: `python docs/pictures.py FOLDER` writes two SVG files.

It judges the bundled samples with the offline rules, in a store that is thrown away. A PNG is made
by any converter, for example `cairosvg workbench.svg -o workbench.png --output-width 1500`.
"""

from __future__ import annotations

import asyncio
import html
import os
import re
import shutil
import sys
import tempfile
import time
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from longjudge.judges.offline import OfflineJudge, believable_delay
from longjudge.paths import sample_sessions
from longjudge.rubric import load_rubric
from longjudge.sessions import find_sessions
from longjudge.settings import Settings
from longjudge.store import Store
from longjudge_tui.app import LongjudgeApp
from longjudge_tui.bench.bench import Bench
from longjudge_tui.library.shelf import Found, Shelf
from longjudge_tui.workbench.findings_list import FindingsList

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from textual.pilot import Pilot

    from longjudge.judges.base import Answer, Question

SIZE = 120, 40
CELL = 12.2
"""The width of a character in the pictures that Textual takes."""
LONG = "checkout-refactor.jsonl"
AGES = (7_000, 260_000, 18_000, 780_000, 3_500_000)
FINDINGS = 7
PAUSES = 2_000


class HeldJudge(OfflineJudge):
    """The offline rules, which answer so many questions and keep the next ones waiting."""

    def __init__(self, answers: int) -> None:
        super().__init__()
        self._left = answers

    async def ask(self, question: Question, *, max_tokens: int) -> Answer:
        """Answer, or wait until the judgment is cancelled."""
        self._left -= 1
        if self._left < 0:
            await asyncio.Event().wait()
        return await super().ask(question, max_tokens=max_tokens)


@asynccontextmanager
async def opened(name: str, judge: OfflineJudge) -> AsyncIterator[tuple[LongjudgeApp, Pilot[None]]]:
    """The app on a session or a folder."""
    store = await Store.open(Path("store.sqlite"))
    kept = await store.all_keys()
    found = Found(find_sessions([Path(name)]), "the bundled samples")
    bench = Bench(
        list(found.files),
        judge=judge,
        rubric=load_rubric("chunks"),
        store=store,
        settings=Settings(),
        kept=kept,
    )
    shelf = Shelf(found, find=lambda: found, bench=bench, store=store, kept=kept)
    at_bench = len(found.files) == 1
    app = LongjudgeApp(bench, shelf, at_bench=at_bench)
    if at_bench:
        bench.open_first()
    shelf.open_past()
    try:
        async with app.run_test(size=SIZE) as pilot:
            yield app, pilot
    finally:
        await shelf.aclose()
        await bench.aclose()
        await store.aclose()


async def until(pilot: Pilot[None], condition: Callable[[], bool]) -> None:
    """Wait for something that the app is about to do."""
    for _ in range(PAUSES):
        await pilot.pause()
        if condition():
            return
    sys.exit("the screen never came to look as it should")


async def take_library() -> str:
    """One session is judged, the next one is on its way, the others wait."""
    async with opened("samples", HeldJudge(16 + 4)) as (app, pilot):
        shelf = app.shelf
        await until(pilot, lambda: len(shelf.counting.facts) == len(shelf.listing.files))
        await pilot.press("A", "r")
        await until(pilot, lambda: any("judging 4/" in row for row in rows(app)))
        await pilot.pause()
        return app.export_screenshot()


async def take_workbench() -> str:
    """A run has ended, and one finding is opened."""
    judge = OfflineJudge(delay=believable_delay)
    async with opened(f"samples/{LONG}", judge) as (app, pilot):
        bench = app.bench
        await until(pilot, lambda: bench.outlook is not None)
        await pilot.press("r")
        await until(pilot, lambda: bench.run is not None and bench.run.result is not None)
        findings = app.screen.query_one("#findings", FindingsList)
        await until(pilot, lambda: len(findings.all_findings) == FINDINGS)
        await pilot.press("comma", "comma")
        await until(pilot, lambda: "force-pushed" in str(findings.here))
        await pilot.pause()
        return app.export_screenshot()


def rows(app: LongjudgeApp) -> list[str]:
    """The rows of the library."""
    sessions = app.screen.query_one("#sessions")
    return [sessions.render_line(y).text for y in range(sessions.row_count)]


def portable(svg: str) -> str:
    """The picture in a font that is at hand everywhere, with each character in its own cell."""
    svg = re.sub(r"@font-face\s*\{[^}]*\}", "", svg).replace("Fira Code", "DejaVu Sans Mono")
    svg = re.sub(r' textLength="[\d.]+"', "", svg)
    return re.sub(r'(<text class="[^"]*-r\d+" )x="([\d.]+)"([^>]*)>([^<]*)</text>', _spread, svg)


def _spread(found: re.Match[str]) -> str:
    head, left, rest, text = found[1], float(found[2]), found[3], html.unescape(found[4])
    places = " ".join(f"{left + CELL * place:g}" for place in range(len(text)))
    return f'{head}x="{places}"{rest}>{html.escape(text)}</text>'


def main() -> None:
    """Take both pictures."""
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    target = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        shutil.copytree(sample_sessions(), "samples")
        for path, age in zip(find_sessions([Path("samples")]), AGES, strict=False):
            os.utime(path.path, (time.time() - age,) * 2)
        for name, take in (("library", take_library), ("workbench", take_workbench)):
            picture = target / f"{name}.svg"
            picture.write_text(portable(asyncio.run(take())), encoding="utf-8")
            Path("store.sqlite").unlink()
            sys.stdout.write(f"{picture}\n")
        os.chdir(target)


if __name__ == "__main__":
    main()
