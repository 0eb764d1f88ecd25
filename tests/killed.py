"""Judges and tells every step as it takes it, so that whoever kills it knows what was shown.

Run as a program it forks one process per line of standard input, which saves each the imports.
What it tells goes into a pipe with a name, a line for each step:

`pid N` · `asked PART` when a question is sent · `shown PART STATE` when a verdict is shown ·
`sql STATEMENT` before the store is asked for it · `result JSON` · `closing` · `closed`
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import aiosqlite

from kills import WORKERS
from longjudge.api import open_session
from longjudge.cli.holds import sweep_at_start
from longjudge.faults import Fault
from longjudge.judges.offline import OfflineJudge
from longjudge.judgment import Judgment
from longjudge.rubric import load_rubric
from longjudge.settings import Settings
from longjudge.states import ChunkState
from longjudge.store import Store
from longjudge.updates import ChunkUpdate
from sessions_for_tests import CHUNK_CHARS

if TYPE_CHECKING:
    from longjudge.judges.base import Answer, Question
    from longjudge.updates import Update

LATENCY = 0.004
"""How many seconds an answer takes at most."""


@dataclass(frozen=True, slots=True)
class Job:
    """What a process judges, and the pipe that it tells."""

    pipe: str
    session: str
    store: str
    seed: int
    fresh: bool = False
    fault: str | None = None


class Telling:
    """One line per step, in the pipe before the step is over."""

    def __init__(self, pipe: str) -> None:
        self._pipe = os.open(pipe, os.O_WRONLY)

    def __call__(self, *words: object) -> None:
        os.write(self._pipe, (" ".join(map(str, words)) + "\n").encode())

    def listen(self, update: Update) -> None:
        shown = ChunkState.CLEAN, ChunkState.FLAGGED
        if isinstance(update, ChunkUpdate) and update.state in shown:
            assert update.stored
            self("shown", update.part, update.state)


class TellingJudge(OfflineJudge):
    """The offline rules, which take their time."""

    def __init__(self, tell: Telling, seed: int) -> None:
        super().__init__()
        self._tell = tell
        self._random = random.Random(seed)

    async def ask(self, question: Question, *, max_tokens: int) -> Answer:
        self._tell("asked", question.part)
        await asyncio.sleep(self._random.uniform(0.0, LATENCY))
        return await super().ask(question, max_tokens=max_tokens)


def tell_statements(tell: Telling) -> None:
    """Tell every statement to the store before it is made."""
    for name in ("execute", "executemany", "execute_fetchall"):
        plain = getattr(aiosqlite.Connection, name)

        def told(self: object, sql: str, *values: Any, plain: Any = plain) -> Any:
            tell("sql", " ".join(sql.split())[:60])
            return plain(self, sql, *values)

        setattr(aiosqlite.Connection, name, told)


async def judge(job: Job, tell: Telling) -> None:
    """What `longjudge judge` does with one session."""
    session = await open_session(Path(job.session))
    store = await Store.open(Path(job.store))
    assert store.write_error is None
    await sweep_at_start(store)
    judgment = Judgment(
        session,
        rubric=load_rubric("chunks"),
        judge=TellingJudge(tell, job.seed),
        store=store,
        settings=Settings(CHUNK_CHARS, WORKERS),
        listener=tell.listen,
        fresh=job.fresh,
        fault=Fault.parse(job.fault) if job.fault else None,
    )
    result = await judgment.run()
    tell("result", json.dumps(result.to_dict()))
    tell("closing")
    await store.aclose()
    session.close()
    tell("closed")


def judge_as(job: Job) -> None:
    """Be a process of its own, and do the job."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    tell = Telling(job.pipe)
    tell("pid", os.getpid())
    tell_statements(tell)
    asyncio.run(judge(job, tell))


def main() -> None:
    # Who is killed leaves nothing to be fetched.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    for line in sys.stdin:
        if not os.fork():
            judge_as(Job(**json.loads(line)))
            return


if __name__ == "__main__":
    main()
