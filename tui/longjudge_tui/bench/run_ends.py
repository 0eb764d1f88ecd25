"""What there is to say at the end of a run that was to bring something about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longjudge.settings import in_seconds
from longjudge.states import JudgmentStatus
from longjudge.text import clean_line
from longjudge_tui.commands import command

if TYPE_CHECKING:
    from collections.abc import Iterable

    from longjudge_tui.bench.run import Run


def in_vain_words(run: Run, asked: Iterable[int]) -> str:
    """What stands although it was asked anew; empty where all has a new verdict."""
    for position in asked:
        if why := run.in_vain(position):
            return f"part {position + 1} keeps its verdict, no new one came: {clean_line(why, 200)}"
    return ""


def no_timeout_words(run: Run) -> str:
    """Why a run that was to be cut off was not; empty where it was, or did not get so far."""
    result, limit = run.result, in_seconds(run.settings.time_limit)
    if result is None or result.status not in (JudgmentStatus.COMPLETE, JudgmentStatus.PARTIAL):
        return ""
    smaller = command("smaller").bar_key
    instead = f"nothing timed out: try smaller chunks ({smaller}) or a longer session"
    if run.stop_cause is None:
        return f"done within {limit} s, {instead}"
    if run.stop_cause != "limit":
        return ""
    return f"the answers on their way at {limit} s still came, {instead}"
