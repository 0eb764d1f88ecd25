"""Leaving while something is being opened: no traceback, the terminal as it was, the exit code."""

from __future__ import annotations

import signal

import pytest


def left(terminal, code):
    assert terminal.ended() == code
    terminal.assert_restored()
    wire = terminal.wire.decode("utf-8", "replace")
    assert "Traceback" not in wire
    assert "Error" not in wire[-2_000:]


THOROUGH = pytest.mark.thorough


@pytest.mark.parametrize(
    "polls", [0, 2, 8, *(pytest.param(polls, marks=THOROUGH) for polls in (1, 4))]
)
def test_a_hang_up_while_the_first_screen_is_made(open_terminal, small_session, polls):
    terminal = open_terminal("--model", "offline", small_session)
    terminal.until(lambda: b"\x1b[?1049h" in terminal.wire, "the alternate screen")
    for _ in range(polls):
        terminal.pump(0.01)
    terminal.kill(signal.SIGHUP)
    left(terminal, 129)


@pytest.mark.parametrize(
    "keys",
    [
        "e",
        "m",
        "\x10",
        "\x1b?",
        *(pytest.param(key, marks=THOROUGH) for key in ("v", "b", "?", "i", "\x1b")),
    ],
)
def test_a_signal_and_ctrl_q_right_after_a_key_that_opens_something(
    open_terminal, small_session, keys
):
    terminal = open_terminal("--model", "offline", small_session)
    terminal.ready()
    terminal.send(keys)
    terminal.kill(signal.SIGTERM)
    left(terminal, 143)
    terminal = open_terminal("--model", "offline", small_session)
    terminal.ready()
    terminal.send(keys + "\x11")
    left(terminal, 0)


def test_page_keys_in_a_palette_that_is_not_drawn_yet_do_no_harm(open_terminal, small_session):
    terminal = open_terminal("--model", "offline", small_session)
    terminal.ready()
    for _ in range(5):
        terminal.send("\x10\x1b[6~\x1b[5~\x1b[F\x1b[6~")
        terminal.quiet()
        terminal.send("\x1b")
        terminal.quiet()
    terminal.send("\x11")
    left(terminal, 0)


def test_the_palette_under_the_question_whether_to_quit_opens_no_second_one(
    open_terminal, long_sample
):
    terminal = open_terminal("--model", "offline", long_sample)
    terminal.ready()
    terminal.send("r")
    terminal.sees("◐ running")
    terminal.send("\x10")
    terminal.quiet()
    terminal.send("\x11")
    terminal.sees("A judgment is in flight")
    terminal.send("\x10")
    terminal.quiet()
    terminal.send("\x11")
    left(terminal, 0)
