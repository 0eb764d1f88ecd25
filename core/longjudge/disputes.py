"""What the offline rules find in a chunk that a model called clean: for a person to look at."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from longjudge.errors import SessionError
from longjudge.evidence import place_findings
from longjudge.judges.rules import criteria_with_rules, find_problems
from longjudge.prompt import question_events
from longjudge.result import ResultFinding

if TYPE_CHECKING:
    from collections.abc import Sequence

    from longjudge.chunks import Chunk
    from longjudge.sessions.model import Session


@dataclass(frozen=True, slots=True)
class RuleFinding(ResultFinding):
    """A finding of the rules beside a clean verdict; no part of any result."""


def rules_say(
    session: Session, chunk: Chunk, criteria: Sequence[str], *, redacted: bool
) -> tuple[RuleFinding, ...]:
    """What the rules find by those of the criteria that they know, in the order of the events.

    Nothing where the file does not hold the chunk any more. `redacted` says that the texts are read
    without their secrets.
    """
    known = [criterion for criterion in criteria if criterion in criteria_with_rules()]
    try:
        events = question_events(session, chunk, redact=redacted)
    except SessionError:
        return ()
    found = find_problems(events, known)
    flat = sorted(
        (each for name in known for each in found[name]), key=lambda each: each.event or 0
    )
    placed = place_findings(session, chunk, flat, redacted=redacted)
    return tuple(
        RuleFinding(**{field.name: getattr(each, field.name) for field in fields(each)})
        for each in placed
    )
