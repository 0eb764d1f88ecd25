"""The app on the bundled samples, in a store that is thrown away: what pictures are taken of."""

from __future__ import annotations

import asyncio
import html
import os
import re
import shutil
import sys
import tempfile
import time
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from longjudge.judges.offline import OfflineJudge
from longjudge.paths import sample_sessions
from longjudge.rubric import load_rubric
from longjudge.sessions import find_sessions
from longjudge.settings import Settings
from longjudge.store import Store
from longjudge_tui.app import LongjudgeApp
from longjudge_tui.bench.bench import Bench
from longjudge_tui.library.shelf import Found, Shelf

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

    from textual.pilot import Pilot

    from longjudge.judges.base import Answer, Question

SIZE = 120, 40
CELL = 12.2
"""The width of a character in the pictures that Textual takes."""
LONG = "checkout-refactor.jsonl"
FOLDER = "samples"
AGES = (7_000, 260_000, 18_000, 780_000, 3_500_000)
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


@contextmanager
def samples() -> Iterator[None]:
    """Work in a folder and a home of its own, with the samples, each with its age."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"):
            os.environ[name] = scratch
        shutil.copytree(sample_sessions(), FOLDER)
        for path, age in zip(find_sessions([Path(FOLDER)]), AGES, strict=False):
            os.utime(path.path, (time.time() - age,) * 2)
        try:
            yield
        finally:
            os.chdir(before)


@asynccontextmanager
async def opened(
    name: str, judge: OfflineJudge, *, settings: Settings | None = None
) -> AsyncIterator[tuple[LongjudgeApp, Pilot[None]]]:
    """The app on a session or a folder; what is judged stays for the next one."""
    store = await Store.open(Path("store.sqlite"))
    kept = await store.all_keys()
    found = Found(find_sessions([Path(name)]), "the bundled samples")
    bench = Bench(
        list(found.files),
        judge=judge,
        rubric=load_rubric("chunks"),
        store=store,
        settings=settings or Settings(),
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
    sys.exit(f"the screen never came to look as it should\n{text(pilot.app)}")


def text(app: LongjudgeApp) -> str:
    """The screen as it is painted."""
    strips = app.screen._compositor.render_strips()
    return "\n".join("".join(segment.text for segment in strip) for strip in strips)


def portable(svg: str) -> str:
    """The picture in a font that is at hand everywhere, with each character in its own cell."""
    svg = re.sub(r"@font-face\s*\{[^}]*\}", "", svg).replace("Fira Code", "DejaVu Sans Mono")
    svg = re.sub(r' textLength="[\d.]+"', "", svg)
    return re.sub(r'(<text class="[^"]*-r\d+" )x="([\d.]+)"([^>]*)>([^<]*)</text>', _spread, svg)


def _spread(found: re.Match[str]) -> str:
    head, left, rest, words = found[1], float(found[2]), found[3], html.unescape(found[4])
    places = " ".join(f"{left + CELL * place:g}" for place in range(len(words)))
    return f'{head}x="{places}"{rest}>{html.escape(words)}</text>'
