"""The store: every verdict committed by itself, at once, so that paid work survives any end."""

from __future__ import annotations

import asyncio
import contextlib
import math
import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from longjudge.marks import Mark
from longjudge.store import gap_replies, past, readable, unrecorded
from longjudge.store.file import SHORT_PATIENCE_SECONDS, StoreFile, StoreWriteError
from longjudge.store.grouped import GroupedWrites
from longjudge.store.owed import Owed
from longjudge.text import without_surrogates
from longjudge.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from pathlib import Path

    import aiosqlite

    from longjudge.prices import Usage
    from longjudge.store.past import PastJudgment

__all__ = ["KeptVerdict", "KeyParts", "Provenance", "Store", "StoreWriteError"]

OFFER_SECONDS = 2.0
"""How long a store that is closed is offered what it did not take."""

LOOKUP_KEYS = 5_000
"""Keys of one look-up; more go in several, so that none blocks the connection for long."""

_VERDICT_COLUMNS = (
    "key, verdict, raw_reply, disagrees, model, endpoint, rubric, rubric_version, input_tokens,"
    " output_tokens, cache_read_tokens, cache_write_tokens, cost_usd, created, chunk_digest,"
    " parameters, prompt, rendering, redactor, asked_by"
)

_RENEW = "UPDATE SET " + ", ".join(
    f"{name} = excluded.{name}" for name in _VERDICT_COLUMNS.replace(" ", "").split(",")[1:]
)

# A file may hold any time, and what is no time replaces whatever stands there, if anything may.
# The very row that stands there was committed before a try that failed further on.
_KEEP = f"""
    INSERT INTO verdicts ({_VERDICT_COLUMNS}) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)
    ON CONFLICT (key) DO {_RENEW}
    WHERE (? OR verdicts.created < ?) AND verdicts.created IS NOT excluded.created
"""


@dataclass(frozen=True, slots=True)
class KeptVerdict:
    """A verdict with what is kept beside it.

    `disagrees` is true where the offline rules flag the text that a model called clean.
    """

    verdict: Verdict
    raw_reply: str
    disagrees: bool


@dataclass(frozen=True, slots=True)
class KeyParts:
    """What a key is made of beside model, endpoint and rubric; empty where it was not noted.

    `chunk_digest` is hexadecimal, `parameters` a JSON object.
    """

    chunk_digest: str = ""
    parameters: str = ""
    prompt: str = ""
    rendering: str = ""
    redactor: str = ""


@dataclass(frozen=True, slots=True)
class Provenance:
    """Who gave a verdict, by which rubric, what it cost, and what it was about.

    `asked_by` is the id of the judgment whose result is to count the cost; empty where that is
    noted by other means.
    """

    model: str
    endpoint: str
    rubric: str
    rubric_version: str
    usage: Usage
    cost_usd: float | None
    parts: KeyParts = KeyParts()
    asked_by: str = ""


class Store(StoreFile):
    """The words of the store over its file.

    `owed` is what it still has to get; its verdicts are found like those in the file, since they
    are paid for.
    """

    def __init__(
        self,
        path: Path,
        connection: aiosqlite.Connection,
        write_error: str | None,
        notices: Sequence[str] = (),
    ) -> None:
        super().__init__(path, connection, write_error, notices)
        self._verdicts = GroupedWrites(partial(self.write_each, _KEEP), self.await_at_end)
        self.owed = Owed(self)

    @property
    def why_not_kept(self) -> str | None:
        """Why nothing is kept, or what is not; None where it has every verdict."""
        return self.write_error or self.owed.words

    async def aclose(self) -> None:
        """Offer it once more what it did not take, and close it, for a bounded time."""
        try:
            if self.owed and self.write_error is None:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(OFFER_SECONDS):
                        await self.owed.offer()
        finally:
            await super().aclose()

    async def kept(
        self, keys: Sequence[str], *, with_replies: bool = True
    ) -> dict[str, KeptVerdict]:
        """The verdicts under `keys`, owed ones too; replies are empty where not wanted."""
        found: dict[str, KeptVerdict] = {}
        reply = "raw_reply" if with_replies else "CASE typeof(raw_reply) WHEN 'text' THEN '' END"
        for start in range(0, len(keys), LOOKUP_KEYS):
            rows = await readable.rows_of_keys(
                self,
                f"SELECT key, verdict, {reply}, disagrees FROM verdicts"
                " WHERE key IN (SELECT value FROM json_each(?))",
                keys[start : start + LOOKUP_KEYS],
            )
            for key, verdict, raw_reply, disagrees in rows:
                # A row that does not read is asked again rather than believed.
                if not isinstance(raw_reply, str):
                    continue
                with contextlib.suppress(ValueError, TypeError):
                    found[key] = KeptVerdict(Verdict.from_json(verdict), raw_reply, bool(disagrees))
        return found | self.owed.kept(keys)

    async def kept_keys(self, keys: Sequence[str]) -> set[str]:
        """Which of `keys` have a verdict, be it owed."""
        found: set[str] = set()
        for start in range(0, len(keys), LOOKUP_KEYS):
            rows = await readable.rows_of_keys(
                self,
                "SELECT key FROM verdicts WHERE key IN (SELECT value FROM json_each(?))",
                keys[start : start + LOOKUP_KEYS],
            )
            found.update(row[0] for row in rows)
        return found.union(self.owed.kept(keys))

    async def all_keys(self) -> set[str]:
        """Every key in the store; what a preview that follows a drag looks keys up in."""
        return await readable.all_keys(self)

    async def keep(
        self,
        key: str,
        kept: KeptVerdict,
        provenance: Provenance,
        *,
        replaces_before: float = math.inf,
        created: float | None = None,
    ) -> None:
        """Commit a verdict; returns after the commit, which a cancelled caller cannot stop.

        It ends the lease on its key. A verdict that stands under the key already becomes history;
        one that is not from before `replaces_before` (seconds since 1970) stays, and nothing is
        written. Whoever offers a verdict more than once says when it was `created`: it is the same
        one then, and no second answer.

        Raises:
            StoreWriteError: nothing was written.
        """
        usage, parts = provenance.usage, provenance.parts
        await self._verdicts.add(
            (
                key,
                kept.verdict.to_json(),
                without_surrogates(kept.raw_reply),
                int(kept.disagrees),
                provenance.model,
                provenance.endpoint,
                provenance.rubric,
                provenance.rubric_version,
                usage.input_tokens,
                usage.output_tokens,
                usage.cache_read_tokens,
                usage.cache_write_tokens,
                provenance.cost_usd,
                time.time() if created is None else created,
                parts.chunk_digest,
                parts.parameters,
                parts.prompt,
                parts.rendering,
                parts.redactor,
                provenance.asked_by,
                replaces_before == math.inf,
                replaces_before,
            ),
        )

    async def record_judgment(self, judgment: PastJudgment) -> None:
        """Commit a judgment's result and what its gaps' judge said; `judgment.result` is whole.

        Raises:
            StoreWriteError: nothing was written.
        """
        self._patience = min(self._patience, SHORT_PATIENCE_SECONDS)
        row = await asyncio.to_thread(past.to_row, judgment)
        gaps = gap_replies.to_rows(judgment.id, judgment.gaps)
        await self.write_together(
            (past.INSERT, [row]),
            (gap_replies.DELETE, [(judgment.id,)]),
            (gap_replies.INSERT, gaps),
            *unrecorded.recorded(judgment.id, judgment.batched),
        )

    async def judgment(self, id: str) -> PastJudgment | None:
        """The judgment of that id, whole; None where there is none."""
        async for judgment in self._judgments([id], whole=True):
            return judgment
        return None

    async def judgment_ids(self, since: float | None = None) -> list[str]:
        """Ids of the judgments, newest first; `since` in seconds since 1970."""
        rows = await self.read(
            "SELECT id FROM judgments WHERE created >= ? ORDER BY created DESC, id DESC",
            (since if since is not None else float("-inf"),),
        )
        return [row[0] for row in rows]

    async def judgments_of_prefix(self, prefix: str, most: int = 2) -> list[str]:
        """Ids that begin with `prefix`, at most so many."""
        prefix = without_surrogates(prefix)
        rows = await self.read(
            "SELECT id FROM judgments WHERE id >= ? AND id < ? ORDER BY id LIMIT ?",
            (prefix, f"{prefix}\U0010ffff", most),
        )
        return [row[0] for row in rows]

    async def last_judgments(self) -> list[PastJudgment]:
        """The newest judgment of each session (real path and id), newest first.

        Their results have no `parts`; `judgment` has them.
        """
        rows = await self.read(past.LAST_IDS)
        return [judgment async for judgment in self._judgments([row[1] for row in rows])]

    async def judgments(self, since: float | None = None) -> list[PastJudgment]:
        """All judgments, newest first; their results have no `parts`."""
        ids = await self.judgment_ids(since)
        return [judgment async for judgment in self._judgments(ids)]

    def stream_judgments(self, ids: Sequence[str], *, whole: bool) -> AsyncIterator[PastJudgment]:
        """The judgments of these ids, in their order, a few in memory at a time."""
        return self._judgments(ids, whole=whole)

    async def _judgments(
        self, ids: Sequence[str], *, whole: bool = False
    ) -> AsyncIterator[PastJudgment]:
        size = past.WHOLE_PAGE if whole else past.PAGE
        for start in range(0, len(ids), size):
            page = ids[start : start + size]
            rows = await self.read(past.select(whole=whole), (_json_list(page),))
            found = {row[0]: row for row in rows}
            for id in page:
                # A row that was deleted meanwhile, or does not read, is none.
                if id in found and (judgment := past.from_row(found[id])) is not None:
                    yield judgment

    async def marks(self) -> dict[tuple[bytes, str], Mark]:
        """All marks, by the digest of what they are about and the criterion."""
        marks: dict[tuple[bytes, str], Mark] = {}
        for digest, criterion, mark in await self.read("SELECT digest, criterion, mark FROM marks"):
            with contextlib.suppress(ValueError, TypeError):
                marks[bytes.fromhex(digest), criterion] = Mark(mark)
        return marks

    async def set_mark(self, digest: bytes, criterion: str, mark: Mark | None) -> None:
        """Commit a mark, or with None take it away.

        Raises:
            StoreWriteError: nothing was written.
        """
        if mark is None:
            await self.write(
                "DELETE FROM marks WHERE digest = ? AND criterion = ?", (digest.hex(), criterion)
            )
        else:
            await self.write(
                "INSERT OR REPLACE INTO marks (digest, criterion, mark, created) VALUES (?,?,?,?)",
                (digest.hex(), criterion, mark.value, time.time()),
            )


def _json_list(keys: Sequence[str]) -> str:
    return msgspec.json.encode(list(keys)).decode()
