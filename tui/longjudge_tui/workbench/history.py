"""Answers to one question that a newer one has replaced, as they read below that one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longjudge.store.earlier import earlier_verdicts
from longjudge_tui.wording import dollars, line, moment

if TYPE_CHECKING:
    from longjudge.store.earlier import EarlierVerdict
    from longjudge.verdict import Verdict
    from longjudge_tui.bench.bench import Bench

MOST_NOTES = 5


async def earlier_answers(bench: Bench, position: int) -> list[EarlierVerdict]:
    """What was answered about a chunk of the plan before the verdict that counts, newest first.

    Raises:
        StoreError: the store cannot be read.
    """
    if bench.outlook is None:
        return []
    return await earlier_verdicts(bench.store, bench.outlook.keys[position])


def newest_head(verdict: Verdict, model: str, earlier: list[EarlierVerdict]) -> str:
    """What to know about the answer that counts: it came when the last one was replaced."""
    known = [moment(earlier[0].replaced), line(model, 60), verdict_words(verdict)]
    return f"── answer 1 of {len(earlier) + 1}, the one that counts: {' · '.join(known)} ──"


def with_earlier(
    newest: str, heads: tuple[tuple[int, int], ...], earlier: list[EarlierVerdict]
) -> tuple[str, tuple[tuple[int, int], ...]]:
    """A text with the earlier answers below: when, by whom, the verdict, the reply; all heads."""
    text, all_heads = newest, list(heads)
    for number, each in enumerate(earlier, 2):
        known = [
            moment(each.created),
            line(each.model, 60),
            dollars(each.cost_usd),
            verdict_words(each.kept.verdict),
        ]
        head = f"── answer {number} of {len(earlier) + 1}: {' · '.join(known)} ──"
        start = len(text) + 2
        text = f"{text}\n\n{head}\n\n{each.kept.raw_reply}"
        all_heads.append((start, start + len(head)))
    return text, tuple(all_heads)


def verdict_words(verdict: Verdict) -> str:
    """A verdict in words: clean, or what was found."""
    if not verdict.flagged:
        return "clean"
    notes = [line(found.note or found.criterion, 200) for found in verdict.findings]
    more = f"; {len(notes) - MOST_NOTES} more" if len(notes) > MOST_NOTES else ""
    return f"flagged: {'; '.join(notes[:MOST_NOTES])}{more}"
