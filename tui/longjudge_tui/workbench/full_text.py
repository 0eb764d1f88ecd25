"""What came back about one chunk, word for word."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from longjudge.errors import LongjudgeError
from longjudge.redaction import redacted_text
from longjudge.states import ChunkState
from longjudge.store import Asked, Stretch, last_gap, real_path
from longjudge_tui.bench.prompt_text import FullText, cleaned_words, titles_of
from longjudge_tui.wording import line, moment, plural
from longjudge_tui.workbench.history import (
    earlier_answers,
    newest_head,
    with_earlier,
)

if TYPE_CHECKING:
    from longjudge.store import KeptVerdict
    from longjudge.verdict import Verdict
    from longjudge_tui.bench.bench import Bench


@dataclass(frozen=True, slots=True)
class _Said:
    """A reply as it came, what to know about it, and what is wrong with it where something is.

    `verdict` is what was made of it.
    """

    reply: str = ""
    facts: tuple[str, ...] = ()
    problem: str = ""
    verdict: Verdict | None = None


async def reply_text(bench: Bench, position: int) -> FullText:
    """The last reply about a chunk: of this run, else the one that is kept, else that of a gap.

    Below it stand the answers to the same question that a newer one has replaced.
    """
    name = f"REPLY about part {position + 1}"
    try:
        said = await _said_now(bench, position) or await _said_before(bench, position)
        earlier = await earlier_answers(bench, position)
    except LongjudgeError as error:
        return FullText((f"{name} · cannot be read",), str(error))
    problem = line(said.problem, 1000)
    asked = [f"asked {len(earlier) + 1} times"] if earlier else []
    if not said.reply:
        text = f"no reply yet\n\n{problem}" if problem else "no reply yet"
        titles = titles_of(f"{name} · no reply yet", [*said.facts, *asked])
        text, heads = with_earlier(text, (), earlier)
        return FullText(titles, text, heads=heads)
    facts = [*said.facts, *asked, plural(len(said.reply), "character"), *cleaned_words(said.reply)]
    newest = f"── no verdict: {problem} ──" if problem else ""
    if earlier and said.verdict is not None:
        newest = newest_head(said.verdict, bench.judge.label, earlier)
    above = [_numbers(bench, position), newest]
    head = "\n".join(filter(None, above))
    heads = ((0, len(head)),) if head else ()
    shown = f"{head}\n\n{said.reply}" if head else said.reply
    copied = redacted_text(said.reply) if bench.settings.redact else said.reply
    shown, heads = with_earlier(shown, heads, earlier)
    return FullText(titles_of(name, facts), shown, copied, heads)


async def _said_now(bench: Bench, position: int) -> _Said | None:
    """What the judgment at hand knows; None where it does not know the chunk."""
    record = bench.records.record(position) if bench.records is not None else None
    if record is None:
        return None
    if record.kept is not None:
        whence = "kept" if record.from_cache else "of this run"
        if record.stored:
            return await _said_in_store(bench, position, record.kept, whence)
        if record.from_cache:
            whence = "not kept yet"
        return _Said(record.kept.raw_reply, (whence,), verdict=record.kept.verdict)
    ended = record.state is ChunkState.GAP
    if record.raw_reply:
        reason = f": {record.reason.value}" if record.reason else ""
        fact = f"the last one of a gap{reason}" if ended else "not used; it is asked again"
        return _Said(record.raw_reply, (fact,), record.problem)
    return _Said(problem=record.problem) if ended or record.problem else None


async def _said_in_store(bench: Bench, position: int, known: KeptVerdict, whence: str) -> _Said:
    """The reply of a verdict that the store has, which may be another one by now."""
    if bench.outlook is None:
        return _Said()
    key = bench.outlook.keys[position]
    kept = (await bench.store.kept([key])).get(key)
    if kept is None:
        return _Said(problem="the store does not have it any more")
    fact = whence if kept.verdict == known.verdict else "a newer one"
    return _Said(kept.raw_reply, (fact,), verdict=kept.verdict)


async def _said_before(bench: Bench, position: int) -> _Said:
    """What the store knows: the reply of a verdict, else that of the last judgment's gap."""
    if bench.outlook is None or bench.session is None:
        return _Said()
    if bench.is_kept(position):
        key = bench.outlook.keys[position]
        kept = await bench.store.kept([key])
        if key not in kept:
            return _Said()
        return _Said(kept[key].raw_reply, ("kept",), verdict=kept[key].verdict)
    asked = Asked(
        real_path(bench.session.path), bench.session.id, bench.judge.model, bench.rubric.version
    )
    chunk = bench.outlook.plan[position]
    stretch = Stretch(chunk.part, chunk.thread, chunk.first, chunk.last, chunk.chars)
    last = await last_gap(bench.store, asked, stretch)
    if last is None:
        return _Said()
    facts = f"the last one of a gap: {line(last.reason, 40)}", f"judged {moment(last.created)}"
    return _Said(last.gap.reply, facts, last.gap.problem)


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
