"""A fault of the program: the terminal as it was, one line, and where it happened in a file."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

SAYS = "ended by a fault of the program ("


def program_with_fault(place: str) -> tuple[str, str]:
    """The program, with a fault at `module:Class.method`."""
    module, _, name = place.partition(":")
    return (
        "-c",
        f"import sys, {module}\n"
        f"def boom(*_, **__): return 1 / 0\n"
        f"{module}.{name} = boom\n"
        "from longjudge.cli import main\n"
        "sys.exit(main())",
    )


IN_A_KEY = "longjudge_tui.workbench.screen:Workbench.action_help"


@pytest.mark.parametrize(
    "place",
    [
        IN_A_KEY,
        "longjudge_tui.workbench.screen:Workbench.compose",
        *(
            pytest.param(each, marks=pytest.mark.thorough)
            for each in (
                "longjudge_tui.main:Bench",
                "longjudge_tui.widgets.lines:KeyBar.render",
                "longjudge_tui.driver:PatientDriver.run_input_thread",
                "longjudge_tui.main:Shelf.aclose",
            )
        ),
    ],
)
def test_a_fault_is_said_in_one_line_and_the_terminal_is_as_it_was(
    open_terminal, environment, long_sample, place
):
    terminal = open_terminal("--model", "offline", long_sample, program=program_with_fault(place))
    if place in (IN_A_KEY, "longjudge_tui.main:Shelf.aclose"):
        terminal.ready()
        terminal.send("r")
        terminal.sees("◐ running")
        terminal.send("?" if place == IN_A_KEY else "\x11\x11")
    assert terminal.ended() == 1
    terminal.assert_restored()
    wire = terminal.wire.decode()
    last = wire[wire.rindex("\x1b[?1049l") :]
    assert SAYS in last
    assert last.count("longjudge: ") == 1
    assert "Traceback" not in wire
    log = Path(re.search(r"is in (.*): please", last)[1])
    assert log.is_relative_to(environment["XDG_STATE_HOME"])
    told = log.read_text()
    assert "Traceback (most recent call last)" in told
    assert "ZeroDivisionError" in told
    assert os.stat(log).st_mode & 0o077 == 0
