"""The words about a run: its figures, its pause, and what its end still has in hand."""

from __future__ import annotations

import re
from math import ceil
from typing import TYPE_CHECKING

from longjudge.result import quotes_words, shown_score
from longjudge_tui.bench.batch_words import out_words
from longjudge_tui.bench.figures import rate_words, rounded_up
from longjudge_tui.bench.limit_words import limit_words
from longjudge_tui.commands import command
from longjudge_tui.wording import (
    DISPUTED,
    calls_words,
    clock,
    dollars,
    line,
    pause_words,
    plural,
)

if TYPE_CHECKING:
    from longjudge.calls import InHand
    from longjudge.limits import LimitAdvice
    from longjudge_tui.bench.figures import Figures
    from longjudge_tui.bench.run import Run

PAUSED = "PAUSED by hand"

_STATUS = re.compile(r"(forced: )?([1-9][0-9]{2})(?: \(([^)]*)\))?(?:: )?(.*)")
"""A problem that begins with the status of a reply: `429 (rate_limit_error): slow down`."""

_ENDINGS = {
    "cancel": "cancelling",
    "limit": "the time limit is reached",
    "fatal": "ending after an error",
}


def running_line(run: Run, label: str, advice: LimitAdvice | None) -> list[str]:
    """The figures of a run that has not ended, longest first; whatever they are, they are so far.

    `advice` is how long what is open would take by what was measured of the model before.
    """
    figures = run.figures()
    time = clock(figures.seconds)
    left, left_brief = _left(run, figures, advice)
    found, quotes = found_words(figures), quotes_words(figures.verified, figures.findings)
    found_short = found_words(figures, brief=True)
    score, score_short = _score(figures)
    judged = f"judged {figures.judged} of {figures.chunks}"
    gaps = plural(figures.gaps, "gap")
    retries = [plural(figures.retries, "retry", "retries")] if figures.retries else []
    calls = calls_words(figures.calls, figures.saved)
    calls_short = calls_words(figures.calls, 0)
    cost = dollars(figures.cost_usd)
    spent = cost if figures.cost_usd is None else f"{cost} so far"
    asks = not run.stopping and not (figures.in_batch and figures.rate is None)
    rate = [rate_words(figures.rate)] if asks else []
    rate_short = [rate_words(figures.rate, brief=True)] if asks else []
    held = [f"{run.held:,} held"] if run.held else []
    elapsed = _joined(f"{time} elapsed", left)
    brief_time = _joined(time, left_brief)
    whole = [f"{found}, {quotes}" if quotes else found, score, judged, gaps, *retries, calls]
    few = [found, score, judged, gaps, *retries]
    fewer = [found_short, score, judged, gaps]
    short = [found_short, score_short, f"{figures.judged} of {figures.chunks}", gaps]
    # That there is no gap may be left out; a gap never is.
    lean = short if figures.gaps else short[:3]
    variants = [
        [label, *whole, spent, *rate, *held, elapsed],
        [label, *whole, spent, *rate, elapsed],
        [*whole, spent, *rate, *held, elapsed],
        [*whole, spent, *rate, elapsed],
        [*few, calls_short, spent, *rate_short, elapsed],
        [*few, calls_short, spent, *rate_short, brief_time],
        [*fewer, calls_short, cost, *rate_short, brief_time],
        [*fewer, cost, *rate_short, brief_time],
        [*fewer, *rate_short, brief_time],
        [*short, cost, *rate_short, brief_time],
        [*lean, cost, *rate_short, left_brief or time],
        [*short, *rate_short, brief_time],
        [*short, *rate_short, left_brief or time],
        [*short, left_brief or time],
        [*lean, left_brief or time],
    ]
    return [" · ".join(each) for each in variants]


def found_words(figures: Figures, *, brief: bool = False) -> str:
    """How much there is to look at."""
    return findings_words(figures.findings, figures.disagreements, brief=brief)


def findings_words(findings: int, disagreements: int, *, brief: bool = False) -> str:
    """Findings, and what a model called clean and the rules flag."""
    disputes = f"{disagreements:,}" if brief else plural(disagreements, "disagreement")
    disputed = f", {DISPUTED} {disputes}" if disagreements else ""
    return plural(findings, "finding") + disputed


def _score(figures: Figures) -> tuple[str, str]:
    low, high = figures.score_range
    between = f"({shown_score(low)}-{shown_score(high)})"
    if figures.score is None:
        return f"no score {between}", f"no score {between}"
    score = shown_score(figures.score)
    return f"score {score} {between}", f"{score} {between}"


def _joined(time: str, left: str) -> str:
    return f"{time}, {left}" if left else time


def _left(run: Run, figures: Figures, advice: LimitAdvice | None) -> tuple[str, str]:
    """How long it still takes and what that rests on, whole and brief.

    Nothing where nobody can tell. While nothing is asked, why that is so.
    """
    if run.paused:
        return PAUSED, PAUSED
    if run.stopping or figures.in_batch:
        # How long a batch takes nobody knows: the status line says what is usual.
        return "", ""
    if wait := run.ordered_wait:
        waits = f"all wait {ceil(wait[0])} s"
        return waits, waits
    seconds, basis = figures.left, ""
    if seconds is None:
        seconds, basis = _by_earlier_runs(run, figures, advice), " by earlier runs"
    if seconds is None:
        return "", ""
    if figures.until_limit < seconds:
        limit = clock(rounded_up(figures.until_limit))
        return f"the limit ends it in {limit}", f"limit in {limit}"
    time = clock(rounded_up(seconds))
    return f"about {time} left{basis}", f"{time} left"


def _by_earlier_runs(run: Run, figures: Figures, advice: LimitAdvice | None) -> float | None:
    """What earlier runs say of this one; nothing of one that took longer already.

    Nor where failures are forced, which are slower or faster than any model.
    """
    if advice is None or not advice.measured or run.forced or not figures.open:
        return None
    return advice.expected if figures.seconds <= advice.expected else None


def paused_words(run: Run) -> str:
    """That it pauses, what still comes, and what to do."""
    calls = run.in_hand.calls
    coming = f"{plural(calls, 'answer')} still to come" if calls else "nothing is asked"
    if run.in_batch:
        # No pause reaches the provider's queue.
        coming += f", {run.in_batch:,} in a batch go on" if run.batches else ""
    keys = f"{command('pause').shown} goes on, {command('cancel_run').shown} cancels"
    return f"{PAUSED}: {coming} · {keys}"


def judging_words(run: Run | None, how_long: str) -> list[str]:
    """What a run does now: what is asked live, and what is in batches, which take `how_long`."""
    if run is None:
        return ["judging…"]
    wait = run.ordered_wait
    words = [pause_words(*wait)] if wait else []
    if not run.in_batch and run.as_batch and run.open_chunks:
        return [*words, "the batch is being made…"]
    if not run.in_batch:
        return [*words, f"judging, limit {limit_words(run)}…"]
    out = out_words(run.in_batch, run.batches, run.sent_since)
    if problem := next((each.problem for each in run.batches if each.problem), ""):
        return [*words, f"{out}: {line(problem, 200)}"]
    if all(each.cancel for each in run.batches) and run.batches:
        return [*words, f"{out}: being cancelled, what it leaves is asked live"]
    keys = f"{command('batch').shown} asks it live, {command('cancel_run').shown} cancels"
    return [*words, f"{out}, {how_long}", keys]


def releasing_words(run: Run) -> str:
    """What ends it, and what of that is still to be done."""
    ending = _ENDINGS.get(run.stop_cause or "cancel", "ending")
    if batches := run.batches:
        states = plural(len(batches), "batch", "batches")
        left = ceil(run.end_left)
        skips = f"{command('cancel_run').shown} waits no longer"
        return f"{ending} {states} at the provider, for {left} s at most ({skips})…"
    return f"{ending}: {hand_words(run.in_hand) or 'all is released, the result comes'}…"


def retry_words(run: Run, position: int, problem: str) -> tuple[str, str]:
    """When a chunk is asked again, with the status that says why, and the rest of the problem.

    The status has its place where there is little room: `in 4 s (429)`.
    """
    found = _STATUS.fullmatch(problem)
    status, rest = "", problem
    if found:
        forced, number, kind, said = found.groups()
        status, rest = f" ({number})", f"{forced or ''}{said or kind or ''}"
    if run.paused:
        return f"paused by hand{status}", rest
    wait = ceil(run.retry_in(position))
    return (f"in {wait} s{status}" if wait else f"next in turn{status}"), rest


def asker_words(run: Run, position: int) -> str:
    """Who asks what a chunk waits for."""
    who = line(run.asked_by(position), 60)
    return f"{who} asks it" if who else "another judgment asks it"


def running_words(seconds: float) -> str:
    """How long a call takes by now; a tenth of a second says nothing of a long one."""
    return f"{seconds:.1f} s" if seconds < 10 else f"{int(seconds)} s"


def hand_words(hand: InHand) -> str:
    """`4 calls closing, 1 verdict being kept, 3 leases`; empty where there is nothing."""
    words = [
        f"{plural(hand.calls, 'call')} closing" if hand.calls else "",
        f"{plural(hand.verdicts, 'verdict')} being kept" if hand.verdicts else "",
        plural(hand.leases, "lease") if hand.leases else "",
    ]
    return ", ".join(filter(None, words))


def hand_labels(hand: InHand) -> tuple[str, ...]:
    """The same for a button, longest first."""
    if not hand:
        return "released", "…"
    calls = hand.calls + hand.verdicts
    return (
        f"{plural(calls, 'call')}, {hand.leases} held",
        f"{calls} open, {hand.leases} held",
        f"{calls} + {hand.leases} held",
        f"{calls}+{hand.leases}…",
        "…",
    )


def all_kept_words(chunks: int, sessions: int = 1) -> str:
    """Why a run asks nothing: every one of so many chunks is kept."""
    about = f" about {plural(sessions, 'session')}" if sessions > 1 else ""
    kept = f"all {chunks:,} chunks are" if chunks > 1 else "the one chunk is"
    return f"nothing to ask{about}: {kept} kept"


def nothing_queued_words(run: Run) -> str:
    """Why nothing of a run can go into a batch, and the way out."""
    asked, waiting = run.in_hands
    if not (asked or waiting):
        return "nothing is left to ask"
    live = f"{plural(asked, 'question')} asked live now" if asked else ""
    waits = f"{waiting:,} waiting for another judgment" if waiting else ""
    held = ", ".join(filter(None, [live, waits]))
    cancel, batch = command("cancel_run").shown, command("batch").shown
    return f"all of it is on its way: {held}; {cancel} ends that, then {batch} sends what is left"


def left_over_words(leases: int) -> str:
    """That leases could not be given back, and the way out."""
    way = f"{command('sweep_holds').shown} tries again, or `longjudge holds --sweep`"
    return f"! {plural(leases, 'lease')} could not be given back: {way}"
