"""The README's tables of keys are the app's own definition of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from longjudge_tui.commands import COMMANDS, Scope

README = Path(__file__).parents[2] / "README.md"
PLACES = {
    "### In the library": (Scope.LIBRARY,),
    "### In the workbench": (Scope.SCREEN, Scope.TIMELINE, Scope.SEARCH, Scope.LOG),
    "### On screens of their own": (
        Scope.CURVE,
        Scope.ESTIMATE,
        Scope.EDITOR,
        Scope.NAMING,
        Scope.PAST,
        Scope.COMPARE,
        Scope.OVER,
    ),
    "### In dialogs": (
        *(Scope.TEXT, Scope.CHOICE, Scope.CONFIRM, Scope.QUIT, Scope.QUIT_BATCH),
        *(Scope.HELD, Scope.LAB, Scope.HELP),
    ),
    "### Everywhere": (Scope.EITHER, Scope.LIST, Scope.SLIDER, Scope.APP),
}


@pytest.mark.parametrize("heading", PLACES)
def test_the_readme_lists_every_key_as_the_app_defines_it(heading: str) -> None:
    lines = README.read_text(encoding="utf-8").splitlines()
    start = lines.index("| key | does |", lines.index(heading)) + 2
    rows = lines[start : lines.index("", start)]
    here = [command for command in COMMANDS if command.scope in PLACES[heading]]
    # A bar ends a cell of a table, also between marks of code.
    keys = [(command.shown.replace("|", "\\|"), command.help) for command in here]
    assert rows == [f"| `{key}` | {does} |" for key, does in keys]


def test_every_key_has_its_place_in_the_readme() -> None:
    assert {scope for scopes in PLACES.values() for scope in scopes} == set(Scope)
