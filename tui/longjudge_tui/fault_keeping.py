"""An app that ends in order where the program has a fault, and shows no traceback."""

from __future__ import annotations

from io import StringIO
from typing import TYPE_CHECKING

from rich.console import Console
from textual.app import App

if TYPE_CHECKING:
    from rich.console import RenderableType

FAULT = 1
TOLD_COLUMNS = 120


class FaultKeepingApp(App[None]):
    """Keeps what it died of; whoever runs it says so once the terminal is itself again."""

    def __init__(self) -> None:
        super().__init__()
        self.died_of: BaseException | None = None

    def _handle_exception(self, error: Exception) -> None:
        """End the app. The toolkit's own way prints a traceback with values over the screen."""
        self._return_code = FAULT
        if self._exception is None:
            # What a test that drives the app raises again.
            self._exception = error
            self._exception_event.set()  # pyright: ignore[reportUnknownMemberType]
        if self.died_of is None:
            self.died_of = error
        self._close_messages_no_wait()

    def panic(self, *renderables: RenderableType) -> None:
        """The same where the toolkit has no exception any more, but only its picture."""
        told = StringIO()
        console = Console(file=told, width=TOLD_COLUMNS, color_system=None)
        console.print(*renderables)
        self._return_code = FAULT
        if self.died_of is None:
            self.died_of = RuntimeError(told.getvalue())
        self._close_messages_no_wait()
