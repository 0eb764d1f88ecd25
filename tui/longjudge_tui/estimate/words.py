"""What the estimate screen says around its figures. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longjudge.forecast import BATCH_PACE, CONFIDENCE
from longjudge.replaced import secrets_words
from longjudge.settings import in_seconds
from longjudge_tui.commands import command
from longjudge_tui.estimate.estimating import Doing
from longjudge_tui.estimate.figures import batch_price_words, interval_price, price_words
from longjudge_tui.wording import line, plural

if TYPE_CHECKING:
    from longjudge.forecast import Needs
    from longjudge_tui.estimate.batch_state import BatchState
    from longjudge_tui.estimate.estimating import Estimating
    from longjudge_tui.estimate.judged_sample import JudgedSample
    from longjudge_tui.estimate.reading import Unread

_PERCENT = f"{CONFIDENCE:.0%}"


def key(name: str) -> str:
    """The key of a command."""
    return command(name).bar_key


def titles(estimating: Estimating) -> tuple[str, ...]:
    """Which sessions this is about, and how much of it is known, longest first."""
    which, total = estimating.subject.which, plural(estimating.total, "session")
    if estimating.complete:
        return f"ESTIMATE of {which}", f"ESTIMATE · {total}", "ESTIMATE"
    far = f"{estimating.done:,} of {estimating.total:,}"
    return (
        f"ESTIMATE of {which} · so far {far}",
        f"ESTIMATE · so far {far}",
        f"ESTIMATE {far}",
    )


def exact_head(estimating: Estimating) -> str:
    """What stands over the figures of what was estimated."""
    if estimating.complete:
        return "IN ALL"
    return f"SO FAR: {estimating.done:,} of {estimating.total:,}"


def extrapolated_heads(estimating: Estimating) -> tuple[str, ...]:
    """What stands over those that are extrapolated."""
    total = estimating.extrapolated
    if total is None:
        if estimating.doing is Doing.SAMPLE:
            far = f"{len(estimating.sampled)} of {estimating.to_sample}"
            return (f"SAMPLE: {far} estimated",)
        return ("",)
    far = f"{total.sampled:,} of {total.of:,} files"
    return (
        f"EXTRAPOLATED from {far} ({_PERCENT} range)",
        f"EXTRAPOLATED from {far}",
        f"EXTRAPOLATED: {total.sampled:,} of {total.of:,}",
    )


def progress(estimating: Estimating, kept_since: int = 0) -> tuple[str, ...]:
    """What goes on, and what can be done, longest first; `kept_since` as in `notes`."""
    far = f"{estimating.done:,} of {plural(estimating.total, 'session')}"
    stops = f"{key('stop_estimate')} stops"
    draws = f"{key('sample_first')} draws a sample"
    if estimating.fault:
        return (f"✗ {line(estimating.fault, 300)}",)
    match estimating.doing:
        case Doing.COMPARING:
            looked = f"{estimating.compared:,} of {estimating.total:,}"
            return (f"looking which sessions repeat each other: {looked} · {stops}",)
        case Doing.ALL:
            return (f"estimated {far} · {stops} · {draws}", f"estimated {far}")
        case Doing.SAMPLE:
            sampled = f"{len(estimating.sampled)} of {plural(estimating.to_sample, 'file')}"
            return (f"estimating a sample: {sampled} · {stops}",)
        case Doing.NOTHING:
            return _at_rest(estimating, far, draws, kept_since)


def _at_rest(estimating: Estimating, far: str, draws: str, kept_since: int) -> tuple[str, ...]:
    ways = f"{key('run_live')} judges here · {key('run_batch')} as a batch"
    rest = "the rest" if estimating.done else "all"
    on = f"{key('estimate_rest')} estimates {'anew' if kept_since else rest}"
    if estimating.complete:
        return (f"all {plural(estimating.total, 'session')} estimated · {ways}", ways)
    if estimating.extrapolated is not None:
        sample = f"{key('judge_sample')} judges the sample"
        return (f"{on} · {sample} · {ways}", f"{sample} · {ways}", ways)
    if not estimating.done:
        return (f"nothing is estimated yet · {on} · {draws}", f"{on} · {draws}")
    return (
        f"STOPPED: only {far} are in these sums · {on} · {draws}",
        f"STOPPED at {far} · {on} · {draws}",
        f"STOPPED at {far} · {on}",
    )


def notes(estimating: Estimating, kept_since: int) -> str:
    """What else there is to know; empty where that is nothing.

    `kept_since` counts the verdicts that the store holds more than when it was estimated.
    """
    said = [
        *_unread(estimating.unread),
        *_needs(estimating),
    ]
    if kept_since:
        anew = f"{key('estimate_rest')} estimates anew"
        said.insert(0, f"! the store changed since ({kept_since:+,} verdicts): {anew}")
    return " · ".join(said)


def _unread(unread: Unread) -> list[str]:
    said: list[str] = []
    if unread.failed:
        said.append(f"✗ {unread.failed:,} could not be read: {line(unread.first, 120)}")
    if unread.passed:
        said.append(f"{plural(unread.passed, 'file')} passed over: no sessions")
    if unread.copied:
        said.append(f"{unread.copied:,} passed over: all of it is in another file")
    return said


def _needs(estimating: Estimating) -> list[str]:
    needs = known_needs(estimating)
    if needs is None or not needs.to_ask:
        return []
    said: list[str] = []
    seen, factor = needs.seen, needs.observed_factor
    if seen is not None and factor is not None:
        said.append(f"×{factor:.2f} tokens seen in {plural(seen.answers, 'answer')} of this model")
    settings = estimating.about.settings
    if needs.advised > settings.time_limit:
        limits = f"{in_seconds(needs.advised)} s, {in_seconds(settings.time_limit)} s is set"
        said.append(f"time limit advised for the longest, live: {limits}")
    if needs.redacted is None:
        said.append("NOT REDACTED")
    return said


def known_needs(estimating: Estimating) -> Needs | None:
    """What all of it needs: counted, else extrapolated; None where neither is whole."""
    if estimating.complete and estimating.tally is not None:
        return estimating.tally.needs
    return estimating.extrapolated.needs if estimating.extrapolated is not None else None


def batch_words(run: BatchState | None) -> list[str]:
    """How far the batch run is, and how it is cancelled."""
    if run is None:
        return []
    cancels = f" · {key('cancel_batch')} cancels it" if run.running and not run.cancelled else ""
    return [f"{run.words}{cancels}"]


def price_is_unclear() -> str:
    """Why nothing can be begun yet."""
    return (
        "what that costs is not known yet: let the estimate come to its end"
        f" ({key('estimate_rest')}), or draw a sample ({key('sample_first')})"
    )


def live_question(estimating: Estimating, needs: Needs, *, what: str = "") -> str:
    """What to agree to before sessions are judged here."""
    model = line(estimating.about.judge.model, 60)
    return f"{_asks(estimating, needs, what)}, {price_words(needs.cost)}, model {model}?"


def batch_question(estimating: Estimating, needs: Needs) -> str:
    """What to agree to before a batch run begins."""
    model = line(estimating.about.judge.model, 60)
    return (
        f"{_asks(estimating, needs, '')} as a batch, {batch_price_words(needs.cost)}, model"
        f" {model}?\nIt takes a while: {BATCH_PACE}. It goes on without the app."
    )


def _asks(estimating: Estimating, needs: Needs, what: str) -> str:
    if what:
        return f"ask {plural(needs.to_ask, 'question')} about {what}"
    about = f"about {plural(estimating.total, 'session')}"
    if estimating.complete:
        return f"ask {plural(needs.to_ask, 'question')} {about}"
    total = estimating.extrapolated
    far = f"{total.sampled:,} of {total.of:,} files" if total is not None else ""
    return f"EXTRAPOLATED from {far}: ask about {plural(needs.to_ask, 'question')} {about}"


def secrets_beside(needs: Needs) -> str:
    """What is replaced before anything is sent."""
    return "not redacted" if needs.redacted is None else secrets_words(needs.redacted)


def judged_words(judged: JudgedSample, *, busy: bool) -> str:
    """What the judged sample tells, or how far it is; `busy` while the library judges."""
    told = judged.told
    if told is None:
        whole = judged.ended - judged.incomplete
        far = f"{whole} of {plural(judged.sessions, 'session')}"
        if busy:
            return f"judging the sample: {far}"
        return (
            f"SAMPLE JUDGED IN PART: {far} to the end, so nothing is extrapolated ·"
            f" {key('judge_sample')} judges the rest"
        )
    share, paid = told.share, told.paid
    flagged = f"{share.middle:.0%} flagged ({share.low:.0%}-{share.high:.0%})"
    cost = "cost unknown" if paid is None else interval_price(paid)
    return (
        f"EXTRAPOLATED from {plural(judged.sessions, 'judged session')}: {flagged} of"
        f" about {plural(round(told.sessions.middle), 'session')}, {cost} in all; {_PERCENT} ranges"
    )
