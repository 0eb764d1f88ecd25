"""Everything that is written can be read: in every theme, on the row under the cursor too."""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path

import pytest
from textual.color import Color
from textual.theme import BUILTIN_THEMES

import longjudge_tui
from longjudge_tui.themes import THEMES, with_contrast
from longjudge_tui.widgets.line_list import LineList
from longjudge_tui.widgets.looks import GLYPH_CONTRAST, TEXT_CONTRAST, readable

STYLES = Path(longjudge_tui.__file__).parent / "longjudge.tcss"
LOOKS = set(re.findall(r"LineList > \.look--(\w+)", STYLES.read_text(encoding="utf-8")))
MARKS = ("", "row--cursor", "row--cursor-blurred")
TEXTS = ("text-accent", "text-success", "text-warning", "text-error", "foreground")
GROUNDS = ("background", "surface", "panel")


def luminance(triplet):
    """As the guidelines for accessible contents have it."""
    parts = [each / 255 for each in triplet]
    red, green, blue = (p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def ratio(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def ratio_of(style):
    return ratio(style.color.triplet, style.bgcolor.triplet)


@pytest.mark.parametrize(
    "names",
    [
        pytest.param(("textual-light", "solarized-dark"), id="two"),
        pytest.param((), id="all", marks=pytest.mark.thorough),
    ],
)
async def test_every_look_can_be_read_on_every_row(open_desk, write_session, names):
    assert {"dim", "clean", "gap", "button", "bar"} <= LOOKS
    weak = []
    async with open_desk(write_session("a.jsonl", 3)) as desk:
        app = desk.app
        rows, field = app.screen.query_one("#chunks", LineList), app.screen.query_one("#search")
        await desk.press("slash")
        await desk.until(lambda: app.focused is field)
        # Colours of the terminal's own are known to nobody here.
        every = [name for name, theme in app.available_themes.items() if not theme.ansi]
        for name in names or every:
            app.theme = name
            await desk.pilot.pause()
            for mark in MARKS:
                for look in ("plain", *sorted(LOOKS)):
                    style = rows._style(look, mark)
                    least = GLYPH_CONTRAST if look == "bar" else TEXT_CONTRAST
                    if ratio_of(style) < least:
                        weak.append((name, mark, look, round(ratio_of(style), 2)))
            placeholder = field.get_component_rich_style("input--placeholder")
            for what, style in (("typed", field.rich_style), ("placeholder", placeholder)):
                if ratio_of(style) < TEXT_CONTRAST:
                    weak.append((name, "field", what, round(ratio_of(style), 2)))
    assert weak == []


def test_every_theme_has_texts_that_can_be_read_on_its_grounds():
    weak = []
    for theme in (*BUILTIN_THEMES.values(), *THEMES):
        if not theme.ansi:
            colors = with_contrast(theme.to_color_system().generate())
            for text, ground in product(TEXTS, GROUNDS):
                found = ratio(*(Color.parse(colors[each]).rgb for each in (text, ground)))
                if found < TEXT_CONTRAST:
                    weak.append((theme.name, text, ground, round(found, 2)))
    assert weak == []
    unknown = {"background": "ansi_default", "text-accent": "ansi_green", "text-error": "auto 60%"}
    assert with_contrast(unknown) == unknown


@pytest.mark.parametrize("ground", ["#000000", "#ffffff", "#777777", "#9cb1c0"])
def test_a_colour_changes_only_where_it_cannot_be_read(ground):
    under = Color.parse(ground)
    for color in map(Color.parse, ("#a86d1c", "#337e4a", "#ffffff", "#000000")):
        found = readable(color, (under,), TEXT_CONTRAST)
        assert ratio(found.rgb, under.rgb) >= TEXT_CONTRAST
        if ratio(color.rgb, under.rgb) >= TEXT_CONTRAST:
            assert found == color
