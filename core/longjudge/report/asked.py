"""What a rubric asked, for whoever reads a report and has no such rubric at hand."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from longjudge.redaction import redacted_text
from longjudge.report.markdown import fenced, inline, rubric_words
from longjudge.rubric import builtin_rubrics, load_rubric
from longjudge.store import rubric_of_version

if TYPE_CHECKING:
    from longjudge.rubric import Rubric
    from longjudge.store import Store

QUESTION_CHARS: Final = 4_000
"""No question of a rubric is longer."""

NOT_KEPT: Final = "its text is not kept, so its questions cannot be shown"


@dataclass(frozen=True, slots=True)
class Questions:
    """What reaches the judge of a rubric: each criterion with its question, the instructions."""

    criteria: tuple[tuple[str, str], ...]
    instructions: str = ""

    @property
    def by_criterion(self) -> dict[str, str]:
        """The questions by criterion, in the order of the rubric."""
        return dict(self.criteria)

    @classmethod
    def of(cls, rubric: Rubric) -> Questions:
        """Those of a rubric."""
        return cls(tuple((each.id, each.question) for each in rubric.criteria), rubric.instructions)

    def redacted(self) -> Questions:
        """The same without the secrets in it."""
        criteria = tuple((name, redacted_text(text)) for name, text in self.criteria)
        return Questions(criteria, redacted_text(self.instructions))


async def questions_of_version(store: Store, name: str, version: str) -> Questions | None:
    """What a version asked, as the store noted it, or a built-in rubric is; None where neither.

    Raises:
        StoreError: the store cannot be read.
    """
    rubric = await rubric_of_version(store, version)
    if rubric is None:
        rubric = await asyncio.to_thread(_built_in, name, version)
    return Questions.of(rubric) if rubric is not None else None


def asked_markdown(name: str, version: str, asked: Questions | None) -> list[str]:
    """The section of a report of one judgment."""
    lines = ["## What was asked", ""]
    if asked is None:
        return [*lines, f"Rubric: {rubric_words(name, version)}; {NOT_KEPT}."]
    lines += [f"Rubric: {rubric_words(name, version)}. Of each part it asks:", ""]
    return lines + _all_of(asked)


def asked_of_both(
    one: tuple[str, str, Questions | None], other: tuple[str, str, Questions | None]
) -> list[str]:
    """The section of a report of two judgments; a side is a name, a version and what it asked."""
    lines = ["## What was asked", ""]
    for label, (name, version, asked) in (("A", one), ("B", other)):
        unknown = f"; {NOT_KEPT}" if asked is None else ""
        lines.append(f"- {label}: {rubric_words(name, version)}{unknown}")
    before, after = one[2], other[2]
    if before is None or after is None:
        known = before or after
        if known is not None:
            only = "A" if known is before else "B"
            lines += ["", f"{only} was asked:", "", *_all_of(known)]
        return lines
    if before == after:
        return [*lines, "", "Both were asked the same:", "", *_all_of(before)]
    return [*lines, "", *_side_by_side(before, after)]


def _all_of(asked: Questions) -> list[str]:
    lines = [_question(each, text) for each, text in asked.criteria]
    if asked.instructions.strip():
        lines += ["", "With these instructions:", "", *fenced(asked.instructions.strip("\n"))]
    return lines


def _side_by_side(before: Questions, after: Questions) -> list[str]:
    lines = [_difference(before, after), ""]
    for each in dict.fromkeys([*before.by_criterion, *after.by_criterion]):
        was, now = before.by_criterion.get(each), after.by_criterion.get(each)
        if was is not None and was == now:
            lines.append(_question(each, was))
            continue
        lines.append(f"- **{inline(each)}**, which differs")
        lines += [f"  - {label}: {_told(text)}" for label, text in (("A", was), ("B", now))]
    if before.instructions != after.instructions:
        for label, text in (("A", before.instructions), ("B", after.instructions)):
            told = fenced(text.strip("\n")) if text.strip() else ["None."]
            lines += ["", f"Instructions of {label}:", "", *told]
    return lines


def _difference(before: Questions, after: Questions) -> str:
    was, now = before.by_criterion, after.by_criterion
    names = dict.fromkeys([*was, *now])
    differ = [inline(each) for each in names if was.get(each) != now.get(each)]
    if before.instructions != after.instructions:
        differ.append("the instructions")
    if not differ:
        return "The same is asked, in another order:"
    return f"What differs: {', '.join(differ)}."


def _question(name: str, question: str) -> str:
    return f"- **{inline(name)}**: {_told(question)}"


def _told(question: str | None) -> str:
    return "not asked" if question is None else inline(question.strip(), QUESTION_CHARS)


def _built_in(name: str, version: str) -> Rubric | None:
    rubric = load_rubric(name) if name in builtin_rubrics() else None
    return rubric if rubric is not None and rubric.version == version else None
