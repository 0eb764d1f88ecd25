"""What a batch run still waits for: files by the batches that hold their questions."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from longjudge.ids import judgment_id

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from longjudge.batch_pace import Pace
    from longjudge.batches.sending import Ready
    from longjudge.budget import Reservation
    from longjudge.sessions import SessionFile
    from longjudge.store.batch_rows import ItemOutcome


@dataclass(slots=True)
class Pending:
    """A session that was taken up and has no result yet.

    `begun` is when its first question was taken up (monotonic), None before. `sent` says that
    questions went out under its id; `refused` came to an end before they were in a batch.
    """

    judgment: str = field(default_factory=judgment_id)
    begun: float | None = None
    sent: bool = False
    told: bool = False
    refused: dict[str, ItemOutcome] = field(default_factory=dict[str, "ItemOutcome"])

    def late(self, limit: float, now: float) -> bool:
        """Whether it has had its `limit` in seconds."""
        return self.begun is not None and now - self.begun >= limit


@dataclass(slots=True, eq=False)
class Work:
    """A file and its sessions by their place in it.

    It waits for `batches`, for questions that are `packed` and not sent yet, for those that are
    asked `elsewhere`, and with `hungry` for room in the budget.
    """

    file: SessionFile
    sessions: dict[int, Pending] = field(default_factory=dict[int, Pending])
    done: set[int] = field(default_factory=set[int])
    batches: set[str] = field(default_factory=set[str])
    packed: set[str] = field(default_factory=set[str])
    elsewhere: set[str] = field(default_factory=set[str])
    hungry: bool = False

    def give_up(self, number: int) -> None:
        """There will be no result of one of its sessions."""
        self.sessions.pop(number, None)
        self.done.add(number)

    def limit_passed(self, limit: float, now: float) -> bool:
        """Whether a session of it has had its `limit` in seconds; `now` is monotonic."""
        return any(each.late(limit, now) for each in self.sessions.values())

    @property
    def waits(self) -> bool:
        """Whether something is still to come for it."""
        return bool(self.batches or self.packed or self.elsewhere or self.hungry)


@dataclass(frozen=True, slots=True)
class Packed:
    """A question that waits to be sent, with the session that asks it and what it may cost."""

    ready: Ready
    work: Work
    pending: Pending
    reservation: Reservation


class Packer:
    """Collects questions in pages, none larger than a batch may be."""

    def __init__(self, pace: Pace) -> None:
        self._pace = pace
        self._full: deque[dict[str, Packed]] = deque()
        self._last: dict[str, Packed] = {}
        self._bytes = 0

    def __len__(self) -> int:
        """Questions that wait to be sent."""
        return len(self._last) + sum(map(len, self._full))

    @property
    def full_pages(self) -> int:
        """How many pages take no further question."""
        return len(self._full)

    def has(self, key: str) -> bool:
        """Whether a question waits to be sent."""
        return key in self._last or any(key in page for page in self._full)

    def add(self, packed: Packed) -> None:
        """Add a question, on a new page where the last one has no room for it."""
        size = packed.ready.request.size
        many = len(self._last) >= self._pace.max_requests
        if self._last and (many or self._bytes + size > self._pace.max_bytes):
            self._full.append(self._last)
            self._last, self._bytes = {}, 0
        self._last[packed.ready.item.key] = packed
        self._bytes += size

    def take(self) -> dict[str, Packed]:
        """The oldest page, by key; it does not wait to be sent then."""
        if self._full:
            return self._full.popleft()
        page, self._last, self._bytes = self._last, {}, 0
        return page

    def put_back(self, page: dict[str, Packed]) -> None:
        """A page is to be sent later, before all others."""
        self._full.appendleft(page)


class Waiting:
    """Which files wait for which batches and questions."""

    def __init__(self) -> None:
        self.works: dict[Work, None] = {}
        self._of_batch: dict[str, dict[Work, None]] = {}
        self._of_key: dict[str, dict[Work, None]] = {}

    def __bool__(self) -> bool:
        """Whether any file waits."""
        return bool(self.works)

    def for_packed(self, work: Work, key: str) -> None:
        """A file waits for a question that is not sent yet."""
        work.packed.add(key)
        self._of_key.setdefault(key, {})[work] = None

    def for_batch(self, work: Work, batch: str) -> None:
        """A file waits for a batch."""
        work.batches.add(batch)
        self._of_batch.setdefault(batch, {})[work] = None

    def sent(self, keys: Iterable[str], batch: str) -> None:
        """Questions are in a batch by now."""
        for key in keys:
            for work in self._of_key.pop(key, {}):
                work.packed.discard(key)
                self.for_batch(work, batch)

    def elsewhere(self, keys: Iterable[str]) -> None:
        """Questions are asked by others, or answered by now."""
        for key in keys:
            for work in self._of_key.pop(key, {}):
                work.packed.discard(key)
                work.elsewhere.add(key)

    def not_sent(self, keys: Iterable[str]) -> list[Work]:
        """Questions are not going to be sent: the files that wait for nothing now."""
        free: list[Work] = []
        for key in keys:
            for work in self._of_key.pop(key, {}):
                work.packed.discard(key)
                self._free(work, free)
        return free

    def over(self, batch: str) -> list[Work]:
        """A batch is over: the files that wait for nothing now."""
        free: list[Work] = []
        for work in self._of_batch.pop(batch, {}):
            work.batches.discard(batch)
            self._free(work, free)
        return free

    @property
    def batches(self) -> set[str]:
        """The batches that any file waits for."""
        return {id for id, works in self._of_batch.items() if works}

    def fed(self) -> list[Work]:
        """There may be room in the budget again: the files that wait for nothing now."""
        free: list[Work] = []
        for work in [each for each in self.works if each.hungry]:
            work.hungry = False
            self._free(work, free)
        return free

    def settled_elsewhere(self, keys: Iterable[str]) -> list[Work]:
        """Others are done with questions: the files that wait for nothing now."""
        free: list[Work] = []
        done = set(keys)
        for work in [each for each in self.works if each.elsewhere & done]:
            work.elsewhere -= done
            self._free(work, free)
        return free

    def given_up(self, work: Work) -> None:
        """Nothing is waited for any more on behalf of a file."""
        self.works.pop(work, None)
        for batch in work.batches:
            self._of_batch.get(batch, {}).pop(work, None)
        for key in work.packed:
            self._of_key.get(key, {}).pop(work, None)
        for names in (work.batches, work.packed, work.elsewhere):
            names.clear()
        work.hungry = False

    @property
    def asked_elsewhere(self) -> Sequence[str]:
        """The questions that others ask."""
        return sorted({key for work in self.works for key in work.elsewhere})

    def _free(self, work: Work, free: list[Work]) -> None:
        if not work.waits and work in self.works:
            del self.works[work]
            free.append(work)
