"""Asks what becomes of the batches that are out when somebody quits."""

from __future__ import annotations

import time
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, ClassVar

from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from longjudge_tui.commands import Scope, binding_of, bindings
from longjudge_tui.widgets.help_dialog import show_help
from longjudge_tui.wording import plural

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual import events
    from textual.app import ComposeResult
    from textual.binding import BindingType

CHECKS_PER_SECOND = 10

SETTLE_SECONDS = 1.0
"""How long a question that took the place of another one is not answered: who presses a key then
has read the other."""


@dataclass(frozen=True, slots=True)
class Out:
    """What is out now: how many batches, and how many questions in them.

    `live` says that live questions are in flight, `lost` what the store does not take. Batches
    that are `here_alone` end with this process.
    """

    batches: int
    questions: int
    live: bool
    lost: str
    here_alone: bool


class QuitBatchesDialog(ModalScreen[bool]):
    """Asks once; enter leaves the batches running and quits, and ctrl+q again means that, too.

    `cancel` has them cancelled, which is waited for up to `seconds`. It goes by itself once no
    batch is out any more: then there is nothing left to ask. One that `replaces` another question
    takes no answer at first but to stay, which is the same in both.
    """

    BINDINGS: ClassVar[list[BindingType]] = [*bindings(Scope.QUIT_BATCH), binding_of("help")]

    def __init__(
        self,
        banner: str,
        out: Callable[[], Out],
        cancel: Callable[[], None],
        seconds: float,
        *,
        replaces: bool = False,
    ) -> None:
        super().__init__()
        self._banner = banner
        self._out = out
        self._cancel = cancel
        self._seconds = seconds
        self._replaces = replaces
        self._shown_at = 0.0
        self._until: float | None = None
        self._said = ""

    @property
    def cancelling(self) -> bool:
        """Whether the batches are being cancelled, and their end is awaited."""
        return self._until is not None

    def compose(self) -> ComposeResult:
        """The question and the three answers."""
        with Vertical(classes="dialog"):
            yield Static(id="quit-title", classes="title")
            yield Static(id="quit-words")
            yield Static(Content("[ leave it running, quit   enter ]"), id="run", classes="button")
            yield Static(id="end", classes="button")
            yield Static(Content("[ stay   esc or n ]"), id="stay", classes="button")
            yield Static(Content(self._banner), classes="banner")

    def on_mount(self) -> None:
        """Watch what is out."""
        self._shown_at = time.monotonic()
        self._look()
        self.set_interval(1 / CHECKS_PER_SECOND, self._look)

    def _look(self) -> None:
        out = self._out()
        if self.is_current and not out.batches:
            # Who has cancelled wanted to leave; else there may be something else to ask.
            self.dismiss(self.cancelling)
            return
        if self._until is not None and self.is_current and time.monotonic() >= self._until:
            self.dismiss(True)
            return
        title, words, end = self._words(out)
        if self._said == (said := "\n".join((title, words, end))):
            return
        self._said = said
        self.query_one("#quit-title", Static).update(Content(title))
        self.query_one("#quit-words", Static).update(Content(words))
        self.query_one("#end", Static).update(Content(end))
        # What is being cancelled cannot be left running any more.
        self.query_one("#run", Static).display = not self.cancelling

    def _words(self, out: Out) -> tuple[str, str, str]:
        batches = plural(out.batches, "batch", "batches")
        them = "it" if out.batches == 1 else "them"
        if self._until is not None:
            left = max(0, ceil(self._until - time.monotonic()))
            words = f"What has an answer by then is kept; waiting {left} s at most."
            return f"Cancelling {batches} at the provider", words, "[ do not wait   x ]"
        runs = "The provider goes on; the next start takes up its verdicts, which are paid for."
        if out.here_alone:
            runs = "The offline rules run in this program alone: a batch of theirs ends with it."
        words = [f"{plural(out.questions, 'question')} in {batches}. {runs}"]
        if out.live:
            words.append("What is asked live is cancelled.")
        if out.lost:
            words.append(f"{out.lost}.")
        are = "A batch is out" if out.batches == 1 else f"{batches} are out"
        are += " by now" if self._replaces else ""
        return are, " ".join(words), f"[ cancel {them} at the provider, quit   x ]"

    def on_click(self, event: events.Click) -> None:
        """Answer with the mouse."""
        clicked = event.widget.id if event.widget is not None else None
        if clicked == "run":
            self.action_leave_batches()
        elif clicked == "end":
            self.action_cancel_batches()
        elif clicked == "stay":
            self.action_stay_here()

    def action_help(self) -> None:
        """Show the keys."""
        show_help(self, self._banner, Scope.QUIT_BATCH)

    @property
    def _too_soon(self) -> bool:
        return self._replaces and time.monotonic() - self._shown_at < SETTLE_SECONDS

    def action_leave_batches(self) -> None:
        """Quit, and let them run."""
        if not self._too_soon:
            self.dismiss(True)

    def action_cancel_batches(self) -> None:
        """Cancel them, and quit once they have ended; again: at once."""
        if self._too_soon:
            return
        if self._until is not None:
            self.dismiss(True)
            return
        self._cancel()
        self._until = time.monotonic() + self._seconds
        self._look()

    def action_stay_here(self) -> None:
        """Stay."""
        self.dismiss(False)
