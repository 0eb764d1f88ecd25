"""A comparison as Markdown, in which no text of a session can pass for the report's own."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from longjudge.comparison import words
from longjudge.comparison.compare import RowKind
from longjudge.comparison.words import ONE, OTHER
from longjudge.report.asked import asked_of_both
from longjudge.report.markdown import fenced, inline

if TYPE_CHECKING:
    from collections.abc import Iterable

    from longjudge.comparison.alignment import Cell
    from longjudge.comparison.compare import Comparison, Row
    from longjudge.comparison.sides import Side, SideFinding
    from longjudge.report.asked import Questions

ONLY_COUNTED = frozenset({RowKind.BOTH_CLEAN})
"""There is nothing to tell of these but how many there are."""


def markdown_comparison(comparison: Comparison) -> str:
    """The whole of it; the same judgments give the same bytes."""
    session = comparison.one.session
    lines = [f"# Before and after: {inline(session.title or session.path or 'events')}", ""]
    lines += [
        f"- Session: {inline(session.path, 1000)}, id {inline(session.id)}",
        _side(ONE, comparison.one),
        _side(OTHER, comparison.other),
        "",
    ]
    lines += [f"- {inline(each, 1000)}" for each in summary_lines(comparison)]
    lines += ["", *asked_of_both(*map(_asked, (comparison.one, comparison.other)))]
    for kind, rows in groupby(comparison.rows, key=lambda row: row.kind):
        title = inline(words.KIND_WORDS[kind])
        lines += ["", f"## {title[0].upper()}{title[1:]} ({comparison.counts[kind]:,})", ""]
        if kind in ONLY_COUNTED:
            lines.append("Nothing was found there.")
        else:
            lines += [line for row in rows for line in _row(comparison, row)]
    return "\n".join(lines) + "\n"


def markdown_row(comparison: Comparison) -> str:
    """Its first row, with which judgments it is from."""
    session, row = comparison.one.session, comparison.rows[0]
    lines = [
        f"### {inline(words.KIND_WORDS[row.kind])}",
        "",
        f"- Session: {inline(session.path, 1000)}, id {inline(session.id)}",
        _side(ONE, comparison.one),
        _side(OTHER, comparison.other),
        "",
        *_row(comparison, row),
    ]
    return "\n".join(lines) + "\n"


def summary_lines(comparison: Comparison) -> list[str]:
    """What there is to say of all of it: who is right, and what that is worth, first."""
    return [
        words.verdict_words(comparison),
        *(each.whole for each in comparison.caveats),
        words.flip_words(comparison),
        words.found_words(comparison),
        words.coverage_words(comparison),
        words.score_words(comparison),
        *comparison.other_remarks,
    ]


def _side(name: str, side: Side) -> str:
    judgment = f"judgment {inline(side.id)}" if side.id else "not recorded"
    return f"- {name}: {inline(words.side_words(side), 1000)}, {judgment}"


def _asked(side: Side) -> tuple[str, str, Questions | None]:
    return side.by.rubric, side.by.version, side.asked


def _row(comparison: Comparison, row: Row) -> list[str]:
    place = f"**{inline(words.place_words(row))}**, thread {inline(row.thread)}"
    cells = [(ONE, row.one), (OTHER, row.other)]
    if not row.pairs:
        states = ", ".join(f"{name} {inline(words.cell_words(cell))}" for name, cell in cells)
        return [f"- {place}: {states}"]
    return [f"- {place}", *(line for each in cells for line in _cell(comparison, *each))]


def _cell(comparison: Comparison, name: str, cell: Cell | None) -> list[str]:
    lines = [f"  - {name}: {inline(words.cell_words(cell))}"]
    for finding in cell.findings if cell else ():
        lines += _finding(comparison, finding)
    return lines


def _finding(comparison: Comparison, finding: SideFinding) -> Iterable[str]:
    mark = comparison.mark_of(finding)
    facts = [inline(finding.criterion), *words.finding_facts(finding, mark)]
    yield f"    - {', '.join(facts)}: {inline(finding.note, 1000)}"
    if finding.quote:
        yield ""
        # Indented, it belongs to the list item and still cannot end its fence.
        yield from (f"      {line}" if line else "" for line in fenced(finding.quote))
        yield ""
