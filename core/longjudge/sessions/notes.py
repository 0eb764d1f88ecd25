"""What was odd while a file was read: each reason once, counted, with its first line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longjudge.sessions.model import Diagnostic, Severity
from longjudge.text import clean_line

if TYPE_CHECKING:
    from collections.abc import Callable

_MAX_REASONS = 60


class Notes:
    """Collects diagnostics; bounded, however many different reasons a hostile file makes up.

    `torn` are the numbers of damaged lines whose record the lines behind them may complete.
    `line_of` gives the line of a record by its number, where records are not a line each.
    """

    def __init__(self, line_of: Callable[[int], int | None] | None = None) -> None:
        self._line_of = line_of
        self._seen: dict[tuple[str, Severity], tuple[int, int | None]] = {}
        self._about = ""
        self.torn: list[int] = []

    def about(self, file: str) -> Notes:
        """Notes that go to the same place; warnings have the name of another file before them."""
        notes = Notes()
        notes._seen, notes._about = self._seen, f"{file}: "
        return notes

    def add(
        self, reason: str, line: int | None, severity: Severity = Severity.WARNING, count: int = 1
    ) -> None:
        """Count a reason; `line` (from 1) is kept the first time.

        Where records are not a line each, it is the number of the record, from 1 too.
        """
        if self._about:
            # What loses nothing is not told file by file: a session may have hundreds.
            reason, line = (
                (self._about + reason, line) if severity is Severity.WARNING else (reason, None)
            )
        key = (reason, severity)
        if key not in self._seen and len(self._seen) >= _MAX_REASONS:
            key = ("other oddities", severity)
        if key not in self._seen and line is not None and self._line_of is not None:
            line = self._line_of(line - 1)
        before, first = self._seen.get(key, (0, line))
        self._seen[key] = (before + count, first)

    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Everything counted so far: warnings first, then in the order of first sight."""
        found = [
            Diagnostic(clean_line(reason), count, line, severity)
            for (reason, severity), (count, line) in self._seen.items()
        ]
        return tuple(sorted(found, key=lambda note: note.severity is not Severity.WARNING))
