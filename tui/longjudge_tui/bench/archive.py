"""The judgments of the past as a screen goes by them: read a page at a time, sorted, filtered.

It knows no widget. Whoever shows it starts `read_session`, `read_all` and `arrange`, and looks at
what there is so far; everything that takes longer than a frame is done beside the event loop.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from enum import StrEnum
from heapq import merge
from typing import TYPE_CHECKING

from longjudge.errors import StoreError
from longjudge.history import Entry, hex_marks, of_one_session
from longjudge.store.past_pages import count_judgments, pages, pages_of_session
from longjudge.text import clean_line
from longjudge.trends import History, counts, day_of, week_of
from longjudge_tui.bench.begun import broken_off
from longjudge_tui.wording import moment

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from longjudge.history import ChunkSetting, Marks
    from longjudge.store import PastJudgment, Store
    from longjudge.trends import Group, Period

SORTED_AT_ONCE = 2_000
"""So many are put in order without anything else getting a turn."""

SUMMED_AGAIN = 1.25
"""How many times as many have to be counted until they are summed up anew."""


class Order(StrEnum):
    """What the list is sorted by. By no score: those of different chunk settings say nothing."""

    TIME = "newest first"
    SESSION = "session"
    FINDINGS = "most findings"
    UNJUDGED = "most chunks without a verdict"
    COST = "highest cost"

    @property
    def next(self) -> Order:
        """The one after it."""
        orders = list(Order)
        return orders[(orders.index(self) + 1) % len(orders)]


_Key = tuple[str | float, float]
_KEYS: dict[Order, Callable[[Entry], _Key]] = {
    Order.TIME: lambda each: (0, -each.created),
    Order.SESSION: lambda each: (name_of(each).casefold(), -each.created),
    Order.FINDINGS: lambda each: (-each.findings, -each.created),
    Order.UNJUDGED: lambda each: (-each.unjudged, -each.created),
    Order.COST: lambda each: (-(each.cost_usd or 0.0), -each.created),
}


def name_of(entry: Entry) -> str:
    """What a session is called: its title, else its file's name."""
    path = entry.real_path or entry.path
    return entry.title or path.replace("\\", "/").rpartition("/")[2] or entry.session_id


class Rows:
    """Judgments as they come in, those that fit some words, in an order.

    `generation` counts how often `shown` became another list; it only grows at its end within one.
    """

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.shown: list[Entry] = []
        self.words = ""
        self.order = Order.TIME
        self.generation = 0
        self._arranged = 0

    def take(self, more: Sequence[Entry]) -> None:
        """Take in older ones."""
        self.entries.extend(more)
        if self.order is Order.TIME and not self.stale:
            self.shown.extend(_fitting(more, self.words))
            self._arranged = len(self.entries)

    def show(self, words: str, order: Order) -> None:
        """Show others, or in another order, from the next `arrange` on."""
        if (words, order) != (self.words, self.order):
            self.words, self.order = words, order
            self._arranged = -1

    @property
    def stale(self) -> bool:
        """Whether what is shown is not what is wanted."""
        if self._arranged < 0:
            return True
        # In any other order a few more change everything: not with every page.
        grown = len(self.entries) > 2 * self._arranged
        return self.order is not Order.TIME and grown

    def settle(self) -> None:
        """No more will come: what is sorted has to be sorted with all of it."""
        if self.order is not Order.TIME and self._arranged < len(self.entries):
            self._arranged = -1

    async def arrange(self) -> None:
        """Filter and sort anew, in a thread."""
        words, order, entries = self.words, self.order, self.entries[:]
        self._arranged = len(entries)
        shown = await asyncio.to_thread(_arranged, entries, words, order)
        if (words, order) != (self.words, self.order):
            self._arranged = -1
            return
        if order is Order.TIME:
            # What came in meanwhile was added to the list that stood before.
            shown += _fitting(self.entries[len(entries) :], words)
            self._arranged = len(self.entries)
        self.shown = shown
        self.generation += 1


def _fitting(entries: Sequence[Entry], words: str) -> list[Entry]:
    wanted = words.casefold().split()
    return [*filter(_Fitting(wanted).fits, entries)] if wanted else list(entries)


class _Fitting:
    """Tells whether a judgment has all of some words.

    What many have in common is put into words once: there may be very many.
    """

    def __init__(self, wanted: Sequence[str]) -> None:
        self._exact = [
            (_FACETS[name], value)
            for name, colon, value in (word.partition(":") for word in wanted)
            if colon and name in _FACETS
        ]
        wanted = [word for word in wanted if word.partition(":")[0] not in _FACETS]
        # A time takes long to write out, and only what looks like one is looked for in it.
        self._wanted = [(word, not {"-", ":"}.isdisjoint(word)) for word in wanted]
        self._sessions: dict[tuple[str, str, str], str] = {}
        self._ways: dict[tuple[object, ...], str] = {}

    def fits(self, entry: Entry) -> bool:
        """Whether they are in it."""
        if any(facet(entry) != value for facet, value in self._exact):
            return False
        session = (entry.title, entry.path, entry.session_id)
        about = self._sessions.get(session)
        if about is None:
            about = self._sessions[session] = " ".join(session).casefold()
        reasons = tuple(reason for reason, _ in entry.gaps)
        named = (entry.rubric, entry.version, entry.model, entry.status, *reasons)
        way = (*named, entry.setting, bool(entry.fault))
        by = self._ways.get(way)
        if by is None:
            by = self._ways[way] = _by(entry, named)
        return all(
            word in about
            or word in by
            or word in entry.id
            or (like_a_time and word in moment(entry.created))
            for word, like_a_time in self._wanted
        )


def _day(entry: Entry) -> str:
    return str(day_of(entry.created))


def _week(entry: Entry) -> str:
    day = day_of(entry.created)
    return "" if day is None else str(week_of(day))


def _chunks(entry: Entry) -> str:
    return _chunk_word(entry.setting)


def _chunk_word(setting: ChunkSetting | None) -> str:
    return f"{setting.size}-{setting.unit}" if setting is not None else "unknown"


def _word(text: str) -> str:
    """A name as one word to filter by, whatever is in it."""
    return "_".join(clean_line(text, 200).casefold().split())


_FACETS: dict[str, Callable[[Entry], str]] = {
    "day": _day,
    "week": _week,
    "rubric": lambda each: _word(each.rubric),
    "version": lambda each: _word(each.version),
    "model": lambda each: _word(each.model),
    "chunks": _chunks,
    "is": lambda each: "counted" if counts(each) else "",
}
"""What is not looked for anywhere, but has to be just that."""


def words_of_group(group: Group) -> str:
    """The words that leave just the judgments of a group."""
    named = (("rubric", group.rubric), ("version", group.version), ("model", group.model))
    words = ["is:counted", *(f"{name}:{_word(text)}" for name, text in named)]
    if group.settings == 1:
        words.append(f"chunks:{_chunk_word(group.setting)}")
    return " ".join(words)


def words_of_period(period: Period) -> str:
    """The words that leave just the judgments of a day, a week or, of all, those that count."""
    if not period.days:
        return "is:counted"
    return f"is:counted {'day' if period.days == 1 else 'week'}:{period.start.isoformat()}"


def _by(entry: Entry, named: tuple[str, ...]) -> str:
    setting = f"{entry.setting.size} {entry.setting.unit}" if entry.setting else ""
    forced = "forced" if entry.fault else ""
    return " ".join([*named, entry.status.replace("_", " "), setting, forced]).casefold()


def _arranged(entries: Sequence[Entry], words: str, order: Order) -> list[Entry]:
    shown = _fitting(entries, words)
    if order is Order.TIME:
        return shown
    key = _KEYS[order]
    # One sort of everything would hold the interpreter for longer than a frame.
    starts = range(0, len(shown), SORTED_AT_ONCE)
    return list(
        merge(*(sorted(shown[at : at + SORTED_AT_ONCE], key=key) for at in starts), key=key)
    )


@dataclass(frozen=True, slots=True)
class Sums:
    """What the newest `counted` judgments come to.

    `forced` and `unread` of these count nowhere: failures were forced in them, or they do not read.
    """

    counted: int = 0
    groups: tuple[Group, ...] = ()
    periods: tuple[Period, ...] = ()
    standing: Period | None = None
    forced: int = 0
    unread: int = 0


class Archive:
    """What the store has. `session` are the judgments of one session, `all` those of all.

    `total` is how many there are, 0 until that is known; `whole` says that all of them are in.
    `sums` are of those that were counted until now.
    """

    def __init__(self, store: Store) -> None:
        self.session = Rows()
        self.all = Rows()
        self.total = 0
        self.whole = False
        self.session_read = False
        self.error = ""
        self.sums = Sums()
        self._store = store
        self._history = History()

    async def read_session(self, real_path: str, session_id: str | None) -> None:
        """Read those of one session; without an id, those of a file."""
        found: list[Entry] = []
        try:
            marks = hex_marks(await self._store.marks())
            left = [each for each in await broken_off(self._store) if each.real_path == real_path]
            found += [each for each in left if session_id in (None, each.session_id)]
            async for page in pages_of_session(self._store, real_path, session_id):
                found += await asyncio.to_thread(_entries, page, marks)
        except StoreError as error:
            self.error = clean_line(str(error), 1_000)
        if session_id is not None:
            found = of_one_session(found, real_path, session_id)
        self.session.take(sorted(found, key=lambda each: -each.created))
        self.session.settle()
        self.session_read = True

    async def read_all(self) -> None:
        """Read all of them, and count them on."""
        try:
            self.total = await count_judgments(self._store)
            marks = hex_marks(await self._store.marks())
            # First, since what they left is what somebody looks for.
            self.all.take(await broken_off(self._store))
            async for page in pages(self._store):
                self.all.take(await asyncio.to_thread(self._count, page, marks))
        except StoreError as error:
            self.error = clean_line(str(error), 1_000)
        else:
            self.whole = True
        self.sums = await asyncio.to_thread(_sums, self._history)
        self.all.settle()

    def _count(self, page: Sequence[PastJudgment], marks: Marks) -> list[Entry]:
        """In a thread, which alone looks at the sums on their way."""
        entries = _entries(page, marks)
        for each in entries:
            self._history.add(each)
        if self._history.counted >= SUMMED_AGAIN * self.sums.counted:
            self.sums = _sums(self._history)
        return entries


def _entries(page: Sequence[PastJudgment], marks: Marks) -> list[Entry]:
    return [Entry.of(each, marks) for each in page]


def _sums(history: History) -> Sums:
    groups, periods = tuple(history.groups()), tuple(history.periods())
    standing = history.standing()
    return Sums(history.counted, groups, periods, standing, history.forced, history.unread)
