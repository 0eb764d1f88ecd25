"""The words about time limits: that of the run in flight, and that which is set for the next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longjudge.batch_pace import DAY
from longjudge.limits import duration_words
from longjudge.settings import in_seconds
from longjudge_tui.commands import command

if TYPE_CHECKING:
    from longjudge_tui.bench.bench import Bench
    from longjudge_tui.bench.run_batches import RunBatches


def limit_words(run: RunBatches) -> str:
    """How long a run may take: the limit that is in force, whatever is set for the next one."""
    return "a day" if run.limit == DAY else f"{in_seconds(run.limit)} s"


def limit_is_next(bench: Bench) -> bool:
    """Whether the judgment in flight goes by another limit than the one that is set."""
    run = bench.run
    if run is None or run.result is not None or not bench.running:
        return False
    return run.limit != bench.settings.time_limit


def limit_variants(bench: Bench) -> list[str]:
    """How long a run would take, beside the limit; nothing where that is not known.

    While one runs, its own limit where that is another one.
    """
    advice, limit = bench.limit_advice, bench.settings.time_limit
    if bench.run is not None and limit_is_next(bench):
        now = limit_words(bench.run)
        return [f"this run: {now}", f"now: {now}", ""]
    if advice is None or bench.running:
        return [""]
    about = f"~{duration_words(advice.expected)}"
    guess = "" if advice.measured else "?"
    if advice.is_short(limit):
        return [f"! short: {about}{guess} needed", f"! short: {about}{guess}"]
    if advice.advised > limit:
        return [f"tight: {about}{guess} needed", f"tight: {about}{guess}"]
    return [f"needs {about}{' (a guess)' if guess else ''}", f"needs {about}{guess}"]


def short_limit_words(bench: Bench) -> list[str]:
    """Says that a limit will end the next run, and what would be enough, where that is so."""
    advice, limit = bench.limit_advice, bench.settings.time_limit
    if advice is None or not advice.is_short(limit):
        return []
    about = f"~{duration_words(advice.expected)}{'' if advice.measured else ' by a guess'}"
    return [
        f"limit {in_seconds(limit)} s is short: {about} needed,"
        f" {in_seconds(advice.advised)} s advised ({command('edit_limit').shown})"
    ]
