"""What to agree to before a side of a comparison is asked what it lacks."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from longjudge.errors import UsageError
from longjudge.judges.make import credential_fault
from longjudge.prices import Usage, cost_usd
from longjudge.settings import DEFAULT_MODEL
from longjudge_tui.bench.side_terms import Terms
from longjudge_tui.wording import line, price_range

if TYPE_CHECKING:
    from longjudge.estimate import Totals
    from longjudge_tui.bench.comparing import Comparing


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of the user, by what a run would go, and how many chunks it would ask."""

    words: str
    terms: Terms
    to_ask: int


async def question_about(comparing: Comparing, *, one: bool) -> Question:
    """Work out what a side lacks, and what asking it would cost.

    Raises:
        LongjudgeError: it cannot be asked.
    """
    bench, name = comparing.bench, "A" if one else "B"
    if bench.running:
        raise UsageError("a judgment is in flight: the rows follow it; x cancels it")
    if why_not := bench.refusal():
        raise UsageError(why_not)
    if (side := comparing.side(one=one)) is not None and not side.lacking:
        chunks = f"all {len(side.parts):,} chunks have a verdict"
        raise UsageError(f"{name} lacks nothing: {chunks}, so there is nothing to ask")
    terms = await comparing.terms_of_side(one=one)
    session, outlook = comparing.session, bench.outlook
    if session is None or outlook is None:
        raise UsageError("the session is still being read")
    if terms.judge.judges_meaning and (
        fault := await asyncio.to_thread(credential_fault, terms.model_name, bench.config)
    ):
        raise UsageError(f"{name} cannot be asked: {fault}")
    # The price table is imported in the thread, and not by the next frame.
    await asyncio.to_thread(cost_usd, DEFAULT_MODEL, Usage())
    foreseen = await asyncio.to_thread(
        terms.outlook, session, outlook.estimator, frozenset(bench.kept_keys)
    )
    by = terms.by
    head = f"{name}: {line(by.rubric, 40)} {by.version} · {by.judge_words} · {by.size_words}"
    moves = not terms.same_as(Terms.standing(bench.tuning))
    stands = "The workbench stands at these settings from then on.\n" if moves else ""
    lasts = "Every answer is kept; what has a verdict is not asked again."
    totals = foreseen.totals
    return Question(f"{head}\n{_to_ask(totals)}\n{stands}{lasts}", terms, totals.to_ask)


def _to_ask(totals: Totals) -> str:
    if not totals.to_ask:
        return f"all {totals.chunks:,} chunks have a verdict by now: nothing is asked, at no cost"
    cost, band = price_range(totals.cost_usd, totals.cost_usd_low, totals.cost_usd_high)
    kept = f"{totals.kept:,} of {totals.chunks:,} chunks have a verdict"
    return f"{kept} · {totals.to_ask:,} to ask · {cost} {band}".rstrip()
