"""An event that somebody wants to see in the workbench, with the finding that leads there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from longjudge.result import ResultFinding

if TYPE_CHECKING:
    from longjudge.chunks import ChunkPlan
    from longjudge.comparison.sides import SideFinding
    from longjudge.sessions import Session
    from longjudge_tui.bench.compared_lines import Line


@dataclass(frozen=True, slots=True)
class Sought:
    """An event of a session; `finding` is what a judgment found in it, if it did."""

    session: Session
    event: int
    finding: SideFinding | None = None

    def position(self, plan: ChunkPlan) -> int:
        """The chunk that it stands in; of an event in pieces, the piece with the quote."""
        position = plan.part_of(self.event) - 1
        span = self.finding.span if self.finding is not None else None
        while span is not None and (piece := plan[position].piece) is not None:
            if span[0] < piece.end or piece.number == piece.of:
                break
            position += 1
        return position

    def as_result(self, part: int) -> ResultFinding | None:
        """The finding as the workbench shows it, in the chunk that holds it there."""
        found = self.finding
        if found is None:
            return None
        start, end = found.span or (None, None)
        return ResultFinding(
            part, found.criterion, found.note, self.event, found.quote, found.verified, start, end
        )


def sought_of(each: Line, session: Session, *, live: tuple[bool, bool]) -> Sought:
    """The event of a line of a comparison, as the open session numbers it.

    `live` says which sides are about that session as it is now. One that was judged before may have
    numbered its events otherwise: the text decides, where it was noted.
    """
    row, finding = each.row, each.finding
    own = row.other if each.pair is not None and each.pair.other is not None else row.one
    cell = own or row.other or row.one
    first = cell.first if cell is not None else 0
    event = first if finding is None or finding.event is None else finding.event
    places = [event]
    for is_live, there in zip(live, (row.one, row.other), strict=True):
        if is_live and there is not None:
            places.insert(0, there.first + event - first)
    inside = [place for place in places if 0 <= place < len(session.index)]
    same = [place for place in inside if _is_text(session, place, finding)]
    event = next(iter([*same, *inside]), 0)
    return Sought(session, event, finding)


def _is_text(session: Session, event: int, finding: SideFinding | None) -> bool:
    """Whether an event has the text that a finding is about."""
    noted = finding is not None and finding.event is not None and finding.digest
    return not noted or session.index.digest(event).hex() == noted
