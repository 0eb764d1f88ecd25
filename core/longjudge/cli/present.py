"""A judgment as text for people; everything from a session or a model is cleaned first."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING

from longjudge.fitting import size_under
from longjudge.losses import how_much
from longjudge.report.outcome import read_outcome
from longjudge.report.words import judge_name, money, plural, price_words, usage_words
from longjudge.result import correction_words
from longjudge.states import GapReason
from longjudge.text import clean_line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from longjudge.report.outcome import FoundProblem, Outcome
    from longjudge.result import Result

MAX_PARTS = 20


def result_text(result: Mapping[str, object]) -> str:
    """A result's JSON in a few lines: coverage beside the score, findings, gaps."""
    outcome = read_outcome(result)
    assert outcome is not None
    return outcome_text(outcome)


def _session_words(outcome: Outcome) -> str:
    """The file of a session, and its id where it does not go by the name of its file."""
    name, id_ = clean_line(outcome.session.path), clean_line(outcome.session.id, 80)
    stem = PurePath(name).stem
    goes_by_its_file = not id_ or stem == id_ or stem.endswith(f"-{id_}")
    return name if goes_by_its_file else f"{name} · session {id_}"


def outcome_text(outcome: Outcome, *, recorded: bool = False) -> str:
    """A judgment in a few lines: coverage beside the score, findings, gaps.

    One that was `recorded` says that its quotes were searched for then.
    """
    judge = judge_name(outcome)
    lines = [f"{_session_words(outcome)}: {clean_line(outcome.status)} · {judge}"]
    if outcome.fault_words:
        lines.append(f"  {outcome.fault_words}")
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
        f"  {plural(outcome.calls, 'call')}, {outcome.cached_chunks:,} saved by the store"
        f" · {money(outcome.cost_usd)} · {outcome.seconds:.1f} s"
    )
    if usage := usage_words(outcome):
        lines.append(f"  tokens: {usage}{_price_words(outcome)}")
    if outcome.quotes_words:
        lines.append(f"  {outcome.quotes_words}{' when it was judged' if recorded else ''}")
    lines += [line for finding in outcome.findings for line in _finding(finding)]
    if outcome.left_out:
        lines.append(f"  findings shown: {outcome.finding_words}")
    if outcome.disagreements:
        lines.append(f"  {_disagreements(outcome)}")
    for reason, count in outcome.gaps.items():
        shown = _some(outcome.gap_parts(reason))
        where = f", part {shown}" if shown else ""
        lines.append(f"  gap: {clean_line(reason)} × {count}{where}")
    if words := _too_large_words(outcome):
        lines.append(f"  {words}")
    if outcome.store_error:
        lost = how_much(outcome.store_error).upper()
        lines.append(f"  {lost} WAS KEPT: {clean_line(outcome.store_error)}")
    return "\n".join(lines)


def _price_words(outcome: Outcome) -> str:
    words = price_words(outcome)
    return f" · at {words}" if words else ""


def too_large_words(result: Result) -> str:
    """Which chunk size the model should take, where a part was too large for it; else empty."""
    if GapReason.TOO_LARGE.value not in result.gaps:
        return ""
    outcome = read_outcome(result.to_dict())
    return _too_large_words(outcome) if outcome else ""


def _disagreements(outcome: Outcome) -> str:
    """Where the offline rules flag what the model calls clean, for a person to look at."""
    parts = outcome.disputed_parts
    if not parts:
        return f"rules disagree in {plural(outcome.disagreements, 'part')}"
    return f"rules disagree in {'part' if len(parts) == 1 else 'parts'} {_some(parts)}"


def _too_large_words(outcome: Outcome) -> str:
    sizes = outcome.sizes(GapReason.TOO_LARGE.value)
    if not sizes:
        return ""
    words = "part is" if len(sizes) == 1 else "parts are"
    words = f"{len(sizes)} {words} too large for the model"
    size = size_under(sizes, by_tokens=outcome.by_tokens)
    if size is None:
        return f"{words}, however small the chunks are"
    option = "--chunk-tokens" if outcome.by_tokens else "--chunk-chars"
    return f"{words}; {option} {size} should fit"


def _some(parts: Sequence[int]) -> str:
    """The first parts, and whether there are more."""
    return ", ".join(map(str, parts[:MAX_PARTS])) + (", …" if len(parts) > MAX_PARTS else "")


def _finding(finding: FoundProblem) -> list[str]:
    known = [
        f"part {finding.part}",
        clean_line(finding.criterion),
        "no event" if finding.event is None else f"event {finding.event}",
        "verified" if finding.verified else "not verified",
        correction_words(finding),
        f"marked {finding.mark.value}" if finding.mark else "",
    ]
    lines = [f"  {' · '.join(filter(None, known))}: {clean_line(finding.note)}"]
    if finding.quote:
        lines.append(f'      "{clean_line(finding.quote, 160)}"')
    return lines
