"""The panel that shows a text in full: an event's, with a quote in it, or why a chunk is a gap."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.containers import Vertical

from longjudge.errors import SessionError
from longjudge.evidence import find_quote
from longjudge.states import GapReason
from longjudge_tui.detail import DetailView
from longjudge_tui.lines import FittedLine
from longjudge_tui.wording import line, plural

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from longjudge.board import ChunkRecord
    from longjudge.chunks import Piece
    from longjudge.result import ResultFinding
    from longjudge_tui.texts import Texts

HEADER_CHARS = 400

GAP_WORDS: dict[GapReason, str] = {
    GapReason.UNPARSABLE: "two replies in a row were not the agreed JSON",
    GapReason.TRUNCATED: "the reply was cut off, also with a larger cap",
    GapReason.REFUSED: "the model declined",
    GapReason.TOO_LARGE: "the request does not fit the model",
    GapReason.RATE_LIMITED: "the provider would not answer for now, however often it was asked",
    GapReason.PROVIDER_ERROR: "the provider answered with an error, or not at all",
    GapReason.TIMED_OUT: "asked, and cut off by the time limit",
    GapReason.CANCELLED: "cut off by a cancel",
    GapReason.SKIPPED: "never asked: the judgment ended before",
}


@dataclass(frozen=True, slots=True)
class Passage:
    """An event, or a piece of one; `finding` is what leads there."""

    event: int
    piece: Piece | None
    finding: ResultFinding | None = None


class DetailPanel(Vertical):
    """A title and the text below it; a text that takes long to read is waited for."""

    def __init__(self, *, id: str, classes: str) -> None:
        super().__init__(id=id, classes=classes)
        self._title = FittedLine(id="detail-title", classes="title")
        self._texts: Texts | None = None
        self._awaited: Passage | None = None
        self.view = DetailView(id="detail")

    def compose(self) -> ComposeResult:
        """The title and the text."""
        yield self._title
        yield self.view

    def show_nothing(self) -> None:
        """Show no text."""
        self._awaited = None
        self.view.show_nothing()
        self._title.show("TEXT")

    def show_gap(self, part: int, record: ChunkRecord, error: str) -> None:
        """Show why a chunk has no verdict; `error` is what ended the judgment, if anything did."""
        self._awaited = None
        reason = record.reason or GapReason.SKIPPED
        asked = f"asked {plural(record.attempts, 'time')}" if record.attempts else "not asked"
        paragraphs = [
            f"part {part} has no verdict: {reason.value}, {GAP_WORDS[reason]}",
            record.problem,
            error if error != record.problem else "",
            f"{asked}; the next run asks again",
            f"the last reply was:\n{record.raw_reply}" if record.raw_reply else "",
        ]
        self.view.show_text("\n\n".join(each for each in paragraphs if each))
        self._title.show(f"PART {part} · gap · {reason.value}", f"PART {part} · gap")

    def show_passage(self, texts: Texts, passage: Passage) -> None:
        """Show an event, or say that it is being read and show it then."""
        self._texts, self._awaited = texts, None
        try:
            text = texts.get(passage.event)
        except SessionError as error:
            self.view.show_text(str(error))
            self._title.show(f"EVENT {passage.event} · cannot be read")
            return
        if text is None:
            self._awaited = passage
            chars = plural(texts.session.index.chars[passage.event], "character")
            self.view.show_text(f"reading {chars}…")
            self._title.show(f"EVENT {passage.event} · {chars} · reading…")
            return
        self._show_text(texts, passage, text)

    def follow(self) -> bool:
        """Show what was waited for, once it is there; whether it is."""
        texts, passage = self._texts, self._awaited
        if texts is None or passage is None or not texts.at_hand(passage.event):
            return False
        self.show_passage(texts, passage)
        return True

    def _show_text(self, texts: Texts, passage: Passage, text: str) -> None:
        event, piece = passage.event, passage.piece
        shown = text[piece.start : piece.end] if piece else text
        said, span = _find(passage.finding, shown) if passage.finding else ("", None)
        self.view.show_text(shown, span)
        header = line(text[:HEADER_CHARS].partition("\n")[0], 60)
        which = f" · piece {piece.number} of {piece.of}" if piece else ""
        chars = plural(len(text), "character")
        place = texts.session.line(event)
        facts = f"{chars} · line {place}" if place else chars
        quote = f" · {said}" if said else ""
        name = f"EVENT {event}"
        self._title.show(
            f"{name} · {header}{which} · {facts}{quote}",
            f"{name} · {header}{which}{quote}",
            f"{name}{which}{quote}",
            f"{name}{quote}",
        )


def _find(finding: ResultFinding, shown: str) -> tuple[str, tuple[int, int] | None]:
    """What there is to say about a finding's quote, and where it stands."""
    if finding.event is None:
        return "no such event: start of the chunk", None
    span = find_quote(shown, finding.quote) if finding.verified and finding.quote else None
    return ("quote verified" if span else "quote not found"), span
