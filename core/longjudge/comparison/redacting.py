"""A comparison as it may leave this computer: what it was recorded with may hold secrets."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from longjudge.comparison.pairing import Pair
from longjudge.redaction import redacted_text

if TYPE_CHECKING:
    from longjudge.comparison.alignment import Cell
    from longjudge.comparison.compare import Comparison, Row
    from longjudge.comparison.sides import Side, SideFinding


def redacted_comparison(comparison: Comparison) -> Comparison:
    """The same without the secrets in it; slow where there are very many findings."""
    return replace(
        comparison,
        one=_side(comparison.one),
        other=_side(comparison.other),
        rows=tuple(map(_row, comparison.rows)),
        remarks=tuple(map(redacted_text, comparison.remarks)),
    )


def _side(side: Side) -> Side:
    session = side.session
    path, title = redacted_text(session.path), redacted_text(session.title)
    session = replace(session, path=path, title=title, id=redacted_text(session.id))
    unread = tuple(map(redacted_text, side.unread))
    asked = side.asked and side.asked.redacted()
    return replace(side, session=session, unread=unread, asked=asked)


def _row(row: Row) -> Row:
    if not row.pairs:
        return row
    pairs = tuple(
        Pair(pair.one and _finding(pair.one), pair.other and _finding(pair.other))
        for pair in row.pairs
    )
    return replace(row, one=_cell(row.one), other=_cell(row.other), pairs=pairs)


def _cell(cell: Cell | None) -> Cell | None:
    return cell and replace(cell, findings=tuple(map(_finding, cell.findings)))


def _finding(finding: SideFinding) -> SideFinding:
    quote = None if finding.quote is None else redacted_text(finding.quote)
    return replace(finding, note=redacted_text(finding.note), quote=quote)
