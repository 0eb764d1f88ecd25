"""What was wrong with each gap of a judgment, and what its judge said, for `results ID`.

A reply is hostile: its lines are marked or fenced, and secrets in it are left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from longjudge.redaction import redacted_text
from longjudge.report.markdown import fenced, inline, part_ranges
from longjudge.report.outcome import read_outcome
from longjudge.text import clean, clean_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from longjudge.store import GapReply, PastJudgment

PROBLEM_CHARS = 1_000


@dataclass(frozen=True, slots=True)
class ToldGap:
    """Gaps that have everything in common; a reply is told for each part on its own."""

    parts: tuple[int, ...]
    reason: str
    problem: str
    reply: str

    @property
    def where(self) -> str:
        """`part 3`, `part 5-7, 9`."""
        return f"part {part_ranges(self.parts)}"


def told_gaps(
    judgment: PastJudgment, replies: Sequence[GapReply], *, redact: bool = True
) -> list[ToldGap]:
    """The gaps about which more is known than their reason, by part."""
    outcome = read_outcome(judgment.result)
    reasons = {part.part: part.reason or "" for part in outcome.parts} if outcome else {}
    told: list[ToldGap] = []
    same: dict[tuple[str, str], int] = {}
    for gap in replies:
        reason = reasons.get(gap.part, "")
        problem, reply = gap.problem, gap.reply
        if redact:
            problem, reply = redacted_text(problem), redacted_text(reply)
        place = None if reply else same.setdefault((reason, problem), len(told))
        if place is None or place == len(told):
            told.append(ToldGap((gap.part,), reason, problem, reply))
        else:
            told[place] = ToldGap((*told[place].parts, gap.part), reason, problem, "")
    return told


def gap_text(gaps: Sequence[ToldGap]) -> list[str]:
    """Lines for a terminal; no line of a reply can pass for one of these."""
    lines: list[str] = []
    for gap in gaps:
        problem = f": {clean_line(gap.problem, PROBLEM_CHARS)}" if gap.problem else ""
        said = "; the last reply was:" if gap.reply else ""
        lines.append(f"  {gap.where} · {clean_line(gap.reason) or 'gap'}{problem}{said}")
        if gap.reply:
            lines += [f"      │ {line}" for line in clean(gap.reply).split("\n")]
    return lines


def gap_markdown(gaps: Sequence[ToldGap]) -> list[str]:
    """Lines of a report, under its gaps; each reply in a fence that it cannot end."""
    lines: list[str] = []
    for gap in gaps:
        lines += ["", f"### {gap.where.capitalize()}: {inline(gap.reason) or 'gap'}", ""]
        lines.append(inline(gap.problem, PROBLEM_CHARS) or "No more is known.")
        if gap.reply:
            lines += ["", "The last reply:", "", *fenced(gap.reply)]
    return lines


def gap_json(gaps: Sequence[ToldGap]) -> list[dict[str, object]]:
    """One object a part."""
    by_part = sorted(((part, gap) for gap in gaps for part in gap.parts), key=lambda pair: pair[0])
    return [
        {"part": part, "reason": gap.reason, "problem": gap.problem, "reply": gap.reply}
        for part, gap in by_part
    ]
