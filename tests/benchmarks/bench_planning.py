"""Times what one step of a drag costs the engine: plan, keys and totals of a large session.

Run it as a script: `python tests/benchmarks/bench_planning.py [--events 100000] [--steps 40]`. Each
row drags the chunk size around one number of chunks, and prints median and 95th percentile of the
processor time in milliseconds, in characters and in tokens. The last column is the same work done
chunk by chunk, with a chunk object, a digest and an estimate each, as a baseline of the same run.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import time
from typing import TYPE_CHECKING

from longjudge.chunks import plan_chunks
from longjudge.estimate import Estimator
from longjudge.judges.make import make_judge
from longjudge.keys import KeyMaker
from longjudge.rubric import load_rubric
from longjudge.sessions.model import EventIndex, Thread, text_digest, tokens_of
from longjudge.tokens import TokenRatio

if TYPE_CHECKING:
    from collections.abc import Callable

MODEL = "claude-haiku-5-5"
CHUNKS = (50, 500, 1_500, 3_000, 5_000, 16_000)


def say(line: str) -> None:
    """Print a line at once, so that a long run shows where it is."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def make_index(events: int) -> EventIndex:
    """Events with sizes as sessions have them, every third the result of the call before it."""
    rng, index = random.Random(20240229), EventIndex()
    for number in range(events):
        chars = 10 + int(rng.lognormvariate(5.5, 1.3))
        answers = number % 3 == 2
        index.kinds.append(4 if answers else 3)
        index.errors.append(0)
        index.records.append(number)
        index.positions.append(0)
        index.chars.append(chars)
        index.tokens.append(tokens_of(chars, chars))
        index.calls.append(number - 1 if answers else number)
        index.tools.append(0)
        index.digests += text_digest(str(number))
    index.seal((Thread("main", 0, events),))
    return index


def timed(step: Callable[[int], int], sizes: list[int]) -> tuple[float, float, int]:
    """Median and 95th percentile in milliseconds, and the middle number of chunks."""
    times: list[float] = []
    counts: list[int] = []
    for size in sizes:
        begin = time.thread_time()
        counts.append(step(size))
        times.append((time.thread_time() - begin) * 1000)
    times.sort()
    return statistics.median(times), times[int(len(times) * 0.95)], counts[len(counts) // 2]


def main() -> None:
    """Drag over one index at several sizes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=100_000)
    parser.add_argument("--steps", type=int, default=40)
    arguments = parser.parse_args()
    index = make_index(arguments.events)
    maker = KeyMaker(make_judge(MODEL), load_rubric("chunks"))
    estimator = Estimator(MODEL, TokenRatio(0.4, 0.2), 900)
    kept = set(list(maker.keys(plan_chunks(index, 30_000)))[::2])

    def by_chars(size: int) -> int:
        plan = plan_chunks(index, size)
        estimator.totals(plan, list(maker.keys(plan)), kept)
        return len(plan)

    def by_tokens(size: int) -> int:
        plan = plan_chunks(index, chunk_tokens=size)
        estimator.totals(plan, list(maker.keys(plan)), kept)
        return len(plan)

    def one_by_one(size: int) -> int:
        plan = plan_chunks(index, size)
        for position in range(len(plan)):
            maker.key(plan.digest(position))
            estimator.cost(estimator.chunk(plan, position).tokens)
        return len(plan)

    # What is made once for a session is no part of a step.
    for step in (by_chars, by_tokens):
        step(30_000)
    say(f"{arguments.events} events, {index.total_chars / 1e6:.0f} M characters")
    say("chunks    characters p50 / p95    tokens p50 / p95    one by one p50")
    for chunks in CHUNKS:
        middle = index.total_chars // chunks
        around = [middle * (80 + 40 * k // arguments.steps) // 100 for k in range(arguments.steps)]
        sizes = [min(max(size, 300), 9_000_000) for size in around]
        p50, p95, count = timed(by_chars, sizes)
        t50, t95, _ = timed(by_tokens, [max(100, 25 * size // 60) for size in sizes])
        plain, _, _ = timed(one_by_one, sizes[::8])
        say(
            f"{count:>6} {p50:>12.1f} / {p95:<8.1f}{t50:>10.1f} / {t95:<8.1f}"
            f"{plain:>10.1f} ({plain / p50:.1f}x)"
        )


if __name__ == "__main__":
    main()
