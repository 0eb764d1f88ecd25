"""How often screens look for changes, and when an app paints.

Ten times a second while anything goes on. Seldom once nothing is at work, nothing was painted and
no key was pressed for a while; the first key, or the first change, is back to often. A terminal
that falls behind gets its next frame when it has taken the one before, whatever has changed until
then: the keys are answered meanwhile, and what is painted last is what stands.
"""

from __future__ import annotations

from contextlib import ExitStack
from time import monotonic
from typing import TYPE_CHECKING, cast
from weakref import WeakSet

from textual.events import InputEvent

from longjudge_tui.compositing import LineCompositor
from longjudge_tui.driver import PatientDriver
from longjudge_tui.fault_keeping import FaultKeepingApp
from longjudge_tui.pauses import let_go
from longjudge_tui.stylesheet import KeptStylesheet

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.app import App
    from textual.events import Event
    from textual.message_pump import MessagePump
    from textual.screen import Screen
    from textual.timer import Timer

OFTEN, SELDOM = 10, 1
"""Looks per second."""

CALM_SECONDS = 3.0
"""After so long without anything, looking seldom is enough."""


class Pace:
    """Who looks often, and whether that is due now."""

    def __init__(self) -> None:
        self.calm = False
        self._stirred = monotonic()
        self._often: WeakSet[Timer] = WeakSet()
        self._resting: list[Timer] = []

    def add(self, often: Timer) -> None:
        """A timer that may rest while all is calm."""
        self._often.add(often)
        self.stir()

    def stir(self) -> None:
        """Something happened: look often from now on, for a while."""
        self._stirred = monotonic()
        if self.calm:
            self.calm = False
            for timer in self._often:
                timer.resume()
            self._resting.clear()

    def settle(self) -> None:
        """Nothing is at work: look seldom, where nothing has happened for long enough either."""
        if not self.calm and monotonic() - self._stirred > CALM_SECONDS:
            self.calm = True
            # Nothing else holds a timer that waits, and one that is collected never looks again.
            self._resting[:] = self._often
            for timer in self._resting:
                timer.pause()


class PacedApp(FaultKeepingApp):
    """An app that rests while all is calm, and waits for its terminal."""

    def __init__(self) -> None:
        super().__init__()
        self.stylesheet = KeptStylesheet(variables=self.get_css_variables())
        self.pace = Pace()
        self._held: ExitStack | None = None
        self._missed = False

    @property
    def at_work(self) -> bool:
        """Whether something may change at any time."""
        return False

    @property
    def waits_for_terminal(self) -> bool:
        """Whether nothing is painted until the terminal has taken what was."""
        return self._held is not None

    def get_screen(
        self, screen: Screen[object] | str, screen_class: type[Screen[object]] | None = None
    ) -> Screen[object]:
        """The screen that is about to be shown; one that has not been yet draws changed lines only.

        Raises:
            KeyError: no screen has that name.
            TypeError: it is of another class.
        """
        found = super().get_screen(screen, screen_class)  # pyright: ignore[reportUnknownMemberType]
        if not found.is_running:
            found._compositor = LineCompositor()  # pyright: ignore[reportPrivateUsage]
        return found

    def _update_mouse_over(self, screen: Screen[object]) -> None:
        """Find what is below the mouse after a frame; while something holds it, it is that.

        The toolkit takes the look of being below the mouse away with every move of a captured
        mouse, and gave it back with every frame: two restyles for each step of a drag.
        """
        if self.mouse_captured is None:
            super()._update_mouse_over(screen)  # pyright: ignore[reportUnknownMemberType]

    async def on_mount(self) -> None:
        """Begin to look for calm."""
        self.set_interval(1 / SELDOM, self._look_for_calm)

    def _look_for_calm(self) -> None:
        if self.at_work:
            self.pace.stir()
        else:
            self.pace.settle()
        self._wait_for_terminal()
        let_go()

    async def on_event(self, event: Event) -> None:
        """Be awake for whoever is there."""
        if isinstance(event, InputEvent):
            self.pace.stir()
        await super().on_event(event)

    def post_display_hook(self) -> None:
        """A frame was painted, or would have been."""
        if self._held is not None:
            self._missed = True
            return
        self.pace.stir()
        self._wait_for_terminal()

    def _wait_for_terminal(self) -> None:
        """Paint no more where the terminal has not taken what was painted a while ago."""
        driver = self._driver
        if self._held is None and isinstance(driver, PatientDriver) and driver.is_behind:
            self._held = ExitStack()
            self._held.enter_context(self.batch_update())
            driver.when_taken(self._paint_on)

    def _paint_on(self) -> None:
        """The terminal has taken everything: paint what has changed since, and only that."""
        if self._held is None:
            return
        held, self._held = self._held, None
        held.close()
        if not self.screen_stack:
            return
        if self._missed:
            # What was laid out meanwhile was not painted at all.
            self._missed = False
            self.screen.refresh()
        self.screen.check_idle()


def look_often(node: MessagePump, look: Callable[[], object]) -> None:
    """Call `look` as often as the app's pace has it, for as long as the screen is there."""
    app = cast("App[object]", node.app)  # pyright: ignore[reportUnknownMemberType]
    if not isinstance(app, PacedApp):
        node.set_interval(1 / OFTEN, look)
        return
    pace = app.pace

    def look_seldom() -> None:
        if pace.calm:
            look()

    pace.add(node.set_interval(1 / OFTEN, look))
    node.set_interval(1 / SELDOM, look_seldom)
