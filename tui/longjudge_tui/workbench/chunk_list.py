"""The chunks of the plan: size, tokens and state of each, with its own cancel."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.message import Message

from longjudge.states import ChunkState
from longjudge_tui.bench.batch_words import IN_BATCH
from longjudge_tui.bench.marking import MARK_WORDS
from longjudge_tui.bench.run_words import asker_words, retry_words, running_words
from longjudge_tui.wording import DISPUTED, STATE_GLYPHS, bar, fit, line, tokens
from longjudge_tui.workbench.findings_list import criterion_labels
from longjudge_tui.workbench.threaded_list import ThreadedList

if TYPE_CHECKING:
    from longjudge.board import ChunkRecord
    from longjudge_tui.bench.bench import Bench
    from longjudge_tui.bench.chunk_codes import ChunkCodes
    from longjudge_tui.bench.run import Run
    from longjudge_tui.widgets.line_list import Cells

CANCEL, ASK_AGAIN = "[cancel]", "[ask again]"
SHORT_BUTTONS = {ASK_AGAIN: "[ask]"}
WIDE = 52
STATE_CELLS = 11
_RETRYING = f"{STATE_GLYPHS[ChunkState.RETRYING]} {ChunkState.RETRYING.value}"
_WAITING = f"{STATE_GLYPHS[ChunkState.WAITING]} {ChunkState.WAITING.value}"
_CANCELLABLE = frozenset({ChunkState.RUNNING, ChunkState.RETRYING, ChunkState.WAITING})
_LOOKS = {
    ChunkState.CLEAN: "clean",
    ChunkState.FLAGGED: "flagged",
    ChunkState.RUNNING: "active",
    ChunkState.RETRYING: "active",
    ChunkState.GAP: "gap",
}


@dataclass(frozen=True, slots=True)
class ChunkFacts:
    """What one row shows."""

    generation: int
    state: str
    look: str
    detail: str
    button: str = ""


class ChunkList(ThreadedList):
    """One row per chunk, read from the bench when it is drawn.

    While it is `following`, whoever watches the judgment may scroll it; whatever the user does to
    move through the chunks ends that.
    """

    class Pressed(Message):
        """The button of one row was clicked."""

        def __init__(self, position: int) -> None:
            super().__init__()
            self.position = position

    class CancelPart(Pressed):
        """The cancel of one row was clicked."""

    class AskAgain(Pressed):
        """The `ask again` of one row was clicked."""

    def __init__(self, bench: Bench, codes: ChunkCodes, *, id: str) -> None:
        super().__init__(bench, codes, id=id)
        self.following = False
        self.leading = False

    def lead_to(self, position: int) -> None:
        """Put the cursor on what is judged, and take it along until the user moves."""
        self.go_to(position)
        self.following = self.leading = True

    def keep_in_sight(self, first: int, last: int) -> None:
        """Scroll so that a chunk is in sight and, where there is room, those up to the last."""
        first, last = self.threads.row_of(first), self.threads.row_of(last)
        height, top = self.scrollable_content_region.height, self.scroll_offset.y
        if top <= first and last < top + height:
            return
        if last - first >= height and top <= first < top + height:
            return
        # With what has just ended above, and room for what comes next below.
        target = max(0, min(first - min(2, height // 4), self.row_count - height))
        if target != top:
            self.scroll_to(y=target, animate=False, force=True)

    def show_led(self, position: int) -> None:
        """Put the cursor on a chunk that the run has led to, and follow as before."""
        before = self.following, self.leading
        self.go_to(position)
        self.following, self.leading = before

    def show_cursor(self) -> None:
        """Scroll back to where the cursor is."""
        self._show_row(self.cursor)

    def stay(self) -> None:
        """Stay with the chunk under the cursor, whatever is judged meanwhile."""
        self.following = self.leading = False
        self.show_cursor()

    def move_to(self, row: int, *, middle: bool = False) -> None:
        """Put the cursor on a row, and stay there."""
        self.following = self.leading = False
        super().move_to(row, middle=middle)

    def on_mouse_scroll_up(self) -> None:
        """Stay where the wheel leads."""
        self.following = False

    def on_mouse_scroll_down(self) -> None:
        """Stay where the wheel leads."""
        self.following = False

    def on_scroll_to(self) -> None:
        """Stay where the thumb of the scroll bar was dragged."""
        self.following = False

    def on_scroll_up(self) -> None:
        """Stay where a click on the scroll bar leads."""
        self.following = False

    def on_scroll_down(self) -> None:
        """Stay where a click on the scroll bar leads."""
        self.following = False

    def chunk_facts(self, position: int) -> ChunkFacts:
        """State and detail of a chunk now."""
        bench, run, records = self._bench, self._bench.run, self._bench.records
        if bench.outlook is None or position >= len(bench.outlook.plan):
            # The plan is another one, and these rows are not yet.
            return ChunkFacts(bench.generation, "", "dim", "")
        if not bench.applies:
            return ChunkFacts(bench.generation, "– not asked", "dim", "no tool call")
        record = records.record(position) if records else None
        if record is None or ((run is None or run.recalled) and not record.state.ended):
            kept = bench.is_kept(position)
            if not kept and (batch := bench.in_batch_of(position)):
                known = filter(None, [f"in {batch}", self._piece(position)])
                return ChunkFacts(bench.generation, _WAITING, "active", " · ".join(known))
            word, look = ("● kept", "clean") if kept else ("○ to ask", "dim")
            # What is kept by now may have had a reason not to be.
            known = ["" if kept else bench.reasons.of(position), self._piece(position)]
            return ChunkFacts(bench.generation, word, look, " · ".join(filter(None, known)))
        state = f"{STATE_GLYPHS[record.state]} {record.state.value}"
        if run is not None and (batch := run.batch_of(position)) is not None:
            known = [self._standing(position, run), batch, self._piece(position)]
            detail = " · ".join(filter(None, known))
            return ChunkFacts(bench.generation, IN_BATCH, "active", detail, CANCEL)
        return ChunkFacts(
            bench.generation,
            f"{state} {DISPUTED}" if record.disagrees else state,
            "gap" if record.disagrees else _LOOKS.get(record.state, "dim"),
            self._detail(position, record, run),
            self._button(position, record, run),
        )

    def _detail(self, row: int, record: ChunkRecord, run: Run | None) -> str:
        match record.state:
            case ChunkState.RUNNING:
                again = f" · attempt {record.attempts}" if record.attempts > 1 else ""
                again += f" · {stands}" if (stands := self._standing(row, run)) else ""
                if record.asked_at is not None:
                    # Of this attempt: the record's own seconds are those of the ones before it.
                    return f"{running_words(time.monotonic() - record.asked_at)}{again}"
                # The answer is being kept; what it took by itself is known of a first one only.
                return f"answered{again}" if again else f"{record.seconds:.1f} s"
            case ChunkState.RETRYING:
                when, why = "", line(record.problem)
                if run is not None:
                    when, why = retry_words(run, row, why)
                return " · ".join(filter(None, [when, self._standing(row, run), why]))
            case ChunkState.CLEAN | ChunkState.FLAGGED:
                note = self._note(record) or self._piece(row)
                words = [f"no new verdict: {line(record.in_vain, 60)}"] if record.in_vain else []
                words += ["rules disagree"] if record.disagrees else []
                words += ["kept" if record.stored else "NOT KEPT"] if record.from_cache else []
                if (times := self._bench.times_asked(row)) > 1:
                    words.append(f"asked {times} times")
                if not record.from_cache and not note:
                    tries = f" in {record.attempts} attempts" if record.attempts > 1 else ""
                    words.append(f"{record.seconds:.1f} s{tries}")
                return " · ".join([*words, *([note] if note else [])])
            case ChunkState.GAP:
                reason = record.reason.value if record.reason else ""
                return f"{reason} · {line(record.problem)}" if record.problem else reason
            case ChunkState.WAITING:
                batch = self._bench.in_batch_of(row)
                asked = asker_words(run, row) if run is not None else ""
                asked = f"in {batch}" if batch else asked
                return " · ".join(filter(None, [asked, self._standing(row, run), self._piece(row)]))
            case _:
                paused = "paused by hand" if run is not None and run.paused else ""
                known = [paused, self._standing(row, run), self._piece(row)]
                return " · ".join(filter(None, known))

    @staticmethod
    def _standing(row: int, run: Run | None) -> str:
        """The verdict of a chunk that is asked anew, which counts until there is another one."""
        standing = run.standing(row) if run is not None else None
        return f"still {STATE_GLYPHS[standing.state]} {standing.state.value}" if standing else ""

    def _note(self, record: ChunkRecord) -> str:
        """What was found first, or by which criterion."""
        if not record.findings:
            return ""
        first, records = record.findings[0], self._bench.records
        mark = self._bench.marking.get(records.mark_key(first)) if records else None
        note = line(first.note) or criterion_labels(self._bench.rubric).get(
            first.criterion, line(first.criterion)
        )
        return f"{MARK_WORDS[mark]} · {note}" if mark else note

    def chunk_cells(self, position: int, width: int) -> Cells:
        """Number, bar, tokens, state, detail, cancel."""
        outlook = self._bench.outlook
        if outlook is None or position >= len(outlook.plan):
            return []
        facts = self.chunk_facts(position)
        digits = max(2, len(str(len(outlook.plan))))
        wide = width >= WIDE
        chunk = outlook.plan[position]
        drawn = bar(outlook.plan.fill(position), 10 if wide else 5)
        state, least = facts.state, STATE_CELLS
        if not wide and state == _RETRYING:
            # In little room when it is asked again says that it is.
            state, least = STATE_GLYPHS[ChunkState.RETRYING], 0
        elif not wide and facts.button:
            # So does the reason of a gap, or how long it takes, before columns that are in line.
            least = 0
        cells: Cells = [
            (f"{chunk.part:>{digits}} ", "dim"),
            (drawn, "bar"),
            (f" {tokens(outlook.tokens(position)):>6} ", "plain"),
            (fit(state, max(least, len(state) + 1)), facts.look),
        ]
        used = sum(len(text) for text, _ in cells)
        room = width - used
        button = _button_word(facts.button, width)
        if not button:
            return [*cells, (fit(facts.detail, room), "dim")]
        return [
            *cells,
            (fit(facts.detail, room - len(button) - 1), "plain"),
            (" ", "plain"),
            (button, "button"),
        ]

    def chunk_clicked(self, position: int, x: int) -> bool:
        """A click on a row's button."""
        button, width = self.chunk_facts(position).button, self.scrollable_content_region.width
        if not button or x < width - len(_button_word(button, width - 1)):
            return False
        self.post_message(
            self.CancelPart(position) if button == CANCEL else self.AskAgain(position)
        )
        return True

    def _button(self, row: int, record: ChunkRecord, run: Run | None) -> str:
        """What can be done about a chunk of a judgment."""
        if run is None:
            return ""
        if run.result is None and record.state in _CANCELLABLE:
            return CANCEL
        return ASK_AGAIN if record.state is ChunkState.GAP and not self._bench.stopping else ""

    def _piece(self, row: int) -> str:
        outlook = self._bench.outlook
        piece = outlook.plan[row].piece if outlook else None
        return f"piece {piece.number} of {piece.of}" if piece else ""


def _button_word(button: str, width: int) -> str:
    """A button, short where the reason beside it would be cut."""
    return button if width >= WIDE else SHORT_BUTTONS.get(button, button)
