"""The slider of the chunk size: dragged, clicked, turned with the wheel, or moved by keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.segment import Segment
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from longjudge_tui.commands import Scope, binding_of, bindings

if TYPE_CHECKING:
    from textual import events
    from textual.binding import BindingType

    from longjudge_tui.bench.bench import Bench


class SizeSlider(Widget, can_focus=True):
    """One line that shows where the bench's chunk size stands on a logarithmic scale.

    It holds no size of its own, so that it never shows another one than the plan has.
    """

    ALLOW_SELECT = False
    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings(Scope.SLIDER),
        *map(binding_of, ("up", "down")),
    ]
    COMPONENT_CLASSES: ClassVar[set[str]] = {"slider--thumb", "slider--track"}

    class Moved(Message):
        """A size was chosen; of several on their way the last one counts."""

        def __init__(self, size: int) -> None:
            super().__init__()
            self.size = size

        def can_replace(self, message: Message) -> bool:
            """Whether this one makes an earlier message needless."""
            return isinstance(message, SizeSlider.Moved)

    class Turned(Message):
        """The wheel was turned by one step, up (1) or down (-1), or a key does the same."""

        def __init__(self, direction: int) -> None:
            super().__init__()
            self.direction = direction

    def __init__(self, bench: Bench, *, id: str) -> None:
        super().__init__(id=id)
        self._bench = bench
        self._dragging = False
        self._drawn: tuple[float, int] | None = None

    def follow(self) -> None:
        """Show where the size stands now; nothing is painted where it is the same."""
        now = self._share(), self.content_size.width
        if now != self._drawn:
            self._drawn = now
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """`━━━━━●─────`: drawn in one go, since every move of the mouse waits for it."""
        width = max(2, self.content_size.width)
        thumb = round(self._share() * (width - 1))
        filled = self.get_component_rich_style("slider--thumb")
        track = self.get_component_rich_style("slider--track")
        return Strip(
            [Segment("━" * thumb + "●", filled), Segment("─" * (width - 1 - thumb), track)], width
        )

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Take hold of the thumb where the mouse is."""
        if event.button == 1:
            self._hold(True)
            self.capture_mouse()
            self._move_to(event)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Let the thumb follow; without a button, the mouse was let go where nobody saw it."""
        if self._dragging and not event.button:
            self.on_mouse_up()
        elif self._dragging:
            self._move_to(event)

    def on_mouse_up(self) -> None:
        """Let go."""
        self._hold(False)
        self.release_mouse()

    def on_hide(self) -> None:
        """Let go of the mouse where there is no room for the slider any more."""
        self.on_mouse_up()

    def on_mouse_release(self) -> None:
        """Somebody else has the mouse now."""
        self._hold(False)

    def _hold(self, held: bool) -> None:
        # Not by `:hover`, which the toolkit takes away while the mouse is captured.
        self._dragging = held
        self.set_class(held, "-held")

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """One step up."""
        event.stop()
        self.post_message(self.Turned(1))

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """One step down."""
        event.stop()
        self.post_message(self.Turned(-1))

    def action_up(self) -> None:
        """Larger chunks by one step."""
        self.post_message(self.Turned(1))

    def action_down(self) -> None:
        """Smaller chunks by one step."""
        self.post_message(self.Turned(-1))

    def action_least(self) -> None:
        """The smallest size of the scale."""
        self._want(0.0)

    def action_most(self) -> None:
        """The largest size of the scale."""
        self._want(1.0)

    def _move_to(self, event: events.MouseEvent) -> None:
        event.stop()
        # Terminals that report pixels say where inside a cell the mouse is.
        x = event.pointer_x - self.content_region.x + self.region.x
        self._want(x / max(1, self.content_size.width - 1))

    def _want(self, share: float) -> None:
        session = self._bench.session
        if session is not None:
            scale = self._bench.tuning.scale(session.index.total_chars)
            self.post_message(self.Moved(scale.size(share)))

    def _share(self) -> float:
        session = self._bench.session
        chars = session.index.total_chars if session is not None else 0
        tuning = self._bench.tuning
        return tuning.scale(chars).share(tuning.size)
