"""How many secrets a run would replace, counted beside the event loop before there is one."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from typing import TYPE_CHECKING

from longjudge.errors import SessionError
from longjudge.replaced import ReplacedSecrets, secrets_words

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Container

    from longjudge.sessions import Session
    from longjudge_tui.bench.outlook import Outlook

STANDING_SECONDS = 0.15
"""How long a plan stands before its secrets are counted: no plan of a drag does."""

WORK_SECONDS, REST_SECONDS = 0.004, 0.006
"""How long the thread works at a time, and how long the screen has the processor to itself then."""

CUT_SECONDS = 1.0


class SecretCounts:
    """Counts for one plan at a time; each event of a session is looked through once.

    `words` is what there is to say, in a few words.
    """

    def __init__(self) -> None:
        self.words = ""
        self.counts: Counter[str] | None = None
        self._about: tuple[Session, ReplacedSecrets] | None = None
        self._stopped = threading.Event()
        self._task: asyncio.Task[None] | None = None

    @property
    def counting(self) -> bool:
        """Whether a count is on its way."""
        return self._task is not None and not self._task.done()

    def begin(self, session: Session, outlook: Outlook, kept: Container[str]) -> None:
        """Count what a run of a plan would replace, once the plan has stood for a moment."""
        self.end()
        self.counts = None
        if not outlook.redact:
            self.words = "not redacted"
            return
        self.words = "counting secrets…"
        self._stopped = threading.Event()
        if self._about is None or self._about[0] is not session:
            self._about = session, ReplacedSecrets(session)
        secrets = self._about[1]
        self._task = asyncio.create_task(
            self._count(secrets, outlook, kept, self._stopped, self._task)
        )

    def end(self) -> None:
        """Count no more; what was found of each event stays known."""
        self.words = ""
        self._stopped.set()

    def forget(self) -> None:
        """Let go of the session."""
        self.end()
        self._about = None

    def raise_failure(self) -> None:
        """Raise what the task of this object died of."""
        if self._task is not None and self._task.done() and not self._task.cancelled():
            self._task.result()

    async def aclose(self) -> None:
        """End what is counted, for a bounded time."""
        self.forget()
        if self._task is not None:
            await asyncio.wait({self._task}, timeout=CUT_SECONDS)

    async def _count(
        self,
        secrets: ReplacedSecrets,
        outlook: Outlook,
        kept: Container[str],
        stopped: threading.Event,
        before: asyncio.Task[None] | None,
    ) -> None:
        if before is not None and not before.done():
            # Two threads must not look through one session.
            await asyncio.wait({before})
        if not stopped.is_set():
            await asyncio.sleep(STANDING_SECONDS)
        if stopped.is_set():
            return

        def count() -> Counter[str] | None:
            return secrets.count(outlook.plan, outlook.to_ask(kept), _Rest(stopped))

        counts: Counter[str] | None = None
        # A file that has changed is said to have where it is opened or judged.
        with contextlib.suppress(SessionError):
            counts = await asyncio.to_thread(count)
        if not stopped.is_set():
            self.counts = counts
            self.words = "secrets not counted" if counts is None else secrets_words(counts)


class _Rest:
    """Asked before each step of the thread: rests now and then, and says when to stop."""

    def __init__(self, stopped: threading.Event) -> None:
        self._stopped = stopped
        self._since = time.monotonic()

    def __call__(self) -> bool:
        if time.monotonic() - self._since >= WORK_SECONDS:
            self._stopped.wait(REST_SECONDS)
            self._since = time.monotonic()
        return self._stopped.is_set()
