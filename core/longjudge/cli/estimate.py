"""`longjudge estimate`: what `judge` with the same options would ask, send and cost."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import click
import msgspec

from longjudge.cli.files import Reading, session_files, words_for
from longjudge.cli.model_note import ModelNote
from longjudge.cli.preview import (
    Preview,
    observed_words,
    secrets_in_words,
    thousands,
)
from longjudge.limits import advice, expected_words, limit_words, measure
from longjudge.redaction import redacted_text
from longjudge.replaced import count_secrets
from longjudge.report.words import money, plural
from longjudge.rubric import Skip
from longjudge.store import Store
from longjudge.tokens import TokenEstimate

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

    from longjudge.cli.options import Judging
    from longjudge.judges.base import Judge
    from longjudge.limits import Measured
    from longjudge.rubric import Rubric
    from longjudge.sessions import Session
    from longjudge.settings import Settings

BATCH_SHARE = 0.5
"""What the provider asks for a batch, of its price for a live answer."""

NO_TOKENS = TokenEstimate(0, 0, 0)


@dataclass(frozen=True, slots=True)
class Cost:
    """Expected price with its band, in US dollars."""

    middle: float
    low: float
    high: float

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.middle + other.middle, self.low + other.low, self.high + other.high)


@dataclass(frozen=True, slots=True)
class Seen:
    """What is to ask by the tokens that the model took before; `cost` is None where unknown.

    `sources` holds the factor and the number of answers of each format of session.
    """

    tokens: float
    cost: float | None
    sources: frozenset[tuple[float, int]]

    @property
    def answers(self) -> int:
        """Answers that it was seen in."""
        return sum(answers for _, answers in self.sources)

    def __add__(self, other: Seen) -> Seen:
        cost = None if self.cost is None or other.cost is None else self.cost + other.cost
        return Seen(self.tokens + other.tokens, cost, self.sources | other.sources)


@dataclass(frozen=True, slots=True)
class Needs:
    """What judging would take: tokens, cost and seconds are for the chunks to ask alone.

    `equal` counts chunks that an equal one answers, of this session or of one before it. `cost`
    is None where the price is unknown; `seen` where nothing was seen of the model before;
    `redacted` where no secret is replaced. `advised` is the time limit that the longest session
    needs, 0 where nothing is to ask; `measured` says whether the durations are more than a guess.
    """

    chunks: int = 0
    kept: int = 0
    equal: int = 0
    to_ask: int = 0
    tokens: TokenEstimate = NO_TOKENS
    cost: Cost | None = Cost(0.0, 0.0, 0.0)
    seconds: float = 0.0
    seen: Seen | None = None
    redacted: Counter[str] | None = None
    advised: float = 0.0
    measured: bool = True

    def __add__(self, other: Needs) -> Needs:
        cost = None if self.cost is None or other.cost is None else self.cost + other.cost
        seen = self.seen if not other.to_ask else other.seen
        if self.to_ask and other.to_ask:
            seen = self.seen + other.seen if self.seen and other.seen else None
        return Needs(
            self.chunks + other.chunks,
            self.kept + other.kept,
            self.equal + other.equal,
            self.to_ask + other.to_ask,
            self.tokens + other.tokens,
            cost,
            self.seconds + other.seconds,
            seen,
            None if other.redacted is None else other.redacted + (self.redacted or Counter()),
            max(self.advised, other.advised),
            self.measured and other.measured,
        )

    def to_dict(self) -> dict[str, object]:
        """The JSON form."""
        cost = self.cost
        return {
            "chunks": self.chunks,
            "kept": self.kept,
            "to_ask": self.to_ask,
            "tokens_low": self.tokens.low,
            "tokens_high": self.tokens.high,
            "cost_usd_low": cost.low if cost else None,
            "cost_usd_high": cost.high if cost else None,
            "cost_usd_batch": cost.middle * BATCH_SHARE if cost else None,
            "seconds": self.seconds,
            "advised_time_limit": self.advised or None,
            "redacted": self.redacted,
            "observed_factor": self._observed_factor,
        }

    @property
    def _observed_factor(self) -> float | None:
        if self.seen is None:
            return None
        if self.tokens.tokens:
            return self.seen.tokens / self.tokens.tokens
        return max(self.seen.sources)[0]


def estimate_paths(
    paths: Sequence[str],
    judging: Judging,
    *,
    as_json: bool,
    fresh: bool,
    wanted: str | None = None,
) -> int:
    """Print an estimate per session and their sum, and return the exit code.

    Raises:
        LongjudgeError: what was named cannot be used.
    """
    return asyncio.run(_estimate_paths(paths, judging, as_json, fresh, wanted))


async def _estimate_paths(
    paths: Sequence[str], judging: Judging, as_json: bool, fresh: bool, wanted: str | None
) -> int:
    settings, rubric, judge = judging.settings(), judging.load_rubric(), judging.make_judge()
    judge.check_rubric(rubric)
    files = session_files(paths, "estimate")
    reading, note = Reading(wanted), ModelNote(judging)
    total = _nothing(settings)
    reading.begin(files)
    store = await Store.open_to_read(judging.store_path())
    try:
        measured = await measure(store, judge.model)
        estimating = _Estimating(settings, rubric, judge, store, fresh, measured)
        for file in files:
            for session in await reading.open(file):
                try:
                    status, needs = await estimating.session(session)
                finally:
                    session.close()
                await note.say(needs.to_ask)
                total += needs
                click.echo(_line(session, status, needs, settings.time_limit, as_json=as_json))
    finally:
        await store.aclose()
    reading.close(paths)
    if as_json or reading.read:
        click.echo(_total_line(reading.read, total, settings.time_limit, as_json=as_json))
    return 2 if reading.failed else 0


def _nothing(settings: Settings) -> Needs:
    return Needs(redacted=Counter() if settings.redact else None)


class _Estimating:
    """What the sessions of one command share.

    `answered` grows by the keys of every session, since `judge` would have their verdicts when it
    comes to the next.
    """

    def __init__(
        self,
        settings: Settings,
        rubric: Rubric,
        judge: Judge,
        store: Store,
        fresh: bool,
        measured: Measured | None,
    ) -> None:
        self._settings = settings
        self._rubric = rubric
        self._judge = judge
        self._store = store
        self._fresh = fresh
        self._measured = measured
        self._answered: set[str] = set()

    async def session(self, session: Session) -> tuple[str, Needs]:
        """Status and needs of one session."""
        if self._rubric.skip is Skip.NO_TOOL_CALL and not session.index.tool_calls:
            return "not_applicable", _nothing(self._settings)
        preview = await Preview.of(
            session, self._settings, self._rubric, self._judge, self._store, fresh=self._fresh
        )
        known = preview.kept if self._fresh else preview.kept | self._answered
        asked = preview.asked(known)
        needs = await asyncio.to_thread(self._needs, preview, known, asked)
        if self._settings.redact:
            counts = await count_secrets(session, preview.plan, asked)
            needs = replace(needs, redacted=counts)
        return ("to_ask" if needs.to_ask else "kept"), needs

    def _needs(self, preview: Preview, known: set[str], asked: Sequence[int]) -> Needs:
        totals = preview.estimator.totals(preview.plan, preview.keys, known)
        self._answered.update(preview.keys)
        tokens = NO_TOKENS
        for position in asked:
            tokens += preview.estimator.chunk(preview.plan, position)
        cost = None
        if (
            totals.cost_usd is not None
            and totals.cost_usd_low is not None
            and totals.cost_usd_high is not None
        ):
            cost = Cost(totals.cost_usd, totals.cost_usd_low, totals.cost_usd_high)
        chunks, kept = len(preview.plan), preview.totals.kept
        times = advice(self._measured, len(asked), self._settings.concurrency)
        return Needs(
            chunks=chunks,
            kept=kept,
            equal=chunks - kept - len(asked),
            to_ask=len(asked),
            tokens=tokens,
            cost=cost,
            seconds=times.expected,
            seen=_seen(preview, tokens.tokens, known),
            advised=times.advised if asked else 0.0,
            measured=times.measured or not asked,
        )


def _seen(preview: Preview, tokens: int, known: Container[str]) -> Seen | None:
    observed = preview.observed
    if observed is None:
        return None
    cost = preview.observed_cost(known)
    source = (observed.factor, observed.answers)
    return Seen(tokens * observed.factor, cost, frozenset({source}))


def _line(session: Session, status: str, needs: Needs, limit: float, *, as_json: bool) -> str:
    redact = needs.redacted is not None
    if as_json:
        name = redacted_text(session.name) if redact else session.name
        fields = {"path": name, "id": session.id, "status": status} | needs.to_dict()
        return msgspec.json.encode(fields).decode()
    words = "not applicable: no tool call" if status == "not_applicable" else _words(needs, limit)
    return f"{words_for(session, redact=redact)}: {words}"


def _total_line(sessions: int, total: Needs, limit: float, *, as_json: bool) -> str:
    if as_json:
        # The keys of every other line, so that a reader needs one shape.
        fields: dict[str, object] = {"path": None, "id": None, "status": None}
        fields |= {"total": True, "sessions": sessions}
        return msgspec.json.encode(fields | total.to_dict()).decode()
    return f"total of {plural(sessions, 'session')}: {_words(total, limit)}"


def _words(needs: Needs, limit: float) -> str:
    equal = f", {needs.equal} equal to another" if needs.equal else ""
    counts = f"{plural(needs.chunks, 'chunk')}, {needs.kept} kept, {needs.to_ask} to ask{equal}"
    if not needs.to_ask:
        return f"{counts}, nothing to pay"
    tokens = needs.tokens
    band = f"{thousands(tokens.low)}-{thousands(tokens.high)}"
    return (
        f"{counts}, ~{thousands(tokens.tokens)} tokens ({band}), {_cost_words(needs.cost)},"
        f" {expected_words(needs.seconds, measured=needs.measured)};"
        f" {limit_words(needs.advised, limit)}{_seen_words(needs)}"
        f"{secrets_in_words(needs.redacted)}"
    )


def _seen_words(needs: Needs) -> str:
    seen = needs.seen
    if seen is None or not needs.tokens.tokens:
        return ""
    factor = seen.tokens / needs.tokens.tokens
    return observed_words(factor, seen.answers, round(seen.tokens), seen.cost)


def _cost_words(cost: Cost | None) -> str:
    if cost is None:
        return "price unknown"
    if not cost.high:
        return "no cost"
    band = f"{money(cost.low)}-{money(cost.high)}"
    return f"about {money(cost.middle)} ({band}; {money(cost.middle * BATCH_SHARE)} as a batch)"
