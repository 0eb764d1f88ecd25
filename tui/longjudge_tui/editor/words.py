"""What the rubric editor says in its lines: what the text is, and what it and a try cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longjudge.rubric import Skip
from longjudge_tui.commands import command
from longjudge_tui.widgets.action_line import Choice, Word
from longjudge_tui.wording import line, plural, price_range

if TYPE_CHECKING:
    from longjudge_tui.bench.edit_session import EditSession


def title_words(session: EditSession) -> list[str]:
    """The rubric, whether it is saved, its version and that in use, where it is from."""
    rubric, bench = session.rubric, session.bench
    name = line(rubric.name, 60)
    unsaved = "as it stands"
    if session.unsaved:
        unsaved = "not saved, kept as a draft" if not session.draft_problem else "NOT SAVED"
    version = rubric.version
    in_use = bench.rubric.version
    versions = f"version {version}" if version == in_use else f"{version}, in use is {in_use}"
    if session.checked is not None and session.checked.rubric is None:
        versions = f"no rubric now, in use is {in_use}"
    head = f"RUBRIC {name}"
    return [
        f"{head} · {unsaved} · {versions} · {session.source.origin_words}",
        f"{head} · {unsaved} · {versions}",
        f"{head} · {'not saved · ' if session.unsaved else ''}{versions}",
        f"{head} · {unsaved}",
        head,
    ]


def verdict_words(session: EditSession) -> list[str]:
    """What is wrong with the text, in one line; what keeps drafts from being kept comes first."""
    if session.draft_problem:
        return [f"! {session.draft_problem}"]
    checked = session.checked
    if checked is None or not session.is_checked:
        return ["… checking"]
    if checked.wrong:
        key = command("next_fault").bar_key
        faults = plural(checked.wrong, "fault")
        return [f"✗ {faults}: enter or {key} goes to its line", f"✗ {faults}"]
    if checked.refusal:
        return [f"! {checked.refusal}"]
    warnings = len(checked.faults)
    said = f" · {plural(warnings, 'warning')}" if warnings else ""
    count = len(checked.rubric.criteria) if checked.rubric is not None else 0
    criteria = "1 criterion" if count == 1 else f"{count} criteria"
    return [f"✓ a rubric of {criteria}{said}"]


def price_words(session: EditSession) -> list[str]:
    """What judging the session by the text would ask, as far as that is known."""
    bench, rubric, price = session.bench, session.rubric, session.price
    if bench.outlook is None:
        return ["this session: it is still being read"]
    if rubric.skip is Skip.NO_TOOL_CALL and not bench.tool_calls:
        return ["this session: nothing to ask, it has no tool call"]
    if price is None or not price.is_of(bench.outlook, bench.judge):
        return ["this session: …"]
    totals = price.totals
    cost, band = price_range(totals.cost_usd, totals.cost_usd_low, totals.cost_usd_high)
    asks = f"{totals.kept} kept · {totals.to_ask} to ask · {f'{cost} {band}'.rstrip()}"
    of = ""
    if not session.is_checked or price.rubric.version != rubric.version:
        of = " · …"
    elif bench.running:
        of = " · as before the run in flight"
    elif session.checked is not None and session.checked.rubric is None:
        last = "the last text without a fault"
        return [f"this session by {last}: {asks}", f"by {last}: {asks}"]
    if rubric.version == bench.rubric.version:
        same = "changes nothing that reaches the judge"
        return [
            f"this session: {same}: {asks}{of}",
            f"{same}: {asks}{of}",
            f"this session: {asks}{of}",
            f"{asks}{of}",
        ]
    return [
        f"this edit over the session: {asks}{of} · now {_now(session)}",
        f"this edit over the session: {asks}{of}",
        f"this edit: {asks}{of}",
        f"{asks}{of}",
    ]


def _now(session: EditSession) -> str:
    outlook = session.bench.outlook
    if outlook is None:
        return ""
    return f"{outlook.totals.kept} kept, {outlook.totals.to_ask} to ask"


def try_choices(session: EditSession) -> list[Choice]:
    """The button that tries the text on the chunk, with its price; below a try, how far it is."""
    editing, parts = session.bench.editing, session.parts
    attempt = editing.attempt
    said = f"try: {attempt.words}" if attempt is not None else "try: not yet"
    if attempt is not None and editing.trying:
        words = () if attempt.stopping else (Word("cancel_try", "cancel f9"),)
        return [Choice(said, words)]
    if not parts:
        return [Choice(said)]
    key = command("try_rubric").bar_key
    part = f"part {session.position + 1}"
    price = _question_price(session)
    return [
        Choice(said, (Word("try_rubric", f"try on {part} of {parts} · {price} · {key}"),)),
        Choice(said, (Word("try_rubric", f"try {part} · {price} · {key}"),)),
        Choice("", (Word("try_rubric", f"try {part} · {price} · {key}"),)),
        Choice("", (Word("try_rubric", f"try {part} · {price}"),)),
    ]


def _question_price(session: EditSession) -> str:
    price, position = session.price, session.position
    outlook, judge = session.bench.outlook, session.bench.judge
    if price is None or outlook is None or not price.is_of(outlook, judge):
        return "…"
    if position >= len(price.keys):
        return "…"
    checked = session.checked
    now = checked.rubric if checked is not None and session.is_checked else None
    stands = now is not None and now.version == price.rubric.version
    if stands and session.bench.editing.is_kept(price.keys[position]):
        return "kept, asks nothing"
    cost = price.question_usd[position]
    return price_range(cost, cost, cost)[0] if stands else "…"
