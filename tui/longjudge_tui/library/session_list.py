"""The list of sessions: a row is drawn when it is in sight, from what is known by then."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual.message import Message

from longjudge_tui.library.listing import bytes_of
from longjudge_tui.library.words import (
    age,
    last_look,
    last_words,
    name_of,
    price_words,
    project_of,
    state_look,
    state_words,
    with_nothing_to_ask,
)
from longjudge_tui.widgets.line_list import Cells, LineList
from longjudge_tui.wording import fit, line, size, tokens, widest

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from textual import events

    from longjudge.sessions import SessionFile
    from longjudge_tui.library.shelf import Shelf

CHECK_CELLS = 4
FORMAT_CELLS, PROJECT_CELLS, COUNT_CELLS, OUTCOME_CELLS = 12, 13, 9, 42
"""The most that a column takes."""

TOKEN_CELLS, TITLE_CELLS = 7, 25
"""How wide the estimated tokens are, and what they leave to the title at least."""

OUTCOME_TITLES = ("last result, or estimate", "last result")
AGE_WIDTH, FORMAT_WIDTH, PROJECT_WIDTH = 64, 100, 110
"""From which width on a row has these columns."""

PRICE_WIDTH = 100


@dataclass(frozen=True, slots=True)
class Columns:
    """How wide each column is; the title has the rest."""

    format: int = len("format")
    project: int = len("folder")
    count: int = len("events")
    outcome: int = len("◐ judging 12/345")

    def __or__(self, other: Columns) -> Columns:
        """Wide enough for both."""
        return Columns(
            max(self.format, other.format),
            max(self.project, other.project),
            max(self.count, other.count),
            max(self.outcome, other.outcome),
        )


class LibraryList(LineList):
    """The view of the listing. A click on a box selects, with shift a stretch of rows."""

    class Checked(Message):
        """A row is to be selected or not any more; `to` the rows up to another one as well."""

        def __init__(self, row: int, to: int | None = None) -> None:
            super().__init__()
            self.row = row
            self.to = to

    def __init__(self, shelf: Shelf, *, id: str) -> None:
        super().__init__(id=id)
        self._shelf = shelf
        self._now = time.time()
        self._standing = shelf.terms.by
        self._painted: dict[int, Hashable] = {}
        self._columns = Columns()
        self._columns_of: tuple[int, int] = (-1, 0)

    @property
    def under_cursor(self) -> SessionFile | None:
        """The session that the cursor stands on."""
        view = self._shelf.listing.view
        return view[self.cursor] if self.cursor < len(view) else None

    @property
    def in_sight(self) -> range:
        """The rows that are on the screen."""
        top = self.scroll_offset.y
        height = self.scrollable_content_region.height
        return range(top, min(self.row_count, top + height))

    def refresh_changed(self) -> None:
        """Draw the rows in sight again that say something else by now."""
        self._now, self._standing = time.time(), self._shelf.terms.by
        facts = {row: self.row_facts(row) for row in self.in_sight}
        changed = [row for row, each in facts.items() if self._painted.get(row) != each]
        self._painted = facts
        if self._fit_columns(changed):
            self.refresh()
        else:
            self.refresh_rows(changed)

    def _fit_columns(self, changed: Sequence[int]) -> bool:
        """Give the columns what the rows in sight need; True where they are others now.

        A column that had to be wide stays so until the view is another one: none jumps while the
        list is scrolled.
        """
        before = self._columns
        width = self.scrollable_content_region.width - 1
        view, what = self._shelf.listing.view, (self._shelf.listing.generation, width)
        if what != self._columns_of:
            self._columns_of, self._columns = what, Columns()
            changed = self.in_sight
        for row in changed:
            if row < len(view):
                self._columns |= self._needed(view[row], width)
        return self._columns != before

    def _needed(self, file: SessionFile, width: int) -> Columns:
        facts = self._shelf.counting.facts.get(file)
        if facts is not None and facts.fault:
            return Columns()
        most = outcome_cells(width)
        outcome = self._outcome(file, width, most)
        # Only the last of the columns can be narrower than it is offered.
        used = sum(columns for _, _, columns in outcome[:-1]) + cell_len(outcome[-1][0])
        return Columns(
            min(FORMAT_CELLS, cell_len(line(facts.format, 40)) if facts is not None else 0),
            min(PROJECT_CELLS, cell_len(project_of(file, facts))),
            len(self._count(file)),
            min(most, used),
        )

    def row_facts(self, row: int) -> Hashable:
        """What the row says."""
        shelf = self._shelf
        view = shelf.listing.view
        if row >= len(view):
            return None
        file = view[row]
        return (
            file,
            file in shelf.listing.selected,
            shelf.counting.facts.get(file),
            shelf.state(file),
            shelf.last(file),
            shelf.results.wrong(file),
            self._standing,
            shelf.price(file),
            shelf.pricing.is_waiting(file),
            shelf.pricing.is_wanted(file),
            int(self._now // 60),
            self._columns,
        )

    def row_cells(self, row: int, width: int) -> Cells:
        """Box, size, age, format, folder, title, events, tokens, and what became of it."""
        view = self._shelf.listing.view
        if row >= len(view):
            return []
        file = view[row]
        facts, columns = self._shelf.counting.facts.get(file), self._columns
        box = "[x] " if file in self._shelf.listing.selected else "[ ] "
        since = age(self._now - file.modified) if file.modified else ""
        cells: Cells = [(box, "button"), (f"{size(self._bytes(file)):>8} ", "plain")]
        used = CHECK_CELLS + 9
        if width >= AGE_WIDTH:
            cells.append((f"{since:>6}  ", "dim"))
            used += 8
        if facts is not None and facts.fault:
            name = fit(line(file.path.name), max(12, (width - used) // 3))
            return [*cells, (f"{name}  ", "dim"), (f"✗ {line(facts.fault)}", "dim")]
        if width >= FORMAT_WIDTH:
            known = line(facts.format, 40) if facts is not None else "…"
            cells.append((fit(known, columns.format) + " ", "dim"))
            used += columns.format + 1
        if width >= PROJECT_WIDTH:
            cells.append((fit(project_of(file, facts), columns.project) + " ", "dim"))
            used += columns.project + 1
        outcome = self._outcome(file, width, min(columns.outcome, outcome_cells(width)))
        used += sum(cells for _, _, cells in outcome)
        counts = f"{self._count(file):>{columns.count}}  " if width >= AGE_WIDTH else ""
        if self._tokens_fit(width):
            about = f"~{tokens(facts.tokens)}" if facts is not None else "…"
            counts += f"{about:>{TOKEN_CELLS}}  "
        name = name_of(file, facts)
        cells.append((fit(name, max(8, width - used - len(counts) - 1)) + " ", "plain"))
        cells.append((counts, "plain" if facts is not None else "dim"))
        cells += [(fit(text, wide), look) for text, look, wide in outcome]
        return cells

    def _tokens_fit(self, width: int) -> bool:
        """Whether the title keeps enough cells beside a column of tokens."""
        columns = self._columns
        used = CHECK_CELLS + 9 + 8 + columns.format + 1 + columns.project + 1 + columns.count + 2
        rest = width - used - min(columns.outcome, outcome_cells(width))
        return width >= PROJECT_WIDTH and rest - TOKEN_CELLS - 2 > TITLE_CELLS

    def _bytes(self, file: SessionFile) -> int:
        return bytes_of(file, self._shelf.counting.facts)

    def _count(self, file: SessionFile) -> str:
        facts = self._shelf.counting.facts.get(file)
        if facts is None:
            return "…"
        skipped = "⚠" if facts.skipped_lines else ""
        return fit(f"{skipped}{facts.events:,}", COUNT_CELLS).strip()

    def _outcome(self, file: SessionFile, width: int, columns: int) -> list[tuple[str, str, int]]:
        """What stands at the right end, in so many columns: text, look, width."""
        shelf = self._shelf
        state, last, price = shelf.state(file), shelf.last(file), shelf.price(file)
        came: list[str] = []
        if last is not None:
            came += last_words(last, self._now, self._standing, shelf.results.wrong(file))
        estimate = widest(price_words(price), columns) if price is not None else ""
        if shelf.pricing.is_waiting(file):
            estimate = "estimating…"
        if state is not None:
            return [(widest(state_words(state), columns), state_look(state), columns)]
        if last is not None and price is not None and shelf.pricing.is_wanted(file):
            came = [*with_nothing_to_ask(came, last, price), *came]
        if last is not None and (not estimate or (price is not None and not price.to_ask)):
            return [(widest(came, columns), last_look(last), columns)]
        if last is not None and last.before is not None:
            # Two results leave a price no room; the line about the row under the cursor has it.
            return [(widest(came, columns), last_look(last), columns)]
        if last is not None and width >= PRICE_WIDTH:
            short = widest(price_words(price), 17) if price is not None else estimate
            words = widest(came, columns - 18)
            return [(words, last_look(last), columns - 17), (short, "active", 17)]
        if last is not None and price is not None:
            # What came of it goes before what the rest would cost, where both have no room.
            both = f"{came[-1]} · {price.to_ask} to ask"
            return [(widest((both, *came), columns), last_look(last), columns)]
        return [(estimate, "active", columns)]

    def columns_line(self, width: int) -> str:
        """What the columns are called, over a list of so many cells."""
        columns = self._columns
        outcome = min(columns.outcome, outcome_cells(width))
        words = f"{'':>5}{'size':>8} "
        counts = ""
        if width >= AGE_WIDTH:
            words += f"{'age':>6}  "
            counts = f"{'events':>{columns.count}}  "
        if self._tokens_fit(width):
            counts += f"{'tokens':>{TOKEN_CELLS}}  "
        if width >= FORMAT_WIDTH:
            words += "format".ljust(columns.format + 1)
        if width >= PROJECT_WIDTH:
            words += "folder".ljust(columns.project + 1)
        rest = width + 1 - len(words) - outcome - len(counts)
        return words + "title".ljust(max(8, rest)) + counts + widest(OUTCOME_TITLES, outcome)

    def on_click(self, event: events.Click) -> None:
        """With ctrl, select the row; with shift, all from the cursor to it."""
        offset = event.get_content_offset(self)
        if offset is None or not (event.ctrl or event.shift):
            return
        event.prevent_default()
        row = offset.y + self.scroll_offset.y
        if 0 <= row < self.row_count:
            self.post_message(self.Checked(row, self.cursor if event.shift else None))
            self.move_to(row)

    def clicked(self, row: int, x: int) -> bool:
        """A click on the box selects."""
        if not 1 <= x < CHECK_CELLS:
            return False
        self.move_to(row)
        self.post_message(self.Checked(row))
        return True


def outcome_cells(width: int) -> int:
    """How wide the column of results is in a list of a width."""
    if width >= 130:
        return OUTCOME_CELLS
    return 34 if width >= FORMAT_WIDTH else max(18, width // 3)
