"""Token estimates without a tokenizer: one ratio per session, with a band.

The count is a regular expression over the text, which is within a few per cent of current
models on agent sessions; four characters a token is 40 % off. A ratio is measured on windows
drawn in proportion to size, so that the big events, which make up most of a session, count.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from math import sqrt
from operator import add
from statistics import fmean, pstdev
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from longjudge.sessions.model import Session

_TOKEN = re.compile(r"[A-Za-z]{1,6}|[0-9]{1,3}|[^\sA-Za-z0-9]|\s+")
_VERSION = re.compile(r"claude-(?:[a-z]+-)?(\d+)(?:-(\d{1,2}))?(?:-|$)")

DRAWS = 200
WINDOW_CHARS = 4_000
MARK_TOKENS = 14
"""Tokens of the mark before each event."""

OLD_TOKENIZER_FACTOR = 0.81
"""Models before Claude 4.7 need fewer tokens for the same text."""

MODEL_ERROR = 0.10
"""What the estimate may be off for a whole session, whatever the sample says."""

MAX_ERROR = 0.6
"""The widest that a band is, to either side."""


def count_tokens(text: str) -> int:
    """Estimated tokens of a text for a current model."""
    return sum(1 for _ in _TOKEN.finditer(text))


def model_factor(model: str) -> float:
    """How many tokens a model needs, as a factor on the estimate for current ones."""
    match = _VERSION.match(model)
    if match is None:
        return 1.0
    major, minor = int(match[1]), int(match[2] or 0)
    return OLD_TOKENIZER_FACTOR if (major, minor) < (4, 7) else 1.0


@dataclass(frozen=True, slots=True)
class TokenEstimate:
    """Expected tokens and the band that nine of ten chunks should fall in."""

    tokens: int
    low: int
    high: int

    def __add__(self, other: TokenEstimate) -> TokenEstimate:
        return TokenEstimate(
            self.tokens + other.tokens, self.low + other.low, self.high + other.high
        )


@dataclass(frozen=True, slots=True)
class TokenRatio:
    """Tokens per character of one session; `spread` is its relative deviation per window."""

    per_char: float
    spread: float

    def estimate(self, chars: int, events: int, prompt_tokens: int) -> TokenEstimate:
        """Tokens of a request about `events` events with `chars` characters of text.

        `prompt_tokens` is what the request holds beside the events.
        """
        text = chars * self.per_char
        fixed = prompt_tokens + events * MARK_TOKENS
        error = self._error(chars)
        return TokenEstimate(
            round(text + fixed),
            round(text * (1 - error) + fixed),
            round(text * (1 + error) + fixed),
        )

    def estimates(
        self, chars: Sequence[int], events: Sequence[int], prompt_tokens: int
    ) -> tuple[list[int], list[int], list[int]]:
        """`estimate` for many requests at once: expected tokens, lower and upper end of each."""
        # Written out, since a plan that follows a drag has thousands of chunks on every frame.
        model, sample = MODEL_ERROR**2, (1.64 * self.spread) ** 2
        errors = [
            sqrt(model + sample / (count / WINDOW_CHARS if count > WINDOW_CHARS else 1.0))
            for count in chars
        ]
        if model + sample > MAX_ERROR**2:
            errors = [min(MAX_ERROR, error) for error in errors]
        per_char = self.per_char
        texts = [count * per_char for count in chars]
        fixed = [prompt_tokens + count * MARK_TOKENS for count in events]
        low = [t * (1 - e) + more for t, e, more in zip(texts, errors, fixed, strict=True)]
        high = [t * (1 + e) + more for t, e, more in zip(texts, errors, fixed, strict=True)]
        return (
            list(map(round, map(add, texts, fixed))),
            list(map(round, low)),
            list(map(round, high)),
        )

    def _error(self, chars: int) -> float:
        windows = max(1.0, chars / WINDOW_CHARS)
        return min(MAX_ERROR, sqrt(MODEL_ERROR**2 + (1.64 * self.spread) ** 2 / windows))


def measure_ratio(session: Session, model: str) -> TokenRatio:
    """Measure a session's ratio on about `DRAWS` windows, evenly spaced over its characters.

    Reads the events concerned; the same session gives the same ratio.
    """
    index = session.index
    total = index.total_chars
    factor = model_factor(model)
    if not total:
        return TokenRatio(factor / 2.3, 0.3)
    ratios: list[float] = []
    draws = min(DRAWS, max(1, total // WINDOW_CHARS))
    for draw in range(draws):
        position = (2 * draw + 1) * total // (2 * draws)
        event = bisect_right(index.prefix, position) - 1
        text = session.text(event)
        start = max(0, position - index.prefix[event] - WINDOW_CHARS // 2)
        window = text[start : start + WINDOW_CHARS]
        ratios.append(count_tokens(window) / len(window))
    mean = fmean(ratios)
    spread = pstdev(ratios) / mean if len(ratios) > 1 and mean else 0.3
    return TokenRatio(mean * factor, spread)
