"""What many judgments come to: sessions by status, gaps, scores by rubric version, cost.

Several judgments of one session by the same rubric version, model and chunk setting are one try
after the other: only the newest counts, so that a session that was judged again does not count
twice. What they cost, and what the store saved, is summed over all of them, since each was paid.
Scores are averaged neither across rubric versions nor models nor chunk settings. A judgment in
which failures were forced counts nowhere. What was paid for and stands in no judgment, such as the
answers of a run that was killed, counts in the cost alone.
"""

from __future__ import annotations

from array import array
from collections import Counter
from dataclasses import dataclass, field
from math import fsum
from typing import TYPE_CHECKING, Final

from longjudge.states import GapReason, JudgmentStatus
from longjudge.store import UnrecordedCost

if TYPE_CHECKING:
    from collections.abc import Iterable

    from longjudge.history import ChunkSetting, Entry


_MOST_COST: Final = 1e9
"""More US dollars than this are no price of a judgment: a store may hold anything."""


@dataclass(frozen=True, slots=True)
class RubricSum:
    """The sessions that one rubric version and model judged with one chunk setting.

    `setting` is None where none was recorded. `unfinished` sessions have gaps; of the `scores`
    that `score_mean` is made of, `partial_scores` are of such. It is None without any.
    """

    rubric: str
    version: str
    model: str
    setting: ChunkSetting | None
    redacted: bool
    sessions: int
    unfinished: int
    chunks: int
    judged: int
    flagged: int
    scores: int
    partial_scores: int
    score_mean: float | None

    @property
    def settings(self) -> dict[str, object]:
        """What the chunks were made by, as a result's JSON has it."""
        settings: dict[str, object] = {} if self.redacted else {"redact": False}
        if self.setting is not None:
            settings[f"chunk_{self.setting.unit}"] = self.setting.size
        return settings


@dataclass(frozen=True, slots=True)
class Totals:
    """The sums. Of the `judgments`, `replaced` ones have a newer one that counts instead.

    `forced` and `unread` judgments are not among them: failures were forced in them, or they do
    not read. `cost_known` is in US dollars, for all judgments but those `unpriced`, which have
    no price or do not read, and with what is known of the `unrecorded` answers.
    """

    judgments: int
    replaced: int
    forced: int
    unread: int
    sessions: int
    by_status: dict[str, int]
    gaps: dict[str, int]
    by_rubric: tuple[RubricSum, ...]
    cost_known: float
    unpriced: int
    calls_saved: int
    unrecorded: UnrecordedCost

    @property
    def cost_usd(self) -> float | None:
        """What all of them cost; None where that of one is unknown."""
        return None if self.unpriced or self.unrecorded.unpriced else self.cost_known


@dataclass(slots=True)
class _Sum:
    """One row on its way."""

    newest: float
    sessions: int = 0
    unfinished: int = 0
    chunks: int = 0
    judged: int = 0
    flagged: int = 0
    partial_scores: int = 0
    scores: array[float] = field(default_factory=lambda: array("d"))

    def add(self, entry: Entry) -> None:
        self.sessions += 1
        self.unfinished += entry.unjudged > 0
        self.chunks += entry.chunks
        self.judged += entry.judged
        self.flagged += entry.flagged
        if entry.score is not None:
            self.scores.append(entry.score)
            self.partial_scores += entry.unjudged > 0

    def row(self, key: _Key) -> RubricSum:
        count = len(self.scores)
        return RubricSum(
            *key,
            sessions=self.sessions,
            unfinished=self.unfinished,
            chunks=self.chunks,
            judged=self.judged,
            flagged=self.flagged,
            scores=count,
            partial_scores=self.partial_scores,
            score_mean=fsum(self.scores) / count if count else None,
        )


_Key = tuple[str, str, str, "ChunkSetting | None", bool]


class Sums:
    """Adds judgments up, which have to come newest first."""

    def __init__(self) -> None:
        self._judgments = self._replaced = self._forced = self._unread = 0
        self._numbers: dict[tuple[str, str], int] = {}
        self._seen: dict[_Key, set[int]] = {}
        self._by_status: Counter[str] = Counter()
        self._gaps: Counter[str] = Counter()
        self._rubrics: dict[_Key, _Sum] = {}
        self._cost, self._unpriced, self._saved = array("d"), 0, 0
        self._unrecorded = UnrecordedCost()

    def add(self, entry: Entry, calls_saved: int) -> int | None:
        """Add the next older judgment.

        Returns:
            The number of its session where it counts, None where it does not.
        """
        if entry.fault:
            self._forced += 1
            return None
        if not entry.known:
            self.add_unread()
            return None
        self._judgments += 1
        self._saved += calls_saved
        if entry.cost_usd is None or not 0 <= entry.cost_usd <= _MOST_COST:
            self._unpriced += 1
        elif entry.cost_usd:
            self._cost.append(entry.cost_usd)
        session = self._numbers.setdefault(entry.session, len(self._numbers))
        key = entry.rubric, entry.version, entry.model, entry.setting, entry.redacted
        seen = self._seen.setdefault(key, set())
        if session in seen:
            self._replaced += 1
            return None
        seen.add(session)
        self._by_status[entry.status] += 1
        self._gaps.update(dict(entry.gaps))
        if entry.applies:
            self._rubrics.setdefault(key, _Sum(entry.created)).add(entry)
        return session

    def add_unread(self, judgments: int = 1) -> None:
        """Note judgments that do not read: nobody knows what they cost either."""
        self._unread += judgments
        self._unpriced += judgments

    def add_unrecorded(self, cost: UnrecordedCost) -> None:
        """Add what was paid for answers that stand in no judgment."""
        self._unrecorded = cost

    def totals(self) -> Totals:
        """What was added, all together."""
        last_used_first = sorted(self._rubrics.items(), key=lambda pair: -pair[1].newest)
        return Totals(
            judgments=self._judgments,
            replaced=self._replaced,
            forced=self._forced,
            unread=self._unread,
            sessions=len(self._numbers),
            by_status=_in_order(self._by_status, JudgmentStatus),
            gaps=_in_order(self._gaps, GapReason),
            by_rubric=tuple(row.row(key) for key, row in last_used_first),
            cost_known=fsum((*self._cost, self._unrecorded.cost_usd)),
            unpriced=self._unpriced,
            calls_saved=self._saved,
            unrecorded=self._unrecorded,
        )


def _in_order(counts: Counter[str], order: Iterable[str]) -> dict[str, int]:
    """Counts in the order of the words for them; what is none of these follows."""
    known = [str(each) for each in order]
    names = [*known, *sorted(set(counts) - set(known))]
    return {name: counts[name] for name in names if counts[name]}
