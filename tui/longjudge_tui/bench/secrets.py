"""How many secrets a run would replace, counted beside the event loop before there is one."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from typing import TYPE_CHECKING

from longjudge.errors import SessionError
from longjudge.replaced import ReplacedSecrets, secrets_words
from longjudge_tui.wording import plural

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Container

    from longjudge.sessions import Session
    from longjudge_tui.bench.outlook import Outlook

STANDING_SECONDS = 0.15
"""How long a plan stands before its secrets are counted: no plan of a drag does."""

WORK_SECONDS, REST_SECONDS = 0.004, 0.006
"""How long the thread works at a time, and how long the screen has the processor to itself then."""

CUT_SECONDS = 1.0

COUNTING = "counting secrets…"

MOST_KINDS = 2
"""How many kinds are named where there is no room for all."""


class SecretCounts:
    """Counts one thing at a time; each event of a session is looked through once."""

    def __init__(self) -> None:
        self._words = ""
        self.counts: Counter[str] | None = None
        self._about: tuple[Session, ReplacedSecrets] | None = None
        self._stopped = threading.Event()
        self._task: asyncio.Task[None] | None = None

    @property
    def words(self) -> str:
        """What there is to say, in a few words; while a long count is on its way, how far it is."""
        if self._words != COUNTING or self._about is None or not self._about[1].percent:
            return self._words
        return f"counting secrets, {self._about[1].percent} %…"

    @property
    def forms(self) -> list[str]:
        """`words`, then shorter ones where there are any."""
        counts = self.counts
        if not self.words or not counts:
            return [self.words]
        total = f"{plural(sum(counts.values()), 'secret')} replaced"
        shorter = [total]
        if len(counts) > MOST_KINDS:
            most = sorted(counts.items(), key=lambda each: (-each[1], each[0]))[:MOST_KINDS]
            named = ", ".join(f"{count:,} {kind}" for kind, count in most)
            rest = plural(len(counts) - MOST_KINDS, "more kind")
            shorter.insert(0, f"{total} ({named}, {rest})")
        return [self.words, *shorter]

    @property
    def counting(self) -> bool:
        """Whether a count is on its way."""
        return self._task is not None and not self._task.done()

    def begin(self, session: Session, outlook: Outlook, kept: Container[str]) -> None:
        """Count what a run of a plan would replace, once the plan has stood for a moment."""
        if self._about is None or self._about[0] is not session:
            self._about = session, ReplacedSecrets(session)
        secrets = self._about[1]
        secrets.percent = 0
        self.begin_with(
            lambda stopped: secrets.count(outlook.plan, outlook.to_ask(kept), stopped),
            redact=outlook.redact,
        )

    def begin_with(
        self, count: Callable[[Callable[[], bool]], Counter[str] | None], *, redact: bool
    ) -> None:
        """Let `count` count in a thread until what it is given says that it is to stop."""
        self.end()
        self.counts = None
        if not redact:
            self._words = "not redacted"
            return
        self._words = COUNTING
        self._stopped = threading.Event()
        self._task = asyncio.create_task(self._count(count, self._stopped, self._task))

    def end(self) -> None:
        """Count no more; what was found of each event stays known."""
        self._words = ""
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
        count: Callable[[Callable[[], bool]], Counter[str] | None],
        stopped: threading.Event,
        before: asyncio.Task[None] | None,
    ) -> None:
        if before is not None:
            # Two threads must not look through one session.
            await asyncio.wait({before})
            if not before.cancelled():
                before.result()
        if not stopped.is_set():
            await asyncio.sleep(STANDING_SECONDS)
        if stopped.is_set():
            return
        counts: Counter[str] | None = None
        # A file that has changed is said to have where it is opened or judged.
        with contextlib.suppress(SessionError):
            counts = await asyncio.to_thread(count, _Rest(stopped))
        if not stopped.is_set():
            self.counts = counts
            self._words = "secrets not counted" if counts is None else secrets_words(counts)


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
