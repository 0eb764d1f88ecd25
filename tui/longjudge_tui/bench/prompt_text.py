"""What would go out about one chunk, word for word, by the rubric in use or by an edited one."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from longjudge.errors import LongjudgeError
from longjudge.prices import OFFLINE_MODEL
from longjudge.prompt import build_question
from longjudge.replaced import ReplacedSecrets, secrets_words
from longjudge.text import clean
from longjudge.tokens import count_tokens, model_factor
from longjudge_tui.wording import plural, size, tokens

if TYPE_CHECKING:
    from longjudge.judges.base import Judge
    from longjudge.rubric import Rubric
    from longjudge.sessions import Session
    from longjudge_tui.bench.bench import Bench
    from longjudge_tui.bench.outlook import Outlook

SYSTEM_HEAD, USER_HEAD = "── SYSTEM ──", "── USER ──"


@dataclass(frozen=True, slots=True)
class FullText:
    """A text with the words of its title, longest first; `copied` is what a copy takes.

    `heads` are the headings in it, which stand out as nothing else in it can.
    """

    titles: tuple[str, ...]
    text: str
    copied: str = ""
    heads: tuple[tuple[int, int], ...] = ()


async def prompt_text(bench: Bench, position: int, rubric: Rubric | None = None) -> FullText:
    """The prompt of a chunk of the plan, as it would be sent."""
    session, outlook = bench.session, bench.outlook
    part = position + 1
    if session is None or outlook is None or position >= len(outlook.plan):
        return FullText((f"PROMPT of part {part}",), "no session is open")
    by, judge, in_a_run = rubric or bench.rubric, bench.judge, bench.secrets.words
    try:
        return await asyncio.to_thread(_build, session, outlook, position, by, judge, in_a_run)
    except LongjudgeError as error:
        return FullText((f"PROMPT of part {part} · cannot be built",), str(error))


def _build(
    session: Session,
    outlook: Outlook,
    position: int,
    rubric: Rubric,
    judge: Judge,
    in_a_run: str,
) -> FullText:
    question = build_question(session, outlook.plan, position, rubric, redact=outlook.redact)
    sent = f"{question.system}\n{question.user}"
    counted = round(count_tokens(sent) * model_factor(judge.model))
    first = f"{SYSTEM_HEAD}\n{question.system}\n\n"
    text = f"{first}{USER_HEAD}\n{question.user}"
    above = _replaced(session, outlook, position, in_a_run)
    start = len(above) + 1
    user = start + len(first)
    heads = (0, len(above)), (start, start + len(SYSTEM_HEAD)), (user, user + len(USER_HEAD))
    facts = [
        f"~{tokens(counted)} tokens",
        plural(len(sent), "character"),
        size(len(sent.encode("utf-8", "replace"))),
        *cleaned_words(text),
    ]
    if judge.model == OFFLINE_MODEL:
        facts.append("the offline rules read the chunk alone")
    name = f"PROMPT of part {position + 1}"
    return FullText(titles_of(name, facts), f"{above}\n{text}", text, heads)


def _replaced(session: Session, outlook: Outlook, position: int, in_a_run: str) -> str:
    """Which secrets are not in a prompt, and in those of all that a run would ask about."""
    if not outlook.redact:
        return "── not redacted: secrets stay in what is sent ──"
    counts = ReplacedSecrets(session).count(outlook.plan, [position]) or {}
    said = [f"in this part {secrets_words(counts)}"]
    said += [f"in all that a run asks {in_a_run}"] if in_a_run else []
    return f"── {' · '.join(said)} ──"


def cleaned_words(text: str) -> list[str]:
    """Says that what is seen is not what is there, where that is so."""
    return ["shown cleaned of control characters"] if clean(text) != text else []


def titles_of(name: str, facts: list[str]) -> tuple[str, ...]:
    """All facts, then fewer from the end."""
    return tuple(" · ".join([name, *facts[:count]]) for count in range(len(facts), -1, -1))
