"""Two judgments of one session beside one another, aligned by the events that they are about.

Everything here is pure. A chunk without a verdict never counts as clean or flagged, and no finding
counts as gained or lost where one side has not judged its event.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from longjudge.comparison.alignment import stretches
from longjudge.comparison.caveats import caveats_of
from longjudge.comparison.pairing import pairs_of
from longjudge.errors import UsageError
from longjudge.marks import Mark
from longjudge.states import ChunkState
from longjudge.text import clean_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from longjudge.comparison.alignment import Cell, Stretch
    from longjudge.comparison.caveats import Caveat
    from longjudge.comparison.pairing import Pair
    from longjudge.comparison.sides import Side, SideFinding, SideSession

MOST_PLACES = 5
"""So many places are named where the texts of the two sides differ."""


class RowKind(StrEnum):
    """What two sides say about the same events; in this order they are listed."""

    TO_FLAGGED = "clean_to_flagged"
    TO_CLEAN = "flagged_to_clean"
    ONLY_ONE = "only_one_judged"
    ONLY_OTHER = "only_other_judged"
    BOTH_FLAGGED = "both_flagged"
    BOTH_CLEAN = "both_clean"
    NEITHER = "neither_judged"


FLIPS = frozenset({RowKind.TO_FLAGGED, RowKind.TO_CLEAN})
AGREED = frozenset({RowKind.BOTH_FLAGGED, RowKind.BOTH_CLEAN})
BOTH_JUDGED = FLIPS | AGREED
ONE_SIDED = frozenset({RowKind.ONLY_ONE, RowKind.ONLY_OTHER})


@dataclass(frozen=True, slots=True)
class Row:
    """The same events on both sides; a cell is None where they are not in that side's session."""

    kind: RowKind
    thread: str
    one: Cell | None
    other: Cell | None
    pairs: tuple[Pair, ...]

    @property
    def same_findings(self) -> bool:
        """Whether both sides found the same."""
        return all(pair.one is not None and pair.other is not None for pair in self.pairs)


@dataclass(frozen=True, slots=True)
class Coverage:
    """How many of the events that both sessions have a side judged, and how many only it has."""

    judged: int
    beyond: int


@dataclass(frozen=True, slots=True)
class Found:
    """Findings in what both judged (`same`, and only in one of them), and in what only one did."""

    same: int
    only_one: int
    only_other: int
    unknown_one: int
    unknown_other: int


@dataclass(frozen=True, slots=True)
class Marked:
    """Of so many texts marked alike, how many a side finds; why not, where it could not.

    `unasked` counts those whose criterion the side's rubric does not have, `unjudged` those where
    it has no verdict.
    """

    marked: int
    one: int
    other: int
    unjudged_one: int
    unjudged_other: int
    unasked_one: int
    unasked_other: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """What compares; `shared` counts the events that both sessions have.

    `same_plan` says that every row is one chunk of each side. `remarks` are what has to be known
    beside the numbers, `why_no_scores` why the scores do not compare: empty where they do.
    `missed` counts findings of other judgments that are marked right and that neither side has;
    `unmarked_one` and `unmarked_other` count findings that nobody has marked; `marks` has all
    marks, by digest and criterion.
    """

    one: Side
    other: Side
    rows: tuple[Row, ...]
    counts: Mapping[RowKind, int]
    found: Found
    shared: int
    coverage_one: Coverage
    coverage_other: Coverage
    right: Marked
    wrong: Marked
    missed: int
    unmarked_one: int
    unmarked_other: int
    same_plan: bool
    why_no_scores: str
    remarks: tuple[str, ...]
    marks: Mapping[tuple[str, str], Mark]

    @property
    def caveats(self) -> tuple[Caveat, ...]:
        """What makes its numbers say less than they seem to; the first of its remarks."""
        return tuple(caveats_of(self.one, self.other))

    @property
    def other_remarks(self) -> tuple[str, ...]:
        """The remarks behind the caveats."""
        return self.remarks[len(self.caveats) :]

    def mark_of(self, finding: SideFinding) -> Mark | None:
        """What a person says about a finding."""
        return self.marks.get((finding.digest, finding.criterion))

    @property
    def flips(self) -> int:
        """How many stretches are flagged on one side and clean on the other."""
        return sum(self.counts.get(kind, 0) for kind in FLIPS)

    @property
    def agreed(self) -> int:
        """How many are the same on both sides."""
        return sum(self.counts.get(kind, 0) for kind in AGREED)


def compare(
    one: Side,
    other: Side,
    marks: Mapping[tuple[bytes, str], Mark],
    elsewhere: Iterable[tuple[str, str]] = (),
) -> Comparison:
    """Lay one side beside the other; `elsewhere` are `found_keys` of other judgments.

    Raises:
        UsageError: they are about different sessions.
    """
    refuse_strangers(one.session, other.session)
    found = list(stretches(one, other))
    place = {kind: number for number, kind in enumerate(RowKind)}
    rows = sorted(map(_row, found), key=lambda row: place[row.kind])
    same_plan = all(each.whole for each in found)
    marked = _Marks(rows, marks, (one.criteria, other.criteria))
    return Comparison(
        one=one,
        other=other,
        rows=tuple(rows),
        counts=Counter(row.kind for row in rows),
        found=_found(rows),
        shared=_length({_span(row.one) for row in rows if row.one and row.other}),
        coverage_one=_coverage([(row.one, row.other) for row in rows]),
        coverage_other=_coverage([(row.other, row.one) for row in rows]),
        right=marked.tally(Mark.RIGHT),
        wrong=marked.tally(Mark.WRONG),
        missed=marked.missed(elsewhere),
        unmarked_one=marked.unmarked(one.findings),
        unmarked_other=marked.unmarked(other.findings),
        same_plan=same_plan,
        why_no_scores=_why_no_scores(one, other),
        remarks=tuple(_remarks(one, other, found)),
        marks=marked.marks,
    )


def refuse_strangers(one: SideSession, other: SideSession) -> None:
    """Refuse two different sessions; a copy of a file, by all that is known, is no other one.

    Raises:
        UsageError: they are different.
    """
    same_file = one.real_path == other.real_path
    alike = (one.id, one.format, one.title) == (other.id, other.format, other.title)
    if one.id != other.id or not (same_file or alike):
        paths = [clean_line(each.path or each.id or "events", 200) for each in (one, other)]
        ids = [clean_line(each.id, 60) for each in (one, other)]
        about = paths if paths[0] != paths[1] else ids
        raise UsageError(
            f"these judge different sessions, {about[0]} and {about[1]};"
            " choose two judgments of the same one"
        )


def _row(each: Stretch) -> Row:
    one, other = each.one, each.other
    pairs = tuple(pairs_of(one, other))
    return Row(_kind(one, other), each.thread, one, other, pairs)


def _kind(one: Cell | None, other: Cell | None) -> RowKind:
    here, there = one is not None and one.judged, other is not None and other.judged
    if not (here and there):
        if here or there:
            return RowKind.ONLY_ONE if here else RowKind.ONLY_OTHER
        return RowKind.NEITHER
    was, now = (cell is not None and cell.state is ChunkState.FLAGGED for cell in (one, other))
    if was is now:
        return RowKind.BOTH_FLAGGED if was else RowKind.BOTH_CLEAN
    return RowKind.TO_FLAGGED if now else RowKind.TO_CLEAN


def _found(rows: Iterable[Row]) -> Found:
    same = only_one = only_other = unknown_one = unknown_other = 0
    for row in rows:
        seen = [cell is not None and cell.covered for cell in (row.one, row.other)]
        for pair in row.pairs:
            if pair.one is not None and pair.other is not None:
                same += 1
            elif pair.one is not None:
                only_one, unknown_one = only_one + seen[1], unknown_one + (not seen[1])
            else:
                only_other, unknown_other = only_other + seen[0], unknown_other + (not seen[0])
    return Found(same, only_one, only_other, unknown_one, unknown_other)


def _span(cell: Cell) -> tuple[int, int]:
    return cell.first, cell.last


def _length(spans: Iterable[tuple[int, int]]) -> int:
    return sum(last - first + 1 for first, last in spans)


def _coverage(cells: Sequence[tuple[Cell | None, Cell | None]]) -> Coverage:
    """Events of which one side, the first, has a verdict; a huge event's pieces are one event."""
    judged: set[tuple[int, int]] = set()
    lacking: set[tuple[int, int]] = set()
    beyond: set[tuple[int, int]] = set()
    for mine, its in cells:
        if mine is not None:
            where = beyond if its is None else judged if mine.covered else lacking
            where.add(_span(mine))
    return Coverage(_length(judged - lacking), _length(beyond))


class _Marks:
    """Texts that somebody marked, with what each side says about them."""

    def __init__(
        self,
        rows: Iterable[Row],
        marks: Mapping[tuple[bytes, str], Mark],
        criteria: tuple[Sequence[str], Sequence[str]],
    ) -> None:
        self._criteria = criteria
        self.marks = {(digest.hex(), name): mark for (digest, name), mark in marks.items()}
        self._places: defaultdict[tuple[str, str], list[Row]] = defaultdict(list)
        self._found: tuple[set[tuple[str, str]], set[tuple[str, str]]] = (set(), set())
        for row in rows:
            for side, cell in enumerate((row.one, row.other)):
                for finding in cell.findings if cell else ():
                    key = (finding.digest, finding.criterion)
                    if key in self.marks:
                        self._places[key].append(row)
                        self._found[side].add(key)

    def tally(self, mark: Mark) -> Marked:
        """Those with one mark."""
        keys = [key for key in self._places if self.marks[key] is mark]
        one, other = (
            (
                sum(key in found for key in keys),
                sum(self._unjudged(key, side) for key in keys),
                sum(self._unasked(key, side) for key in keys),
            )
            for side, found in enumerate(self._found)
        )
        return Marked(len(keys), one[0], other[0], one[1], other[1], one[2], other[2])

    def missed(self, elsewhere: Iterable[tuple[str, str]]) -> int:
        """What others found and is marked right, and neither side has although one asks for it."""
        return sum(
            self.marks.get(key) is Mark.RIGHT
            for key in set(elsewhere)
            if key not in self._places and not all(self._unasked(key, side) for side in (0, 1))
        )

    def unmarked(self, findings: Iterable[SideFinding]) -> int:
        """Findings without a mark."""
        return sum((each.digest, each.criterion) not in self.marks for each in findings)

    def _unjudged(self, key: tuple[str, str], side: int) -> bool:
        """Whether a side does not find a text because it has not judged it."""
        if key in self._found[side] or self._unasked(key, side):
            return False
        cells = [(row.one, row.other)[side] for row in self._places[key]]
        return any(cell is None or not cell.covered for cell in cells)

    def _unasked(self, key: tuple[str, str], side: int) -> bool:
        """Whether a side does not find a text because its rubric, where known, does not ask."""
        asked = self._criteria[side]
        return key not in self._found[side] and bool(asked) and key[1] not in asked


def _why_no_scores(one: Side, other: Side) -> str:
    if not one.by.same_size(other.by):
        return f"not comparable: {one.by.size_words} and {other.by.size_words}"
    events = one.session.events, other.session.events
    if events[0] != events[1]:
        return f"not comparable: of {events[0]:,} and of {events[1]:,} events"
    if one.score is None or other.score is None:
        return "none on one side" if one.score is not other.score else "none"
    return ""


def _remarks(one: Side, other: Side, found: Sequence[Stretch]) -> Iterable[str]:
    yield from (each.words for each in caveats_of(one, other))
    for name, side in (("A", one), ("B", other)):
        if side.lacking:
            yield (
                f"{name} is partial: {side.lacking:,} of {len(side.parts):,} chunks have no verdict"
            )
        if side.fault:
            yield f"in {name} failures were forced: {clean_line(side.fault, 80)}"
    if one.session.real_path != other.session.real_path:
        paths = (clean_line(each.session.path, 200) for each in (one, other))
        yield f"two files, taken for copies of one session: {' and '.join(paths)}"
    if one.session.events != other.session.events:
        smaller, larger = sorted((one.session.events, other.session.events))
        longer = "A" if one.session.events == larger else "B"
        yield (
            f"the session had {smaller:,} events in one and {larger:,} in the other:"
            f" what only {longer} has seen is under what only {longer} judged"
        )
    yield from _text_remarks(found)
    yield from _placeless_remarks(found)
    for name, its, others in (("A", one, other), ("B", other, one)):
        alone = [clean_line(each, 60) for each in its.criteria if each not in others.criteria]
        if alone and others.criteria:
            yield f"only {name} asks for {', '.join(alone)}"


def _placeless_remarks(found: Sequence[Stretch]) -> Iterable[str]:
    """Findings without an event, where the chunks of the two sides are not the same ones."""
    cells = [cell for each in found if not each.whole for cell in (each.one, each.other) if cell]
    count = sum(finding.event is None for cell in cells for finding in cell.findings)
    if count:
        name, they = ("names", "it counts") if count == 1 else ("name", "they count")
        yield (
            f"{count:,} finding{'' if count == 1 else 's'} {name} no event: {they} where the chunk"
            " begins, so that a flip there may be none"
        )


def _text_remarks(found: Sequence[Stretch]) -> Iterable[str]:
    """Where the same events had another text, as far as that is known."""
    places = [each.one.first for each in found if each.text_differs and each.one is not None]
    if places:
        shown = ", ".join(map(str, places[:MOST_PLACES]))
        more = ", …" if len(places) > MOST_PLACES else ""
        yield (
            f"the session has changed between the two: other texts in {len(places):,}"
            f" {'stretch' if len(places) == 1 else 'stretches'}, from event {shown}{more} on"
        )
