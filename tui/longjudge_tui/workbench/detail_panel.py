"""The panel that shows a text in full: an event's, with a quote in it, or why a chunk is a gap."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import Enum
from pathlib import PurePath
from typing import TYPE_CHECKING

from textual.containers import Vertical

from longjudge.disputes import RuleFinding
from longjudge.errors import SessionError
from longjudge.states import GapReason
from longjudge_tui.bench.surroundings import surroundings
from longjudge_tui.commands import command
from longjudge_tui.widgets.action_line import ActionLine, Choice, Word
from longjudge_tui.widgets.detail import DetailView, Marked
from longjudge_tui.widgets.lines import PanelTitle
from longjudge_tui.wording import DISPUTED, line, plural, size
from longjudge_tui.workbench.detail_facts import DetailFacts, Facts
from longjudge_tui.workbench.detail_words import (
    GAP_WORDS,
    About,
    Title,
    no_hits,
    secrets_words,
    verified_words,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual.app import ComposeResult

    from longjudge.board import ChunkRecord
    from longjudge.chunks import Piece
    from longjudge.redaction import Redacted
    from longjudge.result import ResultFinding
    from longjudge_tui.bench.texts import Texts

HEADER_CHARS = 400
NOTE_CHARS = 2_000
TITLE_ROWS, PADDING = 2, 2
"""The rows of the panel that are neither facts nor text, and the cells beside the facts."""


@dataclass(frozen=True, slots=True)
class Passage:
    """An event, or a piece of one; `finding` is what leads there."""

    event: int
    piece: Piece | None
    finding: ResultFinding | None = None


class View(Enum):
    """What is shown of an event."""

    EVENT = "event"
    CONTEXT = "context"
    RAW = "raw"


class DetailPanel(Vertical):
    """A title, what can be done, and a text; one that takes long to read is waited for."""

    def __init__(self, *, id: str, classes: str) -> None:
        super().__init__(id=id, classes=classes)
        self._title = PanelTitle(id="detail-title")
        self._actions = ActionLine(id="detail-actions", classes="actions")
        self._texts: Texts | None = None
        self._passage: Passage | None = None
        self._awaiting = self._unread = False
        self._words = Title("TEXT")
        self._facts = DetailFacts(id="detail-facts")
        self._about = About()
        self._saved = ""
        self._unmarked = self._to_hit = False
        self.look = View.EVENT
        self.view = DetailView(id="detail")
        self.find_hits: Callable[[int, str], Sequence[tuple[int, int]] | None] = no_hits

    def compose(self) -> ComposeResult:
        """The title, what can be done, what is known, and the text."""
        yield self._title
        yield self._actions
        yield self._facts
        yield self.view

    @property
    def passage(self) -> Passage | None:
        """The event that is shown, in whichever way."""
        return self._passage

    @property
    def finding(self) -> ResultFinding | None:
        """The finding that led to what is shown."""
        return self._passage.finding if self._passage else None

    def shows(self, texts: Texts) -> bool:
        """Whether an event of these is shown."""
        return self._texts is texts and self._passage is not None

    def show_nothing(self) -> None:
        """Show no text."""
        self._forget()
        self._show_facts()
        self.view.show_nothing()
        self._show_title(Title("TEXT"))

    def show_gap(self, part: int, record: ChunkRecord, error: str) -> None:
        """Show why a chunk has no verdict; `error` is what ended the judgment, if anything did."""
        self._forget()
        self._show_facts()
        reason = record.reason or GapReason.SKIPPED
        words = GAP_WORDS[reason]
        if reason is GapReason.CANCELLED and not record.attempts:
            words = "you cancelled this chunk alone, before it was asked"
        asked = f"asked {plural(record.attempts, 'time')}" if record.attempts else "not asked"
        this, every = command("ask_again").shown, command("run").shown
        paragraphs = [
            f"part {part} has no verdict: {reason.value}, {words}",
            record.problem,
            error if error != record.problem else "",
            f"{asked}; {this} asks again about this one,"
            f" {every} (when no judgment is in flight) about every gap",
            f"{command('fit_size').shown} chooses a chunk size that fits, once the judgment is over"
            if reason is GapReason.TOO_LARGE
            else "",
            f"the last reply was:\n{record.raw_reply}" if record.raw_reply else "",
        ]
        self.view.show_text("\n\n".join(each for each in paragraphs if each))
        self._show_title(Title(f"PART {part} · gap", reason.value))

    def show_passage(self, texts: Texts, passage: Passage, *, to_hit: bool = False) -> None:
        """Show an event, or say that it is being read and show it then.

        With `to_hit` the first place that a search has found in it is brought into sight.
        """
        if passage != self._passage:
            self._saved = ""
        if passage.finding != self.finding:
            self._about = About()
        self._texts, self._passage, self.look = texts, passage, View.EVENT
        self._to_hit = to_hit
        self._show()
        self._show_facts()

    def turn(self, look: View) -> bool:
        """Show the event another way, and again as before; False where none is shown."""
        if self._passage is None:
            return False
        self.look = View.EVENT if self.look is look else look
        self._show()
        self.say_saved("")
        return True

    def turn_back(self) -> bool:
        """Show the event as before; False where it is shown so already."""
        return self.look is not View.EVENT and self.turn(self.look)

    def follow(self) -> bool:
        """Show what was waited for, once it is there; whether it is."""
        texts, passage = self._texts, self._passage
        if not self._awaiting or texts is None or passage is None:
            return False
        at_hand = texts.raw.at_hand if self.look is View.RAW else texts.sent_at_hand
        if not at_hand(passage.event):
            return False
        self._show()
        self._show_facts()
        return True

    def mark_hits(self) -> None:
        """Let what a search has found in the text stand out, and nothing where there is none."""
        texts, passage = self._texts, self._passage
        if texts is None or passage is None or self._awaiting or self.look is not View.EVENT:
            return
        try:
            sent = texts.sent(passage.event)
        except SessionError:
            return
        if sent is not None:
            self.view.mark_hits(self._hits(passage, sent.original))

    def follow_hits(self) -> bool:
        """Mark what was found meanwhile; whether it is what was to be brought into sight."""
        if not self._unmarked:
            return False
        self.mark_hits()
        found = self._to_hit and not self._unmarked
        self._to_hit = self._to_hit and not found
        return found

    def say(self, about: About) -> None:
        """Say what is known about the finding that is shown."""
        if about != self._about:
            if about.mark != self._about.mark:
                self._saved = ""
            self._about = about
            self._show_title(self._words)
            self._show_facts()

    def say_saved(self, path: str) -> None:
        """Say where something was saved, until something else is done or shown."""
        self._saved = f"saved as {path}" if path else ""
        self._show_facts()

    def on_resize(self) -> None:
        """Share the rows between what is known and the text."""
        width, height = self.content_size
        self._facts.fit_into(height - TITLE_ROWS, width - PADDING)

    def on_click(self) -> None:
        """Who clicks here means what is shown here."""
        self.screen.set_focus(self.view)

    def _forget(self) -> None:
        self._texts = self._passage = None
        self._about, self._saved = About(), ""
        self._awaiting = self._unread = False
        self.look = View.EVENT

    def _show(self) -> None:
        texts, passage = self._texts, self._passage
        if texts is None or passage is None:
            return
        self._awaiting = self._unread = False
        name = f"EVENT {passage.event}"
        try:
            if self.look is View.RAW:
                self._show_raw(texts, passage)
                return
            sent = texts.sent(passage.event)
        except SessionError as error:
            self._unread = True
            self.view.show_text(str(error))
            self._show_title(Title(f"{name} · cannot be read"))
            return
        if sent is None:
            self._await(name, plural(texts.session.index.chars[passage.event], "character"))
        else:
            self._show_text(texts, passage, sent)

    def _await(self, name: str, what: str) -> None:
        self._awaiting = True
        self.view.show_text(f"reading {what}…")
        self._show_title(Title(f"{name} · {what} · reading…"))

    def _show_text(self, texts: Texts, passage: Passage, sent: Redacted) -> None:
        event, piece = passage.event, passage.piece
        shown = sent.piece(piece.start, piece.end) if piece else sent
        span = _span(passage.finding, piece)
        thread = line(texts.session.index.thread_of(event).name, 40)
        which = f" · piece {piece.number} of {piece.of}" if piece else ""
        name = f"EVENT {event}{which}"
        if self.look is View.CONTEXT:
            around = surroundings(texts.session, event, shown, redact=texts.redact)
            quote = (around.start + span[0], around.start + span[1]) if span else None
            marked = Marked(quote, around.heads, around.start, around.secrets)
            self.view.show_text(around.text, marked)
            events = f"events {around.first}-{around.last}"
            found = secrets_words(len(around.secrets))
            self._show_title(Title(f"AROUND {name}", events, "", thread, secrets=found))
            return
        secrets = tuple((each.start, each.end) for each in shown.replacements)
        hits = self._hits(passage, sent.original)
        at = hits[0][0] if hits and self._to_hit else None
        self._to_hit = self._to_hit and self._unmarked
        self.view.show_text(shown.original, Marked(span, secrets=secrets, hits=hits, at=at))
        header = line(sent.original[:HEADER_CHARS].partition("\n")[0], 60)
        chars = plural(len(sent.original), "character")
        place = texts.session.line(event)
        stands = f"line {place}" if place else ""
        found = secrets_words(len(secrets))
        self._show_title(Title(name, header, chars, thread, stands, found))

    def _hits(self, passage: Passage, text: str) -> tuple[tuple[int, int], ...]:
        """Where what is shown of an event holds what is searched for, as far as is known."""
        spans = self.find_hits(passage.event, text)
        self._unmarked = spans is None
        piece = passage.piece
        if piece is None:
            return tuple(spans or ())
        return tuple(
            (max(low, piece.start) - piece.start, min(high, piece.end) - piece.start)
            for low, high in spans or ()
            if low < piece.end and high > piece.start
        )

    def _show_raw(self, texts: Texts, passage: Passage) -> None:
        event = passage.event
        record = texts.raw.get(event)
        if record is None:
            self._await(f"EVENT {event}", "its record")
            return
        try:
            quote = _quoted(texts, passage)
        except SessionError:
            # The record can be shown all the same, as it is now.
            quote, self._unread = "", True
        self.view.show_text(record.text, Marked(_find_escaped(quote, record.text)))
        session = texts.session
        number = session.line(event)
        place = f"RAW line {number}" if number is not None else "RAW"
        file = line(PurePath(session.file(event) or session.name).name, 200)
        facts = f"{size(record.bytes)} · {'JSON' if record.is_json else 'no JSON'}"
        self._show_title(Title(f"{place} of {file}", f"event {event}", facts))

    def _show_title(self, words: Title) -> None:
        self._words = words
        self._title.show(*words.variants(self._about.place))
        self._actions.show_choices(*self._choices())

    def _show_facts(self) -> None:
        about, finding = self._about, self.finding
        if finding is None:
            self._facts.show(Facts(saved=self._saved))
            return
        severity = line(about.severity, 30)
        known = [
            f"{DISPUTED} offline rules say" if isinstance(finding, RuleFinding) else "",
            line(about.criterion or finding.criterion, 80),
            f"severity {severity}" if severity else "",
            verified_words(finding, unread=self._unread),
            about.mark,
        ]
        note = line(finding.note, NOTE_CHARS)
        self._facts.show(Facts(" · ".join(each for each in known if each), note, self._saved))

    def _choices(self) -> list[Choice]:
        """The words with their keys, without which they would have to be looked up."""
        if self._passage is None:
            return [Choice("")]
        names = ["copy", "context", "raw_record"]
        if self.finding is not None and not isinstance(self.finding, RuleFinding):
            names = ["mark_right", "mark_wrong", *names]
        words = {name: Word(name, self._word(name)) for name in names}
        without = ((), ("raw_record",), ("context",), ("raw_record", "context"))
        return [
            Choice("", tuple(word for name, word in words.items() if name not in left))
            for left in without
        ]

    def _word(self, name: str) -> str:
        shown = {"context": View.CONTEXT, "raw_record": View.RAW}.get(name)
        word = "back" if shown is self.look else command(name).button
        return f"{word} {command(name).shown}"


def _span(finding: ResultFinding | None, piece: Piece | None) -> tuple[int, int] | None:
    """Where a finding's quote stands in what is shown of its event."""
    if finding is None or finding.span is None:
        return None
    low, high = finding.span
    if piece is None:
        return low, high
    # A secret may reach over the end of a piece, and stands for it all the same.
    return max(low, piece.start) - piece.start, min(high, piece.end) - piece.start


def _quoted(texts: Texts, passage: Passage) -> str:
    """What was found of a quote, as it stands in the text where that is at hand."""
    finding = passage.finding
    if finding is None or finding.span is None:
        return ""
    text = texts.get(passage.event) if texts.at_hand(passage.event) else None
    return finding.quote or "" if text is None else text[slice(*finding.span)]


def _find_escaped(quote: str, text: str) -> tuple[int, int] | None:
    """Where a quote stands in JSON, whichever way its characters are written there."""
    for ascii_only in (False, True):
        written = json.dumps(quote.strip(), ensure_ascii=ascii_only)[1:-1]
        if written and (start := text.find(written)) >= 0:
            return start, start + len(written)
    return None
