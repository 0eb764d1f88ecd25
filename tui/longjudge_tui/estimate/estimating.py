"""Estimates sessions in the background: all of them one after the other, or a few to extrapolate.

What is held does not grow with what is estimated, beside eight bytes or so for each chunk: the key
of a question that is asked once. It can be stopped at any time, and goes on where it was.
"""

from __future__ import annotations

import asyncio
import threading
from enum import StrEnum
from typing import TYPE_CHECKING

from longjudge.errors import LoadCancelledError, SessionError, StoreError
from longjudge.forecast import (
    LEAST_DRAWN,
    DrawnFile,
    Forecaster,
    Longest,
    LongSession,
    Tally,
    draw,
    extrapolated,
)
from longjudge.redaction import redacted_text
from longjudge.text import clean_line
from longjudge_tui.estimate.reading import Reading, Unread
from longjudge_tui.estimate.subject import Units

if TYPE_CHECKING:
    from longjudge.forecast import Extrapolated, Needs, Sample
    from longjudge.sessions import Session, SessionFile
    from longjudge.store import Store
    from longjudge_tui.estimate.subject import About, Subject

MOST_DRAWN = 40
"""Drawn of 200 files and more; of fewer, each fifth is: then waiting for all is no long wait."""

_SHARE = 5
CLOSE_SECONDS = 2.0


class Doing(StrEnum):
    """What goes on."""

    NOTHING = "nothing"
    COMPARING = "comparing"
    ALL = "all"
    SAMPLE = "sample"


def drawn_of(count: int) -> int:
    """How many of so many files a sample has."""
    return min(count, max(LEAST_DRAWN, min(MOST_DRAWN, count // _SHARE)))


class Estimating:
    """One estimate of a subject; its task is ended by `aclose`.

    `tally` is what was estimated so far, None before anything was; `done` of `total` listed
    sessions are in it. `extrapolated` is what a sample tells of all, None until it is whole;
    `drawn` are its files. `fault` says why nothing goes on. `kept` counts the verdicts that the
    store has when it begins.
    """

    def __init__(self, subject: Subject, about: About, store: Store, kept: int) -> None:
        self.subject = subject
        self.about = about
        self.kept_before = kept
        self.doing = Doing.NOTHING
        self.total = len(subject.files)
        self.done = 0
        self.tally: Tally | None = None
        self.unread = Unread()
        self.sampled: list[DrawnFile] = []
        self.to_sample = 0
        self.sample: Sample | None = None
        self.extrapolated: Extrapolated | None = None
        self.fault = ""
        self._store = store
        self._units: Units | None = None
        self._reading: Reading | None = None
        self._forecaster: Forecaster | None = None
        self._place = 0
        self._open: list[Session] = []
        self._stopped = threading.Event()
        self._longest_drawn = Longest()
        self._next: Doing | None = None
        self._task: asyncio.Task[None] | None = None

    @property
    def complete(self) -> bool:
        """Whether everything is estimated."""
        units = self._units
        return units is not None and self._place >= len(units.files) and not self._open

    @property
    def compared(self) -> int:
        """How many files it was looked at how they begin."""
        return self._reading.compared if self._reading is not None else 0

    @property
    def working(self) -> bool:
        """Whether anything goes on."""
        return self.doing is not Doing.NOTHING

    @property
    def small(self) -> bool:
        """Whether there are too few files to extrapolate from some of them."""
        return self._units is not None and drawn_of(len(self._units.files)) == len(
            self._units.files
        )

    @property
    def drawn(self) -> list[SessionFile]:
        """The files of the sample, the largest first."""
        if self.sample is None or self._units is None:
            return []
        return [self._units.files[place] for place in self.sample.drawn]

    @property
    def drawn_needs(self) -> Needs | None:
        """What the drawn files alone need; None before the sample is whole."""
        if self.extrapolated is None or self._forecaster is None:
            return None
        return sum((each.needs for each in self.sampled), start=self._forecaster.nothing)

    def listed(self, file: SessionFile) -> list[SessionFile]:
        """The sessions of the subject that a file of the sample holds."""
        if file.session is None:
            return [file]
        return [each for each in self.subject.files if each.path == file.path]

    def estimate_all(self) -> None:
        """Estimate what is left."""
        if self.doing not in (Doing.ALL, Doing.COMPARING) and not self.complete:
            self._begin(Doing.ALL)

    def estimate_sample(self) -> None:
        """Estimate a few, and extrapolate; what is estimated now waits."""
        if self.doing is not Doing.SAMPLE and self.extrapolated is None:
            self._begin(Doing.SAMPLE)

    def stop(self) -> bool:
        """Stop; what was estimated stays. False where nothing went on."""
        worked = self.working or self._next is not None
        self._next = None
        self._stopped.set()
        return worked

    def raise_failure(self) -> None:
        """Raise what the task died of: a fault of the program."""
        if self._task is not None and self._task.done() and not self._task.cancelled():
            self._task.result()

    async def aclose(self) -> None:
        """Stop, for a bounded time, and let go of what is open."""
        self.stop()
        if self._task is not None and not self._task.done():
            _, late = await asyncio.wait({self._task}, timeout=CLOSE_SECONDS)
            for task in late:
                task.cancel()
            if late:
                await asyncio.wait(late, timeout=CLOSE_SECONDS)
        for session in self._open:
            session.close()
        self._open.clear()

    def _begin(self, what: Doing) -> None:
        self.stop()
        self._next, self.fault = what, ""
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._work())

    async def _work(self) -> None:
        while self._next is not None:
            self.doing, self._next = self._next, None
            # Whatever was stopped has ended by now.
            self._stopped.clear()
            try:
                await self._do(self.doing)
            except LoadCancelledError:
                continue
            except StoreError as error:
                self.fault = clean_line(str(error), 300)
            finally:
                self.doing = Doing.NOTHING

    async def _do(self, what: Doing) -> None:
        if self._units is None or self._reading is None:
            self._units = await asyncio.to_thread(Units.of, self.subject.files)
            self._reading = Reading(self._units, self._stopped)
        if self._forecaster is None:
            about = self.about
            self._forecaster = await Forecaster.of(
                about.settings, about.rubric, about.judge, self._store
            )
        if what is Doing.SAMPLE:
            await self._do_sample(self._units, self._reading, self._forecaster)
        else:
            await self._do_all(self._units, self._reading, self._forecaster)

    async def _do_all(self, units: Units, reading: Reading, forecaster: Forecaster) -> None:
        self.doing = Doing.COMPARING
        await reading.compare()
        self.doing = Doing.ALL
        if self.tally is None:
            self.tally = Tally(forecaster.nothing)
        while not self._stopped.is_set() and not self.complete:
            if self._open:
                file = units.files[self._place - 1]
                await self._estimate(self._open[0], file, self.tally, forecaster)
            else:
                await self._open_next(units.files[self._place], reading)
            if not self._open:
                self.done += units.listed(units.files[self._place - 1])

    async def _open_next(self, file: SessionFile, reading: Reading) -> None:
        try:
            self._open = await reading.open(file)
        except LoadCancelledError:
            raise
        except SessionError as error:
            self.unread.note(file, error)
        self._place += 1

    async def _estimate(
        self, session: Session, file: SessionFile, tally: Tally, forecaster: Forecaster
    ) -> None:
        try:
            forecast = await forecaster.session(session)
        except SessionError as error:
            self.unread.note(file, error)
        else:
            tally.add(self._name(session), session.id, forecast)
        # Only now: one that was being estimated as the task was cancelled is closed by `aclose`.
        self._open.remove(session)
        session.close()

    async def _do_sample(self, units: Units, reading: Reading, forecaster: Forecaster) -> None:
        if self.sample is None:
            sizes = [units.bytes(file) for file in units.files]
            self.sample = await asyncio.to_thread(draw, sizes, drawn_of(len(sizes)))
            self.to_sample = len(self.sample.drawn)
        for file in self.drawn[len(self.sampled) :]:
            self.sampled.append(await self._sample_one(file, reading, forecaster.alone()))
        if not any(each.sessions for each in self.sampled):
            self.fault = f"none of the {self.to_sample} files drawn holds a session: a reads all"
            return
        longest = self._longest_drawn.rows()
        self.extrapolated = await asyncio.to_thread(
            extrapolated, self.sample, self.sampled, longest
        )

    async def _sample_one(
        self, file: SessionFile, reading: Reading, alone: Forecaster
    ) -> DrawnFile:
        """Estimate the sessions of a drawn file as if there were no other."""
        drawn, rows = DrawnFile(alone.nothing, alone.nothing), list[LongSession]()
        try:
            sessions = await reading.open(file, alone=True)
        except LoadCancelledError:
            raise
        except SessionError:
            return drawn
        try:
            for session in sessions:
                if self._stopped.is_set():
                    raise LoadCancelledError("it is wanted no more")
                try:
                    forecast = await alone.session(session, most=True)
                except SessionError:
                    continue
                drawn.add(forecast)
                rows.append(LongSession.of(self._name(session), session.id, forecast.needs))
        finally:
            for session in sessions:
                session.close()
        for row in rows:
            self._longest_drawn.add(row)
        return drawn

    def _name(self, session: Session) -> str:
        """What a session goes by: its file, and its id where that holds several."""
        which = f" · {session.id}" if session.siblings > 1 else ""
        name = f"{session.name}{which}"
        return redacted_text(name) if self.about.settings.redact else name
