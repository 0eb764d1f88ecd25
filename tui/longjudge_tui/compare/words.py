"""What the comparison's screen says of its sides, in safe text."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from longjudge.comparison import words
from longjudge.comparison.caveats import OTHER_SIZES
from longjudge.comparison.sides import Side
from longjudge.redaction import redacted_text
from longjudge.states import ChunkState
from longjudge_tui.commands import command
from longjudge_tui.wording import line

if TYPE_CHECKING:
    from longjudge.comparison.alignment import Cell
    from longjudge.comparison.compare import Comparison
    from longjudge_tui.bench.comparing import Source


def about_side(source: Source | None, comparison: Comparison | None, *, one: bool) -> list[str]:
    """What a side is, at length and in brief; of one that stands now, as it was computed last."""
    label = words.ONE if one else words.OTHER
    side = source if isinstance(source, Side) else None
    if comparison is not None and side is None and source is not None:
        side = comparison.one if one else comparison.other
    if side is None:
        return [f"{label}  …"]
    brief = words.side_words_in_brief(side)
    about = words.side_words(side), brief, brief.rsplit(" · ", 1)[0]
    return [f"{label}  {line(each, 400)}" for each in about]


def caveat_words(comparison: Comparison | None, *, brief: bool) -> str:
    """What makes the answer and all numbers say less; empty where nothing does."""
    caveats = comparison.caveats if comparison is not None else ()
    said = [each.brief if brief else each.whole for each in caveats]
    if OTHER_SIZES in said:
        place = said.index(OTHER_SIZES)
        said[place] = f"{OTHER_SIZES}; {command('choose_one').shown} chooses another"
    return line(" · ".join(said), 1_000)


def file_name(comparison: Comparison, *, redact: bool) -> str:
    """What a file of it is called: after the session's own file."""
    path = comparison.one.session.path
    stem = os.path.splitext(os.path.basename(redacted_text(path) if redact else path))[0]
    return f"{stem or 'events'}-before-after"


def nothing_found(cell: Cell | None, *, one: bool, being_asked: bool) -> str:
    """Why a side shows no finding; `being_asked` says that a run is about to say more."""
    ask = command("ask_one" if one else "ask_other").shown
    if cell is None:
        return "the session did not have these events yet when it was judged"
    if cell.state is ChunkState.CLEAN:
        return f"nothing found in {words.span_words(cell)}"
    if cell.state is ChunkState.FLAGGED:
        return "flagged, and what was found does not read any more"
    if cell.state is ChunkState.GAP:
        return f"no verdict: {line(cell.reason, 60) or 'a gap'}; {ask} asks for it"
    if cell.state is ChunkState.QUEUED and being_asked:
        return "no verdict yet: it is among those that are being asked"
    if cell.state is ChunkState.QUEUED:
        return f"no verdict yet; {ask} asks for it, at a price that is said first"
    return f"no verdict yet: {words.state_words(cell)}"
