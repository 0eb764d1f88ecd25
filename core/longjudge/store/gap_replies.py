"""What was said about the chunks of a judgment that have no verdict, for a person to read.

They stand beside the judgment and are written with it, all or none of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import msgspec

from longjudge.text import without_surrogates

if TYPE_CHECKING:
    from collections.abc import Sequence

    from longjudge.store.file import StoreFile

DELETE: Final = "DELETE FROM gap_replies WHERE judgment = ?"
INSERT: Final = "INSERT INTO gap_replies (judgment, part, problem, reply) VALUES (?,?,?,?)"

# A store is only a file: what is no text was not written here.
_READ = """
    SELECT part, problem, reply FROM gap_replies WHERE judgment = ?
    AND typeof(part) = 'integer' AND typeof(problem) = 'text' AND typeof(reply) = 'text'
"""
_LAST = """
    SELECT id, created FROM judgments
    WHERE real_path = ? AND session_id = ? AND model = ? AND rubric_version = ?
    ORDER BY created DESC, id DESC LIMIT 1
"""
_PART = """
    SELECT json_extract(result, '$.parts[' || ? || ']') FROM judgments
    WHERE id = ? AND json_valid(result)
"""


@dataclass(frozen=True, slots=True)
class GapReply:
    """One gap: what is wrong in words, and the judge's last reply, each empty where there is none.

    Hostile text, as the judge wrote it but for lone surrogates.
    """

    part: int
    problem: str
    reply: str


@dataclass(frozen=True, slots=True)
class Asked:
    """Who was asked about which session; empty paths stand for events in memory."""

    real_path: str
    session_id: str
    model: str
    rubric_version: str


@dataclass(frozen=True, slots=True)
class Stretch:
    """Where a chunk stands in its session."""

    part: int
    thread: str
    first_event: int
    last_event: int
    chars: int


@dataclass(frozen=True, slots=True)
class LastGap:
    """A gap of the last judgment, and when it was recorded, in seconds since 1970."""

    reason: str
    gap: GapReply
    created: float


class _Part(msgspec.Struct):
    part: int
    thread: str
    first_event: int
    last_event: int
    chars: int
    reason: str | None = None

    def is_at(self, stretch: Stretch) -> bool:
        return stretch == Stretch(
            self.part, self.thread, self.first_event, self.last_event, self.chars
        )


def to_rows(judgment: str, gaps: Sequence[GapReply]) -> list[tuple[str, int, str, str]]:
    """The values of `INSERT`."""
    return [
        (judgment, gap.part, without_surrogates(gap.problem), without_surrogates(gap.reply))
        for gap in gaps
    ]


async def read_gap_replies(store: StoreFile, judgment: str) -> list[GapReply]:
    """What is kept about the gaps of a judgment, by part.

    Raises:
        StoreError: the store cannot be read.
    """
    rows = await store.read(f"{_READ} ORDER BY part", (judgment,))
    return [GapReply(*row) for row in rows]


async def last_gap(store: StoreFile, asked: Asked, stretch: Stretch) -> LastGap | None:
    """The gap that the newest judgment left at a chunk; None where its plan was another one.

    Raises:
        StoreError: the store cannot be read.
    """
    values = asked.real_path, asked.session_id, asked.model, asked.rubric_version
    rows = await store.read(_LAST, tuple(map(without_surrogates, values)))
    if not rows:
        return None
    [(judgment, created)] = rows
    part = await _part(store, judgment, stretch.part)
    if part is None or part.reason is None or not part.is_at(stretch):
        return None
    rows = await store.read(f"{_READ} AND part = ?", (judgment, stretch.part))
    return LastGap(part.reason, GapReply(*rows[0]), created) if rows else None


async def _part(store: StoreFile, judgment: str, part: int) -> _Part | None:
    rows = await store.read(_PART, (part - 1, judgment))
    try:
        return msgspec.json.decode(rows[0][0], type=_Part) if rows and rows[0][0] else None
    except (ValueError, TypeError, RecursionError):
        return None
