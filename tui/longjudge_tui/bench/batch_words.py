"""The words about batches: their names, how far they are, what they cost and how long they take."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from longjudge.judges.batch_api import BATCH_SHARE
from longjudge.prices import OFFLINE_MODEL
from longjudge.store.batch_rows import BatchState
from longjudge.text import clean_line
from longjudge_tui.commands import command
from longjudge_tui.wording import line, plural, price_range

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Sequence

    from longjudge.judges.base import Judge
    from longjudge.store.batch_rows import Batch

OFFLINE_SECONDS: Final = 8.0
"""How long a batch of the offline rules takes here, so that it can be watched and cancelled."""

NAME_CHARS: Final = 16
"""So much of a batch's name stands where there is little room: enough to tell it from others."""

WITHOUT_BATCH: Final = "leave --batch out"
"""The way out that errors about batches name on the command line."""

IN_BATCH: Final = "▤ in batch"
"""The state of a chunk that is in a batch."""


def named(batch: Batch) -> str:
    """A batch by the name that the provider gave it, ours before it has one."""
    return f"batch {line(batch.provider_id or batch.id, 60)}"


def short_name(batch: Batch) -> str:
    """As much of its name as tells it from others."""
    name = line(batch.provider_id or batch.id, 60)
    return name if len(name) <= NAME_CHARS else f"{name[: NAME_CHARS - 1]}…"


def how_long(judge: Judge) -> str:
    """How long a batch takes."""
    if judge.model == OFFLINE_MODEL:
        return f"{OFFLINE_SECONDS:.0f} s by the offline rules"
    return "usually within an hour, at most a day"


def questions_words(batch: Batch) -> str:
    """How many questions it holds, and to whom."""
    return f"{plural(batch.count, 'question')} to {line(batch.model, 40)}"


def what_became(batch: Batch, outcomes: Counter[str]) -> str:
    """What there is to say of a batch as it is now; empty where that is nothing."""
    problem = clean_line(batch.problem, 300)
    match batch.state:
        case BatchState.HARVESTED:
            kept = outcomes[""]
            without = outcomes.total() - kept
            none = f", {without:,} without an answer" if without else ""
            return f"is home: {plural(kept, 'verdict')} kept{none}"
        case BatchState.LOST:
            return f"is none: {problem or 'it was not accepted'}"
        case BatchState.ENDED:
            return problem or "has ended at the provider"
        case BatchState.SUBMITTED if batch.cancel_sent:
            return f"cancel sent{f': {problem}' if problem else ''}"
        case BatchState.SUBMITTED if problem:
            return problem
        case BatchState.SUBMITTED:
            return f"sent: {questions_words(batch)}"
        case BatchState.INTENT:
            return problem


def ago(seconds: float) -> str:
    """How long ago something was: in steps that grow, since a batch takes long."""
    if seconds < 60:
        return f"{seconds:.0f} s ago"
    minutes = int(seconds / 60)
    return f"{minutes} min ago" if minutes < 120 else f"{minutes // 60} h ago"


def out_words(count: int, batches: Sequence[Batch], since: float | None) -> str:
    """`12 in a batch (msgbatch_01ab), sent 4 min ago`; with `brief` names left out."""
    names = ", ".join(short_name(each) for each in batches[:2])
    if len(batches) > 2:
        names += f" and {len(batches) - 2} more"
    when = f", sent {ago(since)}" if since is not None else ", being sent"
    return f"{count:,} in a batch{f' ({names})' if names else ''}{when}"


def still_out_words(batches: Sequence[Batch]) -> str:
    """That batches of a run that is over have not ended."""
    names = ", ".join(short_name(each) for each in batches[:2])
    if all(each.cancel for each in batches):
        return f"{names} is still being cancelled: what it has answered is kept as it comes"
    return f"{names} runs on: its verdicts are kept as they come"


def live_instead(error: str) -> str:
    """An error with the way out of the app in place of the command line's."""
    return error.replace(WITHOUT_BATCH, f"{command('run').shown} asks live")


def half_price(
    cost_usd: float | None, lowest: float | None, highest: float | None
) -> tuple[str, str]:
    """What a batch costs that would cost so much live: as one price with its band, and live."""
    shares = (None if each is None else each * BATCH_SHARE for each in (cost_usd, lowest, highest))
    price, band = price_range(*shares)
    live, _ = price_range(cost_usd, lowest, highest)
    about = f"about {price.removeprefix('~')}" if price.startswith("~") else price
    return f"{about} {band}".rstrip(), live
