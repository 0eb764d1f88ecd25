"""What a judgment tells its listener, as lines of the log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longjudge.result import shown_score
from longjudge.settings import in_seconds
from longjudge.states import ChunkState, GapReason
from longjudge.updates import (
    AskedBy,
    BatchSaid,
    ChunkUpdate,
    JudgmentEnded,
    Paused,
    PausedByHand,
    Stopping,
    StoreFailed,
    StoreTakes,
    WentOn,
)
from longjudge_tui.bench.event_log import LogKind, Part, Subject
from longjudge_tui.wording import dollars, pause_words, plural

if TYPE_CHECKING:
    from longjudge.board import ChunkRecord
    from longjudge.chunks import ChunkPlan
    from longjudge.estimate import Totals
    from longjudge.judges.base import Judge
    from longjudge.result import Result
    from longjudge.rubric import Rubric
    from longjudge.sessions import Session
    from longjudge.settings import Settings
    from longjudge.updates import Update
    from longjudge_tui.bench.event_log import EventLog


class RunLog:
    """Writes the lines of one judgment of a session into the log.

    What needed no question, and what was never asked, is told by its number alone: thousands of
    such chunks end in one moment.
    """

    def __init__(self, log: EventLog, session: Session, plan: ChunkPlan) -> None:
        self._log = log
        self._subject = Subject.of(session)
        self._plan = plan

    def begun(
        self,
        totals: Totals,
        judge: Judge,
        rubric: Rubric,
        settings: Settings,
        forced: str,
        *,
        batch: bool = False,
    ) -> None:
        """A judgment begins."""
        self._log.catch_up()
        size = (
            f"{settings.chunk_chars:,} characters"
            if settings.chunk_tokens is None
            else f"{settings.chunk_tokens:,} tokens"
        )
        words = [
            f"run begun: {plural(totals.chunks, 'chunk')} of {size}",
            f"{totals.kept:,} kept",
            f"{totals.to_ask:,} to ask",
            judge.label,
            f"rubric {rubric.name} {rubric.version}",
            "as a batch" if batch else f"{settings.concurrency} in flight",
            f"limit {in_seconds(settings.time_limit)} s",
            *([f"forced failures {forced}"] if forced else []),
        ]
        self._add(LogKind.RUN, " · ".join(words))

    def hear(self, update: Update, record: ChunkRecord | None) -> None:
        """Something happened; `record` is what is known about the chunk of a `ChunkUpdate`."""
        match update:
            case ChunkUpdate():
                self._chunk(update, record)
            case Paused():
                self._add(LogKind.WAIT, pause_words(update.wait, update.note))
            case AskedBy():
                # Which chunks wait is said of each of them, once.
                pass
            case PausedByHand():
                self._add(LogKind.RUN, "paused: nothing is asked until it goes on")
            case WentOn():
                self._add(LogKind.RUN, "goes on after a pause")
            case BatchSaid(batch="") if update.questions:
                # What becomes of batches is told by whoever follows them.
                said = f"no batch of {plural(update.questions, 'question')}: {update.problem}"
                self._add(LogKind.ERROR, said)
            case BatchSaid():
                pass
            case StoreFailed():
                self._add(LogKind.STORE, f"the store takes nothing: {update.message}")
            case StoreTakes():
                self._add(LogKind.STORE, "the store takes everything again, what it had missed too")
            case Stopping():
                self._add(LogKind.RUN, f"stopping: {update.cause}")
            case JudgmentEnded():
                self._add(LogKind.RUN, _ending(update.result))

    def failed(self, error: str) -> None:
        """The judgment could not be held at all."""
        self._add(LogKind.ERROR, f"no judgment: {error}")

    def _chunk(self, update: ChunkUpdate, record: ChunkRecord | None) -> None:
        match update.state:
            case ChunkState.CLEAN | ChunkState.FLAGGED if update.attempt or not update.from_cache:
                self._add(LogKind.VERDICT, _verdict(update, record), update.part)
            case ChunkState.GAP if update.reason is not GapReason.SKIPPED:
                reason = update.reason.value if update.reason is not None else "no verdict"
                words = [f"gap: {reason}", *_spent(update, record), *_noted(update)]
                self._add(LogKind.GAP, " · ".join(words), update.part)
            case ChunkState.RETRYING:
                reason = f"{update.reason.value}: " if update.reason is not None else ""
                when = f"asked again in {in_seconds(round(update.wait, 1))} s"
                words = f"{reason}attempt {update.attempt}, {when}"
                self._add(LogKind.RETRY, " · ".join([words, *_noted(update)]), update.part)
            case ChunkState.WAITING:
                self._add(LogKind.WAIT, "waits: another judgment asks the same", update.part)
            case _:
                return

    def _add(self, kind: LogKind, words: str, part: int | None = None) -> None:
        about = None if part is None else Part(part, self._plan[part - 1].first)
        self._log.add(kind, words, about, self._subject)


def _verdict(update: ChunkUpdate, record: ChunkRecord | None) -> str:
    """How a chunk was judged, how long that took, and what it used."""
    words = [update.state.value]
    if record is not None and record.findings:
        words[0] = f"flagged, {plural(len(record.findings), 'finding')}"
    if update.from_cache:
        words.append("another judgment's answer")
    words += _spent(update, record)
    if not update.stored:
        words.append("NOT KEPT")
    return " · ".join([*words, *_noted(update)])


def _spent(update: ChunkUpdate, record: ChunkRecord | None) -> list[str]:
    if not update.attempt:
        return []
    queued = " in a batch" if record is not None and record.in_batch else ""
    words = [f"{update.seconds:.1f} s{queued}"]
    if update.attempt > 1:
        words.append(f"{update.attempt} attempts")
    if record is not None and record.tokens:
        words += [f"{record.tokens:,} tokens", dollars(record.cost_usd)]
    return words


def _noted(update: ChunkUpdate) -> list[str]:
    return [update.note] if update.note else []


def _ending(result: Result) -> str:
    gaps = ", ".join(f"{count:,} {reason}" for reason, count in result.gaps.items())
    score = "no score" if result.score is None else f"score {shown_score(result.score, 3)}"
    words = [
        f"run ended: {result.status.value}",
        f"{result.judged_chunks:,} of {plural(result.chunks, 'chunk')} judged",
        f"{result.flagged_chunks:,} flagged",
        score,
        *([f"gaps: {gaps}"] if gaps else []),
        plural(result.calls, "call"),
        dollars(result.cost_usd),
        f"{result.seconds:.1f} s",
        *([f"{result.holds_left:,} still held"] if result.holds_left else []),
        *([result.error] if result.error else []),
    ]
    return " · ".join(words)
