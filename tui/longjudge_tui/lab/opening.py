"""The failure lab over a bench: what it knows about the session, and what comes of a choice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longjudge.faults import FaultKind, Parts
from longjudge.prompt import chunk_tag
from longjudge_tui.bench.live import banner
from longjudge_tui.commands import command
from longjudge_tui.lab.screen import FailureLab, Scene
from longjudge_tui.wording import line, plural

if TYPE_CHECKING:
    from longjudge.chunks import ChunkPlan
    from longjudge.faults import Fault
    from longjudge_tui.bench.bench import Bench

MOST_LOOKS = 5_000
"""Up to so many looks at a chunk it is counted which ones a fault meets: it is said with a key."""


def failure_lab(bench: Bench, position: int | None = None) -> FailureLab:
    """The lab; `position` is the chunk under the cursor, where there is one."""
    outlook = bench.outlook if position is not None else None
    here = position + 1 if position is not None and outlook and len(outlook.plan) else None

    def accept(fault: Fault | None) -> None:
        bench.forcing.fault = fault
        bench.notices.append(_accepted(bench, fault))

    scene = Scene(
        standing=bench.forcing.spec,
        here=here,
        banner=banner(bench),
        note=_note(bench) if position is not None else "",
        reach=_Reach(bench).words if position is not None else lambda _: "",
    )
    return FailureLab(scene, accept)


def _accepted(bench: Bench, fault: Fault | None) -> str:
    if fault is None:
        return "no failure is forced from the next run on"
    run = command("run").shown
    return f"forced from the next run ({run}) on: {line(fault.spec, 60)}"


def _note(bench: Bench) -> str:
    """What stands in the way of seeing the failure at once."""
    if bench.running:
        return "a judgment is in flight: the next one has it"
    if bench.outlook is not None and bench.applies and not bench.outlook.totals.to_ask:
        sizes = " ".join(command(each).bar_key for each in ("smaller", "larger"))
        return f"every chunk is kept and nothing is asked: another chunk size ({sizes}) asks anew"
    return ""


class _Reach:
    """How many chunks a fault may meet, and how many of those a run would ask about."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._plan: ChunkPlan | None = None
        self._tags: list[str] = []

    def words(self, fault: Fault) -> str:
        """The counts; empty where they go without saying, or would take long."""
        outlook = self._bench.outlook
        met_by = [each for each in fault.forced if each.kind is not FaultKind.CRASH]
        somewhere = any(each.where is not None for each in met_by)
        if outlook is None or not somewhere:
            return ""
        looks = sum(len(each.where.runs) if isinstance(each.where, Parts) else 1 for each in met_by)
        if looks * len(outlook.plan) > MOST_LOOKS:
            return ""
        met = [
            position
            for position, tag in enumerate(self._tags_of(outlook.plan))
            if any(each.meets(position + 1, tag) for each in met_by)
        ]
        asked = sum(not self._bench.is_kept(position) for position in met)
        chunks = plural(len(outlook.plan), "chunk")
        return f"meets {len(met):,} of {chunks}, {asked:,} of them to ask"

    def _tags_of(self, plan: ChunkPlan) -> list[str]:
        if plan is not self._plan:
            self._plan, self._tags = plan, [chunk_tag(digest) for digest in plan.digests()]
        return self._tags
