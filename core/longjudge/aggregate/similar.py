"""Which wordings are similar: more than half of the words of both together are words of both.

Each wording joins the most similar group, by the group's first wording, or begins one. The common
wordings come first, so that the groups do not depend on the order in which they were met. Only
groups that share one of the rarer half of its words can be similar, and of these only so many are
compared: the work grows with the number of wordings, not with its square.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from longjudge.aggregate.wording import Words

MOST_COMPARED: Final = 100
"""With so many groups a wording is compared, those that share its rarest words first."""

_BITS: Final = 128


def group_similar(counts: Mapping[Words, int]) -> list[list[Words]]:
    """Wordings in groups of similar ones, in each the most central one first.

    Args:
        counts: how often each wording was met.
    """
    frequency = Counter(word for words in counts for word in words)
    rarest_first = sorted(frequency, key=lambda word: (frequency[word], word))
    rank = {word: number for number, word in enumerate(rarest_first)}

    def typical(words: Words) -> float:
        return sum(map(frequency.__getitem__, words)) / len(words)

    groups = _Groups()
    for words in sorted(counts, key=lambda words: (-counts[words], -typical(words), words)):
        # What has more than half in common has at least one of these in common.
        groups.add(words, sorted(words, key=rank.__getitem__)[: (len(words) + 1) // 2])
    return [_central_first(group, counts) for group in groups.groups]


class _Groups:
    """The groups so far, and which of them begin with a wording that has a word."""

    def __init__(self) -> None:
        self.groups: list[list[Words]] = []
        self._bits: list[int] = []
        self._sizes: list[int] = []
        self._with: dict[str, list[int]] = {}

    def add(self, words: Words, rare: Iterable[str]) -> None:
        """Add a wording to the group that is most similar, the earliest of equals, or begin one."""
        bits = 0
        for word in words:
            bits |= 1 << hash(word) % _BITS
        best, most, own = None, 0.5, set(words)
        for number in self._candidates(bits, len(words), rare):
            both = len(own.intersection(self.groups[number][0]))
            share = both / (len(words) + self._sizes[number] - both)
            if share > most or (share == most and best is not None and number < best):
                best, most = number, share
        if best is not None:
            self.groups[best].append(words)
            return
        for word in rare:
            self._with.setdefault(word, []).append(len(self.groups))
        self.groups.append([words])
        self._bits.append(bits)
        self._sizes.append(len(words))

    def _candidates(self, bits: int, size: int, rare: Iterable[str]) -> list[int]:
        """The groups that are near enough to be looked at word by word.

        Words that fall on the same bit are taken for equal, so that no similar one is left out.
        """
        found: list[int] = []
        all_bits, sizes, left = self._bits, self._sizes, MOST_COMPARED
        spare = size - bits.bit_count()
        for word in rare:
            numbers = self._with.get(word, ())[:left]
            left -= len(numbers)
            found += [
                number
                for number in numbers
                if 3 * ((bits & all_bits[number]).bit_count() + spare) > size + sizes[number]
            ]
        return found


def _central_first(group: list[Words], counts: Mapping[Words, int]) -> list[Words]:
    """The wording that differs least from all others together stands first.

    A word speaks for a wording as often as others of the group have it, and against it as often
    as they do not.
    """
    if len(group) == 1:
        return group
    total = sum(counts[words] for words in group)
    having: Counter[str] = Counter()
    for words in group:
        for word in words:
            having[word] += counts[words]

    def standing(words: Words) -> int:
        return sum(2 * having[word] - total for word in words)

    central = min(group, key=lambda words: (-standing(words), -counts[words], words))
    return [central, *(words for words in group if words != central)]
