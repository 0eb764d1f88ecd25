"""Which lines of the log are shown: those of some kinds, with all the words that were typed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from longjudge_tui.bench.event_log import LogKind

if TYPE_CHECKING:
    from longjudge_tui.bench.event_log import EventLog, LogLine


@dataclass(frozen=True, slots=True)
class Group:
    """Kinds that are shown together, under a name."""

    name: str
    kinds: frozenset[LogKind]


GROUPS: Final = (
    Group("all", frozenset(LogKind)),
    Group(
        "trouble",
        frozenset(
            {LogKind.GAP, LogKind.RETRY, LogKind.WAIT, LogKind.STORE, LogKind.ERROR, LogKind.FORCED}
        ),
    ),
    Group("verdicts", frozenset({LogKind.VERDICT})),
    Group("runs", frozenset({LogKind.RUN, LogKind.HOLD})),
    Group("changes", frozenset({LogKind.SETTING, LogKind.SESSION, LogKind.FORCED})),
    Group("messages", frozenset({LogKind.SAID, LogKind.ERROR})),
)


class LogView:
    """The numbers of the lines that are shown, oldest first, in `rows`."""

    def __init__(self, log: EventLog) -> None:
        self.rows: list[int] = []
        self.group = GROUPS[0]
        self.words = ""
        self._log = log
        self._read = 0
        self._seen = -1
        self._changed = True

    @property
    def log(self) -> EventLog:
        """The log that is looked at."""
        return self._log

    @property
    def filters(self) -> bool:
        """Whether some lines may be left out."""
        return bool(self.words) or self.group is not GROUPS[0]

    def count(self, group: Group) -> int:
        """How many held lines a group has, whatever the words."""
        return sum(self._log.counts[kind] for kind in group.kinds)

    @property
    def next_group(self) -> Group:
        """The group after this one that has lines."""
        here = GROUPS.index(self.group)
        after = [*GROUPS[here + 1 :], *GROUPS[: here + 1]]
        return next((each for each in after if self.count(each)), GROUPS[0])

    def show_group(self, group: Group) -> None:
        """Show the lines of other kinds."""
        self.group = group
        self._begin()

    def show_words(self, words: str) -> None:
        """Show the lines that hold all of these words, whatever their case."""
        if words != self.words:
            self.words = words
            self._begin()

    def follow(self) -> bool:
        """Take in what is new; whether anything looks different now."""
        log = self._log
        if log.changes == self._seen and not self._changed:
            return False
        self._seen, self._changed = log.changes, False
        gone = next((i for i, number in enumerate(self.rows) if number >= log.dropped), None)
        self.rows = [] if gone is None else self.rows[gone:] if gone else self.rows
        words = self.words.lower().split()
        self.rows += [each.number for each in log.since(self._read) if self._shows(each, words)]
        self._read = log.end
        return True

    def _begin(self) -> None:
        self.rows, self._read, self._changed = [], 0, True

    def _shows(self, line: LogLine, words: list[str]) -> bool:
        if line.kind not in self.group.kinds:
            return False
        return all(word in line.searched for word in words)
