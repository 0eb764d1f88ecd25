"""A closer look, a copy and a quit on a real terminal: what goes over the wire, and how it ends."""

from __future__ import annotations

import base64
import re
import time

import pytest

OSC52 = re.compile(rb"\x1b\]52;c;([A-Za-z0-9+/=]*)\x07")
ACTS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f]")
PAYLOADS = (b"\x1b]0;", b"\x1b]2;", b"\x1b]8;", b"\x1b[2J", b"\x1bP", b"\x1b_")


def copies(terminal) -> list[str]:
    return [base64.b64decode(each).decode() for each in OSC52.findall(terminal.wire)]


def test_a_copied_finding_goes_to_the_terminal(open_terminal, long_sample):
    terminal = open_terminal("--model", "offline", long_sample)
    terminal.ready()
    terminal.send("r")
    terminal.sees("complete: ")
    terminal.send(".")
    terminal.sees("finding 1 of ")
    terminal.send("y")
    terminal.until(lambda: copies(terminal), "an OSC 52 sequence")
    terminal.sees("the finding at event")
    assert copies(terminal)[0].startswith("## Finding: ")
    assert str(long_sample) in copies(terminal)[0]
    terminal.send("\x11")
    assert terminal.ended() == 0
    terminal.assert_restored()


@pytest.mark.parametrize("records", [12, pytest.param(40, marks=pytest.mark.thorough)])
def test_hostile_records_and_their_copies_act_on_no_terminal(
    open_terminal, hostile_sample, records
):
    terminal = open_terminal("--model", "offline", "--chunk-chars", "60000", hostile_sample)
    terminal.ready()
    terminal.send("\t")
    for _ in range(records):
        for key in ("i", "\x1b[F", "\r", "i", "z", "\x1b[F", "z", "y", "\x1b[B"):
            terminal.send(key)
        terminal.quiet()
    terminal.until(lambda: len(copies(terminal)) >= records // 2, "copies")
    terminal.send("\x11")
    assert terminal.ended() == 0
    for text in copies(terminal):
        assert not ACTS.search(text)
    rest = OSC52.sub(b"", terminal.wire)
    for payload in PAYLOADS:
        assert payload not in rest


def test_a_clipboard_tool_that_hangs_holds_up_no_quit(
    open_terminal, environment, long_sample, tmp_path
):
    (folder := tmp_path / "bin").mkdir()
    tool = folder / "xclip"
    tool.write_text(f'#!/bin/sh\ntouch "{tmp_path}/begun"\nexec sleep 1000\n')
    tool.chmod(0o755)
    environment |= {"PATH": f"{folder}:{environment['PATH']}", "DISPLAY": ":0"}
    terminal = open_terminal("--model", "offline", long_sample)
    terminal.ready()
    terminal.send("y")
    terminal.until((tmp_path / "begun").exists, "a hanging tool")
    begun = time.monotonic()
    terminal.send("\x11")
    assert terminal.ended() == 0
    assert time.monotonic() - begun < 5
    terminal.assert_restored()
