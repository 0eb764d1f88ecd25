"""The sample, judged: what its results tell of all sessions. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from longjudge.forecast import Interval, extrapolate

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from longjudge.forecast import DrawnFile, Sample
    from longjudge.sessions import SessionFile


@dataclass(frozen=True, slots=True)
class SessionEnd:
    """How a session's judgment ended; `paid` is None where the cost is unknown.

    It is `whole` where every chunk has a verdict, or the rubric does not apply.
    """

    whole: bool
    applies: bool
    flagged: bool
    paid: float | None


@dataclass(frozen=True, slots=True)
class Told:
    """What a judged sample tells of all: sessions, the flagged share of those judged, the cost."""

    sessions: Interval
    share: Interval
    paid: Interval | None


@dataclass(slots=True)
class JudgedSample:
    """The sessions of a sample's files while they are judged.

    `listed` are the sessions of each file as the library has them, `estimated` what each file was
    estimated at; both are in the order of the sample.
    """

    sample: Sample
    listed: Sequence[Sequence[SessionFile]]
    estimated: Sequence[DrawnFile]
    _ends: list[dict[str | None, SessionEnd]] = field(
        default_factory=list[dict["str | None", "SessionEnd"]]
    )
    _places: dict[Path, int] = field(default_factory=dict["Path", int])

    def __post_init__(self) -> None:
        self._ends = [{} for _ in self.listed]
        self._places = {files[0].path: place for place, files in enumerate(self.listed)}

    @property
    def sessions(self) -> int:
        """How many sessions are judged: as many as were found when they were estimated."""
        return sum(each.sessions for each in self.estimated)

    @property
    def ended(self) -> int:
        """How many of them have ended."""
        return sum(len(ends) for ends in self._ends)

    @property
    def incomplete(self) -> int:
        """How many ended without a verdict on every chunk."""
        return sum(not end.whole for ends in self._ends for end in ends.values())

    @property
    def left(self) -> list[SessionFile]:
        """Those that have no whole judgment yet."""
        return [
            file
            for files, ends, drawn in zip(self.listed, self._ends, self.estimated, strict=True)
            for file in files
            if not _is_whole(file, ends, drawn)
        ]

    def begin(self) -> list[SessionFile]:
        """Those to judge now; how they ended before counts no more."""
        left = self.left
        for ends in self._ends:
            for id in [id for id, end in ends.items() if not end.whole]:
                del ends[id]
        return left

    def take(self, file: SessionFile, end: SessionEnd) -> None:
        """A session's judgment has ended; those of others are let pass."""
        place = self._places.get(file.path)
        if place is not None:
            self._ends[place][file.session] = end

    @property
    def told(self) -> Told | None:
        """What it tells; None before every session has a whole judgment."""
        if self.left:
            return None
        ends = [[*each.values()] for each in self._ends]
        applying = [sum(end.applies for end in part) for part in ends]
        flagged = [sum(end.flagged for end in part) for part in ends]
        judged = extrapolate(self.sample, applying, [max(1, len(part)) for part in ends])
        found = extrapolate(self.sample, flagged, applying)
        return Told(judged, _share(found, judged), self._paid(ends))

    def _paid(self, ends: Sequence[Sequence[SessionEnd]]) -> Interval | None:
        """What all would cost, by what was paid; of what is kept already nothing is."""
        paid: list[float] = []
        most: list[float] = []
        for part, drawn in zip(ends, self.estimated, strict=True):
            costs = [end.paid for end in part if end.paid is not None]
            if len(costs) < len(part) or drawn.most.cost is None:
                return None
            paid.append(sum(costs))
            most.append(max(paid[-1], drawn.most.cost.middle))
        return extrapolate(self.sample, paid, most)


def _is_whole(file: SessionFile, ends: Mapping[str | None, SessionEnd], drawn: DrawnFile) -> bool:
    """Whether all that a row of the library stands for has a whole judgment."""
    if file.session is not None:
        return file.session in ends and ends[file.session].whole
    return len(ends) >= drawn.sessions and all(end.whole for end in ends.values())


def _share(found: Interval, judged: Interval) -> Interval:
    if not judged.middle:
        return Interval(0.0, 0.0, 0.0)
    return Interval(
        *(min(1.0, each / judged.middle) for each in (found.middle, found.low, found.high))
    )
