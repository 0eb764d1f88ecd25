"""`longjudge judge`: results as they finish, an honest exit code."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click
import msgspec

from longjudge.cli.files import Reading, session_files, since_of
from longjudge.cli.following import batches_followed
from longjudge.cli.holds import sweep_at_start
from longjudge.cli.judge_batch import BatchRun, check_batch
from longjudge.cli.judge_live import LiveRun
from longjudge.cli.judge_run import ExitCode, Run, Stop, open_store
from longjudge.cli.model_note import ModelNote
from longjudge.cli.present import result_text
from longjudge.faults import forced_words
from longjudge.judges.offline import offline_caveat
from longjudge.redaction import redacted_fields
from longjudge.signals import heed_signals
from longjudge.streams import tell

if TYPE_CHECKING:
    from collections.abc import Sequence

    from longjudge.budget import Budget
    from longjudge.cli.options import Judging
    from longjudge.faults import Fault
    from longjudge.result import Result


@dataclass(frozen=True, slots=True)
class Request:
    """What `judge` was asked for beside what is judged with; `since` is an age in words."""

    paths: Sequence[str]
    budget: Budget
    as_json: bool = False
    fail_under: float | None = None
    max_gaps: int = 0
    fresh: bool = False
    wanted: str | None = None
    fault: Fault | None = None
    batch: bool = False
    detach: bool = False
    since: str | None = None


def judge_paths(judging: Judging, request: Request) -> int:
    """Judge every session that was named, and return the exit code.

    Raises:
        LongjudgeError: what was named cannot be used.
    """

    async def judge() -> int:
        with contextlib.ExitStack() as signals:
            return await _judge_paths(judging, request, signals)

    return asyncio.run(judge())


async def _judge_paths(judging: Judging, request: Request, signals: contextlib.ExitStack) -> int:
    settings = judging.settings(batch=request.batch)
    rubric, judge = judging.load_rubric(), judging.make_judge()
    judge.check_rubric(rubric)
    request.budget.check_judge(judge)
    check_batch(batch=request.batch, detach=request.detach, fault=request.fault)
    if caveat := offline_caveat(judge, rubric):
        tell(f"longjudge: {caveat}")
    if request.fault is not None:
        tell(f"longjudge: {forced_words(request.fault.spec)}")
    files = session_files(request.paths, "judge")
    loop, stop, code = asyncio.get_running_loop(), Stop(), ExitCode()
    reading = Reading(request.wanted, since_of(request.since))
    signals.enter_context(heed_signals(loop, stop.request))
    store = await open_store(judging.store_path(), stop)
    note = ModelNote(judging, asks=True)
    run = Run(
        rubric,
        judge,
        settings,
        store,
        stop,
        reading,
        request.fresh,
        request.budget,
        note,
        request.fault,
    )
    try:
        # A batch run takes over by itself what was left.
        await sweep_at_start(store, None if request.batch else judging.config)
        files = await reading.recent(files)

        def show(result: Result) -> None:
            code.count(result, request.fail_under, request.max_gaps)
            run.said_not_kept |= result.store_error is not None
            click.echo(_line(result, as_json=request.as_json, redact=settings.redact))

        reading.begin(files)
        if request.batch:
            await BatchRun(run, judging, show, detach=request.detach).judge(files)
        else:
            live = LiveRun(run)
            async with batches_followed(run, judging.config.batches.to_pace()):
                for file in files:
                    await live.judge_file(file, show)
    finally:
        try:
            await judge.aclose()
        finally:
            await run.store.aclose()
            run.say_what_is_not_kept()
    if stop.requested and run.not_begun:
        tell(f"longjudge: {run.not_begun} session(s) were not begun")
    if run.credential is not None:
        tell(f"longjudge: {run.credential}")
    elif not stop.requested:
        reading.close(request.paths)
    code.usage = reading.failed or run.credential is not None
    code.gaps |= run.unsent
    return code.code(stop.signal)


def _line(result: Result, *, as_json: bool, redact: bool) -> str:
    fields = result.to_dict()
    if redact:
        fields = redacted_fields(fields)
    return msgspec.json.encode(fields).decode() if as_json else result_text(fields)
