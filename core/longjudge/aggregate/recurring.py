"""Findings of the same criterion with similar notes: what is found over and over, and where.

Only the wording of a note and where it was found stay in memory, and neither the note nor a quote:
whoever adds findings numbers them, and looks up the few that are shown. An event that several
judgments of a session find the same about, by another chunk size or model, is found once.
"""

from __future__ import annotations

from array import array
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from longjudge.aggregate.similar import group_similar
from longjudge.aggregate.wording import Words, words_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MOST_EXAMPLES: Final = 3

_SESSION_BIT, _NO_EVENT_BIT, _EVENT_BIT = 40, 39, 8
_MOST_EVENT, _MOST_SAME = (1 << 31) - 1, (1 << 8) - 1


class Found(NamedTuple):
    """A finding as far as it is compared; `wrong` where a person marked it so."""

    criterion: str
    note: str
    event: int | None
    wrong: bool = False


@dataclass(frozen=True, slots=True)
class Recurrence:
    """Similar findings; `count` of them in so many `sessions`.

    `note` is the number of the finding whose note stands for all, the newest one with the most
    central wording. `examples` are numbers of findings, of different sessions first.
    """

    criterion: str
    count: int
    sessions: int
    note: int
    examples: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Recurrences:
    """What recurs, most often first; `alone` counts findings that no other one is similar to.

    `marked_wrong` are in none of them.
    """

    groups: tuple[Recurrence, ...]
    alone: int
    marked_wrong: int


class Recurring:
    """Collects findings, in any order, and groups them."""

    def __init__(self) -> None:
        # By wording the numbers of findings, each followed by the place that tells it apart: most
        # wordings are met once, and an object for each would be most of what is in memory.
        self._criteria: dict[str, dict[Words, array[int]]] = {}
        self._wrong: set[tuple[str, int]] = set()
        self._without_event = 0

    def add(self, session: int, findings: Iterable[Found], first: int) -> None:
        """Add the findings of one judgment; they are numbered from `first`, the newest lowest.

        Args:
            session: the session's number, below 2**24.
            findings: all findings of the judgment, in their order.
            first: the number of the first one, below 2**63.
        """
        met: Counter[tuple[str, int | None, Words]] = Counter()
        for number, found in enumerate(findings, first):
            words = words_of(found.note or found.criterion)
            same = found.criterion, found.event, words
            place = self._place(session, found.event, met[same])
            met[same] += 1
            if found.wrong:
                self._wrong.add((found.criterion, place))
                continue
            wordings = self._criteria.setdefault(found.criterion, {})
            if words in wordings:
                wordings[words].extend((number, place))
            else:
                wordings[words] = array("Q", (number, place))

    def result(self) -> Recurrences:
        """What recurs among all that was added."""
        found: list[Recurrence] = []
        for criterion, wordings in self._criteria.items():
            counts = {words: len(set(each[1::2])) for words, each in wordings.items()}
            found += (
                _recurrence(criterion, [wordings[words] for words in group])
                for group in group_similar(counts)
            )
        groups = [each for each in found if each.count > 1]
        groups.sort(key=lambda each: (-each.count, -each.sessions, each.criterion, each.note))
        return Recurrences(tuple(groups), len(found) - len(groups), len(self._wrong))

    def _place(self, session: int, event: int | None, same: int) -> int:
        """What tells a finding apart; nothing does one without an event.

        `same` counts what the judgment has found before with the same words about the event.
        """
        if event is None:
            self._without_event += 1
            return session << _SESSION_BIT | 1 << _NO_EVENT_BIT | self._without_event
        here = (event & _MOST_EVENT) << _EVENT_BIT | min(same, _MOST_SAME)
        return session << _SESSION_BIT | here


def _recurrence(criterion: str, wordings: Sequence[array[int]]) -> Recurrence:
    """What similar findings come to; the first wording is the one that stands for them."""
    found = sorted(pair for each in wordings for pair in zip(each[::2], each[1::2], strict=True))
    newest: dict[int, int] = {}
    for number, place in found:
        newest.setdefault(place, number)
    of_session: dict[int, int] = {}
    for place, number in newest.items():
        of_session.setdefault(place >> _SESSION_BIT, number)
    first = list(of_session.values())[:MOST_EXAMPLES]
    further = [number for number in newest.values() if number not in first]
    return Recurrence(
        criterion=criterion,
        count=len(newest),
        sessions=len(of_session),
        note=min(wordings[0][::2]),
        examples=(*first, *further[: MOST_EXAMPLES - len(first)]),
    )
