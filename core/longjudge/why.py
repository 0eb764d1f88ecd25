"""Why the store does not answer for a chunk: which parts of its verdict's key are new."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from longjudge.store import upkeep

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from longjudge.store import Origin, Store

TEXT = "text"
"""The part that is new where the store holds no verdict about a chunk's text at all."""

LOOKUP = 200
"""Texts of one look-up; the event loop has a turn after each."""

_WORDS = {
    TEXT: "text",
    "parameters": "request parameters",
    "prompt": "prompt template",
    "rendering": "rendering of events",
}


async def new_parts(
    store: Store, asked: Origin, digests: Mapping[int, str]
) -> dict[int, tuple[str, ...]]:
    """The parts of the keys that are new, by position.

    `digests` are those of the chunks without a verdict, hexadecimal; `asked` is the rest of their
    keys. Compared with is the nearest verdict about the same text, the newest of equals.

    Raises:
        StoreError: the store cannot be read.
    """
    texts = list(dict.fromkeys(digests.values()))
    nearest: dict[str, tuple[str, ...]] = {}
    for start in range(0, len(texts), LOOKUP):
        found = await upkeep.origins(store, texts[start : start + LOOKUP])
        nearest |= {text: _nearest(asked, origins) for text, origins in found.items()}
    return {position: nearest.get(text, (TEXT,)) for position, text in digests.items()}


def _nearest(asked: Origin, found: Sequence[Origin]) -> tuple[str, ...]:
    """What keeps the nearest verdict about a text from being used."""
    differing = ((asked.differs(other), -other.created) for other in found)
    # One of the very same origin is not used because it does not read: as good as none.
    return tuple(min(differing, key=lambda each: (len(each[0]), each[1]))[0]) or (TEXT,)


def new_words(parts: Sequence[str]) -> str:
    """`new rubric`, `new model and endpoint`."""
    *words, last = [_WORDS.get(part, part) for part in parts]
    return f"new {', '.join(words)} and {last}" if words else f"new {last}"


def most_common(words: Iterable[str]) -> str:
    """Each reason with how many chunks have it, the most common first: `3 new rubric; 1 new text`.

    Without a number where all have the same.
    """
    counted = Counter(words).most_common()
    if len(counted) == 1:
        return counted[0][0]
    return "; ".join(f"{count:,} {reason}" for reason, count in counted)
