"""How the panels of the workbench share the screen: borders that move, a panel that fills it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from textual import on
from textual.screen import Screen

from longjudge_tui.bench.layout import (
    LEAST_COLUMNS_OF_BUTTONS,
    SHORT_ROWS,
    TIGHT_COLUMNS,
    VERY_SHORT_ROWS,
    Breadth,
    Layout,
    Panel,
    Split,
    share_of,
)
from longjudge_tui.commands import command
from longjudge_tui.widgets.lines import PanelTitle
from longjudge_tui.widgets.splitter import Handle

if TYPE_CHECKING:
    from textual import events
    from textual.geometry import Size
    from textual.widget import Widget

    from longjudge_tui.bench.kept_layout import KeptLayout

STEP_COLUMNS, STEP_ROWS = 4, 1

_PANELS = {
    "chunks-panel": Panel.CHUNKS,
    "events-panel": Panel.EVENTS,
    "below-panel": Panel.BELOW,
    "detail-panel": Panel.TEXT,
}
_NEIGHBOURS = {
    Split.CHUNKS: ("#chunks-panel", "#events-panel"),
    Split.TOP: ("#top", "#bottom"),
    Split.BELOW: ("#below-panel", "#detail-panel"),
}
_SPLITS = {
    "split-chunks": Split.CHUNKS,
    "tabs": Split.TOP,
    "split-below": Split.BELOW,
    "split-settings": Split.SETTINGS,
}


class LayoutActions(Screen[None]):
    """The part of the workbench that lays its panels out; they are the workbench's own.

    Shares are given to the toolkit as fractions, so that it keeps them itself when the terminal
    gets another size, and never below what the stylesheet says a panel needs.
    """

    kept: KeptLayout
    _breadth = Breadth.NARROW
    _laid_out: Layout | None = None

    @property
    def layout_now(self) -> Layout:
        """What was chosen for a terminal as wide as this one."""
        return self.kept.layouts.of(self._breadth)

    @property
    def maximised(self) -> Panel | None:
        """The panel that fills the screen."""
        return self.layout_now.maximised

    @property
    def panel_with_keys(self) -> Panel | None:
        """The panel that has the keys; None where it is a field, the slider, or the strip."""
        return _panel_of(self.focused) if self.focused is not None else None

    def panel_widget(self, panel: Panel) -> Widget:
        """What has the keys in a panel."""
        raise NotImplementedError

    def on_mount(self) -> None:
        """Lay the panels out as they were at the end of the last time."""
        self._use_size(self.app.size)  # pyright: ignore[reportUnknownMemberType]

    def on_resize(self, event: events.Resize) -> None:
        """Another breadth has a layout of its own."""
        self._use_size(event.size)

    def _use_size(self, size: Size) -> None:
        self._breadth = Breadth.of(size.width)
        self.set_class(size.width < TIGHT_COLUMNS, "-tight")
        self.set_class(size.width < LEAST_COLUMNS_OF_BUTTONS, "-no-buttons")
        self.set_class(size.height < SHORT_ROWS, "-short")
        self.set_class(size.height < VERY_SHORT_ROWS, "-very-short")
        self._lay_out()
        filled, focused = self.maximised, self.focused
        if filled is not None and (focused is None or _panel_of(focused) not in (None, filled)):
            # What has the keys must be in sight.
            super().set_focus(self.panel_widget(filled))

    def set_focus(
        self, widget: Widget | None, scroll_visible: bool = True, from_app_focus: bool = False
    ) -> None:
        """Give the keys to a widget; what is hidden behind a panel comes into sight for it."""
        filled = self.maximised
        # The toolkit gives the keys away before anything is laid out.
        if widget is not None and filled is not None and self._laid_out is not None:
            panel = _panel_of(widget)
            if panel is not None and panel is not filled:
                self._choose(replace(self.layout_now, maximised=None))
        super().set_focus(widget, scroll_visible, from_app_focus)

    def on_key(self, event: events.Key) -> None:
        """Escape leads back from a panel that fills the screen before it leads anywhere else."""
        if event.key == "escape" and self.maximised is not None:
            event.stop()
            event.prevent_default()
            self.action_maximise()

    def action_maximise(self) -> None:
        """Let the panel with the keys fill the screen, or show all of them again."""
        layout = self.layout_now
        if layout.maximised is not None:
            self._choose(replace(layout, maximised=None))
            return
        panel = self.panel_with_keys or Panel.CHUNKS
        self.set_focus(self.panel_widget(panel))
        self._choose(replace(layout, maximised=panel))

    def action_narrower(self) -> None:
        """Make the panel with the keys narrower."""
        self._step_columns(-STEP_COLUMNS)

    def action_wider(self) -> None:
        """Make it wider."""
        self._step_columns(STEP_COLUMNS)

    def action_lower(self) -> None:
        """Make the lower half lower."""
        self._step(Split.TOP, STEP_ROWS)

    def action_higher(self) -> None:
        """Make the lower half higher."""
        self._step(Split.TOP, -STEP_ROWS)

    def action_fold_settings(self) -> None:
        """Show the settings in one line, or at the side again."""
        if self._breadth is Breadth.NARROW:
            self.notify("in a terminal this narrow they always stand in one line", markup=False)
            return
        layout = self.layout_now
        self._choose(replace(layout, maximised=None, folded=not layout.shown.folded))

    def action_reset_layout(self) -> None:
        """Put everything back to where it stood at first."""
        if self.layout_now == Layout():
            self.notify("every border stands where it stood at first", markup=False)
        self._choose(Layout())

    @on(Handle.Dragged)
    def border_dragged(self, event: Handle.Dragged) -> None:
        """Let the border follow the mouse."""
        split = _SPLITS.get(event.handle.id or "")
        if split is not None and event.cells:
            first, total = self._stands(split)
            share = share_of(split, total, first + event.cells)
            if share is not None:
                self._choose(self.layout_now.with_share(split, share))

    @on(Handle.PutBack)
    def border_put_back(self, event: Handle.PutBack) -> None:
        """Put one border back."""
        split = _SPLITS.get(event.handle.id or "")
        if split is not None:
            self._choose(self.layout_now.with_share(split, None))

    def _step_columns(self, cells: int) -> None:
        settings = self.query_one("#settings")
        if self.focused is not None and settings in self.focused.ancestors:
            self._step(Split.SETTINGS, -cells)
            return
        match self.panel_with_keys:
            case Panel.CHUNKS | None:
                self._step(Split.CHUNKS, cells)
            case Panel.EVENTS:
                self._step(Split.CHUNKS, -cells)
            case Panel.BELOW:
                self._step(Split.BELOW, cells)
            case Panel.TEXT:
                self._step(Split.BELOW, -cells)

    def _step(self, split: Split, cells: int) -> None:
        """Move a border by a key, from where earlier keys want it: they may come in one burst."""
        layout = self.layout_now
        if layout.maximised is not None:
            # There is nothing to share; with the next key there is.
            self._choose(replace(layout, maximised=None))
            return
        first, total = self._stands(split)
        if not 0 < first < total:
            # One of the two comes into sight with the next frame only.
            return
        if split is Split.SETTINGS:
            first = total - (layout.settings or total - first)
        elif share := layout.share(split):
            first = round(share.first * total / (share.first + share.second))
        share = share_of(split, total, first + cells)
        if share is None or share.first == first:
            words = "the border goes no further: each panel keeps the room that it needs"
            self.notify(words, markup=False)
        else:
            self._choose(layout.with_share(split, share))

    def _stands(self, split: Split) -> tuple[int, int]:
        """How many cells are before a border now, and how many there are to share."""
        if split is Split.SETTINGS:
            total = self.query_one("#top").size.width
            return total - self.query_one("#settings").outer_size.width, total
        one, other = (self.query_one(name).outer_size for name in _NEIGHBOURS[split])
        if split is Split.TOP:
            return one.height, one.height + other.height
        return one.width, one.width + other.width

    def _choose(self, layout: Layout) -> None:
        self.kept.change(self.kept.layouts.having(self._breadth, layout))
        self._lay_out()

    def _lay_out(self) -> None:
        """Give the panels their shares; nothing is laid out anew where they are the same."""
        layout = self.layout_now.shown
        if layout == self._laid_out:
            return
        self._laid_out = layout
        for split, names in _NEIGHBOURS.items():
            first, second = (self.query_one(name) for name in names)
            share = layout.share(split)
            _give(first, split, f"{share.first}fr" if share else None)
            _give(second, split, f"{share.second}fr" if share else None)
        in_line = self._breadth is Breadth.NARROW or layout.settings is None
        width = None if in_line else str(layout.settings)
        _give(self.query_one("#settings"), Split.SETTINGS, width)
        for panel in Panel:
            self.set_class(layout.maximised is panel, f"-only-{panel.value}")
        self.set_class(layout.folded, "-folded")
        self.layout_changed()

    def layout_changed(self) -> None:
        """Say how to come back from a panel that fills the screen."""
        for title in self.query(PanelTitle):
            title.show_way_back(f"[{way_back()}]" if self.maximised is not None else "")

    @on(PanelTitle.Pressed)
    def title_pressed(self, event: PanelTitle.Pressed) -> None:
        """Give the panel the keys, and with the second click the whole screen."""
        panel = _panel_of(event.title)
        if panel is not None:
            self.set_focus(self.panel_widget(panel))
            if event.twice:
                self.action_maximise()


def way_back() -> str:
    """The word that shows all panels again."""
    each = command("maximise")
    return f"{each.button} {each.shown}"


def _give(widget: Widget, split: Split, size: str | None) -> None:
    """Set a widget's height or width; None leaves it to the stylesheet."""
    styles = widget.styles
    if split is Split.TOP:
        if size is not None or styles.inline.has_rule("height"):
            styles.height = size
    elif size is not None or styles.inline.has_rule("width"):
        styles.width = size


def _panel_of(widget: Widget) -> Panel | None:
    """The panel that a widget is in."""
    for each in widget.ancestors_with_self:
        if each.id in _PANELS:
            return _PANELS[each.id]
    return None
