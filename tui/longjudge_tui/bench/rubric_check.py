"""What is wrong with a rubric that is being typed, and what judging by it would ask and cost."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from longjudge.errors import LongjudgeError
from longjudge.judges.offline import offline_caveat
from longjudge.keys import KeyMaker
from longjudge.rubric import builtin_rubrics, check_rubric_text, load_rubric
from longjudge.text import clean_line
from longjudge.toml_lines import MAX_TOML_BYTES, line_of
from longjudge_tui.bench.outlook import estimator_for

if TYPE_CHECKING:
    from collections.abc import Container, Sequence
    from pathlib import Path

    from longjudge.estimate import Totals
    from longjudge.judges.base import Judge
    from longjudge.rubric import Rubric
    from longjudge_tui.bench.outlook import Outlook

UNREAD_IN_BRIEF = "the offline rules read no changed question"

_HERE = "here"
_PLACE = re.compile(rf"{_HERE}(?::(\d+))?: (?:warning: )?(.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong, or only worth a word (`warning`); `line` from 1, 0 where it has none.

    `brief` says the same where the words are cut; empty where nothing shorter does.
    """

    line: int
    words: str
    warning: bool = False
    brief: str = ""


@dataclass(frozen=True, slots=True)
class Checked:
    """What a text is: a rubric, or faults. `refusal` says why the judge cannot judge by it."""

    text: str
    rubric: Rubric | None
    faults: tuple[Fault, ...] = ()
    refusal: str = ""

    @property
    def wrong(self) -> int:
        """How many faults keep it from being a rubric."""
        return sum(not each.warning for each in self.faults)


def check_text(text: str, judge: Judge, path: Path | None) -> Checked:
    """Check a text as `rubrics check` does; a file made to be slow takes seconds. Blocks.

    `path` is the file it is to be saved to, None for a built-in one.
    """
    if len(text.encode("utf-8", "replace")) > MAX_TOML_BYTES:
        return Checked(text, None, (Fault(0, f"larger than {MAX_TOML_BYTES} bytes; shorten it"),))
    rubric, said = check_rubric_text(text, _HERE)
    if rubric is None:
        return Checked(text, None, tuple(map(_fault, said)))
    return Checked(text, rubric, _warnings(rubric, text, judge, path), _refusal(rubric, judge))


def _fault(said: str) -> Fault:
    found = _PLACE.fullmatch(said)
    if found is None:
        return Fault(0, clean_line(said, 500))
    return Fault(int(found[1] or 0), clean_line(found[2], 500))


def _warnings(rubric: Rubric, text: str, judge: Judge, path: Path | None) -> tuple[Fault, ...]:
    """What is allowed and probably not meant."""
    said: list[Fault] = []
    if rubric.name in builtin_rubrics() and (path or rubric != load_rubric(rubric.name)):
        line = line_of(text, ("name",)) or 0
        words = f"{rubric.name} is built in; another name lets both be used"
        said.append(
            Fault(
                line, words, True, f"{rubric.name} is a built-in rubric's name; another keeps both"
            )
        )
    asked: dict[str, str] = {}
    for number, criterion in enumerate(rubric.criteria):
        question = " ".join(criterion.question.split())
        first = asked.setdefault(question.casefold(), criterion.id)
        words = "" if question.endswith("?") else "its question does not end in a question mark"
        words = words if first == criterion.id else f"asks the same as {first}"
        if words:
            line = line_of(text, ("criteria", number, "question")) or 0
            said.append(Fault(line, f"{criterion.id}: {words}", True))
    if caveat := offline_caveat(judge, rubric):
        said.append(Fault(0, caveat, True, UNREAD_IN_BRIEF))
    return tuple(said)


def _refusal(rubric: Rubric, judge: Judge) -> str:
    try:
        judge.check_rubric(rubric)
    except LongjudgeError as error:
        return clean_line(str(error), 500)
    return ""


@dataclass(frozen=True, slots=True)
class EditPrice:
    """What judging a plan by an edited rubric would ask; `keys` are those of its chunks."""

    outlook: Outlook
    rubric: Rubric
    judge: Judge
    totals: Totals
    keys: Sequence[str]
    question_usd: Sequence[float | None]

    def is_of(self, outlook: Outlook, judge: Judge) -> bool:
        """Whether it is about the plan and the judge that stand now."""
        return self.outlook.plan is outlook.plan and self.judge is judge

    @classmethod
    def of(
        cls, outlook: Outlook, rubric: Rubric, judge: Judge, redactor: str, kept: Container[str]
    ) -> EditPrice:
        """Estimate it; a long session takes longer than a frame. Blocks."""
        keys = list(KeyMaker(judge, rubric, redactor=redactor).keys(outlook.plan))
        estimator = estimator_for(outlook.estimator, judge, rubric)
        costs = [
            estimator.cost(estimator.chunk(outlook.plan, position).tokens)
            for position in range(len(outlook.plan))
        ]
        return cls(outlook, rubric, judge, estimator.totals(outlook.plan, keys, kept), keys, costs)
