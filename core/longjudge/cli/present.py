"""A judgment as text for people; everything from a session or a model is cleaned first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longjudge.cli.outcome import read_outcome
from longjudge.cli.preview import money, plural
from longjudge.prices import OFFLINE_MODEL
from longjudge.text import clean_line

if TYPE_CHECKING:
    from longjudge.cli.outcome import FoundProblem, Outcome
    from longjudge.result import Result

MAX_PARTS = 20


def result_text(result: Result) -> str:
    """The result in a few lines: coverage beside the score, findings, gaps."""
    outcome = read_outcome(result.to_dict())
    assert outcome is not None
    return outcome_text(outcome)


def outcome_text(outcome: Outcome) -> str:
    """A judgment in a few lines: coverage beside the score, findings, gaps."""
    judge = judge_name(outcome)
    lines = [f"{clean_line(outcome.session.path)}: {clean_line(outcome.status)} · {judge}"]
    skipped = outcome.session.skipped_lines
    if skipped:
        lines.append(f"  {plural(skipped, 'line')} of the file could not be read: not judged")
    if outcome.bare:
        lines[0] += f" · {clean_line(outcome.evidence)}"
        return "\n".join(lines)
    lines.append(
        f"  score {outcome.score_words} · {outcome.judged_chunks} of"
        f" {outcome.chunks} parts judged, {outcome.flagged_chunks} flagged"
    )
    lines.append(
        f"  {plural(outcome.calls, 'call')}, {plural(outcome.cached_chunks, 'part')} from the store"
        f" · {money(outcome.cost_usd)} · {outcome.seconds:.1f} s"
    )
    lines += [line for finding in outcome.findings for line in _finding(finding)]
    if outcome.left_out:
        lines.append(f"  findings shown: {outcome.finding_words}")
    for reason, count in outcome.gaps.items():
        parts = [str(part) for part in outcome.gap_parts(reason)]
        shown = ", ".join(parts[:MAX_PARTS]) + (", …" if len(parts) > MAX_PARTS else "")
        where = f", part {shown}" if shown else ""
        lines.append(f"  gap: {clean_line(reason)} × {count}{where}")
    if outcome.store_error:
        lines.append(f"  NOTHING WAS KEPT: {clean_line(outcome.store_error)}")
    return "\n".join(lines)


def judge_name(outcome: Outcome) -> str:
    """Who judged, for people."""
    return "offline rules" if outcome.model == OFFLINE_MODEL else clean_line(outcome.model)


def _finding(finding: FoundProblem) -> list[str]:
    event = "no event" if finding.event is None else f"event {finding.event}"
    seen = "verified" if finding.verified else "not verified"
    mark = f" · marked {finding.mark.value}" if finding.mark else ""
    lines = [
        f"  part {finding.part} · {clean_line(finding.criterion)} · {event} · {seen}{mark}:"
        f" {clean_line(finding.note)}"
    ]
    if finding.quote:
        lines.append(f'      "{clean_line(finding.quote, 160)}"')
    return lines
