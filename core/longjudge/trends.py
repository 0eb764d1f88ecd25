"""What the judgments of the past come to: by version of a rubric, and over time.

Pure, and counted on one judgment after the other, newest first: no result stays in memory. What a
session came to is what its newest judgment says; what was paid, was paid for all of them. Scores
are never put together across chunk settings, and failures that were forced count nowhere.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from longjudge.history import ChunkSetting, Entry

MOST_DAYS = 62
"""A longer time is counted by the week."""

WEEK = 7


@dataclass(frozen=True, slots=True)
class Group:
    """The judgments by one version of a rubric and one model, with one chunk setting or all.

    `setting` is None for all of several settings: such a group has no `score_mean`, and those
    `within` it follow. Counts of
    chunks and findings are those of the newest judgment of each session; `judgments`, `cost_usd`
    and `unpriced`, those whose price is unknown, of all. `unfinished` sessions have gaps, and
    `partial_scores` of the `scores` are of such.
    """

    rubric: str
    version: str
    model: str
    setting: ChunkSetting | None
    settings: int
    within: bool
    judgments: int
    sessions: int
    unfinished: int
    chunks: int
    judged: int
    flagged: int
    findings: int
    right: int
    wrong: int
    scores: int
    partial_scores: int
    score_mean: float | None
    cost_usd: float
    unpriced: int
    newest: float

    @property
    def flagged_share(self) -> float | None:
        """Flagged of judged chunks; None where none was judged."""
        return self.flagged / self.judged if self.judged else None


@dataclass(slots=True)
class _Sum:
    """One group on its way."""

    newest: float = 0.0
    judgments: int = 0
    unfinished: int = 0
    chunks: int = 0
    judged: int = 0
    flagged: int = 0
    findings: int = 0
    right: int = 0
    wrong: int = 0
    scores: int = 0
    partial_scores: int = 0
    score_sum: float = 0.0
    cost_usd: float = 0.0
    unpriced: int = 0
    sessions: set[int] = field(default_factory=set[int])

    def add(self, entry: Entry, session: int) -> None:
        if not self.judgments:
            self.newest = entry.created
        self.judgments += 1
        if entry.cost_usd is None:
            self.unpriced += 1
        else:
            self.cost_usd += entry.cost_usd
        if session in self.sessions:
            return
        self.sessions.add(session)
        self.unfinished += entry.unjudged > 0
        self.chunks += entry.chunks
        self.judged += entry.judged
        self.flagged += entry.flagged
        self.findings += entry.findings
        self.right += entry.right
        self.wrong += entry.wrong
        if entry.score is not None:
            self.scores += 1
            self.partial_scores += entry.unjudged > 0
            self.score_sum += entry.score

    def group(
        self, key: _Key, setting: ChunkSetting | None, settings: int = 1, *, within: bool = False
    ) -> Group:
        mean = self.score_sum / self.scores if self.scores and settings == 1 else None
        return Group(
            *key,
            setting=setting,
            settings=settings,
            within=within,
            judgments=self.judgments,
            sessions=len(self.sessions),
            unfinished=self.unfinished,
            chunks=self.chunks,
            judged=self.judged,
            flagged=self.flagged,
            findings=self.findings,
            right=self.right,
            wrong=self.wrong,
            scores=self.scores,
            partial_scores=self.partial_scores,
            score_mean=mean,
            cost_usd=self.cost_usd,
            unpriced=self.unpriced,
            newest=self.newest,
        )


_Key = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Period:
    """A day or a week: the sessions judged in it, each by its newest judgment of that time.

    `without_score` of these have none; `gaps` are their unjudged chunks by reason, most first.
    """

    start: date
    days: int
    sessions: int
    without_score: int
    chunks: int
    unjudged: int
    gaps: tuple[tuple[str, int], ...]

    @property
    def share(self) -> float:
        """The share of sessions without a score."""
        return self.without_score / self.sessions if self.sessions else 0.0


@dataclass(slots=True)
class _Span:
    """One period on its way."""

    without_score: int = 0
    chunks: int = 0
    unjudged: int = 0
    gaps: Counter[str] = field(default_factory=Counter[str])
    sessions: set[int] = field(default_factory=set[int])

    def add(self, entry: Entry, session: int) -> None:
        if session in self.sessions:
            return
        self.sessions.add(session)
        self.without_score += entry.score is None
        self.chunks += entry.chunks
        self.unjudged += entry.unjudged
        self.gaps.update(dict(entry.gaps))

    def period(self, start: date, days: int) -> Period:
        return Period(
            start,
            days,
            len(self.sessions),
            self.without_score,
            self.chunks,
            self.unjudged,
            tuple(self.gaps.most_common()),
        )


class History:
    """Counts judgments on, which have to come newest first.

    `forced` is how many were left out since failures were forced in them, or since they do not
    read.
    """

    def __init__(self) -> None:
        self.counted = 0
        self.forced = 0
        self.unread = 0
        self._numbers: dict[tuple[str, str], int] = {}
        self._groups: dict[_Key, _Sum] = {}
        self._settings: dict[_Key, dict[ChunkSetting | None, _Sum]] = {}
        self._days: dict[date, _Span] = {}
        self._weeks: dict[date, _Span] = {}
        self._now = _Span()

    def add(self, entry: Entry) -> None:
        """Count the next older judgment."""
        self.counted += 1
        if not counts(entry):
            self.forced += bool(entry.fault)
            self.unread += not entry.known
            return
        session = self._numbers.setdefault(entry.session, len(self._numbers))
        key = entry.rubric, entry.version, entry.model
        self._groups.setdefault(key, _Sum()).add(entry, session)
        by_setting = self._settings.setdefault(key, {})
        by_setting.setdefault(entry.setting, _Sum()).add(entry, session)
        self._now.add(entry, session)
        if (day := day_of(entry.created)) is not None:
            self._days.setdefault(day, _Span()).add(entry, session)
            self._weeks.setdefault(week_of(day), _Span()).add(entry, session)

    def groups(self) -> list[Group]:
        """By rubric, version and model, the last used first; below those of several, each."""
        found: list[Group] = []
        for key, whole in sorted(self._groups.items(), key=lambda pair: -pair[1].newest):
            settings = self._settings[key]
            if len(settings) == 1:
                found.append(whole.group(key, next(iter(settings))))
                continue
            found.append(whole.group(key, None, len(settings)))
            found += [each.group(key, setting, within=True) for setting, each in settings.items()]
        return found

    def periods(self) -> list[Period]:
        """Newest first: days, or weeks where these are many. Nothing was judged in the others."""
        if not self._days:
            return []
        by_day = (max(self._days) - min(self._days)).days < MOST_DAYS
        spans, days = (self._days, 1) if by_day else (self._weeks, WEEK)
        return [spans[start].period(start, days) for start in sorted(spans, reverse=True)]

    def standing(self) -> Period:
        """All sessions, each by its newest judgment."""
        return self._now.period(date.min, 0)


def counts(entry: Entry) -> bool:
    """Whether a judgment is one of those that are summed up."""
    return entry.known and not entry.fault and entry.applies and entry.recorded


def week_of(day: date) -> date:
    """The Monday of a day's week."""
    return day - timedelta(days=min(day.weekday(), day.toordinal() - 1))


def day_of(created: float) -> date | None:
    """The day of a moment, where one is."""
    try:
        return datetime.fromtimestamp(created).date()
    except (OverflowError, OSError, ValueError):
        return None
