"""A judgment's JSON as the commands show it: of today, or of a store that an older one wrote."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

import msgspec

from longjudge.faults import forced_words
from longjudge.marks import Mark  # noqa: TC001 - read when the class is first converted
from longjudge.result import count_verified, quotes_words, shown_score
from longjudge.states import JudgmentStatus
from longjudge.text import clean_line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from longjudge.store import PastJudgment


class MarkFilter(StrEnum):
    """Which findings to show."""

    RIGHT = "right"
    WRONG = "wrong"
    NONE = "none"

    def takes(self, mark: Mark | None) -> bool:
        """Whether a finding with this mark is shown."""
        return self.value == (mark.value if mark else "none")


class FoundProblem(msgspec.Struct, frozen=True):
    """One finding; `mark` is set where somebody marked it."""

    part: int
    criterion: str
    note: str = ""
    event: int | None = None
    quote: str | None = None
    verified: bool = False
    named_event: int | None = None
    corrected: bool = False
    mark: Mark | None = None


class JudgedPart(msgspec.Struct, frozen=True):
    """What became of a chunk, as far as it is shown."""

    part: int
    reason: str | None = None
    disagrees: bool = False
    chars: int = 0
    tokens: int = 0
    thread: str = ""


class JudgedSession(msgspec.Struct, frozen=True):
    """The session, as far as it is shown."""

    path: str = ""
    title: str = ""
    format: str = ""
    id: str = ""
    events: int = 0
    skipped_lines: int = 0


class PastPrice(msgspec.Struct, frozen=True):
    """What a judgment was priced by when it ran, in US dollars per million tokens."""

    input: float
    output: float
    cache_read: float | None = None
    cache_write: float | None = None
    tiers: bool = False
    source: str = ""


class Outcome(msgspec.Struct, frozen=True):
    """A judgment, as far as it is shown; what it does not have is nothing.

    `unknown` is set where it was recorded in a form that this version does not know.
    """

    id: str = ""
    session: JudgedSession = JudgedSession()
    status: str = ""
    score: float | None = None
    score_range: tuple[float, float] = (0.0, 1.0)
    chunks: int = 0
    judged_chunks: int = 0
    flagged_chunks: int = 0
    disagreements: int = 0
    gaps: dict[str, int] = {}
    evidence: str = ""
    findings: tuple[FoundProblem, ...] = ()
    parts: tuple[JudgedPart, ...] = ()
    calls: int = 0
    cached_chunks: int = 0
    usage: dict[str, int] = {}
    cost_usd: float | None = None
    price: PastPrice | None = None
    model: str = ""
    rubric: dict[str, str] = {}
    settings: dict[str, bool | int | float | str | None] = {}
    store_error: str | None = None
    fault: str | None = None
    seconds: float = 0.0
    unknown: bool = False
    left_out: int = 0
    verified_left_out: int = 0

    @property
    def quotes_words(self) -> str:
        """How many quotes were found, of all findings, those that are not shown included."""
        verified = count_verified(self.findings) + self.verified_left_out
        return quotes_words(verified, len(self.findings) + self.left_out)

    @property
    def finding_words(self) -> str:
        """How many findings are shown, of how many."""
        shown = len(self.findings)
        if not self.left_out:
            return str(shown)
        return f"{shown} of {shown + self.left_out}, by mark"

    @property
    def threads(self) -> dict[int, str]:
        """The thread of each part, by its number, where the parts are of several."""
        named = {each.part: each.thread for each in self.parts}
        return named if len(set(named.values())) > 1 else {}

    @property
    def bare(self) -> bool:
        """Whether the evidence line is all there is to say: no score, no chunks."""
        return self.unknown or self.status == JudgmentStatus.NOT_APPLICABLE

    @property
    def fault_words(self) -> str:
        """Which failures were forced, so that none looks like a real one; empty without any."""
        return "" if self.fault is None else forced_words(clean_line(self.fault))

    @property
    def score_words(self) -> str:
        """The score, with what it could still become where that is not settled."""
        score = "none" if self.score is None else shown_score(self.score, 3)
        low, high = self.score_range
        if self.score is not None and low == high:
            return score
        return f"{score} (could be {shown_score(low, 3)}-{shown_score(high, 3)})"

    @property
    def chunk_words(self) -> str:
        """The chunk setting, which scores are only comparable under."""
        if tokens := self.settings.get("chunk_tokens"):
            return f"{clean_line(str(tokens), 20)} tokens a chunk"
        chars = self.settings.get("chunk_chars", "?")
        return f"{clean_line(str(chars), 20)} chars a chunk"

    def gap_parts(self, reason: str) -> list[int]:
        """The parts that are gaps for this reason."""
        return [part.part for part in self.parts if part.reason == reason]

    def sizes(self, reason: str) -> list[int]:
        """How large the gaps for a reason are, in the unit of the chunk setting."""
        parts = [part for part in self.parts if part.reason == reason]
        most = self.settings.get("chunk_tokens")
        if not isinstance(most, int):
            return [part.chars for part in parts]
        # A part's tokens are those of the whole question.
        return [min(part.tokens, most) for part in parts]

    @property
    def by_tokens(self) -> bool:
        """Whether the chunk setting counts tokens."""
        return "chunk_tokens" in self.settings

    @property
    def disputed_parts(self) -> list[int]:
        """The parts that the offline rules flag and the model called clean."""
        return [part.part for part in self.parts if part.disagrees]

    def selected(self, marks: Sequence[Mark | None], only: MarkFilter | None) -> Outcome:
        """The same with marks on its findings, and with those alone that `only` takes."""
        pairs = zip(self.findings, marks, strict=True)
        findings = tuple(
            msgspec.structs.replace(finding, mark=mark)
            for finding, mark in pairs
            if only is None or only.takes(mark)
        )
        return msgspec.structs.replace(
            self,
            findings=findings,
            left_out=len(self.findings) - len(findings),
            verified_left_out=count_verified(self.findings) - count_verified(findings),
        )


def read_outcome(result: Mapping[str, object]) -> Outcome | None:
    """What a result's JSON says; None where it is none."""
    try:
        return msgspec.convert(result, Outcome)
    except msgspec.ValidationError:
        return None


def marks_of(judgment: PastJudgment, marks: Mapping[tuple[bytes, str], Mark]) -> list[Mark | None]:
    """The mark of each finding of a judgment, in their order."""
    found: list[Mark | None] = []
    digests = judgment.digests
    by_digest = {(digest.hex(), criterion): mark for (digest, criterion), mark in marks.items()}
    for number, finding in enumerate(findings_of(judgment.result)):
        digest = digests[number] if number < len(digests) else ""
        found.append(by_digest.get((digest, str(finding.get("criterion")))))
    return found


def findings_of(result: Mapping[str, object]) -> list[dict[str, object]]:
    """The findings of a result's JSON."""
    try:
        return msgspec.convert(result.get("findings", []), list[dict[str, object]])
    except msgspec.ValidationError:
        return []
