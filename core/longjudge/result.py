"""What a judgment says in the end: one shape for every ending, coverage beside the score.

All functions here are pure. A gap never counts as clean or flagged; where the ending leaves the
score without meaning it is None, and `score_range` says what it could still become.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from dataclasses import fields as dataclass_fields
from typing import TYPE_CHECKING, Protocol

from longjudge.settings import in_seconds
from longjudge.states import ChunkState, GapReason, JudgmentStatus
from longjudge.text import clean_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from longjudge.prices import RunPrice, Usage

EVIDENCE_NOTES = 5
_NO_SCORE = frozenset(
    {
        JudgmentStatus.TIMED_OUT,
        JudgmentStatus.CANCELLED,
        JudgmentStatus.FAILED,
        JudgmentStatus.NOT_APPLICABLE,
    }
)


@dataclass(frozen=True, slots=True)
class ResultFinding:
    """A finding placed in the session: `event` is the session's number, from 0, or None.

    `start` and `end` say where the quote stands in the event's text, None where it was not found.
    `named_event` is the event that the judge named, None where there is none of that number;
    `corrected` says that the quote stands in another one, which `event` then is.
    """

    part: int
    criterion: str
    note: str
    event: int | None
    quote: str | None
    verified: bool
    start: int | None = None
    end: int | None = None
    named_event: int | None = None
    corrected: bool = False

    @property
    def span(self) -> tuple[int, int] | None:
        """Where the quote stands in the event's text."""
        return None if self.start is None or self.end is None else (self.start, self.end)

    def to_dict(self) -> dict[str, object]:
        """The JSON form; shallow, since a result may hold a hundred thousand findings."""
        return {name: getattr(self, name) for name in _FINDING_FIELDS}


_FINDING_FIELDS = tuple(item.name for item in dataclass_fields(ResultFinding))


@dataclass(frozen=True, slots=True)
class ResultPart:
    """What became of one chunk. `tokens` is the estimate for the whole request.

    `waited` is how long it waited for others and for its next try. `disagrees` is true where the
    offline rules flag what the model called clean. Of what was answered `in_batch`, `seconds` are
    those in the provider's queue.
    """

    part: int
    state: ChunkState
    reason: GapReason | None
    from_cache: bool
    thread: str
    first_event: int
    last_event: int
    chars: int
    tokens: int
    attempts: int
    seconds: float
    waited: float = 0.0
    disagrees: bool = False
    in_batch: bool = False

    def to_dict(self) -> dict[str, object]:
        """The JSON form, built by hand: a session may have tens of thousands of parts."""
        part: dict[str, object] = {
            "part": self.part,
            "state": self.state.value,
            "reason": self.reason.value if self.reason else None,
            "from_cache": self.from_cache,
            "thread": self.thread,
            "first_event": self.first_event,
            "last_event": self.last_event,
            "chars": self.chars,
            "tokens": self.tokens,
            "attempts": self.attempts,
            "seconds": self.seconds,
        }
        if self.waited:
            part["waited"] = self.waited
        if self.disagrees:
            part["disagrees"] = True
        if self.in_batch:
            part["in_batch"] = True
        return part


@dataclass(frozen=True, slots=True)
class CriterionScore:
    """One criterion over all judged chunks."""

    score: float | None
    flagged: int
    judged: int


@dataclass(frozen=True, slots=True)
class Result:
    """One judgment's outcome; `to_dict` gives its JSON.

    `price` is what `cost_usd` was computed by, None where it is unknown. `error` says why the
    judgment stopped early.
    """

    id: str
    session: dict[str, str | int | None]
    status: JudgmentStatus
    score: float | None
    score_range: tuple[float, float]
    chunks: int
    judged_chunks: int
    flagged_chunks: int
    unjudged_chunks: int
    gaps: dict[str, int]
    evidence: str
    findings: tuple[ResultFinding, ...]
    criteria: dict[str, CriterionScore]
    parts: tuple[ResultPart, ...]
    calls: int
    calls_without_reply: int
    cached_chunks: int
    usage: Usage
    cost_usd: float | None
    model: str
    rubric: dict[str, str]
    settings: dict[str, int | float]
    verified_share: float
    disagreements: int
    store_error: str | None
    fault: str | None
    seconds: float
    holds_left: int
    price: RunPrice | None = None
    error: str | None = field(default=None)

    def to_dict(self) -> dict[str, object]:
        """The JSON object of `judge --json`."""
        fields: dict[str, object] = {
            item.name: getattr(self, item.name) for item in dataclass_fields(self)
        }
        del fields["error"]
        fields["status"] = self.status.value
        fields["score_range"] = list(self.score_range)
        fields["findings"] = [finding.to_dict() for finding in self.findings]
        fields["criteria"] = {name: asdict(score) for name, score in self.criteria.items()}
        fields["parts"] = [part.to_dict() for part in self.parts]
        fields["price"] = asdict(self.price) if self.price else None
        usage = {name: count for name, count in asdict(self.usage).items() if count}
        fields["usage"] = {"input_tokens": 0, "output_tokens": 0} | usage
        return fields


def judgment_status(
    chunks: int, judged: int, *, limit_reached: bool, cancelled: bool
) -> JudgmentStatus:
    """The status of a judgment that applied, by the order of the contract."""
    if judged == chunks:
        return JudgmentStatus.COMPLETE
    if limit_reached:
        return JudgmentStatus.TIMED_OUT
    if cancelled:
        return JudgmentStatus.CANCELLED
    return JudgmentStatus.PARTIAL if judged else JudgmentStatus.FAILED


def score_of(status: JudgmentStatus, judged: int, flagged: int) -> float | None:
    """Share of judged chunks that are clean, None where the ending gives it no meaning."""
    if status in _NO_SCORE or not judged:
        return None
    return 1 - flagged / judged


def score_range(chunks: int, judged: int, flagged: int) -> tuple[float, float]:
    """Lowest and highest score once the gaps are judged; (0, 1) when nothing was judged."""
    if not judged:
        return 0.0, 1.0
    return 1 - (flagged + chunks - judged) / chunks, 1 - flagged / chunks


def evidence_line(
    status: JudgmentStatus,
    chunks: int,
    judged: int,
    findings: Sequence[ResultFinding],
    time_limit: float,
) -> str:
    """The result in one line: what was found, or how much of the session that rests on."""
    notes = "; ".join(
        f"part {finding.part}: {clean_line(finding.note or finding.criterion)}"
        for finding in findings[:EVIDENCE_NOTES]
    )
    coverage = f"{judged} of {chunks} parts judged"
    tail = f"{coverage}: {notes}" if notes else coverage
    match status:
        case JudgmentStatus.NOT_APPLICABLE:
            return "not applicable: no tool call"
        case JudgmentStatus.TIMED_OUT:
            return f"not judged within {in_seconds(time_limit)} seconds; {tail}"
        case JudgmentStatus.CANCELLED:
            return f"cancelled; {tail}"
        case JudgmentStatus.FAILED:
            return "no part of the session could be judged"
        case JudgmentStatus.COMPLETE | JudgmentStatus.PARTIAL:
            return notes or f"no problems found in {coverage}"


def gap_counts(parts: Sequence[ResultPart]) -> dict[str, int]:
    """Gaps by reason, in the order in which the reasons are defined."""
    counts = dict.fromkeys(GapReason, 0)
    for part in parts:
        if part.reason is not None:
            counts[part.reason] += 1
    return {reason.value: count for reason, count in counts.items() if count}


def criterion_scores(
    criteria: Sequence[str],
    judged: int,
    findings: Sequence[ResultFinding],
    status: JudgmentStatus,
) -> dict[str, CriterionScore]:
    """Score per criterion: the share of judged chunks in which it found nothing."""
    flagged: dict[str, set[int]] = {criterion: set() for criterion in criteria}
    for finding in findings:
        flagged[finding.criterion].add(finding.part)
    return {
        criterion: CriterionScore(score_of(status, judged, len(parts)), len(parts), judged)
        for criterion, parts in flagged.items()
    }


def verified_share(findings: Sequence[ResultFinding]) -> float:
    """Share of findings whose quote was found; 1 where there are none."""
    if not findings:
        return 1.0
    return count_verified(findings) / len(findings)


class Checked(Protocol):
    """A finding as far as the words about its quote go: of today, or as it was recorded."""

    @property
    def verified(self) -> bool:
        """Whether the quote was found."""
        ...

    @property
    def named_event(self) -> int | None:
        """The event that the judge named."""
        ...

    @property
    def corrected(self) -> bool:
        """Whether the quote stands in another event."""
        ...


def count_verified(findings: Iterable[Checked]) -> int:
    """How many quotes were found."""
    return sum(finding.verified for finding in findings)


def shown_score(value: float, digits: int = 2) -> str:
    """A score or share as it is read: below 1 it never reads 1, above 0 it never reads 0."""
    least = 10.0**-digits
    if 0.0 < value < 1.0:
        value = min(max(value, least), 1.0 - least)
    return f"{value:.{digits}f}"


def quotes_words(verified: int, findings: int) -> str:
    """How many quotes were found, of how many, as every result says it; empty without findings."""
    return f"quotes {verified}/{findings} verified" if findings else ""


def correction_words(finding: Checked) -> str:
    """What the judge said instead, where the quote stands in another event; else empty."""
    if not finding.corrected:
        return ""
    if finding.named_event is None:
        return "the judge named no event of the chunk"
    return f"the judge named event {finding.named_event}"
