"""Judging on the command line through the provider's queue, any number of sessions at a time.

Each file is visited: its sessions are planned, what the store does not hold is sent in batches that
many sessions share, and the file is closed. It is visited again when nothing of it is on its way
any more, and gets its results then. So memory follows what is on its way, not what was named.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import deque
from typing import TYPE_CHECKING, Final

import click

from longjudge.batches.batching import Batching
from longjudge.cli.batch_sending import BatchSending
from longjudge.cli.batch_telling import Telling
from longjudge.cli.batch_visit import Visitor
from longjudge.cli.batch_work import Work
from longjudge.cli.holds import hold_json
from longjudge.errors import CredentialError, SessionError, StoreError, UsageError
from longjudge.holds import list_holds
from longjudge.judges.make import batch_api
from longjudge.states import StopCause
from longjudge.store import batches as rows
from longjudge.store import leases
from longjudge.store.batch_rows import CancelCause
from longjudge.streams import tell
from longjudge.text import clean_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from longjudge.batches.following import BatchNews
    from longjudge.cli.judge_run import Run
    from longjudge.cli.options import Judging
    from longjudge.faults import Fault
    from longjudge.result import Result
    from longjudge.sessions import Session, SessionFile

LOOK_SECONDS: Final = 1.0
"""How often it is looked at what others have made of questions that they ask."""

HANG_UP: Final = 1
"""The number of the signal that says that the terminal is gone."""


def check_batch(*, batch: bool, detach: bool, fault: Fault | None) -> None:
    """Refuse options that a batch gives no meaning to.

    Raises:
        UsageError: names them.
    """
    if detach and not batch:
        raise UsageError("--detach goes with --batch: a live question needs somebody who waits")
    if batch and fault is not None:
        raise UsageError("--fault forces failures of live questions; leave --batch or --fault out")


class BatchRun:
    """Judges the files of a `run`; with `detach` it sends what is to be asked, and no more."""

    def __init__(
        self, run: Run, judging: Judging, show: Callable[[Result], None], *, detach: bool
    ) -> None:
        self._run = run
        pace = judging.config.batches.to_pace()
        api = batch_api(run.judge)
        self._telling = Telling()
        self._batching = Batching(
            run.store, api, pace, self._heard, f"judging batches of {run.judge.label}"
        )
        choice = judging.choice().model or ""
        profile = choice if choice in judging.config.profiles else ""
        self._sending = BatchSending(run, self._batching, profile, self._free)
        self._visitor = Visitor(run, self._batching, self._sending, self._telling, show)
        self._visitor.detach = detach
        self._todo: deque[Work] = deque()
        self._changed = asyncio.Event()
        self._skip = asyncio.Event()

    async def judge(self, files: Sequence[SessionFile]) -> None:
        """Judge the files; the results come in the order in which they are known.

        Raises:
            CredentialError: there is nothing to authenticate with.
            StoreError: the store cannot be written, or not be read.
        """
        run = self._run
        if run.store.write_error is not None:
            raise StoreError(
                f"a batch needs a store that can be written ({run.store.write_error}); make it"
                " writable, name another with --store, or leave --batch out"
            )
        run.stop.heard = self._signalled
        left = iter(files)
        try:
            async with self._batching.at_work():
                try:
                    await self._adopt()
                    await self._work(left)
                    await self._end(left)
                finally:
                    await self._batching.leave()
        finally:
            run.stop.heard = None

    async def _adopt(self) -> None:
        """Follow what dead processes left; needs a credential only where there is anything."""
        if self._run.stop.requested or not await self._sending.any_left():
            return
        try:
            await self._batching.api.prepare()
        except CredentialError as error:
            # Sessions that the store answers whole need no credential.
            self._run.credential = error
            return
        await self._take_over()

    async def _take_over(self) -> None:
        for batch in await self._batching.adopt():
            self._telling.adopted(batch)

    async def _work(self, files: Iterator[SessionFile]) -> None:
        while not self._run.stop.requested and self._visitor.stop is None:
            if self._batching.fatal or self._run.blocked:
                self._run.blocked = self._run.blocked or self._batching.fatal
                return
            if self._sending.is_due:
                await self._sending.flush()
            elif (work := await self._next(files)) is not None:
                await self._visit(work)
            elif self._sending.packed and not self._sending.due_in:
                await self._sending.flush()
            elif not self._sending.packed and (self._visitor.detach or not self._sending.waiting):
                return
            else:
                await self._wait()

    async def _next(self, files: Iterator[SessionFile]) -> Work | None:
        """What is to be visited now: first what may be finished."""
        if self._todo:
            return self._todo.popleft()
        if not self._sending.may_pack or not (self._visitor.detach or self._sending.has_room):
            return None
        file = next(files, None)
        return None if file is None else Work(file)

    async def _wait(self) -> None:
        """Wait until something becomes known, and look at what others do meanwhile."""
        try:
            async with asyncio.timeout(min(LOOK_SECONDS, self._sending.due_in or LOOK_SECONDS)):
                await self._changed.wait()
        except TimeoutError:
            pass
        self._changed.clear()
        self._give_up_late_ones()
        # A store that cannot be read or written now may be in a second.
        with contextlib.suppress(StoreError):
            await self._look_elsewhere()

    def _give_up_late_ones(self) -> None:
        """Have end what took as long as it may, and wait no longer for what does not."""
        now, limit = time.monotonic(), self._run.settings.time_limit
        waiting = self._sending.waiting
        for work in [each for each in waiting.works if each.limit_passed(limit, now)]:
            self._batching.cancel(CancelCause.LIMIT, list(work.batches))
            if not work.batches or work.limit_passed(limit + self._batching.pace.end, now):
                waiting.given_up(work)
                self._todo.append(work)

    async def _look_elsewhere(self) -> None:
        """Look at questions that others ask, and take over what they left."""
        keys = self._sending.waiting.asked_elsewhere
        if not keys:
            return
        store, held = self._run.store, set[str]()
        for lease in await leases.leases(store, keys):
            if lease.alive or not await leases.take_over(store, lease):
                held.add(lease.key)
        await self._take_over()
        followed = {batch.id for batch in self._batching.live}
        on_the_way = await rows.on_the_way(store, keys)
        held |= {key for key, batch in on_the_way.items() if batch not in followed}
        self._todo.extend(self._sending.waiting.settled_elsewhere(set(keys) - held))

    def _free(self, works: Sequence[Work]) -> None:
        self._todo.extend(works)
        self._changed.set()

    def _heard(self, news: BatchNews) -> None:
        self._telling.hear(news)
        self._sending.hear(news)
        self._changed.set()

    def _signalled(self, number: int) -> None:
        """The first signal ends the run, a second one the wait for what is on its way."""
        if self._visitor.stop is not None:
            self._skip.set()
        elif number != HANG_UP:
            # Noted before anything else can happen.
            self._batching.cancel(CancelCause.CANCEL)
        self._visitor.stop = self._visitor.stop or StopCause.CANCEL
        self._sending.stop()
        self._changed.set()

    async def _end(self, files: Iterator[SessionFile]) -> None:
        """Bring the run to its end, whatever ended it, with a result for all that was begun."""
        run = self._run
        if self._visitor.detach and not run.stop.requested:
            if run.blocked:
                run.unsent = True
                tell(f"longjudge: nothing more is sent: {run.blocked}")
            elif (ended := self._sending.where_the_budget_ended) is not None:
                tell(f"longjudge: not everything is sent: {ended}; give more, or run again")
            await self._say_what_is_held()
            return
        if run.stop.signal == HANG_UP:
            await self._batching.until_sent(self._skip)
        elif run.stop.signal is not None:
            await self._batching.wind_up(self._skip)
        elif run.blocked:
            self._visitor.stop = StopCause.FATAL
        else:
            await self._batching.until_home(self._skip)
        waiting = [*self._todo, *self._sending.waiting.works]
        self._todo.clear()
        for work in dict.fromkeys(waiting):
            await self._visit(work)
        if run.blocked and not run.stop.requested:
            for file in files:
                await self._visit(Work(file))
        run.not_begun += sum(1 for _ in files)
        if left := self._batching.live:
            self._telling.left(left)

    async def _say_what_is_held(self) -> None:
        ids = {batch.id for batch in self._batching.live}
        await self._batching.leave()
        for hold in await list_holds(self._run.store):
            if hold.batch in ids:
                click.echo(hold_json(hold))

    async def _visit(self, work: Work) -> None:
        """Plan the sessions of a file, send what is to be asked, and tell the results."""
        first = not work.sessions and not work.done
        sessions = await self._load(work.file, first=first)
        if sessions is None:
            self._run.not_begun += 1
            return
        for number, session in enumerate(sessions):
            try:
                if number not in work.done:
                    await self._visitor.session(work, number, session)
            except CredentialError as error:
                # Sessions that the store answers whole need no credential, so the others go on.
                self._run.credential = self._run.credential or error
                work.give_up(number)
            except SessionError as error:
                self._run.reading.failed = True
                tell(f"longjudge: {error}")
                work.give_up(number)
            finally:
                session.close()
        for number in [each for each in work.sessions if each >= len(sessions)]:
            self._run.reading.failed = True
            name = clean_line(str(work.file.path))
            tell(f"longjudge: {name}: gone since it was sent, and has no result; answers are kept")
            work.give_up(number)
        if work.waits:
            self._sending.waiting.works[work] = None
        elif work.sessions:
            # What it was to wait for became known while it was visited.
            self._todo.append(work)

    async def _load(self, file: SessionFile, *, first: bool) -> Sequence[Session] | None:
        if first and not self._run.stop.requested:
            return await self._run.load(file)
        if first and self._visitor.stop is not None:
            return None
        return await self._run.reading.open(file, warn=False)
