"""The threads of a trace's sessions: made when a span opens one, begun by their first event."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from longjudge.sessions.formats.told_once import ToldOnce
from longjudge.sessions.gather import MAIN_THREAD, DistinctNames

if TYPE_CHECKING:
    from longjudge.sessions.formats.retold import Telling
    from longjudge.sessions.formats.spans import Span
    from longjudge.sessions.model import Event


@dataclass(slots=True)
class Thread:
    """A thread and what was told of it; `call_id` is the call in `parent` that started it.

    `request` stands for the first request in it.
    """

    session: str
    name: str
    told: ToldOnce = field(init=False)
    parent: Thread | None = None
    call_id: str | None = None
    begun: bool = False
    request: int = 0


class Threads:
    """Makes the threads of all sessions of a file."""

    def __init__(self, telling: Telling) -> None:
        self._telling = telling
        self._mains: dict[str, Thread] = {}
        self._agents: dict[tuple[int, str, tuple[int, ...]], Thread] = {}
        self._names: dict[str, DistinctNames] = {}
        self._made = 0

    def main(self, session: str) -> Thread:
        """The thread of a session's own agent."""
        thread = self._mains.get(session)
        if thread is None:
            thread = self._mains[session] = self._new(Thread(session, MAIN_THREAD))
        return thread

    def inside(self, parent: Thread, name: str, call_id: str) -> Thread:
        """What happens inside a tool; a thread only if anything does."""
        return self._new(Thread(parent.session, name or "tool", parent=parent, call_id=call_id))

    def taken(self, thread: Thread, name: str, span: Span) -> Thread:
        """The thread inside a tool for an agent that runs there; a second one gets its own."""
        if not thread.begun:
            thread.name = name
            return thread
        return self.of_agent(thread, name, span, call_id=thread.call_id)

    def of_agent(self, parent: Thread, name: str, span: Span, call_id: str | None = None) -> Thread:
        """The thread of an agent inside another one; of its several spans if they go on.

        One that begins as another did is a second run.
        """
        key = (id(parent), name, span.openings_below[:1])
        thread = self._agents.get(key)
        if thread is None or (span.request_below and span.request_below == thread.request):
            made = Thread(parent.session, name, parent=parent, call_id=call_id)
            made.request = span.request_below
            thread = self._agents[key] = self._new(made)
        return thread

    def _new(self, thread: Thread) -> Thread:
        self._made += 1
        thread.told = ToldOnce(
            lambda event, record: self._tell(thread, event, record), f"call {self._made}"
        )
        return thread

    def _tell(self, thread: Thread, event: Event, record: int) -> None:
        if not thread.begun:
            self._begin(thread)
        self._telling.event(event, record, session=thread.session, thread=thread.name)

    def _begin(self, thread: Thread) -> None:
        thread.begun = True
        session = thread.session
        if thread.parent is None:
            self._telling.facts(session=session, id=session or None)
            return
        name = "agent" if thread.name in ("", MAIN_THREAD) else thread.name
        thread.name = self._names.setdefault(session, DistinctNames()).distinct(name)
        if thread.call_id is not None:
            parent = thread.parent
            known = parent.name if parent.begun else None
            self._telling.starts(thread.name, call_id=thread.call_id, session=session, parent=known)
