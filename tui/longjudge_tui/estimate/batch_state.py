"""How far a batch run of another process is, told from what it prints. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace

import msgspec

from longjudge_tui.commands import command
from longjudge_tui.wording import dollars, line, plural

_USAGE, _SIGNALLED = 2, 128
"""Exit codes: it could not be used; above, the number of the signal that ended it."""

_NOT_ALL = "NOT ALL IS KEPT"
"""How the line begins that says what the store has not taken by the end."""


class _ResultLine(msgspec.Struct, frozen=True):
    """What is read of a result."""

    id: str
    unjudged_chunks: int = 0
    flagged_chunks: int = 0
    cost_usd: float | None = None
    store_error: str | None = None


@dataclass(frozen=True, slots=True)
class BatchState:
    """How far a run is: `done` of about `sessions`; a cost that is unknown is None.

    `code` is its exit code, None while it runs; `said` is what it said last, safe to show. Of
    `not_kept` results the store has not taken all, and `lost` is what the run said of that.
    """

    sessions: int
    done: int = 0
    gaps: int = 0
    flagged: int = 0
    cost_usd: float | None = 0.0
    said: str = ""
    not_kept: int = 0
    lost: str = ""
    cancelled: bool = False
    code: int | None = None

    @property
    def running(self) -> bool:
        """Whether it goes on."""
        return self.code is None

    def with_words(self, words: str) -> BatchState:
        """The same after a line of what it says, safe to show."""
        lost = words if words.startswith(_NOT_ALL) else self.lost
        return replace(self, said=words, lost=lost)

    def with_result(self, printed: bytes) -> BatchState:
        """The same with one more result; what is none changes nothing."""
        try:
            found = msgspec.json.decode(printed, type=_ResultLine)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return self
        cost = self.cost_usd
        return replace(
            self,
            done=self.done + 1,
            gaps=self.gaps + found.unjudged_chunks,
            flagged=self.flagged + (found.flagged_chunks > 0),
            not_kept=self.not_kept + (found.store_error is not None),
            cost_usd=None if cost is None or found.cost_usd is None else cost + found.cost_usd,
        )

    @property
    def words(self) -> str:
        """How far it is, in a line."""
        parts = [f"{self.done:,} of {plural(max(self.sessions, self.done), 'session')}"]
        if self.flagged:
            parts.append(f"{self.flagged:,} flagged")
        if self.gaps:
            parts.append(plural(self.gaps, "gap"))
        if self.not_kept:
            parts.append(f"{self.not_kept:,} not kept")
        if self.cost_usd is None:
            parts.append("cost unknown")
        elif self.cost_usd:
            parts.append(dollars(self.cost_usd))
        lost = f" · {line(self.lost, 300)}" if self.lost else ""
        return f"{self._name}: {', '.join(parts)}{lost}{self._why}"

    @property
    def _name(self) -> str:
        if self.running:
            return "cancelling the batch run" if self.cancelled else "batch run"
        if self.cancelled or self._signalled:
            return "batch run cancelled" if self.cancelled else "batch run ended by a signal"
        return "batch run failed" if self.code == _USAGE else "batch run ended"

    @property
    def _signalled(self) -> bool:
        code = self.code or 0
        return code > _SIGNALLED or code < 0

    @property
    def _why(self) -> str:
        """What it said, where that is why it came to nothing; what leads on from a killed one."""
        if self._signalled and not self.cancelled:
            return f" · {command('run_batch').shown} takes over what it left"
        return f" · {line(self.said, 300)}" if self.code == _USAGE and self.said else ""
