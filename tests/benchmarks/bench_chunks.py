"""Times `longjudge chunks` on 100 MB as a whole process against a bare JSON line loop.

Run it as a script: `python tests/benchmarks/bench_chunks.py [--megabytes 100] [--pairs 5]`.
It prints medians and their ratio, the rate of the index alone, and how long an event loop waits
for its turn while a session is loaded in a thread beside it.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib.util
import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

SWITCH_INTERVAL = 0.0005
TICK_SECONDS = 0.005

_LOOP = """
import sys
{import_line}
for line in open(sys.argv[1], "rb"):
    loads(line)
"""


def say(line: str) -> None:
    """Print a line at once, so that a long run shows where it is."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def line_loop() -> tuple[str, str]:
    """The bare loop as a program, and the name of its JSON library."""
    if importlib.util.find_spec("orjson"):
        return _LOOP.format(import_line="from orjson import loads"), "orjson"
    return _LOOP.format(import_line="from msgspec.json import decode as loads"), "msgspec"


def write_session(path: Path, megabytes: int) -> None:
    """Write a Claude Code transcript of about this size, the same for the same size."""
    rng = random.Random(20240229)
    words = [
        "".join(rng.choices("abcdefghijklmnopqrstuvwxyz_", k=rng.randint(2, 11)))
        for _ in range(4000)
    ]
    words += ["naïve", "Größe", "注文", "→", "🙂", "\\n", '"quoted"', "\tindented"]
    pool = [" ".join(rng.choices(words, k=40)) for _ in range(500)]

    def prose(chars: int) -> str:
        start, parts = rng.randrange(len(pool)), max(1, chars // 260)
        return "\n".join(pool[(start + i) % len(pool)] for i in range(parts))[:chars]

    size, number = 0, 0
    with path.open("w", encoding="utf-8", newline="\n") as file:
        while size < megabytes * 1_000_000:
            number += 1
            for record in _turn(rng, prose, number):
                line = json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n"
                size += len(line.encode())
                file.write(line)


def _turn(rng: random.Random, prose: Callable[[int], str], number: int) -> list[dict[str, object]]:
    """One call with its result, as four records: thinking, text, call, result."""
    size = rng.choices((300, 2_500, 12_000, 90_000), (50, 38, 11, 1))[0]
    output = prose(rng.randint(size // 3, size))
    tool = rng.choice(("Bash", "Read", "Edit", "Grep"))
    usage = {"input_tokens": number, "cache_read_input_tokens": 12000, "output_tokens": 90}
    message_id = f"msg_{number:08d}"

    def record(kind: str, step: int, message: dict[str, object]) -> dict[str, object]:
        return {
            "parentUuid": f"00000000-0000-4000-8000-{number * 4 + step - 1:012d}",
            "isSidechain": False,
            "userType": "external",
            "cwd": "/home/user/project",
            "sessionId": "5f1e7a52-0000-4000-8000-000000000001",
            "version": "2.1.80",
            "gitBranch": "main",
            "type": kind,
            "message": message,
            "uuid": f"00000000-0000-4000-8000-{number * 4 + step:012d}",
            "timestamp": f"2025-12-16T{number // 3600 % 24:02d}:{number // 60 % 60:02d}:00.000Z",
        }

    def answer(step: int, block: dict[str, object]) -> dict[str, object]:
        body = {"id": message_id, "type": "message", "role": "assistant", "model": "claude"}
        return record("assistant", step, {**body, "content": [block], "usage": usage})

    call_id = f"toolu_{number:08d}"
    block = {"type": "tool_result", "tool_use_id": call_id, "content": output, "is_error": False}
    result = record("user", 3, {"role": "user", "content": [block]})
    result["toolUseResult"] = {"stdout": output, "stderr": "", "interrupted": False}
    call = {"command": prose(rng.randint(30, 400)), "description": prose(40)}
    return [
        answer(0, {"type": "thinking", "thinking": prose(300), "signature": prose(300)}),
        answer(1, {"type": "text", "text": prose(rng.randint(50, 600))}),
        answer(2, {"type": "tool_use", "id": call_id, "name": tool, "input": call}),
        result,
    ]


def seconds(*command: str) -> float:
    """Wall-clock seconds of a whole process that must succeed."""
    begin = time.perf_counter()
    subprocess.run([sys.executable, *command], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begin


def compare_processes(path: Path, pairs: int) -> None:
    """Time the command and the bare loop in turns, and print the medians and their ratio."""
    program, library = line_loop()
    ours: list[float] = []
    bare: list[float] = []
    for _ in range(pairs):
        ours.append(seconds("-m", "longjudge", "chunks", str(path), "--json"))
        bare.append(seconds("-c", program, str(path)))
    median_ours, median_bare = statistics.median(ours), statistics.median(bare)
    say(f"longjudge chunks --json   {median_ours:.3f} s (median of {pairs})")
    say(f"{library} line loop          {median_bare:.3f} s (median of {pairs})")
    say(f"ratio                     {median_ours / median_bare:.2f}x")


async def loop_lag(path: Path) -> None:
    """Load the session in a thread beside a ticking loop, and print how late the ticks came."""
    from longjudge.sessions import load_session

    lags: list[float] = []

    async def tick() -> None:
        while True:
            due = time.perf_counter() + TICK_SECONDS
            await asyncio.sleep(TICK_SECONDS)
            lags.append((time.perf_counter() - due) * 1000)

    sys.setswitchinterval(SWITCH_INTERVAL)
    ticker = asyncio.create_task(tick())
    await asyncio.sleep(10 * TICK_SECONDS)
    lags.clear()
    begin = time.perf_counter()
    session = await asyncio.to_thread(load_session, path)
    spent = time.perf_counter() - begin
    ticker.cancel()
    megabytes = session.bytes / 1_000_000
    events = len(session.index)
    session.close()
    lags.sort()
    say(f"index                     {spent:.3f} s, {megabytes / spent:.0f} MB/s, {events} events")
    p50, p95 = statistics.median(lags), lags[int(len(lags) * 0.95)]
    say(f"loop lag while indexing   p50 {p50:.1f} / p95 {p95:.1f} / max {lags[-1]:.1f} ms")


def main() -> None:
    """Build the file in a temporary folder and run both measurements."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=100)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--only-lag", action="store_true", help="skip the whole processes")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="longjudge-bench-") as folder:
        path = Path(folder) / "session.jsonl"
        write_session(path, arguments.megabytes)
        say(f"session                   {path.stat().st_size / 1_000_000:.1f} MB, seeded")
        if not arguments.only_lag:
            compare_processes(path, arguments.pairs)
        asyncio.run(loop_lag(path))


if __name__ == "__main__":
    main()
