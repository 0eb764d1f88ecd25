"""Nothing that a session says reaches the terminal as anything but text."""

from __future__ import annotations

import json
import re

import pytest

from terminal_bytes import acts_in

_PAYLOADS = (b"\x1b]0;", b"\x1b]2;", b"\x1b]8;", b"\x1b]52;", b"\x1b[2J", b"\x1bP", b"\x1b_")


def walk(terminal):
    """Go through every chunk, every event of it, and every page of every text."""
    terminal.ready()
    terminal.sees("CHUNKS ")
    chunks = int(re.search(r"CHUNKS (\d+)", terminal.text)[1])
    for _ in range(chunks):
        terminal.send("\t")
        terminal.quiet()
        for _ in range(60):
            before = terminal.text
            terminal.send("\x1b[B")
            terminal.quiet()
            if terminal.text == before:
                break
        terminal.send("\t\t\x1b[F\r\x1b[F\r\x1b[F\t\x1b[B")
        terminal.quiet()


def strings(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from strings(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from strings(item)


def assert_clean(wire: bytes) -> None:
    assert not (act := acts_in(wire.decode("utf-8"))), act


def test_the_sample_holds_what_would_act_on_a_terminal(hostile_sample):
    records = [json.loads(line) for line in hostile_sample.read_text("utf-8").split("\n") if line]
    everything = "".join(strings(records))
    for act in ("\x1b]", "\x1b[", "\x00", "\x07"):
        assert act in everything
    assert "[/]" in everything
    assert "[@click=" in everything


@pytest.mark.thorough
def test_no_control_byte_of_a_hostile_session_reaches_the_wire(open_terminal, hostile_sample):
    terminal = open_terminal("--model", "offline", "--chunk-chars", "60000", hostile_sample)
    walk(terminal)
    # The walk may have moved the slider: a thousand chunks take the rules minutes here.
    terminal.send("s60000\r")
    terminal.sees("60000")
    terminal.send("r")
    terminal.sees("complete: ")
    terminal.send("\t\t\r")
    terminal.quiet()
    terminal.send("?")
    terminal.sees("KEYS")
    terminal.send("\x11")
    assert terminal.ended() == 0
    terminal.assert_restored()
    assert_clean(terminal.wire)
    for payload in _PAYLOADS:
        assert payload not in terminal.wire


def test_a_hostile_file_name_reaches_the_wire_as_text(open_terminal, hostile_sample, tmp_path):
    path = tmp_path / "a\x1b]0;owned\x07[red]\x9bx[@click=app.quit]y.jsonl"
    path.write_bytes(hostile_sample.read_bytes())
    terminal = open_terminal("--model", "offline", path)
    terminal.ready()
    terminal.sees("[@click=app.quit]")
    terminal.send("\x11")
    assert terminal.ended() == 0
    assert_clean(terminal.wire)
