"""What `bench_judging.py` measures, each in a process of its own that prints one line of JSON.

Run by it as `python judging_child.py WORK '{...}'`; the second word holds the work's arguments.
"""

from __future__ import annotations

import asyncio
import gc
import importlib.util
import json
import os
import resource
import sys
import time
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Coroutine, Iterable

    from longjudge.judges.anthropic import AnthropicJudge
    from longjudge.judges.base import Answer, Question
    from longjudge.judgment import Judgment
    from longjudge.updates import Update

R = TypeVar("R")

MODEL = "claude-haiku-5-5"
TICK_SECONDS = 0.005
WARM_CALLS = 50
MAX_TOKENS = 4_096


def say(**facts: object) -> None:
    """Print one line at once."""
    sys.stdout.write(json.dumps(facts) + "\n")
    sys.stdout.flush()


def resident() -> float:
    """Megabytes of this process in memory now."""
    statm = Path("/proc/self/statm")
    if not statm.exists():
        return peak()
    return int(statm.read_text().split()[1]) * resource.getpagesize() / 1e6


def peak() -> float:
    """The most megabytes that this process ever had in memory."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / 1e6 if sys.platform == "darwin" else most / 1e3


class Lag:
    """How late a timer of 5 ms comes, in milliseconds, while work goes on."""

    def __init__(self) -> None:
        self.late: list[float] = []
        self._ticker: asyncio.Task[None] | None = None

    async def _tick(self) -> None:
        while True:
            due = time.perf_counter() + TICK_SECONDS
            await asyncio.sleep(TICK_SECONDS)
            self.late.append((time.perf_counter() - due) * 1000)

    async def __aenter__(self) -> Lag:
        self._ticker = asyncio.create_task(self._tick())
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._ticker is not None
        self._ticker.cancel()
        await asyncio.wait([self._ticker])

    def facts(self) -> dict[str, float]:
        """Median, 99th percentile and worst."""
        late = sorted(self.late) or [0.0]
        at = {"p50": 0.5, "p95": 0.95, "p99": 0.99}
        found = {name: late[int(share * (len(late) - 1))] for name, share in at.items()}
        return {**found, "max": late[-1]}


def plain_judge() -> AnthropicJudge:
    """The judge's own questions over bare sockets: the engine without the cost of the SDK."""
    from longjudge.judges.anthropic import AnthropicJudge, read_message

    address = os.environ["ANTHROPIC_BASE_URL"].removeprefix("http://")
    host, _, port = address.partition(":")
    free: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []

    class PlainJudge(AnthropicJudge):
        async def prepare(self) -> None:
            return

        async def ask(self, question: Question, *, max_tokens: int) -> Answer:
            body = json.dumps({"system": question.system, "user": question.user}).encode()
            reader, writer = free.pop() if free else await asyncio.open_connection(host, int(port))
            head = f"POST /v1/messages HTTP/1.1\r\ncontent-length: {len(body)}\r\n\r\n"
            writer.write(head.encode() + body)
            answer = await reader.readuntil(b"\r\n\r\n")
            length = int(answer.partition(b"content-length: ")[2].partition(b"\r")[0])
            message = _as_object(json.loads(await reader.readexactly(length)))
            free.append((reader, writer))
            return read_message(message)

        async def aclose(self) -> None:
            for _, writer in free:
                writer.close()
                await writer.wait_closed()
            free.clear()

    return PlainJudge(MODEL)


class _Message:
    def __init__(self, fields: dict[str, object]) -> None:
        self.__dict__.update(fields)


def _as_object(value: object) -> object:
    if isinstance(value, dict):
        return _Message({str(name): _as_object(item) for name, item in value.items()})
    return [_as_object(item) for item in value] if isinstance(value, list) else value


@asynccontextmanager
async def judgment_of(
    arguments: dict[str, object], listen: Callable[[Update], None]
) -> AsyncIterator[Judgment]:
    """A judgment of `session` into `store`, its judge ready to be asked."""
    from longjudge.api import open_session
    from longjudge.judges.make import make_judge
    from longjudge.judgment import Judgment
    from longjudge.rubric import load_rubric
    from longjudge.settings import Settings
    from longjudge.store import Store

    session = await open_session(Path(str(arguments["session"])))
    store = await Store.open(Path(str(arguments["store"])))
    judge = plain_judge() if arguments.get("plain") else make_judge(MODEL)
    try:
        await judge.prepare()
        gc.freeze()
        settings = Settings(
            int(str(arguments["chars"])),
            int(str(arguments["concurrency"])),
            3_600.0,
            redact=bool(arguments.get("redact", True)),
        )
        rubric = load_rubric("chunks")
        yield Judgment(
            session, rubric=rubric, judge=judge, store=store, settings=settings, listener=listen
        )
    finally:
        await judge.aclose()
        await store.aclose()
        session.close()


class Shares:
    """Processor seconds that go into making questions and into reading answers."""

    def __init__(self) -> None:
        from longjudge import asking

        self.seconds = {"question": 0.0, "answer": 0.0}
        asking.build_question = self._timed("question", asking.build_question)
        asking.understand = self._timed("answer", asking.understand)

    def _timed(self, name: str, work: Callable[..., R]) -> Callable[..., R]:
        def timed(*arguments: object, **options: object) -> R:
            begun = time.thread_time()
            try:
                return work(*arguments, **options)
            finally:
                self.seconds[name] += time.thread_time() - begun

        return timed


async def judge(arguments: dict[str, object]) -> None:
    """Judge to the end: calls, seconds, processor time, loop lag, memory at every tenth."""
    from longjudge.updates import ChunkUpdate

    shares = Shares()

    ended, memory, most_tasks = 0, list[float](), 0

    def listen(update: Update) -> None:
        nonlocal ended, most_tasks
        if isinstance(update, ChunkUpdate) and update.state.ended:
            ended += 1
            if ended % step == 0:
                memory.append(resident())
                most_tasks = max(most_tasks, len(asyncio.all_tasks()))

    async with judgment_of(arguments, listen) as judgment, Lag() as lag:
        step = max(1, len(judgment.plan) // 10)
        await asyncio.sleep(10 * TICK_SECONDS)
        lag.late.clear()
        cpu, begun = time.process_time(), time.perf_counter()
        result = await judgment.run()
        seconds, cpu = time.perf_counter() - begun, time.process_time() - cpu
    say(
        calls=result.calls,
        chunks=result.chunks,
        judged=result.judged_chunks,
        seconds=seconds,
        cpu=cpu,
        shares=shares.seconds,
        lag=lag.facts(),
        memory=memory,
        peak=peak(),
        tasks=most_tasks,
    )


async def shown(arguments: dict[str, object]) -> None:
    """Judge, and print the key of every verdict in the moment in which it is shown."""
    from longjudge.updates import ChunkUpdate

    keys: list[str] = []

    def listen(update: Update) -> None:
        if isinstance(update, ChunkUpdate) and update.state.ended:
            sys.stdout.write(keys[update.part - 1] + "\n")
            sys.stdout.flush()

    async with judgment_of(arguments, listen) as judgment:
        from longjudge.keys import KeyMaker

        maker = KeyMaker(judgment.judge, judgment.rubric, redactor=judgment.settings.redactor)
        keys += maker.keys(judgment.plan)
        await judgment.run()


async def bare(arguments: dict[str, object]) -> None:
    """Send the same questions through the SDK, and do nothing with the answers."""
    from longjudge.judges.anthropic import EFFORT
    from longjudge.judges.reply import reply_schema
    from longjudge.prompt import build_question

    async with judgment_of(arguments, lambda update: None) as judgment:
        # The same connection pool and client as the engine's.
        client = judgment.judge._client
        output = {
            "format": {"type": "json_schema", "schema": reply_schema(judgment.rubric)},
            "effort": EFFORT,
        }
        questions = [
            build_question(judgment.session, judgment.plan, position, judgment.rubric)
            for position in range(len(judgment.plan))
        ]

        async def ask(left: list[tuple[str, str]]) -> None:
            while left:
                system, user = left.pop()
                message = [{"role": "user", "content": user}]
                await client.messages.create(
                    model=MODEL,
                    max_tokens=MAX_TOKENS,
                    system=system,
                    messages=message,
                    output_config=output,
                )

        async def ask_all(texts: Iterable[tuple[str, str]]) -> None:
            left = list(texts)
            await asyncio.gather(*(ask(left) for _ in range(judgment.concurrency)))

        texts = [(question.system, question.user) for question in questions]
        await ask_all(texts[:WARM_CALLS])
        cpu, begun = time.process_time(), time.perf_counter()
        await ask_all(texts)
        seconds, cpu = time.perf_counter() - begun, time.process_time() - cpu
    say(calls=len(texts), seconds=seconds, cpu=cpu)


async def cancelled(arguments: dict[str, object]) -> None:
    """Cancel with all calls in flight: seconds until the judgment has ended, and so bare calls."""
    from longjudge.asking import GRACE_SECONDS
    from longjudge.states import ChunkState
    from longjudge.updates import ChunkUpdate

    running, wanted, full = 0, int(str(arguments["concurrency"])), asyncio.Event()

    def listen(update: Update) -> None:
        nonlocal running
        if isinstance(update, ChunkUpdate) and update.state is ChunkState.RUNNING:
            running += 1
            if running == wanted:
                full.set()

    async with judgment_of(arguments, listen) as judgment:
        run = asyncio.create_task(judgment.run())
        await full.wait()
        await asyncio.sleep(0.2)
        begun = time.perf_counter()
        judgment.cancel()
        await run
        seconds = time.perf_counter() - begun
        client = judgment.judge._client
        message = {"role": "user", "content": "x" * 20_000}
        calls = [
            asyncio.create_task(
                client.messages.create(model=MODEL, max_tokens=100, messages=[message])
            )
            for _ in range(wanted)
        ]
        await asyncio.sleep(1.0)
        begun = time.perf_counter()
        for call in calls:
            call.cancel()
        await asyncio.wait(calls)
        bare_seconds = time.perf_counter() - begun
    say(seconds=seconds, grace=GRACE_SECONDS, bare=bare_seconds)


async def seed(arguments: dict[str, object]) -> None:
    """Run another script's `session_problems` over the same events at the same concurrency."""
    os.environ["JUDGE_MODEL"] = MODEL
    spec = importlib.util.spec_from_file_location("seed", str(arguments["script"]))
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    script.limit = asyncio.Semaphore(int(str(arguments["concurrency"])))
    script.CHUNK_CHARS = int(str(arguments["chars"]))
    text = Path(str(arguments["session"])).read_text(encoding="utf-8")
    events = [json.loads(line) for line in text.splitlines()]
    cpu, begun = time.process_time(), time.perf_counter()
    result = await script.session_problems(events)
    seconds, cpu = time.perf_counter() - begun, time.process_time() - cpu
    await script.client.close()
    say(calls=result["chunks"], seconds=seconds, cpu=cpu, peak=peak())


async def write(arguments: dict[str, object]) -> None:
    """Keep verdicts one by one in a store that others write too: how many failed, and the rate."""
    from longjudge.errors import StoreError
    from longjudge.prices import Usage
    from longjudge.store import KeptVerdict, Provenance, Store
    from longjudge.verdict import Verdict

    store = await Store.open(Path(str(arguments["store"])))
    kept = KeptVerdict(Verdict(("a",), ()), "{}", False)
    provenance = Provenance(MODEL, "here", "chunks", "1", Usage(1, 1), 0.0)
    errors, begun = 0, time.perf_counter()
    for number in range(int(str(arguments["puts"]))):
        try:
            await store.keep(f"{arguments['name']}-{number}", kept, provenance)
        except StoreError:
            errors += 1
    say(errors=errors, seconds=time.perf_counter() - begun)
    await store.aclose()


async def shelve_write(arguments: dict[str, object]) -> None:
    """The same into a shelf that is opened for every put, as a plain script would."""
    import shelve

    errors = 0
    for number in range(int(str(arguments["puts"]))):
        try:
            with shelve.open(str(arguments["store"])) as shelf:
                shelf[f"{arguments['name']}-{number}"] = {"problem": False}
        except (OSError, KeyError, ValueError, SyntaxError, EOFError):
            errors += 1
    say(errors=errors)


WORKS: dict[str, Callable[[dict[str, object]], Coroutine[None, None, None]]] = {
    "judge": judge,
    "shown": shown,
    "bare": bare,
    "cancelled": cancelled,
    "seed": seed,
    "write": write,
    "shelve": shelve_write,
}


def main() -> None:
    """Do one work."""
    asyncio.run(WORKS[sys.argv[1]](json.loads(sys.argv[2])))


if __name__ == "__main__":
    main()
