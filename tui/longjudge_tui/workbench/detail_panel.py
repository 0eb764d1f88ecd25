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
from longjudge.result import correction_words
from longjudge.states import GapReason
from longjudge_tui.bench.surroundings import surroundings
from longjudge_tui.commands import command
from longjudge_tui.widgets.action_line import ActionLine, Choice, Word
from longjudge_tui.widgets.lines import FittedLine
from longjudge_tui.wording import DISPUTED, line, plural, size
from longjudge_tui.workbench.detail import DetailView, Marked
from longjudge_tui.workbench.detail_facts import DetailFacts, Facts

if TYPE_CHECKING:
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


class View(Enum):
    """What is shown of an event."""

    EVENT = "event"
    CONTEXT = "context"
    RAW = "raw"


@dataclass(frozen=True, slots=True)
class Title:
    """The words of the title; what comes first is said in every width."""

    name: str
    header: str = ""
    facts: str = ""
    thread: str = ""
    line: str = ""
    secrets: str = ""

    def variants(self, place: str) -> list[str]:
        """The title from its longest form to its shortest; `place` is that of the finding."""
        named = f"thread {self.thread}" if self.thread else ""
        secrets = self.secrets
        choices = (
            [self.name, secrets, self.header, place, named, self.facts, self.line],
            [self.name, secrets, self.header, place, self.thread, self.facts, self.line],
            [self.name, secrets, self.header, place, named, self.line],
            [self.name, secrets, self.header, place, self.thread, self.line],
            [self.name, secrets, self.header, place, self.thread],
            [self.name, secrets, place, named],
            [self.name, secrets, place, self.thread],
            [self.name, secrets, place or self.header],
            [self.name, secrets, place],
            [self.name, secrets],
            [self.name, place.removeprefix("finding ")],
            [self.name],
        )
        return [" · ".join(each for each in choice if each) for choice in choices]


@dataclass(frozen=True, slots=True)
class About:
    """What is known about a finding beside what it says itself; its words may be foreign."""

    place: str = ""
    criterion: str = ""
    severity: str = ""
    mark: str = ""


class DetailPanel(Vertical):
    """A title, what can be done, and a text; one that takes long to read is waited for."""

    def __init__(self, *, id: str, classes: str) -> None:
        super().__init__(id=id, classes=classes)
        self._title = FittedLine(id="detail-title", classes="title")
        self._actions = ActionLine(id="detail-actions", classes="actions")
        self._texts: Texts | None = None
        self._passage: Passage | None = None
        self._awaiting = self._unread = False
        self._words = Title("TEXT")
        self._facts = DetailFacts(id="detail-facts")
        self._about = About()
        self._saved = ""
        self.look = View.EVENT
        self.view = DetailView(id="detail")

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
            words = "cancelled by itself, before it was asked"
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

    def show_passage(self, texts: Texts, passage: Passage) -> None:
        """Show an event, or say that it is being read and show it then."""
        if passage != self._passage:
            self._saved = ""
        if passage.finding != self.finding:
            self._about = About()
        self._texts, self._passage, self.look = texts, passage, View.EVENT
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
            found = _secrets_words(len(around.secrets))
            self._show_title(Title(f"AROUND {name}", events, "", thread, secrets=found))
            return
        secrets = tuple((each.start, each.end) for each in shown.replacements)
        self.view.show_text(shown.original, Marked(span, secrets=secrets))
        header = line(sent.original[:HEADER_CHARS].partition("\n")[0], 60)
        chars = plural(len(sent.original), "character")
        place = texts.session.line(event)
        stands = f"line {place}" if place else ""
        found = _secrets_words(len(secrets))
        self._show_title(Title(name, header, chars, thread, stands, found))

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


def verified_words(finding: ResultFinding, *, unread: bool = False) -> str:
    """Whether what a finding says was found, and what was not.

    `unread` says that the event cannot be read again, so that nothing is known about it now.
    """
    if finding.event is None:
        return "? no such event: start of the chunk"
    if finding.quote and unread:
        return "? quote cannot be checked"
    if finding.verified:
        return " · ".join(filter(None, ["✓ quote verified", correction_words(finding)]))
    return "? quote not found" if finding.quote else "? no quote given"


def _span(finding: ResultFinding | None, piece: Piece | None) -> tuple[int, int] | None:
    """Where a finding's quote stands in what is shown of its event."""
    if finding is None or finding.span is None:
        return None
    low, high = finding.span
    if piece is None:
        return low, high
    # A secret may reach over the end of a piece, and stands for it all the same.
    return max(low, piece.start) - piece.start, min(high, piece.end) - piece.start


def _secrets_words(count: int) -> str:
    """How many stretches stand out since a judge does not read them."""
    return f"{plural(count, 'secret')} replaced" if count else ""


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
