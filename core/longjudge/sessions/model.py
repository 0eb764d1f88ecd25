"""The words of a session: events, their kinds, threads, the index and the diagnostics.

A session is never held as objects. The index keeps one row per event in arrays (kind, size,
digest, where its record stands), and the body is read again from the file when it is shown or
sent.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from dataclasses import dataclass, field, replace
from enum import StrEnum
from hashlib import sha256
from typing import TYPE_CHECKING

from longjudge.errors import SessionError
from longjudge.redaction import redact, redacted_text
from longjudge.sessions.columns import continued_total, counted, crossings, running_total, total
from longjudge.text import clean_line, without_surrogates

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from longjudge.redaction import Redacted
    from longjudge.sessions.companions import CompanionFiles
    from longjudge.sessions.growing import Growth
    from longjudge.sessions.source import Source

RENDERING_VERSION = "1"
"""Names the rendering of an event's text; part of every verdict key."""

DIGEST_BYTES = 16
"""Length of a text digest: the first half of a SHA-256, enough to never meet a twin by chance."""

TOOL_CHARS = 200
"""A tool's name is cut after this many characters; no real one comes near it."""

TOKENS_VERSION = "1"
"""Names the rule of `tokens_of`, by which a plan in tokens cuts; it decides no verdict key."""

LARGE_TEXT_CHARS = 200_000
"""A text from here on is held after it was read: its pieces would each read it again."""


class EventKind(StrEnum):
    """What happened. The order is the code that the index stores."""

    USER_MESSAGE = "user_message"
    ASSISTANT_MESSAGE = "assistant_message"
    THINKING = "thinking"
    TOOL_CALL = "tool_call"
    TOOL_RESULT = "tool_result"
    SYSTEM = "system"
    ERROR = "error"


KINDS: tuple[EventKind, ...] = tuple(EventKind)
KIND_CODES: dict[EventKind, int] = {kind: code for code, kind in enumerate(KINDS)}


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened, as a format module reads it from a record.

    `body` is the message, the rendered input of a call or the output of a result, with encoded
    media already replaced by placeholders and lone surrogates by U+FFFD.
    """

    kind: EventKind
    body: str
    tool: str | None = None
    call_id: str | None = None
    is_error: bool | None = None
    timestamp: str | None = None

    @property
    def header(self) -> str:
        """Kind and tool in one line: the first line of the text, and a short one."""
        line = self.kind.value
        if self.tool:
            line += " " + " ".join(self.tool[: 2 * TOOL_CHARS].split())[:TOOL_CHARS]
        return line + " (error)" if self.is_error else line

    @property
    def text(self) -> str:
        """What the judge reads of the event: no ids, no times. `chars` counts this text."""
        return f"{self.header}\n{self.body}" if self.body else self.header


def lengthen(events: list[Event], more: Mapping[int, Sequence[str]]) -> list[Event]:
    """The events, with further texts below the bodies of those at some positions."""
    for position, texts in more.items():
        event = events[position]
        events[position] = replace(event, body="\n".join([event.body, *texts]))
    return events


def text_digest(text: str) -> bytes:
    """Digest of an event's text, `DIGEST_BYTES` long."""
    return sha256(text.encode("utf-8")).digest()[:DIGEST_BYTES]


def tokens_of(chars: int, utf8_bytes: int) -> int:
    """Tokens of a text by a fixed rule, for cutting: no look at the text, the same for ever.

    One token for 2.4 characters, and one for each character of a script that UTF-8 writes in
    three bytes; within about 15 % of the estimate in `tokens.py` on agent sessions.
    """
    return (25 * chars + 18 * (utf8_bytes - chars)) // 60 + 1


def short_title(text: str | None) -> str:
    """A title in one line that is safe to show, empty where there is none."""
    return clean_line(" ".join((text or "")[:400].split()), 200)


class Severity(StrEnum):
    """How much a diagnostic matters: `info` loses nothing, `warning` may."""

    INFO = "info"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """Something odd in a file: what, how often, and the first line (from 1) where it was seen."""

    reason: str
    count: int
    line: int | None
    severity: Severity = Severity.WARNING

    def to_dict(self) -> dict[str, str | int | None]:
        """The JSON form."""
        return {
            "reason": self.reason,
            "count": self.count,
            "line": self.line,
            "severity": self.severity.value,
        }


@dataclass(frozen=True, slots=True)
class Thread:
    """A consecutive run of events, `first` to `end` (exclusive), that belongs to one agent.

    `call` is the event number of the call that started a subagent, None for `main` and where
    nothing says which call it was.
    """

    name: str
    first: int
    end: int
    call: int | None = None


@dataclass(slots=True)
class EventIndex:
    """One row per event, in arrays; about 40 bytes each.

    `tokens` holds the fixed estimate of `tokens_of`. An array's items are as large as its values
    need, so that one is added to only by whoever made it.

    `calls[i]` is the event number of the call that result `i` answers, and `i` itself for every
    other event, so that `min(calls[a:b]) < a` says whether a stretch holds a result whose call
    lies before it.
    """

    kinds: array[int] = field(default_factory=lambda: array("B"))
    errors: array[int] = field(default_factory=lambda: array("B"))
    records: Sequence[int] = field(default_factory=lambda: array("I"))
    positions: array[int] = field(default_factory=lambda: array("I"))
    chars: array[int] = field(default_factory=lambda: array("I"))
    tokens: array[int] = field(default_factory=lambda: array("I"))
    calls: array[int] = field(default_factory=lambda: array("I"))
    tools: array[int] = field(default_factory=lambda: array("I"))
    digests: bytearray = field(default_factory=bytearray)
    tool_names: list[str] = field(default_factory=lambda: [""])
    threads: tuple[Thread, ...] = ()
    prefix: array[int] = field(default_factory=lambda: array("Q", [0]))
    total_tokens: int = 0
    _token_prefix: array[int] | None = field(default=None, repr=False)
    _parting: bytes = field(default=b"", repr=False)

    def __len__(self) -> int:
        return len(self.kinds)

    def seal(self, threads: tuple[Thread, ...]) -> None:
        """Finish the index: set the threads and the running total of `chars`."""
        self.threads = threads
        self.records = counted(self.records)
        self.prefix = running_total(self.chars)
        self.total_tokens = total(self.tokens)

    def seal_more(self, more: EventIndex) -> None:
        """Finish the index again after rows were appended to its only thread."""
        thread = self.threads[0]
        self.threads = (replace(thread, end=len(self)),)
        self.prefix = continued_total(self.prefix, more.chars)
        self.total_tokens += total(more.tokens)
        if self._token_prefix is not None:
            self._token_prefix = continued_total(self._token_prefix, more.tokens)
        if self._parting:
            self._parting = crossings(self.calls, self._parting)

    @property
    def token_prefix(self) -> array[int]:
        """The running total of `tokens`, made when a plan in tokens first needs it."""
        if self._token_prefix is None:
            self._token_prefix = running_total(self.tokens)
        return self._token_prefix

    @property
    def parting(self) -> bytes:
        """For each event, 1 where a cut before it would part a call from its result, else 0.

        Made when a plan first needs it.
        """
        if not self._parting:
            self._parting = crossings(self.calls)
        return self._parting

    def thread_of(self, event: int) -> Thread:
        """The thread that an event belongs to.

        Raises:
            IndexError: the session has no such event.
        """
        if not 0 <= event < len(self):
            raise IndexError(event)
        return self.threads[bisect_right(self.threads, event, key=lambda each: each.first) - 1]

    @property
    def total_chars(self) -> int:
        """Characters of all event texts together."""
        return self.prefix[-1]

    def kind(self, event: int) -> EventKind:
        """Kind of an event."""
        return KINDS[self.kinds[event]]

    def tool(self, event: int) -> str:
        """Tool of a call (of a result: where the file names it), else the empty string."""
        return self.tool_names[self.tools[event]]

    def digest(self, event: int) -> bytes:
        """Digest of an event's text."""
        return bytes(self.digests[event * DIGEST_BYTES : (event + 1) * DIGEST_BYTES])

    @property
    def tool_calls(self) -> int:
        """How many events are tool calls."""
        # An array counts a hundred times slower than bytes do.
        return self.kinds.tobytes().count(KIND_CODES[EventKind.TOOL_CALL])


@dataclass(slots=True)
class Session:
    """One exported run: what the file says about itself, its index, and its bodies on demand.

    `bytes` is the size of the file, with the files of its subagents, when it was read. `started`
    and `ended` are the first and last time stamps as the file writes them, None where it has none.
    `siblings` is the number of sessions in the file, this one included. One that is `partial`
    holds only the first events: it may be looked at, and is never judged. `growth` reads on where
    its file has grown; None where all of it would have to be read again. `beside` tells whether
    there is more in the files of its subagents.
    """

    path: Path | None
    format: str
    id: str
    title: str
    bytes: int
    index: EventIndex
    source: Source
    started: str | None = None
    ended: str | None = None
    skipped_lines: int = 0
    diagnostics: tuple[Diagnostic, ...] = ()
    siblings: int = 1
    partial: bool = False
    growth: Growth | None = field(default=None, repr=False, compare=False)
    beside: CompanionFiles | None = field(default=None, repr=False, compare=False)
    large_text: tuple[int, str] | None = field(default=None, repr=False)
    large_redacted: tuple[int, Redacted] | None = field(default=None, repr=False)

    @property
    def name(self) -> str:
        """The path as given (bytes that are no text replaced), or a word for events in memory."""
        return without_surrogates(str(self.path)) if self.path is not None else "<events>"

    def event(self, number: int) -> Event:
        """Read one event again.

        Raises:
            SessionError: the file no longer holds the text that was indexed.
        """
        index = self.index
        try:
            event = self.source.record_events(index.records[number])[index.positions[number]]
        except (IndexError, ValueError) as error:
            raise self._changed(number) from error
        if text_digest(event.text) != index.digest(number):
            raise self._changed(number)
        return event

    def text(self, number: int) -> str:
        """The text of one event, exactly as it was indexed.

        The last large text is held, so that its pieces do not each cost the whole of it.
        """
        held = self.large_text
        if held is not None and held[0] == number:
            return held[1]
        text = self.event(number).text
        if len(text) >= LARGE_TEXT_CHARS:
            self.large_text = (number, text)
        return text

    def redacted(self, number: int) -> Redacted:
        """The text of one event with its secrets replaced; the last large one is held as well."""
        held = self.large_redacted
        if held is not None and held[0] == number:
            return held[1]
        redacted = redact(self.text(number))
        if len(redacted.original) >= LARGE_TEXT_CHARS:
            self.large_redacted = (number, redacted)
        return redacted

    def raw(self, number: int) -> bytes:
        """The record that the event comes from, as it stands in the file."""
        return self.source.record_bytes(self.index.records[number])

    def line(self, number: int) -> int | None:
        """The event's line in its file, from 1."""
        return self.source.record_line(self.index.records[number])

    def file(self, number: int) -> str | None:
        """The file that the event stands in: the session's own, or one of a subagent."""
        name = self.source.record_file(self.index.records[number])
        return None if name is None else without_surrogates(name)

    def close(self) -> None:
        """Let go of the file."""
        self.large_text = self.large_redacted = self.growth = None
        self.source.close()

    def _changed(self, number: int) -> SessionError:
        return SessionError(
            f"{clean_line(self.name)}: the file changed while it was open (event {number} is not"
            " what was indexed); open it again"
        )

    def describe(self, *, redact: bool = False) -> dict[str, str | int | None]:
        """The `session` object of a judgment's JSON; with `redact` its title has no secret."""
        return {
            "path": self.name,
            "format": self.format,
            "id": self.id,
            "title": redacted_text(self.title) if redact else self.title,
            "events": len(self.index),
            "tool_calls": self.index.tool_calls,
            "threads": len(self.index.threads),
            "bytes": self.bytes,
            "skipped_lines": self.skipped_lines,
        }
