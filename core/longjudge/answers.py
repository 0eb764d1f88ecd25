"""What is kept of an answer: its verdict, the reply itself, whether the offline rules disagree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longjudge.judges.reply import BadReply, bounded_reply, read_reply
from longjudge.judges.rules import has_problems
from longjudge.states import GapReason
from longjudge.store import KeptVerdict

if TYPE_CHECKING:
    from longjudge.judges.base import Answer, Judge, Question


def understand(judge: Judge, question: Question, answer: Answer) -> KeptVerdict | BadReply:
    """Read an answer as what it says about the question's chunk."""
    verdict = read_reply(answer, question.rubric)
    if answer.forced:
        if isinstance(verdict, BadReply):
            return BadReply(verdict.reason, f"forced: {verdict.detail}")
        return BadReply(GapReason.UNPARSABLE, "forced: the reply is made up")
    if isinstance(verdict, BadReply):
        return verdict
    disagrees = not verdict.flagged and is_disputed(judge, question)
    return KeptVerdict(verdict, bounded_reply(answer.text), disagrees)


def is_disputed(judge: Judge, question: Question) -> bool:
    """Whether the offline rules flag what a model is asked about."""
    return judge.judges_meaning and has_problems(question.events, question.rubric.criterion_ids)
