"""A text with its secrets replaced, and the way back from what is sent to what was there."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Replacement:
    """One secret: characters `start` to `end` of the original text, and what stands for it."""

    start: int
    end: int
    kind: str
    placeholder: str


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text and the secrets in it, in order and without overlaps; `text` is what is sent."""

    original: str
    replacements: tuple[Replacement, ...] = ()
    text: str = field(init=False)
    _starts: tuple[int, ...] = field(init=False, repr=False, compare=False)
    """Where each placeholder starts in `text`."""

    def __post_init__(self) -> None:
        parts: list[str] = []
        starts: list[int] = []
        done = length = 0
        for each in self.replacements:
            parts += (self.original[done : each.start], each.placeholder)
            length += each.start - done
            starts.append(length)
            length += len(each.placeholder)
            done = each.end
        text = "".join((*parts, self.original[done:])) if parts else self.original
        object.__setattr__(self, "text", text)
        object.__setattr__(self, "_starts", tuple(starts))

    def to_original(self, start: int, end: int) -> tuple[int, int]:
        """The stretch of the original that a stretch of `text` stands for.

        One that touches a placeholder covers the whole secret.
        """
        first = self._back(start, at_end=False)
        return first, first if end <= start else self._back(end, at_end=True)

    def from_original(self, start: int, end: int) -> tuple[int, int]:
        """The stretch of `text` that stands for a stretch of the original, placeholders whole."""
        first = self._forth(start, at_end=False)
        return first, first if end <= start else self._forth(end, at_end=True)

    def piece(self, start: int, end: int) -> Redacted:
        """The same for a stretch of the original, as if it stood alone.

        The whole placeholder belongs to the stretch in which the secret starts; what reaches
        over from the stretch before is left out, so that the texts of neighbours, put one after
        the other, are the whole text.
        """
        length = len(self.original)
        start, end = max(0, min(start, length)), max(0, min(end, length))
        inside: list[Replacement] = []
        begin = bisect_right(self.replacements, start, key=lambda each: each.end)
        stop = bisect_left(self.replacements, end, key=lambda each: each.start)
        for each in self.replacements[begin:stop]:
            # Of a secret that began before, nothing at all is left: an empty placeholder.
            placeholder = each.placeholder if each.start >= start else ""
            first, last = max(each.start, start) - start, min(each.end, end) - start
            inside.append(Replacement(first, last, each.kind, placeholder))
        return Redacted(self.original[start:end], tuple(inside))

    def _forth(self, offset: int, *, at_end: bool) -> int:
        """Where an offset into the original lies in `text`; inside a secret, at one of its ends."""
        number = bisect_right(self.replacements, offset, key=lambda each: each.start) - 1
        if at_end and number >= 0 and self.replacements[number].start == offset:
            number -= 1
        if number < 0:
            return offset
        each, start = self.replacements[number], self._starts[number]
        if offset >= each.end:
            return start + len(each.placeholder) + offset - each.end
        return start + len(each.placeholder) if at_end else start

    def _back(self, offset: int, *, at_end: bool) -> int:
        """Where an offset into `text` lies in the original; inside a secret, at one of its ends."""
        before = bisect_left if at_end else bisect_right
        number = before(self._starts, offset) - 1
        if number < 0:
            return offset
        each, past = self.replacements[number], offset - self._starts[number]
        beyond = past - len(each.placeholder)
        if beyond >= 0:
            return each.end + beyond
        return each.end if at_end else each.start


def unredacted(text: str) -> Redacted:
    """A text that is sent as it is."""
    return Redacted(text)
