"""How sessions, their states and their results read in the library."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from longjudge.prices import OFFLINE_MODEL
from longjudge.result import quotes_words, shown_score
from longjudge.states import JudgmentStatus
from longjudge_tui.bench.run_words import PAUSED, left_over_words, releasing_words
from longjudge_tui.bench.sizes import Unit
from longjudge_tui.commands import command
from longjudge_tui.library.judging import IN_FLIGHT, Stage
from longjudge_tui.library.listing import Order
from longjudge_tui.wording import line, pause_words, plural, price_range, size

if TYPE_CHECKING:
    from collections.abc import Sequence

    from longjudge.sessions import SessionFile
    from longjudge_tui.bench.bench import Bench
    from longjudge_tui.library.counting import Facts
    from longjudge_tui.library.judging import State
    from longjudge_tui.library.last import By, Last
    from longjudge_tui.library.listing import Listing
    from longjudge_tui.library.pricing import Price
    from longjudge_tui.library.shelf import Shelf
    from longjudge_tui.library.sums import Sum

_AGES = (
    (365 * 86_400, "y"),
    (7 * 86_400, "w"),
    (86_400, "d"),
    (3_600, "h"),
    (60, "min"),
)
_STAGE_GLYPHS = {
    Stage.WAITING: "…",
    Stage.READING: "◐",
    Stage.JUDGING: "◐",
    Stage.PAUSED: "‖",
    Stage.STOPPING: "◐",
    Stage.CANCELLED: "✗",
    Stage.NOT_ASKED: "✗",
    Stage.FAILED: "✗",
    Stage.COPIED: "–",
}

Variants = tuple[str, ...]
"""The same in several lengths, longest first."""


def age(seconds: float) -> str:
    """How long ago, in one unit."""
    for length, unit in _AGES:
        if seconds >= length:
            return f"{seconds // length:.0f} {unit}"
    return "now"


def name_of(file: SessionFile, facts: Facts | None) -> str:
    """The title, else the name of the file; with the session's id where a file holds many."""
    title = facts.title if facts is not None else ""
    if file.session is not None and not title:
        return line(file.session, 200)
    return line(title or file.path.name, 200)


def project_of(file: SessionFile, facts: Facts | None) -> str:
    """The folder that the agent worked in, else the one that the file lies in."""
    folder = facts.folder if facts is not None else ""
    return line(os.path.basename(folder.rstrip("/\\")) or file.path.parent.name, 100)


def state_words(state: State) -> Variants:
    """What is going on about a session, or what it came to."""
    glyph = _STAGE_GLYPHS[state.stage]
    words = f"{glyph} {state.stage}"
    if state.stage is Stage.COPIED:
        return (words, f"{glyph} in another file")
    if state.fault:
        return tuple(f"{words}: {reason}" for reason in _reasons(state.fault))
    if state.stage is Stage.READING and state.total:
        return (f"{words} {100 * state.done // state.total} %",)
    if state.stage in (Stage.JUDGING, Stage.PAUSED):
        words += f" {state.done}/{state.total}"
        if state.wait > 0:
            return (f"{words} · wait {state.wait} s", words)
        return (words,)
    if state.stage is Stage.STOPPING and state.note:
        return (f"{words}: {state.note}", words)
    return (words,)


def _reasons(fault: str) -> Variants:
    """A fault whole, then without its way out, its details, and what it is about."""
    whole = line(fault)
    reason = whole.partition(";")[0]
    short = reason.partition(": ")[0]
    return (whole, reason, short, short.partition(" for ")[0])


def fault_words(shelf: Shelf, file: SessionFile) -> str:
    """Why nothing came of a session, whole; empty where there is no such fault."""
    state, price = shelf.state(file), shelf.price(file)
    if state is not None and state.fault:
        return f"{state_words(state)[0]}"
    return f"✗ {line(price.fault)}" if price is not None and price.fault else ""


def state_look(state: State) -> str:
    """How that looks."""
    if state.stage is Stage.COPIED:
        return "dim"
    return "active" if state.stage in IN_FLIGHT else "gap"


def last_words(
    last: Last, now: float, standing: By, wrong: int = 0, *, named: bool = False
) -> Variants:
    """The newest result of a session, and a complete one before it.

    With its chunk size where that is not the one that stands, that it is by another rubric where
    it is (`named`: by which), and with how many of its findings are marked `wrong`.
    """
    glyph = _result_glyph(last)
    status = line(last.status.replace("_", " "), 20)
    # Where there is little room the end is cut.
    word = f"{glyph} forced: {status}" if last.forced else f"{glyph} {status}"
    if not last.applies:
        return (f"{word} · {age(now - last.created)}", word)
    word += _score(last)
    coverage = f"{last.judged if last.recorded else '?'}/{last.chunks}"
    at, at_short, at_brief = _otherwise(last, standing, named=named)
    # A score is nowhere without what it went by.
    brief = _in_little_room(last, standing) or (word,)
    marked = f", {wrong} wrong" if wrong else ""
    found = plural(last.findings, "finding") + marked
    if last.before is not None:
        whole = last.before
        done = f"{_result_glyph(whole)}{_score(whole)}{_rubric_mark(whole, standing)}"
        before = f"before: complete{_score(whole)}{_other_rubric(whole, standing, named=named)}"
        all_found = [found] if last.recorded else []
        return (
            " · ".join([word, f"{coverage}{at}", *all_found, before]),
            f"{word} · {coverage}{at} · {before}",
            f"{word} · {coverage}{at_brief}; the complete one before: {done}",
            f"{word} · {coverage}{at_brief}; before: {done}",
            f"{word}{at_brief}; before: {done}",
            f"{word}{at_brief}; was {done}",
            f"{glyph}{at_brief}; before: {done}",
            f"{word}{at_brief}",
            *brief,
        )
    if not last.recorded:
        return (
            f"{word} · {coverage}{at} · {age(now - last.created)}",
            f"{word} · {coverage}{at}",
            f"{word} · {coverage}{at_short}",
            f"{word}{at_short}",
            *brief,
        )
    quotes = quotes_words(last.verified, last.findings)
    checked = [f"{found}, {quotes}"] if quotes else []
    short = f"{last.findings} found{marked}"
    tells = short if last.findings or last.complete else coverage
    # Only with its age: the text may be another one by now.
    return (
        *(f"{word} · {coverage}{at} · {each} · {age(now - last.created)}" for each in checked),
        f"{word} · {coverage}{at} · {found} · {age(now - last.created)}",
        f"{word} · {coverage}{at} · {found}",
        f"{word} · {coverage}{at_short} · {short}",
        f"{word} · {coverage}{at_short}" if tells is coverage else f"{word}{at_short} · {short}",
        f"{word}{at_short}{marked}",
        f"{word}{at_short}",
        *brief,
    )


def with_nothing_to_ask(came: Sequence[str], last: Last, price: Price) -> list[str]:
    """The newest result with what a run would ask, where that is nothing.

    Two results leave that no room.
    """
    if price.fault or price.copied or price.to_ask or not price.chunks or last.before is not None:
        return []
    return [f"{each} · 0 to ask" for each in came]


def whole_last(last: Last, now: float, standing: By, wrong: int) -> str:
    """All about the newest result: who judged, and the complete one before it."""
    by = ""
    if last.by is not None and last.by.model != standing.model:
        by = " by offline rules" if last.by.model == OFFLINE_MODEL else f" by {line(last.by.model)}"
    words = [f"last {last_words(last, now, standing, wrong, named=True)[0]}{by}"]
    if (whole := last.before) is not None:
        quotes = quotes_words(whole.verified, whole.findings)
        found = ", ".join(filter(None, [plural(whole.findings, "finding"), quotes]))
        words.append(f"{found}{_other_size(whole, standing)[0]}, {age(now - whole.created)}")
    return ", ".join(words)


def _score(last: Last) -> str:
    return "" if last.score is None else f" {shown_score(last.score)}"


def _in_little_room(last: Last, standing: By) -> Variants:
    """A result by another rubric, without its status; none where it is by the one that stands."""
    if not (mark := _rubric_mark(last, standing)):
        return ()
    word = f"{_result_glyph(last)}{_score(last)}"
    ways = (_otherwise(last, standing)[1], _other_rubric(last, standing), mark)
    return tuple(f"{word}{each}" for each in ways)


def _otherwise(last: Last, standing: By, *, named: bool = False) -> Variants:
    """The chunk size and the rubric of a result where others stand, in ever less room."""
    at, at_short = _other_size(last, standing)
    rubric, mark = _other_rubric(last, standing, named=named), _rubric_mark(last, standing)
    plain = _other_rubric(last, standing)
    return f"{at}{rubric}", f"{at_short}{plain}", f"{at_short}{mark}"


def _other_rubric(last: Last, standing: By, *, named: bool = False) -> str:
    """That a result is by another rubric than the one that stands, or another version of it."""
    if (by := last.by) is None or by.version == standing.version:
        return ""
    return f" by rubric {line(by.rubric, 40)} {line(by.version, 12)}" if named else ", other rubric"


def _rubric_mark(last: Last, standing: By) -> str:
    """The same where there is little room."""
    return " *rubric" if _other_rubric(last, standing) else ""


def _other_size(last: Last, standing: By) -> tuple[str, str]:
    """The chunk size of a result where another one stands: ` at 8k chars`, and shorter."""
    by = last.by
    if by is None or by.same_size(standing):
        return "", ""
    chars = by.unit is Unit.CHARACTERS
    number = f"{by.size / 1000:g}k" if by.size >= 1000 else f"{by.size}"
    return (
        f" at {number} {'chars' if chars else 'tokens'}",
        f" at {number}{'' if chars else ' tok'}",
    )


def _result_glyph(last: Last) -> str:
    match last.status:
        case JudgmentStatus.COMPLETE:
            return "⚑" if last.findings else "✓"
        case JudgmentStatus.NOT_APPLICABLE:
            return "–"
        case JudgmentStatus.TIMED_OUT:
            return "◷"
        case JudgmentStatus.PARTIAL:
            return "◑"
        case _:
            return "✗"


def last_look(last: Last) -> str:
    """How that looks."""
    if last.findings:
        return "flagged"
    if last.status == JudgmentStatus.COMPLETE:
        return "clean"
    return "gap" if last.applies else "dim"


def about(cost: float | None) -> str:
    """An estimated price."""
    return price_range(cost, cost, cost)[0]


def price_words(price: Price) -> Variants:
    """What a run would ask, in a row."""
    if price.fault:
        return tuple(f"✗ {reason}" for reason in _reasons(price.fault))
    if price.copied:
        return ("all of it is in another file", "in another file")
    if not price.chunks:
        return ("nothing to ask",)
    if not price.to_ask:
        return ("rest in a batch", "in a batch") if price.in_batch else ("all kept",)
    return (f"{price.to_ask} to ask {about(price.cost_usd)}", about(price.cost_usd))


def price_sum(price: Price) -> list[str]:
    """What a run would ask, in a line."""
    cost = " ".join(filter(None, price_range(price.cost_usd, price.low, price.high)))
    equal = [f"{price.equal} equal to another"] if price.equal else []
    kept, to_ask = f"{price.kept} kept", f"{price.to_ask} to ask"
    queued = [f"{price.in_batch} in a batch"] if price.in_batch else []
    return [plural(price.chunks, "chunk"), kept, *equal, *queued, to_ask, cost]


def listing_title(listing: Listing) -> Variants:
    """How many sessions are shown, of how many, and in which order."""
    shown, files = len(listing.view), len(listing.files)
    count = f"{shown:,} of {files:,}" if shown != files else f"{files:,}"
    hidden = " · files that are no sessions are hidden" if listing.hiding else ""
    some = ""
    if listing.order is Order.EVENTS and listing.counted < shown:
        some = f", of {listing.counted:,} counted"
    return (
        f"SESSIONS {count} · sorted by {listing.order}{some}{hidden}",
        f"SESSIONS {count} · sorted by {listing.order}{some}",
        f"SESSIONS {count} · by {listing.order.short}",
    )


def sum_words(found: Sum) -> list[str]:
    """What the selected sessions come to, longest first."""
    events = f"{found.events:,}{'' if found.counted == found.sessions else '+'} events"
    words = [f"{found.sessions:,} selected", size(found.bytes), events]
    if not found.priced:
        rest = ["e estimates", "r judges"]
    else:
        rest = price_sum(found.price)
        if found.priced < found.sessions:
            rest.append(f"{found.priced} of {found.sessions} estimated together")
    return [
        " · ".join([*words, *rest]),
        " · ".join([words[0], *rest]),
        " · ".join([words[0], *rest[-2:]]),
    ]


def progress_words(shelf: Shelf) -> list[str]:
    """What the library is doing; nothing where it rests."""
    queue = shelf.queue
    words: list[str] = []
    if queue.current is not None:
        state = queue.state(queue.current)
        what = state_words(state)[-1] if state is not None else ""
        name = name_of(queue.current, shelf.counting.facts.get(queue.current))
        if state is not None and state.wait:
            words.append(pause_words(state.wait, state.note))
        elif state is not None and state.stage is Stage.JUDGING and state.note:
            words.append(state.note)
        if queue.paused:
            words.append(f"{PAUSED}: nothing is asked · {command('pause').shown} goes on")
        if state is not None and state.stage is Stage.STOPPING:
            what = state_words(state)[0]
        words.append(f"{queue.begun} of {queue.added}: {what} {line(name, 60)} · x cancels all")
    if shelf.pricing.waiting:
        words.append(f"estimating, {shelf.pricing.waiting} to go")
    if ahead := shelf.estimates.words:
        words.append(ahead)
    if shelf.bench.running and shelf.bench.file is not None:
        words.append(_at_the_workbench(shelf.bench, line(shelf.bench.file.path.name, 60)))
    if left := shelf.bench.holding.left_over:
        words.append(left_over_words(left))
    if shelf.looking and shelf.lists:
        words.append("looking for sessions…")
    return words


def _at_the_workbench(bench: Bench, name: str) -> str:
    """What the judgment that was begun there does."""
    if bench.stopping and bench.run is not None:
        return f"the workbench: {name}, {releasing_words(bench.run)}"
    if bench.paused:
        return f"the workbench: {name}, {PAUSED} · {command('pause').shown} goes on"
    return f"the workbench judges {name}"


def hint_words(rows: Sequence[SessionFile], words: str, order: Order, *, typing: bool) -> Variants:
    """What to do next; `typing` while the filter is written."""
    if rows and typing:
        return ("enter goes to the list, which stays filtered · escape clears the filter",)
    if rows:
        sort = f"{command('next_order').shown} sorts by {order.next.short} · enter opens"
        return (
            f"sorted by {order} · {sort} · space selects · r judges · ? shows the keys",
            f"{sort} · space selects · r judges · / filters · ? shows the keys",
            f"{sort} · space selects · r judges · ? shows the keys",
        )
    if words:
        return ("nothing has these words; escape clears the filter",)
    return ("no session here; ctrl+r looks again",)
