"""How the stylesheet has a part of a widget that is drawn by hand, so that it can be read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.style import Style
from textual.color import BLACK, WHITE, Color
from textual.dom import DOMNode

if TYPE_CHECKING:
    from textual.widget import Widget

TEXT_CONTRAST, GLYPH_CONTRAST = 4.5, 3.0
"""The least that the guidelines for accessible contents ask for."""

_STEPS = 20


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


def contrast(one: Color, other: Color) -> float:
    """How well one colour stands out from another, from 1 to 21."""
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


def readable(color: Color, grounds: tuple[Color, ...], least: float) -> Color:
    """A colour that stands out from all grounds: itself, or as little darker or lighter as does.

    Grounds as far apart as black and white leave no such colour: then it is the best of the ends.
    """

    def worst(each: Color) -> float:
        return min(contrast(each, ground) for ground in grounds)

    end = max((BLACK, WHITE), key=worst)
    shades = (color.blend(end, step / _STEPS, 1.0) for step in range(_STEPS))
    return next((each for each in shades if worst(each) >= least), end)


def readable_style(style: Style, least: float) -> Style:
    """A style whose text stands out from its own ground; colours of the terminal's own stay."""
    if style.color is None or style.bgcolor is None:
        return style
    if style.color.triplet is None or style.bgcolor.triplet is None:
        return style
    color, ground = Color(*style.color.triplet), Color(*style.bgcolor.triplet)
    if contrast(color, ground) >= least:
        return style
    return style + Style(color=readable(color, (ground,), least).rich_color)


def _luminance(color: Color) -> float:
    red, green, blue = (
        part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4
        for part in color.normalized
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
