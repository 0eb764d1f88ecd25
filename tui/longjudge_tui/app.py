"""The app: its two screens, the themes, and the way out."""

from __future__ import annotations

import contextlib
import os
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual.app import SystemCommand
from textual.messages import ExitApp
from textual.theme import ThemeProvider

from longjudge.faults import kill_process
from longjudge.prices import OFFLINE_MODEL
from longjudge_tui.bench.event_log import LogKind
from longjudge_tui.bench.kept_layout import KeptLayout
from longjudge_tui.bench.layout import LEAST_COLUMNS
from longjudge_tui.bench.live import banner
from longjudge_tui.bench.owing import QUIT_SECONDS
from longjudge_tui.bench.tour import Tour
from longjudge_tui.bench.watching import Watch
from longjudge_tui.commands import COMMANDS, Scope, bindings, command, works_in
from longjudge_tui.driver import PatientDriver
from longjudge_tui.held.holds_dialog import HoldsDialog
from longjudge_tui.library.screen import Library
from longjudge_tui.pace import PacedApp, look_often
from longjudge_tui.palette import Palette
from longjudge_tui.themes import THEMES, with_contrast
from longjudge_tui.widgets.dialogs import QuitDialog
from longjudge_tui.widgets.help_dialog import show_help
from longjudge_tui.widgets.quit_batches import Out, QuitBatchesDialog
from longjudge_tui.widgets.whole_screen import WholeScreen
from longjudge_tui.wording import line
from longjudge_tui.workbench.screen import Workbench

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from textual.binding import BindingType
    from textual.notifications import Notify
    from textual.screen import Screen

    from longjudge_tui.bench.bench import Bench
    from longjudge_tui.library.shelf import Shelf
    from longjudge_tui.past.screen import PastScreen


BREAKPOINTS = [(least, f"-{breadth.value}") for breadth, least in LEAST_COLUMNS.items()]
"""From which width on which layout of the stylesheet holds."""

LIBRARY, WORKBENCH = "library", "workbench"

MOST_MESSAGES = 4
"""So many pop up at a time at most, since they hide what is below; the oldest go first."""

_NOT_IN_PALETTE = frozenset({"next_panel", "previous_panel"})


class LongjudgeApp(PacedApp):
    """Shows a bench and a shelf that somebody else owns and closes.

    With `at_bench` it opens on the workbench. A `tour` greets who is new; the `layout` is how the
    panels were left. A `theme` that does not exist is said, not used.
    """

    CSS_PATH = "longjudge.tcss"
    TITLE = "longjudge"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(Scope.APP)]
    HORIZONTAL_BREAKPOINTS = BREAKPOINTS

    def __init__(
        self,
        bench: Bench,
        shelf: Shelf,
        *,
        at_bench: bool,
        theme: str | None = None,
        tour: Tour | None = None,
        layout: KeptLayout | None = None,
    ) -> None:
        super().__init__()
        self.bench = bench
        self.shelf = shelf
        self._at_bench = at_bench
        self._wanted_theme = theme
        self._watch = Watch(bench)
        tour = tour or Tour(wanted=False)
        self._library = Library(shelf, tour)
        self._workbench = Workbench(bench, tour, layout or KeptLayout())
        # Each screen has a mode of its own, and stays as it is while the other one is shown.
        for mode, screen in ((LIBRARY, self._library), (WORKBENCH, self._workbench)):
            shows: Callable[[], Screen[None]] = partial(_itself, screen)
            self.add_mode(mode, shows)  # pyright: ignore[reportUnknownMemberType]
        for each in THEMES:
            self.register_theme(each)

    async def on_mount(self) -> None:
        """Use the theme that was configured, and show the first screen."""
        self._use_theme()
        await self.switch_mode(WORKBENCH if self._at_bench else LIBRARY)
        self.bench.forcing.kill = self.crash
        self.call_after_refresh(self.bench.holding.sweep, unasked=True)
        self.call_after_refresh(self.bench.take_up_batches)
        look_often(self, self._follow)

    def on_app_focus(self) -> None:
        """Somebody comes back: show what other processes have kept meanwhile."""
        self.bench.follow_store(soon=True)

    def on_notify(self, event: Notify) -> None:
        """Show no message beside its equal: a key that is held down says the same many times."""
        new, standing = event.notification, list(self._notifications)
        self.bench.log.add(LogKind.SAID, new.message)
        if any((each.message, each.severity) == (new.message, new.severity) for each in standing):
            event.prevent_default()
            return
        for each in standing[: max(0, len(standing) - MOST_MESSAGES + 1)]:
            self._unnotify(each, refresh=False)

    def _follow(self) -> None:
        """Note what has become of the bench, and have what is held read again where it is due."""
        self._watch.follow()
        self.bench.follow_store()
        # Behind a dialog they are in sight too. There is no screen any more while the app ends.
        shown = any(
            isinstance(screen, HoldsDialog)
            or (isinstance(screen, Workbench) and screen.holds_shown)
            for screen in self.screen_stack
        )
        self.bench.holding.follow(shown=shown, hurry=self.bench.stopping)

    def crash(self, spec: str) -> None:
        """Die of a forced failure as `kill -9` would have it, but leave a usable terminal."""
        driver = self._driver
        if driver is not None:
            driver.stop_application_mode()
            driver.close()
        words = (
            f"longjudge: killed on purpose by the forced failure {spec};"
            " what was judged is kept: open longjudge again, and r goes on where it was"
        )
        if not PatientDriver.stuck:
            with contextlib.suppress(OSError):
                os.write(2, f"{line(words, 300)}\n".encode())
        kill_process()

    def _use_theme(self) -> None:
        name = self._wanted_theme
        if name is None or os.environ.get("TEXTUAL_THEME"):
            return
        if name in self.available_themes:
            self.theme = name
        else:
            some = "longjudge-high-contrast, textual-light or nord"
            words = f"there is no theme {line(name, 60)}; use one of the palette, such as {some}"
            self.notify(words, severity="warning", markup=False)

    def action_command_palette(self) -> None:
        """Find a command by its name."""
        if not any(isinstance(screen, Palette) for screen in self.screen_stack):
            self.push_screen(Palette(id="--command-palette"))

    def search_themes(self) -> None:
        """Find a theme by its name."""
        self.push_screen(Palette(providers=[ThemeProvider], placeholder="Search for themes…"))

    def get_system_commands(self, screen: Screen[None]) -> Iterable[SystemCommand]:
        """The palette: every command of the screen, and the themes."""
        at_library = self.current_mode == LIBRARY
        scopes = (Scope.LIBRARY,) if at_library else self._workbench.scopes
        choose = self._library.choose if at_library else self._workbench.choose
        if isinstance(screen, WholeScreen):
            scopes, choose = (screen.SCOPE, Scope.OVER), screen.choose
        for each in COMMANDS:
            here = any(works_in(each, scope) for scope in scopes)
            if here and each.id not in _NOT_IN_PALETTE:
                yield SystemCommand(each.help, f"key {each.shown}", partial(choose, each.id))
        yield SystemCommand("Change the theme", "Light, dark, and others", self.action_change_theme)
        leaves = command("suspend_process")
        yield SystemCommand(leaves.help, f"key {leaves.shown}", self.action_suspend_process)
        yield SystemCommand("Quit", f"key {command('quit').shown}", self.action_quit)

    @property
    def lent(self) -> bool:
        """Whether an editor has the terminal now."""
        return self._workbench.lending.busy

    @property
    def at_work(self) -> bool:
        """Whether something may change at any time: what runs, and what is read or counted."""
        bench = self.bench
        reads = bench.loading is not None or bench.secrets.counting
        # What pauses may do so for hours.
        rests = bench.resting or self.shelf.queue.resting
        return (self.in_flight and not rests) or bench.stopping or reads

    @property
    def in_flight(self) -> bool:
        """Whether anything is judged, or waits to be."""
        return self.bench.running or self.bench.editing.trying or self.shelf.busy

    def get_css_variables(self) -> dict[str, str]:
        """The colours of the theme, in which every text can be read."""
        self.theme_variables = with_contrast(super().get_css_variables())
        return self.theme_variables

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Where a text is edited, the key that leads to the shell takes a change back."""
        edits = isinstance(self.screen, WholeScreen) and self.screen.SCOPE is Scope.EDITOR
        return not (action == "suspend_process" and edits)

    def action_suspend_process(self) -> None:
        """Stop, with all that belongs to this job of the shell, until the shell goes on with it."""
        if not (isinstance(self._driver, PatientDriver) and self._driver.stop_job()):
            words = "no shell is behind longjudge that could bring it back: open another window"
            self.notify(words, severity="warning", markup=False)

    async def action_quit(self) -> None:
        """Quit; with work in flight, or verdicts that would be lost, ask once: again means yes."""
        owing = self.bench.owing
        dialogs = (QuitDialog, QuitBatchesDialog)
        asked = any(isinstance(screen, dialogs) for screen in self.screen_stack)
        if not (asked or self.in_flight):
            await owing.offer(QUIT_SECONDS)
        if not asked and self.bench.batches_out:
            self.push_screen(self._quit_batches(), self._answered)
        elif asked:
            self._answered(True)
        elif not (self.in_flight or owing.lost_words):
            self.leave()
        else:
            dialog = QuitDialog(
                banner(self.bench),
                lambda: self.in_flight,
                lambda: owing.lost_words,
                lambda: self.bench.batches_out > 0,
            )
            self.push_screen(dialog, self._answered)

    def _quit_batches(self, *, replaces: bool = False) -> QuitBatchesDialog:
        bench = self.bench

        def out() -> Out:
            batches = bench.queues.live
            return Out(
                len(batches),
                sum(each.count for each in batches),
                live=self.in_flight and not bench.rests_in_batch,
                lost=bench.owing.lost_words,
                here_alone=all(each.model == OFFLINE_MODEL for each in batches),
            )

        seconds = bench.queues.end_seconds
        return QuitBatchesDialog(banner(bench), out, bench.cancel_out, seconds, replaces=replaces)

    def leave(self, code: int = 0) -> None:
        """Exit when what came before is done.

        Textual's own `exit` refuses every widget from that moment on, and a screen that is just
        being opened, or is opened by a key that came before, would miss its parts.
        """
        self._return_code = code
        self.post_message(ExitApp())

    async def on_library_open_wanted(self) -> None:
        """A session was opened."""
        await self._show(WORKBENCH)

    async def on_library_recall_wanted(self, event: Library.RecallWanted) -> None:
        """A judgment of the past was chosen in the library."""
        await self._show(WORKBENCH)
        self._workbench.recall(event.entry)

    def on_past_screen_compare_wanted(self, event: PastScreen.CompareWanted) -> None:
        """Two judgments of the past are to be compared."""
        # Loaded when it is first opened, so that the app starts sooner.
        from longjudge_tui.compare.opening import comparison_screen

        self.push_screen(comparison_screen(self.bench, event.one, event.other))

    async def on_compare_screen_event_wanted(self) -> None:
        """An event of a comparison is to be seen: the workbench finds it on the bench."""
        while isinstance(self.screen, WholeScreen):
            self.pop_screen()
        await self._show(WORKBENCH)

    async def on_workbench_left(self) -> None:
        """Back to the library."""
        await self._show(LIBRARY)

    async def on_workbench_close(self) -> None:
        """The bench has no session to show; the library may have others."""
        if self.bench.fatal is None:
            # Said more than once, and settled already.
            return
        if self.bench.several or len(self.shelf.listing.files) > 1:
            self.bench.close_no_more()
            await self._show(LIBRARY)
        else:
            self.leave(2)

    def on_library_help_wanted(self) -> None:
        """Show the keys, those of the library first."""
        show_help(self._library, banner(self.bench), Scope.LIBRARY)

    def on_workbench_help_wanted(self) -> None:
        """Show the keys."""
        show_help(self._workbench, banner(self.bench), Scope.SCREEN)

    async def _show(self, mode: str) -> None:
        if len(self.screen_stack) == 1:
            # What holds the mouse on one screen would take every click on the other.
            self.capture_mouse(None)
            await self.switch_mode(mode)

    def _answered(self, leave: bool | None) -> None:
        if leave:
            self.leave()
        elif leave is None and self.bench.batches_out:
            self.push_screen(self._quit_batches(replaces=True), self._answered)


def _itself(screen: Screen[None]) -> Screen[None]:
    return screen
