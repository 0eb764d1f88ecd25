"""What judgments come to, as rows: by version of a rubric, and over time. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from longjudge.result import shown_score
from longjudge_tui.past.entry_rows import judge_words, setting_words
from longjudge_tui.wording import bar, dollars, fit, line, plural

if TYPE_CHECKING:
    from longjudge.trends import Group, Period
    from longjudge_tui.widgets.line_list import Cells

WIDE: Final = 100
MOST_REASONS: Final = 4


def group_cells(group: Group, width: int) -> Cells:
    """A version of a rubric and a model, or one chunk setting of it."""
    wide = width >= WIDE
    name = f"{line(group.rubric, 40)} {line(group.version, 12)}"
    if group.within:
        name = f"└ {setting_words(group.setting)} a chunk"
    cells: Cells = [(fit(f"  {name}", 24 if wide else 21), "plain" if group.within else "strong")]
    if wide:
        by = "" if group.within else f"{judge_words(group.model)}"
        cells.append((fit(by, 15), "dim"))
    cells.append((f"{group.judgments:>6}{group.sessions:>6}  ", "plain"))
    cells.append((f"{_judged(group):>12}  ", "gap" if group.unfinished else "plain"))
    cells.append((f"{group.findings:>5} ", "flagged" if group.findings else "dim"))
    cells.append((f"{_percent(group.flagged_share):>5}  ", "plain"))
    cells.append((fit(_marks(group), 9), "plain"))
    cells.append((fit(mean_words(group, brief=not wide), 19 if wide else 7), "plain"))
    if wide:
        cells.append((f"{_cost(group):>9}", "dim"))
    return cells


def group_columns(width: int) -> str:
    """What the columns are called."""
    counts = f"{'judgm.':>6}{'sess.':>6}  {'judged':>12}  {'found':>5} {'flag.':>5}  {'marks':9}"
    if width >= WIDE:
        return f"{'   rubric, version':25}{'judge':15}{counts}{'mean score':19}{'cost':>9}"
    return f"{'   rubric, version':22}{counts}{'mean':7}"


def mean_words(group: Group, *, brief: bool = False) -> str:
    """The mean of the scores, of how many; none over several chunk settings."""
    if group.settings > 1:
        return "below" if brief else f"none: {group.settings} chunk sizes"
    if group.score_mean is None:
        return "none"
    partial = group.partial_scores
    if brief:
        # What is only a part of it has the mark that partial judgments have.
        return f"{shown_score(group.score_mean)}{' ◑' if partial else ''}"
    return f"{shown_score(group.score_mean)} of {group.scores}{f', ◑ {partial}' if partial else ''}"


def group_words(group: Group) -> tuple[str, ...]:
    """All about a group, longest first."""
    left = f", {plural(group.unfinished, 'session')} with gaps" if group.unfinished else ""
    words = [
        f"{line(group.rubric, 60)} {line(group.version, 12)} by {judge_words(group.model)}",
        f"{plural(group.judgments, 'judgment')} of {plural(group.sessions, 'session')}{left}",
        f"newest of each: {group.judged:,} of {plural(group.chunks, 'chunk')} judged,"
        f" {group.flagged:,} flagged, {plural(group.findings, 'finding')}",
        f"marked {group.right} right, {group.wrong} wrong",
        f"paid {_cost(group)}",
    ]
    means = f"mean score {mean_words(group)}"
    if group.score_mean is not None:
        some = f" ({group.partial_scores} of them partial)" if group.partial_scores else ""
        of = f"{shown_score(group.score_mean)} of {group.scores}{some}"
        means = f"mean score {of} at {setting_words(group.setting)}"
    return (
        " · ".join([*words[:3], means, *words[3:]]),
        " · ".join([*words[1:3], means]),
        " · ".join(words[1:3]),
        words[2],
    )


def period_cells(period: Period, width: int) -> Cells:
    """A day or a week: how large a part of its sessions came to no score, and why."""
    wide = width >= WIDE
    cells: Cells = [(fit(f"  {period_name(period)}", 15), "plain")]
    cells += share_cells(period, 20 if wide else 10)
    share = f"{period.without_score} of {period.sessions}"
    cells.append((f"{share:>11} {_percent(period.share):>5}  ", "strong"))
    chunks = f"{period.unjudged:,}/{period.chunks:,}"
    cells.append((f"{chunks:>14}  ", "gap" if period.unjudged else "dim"))
    cells.append((reasons_words(period), "plain"))
    return cells


def share_cells(period: Period, cells: int) -> Cells:
    """The share as a bar, with its end marked."""
    drawn = bar(period.share, cells) if period.without_score else " " * cells
    return [("▕", "dim"), (drawn, "gap"), ("▏", "dim")]


def period_columns(width: int) -> str:
    """What the columns are called."""
    cells = 22 if width >= WIDE else 12
    share = "no score"
    return (
        f"{'   judged in':16}{share:{cells}}{'sessions':>11} {'':>5}  {'gaps/chunks':>14}  reasons"
    )


def period_name(period: Period) -> str:
    """Which day, or which week."""
    if not period.days:
        return "all, newest"
    return f"{period.start.isoformat()}{'' if period.days == 1 else ' w'}"


def reasons_words(period: Period) -> str:
    """Unjudged chunks by reason, most first."""
    words = [f"{line(reason, 30)} {count:,}" for reason, count in period.gaps[:MOST_REASONS]]
    if len(period.gaps) > MOST_REASONS:
        words.append("…")
    return ", ".join(words) or "no gap"


def period_words(period: Period) -> tuple[str, ...]:
    """All about a period, longest first."""
    what = "judged on that day" if period.days == 1 else "judged in that week"
    each = "each by its newest judgment of it"
    if not period.days:
        what, each = "judged at any time", "each by its newest judgment"
    no_score = f"{period.without_score:,} of {plural(period.sessions, 'session')} {what}"
    chunks = f"{period.unjudged:,} of {plural(period.chunks, 'chunk')} unjudged"
    all_reasons = ", ".join(f"{line(reason, 30)} {count:,}" for reason, count in period.gaps)
    reasons = [all_reasons] if all_reasons else []
    return (
        " · ".join([f"{no_score} have no score, {each}", chunks, *reasons]),
        " · ".join([f"{no_score} have no score", chunks, *reasons]),
        " · ".join([f"{no_score} have no score", chunks]),
    )


def _percent(share: float | None) -> str:
    if share is None:
        return "–"
    if 0 < share < 0.01:
        return "<1 %"
    return f"{100 * share:.0f} %"


def _judged(group: Group) -> str:
    """Judged of all chunks; in thousands where they are many, never as all that is not."""
    exact = f"{group.judged:,}/{group.chunks:,}"
    return exact if len(exact) <= 12 else f"{group.judged // 1000}k/{-(-group.chunks // 1000)}k"


def _marks(group: Group) -> str:
    return f"{group.right}✔ {group.wrong}✘" if group.right or group.wrong else "–"


def _cost(group: Group) -> str:
    more = f" + {group.unpriced:,}?" if group.unpriced else ""
    return f"{dollars(group.cost_usd)}{more}"
