"""What happened in the app, one line each: bounded, in memory, and given on to a file."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from longjudge.redaction import redacted_text
from longjudge.text import clean_line

if TYPE_CHECKING:
    from collections.abc import Callable

    from longjudge.sessions import Session

MOST_LINES = 10_000
"""So many lines are held; the oldest go first."""

DROPPED_AT_ONCE = 500
"""A list is shortened by so many at once: by one each time would move all of it each time."""

WORDS_CHARS = 500
MOST_READ = 20 * WORDS_CHARS
REPEAT_SECONDS = 5.0
"""What is said again within this time, word for word, is counted on its line."""


class LogKind(StrEnum):
    """What a line is about."""

    VERDICT = "verdict"
    GAP = "gap"
    RETRY = "retry"
    WAIT = "wait"
    RUN = "run"
    HOLD = "hold"
    STORE = "store"
    SETTING = "setting"
    SESSION = "session"
    FORCED = "forced"
    SAID = "said"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Subject:
    """The session that lines are about: its file's name, safe to show, and what it is known by."""

    name: str
    session: tuple[str, str]

    @classmethod
    def of(cls, session: Session) -> Subject:
        """The session as it is named here."""
        name = session.path.name if session.path is not None else session.name
        return cls(clean_line(name, 80), (session.name, session.id))


@dataclass(frozen=True, slots=True)
class Part:
    """A chunk: its number, from 1, in the plan of that time, and its first event."""

    number: int
    event: int


@dataclass(frozen=True, slots=True)
class LogLine:
    """One line: safe words, when it was (seconds since 1970), and what it is about.

    `times` is how often it happened in a row, `searched` what a filter looks in.
    """

    number: int
    time: float
    kind: LogKind
    words: str
    part: Part | None = None
    subject: Subject | None = None
    times: int = 1
    searched: str = ""

    @property
    def clock(self) -> str:
        """The time of day, here."""
        return time.strftime("%H:%M:%S", time.localtime(self.time))

    @property
    def text(self) -> str:
        """The line as it is copied and saved."""
        return f"{time.strftime('%Y-%m-%d %H:%M:%S', time.localtime(self.time))} {self.told}"

    @property
    def told(self) -> str:
        """The line without its time."""
        part = "" if self.part is None else f"part {self.part.number}: "
        where = "" if self.subject is None else f" · {self.subject.name}"
        again = f" (×{self.times:,})" if self.times > 1 else ""
        return f"{self.kind.value:<8} {part}{self.words}{again}{where}"


class EventLog:
    """The lines, oldest first. `on_line` is given each line as it comes, but no repetition.

    `changes` counts what was added, repetitions too, `counts` the held lines by kind. Whoever
    notes only now and then what it finds is to `catch_up` before anything that follows from it.
    `file` says where the lines are written to, in words; `file_fault` why they are not.
    """

    def __init__(self) -> None:
        self.changes = 0
        self.file = ""
        self.file_fault = ""
        self.on_line: Callable[[LogLine], None] = lambda _: None
        self.catch_up: Callable[[], None] = lambda: None
        self.counts: Counter[LogKind] = Counter()
        self._lines: list[LogLine] = []
        self._next = 0

    def __len__(self) -> int:
        return len(self._lines)

    @property
    def dropped(self) -> int:
        """How many lines are not held any more."""
        return self._next - len(self._lines)

    @property
    def end(self) -> int:
        """The number that the next line gets."""
        return self._next

    def line(self, number: int) -> LogLine | None:
        """The line of a number; None where it is not held any more."""
        place = number - self.dropped
        return self._lines[place] if 0 <= place < len(self._lines) else None

    def since(self, number: int) -> list[LogLine]:
        """The lines from a number on that are held."""
        return self._lines[max(0, number - self.dropped) :]

    def add(
        self,
        kind: LogKind,
        words: str,
        part: Part | None = None,
        subject: Subject | None = None,
    ) -> None:
        """Note what happened; the words may be hostile, and no longer than a line."""
        now = time.time()
        if len(words) > WORDS_CHARS:
            # What is cut in two is no secret any more to whoever looks for one later.
            words = redacted_text(words[:MOST_READ])
        line = LogLine(self._next, now, kind, clean_line(words, WORDS_CHARS), part, subject)
        self.changes += 1
        if self._repeats(line):
            last = self._lines[-1]
            self._lines[-1] = replace(last, time=now, times=last.times + 1)
            return
        self._next += 1
        # Once here, so that a filter over all lines takes no longer than a frame.
        line = replace(line, searched=line.told.lower())
        self._lines.append(line)
        self.counts[kind] += 1
        if len(self._lines) > MOST_LINES:
            self.counts.subtract(each.kind for each in self._lines[:DROPPED_AT_ONCE])
            del self._lines[:DROPPED_AT_ONCE]
        self.on_line(line)

    def _repeats(self, line: LogLine) -> bool:
        if not self._lines:
            return False
        last = self._lines[-1]
        one, other = ((each.kind, each.words, each.part, each.subject) for each in (last, line))
        return one == other and 0 <= line.time - last.time < REPEAT_SECONDS
