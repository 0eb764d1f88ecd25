"""What a copy or a file takes: a finding or an event, read with what stands around it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from longjudge.errors import SessionError
from longjudge.prompt import sent_event
from longjudge.proof import (
    CONTEXT_CHARS,
    EVENT_CHARS,
    NEIGHBOUR_CHARS,
    Neighbour,
    Opinion,
    Proof,
    Relation,
    Source,
    excerpt,
    without_secrets,
)
from longjudge.redaction import redacted_text
from longjudge_tui.bench.surroundings import SLOW_NEIGHBOUR_CHARS, neighbours

if TYPE_CHECKING:
    from longjudge.sessions import Session
    from longjudge_tui.workbench.detail_panel import Passage

MOST_NEIGHBOURS = 12
"""A call may have hundreds of results; those nearest to it go out."""


class Handout:
    """Something to hand out, whose text is still to be read."""

    def __init__(
        self,
        session: Session,
        passage: Passage,
        part: int,
        opinion: Opinion | None,
        *,
        redact: bool = True,
    ) -> None:
        self._session = session
        self._passage = passage
        self._part = part
        self._opinion = opinion
        self._redact = redact

    @property
    def name(self) -> str:
        """What a file of it is called."""
        path = self._session.path
        what = f"-{self._opinion.finding.criterion}" if self._opinion else ""
        return f"{path.stem if path else 'events'}-event-{self._passage.event}{what}"

    @property
    def words(self) -> str:
        """What it is, for people."""
        return f"the finding at {self.brief}" if self._opinion else self.brief

    @property
    def brief(self) -> str:
        """The same, where there is little room."""
        return f"event {self._passage.event}"

    async def proof(self) -> Proof:
        """Read the texts, in a thread: they may be large ones."""
        return await asyncio.to_thread(self._outgoing)

    def _outgoing(self) -> Proof:
        try:
            proof = self._proof()
        except SessionError:
            proof = Proof(self._source(""), None, self._opinion)
        return without_secrets(proof) if self._redact else proof

    def _proof(self) -> Proof:
        session, event, piece = self._session, self._passage.event, self._passage.piece
        sent = sent_event(session, event, redact=self._redact)
        start, end = (piece.start, piece.end) if piece else (0, len(sent.original))
        finding = self._opinion.finding if self._opinion else None
        limit = CONTEXT_CHARS if finding else EVENT_CHARS
        at = (finding.span if finding else None) or (start, min(end, start + limit))
        around = _neighbours(session, event, self._redact)
        context = excerpt(sent.text, sent.from_original(*at), limit)
        return Proof(self._source(sent.text), context, self._opinion, around)

    def _source(self, text: str) -> Source:
        session, event = self._session, self._passage.event
        return Source(
            path=session.name,
            format=session.format,
            id=session.id,
            title=session.title,
            thread=session.index.thread_of(event).name,
            part=self._part,
            event=event,
            header=text[:1_000].partition("\n")[0] or session.index.kind(event).value,
            file=session.file(event),
            line=session.line(event),
        )


def _neighbours(session: Session, event: int, redact: bool) -> tuple[Neighbour, ...]:
    call = session.index.calls[event]
    others = [each for each in neighbours(session, event) if each != event]
    # The call stands far before its result, and says more than what lies between.
    others.sort(key=lambda each: (each != call, abs(each - event)))
    return tuple(
        _neighbour(session, event, each, redact) for each in sorted(others[:MOST_NEIGHBOURS])
    )


def _neighbour(session: Session, event: int, other: int, redact: bool) -> Neighbour:
    index = session.index
    header = f"{index.kind(other).value} {index.tool(other)}".rstrip()
    chars = index.chars[other]
    beginning = None
    if chars < SLOW_NEIGHBOUR_CHARS:
        try:
            read = session.event(other)
        except SessionError:
            pass
        else:
            body = redacted_text(read.body) if redact else read.body
            header, chars, beginning = read.header, len(body), body[:NEIGHBOUR_CHARS]
    relation = _relation(session, event, other)
    return Neighbour(other, relation, header, session.line(other), chars, beginning)


def _relation(session: Session, event: int, other: int) -> Relation:
    calls = session.index.calls
    if other < event:
        return Relation.CALL if calls[event] == other else Relation.BEFORE
    return Relation.RESULT if calls[other] == event else Relation.AFTER
