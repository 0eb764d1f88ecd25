"""A workbench on sessions and a store of its own, with the offline judge held by the test."""

from __future__ import annotations

import asyncio
import gc
import inspect
import json
import sys
import time
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from textual.css.stylesheet import Stylesheet
from textual.widgets import Input

from longjudge.judges.offline import OfflineJudge
from longjudge.rubric import load_rubric
from longjudge.sessions import find_sessions
from longjudge.settings import Settings
from longjudge.store import Store
from longjudge_tui.app import LongjudgeApp
from longjudge_tui.bench.bench import Bench
from longjudge_tui.bench.tour import Tour
from longjudge_tui.library.screen import Library
from longjudge_tui.library.shelf import Found, Shelf
from longjudge_tui.workbench.screen import Workbench

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from longjudge.judges.base import Answer, Question

PUMPS = 400


@pytest.fixture(scope="session", autouse=True)
def _parse_styles_once():
    """Every app of a process has the same styles; to parse them is a quarter of its start.

    Rules are only read once they are parsed, and a theme is a part of what they are known by.
    """
    parse, known = Stylesheet._parse_rules, {}

    def parse_once(sheet, *arguments, **options):
        key = frozenset(sheet._variables.items()), arguments, frozenset(options.items())
        if key not in known:
            known[key] = parse(sheet, *arguments, **options)
        return known[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Stylesheet, "_parse_rules", parse_once)
        yield


@pytest.fixture(autouse=True)
def _spare_the_collector():
    """What an app leaves behind is not looked at again: a thousand of them slow every test."""
    yield
    gc.freeze()


class GatedJudge(OfflineJudge):
    """The offline rules, whose answers wait until the test opens the gate."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = asyncio.Event()
        self.asked = 0

    async def ask(self, question: Question, *, max_tokens: int) -> Answer:
        self.asked += 1
        await self.gate.wait()
        return await super().ask(question, max_tokens=max_tokens)


class FindingJudge(OfflineJudge):
    """Finds the same in every chunk: `(event, quote, note)`, whether they are there or not."""

    def __init__(self, *findings: tuple[int, str, str]) -> None:
        super().__init__()
        self.findings = findings

    async def ask(self, question: Question, *, max_tokens: int) -> Answer:
        answer = await super().ask(question, max_tokens=max_tokens)
        found = [dict(zip(("event", "quote", "note"), each, strict=True)) for each in self.findings]
        criteria = {
            name: {"findings": [], "problem": False} for name in question.rubric.criterion_ids
        }
        criteria["destructive_action"] = {"findings": found, "problem": True}
        return replace(answer, text=json.dumps({"criteria": criteria}))


@pytest.fixture
def finding_judge():
    return FindingJudge


def _source(condition: Callable[[], object]) -> str:
    with suppress(OSError, TypeError):
        return inspect.getsource(condition).strip()
    return repr(condition)


class Desk:
    """What a test sees of the app, and how it waits."""

    def __init__(self, app, pilot, bench, judge):
        self.app, self.pilot, self.bench, self.judge = app, pilot, bench, judge

    async def until(self, condition: Callable[[], object], what: str = "") -> None:
        for _ in range(PUMPS):
            # A row that is looked at may not be there yet.
            with suppress(IndexError):
                if condition():
                    return
            await self.pilot.pause()
        raise AssertionError(f"never: {what or _source(condition)}\n{self.text}")

    async def sees(self, words: str) -> None:
        await self.until(lambda: words in self.text, f"{words!r} on the screen")
        # What was painted with it may take its room only now: a line that grows to a second one.
        await self.pilot.pause()

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)

    async def click(self, selector: str) -> None:
        """Click in the middle of a widget, once nothing lies over it or moves it away."""
        app = self.app

        def is_there() -> bool:
            found = [each for each in app.screen.query(selector) if each.is_on_screen]
            return any(app.get_widget_at(*each.region.center)[0] is each for each in found)

        await self.until(is_there, f"{selector} where it can be clicked")
        assert await self.pilot.click(selector)

    @property
    def shelf(self):
        return self.app.shelf

    def row(self, words: str) -> str:
        """The row of the library that has some words in it."""
        return next((row for row in self.rows("sessions") if words in row), "")

    @property
    def lines(self) -> list[str]:
        """The screen as it is painted, line by line."""
        return [
            "".join(segment.text for segment in strip)
            for strip in self.app.screen._compositor.render_strips()
        ]

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    def rows(self, name: str) -> list[str]:
        """The rows of a list that are in sight."""
        lines = self.app.screen_stack[0].query_one(f"#{name}")
        count = min(lines.row_count, lines.size.height)
        return [lines.render_line(y).text.rstrip() for y in range(count)]

    def title(self, name: str) -> str:
        return self.app.screen_stack[0].query_one(f"#{name}").text

    def highlighted(self) -> str:
        """The text that stands out as a quote in the detail view."""
        detail = self.app.screen_stack[0].query_one("#detail")
        look = detail.part_style("look--quote")
        return "".join(
            segment.text
            for y in range(min(detail.row_count, detail.size.height))
            for segment in detail.render_line(y)
            if segment.style and segment.style.bgcolor == look.bgcolor
        )

    async def picture(self) -> str:
        """The screen as SVG, once it has come to rest: without messages that go by themselves."""
        app, before = self.app, None
        for _ in range(PUMPS):
            app.clear_notifications()
            for field in app.screen.query(Input):
                field.cursor_blink = False
            for screen in app.screen_stack:
                if isinstance(screen, Library | Workbench):
                    # What is known by now is painted now: two looks may fall between two frames.
                    screen.tick()
            await self.pilot.pause()
            now = app.screen._compositor.render_strips()
            if now == before and not app.screen.query("Toast"):
                return app.export_screenshot()
            before = now
        raise AssertionError(f"the screen never came to rest\n{self.text}")


@pytest.fixture
def looks_as_before(snap_compare, monkeypatch):
    """Whether the screen looks like its pictures in `__snapshots__`, dark, then light (`.1`)."""

    async def compare(desk: Desk, *, light: bool = True) -> bool:
        await desk.until(lambda: not desk.bench.secrets.counting, "its secrets counted")
        svg = await desk.picture()
        # The plugin would run the app itself; here it runs already, in a state of its own.
        monkeypatch.setattr("textual._doc.take_svg_screenshot", lambda **_: svg)
        same = snap_compare(desk.app)
        if not (same and light):
            return same
        desk.app.theme = "textual-light"
        svg = await desk.picture()
        return snap_compare(desk.app)

    return compare


class Clock:
    """Stands in for the module `time`: the time of day and the seconds go on when told to."""

    def __init__(self) -> None:
        self.now = 1_790_000_000.0

    def time(self) -> float:
        return self.now

    def time_ns(self) -> int:
        return int(self.now * 1e9)

    def monotonic(self) -> float:
        return self.now

    def __getattr__(self, name: str) -> object:
        """What measures work, and what only writes a time, is the module's own."""
        return getattr(time, name)

    def localtime(self, seconds: float | None = None) -> time.struct_time:
        return time.localtime(self.now if seconds is None else seconds)

    def forward(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def clock(monkeypatch):
    """A clock for every module of ours that reads one."""
    frozen = Clock()
    for name, module in list(sys.modules.items()):
        if name.startswith("longjudge") and getattr(module, "time", None) is time:
            monkeypatch.setattr(module, "time", frozen)
    return frozen


@pytest.fixture
def write_session(tmp_path: Path):
    """Write a session of `events` commands; those in `flagged` force-push."""

    def write(name: str, events: int, flagged: tuple[int, ...] = (), padding: int = 300) -> Path:
        path = tmp_path / name
        rows = []
        for number in range(events):
            command = f"git push --force origin topic-{number}" if number in flagged else "ls"
            rows.append(
                {
                    "kind": "tool_call",
                    "tool": "Bash",
                    "input": {"command": f"{command}", "why": f"{number} " + "x" * padding},
                }
            )
        path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
        return path

    return write


@pytest.fixture
def write_threads(tmp_path: Path):
    """Write a session of several agents' commands, so many of each; `main` starts the others."""

    def write(name: str, **agents: int) -> Path:
        path = tmp_path / name
        rows = []
        for agent, count in agents.items():
            for number in range(count):
                words = {"command": f"ls {agent}-{number}", "why": f"{number} " + "x" * 300}
                row = {"kind": "tool_call", "tool": "Bash", "input": words}
                rows.append(row if agent == "main" else row | {"agent": agent})
        path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
        return path

    return write


@pytest.fixture
def open_desk(tmp_path: Path):
    """Open the app on paths; everything is closed again at the end."""

    @asynccontextmanager
    async def opened(
        *paths,
        gated=False,
        judge=None,
        store=None,
        size=(120, 40),
        config=None,
        theme="textual-dark",
        tour=False,
        layout=None,
        **settings,
    ):
        judge = judge or (GatedJudge() if gated else OfflineJudge())
        opened_store = await Store.open(store or tmp_path / "store.sqlite")
        kept = await opened_store.all_keys()

        def find() -> Found:
            return Found(find_sessions(paths), "named by the test")

        found = find()
        bench = Bench(
            list(found.files),
            judge=judge,
            rubric=load_rubric("chunks"),
            store=opened_store,
            settings=Settings(**{"chunk_chars": 1000} | settings),
            kept=kept,
            config=config,
        )
        shelf = Shelf(found, find=find, bench=bench, store=opened_store, kept=kept)
        bench.refusal = shelf.refusal
        at_bench = len(found.files) == 1
        greeting = Tour(wanted=tour)
        app = LongjudgeApp(
            bench, shelf, at_bench=at_bench, theme=theme, tour=greeting, layout=layout
        )
        if at_bench:
            bench.open_first()
        shelf.open_past()
        try:
            async with app.run_test(size=size, notifications=True) as pilot:
                desk = Desk(app, pilot, bench, judge)
                yield desk
        finally:
            await shelf.aclose()
            await bench.aclose()
            await judge.aclose()
            await opened_store.aclose()

    return opened
