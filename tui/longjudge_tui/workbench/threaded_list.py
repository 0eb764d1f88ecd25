"""A list of chunks in which each thread has a row of its own, that folds and unfolds it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.cells import cell_len

from longjudge_tui.bench.chunk_codes import JUDGED, ChunkCodes, Code
from longjudge_tui.bench.thread_rows import ThreadRows
from longjudge_tui.widgets.line_list import Cells, LineList
from longjudge_tui.wording import STATE_GLYPHS, fit, line, plural
from longjudge_tui.workbench.thread_words import call_words

if TYPE_CHECKING:
    from collections.abc import Hashable

    from longjudge.sessions.model import Thread
    from longjudge_tui.bench.bench import Bench

NAME_CELLS = 24

_THREAD_KEYS = ("run", "cancel_run", "open", "fold_thread")


@dataclass(frozen=True, slots=True)
class Heading:
    """What the row of a thread shows: what started it, and how many of its chunks are what."""

    name: str
    started: str
    folded: bool
    chunks: int
    flagged: int
    gaps: int
    judged: int


class ThreadedList(LineList):
    """Rows of chunks, and one for each thread where there are several.

    Everyone else speaks of chunks by their positions in the plan: `position` is the one under the
    cursor, the first of its thread where the cursor is on the thread's row.
    """

    def __init__(self, bench: Bench, codes: ChunkCodes, *, id: str) -> None:
        super().__init__(id=id)
        self._bench = bench
        self.codes = codes
        self.threads = ThreadRows(0, ())
        self._numbers: list[int] = []
        self._session: tuple[str, str] | None = None
        self._folded: set[str] = set()
        self._started: dict[int, str] = {}

    def chunk_facts(self, position: int) -> Hashable:
        """Everything that the picture of a chunk's row depends on."""
        raise NotImplementedError

    def chunk_cells(self, position: int, width: int) -> Cells:
        """The cells of a chunk's row."""
        raise NotImplementedError

    def chunk_clicked(self, position: int, x: int) -> bool:
        """Whether a click at a column of a chunk's row was for something in it."""
        return False

    @property
    def position(self) -> int:
        """The chunk under the cursor."""
        return self.threads.position_at(self.cursor)

    @property
    def bar_keys(self) -> tuple[str, ...]:
        """Where there are threads, what folds them; in a run one chunk is cancelled instead."""
        if not self.threads.groups:
            return ()
        return _THREAD_KEYS if self._bench.running else (*_THREAD_KEYS, "fold_all")

    @property
    def on_thread(self) -> bool:
        """Whether the cursor is on a thread's row, and so on no chunk."""
        return self.threads.header_at(self.cursor) is not None

    @property
    def starts(self) -> list[int]:
        """The first chunk of every thread, where there are several."""
        return self.threads.starts

    @property
    def in_sight(self) -> tuple[int, int]:
        """The first and the last chunk that are on the screen, folded ones too."""
        top = self.scroll_offset.y
        last = min(top + max(1, self.scrollable_content_region.height), len(self.threads)) - 1
        return self.threads.shown(top, max(top, last))

    def show_plan(self, position: int, *, follow: bool) -> None:
        """Show the chunks of the bench's plan, with the cursor on one of them.

        With `follow` false the list stays scrolled as it is, and the cursor on a thread's row.
        """
        outlook, session = self._bench.outlook, self._bench.session
        plan = outlook.plan if outlook is not None else None
        starts = plan.thread_starts() if plan is not None else []
        here = self.threads.header_at(self.cursor)
        before = self._numbers
        self._numbers = [number for number, _ in starts]
        if session is not None:
            known = str(session.path), session.id
            if known != self._session:
                self._session = known
                self._folded.clear()
        # A plan is made again for a session that is read again, with other numbers.
        self._started.clear()
        folded = [
            group
            for group in range(len(starts))
            if self._folded and self._thread_name(group) in self._folded
        ]
        chunks = len(plan) if plan is not None else 0
        self.threads = rows = ThreadRows(chunks, [start for _, start in starts], folded)
        on_header = not follow and here is not None and before == self._numbers
        row = rows.head_of(here) if on_header and here is not None else rows.row_of(position)
        self.reset_rows(len(rows), row, follow=follow)

    def go_to(self, position: int, *, middle: bool = False, unfold: bool = True) -> None:
        """Put the cursor on a chunk; a thread that hides it is unfolded, else has the cursor."""
        group = self.threads.group_of(position)
        if unfold and group in self.threads.folded:
            self._fold(self.threads.folding(group, fold=False), self.cursor)
        self.move_to(self.threads.row_of(position), middle=middle)

    def refresh_chunks(self, positions: set[int]) -> None:
        """Draw the rows of some chunks again, those in sight, and those of their threads."""
        if self.threads.groups:
            self._refresh_changed()
        else:
            self.refresh_rows(sorted(positions))

    def fold_here(self) -> bool:
        """Fold or unfold the thread under the cursor; False where there is one alone."""
        if not self.threads.groups:
            return False
        group = self.threads.group_of(self.position)
        fold = group not in self.threads.folded
        self._fold(self.threads.folding(group, fold=fold), self.threads.head_of(group))
        return True

    def fold_all(self) -> bool:
        """Fold every thread, or unfold every one where all are folded; False where there is one."""
        if not self.threads.groups:
            return False
        fold = len(self.threads.folded) < self.threads.groups
        here = self.position
        rows = self.threads.folding_all(fold=fold)
        self._fold(rows, rows.row_of(here))
        return True

    def _fold(self, rows: ThreadRows, row: int) -> None:
        before = self.position
        self.threads = rows
        self._folded = {self._thread_name(group) for group in rows.folded}
        self.reset_rows(len(rows), row)
        if self.position != before:
            self.post_message(self.Moved(self, self.cursor))

    def row_facts(self, row: int) -> Hashable:
        """What a chunk or a thread looks like now."""
        group = self.threads.header_at(row)
        if group is not None:
            return self._heading(group)
        position = self.threads.position_at(row)
        return position, self.chunk_facts(position)

    def row_cells(self, row: int, width: int) -> Cells:
        """A chunk, or a thread."""
        group = self.threads.header_at(row)
        if group is not None:
            return _heading_cells(self._heading(group), width)
        return self.chunk_cells(self.threads.position_at(row), width)

    def clicked(self, row: int, x: int) -> bool:
        """A click on a thread folds or unfolds it."""
        if self.threads.header_at(row) is None:
            return self.chunk_clicked(self.threads.position_at(row), x)
        self.move_to(row)
        self.fold_here()
        return True

    def action_open(self) -> None:
        """Open the chunk under the cursor; a thread is folded or unfolded."""
        if self.on_thread:
            self.fold_here()
        else:
            super().action_open()

    def _heading(self, group: int) -> Heading:
        start, end = self.threads.span(group)
        count = self.codes.counts
        return Heading(
            self._thread_name(group),
            self._started_by(group),
            group in self.threads.folded,
            end - start,
            count(start, end, Code.FLAGGED),
            count(start, end, Code.GAP),
            count(start, end, *JUDGED),
        )

    def _thread_at(self, group: int) -> Thread | None:
        session = self._bench.session
        threads = session.index.threads if session is not None else ()
        number = self._numbers[group]
        return threads[number] if number < len(threads) else None

    def _thread_name(self, group: int) -> str:
        thread = self._thread_at(group)
        return thread.name if thread is not None else ""

    def _started_by(self, group: int) -> str:
        """The call that started a thread, once its texts are there."""
        thread, texts = self._thread_at(group), self._bench.texts
        if thread is None or thread.call is None or texts is None:
            return ""
        if thread.call not in self._started:
            self._started[thread.call] = call_words(texts, thread.call)
        return self._started[thread.call]


def _heading_cells(heading: Heading, width: int) -> Cells:
    """Name, what came of it in few words, and what started it, as far as there is room."""
    name = line(heading.name, 200) or "no name"
    cells: Cells = [
        ("▸ " if heading.folded else "▾ ", "head"),
        (fit(name, min(NAME_CELLS, cell_len(name) + 1)), "head"),
        (" ", "plain"),
    ]
    if heading.judged or heading.gaps:
        cells.append((f"{heading.judged:,} of {plural(heading.chunks, 'chunk')} judged", "dim"))
    else:
        cells.append((plural(heading.chunks, "chunk"), "dim"))
    for count, state, look in (
        (heading.flagged, "FLAGGED", "flagged"),
        (heading.gaps, "GAP", "gap"),
    ):
        if count:
            cells.append((f" {_GLYPHS[state]}{count:,}", look))
    used = sum(cell_len(text) for text, _ in cells)
    return [*cells, (fit(f"  {heading.started}", width - used), "dim")]


_GLYPHS = {state.name: glyph for state, glyph in STATE_GLYPHS.items()}
