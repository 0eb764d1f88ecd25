"""What the screen of past judgments says about what it lists."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from longjudge_tui.commands import command
from longjudge_tui.past.entry_rows import entry_words, judge_words, rest_words, setting_words
from longjudge_tui.past.past_list import PastList, PastView
from longjudge_tui.past.sum_rows import group_words, period_words
from longjudge_tui.wording import line, moment, plural

if TYPE_CHECKING:
    from collections.abc import Sequence

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


def picked_words(picked: Sequence[Entry]) -> tuple[str, ...]:
    """Which judgments are picked, as the list names them, and what leads on; longest first."""
    picks, compares = command("pick_past").shown, command("compare_past").shown
    names = _names(picked)
    # A narrow list has no year either.
    brief = ", ".join(each[5:] for each in names)
    match len(picked):
        case 0:
            return ()
        case 1:
            on = f"{picks} picks another, then {compares} compares"
            return f"1 picked, {names[0]}: {on}", f"1 picked: {on}"
        case _:
            words = f"2 picked: {compares} compares"
            return (
                f"{words} {' with '.join(names)}",
                f"{words} {', '.join(names)}",
                f"{words} {brief}",
            )


def _names(picked: Sequence[Entry]) -> list[str]:
    """When and by which version, or what else tells them apart where that does not."""
    times = [moment(each.created) for each in picked]
    versions = [line(each.version, 12) for each in picked]
    seconds = [f"{each.created % 60 // 1:02.0f}" for each in picked]
    several = (
        [f"{time} {each}" for time, each in zip(times, versions, strict=True)],
        [f"{time} {setting_words(each.setting)}" for time, each in zip(times, picked, strict=True)],
        [f"{time} {judge_words(each.model)}" for time, each in zip(times, picked, strict=True)],
    )
    apart = (names for names in several if len(set(names)) == len(names))
    alike = [":".join(each) for each in zip(times, seconds, strict=True)]
    return next(apart, [" ".join(each) for each in zip(alike, versions, strict=True)])


def enter_words(lines: PastList, picked: Sequence[str], *, here: bool) -> tuple[str, ...]:
    """What enter does, and what goes on from there; `here` is a judgment of the open session.

    What is `picked` comes first, in the words that fit.
    """
    if (entry := lines.entry) is not None:
        shows = "enter shows it as it ended" if here else "enter opens its session, as it ended"
        if not entry.recorded:
            shows = "enter shows what is kept of it"
        rest = "" if _judged_since(lines, entry) else rest_words(entry)
        goes_on = [f"then {rest}"] if rest else []
        keys = ["space picks · y copies · O saves its report"] if entry.recorded else []
        words = (
            " · ".join([shows, *goes_on, *keys]),
            " · ".join([shows, *goes_on]),
            " · ".join(goes_on or [shows]),
        )
        return (
            tuple(f"{p}{more}" for p in picked for more in (*(f" · {each}" for each in words), ""))
            or words
        )
    if lines.group is not None:
        return ("enter lists its judgments · counts are of the newest judgment of each session",)
    if (period := lines.period) is not None:
        which = {0: "all", 1: "that day's"}.get(period.days, "that week's")
        left_out = "days without a judgment are left out"
        lists = f"enter lists {which} judgments"
        return f"{lists} · no score: cut off or failed · {left_out}", lists
    return ("esc goes back",)
