"""The rows of the library: which files, in which order, filtered by what, and which are chosen."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from operator import attrgetter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from longjudge.sessions import SessionFile
    from longjudge_tui.library.counting import Facts
    from longjudge_tui.library.last import Last

NEVER = 2.0
"""Sorts what has no score behind every score."""


@dataclass(frozen=True, slots=True)
class Found:
    """The files to list, and in a few words where they are from.

    `paths` are what was named, where all that is in there is listed.
    """

    files: list[SessionFile]
    where: str
    paths: Sequence[Path] = ()


class Order(StrEnum):
    """What the rows are sorted by, and what comes first."""

    BYTES = "file size, largest first"
    EVENTS = "events, most first"
    NEWEST = "age, newest first"
    RESULT = "score, lowest first"
    TITLE = "title"

    @property
    def short(self) -> str:
        """What the rows are sorted by."""
        return self.value.partition(",")[0]

    @property
    def next(self) -> Order:
        """The order after this one."""
        orders = list(Order)
        return orders[(orders.index(self) + 1) % len(orders)]


def bytes_of(file: SessionFile, facts: Mapping[SessionFile, Facts]) -> int:
    """The size of a session, with the files of its subagents once it was read."""
    known = facts.get(file)
    return known.bytes if known is not None and known.bytes else file.bytes


def size_of(files: Iterable[SessionFile], facts: Mapping[SessionFile, Facts]) -> int:
    """The size of the files, each once: several sessions may be in one."""
    whole = 0
    shared: dict[Path, int] = {}
    for file in files:
        if file.session is None:
            whole += bytes_of(file, facts)
        else:
            shared[file.path] = file.bytes
    return whole + sum(shared.values())


class Listing:
    """Files, largest first, and the view of them.

    `generation` changes with the view, `choices` with what is selected. `counted` is how many rows
    of the view are sorted by their events: of the others none is known.

    The view is made when it is looked at. Facts that come in later move no row: the order and the
    filter are taken anew when one of them, or the files, change.
    """

    def __init__(
        self, facts: Mapping[SessionFile, Facts], lasts: Callable[[], Mapping[SessionFile, Last]]
    ) -> None:
        self.files: list[SessionFile] = []
        self.selected: set[SessionFile] = set()
        self.choices = 0
        self.order = Order.BYTES
        self.words = ""
        self.hiding = False
        self.generation = 0
        self.counted = 0
        self._facts = facts
        self._lasts = lasts
        self._view: list[SessionFile] | None = []
        self._texts: list[str] = []
        self._listed: set[SessionFile] = set()
        self._bytes = 0
        self._sized = 0
        self._more_bytes = False

    @property
    def view(self) -> list[SessionFile]:
        """The rows: filtered and sorted."""
        if self._view is None:
            self._view = self._filtered()
            self._sort(self._view)
        return self._view

    @property
    def bytes(self) -> int:
        """The size of all, with the files of subagents as far as they are known."""
        if self._sized != len(self._facts):
            # Only what is new is looked at: what is known may be about very many files.
            for file, known in islice(self._facts.items(), self._sized, None):
                if known.bytes > file.bytes and file.session is None and file in self._listed:
                    self._bytes += known.bytes - file.bytes
                    self._more_bytes = True
            self._sized = len(self._facts)
        return self._bytes

    def show(self, files: Sequence[SessionFile]) -> None:
        """List these; what is selected stays so, by path and session."""
        chosen = {(file.path, file.session) for file in self.selected}
        self.files, self._texts = list(files), []
        self._listed = set(files)
        self._bytes, self._sized = size_of(files, {}), 0
        if chosen:
            self.selected = {file for file in files if (file.path, file.session) in chosen}
        self.choices += 1
        self._changed()

    def split(self, file: SessionFile, parts: Sequence[SessionFile]) -> None:
        """Put the sessions of a file in its place."""
        view = self.view
        for rows in (self.files, view):
            if file in rows:
                place = rows.index(file)
                rows[place : place + 1] = parts
        self._texts = []
        if file in self.selected:
            self.selected.remove(file)
            self.selected |= set(parts)
            self.choices += 1
        self.generation += 1

    def next_order(self) -> None:
        """Sort by the next thing."""
        self.order = self.order.next
        self._changed()

    def filter_by(self, words: str) -> None:
        """Show only what has all the words in title, path, folder, id and format."""
        if words != self.words:
            self.words = words
            self._changed()

    def hide_others(self) -> None:
        """Hide files that are known to be no session, or show them again."""
        self.hiding = not self.hiding
        self._changed()

    def toggle(self, file: SessionFile) -> None:
        """Select a session, or not any more."""
        self.selected.symmetric_difference_update({file})
        self.choices += 1

    def select(self, files: Iterable[SessionFile]) -> None:
        """Select several."""
        self.selected |= set(files)
        self.choices += 1

    def toggle_all(self) -> None:
        """Select everything in the view; nothing of it where all of it is selected."""
        view = set(self.view)
        self.choices += 1
        if view <= self.selected:
            self.selected -= view
        else:
            self.selected |= view

    def _changed(self) -> None:
        self._view = None
        self.generation += 1

    def _filtered(self) -> list[SessionFile]:
        """The files that are shown, in the order of the files."""
        words, facts = self.words.casefold().split(), self._facts
        shown = self.files
        if words:
            matched = [all(word in text for word in words) for text in self._path_texts()]
            by_facts = {file for file, known in facts.items() if self._fits(file, known, words)}
            shown = [
                file
                for file, fits in zip(shown, matched, strict=True)
                if fits or (by_facts and file in by_facts)
            ]
        if self.hiding:
            others = {file for file, known in facts.items() if known.fault and not file.named}
            shown = [file for file in shown if file not in others]
        return shown if shown is not self.files else list(shown)

    def _path_texts(self) -> list[str]:
        if len(self._texts) != len(self.files):
            self._texts = [f"{file.path}\n{file.session or ''}".casefold() for file in self.files]
        return self._texts

    def _fits(self, file: SessionFile, known: Facts, words: Sequence[str]) -> bool:
        """Whether all words are in the path and what is known together."""
        known_words = f"{known.title}\n{known.format}\n{known.folder}\n{known.id}"
        text = f"{file.path}\n{known_words}".casefold()
        return all(word in text for word in words)

    def _sort(self, shown: list[SessionFile]) -> None:
        """Sort what comes largest first; equals stay in that order."""
        match self.order:
            case Order.BYTES:
                facts = self._facts
                if self.bytes and self._more_bytes:
                    shown.sort(key=lambda file: bytes_of(file, facts), reverse=True)
            case Order.NEWEST:
                shown.sort(key=attrgetter("modified"), reverse=True)
            case Order.EVENTS:
                facts = self._facts
                known = [file for file in shown if file in facts] if facts else []
                known.sort(key=lambda file: -facts[file].events)
                self.counted = len(known)
                self._first(known, shown)
            case Order.RESULT:
                lasts = self._lasts()
                judged = [file for file in shown if file in lasts] if lasts else []
                judged.sort(key=lambda file: _worst_first(lasts[file]))
                self._first(judged, shown)
            case Order.TITLE:
                facts = self._facts
                titles = {file: known.title for file, known in facts.items() if known.title}
                shown.sort(key=lambda file: (titles.get(file) or file.path.name).casefold())

    @staticmethod
    def _first(first: list[SessionFile], shown: list[SessionFile]) -> None:
        """Put some rows before all others."""
        if first:
            begin = set(first)
            shown[:] = [*first, *(file for file in shown if file not in begin)]


def _worst_first(last: Last) -> tuple[float, int]:
    """By what is known best: where the newest judgment has no score, by the complete one before."""
    known = last.before if last.score is None and last.before is not None else last
    return NEVER if known.score is None else known.score, -known.findings
