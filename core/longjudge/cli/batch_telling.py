"""Says on stderr what a batch run is about to send, and what becomes of its batches."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from longjudge.cli.preview import summary
from longjudge.judges.batch_api import BATCH_SHARE
from longjudge.report.words import money, plural
from longjudge.store.batch_rows import BatchState
from longjudge.streams import tell
from longjudge.text import clean_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from longjudge.batches.following import BatchNews
    from longjudge.judges.base import Judge
    from longjudge.preview import Preview
    from longjudge.store.batch_rows import Batch


class Telling:
    """What was said of each batch is not said again."""

    def __init__(self) -> None:
        self._said: dict[str, str] = {}
        self._answered: dict[str, int] = {}
        self._gaps: dict[str, int] = {}
        self._cost: dict[str, float] = {}
        self._problems: set[str] = set()

    def session(self, name: str, preview: Preview, judge: Judge, more: str) -> None:
        """What a session would send, and cost in a batch; said before anything of it is sent.

        `more` is what there is to say of it beside.
        """
        totals = preview.totals
        if totals.cost_usd:
            totals = replace(
                totals,
                cost_usd=totals.cost_usd * BATCH_SHARE,
                cost_usd_low=(totals.cost_usd_low or 0.0) * BATCH_SHARE,
                cost_usd_high=(totals.cost_usd_high or 0.0) * BATCH_SHARE,
            )
        tell(f"{name}: {summary(totals)} as a batch; {judge.label}{more}")

    def adopted(self, batch: Batch) -> None:
        """A batch that nobody followed any more is followed from now on."""
        self._say(batch, f"{_name(batch)}: taken over, {plural(batch.count, 'question')}")

    def hear(self, news: BatchNews) -> None:
        """How far a batch is, where that is news."""
        batch = news.batch
        self._count(news)
        match batch.state:
            case BatchState.INTENT:
                if batch.problem:
                    self._say(batch, f"{_name(batch)}: {batch.problem}")
            case BatchState.SUBMITTED | BatchState.ENDED:
                if batch.problem:
                    self._say(batch, f"{_name(batch)}: {batch.problem}; looking again")
                elif batch.state is BatchState.ENDED:
                    pass
                elif batch.cancel:
                    self._say(batch, f"{_name(batch)}: is being cancelled")
                elif batch.id not in self._said:
                    self._say(batch, f"{_name(batch)}: {plural(batch.count, 'question')} sent")
            case BatchState.HARVESTED:
                gaps = self._gaps.get(batch.id, 0)
                words = f", {plural(gaps, 'gap')}" if gaps else ""
                cost = self._cost.get(batch.id, 0.0)
                paid = f", {money(cost)}" if cost else ""
                answered = self._answered.get(batch.id, 0)
                self._say(batch, f"{_name(batch)}: ended, {answered} answered{words}{paid}")
            case BatchState.LOST:
                self._problems.add(batch.problem)
                self._say(batch, f"{_name(batch)}: {batch.problem or 'not accepted'}")

    def stopped(self, name: str, why: str) -> None:
        """What ended the run, said with the first session that it leaves without a verdict."""
        if why not in self._problems:
            self._problems.add(why)
            tell(f"longjudge: {name}: stopped, {why}")

    def left(self, batches: Sequence[Batch]) -> None:
        """What is still held, in one line."""
        if len(batches) == 1:
            [batch] = batches
            what = f"{_name(batch)} has not ended yet and stays held"
            if batch.state is BatchState.ENDED:
                what = f"{_name(batch)} has ended, and stays held until its results are here"
        else:
            what = f"{len(batches)} batches are not home yet and stay held"
        finishes = "the next `judge --batch` or `longjudge holds --sweep` finishes it"
        if not any(batch.cancel for batch in batches):
            finishes = "it runs on, and the next `judge --batch` brings its answers home"
        tell(f"longjudge: {what}; `longjudge holds` shows it, {finishes}")

    def _count(self, news: BatchNews) -> None:
        id = news.batch.id
        for outcome in news.outcomes:
            counts = self._gaps if outcome.reason else self._answered
            counts[id] = counts.get(id, 0) + 1
            self._cost[id] = self._cost.get(id, 0.0) + (outcome.cost_usd or 0.0)

    def _say(self, batch: Batch, words: str) -> None:
        if self._said.get(batch.id) != words:
            self._said[batch.id] = words
            tell(f"longjudge: {words}")


def _name(batch: Batch) -> str:
    return f"batch {clean_line(batch.provider_id or batch.id, 80)}"
