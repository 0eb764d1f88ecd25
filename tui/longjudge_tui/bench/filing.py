"""Which files there are, and which of them is open or on its way in."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from longjudge.errors import SeveralSessionsError
from longjudge_tui.bench.following import Change, Following
from longjudge_tui.bench.recalling import Recalling

if TYPE_CHECKING:
    from collections.abc import Sequence

    from longjudge.errors import LongjudgeError
    from longjudge.sessions import Session, SessionFile
    from longjudge_tui.bench.opening import Loading, Opening


class Filing(Recalling):
    """The part of the bench that opens files, and follows the one that is open."""

    _opening: Opening

    def __init__(self) -> None:
        super().__init__()
        self.following = Following()
        self._placed: tuple[tuple[SessionFile | None, int], int | None] | None = None

    def reload(self) -> None:
        """Read the session again."""
        raise NotImplementedError

    @property
    def files(self) -> list[SessionFile]:
        """The files that one key steps through."""
        return self._opening.files

    @property
    def file(self) -> SessionFile | None:
        """The file of the session."""
        return self._opening.file

    @property
    def place(self) -> int | None:
        """Which of the files is open, from 0; None where none of them is.

        Looked up once, and not on every frame: there may be very many files.
        """
        files, about = self.files, (self.file, len(self.files))
        if self._placed is None or self._placed[0] != about:
            here = (place for place, each in enumerate(files) if each == self.file)
            self._placed = about, next(here, None)
        return self._placed[1]

    def step_through(self, files: Sequence[SessionFile]) -> None:
        """Have one key step through other files, in their order."""
        self.files[:] = files
        self._placed = None

    @property
    def loading(self) -> Loading | None:
        """The session on its way in."""
        return self._opening.loading

    @property
    def fatal(self) -> LongjudgeError | None:
        """Why the app has to close."""
        return self._opening.fatal

    @property
    def several(self) -> bool:
        """Whether the file that was to be opened holds several sessions, to choose from."""
        return isinstance(self.fatal, SeveralSessionsError)

    def close_no_more(self) -> None:
        """Nothing is fatal where there are other sessions to open."""
        self._opening.fatal = None

    def open_first(self) -> None:
        """Load the longest session."""
        self._opening.load(self.files[0], 1)

    def show(self, file: SessionFile) -> bool:
        """Work on a file from now on; false, and said, where a judgment is in flight.

        A file that is open already stays as it is.
        """
        return self._opening.show(file)

    def step(self, direction: int) -> None:
        """Load the next (1) or previous (-1) session; says so where that cannot be."""
        self._opening.step(direction)

    def read_on(self) -> None:
        """Read what the session's file has grown by, or all of it where it was written anew."""
        if self.session is None or self.loading is not None:
            self.notices.append("the session is still being read")
        elif self.following.change is None:
            # It may have grown since the last look.
            self.following.ask()
        else:
            self._read_on(self.session)

    def follow_file(self) -> None:
        """Look now and then at what has become of the file; called on every tick."""
        following, session = self.following, self.session
        following.follow()
        if session is None or self.loading is not None:
            return
        by_itself = following.by_itself and following.change is Change.GROWN and not self.running
        rested = time.monotonic() >= self._opening.rests_until
        if following.take_answer() or (by_itself and rested):
            self._read_on(session)

    def _read_on(self, session: Session) -> None:
        match self.following.change:
            case None:
                self.notices.append("the file is as it was when it was read")
            case Change.GONE:
                self.notices.append("the file is gone")
            case Change.GROWN:
                self._opening.read_on(session)
            case Change.REPLACED:
                self.reload()
