"""A simulated backfill: thousands of sessions through a provider's queue that stands nearby.

Run it as a script: `python tests/benchmarks/bench_backfill.py [--sessions 20000] [--chars 2000]`.
It makes sessions of three chunks each, serves the batch endpoints in a process of its own, and
judges the folder with `judge --batch` in another, whose memory is looked at every second. The
baseline of the same run is `estimate` over the same folder, which reads, plans and redacts it all
and sends nothing. The last row judges again: everything is kept by then, and nothing is asked.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).parent
CHUNKS = 3
WORDS = [
    "build", "cache", "checkout", "config", "deploy", "error", "export", "fixture", "handler",
    "import", "index", "ledger", "migrate", "module", "order", "parser", "price", "query",
    "render", "retry", "schema", "server", "session", "store", "stream", "table", "token", "worker",
]  # fmt: skip


def say(line: str) -> None:
    """One line at once, whoever reads it."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def make_session(number: int, chars: int) -> str:
    """A session whose events make three chunks of about that size, each with texts of its own."""
    chance = random.Random(number)
    events: list[dict[str, object]] = []
    for call in range(CHUNKS):
        size = int(chars * 0.9)
        words = " ".join(chance.choices(WORDS, k=size // 7))[: size - 200]
        events.append(
            {
                "kind": "tool_call",
                "tool": "Bash",
                "input": {"command": f"make step{number}-{call}"},
                "call_id": f"c{call}",
            }
        )
        events.append(
            {"kind": "tool_result", "tool": "Bash", "output": words, "call_id": f"c{call}"}
        )
    return "".join(json.dumps(each) + "\n" for each in events)


def make_sessions(folder: Path, count: int, chars: int) -> int:
    """Write the sessions, a thousand in a folder; their bytes."""
    total = 0
    for number in range(count):
        place = folder / f"{number // 1000:03}"
        place.mkdir(exist_ok=True)
        text = make_session(number, chars)
        (place / f"s{number:06}.jsonl").write_text(text)
        total += len(text)
    return total


@dataclass(slots=True)
class Ran:
    """What a process came to; memory in MB, each second, with the lines that it had printed."""

    seconds: float = 0.0
    cpu: float = 0.0
    lines: int = 0
    calls: int = 0
    complete: int = 0
    memory: list[tuple[int, float]] = field(default_factory=list)
    sent: int = 0

    @property
    def peak(self) -> float:
        """The most memory that was seen."""
        return max((size for _, size in self.memory), default=0.0)

    def at(self, share: float) -> float:
        """Memory over the tenth of the time that ends at that share of it."""
        end = max(1, int(len(self.memory) * share))
        tenth = max(1, len(self.memory) // 10)
        return statistics.fmean(size for _, size in self.memory[max(0, end - tenth) : end])


def resident(pid: int) -> float:
    """Memory of a process in MB, 0 where it is gone."""
    try:
        text = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0.0
    line = next((each for each in text.splitlines() if each.startswith("VmRSS")), "VmRSS: 0")
    return int(line.split()[1]) / 1024


def run(env: dict[str, str], *words: str, judges: bool = True) -> Ran:
    """Run a command to its end, and watch it."""
    ran = Ran()
    begun = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, "-m", "longjudge", *words],
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    over = threading.Event()

    def watch() -> None:
        while not over.wait(1.0):
            ran.memory.append((ran.lines, resident(process.pid)))

    def listen() -> None:
        assert process.stderr is not None
        for line in process.stderr:
            ran.sent += " sent\n" in line

    threads = [threading.Thread(target=each) for each in (watch, listen)]
    for thread in threads:
        thread.start()
    for line in process.stdout:
        ran.lines += 1
        if judges:
            result = json.loads(line)
            ran.calls += result["calls"]
            ran.complete += result["status"] == "complete"
    _, _, usage = os.wait4(process.pid, 0)
    process.returncode = 0
    ran.seconds = time.monotonic() - begun
    ran.cpu = usage.ru_utime + usage.ru_stime
    over.set()
    for thread in threads:
        thread.join()
    return ran


def main() -> None:
    """Make the sessions, serve, judge, and print the figures."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--sessions", type=int, default=20_000)
    parser.add_argument("--chars", type=int, default=2_000, help="characters of a chunk")
    parser.add_argument("--latency", type=float, default=5.0, help="seconds a batch takes")
    parser.add_argument("--queued", type=int, default=10_000, help="questions on their way")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        sessions = folder / "sessions"
        sessions.mkdir()
        size = make_sessions(sessions, given.sessions, given.chars)
        say(
            f"{given.sessions:,} sessions, {given.sessions * CHUNKS:,} chunks, {size / 1e6:,.0f} MB"
        )
        (folder / "config.toml").write_text(
            f"[batches]\nqueued = {given.queued}\nmax_requests = 2000\nlongest_look = 2.0\n"
        )
        server = subprocess.Popen(
            [sys.executable, str(HERE.parent / "batch_server.py"), "--port", "0", "--latency",
             str(given.latency)],
            stdout=subprocess.PIPE,
            text=True,
        )  # fmt: skip
        assert server.stdout is not None
        port = server.stdout.readline().split()[-1]
        env = os.environ | {
            "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{port}",
            "ANTHROPIC_API_KEY": "a-key-for-nobody",
            "LONGJUDGE_STORE": str(folder / "store.sqlite"),
            "LONGJUDGE_CONFIG": str(folder / "config.toml"),
            "HOME": place,
        }
        size_option = ("--chunk-chars", str(given.chars))
        try:
            base = run(env, "estimate", str(sessions), "--json", *size_option, judges=False)
            first = run(env, "judge", str(sessions), "--batch", "--json", *size_option)
            again = run(env, "judge", str(sessions), "--batch", "--json", *size_option)
        finally:
            server.kill()
            server.wait()
        report(base, first, again, folder)


def report(base: Ran, first: Ran, again: Ran, folder: Path) -> None:
    """Print the figures of all three runs."""
    say(f"estimate      {base.cpu:8.1f} s of a core  {base.seconds:8.1f} s  {base.peak:6.0f} MB")
    for name, ran in (("judge --batch", first), ("once more", again)):
        say(
            f"{name:13} {ran.cpu:8.1f} s of a core  {ran.seconds:8.1f} s  {ran.peak:6.0f} MB at"
            f" most  {ran.cpu / base.cpu:5.2f}x the estimate; {ran.lines:,} results,"
            f" {ran.complete:,} complete, {ran.calls:,} questions in {ran.sent} batches"
        )
    quarters = [first.at(share) for share in (0.25, 0.5, 0.75, 1.0)]
    shown = "  ".join(f"{size:.0f}" for size in quarters)
    say(
        f"memory in MB at each quarter of judge --batch: {shown} ({quarters[3] / quarters[0]:.2f}x)"
    )
    store = (folder / "store.sqlite").stat().st_size / 1e6
    say(f"store {store:.0f} MB; {first.lines / first.seconds:.0f} sessions a second")


if __name__ == "__main__":
    main()
