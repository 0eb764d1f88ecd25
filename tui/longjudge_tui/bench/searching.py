"""A search over all events of the session that is open, in a thread beside the event loop."""

from __future__ import annotations

import asyncio
import threading
from bisect import bisect_left, bisect_right
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from longjudge.errors import SessionError, UsageError
from longjudge.sessions.search import Search
from longjudge.sessions.search_match import Phrase
from longjudge.sessions.search_pattern import PatternProcess, StoppedError, TooSlowError
from longjudge.sessions.search_query import (
    Mode,
    Query,
    in_any_order,
    parse_query,
    unknown_tool,
)
from longjudge.text import clean_line
from longjudge_tui.bench.aside import Aside
from longjudge_tui.bench.finding_search import NOWHERE, FindingSearch, FoundIn

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from longjudge.sessions import Session
    from longjudge.sessions.search_match import Span
    from longjudge_tui.bench.records import Records

CUT_SECONDS = 1.0
MOST_SPANS = 500
"""So many places are shown of what is found in one event."""

SHORT_CHARS = 100_000
"""A text up to here is looked through at once: that takes no longer than drawing it."""


@dataclass(slots=True)
class _Scan:
    """A search, what stops it, and what became of it; the thread writes to it."""

    session: Session
    search: Search
    stopped: threading.Event
    ended: bool = False
    fault: str = ""

    def run(self) -> None:
        """Take every step, or as many as are wanted."""
        with closing(self.search), closing(self.search.steps()) as steps:
            try:
                for _ in steps:
                    if self.stopped.is_set():
                        return
            except (UsageError, SessionError) as error:
                self.fault = clean_line(str(error), 300)
        self.ended = not self.stopped.is_set()


@dataclass(frozen=True, slots=True)
class Step:
    """A hit that was gone to; `wrapped` says that it was reached round an end of the session."""

    event: int
    wrapped: str = ""


class Searching:
    """Searches for what is typed; typing on stops the search and begins another one.

    `typed` is what is searched for, None while there is no search. `fault` says why nothing is.
    `at` is the hit that was gone to last.
    """

    def __init__(self) -> None:
        self.typed: str | None = None
        self.fault = ""
        self.at: int | None = None
        self._query = Query()
        self._about: Session | None = None
        self._phrase: Phrase | None = None
        self._scan: _Scan | None = None
        self._next: _Scan | None = None
        self._task: asyncio.Task[None] | None = None
        self._far: Aside[Sequence[Span]] | None = None
        self._asked: int | None = None
        self._finding_search = FindingSearch()
        self._wanted: list[int] = []

    @property
    def is_on(self) -> bool:
        """Whether there is a search, if only for nothing yet."""
        return self.typed is not None

    @property
    def session(self) -> Session | None:
        """What is searched."""
        return self._scan.session if self._scan is not None else None

    @property
    def hits(self) -> Sequence[int]:
        """The events that were found so far, in order."""
        return self._scan.search.hits if self._scan is not None else ()

    @property
    def in_any_order(self) -> str:
        """What to type instead, where nothing holds several words as the one phrase they are."""
        if self._scan is None or self.running or self.fault or self.hits:
            return ""
        return in_any_order(self.typed or "")

    def in_findings(self, records: Records | None, labels: Mapping[str, str]) -> FoundIn:
        """Which findings hold plain words that no event does, as far as that is known by now."""
        over = self._scan is not None and not (self.running or self.fault or self.hits)
        if not over or records is None or self._phrase is None or self._query.filters:
            return NOWHERE
        return self._finding_search.look(self._phrase, records, labels)

    @property
    def running(self) -> bool:
        """Whether more may be found."""
        return self._scan is not None and not self._scan.ended and not self.fault

    @property
    def share(self) -> float:
        """How much is searched, 0 to 1."""
        return self._scan.search.share if self._scan is not None else 0.0

    @property
    def reads_all(self) -> bool:
        """Whether every event has to be read, which takes longer."""
        return self._scan is not None and self._scan.search.reads_all

    @property
    def left_out(self) -> tuple[int, int]:
        """How many events could not be read, and how many took a pattern too long."""
        if self._scan is None:
            return 0, 0
        return self._scan.search.unread, self._scan.search.slow

    def open(self, session: Session | None) -> None:
        """There is a search from now on, for nothing yet."""
        if self.typed is None:
            self.typed, self._about = "", session

    def begin(self, session: Session | None, typed: str) -> None:
        """Search a session, the one that is open by now; without one, once there is one."""
        self._stop()
        self.typed, self.fault, self.at = typed, "", None
        self._about = session
        try:
            query = self._query = parse_query(typed)
            if query.is_empty or session is None:
                return
            if tool := unknown_tool(query, session.index.tool_names):
                self.fault = f"no tool {clean_line(tool, 60)} here; * stands for any letters"
                return
            stopped = threading.Event()
            scan = _Scan(session, Search(session, query, stopped.is_set), stopped)
        except (UsageError, SessionError) as error:
            self._query = Query()
            self.fault = clean_line(str(error), 300)
            return
        self._phrase = (
            Phrase(query.words, ignore_case=query.ignores_case) if query.mode is Mode.TEXT else None
        )
        self._far = Aside(lambda event: _places(scan, query, self._phrase, event))
        self._start(scan)

    def follow(self, session: Session | None) -> bool:
        """Search what is open by now for the same; whether that is another session."""
        if self.typed is None:
            return False
        if self._about is session:
            self._go_on()
            return False
        about, wanted = self._about, list(self._wanted)
        self.begin(session, self.typed)
        if about is None or (session is not None and about.path == session.path):
            # Keys that came before it was read are meant for it.
            self._wanted = wanted
        return True

    def end(self) -> None:
        """There is no search any more."""
        self._stop()
        self.typed, self.fault, self.at = None, "", None
        self._query, self._about = Query(), None

    def holds(self, event: int) -> bool:
        """Whether an event is a hit, as far as is known."""
        hits = self.hits
        place = bisect_left(hits, event)
        return place < len(hits) and hits[place] == event

    @property
    def place(self) -> int | None:
        """Which of the hits was gone to, from 0."""
        if self.at is None or not self.holds(self.at):
            return None
        return bisect_left(self.hits, self.at)

    def want(self, direction: int) -> None:
        """Go to the next hit (1), the previous one (-1), or the first from where one is on (0)."""
        self._wanted.append(direction)

    def step(self, here: int) -> Step | None:
        """The hit that is to be gone to from an event, once it is known; then it is `at`."""
        if not self._wanted:
            return None
        # Asked first: the last hit and the end of the search may come between two lines.
        running = self.running or self._is_early
        found = self._hit(self._wanted[0], here, running=running)
        if found is not None:
            self.at = found.event
        if found is not None or not running:
            self._wanted.pop(0)
        return found

    def spans(self, event: int, text: str) -> Sequence[Span] | None:
        """Where a text of the session holds what is searched for; None until that is known."""
        if self._scan is None or self._query.mode is Mode.NONE:
            return ()
        if self._phrase is not None and len(text) <= SHORT_CHARS:
            return self._phrase.spans(text, MOST_SPANS)
        return self._far_spans(event)

    def spans_in_line(self, words: str) -> Sequence[Span]:
        """The same in one line of a list, where that can be told at once."""
        return self._phrase.spans(words, MOST_SPANS) if self._phrase is not None else ()

    def raise_failure(self) -> None:
        """Raise what a task of this object died of."""
        self._finding_search.raise_failure()
        if self._far is not None:
            self._far.raise_failure()
        if self._task is not None and self._task.done() and not self._task.cancelled():
            self._task.result()

    async def aclose(self) -> None:
        """End the search, for a bounded time."""
        self.end()
        if self._task is not None:
            await asyncio.wait({self._task}, timeout=CUT_SECONDS)

    @property
    def _is_early(self) -> bool:
        """Whether it begins only once the session is read."""
        return self._about is None and not self._query.is_empty and not self.fault

    def _hit(self, direction: int, here: int, *, running: bool) -> Step | None:
        hits = self.hits
        count = len(hits)
        if not count:
            return None
        if direction < 0:
            place = bisect_left(hits, here) - 1
            if place >= 0:
                return Step(hits[place])
            return None if running else Step(hits[count - 1], "again from the end")
        place = bisect_right(hits, here) if direction else bisect_left(hits, here)
        if place < count:
            return Step(hits[place])
        return None if running else Step(hits[0], "again from the start")

    def _start(self, scan: _Scan) -> None:
        self._scan = self._next = scan
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._work())

    def _go_on(self) -> None:
        """Search what the session has grown by, once the rest is searched."""
        scan = self._scan
        if scan is None or not scan.ended or self.fault:
            return
        if scan.search.events < len(scan.session.index):
            try:
                more = Search(scan.session, self._query, scan.stopped.is_set, after=scan.search)
            except SessionError:
                # It was closed, and another one comes.
                return
            self._start(_Scan(scan.session, more, scan.stopped))

    def _far_spans(self, event: int) -> Sequence[Span] | None:
        assert self._far is not None
        if self._asked == event and not self._far.at_hand(event):
            return None
        self._asked = event
        try:
            return self._far.get(event)
        except SessionError:
            return ()

    def _stop(self) -> None:
        if self._next is not None:
            # Its thread has not begun.
            self._next.search.close()
        if self._scan is not None:
            self._scan.stopped.set()
        if self._far is not None:
            self._far.close()
        self._finding_search.close()
        self._scan = self._next = self._phrase = self._far = self._asked = None
        self._wanted.clear()

    async def _work(self) -> None:
        """Search for what was wanted last; what is wanted meanwhile comes next."""
        while (scan := self._next) is not None:
            self._next = None
            await asyncio.to_thread(scan.run)
            if scan is self._scan:
                self.fault = scan.fault


def _places(scan: _Scan, query: Query, phrase: Phrase | None, event: int) -> Sequence[Span]:
    """Where an event's text holds what is searched for, found in a thread."""
    text = scan.session.text(event)
    if phrase is not None:
        return phrase.spans(text, MOST_SPANS)
    try:
        with PatternProcess(query.words, query.flags, scan.stopped.is_set) as process:
            return process.spans(text, MOST_SPANS)
    except (TooSlowError, StoppedError, UsageError):
        return ()
