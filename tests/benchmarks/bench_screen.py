"""What the screen costs, in one run: keys, drag, scroll, first paint, idle, and an hour of use.

Run it as a script: `python tests/benchmarks/bench_screen.py [--only keys,paint] [--real-time]`.
Every number stands beside its goal and, where there is one, beside a plain baseline that is
measured in the same run by turns. It passes or fails nothing: on a busy machine look at the ratios.
"""

from __future__ import annotations

import argparse
import json
import os
import pty
import select
import statistics
import subprocess
import sys
import tempfile
import termios
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judging_place import environment, say, write_session
from made_sessions import make_session

if TYPE_CHECKING:
    from collections.abc import Callable

HERE = Path(__file__).parent
SAMPLES = HERE.parents[1] / "sample_sessions"
LONG = SAMPLES / "checkout-refactor.jsonl"
COLUMNS, ROWS = 120, 40
TICKS = os.sysconf("SC_CLK_TCK")
EMPTY_APP = """
from textual.app import App
from textual.widgets import Static
class Empty(App):
    def compose(self):
        yield Static("PAINTED")
Empty().run()
"""
WITHOUT_SDK = """
import sys
from longjudge.cli import main
code = main()
open({path!r}, "w").write(str("anthropic" in sys.modules))
sys.exit(code)
"""


class OnTerminal:
    """A process on a pseudo-terminal that is always read."""

    def __init__(self, words: list[str], env: dict[str, str]) -> None:
        self.begun = time.monotonic()
        self.wire = b""
        self.pid, self.terminal = pty.fork()
        if not self.pid:
            os.execve(words[0], words, env)
        termios.tcsetwinsize(self.terminal, (ROWS, COLUMNS))

    def read(self, seconds: float) -> bool:
        """Read what comes; false at the end."""
        ready, _, _ = select.select([self.terminal], [], [], seconds)
        if ready:
            try:
                self.wire += os.read(self.terminal, 1 << 16)
            except OSError:
                return False
        return True

    def until(self, condition: Callable[[], bool], seconds: float = 120) -> float:
        """Read until something holds; seconds since the start."""
        end = time.monotonic() + seconds
        while not condition() and time.monotonic() < end and self.read(0.5):
            pass
        return time.monotonic() - self.begun

    def read_for(self, seconds: float) -> None:
        """Read what comes for a while."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0 and self.read(left):
            pass

    def keys(self, keys: str) -> None:
        """Press keys."""
        os.write(self.terminal, keys.encode())

    def used(self) -> float:
        """Seconds of processor time so far."""
        facts = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(facts[11]) + int(facts[12])) / TICKS

    def end(self) -> None:
        """Leave by the key, and read the rest."""
        self.keys("\x11\x11")
        self.until(lambda: False, 20)
        os.close(self.terminal)
        os.waitpid(self.pid, 0)


class Benchmark:
    """Where a run's files are; one method per part."""

    def __init__(self, folder: Path, arguments: argparse.Namespace) -> None:
        self.folder = folder
        self.arguments = arguments
        (folder / "home").mkdir()
        self.env = environment(None) | {
            "HOME": str(folder / "home"),
            "TERM": "xterm-256color",
            "LONGJUDGE_STORE": str(folder / "store.sqlite"),
            # As an installed program has it: compiled once. Kept where nobody else compiles.
            "PYTHONPYCACHEPREFIX": str(folder / "compiled"),
        }
        self.env.pop("PYTHONDONTWRITEBYTECODE", None)

    def child(self, work: str, *, terminal: bool = False, **more: object) -> dict[str, Any]:
        """Do one work of `screen_child.py` in a process of its own."""
        found = self.folder / f"{work}.json"
        known = {"folder": str(self.folder), "found": str(found), "terminal": terminal}
        words = [sys.executable, str(HERE / "screen_child.py"), work, json.dumps(known | more)]
        if terminal:
            process = OnTerminal(words, self.env)
            process.until(lambda: False, 600)
            os.close(process.terminal)
            os.waitpid(process.pid, 0)
        else:
            subprocess.run(words, env=self.env, check=True)
        return json.loads(found.read_text())

    def keys(self) -> None:
        """Key to drawn frame, with nothing going on and with 64 calls in flight."""
        arguments = self.arguments
        session = write_session(self.folder / "many.jsonl", arguments.chunks, 2_000)
        for terminal in (False, True):
            place = "pty" if terminal else "headless"
            found = self.child(
                "keys",
                terminal=terminal,
                session=str(session),
                chars=2_000,
                calls=64,
                latency=arguments.latency,
                seconds=arguments.seconds,
            )
            idle, busy = found["idle"], found["busy"]
            say(
                f"key to paint, {place:<9} idle p50 {idle['p50']:5.1f}  p95 {idle['p95']:5.1f} ms;"
                f"  at work p50 {busy['p50']:5.1f}  p95 {busy['p95']:5.1f}  max"
                f" {busy['max']:5.1f} ms   goal p95 < 33 ms   at work / idle"
                f" {busy['p50'] / max(0.1, idle['p50']):.1f}x"
            )
            say(
                f"    {found['calls']:.0f} in flight, {found['updates']:,.0f} updates/s,"
                f" {found['frames']:.0f} frames/s, {found['cpu']:.0%} of a core (the engine's work"
                f" with it), still running: {found['running']}"
            )

    def drag(self) -> None:
        """The chunk size dragged over 100,000 events."""
        words = [sys.executable, str(HERE / "bench_drag.py")]
        done = subprocess.run(words, env=self.env, check=True, capture_output=True, text=True)
        for line in done.stdout.splitlines():
            say(f"drag: {line}")

    def scroll(self) -> None:
        """Pages and jumps over a million events."""
        path = self.folder / "million.jsonl"
        make_session(path, self.arguments.scroll_bytes, "tiny")
        found = self.child("scroll", session=str(path), jumps=200)
        say(f"scroll, a session of {found['session']:,} events")
        for rows in ("chunks", "events"):
            for name, goal in (("page", "goal p95 < 16 ms"), ("jump", "")):
                each = found[rows][name]
                say(
                    f"    {found[rows]['rows']:>6,} {rows}, {name:<5} p50 {each['p50']:5.1f}  p95"
                    f" {each['p95']:5.1f}  max {each['max']:5.1f} ms   {goal}"
                )
        path.unlink()

    def paint(self) -> None:
        """First paint and the whole first screen, by turns with an empty app of the toolkit."""
        python = sys.executable
        longjudge = [python, "-m", "longjudge", "--model", "offline"]
        rows = {
            "an empty app": ([python, "-c", EMPTY_APP], b"PAINTED"),
            "workbench": ([*longjudge, str(LONG)], b"SETTINGS"),
            "library": ([*longjudge, str(SAMPLES)], b"SESSIONS"),
        }
        first: dict[str, list[float]] = {name: [] for name in rows}
        whole: dict[str, list[float]] = {name: [] for name in rows}
        for turn in range(self.arguments.starts + 1):
            for name, (words, mark) in rows.items():
                process = OnTerminal(words, self.env)
                seen = b"longjudge" if name != "an empty app" else mark
                times = [process.until(lambda m=m, p=process: m in p.wire) for m in (seen, mark)]
                process.end()
                if turn:
                    # The first turn compiles and fills the disk's cache.
                    first[name].append(times[0])
                    whole[name].append(times[1])
        bare = statistics.median(first["an empty app"])
        say(f"first paint of an empty app        {bare * 1000:6.0f} ms")
        for name in ("workbench", "library"):
            one, all_ = statistics.median(first[name]), statistics.median(whole[name])
            say(
                f"{name:<12} first paint {one * 1000:6.0f} ms, {one / bare:.2f}x  goal <= 1.3x;"
                f"  whole screen {all_ * 1000:6.0f} ms, {all_ / bare:.2f}x"
            )
        told = self.folder / "sdk"
        program = [python, "-c", WITHOUT_SDK.format(path=str(told)), *longjudge[3:], str(LONG)]
        process = OnTerminal(program, self.env)
        process.until(lambda: b"SETTINGS" in process.wire)
        process.end()
        say(f"the SDK is loaded by the end of a session without a question: {told.read_text()}")

    def idle(self) -> None:
        """Processor time of an app that nobody touches."""
        seconds = self.arguments.idle_seconds
        longjudge = [sys.executable, "-m", "longjudge", "--model", "offline"]
        for name, path, keys, ends in (
            ("library", SAMPLES, "", b"SESSIONS"),
            ("workbench", LONG, "", b"SETTINGS"),
            ("after a run", LONG, "r", b"complete"),
        ):
            process = OnTerminal([*longjudge, str(path)], self.env)
            process.until(lambda p=process: b"SE" in p.wire)
            process.read_for(3)
            process.keys(keys)
            process.until(lambda p=process, e=ends: e in p.wire)
            process.read_for(8)
            before, sent = process.used(), len(process.wire)
            process.read_for(seconds)
            used = (process.used() - before) / seconds
            say(
                f"idle, {name:<12} {used:6.2%} of a core over {seconds:g} s,"
                f" {len(process.wire) - sent} bytes written   goal < 1 %"
            )
            process.end()

    def hour(self) -> None:
        """3,600 actions: what a leak would add to stays as it is after the beginning."""
        arguments = self.arguments
        session = write_session(self.folder / "some.jsonl", 60, 4_000)
        pace = 1.0 if arguments.real_time else 0.0
        found = self.child(
            "hour", session=str(session), chars=4_000, actions=arguments.actions, pace=pace
        )
        samples = found["samples"]
        warm = samples[len(samples) // 4]
        say(f"an hour, {arguments.actions:,} actions: after a quarter of it, and at its end")
        for name in ("rss_kb", "tasks", "threads", "fds"):
            course = " ".join(f"{each[name]}" for each in samples[:: max(1, len(samples) // 8)])
            last = samples[-1][name]
            say(f"    {name:<8} {warm[name]:>8} {last:>8}  {last / warm[name]:.2f}x   ({course})")


PARTS = ("keys", "drag", "scroll", "paint", "idle", "hour")


def main() -> None:
    """Measure every part, or those that are named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default=",".join(PARTS), help="parts, with commas between")
    parser.add_argument("--chunks", type=int, default=20_000)
    parser.add_argument("--latency", type=float, default=2.0, help="seconds an answer takes")
    parser.add_argument("--seconds", type=float, default=15.0, help="how long keys are pressed")
    parser.add_argument("--scroll-bytes", type=int, default=190_000_000)
    parser.add_argument("--starts", type=int, default=9)
    parser.add_argument("--idle-seconds", type=float, default=20.0)
    parser.add_argument("--actions", type=int, default=3_600)
    parser.add_argument("--real-time", action="store_true", help="one action a second")
    arguments = parser.parse_args()
    say(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    with tempfile.TemporaryDirectory(prefix="longjudge-screen-") as folder:
        benchmark = Benchmark(Path(folder), arguments)
        for name in arguments.only.split(","):
            getattr(benchmark, name)()


if __name__ == "__main__":
    main()
