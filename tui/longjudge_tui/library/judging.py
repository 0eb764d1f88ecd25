"""The queue of sessions to judge, one after the other; it holds one session at a time."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import dataclass
from enum import StrEnum
from math import ceil
from typing import TYPE_CHECKING

from longjudge.errors import (
    CopiedSessionError,
    CredentialError,
    LoadCancelledError,
    LongjudgeError,
    SessionError,
    SeveralSessionsError,
)
from longjudge.text import clean_line
from longjudge_tui.bench.live import in_the_library
from longjudge_tui.bench.run import Run
from longjudge_tui.bench.run_words import all_kept_words, hand_words
from longjudge_tui.library.last import Last
from longjudge_tui.library.pricing import Price
from longjudge_tui.library.together import Together
from longjudge_tui.wording import fault

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from longjudge.sessions import Session, SessionFile
    from longjudge.store import Store
    from longjudge_tui.bench.event_log import EventLog
    from longjudge_tui.bench.outlook import Outlook
    from longjudge_tui.library.terms import Terms
    from longjudge_tui.library.together import Loaded

CLOSE_SECONDS = 4.0
CUT_SECONDS = 1.0


class Stage(StrEnum):
    """How far a session of the queue is."""

    WAITING = "waiting"
    READING = "reading"
    JUDGING = "judging"
    PAUSED = "paused"
    STOPPING = "stopping"
    CANCELLED = "cancelled"
    NOT_ASKED = "not asked"
    FAILED = "failed"
    COPIED = "all of it is in another file"


IN_FLIGHT = frozenset({Stage.WAITING, Stage.READING, Stage.JUDGING, Stage.PAUSED, Stage.STOPPING})


@dataclass(frozen=True, slots=True)
class State:
    """A session's state: how much of it is done where that can be counted, or what went wrong.

    `wait` is how many seconds the provider lets nobody ask, `note` what it said; else what all that
    is open waits for; of one that is stopping, what it still has in hand.
    """

    stage: Stage
    done: int = 0
    total: int = 0
    fault: str = ""
    wait: int = 0
    note: str = ""

    @classmethod
    def of(cls, run: Run) -> State:
        """That of a judgment, as it is now."""
        figures = run.figures()
        done, chunks = figures.judged + figures.gaps, figures.chunks
        if run.stopping:
            return cls(Stage.STOPPING, done, chunks, note=hand_words(run.in_hand))
        if run.paused:
            return cls(Stage.PAUSED, done, chunks)
        wait, note = run.ordered_wait or (0.0, "")
        asked, waiting = run.in_hands
        if waiting and not asked and not note:
            note = f"{waiting:,} waiting for another judgment"
        # Whole seconds, so that a row is drawn again once in each of them.
        return cls(Stage.JUDGING, done, chunks, wait=ceil(wait), note=note)


@dataclass(frozen=True, slots=True)
class Ended:
    """A judgment that ended: its result, and what another run would ask.

    It `leans` where files that were judged `together` with this one hold some of its events. One
    that was `told` already is not recorded again; nothing was `asked` where all chunks were kept.
    What was `paid` is in US dollars, None where it is unknown.
    """

    file: SessionFile
    terms: Terms
    last: Last
    price: Price
    together: Together
    leans: bool
    told: bool = False
    asked: bool = True
    paid: float | None = 0.0


@dataclass(frozen=True, slots=True)
class _Order:
    """How a session is to be judged, and together with which others."""

    terms: Terms
    together: Together


class Queue:
    """Judges what is added, and tells `ended` each result.

    `sessions_of` lists the sessions of a file with many, which are judged in its place.

    `states` has the sessions that wait, the one that is judged, and those that came to nothing;
    `notices` takes what is said once. A judge that answers nobody ends the whole queue.
    """

    def __init__(
        self,
        store: Store,
        kept: set[str],
        notices: list[str],
        ended: Callable[[Ended], None],
        sessions_of: Callable[[SessionFile], Awaitable[list[SessionFile]]],
        log: EventLog | None = None,
    ) -> None:
        self.states: dict[SessionFile, State] = {}
        self.current: SessionFile | None = None
        self.begun = 0
        self.added = 0
        self._store = store
        self._kept = kept
        self._notices = notices
        self._ended = ended
        self._sessions_of = sessions_of
        self._log = log
        self._waiting: dict[SessionFile, _Order] = {}
        self._stopped = threading.Event()
        self._run: Run | None = None
        self._task: asyncio.Task[None] | None = None
        self._credential_said = False
        self._all_kept: list[int] = []
        self.paused = False

    @property
    def busy(self) -> bool:
        """Whether a session is judged or waits."""
        return self.current is not None or bool(self._waiting)

    @property
    def store_error(self) -> str | None:
        """Why nothing is kept."""
        return (self._run and self._run.store_error) or self._store.why_not_kept

    def state(self, file: SessionFile) -> State | None:
        """A session's state now."""
        if file != self.current or self._run is None:
            return self.states.get(file)
        return State.of(self._run)

    def add(self, files: Iterable[SessionFile], terms: Terms) -> None:
        """Judge sessions together, after those that wait.

        What is in the queue already stays where it is.
        """
        if not self.busy:
            self.paused = False
            self.begun = self.added = 0
            self._credential_said = False
        new = [file for file in files if file != self.current and file not in self._waiting]
        order = _Order(terms, Together(new))
        for file in new:
            if file not in self._waiting:
                self._waiting[file] = order
                self.states[file] = State(Stage.WAITING)
                self.added += 1
        if self._waiting and (self._task is None or self._task.done()):
            self._task = asyncio.create_task(self._work())

    @property
    def resting(self) -> bool:
        """Whether it pauses, and nothing is on its way any more."""
        return self._run is not None and self._run.resting

    def pause(self) -> None:
        """Ask nothing until `go_on`, about whichever session it is its turn."""
        self.paused = True
        if self._run is not None:
            self._run.pause()

    def go_on(self) -> None:
        """Ask again."""
        self.paused = False
        if self._run is not None:
            self._run.go_on()

    def cancel(self, file: SessionFile) -> bool:
        """Judge one session no more; False where it is not in the queue."""
        order = self._waiting.pop(file, None)
        if order is not None:
            order.together.leave_out(file)
            self.states[file] = State(Stage.CANCELLED)
            return True
        if file != self.current:
            return False
        self._stopped.set()
        if self._run is not None:
            self._run.cancel()
        return True

    def cancel_all(self) -> None:
        """Empty the queue, and end what is judged."""
        for file in list(self._waiting):
            self.cancel(file)
        if self.current is not None:
            self.cancel(self.current)

    def raise_failure(self) -> None:
        """Raise what the task died of: a fault of the program, never swallowed."""
        if self._task is not None and self._task.done() and not self._task.cancelled():
            self._task.result()

    async def aclose(self) -> None:
        """End everything in flight, for a bounded time."""
        self.cancel_all()
        if self._task is None:
            return
        _, late = await asyncio.wait({self._task}, timeout=CLOSE_SECONDS)
        for task in late:
            task.cancel()
        if late:
            await asyncio.wait(late, timeout=CUT_SECONDS)

    async def _work(self) -> None:
        while self._waiting:
            file, order = next(iter(self._waiting.items()))
            del self._waiting[file]
            self.current, self._stopped = file, threading.Event()
            self.begun += 1
            try:
                await self._judge_file(file, order)
            finally:
                self.current = self._run = None
                if all(each.together is not order.together for each in self._waiting.values()):
                    order.together.close()
        self._say_all_kept()

    def _say_all_kept(self) -> None:
        """Say once of all sessions about which there was nothing to ask."""
        if chunks := self._all_kept:
            self._notices.append(all_kept_words(sum(chunks), len(chunks)))
            self._all_kept = []

    async def _judge_file(self, file: SessionFile, order: _Order) -> None:
        self.states[file] = State(Stage.READING, 0, file.bytes)
        stopped = self._stopped

        def report(done: int, total: int) -> bool:
            # Called in the loading thread; one assignment of a fresh object is safe to read.
            self.states[file] = State(Stage.READING, done, total)
            return not stopped.is_set()

        session: Session | None = None
        try:
            loaded = await asyncio.to_thread(order.together.load, file, report)
            session = loaded.session
            outlook = await asyncio.to_thread(order.terms.outlook, session, self._kept)
            if stopped.is_set():
                self.states[file] = State(Stage.CANCELLED)
            else:
                await self._judge(file, loaded, outlook, order)
        except LoadCancelledError:
            self.states[file] = State(Stage.CANCELLED)
        except SeveralSessionsError:
            await self._expand(file, order)
        except CopiedSessionError:
            order.together.leave_out(file)
            self.states[file] = State(Stage.COPIED)
        except CredentialError as error:
            # What the store answers whole needs no credential, so the others go on.
            self._failed(file, error, say=not self._credential_said)
            self._credential_said = True
        except SessionError as error:
            self._failed(file, error, say=file.named)
        except LongjudgeError as error:
            self._failed(file, error, say=True)
        finally:
            if session is not None:
                session.close()

    async def _expand(self, file: SessionFile, order: _Order) -> None:
        """Each session of a file with many is judged in its place."""
        try:
            parts = await self._sessions_of(file)
        except SessionError as error:
            self._failed(file, error, say=file.named)
            return
        self.states.pop(file, None)
        if self._stopped.is_set():
            return
        order.together.expand(file, parts)
        self._waiting = dict.fromkeys(parts, order) | self._waiting
        self.states |= dict.fromkeys(parts, State(Stage.WAITING))
        self.added += len(parts) - 1
        self.begun -= 1

    async def _judge(
        self, file: SessionFile, loaded: Loaded, outlook: Outlook, order: _Order
    ) -> None:
        session, terms = loaded.session, order.terms
        run = self._run = Run(
            session,
            outlook,
            rubric=terms.rubric,
            judge=terms.judge,
            store=self._store,
            settings=terms.settings,
            kept=self._kept,
            fault=terms.fault,
            log=self._log,
        )
        if self.paused:
            run.pause()
        await run.judge()
        if run.result is None:
            return
        self.states.pop(file, None)
        totals = outlook.again(self._kept).totals
        price = Price.of(totals, applies=terms.applies(session))
        last = Last.of_result(run.result, map(run.mark_key, run.result.findings))
        asked = bool(run.result.calls) or not last.complete
        if not asked:
            self._all_kept.append(last.chunks)
        leans, paid = loaded.leans, run.result.cost_usd
        self._ended(Ended(file, terms, last, price, order.together, leans, run.told, asked, paid))
        if run.fatal_error is not None:
            self._stop_for(run.fatal_error)

    def _failed(self, file: SessionFile, error: LongjudgeError, *, say: bool) -> None:
        said = in_the_library(error)
        words = clean_line(fault(said, clean_line(str(file.path))), 400)
        self.states[file] = State(Stage.FAILED, fault=words)
        if say:
            self._notices.append(clean_line(said, 1000))

    def _stop_for(self, error: str) -> None:
        """The endpoint answers nobody: the sessions that wait say so."""
        words = clean_line(error, 400)
        rest = len(self._waiting)
        for file in self._waiting:
            self.states[file] = State(Stage.NOT_ASKED, fault=words)
        self._waiting.clear()
        more = f"; {rest} waiting session(s) were not asked" if rest else ""
        self._notices.append(f"{words}{more}")
