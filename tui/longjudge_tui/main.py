"""Opens the app: what it needs is made before the screen opens, and closed after it is gone.

The judgments, the judge and the store belong to this module and not to the app, since an app's
own workers are cut off on exit; here their end is awaited, for a bounded time.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from longjudge.errors import RubricError, UsageError
from longjudge.judges.make import make_judge, missing_credential
from longjudge.judges.offline import OfflineJudge, believable_delay
from longjudge.paths import layout_path, sample_sessions
from longjudge.prices import OFFLINE_MODEL
from longjudge.sessions import discover_sessions, find_sessions
from longjudge.signals import heed_signals
from longjudge.store import Store
from longjudge.streams import tell
from longjudge.text import clean_line
from longjudge_tui.app import LongjudgeApp
from longjudge_tui.bench.bench import Bench
from longjudge_tui.bench.kept_layout import KeptLayout
from longjudge_tui.bench.tour import Tour
from longjudge_tui.crashes import AppDiedError
from longjudge_tui.driver import PatientDriver
from longjudge_tui.library.shelf import Found, Shelf
from longjudge_tui.logs import log_to_file
from longjudge_tui.pauses import spare_pauses

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from longjudge.config import Configuration
    from longjudge.judges.base import Judge
    from longjudge.launch import AppRequest

SWITCH_SECONDS = 0.0005
"""How long a thread that reads a session may hold the screen up."""

CLOSE_SECONDS = 3.0

HANG_UP = 1
"""The number of the signal that says that the terminal is gone: what is out may run on."""


def open_app(request: AppRequest) -> int:
    """Open the app and return its exit code.

    Raises:
        LongjudgeError: there is nothing to open, or something it needs cannot be used.
    """
    sys.setswitchinterval(SWITCH_SECONDS)
    code = asyncio.run(_open_heeding_signals(request))
    if PatientDriver.stuck:
        # Everything is closed but the terminal, which takes nothing: Python would wait for it.
        os._exit(code)
    return code


def choose_judge(
    model: str | None, config: Configuration | None = None, *, given: bool = True
) -> Judge:
    """The judge that was chosen; without its credential, the offline rules.

    They never take the place of a model that was `given` on this command line.
    """
    insist = given and model is not None
    if model == OFFLINE_MODEL or not (insist or missing_credential(model, config) is None):
        return OfflineJudge(delay=believable_delay)
    return make_judge(model, config, freeze_after_import=True)


def say_fallback(request: AppRequest, judge: Judge) -> list[str]:
    """What to say where the offline rules judge instead of a model that someone chose."""
    missing = missing_credential(request.model, request.config)
    if request.model is None or judge.model != OFFLINE_MODEL or missing is None:
        return []
    return [f"{missing}: the offline rules judge instead of {request.model}"]


def check_rubric(request: AppRequest, judge: Judge) -> None:
    """Refuse a rubric that the judge cannot answer, and say why it is this judge.

    Raises:
        RubricError: a criterion has no offline rules.
    """
    try:
        judge.check_rubric(request.rubric)
    except RubricError as error:
        missing = missing_credential(request.model, request.config)
        why = f"{missing}, and the offline rules cannot judge instead: " if missing else ""
        raise RubricError(f"{why}{error}") from error


def find_files(paths: Sequence[Path], wanted: str | None = None) -> Found:
    """What the paths hold; with none, the sessions on this computer, else the samples.

    With an id `wanted`, only that session.

    Raises:
        UsageError: no file is named after the wanted one.
    """
    found = _find_all(paths)
    if wanted is None:
        return found
    if len(found.files) == 1:
        return Found([replace(found.files[0], session=wanted)], found.where)
    named_so = [file for file in found.files if wanted in file.path.stem]
    if not named_so:
        raise UsageError(
            f"no file is named after session {clean_line(wanted, 80)}; name the file that holds it"
        )
    return Found(named_so, found.where)


def _find_all(paths: Sequence[Path]) -> Found:
    if paths:
        names = ", ".join(clean_line(str(path), 60) for path in paths[:3])
        where = names + (", …" if len(paths) > 3 else "")
        return Found(find_sessions(paths), where, tuple(paths))
    if files := discover_sessions():
        return Found(files, "what agents keep on this computer")
    return Found(find_sessions((sample_sessions(),)), "the bundled samples")


async def _open_heeding_signals(request: AppRequest) -> int:
    with contextlib.ExitStack() as signals:
        return await _open(request, signals)


async def _open(request: AppRequest, signals: contextlib.ExitStack) -> int:
    judge = choose_judge(request.model, request.config, given=request.model_given)
    check_rubric(request, judge)
    find = partial(find_files, request.paths, request.session)
    found = await asyncio.to_thread(find)
    if not found.files:
        raise UsageError("no session found; name a session file or its folder")
    store = await Store.open(request.store)
    bench: Bench | None = None
    shelf: Shelf | None = None
    try:
        kept = await store.all_keys()
        bench = Bench(
            list(found.files),
            judge=judge,
            rubric=request.rubric,
            store=store,
            settings=request.settings,
            kept=kept,
            make_judge=partial(choose_judge, config=request.config),
            model_name=None if judge.model == OFFLINE_MODEL else request.model,
            config=request.config,
        )
        shelf = Shelf(found, find=find, bench=bench, store=store, kept=kept)
        bench.refusal = shelf.refusal
        bench.on_first_session = spare_pauses
        bench.tuning.rubric_name = request.rubric_name
        bench.forcing.fault = request.fault
        bench.notices += [*say_fallback(request, judge), *store.notices]
        tour = Tour(wanted=await is_new(store, kept))
        return await _show(bench, shelf, request.config.theme, tour, signals)
    finally:
        # Each step is bounded, so that the program ends whatever hangs, and done whatever fails.
        async with contextlib.AsyncExitStack() as ending:
            ending.callback(_say_what_is_lost, store)
            ending.push_async_callback(store.aclose)
            ending.push_async_callback(_bounded_close, judge)
            owners = [each for each in (shelf, bench) if each is not None]
            ends = await asyncio.gather(*(each.aclose() for each in owners), return_exceptions=True)
            for fault in ends:
                if fault is not None:
                    raise fault


def _say_what_is_lost(store: Store) -> None:
    """Say in the terminal which verdicts the store did not take to the end."""
    if (words := store.owed.words) is not None:
        tell(f"longjudge: NOT ALL IS KEPT: {words}; what is not is asked by the next run")


async def is_new(store: Store, kept: set[str]) -> bool:
    """Whether nobody has judged anything with this store yet."""
    return not kept and not await store.judgment_ids()


async def _show(
    bench: Bench, shelf: Shelf, theme: str | None, tour: Tour, signals: contextlib.ExitStack
) -> int:
    """Show the app until it is left; `signals` are heeded until the stack is closed."""
    at_bench = len(shelf.listing.files) == 1
    layout = KeptLayout(layout_path())
    await layout.read()
    app = LongjudgeApp(bench, shelf, at_bench=at_bench, theme=theme, tour=tour, layout=layout)
    loop = asyncio.get_running_loop()
    stopped_by: list[int] = []

    def stop(number: int) -> None:
        # The first signal names the exit code; a later one finds the app on its way out.
        # An editor in this terminal hears of Ctrl+C as well, and it is meant for that.
        meant = number != signal.SIGINT or not app.lent
        if stopped_by:
            bench.skip_batches()
        elif meant:
            stopped_by.append(number)
            if number != HANG_UP:
                bench.cancel_for_good()
                shelf.estimates.runs.cancel()
            app.leave(128 + number)

    app.driver_class = PatientDriver
    signals.enter_context(heed_signals(loop, stop))
    if at_bench:
        bench.open_first()
    shelf.open_past()
    try:
        with log_to_file(bench.log):
            await app.run_async()
    finally:
        await layout.aclose()
    if app.died_of is not None:
        raise AppDiedError from app.died_of
    if stopped_by:
        if waits := bench.waited_for:
            tell(f"longjudge: waiting for {waits}; another signal waits no longer")
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
