"""The app's own themes: the most contrast that a terminal can show, dark and light."""

from __future__ import annotations

from textual.theme import Theme

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
