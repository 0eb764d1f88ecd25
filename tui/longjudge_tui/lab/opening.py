"""The failure lab over a bench: what it knows about the session, and what comes of a choice."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from longjudge_tui.bench.live import banner
from longjudge_tui.commands import command
from longjudge_tui.lab.reach import Reach, command_line
from longjudge_tui.lab.screen import FailureLab, Scene
from longjudge_tui.wording import line

if TYPE_CHECKING:
    from longjudge.faults import Fault
    from longjudge_tui.bench.bench import Bench


def failure_lab(bench: Bench, position: int | None = None) -> FailureLab:
    """The lab; `position` is the chunk under the cursor, where there is one."""
    outlook = bench.outlook if position is not None else None
    parts = len(outlook.plan) if outlook is not None else 0

    def accept(fault: Fault | None) -> None:
        bench.forcing.use(fault)
        bench.notices.append(_accepted(bench, fault))

    scene = Scene(
        standing=bench.forcing.spec,
        recent=bench.forcing.recent,
        here=None if position is None or not parts else position + 1,
        parts=parts,
        banner=banner(bench),
        note=_note(bench) if position is not None else "",
        foresee=Reach(bench).foresee if position is not None else lambda _: None,
        command_line=partial(command_line, bench),
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
    if not bench.applies:
        return "the rubric does not apply to this session: a run asks nothing"
    if bench.outlook is not None and not bench.outlook.totals.to_ask:
        sizes = " ".join(command(each).bar_key for each in ("smaller", "larger"))
        return f"every chunk is kept and nothing is asked: another chunk size ({sizes}) asks anew"
    return ""
