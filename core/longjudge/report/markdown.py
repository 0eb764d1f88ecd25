"""A judgment as a Markdown report, in which no text of a session can pass for the report's own."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from longjudge.losses import how_much
from longjudge.proof import code_span
from longjudge.report.places import NOWHERE
from longjudge.report.words import (
    judge_name,
    judged_by,
    money,
    plural,
    price_words,
    usage_words,
)
from longjudge.result import correction_words
from longjudge.rubric import builtin_rubrics, load_rubric
from longjudge.text import clean, clean_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from longjudge.report.outcome import FoundProblem, Outcome
    from longjudge.report.places import Place

_SPECIAL = re.compile(r"([\\`*\[\]<>#|~$&!]|(?<![0-9A-Za-z])_|_(?![0-9A-Za-z]))")
"""An underscore between letters emphasises nothing, and names are full of them."""

_TICKS = re.compile("`+")

EVENTS_IN_MEMORY = "<events>"
"""What stands for the path of events that had no file."""


FIND_KEY, PAST_KEY = "/", "J"
"""The keys of the app that lead to a quote, and to the judgments of the past."""


@dataclass(frozen=True, slots=True)
class Beside:
    """What a report says beside the judgment itself.

    `gap_lines` say more about its gaps. `places` are those of its findings, None where nobody
    looked; `unplaced` says why some have none. `store` is the file that keeps it, where it is
    `recorded`. `remark` says what must not be overlooked, such as that it still runs.
    `asked_lines` are the section on what was asked.
    """

    gap_lines: Sequence[str] = ()
    places: Sequence[Place] | None = None
    unplaced: str = ""
    store: str = ""
    recorded: bool = True
    remark: str = ""
    asked_lines: Sequence[str] = ()


NOTHING_BESIDE = Beside()

WHAT_WORDS_MEAN = (
    "The score is the share of the judged parts in which nothing was found; a part without a"
    " verdict (a gap) does not count. A part, or chunk, is a stretch of one agent's events that"
    " is judged by itself. *Verified*: the quote was found in the event. *Marked right* or *marked"
    " wrong*: what a person said about the finding, which changes no score.",
)


def markdown_report(outcome: Outcome, created: float, beside: Beside = NOTHING_BESIDE) -> str:
    """One judgment as a report; the same judgment gives the same bytes."""
    session = outcome.session
    lines = [f"# {inline(session.title or session.path or 'events')}", ""]
    if beside.remark:
        lines += [f"**{inline(beside.remark, 1000)}**", ""]
    lines += _head(outcome, created)
    if not outcome.bare:
        if beside.asked_lines:
            lines += ["", *beside.asked_lines]
        lines += ["", f"## Findings ({outcome.finding_words})", ""]
        lines += _findings(outcome, beside.places)
        if outcome.disagreements:
            lines += ["", "## Disagreements", "", _disagreements(outcome)]
        lines += ["", "## Gaps", "", *_gaps(outcome), *beside.gap_lines]
        lines += ["", "## How it was judged", "", *_facts(outcome)]
    lines += ["", "## How to look at it", "", *_ways(outcome, beside)]
    return "\n".join(lines) + "\n"


def inline(text: str, limit: int = 300) -> str:
    """Text on one line in which nothing is Markdown."""
    return _SPECIAL.sub(r"\\\1", clean_line(text, limit))


def fenced(text: str) -> list[str]:
    """Text in a block that it cannot end: its fence is longer than any run of ticks in it."""
    longest = max((len(run) for run in _TICKS.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    return [f"{fence}text", *clean(text).split("\n"), fence]


def part_ranges(parts: Sequence[int]) -> str:
    """Ascending numbers, runs of them as ranges: `3-7, 9`."""
    runs: list[list[int]] = []
    for part in parts:
        if runs and part == runs[-1][1] + 1:
            runs[-1][1] = part
        else:
            runs.append([part, part])
    return ", ".join(f"{a}" if a == b else f"{a}-{b}" for a, b in runs)


def _head(outcome: Outcome, created: float) -> list[str]:
    status = f"**{inline(outcome.status.replace('_', ' '))}**"
    if outcome.bare:
        verdict = f"{status} · {inline(outcome.evidence)}"
    else:
        verdict = (
            f"{status} · score {outcome.score_words} · {outcome.judged_chunks} of"
            f" {outcome.chunks} parts judged, {outcome.flagged_chunks} flagged"
        )
    session = outcome.session
    lines = [
        verdict,
        "",
        *_explained(outcome),
        f"- Session: {inline(session.path, 1000)}",
        f"- Format: {inline(session.format)}, {session.events} events, id {inline(session.id)}",
        f"- Judgment: {inline(outcome.id)}, {moment(created)}",
    ]
    if not outcome.bare and outcome.quotes_words:
        lines.append(f"- Evidence: {outcome.quotes_words} when it was judged")
    if session.skipped_lines:
        lines.append(
            f"- {plural(session.skipped_lines, 'line')} of the file could not be read: not judged"
        )
    if outcome.fault_words:
        lines.append(f"- F{inline(outcome.fault_words)[1:]}")
    if outcome.store_error:
        lost = how_much(outcome.store_error).capitalize()
        lines.append(f"- {lost} was kept: {inline(outcome.store_error)}")
    return lines


def _explained(outcome: Outcome) -> list[str]:
    """Who judged, and what the words of the report mean, for whoever knows it from nowhere else."""
    if outcome.bare:
        return []
    judged = f"Judged by {inline(judged_by(outcome))}."
    return [*([judged, ""] if outcome.model else []), *WHAT_WORDS_MEAN, ""]


def moment(created: float) -> str:
    """A time in UTC, to the second."""
    try:
        return datetime.fromtimestamp(created, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    except (OverflowError, OSError, ValueError):
        return "at an unknown time"


def _findings(outcome: Outcome, places: Sequence[Place] | None = None) -> list[str]:
    findings, threads = outcome.findings, outcome.threads
    if not findings:
        return ["None."]
    by_criterion: dict[str, list[tuple[FoundProblem, Place]]] = {}
    for number, finding in enumerate(findings):
        place = places[number] if places is not None and number < len(places) else NOWHERE
        by_criterion.setdefault(finding.criterion, []).append((finding, place))
    lines: list[str] = []
    for criterion, group in by_criterion.items():
        lines += [f"### {inline(criterion)} ({len(group)})", ""]
        for finding, place in group:
            lines += [*_finding(finding, place, threads.get(finding.part, "")), ""]
    return lines[:-1]


def _finding(finding: FoundProblem, place: Place, thread: str) -> list[str]:
    event = "no event" if finding.event is None else f"event {finding.event}"
    where = f", thread {inline(thread)}" if thread else ""
    where += f", {inline(words, 1000)}" if (words := place.words) else ""
    seen = "verified" if finding.verified else "not verified"
    correction = f", {words}" if (words := correction_words(finding)) else ""
    mark = f", marked {finding.mark.value}" if finding.mark else ""
    note = inline(finding.note, 1000)
    lines = [f"- part {finding.part}, {event}{where}, {seen}{correction}{mark}: {note}"]
    if finding.quote:
        # Indented, it belongs to the list item and still cannot end its fence.
        lines += ["", *(f"  {line}" if line else "" for line in fenced(finding.quote))]
    return lines


def _disagreements(outcome: Outcome) -> str:
    parts = outcome.disputed_parts
    where = f": part {part_ranges(parts)}" if parts else ""
    count = plural(outcome.disagreements, "part")
    return f"The offline rules flag what the model calls clean in {count}{where}. Look at them."


def _gaps(outcome: Outcome) -> list[str]:
    open_parts = outcome.chunks - outcome.judged_chunks - sum(outcome.gaps.values())
    if open_parts <= 0 and not outcome.gaps:
        return ["None: every part was judged."]
    lines: list[str] = []
    if open_parts > 0:
        lines.append(f"- no verdict yet × {open_parts}")
    for reason, count in outcome.gaps.items():
        parts = part_ranges(outcome.gap_parts(reason))
        where = f": part {parts}" if parts else ""
        lines.append(f"- {inline(reason)} × {count}{where}")
    return lines


def _facts(outcome: Outcome) -> list[str]:
    rubric = outcome.rubric
    settings = ", ".join(
        f"{inline(name)} {inline(str(value))}" for name, value in outcome.settings.items()
    )
    return [
        f"- Judge: {inline(judge_name(outcome))}",
        f"- Rubric: {rubric_words(rubric.get('name', ''), rubric.get('version', ''))}",
        f"- Settings: {settings}",
        f"- Calls: {outcome.calls}, {outcome.cached_chunks} saved by the store",
        f"- Tokens: {inline(usage_words(outcome)) or 'none'}",
        f"- Cost: {money(outcome.cost_usd)}{_at_price(outcome)}",
        f"- Time: {outcome.seconds:.1f} s",
    ]


def rubric_words(name: str, version: str) -> str:
    """A rubric's name and version; of a built-in one whether it was edited."""
    edited = name in builtin_rubrics() and load_rubric(name).version != version
    return f"{'an edited version of ' * edited}{inline(name)}, version {inline(version)}"


def _at_price(outcome: Outcome) -> str:
    words = price_words(outcome)
    return f", at {inline(words)}" if words else ""


def _ways(outcome: Outcome, beside: Beside) -> list[str]:
    """How anyone who has the session's file, or the store too, finds what this is about."""
    path, lines = outcome.session.path, list[str]()
    if beside.unplaced:
        lines.append(f"- Lines of the file: {inline(beside.unplaced, 500)}")
    if path and path != EVENTS_IN_MEMORY:
        opens = code_span(f"longjudge {shlex.quote(path)}")
        lines.append(
            f"- The session: {opens}, or its file wherever it lies now, then {code_span(FIND_KEY)}"
            " and a part of a quote: enter leads to its event"
        )
    else:
        lines.append("- The session was given as events, not as a file")
    if not beside.recorded:
        return lines
    named = f" --store {shlex.quote(beside.store)}" if beside.store else ""
    shows = code_span(f"longjudge results {outcome.id}{named}")
    again = ", or in the app " + code_span(PAST_KEY) + " and this judgment's row"
    lines.append(f"- This judgment: with the store that keeps it, {shows}{again}")
    return lines
