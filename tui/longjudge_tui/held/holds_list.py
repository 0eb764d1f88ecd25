"""One row for each thing that is held outside: its state, its age, its owner, what it is about."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from longjudge.holds import HoldState
from longjudge.owner import this_process
from longjudge.store.batch_rows import BatchState
from longjudge_tui.bench.batch_words import short_name
from longjudge_tui.commands import command
from longjudge_tui.widgets.action_line import Choice, Word
from longjudge_tui.widgets.line_list import Cells, LineList
from longjudge_tui.wording import clock, fit, line, plural

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    from longjudge.store.batch_rows import Batch
    from longjudge_tui.bench.holding import Holding, HoldRow

WIDE, NARROW = 60, 50
OWNER_CELLS = 26
STATE_CELLS, BATCH_CELLS = 12, 14
DAY = 86_400
_STATES: Final = {
    HoldState.HELD: ("◆ held", "active"),
    HoldState.ABANDONED: ("✗ abandoned", "gap"),
    HoldState.RELEASED: ("✓ released", "clean"),
}
_BATCH_STATES: Final = {BatchState.INTENT: "unsure", BatchState.SUBMITTED: "out"}
_NOTHING = "nothing is held outside"


class HoldsList(LineList):
    """Reads the holds when it is drawn; `refresh_changed` takes in others."""

    def __init__(self, holding: Holding, *, id: str) -> None:
        super().__init__(id=id)
        self._holding = holding
        self._shown: list[HoldRow] = []
        self._state_cells = STATE_CELLS

    @property
    def here(self) -> HoldRow | None:
        """The hold under the cursor."""
        return self._shown[self.cursor] if self.cursor < len(self._shown) else None

    @property
    def bar_words(self) -> Mapping[str, str]:
        """A batch can be cancelled here; a lease is given back with its question.

        Escape leads to the chunks first, which have a key of their own in the bar.
        """
        row = self.here
        on_batch = row is not None and row.gone is None and row.batch is not None
        return {"cancel_part": "Cancel batch" if on_batch else "", "back": ""}

    def refresh_changed(self) -> None:
        """Show the holds as they are now, with the cursor on the one where it is."""
        rows = self._holding.rows
        if rows is not self._shown:
            here = self._shown[self.cursor].hold.id if self.cursor < len(self._shown) else ""
            self._shown = rows
            has_batches = any(row.hold.batch for row in rows)
            self._state_cells = BATCH_CELLS if has_batches else STATE_CELLS
            place = next((i for i, row in enumerate(rows) if row.hold.id == here), self.cursor)
            self.reset_rows(max(1, len(rows)), place, follow=self.cursor_in_sight)
        else:
            self._refresh_changed()

    def on_mount(self) -> None:
        """Say at once where there is nothing."""
        self.reset_rows(1)

    def row_facts(self, row: int) -> Hashable:
        """The hold and its age in seconds; what stands instead where there is none."""
        if not self._shown:
            return self._empty
        each = self._shown[row]
        hold = each.hold
        return hold.id, hold.state, hold.owner, hold.detail, self._state_cells, int(each.age)

    @property
    def _empty(self) -> str:
        if self._holding.error:
            return f"✗ {line(self._holding.error)}"
        return _NOTHING if self._holding.reading_done else "reading…"

    def row_cells(self, row: int, width: int) -> Cells:
        """State, age, owner, whether it lives, and what it is about."""
        if not self._shown:
            return [(self._empty, "gap" if self._holding.error else "dim")]
        each = self._shown[row]
        state, look = state_words(each)
        cells_of_state = self._state_cells
        detail = _brief(line(each.hold.detail)) if each.batch is None else _of_batch(each.batch)
        brief = f"{owner_words(each, brief=True)}{' dead' if each.dead else ''}"
        if width < NARROW:
            # The session is mostly the same one, and so it is what is cut off.
            part, of, session = detail.partition(" of " if each.batch is None else ", ")
            return [
                (fit(state, cells_of_state), look),
                (f"{part} " if of else "", "plain"),
                (brief, "strong"),
                (f" {_age(each.age)} ", "dim"),
                (session if of else detail, "plain"),
            ]
        cells: Cells = [(fit(state, cells_of_state), look), (f"{_age(each.age):>6}  ", "dim")]
        if width < WIDE:
            return [*cells, (f"{brief}  ", "strong"), (detail, "plain")]
        owner = owner_words(each)
        lives = ("alive  ", "clean") if each.hold.alive else ("dead   ", "gap")
        if each.batch is not None and not each.batch.owner:
            lives = ("nobody ", "dim")
        kind = f"{each.hold.kind.value}  "
        return [
            *cells,
            (fit(owner, OWNER_CELLS), "strong"),
            lives,
            (kind, "dim"),
            (detail, "plain"),
            (_doing(each.hold.doing), "dim"),
        ]


def state_words(row: HoldRow) -> tuple[str, str]:
    """How far a hold is, with its look."""
    batch = row.batch
    if batch is None or row.hold.state is not HoldState.HELD:
        return _STATES[row.hold.state]
    if batch.cancel:
        return ("▤ cancel sent" if batch.cancel_sent else "▤ to cancel"), "gap"
    return f"▤ {_BATCH_STATES.get(batch.state, batch.state.value)}", "active"


def holds_choices(holding: Holding) -> list[Choice]:
    """The title: how many of each kind, how many nobody holds any more, and the key for these."""
    name = f"HOLDS {holding.counted}" if holding.held else "HOLDS none"
    if holding.released:
        name = f"{name}, {holding.released:,} released"
    close = Word("show_holds", f"{command('show_holds').shown} closes")
    cancel = Word("cancel_part", f"{command('cancel_part').shown} cancel the batch")
    ends = (cancel,) if holding.batches else ()
    if not holding.dead:
        return [Choice(name, (*ends, close)), *([Choice(name, ends)] if ends else []), Choice(name)]
    sweep = Word("sweep_holds", f"{command('sweep_holds').shown} sweep")
    dead = f"{holding.dead:,} of the dead"
    return [
        Choice(f"{name} · {holding.dead:,} left by dead processes", (sweep, *ends, close)),
        Choice(f"{name} · {dead}", (sweep, *ends, close)),
        Choice(f"{name} · {dead}", (sweep, *ends)),
        Choice(f"{name} · {dead}", (sweep,)),
        Choice(name, (sweep,)),
        Choice(name),
    ]


def owner_words(row: HoldRow, *, brief: bool = False) -> str:
    """Who holds it, as seen from here."""
    if row.mine:
        return "this window"
    pid, _, host = row.hold.owner.partition(" on ")
    if host == this_process().host:
        return f"{'' if brief else 'other process, '}{line(pid, OWNER_CELLS)}"
    return line(row.hold.owner, OWNER_CELLS)


def _doing(doing: str) -> str:
    """By what it judges: the session stands before it already."""
    _, by, what = line(doing).rpartition(" by ")
    return f" · by {what}" if by else ""


def _of_batch(batch: Batch) -> str:
    """Its name, what it is about, and what is wrong with it."""
    asks = f"to {line(batch.model, 40)} by {line(batch.rubric, 30)}"
    about = f"{plural(batch.count, 'question')}, {short_name(batch)}, {asks}"
    return f"{about}; {line(batch.problem, 200)}" if batch.problem else about


def _brief(detail: str) -> str:
    """What it is about without the folders of a path."""
    what, of, path = detail.partition(" of ")
    return what + of + path.replace("\\", "/").rpartition("/")[2]


def _age(seconds: float) -> str:
    return f"{seconds // DAY:.0f} d" if seconds >= DAY else clock(seconds)
