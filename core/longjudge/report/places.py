"""Where the findings of a judgment stand in the files of its session, so that anyone finds them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from longjudge.redaction import redacted_text
from longjudge.text import clean_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from longjudge.report.outcome import FoundProblem
    from longjudge.sessions import Session


@dataclass(frozen=True, slots=True)
class Place:
    """A line of a file, from 1; `file` is empty where it is the session's own."""

    line: int | None = None
    file: str = ""

    @property
    def words(self) -> str:
        """The line, and the file where that is another one."""
        if self.line is None:
            return clean_line(self.file, 1_000)
        of = f" of {clean_line(self.file, 1_000)}" if self.file else ""
        return f"line {self.line}{of}"


NOWHERE = Place()


def places_of(
    session: Session,
    findings: Sequence[FoundProblem],
    digests: Sequence[str] | None = None,
    *,
    redact: bool = True,
) -> list[Place]:
    """The place of each finding's event; with `redact` without the secrets in names of files.

    With `digests` of the texts that the findings are about, an event with another text by now has
    no place: the file is not the one that was judged.
    """
    return [
        _place(
            session,
            each.event,
            digests[number : number + 1] if digests is not None else None,
            redact=redact,
        )
        for number, each in enumerate(findings)
    ]


def _place(
    session: Session, event: int | None, digest: Sequence[str] | None, *, redact: bool
) -> Place:
    if event is None or not 0 <= event < len(session.index):
        return NOWHERE
    if digest is not None and list(digest) != [session.index.digest(event).hex()]:
        return NOWHERE
    file = session.file(event) or ""
    if file == session.name:
        file = ""
    return Place(session.line(event), redacted_text(file) if redact else file)
