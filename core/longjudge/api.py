"""The library's front door: judge one session, from a file or from events in memory."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import threading
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from longjudge.config import choose, load_configuration
from longjudge.errors import StoreError, UsageError
from longjudge.faults import Fault
from longjudge.holds import sweep_holds
from longjudge.judges.make import make_judge, notice_about
from longjudge.judgment import Judgment
from longjudge.rubric import Rubric, load_rubric
from longjudge.sessions import choose_session, load_sessions, session_from_events
from longjudge.states import JudgmentStatus
from longjudge.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from longjudge.result import Result
    from longjudge.sessions import Session

_LOG = logging.getLogger("longjudge")
# Whoever wants to read it adds a handler; a library prints nothing by itself.
_LOG.addHandler(logging.NullHandler())


async def open_session(
    path: Path,
    on_progress: Callable[[int, int], None] | None = None,
    session: str | None = None,
) -> Session:
    """Load a session in a thread; `on_progress(bytes done, bytes in all)` is called there.

    `session` is the id of the one to load from a file with many.

    Raises:
        SessionError: unreadable, or no session.
    """
    return choose_session(await open_sessions(path, on_progress), session)


async def open_sessions(
    path: Path,
    on_progress: Callable[[int, int], None] | None = None,
    read_before: set[int] | None = None,
) -> list[Session]:
    """Load every session of a file in a thread; `read_before` is as in `load_sessions`.

    Raises:
        SessionError: unreadable, or no session.
    """
    stopped = threading.Event()

    def report(done: int, total: int) -> bool:
        if on_progress is not None:
            on_progress(done, total)
        return not stopped.is_set()

    try:
        return await asyncio.to_thread(load_sessions, path, report, read_before)
    finally:
        stopped.set()


async def judge_session(
    events_or_path: str | os.PathLike[str] | Iterable[Mapping[str, object]],
    *,
    model: str | None = None,
    rubric: str | Rubric | None = None,
    chunk_chars: int | None = None,
    chunk_tokens: int | None = None,
    concurrency: int | None = None,
    time_limit: float | None = None,
    store: str | os.PathLike[str] | None = None,
    fresh: bool = False,
    session: str | None = None,
    redact: bool = True,
    fault: str | Fault | None = None,
) -> Result | None:
    """Judge one session and keep every verdict; None where the skip condition holds.

    What is None is taken from the environment, else from the configuration file, else it is the
    default. A deprecated or unknown model is said in the log `longjudge`, and asked.

    Args:
        events_or_path: A session file, or events as in the generic event list.
        model: A model, a profile, or `offline`; `JUDGE_MODEL`; default `claude-haiku-5-5`.
        rubric: A rubric's name, a TOML file, or a rubric; default `chunks`.
        chunk_chars: Most characters of event text in a chunk; default 30,000.
        chunk_tokens: Most tokens of event text in a chunk, instead of characters.
        concurrency: Questions in flight; default 4.
        time_limit: Seconds from the first question on; default 600.
        store: The SQLite file; `LONGJUDGE_STORE`; default in the user's data folder.
        fresh: Ask about every chunk; the new verdicts replace the kept ones.
        session: The id of the session to judge, of a file with many.
        redact: Replace keys, tokens and passwords in what is sent by placeholders.
        fault: Failures to force, as `judge --fault` takes them; the result's `fault` names them.

    Raises:
        CredentialError: a chunk has to be asked and there is nothing to authenticate with.
        LongjudgeError: anything else that is wrong with what was named.
    """
    forced = Fault.parse(fault) if isinstance(fault, str) else fault
    config = load_configuration()
    choice = choose(
        config,
        model=model,
        rubric=None if isinstance(rubric, Rubric) else rubric,
        chunk_chars=chunk_chars,
        chunk_tokens=chunk_tokens,
        concurrency=concurrency,
        time_limit=time_limit,
        store=store,
        redact=redact,
    )
    rules = rubric if isinstance(rubric, Rubric) else load_rubric(choice.rubric, config.rubrics)
    judge = make_judge(choice.model, config)
    if notice := await asyncio.to_thread(notice_about, choice.model, config):
        _LOG.warning("%s; asking anyway", notice.text)
    if isinstance(events_or_path, bytes | bytearray | Mapping):
        raise UsageError("judge_session takes a path or a list of events, not an object or bytes")
    if isinstance(events_or_path, str | os.PathLike):
        opened = await open_session(Path(events_or_path), session=session)
    else:
        opened = session_from_events(events_or_path)
    try:
        kept = await Store.open(choice.store)
        try:
            with contextlib.suppress(StoreError):
                await sweep_holds(kept)
            for notice in kept.notices:
                _LOG.warning("%s", notice)
            judgment = Judgment(
                opened,
                rubric=rules,
                judge=judge,
                store=kept,
                settings=choice.settings,
                fresh=fresh,
                fault=forced,
            )
            result = await judgment.run()
        finally:
            try:
                await judge.aclose()
            finally:
                # Also where the caller is cancelled once more meanwhile.
                await kept.aclose()
    finally:
        opened.close()
    if result.store_error and not (kept.write_error or kept.owed or forced):
        # It was taken when the store was closed.
        result = replace(result, store_error=None)
    return None if result.status is JudgmentStatus.NOT_APPLICABLE else result
