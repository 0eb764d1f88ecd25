"""Opens the app: what it needs is made before the screen opens, and closed after it is gone.

The judgments, the judge and the store belong to this module and not to the app, since an app's
own workers are cut off on exit; here their end is awaited, for a bounded time.
"""

from __future__ import annotations

import asyncio
import os
import sys
from typing import TYPE_CHECKING

from longjudge.errors import UsageError
from longjudge.judges.credentials import header_credential, may_have_profile, static_credential
from longjudge.judges.make import make_judge
from longjudge.judges.offline import OfflineJudge, believable_delay
from longjudge.paths import refuse_configuration, sample_sessions
from longjudge.prices import OFFLINE_MODEL
from longjudge.sessions import find_sessions
from longjudge.settings import DEFAULT_MODEL
from longjudge.signals import signals_to_handle
from longjudge.store import Store
from longjudge_tui.app import LongjudgeApp
from longjudge_tui.bench import Bench
from longjudge_tui.driver import PatientDriver

if TYPE_CHECKING:
    from longjudge.judges.base import Judge
    from longjudge.launch import AppRequest

SWITCH_SECONDS = 0.0005
"""How long a thread that reads a session may hold the screen up."""

CLOSE_SECONDS = 3.0


def open_app(request: AppRequest) -> int:
    """Open the app and return its exit code.

    Raises:
        LongjudgeError: there is nothing to open, or something it needs cannot be used.
    """
    sys.setswitchinterval(SWITCH_SECONDS)
    code = asyncio.run(_open(request))
    if PatientDriver.stuck:
        # Everything is closed but the terminal, which takes nothing: Python would wait for it.
        os._exit(code)
    return code


def choose_judge(model: str | None) -> Judge:
    """The judge that was named; without a name and a credential, the offline rules."""
    if model is None:
        found = static_credential() or header_credential() or may_have_profile()
        model = DEFAULT_MODEL if found else OFFLINE_MODEL
    if model == OFFLINE_MODEL:
        return OfflineJudge(delay=believable_delay)
    return make_judge(model, freeze_after_import=True)


async def _open(request: AppRequest) -> int:
    refuse_configuration()
    judge = choose_judge(request.model)
    judge.check_rubric(request.rubric)
    files = await asyncio.to_thread(find_sessions, request.paths or (sample_sessions(),))
    if not files:
        raise UsageError("no session found; name a session file or its folder")
    store = await Store.open(request.store)
    bench: Bench | None = None
    try:
        bench = Bench(
            files,
            judge=judge,
            rubric=request.rubric,
            store=store,
            settings=request.settings,
            kept=await store.all_keys(),
        )
        return await _show(bench)
    finally:
        # Each step is bounded, so that the program ends whatever hangs.
        if bench is not None:
            await bench.aclose()
        await _bounded_close(judge)
        await store.aclose()


async def _show(bench: Bench) -> int:
    app = LongjudgeApp(bench)
    loop = asyncio.get_running_loop()
    stopped_by: list[int] = []

    def stop(number: int) -> None:
        # The first signal names the exit code; a later one finds the app on its way out.
        if not stopped_by:
            stopped_by.append(number)
            app.exit(return_code=128 + number)

    app.driver_class = PatientDriver
    for number in signals_to_handle():
        loop.add_signal_handler(number, stop, number)
    bench.open_first()
    await app.run_async()
    if stopped_by:
        return 128 + stopped_by[0]
    if bench.fatal is not None:
        raise bench.fatal
    return app.return_code or 0


async def _bounded_close(judge: Judge) -> None:
    try:
        async with asyncio.timeout(CLOSE_SECONDS):
            await judge.aclose()
    except TimeoutError:
        return
