"""Reads session files for the bench, one at a time; the one that was wanted last is used."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from longjudge.api import open_session
from longjudge.errors import (
    LongjudgeError,
    NotASessionError,
    SessionError,
    SeveralSessionsError,
    UsageError,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from longjudge.estimate import Estimator
    from longjudge.sessions import Session, SessionFile


@dataclass(slots=True)
class Loading:
    """A session on its way in; the thread that reads it writes here how far it is."""

    file: SessionFile
    done: int
    total: int


@dataclass(frozen=True, slots=True)
class Opened:
    """A session that was read, with what it was measured to be."""

    session: Session
    estimator: Estimator


class Opening:
    """The files, which of them is being read, and what to do about one that cannot be.

    `measure` is called in a thread, `use` takes what was read, `say` a problem that stays on the
    screen, `notice` one that is said once; `in_flight` tells, and says, that a judgment is. `file`
    is the one that was read last, `fatal` says why the app has to close.
    """

    def __init__(
        self,
        files: list[SessionFile],
        *,
        measure: Callable[[Session], Estimator],
        use: Callable[[Opened], None],
        say: Callable[[str], None],
        notice: Callable[[str], None],
        in_flight: Callable[[], bool],
    ) -> None:
        self.files = files
        self.file: SessionFile | None = None
        self.loading: Loading | None = None
        self.fatal: LongjudgeError | None = None
        self.task: asyncio.Task[None] | None = None
        self._measure = measure
        self._use = use
        self._say = say
        self._notice = notice
        self._in_flight = in_flight

    def show(self, file: SessionFile) -> bool:
        """Load a file that is not open already; false where a judgment is in flight."""
        wanted = self.loading.file if self.loading else self.file
        if wanted == file:
            return True
        if self._in_flight():
            return False
        if file not in self.files:
            self.files.append(file)
        self.load(file)
        return True

    def step(self, direction: int) -> None:
        """Load the next (1) or previous (-1) file; says so where that cannot be."""
        here = self.loading.file if self.loading else self.file
        if self._in_flight():
            return
        if len(self.files) < 2 or here not in self.files:
            self._notice("there is no other session; ctrl+r reads this one again")
            return
        self.load(self.files[(self.files.index(here) + direction) % len(self.files)], direction)

    def reload(self) -> None:
        """Read the session again, as its file is now."""
        if self.loading is None and self.file is not None and not self._in_flight():
            self.load(self.file)

    def load(self, file: SessionFile, direction: int = 0) -> None:
        """Load a file; where that fails, the one in a direction (0: none, what stands stays)."""
        before = self.task
        if before is not None:
            before.cancel()
        self.loading = loading = Loading(file, 0, file.bytes)
        self.task = asyncio.create_task(self._load_after(before, loading, direction))

    async def _load_after(
        self, before: asyncio.Task[None] | None, loading: Loading, direction: int
    ) -> None:
        if before is not None:
            await asyncio.wait({before})
        file = loading.file

        def report(done: int, total: int) -> None:
            # Called in the loading thread, once more even after nobody waits for it: nobody looks
            # at its object then.
            loading.done, loading.total = done, total

        session: Session | None = None
        try:
            session = await open_session(file.path, report, file.session)
            estimator = await asyncio.to_thread(self._measure, session)
        except SeveralSessionsError as error:
            self.loading, self.fatal = None, error
            return
        except SessionError as error:
            self.loading = None
            if direction:
                self._drop(file, error, direction)
            else:
                self._say(str(error))
            return
        except asyncio.CancelledError:
            if session is not None:
                session.close()
            raise
        self.loading, self.file = None, file
        self._use(Opened(session, estimator))

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
