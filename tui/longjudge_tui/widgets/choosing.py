"""Does what a command says that was chosen without its key: where that key would have worked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from longjudge_tui.commands import Scope, command

if TYPE_CHECKING:
    from textual.dom import DOMNode
    from textual.screen import Screen


async def run_chosen(screen: Screen[Any], name: str, *others: DOMNode) -> None:
    """Run a command's action in what has the keys, around it, in `others`, or in the screen."""
    if command(name).scope is Scope.APP:
        await screen.run_action(f"app.{name}")
        return
    focused = screen.focused
    inside = focused.ancestors_with_self if focused is not None else [screen]
    for node in (*inside, *others, screen):
        if hasattr(node, f"action_{name}"):
            await node.run_action(name)  # pyright: ignore[reportAttributeAccessIssue,reportUnknownMemberType]
            return
