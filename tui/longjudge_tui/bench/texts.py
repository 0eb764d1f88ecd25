"""The texts of a session's events for the screen; what takes long to read is read in a thread."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longjudge.prompt import sent_event
from longjudge_tui.bench.aside import Aside
from longjudge_tui.bench.raw_record import raw_record

if TYPE_CHECKING:
    from longjudge.redaction import Redacted
    from longjudge.sessions import Session
    from longjudge_tui.bench.raw_record import RawRecord

SLOW_CHARS = 1_000_000
"""A text from here on takes longer to read again than a frame may."""

SLOW_TO_REDACT_CHARS = 200_000
"""Looking for the secrets in one from here on does; the session holds the last such text."""


class Texts:
    """Hands texts out; a slow one once it is in. `raw` has the records behind the events.

    `redact` says whether a judge reads them without their secrets. `close` ends the tasks of both.
    """

    def __init__(self, session: Session, *, redact: bool = True) -> None:
        self.session = session
        self.redact = redact
        self.raw: Aside[RawRecord] = Aside(lambda event: raw_record(session.raw(event)))
        self._slow: Aside[Redacted] = Aside(lambda event: sent_event(session, event, redact=redact))

    def is_slow(self, event: int) -> bool:
        """Whether a text has to be waited for at first."""
        return self.session.index.chars[event] >= SLOW_CHARS

    def at_hand(self, event: int) -> bool:
        """Whether a text can be had at once."""
        return not self.is_slow(event) or self._slow.at_hand(event)

    def get(self, event: int) -> str | None:
        """A text; None where it is being read from now on, until it is `at_hand`.

        Raises:
            SessionError: the file no longer holds it.
        """
        if not self.is_slow(event):
            return self.session.text(event)
        sent = self._slow.get(event)
        return None if sent is None else sent.original

    def sent(self, event: int) -> Redacted | None:
        """A text with what a judge reads of it; None until it is `sent_at_hand`, as for `get`.

        Raises:
            SessionError: the file no longer holds it.
        """
        if self._is_slow_to_redact(event):
            return self._slow.get(event)
        return sent_event(self.session, event, redact=self.redact)

    def sent_at_hand(self, event: int) -> bool:
        """Whether what a judge reads of a text can be had at once."""
        return not self._is_slow_to_redact(event) or self._slow.at_hand(event)

    def _is_slow_to_redact(self, event: int) -> bool:
        long = self.session.index.chars[event] >= SLOW_TO_REDACT_CHARS
        return self.is_slow(event) or (self.redact and long)

    def raise_failure(self) -> None:
        """Raise what a task of this object died of."""
        self.raw.raise_failure()
        self._slow.raise_failure()

    def close(self) -> None:
        """Wait for no text any more."""
        self.raw.close()
        self._slow.close()
