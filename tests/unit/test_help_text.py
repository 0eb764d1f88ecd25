"""The help: what has the keys comes first, everything is in it, and what is typed filters it."""

from __future__ import annotations

import pytest

from longjudge_tui.commands import COMMANDS, Scope, command, is_command
from longjudge_tui.commands.panels import PANELS, Panel, panel_of
from longjudge_tui.widgets.help_dialog import help_text, sections_of


@pytest.mark.parametrize("first", Scope)
def test_every_key_is_in_the_help_wherever_it_is_opened(first):
    sections = sections_of(first, None)
    text = " ".join(help_text(sections, ()).split())
    assert all(f"{each.shown} {each.help}" in text for each in COMMANDS)
    titles = [title for title, *_ in sections]
    assert len(titles) == len(set(titles))
    firsts = {each.help for each in COMMANDS if each.scope is first}
    assert not firsts or firsts <= {does for _, does in sections[0][2]}


def test_the_panel_that_has_the_keys_comes_first_with_what_it_is():
    panel = panel_of((None, "findings", "below-panel"))
    lines = help_text(sections_of(Scope.SCREEN, panel), ()).splitlines()
    assert lines[0] == "Here: FINDINGS"
    assert lines[1].startswith("What the judge has found")
    keys = [line.split()[0] for line in lines[3:6]]
    assert keys == [command(each).shown for each in panel.keys[:3]]
    assert panel_of((None, "nowhere")) is None
    # Nothing of it is told again, and what has nothing else to tell is not there.
    curve = Panel("CURVE", "A curve.", tuple(each.id for each in COMMANDS if each.scope == "curve"))
    for scope, here in (
        (Scope.SCREEN, panel),
        (Scope.EDITOR, PANELS["rubric-text"]),
        (Scope.CURVE, curve),
    ):
        sections = sections_of(scope, here)
        told = [row for _, _, keys in sections for row in keys]
        assert len(told) == len(set(told))
        assert all(keys for _, _, keys in sections)
        assert {(each.shown, each.help) for each in COMMANDS} <= set(told)


def test_what_works_there_too_comes_before_what_works_elsewhere():
    titles = [title for title, *_ in sections_of(Scope.PAST, None)]
    over = "On every screen of its own"
    assert titles[:4] == ["In past judgments", over, "In every list", "Everywhere"]
    titles = [title for title, *_ in sections_of(Scope.TEXT, None)]
    assert titles[:3] == ["In prompt and reply", "In every list", "Everywhere"]
    everywhere = next(
        keys for title, _, keys in sections_of(Scope.TEXT, None) if title == "Everywhere"
    )
    assert everywhere[-2][0] == "ctrl+p"


def test_what_is_typed_leaves_what_holds_all_of_it():
    sections = sections_of(Scope.SCREEN, None)
    lines = help_text(sections, ["chunk", "cancel"]).splitlines()
    assert lines[0] == "In the workbench"
    assert all("cancel" in line.lower() for line in lines[1:] if line.startswith(" "))
    assert "no key for that" in help_text(sections, ["xyzzy"])
    # A heading stands for everything below it.
    assert "Type a spec" not in help_text(sections, ["workbench"])
    assert "type a spec" in help_text(sections, ["failure", "lab"])


def test_every_panel_names_commands_that_there_are_and_says_what_it_is():
    for name, panel in PANELS.items():
        missing = [each for each in panel.keys if not is_command(each)]
        assert not missing, (name, missing)
        assert panel.what.endswith(".")
