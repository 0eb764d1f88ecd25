"""The library's front door: judge one session, from a file or from events in memory."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from longjudge.chunks import DEFAULT_CHUNK_CHARS
from longjudge.errors import UsageError
from longjudge.judges.make import chosen_model, make_judge
from longjudge.judgment import Judgment
from longjudge.paths import refuse_configuration, store_path
from longjudge.rubric import Rubric, load_rubric
from longjudge.sessions import load_session, session_from_events
from longjudge.settings import (
    DEFAULT_CONCURRENCY,
    DEFAULT_RUBRIC,
    DEFAULT_TIME_LIMIT,
    Settings,
)
from longjudge.states import JudgmentStatus
from longjudge.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from longjudge.result import Result
    from longjudge.sessions import Session


async def open_session(
    path: Path, on_progress: Callable[[int, int], None] | None = None
) -> Session:
    """Load a session in a thread; `on_progress(bytes done, bytes in all)` is called there.

    Raises:
        SessionError: unreadable, or no session.
    """
    stopped = threading.Event()

    def report(done: int, total: int) -> bool:
        if on_progress is not None:
            on_progress(done, total)
        return not stopped.is_set()

    try:
        return await asyncio.to_thread(load_session, path, report)
    finally:
        stopped.set()


async def judge_session(
    events_or_path: str | os.PathLike[str] | Iterable[Mapping[str, object]],
    *,
    model: str | None = None,
    rubric: str | Rubric = DEFAULT_RUBRIC,
    chunk_chars: int = DEFAULT_CHUNK_CHARS,
    concurrency: int = DEFAULT_CONCURRENCY,
    time_limit: float = DEFAULT_TIME_LIMIT,
    store: str | os.PathLike[str] | None = None,
) -> Result | None:
    """Judge one session and keep every verdict; None where the skip condition holds.

    Args:
        events_or_path: A session file, or events as in the generic event list.
        model: A model's name, or `offline`; default `JUDGE_MODEL`, else `claude-haiku-5-5`.
        rubric: A built-in rubric's name, a TOML file, or a rubric.
        chunk_chars: Most characters of event text in a chunk.
        concurrency: Questions in flight.
        time_limit: Seconds from the first question on.
        store: The SQLite file; default `LONGJUDGE_STORE`, else the user's data folder.

    Raises:
        CredentialError: a chunk has to be asked and there is nothing to authenticate with.
        LongjudgeError: anything else that is wrong with what was named.
    """
    refuse_configuration()
    settings = Settings(chunk_chars, concurrency, time_limit)
    rules = rubric if isinstance(rubric, Rubric) else load_rubric(rubric)
    judge = make_judge(chosen_model(model))
    if isinstance(events_or_path, bytes | bytearray | Mapping):
        raise UsageError("judge_session takes a path or a list of events, not an object or bytes")
    if isinstance(events_or_path, str | os.PathLike):
        session = await open_session(Path(events_or_path))
    else:
        session = session_from_events(events_or_path)
    try:
        opened = await Store.open(store_path(store))
        try:
            judgment = Judgment(session, rubric=rules, judge=judge, store=opened, settings=settings)
            result = await judgment.run()
        finally:
            await judge.aclose()
            await opened.aclose()
    finally:
        session.close()
    return None if result.status is JudgmentStatus.NOT_APPLICABLE else result
