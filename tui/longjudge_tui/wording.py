"""How numbers and states read on the screen."""

from __future__ import annotations

from datetime import datetime
from math import ceil
from typing import TYPE_CHECKING

from rich.cells import cell_len, set_cell_size

from longjudge.states import ChunkState
from longjudge.text import clean_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from longjudge.estimate import Totals
    from longjudge.factors import ObservedFactor

STATE_GLYPHS: dict[ChunkState, str] = {
    ChunkState.QUEUED: "…",
    ChunkState.WAITING: "◷",
    ChunkState.RUNNING: "◐",
    ChunkState.RETRYING: "↻",
    ChunkState.CLEAN: "✓",
    ChunkState.FLAGGED: "⚑",
    ChunkState.GAP: "✗",
}

DISPUTED = "≠"
"""Stands at what a model called clean and the offline rules flag."""

_EIGHTHS = " ▏▎▍▌▋▊▉"
_VARIATION = str.maketrans("", "", "\ufe0e\ufe0f")


def line(text: str, limit: int = 300) -> str:
    """One line of foreign text, safe to show, without the marks that terminals measure apart."""
    return clean_line(text, limit).translate(_VARIATION)


def fit(text: str, width: int) -> str:
    """Exactly `width` cells of a text, an ellipsis where it is cut."""
    if width <= 0:
        return ""
    if cell_len(text) <= width:
        return set_cell_size(text, width)
    return set_cell_size(set_cell_size(text, width - 1).rstrip() + "…", width)


def widest(variants: Sequence[str], width: int) -> str:
    """The first variant that fits into `width` cells, else the last one cut."""
    for variant in variants:
        if cell_len(variant) <= width:
            return variant
    return fit(variants[-1], width)


def bar(share: float, cells: int) -> str:
    """A bar of block glyphs, `cells` long at a share of 1."""
    eighths = max(1, min(round(share * cells * 8), cells * 8))
    full, rest = divmod(eighths, 8)
    return ("█" * full + (_EIGHTHS[rest] if rest else "")).ljust(cells)


def size(count: int) -> str:
    """Bytes for people."""
    if count < 1000:
        return f"{count} B"
    if count < 1_000_000:
        return f"{count / 1000:.0f} kB"
    return f"{count / 1_000_000:.1f} MB"


def tokens(count: int) -> str:
    """Tokens for people."""
    if count >= 1_000_000:
        return f"{count / 1_000_000:.1f}M"
    return f"{count / 1000:.0f}k" if count >= 100_000 else f"{count / 1000:.1f}k"


def dollars(amount: float | None) -> str:
    """A price; what is unknown stays unknown."""
    if amount is None:
        return "price unknown"
    if 0 < amount < 0.0001:
        return "<$0.0001"
    if 0 < amount < 0.01:
        return f"${amount:.4f}"
    # Three digits show what a change of the chunk size does to a small price.
    return f"${amount:.3f}" if 0 < amount < 1 else f"${amount:.2f}"


def clock(seconds: float) -> str:
    """Minutes and seconds."""
    whole = int(seconds)
    if whole >= 3600:
        return f"{whole // 3600}:{whole // 60 % 60:02}:{whole % 60:02}"
    return f"{whole // 60}:{whole % 60:02}"


def moment(seconds: float) -> str:
    """A time as the clock on the wall shows it; a store may hold any number."""
    try:
        return datetime.fromtimestamp(seconds).strftime("%Y-%m-%d %H:%M")
    except (OverflowError, OSError, ValueError):
        return "at an unknown time"


def fault(error: str, name: str) -> str:
    """An error about a session without the session's path, which stands elsewhere."""
    return error.removeprefix(f"{name}: ")


def plural(count: int, word: str, several: str = "") -> str:
    """A count with its noun; `several` is its plural, where that is no "s" more."""
    return f"{count:,} {word}" if count == 1 else f"{count:,} {several or f'{word}s'}"


def calls_words(calls: int, saved: int, *, brief: bool = False) -> str:
    """How many questions were sent, and how many verdicts that were there needed none."""
    if not saved:
        return plural(calls, "call")
    return f"{plural(calls, 'call')}, {saved:,} saved{'' if brief else ' by the store'}"


def pause_words(left: float, note: str = "") -> str:
    """How long the provider lets nobody ask, and for what."""
    words = f"all wait {ceil(left)} s"
    return f"{words}: {line(note, 200)}" if note else words


def seen_words(observed: ObservedFactor) -> str:
    """How many times the estimate a model's tokens were."""
    return f"×{observed.factor:.2f} seen"


def plan_variants(
    totals: Totals,
    *,
    applies: bool,
    observed: ObservedFactor | None = None,
    why: str = "",
    in_batch: int = 0,
) -> list[str]:
    """The title of the chunk list, longest first; what a run would cost is in every one.

    `observed` is how the model's tokens turned out before, `why` the reason why there is something
    to ask. What is `in_batch` already is not asked live, and so is not in the price.
    """
    counted = totals.tokens
    low, high = tokens(counted.low), tokens(counted.high)
    band = f"({low[:-1] if low[-1] == high[-1] else low}-{high})"
    about = f"~{tokens(counted.tokens)}"
    name = f"CHUNKS {totals.chunks}"
    if not applies:
        nothing = "nothing to ask: no tool call"
        return [f"{name} · {about} tokens {band} · {nothing}", f"{name} · {nothing}"]
    in_batch = min(in_batch, totals.to_ask)
    to_ask = f"{totals.to_ask - in_batch} to ask"
    queued = f"{in_batch} in a batch" if in_batch else ""
    if queued:
        if in_batch == totals.to_ask:
            known = f"{name} · {totals.kept} kept · {queued}"
            longest = f"{name} · {about} tokens {band} · {totals.kept} kept · {queued}"
            return [longest, known, f"{name} · {queued}", f"{totals.chunks} · {queued}"]
        to_ask = f"{queued} · {to_ask}"
    cost, cost_band = price_range(*live_prices(totals, totals.to_ask - in_batch))
    about_cost = f"{cost} {cost_band}".rstrip()
    kept = f"{totals.kept} kept · {to_ask}"
    between = band[1:-1]
    cost_between = f"${cost_band[1:-1]}" if cost_band else cost
    seen = []
    if observed is not None and totals.to_ask:
        words = seen_words(observed)
        seen = [
            f"{name} · {about} tokens {band} {words} · {kept} · {about_cost}",
            f"{name} · {between} tokens {words} · {kept} · {cost_between}",
            f"{name} · {between} {words} · {kept} · {cost_between}",
        ]
    told = [
        f"{name} · {about} tokens {band} · {kept} · {about_cost} · {why}",
        f"{name} · {between} tokens · {kept} · {cost_between} · {why}",
        f"{name} · {between} · {kept} · {cost_between} · {why}",
    ]
    return [
        *(told if why and totals.to_ask else []),
        *seen,
        f"{name} · {about} tokens {band} · {kept} · {about_cost}",
        f"{name} · {between} tokens · {kept} · {cost_between}",
        f"{name} · {between} · {kept} · {cost_between}",
        f"{name} · {kept} · {cost_between}",
        f"{name} · {kept} · {cost}",
        f"{name} · {to_ask} · {cost}",
        *([f"{name} · {queued} · {cost} live"] if queued else []),
        f"{name} · {cost}",
        f"{totals.chunks} · {cost}",
    ]


def live_prices(totals: Totals, count: int) -> tuple[float | None, float | None, float | None]:
    """What so many of a plan's questions cost live, about; at least, and at most."""
    share = min(1.0, count / totals.to_ask) if totals.to_ask else 0.0
    prices = (totals.cost_usd, totals.cost_usd_low, totals.cost_usd_high)
    cost, low, high = (None if each is None else each * share for each in prices)
    return cost, low, high


def price_range(
    cost_usd: float | None, lowest: float | None, highest: float | None
) -> tuple[str, str]:
    """An estimated price, and between which it lies, where that is a difference."""
    cost = dollars(cost_usd)
    if not cost_usd or cost.startswith("<"):
        return cost, ""
    low, high = dollars(lowest), dollars(highest)
    if low == high or low.startswith("<"):
        return f"~{cost}", ""
    return f"~{cost}", f"({low[1:]}-{high[1:]})"
