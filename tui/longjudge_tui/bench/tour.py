"""Three keys for somebody who has never judged anything: cut off, resume, look at what was found.

It goes by what the bench knows, and keeps nothing: once the store has a judgment there is no tour.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from longjudge.settings import in_seconds
from longjudge.states import GapReason, JudgmentStatus
from longjudge_tui.commands import command
from longjudge_tui.wording import plural

if TYPE_CHECKING:
    from longjudge.result import Result
    from longjudge_tui.bench.bench import Bench
    from longjudge_tui.bench.run import Run

ENDS = "esc ends this"
BACK = "esc goes back"
"""In the workbench it leads to the list, as it does without a tour."""
DONE = "that was the tour"


class Step(Enum):
    """What is to be done next."""

    CUT_OFF = "run_short"
    RESUME = "run"
    LOOK = "next_finding"


class Tour:
    """`step` is what is to be done next; None where there is no tour, or no more."""

    def __init__(self, *, wanted: bool) -> None:
        self.step = Step.CUT_OFF if wanted else None
        self._run: Run | None = None

    def dismiss(self) -> None:
        """Something else was done."""
        self.step = self._run = None

    def follow(self, bench: Bench, *, looking: bool) -> str:
        """Go on by what was done; `looking` where a finding is shown.

        Returns what to say about the end, once.
        """
        if self.step is None:
            return ""
        run, seen = bench.run, self._run
        if seen is not None and (run is None or run.outlook.plan is not seen.outlook.plan):
            # Another session, or another plan: the numbers are about something else.
            self.dismiss()
        elif self.step is Step.LOOK:
            return self._look(run, looking=looking)
        elif run is not None and run is not self._run:
            return self._take(run, short=run.settings.time_limit < bench.settings.time_limit)
        return ""

    def _take(self, run: Run, *, short: bool) -> str:
        """A run that was not there before: the one that is wanted, or something else."""
        wanted = run.asks_all and not run.forced
        if not wanted or (self.step is Step.CUT_OFF and not short):
            self.dismiss()
        elif run.result is not None:
            self._run = run
            return self._ended(run.result)
        return ""

    def _ended(self, result: Result) -> str:
        if result.status is JudgmentStatus.TIMED_OUT:
            self.step = Step.RESUME
        elif result.status is not JudgmentStatus.COMPLETE:
            self.dismiss()
        elif result.findings:
            self.step = Step.LOOK
        else:
            self.dismiss()
            return _goodbye()
        return ""

    def _look(self, run: Run | None, *, looking: bool) -> str:
        if looking or run is not self._run:
            self.dismiss()
            return _goodbye() if looking else ""
        return ""

    def words(self, bench: Bench) -> str:
        """What was seen, and what to press next; empty where there is nothing to say."""
        run = bench.run
        result = self._run.result if self._run is not None else None
        key = "" if self.step is None else command(self.step.value).shown
        match self.step:
            case None:
                return ""
            case Step.CUT_OFF if bench.running and run is not None:
                limit = in_seconds(run.settings.time_limit)
                return f"1/3 · running; what has no answer at {limit} s is cut off"
            case Step.CUT_OFF:
                return (
                    "New here? Three keys show what happens when a run does not get through.\n"
                    f"1/3 · press {key} to cut one off after half a second · {BACK}"
                )
            case Step.RESUME if bench.running and run is not self._run:
                return "2/3 · asking only what is missing"
            case Step.RESUME:
                said = "" if result is None else f"{_cut_off(result)}\n"
                missing = 0 if result is None else result.unjudged_chunks
                return f"{said}2/3 · press {key} to ask only these {missing} · {BACK}"
            case Step.LOOK:
                said = "" if result is None else f"{_resumed(result)}\n"
                return f"{said}3/3 · press {key} for the first finding and its quote · {BACK}"

    def words_in_library(self) -> str:
        """The greeting where a session is to be opened first."""
        if self.step is not Step.CUT_OFF:
            return ""
        keys = ", ".join(command(each.value).shown for each in (Step.CUT_OFF, Step.RESUME))
        return (
            f"New here? {command('open').shown} opens the session under the cursor; three keys"
            f" ({keys} and {command(Step.LOOK.value).shown}) then show how it is judged · {ENDS}"
        )


def _cut_off(result: Result) -> str:
    """What a time-out looks like, in numbers."""
    asked = result.gaps.get(GapReason.TIMED_OUT.value, 0)
    skipped = result.gaps.get(GapReason.SKIPPED.value, 0)
    return (
        f"{plural(result.judged_chunks, 'chunk')} judged and kept, {asked} cut off (✗ timed_out),"
        f" {skipped} never asked (✗ skipped)"
    )


def _resumed(result: Result) -> str:
    saved = result.cached_chunks
    if not saved:
        return f"Judged with {plural(result.calls, 'call')}"
    return f"Complete: {plural(result.calls, 'call')} made, {saved} saved by what was kept"


def _goodbye() -> str:
    lab, keys = command("failure_lab").shown, command("help").shown
    return f"{DONE}: {lab} forces other failures, {keys} shows the keys"
