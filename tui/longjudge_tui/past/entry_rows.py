"""A judgment of the past as a row, and in words. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from longjudge.faults import forced_words
from longjudge.prices import OFFLINE_MODEL
from longjudge.result import quotes_words, shown_score
from longjudge.states import JudgmentStatus
from longjudge_tui.bench.archive import name_of
from longjudge_tui.wording import dollars, fit, line, moment, plural

if TYPE_CHECKING:
    from longjudge.history import ChunkSetting, Entry
    from longjudge_tui.widgets.line_list import Cells

WIDE: Final = 100
_GLYPHS: Final[dict[str, str]] = {
    JudgmentStatus.COMPLETE: "✓",
    JudgmentStatus.PARTIAL: "◑",
    JudgmentStatus.TIMED_OUT: "◷",
    JudgmentStatus.NOT_APPLICABLE: "–",
}


def entry_cells(entry: Entry, width: int, *, picked: bool, with_session: bool) -> Cells:
    """When, how it ended, findings, score, coverage, marks, cost, and whose it is or by what."""
    wide = width >= WIDE
    when = moment(entry.created)
    cells: Cells = [
        ("● " if picked else "  ", "active"),
        (fit(when if wide else when[5:], 17 if wide else 12), "plain"),
        (fit(status_words(entry), 15 if wide else 13), status_look(entry)),
    ]
    found = f"⚑ {entry.findings}" if entry.findings else ("" if entry.unjudged else "none")
    marked = _marks(entry)
    if wide:
        cells.append((fit(f"{found}{marked}", 11), "flagged" if entry.findings else "dim"))
    else:
        cells.append((fit(found, 6), "flagged" if entry.findings else "dim"))
    cells.append((fit(score_words(entry), 18 if wide else 17), "plain"))
    cells.append((f"{coverage(entry):>9}  ", "gap" if entry.unjudged else "plain"))
    if wide:
        cells.append((f"{cost_words(entry):>7}  ", "dim"))
    by = by_words(entry) if wide else _by_words_in_brief(entry)
    cells.append((line(name_of(entry), 100) if with_session else by, "plain"))
    return cells


def entry_columns(width: int, *, with_session: bool) -> str:
    """What the columns are called."""
    what = "session" if with_session else "chunks, rubric, judge"
    brief = "session" if with_session else "rubric, chunks"
    if width >= WIDE:
        return (
            f"{'':3}{'when':17}{'ended':15}{'findings':11}{'score (could be)':18}"
            f"{'judged':>9}  {'cost':>7}  {what}"
        )
    return f"{'':3}{'when':12}{'ended':13}{'found':6}{'score (could be)':17}{'judged':>9}  {brief}"


def status_words(entry: Entry) -> str:
    """How it ended; that failures were forced comes first."""
    if not entry.known:
        return "? does not read"
    glyph = _GLYPHS.get(entry.status, "✗")
    if entry.complete and entry.findings:
        glyph = "⚑"
    forced = "forced: " if entry.fault else ""
    return f"{glyph} {forced}{line(entry.status.replace('_', ' '), 20)}"


def status_look(entry: Entry) -> str:
    """How that looks."""
    if not entry.applies:
        return "dim"
    return "plain" if entry.complete else "gap"


def score_words(entry: Entry) -> str:
    """The score with what it may still become."""
    if not entry.known or not entry.applies or not entry.recorded:
        return "–"
    score = "none" if entry.score is None else shown_score(entry.score)
    return f"{score} ({shown_score(entry.low)}-{shown_score(entry.high)})"


def coverage(entry: Entry) -> str:
    """Judged of all chunks."""
    if not entry.recorded:
        return f"?/{entry.chunks}"
    return f"{entry.judged}/{entry.chunks}" if entry.known and entry.applies else "–"


def cost_words(entry: Entry) -> str:
    """What it cost, briefly."""
    return "?" if entry.cost_usd is None else dollars(entry.cost_usd)


def setting_words(setting: ChunkSetting | None) -> str:
    """A chunk setting, without which no score says anything."""
    if setting is None:
        return "chunks unknown"
    number = f"{setting.size / 1000:g}k" if setting.size >= 1000 else f"{setting.size}"
    return f"{number} {setting.unit}"


def judge_words(model: str) -> str:
    """Who judged."""
    return "offline rules" if model == OFFLINE_MODEL else line(model, 60)


def by_words(entry: Entry) -> str:
    """What it went by."""
    rubric = f"{line(entry.rubric, 60)} {line(entry.version, 12)}"
    return f"{setting_words(entry.setting)} · {rubric} · {judge_words(entry.model)}"


def _by_words_in_brief(entry: Entry) -> str:
    """The same where it is cut: what tells judgments apart first."""
    rest = f"{line(entry.rubric, 60)} · {judge_words(entry.model)}"
    return f"{line(entry.version, 12)} · {setting_words(entry.setting)} · {rest}"


def _marks(entry: Entry) -> str:
    """How many findings are marked right and wrong."""
    words = [f"{entry.right}✔"] if entry.right else []
    words += [f"{entry.wrong}✘"] if entry.wrong else []
    return f" {' '.join(words)}" if words else ""


def entry_words(entry: Entry) -> tuple[str, ...]:
    """All about a judgment, longest first."""
    if not entry.known:
        return (f"{line(entry.id, 40)} · recorded in a form that does not read any more",)
    if not entry.recorded:
        ended = f"ended by force: what it judged of {plural(entry.chunks, 'chunk')} is kept"
        return f"{line(name_of(entry), 80)} · {ended} · {by_words(entry)}", ended
    quotes = quotes_words(entry.verified, entry.findings)
    marks = ", ".join(
        f"{count} marked {word}"
        for count, word in ((entry.right, "right"), (entry.wrong, "wrong"))
        if count
    )
    found = ", ".join(filter(None, [plural(entry.findings, "finding"), quotes, marks]))
    gaps = ", ".join(f"{line(reason, 30)} {count}" for reason, count in entry.gaps)
    lost = f"{plural(entry.unjudged, 'chunk')} without a verdict: {gaps}" if entry.unjudged else ""
    forced = forced_words(line(entry.fault, 60)) if entry.fault else ""
    paid = f"{plural(entry.calls, 'call')}, {dollars(entry.cost_usd)}"
    where = line(entry.real_path or entry.path or "events in memory", 200)
    name = line(name_of(entry), 80)
    rest = list(filter(None, [forced, found, lost]))
    by = by_words(entry)
    return (
        " · ".join([name, *rest, by, paid, where]),
        " · ".join([name, *rest, by, paid]),
        " · ".join([*rest, by, paid]),
        " · ".join([*rest, by]),
        " · ".join([*rest, paid]),
        " · ".join(rest),
    )


def rest_words(entry: Entry) -> str:
    """What going on with it asks, about; empty where nothing is left."""
    if not entry.recorded:
        return "r goes on with what is missing"
    if not entry.unjudged or not entry.applies:
        return ""
    cost = entry.cost_of_rest
    about = "" if cost is None else f", ~{dollars(cost)}" if cost else f", {dollars(cost)}"
    return f"r goes on: {entry.unjudged:,} to ask{about}"
