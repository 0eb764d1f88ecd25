"""What went out and what came back about one chunk, word for word."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from longjudge.errors import LongjudgeError
from longjudge.prices import OFFLINE_MODEL
from longjudge.prompt import build_question
from longjudge.states import ChunkState
from longjudge.text import clean
from longjudge.tokens import count_tokens, model_factor
from longjudge_tui.wording import line, plural, size, tokens

if TYPE_CHECKING:
    from longjudge.chunks import ChunkPlan
    from longjudge.judges.base import Judge
    from longjudge.rubric import Rubric
    from longjudge.sessions import Session
    from longjudge_tui.bench.bench import Bench

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


async def prompt_text(bench: Bench, position: int) -> FullText:
    """The prompt of a chunk of the plan, as it would be sent."""
    session, outlook = bench.session, bench.outlook
    part = position + 1
    if session is None or outlook is None:
        return FullText((f"PROMPT of part {part}",), "no session is open")
    try:
        return await asyncio.to_thread(
            _build, session, outlook.plan, position, bench.rubric, bench.judge
        )
    except LongjudgeError as error:
        return FullText((f"PROMPT of part {part} · cannot be built",), str(error))


def _build(
    session: Session, plan: ChunkPlan, position: int, rubric: Rubric, judge: Judge
) -> FullText:
    question = build_question(session, plan, position, rubric)
    sent = f"{question.system}\n{question.user}"
    counted = round(count_tokens(sent) * model_factor(judge.model))
    first = f"{SYSTEM_HEAD}\n{question.system}\n\n"
    text = f"{first}{USER_HEAD}\n{question.user}"
    heads = (0, len(SYSTEM_HEAD)), (len(first), len(first) + len(USER_HEAD))
    facts = [
        f"~{tokens(counted)} tokens",
        plural(len(sent), "character"),
        size(len(sent.encode("utf-8", "replace"))),
        *_cleaned(text),
    ]
    if judge.model == OFFLINE_MODEL:
        facts.append("the offline rules read the chunk alone")
    name = f"PROMPT of part {position + 1}"
    return FullText(_titles(name, facts), text, text, heads)


async def reply_text(bench: Bench, position: int) -> FullText:
    """The last reply about a chunk: of this run, else the one that is kept."""
    name = f"REPLY about part {position + 1}"
    records = bench.records
    record = records.record(position) if records is not None else None
    facts: list[str] = []
    reply = ""
    if record is not None and record.kept is not None:
        reply = record.kept.raw_reply
        facts = ["kept" if record.from_cache else "of this run"]
    elif record is not None and record.raw_reply:
        reply = record.raw_reply
        reason = f": {record.reason.value}" if record.reason else ""
        ended = record.state is ChunkState.GAP
        facts = [f"the last one of a gap{reason}" if ended else "not used; it is asked again"]
    elif bench.outlook is not None and bench.is_kept(position):
        key = bench.outlook.keys[position]
        try:
            kept = await bench.store.kept([key])
        except LongjudgeError as error:
            return FullText((f"{name} · cannot be read",), str(error))
        reply, facts = (kept[key].raw_reply, ["kept"]) if key in kept else ("", [])
    if not reply:
        problem = f"\n\n{line(record.problem, 1000)}" if record and record.problem else ""
        return FullText((f"{name} · no reply yet",), f"no reply yet{problem}")
    facts += [plural(len(reply), "character"), *_cleaned(reply)]
    numbers = _numbers(bench, position)
    heads = ((0, len(numbers)),) if numbers else ()
    shown = f"{numbers}\n\n{reply}" if numbers else reply
    return FullText(_titles(name, facts), shown, reply, heads)


def _numbers(bench: Bench, position: int) -> str:
    """How the numbers in a reply, which count the events of the chunk, map to the session's."""
    if bench.outlook is None:
        return ""
    chunk = bench.outlook.plan[position]
    if chunk.piece:
        piece = f"piece {chunk.piece.number} of {chunk.piece.of}"
        return f"── event 1 in the reply is event {chunk.first} of the session ({piece}) ──"
    if chunk.first == chunk.last:
        return f"── event 1 in the reply is event {chunk.first} of the session ──"
    count = chunk.last - chunk.first + 1
    step = chunk.first - 1
    way = f"add {step}" if step >= 0 else f"take {-step} away"
    return (
        f"── events 1-{count} in the reply are events {chunk.first}-{chunk.last}"
        f" of the session: {way} ──"
    )


def _cleaned(text: str) -> list[str]:
    """Says that what is seen is not what is there, where that is so."""
    return ["shown cleaned of control characters"] if clean(text) != text else []


def _titles(name: str, facts: list[str]) -> tuple[str, ...]:
    """All facts, then fewer from the end."""
    return tuple(" · ".join([name, *facts[:count]]) for count in range(len(facts), -1, -1))
