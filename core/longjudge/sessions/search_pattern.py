"""A pattern, matched in a process of its own, so that it can always be stopped."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from longjudge.errors import UsageError
from longjudge.sessions import pattern_child
from longjudge.sessions.pattern_child import COUNT, FIND, ORDER, PAIR, PATTERN, SPANS

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Sequence
    from types import TracebackType
    from typing import Self

    from longjudge.sessions.search_match import Span

SECONDS_A_TEXT = 1.0
"""How much of the processor's time a pattern may take for a text of usual length."""

_LOOK_MILLISECONDS = 50
_WRITE_BYTES = 1 << 16
_END_SECONDS = 2.0


class TooSlowError(Exception):
    """The pattern took too long for a text: the first that has no answer."""


class StoppedError(Exception):
    """Nobody waits for the answer any more."""


class PatternProcess:
    """Matches texts one after the other; a context, which ends the process.

    `stopped` is asked now and then while it works.
    """

    def __init__(self, words: str, flags: re.RegexFlag, stopped: Callable[[], bool]) -> None:
        self._pattern = _order(PATTERN, int(flags), words)
        self._stopped = stopped
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def which_hold(self, texts: Sequence[str]) -> list[bool]:
        """Whether the pattern is in each text; fewer than texts where one takes too long.

        Raises:
            StoppedError: nobody waits any more.
        """
        if not texts:
            return []
        answers = self._exchange(b"".join(_order(FIND, 0, each) for each in texts), len(texts))
        return [answer == 1 for answer in answers]

    def spans(self, text: str, most: int) -> list[Span]:
        """Where the pattern stands in a text, the first places.

        Raises:
            TooSlowError: that took too long.
            StoppedError: nobody waits any more.
        """
        order = _order(SPANS, most, text)
        head = self._exchange(order, COUNT.size)
        if len(head) < COUNT.size:
            raise TooSlowError
        (count,) = COUNT.unpack(head)
        pairs = self._exchange(b"", count * PAIR.size)
        if len(pairs) < count * PAIR.size:
            raise TooSlowError
        return list(PAIR.iter_unpack(pairs))

    def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait(_END_SECONDS)
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()

    def _start(self) -> subprocess.Popen[bytes]:
        if not sys.executable:
            raise UsageError("patterns need a Python to run, and its path is not known here")
        arguments = (str(SECONDS_A_TEXT), str(os.getpid()))
        try:
            process = subprocess.Popen(
                [sys.executable, "-I", "-S", Path(pattern_child.__file__), *arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                bufsize=0,
                start_new_session=True,
            )
        except OSError as error:
            raise UsageError(f"no process for the pattern: {error.strerror}") from error
        if process.stdin is not None:
            os.set_blocking(process.stdin.fileno(), False)
        return process

    def _exchange(self, orders: bytes, wanted: int) -> bytes:
        """Hand orders over and take answers of so many bytes; fewer where the process dies."""
        if self._process is None:
            self._process = self._start()
            orders = self._pattern + orders
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        left, answers = memoryview(orders), bytearray()
        waiting = select.poll()
        waiting.register(stdout, select.POLLIN)
        if left:
            waiting.register(stdin, select.POLLOUT)
        while len(answers) < wanted:
            if self._stopped():
                self.close()
                raise StoppedError
            ready = {descriptor for descriptor, _ in waiting.poll(_LOOK_MILLISECONDS)}
            if left and stdin.fileno() in ready:
                left = left[_write(stdin.fileno(), left) :]
                if not left:
                    waiting.unregister(stdin)
            if stdout.fileno() in ready:
                found = os.read(stdout.fileno(), wanted - len(answers))
                if not found:
                    self._bury()
                    break
                answers += found
        return bytes(answers)

    def _bury(self) -> None:
        """It has died, by its alarm over the first text without an answer.

        Raises:
            UsageError: it has died of something else.
        """
        process = self._process
        code = process.wait(_END_SECONDS) if process is not None else 0
        self.close()
        if code != -signal.SIGVTALRM:
            raise UsageError(f"the process that matches the pattern ended by itself (code {code})")


def _write(descriptor: int, data: memoryview) -> int:
    """Write what there is room for; what nobody reads any more counts as written."""
    try:
        return os.write(descriptor, data[:_WRITE_BYTES])
    except BlockingIOError:
        return 0
    except BrokenPipeError:
        return len(data)


def _order(wish: int, most: int, text: str) -> bytes:
    data = text.encode("utf-8", "surrogatepass")
    return ORDER.pack(wish, most, len(data)) + data
