"""One side of a comparison: a judgment as far as it is compared with another one.

A side is read from what the store recorded, or made of what is known about a plan now.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from longjudge.errors import UsageError
from longjudge.prices import OFFLINE_MODEL
from longjudge.states import ChunkState, JudgmentStatus
from longjudge.text import clean_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from longjudge.report.asked import Questions
    from longjudge.store import PastJudgment

READING = "reading what is kept"
"""The status of a side whose kept verdicts have not all been read yet."""

JUDGED = frozenset({ChunkState.CLEAN, ChunkState.FLAGGED})


@dataclass(frozen=True, slots=True)
class SideFinding:
    """A finding; `digest` is what a mark on it goes by, empty where nobody noted it.

    `event` has the number that the side's own session has, `span` says where the quote stood in
    its text.
    """

    part: int
    criterion: str
    note: str
    event: int | None
    quote: str | None
    verified: bool
    digest: str = ""
    span: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class SidePart:
    """A chunk: events `first` to `last` of a thread, and what became of it."""

    part: int
    state: ChunkState
    reason: str
    thread: str
    first: int
    last: int
    chars: int

    @property
    def judged(self) -> bool:
        """Whether it has a verdict."""
        return self.state in JUDGED


@dataclass(frozen=True, slots=True)
class JudgedBy:
    """What a side was judged by; `size` is None where nobody noted it."""

    model: str
    rubric: str
    version: str
    size: int | None
    by_tokens: bool = False
    redact: bool = True

    def same_size(self, other: JudgedBy) -> bool:
        """Whether both cut a session at the same places, so that scores mean the same."""
        mine, its = (self.size, self.by_tokens), (other.size, other.by_tokens)
        return self.size is not None and mine == its

    @property
    def judge_words(self) -> str:
        """Who judged, for people."""
        return "offline rules" if self.model == OFFLINE_MODEL else clean_line(self.model, 80)

    @property
    def size_words(self) -> str:
        """The chunk size, for people."""
        if self.size is None:
            return "an unknown chunk size"
        return f"{self.size:,} {'tokens' if self.by_tokens else 'characters'}"


@dataclass(frozen=True, slots=True)
class SideSession:
    """The session as the side knew it; `real_path` is empty where nobody noted it."""

    path: str
    real_path: str
    id: str
    title: str
    format: str
    events: int


@dataclass(frozen=True, slots=True)
class Side:
    """A judgment; `id` is empty and `created` None for what stands now and is not over.

    `status` is empty as long as it is not over. `unread` are the criteria of which the offline
    rules, where they judged, did not read the changed question. `asked` is what its rubric asked,
    None where nobody knows.
    """

    id: str
    created: float | None
    status: str
    by: JudgedBy
    session: SideSession
    parts: tuple[SidePart, ...]
    findings: tuple[SideFinding, ...]
    criteria: tuple[str, ...]
    score: float | None = None
    score_range: tuple[float, float] = (0.0, 1.0)
    fault: str = ""
    unread: tuple[str, ...] = ()
    asked: Questions | None = None

    @property
    def judged(self) -> int:
        """How many chunks have a verdict."""
        return sum(part.judged for part in self.parts)

    @property
    def flagged(self) -> int:
        """How many of these are flagged."""
        return sum(part.state is ChunkState.FLAGGED for part in self.parts)

    @property
    def lacking(self) -> int:
        """How many chunks have no verdict."""
        return len(self.parts) - self.judged


class _Part(msgspec.Struct):
    part: int
    state: ChunkState
    thread: str
    first_event: int
    last_event: int
    reason: str | None = None
    chars: int = 0


class _Finding(msgspec.Struct):
    part: int
    criterion: str
    note: str = ""
    event: int | None = None
    quote: str | None = None
    verified: bool = False
    start: int | None = None
    end: int | None = None


class _Session(msgspec.Struct):
    title: str = ""
    format: str = ""
    events: int = 0


class _Result(msgspec.Struct):
    parts: tuple[_Part, ...]
    findings: tuple[_Finding, ...]
    session: _Session
    criteria: dict[str, object] = {}
    score: float | None = None
    score_range: tuple[float, float] = (0.0, 1.0)
    fault: str | None = None


def side_of(judgment: PastJudgment) -> Side:
    """A judgment that the store recorded, with its parts.

    Raises:
        UsageError: there is nothing in it to compare, or it does not read.
    """
    name = clean_line(judgment.id, 40)
    if judgment.status == JudgmentStatus.NOT_APPLICABLE:
        raise UsageError(
            f"{name}: the rubric did not apply, so nothing was judged; choose another judgment"
        )
    try:
        result = msgspec.convert(judgment.result, _Result)
    except msgspec.ValidationError as error:
        raise _unreadable(name) from error
    parts = tuple(map(_part, result.parts))
    if not _in_order(parts):
        raise _unreadable(name)
    return Side(
        id=judgment.id,
        created=judgment.created,
        status=judgment.status,
        by=judged_by(judgment),
        session=SideSession(
            path=judgment.path,
            real_path=judgment.real_path,
            id=judgment.session_id,
            title=result.session.title,
            format=result.session.format,
            events=result.session.events,
        ),
        parts=parts,
        findings=tuple(_findings(judgment, result)),
        criteria=tuple(result.criteria),
        score=result.score,
        score_range=result.score_range,
        fault=result.fault or "",
    )


def found_keys(judgment: PastJudgment) -> Iterator[tuple[str, str]]:
    """What marks on the findings of a judgment go by, where they name an event."""
    findings = judgment.result.get("findings", [])
    try:
        told = msgspec.convert(findings, list[_Finding])
    except msgspec.ValidationError:
        return
    for finding, digest in zip(told, judgment.digests, strict=False):
        if finding.event is not None and digest:
            yield digest, finding.criterion


def judged_by(judgment: PastJudgment) -> JudgedBy:
    """What a judgment was judged by, as far as it reads; its parts are not needed."""
    settings = judgment.result.get("settings")
    try:
        known = msgspec.convert(settings, dict[str, object])
    except msgspec.ValidationError:
        known = {}
    tokens, chars = known.get("chunk_tokens"), known.get("chunk_chars")
    size = tokens if isinstance(tokens, int) else chars if isinstance(chars, int) else None
    return JudgedBy(
        judgment.model,
        judgment.rubric,
        judgment.rubric_version,
        size,
        by_tokens=isinstance(tokens, int),
        redact=known.get("redact") is not False,
    )


def _part(each: _Part) -> SidePart:
    reason, chars = each.reason or "", each.chars
    return SidePart(
        each.part, each.state, reason, each.thread, each.first_event, each.last_event, chars
    )


def _findings(judgment: PastJudgment, result: _Result) -> list[SideFinding]:
    digests = judgment.digests
    return [
        SideFinding(
            part=each.part,
            criterion=each.criterion,
            note=each.note,
            event=each.event,
            quote=each.quote,
            verified=each.verified,
            digest=digests[number] if number < len(digests) else "",
            span=None if each.start is None or each.end is None else (each.start, each.end),
        )
        for number, each in enumerate(result.findings)
    ]


def _in_order(parts: tuple[SidePart, ...]) -> bool:
    """Whether the parts follow one another, as every plan's do; pieces of an event share it."""
    last = -1
    for number, part in enumerate(parts, 1):
        again = part.first == part.last == last
        if part.part != number or part.first > part.last or not (part.first > last or again):
            return False
        last = part.last
    return True


def _unreadable(name: str) -> UsageError:
    return UsageError(
        f"{name}: it was recorded in a form that this version cannot compare;"
        " judge the session again, or choose another judgment"
    )
