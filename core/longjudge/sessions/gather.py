"""Rows in the making: session by session and thread by thread, joined when all is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longjudge.sessions.facts import SessionFacts
from longjudge.sessions.index import IndexBuilder, ToolNames, extend_index
from longjudge.sessions.model import EventIndex, Thread
from longjudge.text import clean_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from longjudge.sessions.notes import Notes

MAIN_THREAD = "main"

_NAME_CHARS = 200


class SessionRows:
    """One session: what its records say about it, and the rows of each of its threads."""

    def __init__(self) -> None:
        self.facts = SessionFacts()
        self._tools = ToolNames()
        self._threads: dict[str, IndexBuilder] = {}
        self._started_by: dict[str, tuple[str, int]] = {}
        self._calls_by_prompt: dict[int, tuple[str, int]] = {}
        self._prompts: dict[str, int] = {}

    def __len__(self) -> int:
        return sum(map(len, self._threads.values()))

    def thread(self, name: str = MAIN_THREAD) -> IndexBuilder:
        """The rows of a thread, which begins with the first look at it."""
        rows = self._threads.get(name)
        if rows is None:
            rows = self._threads[name] = IndexBuilder(self._tools)
        return rows

    def has_thread(self, name: str) -> bool:
        """Whether a thread holds an event."""
        return bool(len(self._threads.get(name, ())))

    def only_main(self) -> IndexBuilder | None:
        """The rows of `main`, where there is no other thread."""
        return self._threads.get(MAIN_THREAD) if len(self._threads) == 1 else None

    def link(self, name: str, parent: str, row: int) -> None:
        """Say which call started a thread: row `row` of thread `parent`. The first word counts."""
        if name != parent:
            self._started_by.setdefault(name, (parent, row))

    def asks(self, prompt: str, parent: str, row: int) -> None:
        """A call, row `row` of thread `parent`, starts a subagent with this prompt."""
        self._calls_by_prompt.setdefault(hash(prompt.strip()), (parent, row))

    def opens_with(self, name: str, prompt: str) -> None:
        """The first message of a thread is this prompt; without a link it tells the call."""
        self._prompts.setdefault(name, hash(prompt.strip()))

    def finish(self) -> EventIndex:
        """All threads one after the other: `main` first, each subagent behind its starter.

        A thread is ordered by the call that started it; one that nobody is known to have started
        comes last.
        """
        for name, prompt in self._prompts.items():
            if call := self._calls_by_prompt.get(prompt):
                self.link(name, *call)
        names = list(self._ordered())
        firsts: dict[str, int] = {}
        first = 0
        for name in names:
            firsts[name] = first
            first += len(self._threads[name])
        shown = DistinctNames()
        threads = tuple(self._thread(name, firsts, shown) for name in names)
        index = self._threads[names[0]].index if names else EventIndex()
        for name in names[1:]:
            # Each is let go at once: a session may be most of what this computer holds.
            extend_index(index, self._threads.pop(name).index, len(index))
        index.tool_names = self._tools.names
        index.seal(threads)
        return index

    def _thread(self, name: str, firsts: dict[str, int], shown: DistinctNames) -> Thread:
        # Made of what a record or a file's name says, which may be of any length or no text.
        title = shown.distinct(clean_line(name, _NAME_CHARS))
        first = firsts[name]
        parent, row = self._started_by.get(name, ("", 0))
        call = firsts[parent] + row if parent in firsts else None
        return Thread(title, first, first + len(self._threads[name]), call)

    def _ordered(self) -> Iterator[str]:
        filled = [name for name, rows in self._threads.items() if len(rows)]
        filled.sort(key=lambda name: name != MAIN_THREAD)
        known = set(filled)
        children: dict[str, list[str]] = {}
        roots: list[str] = []
        for name in filled:
            parent, _ = self._started_by.get(name, ("", 0))
            if parent in known:
                children.setdefault(parent, []).append(name)
            else:
                roots.append(name)
        for each in children.values():
            each.sort(key=lambda name: self._started_by[name][1])
        given: set[str] = set()
        # A ring of threads that start each other has no root; what is left is given as it came.
        for start in [*roots, *filled]:
            pending = [start]
            while pending:
                name = pending.pop()
                if name not in given:
                    given.add(name)
                    yield name
                    pending += reversed(children.get(name, []))


class DistinctNames:
    """Gives names that differ: one that was given already gets a number behind it."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._next: dict[str, int] = {}

    def distinct(self, name: str) -> str:
        """The name itself where it is free."""
        given, number = name, self._next.get(name, 2)
        while given in self._taken:
            given, number = f"{name}#{number}", number + 1
        self._next[name] = number
        self._taken.add(given)
        return given


class Gathering:
    """The sessions of one file; `notes` holds what was odd in the file as a whole.

    `elsewhere` holds the marks of events that were read from another file, None where there is no
    other, and `copied` counts those that were met again.
    """

    def __init__(self, notes: Notes, elsewhere: set[int] | None = None) -> None:
        self.notes = notes
        self.elsewhere = elsewhere
        self.copied = 0
        self._sessions: dict[str, SessionRows] = {}

    def __len__(self) -> int:
        return sum(map(len, self._sessions.values()))

    def session(self, key: str = "") -> SessionRows:
        """The session that goes by a key within the file, which begins with the first look."""
        rows = self._sessions.get(key)
        if rows is None:
            rows = self._sessions[key] = SessionRows()
        return rows

    def drop(self, key: str) -> None:
        """Forget the session that goes by a key."""
        self._sessions.pop(key, None)

    def sessions(self) -> list[SessionRows]:
        """The sessions that hold an event, in the order of their first one."""
        return [rows for rows in self._sessions.values() if len(rows)]

    def clear(self) -> None:
        """Forget every session."""
        self._sessions.clear()
