"""The judge that needs no model: fixed rules, no key, no network, no cost."""

from __future__ import annotations

import asyncio
from functools import cache
from hashlib import sha256
from typing import TYPE_CHECKING

import msgspec

from longjudge.errors import RubricError
from longjudge.judges.base import Answer, Stop
from longjudge.judges.rules import RULES_VERSION, criteria_with_rules, find_problems
from longjudge.rubric import builtin_rubrics, load_rubric
from longjudge.text import clean_line, without_surrogates

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from longjudge.judges.base import Judge, Question
    from longjudge.prices import Price
    from longjudge.rubric import Rubric

MIN_DELAY = 0.2
MAX_DELAY = 2.6
_DELAY_SEED = b"193"
# With this seed half a second on the long sample shows all there is to see of a time-out: chunks
# judged, chunks cut off, and chunks that were never asked.
_THREAD_CHARS = 200_000


class OfflineJudge:
    """The offline rules. `delay` gives the seconds that an answer takes; without it, none."""

    def __init__(self, delay: Callable[[Question], float] | None = None) -> None:
        self._delay = delay

    @property
    def model(self) -> str:
        """`offline`."""
        return "offline"

    @property
    def label(self) -> str:
        """`offline rules`."""
        return "offline rules"

    @property
    def endpoint(self) -> str:
        """`offline`."""
        return "offline"

    @property
    def parameters(self) -> Mapping[str, str]:
        """The version of the rules."""
        return {"rules": RULES_VERSION}

    @property
    def price(self) -> Price | None:
        """The rules cost nothing, which the table knows."""
        return None

    @property
    def judges_meaning(self) -> bool:
        """Rules answer, no model."""
        return False

    def check_rubric(self, rubric: Rubric) -> None:
        """Refuse a rubric with a criterion that has no rules.

        Raises:
            RubricError: names the criterion.
        """
        known = criteria_with_rules()
        for criterion in rubric.criterion_ids:
            if criterion not in known:
                raise RubricError(
                    f"{clean_line(rubric.name)}: criterion {criterion} has no offline rules (they"
                    f" know {', '.join(known)}); name a model with --model (m in the app)"
                )

    async def prepare(self) -> None:
        """Nothing to get ready."""

    async def ask(self, question: Question, *, max_tokens: int) -> Answer:
        """Apply the rules; the answer is the same JSON that a model would give."""
        if self._delay is not None:
            await asyncio.sleep(self._delay(question))
        if sum(len(event.text) for event in question.events) > _THREAD_CHARS:
            reply = await asyncio.to_thread(_reply, question)
        else:
            reply = _reply(question)
        return Answer(reply, Stop.COMPLETE)

    async def aclose(self) -> None:
        """Nothing to close."""


@cache
def _own_questions() -> dict[str, str]:
    return {
        criterion.id: criterion.question
        for name in builtin_rubrics()
        for criterion in load_rubric(name).criteria
    }


def unread_questions(rubric: Rubric) -> tuple[str, ...]:
    """Criteria that the rules know under another question; rules go by the id and read no words."""
    known = _own_questions()
    return tuple(
        each.id for each in rubric.criteria if known.get(each.id, each.question) != each.question
    )


def offline_caveat(judge: Judge, rubric: Rubric) -> str:
    """What the offline rules do not take in of a rubric, in words; empty where that is nothing."""
    changed = () if judge.judges_meaning else unread_questions(rubric)
    return changed_words(changed) if changed else ""


def changed_words(changed: Sequence[str]) -> str:
    """That the changed questions of some criteria are not read."""
    names = ", ".join(clean_line(each, 60) for each in changed)
    return f"the offline rules do not read the changed question of {names}"


def believable_delay(question: Question) -> float:
    """How long a model might have taken, the same for the same chunk every time; mostly short."""
    digest = sha256(_DELAY_SEED + question.tag.encode("utf-8", "replace")).digest()
    share = int.from_bytes(digest[:4], "big") / 2**32
    return MIN_DELAY + share**2 * (MAX_DELAY - MIN_DELAY)


def _reply(question: Question) -> str:
    criteria = {
        criterion: {
            "findings": [
                {
                    "event": finding.event,
                    "quote": without_surrogates(finding.quote or ""),
                    "note": finding.note,
                }
                for finding in findings
            ],
            "problem": bool(findings),
        }
        for criterion, findings in find_problems(
            question.events, question.rubric.criterion_ids
        ).items()
    }
    return msgspec.json.encode({"criteria": criteria}).decode()
