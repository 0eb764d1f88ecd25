"""The controller behind the screen: sessions, settings, the plan and the judgment in flight.

It knows no widget. The program owns it, not the app: a judgment lives in a task of this object,
and the screen reads from here what it paints, about ten times a second.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from longjudge.config import Configuration
from longjudge.errors import UsageError
from longjudge.estimate import Estimator
from longjudge.judges.make import credential_fault, make_judge, notice_about
from longjudge.keys import key_origin
from longjudge.redaction import find_secrets
from longjudge.rubric import Skip
from longjudge.text import clean_line
from longjudge_tui.bench.costs import ModelCosts
from longjudge_tui.bench.disputes import DisputeReader
from longjudge_tui.bench.filing import Filing
from longjudge_tui.bench.first_events import FirstEvents
from longjudge_tui.bench.opening import Measured, Opening
from longjudge_tui.bench.searching import Searching
from longjudge_tui.bench.secrets import SecretCounts
from longjudge_tui.bench.stock import Stock
from longjudge_tui.bench.texts import Texts
from longjudge_tui.bench.tuning import Tuning

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from longjudge.factors import ObservedFactor
    from longjudge.judges.base import Judge
    from longjudge.models import ModelNotice
    from longjudge.rubric import Rubric
    from longjudge.sessions import Session, SessionFile
    from longjudge.settings import Settings
    from longjudge.store import Store
    from longjudge_tui.bench.following import FileFacts
    from longjudge_tui.bench.marking import Marking
    from longjudge_tui.bench.opening import Opened
    from longjudge_tui.bench.outlook import Outlook
    from longjudge_tui.bench.preview import Preview
    from longjudge_tui.bench.records import Records
    from longjudge_tui.bench.tuning import Foreseen

LARGE_EVENTS = 1_500_000
"""From here on a session is let go before it is read again: two may take too much room."""


class Bench(Filing):
    """What the app works on.

    `notices` holds messages for the screen to show once, `problem` the last one that stays.
    `first` are the first events of a session that is still being read: then there is no session,
    no plan and no price. `before` is what the session was read in place of, for whoever has to
    find in it what was looked at there.
    """

    def __init__(
        self,
        files: list[SessionFile],
        *,
        judge: Judge,
        rubric: Rubric,
        store: Store,
        settings: Settings,
        kept: set[str],
        make_judge: Callable[[str], Judge] = make_judge,
        model_name: str | None = None,
        config: Configuration | None = None,
    ) -> None:
        super().__init__()
        self.config = config or Configuration()
        self.tuning = Tuning(
            settings,
            judge,
            rubric,
            make_judge=make_judge,
            model_name=model_name,
            refuse=self._refuse_change,
            changed=self._replan,
            calls_changed=self._more_calls,
        )
        self._opening = Opening(
            files,
            look=self._look,
            is_large=lambda: self.session is not None and len(self.session.index) > LARGE_EVENTS,
            measure=self._measure,
            use=self._use,
            grown=self._grown,
            say=self._say,
            notice=lambda words: self.notices.append(words),
            in_flight=self._in_flight,
            let_go=self.let_go,
        )
        self.session: Session | None = None
        self.first: FirstEvents | None = None
        self.before: Session | None = None
        self.tool_calls = 0
        self.texts: Texts | None = None
        self.outlook: Outlook | None = None
        self.notices: list[str] = []
        self.problem = ""
        self.generation = 0
        self.store = store
        self._stock = Stock(
            store,
            kept,
            lost=self._lost,
            changed=self._stock_changed,
            notice=lambda words: self.notices.append(words),
        )
        self.holding.sweep_batches = self.sweep_batches
        self.holding.offer_cancel = self.offer_cancel
        self.secrets = SecretCounts()
        self.searching = Searching()
        self._disputes = DisputeReader()
        self._asked_for_key: Judge | None = None
        self._missing_key = ""
        self._noticed: Judge | None = None
        self._model_notice: ModelNotice | None = None
        self.on_first_session: Callable[[], None] | None = None
        self.on_stock_changed: Callable[[], None] = lambda: None
        self.on_opened: Callable[[], None] = lambda: None

    @property
    def texts_at_hand(self) -> Texts | None:
        """The texts of the session, else of its first events."""
        return self.first.texts if self.first is not None else self.texts

    @property
    def preview(self) -> Preview | None:
        """What the store holds about the plan, before a judgment."""
        return self._stock.preview

    @property
    def marking(self) -> Marking:
        """The marks that a person gave."""
        return self._stock.marking

    @property
    def settings(self) -> Settings:
        """What the next run goes by."""
        return self.tuning.settings

    @property
    def judge(self) -> Judge:
        """Who is asked."""
        return self.tuning.judge

    @property
    def rubric(self) -> Rubric:
        """What is judged by."""
        return self.tuning.rubric

    @property
    def missing_key(self) -> str:
        """What is missing to ask the model, or broken, in a few words; empty where nothing is.

        The environment and the disk are looked at once per model and run, and not on every frame.
        """
        judge = self.judge
        if self._asked_for_key is not judge:
            self._asked_for_key, self._missing_key = judge, ""
            if judge.judges_meaning:
                name = self.tuning.model_name
                self._missing_key = credential_fault(name, self.config) or ""
        return self._missing_key

    @property
    def model_notice(self) -> ModelNotice | None:
        """`notice_on_model`, once a session was measured: painting must not load the table."""
        return self.notice_on_model() if self.outlook is not None else None

    def notice_on_model(self) -> ModelNotice | None:
        """What to know about the model before a run, looked up once for each.

        The first look needs the price table, which whatever has a price has loaded.
        """
        judge = self.judge
        if not judge.judges_meaning:
            return None
        if self._noticed is not judge:
            self._noticed = judge
            self._model_notice = notice_about(self.tuning.model_name, self.config)
        return self._model_notice

    @property
    def observed(self) -> ObservedFactor | None:
        """What was seen of the model's tokens in sessions of this format; None where nothing."""
        return self.observed_of(self.tuning.model_name)

    def observed_of(self, name: str) -> ObservedFactor | None:
        """The same of a model, or of a profile's."""
        if self.session is None:
            return None
        profile = self.config.profiles.get(name)
        model = profile.model if profile is not None else name
        return self._stock.factors.get((model, self.session.format))

    def _count_no_more(self) -> None:
        self.secrets.end()

    def _look_for_key(self) -> None:
        self._asked_for_key = None

    @property
    def records(self) -> Records | None:
        """What is known about the chunks: by the judgment, before one by the store."""
        return self.run or self.preview

    @property
    def store_error(self) -> str | None:
        """Why nothing is kept."""
        return (self.run and self.run.store_error) or self.store.why_not_kept

    @property
    def applies(self) -> bool:
        """Whether the rubric applies to the session; where not, no question is ever sent."""
        if self.session is None or self.rubric.skip is not Skip.NO_TOOL_CALL:
            return True
        return bool(self.tool_calls)

    def costs(self, names: Sequence[str]) -> ModelCosts | None:
        """What the session would cost by other models; None before there is one."""
        if self.outlook is None:
            return None
        return ModelCosts(self.tuning, self.outlook, self._stock.keys, names)

    def is_kept(self, position: int) -> bool:
        """Whether the store holds the verdict of a chunk of the plan."""
        return self.outlook is not None and self.outlook.keys[position] in self._stock.keys

    def reload(self) -> None:
        """Read the session again, as its file is now, and what the store holds by now."""
        self._opening.reload()
        self.read_store_again()

    def read_store_again(self) -> None:
        """Take in what other processes have kept and marked, in the background."""
        self._stock.read_again()

    def _in_flight(self, leaving: bool) -> bool:
        if self.running and not (leaving and self.may_leave()):
            self.notices.append("a judgment is in flight: cancel it (x) first")
            return True
        return self.editing.in_the_way(self.notices)

    def _look(self, session: Session) -> None:
        """There is something to look at, while all of it is read."""
        if self.on_first_session is not None:
            self.on_first_session()
        self._let_go()
        self.session = self.texts = self.outlook = self.run = None
        self.problem = self.remark = ""
        self.first = FirstEvents.of(session, redact=self.settings.redact)
        self.generation += 1

    def _measure(self, session: Session) -> Measured:
        """In a thread: a long session takes longer to measure and to plan than a frame."""
        estimator = Estimator.of(session, self.rubric, self.judge.model, self.judge.price)
        # The price table, what the SDK says of models, and the expressions that find secrets are
        # loaded here in the thread and not by the first frame.
        estimator.cost(1)
        find_secrets("")
        if self.judge.judges_meaning:
            notice_about(self.tuning.model_name, self.config)
        foreseen = self.tuning.foresee(session, estimator, self._stock.keys)
        return Measured(estimator, foreseen)

    def _use(self, opened: Opened) -> None:
        self.before = self.first.session if self.first is not None else self.session
        self._let_go()
        self.session = opened.session
        if self.on_first_session is not None:
            self.on_first_session()
            self.on_first_session = None
        # Counted once: every row that is drawn asks.
        self.tool_calls = opened.session.index.tool_calls
        self.tuning.measured(opened.session, opened.measured.estimator)
        self.texts = Texts(opened.session, redact=self.settings.redact)
        self._stock.learn_again()
        self._replan(opened.measured.foreseen)
        if self.file is not None:
            self.following.begin(self.file.path, opened.facts, opened.session)
        self.on_opened()

    def _grown(self, facts: FileFacts) -> None:
        """There are more events behind those of the session; what it is cut into begins alike."""
        session, file = self.session, self.file
        if session is None or file is None:
            return
        self.before = session
        self.tool_calls = session.index.tool_calls
        self.secrets.forget()
        self._replan()
        self.following.begin(file.path, facts, session)

    def _say(self, problem: str) -> None:
        """A problem that stays on the screen, and is said once more."""
        self.problem = clean_line(problem, 1000)
        self.notices.append(self.problem)

    def _refuse_change(self) -> None:
        if self.running:
            raise UsageError("a judgment is in flight: cancel it (x) first")

    def _more_calls(self, calls: int) -> None:
        if self._judging and self.run is not None:
            self.run.set_concurrency(calls)

    def _replan(self, foreseen: Foreseen | None = None) -> None:
        self.run, self.problem, self.remark = None, "", ""
        if self.session is not None:
            if foreseen is not None and self.tuning.still_holds(foreseen, self._stock.keys):
                self.outlook = foreseen.outlook
            else:
                self.outlook = self.tuning.outlook(self.session, self._stock.keys)
            self.generation += 1
            self._begin_preview()

    def _begin_preview(self) -> None:
        self._stock.show_nothing()
        self.secrets.end()
        if self.session is None or self.outlook is None or not self.applies:
            return
        self.secrets.begin(self.session, self.outlook, self._stock.keys)
        asked = key_origin(self.judge, self.rubric, redactor=self.settings.redactor)
        self._stock.show(self.session, self.outlook, asked)

    def _lost(self) -> None:
        if self.outlook is not None:
            self.outlook = self.outlook.again(self._stock.keys)
            self.generation += 1

    def _stock_changed(self) -> None:
        self.look_at_store()
        self.on_stock_changed()

    def look_at_store(self) -> None:
        """Take in what was kept elsewhere, where no judgment of this session says more."""
        if self.outlook is None or self.running:
            return
        self.outlook = self.outlook.again(self._stock.keys)
        if self.run is None:
            self.generation += 1
            self._begin_preview()

    def follow_disputes(self) -> None:
        """Have it found out why chunks disagree, where that is not known yet."""
        self._disputes.follow(self.records)

    def raise_failure(self) -> None:
        """Raise what a task of this object died of: a fault of the program, never swallowed."""
        self._stock.raise_failure()
        self._raise_batch_failure()
        self.secrets.raise_failure()
        self.following.raise_failure()
        self.searching.raise_failure()
        self._disputes.raise_failure()
        if self.texts_at_hand is not None:
            self.texts_at_hand.raise_failure()
        for task in (self._run_task, self._opening.task):
            if task is not None and task.done() and not task.cancelled():
                task.result()

    def _let_go(self) -> None:
        """Close the session and what reads from it."""
        self._stock.show_nothing()
        self.secrets.forget()
        self.following.end()
        if self.first is not None:
            self.first.close()
            self.first = None
        if self.texts is not None:
            self.texts.close()
        if self.session is not None:
            self.session.close()

    async def aclose(self) -> None:
        """End everything in flight, for a bounded time."""
        await self._end_judging(self._opening.task)
        await asyncio.gather(
            self.secrets.aclose(),
            self.following.aclose(),
            self._disputes.aclose(),
            self.searching.aclose(),
        )
        self._let_go()
        await self._close_batches()
        await self._stock.aclose()
        await self.tuning.aclose()
