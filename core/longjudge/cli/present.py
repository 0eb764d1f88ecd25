"""A result as text for people; everything from a session or a model is cleaned first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longjudge.cli.preview import money
from longjudge.prices import OFFLINE_MODEL
from longjudge.states import JudgmentStatus
from longjudge.text import clean_line

if TYPE_CHECKING:
    from longjudge.result import Result, ResultFinding


def result_text(result: Result) -> str:
    """The result in a few lines: coverage beside the score, findings, gaps."""
    judge = "offline rules" if result.model == OFFLINE_MODEL else clean_line(result.model)
    lines = [f"{clean_line(str(result.session['path']))}: {result.status.value} · {judge}"]
    skipped = result.session["skipped_lines"]
    if skipped:
        lines.append(f"  {skipped} lines of the file could not be read, and were not judged")
    if result.status is JudgmentStatus.NOT_APPLICABLE:
        lines[0] += f" · {clean_line(result.evidence)}"
        return "\n".join(lines)
    score = "none" if result.score is None else f"{result.score:.3f}"
    low, high = result.score_range
    lines.append(
        f"  score {score} (could be {low:.3f}-{high:.3f}) · {result.judged_chunks} of"
        f" {result.chunks} parts judged, {result.flagged_chunks} flagged"
    )
    lines.append(
        f"  {result.calls} calls, {result.cached_chunks} parts from the store ·"
        f" {money(result.cost_usd)} · {result.seconds:.1f} s"
    )
    lines += [line for finding in result.findings for line in _finding(finding)]
    for reason, count in result.gaps.items():
        parts = [str(part.part) for part in result.parts if part.reason == reason]
        shown = ", ".join(parts[:20]) + (", …" if len(parts) > 20 else "")
        lines.append(f"  gap: {reason} × {count}, part {shown}")
    if result.store_error:
        lines.append(f"  NOTHING WAS KEPT: {clean_line(result.store_error)}")
    return "\n".join(lines)


def _finding(finding: ResultFinding) -> list[str]:
    event = "no event" if finding.event is None else f"event {finding.event}"
    seen = "verified" if finding.verified else "not verified"
    lines = [
        f"  part {finding.part} · {finding.criterion} · {event} · {seen}:"
        f" {clean_line(finding.note)}"
    ]
    if finding.quote:
        lines.append(f'      "{clean_line(finding.quote, 160)}"')
    return lines
