"""What was typed in the rubric editor outlives the program, however that ends."""

from __future__ import annotations

import signal

import pytest


def editor(terminal) -> None:
    """Open the rubric editor, and wait for its text."""
    terminal.ready()
    terminal.send("B")
    terminal.sees("RUBRIC chunks")
    terminal.until(lambda: "a rubric of" in terminal.text or "fault" in terminal.text, "its text")


@pytest.mark.thorough
@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGKILL])
def test_a_text_that_was_typed_is_there_after_a_signal(
    open_terminal, small_session, tmp_path, number
):
    folder = tmp_path / "state" / "longjudge" / "drafts"
    terminal = open_terminal("--model", "offline", small_session)
    editor(terminal)
    terminal.send("#typed ")
    terminal.sees("#typed name")
    terminal.until(
        lambda: any("#typed name" in each.read_text() for each in folder.glob("*.json")), "a draft"
    )
    terminal.kill(number)
    terminal.until(lambda: not terminal.pump(), "the end")
    terminal = open_terminal("--model", "offline", small_session)
    editor(terminal)
    terminal.sees("#typed name")
