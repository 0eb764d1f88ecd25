"""What a curve and its points say, in words."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

from longjudge.curve import WORTH_SAVING
from longjudge.limits import duration_words
from longjudge_tui.curve.drawing import short
from longjudge_tui.wording import dollars, plural, price_range, tokens

if TYPE_CHECKING:
    from longjudge.curve import CurveMeaning, CurvePoint
    from longjudge.limits import LimitAdvice


def point_variants(
    point: CurvePoint | None, size: int, unit: str, advice: LimitAdvice | None, *, applies: bool
) -> list[str]:
    """The exact figures of one size, longest first."""
    name = f"{size:,} {unit}"
    if point is None:
        return [f"{name}: still to be worked out", f"{short(size)}: not yet"]
    counted = point.tokens
    low, high = tokens(counted.low), tokens(counted.high)
    about = f"~{tokens(counted.tokens)} tokens"
    banded = f"{about} ({low}-{high})" if low != high else about
    head = f"{name}: {plural(point.chunks, 'chunk')}"
    if not applies:
        return [f"{head} · {banded} · nothing to ask: no tool call", head]
    cost, cost_band = price_range(point.cost_usd, point.cost_usd_low, point.cost_usd_high)
    price = f"{cost} {cost_band}".rstrip()
    asked = f"{point.kept:,} kept · {point.to_ask:,} to ask"
    anew = f" · all anew ~{dollars(point.anew_usd)}" if point.kept and point.anew_usd else ""
    if advice is None or not point.to_ask:
        time = ""
    else:
        time = f" · about {duration_words(advice.expected)}"
        time += "" if advice.measured else " (a guess)"
    return [
        f"{head} · {banded} · {asked} · {price}{anew}{time}",
        f"{head} · {banded} · {asked} · {price}{time}",
        f"{head} · {about} · {asked} · {price}{time}",
        f"{head} · {about} · {asked} · {cost}",
        f"{head} · {asked} · {cost}",
        f"{short(size)}: {plural(point.chunks, 'chunk')} · {point.to_ask:,} to ask · {cost}",
        f"{short(size)}: {plural(point.chunks, 'chunk')} · {cost}",
    ]


def meaning_words(meaning: CurveMeaning | None, today: int, *, free: bool) -> str:
    """What the curve means, in a line; nothing where too little of it is known."""
    if meaning is None:
        return ""
    what = "price" if meaning.by_price else "tokens"
    goes = (
        "is for prompt and answer, which each chunk needs anew"
        if meaning.by_price
        else "are the prompt, which each chunk repeats"
    )
    said: list[str] = []
    if meaning.mostly_fixed is not None:
        said.append(f"up to {short(meaning.mostly_fixed)} most of the {what} {goes}")
    said.append(f"from {short(meaning.flat_from)} on larger chunks save less than 3 %")
    if meaning.dearer_from is not None:
        times = f"up to {meaning.dearer:.1f} times"
        rises = "the price rises again" if meaning.by_price else "they take more tokens again"
        why = ": the model charges more for long requests" if meaning.by_price else ""
        said.append(f"from {short(meaning.dearer_from)} on {rises}, {times}{why}")
    if meaning.spared >= WORTH_SAVING:
        share = f"{100 * meaning.spared:.0f} %"
        less = f"cost {share} less" if meaning.by_price else f"take {share} fewer tokens"
        said.append(f"{short(meaning.best)} would {less} than {short(today)}")
    else:
        above = max(100 * WORTH_SAVING, ceil(100 * meaning.above))
        does = "costs" if meaning.by_price else "takes"
        said.append(f"no size {does} over {above:.0f} % less than {short(today)}")
    if free:
        said.append("axis in tokens: the offline rules have no price")
    elif not meaning.by_price:
        said.append("axis in tokens: the model's price is unknown")
    return ("with nothing kept: " if meaning.kept else "") + " · ".join(said)
