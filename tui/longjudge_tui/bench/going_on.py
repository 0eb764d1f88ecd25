"""What leads on from a judgment that has ended, in words: what is left to ask, and its price."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from longjudge.prices import OFFLINE_MODEL
from longjudge_tui.commands import command
from longjudge_tui.wording import line, live_prices, plural, price_range

if TYPE_CHECKING:
    from collections.abc import Sequence

    from longjudge.result import Result
    from longjudge_tui.bench.bench import Bench

SAVED: Final = "report saved: "
"""What stands before the path of a report."""


@dataclass(frozen=True, slots=True)
class Hint:
    """What leads back to a judgment that went by something else; `shorter` in ever less room."""

    words: str
    shorter: tuple[str, ...] = ()

    def variants(self, *texts: str) -> list[str]:
        """A line that it is a part of, in less room: the way back is what is not lost."""
        found = [text for text in texts if self.words in text]
        if not found:
            return []
        brief = (text.replace(self.words, each) for text in found for each in self.shorter)
        return [*brief, *self.shorter]


def another_model() -> str:
    """The way out where a model cannot be asked."""
    return f"{command('choose_model').shown} chooses another model, such as {OFFLINE_MODEL}"


def go_on_words(bench: Bench, result: Result) -> list[str]:
    """The key that asks what is missing, where that can be asked; else the way to the findings."""
    if result.error:
        return []
    if (fit := bench.fit) is not None:
        key, of = command("fit_size").shown, f"{plural(fit.parts, 'part')} too large"
        return [f"{of}: {key} uses chunks of {fit.size:,} {bench.tuning.unit.value}"]
    if not result.unjudged_chunks:
        if result.findings:
            return [f"{command('next_finding').shown} goes to the findings"]
        rules = f"{command('filter_findings').shown} shows what the rules say"
        return [rules] if result.disagreements else []
    return [rest_words(bench)]


def runs_words(bench: Bench, to_ask: int) -> str:
    """What the key that judges does; where so much is in batches already it has nothing to do."""
    waiting, _ = bench.waits_for
    return "all of it in a batch" if waiting >= to_ask else f"{command('run').shown} runs"


def remark_words(bench: Bench) -> str:
    """What is remarked of the last run; where it was cut off, with what is left of it by now."""
    cut_off = bench.remark == bench.cut_off
    return f"{bench.remark} · {rest_words(bench)}" if cut_off else bench.remark


def rest_words(bench: Bench) -> str:
    """What the key would ask that is missing, and what stands in its way."""
    run, outlook = command("run").shown, bench.outlook
    if bench.store_error or outlook is None:
        return f"{run} asks again"
    totals = outlook.totals
    if not totals.to_ask:
        return f"{run} asks nothing: what was missing is kept by now"
    waiting, _ = bench.waits_for
    if waiting >= totals.to_ask:
        return "what is left is in a batch"
    if bench.missing_key:
        return f"{line(bench.missing_key, 60)}: {another_model()}"
    rest = totals.to_ask - waiting
    cost, _ = price_range(*live_prices(totals, rest))
    return f"{run} goes on: {rest:,} to ask, {cost}"


def shorter(words: Sequence[str], go_on: Sequence[str]) -> list[str]:
    """How it ended and what leads on, in less room.

    What was found stands in the list; what is left to ask, and its price, does not.
    """
    known, judged, notes = words[-1].partition(" judged: ")
    if not judged:
        notes = ""
    ended = [*words[:-1], f"{known} judged" if notes else words[-1]]
    variants = [" · ".join([*ended, *go_on])]
    if " goes on: " in go_on[0]:
        brief = go_on[0].partition(": ")[0]
        variants += [" · ".join([*each, brief]) for each in (words, ended)]
    return variants
