"""What the workbench does with all chunks at once: the strip, the threads, the curve."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on
from textual.screen import Screen

from longjudge_tui.bench.live import banner
from longjudge_tui.workbench.timeline import Timeline

if TYPE_CHECKING:
    from longjudge_tui.bench.bench import Bench
    from longjudge_tui.bench.chunk_codes import ChunkCodes
    from longjudge_tui.workbench.chunk_list import ChunkList

_ONE_THREAD = "the session has one thread: there is nothing to fold"


class OverviewActions(Screen[None]):
    """The part of the workbench that shows all chunks; its widgets are the workbench's own."""

    bench: Bench
    chunks: ChunkList
    codes: ChunkCodes

    def leave_field(self) -> bool:
        """Take what is typed in a field; False where it was refused."""
        raise NotImplementedError

    @property
    def _behind(self) -> bool:
        """Whether the plan is another one than what is painted."""
        raise NotImplementedError

    @property
    def timeline(self) -> Timeline:
        """The strip of all chunks."""
        return self.query_one(Timeline)

    def follow_overview(self, dirty: set[int]) -> None:
        """Paint what changed of some chunks, in their rows, their threads and the strip."""
        changed = self.codes.follow(dirty)
        self.chunks.refresh_chunks(dirty)
        timeline = self.timeline
        if changed is None:
            timeline.show_plan(self.chunks.starts)
        timeline.follow(changed or (), self.chunks.position, self.chunks.in_sight)

    @on(Timeline.Wanted)
    def chunk_wanted(self, event: Timeline.Wanted) -> None:
        """Go to a chunk of the strip."""
        if not self._behind:
            self.chunks.go_to(event.position, middle=not self._shows(event.position))
            self.timeline.follow((), self.chunks.position, self.chunks.in_sight)

    @on(Timeline.Opened)
    def chunk_opened_on_strip(self) -> None:
        """Go on to the chunk's row."""
        self.set_focus(self.chunks)

    def _shows(self, position: int) -> bool:
        first, last = self.chunks.in_sight
        return first <= position <= last

    def action_fold_thread(self) -> None:
        """Fold the thread under the cursor, or unfold it."""
        self.leave_field()
        if not self.chunks.fold_here():
            self.notify(_ONE_THREAD, markup=False)

    def action_fold_all(self) -> None:
        """Fold all threads; where they are, unfold them."""
        self.leave_field()
        if not self.chunks.fold_all():
            self.notify(_ONE_THREAD, markup=False)

    def action_show_curve(self) -> None:
        """Show what every chunk size would make and cost."""
        # Loaded when it is first opened, so that the app starts sooner.
        from longjudge_tui.curve.screen import CurveScreen

        self.leave_field()
        bench = self.bench
        if bench.session is None or bench.outlook is None:
            self.notify("the session is still being read", markup=False)
            return
        screen = CurveScreen(bench, lambda: banner(bench))
        self.app.push_screen(screen)  # pyright: ignore[reportUnknownMemberType]
