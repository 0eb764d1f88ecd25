"""What the comparison's screen does to have a side judged: the price first, and then the run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longjudge.errors import LongjudgeError
from longjudge_tui.compare.asking import question_about
from longjudge_tui.widgets.dialogs import ConfirmDialog
from longjudge_tui.widgets.whole_screen import WholeScreen
from longjudge_tui.wording import line

if TYPE_CHECKING:
    from longjudge_tui.bench.comparing import Comparing

TOAST_SECONDS = 5


class AskActions(WholeScreen):
    """The part of the screen that asks; one question about the price at a time."""

    comparing: Comparing
    _asking: bool = False

    def doing_words(self) -> str:
        """What becomes of the judgment in flight."""
        bench = self.comparing.bench
        if bench.stopping:
            return "being cancelled"
        return "paused" if bench.paused else "being judged, x cancels"

    def action_ask_other(self) -> None:
        """Ask what B lacks."""
        self._ask(one=False)

    def action_ask_one(self) -> None:
        """Ask what A lacks."""
        self._ask(one=True)

    def _ask(self, *, one: bool) -> None:
        if self._asking:
            self.say("the price is being worked out: it is asked about in a moment")
            return
        self._asking = True
        self.chores.start(self._ask_at_its_price(one=one))

    async def _ask_at_its_price(self, *, one: bool) -> None:
        comparing = self.comparing
        source = comparing.one if one else comparing.other
        try:
            question = await question_about(comparing, one=one)
        except LongjudgeError as error:
            self._asking = False
            self.say(str(error))
            return

        def answered(yes: bool | None) -> None:
            self._asking = False
            if not yes:
                return
            if source is not (comparing.one if one else comparing.other):
                self.say("that side is another one by now; nothing is asked")
                return
            try:
                comparing.ask(question.terms, question.to_ask, one=one)
            except LongjudgeError as error:
                self.say(str(error))

        title = f"Ask what {'A' if one else 'B'} lacks?"
        dialog = ConfirmDialog(question.words, lambda: "", self.banner(), title=title)
        self.app.push_screen(dialog, answered)  # pyright: ignore[reportUnknownMemberType]

    def action_cancel_asking(self) -> None:
        """Cancel the judgment in flight."""
        self.comparing.bench.cancel()

    def say(self, what: str) -> None:
        """Say something for a moment, with nothing in it that a terminal could obey."""
        self.notify(line(what, 1_000), markup=False, timeout=TOAST_SECONDS)
