"""Progress of a judgment on stderr: one line that is redrawn, or a line now and then."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import time
from collections import Counter
from math import ceil
from typing import TYPE_CHECKING

from longjudge.report.words import plural
from longjudge.states import ChunkState, GapReason
from longjudge.streams import progress_is_live, tell, write_progress
from longjudge.text import clean_line
from longjudge.updates import (
    AskedBy,
    BatchSaid,
    ChunkUpdate,
    JudgmentEnded,
    Paused,
    PausedByHand,
    Stopping,
    StoreFailed,
    StoreTakes,
    WentOn,
)

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from longjudge.updates import Update

REDRAW_SECONDS = 0.1
LINE_SECONDS = 10.0
TICK_SECONDS = 0.5
MAX_PROBLEMS = 10


class Progress:
    """A listener for one judgment. On a terminal the line is redrawn; elsewhere lines are rare."""

    def __init__(self, chunks: int) -> None:
        self._states: dict[int, ChunkState] = {}
        self._chunks = chunks
        self._live = progress_is_live()
        self._width = 0
        self._askers: dict[int, str] = {}
        self._problems: set[str] = set()
        self._told = 0
        self._started = time.monotonic()
        self._last = self._started
        self._paused_until = 0.0
        self._told_until = float("-inf")
        self._why_paused = ""

    def __call__(self, update: Update) -> None:
        """Take one update."""
        match update:
            case ChunkUpdate():
                self._states[update.part] = update.state
                self._retried(update)
                if update.state is ChunkState.GAP and update.note:
                    self._gap(update)
                self._draw()
            case Paused():
                self._pause(update)
            case AskedBy():
                self._askers[update.part] = clean_line(update.who, 60)
            case PausedByHand() | WentOn() | BatchSaid():
                # Nobody pauses a command, its line is about all parts together, and what goes into
                # batches has lines of its own.
                pass
            case StoreFailed():
                self._line(f"longjudge: nothing is kept while the store fails: {update.message}")
            case StoreTakes():
                self._line("longjudge: the store can be written again and has every verdict")
            case Stopping(cause="budget"):
                # The command says so itself, once for all sessions.
                pass
            case Stopping():
                self._paused_until = 0.0
                self._line(f"stopping ({update.cause}): answers on their way may still arrive")
            case JudgmentEnded():
                self._clear()

    @contextlib.asynccontextmanager
    async def counting_down(self) -> AsyncGenerator[None]:
        """Redraw the line while time passes in which nothing happens."""
        ticking = asyncio.create_task(self._tick()) if self._live else None
        try:
            yield
        finally:
            if ticking is not None:
                ticking.cancel()
                await asyncio.wait([ticking])
                self._clear()

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(TICK_SECONDS)
            self._draw()

    def _retried(self, update: ChunkUpdate) -> None:
        """Say what is asked again later; of a rate limit everybody's wait is said instead."""
        limited = update.reason is GapReason.RATE_LIMITED
        if update.state is not ChunkState.RETRYING or update.wait < 1 or limited:
            return
        self._told += 1
        if self._told <= MAX_PROBLEMS:
            self._line(f"part {update.part}: asked again in {update.wait:.0f} s: {update.note}")
        elif self._told == MAX_PROBLEMS + 1:
            self._line("more parts are asked again; the others are not listed")

    def _pause(self, update: Paused) -> None:
        self._paused_until = time.monotonic() + update.wait
        self._why_paused = update.note
        if self._live:
            self._last = 0.0
            self._draw()
        elif update.wait >= 1 and self._paused_until - self._told_until >= LINE_SECONDS:
            # One that follows soon, or is a little longer, says nothing new.
            self._told_until = self._paused_until
            self._line(f"waiting {ceil(update.wait)} s: {update.note}")

    def _gap(self, update: ChunkUpdate) -> None:
        """Say why a chunk has no verdict, each reason once: it is often the same for many."""
        if update.note not in self._problems and len(self._problems) < MAX_PROBLEMS:
            self._problems.add(update.note)
            reason = update.reason.value if update.reason else "gap"
            self._line(f"part {update.part}: {reason}: {update.note}")

    def _draw(self) -> None:
        now = time.monotonic()
        if now - self._last < (REDRAW_SECONDS if self._live else LINE_SECONDS):
            return
        self._last = now
        text = self._words(now)
        if self._live:
            text = clean_line(text, max(20, shutil.get_terminal_size().columns - 1))
            write_progress("\r" + text.ljust(self._width))
            self._width = len(text)
        else:
            self._line(text)

    def _words(self, now: float) -> str:
        states = list(self._states.values())
        flagged, gaps = states.count(ChunkState.FLAGGED), states.count(ChunkState.GAP)
        judged = flagged + states.count(ChunkState.CLEAN)
        words = (
            f"{judged} of {self._chunks} parts judged, {flagged} flagged, {plural(gaps, 'gap')},"
            f" {states.count(ChunkState.RUNNING)} in flight, {now - self._started:.0f} s"
            f"{self._waits()}"
        )
        if self._live and (wait := ceil(self._paused_until - now)) > 0:
            words = f"{words} · waiting {wait} s: {self._why_paused}"
        return words

    def _waits(self) -> str:
        """How many parts wait for what somebody else asks, and for whom most do."""
        waiting = [part for part, state in self._states.items() if state is ChunkState.WAITING]
        if not waiting:
            return ""
        askers = Counter(filter(None, (self._askers.get(part) for part in waiting)))
        who = askers.most_common(1)[0][0] if askers else "another judgment"
        return f" · {len(waiting)} waiting for {who}"

    def _clear(self) -> None:
        if self._width:
            write_progress("\r" + " " * self._width + "\r")
            self._width = 0

    def _line(self, text: str) -> None:
        self._clear()
        tell(text)
