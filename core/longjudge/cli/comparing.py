"""`longjudge results ID --against ID2`: two judgments of a session beside one another."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

import msgspec

from longjudge.comparison.caveats import with_questions
from longjudge.comparison.compare import FLIPS, RowKind, compare, refuse_strangers
from longjudge.comparison.report import ONLY_COUNTED, summary_lines
from longjudge.comparison.sides import found_keys, side_of
from longjudge.comparison.words import (
    KIND_WORDS,
    ONE,
    OTHER,
    cell_words,
    finding_facts,
    place_words,
    side_words,
)
from longjudge.marks import Mark
from longjudge.store.past_pages import pages_of_session
from longjudge.text import clean_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from longjudge.comparison.alignment import Cell
    from longjudge.comparison.compare import Comparison, Coverage, Marked, Row
    from longjudge.comparison.pairing import Pair
    from longjudge.comparison.sides import Side, SideFinding
    from longjudge.store import PastJudgment, Store

_KEYS = {
    RowKind.ONLY_ONE: "only_one_judged",
    RowKind.ONLY_OTHER: "only_other_judged",
    RowKind.BOTH_FLAGGED: "both_flagged",
    RowKind.BOTH_CLEAN: "both_clean",
    RowKind.NEITHER: "neither_judged",
}


async def compare_judgments(
    store: Store,
    one: PastJudgment,
    other: PastJudgment,
    marks: Mapping[tuple[bytes, str], Mark],
) -> Comparison:
    """Lay one beside the other.

    Raises:
        LongjudgeError: they cannot be compared, or the store cannot be read.
    """
    sides = [await with_questions(side_of(each), store) for each in (one, other)]
    refuse_strangers(sides[0].session, sides[1].session)
    right = {(digest.hex(), name) for (digest, name), mark in marks.items() if mark is Mark.RIGHT}
    elsewhere: set[tuple[str, str]] = set()
    if right:
        async for page in pages_of_session(store, other.real_path, other.session_id):
            here = (each for each in page if each.real_path == other.real_path)
            elsewhere.update(key for each in here for key in found_keys(each) if key in right)
    return compare(sides[0], sides[1], marks, elsewhere)


def comparison_text(comparison: Comparison) -> str:
    """As lines for a terminal."""
    lines = [
        f"{clean_line(comparison.one.session.path)}: two judgments",
        *(
            f"  {name} {clean_line(side.id)} · {side_words(side)}"
            for name, side in ((ONE, comparison.one), (OTHER, comparison.other))
        ),
        *(f"  {each}" for each in summary_lines(comparison)),
    ]
    for kind, rows in groupby(comparison.rows, key=lambda row: row.kind):
        lines.append(f"{KIND_WORDS[kind]} ({comparison.counts[kind]:,})")
        if kind not in ONLY_COUNTED:
            lines += [line for row in rows for line in _row_lines(comparison, row)]
    return "\n".join(lines)


def _row_lines(comparison: Comparison, row: Row) -> Iterable[str]:
    yield f"  {place_words(row)} · {clean_line(row.thread, 80)}"
    for name, cell in ((ONE, row.one), (OTHER, row.other)):
        yield f"    {name} {cell_words(cell)}"
        for finding in cell.findings if cell else ():
            facts = finding_facts(finding, comparison.mark_of(finding))
            known = " · ".join([clean_line(finding.criterion, 80), *facts])
            yield f"      {known}: {clean_line(finding.note)}"
            if finding.quote:
                yield f'          "{clean_line(finding.quote, 160)}"'


def comparison_json(comparison: Comparison) -> str:
    """As one object on one line."""
    counts, found = comparison.counts, comparison.found
    session = comparison.one.session
    rows: dict[str, list[dict[str, object]]] = {"flips": [], **{key: [] for key in _KEYS.values()}}
    for row in comparison.rows:
        key = "flips" if row.kind in FLIPS else _KEYS[row.kind]
        rows[key].append(_row_json(comparison, row))
    fields: dict[str, object] = {
        "session": {"path": session.path, "id": session.id, "title": session.title},
        "one": _side_json(comparison.one, comparison.coverage_one),
        "other": _side_json(comparison.other, comparison.coverage_other),
        "comparable": not comparison.why_no_scores,
        "why_not_comparable": comparison.why_no_scores or None,
        "same_plan": comparison.same_plan,
        "shared_events": comparison.shared,
        "counts": {
            "agreed": comparison.agreed,
            **{kind.value: counts.get(kind, 0) for kind in RowKind},
        },
        "findings": {
            "same": found.same,
            "only_one": found.only_one,
            "only_other": found.only_other,
            "unknown_one": found.unknown_one,
            "unknown_other": found.unknown_other,
        },
        "marks": {
            "right": _marked_json(comparison.right),
            "wrong": _marked_json(comparison.wrong),
            "right_elsewhere": comparison.missed,
            "unmarked_one": comparison.unmarked_one,
            "unmarked_other": comparison.unmarked_other,
        },
        "remarks": list(comparison.remarks),
        **rows,
    }
    return msgspec.json.encode(fields).decode()


def _side_json(side: Side, coverage: Coverage) -> dict[str, object]:
    by = side.by
    return {
        "id": side.id,
        "created": side.created,
        "status": side.status,
        "model": by.model,
        "rubric": {"name": by.rubric, "version": by.version},
        "settings": {"chunk_tokens" if by.by_tokens else "chunk_chars": by.size},
        "score": side.score,
        "score_range": list(side.score_range),
        "chunks": len(side.parts),
        "judged_chunks": side.judged,
        "flagged_chunks": side.flagged,
        "findings": len(side.findings),
        "events": side.session.events,
        "judged_shared_events": coverage.judged,
        "events_only_here": coverage.beyond,
        "fault": side.fault or None,
    }


def _marked_json(marked: Marked) -> dict[str, int]:
    return {
        "marked": marked.marked,
        "one": marked.one,
        "other": marked.other,
        "one_not_judged": marked.unjudged_one,
        "other_not_judged": marked.unjudged_other,
        "one_not_asked": marked.unasked_one,
        "other_not_asked": marked.unasked_other,
    }


def _row_json(comparison: Comparison, row: Row) -> dict[str, object]:
    return {
        "kind": row.kind.value,
        "thread": row.thread,
        "one": _cell_json(row.one),
        "other": _cell_json(row.other),
        "findings": [_pair_json(comparison, pair) for pair in row.pairs],
    }


def _cell_json(cell: Cell | None) -> dict[str, object] | None:
    if cell is None:
        return None
    return {
        "parts": list(cell.parts),
        "state": cell.state.value,
        "reason": cell.reason or None,
        "unjudged_parts": cell.unjudged,
        "first_event": cell.first,
        "last_event": cell.last,
    }


def _pair_json(comparison: Comparison, pair: Pair) -> dict[str, object]:
    return {
        "one": _finding_json(comparison, pair.one),
        "other": _finding_json(comparison, pair.other),
    }


def _finding_json(comparison: Comparison, finding: SideFinding | None) -> dict[str, object] | None:
    if finding is None:
        return None
    mark = comparison.mark_of(finding)
    return {
        "part": finding.part,
        "criterion": finding.criterion,
        "note": finding.note,
        "event": finding.event,
        "quote": finding.quote,
        "verified": finding.verified,
        **({"mark": mark.value} if mark else {}),
    }
