"""How fast sessions are read, in what memory, and what a screen feels of it meanwhile.

Run it as a script: `python tests/benchmarks/bench_loading.py [--gigabyte] [--repeats 3]`. Files of
10 and 100 MB are made anew from a seed, and of 1 GB with `--gigabyte` (several minutes). Every
figure stands beside a baseline of the same run: `orjson.loads` of every line (or `json.loads` where
there is no orjson), `wc -l`, and `rg -c ''`. The event index does more than any of them: it renders
every event's text as a judge reads it, digests it, and pairs results with calls.

Rows: the newline index, the event index per format, bytes of memory per event (the growth of the
resident set of a process of its own), the first events of a long file, the lag of an event loop
while a thread indexes (a ticker of 10 ms, in a process of its own), reading on after a file has
grown, and a search for a rare word.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from made_sessions import make_session

from longjudge.sessions import first_events, load_session
from longjudge.sessions.first_look import LONG_BYTES
from longjudge.sessions.lines import index_lines
from longjudge_tui.main import SWITCH_SECONDS
from longjudge_tui.pauses import spare_pauses

if TYPE_CHECKING:
    from array import array
    from collections.abc import Callable

SHAPES = ("claude-code", "codex", "events", "tiny")
TICK_SECONDS = 0.01
IDLE_TICKS = 100


def say(line: str) -> None:
    """Print a line at once, so that a long run shows where it is."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def seconds(step: Callable[[], object], repeats: int) -> float:
    """The median time of a step, after one that warms up what was never read."""
    times: list[float] = []
    for _ in range(repeats):
        begin = time.perf_counter()
        step()
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


def decode_lines(path: Path) -> None:
    """The baseline: decode each line and drop it."""
    loads = decoder()[1]
    with path.open("rb") as file:
        for line in file:
            loads(line)


def decoder() -> tuple[str, Callable[[bytes], object]]:
    """The fastest decoder of JSON that is installed, by name."""
    try:
        import orjson
    except ImportError:
        return "json.loads", json.loads
    return "orjson.loads", orjson.loads


def newline_index(path: Path) -> array[int]:
    """Where each line ends."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        return index_lines(descriptor, path.stat().st_size, lambda: None)
    finally:
        os.close(descriptor)


def tool(*command: str) -> Callable[[], object] | None:
    """A step that runs a program, None where it is not installed."""
    if shutil.which(command[0]) is None:
        return None
    return lambda: subprocess.run(command, check=False, stdout=subprocess.DEVNULL)


def load_and_close(path: Path) -> int:
    """Read a session; how many events it has."""
    session = load_session(path)
    count = len(session.index)
    session.close()
    return count


def resident(field: str) -> int:
    """`VmRSS` or `VmHWM` of this process in bytes."""
    with open("/proc/self/status", encoding="ascii") as status:
        line = next(line for line in status if line.startswith(field))
    return int(line.split()[1]) * 1024


def memory_child(path: Path) -> None:
    """In a process of its own: what a session takes, and the most that reading it took."""
    base = resident("VmRSS")
    session = load_session(path)
    assert len(session.index.parting) == len(session.index)
    held, most = resident("VmRSS") - base, resident("VmHWM")
    say(json.dumps([len(session.index), held, most]))


async def lag_child(path: Path) -> None:
    """In a process of its own: how late a ticker comes while a thread reads, in milliseconds.

    Before that, how late it comes by itself: other processes may have the processors too.
    """
    sys.setswitchinterval(SWITCH_SECONDS)
    spare_pauses()
    idle, late = [await lateness() for _ in range(IDLE_TICKS)], list[float]()
    loading = asyncio.create_task(asyncio.to_thread(load_and_close, path))
    while not loading.done():
        late.append(await lateness())
    await loading
    late.sort()
    say(json.dumps([late[len(late) // 2], late[int(len(late) * 0.95)], late[-1], max(idle)]))


async def lateness() -> float:
    """How late one tick comes."""
    begin = time.perf_counter()
    await asyncio.sleep(TICK_SECONDS)
    return (time.perf_counter() - begin - TICK_SECONDS) * 1000


def child(mode: str, path: Path) -> list[float]:
    """Run one of the above in a process of its own."""
    command = [sys.executable, __file__, f"--{mode}", str(path)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: list[float] = json.loads(done.stdout)
    return found


def grown_seconds(path: Path) -> tuple[float | None, float]:
    """Reading on after a hundred more lines, where that can be; and reading all of it again."""
    with path.open("rb") as file:
        lines = [file.readline() for _ in range(100)]
    session = load_session(path)
    with path.open("ab") as file:
        file.writelines(lines)
    on = None
    begin = time.perf_counter()
    if session.growth is not None and (grown := session.growth.read(session)) is not None:
        session.growth.take(grown, session)
        on = time.perf_counter() - begin
    session.close()
    begin = time.perf_counter()
    load_and_close(path)
    return on, time.perf_counter() - begin


def search_seconds(path: Path) -> float | None:
    """A search for a word that is nowhere; None where there is no search."""
    try:
        from longjudge.sessions.search import Search
        from longjudge.sessions.search_query import parse_query
    except ImportError:
        return None
    session = load_session(path)
    begin = time.perf_counter()
    for _ in Search(session, parse_query("Zq unfound")).steps():
        pass
    taken = time.perf_counter() - begin
    session.close()
    return taken


def note(name: str, figure: float, unit: str, more: str = "") -> None:
    """A row without a ratio."""
    say(f"  {name:<28}{figure:>10,.1f} {unit}  {more}".rstrip())


def measure(path: Path, size: int, shape: str, repeats: int) -> None:
    """All rows about one file."""
    make_session(path, size, shape)
    real = path.stat().st_size
    decoded = seconds(lambda: decode_lines(path), repeats)
    lines = len(newline_index(path))

    def row(name: str, taken: float | None, more: str = "") -> None:
        if taken is None:
            say(f"  {name:<28}{'not installed':>10}")
            return
        speed = f"{real / taken / 1e6:>8,.0f} MB/s"
        say(f"  {name:<28}{taken * 1000:>10,.1f} ms{speed}{decoded / taken:>8.2f}x{more}")

    say(f"{shape}, {real / 1e6:,.0f} MB, {lines:,} lines; x: times as fast as {decoder()[0]}")
    row(decoder()[0], decoded)
    for name, command in (
        ("wc -l", ("wc", "-l", str(path))),
        ("rg -c", ("rg", "-c", "", str(path))),
    ):
        step = tool(*command)
        row(name, None if step is None else seconds(step, repeats))
    row("newline index", seconds(lambda: newline_index(path), repeats))
    loaded = seconds(lambda: load_and_close(path), 1 if real > 5e8 else repeats)
    events, held, most = child("memory", path)
    row("event index", loaded, f"  {events:,.0f} events, {loaded / events * 1e6:.1f} us each")
    note("memory per event", held / events, "B ", f"the process {most / 1e6:,.0f} MB at most")
    first = seconds(lambda: first_events(path), repeats)
    if real >= LONG_BYTES:
        note("first events", first * 1000, "ms")
    middle, high, worst, idle = child("lag", path)
    most = f"at most; p50 {middle:.1f}, p95 {high:.1f}; without reading at most {idle:.1f}"
    note("lag of a loop meanwhile", worst, "ms", most)
    if (searched := search_seconds(path)) is not None:
        row("search, nothing found", searched)
    on, again = grown_seconds(path)
    if on is None:
        note("100 more lines, all again", again * 1000, "ms")
    else:
        note("reading 100 more lines", on * 1000, "ms", f"all again {again * 1000:,.0f} ms")
    path.unlink()


def main() -> None:
    """Measure files of every shape and size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gigabyte", action="store_true", help="also files of 1 GB")
    parser.add_argument("--shapes", nargs="*", default=SHAPES, choices=SHAPES)
    parser.add_argument("--sizes", nargs="*", type=int, default=[10, 100], metavar="MB")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--folder", type=Path, help="where the files are made; they are removed")
    parser.add_argument("--memory", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--lag", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.memory is not None:
        memory_child(arguments.memory)
    elif arguments.lag is not None:
        asyncio.run(lag_child(arguments.lag))
    else:
        sizes = [*arguments.sizes, *([1_000] if arguments.gigabyte else [])]
        with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
            for size in sizes:
                for shape in arguments.shapes:
                    path = Path(folder) / f"{shape}.jsonl"
                    measure(path, size * 1_000_000, shape, arguments.repeats)


if __name__ == "__main__":
    main()
