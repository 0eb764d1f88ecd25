"""What a comparison says, in a few lines of safe text: which side is which, and what differs."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from longjudge.comparison.compare import RowKind
from longjudge.comparison.sides import READING
from longjudge.marks import Mark
from longjudge.result import shown_score
from longjudge.states import ChunkState
from longjudge.text import clean_line

if TYPE_CHECKING:
    from longjudge.comparison.alignment import Cell
    from longjudge.comparison.compare import Comparison, Coverage, Marked, Row
    from longjudge.comparison.sides import Side, SideFinding

ONE, OTHER = "A", "B"
"""How the two sides are called everywhere."""

KIND_WORDS: dict[RowKind, str] = {
    RowKind.TO_FLAGGED: "clean → flagged",
    RowKind.TO_CLEAN: "flagged → clean",
    RowKind.ONLY_ONE: "only A judged",
    RowKind.ONLY_OTHER: "only B judged",
    RowKind.BOTH_FLAGGED: "both flagged",
    RowKind.BOTH_CLEAN: "both clean",
    RowKind.NEITHER: "neither judged",
}

NOT_THERE = "not in this session yet"
NOTHING_BOTH = "both have judged nothing in common yet"
NO_MARK_YET = (
    "no finding is marked yet: once some are marked right or wrong, this says who is right"
)


def side_words(side: Side) -> str:
    """When it was, what it was judged by, and how far it came."""
    by = side.by
    when = "now" if side.created is None else moment(side.created)
    rubric = f"{clean_line(by.rubric, 40)} {clean_line(by.version, 20)}"
    facts = [when, rubric, by.judge_words, f"{by.size_words} a chunk", progress_words(side)]
    return " · ".join(facts)


def side_words_in_brief(side: Side) -> str:
    """The same where there is less room: what tells sides apart, and how far they came, first."""
    by = side.by
    reading = f" ({READING})" if side.status == READING else ""
    judged = f"{side.judged:,} of {len(side.parts):,} judged{reading}, {side.flagged:,} flagged"
    size = by.size_words.replace("characters", "chars")
    facts = [clean_line(by.version, 20), judged, size, by.judge_words]
    if side.created is None:
        return " · ".join(["now", *facts])
    return " · ".join([*facts, moment(side.created)])


def progress_words(side: Side) -> str:
    """How much of it is judged; what is not over, or not complete, is never told as a whole."""
    status = clean_line(side.status.replace("_", " "), 40)
    if not status:
        status = "not over" if side.lacking else "all of it kept"
    judged = f"{side.judged:,} of {len(side.parts):,} judged, {side.flagged:,} flagged"
    return f"{status} · {judged}"


def score_words(comparison: Comparison) -> str:
    """Both scores, where they mean the same; else why they do not compare."""
    if comparison.why_no_scores:
        return f"scores {comparison.why_no_scores}"
    words = [
        f"{name} {shown_score(side.score, 3)}{_range_words(side.score_range)}"
        for name, side in ((ONE, comparison.one), (OTHER, comparison.other))
        if side.score is not None
    ]
    return f"scores {' · '.join(words)}"


def _range_words(score_range: tuple[float, float]) -> str:
    low, high = score_range
    return "" if low == high else f" (could be {shown_score(low, 3)}-{shown_score(high, 3)})"


def flip_words(comparison: Comparison) -> str:
    """How much is the same, and what has turned."""
    counts, units = comparison.counts, units_of(comparison)
    of_events = "" if comparison.same_plan else " of events"
    both = comparison.agreed + comparison.flips
    parts = [
        f"{counts.get(RowKind.TO_FLAGGED, 0):,} clean → flagged",
        f"{counts.get(RowKind.TO_CLEAN, 0):,} flagged → clean",
        f"the same in {comparison.agreed:,} of {both:,} {units}{of_events} that both judged",
    ]
    if not both:
        parts = [NOTHING_BOTH]
    alone = (
        (RowKind.ONLY_ONE, "only A judged"),
        (RowKind.ONLY_OTHER, "only B judged"),
        (RowKind.NEITHER, "neither judged"),
    )
    parts += [f"{words} {counts[kind]:,}" for kind, words in alone if counts.get(kind)]
    return " · ".join(parts)


def units_of(comparison: Comparison) -> str:
    """What its rows are."""
    return "chunks" if comparison.same_plan else "stretches"


def flip_words_in_brief(comparison: Comparison) -> str:
    """The same where there is less room."""
    counts, both = comparison.counts, comparison.agreed + comparison.flips
    if not both:
        return f"{NOTHING_BOTH}{_alone_in_brief(comparison)}"
    return (
        f"{counts.get(RowKind.TO_FLAGGED, 0):,} clean → flagged"
        f" · {counts.get(RowKind.TO_CLEAN, 0):,} flagged → clean"
        f" · same in {comparison.agreed:,} of {both:,}{_alone_in_brief(comparison)}"
    )


def _alone_in_brief(comparison: Comparison) -> str:
    kinds = ((RowKind.ONLY_ONE, "only A"), (RowKind.ONLY_OTHER, "only B"))
    counts = [(words, comparison.counts.get(kind, 0)) for kind, words in kinds]
    return "".join(f" · {words} {count:,}" for words, count in counts if count)


def found_words(comparison: Comparison) -> str:
    """Which findings came and went, and about which nothing can be said."""
    found = comparison.found
    parts = [
        f"findings: {found.same:,} in both",
        f"{found.only_one:,} only in A",
        f"{found.only_other:,} only in B",
    ]
    unknown = [
        f"{count:,} where {blind} has not judged"
        for count, blind in ((found.unknown_one, OTHER), (found.unknown_other, ONE))
        if count
    ]
    return " · ".join([*parts, *unknown])


def coverage_words(comparison: Comparison) -> str:
    """How much of the same events each side has judged."""

    def of(name: str, covered: Coverage) -> str:
        return f"{name} {covered.judged:,}"

    both = " · ".join((of(ONE, comparison.coverage_one), of(OTHER, comparison.coverage_other)))
    words = f"of the {comparison.shared:,} events that both have, judged by {both}"
    beyond = [
        f"{covered.beyond:,} events only in {name}"
        for name, covered in ((ONE, comparison.coverage_one), (OTHER, comparison.coverage_other))
        if covered.beyond
    ]
    return " · ".join([words, *beyond])


def verdict_words(comparison: Comparison) -> str:
    """Which side finds what a person marked right, and what a person marked wrong.

    It is the answer to whether one is better, and says what is not known.
    """
    right, wrong = comparison.right, comparison.wrong
    told = [
        _marked_words(marked, mark) for marked, mark in ((right, Mark.RIGHT), (wrong, Mark.WRONG))
    ]
    known = [words for words in told if words]
    if comparison.missed:
        more = f"{comparison.missed:,} more" if right.marked else f"{comparison.missed:,}"
        limit = ", as far as judged" if comparison.one.lacking or comparison.other.lacking else ""
        known.append(f"{more} marked right in other judgments: neither finds{limit}")
    if not known:
        return NO_MARK_YET
    unmarked = (comparison.unmarked_one, comparison.unmarked_other)
    if any(unmarked):
        known.append(f"not marked, so not known: {unmarked[0]:,} of A, {unmarked[1]:,} of B")
    return " · ".join(known)


def _marked_words(marked: Marked, mark: Mark) -> str:
    if not marked.marked:
        return ""
    plural = "" if marked.marked == 1 else "s"
    finds = [
        f"{name} {'finds ' if name == ONE else ''}{found:,}{_unknown_words(unjudged, unasked)}"
        for name, found, unjudged, unasked in (
            (ONE, marked.one, marked.unjudged_one, marked.unasked_one),
            (OTHER, marked.other, marked.unjudged_other, marked.unasked_other),
        )
    ]
    return f"of {marked.marked:,} finding{plural} marked {mark.value}, {', '.join(finds)}"


def _unknown_words(unjudged: int, unasked: int) -> str:
    why = [(unjudged, "not judged"), (unasked, "not asked for")]
    told = ", ".join(f"{count:,} {words}" for count, words in why if count)
    return f" ({told})" if told else ""


def cell_words(cell: Cell | None) -> str:
    """The chunks of a side and their state."""
    if cell is None:
        return NOT_THERE
    lacks = f", {cell.unjudged:,} of them not judged" if cell.judged and cell.unjudged else ""
    return f"{part_words(cell)} {state_words(cell)}{lacks}"


def state_words(cell: Cell | None) -> str:
    """The state alone, with the reason of a gap."""
    if cell is None:
        return "not there"
    if cell.state is ChunkState.GAP and cell.reason:
        return f"gap ({clean_line(cell.reason, 40)})"
    return "not judged" if cell.state is ChunkState.QUEUED else cell.state.value


def part_words(cell: Cell) -> str:
    """Which chunks they are."""
    first, last = cell.parts[0], cell.parts[-1]
    return f"part {first}" if first == last else f"parts {first}-{last}"


def finding_facts(finding: SideFinding, mark: Mark | None) -> list[str]:
    """Where a finding is, whether its quote was found, and what a person says about it."""
    event = "no event" if finding.event is None else f"event {finding.event}"
    verified = "verified" if finding.verified else "not verified"
    return [event, verified, *([f"marked {mark.value}"] if mark else [])]


def place_words(row: Row) -> str:
    """Which events a row is about; those of A, and of B where they have other numbers."""
    cells = [(name, cell) for name, cell in ((ONE, row.one), (OTHER, row.other)) if cell]
    spans = [span_words(cell) for _, cell in cells]
    if len(set(spans)) == 1:
        return spans[0]
    return ", ".join(f"{name} {span}" for (name, _), span in zip(cells, spans, strict=True))


def span_words(cell: Cell) -> str:
    """The events of a cell."""
    return f"event {cell.first}" if cell.first == cell.last else f"events {cell.first}-{cell.last}"


def moment(created: float) -> str:
    """A time of this computer, to the minute."""
    try:
        return datetime.fromtimestamp(created).strftime("%Y-%m-%d %H:%M")
    except (OverflowError, OSError, ValueError):
        return "at an unknown time"
