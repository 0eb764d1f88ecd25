"""The README's table of keys is the app's own definition of them."""

from __future__ import annotations

from pathlib import Path

from longjudge_tui.commands import COMMANDS

README = Path(__file__).parents[2] / "README.md"


def test_the_readme_lists_every_key_as_the_app_defines_it() -> None:
    lines = README.read_text(encoding="utf-8").splitlines()
    start = lines.index("| key | does |") + 2
    rows = lines[start : lines.index("", start)]
    assert rows == [f"| `{command.shown}` | {command.help} |" for command in COMMANDS]
