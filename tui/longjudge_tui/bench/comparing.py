"""The comparison behind its screen: which two sides, and what they say beside one another.

It is computed in a thread, anew whenever a side says something else.
"""

from __future__ import annotations

import asyncio
from time import monotonic
from typing import TYPE_CHECKING

from longjudge.comparison.compare import compare, refuse_strangers
from longjudge.comparison.sides import Side
from longjudge.errors import LongjudgeError, UsageError
from longjudge_tui.bench.compared_lines import Lines
from longjudge_tui.bench.planned_side import PlannedSide, session_of
from longjudge_tui.bench.side_offers import Offer, Offers
from longjudge_tui.bench.side_terms import Terms, terms_of
from longjudge_tui.wording import line

if TYPE_CHECKING:
    from collections.abc import Coroutine, Hashable, Mapping

    from longjudge.comparison.compare import Comparison
    from longjudge.comparison.sides import JudgedBy, SideSession
    from longjudge.marks import Mark
    from longjudge.sessions import Session
    from longjudge_tui.bench.bench import Bench
    from longjudge_tui.chores import Chores

REST_SHARE = 5
"""A comparison rests so many times as long as it took, where something always changes."""

LEAST_REST_SECONDS, MOST_REST_SECONDS = 0.3, 5.0

Source = Side | PlannedSide
"""A recorded judgment, or what stands now under some terms."""


class Comparing:
    """Two sides of one session. `chores` owns what is on its way, and ends it.

    `problem` says why there is nothing to show, `notices` what is to be said once; `changes` counts
    how often there is something else to paint.
    """

    def __init__(
        self, bench: Bench, chores: Chores, one_id: str | None = None, other_id: str | None = None
    ) -> None:
        self.bench = bench
        self.one: Source | None = None
        self.other: Source | None = None
        self.lines = Lines.nothing()
        self.problem = ""
        self.notices: list[str] = []
        self.changes = 0
        self.reading = True
        self._offers = Offers(bench)
        self._chores = chores
        self._wanted = (one_id, other_id)
        self._about: SideSession | None = None
        self._here: tuple[Session, SideSession] | None = None
        self._seen: Hashable = None
        self._laying = self._ran = False
        self._filling = 0
        self._laid: tuple[Source | None, Source | None] = (None, None)
        self._next = 0.0

    @property
    def comparison(self) -> Comparison | None:
        """What was computed last."""
        return self.lines.comparison

    @property
    def offers(self) -> list[Offer]:
        """What there is to choose: what stands now, and the judgments of the session."""
        return self._offers.offers

    @property
    def session(self) -> Session | None:
        """The session of the two, where it is the one that is open."""
        if self._here is None or self._here[0] is not self.bench.session:
            return None
        return self._here[0]

    def side(self, *, one: bool) -> Side | None:
        """A side as it was computed last; one that the session has outgrown lacks its end."""
        source = self.one if one else self.other
        if isinstance(source, Side):
            outgrown = self.session is not None and len(self.session.index) > source.session.events
            return None if outgrown else source
        both = self.comparison
        return (both.one if one else both.other) if both is not None else None

    @property
    def is_current(self) -> bool:
        """Whether what was computed last is about the two sides that are chosen."""
        return self._laid[0] is self.one and self._laid[1] is self.other

    def is_asking(self, *, one: bool) -> bool:
        """Whether the judgment in flight is the one of a side."""
        source = self.one if one else self.other
        return self.bench.running and isinstance(source, PlannedSide) and source.is_live

    def begin(self) -> None:
        """Read what there is, and lay the sides beside one another."""
        self.bench.marking.begin()
        self._chores.start(self._begin())

    def follow(self) -> None:
        """Compute it anew where a side, or a mark, is another one by now; called on every tick."""
        waits = self._laying or self._filling or self.reading
        if self.one is None or self.other is None or waits:
            return
        state = (_state(self.one), _state(self.other), self.bench.marking.changes)
        ended, self._ran = self._ran and not self.bench.running, self.bench.running
        if ended:
            self._next = 0.0
        if state == self._seen or monotonic() < self._next:
            return
        self._seen, self._laying = state, True
        self._chores.start(self._lay(self.one, self.other))

    def choose(self, offer: Offer, *, one: bool) -> None:
        """Have another side."""
        self._chores.start(self._said(self._choose(offer, one=one)))

    def read_offers_again(self) -> None:
        """Take in the judgments that have been recorded meanwhile."""
        if self._about is not None and not self.reading:
            self._chores.start(self._said(self._read_offers(self._about)))

    def swap(self) -> None:
        """A becomes B."""
        self.one, self.other = self.other, self.one
        self._anew()

    async def terms_of_side(self, *, one: bool) -> Terms:
        """What a side is judged by, to ask by it.

        Raises:
            LongjudgeError: it cannot be asked by any more, or its session is not open.
        """
        source, bench = self.one if one else self.other, self.bench
        if source is None:
            raise UsageError(self.problem or f"nothing is chosen for {'A' if one else 'B'} yet")
        if self.session is None:
            raise UsageError("the session of these judgments is not the one that is open")
        if isinstance(source, PlannedSide):
            return source.terms
        return await terms_of(source.by, bench.tuning, bench.store, bench.config.rubrics)

    def ask(self, terms: Terms, agreed: int, *, one: bool) -> None:
        """Let the bench judge by a side's terms; the side is what stands under them from now on.

        Raises:
            LongjudgeError: it cannot be judged by them, or not now, or more than the `agreed`
                number of chunks would be asked by now.
        """
        terms.use(self.bench.tuning)
        side = self.one if one else self.other
        if not isinstance(side, PlannedSide) or side.terms != terms:
            side = PlannedSide(self.bench, terms)
        if one:
            self.one = side
        else:
            self.other = side
        outlook = self.bench.outlook
        more = outlook.totals.to_ask if outlook is not None else 0
        if more > agreed:
            self._anew()
            raise UsageError(
                f"there are {more:,} chunks to ask by now, not {agreed:,}: nothing is asked before"
                " you have seen the price of that"
            )
        self.bench.start()
        self._chores.start(self._said(self._read_planned()))

    async def _said(self, work: Coroutine[None, None, None]) -> None:
        try:
            await work
        except LongjudgeError as error:
            self.notices.append(line(str(error), 500))
        self.changes += 1

    async def _begin(self) -> None:
        try:
            await self._read()
        except LongjudgeError as error:
            self.problem = line(str(error), 500)
        self.reading = False
        self.changes += 1

    async def _read(self) -> None:
        """Find the two sides: those that are wanted, else what stands now and one before it."""
        one_id, other_id = self._wanted
        one = await self._recorded(one_id) if one_id else None
        other = await self._recorded(other_id) if other_id else None
        await self._look_at_open(one or other)
        if self._about is None:
            raise UsageError("no session is open to compare judgments of; open one first")
        await self._read_offers(self._about)
        self.one = one
        self.other = other or self._now() or await self._offers.newest(one)
        if self.one is None and self.other is not None:
            self.one = await self._before(self.other)
        if self.one is None or self.other is None:
            raise UsageError(self._offers.nothing_to_compare())

    async def _before(self, other: Source) -> Side | None:
        """What was chosen before, while the session is open; else the one that says most."""
        here, by = self._terms_there(other)
        name, id, chosen = self.bench.chosen_before or ("", "", "")
        session = self.session
        if session is not None and (name, id) == (session.name, session.id) and chosen != here:
            try:
                return await self._recorded(chosen)
            except UsageError as error:
                self.notices.append(line(str(error), 500))
        return await self._offers.before(here, by)

    async def _read_offers(self, about: SideSession) -> None:
        await self._offers.read(about, with_now=self.session is not None)

    def _terms_there(self, source: Source) -> tuple[str, JudgedBy]:
        """The id under which a side was recorded, if it was, and what it was judged by."""
        if isinstance(source, Side):
            return source.id, source.by
        run = self.bench.run
        recorded = run.result.id if run is not None and run.result is not None else ""
        return recorded, source.terms.by

    async def _look_at_open(self, side: Side | None) -> None:
        """Find out whether the open session is the one that is compared."""
        session = self.bench.session
        here = await asyncio.to_thread(session_of, session) if session is not None else None
        self._about = side.session if side is not None else here
        if session is None or here is None or self._about is None:
            return
        try:
            refuse_strangers(here, self._about)
        except UsageError:
            return
        self._here = session, here

    def _now(self) -> PlannedSide | None:
        if self.session is None or self.bench.outlook is None or not self.bench.applies:
            return None
        return PlannedSide(self.bench, Terms.standing(self.bench.tuning))

    async def _recorded(self, id: str) -> Side:
        return await self._offers.recorded(id)

    async def _choose(self, offer: Offer, *, one: bool) -> None:
        source = self._now() if offer.entry is None else await self._recorded(offer.entry.id)
        if source is None:
            raise UsageError("the session of these judgments is not the one that is open")
        if one:
            self.one = source
            session = self.session
            if session is not None:
                id = source.id if isinstance(source, Side) else ""
                self.bench.chosen_before = (session.name, session.id, id) if id else None
        else:
            self.other = source
        await self._read_planned()

    async def _read_planned(self) -> None:
        """Read what is kept for the sides that the bench does not stand at.

        Nothing is laid meanwhile: what is kept would look as if it was not judged.
        """
        self._anew()
        session = self.session
        self._filling += 1
        try:
            for source in (self.one, self.other):
                if isinstance(source, PlannedSide) and session is not None:
                    await source.read(session)
        finally:
            self._filling -= 1
        self._anew()

    def _anew(self) -> None:
        self._seen, self._next = None, 0.0
        self.changes += 1

    async def _lay(self, one: Source, other: Source) -> None:
        began = monotonic()
        session, marks = self.session, self.bench.marking.marks
        try:
            lines = await asyncio.to_thread(self._computed, one, other, session, marks)
            problem = ""
        except UsageError as error:
            lines, problem = Lines.nothing(), line(str(error), 500)
        finally:
            self._laying = False
        took = monotonic() - began
        rest = max(LEAST_REST_SECONDS, min(took * REST_SHARE, MOST_REST_SECONDS))
        self._next = monotonic() + rest
        if one is self.one and other is self.other and lines is not None:
            self.lines, self.problem, self._laid = lines, problem, (one, other)
            self.changes += 1

    def _computed(
        self,
        one: Source,
        other: Source,
        session: Session | None,
        marks: Mapping[tuple[bytes, str], Mark],
    ) -> Lines | None:
        """Both sides as they are, beside one another; None while one has no plan."""
        sides = [
            each if isinstance(each, Side) else each.side(session) if session is not None else None
            for each in (one, other)
        ]
        if sides[0] is None or sides[1] is None:
            return None
        return Lines.of(compare(sides[0], sides[1], marks, self._offers.found))


def _state(source: Source) -> Hashable:
    return id(source) if isinstance(source, Side) else source.state
