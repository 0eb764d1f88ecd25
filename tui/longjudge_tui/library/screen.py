"""The library: every session with what is known about it; opens, estimates and judges them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.containers import Horizontal
from textual.message import Message
from textual.screen import Screen
from textual.widgets import Input

from longjudge.losses import how_much
from longjudge.store import real_path
from longjudge_tui.bench.live import banner, judge_label
from longjudge_tui.commands import LIBRARY_BAR, Scope, bindings, command
from longjudge_tui.held.holds_dialog import HoldsDialog
from longjudge_tui.library.ahead import estimate_screen
from longjudge_tui.library.in_batches import left_out_words
from longjudge_tui.library.row_line import row_words
from longjudge_tui.library.session_list import LibraryList
from longjudge_tui.library.words import (
    about,
    fault_words,
    hint_words,
    listing_title,
    name_of,
    progress_words,
    sum_words,
)
from longjudge_tui.pace import look_often
from longjudge_tui.widgets.dialogs import ConfirmDialog
from longjudge_tui.widgets.fields import Field
from longjudge_tui.widgets.line_list import LineList
from longjudge_tui.widgets.lines import (
    CommandButton,
    CommandPressed,
    FittedLine,
    GrowingLine,
    KeyBar,
    TourLine,
)
from longjudge_tui.wording import line, plural, size

if TYPE_CHECKING:
    from textual import events
    from textual.app import ComposeResult
    from textual.binding import BindingType

    from longjudge.history import Entry
    from longjudge.sessions import SessionFile
    from longjudge_tui.bench.tour import Tour
    from longjudge_tui.library.offers import Offer
    from longjudge_tui.library.shelf import Shelf


class FilterField(Field):
    """The words to filter by; enter and down go back to the list, escape clears them."""

    class Left(Message):
        """The field was left by a key; `clear` where its words are to go."""

        def __init__(self, *, clear: bool) -> None:
            super().__init__()
            self.clear = clear

    async def on_key(self, event: events.Key) -> None:
        """Leave the field, or edit it.

        These are no bindings: those go to whatever has the keys by then.
        """
        if event.key in ("enter", "down", "escape"):
            event.stop()
            event.prevent_default()
            self.post_message(self.Left(clear=event.key == "escape"))


class Library(Screen[None]):
    """Reads the shelf about ten times a second and paints what changed."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings(Scope.LIBRARY)]
    AUTO_FOCUS = "#sessions"

    class OpenWanted(Message):
        """The bench works on another session: show it."""

    class RecallWanted(Message):
        """A judgment of the past is to be shown in the workbench."""

        def __init__(self, entry: Entry) -> None:
            super().__init__()
            self.entry = entry

    class HelpWanted(Message):
        """The keys are asked for."""

    def __init__(self, shelf: Shelf, tour: Tour) -> None:
        super().__init__()
        self.shelf = shelf
        self._tour = tour
        self._generation = -1
        self._cursor_file: SessionFile | None = None

    def compose(self) -> ComposeResult:
        """The filter and the buttons over the list, what it comes to below."""
        yield FittedLine(id="header")
        with Horizontal(id="library-tools"):
            yield FittedLine(id="filter-label")
            yield FilterField(id="filter", compact=True, placeholder="words to filter by")
            for name in ("judge", "estimate", "cancel_all", "next_order"):
                yield CommandButton(command(name), command(name).button)
        yield FittedLine(id="library-title", classes="title")
        yield FittedLine(id="library-columns")
        yield LibraryList(self.shelf, id="sessions")
        yield FittedLine(id="library-sum")
        yield GrowingLine(id="library-status")
        yield TourLine(id="tour")
        yield KeyBar(LIBRARY_BAR, id="keys")

    def on_mount(self) -> None:
        """Begin to paint."""
        self.sessions = self.query_one("#sessions", LibraryList)
        self.field = self.query_one("#filter", FilterField)
        self.query_one("#filter-label", FittedLine).show("/ filter")
        self.tick()
        look_often(self, self.tick)

    def tick(self) -> None:
        """Take in and paint what changed since the last time."""
        shelf = self.shelf
        shelf.follow()
        # The workbench's own are here as well where it has not been shown yet.
        for notices in (shelf.notices, shelf.bench.notices):
            for notice in notices:
                self.notify(line(notice, 500), markup=False)
            notices.clear()
        if not self.is_current:
            shelf.want(())
            return
        shelf.listing.filter_by(self.field.value)
        self._show_rows()
        view = shelf.listing.view
        shelf.want([view[row] for row in self.sessions.in_sight])
        if self._generation != shelf.listing.generation:
            self._show_rows()
        self.sessions.refresh_changed()
        self._show_lines()
        if self.is_active and (offer := shelf.take_offer()) is not None:
            self._confirm(offer)

    def _show_rows(self) -> None:
        """The view is another one: the cursor stays on its session where that is still shown."""
        listing = self.shelf.listing
        if self._generation == listing.generation:
            self._cursor_file = self.sessions.under_cursor
            return
        self._generation = listing.generation
        view, before = listing.view, self._cursor_file
        row = view.index(before) if before in view else 0
        if before is not None and before not in view:
            same = (i for i, f in enumerate(view) if f.path == before.path)
            row = next(same, 0)
        self.sessions.reset_rows(len(view), row)
        self._cursor_file = self.sessions.under_cursor

    def _show_lines(self) -> None:
        shelf = self.shelf
        listing = shelf.listing
        label = judge_label(shelf.bench)
        count = plural(len(listing.files), "session")
        header = [f"longjudge ─ {count}", size(listing.bytes), line(shelf.where, 80)]
        self.query_one("#header", FittedLine).show(
            " · ".join(header), " · ".join(header[:2]), "longjudge", right=label
        )
        self.query_one("#library-title", FittedLine).show(*listing_title(listing))
        columns = self.sessions.columns_line(self.sessions.scrollable_content_region.width - 1)
        self.query_one("#library-columns", FittedLine).show(columns)
        file = self.sessions.under_cursor
        if listing.selected:
            words = sum_words(shelf.sum_selected())
        else:
            words = row_words(shelf, file, time.time()) if file is not None else [""]
        self.query_one("#library-sum", FittedLine).show(*words)
        self._show_status()
        if shelf.busy:
            self._tour.dismiss()
        self.query_one("#tour", TourLine).say(self._tour.words_in_library())

    def _show_status(self) -> None:
        shelf = self.shelf
        error = shelf.store_error
        words = [f"{how_much(error).upper()} IS KEPT: {line(error)}"] if error else []
        status = self.query_one("#library-status", GrowingLine)
        doing = progress_words(shelf)
        typing = self.focused is self.field
        file = self.sessions.under_cursor
        failed = fault_words(shelf, file) if file is not None and not typing else ""
        if doing or error or not failed:
            listing = shelf.listing
            hints = hint_words(listing.view, listing.words, listing.order, typing=typing)
            if doing:
                hints = (" · ".join(doing),)
            status.show(*(" · ".join([*words, hint]) for hint in hints))
        else:
            status.show_whole(failed)
        status.set_class(bool(error), "-alarm")

    def _confirm(self, offer: Offer) -> None:
        price, judge = offer.price, self.shelf.bench.judge
        question = (
            f"ask {plural(price.to_ask, 'question')} about"
            f" {plural(len(offer.files), 'session')}, {about(price.cost_usd)},"
            f" model {line(judge.model, 60)}?{left_out_words(price.in_batch)}"
        )
        if notice := self.shelf.bench.notice_on_model():
            question += f"\n! {line(notice.text, 200)}"

        secrets = self.shelf.offers.secrets

        def answered(yes: bool | None) -> None:
            secrets.end()
            if yes:
                self.shelf.judge(offer.files)

        dialog = ConfirmDialog(question, lambda: secrets.words, banner(self.shelf.bench))
        self.app.push_screen(dialog, answered)  # pyright: ignore[reportUnknownMemberType]

    @on(LineList.Opened, "#sessions")
    def session_opened(self, event: LineList.Opened) -> None:
        """Open the session in the workbench."""
        view = self.shelf.listing.view
        if event.row < len(view) and self.shelf.open(view[event.row]):
            self.post_message(self.OpenWanted())

    @on(LibraryList.Checked)
    def row_checked(self, event: LibraryList.Checked) -> None:
        """A row was selected with the mouse."""
        listing = self.shelf.listing
        if event.to is None:
            listing.toggle(listing.view[event.row])
        else:
            first, last = sorted((event.row, event.to))
            listing.select(listing.view[first : last + 1])
        self.tick()

    @on(FilterField.Left)
    def field_left(self, event: FilterField.Left) -> None:
        """Give the keys back to the list."""
        if event.clear:
            self.field.value = ""
        self.set_focus(self.sessions)
        self.tick()

    @on(Input.Changed, "#filter")
    def filter_changed(self) -> None:
        """Show what fits; the next tick would, too."""
        self.tick()

    @on(CommandPressed)
    async def command_pressed(self, event: CommandPressed) -> None:
        """A button or a word of the key bar was clicked."""
        await self.choose(event.command)

    async def choose(self, name: str) -> None:
        """Do what a command says that was chosen without its key."""
        if command(name).scope is Scope.LIST:
            await self.sessions.run_action(name)
        else:
            await self.run_action(f"app.{name}" if command(name).scope is Scope.APP else name)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """In the field, a slash is a slash and an F is an F."""
        return not (action in ("filter", "failure_lab") and self.focused is self.field)

    def action_judge(self) -> None:
        """Judge the selected sessions, once their price is agreed to."""
        self.shelf.ask_for(self.shelf.chosen(self.sessions.under_cursor))

    def action_estimate(self) -> None:
        """Estimate the selected sessions."""
        self.shelf.estimate(self.shelf.chosen(self.sessions.under_cursor))

    def action_show_estimate(self) -> None:
        """Show what judging the selected sessions, else all that are shown, comes to."""
        screen = estimate_screen(self.shelf)
        if screen is not None:
            self.app.push_screen(screen)  # pyright: ignore[reportUnknownMemberType]

    def action_cancel_all(self) -> None:
        """Cancel everything in flight."""
        self.shelf.cancel_all()

    def action_pause(self) -> None:
        """Pause what is judged, or let it go on."""
        self.shelf.pause_or_go_on()
        self.tick()

    def action_cancel_session(self) -> None:
        """Cancel the session under the cursor."""
        if (file := self.sessions.under_cursor) is not None:
            self.shelf.cancel(file)

    def action_select(self) -> None:
        """Select the session under the cursor, or no more."""
        if (file := self.sessions.under_cursor) is not None:
            self.shelf.listing.toggle(file)
            self.tick()

    def action_select_all(self) -> None:
        """Select all that are shown, or none."""
        self.shelf.listing.toggle_all()
        self.tick()

    def action_next_order(self) -> None:
        """Sort by the next thing; the cursor stays on its session, or at the top."""
        lines = self.sessions
        self._cursor_file = lines.under_cursor if lines.cursor else None
        self.shelf.listing.next_order()
        self.tick()

    def action_filter(self) -> None:
        """Type words to filter by."""
        self.set_focus(self.field)

    def action_clear_filter(self) -> None:
        """Show all sessions again."""
        self._tour.dismiss()
        self.field.value = ""
        self.tick()

    def action_hide_others(self) -> None:
        """Hide files that are no sessions, or show them."""
        self.shelf.listing.hide_others()
        self.tick()

    def action_look_again(self) -> None:
        """List the sessions anew."""
        self.shelf.look_again()

    def action_failure_lab(self) -> None:
        """Pick a failure to force."""
        # Loaded when it is first opened, so that the app starts sooner.
        from longjudge_tui.lab.opening import failure_lab

        self.app.push_screen(failure_lab(self.shelf.bench))  # pyright: ignore[reportUnknownMemberType]

    def action_show_past(self) -> None:
        """List past judgments: of all, and of the session under the cursor."""
        from longjudge_tui.past.past_list import PastView
        from longjudge_tui.past.screen import PastScreen, Subject

        shelf, file = self.shelf, self.sessions.under_cursor
        subject = None
        if file is not None:
            facts = shelf.counting.facts.get(file)
            id = file.session or (facts.id if facts is not None else "") or None
            name = name_of(file, facts)
            subject = Subject(real_path(file.path), id, name, open=False)
        screen = PastScreen(shelf.bench, subject, PastView.ALL)

        def closed(_: None) -> None:
            if screen.chosen is not None:
                self.post_message(self.RecallWanted(screen.chosen))

        self.app.push_screen(screen, closed)  # pyright: ignore[reportUnknownMemberType]

    def action_show_holds(self) -> None:
        """Show what is held outside."""
        shelf = self.shelf
        dialog = HoldsDialog(shelf.bench.holding, lambda: banner(shelf.bench), shelf.cancel_all)
        self.app.push_screen(dialog)  # pyright: ignore[reportUnknownMemberType]

    def action_sweep_holds(self) -> None:
        """Release what dead owners left."""
        self.shelf.bench.holding.sweep()

    def action_help(self) -> None:
        """Show the keys."""
        self.post_message(self.HelpWanted())
