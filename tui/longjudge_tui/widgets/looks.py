"""How the stylesheet has a part of a widget that is drawn by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.dom import DOMNode

if TYPE_CHECKING:
    from rich.style import Style
    from textual.widget import Widget


def part_style(widget: Widget, name: str) -> Style:
    """The style of a part by its class; whoever asks keeps it until the theme is another one.

    Component classes would do the same, but Textual works all of them out again for every such
    widget, shown or not, whenever a class or the focus changes: most of the time an app takes to
    start.
    """
    part = DOMNode(classes=name)
    part._attach(widget)  # pyright: ignore[reportPrivateUsage]
    widget.app.stylesheet.apply(part, animate=False)  # pyright: ignore[reportUnknownMemberType]
    return part.styles.rich_style
