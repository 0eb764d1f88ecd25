"""What a fault would do to the plan that is shown: the parts that it meets, and how a run ends."""

from __future__ import annotations

import shlex
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from longjudge.faults import FaultKind, Parts
from longjudge.prompt import chunk_tag
from longjudge.states import GapReason
from longjudge.text import clean
from longjudge_tui.bench.sizes import Unit
from longjudge_tui.wording import plural

if TYPE_CHECKING:
    from collections.abc import Sequence

    from longjudge.chunks import ChunkPlan
    from longjudge.faults import Fault, Forced
    from longjudge_tui.bench.bench import Bench

MOST_LOOKS = 5_000
"""Up to so many looks at a chunk it is counted which ones a fault meets: it is said with a key."""

MOST_RUNS = 8

_ENDS_AS: Final = {
    FaultKind.TIMEOUT: (GapReason.TIMED_OUT, 1),
    FaultKind.REFUSAL: (GapReason.REFUSED, 1),
    FaultKind.BAD_JSON: (GapReason.UNPARSABLE, 2),
    FaultKind.EMPTY: (GapReason.UNPARSABLE, 2),
    FaultKind.TRUNCATED: (GapReason.TRUNCATED, 2),
    FaultKind.THINKING_ONLY: (GapReason.TRUNCATED, 2),
    FaultKind.SERVER_ERROR: (GapReason.PROVIDER_ERROR, 5),
    FaultKind.DROP: (GapReason.PROVIDER_ERROR, 5),
    FaultKind.RATE_LIMITED: (GapReason.RATE_LIMITED, 8),
    FaultKind.OVERLOADED: (GapReason.RATE_LIMITED, 8),
}
"""What a chunk ends as, and after how many such answers."""


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
"""Not met, met but kept already, and met."""


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
        kept = [self._bench.is_kept(position) for position in range(len(tags))]
        met = [fault.meets(place + 1, tag) for place, tag in enumerate(tags)]
        cells = [MARKS[0 if not m else 1 if k else 2] for m, k in zip(met, kept, strict=True)]
        asked = [place for place, is_kept in enumerate(kept) if not is_kept]
        return Foreseen(_met_words(met, kept), _outcome(fault, tags, asked), tuple(cells))

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


def _met_words(met: Sequence[bool], kept: Sequence[bool]) -> str:
    """How many chunks are met, which, and how many of them a run would ask about."""
    places = [place for place, is_met in enumerate(met) if is_met]
    asked = sum(not kept[place] for place in places)
    chunks = plural(len(met), "chunk")
    which = "" if len(places) in (0, len(met)) else f" ({_runs(places)})"
    return f"meets {len(places):,} of {chunks}{which}, {asked:,} of them to ask"


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


def _outcome(fault: Fault, tags: Sequence[str], asked: Sequence[int]) -> str:
    """How a run would end, in one sentence."""
    gaps: Counter[GapReason] = Counter()
    again = late = lost = 0
    for place in asked:
        met = [each for each in fault.forced if each.meets(place + 1, tags[place])]
        ends = next((_ends_as(each) for each in met if _ends_as(each) is not None), None)
        if ends is not None:
            gaps[ends] += 1
            continue
        again += any(each.kind.keeps_back for each in met)
        late += any(each.kind is FaultKind.SLOW for each in met)
        lost += any(each.kind is FaultKind.FULL_DISK for each in met)
    judged = len(asked) - gaps.total()
    ended = ", ".join(f"{count:,} {reason.value}" for reason, count in gaps.most_common())
    words = [
        *([f"{plural(gaps.total(), 'gap')} ({ended})"] if gaps else []),
        f"{judged:,} judged" if gaps else f"all {judged:,} judged",
        *([f"{again:,} of them asked again first"] if again else []),
        *([f"{late:,} late"] if late else []),
        *([f"{lost:,} not kept"] if lost else []),
    ]
    crash = next((each for each in fault.forced if each.kind is FaultKind.CRASH), None)
    if crash is not None and judged >= (crash.value or 0):
        words = [f"the app is killed after {plural(int(crash.value or 0), 'verdict')}"]
    if not asked:
        return "a run asks nothing now, so nothing fails"
    return f"a run asks {plural(len(asked), 'chunk')}: {', '.join(words)}"


def _ends_as(forced: Forced) -> GapReason | None:
    """What a chunk that is met by it ends as; None where it is judged after all."""
    known = _ENDS_AS.get(forced.kind)
    if known is None:
        return None
    reason, attempts = known
    return reason if forced.times is None or forced.times >= attempts else None
