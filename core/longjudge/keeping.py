"""Commits the verdicts of one judgment; a store that cannot be written loses none of them.

What a store did not take it is owed (`store/owed.py`): that is offered to it again as soon as it
takes another, at the end, and after it.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

from longjudge.judges.faulty import forced_fault
from longjudge.keys import key_parts
from longjudge.losses import forced_full_disk, owed_words, store_error_words
from longjudge.prompt import chunk_tag
from longjudge.store import OwedVerdict, Provenance, StoreWriteError
from longjudge.store.unrecorded import note_cost
from longjudge.updates import StoreFailed, StoreTakes

if TYPE_CHECKING:
    from collections.abc import Awaitable
    from typing import TypeVar

    from longjudge.judges.base import Judge
    from longjudge.prices import Usage
    from longjudge.rubric import Rubric
    from longjudge.store import KeptVerdict, Store
    from longjudge.updates import Listener

    T = TypeVar("T")

COMMIT_SECONDS = 1.0
"""How long an answer may still wait for the store after a stop."""

_TOO_LATE = "the store did not take a verdict in time; another process holds it"


class Keeper:
    """Writes to the store on a judgment's behalf."""

    def __init__(
        self,
        store: Store,
        judge: Judge,
        rubric: Rubric,
        redactor: str,
        listener: Listener,
        *,
        judgment: str,
    ) -> None:
        self._problem = store.write_error
        self._failing = store.write_error is not None
        self._refused: dict[OwedVerdict, None] = {}
        self._found = False
        self._lost = 0
        self._taken = 0
        self._fault = forced_fault(judge)
        self._store = store
        self._judge = judge
        self._rubric = rubric
        self._redactor = redactor
        self._judgment = judgment
        self._listener = listener
        self._commits: set[asyncio.Timeout] = set()
        self._bounded = False

    @property
    def store_error(self) -> str | None:
        """The first thing that failed, and what it cost; None while the store has everything."""
        missing = self._missing
        if self._problem is None or self._store.write_error == self._problem:
            return self._problem
        if missing and self._found:
            return owed_words(self._problem, missing)
        judged = len(self._refused) + self._lost + self._taken
        return store_error_words(self._problem, missing, judged) if missing else None

    @property
    def _missing(self) -> int:
        owed = self._store.owed
        return self._lost + sum(each in owed for each in self._refused)

    def bound(self) -> None:
        """Let no commit wait long from now on: the judgment is being stopped."""
        self._bounded = True
        soon = asyncio.get_running_loop().time() + COMMIT_SECONDS
        for commit in self._commits:
            commit.reschedule(soon)

    async def keep(
        self,
        key: str,
        kept: KeptVerdict,
        chunk_digest: bytes,
        usage: Usage,
        cost: float | None,
        *,
        part: int,
        replaces_before: float,
    ) -> bool:
        """Commit a verdict; False where the store did not take it, which is said once."""
        judge, rubric = self._judge, self._rubric
        provenance = Provenance(
            judge.model,
            judge.endpoint,
            rubric.name,
            rubric.version,
            usage,
            cost,
            key_parts(judge, chunk_digest, redactor=self._redactor),
            self._judgment,
        )
        if self._fault is not None and self._fault.fills_disk(part, chunk_tag(chunk_digest)):
            self._lost += 1
            self._not_kept(forced_full_disk(self._store))
            return False
        verdict = OwedVerdict(key, kept, provenance, replaces_before)
        try:
            problem = await self._commit(verdict)
        except asyncio.CancelledError:
            # It may be on its way still; the same one offered twice is kept once.
            self._store.owed.add(verdict, _TOO_LATE)
            raise
        if problem is not None:
            self._store.owed.add(verdict, problem)
            self._refused[verdict] = None
            self._not_kept(problem)
            return False
        self._taken += 1
        if self._fault is not None:
            self._fault.committed()
        await self.keep_refused()
        return True

    async def note_cost(self, cost: float | None) -> None:
        """Note what an answer cost that is no verdict, in case this judgment is never recorded.

        A store that does not take it stops nothing: the result has the cost as well.
        """
        if cost == 0 or self._store.write_error is not None or self._fault is not None:
            return
        with contextlib.suppress(StoreWriteError, TimeoutError):
            await self._within_bounds(note_cost(self._store, self._judgment, cost))

    def find_owed(self, key: str) -> KeptVerdict | None:
        """A verdict that an earlier judgment paid for, and that the store has not taken yet."""
        verdict = self._store.owed.newest(key)
        if verdict is None:
            return None
        self._refused[verdict], self._found = None, True
        self._not_kept(self._store.owed.problem)
        return verdict.kept

    async def keep_refused(self, *, everything: bool = False) -> bool:
        """Offer the store again the verdicts that it did not take, or `everything` it is owed.

        Up to what it refuses once more. False where that is being done already.
        """
        owed = self._store.owed
        done = True
        if owed:
            try:
                done = await self._within_bounds(owed.offer(only_verdicts=not everything))
            except TimeoutError:
                self._not_kept(_TOO_LATE)
        if self._failing and not self._missing and self._store.write_error is None:
            self._failing = False
            self._listener(StoreTakes())
        return done

    async def _commit(self, verdict: OwedVerdict) -> str | None:
        """Why the store did not take a verdict; None where it did."""
        owed = self._store.owed
        if owed.newest(verdict.key) is not None and not await self._first(verdict.key):
            return owed.problem
        try:
            await self._within_bounds(
                self._store.keep(
                    verdict.key,
                    verdict.kept,
                    verdict.provenance,
                    replaces_before=verdict.replaces_before,
                    created=verdict.created,
                )
            )
        except StoreWriteError as error:
            return str(error)
        except TimeoutError:
            return _TOO_LATE
        return None

    async def _first(self, key: str) -> bool:
        """Whether what was answered before under a key is in the store: that comes first."""
        await self.keep_refused()
        return self._store.owed.newest(key) is None

    async def _within_bounds(self, write: Awaitable[T]) -> T:
        """Await a write; once the judgment is being stopped, not for long.

        Raises:
            TimeoutError: it took too long.
        """
        soon = asyncio.get_running_loop().time() + COMMIT_SECONDS
        commit = asyncio.timeout_at(soon if self._bounded else None)
        self._commits.add(commit)
        try:
            async with commit:
                return await write
        finally:
            self._commits.discard(commit)

    def _not_kept(self, problem: str) -> None:
        self._problem = self._problem or problem
        if not self._failing:
            self._failing = True
            self._listener(StoreFailed(problem))
