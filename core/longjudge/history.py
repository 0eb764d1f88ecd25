"""The judgments of the past one by one, as far as a list shows them. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from sys import intern
from typing import TYPE_CHECKING, Final

import msgspec

from longjudge.marks import Mark
from longjudge.states import JudgmentStatus

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from longjudge.store import PastJudgment

BROKEN_OFF: Final = "broken_off"
"""What stands for a status where a run was ended by force, and no judgment of it is recorded."""

Marks = dict[tuple[str, str], Mark]
"""Marks by the hexadecimal digest of what they are about, and the criterion."""


@dataclass(frozen=True, slots=True, order=True)
class ChunkSetting:
    """What chunks were cut by; `unit` is `chars` or `tokens`."""

    size: int
    unit: str


class Entry(msgspec.Struct, frozen=True, gc=False):
    """One judgment of the past, as far as a list shows it.

    There may be very many, and none is part of a cycle: the collector need not look at them.

    `known` is false where it was recorded in a form that does not read any more. `calls` were
    asked. `gaps` are counts by reason.
    """

    id: str
    path: str
    real_path: str
    session_id: str
    title: str
    format: str
    events: int
    rubric: str
    version: str
    model: str
    setting: ChunkSetting | None
    redacted: bool
    status: str
    created: float
    score: float | None = None
    low: float = 0.0
    high: float = 1.0
    chunks: int = 0
    judged: int = 0
    flagged: int = 0
    findings: int = 0
    verified: int = 0
    right: int = 0
    wrong: int = 0
    gaps: tuple[tuple[str, int], ...] = ()
    calls: int = 0
    cost_usd: float | None = 0.0
    fault: str = ""
    known: bool = True

    @classmethod
    def of(cls, past: PastJudgment, marks: Marks) -> Entry:
        """What a recorded judgment says; a store may hold anything."""
        facts = _read(past.result)
        told = facts or _Facts()
        keys = zip(past.digests, told.findings, strict=False)
        marked = [marks.get((digest, each.criterion)) for digest, each in keys] if marks else []
        return cls(
            id=past.id,
            path=intern(past.path),
            real_path=intern(past.real_path),
            session_id=intern(past.session_id),
            title=intern(told.session.title),
            format=intern(told.session.format),
            events=told.session.events,
            rubric=intern(past.rubric),
            version=intern(past.rubric_version),
            model=intern(past.model),
            setting=_setting(told.settings),
            redacted=told.settings.get("redact") is not False,
            status=intern(past.status),
            created=past.created,
            score=told.score,
            low=told.score_range[0],
            high=told.score_range[1],
            chunks=told.chunks,
            judged=told.judged_chunks,
            flagged=told.flagged_chunks,
            findings=len(told.findings),
            verified=sum(each.verified for each in told.findings),
            right=marked.count(Mark.RIGHT),
            wrong=marked.count(Mark.WRONG),
            gaps=tuple((intern(reason), count) for reason, count in told.gaps.items()),
            calls=told.calls,
            cost_usd=told.cost_usd,
            fault=told.fault or "",
            known=facts is not None,
        )

    @property
    def recorded(self) -> bool:
        """Whether its end is recorded; else nobody knows yet what it judged."""
        return self.status != BROKEN_OFF

    @property
    def unjudged(self) -> int:
        """The chunks without a verdict."""
        return max(0, self.chunks - self.judged)

    @property
    def applies(self) -> bool:
        """Whether the rubric applied."""
        return self.status != JudgmentStatus.NOT_APPLICABLE

    @property
    def complete(self) -> bool:
        """Whether every chunk was judged."""
        return self.status == JudgmentStatus.COMPLETE

    @property
    def session(self) -> tuple[str, str]:
        """What tells sessions apart."""
        return self.real_path or self.path, self.session_id

    @property
    def cost_of_rest(self) -> float | None:
        """About what the missing chunks cost, if they cost what the others did."""
        if self.cost_usd is None or not self.calls:
            return None
        return self.cost_usd / self.calls * self.unjudged


class _Session(msgspec.Struct):
    title: str = ""
    format: str = ""
    events: int = 0


class _Finding(msgspec.Struct):
    criterion: str = ""
    verified: bool = False


class _Facts(msgspec.Struct):
    session: _Session = msgspec.field(default_factory=_Session)
    score: float | None = None
    score_range: tuple[float, float] = (0.0, 1.0)
    chunks: int = 0
    judged_chunks: int = 0
    flagged_chunks: int = 0
    findings: list[_Finding] = []
    gaps: dict[str, int] = {}
    calls: int = 0
    cost_usd: float | None = None
    settings: dict[str, bool | int | float | str | None] = {}
    fault: str | None = None


def _read(result: Mapping[str, object]) -> _Facts | None:
    try:
        return msgspec.convert(result, _Facts)
    except (msgspec.ValidationError, RecursionError):
        return None


def _setting(settings: Mapping[str, object]) -> ChunkSetting | None:
    for name, unit in (("chunk_tokens", "tokens"), ("chunk_chars", "chars")):
        size = settings.get(name)
        if isinstance(size, int) and not isinstance(size, bool):
            return ChunkSetting(size, unit)
    return None


def hex_marks(marks: Mapping[tuple[bytes, str], Mark]) -> Marks:
    """Marks as judgments name what they are about."""
    return {(digest.hex(), criterion): mark for (digest, criterion), mark in marks.items()}


def of_one_session(entries: Iterable[Entry], real_path: str, session_id: str) -> list[Entry]:
    """The judgments of one session among those with its id.

    Ids that are names of files are not unique: in another place, it is the same session where it is
    of the same format and title as one that was judged here, or where none was.
    """
    given = list(entries)
    same_id = [each for each in given if each.session_id == session_id]
    here = {(each.format, each.title) for each in same_id if each.real_path == real_path}
    return [
        each
        for each in same_id
        if each.real_path == real_path or not here or (each.format, each.title) in here
    ]
