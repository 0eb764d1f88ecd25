"""The commands of the screen that says what judging would come to, before anything is judged."""

from __future__ import annotations

from longjudge_tui.commands.kinds import Command, Scope


def _here(name: str, key: str, does: str, label: str) -> Command:
    return Command(name, (key,), key, does, label, label, scope=Scope.ESTIMATE)


ESTIMATE: tuple[Command, ...] = (
    _here("run_live", "r", "Judge them here, once you agree to the price", "Judge"),
    _here(
        "run_batch",
        "b",
        "Judge them as a batch at half the price: a process of its own, which goes on without the"
        " app",
        "Batch",
    ),
    _here(
        "sample_first",
        "s",
        "Estimate a few of all sizes first, and extrapolate from them",
        "Sample",
    ),
    _here("estimate_rest", "a", "Estimate all of them, or what is left", "All"),
    _here("judge_sample", "j", "Judge the sample here, and extrapolate from it", "Judge sample"),
    _here("stop_estimate", "x", "Stop estimating: what was counted stays", "Stop"),
    _here("cancel_batch", "c", "Cancel the batch run: what it has judged is kept", "Cancel batch"),
)
