"""The app opens only where a screen can be shown, and says why it does not."""

from __future__ import annotations

import io
import sys

import pytest

from longjudge.cli.main import run
from longjudge.errors import UsageError
from longjudge.launch import check_terminal

STREAMS = ("stdin", "stdout", "stderr")


class Screen(io.StringIO):
    def isatty(self):
        return True


def in_terminal(monkeypatch):
    """In the test itself: what captures its output sets the streams before each one."""
    for name in STREAMS:
        monkeypatch.setattr(sys, name, Screen())
    monkeypatch.setenv("TERM", "xterm-256color")


@pytest.fixture(params=["closed", "closed since", "a file"])
def no_terminal(request):
    stream = None if request.param == "closed" else io.StringIO()
    if request.param == "closed since":
        stream.close()
    return stream


@pytest.mark.parametrize("name", STREAMS)
def test_each_of_the_three_streams_must_be_a_terminal(monkeypatch, no_terminal, name):
    in_terminal(monkeypatch)
    check_terminal()
    monkeypatch.setattr(sys, name, no_terminal)
    with pytest.raises(UsageError, match="the app needs a terminal, and there is none here"):
        check_terminal()


def test_a_closed_input_is_said_and_a_closed_error_stream_only_exits(monkeypatch, tmp_path):
    in_terminal(monkeypatch)
    arguments = ["--model", "offline", str(tmp_path)]
    monkeypatch.setattr(sys, "stdin", None)
    assert run(arguments) == 2
    said = sys.stderr.getvalue()
    assert said.startswith("longjudge: the app needs a terminal")
    assert len(said.splitlines()) == 1
    monkeypatch.setattr(sys, "stderr", None)
    assert run(arguments) == 2


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("dumb", "TERM=dumb says that this one cannot"),
        ("unknown", "TERM=unknown"),
        ("", "is not set"),
        (None, "TERM is not set here"),
    ],
)
def test_a_terminal_that_cannot_move_its_cursor_gets_no_escape_codes(monkeypatch, name, said):
    in_terminal(monkeypatch)
    if name is None:
        monkeypatch.delenv("TERM")
    else:
        monkeypatch.setenv("TERM", name)
    with pytest.raises(UsageError, match="can move the cursor") as refusal:
        check_terminal()
    assert said in str(refusal.value)
    assert "`longjudge judge PATH`" in str(refusal.value)
