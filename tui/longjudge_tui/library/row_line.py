"""The line about the session under the cursor in the library."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longjudge.result import quotes_words
from longjudge_tui.library.looking_back import force_words, goes_on_words
from longjudge_tui.library.words import age, last_words, price_sum, price_words, whole_last
from longjudge_tui.wording import line, plural, tokens

if TYPE_CHECKING:
    from longjudge.sessions import SessionFile
    from longjudge_tui.library.counting import Facts
    from longjudge_tui.library.last import Last
    from longjudge_tui.library.shelf import Shelf


def row_words(shelf: Shelf, file: SessionFile, now: float) -> list[str]:
    """All that is known about the session under the cursor, longest first."""
    facts = shelf.counting.facts.get(file)
    where, short = line(str(file.path), 300), line(file.path.name, 80)
    known = _known(facts) if facts is not None else []
    asks = _asks(shelf, file)
    text = " · ".join(line(word) for word in [*known, *asks])
    last = shelf.last(file)
    if last is not None and not last.recorded:
        return _ended_by_force(shelf, last, now, [*([text] if text else []), where], asks)
    if not text:
        return [where]
    # Where it is cut, what is kept and what would be asked is what somebody wanted to know.
    wanted = asks[1:] or asks
    rows = [f"{text} · {where}", f"{text} · {short}", text, " · ".join([*wanted, *known])]
    if last is None:
        return rows
    standing = shelf.terms.by
    goes_on = goes_on_words(last, standing)
    if last.before is None and last.by == standing:
        if quotes := quotes_words(last.verified, last.findings):
            checked = f"{text} · last: {quotes}, {age(now - last.created)}"
            rows = [f"{checked} · {where}", f"{checked} · {short}", checked, *rows]
        if goes_on:
            rows = [f"{goes_on} · {each}" for each in rows]
            rows += [" · ".join([goes_on, *wanted]), goes_on]
        return rows
    # How it came about is no news where the row says all of it.
    wrong = shelf.results.wrong(file)
    came = whole_last(last, now, standing, wrong)
    if goes_on:
        counts = [came, *last_words(last, now, standing, wrong)]
        return _left_by_others(goes_on, text, counts, asks, where)
    text = f"{text} · {came}"
    rows = [f"{text} · {where}", text, " · ".join([came, *asks]), " · ".join([came, *asks[-2:]])]
    return [*rows, " · ".join([*wanted, came])]


def _left_by_others(
    goes_on: str, text: str, counts: list[str], asks: list[str], where: str
) -> list[str]:
    """How to go on with what a run left comes before all else, its counts before the rest."""
    # The row has the status, and the counts have the size, where both take too much room.
    keys = f"{goes_on.partition(':')[0].removesuffix(' goes on')} goes on"
    without_status = counts[1].partition(" · ")[2]
    tally = without_status.partition(" · ")[0]
    rows = [[goes_on, text, counts[0], where], [goes_on, text, counts[0]]]
    if asks:
        told = [each for each in counts if tally.partition(" ")[0] in each]
        rows += [[goes_on, each, *wanted] for wanted in (asks, asks[-2:]) for each in told]
        rows.append([keys, tally, *asks[-2:]])
    rows += [[goes_on, each] for each in counts[:2]]
    rows += [[keys, without_status], *([goes_on, each] for each in counts[2:])]
    return [" · ".join(each) for each in [*rows, [goes_on]]]


def _known(facts: Facts) -> list[str]:
    if facts.fault:
        return [f"✗ {line(facts.fault)}"]
    skipped = facts.skipped_lines
    return [
        facts.format,
        plural(facts.events, "event"),
        f"~{tokens(facts.tokens)} tokens",
        plural(facts.tool_calls, "tool call"),
        plural(facts.threads, "thread"),
        *([f"⚠ {plural(skipped, 'line')} skipped"] if skipped else []),
    ]


def _asks(shelf: Shelf, file: SessionFile) -> list[str]:
    """What a run would ask, as far as that is known."""
    price = shelf.price(file)
    if price is not None and price.copied:
        return [price_words(price)[0]]
    if price is not None and price.chunks:
        return price_sum(price)
    return ["estimating…"] if shelf.pricing.is_waiting(file) else []


def _ended_by_force(
    shelf: Shelf, last: Last, now: float, known: list[str], asks: list[str]
) -> list[str]:
    """How to go on with a run that was ended by force comes before all else."""
    standing = shelf.terms.by
    force, wanted = force_words(last, standing), asks[1:] or asks
    came = whole_last(last, now, standing, 0)
    variants = [[came, *known], [came, *known[:-1]], [*wanted, came]]
    before = f"before: {last_words(last.before, now, standing)[-1]}" if last.before else ""
    variants += [[*wanted, before], wanted, []] if wanted else [[came], [before], []]
    return [" · ".join(filter(None, [force, *each])) for each in variants]
