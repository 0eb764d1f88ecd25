"""The screen that says what judging several sessions comes to, and lets it begin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, cast

from textual.containers import Horizontal

from longjudge.errors import UsageError
from longjudge_tui.commands import Scope, bindings, command
from longjudge_tui.estimate import words
from longjudge_tui.estimate.estimating import Doing
from longjudge_tui.estimate.figure_table import FigureTable
from longjudge_tui.estimate.figures import LABELS, exact_column, extrapolated_column
from longjudge_tui.estimate.longest_list import LongestList, longest_head
from longjudge_tui.widgets.dialogs import ConfirmDialog
from longjudge_tui.widgets.lines import CommandButton, FittedLine, GrowingLine, TourLine
from longjudge_tui.widgets.whole_screen import WholeScreen
from longjudge_tui.wording import line

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from textual.app import App, ComposeResult
    from textual.binding import BindingType

    from longjudge.forecast import Needs
    from longjudge.sessions import SessionFile
    from longjudge_tui.estimate.batch_command import BatchCommand
    from longjudge_tui.estimate.estimates import Estimates
    from longjudge_tui.estimate.estimating import Estimating
    from longjudge_tui.estimate.figure_table import Cell
    from longjudge_tui.estimate.subject import Subject

_BUTTONS = ("run_live", "run_batch", "sample_first", "estimate_rest", "stop_estimate")


@dataclass(frozen=True, slots=True)
class Library:
    """What the screen needs of what it stands over.

    `judge` begins to judge sessions here; false where it cannot, which is said. `per_file` says how
    many sessions are listed of each file with many, `busy` whether it judges. `notice_on_model` is
    what to know about the model before it is asked.
    """

    judge: Callable[[Sequence[SessionFile]], bool]
    per_file: Callable[[], Mapping[Path, int]]
    busy: Callable[[], bool]
    notice_on_model: Callable[[], str]


class EstimateScreen(WholeScreen):
    """Reads an estimate about ten times a second; it goes on when the screen is closed."""

    SCOPE = Scope.ESTIMATE
    BAR = (
        "run_live",
        "run_batch",
        "sample_first",
        "estimate_rest",
        "stop_estimate",
        "judge_sample",
        "cancel_batch",
    )
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(Scope.ESTIMATE)]
    AUTO_FOCUS = "#longest"

    def __init__(
        self, estimates: Estimates, subject: Subject, library: Library, banner: Callable[[], str]
    ) -> None:
        super().__init__(banner)
        self._estimates = estimates
        self._library = library
        estimates.open(subject)

    @property
    def estimating(self) -> Estimating:
        """The estimate that is shown."""
        current = self._estimates.current
        if current is None:
            raise RuntimeError("an estimate that is shown is never taken away")
        return current

    def compose_body(self) -> ComposeResult:
        """The ways to go on, what it is about, the figures, the longest, what goes on."""
        with Horizontal(id="estimate-tools"):
            for name in _BUTTONS:
                yield CommandButton(command(name), command(name).label)
        yield FittedLine(id="estimate-about")
        yield FigureTable(LABELS, id="estimate-figures")
        yield TourLine(id="estimate-notes")
        yield FittedLine(id="longest-columns")
        yield LongestList(id="longest")
        yield TourLine(id="estimate-judged")
        yield GrowingLine(id="estimate-status")

    def tick(self) -> None:
        """Paint what became known."""
        super().tick()
        estimates, estimating = self._estimates, self.estimating
        self.show_title(*words.titles(estimating))
        self.query_one("#estimate-about", FittedLine).show(*estimating.about.variants)
        self._show_figures(estimating)
        since = self._kept_since(estimating)
        said = words.notes(estimating, since)
        self.query_one("#estimate-notes", TourLine).say(said)
        self._show_longest(estimating)
        judged = estimates.judged
        told = words.judged_words(judged, busy=self._library.busy()) if judged is not None else ""
        self.query_one("#estimate-judged", TourLine).say(told)
        batch = words.batch_words(estimates.runs.state)
        lines = (" · ".join([*batch, each]) for each in words.progress(estimating, since))
        self.query_one("#estimate-status", GrowingLine).show(*lines, *batch)

    def _kept_since(self, estimating: Estimating) -> int:
        """What counts only once nothing is estimated: until then new verdicts are seen."""
        rests = estimating.extrapolated is not None and not estimating.working
        return self._estimates.kept_since if estimating.complete or rests else 0

    def _show_figures(self, estimating: Estimating) -> None:
        about, tally, total = estimating.about, estimating.tally, estimating.extrapolated
        flight, free = about.settings.concurrency, about.free
        exact: tuple[Cell, ...] = ()
        if tally is not None and (tally.sessions or estimating.complete):
            exact = exact_column(tally, concurrency=flight, free=free)
        told = extrapolated_column(total, concurrency=flight, free=free) if total else ()
        heads = (words.exact_head(estimating),), words.extrapolated_heads(estimating)
        if estimating.complete:
            # What is counted is no longer guessed.
            heads, told = (heads[0], ("",)), ()
        self.query_one("#estimate-figures", FigureTable).show(heads, (exact, told))

    def _show_longest(self, estimating: Estimating) -> None:
        tally, total = estimating.tally, estimating.extrapolated
        counted = tally is not None and bool(tally.sessions)
        sampled = total is not None and not estimating.complete and not estimating.working
        rows = tally.longest.rows() if tally is not None and counted else []
        if total is not None and (sampled or not counted):
            rows = total.longest
        head = longest_head(sampled=sampled, so_far=not estimating.complete)
        self.query_one("#longest-columns", FittedLine).show(*head)
        self.query_one("#longest", LongestList).show(rows)

    def action_estimate_rest(self) -> None:
        """Estimate what is left; all of it anew where the store has changed since."""
        if self._kept_since(self.estimating):
            self._estimates.again()
        elif self.estimating.complete:
            self._say("all of it is estimated, and the store is as it was: there is nothing left")
        self.estimating.estimate_all()
        self.tick()

    def action_sample_first(self) -> None:
        """Estimate a few first."""
        estimating = self.estimating
        if estimating.complete:
            self._say("all of it is estimated: a sample would tell less")
        elif estimating.small:
            self._say("so few are estimated as a whole: a sample of them would tell nothing")
            estimating.estimate_all()
        elif estimating.extrapolated is not None:
            rest = words.key("estimate_rest")
            self._say(f"the sample is drawn, and its figures stand here: {rest} estimates the rest")
        elif estimating.doing is Doing.SAMPLE:
            self._say("the sample is being estimated already")
        else:
            estimating.estimate_sample()
        self.tick()

    def action_stop_estimate(self) -> None:
        """Stop estimating."""
        if not self.estimating.stop():
            self._say("nothing is being estimated")
        self.tick()

    def action_run_live(self) -> None:
        """Judge here, once the price is agreed to."""
        estimating = self.estimating
        needs = words.known_needs(estimating)
        files = estimating.subject.files

        def judge() -> None:
            if self._library.judge(files):
                self.dismiss(None)

        if estimating.about.free or (needs is not None and not needs.to_ask):
            judge()
        elif needs is None:
            self._say(words.price_is_unclear())
        else:
            self._ask(words.live_question(estimating, needs), needs, judge)

    def action_judge_sample(self) -> None:
        """Judge the sample here, once its price is agreed to."""
        estimating = self.estimating
        needs = estimating.drawn_needs
        if needs is None:
            draws = words.key("sample_first")
            self._say(f"there is no sample yet: {draws} draws one")
            return

        def judge() -> None:
            left = self._estimates.judge_sample()
            if left:
                self._library.judge(left)
            self.tick()

        if estimating.about.free or not needs.to_ask:
            judge()
        else:
            what = f"the {estimating.to_sample} files of the sample"
            self._ask(words.live_question(estimating, needs, what=what), needs, judge)

    def action_run_batch(self) -> None:
        """Judge as a batch, once its price is agreed to."""
        if not self.estimating.about.free and words.known_needs(self.estimating) is None:
            self._say(words.price_is_unclear())
        else:
            self.chores.start(self._run_batch())

    async def _run_batch(self) -> None:
        estimating = self.estimating
        try:
            plan = await self._estimates.command(self._library.per_file())
        except UsageError as error:
            self._say(str(error))
            return
        needs = words.known_needs(estimating)
        if estimating.about.free or needs is None or not needs.to_ask:
            self._begin_batch(plan)
        else:
            question = words.batch_question(estimating, needs)
            self._ask(question, needs, lambda: self._begin_batch(plan), "Send it at this price?")

    def _begin_batch(self, plan: BatchCommand) -> None:
        try:
            self._estimates.runs.begin(plan)
        except OSError as error:
            self._say(f"the batch run could not be started: {error.strerror or error}")
        self.tick()

    def action_cancel_batch(self) -> None:
        """Cancel the batch run."""
        if not self._estimates.runs.cancel():
            self._say("no batch run goes on")
        self.tick()

    def _ask(
        self,
        question: str,
        needs: Needs,
        agreed: Callable[[], None],
        title: str = "Judge at this price?",
    ) -> None:
        if notice := self._library.notice_on_model():
            question += f"\n! {line(notice, 200)}"
        beside = words.secrets_beside(needs)

        def answered(yes: bool | None) -> None:
            if yes:
                agreed()

        dialog = ConfirmDialog(question, lambda: beside, self.banner(), title=title)
        app = cast("App[object]", self.app)  # pyright: ignore[reportUnknownMemberType]
        app.push_screen(dialog, answered)  # pyright: ignore[reportUnknownMemberType]

    def _say(self, said: str) -> None:
        self.notify(line(said, 1_000), markup=False)
