"""Runs on their way, a small file for each: one that is left tells of a run ended by force.

What such a run judged is kept, but no judgment of it is recorded: without its chunk size, judge and
rubric nobody would find it again. A note is never worth an error.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from typing import TYPE_CHECKING, Self
from uuid import uuid4

import msgspec

from longjudge.errors import UsageError
from longjudge.history import BROKEN_OFF, ChunkSetting, Entry
from longjudge.owner import Owner, lives, this_process
from longjudge.paths import begun_path
from longjudge.redaction import redacted_text
from longjudge.store import real_path
from longjudge.store.past_pages import pages_of_session
from longjudge.text import without_surrogates

if TYPE_CHECKING:
    from pathlib import Path

    from longjudge.judges.base import Judge
    from longjudge.rubric import Rubric
    from longjudge.sessions import Session
    from longjudge.settings import Settings
    from longjudge.store import Store

NOTE_SECONDS = 1.0
"""How long the beginning of a run waits for its note."""

MOST_NOTES = 50
_MOST_BYTES = 20_000


class _Row(msgspec.Struct, frozen=True):
    store: str
    path: str
    real_path: str
    session_id: str
    title: str
    format: str
    events: int
    rubric: str
    version: str
    model: str
    size: int
    unit: str
    redacted: bool
    chunks: int
    begun: float
    host: str
    boot: str
    pid: int
    started: str

    @property
    def which(self) -> tuple[object, ...]:
        """What a run is about, and by what."""
        return self.real_path, self.session_id, self.by

    @property
    def by(self) -> tuple[str, str, ChunkSetting, bool]:
        """What decides whether a later judgment took over what it judged."""
        return self.model, self.version, ChunkSetting(self.size, self.unit), self.redacted

    def entry(self, id: str) -> Entry:
        """The run as a judgment of the past of which no end is known."""
        return Entry(
            id=id,
            path=self.path,
            real_path=self.real_path,
            session_id=self.session_id,
            title=self.title,
            format=self.format,
            events=self.events,
            rubric=self.rubric,
            version=self.version,
            model=self.model,
            setting=ChunkSetting(self.size, self.unit),
            redacted=self.redacted,
            status=BROKEN_OFF,
            created=self.begun,
            chunks=self.chunks,
            cost_usd=None,
        )


class Begun:
    """Notes a run while it is on its way: `async with`."""

    def __init__(
        self,
        session: Session,
        store: Store,
        *,
        rubric: Rubric,
        judge: Judge,
        settings: Settings,
        chunks: int,
    ) -> None:
        self._about = session, store, rubric, judge, settings, chunks
        self._path: Path | None = None

    async def __aenter__(self) -> Self:
        with contextlib.suppress(OSError, UsageError, TimeoutError):
            async with asyncio.timeout(NOTE_SECONDS):
                self._path = await asyncio.to_thread(self._write)
        return self

    async def __aexit__(self, *_: object) -> None:
        if (path := self._path) is not None:
            await asyncio.to_thread(_remove, path)

    async def drop_earlier(self) -> None:
        """Drop what is left of runs by the same that were ended by force: all of it is told."""
        session, store, *_ = self._about
        if session.path is not None:
            await asyncio.to_thread(_drop_alike, store.path, self._row())

    def _write(self) -> Path | None:
        session, store, *_ = self._about
        if session.path is None or store.write_error is not None:
            return None
        folder = begun_path()
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        path = folder / f"{uuid4().hex}.json"
        descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        try:
            with open(descriptor, "wb") as file:
                file.write(msgspec.json.encode(self._row()))
        except OSError:
            _remove(path)
            raise
        return path

    def _row(self) -> _Row:
        session, store, rubric, judge, settings, chunks = self._about
        title = redacted_text(session.title) if settings.redact else session.title
        owner = this_process()
        tokens = settings.chunk_tokens
        return _Row(
            store=real_path(store.path),
            path=without_surrogates(session.name),
            real_path=real_path(session.path),
            session_id=without_surrogates(session.id),
            title=without_surrogates(title),
            format=session.format,
            events=len(session.index),
            rubric=rubric.name,
            version=rubric.version,
            model=judge.model,
            size=tokens or settings.chunk_chars,
            unit="chars" if tokens is None else "tokens",
            redacted=settings.redact,
            chunks=chunks,
            begun=time.time(),
            host=owner.host,
            boot=owner.boot,
            pid=owner.pid,
            started=owner.started,
        )


async def broken_off(store: Store) -> list[Entry]:
    """The runs that were ended by force, newest first, without those that were judged on since.

    Raises:
        StoreError: the store cannot be read.
    """
    found: list[Entry] = []
    seen: set[object] = set()
    for path, row in await asyncio.to_thread(_left, store.path):
        if row.which in seen or await _judged_on(store, row):
            await asyncio.to_thread(_remove, path)
            continue
        seen.add(row.which)
        found.append(row.entry(f"broken off {path.stem}"))
    return found


async def _judged_on(store: Store, row: _Row) -> bool:
    """Whether a later judgment by the same is recorded."""
    async for page in pages_of_session(store, row.real_path, row.session_id):
        for each in (Entry.of(past, {}) for past in page):
            if each.created <= row.begun:
                return False
            by = each.model, each.version, each.setting, each.redacted
            if each.real_path == row.real_path and by == row.by:
                return True
    return False


def _left(store: Path) -> list[tuple[Path, _Row]]:
    """The notes of processes that do not live any more, newest first; what is none is left."""
    found: list[tuple[Path, _Row]] = []
    here, named = this_process(), real_path(store)
    try:
        paths = [*begun_path().glob("*.json")]
    except (OSError, UsageError):
        return []
    for path in paths:
        try:
            if path.stat().st_size > _MOST_BYTES:
                continue
            row = msgspec.json.decode(path.read_bytes(), type=_Row)
        except (OSError, ValueError, RecursionError):
            continue
        owner = Owner(row.host, row.boot, row.pid, row.started)
        if row.store == named and owner != here and not lives(owner, row.begun, time.monotonic()):
            found.append((path, row))
    found.sort(key=lambda each: -each[1].begun)
    return found[:MOST_NOTES]


def _drop_alike(store: Path, row: _Row) -> None:
    for path, left in _left(store):
        if left.which == row.which:
            _remove(path)


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink(missing_ok=True)
