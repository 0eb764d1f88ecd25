"""A border between two neighbours that the mouse can move."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.segment import Segment
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

if TYPE_CHECKING:
    from textual import events


class Handle(Widget):
    """What is taken hold of to move a border. A press that moves nowhere is a click.

    It says where it is dragged to and moves nothing itself, so that it never stands elsewhere than
    its neighbours allow; the screen lays them out once per frame, however often the mouse moves.
    """

    ALLOW_SELECT = False
    UPRIGHT: ClassVar[bool] = True

    class Dragged(Message):
        """It is wanted at another column, or row, of the screen; of several the last one counts."""

        def __init__(self, handle: Handle, place: int) -> None:
            super().__init__()
            self.handle = handle
            self._place = place

        @property
        def cells(self) -> int:
            """How far that is from where it stands now."""
            return self._place - self.handle.stands

        def can_replace(self, message: Message) -> bool:
            """Whether this one makes an earlier message needless."""
            return isinstance(message, Handle.Dragged) and message.handle is self.handle

    class PutBack(Message):
        """It is to stand again where it stood at first."""

        def __init__(self, handle: Handle) -> None:
            super().__init__()
            self.handle = handle

    def __init__(self, *, id: str, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.held = False
        self.was_dragged = False
        self._grip = 0

    @property
    def stands(self) -> int:
        """Its column of the screen, or its row."""
        return self.region.x if self.UPRIGHT else self.region.y

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Take hold of it."""
        if event.button == 1:
            self.was_dragged = False
            self._grip = self._place(event) - self.stands
            self._hold(True)
            self.capture_mouse()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Follow the mouse; without a button, it was let go where nobody saw it."""
        if self.held and not event.button:
            self.on_mouse_up()
        elif self.held and (place := self._place(event) - self._grip) != self.stands:
            self.was_dragged = True
            self.post_message(self.Dragged(self, place))

    def on_mouse_up(self) -> None:
        """Let go."""
        self._hold(False)
        self.release_mouse()

    def on_mouse_release(self) -> None:
        """Somebody else has the mouse now."""
        self._hold(False)

    def on_hide(self) -> None:
        """Let go of the mouse where it is not shown any more."""
        self.on_mouse_up()

    def on_click(self, event: events.Click) -> None:
        """Twice puts the border back."""
        if event.chain == 2 and not self.was_dragged:
            self.post_message(self.PutBack(self))

    def _place(self, event: events.MouseEvent) -> int:
        return int(event.screen_x if self.UPRIGHT else event.screen_y)

    def _hold(self, held: bool) -> None:
        # By a class, since the toolkit takes `:hover` away while the mouse is captured.
        self.held = held
        self.set_class(held, "-held")


class Splitter(Handle):
    """An upright border, one cell wide."""

    def render_line(self, y: int) -> Strip:
        """A thin line; a thick one where the mouse has it, which shows without colours too."""
        glyph = "┃" if self.held or self.mouse_hover else "▏"
        return Strip([Segment(glyph, self.rich_style)], 1)
