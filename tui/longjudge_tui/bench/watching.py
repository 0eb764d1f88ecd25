"""Notes in the log what becomes of the bench: sessions, settings, forced failures, the store.

It looks at the bench a few times a second, so that whatever changes it need not know of the log.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from longjudge.sessions.model import Severity
from longjudge.settings import in_seconds
from longjudge_tui.bench.event_log import LogKind, Subject
from longjudge_tui.bench.following import Change
from longjudge_tui.wording import plural, size

if TYPE_CHECKING:
    from longjudge.sessions import Session
    from longjudge_tui.bench.bench import Bench

REST_SECONDS = 1.0
"""How long a setting stands before it is noted: a drag goes through hundreds."""

Facts = tuple[tuple[str, str], ...]


class Watch:
    """What was last noted about a bench."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._session: Session | None = None
        self._events = 0
        self._problem = self._store_error = self._holds_error = ""
        self._spec = ""
        self._change: Change | None = None
        self._noted = self._seen = _settings(bench)
        self._since = time.monotonic()
        bench.log.catch_up = self.follow

    def follow(self) -> None:
        """Note what has changed since the last look."""
        self._follow_session()
        self._follow_settings()
        self._follow_forcing()
        self._follow_troubles()

    def _follow_session(self) -> None:
        session = self._bench.session
        if session is not self._session:
            self._session, self._change = session, None
            if session is not None:
                self._events = len(session.index)
                self._note(LogKind.SESSION, f"opened: {_opened(session)}")
        elif session is not None and len(session.index) != self._events:
            more, self._events = len(session.index) - self._events, len(session.index)
            self._note(LogKind.SESSION, f"read on: {plural(more, 'event')} more")
        following = self._bench.following
        if following.change is not self._change:
            self._change = following.change
            if self._change is not None:
                self._note(LogKind.SESSION, _became(self._change))

    def _follow_settings(self) -> None:
        now, seen = time.monotonic(), _settings(self._bench)
        if seen != self._seen:
            self._seen, self._since = seen, now
        rests = now - self._since >= REST_SECONDS or self._bench.running
        if self._noted != seen and rests:
            before, self._noted = dict(self._noted), seen
            words = [f"{name} {value}" for name, value in seen if before.get(name) != value]
            self._bench.log.add(LogKind.SETTING, " · ".join(words))

    def _follow_forcing(self) -> None:
        spec = self._bench.forcing.spec
        if spec != self._spec:
            self._spec = spec
            words = f"forced from the next run on: {spec}" if spec else "no failure is forced"
            self._bench.log.add(LogKind.FORCED, words)

    def _follow_troubles(self) -> None:
        bench = self._bench
        if bench.problem != self._problem:
            self._problem = bench.problem
            if bench.problem:
                self._note(LogKind.ERROR, bench.problem)
        error = bench.store_error or ""
        if bool(error) != bool(self._store_error) and bench.run is None:
            words = f"nothing is kept: {error}" if error else "the store takes verdicts again"
            bench.log.add(LogKind.STORE, words)
        self._store_error = error
        if bench.holding.error != self._holds_error:
            self._holds_error = bench.holding.error
            if self._holds_error:
                bench.log.add(LogKind.STORE, f"holds cannot be read: {self._holds_error}")

    def _note(self, kind: LogKind, words: str) -> None:
        session = self._bench.session
        subject = Subject.of(session) if session is not None else None
        self._bench.log.add(kind, words, subject=subject)


def _settings(bench: Bench) -> Facts:
    """What a run goes by, by name."""
    settings, tuning = bench.settings, bench.tuning
    return (
        ("chunk size", f"{tuning.size:,} {tuning.unit.value}"),
        ("model", tuning.model_name),
        ("rubric", f"{bench.rubric.name} {bench.rubric.version}"),
        ("limit", f"{in_seconds(settings.time_limit)} s"),
        ("in flight", f"{settings.concurrency}"),
        ("secrets", "replaced" if settings.redact else "NOT REPLACED"),
    )


def _opened(session: Session) -> str:
    words = [
        session.format,
        plural(len(session.index), "event"),
        plural(len(session.index.threads), "thread"),
        size(session.bytes),
    ]
    if session.skipped_lines:
        words.append(f"{plural(session.skipped_lines, 'line')} skipped")
    odd = [each.reason for each in session.diagnostics if each.severity is Severity.WARNING]
    return " · ".join([*words, *(f"odd: {reason}" for reason in odd[:1])])


def _became(change: Change) -> str:
    match change:
        case Change.GROWN:
            return "the file has grown"
        case Change.REPLACED:
            return "the file is another one by now"
        case Change.GONE:
            return "the file is gone"
