"""The words of an estimate: a session, all of them, and what was told from a sample of files."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from longjudge.cli.preview import secrets_in_words
from longjudge.forecast.extrapolating import CONFIDENCE
from longjudge.forecast.needs import BATCH_PACE
from longjudge.limits import duration_words, expected_words, limit_words
from longjudge.preview import observed_words, thousands
from longjudge.report.words import money, plural
from longjudge.text import clean_line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from longjudge.forecast.extrapolating import Interval
    from longjudge.forecast.longest import LongSession
    from longjudge.forecast.needs import Cost, Needs
    from longjudge.forecast.sampled import Extrapolated
    from longjudge.forecast.tally import Tally
    from longjudge.settings import Settings

NOT_APPLICABLE = "not applicable: no tool call"

_NAMED_AT_MOST = 20
"""Paths that a command line still shows well."""


def session_words(needs: Needs, settings: Settings) -> str:
    """What a session needs."""
    if not needs.to_ask:
        return f"{_counts(needs)}, nothing to pay"
    expected = expected_words(needs.seconds, measured=needs.measured)
    price = f"{_tokens(needs)}, {_cost(needs.cost)}"
    return f"{_counts(needs)}, {price}, {expected}{_more(needs, settings)}"


def total_words(tally: Tally, settings: Settings) -> str:
    """What all sessions need, read whole."""
    needs, left = tally.needs, tally.not_applicable
    start = f"total of {plural(tally.sessions, 'session')}: "
    start += f"{left} not applicable, " if left else ""
    if not needs.to_ask:
        return f"{start}{_counts(needs)}, nothing to pay"
    expected = expected_words(needs.seconds, measured=needs.measured)
    return (
        f"{start}{_counts(needs)}, {_tokens(needs)}, {_cost(needs.cost, pace=BATCH_PACE)},"
        f" {expected} with {settings.concurrency} in flight{_more(needs, settings)}"
    )


def longest_lines(longest: Sequence[LongSession], *, sampled: bool) -> list[str]:
    """The longest sessions, one a line below a first one."""
    lines = [f"the {len(longest)} longest{' of those drawn' if sampled else ''}:"]
    for each in longest:
        price = money(each.cost_usd) if each.cost_usd or each.cost_usd is None else "no cost"
        lines.append(
            f"  {each.to_ask:>6} to ask of {each.chunks:>6} chunks"
            f"  {'~' + thousands(each.tokens):>7} tokens  {price:>13}  {each.path}"
        )
    return lines


def sampled_lines(total: Extrapolated, settings: Settings) -> list[str]:
    """What all files need as far as the drawn ones tell, and that they tell no more."""
    needs = total.needs
    expected = expected_words(needs.seconds, measured=needs.measured)
    if needs.measured:
        expected += f" ({duration_words(total.seconds.low)}-{duration_words(total.seconds.high)})"
    files = f"{total.sampled:,} of {total.of:,} files"
    words = (
        f"EXTRAPOLATED from {files}: about {_range(total.sessions)} sessions,"
        f" {_about(total.not_applicable)} not applicable, {_range(total.chunks)} chunks,"
        f" {needs.kept:,} kept, {_range(total.to_ask)} to ask"
    )
    if total.to_ask.high >= 0.5:
        words += (
            f", {_tokens(needs)}, {_cost(needs.cost, pace=BATCH_PACE)}, {expected} with"
            f" {settings.concurrency} in flight{_seen(needs)}; among the drawn ones"
            f" {limit_words(needs.advised, settings.time_limit)}{_secrets(needs.redacted)}"
        )
    return [
        f"only {files} were read; each sum below lies in its range with {CONFIDENCE:.0%}"
        " confidence, and what sessions have in common is counted in each of them",
        words,
    ]


def drawn_line(paths: Sequence[str], *, redact_changes: bool) -> str:
    """How to judge what was drawn; `redact_changes` says that a path cannot be shown as it is."""
    shown = not redact_changes and all(clean_line(path) == path for path in paths)
    if shown and len(paths) <= _NAMED_AT_MOST:
        command = f"longjudge judge {' '.join(map(shlex.quote, paths))}"
        return f"to judge the drawn files first, with the same options: {command}"
    return (
        f"to judge the {len(paths):,} drawn files first: name the files above to `longjudge judge`;"
        " with --json each line has its path"
    )


def _counts(needs: Needs) -> str:
    equal = f", {needs.equal} equal to another" if needs.equal else ""
    return f"{plural(needs.chunks, 'chunk')}, {needs.kept} kept, {needs.to_ask} to ask{equal}"


def _tokens(needs: Needs) -> str:
    tokens = needs.tokens
    band = f"{thousands(tokens.low)}-{thousands(tokens.high)}"
    return f"~{thousands(tokens.tokens)} tokens ({band})"


def _cost(cost: Cost | None, *, pace: str = "") -> str:
    if cost is None:
        return "price unknown"
    if not cost.high:
        return "no cost"
    band = f"{money(cost.low)}-{money(cost.high)}"
    batch = f"{money(cost.batch)} as a batch" + (f", {pace}" if pace else "")
    return f"about {money(cost.middle)} ({band}; {batch})"


def _more(needs: Needs, settings: Settings) -> str:
    return (
        f"; {limit_words(needs.advised, settings.time_limit)}{_seen(needs)}"
        f"{secrets_in_words(needs.redacted)}"
    )


def _seen(needs: Needs) -> str:
    seen, factor = needs.seen, needs.observed_factor
    if seen is None or factor is None or not needs.tokens.tokens:
        return ""
    return observed_words(factor, seen.answers, round(seen.tokens), seen.cost)


def _secrets(counts: Mapping[str, int] | None) -> str:
    """What is replaced, as far as the drawn files tell."""
    if counts is None:
        return "; not redacted"
    total = sum(counts.values())
    return f"; about {total:,} secrets replaced" if total else " and no secret was found"


def _range(interval: Interval) -> str:
    return f"{_about(interval)} ({interval.low:,.0f}-{interval.high:,.0f})"


def _about(interval: Interval) -> str:
    return f"{interval.middle:,.0f}"
