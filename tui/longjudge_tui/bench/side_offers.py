"""The judgments of a session that a side of a comparison may be, and which one is meant."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from longjudge.comparison.caveats import with_questions
from longjudge.comparison.sides import JudgedBy, found_keys, side_of
from longjudge.errors import UsageError
from longjudge.history import Entry, hex_marks, of_one_session
from longjudge.store.past_pages import pages_of_session, whole_judgment
from longjudge_tui.commands import command
from longjudge_tui.wording import line

if TYPE_CHECKING:
    from collections.abc import Iterable

    from longjudge.comparison.sides import Side, SideSession
    from longjudge_tui.bench.bench import Bench

MOST_TRIES = 20
"""So many recorded judgments are tried until one reads."""


@dataclass(frozen=True, slots=True)
class Offer:
    """A side to choose; `entry` is None for what stands in the settings now."""

    entry: Entry | None


class Offers:
    """`offers` has what stands now first, where its session is open, then the newest judgments.

    `found` is what marks on the findings of any of them go by.
    """

    def __init__(self, bench: Bench) -> None:
        self.offers: list[Offer] = []
        self.found: set[tuple[str, str]] = set()
        self._bench = bench
        self._faults: list[str] = []

    async def read(self, session: SideSession, *, with_now: bool) -> None:
        """Find the judgments of a session.

        Raises:
            StoreError: the store cannot be read.
        """
        marks = hex_marks(self._bench.marking.marks)
        entries: list[Entry] = []
        async for page in pages_of_session(self._bench.store, session.real_path, session.id):
            entries += [Entry.of(past, marks) for past in page]
            here = (past for past in page if past.real_path == session.real_path)
            self.found |= {key for past in here for key in found_keys(past)}
        same = of_one_session(entries, session.real_path, session.id)
        now = [Offer(None)] if with_now else []
        self.offers = [*now, *map(Offer, same)]

    async def recorded(self, id: str) -> Side:
        """A judgment with its parts.

        Raises:
            LongjudgeError: there is none of that id, it does not read, or has nothing to compare.
        """
        judgment = await whole_judgment(self._bench.store, id)
        if judgment is None:
            raise UsageError(
                f"{line(id, 40)}: the store has no such judgment that reads; choose another one"
            )
        side = await asyncio.to_thread(side_of, judgment)
        return await with_questions(side, self._bench.store)

    async def newest(self, beside: Side | None) -> Side | None:
        """The newest judgment that is not the one beside."""
        but = beside.id if beside is not None else ""
        return await self._first(each for each in self._entries() if each.id != but)

    async def before(self, here: str, by: JudgedBy | None) -> Side | None:
        """The one that says most beside what was judged by `by`, of the like the newest.

        That is one in the same chunks by another rubric or judge, a complete one before others;
        then a complete one in other chunks. `here` is the id of what it is laid beside, where that
        was recorded.
        """
        entries = [each for each in self._entries() if each.id != here]
        # The order of what is alike stays: the newest first, and no failure that was forced.
        entries.sort(key=lambda each: (_rank(each, by), _by(each) == by, bool(each.fault)))
        return await self._first(entries)

    def nothing_to_compare(self) -> str:
        """What to do where there are no two sides."""
        if self._faults:
            return f"there is no other judgment of this session that reads: {self._faults[0]}"
        run, compare = command("run").shown, command("compare").shown
        keys = [command(name).shown for name in ("choose_rubric", "choose_model", "edit_size")]
        change = f"choose another rubric ({keys[0]}), model ({keys[1]}) or chunk size ({keys[2]})"
        if not self._entries() and not self._bench.applies:
            return (
                "the rubric does not apply to this session, so there is nothing to judge:"
                f" another rubric ({keys[0]}) may"
            )
        if not self._entries():
            return (
                f"there is no judgment of this session yet: {run} in the workbench makes one; then"
                f" {change}, and {compare} lays both side by side before anything more is paid"
            )
        return (
            f"there is one judgment of this session only: in the workbench {change}, and {compare}"
            " lays both side by side before anything more is paid"
        )

    def _entries(self) -> list[Entry]:
        return [each.entry for each in self.offers if each.entry is not None]

    async def _first(self, entries: Iterable[Entry]) -> Side | None:
        """The first one that reads and has something to compare."""
        tries = 0
        for entry in entries:
            if not entry.applies or tries == MOST_TRIES:
                continue
            tries += 1
            try:
                return await self.recorded(entry.id)
            except UsageError as error:
                self._faults.append(line(str(error), 300))
        return None


def _rank(entry: Entry, beside: JudgedBy | None) -> int:
    """How well a judgment shows what another rubric or judge makes of the same; 0 is best."""
    by = _by(entry)
    if beside is None or not entry.judged:
        return 3
    if not by.same_size(beside):
        return 2 if entry.complete else 3
    if (by.version, by.model) == (beside.version, beside.model):
        return 3
    return 0 if entry.complete else 1


def _by(entry: Entry) -> JudgedBy:
    setting = entry.setting
    return JudgedBy(
        entry.model,
        entry.rubric,
        entry.version,
        setting.size if setting is not None else None,
        by_tokens=setting is not None and setting.unit == "tokens",
        redact=entry.redacted,
    )
