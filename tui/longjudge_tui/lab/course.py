"""How a run with forced failures would go: each question after the other, without asking any.

The waits are those of the retries themselves. What a judge needs for an answer of its own is not
known, and taken for nothing; so a run takes at least as long as is said here.
"""

from __future__ import annotations

import heapq
from collections import deque
from dataclasses import dataclass, replace
from random import Random
from typing import TYPE_CHECKING, Final

from longjudge.faults import Fault, FaultKind
from longjudge.judges.base import Again, AskError
from longjudge.pauses import MAX_SPREAD, SPREAD
from longjudge.retries import RetryCount, RetryPolicy
from longjudge.states import GapReason

if TYPE_CHECKING:
    from collections.abc import Sequence

    from longjudge.faults import Forced

CALL_SECONDS: Final = 300.0
"""After so long a question without any answer is given up."""

MOST_STEPS: Final = 5_000
"""So many questions and waits are gone through: it is said with a key."""

ANSWER_SECONDS: Final = 1e-6
"""Whatever is asked at the same time is on its way before the first answer comes."""

_REPLIES: Final = {
    FaultKind.BAD_JSON: GapReason.UNPARSABLE,
    FaultKind.EMPTY: GapReason.UNPARSABLE,
    FaultKind.REFUSAL: GapReason.REFUSED,
    FaultKind.TRUNCATED: GapReason.TRUNCATED,
    FaultKind.THINKING_ONLY: GapReason.TRUNCATED,
}
_ORDERS: Final = frozenset({FaultKind.RATE_LIMITED, FaultKind.OVERLOADED})


class _Middle(Random):
    def uniform(self, a: float, b: float) -> float:
        return (a + b) / 2


@dataclass(frozen=True, slots=True)
class Step:
    """One question: how long it takes, how long its chunk then waits, and whether all others do."""

    busy: float
    wait: float = 0.0
    for_all: bool = False


@dataclass(frozen=True, slots=True)
class Course:
    """Every question about a chunk, and the gap that it ends as; None where it is judged."""

    steps: tuple[Step, ...]
    reason: GapReason | None


@dataclass(frozen=True, slots=True)
class Ends:
    """How each chunk ends, in the order of the courses, and the seconds until the last one does.

    These are None where it would take too long to look; no limit is counted with then.
    """

    reasons: tuple[GapReason | None, ...]
    seconds: float | None


def course_of(forced: Sequence[Forced]) -> Course:
    """What a chunk goes through that all of these meet."""
    fault = Fault(tuple(replace(each, where=None) for each in forced))
    count, policy = RetryCount(), RetryPolicy(_Middle())
    steps: list[Step] = []
    now = 0.0
    while True:
        met = fault.of_question(1, "", len(steps) + 1)
        busy = sum(each.value or 0.0 for each in met if each.kind is FaultKind.SLOW)
        last = met[-1] if met and met[-1].kind.keeps_back else None
        if last is None:
            return Course((*steps, Step(busy)), None)
        if (reason := _REPLIES.get(last.kind)) is not None:
            steps.append(Step(busy))
            if not count.asks_again(reason):
                return Course(tuple(steps), reason)
        else:
            error = _error(last)
            busy += CALL_SECONDS if last.kind is FaultKind.TIMEOUT else 0.0
            now += busy
            wait = policy.next_wait(error, count, now)
            steps.append(Step(busy, wait or 0.0, error.again is Again.WHEN_TOLD))
            if wait is None:
                return Course(tuple(steps), error.reason)
            now += wait


def _error(forced: Forced) -> AskError:
    ordered = forced.kind in _ORDERS
    again = Again.WHEN_TOLD if ordered else Again.SOON
    reason = GapReason.RATE_LIMITED if ordered else GapReason.PROVIDER_ERROR
    return AskError("", again=again, reason=reason, wait=forced.value)


class _Pause:
    """The wait that holds for all; what was asked before it began goes on."""

    def __init__(self, workers: int) -> None:
        self._from = self._until = self._spread = 0.0
        self._workers, self._back = workers, 0

    def order(self, now: float, wait: float) -> None:
        if now + wait <= self._until:
            return
        if now > self._until:
            self._from, self._back = now, 0
        self._until, self._spread = now + wait, min(MAX_SPREAD, SPREAD * wait)

    def back(self, now: float) -> float:
        """When a worker may ask that is free now: they come back one after the other."""
        if not self._from <= now < self._until:
            return now
        self._back += 1
        return self._until + self._spread * self._back / (self._workers + 1)


def run_of(courses: Sequence[Course], in_flight: int, limit: float) -> Ends:
    """How a run ends that asks about chunks of these courses, so many at a time."""
    fresh, later = deque(range(len(courses))), list[tuple[float, int, int]]()
    free = [0.0] * min(max(1, in_flight), len(courses))
    ends: list[GapReason | None] = [each.reason for each in courses]
    kinds = {id(each): each for each in courses}.values()
    if not any(step.busy or step.wait for each in kinds for step in each.steps):
        return Ends(tuple(ends), 0.0)
    pause, last = _Pause(len(free)), 0.0
    for _ in range(MOST_STEPS):
        now = heapq.heappop(free)
        back = pause.back(now)
        if now >= limit or not (fresh or later):
            break
        if back > now:
            heapq.heappush(free, back)
            continue
        if later and later[0][0] <= now:
            _, place, number = heapq.heappop(later)
        elif fresh:
            place, number = fresh.popleft(), 0
        else:
            heapq.heappush(free, later[0][0])
            continue
        step, done = courses[place].steps[number], now
        done += max(step.busy, ANSWER_SECONDS)
        if done > limit:
            ends[place] = GapReason.TIMED_OUT
        elif number + 1 < len(courses[place].steps):
            heapq.heappush(later, (done + step.wait, place, number + 1))
        if step.for_all:
            pause.order(done, step.wait)
        last = max(last, done)
        heapq.heappush(free, done)
    else:
        return Ends(tuple(ends), None)
    for place in fresh:
        ends[place] = GapReason.SKIPPED
    for _, place, _ in later:
        ends[place] = GapReason.TIMED_OUT
    return Ends(tuple(ends), limit if fresh or later else min(last, limit))
