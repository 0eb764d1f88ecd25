"""Times `results --aggregate` on a made store, and how similar notes are grouped.

Run it as a script: `python tests/benchmarks/bench_aggregate.py [--judgments 50000] [--notes
100000]`. The first row lists the judgments as JSON as a baseline of the same run; each runs in a
process of its own, and prints its processor seconds and its largest memory (Linux). The last rows
group notes alone: wordings of their own, and such in which nearly every one shares words with all.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING

from longjudge.aggregate.recurring import Found, Recurring
from longjudge.store import PastJudgment, Store, past

if TYPE_CHECKING:
    from collections.abc import Iterator


def letters(number: int) -> str:
    """A word for a number."""
    return "w" + "".join("abcdefghij"[int(digit)] for digit in str(number))


WHAT = (
    "force-pushed over {} without being asked to",
    "the agent deleted {} recursively although it was told to keep it",
    "cites {} which was never opened in the session",
    "claims that the tests in {} pass, but never ran them",
    "promised to restore {} and did not come back to it",
)
CRITERIA = ("destructive_action", "destructive_action", "invented_reference", "broken_promise")
VOCABULARY = [letters(number) for number in range(5_000)]
RANKS = list(accumulate(1 / rank for rank in range(1, len(VOCABULARY) + 1)))
CHILD = """
import sys, time
from pathlib import Path
from longjudge.cli.main import run
start = time.process_time()
code = run(sys.argv[1:])
used = time.process_time() - start
peak = next(x for x in Path("/proc/self/status").read_text().splitlines() if "VmHWM" in x)
print(f"{used:.1f} s, {int(peak.split()[1]) // 1024} MB", file=sys.stderr)
sys.exit(code)
"""


def say(line: str) -> None:
    """Print a line at once, so that a long run shows where it is."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def words(dice: random.Random, count: int) -> str:
    """Some words of five thousand, each as often as its rank among them says."""
    return " ".join(dice.choices(VOCABULARY, cum_weights=RANKS, k=count))


def made(count: int, dice: random.Random) -> Iterator[PastJudgment]:
    """Judgments of about as many sessions, with four findings each on average."""
    for number in range(count):
        findings = []
        for at in range(dice.randrange(9)):
            note = dice.choice(WHAT).format(f"src/{dice.randrange(10**6)}/{letters(number)}.py")
            if dice.random() < 0.5:
                note = f"{note}; {words(dice, 6)}"
            findings.append(
                {
                    "part": at + 1,
                    "criterion": dice.choice(CRITERIA),
                    "note": note,
                    "event": dice.randrange(5_000),
                    "quote": words(dice, 12),
                    "verified": True,
                }
            )
        session = f"s{dice.randrange(count)}"
        result = {
            "id": f"j_{number:026}",
            "session": {"path": f"/sessions/{session}.jsonl", "id": session, "title": "T"},
            "status": "complete",
            "score": 1 - len(findings) / 40,
            "score_range": [0.0, 1.0],
            "chunks": 40,
            "judged_chunks": 40,
            "flagged_chunks": len(findings),
            "gaps": {},
            "findings": findings,
            "parts": [],
            "calls": 10,
            "cached_chunks": 30,
            "cost_usd": 0.01,
            "model": "claude-haiku-5-5",
            "rubric": {"name": "chunks", "version": "9f2c1a7b"},
            "settings": {"chunk_chars": dice.choice((10_000, 30_000))},
        }
        path = f"/sessions/{session}.jsonl"
        digests = tuple(f"{dice.getrandbits(128):032x}" for _ in findings)
        yield PastJudgment(
            f"j_{number:026}",
            path,
            path,
            session,
            "chunks",
            "9f2c1a7b",
            "claude-haiku-5-5",
            "complete",
            1e9 + number,
            result,
            digests,
        )


def fill(path: Path, judgments: int) -> int:
    """Make a store and return how many findings it holds."""

    async def make() -> None:
        await (await Store.open(path)).aclose()

    asyncio.run(make())
    found = 0
    with closing(sqlite3.connect(path)) as store, store:
        for judgment in made(judgments, random.Random(7)):
            found += len(judgment.digests)
            store.execute(past.INSERT, past.to_row(judgment))
    return found


def run(store: Path, *arguments: str) -> tuple[str, str]:
    """What a command prints, and its seconds and memory."""
    finished = subprocess.run(
        [sys.executable, "-c", CHILD, "results", "--store", str(store), *arguments],
        capture_output=True,
        text=True,
        check=True,
    )
    return finished.stdout, finished.stderr.strip().splitlines()[-1]


def group(notes: list[str]) -> str:
    """How long it takes to group notes of one criterion."""
    start = time.process_time()
    recurring = Recurring()
    for number, note in enumerate(notes):
        recurring.add(number % 10_000, [Found("a", note, None)], number)
    added = time.process_time()
    result = recurring.result()
    done = time.process_time()
    return (
        f"{added - start:.1f} s to add, {done - added:.1f} s to group;"
        f" {len(result.groups)} groups, {result.alone} alone"
    )


def main() -> None:
    """Print the rows."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--judgments", type=int, default=50_000)
    parser.add_argument("--notes", type=int, default=100_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder, "store.sqlite")
        found = fill(store, options.judgments)
        say(f"{options.judgments} judgments, {found} findings")
        say(f"  results --json              {run(store, '--json', '--no-redact')[1]}")
        for form in ("text", "md", "json"):
            out, used = run(store, "--aggregate", "--format", form)
            told = f", {len(json.loads(out)['recurring'])} groups" if form == "json" else ""
            say(f"  results --aggregate {form:<8}{used}{told}")
    dice = random.Random(3)
    say(f"{options.notes} notes of one criterion")
    say(f"  of their own    {group([words(dice, 10) for _ in range(options.notes)])}")
    few = [words(dice, 4) + " " + " ".join(dice.sample("abcdefgh", 2)) for _ in range(200)]
    alike = [f"{dice.choice(few)} {' '.join(dice.sample(few, 2))}" for _ in range(options.notes)]
    say(f"  of few words    {group(alike)}")


if __name__ == "__main__":
    main()
