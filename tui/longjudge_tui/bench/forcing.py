"""The failures that are forced in every judgment of the app, until they are turned off."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from longjudge.faults import kill_process
from longjudge_tui.wording import line

if TYPE_CHECKING:
    from collections.abc import Callable

    from longjudge.faults import Fault

SPEC_CELLS = 24


MOST_RECENT = 5


class Forcing:
    """`fault` is what the next judgment has; `kill` is what a forced crash of a spec does.

    `recent` are the specs that were used, the last one first.
    """

    def __init__(self) -> None:
        self.fault: Fault | None = None
        self.recent: tuple[str, ...] = ()
        self.kill: Callable[[str], None] = lambda _: kill_process()

    @property
    def spec(self) -> str:
        """What is forced, in one word; empty where nothing is."""
        return "" if self.fault is None else self.fault.spec

    @property
    def label(self) -> str:
        """What every screen says; empty where nothing is forced."""
        return forced_label(self.spec)

    def use(self, fault: Fault | None) -> None:
        """Force a fault from the next judgment on, or nothing any more."""
        for spec in filter(None, (self.spec, fault.spec if fault is not None else "")):
            others = (each for each in self.recent if each != spec)
            self.recent = (spec, *others)[:MOST_RECENT]
        self.fault = fault

    def for_a_run(self) -> Fault | None:
        """The fault for one run: a crash counts anew, and ends this app."""
        if self.fault is None:
            return None
        # Another one may be picked while the run goes on.
        return replace(self.fault, kill=partial(self.kill, self.fault.spec))


def forced_label(spec: str) -> str:
    """How a screen says that failures are forced; empty where none is."""
    return f"FORCED FAILURES {line(spec, SPEC_CELLS)}" if spec else ""
