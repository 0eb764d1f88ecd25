"""Reads session files for the bench, one at a time; the one that was wanted last is used."""

from __future__ import annotations

import asyncio
import threading
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from longjudge.api import open_session
from longjudge.errors import (
    LongjudgeError,
    NotASessionError,
    SessionError,
    SeveralSessionsError,
    UsageError,
)
from longjudge.sessions import first_events
from longjudge_tui.bench.following import file_facts

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from longjudge.estimate import Estimator
    from longjudge.sessions import Session, SessionFile
    from longjudge.sessions.growing import Grown
    from longjudge_tui.bench.following import FileFacts
    from longjudge_tui.bench.tuning import Foreseen


REST = 3.0
"""How many times as long as it took to read a file nothing is read by itself after that."""


@dataclass(slots=True)
class Loading:
    """A session on its way in; the thread that reads it writes here how far it is."""

    file: SessionFile
    done: int
    total: int
    begun: float = field(default_factory=time.monotonic)

    @property
    def percent(self) -> int:
        """How much of the file is read; not 100 before all of it is."""
        return min(99, 100 * self.done // self.total) if self.total else 0


@dataclass(frozen=True, slots=True)
class Measured:
    """What a session was measured to be, and a first plan of it."""

    estimator: Estimator
    foreseen: Foreseen


@dataclass(frozen=True, slots=True)
class Opened:
    """A session that was read, what it was measured to be, and what its file was then."""

    session: Session
    measured: Measured
    facts: FileFacts | None


class Opening:
    """The files, which of them is being read, and what to do about one that cannot be.

    `look` takes the first events of a long session before all of it is read, also of one that is
    open and `is_large`, when it is read again. `measure` is called in a thread, `use` takes what
    was read, `grown` is told that there is more of the session that is open, `say` a problem that
    stays on the screen, `notice` one that is said once; `in_flight` tells, and says, that a
    judgment is in the way, which one that was let go of for another file is not: `let_go` awaits
    its end. `file` is the one that was read last, `fatal` says why the app has to close.
    `rests_until` is when a file may be read by itself again: else one that takes long to read, and
    grows all the time, would be read all the time, and could never be judged.
    """

    def __init__(
        self,
        files: list[SessionFile],
        *,
        look: Callable[[Session], None],
        is_large: Callable[[], bool],
        measure: Callable[[Session], Measured],
        use: Callable[[Opened], None],
        grown: Callable[[FileFacts], None],
        say: Callable[[str], None],
        notice: Callable[[str], None],
        in_flight: Callable[[bool], bool],
        let_go: Callable[[], Awaitable[None]],
    ) -> None:
        self.files = files
        self.file: SessionFile | None = None
        self.loading: Loading | None = None
        self.fatal: LongjudgeError | None = None
        self.rests_until = 0.0
        self.task: asyncio.Task[None] | None = None
        self._look = look
        self._is_large = is_large
        self._measure = measure
        self._use = use
        self._grown = grown
        self._say = say
        self._notice = notice
        self._in_flight = in_flight
        self._let_go = let_go

    def show(self, file: SessionFile) -> bool:
        """Load a file that is not open already; false where a judgment is in flight."""
        wanted = self.loading.file if self.loading else self.file
        if wanted == file:
            return True
        if self._in_flight(True):
            return False
        if file not in self.files:
            self.files.append(file)
        self.load(file)
        return True

    def step(self, direction: int) -> None:
        """Load the next (1) or previous (-1) file; says so where that cannot be."""
        here = self.loading.file if self.loading else self.file
        alone = len(self.files) < 2 or here not in self.files
        if self._in_flight(not alone):
            return
        if alone or here is None:
            self._notice("there is no other session; ctrl+r reads this one again")
            return
        self.load(self.files[(self.files.index(here) + direction) % len(self.files)], direction)

    def reload(self) -> None:
        """Read the session again, as its file is now."""
        if self.loading is None and self.file is not None and not self._in_flight(False):
            self.load(self.file)

    def load(self, file: SessionFile, direction: int = 0) -> None:
        """Load a file; where that fails, the one in a direction (0: none, what stands stays)."""
        before = self.task
        if before is not None:
            before.cancel()
        self.loading = loading = Loading(file, 0, file.bytes)
        self.task = asyncio.create_task(self._load_after(before, loading, direction))

    def read_on(self, session: Session) -> None:
        """Read what the file has grown by; all of it again where only that can be right."""
        file = self.file
        if self.loading is not None or file is None or self._in_flight(False):
            return
        self.loading = loading = Loading(file, 0, file.bytes)
        self.task = asyncio.create_task(self._read_on(session, loading))

    async def _read_on(self, session: Session, loading: Loading) -> None:
        grown: Grown | None = None
        stopped = threading.Event()

        def report(done: int, total: int) -> bool:
            loading.done, loading.total = done, total
            return not stopped.is_set()

        growth, facts = session.growth, None
        try:
            if growth is not None:
                grown = await asyncio.to_thread(growth.read, session, report)
                facts = await asyncio.to_thread(file_facts, loading.file.path)
        except SessionError as error:
            self.loading = None
            self._say(str(error))
            return
        finally:
            stopped.set()
        if growth is None or grown is None or facts is None:
            await self._load_after(None, loading, 0)
            return
        growth.take(grown, session)
        self._end(loading)
        self._grown(replace(facts, size=grown.size))

    async def _load_after(
        self, before: asyncio.Task[None] | None, loading: Loading, direction: int
    ) -> None:
        if before is not None:
            await asyncio.wait({before})
        await self._let_go()
        file = loading.file
        looked = False
        if file != self.file or self._is_large():
            look = await asyncio.to_thread(first_events, file.path, file.session)
            if look is not None:
                # What was open is let go: there may be no room for another one beside it.
                looked, self.file = True, None
                self._look(look)

        def report(done: int, total: int) -> None:
            # Called in the loading thread, once more even after nobody waits for it: nobody looks
            # at its object then.
            loading.done, loading.total = done, total

        session: Session | None = None
        try:
            first = await asyncio.to_thread(file_facts, file.path)
            session = await open_session(file.path, report, file.session)
            last = await asyncio.to_thread(file_facts, file.path)
            measured = await asyncio.to_thread(self._measure, session)
        except SeveralSessionsError as error:
            self.loading, self.fatal = None, error
            return
        except SessionError as error:
            self.loading = None
            if looked:
                self.file = file
            if direction:
                self._drop(file, error, direction)
            else:
                self._say(str(error))
            return
        except asyncio.CancelledError:
            if session is not None:
                session.close()
            raise
        self.file = file
        self._end(loading)
        self._use(Opened(session, measured, _as_read(session, first, last)))

    def _end(self, loading: Loading) -> None:
        now = time.monotonic()
        self.loading, self.rests_until = None, now + REST * (now - loading.begun)

    def _drop(self, file: SessionFile, error: SessionError, direction: int) -> None:
        """A file that cannot be used leaves the list; without any other the app ends."""
        place = self.files.index(file)
        self.files.remove(file)
        # What a folder holds beside sessions is passed over; a session that is gone is not.
        if file.named or (self.file is not None and not isinstance(error, NotASessionError)):
            self._notice(str(error))
        if not self.files:
            no_session = UsageError("no session found; name a session file or its folder")
            self.fatal = error if file.named else no_session
            return
        following = self.files[(place if direction > 0 else place - 1) % len(self.files)]
        if self.file is None or following != self.file:
            self.load(following, direction)


def _as_read(
    session: Session, before: FileFacts | None, after: FileFacts | None
) -> FileFacts | None:
    """What a file was when it was read: what it has grown by since then is not known yet."""
    if before is None or after is None:
        return None
    return replace(after, size=session.growth.size if session.growth else before.size)
