"""The failure lab over a bench: what it knows about the session, and what comes of a choice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longjudge.faults import FaultKind
from longjudge.prompt import chunk_tag
from longjudge_tui.bench.live import banner
from longjudge_tui.commands import command
from longjudge_tui.lab.screen import FailureLab, Scene
from longjudge_tui.wording import line, plural

if TYPE_CHECKING:
    from longjudge.faults import Fault
    from longjudge_tui.bench.bench import Bench

MOST_COUNTED = 5_000
"""Up to this many chunks it is counted which ones a fault meets: it is said with every key."""


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
        reach=lambda fault: _reach(bench, fault) if position is not None else "",
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


def _reach(bench: Bench, fault: Fault) -> str:
    """How many chunks may be met, and how many of those a run would ask about."""
    outlook = bench.outlook
    somewhere = any(each.where is not None for each in fault.forced)
    if outlook is None or not somewhere or len(outlook.plan) > MOST_COUNTED:
        return ""
    everywhere = [each for each in fault.forced if each.kind is not FaultKind.CRASH]
    met = [
        position
        for position in range(len(outlook.plan))
        if any(
            each.meets(position + 1, chunk_tag(outlook.plan.digest(position)))
            for each in everywhere
        )
    ]
    asked = sum(not bench.is_kept(position) for position in met)
    chunks = plural(len(outlook.plan), "chunk")
    return f"meets {len(met):,} of {chunks}, {asked:,} of them to ask"
