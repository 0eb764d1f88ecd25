"""What has to be known before the numbers of a comparison are believed. Short and long words."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from longjudge.judges.offline import changed_words, unread_questions
from longjudge.prices import OFFLINE_MODEL
from longjudge.report.asked import questions_of_version
from longjudge.store import rubric_of_version
from longjudge.text import clean_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from longjudge.comparison.sides import Side
    from longjudge.store import Store

CANNOT_DIFFER = (
    "the offline rules do not read questions: these versions cannot differ here; a model is needed"
)
OTHER_SIZES = "different chunk sizes: flips are not about the rubric alone"


@dataclass(frozen=True, slots=True)
class Caveat:
    """A warning in full, and in words that fit a line of 78 cells; `more` says what it is not."""

    words: str
    brief: str
    more: str = ""

    @property
    def whole(self) -> str:
        """All that people are told."""
        return "; ".join(filter(None, (self.words, self.more)))


def caveats_of(one: Side, other: Side) -> Iterator[Caveat]:
    """What makes the same, or another, of less weight than it looks."""
    offline = [each.by.model == OFFLINE_MODEL for each in (one, other)]
    same_criteria = bool(one.criteria) and set(one.criteria) == set(other.criteria)
    unread = [(name, each.unread) for name, each in (("A", one), ("B", other)) if each.unread]
    if all(offline) and same_criteria and one.by.version != other.by.version:
        brief = "offline rules read no questions: versions cannot differ; use a model"
        yield Caveat(CANNOT_DIFFER, brief)
    elif unread:
        names = " and ".join(name for name, _ in unread)
        changed = tuple(dict.fromkeys(each for _, some in unread for each in some))
        brief = f"{names}: the offline rules do not read changed questions"
        yield Caveat(f"{names}: {changed_words(changed)}", brief, _shared_words(one, other))
    known = one.by.size is not None and other.by.size is not None
    if known and not one.by.same_size(other.by):
        yield Caveat(OTHER_SIZES, OTHER_SIZES)


def _shared_words(one: Side, other: Side) -> str:
    """Which of these questions are no difference of the sides, though no built-in rubric's."""
    if one.asked is None or other.asked is None:
        return ""
    was, now = one.asked.by_criterion, other.asked.by_criterion
    both = [
        each
        for each in one.unread
        if each in other.unread and each in was and was[each] == now.get(each)
    ]
    if not both:
        return ""
    alone = set(both) == {*one.unread, *other.unread}
    what = "it" if alone else f"that of {', '.join(clean_line(each, 60) for each in both)}"
    return f"{what} is the same in A and B: changed in both against the built-in rubric"


async def with_questions(side: Side, store: Store) -> Side:
    """A recorded side with what was asked, and what of it its judge did not read, where known.

    Raises:
        StoreError: the store cannot be read.
    """
    unread = await unread_of_version(store, side.by.model, side.by.version)
    asked = await questions_of_version(store, side.by.rubric, side.by.version)
    return replace(side, unread=unread, asked=asked)


async def unread_of_version(store: Store, model: str, version: str) -> tuple[str, ...]:
    """The criteria of a rubric's version whose changed question a judge does not read.

    Raises:
        StoreError: the store cannot be read.
    """
    if model != OFFLINE_MODEL:
        return ()
    rubric = await rubric_of_version(store, version)
    return await asyncio.to_thread(unread_questions, rubric) if rubric is not None else ()
