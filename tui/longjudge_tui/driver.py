"""A terminal that stops reading must not stop the judging.

Textual hands its frames to a thread through a short queue, and waits for room in it on the event
loop, which is also the engine's. Here the thread's file never blocks: what the terminal cannot take
is dropped, frame by frame, and the whole screen is painted anew once it reads again. Before it
comes to that, the app can see that its terminal is behind, and paints less often.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import termios
from collections import deque
from enum import Enum, auto
from functools import partial
from threading import Condition, Thread
from time import monotonic
from typing import TYPE_CHECKING, Any, cast

from textual.drivers import linux_driver
from textual.drivers.linux_driver import LinuxDriver

from longjudge_tui.first_screen import take_over
from longjudge_tui.pasting import PasteParser

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.app import App

BACKLOG_BYTES = 256_000
"""Frames wait up to this much; a full screen is some 20 kB."""

FRAME_CHARS = 200
SWITCHES_BYTES = 4 * BACKLOG_BYTES
"""Shorter writes may switch modes of the terminal, and have room long after frames have none."""

BEHIND_SECONDS = 0.05
"""A terminal that has not taken in so long what was written gets no frame until it has."""

DRAIN_SECONDS = 1.0
WRITE_BYTES = 4_096


class LossyTerminal:
    """A file whose `write` never blocks; `caught_up` is called when dropped frames are over."""

    def __init__(self, descriptor: int, caught_up: Callable[[], None]) -> None:
        self._descriptor = descriptor
        self._caught_up = caught_up
        self._changed = Condition()
        self._waiting: deque[tuple[bytes, float]] = deque()
        self._oldest: float | None = None
        self._when_taken: Callable[[], None] | None = None
        self._size = 0
        self._writing = False
        self._lost = False
        self._pump = Thread(target=self._write_on, name="terminal-output", daemon=True)
        self._pump.start()

    def write(self, text: str) -> int:
        """Take a frame or a mode switch; a frame that finds no room is dropped."""
        data = text.encode("utf-8", "replace")
        with self._changed:
            limit = BACKLOG_BYTES if len(text) > FRAME_CHARS else SWITCHES_BYTES
            if self._size > limit:
                self._lost = True
            else:
                now = monotonic()
                self._waiting.append((data, now))
                self._size += len(data)
                if self._oldest is None:
                    self._oldest = now
                self._changed.notify_all()
        return len(text)

    @property
    def is_behind(self) -> bool:
        """Whether something written a while ago is not taken yet."""
        oldest = self._oldest
        return oldest is not None and monotonic() - oldest > BEHIND_SECONDS

    def when_taken(self, call: Callable[[], None]) -> None:
        """Call once, in the terminal's thread, when all is taken; now, where it is already."""
        with self._changed:
            if self._waiting or self._writing:
                self._when_taken = call
                return
        call()

    def flush(self) -> None:
        """Nothing is buffered beyond what `drain` waits for."""

    def fileno(self) -> int:
        """The terminal's descriptor."""
        return self._descriptor

    def isatty(self) -> bool:
        """Whether the descriptor is a terminal."""
        return os.isatty(self._descriptor)

    def drain(self, seconds: float) -> bool:
        """Wait until everything is written; False where the terminal did not take it in time."""
        with self._changed:
            return self._changed.wait_for(
                lambda: not self._waiting and not self._writing, timeout=seconds
            )

    def _write_on(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting)
                data, self._oldest = self._waiting.popleft()
                self._writing = True
            with contextlib.suppress(OSError):
                # A terminal that is gone takes nothing, and its signal ends the app.
                self._write(data)
            with self._changed:
                self._writing = False
                self._size -= len(data)
                self._oldest = self._waiting[0][1] if self._waiting else None
                taken, lost = None, False
                if not self._waiting:
                    taken, self._when_taken = self._when_taken, None
                    lost, self._lost = self._lost, False
                self._changed.notify_all()
            if taken is not None:
                taken()
            if lost:
                self._caught_up()

    def _write(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            try:
                view = view[os.write(self._descriptor, view[:WRITE_BYTES]) :]
            except BlockingIOError:
                # Another program on this terminal may have set its descriptor to not wait.
                select.select([], [self._descriptor], [])


class Hold(Enum):
    """Who has the terminal: nobody yet, the app, somebody else for a while, or who comes after."""

    NOT_YET = auto()
    HELD = auto()
    AWAY = auto()
    OVER = auto()


class PatientDriver(LinuxDriver):
    """Textual's driver with a file that never blocks it, and a terminal that is taken only once.

    `stuck` is set at the end where the terminal did not even take the last words: threads that
    still hold the terminal would then keep the interpreter from its own end.
    """

    stuck = False

    def __init__(
        self,
        app: App[Any],
        *,
        debug: bool = False,
        mouse: bool = True,
        size: tuple[int, int] | None = None,
    ) -> None:
        super().__init__(app, debug=debug, mouse=mouse, size=size)  # pyright: ignore[reportUnknownMemberType]
        stream = sys.__stderr__
        assert stream is not None, "the app is started on a terminal only"
        self._terminal = LossyTerminal(stream.fileno(), self._repaint)
        self._hold = Hold.NOT_YET
        self._stop_wanted = False
        self._modes_held: list[Any] | None = None
        # The writer thread asks no more of its file than what a lossy terminal has.
        self._file = cast("Any", self._terminal)

    def start_application_mode(self) -> None:
        """Take the terminal over from whatever was shown first."""
        take_over()
        before, self._hold = self._writer_thread, Hold.HELD
        super().start_application_mode()
        if self._writer_thread is before:
            # Started in the background: the terminal is for who brings it to the front.
            self._hold = Hold.AWAY
        else:
            self._modes_held = self._modes()

    def suspend_application_mode(self) -> None:
        """Let go of the terminal: what is written until it is taken back is for nobody."""
        if self._hold is Hold.HELD:
            super().suspend_application_mode()
            self._hold = Hold.AWAY

    def resume_application_mode(self) -> None:
        """Take the terminal again, where the app was away, and paint what stood on it.

        Whoever goes on without having been away was stopped by force, and may not even have
        noticed. It has the terminal still, unless the shell set other modes meanwhile.
        """
        if self._hold in (Hold.NOT_YET, Hold.OVER):
            return
        if self._in_background():
            os.kill(os.getpid(), signal.SIGSTOP)
            return
        if self._hold is Hold.HELD and self._modes() != self._modes_held:
            self.suspend_application_mode()
        if self._hold is Hold.AWAY:
            super().resume_application_mode()
        self._repaint()

    def stop_application_mode(self) -> None:
        """Leave the terminal as it was; whoever has it meanwhile is left to its own."""
        if self._hold is Hold.HELD:
            super().stop_application_mode()
        self._hold = Hold.OVER

    def write(self, data: str) -> None:
        """Write to the terminal, where it is not somebody else's now.

        Nobody empties the queue of frames meanwhile, and who waits for room in it waits for good.
        """
        if self._hold is Hold.HELD:
            super().write(data)

    def stop_job(self) -> bool:
        """Stop as the terminal's own key would; False where no shell could go on with it.

        A shell that has jobs gives each a group of processes of its own.
        """
        group = os.getpgrp()
        if group == os.getsid(0):
            return False
        os.killpg(group, signal.SIGTSTP)
        return True

    def _sigtstp_application(self, *_: object) -> None:
        # Between two turns of the loop: a signal may come in the midst of a write, with its lock.
        self._stop_wanted = True
        self._on_loop(self._stop_for_a_while)

    def _sigcont_application(self, *_: object) -> None:
        self._stop_wanted = False
        self._on_loop(self._go_on)

    def _stop_for_a_while(self) -> None:
        if self._stop_wanted and self._auto_restart and self._hold is Hold.HELD:
            self.suspend_application_mode()
            self._must_signal_resume = True
        # To let go takes a moment, and who is told to go on meanwhile is not told again.
        if self._stop_wanted:
            os.kill(os.getpid(), signal.SIGSTOP)

    def _go_on(self) -> None:
        if self._auto_restart:
            self.resume_application_mode()

    def _modes(self) -> list[Any] | None:
        try:
            return termios.tcgetattr(self.fileno)
        except termios.error:
            return None

    def _in_background(self) -> bool:
        try:
            return os.tcgetpgrp(self.fileno) != os.getpgrp()
        except OSError:
            return False

    def run_input_thread(self) -> None:
        """Read keys; what is pasted presses none."""
        # Textual's input thread makes its parser from this name, and offers no other way in.
        linux_driver.__dict__["XTermParser"] = PasteParser
        super().run_input_thread()

    def close(self) -> None:
        """End the writer thread, and give the terminal a moment to take the rest."""
        super().close()
        if not self._terminal.drain(DRAIN_SECONDS):
            PatientDriver.stuck = True

    @property
    def is_behind(self) -> bool:
        """Whether the terminal has not taken what was painted a while ago."""
        return self._terminal.is_behind

    def when_taken(self, call: Callable[[], None]) -> None:
        """Call once, on the event loop, when the terminal has taken everything."""
        self._terminal.when_taken(partial(self._on_loop, call))

    def _repaint(self) -> None:
        """Paint everything: frames were dropped, or others have written here. From any thread."""
        self._on_loop(partial(self._app.refresh, layout=True))

    def _on_loop(self, call: Callable[[], object]) -> None:
        # The app may be over by then.
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(call)
