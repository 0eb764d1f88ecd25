"""The controller behind the library: the sessions, what is known about each, and the queue.

It knows no widget. The program owns it, like the bench whose settings, rubric and judge it uses;
the screen reads from here what it paints, about ten times a second.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from longjudge.errors import StoreError, UsageError
from longjudge.text import clean_line
from longjudge_tui.bench.begun import broken_off
from longjudge_tui.bench.event_log import LogKind
from longjudge_tui.bench.run_words import PAUSED
from longjudge_tui.estimate.estimates import Estimates
from longjudge_tui.library.ahead import end_of
from longjudge_tui.library.counting import Counting
from longjudge_tui.library.fresh_look import FreshLook
from longjudge_tui.library.in_batches import InBatches, all_out_words
from longjudge_tui.library.judging import IN_FLIGHT, Queue, State
from longjudge_tui.library.last import Last, newest
from longjudge_tui.library.listing import Found, Listing
from longjudge_tui.library.looking_back import cut_off, judged_otherwise
from longjudge_tui.library.offers import Offers
from longjudge_tui.library.pricing import Pricing
from longjudge_tui.library.results import Results
from longjudge_tui.library.sums import Sum
from longjudge_tui.library.terms import Terms
from longjudge_tui.library.together import Either

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from longjudge.history import Entry
    from longjudge.result import Result
    from longjudge.sessions import SessionFile
    from longjudge.store import Store
    from longjudge_tui.bench.bench import Bench
    from longjudge_tui.library.judging import Ended
    from longjudge_tui.library.offers import Offer
    from longjudge_tui.library.pricing import Price

_NO_OTHERS: frozenset[SessionFile] = frozenset()

UNREAD_NAMED = 100
"""Up to this many named files that could not even be looked at are read at once, to say why."""


class Shelf:
    """The library's sessions.

    `notices` holds messages for the screen to show once. It looks for files where it `lists`.
    """

    def __init__(
        self,
        found: Found,
        *,
        find: Callable[[], Found],
        bench: Bench,
        store: Store,
        kept: set[str],
    ) -> None:
        self.bench = bench
        self.where, self.paths = found.where, found.paths
        self.notices: list[str] = []
        self.lists = False
        self.results = Results(store, bench.marking)
        self.counting = Counting(self._split, self._refused)
        at_hand = Either(kept, store.owed.keys)
        self._out = InBatches(store)
        self.pricing = Pricing(self.counting, at_hand, self._out)
        self.queue = Queue(
            store, kept, self.notices, self._judged, self.counting.sessions_of, bench.log
        )
        self._fresh_look = FreshLook(self._look_at_store)
        self.listing = Listing(self.counting.facts, lambda: self.lasts)
        self._find = find
        self._store = store
        self._parts: dict[SessionFile, list[SessionFile]] = {}
        self.offers = Offers(self.pricing, self._parts, at_hand)
        self.estimates = Estimates(bench, kept, self.notices.append)
        read_by = self.counting, self.pricing, self.queue
        self._owned = *read_by, self.offers.secrets, self._fresh_look, self.estimates
        self._unread: list[SessionFile] = []
        self._seen: Result | None = None
        self._sum: tuple[object, Sum] | None = None
        self._look_task: asyncio.Task[None] | None = None
        self._recalled: SessionFile | None = None
        self._broken_off: list[Entry] = []
        self._news = 0
        self._list(found)
        # Estimates of before hold no more then.
        bench.on_stock_changed = self.pricing.forget
        bench.on_opened = self._recall

    @property
    def terms(self) -> Terms:
        """What a session would be judged by now."""
        return Terms.of(self.bench)

    @property
    def lasts(self) -> Mapping[SessionFile, Last]:
        """The newest result of each session that has one."""
        return self.results.lasts

    @property
    def busy(self) -> bool:
        """Whether the library judges."""
        return self.queue.busy

    @property
    def looking(self) -> bool:
        """Whether results are read, or the files listed anew as well."""
        return self._look_task is not None and not self._look_task.done()

    @property
    def store_error(self) -> str | None:
        """Why nothing is kept."""
        return self.queue.store_error or self.bench.store_error

    def open_past(self) -> None:
        """Read the results of the past, in the background."""
        self.lists = False
        self._look_task = asyncio.create_task(self._read_past())

    def look_again(self) -> None:
        """List the files anew, in the background."""
        if not self.looking:
            self.lists = True
            self._look_task = asyncio.create_task(self._look())
            self.bench.read_store_again()

    def want(self, files: Sequence[SessionFile]) -> None:
        """Count the files in sight, and no others; what the bench reads is counted by that."""
        self._unread = [file for file in self._unread if file not in self.counting.facts]
        bench, loading = self.bench, self.bench.loading
        if bench.session is not None and bench.file is not None:
            self.counting.learn_of(bench.file, bench.session)
        read = loading.file if loading is not None else None
        self.counting.want([file for file in (*self._unread, *files) if file != read])

    def follow(self) -> None:
        """Take in what happened since the last time; raise what a task of this object died of."""
        # The bench's tasks are watched from here where the workbench has not been shown yet.
        for each in (*self._owned, self.bench):
            each.raise_failure()
        if self._look_task is not None and self._look_task.done():
            if not self._look_task.cancelled():
                self._look_task.result()
            self._look_task = None
        if self._look_task is None and self._news != self.estimates.runs.news:
            # Another process judges what was begun here.
            self._news = self.estimates.runs.news
            self.open_past()
        run, file = self.bench.run, self.bench.file
        result = run.result if run is not None and not run.recalled else None
        if result is not None and result is not self._seen and file is not None:
            listed = self._listed(file)
            keys = map(run.mark_key, result.findings) if run is not None else ()
            self.results.note(listed, Last.of_result(result, keys))
            self.queue.states.pop(listed, None)
            self.pricing.forget([listed])
        if result is not None:
            # A judgment that could not begin brings back the one before it, seen already.
            self._seen = result

    def state(self, file: SessionFile) -> State | None:
        """A session's state in the queue, or in the judgment of the bench."""
        bench = self.bench
        if bench.running and bench.run is not None and _same(bench.file, file):
            return State.of(bench.run)
        return self.queue.state(file)

    def last(self, file: SessionFile) -> Last | None:
        """A session's newest result."""
        return self.lasts.get(file)

    def price(self, file: SessionFile) -> Price | None:
        """A session's estimate by the terms of now, among the selected ones where it is one."""
        listing = self.listing
        beside = listing.selected if file in listing.selected else _NO_OTHERS
        return self.pricing.of(file, self.terms, beside, listing.choices)

    def sum_selected(self) -> Sum:
        """What the selected sessions come to."""
        selected, terms = self.listing.selected, self.terms
        about = (
            self.listing.choices,
            self.counting.version,
            self.pricing.version,
            terms.basis,
        )
        if self._sum is None or self._sum[0] != about:
            self._sum = (about, Sum.of(selected, terms, self.counting, self.pricing))
        return self._sum[1]

    def chosen(self, under_cursor: SessionFile | None) -> list[SessionFile]:
        """The selected sessions in the order of the files, else the one under the cursor."""
        selected = self.listing.selected
        if selected:
            # The sessions of one file stay together, in its own order.
            listed = [file for file in self.listing.files if file in selected]
            return sorted(listed, key=lambda file: (-file.bytes, str(file.path)))
        return [] if under_cursor is None else [under_cursor]

    def open(self, file: SessionFile) -> bool:
        """Let the bench work on a session; false, and said, where that cannot be."""
        facts = self.counting.facts.get(file)
        if facts is not None and facts.fault:
            self.notices.append(f"{clean_line(file.path.name, 100)}: {facts.fault}")
            return False
        if not self.bench.running:
            self.bench.step_through(self.listing.view)
        return self.bench.show(file)

    def estimate(self, files: Sequence[SessionFile]) -> None:
        """Estimate sessions in the background."""
        if not files:
            self.notices.append("there is no session to estimate")
        readable, terms = self._readable(files), self.terms
        self._fresh_look.then(lambda: self.pricing.estimate(readable, terms))

    def ask_for(self, files: Sequence[SessionFile]) -> None:
        """Judge sessions once their price is known and agreed to, see `take_offer`."""
        if self._bench_judges():
            return
        readable = self._readable(files)
        if not readable:
            self.notices.append("there is no session to judge")
        elif self.terms.free:
            self.judge(readable)
        else:
            self._fresh_look.then(lambda: self.offers.want(readable, self.terms))

    def take_offer(self) -> Offer | None:
        """What was asked for, once everything of it is priced; what costs nothing is judged."""
        offer = self.offers.take(self.terms)
        if offer is None or offer.price.to_ask:
            return offer
        if offer.price.in_batch:
            self.notices.append(all_out_words(offer.price.in_batch))
        self.judge(offer.files)
        return None

    def judge(self, files: Sequence[SessionFile]) -> None:
        """Judge sessions, one after the other."""
        if not self._bench_judges():
            if self._out.keys:
                # What is in a batch that nobody follows would be waited for in vain.
                self.bench.take_up_batches(asked=True)
            self.queue.add(files, self.terms)

    def _bench_judges(self) -> bool:
        if self.bench.running:
            name = clean_line(self.bench.file.path.name, 80) if self.bench.file else "a session"
            self.notices.append(f"{name} is being judged: let it end, or cancel it (x) first")
        return self.bench.running

    def cancel(self, file: SessionFile) -> None:
        """Cancel what is going on about one session."""
        if self.bench.running and _same(self.bench.file, file):
            self.bench.cancel()
            return
        self._fresh_look.drop()
        dropped = self.pricing.cancel(file)
        self.offers.drop(file)
        if not self.queue.cancel(file) and not dropped:
            self.notices.append("nothing is going on about this session")

    def cancel_all(self) -> None:
        """Cancel everything in flight here, judgments and estimates; a batch run goes on."""
        self._fresh_look.drop()
        dropped = self.pricing.cancel()
        dropped = self.estimates.stop() or dropped
        self.offers.drop()
        if self.bench.running:
            self.bench.cancel()
        elif not self.busy and not dropped:
            self.notices.append(f"nothing is being judged{self.estimates.cancels_run}")
        self.queue.cancel_all()

    def pause_or_go_on(self) -> None:
        """Let whatever judges ask nothing more for a while; again: let it go on."""
        if self.bench.running:
            self.bench.pause_or_go_on()
        elif not self.busy:
            self.notices.append("nothing is being judged")
        elif self.queue.paused:
            self.queue.go_on()
        else:
            self.queue.pause()

    def refusal(self) -> str:
        """Why the bench may not judge now, empty where it may."""
        if not self.busy:
            return ""
        if self.queue.paused:
            return f"the library's judgment is {PAUSED}: it goes on there (escape, then P)"
        return "the library is judging: let it end, or cancel it there first (escape, then x)"

    async def aclose(self) -> None:
        """End everything in flight, for a bounded time."""
        if self._look_task is not None:
            self._look_task.cancel()
            await asyncio.wait({self._look_task}, timeout=1.0)
        await asyncio.gather(*(each.aclose() for each in self._owned))

    def _recall(self) -> None:
        """Say once of a session that was opened what it was judged by, where that is not now's."""
        opened = self.bench.file
        if opened is None or self.bench.run is not None:
            return
        if self._recalled is not None and _same(self._recalled, opened):
            return
        last = newest(self.lasts.get(self._listed(opened)), self._broken_off, self.bench.session)
        if last is not None or self.results.ready:
            self._recalled = opened
        if last is not None and (hint := judged_otherwise(last, self.terms.by)):
            # Said for as long as nothing else is to be said about what stands.
            self.bench.hint, self.bench.remark = hint, hint.words
            self.bench.log.add(LogKind.SAID, hint.words)
        elif last is not None and (words := cut_off(last, self.terms.by)):
            self.bench.remark = self.bench.cut_off = words

    def _readable(self, files: Sequence[SessionFile]) -> list[SessionFile]:
        facts = self.counting.facts
        return [file for file in files if not ((known := facts.get(file)) and known.fault)]

    def _listed(self, file: SessionFile) -> SessionFile:
        """A file as it is listed now, which may have been written since."""
        return next((each for each in self.listing.files if _same(each, file)), file)

    def _list(self, found: Found) -> None:
        files = found.files
        if self._parts:
            files = [part for file in files for part in self._parts.get(file, [file])]
        self.where, self.paths = found.where, found.paths
        self.listing.show(files)
        named = [file for file in files if file.named and not file.bytes]
        self._unread = named[:UNREAD_NAMED]
        # What was written since is another file for the queue, and a past state of it no news.
        states = self.queue.states
        for file in set(states).difference(files) if states else ():
            if states[file].stage not in IN_FLIGHT:
                del states[file]

    async def _look_at_store(self) -> None:
        await self.bench.refresh_store()
        if await self._out.look():
            self.pricing.forget()

    async def _look(self) -> None:
        try:
            found = await asyncio.to_thread(self._find)
        except UsageError as error:
            self.notices.append(clean_line(str(error), 1000))
            return
        self._list(found)
        await self._read_past()

    async def _read_past(self) -> None:
        facts = self.counting.facts
        try:
            self._broken_off = await broken_off(self._store)
            await self.results.read(self.listing.files, facts, self._broken_off)
            self._recall()
            await self.results.read_before(self.listing.files, facts)
        except StoreError as error:
            self.notices.append(clean_line(str(error), 1000))

    def _split(self, file: SessionFile, parts: list[SessionFile]) -> None:
        self._parts[file] = parts
        self.listing.split(file, parts)
        self.results.split(parts)

    def _refused(self, file: SessionFile, words: str) -> None:
        """A file that was named is said to be none; another one only has a row that says so."""
        if file.named:
            self.notices.append(f"{clean_line(str(file.path), 300)}: {words}")

    def _judged(self, ended: Ended) -> None:
        file = self._listed(ended.file)
        self.results.note(file, ended.last, told=ended.told)
        terms, price, together = ended.terms, ended.price, ended.together
        if self._out.keys:
            # What it found does not tell what waits for a batch.
            self.pricing.forget([file])
        else:
            self.pricing.learn(file, terms, price, together, leans=ended.leans, asked=ended.asked)
        self.estimates.take(ended.file, end_of(ended))
        if _same(self.bench.file, ended.file):
            self.bench.look_at_store()


def _same(one: SessionFile | None, other: SessionFile) -> bool:
    return one is not None and (one.path, one.session) == (other.path, other.session)
