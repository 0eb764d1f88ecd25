"""Commits the verdicts of one judgment; a store that cannot be written loses none of them."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from longjudge.keys import key_parts
from longjudge.store import Provenance, StoreWriteError
from longjudge.updates import StoreFailed

if TYPE_CHECKING:
    from longjudge.judges.base import Judge
    from longjudge.prices import Usage
    from longjudge.rubric import Rubric
    from longjudge.store import KeptVerdict, Store
    from longjudge.updates import Listener

COMMIT_SECONDS = 1.0
"""How long an answer may still wait for the store after a stop."""


class Keeper:
    """Writes to the store on a judgment's behalf; `store_error` is the first thing that failed."""

    def __init__(
        self, store: Store, judge: Judge, rubric: Rubric, redactor: str, listener: Listener
    ) -> None:
        self.store_error = store.write_error
        self._store = store
        self._judge = judge
        self._rubric = rubric
        self._redactor = redactor
        self._listener = listener
        self._commits: set[asyncio.Timeout] = set()
        self._bounded = False

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
        replace: bool,
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
        soon = asyncio.get_running_loop().time() + COMMIT_SECONDS
        commit = asyncio.timeout_at(soon if self._bounded else None)
        self._commits.add(commit)
        try:
            async with commit:
                await self._store.keep(key, kept, provenance, replace=replace)
        except StoreWriteError as error:
            self._not_kept(str(error))
        except TimeoutError:
            self._not_kept("the store did not take a verdict in time; another process holds it")
        else:
            return True
        finally:
            self._commits.discard(commit)
        return False

    def _not_kept(self, problem: str) -> None:
        if self.store_error is None:
            self.store_error = problem
            self._listener(StoreFailed(problem))
