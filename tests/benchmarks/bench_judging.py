"""What a judgment costs, holds and withstands, each beside a baseline of the same run.

Run it as a script: `python tests/benchmarks/bench_judging.py [ROW ...] [--seed SCRIPT]`. Rows:

    12   verdicts lost to kill -9, errors of four writers; baseline: a shelf
    13   makespan against the ideal, 64 calls of 200 ms in flight
    14   processor time per call against a bare call of the SDK, 64 in flight
    15   memory of 5,000 chunks against 1,000
    50k  50,000 chunks over bare sockets: memory of the 50,000th against the 5,000th, loop lag
    16   calls per second against another script at the same concurrency
    17   cancel with 64 calls in flight until everything has stopped
    19   the worst lag of the loop while the app shows a judgment

The server is a process of its own on this computer. Row 16 compares with a script that has
`session_problems(events)`, `limit`, `client` and `CHUNK_CHARS`, named by `--seed`, by
`LONGJUDGE_SEED` or found as `../shared/seed/*.py`; without one it is skipped. Each row prints what
was measured, the goal and the gate. It passes or fails nothing.
"""

from __future__ import annotations

import argparse
import json
import random
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judging_place import (
    CHUNK_CHARS,
    HERE,
    Place,
    child,
    environment,
    find_seed,
    python_with_ndbm,
    report,
    say,
)
from messages_process import ServerProcess

if TYPE_CHECKING:
    from collections.abc import Callable

SMALL_CHARS = 400
IN_FLIGHT = 64
KILLS = 10
WRITERS, PUTS = 4, 100


def lost_verdicts(place: Place) -> None:
    """Row 12."""
    rng, lost, acknowledged = random.Random(7), 0, 0
    session = place.session(400, SMALL_CHARS)
    with ServerProcess(0.005) as server:
        for _ in range(KILLS):
            store = place.store()
            words = {"session": session, "store": store, "chars": SMALL_CHARS, "plain": True}
            words["concurrency"] = 8
            process = subprocess.Popen(
                [sys.executable, HERE / "judging_child.py", "shown", json.dumps(words)],
                env=environment(server),
                stdout=subprocess.PIPE,
                text=True,
            )
            assert process.stdout is not None
            shown = [process.stdout.readline() for _ in range(rng.randint(1, 150))]
            process.send_signal(signal.SIGKILL)
            shown += process.stdout.readlines()
            process.wait()
            process.stdout.close()
            # The last line may be cut: it was being written when the end came.
            keys = {line.strip() for line in shown if line.endswith("\n")}
            acknowledged += len(keys)
            connection = sqlite3.connect(store)
            kept = {row[0] for row in connection.execute("SELECT key FROM verdicts")}
            connection.close()
            lost += len(keys - kept)
    report(
        "12",
        f"kill -9, {KILLS} times: verdicts shown and lost",
        str(lost),
        "0",
        "0",
        f"{acknowledged} verdicts were shown",
    )
    ours, errors = _writers(place, "write")
    shelf, shelf_errors = _writers(place, "shelve")
    report(
        "12",
        f"{WRITERS} writers, {PUTS} puts each: errors, missing",
        f"{errors}, {WRITERS * PUTS - ours}",
        "0, 0",
        "0, 0",
        f"baseline, a shelf: {shelf_errors} errors, {WRITERS * PUTS - shelf_errors - shelf} of"
        " those said to be written are missing",
    )


def _writers(place: Place, work: str) -> tuple[int, int]:
    """Rows that several processes leave in one file, and the errors that they met."""
    path = Path(place.store())
    processes = [
        subprocess.Popen(
            [
                sys.executable,
                HERE / "judging_child.py",
                work,
                json.dumps({"store": str(path), "name": f"writer{number}", "puts": PUTS}),
            ],
            env=environment(None),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        for number in range(WRITERS)
    ]
    outputs = [process.communicate()[0] for process in processes]
    # Who fell over has put nothing more.
    errors = sum(json.loads(out)["errors"] if out else PUTS for out in outputs)
    if work == "write":
        connection = sqlite3.connect(path)
        [(rows,)] = connection.execute("SELECT count(*) FROM verdicts")
        connection.close()
        return rows, errors
    code = f"import shelve; print(len(list(shelve.open({str(path)!r}, 'r'))))"
    counted = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    return int(counted.stdout or 0), errors


def makespan(place: Place) -> None:
    """Row 13."""
    chunks, latency = 2_000, 0.2
    words = {"chars": 2_000, "concurrency": IN_FLIGHT, "session": place.session(chunks, 2_000)}
    with ServerProcess(latency) as server:
        ours = child("judge", server, store=place.store(), **words)
        bare = child("bare", server, store=place.store(), **words)
    ideal = -(-ours["calls"] // IN_FLIGHT) * latency
    report(
        "13",
        f"makespan / ideal, {IN_FLIGHT} × 200 ms, {ours['calls']} calls",
        f"{ours['seconds'] / ideal:.2f}x",
        "1.05x",
        "<= 1.15x",
        f"{ours['seconds']:.2f} s, ideal {ideal:.2f} s; bare SDK {bare['seconds'] / ideal:.2f}x;"
        f" processor busy {ours['cpu'] / ours['seconds']:.0%}",
    )


def overhead(place: Place) -> None:
    """Row 14."""
    for chars, chunks in ((2_000, 500), (CHUNK_CHARS, 200)):
        words = {"chars": chars, "concurrency": IN_FLIGHT, "session": place.session(chunks, chars)}
        ours: list[dict[str, Any]] = []
        bare: list[dict[str, Any]] = []
        with ServerProcess() as server:
            for _ in range(3):
                bare.append(child("bare", server, store=place.store(), **words))
                ours.append(child("judge", server, store=place.store(), **words))
        per_call, per_bare = (statistics.median(map(_per_call, each)) for each in (ours, bare))
        report(
            "14",
            f"processor time per call / bare SDK, {chars:,} characters",
            f"{per_call / per_bare:.2f}x",
            "1.1x",
            "<= 1.4x",
            f"{per_call:.2f} ms, bare SDK {per_bare:.2f} ms (medians of 3); {_shares(ours)}",
        )


def _shares(facts: list[dict[str, Any]]) -> str:
    """What of a call's processor time is no bookkeeping."""
    question, answer = (
        statistics.median(1000 * each["shares"][name] / each["calls"] for each in facts)
        for name in ("question", "answer")
    )
    return f"{question:.2f} ms go into the question (secrets, fence), {answer:.2f} into the rules"


def _per_call(facts: dict[str, Any]) -> float:
    return 1000 * facts["cpu"] / facts["calls"]


def memory(place: Place) -> None:
    """Row 15."""
    peaks: list[float] = []
    tasks: list[int] = []
    with ServerProcess() as server:
        for chunks in (1_000, 5_000):
            facts = child(
                "judge",
                server,
                session=place.session(chunks, 4_000),
                store=place.store(),
                chars=4_000,
                concurrency=IN_FLIGHT,
            )
            peaks.append(facts["peak"])
            tasks.append(facts["tasks"])
    report(
        "15",
        "memory, 1,000 -> 5,000 chunks (peaks)",
        f"{peaks[1] / peaks[0]:.2f}x",
        "1.02x",
        "<= 1.2x",
        f"{peaks[0]:.0f} MB -> {peaks[1]:.0f} MB with the result; at most {tasks[0]} and"
        f" {tasks[1]} tasks",
    )


def fifty_thousand(place: Place) -> None:
    """Row 15 and the loop's lag, with 50,000 chunks."""
    with ServerProcess() as server:
        facts = child(
            "judge",
            server,
            session=place.session(50_000, SMALL_CHARS),
            store=place.store(),
            chars=SMALL_CHARS,
            concurrency=16,
            plain=True,
        )
    at, lag = facts["memory"], facts["lag"]
    report(
        "50k",
        f"memory, 5,000th -> last of {facts['chunks']:,} chunks",
        f"{at[-1] / at[0]:.2f}x",
        "1.0x",
        "<= 1.2x",
        f"{at[0]:.0f} -> {at[-1]:.0f} MB, {facts['peak']:.0f} MB with the result;"
        f" {facts['tasks']} tasks at most; {_per_call(facts):.2f} ms of processor time a chunk",
    )
    report(
        "50k",
        "loop lag p99, run to result",
        f"{lag['p99']:.1f} ms",
        "< 50 ms",
        "< 50 ms",
        f"p50 {lag['p50']:.1f}, p95 {lag['p95']:.1f}, worst {lag['max']:.0f} ms",
    )


def against_seed(place: Place) -> None:
    """Row 16."""
    if place.seed is None:
        say("16  skipped: no script to compare with (--seed, LONGJUDGE_SEED)")
        return
    found = python_with_ndbm()
    if found is None:
        say(
            "16  skipped: the script's shelf is to be dbm.ndbm, which no Python of this version has"
        )
        return
    python, paths = found
    session = place.session(600)
    with ServerProcess() as server:
        for concurrency in (4, IN_FLIGHT):
            words = {"session": session, "chars": CHUNK_CHARS, "concurrency": concurrency}
            ours: list[dict[str, Any]] = []
            theirs: list[dict[str, Any]] = []
            for _ in range(3):
                folder = Path(place.store()).parent
                script = {**words, "script": str(place.seed)}
                theirs.append(
                    child("seed", server, python=python, paths=paths, cwd=folder, **script)
                )
                store = place.store()
                ours.append(
                    child("judge", server, python=python, paths=paths, store=store, **words)
                )
            rates = [
                statistics.median(each["calls"] / each["seconds"] for each in facts)
                for facts in (ours, theirs)
            ]
            costs = [statistics.median(map(_per_call, facts)) for facts in (ours, theirs)]
            report(
                "16",
                f"calls per second / the script's, {concurrency} in flight",
                f"{rates[0] / rates[1]:.2f}x",
                "1.6x",
                ">= 1.1x",
                f"{rates[0]:.0f}/s, the script {rates[1]:.0f}/s (medians of 3, dbm.ndbm);"
                f" {costs[0]:.2f} and {costs[1]:.2f} ms of processor time a call, {_shares(ours)}",
            )


def cancelling(place: Place) -> None:
    """Row 17."""
    with ServerProcess(60.0) as server:
        facts = child(
            "cancelled",
            server,
            session=place.session(200),
            store=place.store(),
            chars=CHUNK_CHARS,
            concurrency=IN_FLIGHT,
        )
    beyond = 1000 * (facts["seconds"] - facts["grace"])
    report(
        "17",
        f"cancel -> stopped, {IN_FLIGHT} in flight, after the grace",
        f"{beyond:.0f} ms",
        "6 ms",
        "<= 100 ms",
        f"{facts['grace']:g} s of grace before; bare SDK calls alone {1000 * facts['bare']:.0f} ms"
        f" ({beyond / max(1000 * facts['bare'], 0.1):.1f}x)",
    )


def with_screen(place: Place) -> None:
    """Row 19."""
    with ServerProcess(0.2) as server:
        facts = child(
            "screen",
            server,
            session=place.session(1_000),
            folder=str(Path(place.store()).parent),
            chars=CHUNK_CHARS,
            concurrency=IN_FLIGHT,
        )
    idle, busy = facts["idle"], facts["busy"]
    report(
        "19",
        f"worst loop lag, app and judgment, {IN_FLIGHT} in flight",
        f"{busy['max']:.0f} ms",
        "14-21 ms",
        "<= 60 ms",
        f"p95 {busy['p95']:.1f}, p99 {busy['p99']:.1f} ms; the idle app's {idle['max']:.0f} ms"
        f" ({busy['max'] / max(idle['max'], 0.1):.1f}x); {facts['calls']} calls in"
        f" {facts['seconds']:.1f} s",
    )


ROWS: dict[str, Callable[[Place], None]] = {
    "12": lost_verdicts,
    "13": makespan,
    "14": overhead,
    "15": memory,
    "50k": fifty_thousand,
    "16": against_seed,
    "17": cancelling,
    "19": with_screen,
}


def main() -> None:
    """Print the rows that were asked for, or all."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("rows", nargs="*", metavar="ROW", help=f"of {', '.join(ROWS)}")
    parser.add_argument("--seed", help="the script of row 16, or its folder")
    arguments = parser.parse_args()
    if unknown := [row for row in arguments.rows if row not in ROWS]:
        parser.error(f"no row {', '.join(unknown)}; there are {', '.join(ROWS)}")
    with tempfile.TemporaryDirectory(prefix="longjudge-bench-") as folder:
        place = Place(Path(folder), find_seed(arguments.seed))
        for row in arguments.rows or ROWS:
            ROWS[row](place)


if __name__ == "__main__":
    main()
