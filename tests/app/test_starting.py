"""The app starts with what its first frame needs, and reads its stylesheet once."""

from __future__ import annotations

import subprocess
import sys

from textual.css import stylesheet as toolkit
from textual.css.errors import StylesheetError

from longjudge_tui.stylesheet import KeptStylesheet

LATER = (
    "anthropic",
    "longjudge.redaction.detect",
    "longjudge_tui.compare.screen",
    "longjudge_tui.curve.screen",
    "longjudge_tui.editor.screen",
    "longjudge_tui.lab.screen",
    "longjudge_tui.past.screen",
    "textual.widgets._markdown",
    "textual.widgets._text_area",
)
CODE = f"import sys, longjudge_tui.main; print(*[m for m in {LATER!r} if m in sys.modules])"


def test_what_stands_over_the_first_screen_is_not_loaded_at_the_start():
    done = subprocess.run(
        [sys.executable, "-c", CODE], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.split() == []


def _counting(monkeypatch):
    read = []
    parse = toolkit.parse

    def counted(scope, css, *args, **more):
        read.append(css)
        return parse(scope, css, *args, **more)

    monkeypatch.setattr(toolkit, "parse", counted)
    return read


def test_a_source_is_read_once_for_each_theme_however_many_there_are(monkeypatch):
    read = _counting(monkeypatch)
    sheet = KeptStylesheet(variables={"primary": "red"})
    for number in range(100):
        sheet.add_source(f"#a{number} {{ color: $primary; }}", read_from=(f"{number}", ""))
    sheet.parse()
    sheet.add_source("#more { color: $primary; }", read_from=("more", ""))
    assert len(sheet.rules) == 101
    sheet.set_variables({"primary": "red"})
    sheet.reparse()
    assert len(read) == len(sheet.rules) == 101
    sheet.set_variables({"primary": "blue"})
    sheet.reparse()
    assert {rule.styles.color.css for rule in sheet.rules} == {"rgb(0,0,255)"}
    assert len(read) == 202


def test_a_wrong_source_leaves_the_rules_as_they_were():
    sheet = KeptStylesheet(variables={})
    sheet.add_source("#a { color: red; }", read_from=("a", ""))
    known = sheet.rules
    sheet.add_source("#b { color: no-such-colour; }", read_from=("b", ""))
    try:
        sheet.reparse()
    except (StylesheetError, toolkit.StylesheetParseError):
        assert sheet._rules == known
    else:
        raise AssertionError("a wrong source was taken")
