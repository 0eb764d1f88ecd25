"""A workbench on sessions and a store of its own, with the offline judge held by the test."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from longjudge.judges.offline import OfflineJudge
from longjudge.rubric import load_rubric
from longjudge.sessions import find_sessions
from longjudge.settings import Settings
from longjudge.store import Store
from longjudge_tui.app import LongjudgeApp
from longjudge_tui.bench import Bench

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from longjudge.judges.base import Answer, Question

PUMPS = 400


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


class Desk:
    """What a test sees of the app, and how it waits."""

    def __init__(self, app, pilot, bench, judge):
        self.app, self.pilot, self.bench, self.judge = app, pilot, bench, judge

    async def until(self, condition: Callable[[], object], what: str = "") -> None:
        for _ in range(PUMPS):
            if condition():
                return
            await self.pilot.pause()
        raise AssertionError(f"never: {what or condition}\n{self.text}")

    async def sees(self, words: str) -> None:
        await self.until(lambda: words in self.text, f"{words!r} on the screen")

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)

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
        look = detail.get_component_rich_style("look--quote")
        return "".join(
            segment.text
            for y in range(min(detail.row_count, detail.size.height))
            for segment in detail.render_line(y)
            if segment.style and segment.style.bgcolor == look.bgcolor
        )


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
def open_desk(tmp_path: Path):
    """Open the app on paths; everything is closed again at the end."""

    @asynccontextmanager
    async def opened(*paths, gated=False, judge=None, store=None, size=(120, 40), **settings):
        judge = judge or (GatedJudge() if gated else OfflineJudge())
        opened_store = await Store.open(store or tmp_path / "store.sqlite")
        bench = Bench(
            find_sessions(paths),
            judge=judge,
            rubric=load_rubric("chunks"),
            store=opened_store,
            settings=Settings(**{"chunk_chars": 1000} | settings),
            kept=await opened_store.all_keys(),
        )
        app = LongjudgeApp(bench)
        bench.open_first()
        try:
            async with app.run_test(size=size, notifications=True) as pilot:
                desk = Desk(app, pilot, bench, judge)
                yield desk
        finally:
            await bench.aclose()
            await judge.aclose()
            await opened_store.aclose()

    return opened
