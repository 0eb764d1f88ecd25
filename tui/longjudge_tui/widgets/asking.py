"""Asks before something is done about batches, which cannot be taken back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longjudge_tui.widgets.dialogs import ConfirmDialog

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.screen import Screen

    from longjudge_tui.bench.sending import BatchOffer


def ask(
    screen: Screen[None],
    offer: BatchOffer | None,
    banner: str,
    done: Callable[[], None] = lambda: None,
) -> None:
    """Ask over a screen, and do what is offered where that is agreed to; `done` comes after."""
    if offer is None:
        return

    def answered(yes: bool | None) -> None:
        if yes:
            offer.take()
            done()

    dialog = ConfirmDialog(offer.question, lambda: "", banner, title=offer.title)
    screen.app.push_screen(dialog, answered)  # pyright: ignore[reportUnknownMemberType]
