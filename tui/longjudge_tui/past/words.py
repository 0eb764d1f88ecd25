"""What the screen of past judgments says about what it lists."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from longjudge_tui.past.entry_rows import entry_words, rest_words
from longjudge_tui.past.past_list import PastList, PastView
from longjudge_tui.past.sum_rows import group_words, period_words
from longjudge_tui.wording import line, plural

if TYPE_CHECKING:
    from longjudge.history import Entry
    from longjudge_tui.bench.archive import Archive

MOST_LOOKED_AT: Final = 1_000
"""In so many judgments a later one is looked for with every look at the screen."""


def titles(archive: Archive, view: PastView, name: str) -> tuple[str, ...]:
    """What is listed, and of how many, longest first; never as all where it is not."""
    of_all = f"{archive.total:,}" if archive.total else "all"
    match view:
        case PastView.SESSION:
            rows = archive.session
            count = _count(len(rows.shown), len(rows.entries), whole=archive.session_read)
            what = f"PAST JUDGMENTS of {line(name, 60)} · {count}"
            return f"{what} · {rows.order}", what, f"PAST JUDGMENTS · {count}"
        case PastView.ALL:
            rows = archive.all
            count = _count(len(rows.shown), len(rows.entries), whole=archive.whole)
            left = "" if archive.whole else f", reading: {len(rows.entries):,} of {of_all} in"
            what = f"ALL PAST JUDGMENTS · {count}{left}"
            return f"{what} · {rows.order}", what
        case PastView.RUBRICS | PastView.GAPS:
            sums = archive.sums
            what = "BY RUBRIC VERSION" if view is PastView.RUBRICS else "GAPS OVER TIME"
            part = brief = plural(sums.counted, "judgment")
            if not archive.whole:
                part = f"so far the newest {sums.counted:,} of {of_all} judgments"
                brief = f"newest {sums.counted:,} of {of_all}"
            out = [f"{sums.forced:,} with forced failures"] if sums.forced else []
            out += [f"{sums.unread:,} unreadable"] if sums.unread else []
            without = f" · without {' and '.join(out)}" if out else ""
            return f"{what} · {part}{without}", f"{what} · {part}", f"{what} · {brief}"


def _count(shown: int, entries: int, *, whole: bool) -> str:
    if not whole and not entries:
        return "reading…"
    return f"{shown:,} of {entries:,}" if shown != entries else f"{shown:,}"


def row_words(lines: PastList, archive: Archive) -> tuple[str, ...]:
    """All that is known about what is under the cursor."""
    if archive.error:
        return (f"✗ {archive.error}",)
    if (entry := lines.entry) is not None:
        return entry_words(entry)
    if (group := lines.group) is not None:
        return group_words(group)
    if (period := lines.period) is not None:
        return period_words(period)
    reading = not (archive.session_read if lines.view is PastView.SESSION else archive.whole)
    if reading:
        return ("reading…",)
    if lines.view.of_judgments and lines.rows.words:
        return ("nothing has these words; / and escape clear them",)
    return ("nothing was judged yet",)


def _judged_since(lines: PastList, entry: Entry) -> bool:
    """Whether a later judgment by the same has verdicts about more of the session."""
    entries = lines.rows.entries
    return len(entries) <= MOST_LOOKED_AT and any(
        each.created > entry.created
        and each.session == entry.session
        and each.unjudged < entry.unjudged
        and (each.model, each.version, each.setting) == (entry.model, entry.version, entry.setting)
        for each in entries
    )


def enter_words(lines: PastList, picked: str, *, here: bool) -> tuple[str, ...]:
    """What enter does, and what goes on from there; `here` is a judgment of the open session."""
    more = [picked] if picked else []
    if (entry := lines.entry) is not None:
        shows = "enter shows it as it ended" if here else "enter opens its session, as it ended"
        if not entry.recorded:
            shows = "enter shows what is kept of it"
        rest = "" if _judged_since(lines, entry) else rest_words(entry)
        goes_on = [f"then {rest}"] if rest else []
        keys = ["space picks · y copies · O saves its report"] if entry.recorded else []
        return (
            " · ".join([*more, shows, *goes_on, *keys]),
            " · ".join([*more, shows, *goes_on]),
            " · ".join([*more, *(goes_on or [shows])]),
        )
    if lines.group is not None:
        return ("enter lists its judgments · counts are of the newest judgment of each session",)
    if (period := lines.period) is not None:
        which = {0: "all", 1: "that day's"}.get(period.days, "that week's")
        left_out = "days without a judgment are left out"
        lists = f"enter lists {which} judgments"
        return f"{lists} · no score: cut off or failed · {left_out}", lists
    return ("esc goes back",)
