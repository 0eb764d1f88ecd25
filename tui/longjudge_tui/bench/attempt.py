"""One chunk judged by an edited rubric: asked by the engine, kept like any verdict, shown whole."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from longjudge.errors import LongjudgeError
from longjudge.judgment import Judgment
from longjudge.settings import in_seconds
from longjudge.states import ChunkState, GapReason, JudgmentStatus
from longjudge.text import clean
from longjudge_tui.wording import STATE_GLYPHS, dollars, line, plural

if TYPE_CHECKING:
    from longjudge.board import ChunkRecord
    from longjudge.faults import Fault
    from longjudge.judges.base import Judge
    from longjudge.rubric import Rubric
    from longjudge.sessions import Session
    from longjudge.settings import Settings
    from longjudge.store import Store

REPLY_HEAD = "── RAW REPLY ──"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of it: one line, and the text with its `heads`, from and to."""

    words: str
    text: str = ""
    heads: tuple[tuple[int, int], ...] = ()


class Attempt:
    """Asks about one chunk (`position`, from 0); `outcome` is there once that has ended."""

    def __init__(
        self,
        session: Session,
        position: int,
        key: str,
        *,
        rubric: Rubric,
        judge: Judge,
        store: Store,
        settings: Settings,
        fault: Fault | None = None,
    ) -> None:
        self.position = position
        self.key = key
        self.rubric = rubric
        self.outcome: Outcome | None = None
        self.kept = False
        self._store = store
        self._started = time.monotonic()
        self._settings = replace(settings, concurrency=1)
        self._judgment = Judgment(
            session,
            rubric=rubric,
            judge=judge,
            store=store,
            settings=self._settings,
            only=frozenset({position}),
            fault=fault,
            recorded=False,
        )

    @property
    def _record(self) -> ChunkRecord:
        return self._judgment.board.chunks[self.position]

    @property
    def stopping(self) -> bool:
        """Whether it is on its way to an end before its time."""
        return self._judgment.stopping

    @property
    def words(self) -> str:
        """How far it is, or what came of it, in one line."""
        part, version = self.position + 1, self.rubric.version
        if self.outcome is not None:
            return self.outcome.words
        seconds = f"{time.monotonic() - self._started:.0f} s"
        doing = "cancelling" if self.stopping else self._record.state.value
        limit = f"of {in_seconds(self._settings.time_limit)} s at most"
        return f"part {part} by {version}: {doing} · {seconds} {limit}"

    def cancel(self) -> None:
        """End it; safe to call again."""
        self._judgment.cancel()

    async def run(self) -> None:
        """Ask, and wait for the end."""
        try:
            result = await self._judgment.run()
        except LongjudgeError as error:
            said = line(str(error), 500)
            self.outcome = Outcome(f"part {self.position + 1}: not asked: {said}", said)
            return
        if result.status is JudgmentStatus.NOT_APPLICABLE:
            words = "nothing to ask: the rubric does not apply to a session without a tool call"
            self.outcome = Outcome(words, words)
            return
        record = self._record
        judged = record.state in (ChunkState.CLEAN, ChunkState.FLAGGED)
        self.kept = judged and record.stored
        reply = record.raw_reply
        if record.kept is not None:
            reply = record.kept.raw_reply or await self._reply_in_store()
        words = self._words(record, result.store_error)
        self.outcome = _outcome(words, record, reply, self.rubric)

    async def _reply_in_store(self) -> str:
        try:
            kept = (await self._store.kept([self.key])).get(self.key)
        except LongjudgeError as error:
            return f"the reply cannot be read: {line(str(error), 300)}"
        return kept.raw_reply if kept is not None else ""

    def _words(self, record: ChunkRecord, store_error: str | None) -> str:
        state = f"{STATE_GLYPHS[record.state]} {record.state.value}"
        facts = [f"part {self.position + 1} by {self.rubric.version}: {state}"]
        if record.state is ChunkState.GAP:
            reason = record.reason or GapReason.SKIPPED
            facts[0] += f" ({reason.value})"
        elif record.findings:
            facts.append(plural(len(record.findings), "finding"))
        if record.from_cache:
            facts.append("kept before, nothing was asked")
        elif record.attempts:
            facts += [plural(record.attempts, "call"), dollars(record.cost_usd)]
            facts.append(f"{record.seconds:.1f} s")
            judged = record.state is not ChunkState.GAP
            if judged and (store_error or not record.stored):
                facts.append("NOT kept: the store takes nothing")
        return " · ".join(facts)


def _outcome(words: str, record: ChunkRecord, reply: str, rubric: Rubric) -> Outcome:
    """The verdict in words, and below it the reply as it came."""
    told: list[str] = []
    for criterion in rubric.criterion_ids:
        found = [each for each in record.findings if each.criterion == criterion]
        if record.kept is not None:
            told.append(f"{'⚑' if found else '✓'} {criterion}")
        for each in found:
            event = "no event" if each.event is None else f"event {each.event}"
            verified = "verified" if each.verified else "not verified"
            told.append(f"   {event} · {verified} · {clean(each.note)}")
            if each.quote:
                told.append(f"   “{clean(each.quote)}”")
    if record.problem:
        told.append(f"no verdict: {clean(record.problem)}")
    above = "\n".join([words, "", *told, *([""] if told else []), ""])
    text = f"{above}{REPLY_HEAD}\n{reply or 'no reply came'}"
    return Outcome(words, text, ((0, len(words)), (len(above), len(above) + len(REPLY_HEAD))))
