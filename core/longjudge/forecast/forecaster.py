"""What judging would ask, send and cost, session by session, as `judge` would come to them."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from longjudge.forecast.needs import NO_TOKENS, Cost, Needs, Seen
from longjudge.limits import advice, measure
from longjudge.preview import Preview
from longjudge.replaced import count_secrets
from longjudge.rubric import Skip
from longjudge.sessions.key_set import KeySet

if TYPE_CHECKING:
    from collections.abc import Iterable

    from longjudge.judges.base import Judge
    from longjudge.limits import Measured
    from longjudge.rubric import Rubric
    from longjudge.sessions import Session
    from longjudge.settings import Settings
    from longjudge.store import Store

_HALF_KEY = 16
"""Hexadecimal digits of a verdict key by which it is remembered: 64 bits of its 256."""


class Expected(StrEnum):
    """What a session is expected to come to."""

    NOT_APPLICABLE = "not_applicable"
    KEPT = "kept"
    TO_ASK = "to_ask"


@dataclass(frozen=True, slots=True)
class SessionForecast:
    """What one session needs.

    `most` is what it would need if the rubric applied and nothing were kept; None where nobody
    wanted to know.
    """

    status: Expected
    needs: Needs
    most: Needs | None = None


class AnsweredKeys:
    """The keys of the sessions so far: `judge` would have their verdicts when it comes to the next.

    A key is remembered by 64 of its 256 bits in a table of 8 bytes a slot, one and a half to three
    slots to a key: 540,000 keys take 8 MB (a set of them takes 78 MB, one of 16 bytes of each 43).
    That two of so many are alike there has a probability of 8e-9, and would make one chunk of an
    estimate count as answered.
    """

    def __init__(self) -> None:
        self._seen = KeySet()

    def add(self, keys: Iterable[str]) -> set[str]:
        """Remember keys, and return those that were known before."""
        add = self._seen.add
        return {key for key in dict.fromkeys(keys) if not add(int(key[:_HALF_KEY], 16) or 1)}


class Forecaster:
    """Forecasts the sessions of one run in their order; those before a session count for it.

    With `fresh` nothing that the store keeps counts, and equal chunks only within a session, as
    `judge --fresh` asks. For one session at a time.
    """

    def __init__(
        self,
        settings: Settings,
        rubric: Rubric,
        judge: Judge,
        store: Store,
        *,
        fresh: bool = False,
        measured: Measured | None = None,
    ) -> None:
        self._settings = settings
        self._rubric = rubric
        self._judge = judge
        self._store = store
        self._fresh = fresh
        self._measured = measured
        self._answered = AnsweredKeys()

    @classmethod
    async def of(
        cls, settings: Settings, rubric: Rubric, judge: Judge, store: Store, *, fresh: bool = False
    ) -> Forecaster:
        """One that knows how long the model took until now."""
        measured = await measure(store, judge.model)
        return cls(settings, rubric, judge, store, fresh=fresh, measured=measured)

    def alone(self) -> Forecaster:
        """One with the same terms that has seen no session yet."""
        return Forecaster(
            self._settings,
            self._rubric,
            self._judge,
            self._store,
            fresh=self._fresh,
            measured=self._measured,
        )

    @property
    def nothing(self) -> Needs:
        """What no session needs: the sum to begin with."""
        return Needs.nothing(redact=self._settings.redact)

    def applies(self, session: Session) -> bool:
        """Whether any question would be asked about a session."""
        return self._rubric.skip is not Skip.NO_TOOL_CALL or bool(session.index.tool_calls)

    async def session(self, session: Session, *, most: bool = False) -> SessionForecast:
        """Forecast a session; with `most` also what it would need at most.

        Raises:
            SessionError: the file no longer holds what was indexed.
        """
        applies = self.applies(session)
        if not applies and not most:
            return SessionForecast(Expected.NOT_APPLICABLE, self.nothing)
        preview = await Preview.of(
            session, self._settings, self._rubric, self._judge, self._store, fresh=self._fresh
        )
        whole = await asyncio.to_thread(self._needs, preview, set[str]()) if most else None
        if not applies:
            return SessionForecast(Expected.NOT_APPLICABLE, self.nothing, whole)
        known = preview.kept if self._fresh else preview.kept | self._answered.add(preview.keys)
        needs = await asyncio.to_thread(self._needs, preview, known)
        if self._settings.redact:
            counts = await count_secrets(session, preview.plan, preview.asked(known))
            needs = replace(needs, redacted=counts)
        status = Expected.TO_ASK if needs.to_ask else Expected.KEPT
        return SessionForecast(status, needs, whole)

    def _needs(self, preview: Preview, known: set[str]) -> Needs:
        """What is needed where `known` keys, all that are kept or none, have a verdict."""
        asked = preview.asked(known)
        totals = preview.totals
        if len(known) != len(preview.kept):
            totals = preview.estimator.totals(preview.plan, preview.keys, known)
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
        chunks = len(preview.plan)
        # What a session before it brings is equal, not kept.
        kept = min(preview.totals.kept, totals.kept)
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


def _seen(preview: Preview, tokens: int, known: set[str]) -> Seen | None:
    observed = preview.observed
    if observed is None:
        return None
    source = (observed.factor, observed.answers)
    cost = preview.observed_cost(known)
    return Seen(tokens * observed.factor, cost, frozenset({source}))
