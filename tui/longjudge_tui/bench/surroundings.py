"""An event with its neighbours as one text: what came before it, what after, a call's result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from longjudge.errors import SessionError
from longjudge.redaction import find_secrets
from longjudge.text import clean_line
from longjudge_tui.wording import plural

if TYPE_CHECKING:
    from longjudge.redaction import Redacted
    from longjudge.sessions import Session

NEAR = 4
"""Events of the same thread shown on each side."""

RESULT_WITHIN = 500
"""A result further away from its call is not searched for."""

NEIGHBOUR_CHARS = 1_500
SLOW_NEIGHBOUR_CHARS = 200_000
"""A neighbour from here on is named and not read: several of them would hold up a frame."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """One text. `heads` are the spans of its headers, `start` is where the event's text begins.

    `secrets` are the spans of what a judge does not read.
    """

    text: str
    heads: tuple[tuple[int, int], ...]
    start: int
    first: int
    last: int
    secrets: tuple[tuple[int, int], ...] = ()


def neighbours(session: Session, event: int) -> list[int]:
    """The events shown around one, itself included, ascending; all of one thread."""
    index = session.index
    thread = index.thread_of(event)
    near = range(max(thread.first, event - NEAR), min(thread.end, event + NEAR + 1))
    stop = min(thread.end, event + RESULT_WITHIN)
    results = [each for each in range(event + 1, stop) if index.calls[each] == event]
    call = index.calls[event]
    calls = [call] if call >= thread.first else []
    return sorted({*near, *calls, *results})


def surroundings(
    session: Session, event: int, shown: Redacted, *, redact: bool = True
) -> Surroundings:
    """The text around an event; `shown` is what is shown of the event itself.

    With `redact` the secrets of its neighbours are found as well.
    """
    numbers = neighbours(session, event)
    pieces: list[str] = []
    heads: list[tuple[int, int]] = []
    secrets: list[tuple[int, int]] = []
    length = start = 0
    for number in numbers:
        head = _head(session, number, here=number == event)
        body = shown.original if number == event else _beginning(session, number)
        found = shown.replacements if number == event else ()
        if redact and number != event:
            found = find_secrets(body)
        begin = length + len(head) + 1
        secrets += [(begin + each.start, begin + each.end) for each in found]
        heads.append((length, length + len(head)))
        if number == event:
            start = begin
        piece = f"{head}\n{body}\n\n"
        pieces.append(piece)
        length += len(piece)
    first, last = numbers[0], numbers[-1]
    return Surroundings("".join(pieces), tuple(heads), start, first, last, tuple(secrets))


def _head(session: Session, number: int, *, here: bool) -> str:
    index = session.index
    tool = f" {clean_line(index.tool(number), 60)}" if index.tool(number) else ""
    line = session.line(number)
    where = f" · line {line}" if line is not None else ""
    answers = ""
    if (call := index.calls[number]) != number:
        answers = f" · answers event {call}"
    pointer = "▶" if here else "─"
    return f"{pointer * 2} event {number} · {index.kind(number).value}{tool}{answers}{where} ──"


def _beginning(session: Session, number: int) -> str:
    """The first characters of a neighbour, without the line that its header says already."""
    chars = session.index.chars[number]
    if chars >= SLOW_NEIGHBOUR_CHARS:
        return f"({plural(chars, 'character')}, shown by itself only)"
    try:
        body = session.event(number).body
    except SessionError as error:
        return f"({error})"
    if len(body) <= NEIGHBOUR_CHARS:
        return body
    return f"{body[:NEIGHBOUR_CHARS]}\n(… {plural(len(body) - NEIGHBOUR_CHARS, 'character')} more)"
