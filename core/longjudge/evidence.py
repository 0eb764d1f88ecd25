"""Finds a judge's quote again in what it read, and says where in the session that stands.

A quote is looked for as it is, then folded: case, white space, Unicode forms, typographic marks and
invisible characters make no difference, and each folded character knows which one it comes from.
Offsets always are those of the event's original text, whatever of it was altered on the way out.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Protocol

from longjudge.errors import SessionError
from longjudge.fence import neutralise
from longjudge.prompt import sent_event
from longjudge.quotes import Quote, count_marks, fold, fold_marks
from longjudge.result import ResultFinding

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from longjudge.chunks import Chunk
    from longjudge.sessions.model import Session
    from longjudge.verdict import Finding

BLOCK = 256
"""Characters between two places at which it is known how many folded ones came before."""

SHORTENED_CHARS = 4_000
"""The parts of a shortened quote stand within so many folded characters, or are not one quote."""

MOST_STARTS = 20
"""So many places are tried as the start of a shortened quote."""

MOST_EVENTS = 25
"""So many other events are searched for a quote that was shortened; the first holds any other."""

MOST_TRIES = 500
"""So many for all the shortened quotes from a chunk together."""


class SentText(Protocol):
    """A text as it is sent, with the way back from its stretches to those of the original."""

    @property
    def text(self) -> str:
        """What is sent."""
        ...

    def to_original(self, start: int, end: int) -> tuple[int, int]:
        """A stretch of what is sent as a stretch of the original."""
        ...


@dataclass(frozen=True, slots=True)
class _Verbatim:
    """A text that is sent as it is."""

    text: str

    def to_original(self, start: int, end: int) -> tuple[int, int]:
        return start, end


class QuotedText:
    """What was sent of one event, prepared once for any number of quotes.

    `offset` is where the text begins in the whole event.
    """

    def __init__(self, sent: SentText | str, offset: int = 0) -> None:
        self._source: SentText = _Verbatim(sent) if isinstance(sent, str) else sent
        self._text = self._source.text
        self._offset = offset

    def find(self, quote: Quote | str) -> tuple[int, int] | None:
        """Where a quote stands, as character offsets `(start, end)` into the event, or None."""
        wanted = Quote.of(quote) if isinstance(quote, str) else quote
        found = self._exactly(wanted) or self._folded_to(wanted) or self._shortened(wanted)
        if found is None:
            return None
        start, end = self._source.to_original(*found)
        return self._offset + start, self._offset + end

    @cached_property
    def folded(self) -> str:
        """The text as quotes are compared with it."""
        return fold(self._sent)

    @cached_property
    def _sent(self) -> str:
        sent = neutralise(self._text)
        return self._text if sent == self._text else sent

    def _exactly(self, quote: Quote) -> tuple[int, int] | None:
        if not quote.exact:
            return None
        start = self._text.find(quote.exact)
        if start < 0 and self._sent is not self._text:
            start = self._sent.find(quote.exact)
        return None if start < 0 else (start, start + len(quote.exact))

    def _folded_to(self, quote: Quote) -> tuple[int, int] | None:
        for needle in quote.needles:
            if (start := self.folded.find(needle)) >= 0:
                return self._stretch(start, start + len(needle))
        return None

    def _shortened(self, quote: Quote) -> tuple[int, int] | None:
        """Where all parts of a shortened quote stand one after the other, close together."""
        if not quote.parts:
            return None
        first, *others = quote.parts
        start = self.folded.find(first)
        for _ in range(MOST_STARTS):
            if start < 0:
                return None
            end, last = start + len(first), start + SHORTENED_CHARS
            for part in others:
                here = self.folded.find(part, end, last)
                if here < 0:
                    break
                end = here + len(part)
            else:
                return self._stretch(start, end)
            start = self.folded.find(first, start + 1)
        return None

    def _stretch(self, start: int, end: int) -> tuple[int, int]:
        """A stretch of the folded text, blank at neither end, as one of what was sent."""
        folded = self.folded
        block = start // BLOCK
        first = self._marks_of_folded[block] + count_marks(folded[block * BLOCK : start])
        last = first + count_marks(folded[start:end]) - 1
        return self._place_of(first), self._place_of(last) + 1

    @cached_property
    def _marks_before(self) -> list[int]:
        """How many folded characters that are not blank come before each block of the text."""
        return _running(fold_marks, self._sent)

    @cached_property
    def _marks_of_folded(self) -> list[int]:
        """The same for each block of the folded text."""
        return _running(count_marks, self.folded)

    def _place_of(self, mark: int) -> int:
        """The character that a folded one comes from, which is the `mark`-th that is not blank."""
        block = bisect_right(self._marks_before, mark) - 1
        seen = self._marks_before[block]
        for place in range(block * BLOCK, len(self._sent)):
            seen += fold_marks(self._sent[place])
            if seen > mark:
                return place
        raise IndexError(mark)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a quote stands: which of the chunk's events, from 1, and where in its text."""

    event: int
    start: int
    end: int


class QuotedChunk:
    """The `count` events that a judge read together; `read` hands out each text, from 1.

    It gives None for one that cannot be read any more. Every text is read at most once.
    """

    def __init__(self, count: int, read: Callable[[int], QuotedText | None]) -> None:
        self._count = count
        self._read = read
        self._texts: dict[int, QuotedText | None] = {}
        self._only: dict[tuple[str, ...], int | None] = {}
        self._tries = MOST_TRIES

    def find(self, named: int | None, quote: str) -> Place | None:
        """Where a quote stands: in the event that was named, else in the nearest that holds it."""
        wanted = Quote.of(quote)
        here = named if named is not None and 1 <= named <= self._count else None
        if here is not None and (place := self._in(here, wanted)):
            return place
        near = named or 1
        for needle in wanted.telling:
            holding = set(self._holding(needle)) - {here}
            nearest = sorted(holding, key=lambda each: (abs(each - near), each))
            most = min(MOST_EVENTS, self._tries) if wanted.parts else MOST_EVENTS
            for event in nearest[:most]:
                self._tries -= bool(wanted.parts)
                if place := self._in(event, wanted):
                    return place
        only = self._only_one_with(wanted.short)
        return None if only is None else self._in(only, wanted)

    def _in(self, event: int, quote: Quote) -> Place | None:
        text = self._text(event)
        found = text.find(quote) if text else None
        return Place(event, *found) if found else None

    def _text(self, event: int) -> QuotedText | None:
        if event not in self._texts:
            self._texts[event] = self._read(event)
        return self._texts[event]

    @cached_property
    def _joined(self) -> tuple[str, list[int]]:
        """All events' folded texts with a blank line between them, and where each begins."""
        texts = [self._text(event) for event in range(1, self._count + 1)]
        folded = [text.folded if text else "" for text in texts]
        # No folded text has a line end, so that nothing is found across two events.
        starts = accumulate((len(each) + 1 for each in folded[:-1]), initial=0)
        return "\n".join(folded), list(starts)

    def _only_one_with(self, forms: tuple[str, ...]) -> int | None:
        """The event that holds a short quote as words of its own, where no other does."""
        if forms not in self._only:
            holding = {event for form in forms for event in self._holding_words(form)}
            self._only[forms] = holding.pop() if len(holding) == 1 else None
        return self._only[forms]

    def _holding_words(self, words: str) -> Iterator[int]:
        joined, starts = self._joined
        at = joined.find(words)
        while at >= 0:
            end = at + len(words)
            event = bisect_right(starts, at)
            if _within_word(joined, at) or _within_word(joined, end):
                at = joined.find(words, at + 1)
            else:
                yield event
                at = joined.find(words, starts[event]) if event < len(starts) else -1

    def _holding(self, needle: str) -> list[int]:
        """The events that hold a folded text; each is looked at once, however often it does."""
        joined, starts = self._joined
        events: list[int] = []
        at = joined.find(needle)
        while at >= 0:
            event = bisect_right(starts, at)
            events.append(event)
            at = joined.find(needle, starts[event]) if event < len(starts) else -1
        return events


def _within_word(text: str, at: int) -> bool:
    """Whether a place has a letter or digit on either side."""
    return text[max(0, at - 1) : at].isalnum() and text[at : at + 1].isalnum()


def _running(count: Callable[[str], int], text: str) -> list[int]:
    """How much of what is counted comes before each block of a text, and in all of it."""
    blocks = (text[at : at + BLOCK] for at in range(0, len(text), BLOCK))
    return list(accumulate(map(count, blocks), initial=0))


def place_findings(
    session: Session, chunk: Chunk, findings: Sequence[Finding], *, redacted: bool
) -> tuple[ResultFinding, ...]:
    """Put the findings of a chunk's verdict in their places in the session, as it is now.

    `redacted` says that the judge read the texts without their secrets.
    """
    count = chunk.last - chunk.first + 1

    def read(number: int) -> QuotedText | None:
        try:
            sent = sent_event(session, chunk.first + number - 1, redact=redacted)
        except SessionError:
            # The file does not hold it any more.
            return None
        piece = chunk.piece
        if piece is None:
            return QuotedText(sent)
        return QuotedText(sent.piece(piece.start, piece.end), piece.start)

    texts = QuotedChunk(count, read)
    return tuple(_placed(chunk, count, texts, finding) for finding in findings)


def _placed(chunk: Chunk, count: int, texts: QuotedChunk, finding: Finding) -> ResultFinding:
    named = finding.event
    if named is not None and not 1 <= named <= count:
        named_event = None
    else:
        named_event = None if named is None else chunk.first + named - 1
    place = texts.find(named, finding.quote) if finding.quote else None
    found_in = chunk.first + place.event - 1 if place else None
    return ResultFinding(
        part=chunk.part,
        criterion=finding.criterion,
        note=finding.note,
        event=named_event if found_in is None else found_in,
        quote=finding.quote,
        verified=place is not None,
        start=place.start if place else None,
        end=place.end if place else None,
        named_event=named_event,
        corrected=place is not None and found_in != named_event,
    )


def find_quote(text: str, quote: str) -> tuple[int, int] | None:
    """Where one quote stands in a text; see `QuotedText.find`."""
    return QuotedText(text).find(quote)
