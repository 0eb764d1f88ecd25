"""What `longjudge estimate` takes over many small sessions: whole, from a sample, of the last day.

Run it as a script: `python tests/benchmarks/bench_estimate.py [--sessions 20000] [--sample 200]`.
Each row is a process of its own, with its seconds, its peak memory, and its time as a part of that
of the whole estimate. The first row reads the bytes of every file and nothing else. All sessions
are old, so that the last row tells what it takes to leave them out.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

_WORDS = ("read", "write", "file", "error", "line", "path", "module", "value", "return", "class")
_READ = (
    "import pathlib, sys\n"
    "print(sum(len(path.read_bytes()) for path in pathlib.Path(sys.argv[1]).rglob('*.jsonl')))\n"
)


def say(line: str) -> None:
    """Print a line at once, so that a long run shows where it is."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def make_sessions(folder: Path, count: int) -> int:
    """Write Claude Code sessions of 1 to 400 KB, half below 15 KB, a tenth without a tool call."""
    rng, written = random.Random(20260301), 0
    pool = [" ".join(rng.choices(_WORDS, k=rng.randrange(20, 300))) for _ in range(300)]
    for number in range(count):
        path = folder / f"{number // 1000:03}" / f"{number:06}.jsonl"
        if number % 1000 == 0:
            path.parent.mkdir()
        size, talks = min(400_000, rng.lognormvariate(9.6, 0.9)), rng.random() < 0.1
        lines: list[str] = []
        while sum(map(len, lines)) < size:
            lines.append(_line(number, len(lines), rng.choice(pool), calls=not talks))
        path.write_text("".join(lines), encoding="utf-8")
        written += sum(map(len, lines))
    return written


def _line(session: int, number: int, words: str, *, calls: bool) -> str:
    role = "assistant" if number % 2 else "user"
    block: dict[str, object] = {"type": "text", "text": f"{session} {number} {words}"}
    if number % 2 and calls:
        command = f"cat {session}/{number}.py # {words}"
        block = {"type": "tool_use", "id": f"t{number}", "name": "Bash", "input": {"c": command}}
    id_ = f"{session:08x}-0000-4000-8000"
    record = {
        "type": role,
        "uuid": f"{id_}-{number:012x}",
        "sessionId": f"{id_}-000000000000",
        "timestamp": f"2026-01-{1 + session % 28:02}T10:{number // 60 % 60:02}:{number % 60:02}Z",
        "message": {"role": role, "id": f"msg_{session}_{number}", "content": [block]},
    }
    return json.dumps(record) + "\n"


def run(*words: object, home: str) -> tuple[float, float, str]:
    """Seconds, peak memory in MB and the last line of what a process prints."""
    environment = os.environ | {"HOME": home, "LONGJUDGE_STORE": f"{home}/store.sqlite"}
    begin = time.perf_counter()
    with tempfile.TemporaryFile("w+") as out:
        command = [sys.executable, *map(str, words)]
        process = subprocess.Popen(command, stdout=out, env=environment)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        seconds = time.perf_counter() - begin
        if process.returncode:
            raise SystemExit(f"{command} ended with {process.returncode}")
        out.seek(0)
        lines = out.read().splitlines()
    return seconds, used.ru_maxrss / 1024, lines[-1] if lines else ""


def main() -> None:
    """Make the sessions and time each way to look at them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=20_000)
    parser.add_argument("--sample", type=int, default=200)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        folder = Path(home, "sessions")
        folder.mkdir()
        written = make_sessions(folder, arguments.sessions)
        say(f"{arguments.sessions} sessions, {written / 1e6:.0f} MB")
        estimate = ("-m", "longjudge", "estimate", folder, "--json")
        bare, _, _ = run("-c", _READ, folder, home=home)
        say(f"{'bytes alone':<24} {bare:>8.1f} s")
        whole, memory, line = run(*estimate, home=home)
        exact = json.loads(line)
        say(f"{'all':<24} {whole:>8.1f} s  {memory:>6.0f} MB")
        seconds, memory, line = run(*estimate, "--sample", arguments.sample, home=home)
        told = json.loads(line)
        say(
            f"{f'a sample of {arguments.sample}':<24} {seconds:>8.1f} s  {memory:>6.0f} MB"
            f"  1/{whole / seconds:.0f}"
        )
        seconds, memory, _ = run(*estimate, "--since", "1d", home=home)
        say(f"{'none of the last day':<24} {seconds:>8.1f} s  {memory:>6.0f} MB")
        for name in ("chunks", "to_ask"):
            say(f"{name}: {exact[name]} told as {told[f'{name}_low']} to {told[f'{name}_high']}")
        low, high = (f"{told[f'cost_usd_{end}']:.2f}" for end in ("low", "high"))
        say(f"price: ${2 * exact['cost_usd_batch']:.2f} told as ${low} to ${high}")


if __name__ == "__main__":
    main()
