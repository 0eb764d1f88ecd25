"""A judgment against the local server, with its updates recorded."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from longjudge.api import open_session
from longjudge.judges.make import make_judge
from longjudge.judgment import Judgment
from longjudge.rubric import load_rubric
from longjudge.settings import Settings
from longjudge.states import ChunkState
from longjudge.store import Store
from longjudge.updates import ChunkUpdate
from server import flagged
from sessions_for_tests import CHUNK_CHARS, item_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from longjudge.result import Result
    from longjudge.updates import Update
    from server import Reply, Request

MODEL = "claude-haiku-5-5"


class Watched:
    """A judgment with its own session, store and judge; `options` go to `Judgment`."""

    def __init__(
        self, path: Path, store: Path, *, model: str = MODEL, concurrency: int = 2, **options: Any
    ) -> None:
        self.path, self.store_path, self.model = path, store, model
        self.concurrency, self.options = concurrency, options
        self.updates: list[Update] = []
        self.on_update: Callable[[Update], None] = lambda update: None
        self.updated = asyncio.Event()

    def listen(self, update: Update) -> None:
        self.updates.append(update)
        self.updated.set()
        self.on_update(update)

    async def __aenter__(self) -> Watched:
        self.session = await open_session(self.path)
        self.store = await Store.open(self.store_path)
        self.judge = make_judge(self.model)
        settings = Settings(CHUNK_CHARS, self.concurrency, self.options.pop("time_limit", 600.0))
        try:
            self.judgment = Judgment(
                self.session,
                rubric=load_rubric("chunks"),
                judge=self.judge,
                store=self.store,
                settings=settings,
                listener=self.listen,
                **self.options,
            )
        except BaseException:
            await self.__aexit__()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.judge.aclose()
        await self.store.aclose()
        self.session.close()

    def begin(self) -> asyncio.Task[Result]:
        """Let it run, to be awaited by whoever calls."""
        return asyncio.create_task(self.judgment.run())

    def while_preparing(self, act: Callable[[], object]) -> None:
        """Act when the judge gets ready, before the first question."""
        prepare = self.judge.prepare

        async def act_and_prepare() -> None:
            act()
            await prepare()

        self.judge.prepare = act_and_prepare

    async def until(self, part: int, state: str, times: int = 1) -> None:
        """Wait until a part has come into a state so many times."""
        while self.states(part).count(state) < times:
            self.updated.clear()
            await self.updated.wait()

    def states(self, part: int) -> list[str]:
        return [
            update.state.value
            for update in self.updates
            if isinstance(update, ChunkUpdate) and update.part == part
        ]


async def run(path: Path, store: Path, **options: Any) -> Result:
    """Judge to the end, and check that the sums add up."""
    async with Watched(path, store, **options) as watched:
        result = await watched.judgment.run()
    check_sums(result)
    return result


def check_sums(result: Result) -> None:
    """Every chunk has ended in exactly one way, and together they are the session."""
    assert result.judged_chunks + result.unjudged_chunks == result.chunks == len(result.parts)
    assert sum(result.gaps.values()) == result.unjudged_chunks
    assert all(part.state.ended for part in result.parts)
    assert all((part.state is ChunkState.GAP) == (part.reason is not None) for part in result.parts)
    covered = [n for part in result.parts for n in range(part.first_event, part.last_event + 1)]
    assert covered == list(range(int(result.session["events"] or 0)))


def bad(request: Request) -> Reply:
    """A verdict that flags one of `sessions_for_tests.events`."""
    found = {"event": 1, "quote": f"item {item_of(request.prompt):04d}", "note": "bad"}
    return flagged(request, {"broken_promise": [found]})
