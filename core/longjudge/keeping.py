"""Commits the verdicts of one judgment; a store that cannot be written loses none of them.

What a store did not take is offered to it again as soon as it takes another, and at the end.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from longjudge.judges.faulty import forced_fault
from longjudge.keys import key_parts
from longjudge.losses import store_error_words
from longjudge.prompt import chunk_tag
from longjudge.store import Provenance, StoreWriteError
from longjudge.text import clean_line
from longjudge.updates import StoreFailed, StoreTakes

if TYPE_CHECKING:
    from longjudge.judges.base import Judge
    from longjudge.prices import Usage
    from longjudge.rubric import Rubric
    from longjudge.store import KeptVerdict, Store
    from longjudge.updates import Listener

COMMIT_SECONDS = 1.0
"""How long an answer may still wait for the store after a stop."""


def forced_full_disk(store: Store) -> str:
    """What a store on a full disk says, where that is forced."""
    return f"forced: {clean_line(str(store.path))}: database or disk is full"


@dataclass(frozen=True, slots=True)
class _Verdict:
    """What goes into the store at once."""

    key: str
    kept: KeptVerdict
    provenance: Provenance
    replaces_before: float
    created: float


class Keeper:
    """Writes to the store on a judgment's behalf."""

    def __init__(
        self, store: Store, judge: Judge, rubric: Rubric, redactor: str, listener: Listener
    ) -> None:
        self._problem = store.write_error
        self._failing = store.write_error is not None
        self._refused: list[_Verdict] = []
        self._offering = False
        self._lost = 0
        self._taken = 0
        self._fault = forced_fault(judge)
        self._store = store
        self._judge = judge
        self._rubric = rubric
        self._redactor = redactor
        self._listener = listener
        self._commits: set[asyncio.Timeout] = set()
        self._bounded = False

    @property
    def store_error(self) -> str | None:
        """The first thing that failed, and what it cost; None while the store has everything."""
        missing = len(self._refused) + self._lost
        if self._problem is None or self._store.write_error == self._problem:
            return self._problem
        return store_error_words(self._problem, missing, missing + self._taken) if missing else None

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
        )
        if self._fault is not None and self._fault.fills_disk(part, chunk_tag(chunk_digest)):
            self._lost += 1
            self._not_kept(forced_full_disk(self._store))
            return False
        verdict = _Verdict(key, kept, provenance, replaces_before, time.time())
        if not await self._commit(verdict):
            self._refused.append(verdict)
            return False
        if self._fault is not None:
            self._fault.committed()
        await self.keep_refused()
        return True

    async def keep_refused(self) -> bool:
        """Offer the store again what it did not take, up to what it refuses once more.

        False where that is being done already.
        """
        if self._offering:
            return False
        self._offering = True
        try:
            while self._refused and await self._commit(self._refused[0]):
                del self._refused[0]
        finally:
            self._offering = False
        if self._failing and not self._refused and not self._lost:
            self._failing = False
            self._listener(StoreTakes())
        return True

    async def _commit(self, verdict: _Verdict) -> bool:
        soon = asyncio.get_running_loop().time() + COMMIT_SECONDS
        commit = asyncio.timeout_at(soon if self._bounded else None)
        self._commits.add(commit)
        try:
            async with commit:
                await self._store.keep(
                    verdict.key,
                    verdict.kept,
                    verdict.provenance,
                    replaces_before=verdict.replaces_before,
                    created=verdict.created,
                )
        except StoreWriteError as error:
            self._not_kept(str(error))
        except TimeoutError:
            self._not_kept("the store did not take a verdict in time; another process holds it")
        else:
            self._taken += 1
            return True
        finally:
            self._commits.discard(commit)
        return False

    def _not_kept(self, problem: str) -> None:
        self._problem = self._problem or problem
        if not self._failing:
            self._failing = True
            self._listener(StoreFailed(problem))
