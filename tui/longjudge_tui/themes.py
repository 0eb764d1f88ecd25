"""The app's own themes, with the most contrast that a terminal can show; and enough in others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.color import Color, ColorParseError
from textual.theme import Theme

from longjudge_tui.widgets.looks import TEXT_CONTRAST, readable

if TYPE_CHECKING:
    from collections.abc import Mapping

_TEXTS = ("foreground", *(f"text-{name}" for name in ("primary", "secondary", "accent")))
_STATES = ("text-success", "text-warning", "text-error")
_GROUNDS = ("background", "surface", "panel")

HIGH_CONTRAST = Theme(
    name="longjudge-high-contrast",
    primary="#5f87ff",
    secondary="#5fd7ff",
    accent="#ffff00",
    foreground="#ffffff",
    background="#000000",
    surface="#000000",
    panel="#3a3a3a",
    success="#00ff5f",
    warning="#ffd700",
    error="#ff5f5f",
    dark=True,
    text_alpha=1.0,
    variables={
        "text-muted": "#e4e4e4",
        "text-disabled": "#bcbcbc",
        "text-accent": "#ffff00",
        "text-success": "#5fff87",
        "text-warning": "#ffd700",
        "text-error": "#ff8787",
        "primary-muted": "#0000af",
        "input-selection-background": "#005faf",
    },
)

HIGH_CONTRAST_LIGHT = Theme(
    name="longjudge-high-contrast-light",
    primary="#0000d7",
    secondary="#005f87",
    accent="#5f00af",
    foreground="#000000",
    background="#ffffff",
    surface="#ffffff",
    panel="#d0d0d0",
    success="#005f00",
    warning="#875f00",
    error="#af0000",
    dark=False,
    text_alpha=1.0,
    variables={
        "text-muted": "#262626",
        "text-disabled": "#444444",
        "text-accent": "#5f00af",
        "text-success": "#005f00",
        "text-warning": "#5f3700",
        "text-error": "#af0000",
        "primary-muted": "#afd7ff",
        "input-selection-background": "#afd7ff",
    },
)

THEMES = (HIGH_CONTRAST, HIGH_CONTRAST_LIGHT)


def with_contrast(variables: Mapping[str, str]) -> dict[str, str]:
    """A theme's colours, with those of texts as much darker or lighter as its grounds ask for.

    Those of the terminal's own stay: nobody knows them.
    """
    changed = dict(variables)
    grounds = [_color(variables.get(name, "")) for name in _GROUNDS]
    known = tuple(each for each in grounds if each is not None)
    for name in (*_TEXTS, *_STATES):
        color = _color(variables.get(name, ""))
        if known and color is not None:
            changed[name] = readable(color, known, TEXT_CONTRAST).hex
    return changed


def _color(text: str) -> Color | None:
    try:
        color = Color.parse(text)
    except ColorParseError:
        return None
    return color if color.ansi is None and color.a == 1 else None
