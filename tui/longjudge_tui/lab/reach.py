"""What a fault would do to the plan that is shown: the parts that it meets, and how a run ends."""

from __future__ import annotations

import shlex
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from longjudge.faults import FaultKind, Parts
from longjudge.prompt import chunk_tag
from longjudge.settings import in_seconds
from longjudge.text import clean
from longjudge_tui.bench.sizes import Unit
from longjudge_tui.lab.course import course_of, run_of
from longjudge_tui.wording import plural

if TYPE_CHECKING:
    from collections.abc import Sequence

    from longjudge.chunks import ChunkPlan
    from longjudge.faults import Fault
    from longjudge.settings import Settings
    from longjudge_tui.bench.bench import Bench

MOST_LOOKS = 5_000
"""Up to so many looks at a chunk it is counted which ones a fault meets: it is said with a key."""

MOST_RUNS = 8

LONG = 10.0
"""A run that failures make so many seconds long is said to be."""


@dataclass(frozen=True, slots=True)
class Foreseen:
    """What is known before a run: the parts that are met, a picture of them, how it would end.

    `cells` has a mark for each chunk of the plan: whether it is met, and then whether it is asked.
    """

    met: str
    outcome: str
    cells: tuple[str, ...] = ()

    def picture(self, width: int) -> str:
        """The marks, or as many as there is room for, each for a few neighbours."""
        count = len(self.cells)
        if not count or width <= 0:
            return ""
        if count <= width:
            return "".join(self.cells)
        bounds = [place * count // width for place in range(width + 1)]
        groups = (self.cells[low:high] for low, high in pairwise(bounds))
        return "".join(max(group, key=MARKS.index) for group in groups)


MARKS: Final = ("·", "▒", "█")
"""Not met, met but not to ask, and met."""


class Reach:
    """Looks a fault's chunks up in the plan of a bench."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._plan: ChunkPlan | None = None
        self._tags: list[str] = []

    def foresee(self, fault: Fault) -> Foreseen | None:
        """What it would do; None where there is no plan, or where looking would take long."""
        outlook, looks = self._bench.outlook, 0
        for each in fault.forced:
            looks += len(each.where.runs) if isinstance(each.where, Parts) else 1
        if outlook is None or not len(outlook.plan) or looks * len(outlook.plan) > MOST_LOOKS:
            return None
        tags = self._tags_of(outlook.plan)
        meeting = [
            tuple(n for n, each in enumerate(fault.forced) if each.meets(place + 1, tag))
            for place, tag in enumerate(tags)
        ]
        met = [bool(each) for each in meeting]
        asked = self._asked(outlook.keys)
        cells = [MARKS[0 if not m else 2 if a else 1] for m, a in zip(met, asked, strict=True)]
        asking = [each for each, is_asked in zip(meeting, asked, strict=True) if is_asked]
        outcome = _outcome(fault, asking, self._bench.settings)
        return Foreseen(_met_words(met, asked), outcome, tuple(cells))

    def _asked(self, keys: Sequence[str]) -> list[bool]:
        """Which chunks a run would ask about; equal ones it asks about once."""
        if not self._bench.applies:
            return [False] * len(keys)
        first: dict[str, int] = {}
        for place, key in enumerate(keys):
            first.setdefault(key, place)
        return [
            first[key] == place and not self._bench.is_kept(place) for place, key in enumerate(keys)
        ]

    def _tags_of(self, plan: ChunkPlan) -> list[str]:
        if plan is not self._plan:
            self._plan, self._tags = plan, [chunk_tag(digest) for digest in plan.digests()]
        return self._tags


def command_line(bench: Bench, spec: str) -> str:
    """The same run on the command line, for a shell to read."""
    settings, tuning = bench.settings, bench.tuning
    path = str(bench.file.path) if bench.file is not None else ""
    # What acts on a terminal must not come from a clipboard either.
    named = shlex.quote(path) if path and clean(path) == path and "\n" not in path else "PATH"
    size = "--chunk-chars" if tuning.unit is Unit.CHARACTERS else "--chunk-tokens"
    model = shlex.quote(tuning.model_name)
    words = ["longjudge judge", named, "--model", model, size, f"{tuning.size}"]
    words += [] if settings.redact else ["--no-redact"]
    return " ".join([*words, *(["--fault", shlex.quote(spec)] if spec else [])])


def _met_words(met: Sequence[bool], asked: Sequence[bool]) -> str:
    """How many chunks are met, which, and how many of them a run would ask about."""
    places = [place for place, is_met in enumerate(met) if is_met]
    to_ask = sum(asked[place] for place in places)
    chunks = plural(len(met), "chunk")
    which = "" if len(places) in (0, len(met)) else f" ({_runs(places)})"
    return f"meets {len(places):,} of {chunks}{which}, {to_ask:,} of them to ask"


def _runs(places: Sequence[int]) -> str:
    """Parts as a spec has them, the first few."""
    runs: list[list[int]] = []
    for place in places:
        if runs and runs[-1][1] == place:
            runs[-1][1] = place + 1
        else:
            runs.append([place + 1, place + 1])
    words = [f"{low}" if low == high else f"{low}-{high}" for low, high in runs[:MOST_RUNS]]
    return ",".join([*words, *(["…"] if len(runs) > MOST_RUNS else [])])


def _outcome(fault: Fault, met: Sequence[tuple[int, ...]], settings: Settings) -> str:
    """How a run would end, in one sentence.

    `met` has, for each chunk that is asked about, the places in the spec of what meets it.
    """
    if not met:
        return "a run asks nothing now, so nothing fails"
    known = {each: course_of([fault.forced[n] for n in each]) for each in set(met)}
    courses = [known[each] for each in met]
    ends = run_of(courses, settings.concurrency, settings.time_limit)
    gaps = Counter(reason for reason in ends.reasons if reason is not None)
    late = again = lost = 0
    kinds = {each: {fault.forced[n].kind for n in each} for each in known}
    for each, course, reason in zip(met, courses, ends.reasons, strict=True):
        if reason is None:
            again += len(course.steps) > 1
            late += FaultKind.SLOW in kinds[each]
            lost += FaultKind.FULL_DISK in kinds[each]
    judged = len(met) - gaps.total()
    ended = ", ".join(f"{count:,} {reason.value}" for reason, count in gaps.most_common())
    words = [
        *([f"{plural(gaps.total(), 'gap')} ({ended})"] if gaps else []),
        f"{judged:,} judged" if gaps else f"all {judged:,} judged",
        *([f"{again:,} of them asked again first"] if again else []),
        *([f"{late:,} late"] if late else []),
        *([f"{lost:,} not kept"] if lost else []),
        *_time_words(ends.seconds, settings.time_limit),
    ]
    crash = next((each for each in fault.forced if each.kind is FaultKind.CRASH), None)
    if crash is not None and judged - lost >= (crash.value or 0):
        words = [f"the app is killed after {plural(int(crash.value or 0), 'verdict')}"]
    return f"a run asks {plural(len(met), 'chunk')}: {', '.join(words)}"


def _time_words(seconds: float | None, limit: float) -> list[str]:
    """How long that waits, where it is long, and whether the limit ends it."""
    if seconds is None:
        return ["how long that takes is not foreseen"]
    if seconds >= limit:
        return [f"roughly, since the limit of {in_seconds(limit)} s ends it"]
    close = f", close to the limit of {in_seconds(limit)} s" if seconds > limit / 2 else ""
    return [f"with some {seconds:,.0f} s of waits{close}"] if close or seconds >= LONG else []
