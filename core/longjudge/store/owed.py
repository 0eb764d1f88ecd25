"""What a store still has to get: verdicts and judgments it did not take, leases not given back.

It belongs to the store and not to a judgment, so that it outlives the one that paid for it: it is
offered again before the next one asks anything, whenever somebody wants that, and at the end.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from longjudge.losses import FORCED, owed_words
from longjudge.store import leases
from longjudge.store.file import StoreWriteError
from longjudge.store.grouped import is_about_a_row

if TYPE_CHECKING:
    from collections.abc import Container, Iterable

    from longjudge.store.past import PastJudgment
    from longjudge.store.store import KeptVerdict, Provenance, Store

AT_ONCE = 100
"""Verdicts offered at once; where the store refuses one of them, no others are tried."""


@dataclass(frozen=True, slots=True, eq=False)
class OwedVerdict:
    """What goes into the store at once; `created` in seconds since 1970."""

    key: str
    kept: KeptVerdict
    provenance: Provenance
    replaces_before: float
    created: float = field(default_factory=time.time)


class Owed:
    """Held in memory, in the order in which it came, until the store takes it.

    `taken` counts what it has taken late, `problem` says why it did not take something last.
    """

    def __init__(self, store: Store) -> None:
        self.problem = ""
        self.taken = 0
        self._store = store
        self._verdicts: dict[OwedVerdict, None] = {}
        self._newest: dict[str, OwedVerdict] = {}
        self._judgments: dict[str, PastJudgment] = {}
        self._holders: dict[str, int] = {}
        self._offering = False

    def __bool__(self) -> bool:
        return bool(self._verdicts or self._judgments or self._holders)

    def __contains__(self, verdict: OwedVerdict) -> bool:
        return verdict in self._verdicts

    @property
    def verdicts(self) -> int:
        """How many verdicts are not kept."""
        return len(self._verdicts)

    @property
    def judgments(self) -> int:
        """How many judgments are not recorded."""
        return len(self._judgments)

    @property
    def leases(self) -> int:
        """How many leases of judgments that are over could not be given back."""
        return sum(self._holders.values())

    @property
    def words(self) -> str | None:
        """What is not kept and why; None where every verdict is."""
        return owed_words(self.problem, len(self._verdicts)) if self._verdicts else None

    def newest(self, key: str) -> OwedVerdict | None:
        """The verdict under a key that the store has yet to take."""
        return self._newest.get(key)

    def kept(self, keys: Iterable[str]) -> dict[str, KeptVerdict]:
        """Which of `keys` have such a verdict, and what it says."""
        if not self._newest:
            return {}
        return {key: self._newest[key].kept for key in keys if key in self._newest}

    @property
    def keys(self) -> Container[str]:
        """The keys of such verdicts, as they are at any time."""
        return self._newest.keys()

    def lacks(self, judgment: str) -> bool:
        """Whether the judgment of that id is not recorded yet."""
        return judgment in self._judgments

    def held_by(self, holder: str) -> bool:
        """Whether leases of a holder were not given back yet."""
        return holder in self._holders

    def add(self, verdict: OwedVerdict, problem: str) -> None:
        """Hold a verdict that the store did not take."""
        self.problem = problem
        self._verdicts[verdict] = None
        self._newest[verdict.key] = verdict

    def add_judgment(self, judgment: PastJudgment, problem: str) -> None:
        """Hold a judgment that was not recorded."""
        self.problem = problem
        self._judgments[judgment.id] = judgment

    def add_holder(self, holder: str, count: int) -> None:
        """Give back the leases of a holder later; `count` says about how many."""
        self._holders[holder] = count

    def drop_holder(self, holder: str) -> None:
        """The leases of a holder have been given back."""
        self._holders.pop(holder, None)

    def take_over(self, other: Owed) -> None:
        """Hold from now on what another one of the same file held."""
        self.problem = self.problem or other.problem
        self._verdicts |= other._verdicts
        self._newest |= other._newest
        self._judgments |= other._judgments
        self._holders |= other._holders

    async def offer(self, *, only_verdicts: bool = False) -> bool:
        """Offer the store again what it did not take, up to what it refuses once more.

        False where that is being done already.
        """
        if self._offering:
            return False
        self._offering = True
        try:
            try:
                if await self._offer_verdicts() and not only_verdicts:
                    await self._offer_judgments()
            finally:
                # Nobody has to wait for what is held here, be its verdict kept or not.
                if not only_verdicts:
                    await self._give_back()
        except StoreWriteError as error:
            self.problem = str(error)
        finally:
            self._offering = False
        return True

    async def _offer_verdicts(self) -> bool:
        """Whether the store takes verdicts; one that it can never take is in nobody's way."""
        waiting = list(self._verdicts)
        for start in range(0, len(waiting), AT_ONCE):
            part = waiting[start : start + AT_ONCE]
            said = await asyncio.gather(*map(self._offer_one, part))
            faults = [fault for fault in said if fault is not None]
            if refused := [fault for fault in faults if not is_about_a_row(fault)]:
                self.problem = str(refused[0])
                return False
        return True

    async def _offer_one(self, verdict: OwedVerdict) -> StoreWriteError | None:
        try:
            await self._store.keep(
                verdict.key,
                verdict.kept,
                verdict.provenance,
                # What was answered since, by whomever, is newer.
                replaces_before=min(verdict.replaces_before, verdict.created),
                created=verdict.created,
            )
        except StoreWriteError as error:
            return error
        self.taken += 1
        self._verdicts.pop(verdict, None)
        if self._newest.get(verdict.key) is verdict:
            del self._newest[verdict.key]
        return None

    async def _offer_judgments(self) -> None:
        for id, judgment in list(self._judgments.items()):
            # It says what was not kept when it ended.
            kept = judgment if self._verdicts else _all_kept(judgment)
            await self._store.record_judgment(kept)
            self.taken += 1
            self._judgments.pop(id, None)

    async def _give_back(self) -> None:
        for holder in list(self._holders):
            await leases.release_all(self._store, holder)
            self.taken += 1
            self.drop_holder(holder)


def _all_kept(judgment: PastJudgment) -> PastJudgment:
    said = judgment.result.get("store_error")
    if isinstance(said, str) and said.startswith(FORCED):
        # What a failure was forced on was never held here.
        return judgment
    return replace(judgment, result=judgment.result | {"store_error": None})
