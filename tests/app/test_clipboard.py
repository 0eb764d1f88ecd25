"""Copying by a clipboard tool, by the terminal, or to a file; and that it says which it was."""

from __future__ import annotations

import asyncio
import base64
import os
import re
import stat
import time
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.app import App

from longjudge_tui import clipboard
from longjudge_tui.clipboard import Clipboard

PATIENCE = 20.0


@pytest.fixture(autouse=True)
def _no_display(monkeypatch):
    for name in (
        "DISPLAY",
        "WAYLAND_DISPLAY",
        "WSL_DISTRO_NAME",
        "SSH_TTY",
        "SSH_CONNECTION",
        "TMUX",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("sys.platform", "linux")


@pytest.fixture
def xclip(tmp_path, monkeypatch):
    """Put an `xclip` on the path that runs a shell script, and set a display."""

    def install(script: str) -> None:
        folder = tmp_path / "bin"
        folder.mkdir()
        tool = folder / "xclip"
        tool.write_text(f"#!/bin/sh\n{script}\n")
        tool.chmod(0o755)
        monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
        monkeypatch.setenv("DISPLAY", ":0")

    monkeypatch.setattr(clipboard, "LOCAL_SECONDS", PATIENCE)
    return install


@asynccontextmanager
async def terminal(monkeypatch):
    """A headless app, and everything that was written to its driver."""
    app: App[object] = App()
    async with app.run_test():
        wire: list[str] = []
        monkeypatch.setattr(app._driver, "write", wire.append)
        yield app, wire


def osc52(wire: list[str]) -> list[str]:
    """The texts that plain OSC 52 sequences carry."""
    encoded = re.findall(r"(?<!\x1b)\x1b\]52;c;([A-Za-z0-9+/=]*)\x07", "".join(wire))
    return [base64.b64decode(each).decode() for each in encoded]


async def test_without_a_display_the_terminal_is_sent_the_text(monkeypatch):
    async with terminal(monkeypatch) as (app, wire):
        said = await Clipboard().copy(app, "größe")
    assert osc52(wire) == ["größe"]
    assert "sent 5 characters to the terminal" in said
    assert "copied" not in said


async def test_a_tool_that_takes_the_text_makes_it_copied(monkeypatch, xclip, tmp_path):
    taken = tmp_path / "taken"
    xclip(f'cat > "{taken}"')
    async with terminal(monkeypatch) as (app, wire):
        said = await Clipboard().copy(app, "git push --force ✔")
    assert taken.read_text(encoding="utf-8") == "git push --force ✔"
    assert said == "copied 18 characters to the clipboard"
    assert osc52(wire) == ["git push --force ✔"]


async def test_a_tool_that_fails_is_not_believed(monkeypatch, xclip, capfd):
    xclip('cat > /dev/null; echo "Error: Can\'t open display" >&2; exit 1')
    async with terminal(monkeypatch) as (app, _):
        said = await Clipboard().copy(app, "text")
    assert "copied" not in said
    assert "its tool failed" in said
    assert "sent 4 characters to the terminal" in said
    assert capfd.readouterr().err == "", "the tool wrote through the screen"


async def test_a_tool_that_hangs_is_ended_with_all_it_started(monkeypatch, xclip, tmp_path):
    pid = tmp_path / "pid"
    xclip(f'echo $$ > "{pid}.new"; mv "{pid}.new" "{pid}"; exec sleep 1000')
    monkeypatch.setattr(clipboard, "LOCAL_SECONDS", 3.0)
    async with terminal(monkeypatch) as (app, _):
        said = await Clipboard().copy(app, "text")
    assert "its tool did not answer" in said
    assert "copied" not in said
    await until_gone(pid)


async def test_a_copy_that_is_given_up_leaves_nothing_behind(monkeypatch, xclip, tmp_path):
    pid = tmp_path / "pid"
    xclip(f'echo $$ > "{pid}.new"; mv "{pid}.new" "{pid}"; exec sleep 1000')
    async with terminal(monkeypatch) as (app, _):
        copying = asyncio.ensure_future(Clipboard().copy(app, "text"))
        end = time.monotonic() + PATIENCE
        while not pid.exists():
            assert time.monotonic() < end
            await asyncio.sleep(0)
        copying.cancel()
        await asyncio.wait({copying})
        assert copying.cancelled()
    await until_gone(pid)


async def until_gone(pid: Path) -> None:
    if not pid.exists():
        return
    number = int(pid.read_text())
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if not is_running(number):
            return
        await asyncio.sleep(0)
    raise AssertionError("the tool is still there")


def is_running(number: int) -> bool:
    try:
        # A zombie has ended, and waits for whoever adopted it.
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


async def test_a_display_without_a_tool_is_no_reason_to_complain(monkeypatch, tmp_path):
    monkeypatch.setattr(clipboard, "LOCAL_SECONDS", PATIENCE)
    monkeypatch.setenv("DISPLAY", ":0")
    async with terminal(monkeypatch) as (app, _):
        # `which` is looked for here as well, and not found either.
        monkeypatch.setenv("PATH", str(tmp_path))
        said = await Clipboard().copy(app, "text")
    assert "sent 4 characters" in said
    assert "clipboard:" not in said


async def test_over_ssh_the_tool_of_the_other_computer_is_left_alone(monkeypatch, xclip, tmp_path):
    xclip(f'cat > "{tmp_path}/taken"')
    monkeypatch.setenv("SSH_TTY", "/dev/pts/1")
    async with terminal(monkeypatch) as (app, wire):
        said = await Clipboard().copy(app, "text")
    assert not (tmp_path / "taken").exists()
    assert osc52(wire) == ["text"]
    assert "sent 4 characters to the terminal" in said


async def test_in_tmux_the_text_goes_both_ways_and_the_option_is_named_once(monkeypatch):
    monkeypatch.setenv("TMUX", "/tmp/tmux-0/default,1,0")
    board = Clipboard()
    async with terminal(monkeypatch) as (app, wire):
        first = await board.copy(app, "text")
        second = await board.copy(app, "text")
    encoded = base64.b64encode(b"text").decode()
    assert f"\x1bPtmux;\x1b\x1b]52;c;{encoded}\x07\x1b\\" in wire
    assert osc52(wire) == ["text", "text"]
    assert "set-clipboard on" in first
    assert "allow-passthrough on" in first
    assert "set-clipboard" not in second


async def test_what_is_too_long_for_a_terminal_becomes_a_private_file(monkeypatch):
    text = "x" * 60_000 + "\ud800"
    async with terminal(monkeypatch) as (app, wire):
        said = await Clipboard().copy(app, text)
    assert osc52(wire) == []
    path = Path(re.search(r"are in (\S+)$", said)[1])
    assert path.read_text(encoding="utf-8") == "x" * 60_000 + "\ufffd"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert "60,001 characters" in said


async def test_where_nothing_works_nothing_is_claimed(monkeypatch, tmp_path):
    (tmp_path / "a-file").touch()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "a-file"))
    async with terminal(monkeypatch) as (app, _):
        said = await Clipboard().copy(app, "x" * 100_000)
    assert said.startswith("not copied")
