"""The user's own editor in this terminal: judging goes on meanwhile, and however it ends, the
terminal is the app's again."""

from __future__ import annotations

import contextlib
import os
import signal
import sqlite3

import pytest

SCRIPT = """#!/bin/sh
# As wild as an editor gets: another screen, the mouse, raw keys, and no manners at its end.
printf '\\033[?1049h\\033[?1000h\\033[2JEDITING %s PID %s\\r\\n' "$*" "$$"
stty raw -echo
while :; do
    case $(dd bs=1 count=1 2>/dev/null) in
        k) kill -9 $$ ;;
        q) exit 0 ;;
        h) trap '' TERM; printf 'DEAF\\r\\n'; exec sleep 1000 ;;
        *) printf 'TYPED\\r\\n' ;;
    esac
done
"""


@pytest.fixture
def editor(tmp_path, environment):
    """Named so that it is told the line."""
    path = tmp_path / "bin" / "vim"
    path.parent.mkdir()
    path.write_text(SCRIPT)
    path.chmod(0o755)
    environment["EDITOR"] = f"{path} -R"


def verdicts(environment):
    with contextlib.closing(sqlite3.connect(environment["LONGJUDGE_STORE"])) as store:
        return store.execute("SELECT count(*) FROM verdicts").fetchone()[0]


def test_judging_goes_on_under_an_editor_and_one_that_is_killed_leaves_no_mess(
    open_terminal, environment, editor, long_sample
):
    terminal = open_terminal("--model", "offline", long_sample)
    terminal.sees("to ask")
    terminal.send("r")
    terminal.sees("◐ running")
    terminal.send("E")
    terminal.sees(f"EDITING -R +3 {long_sample}")
    terminal.until(lambda: verdicts(environment) == 16, "every verdict, under the editor")
    terminal.send("x")
    # Keys and pictures are the editor's alone.
    terminal.sees("TYPED")
    assert "CHUNKS" not in terminal.text
    terminal.send("k")
    terminal.sees("vim was ended by signal 9")
    terminal.sees("complete: ")
    terminal.send("E")
    terminal.sees("EDITING")
    terminal.send("q")
    terminal.sees("judged 16 of 16")
    terminal.send("?")
    terminal.sees("KEYS")
    terminal.send("\x11")
    assert terminal.ended() == 0
    terminal.assert_restored()


def test_a_signal_under_an_editor_that_never_returns_ends_both(
    open_terminal, editor, small_session
):
    terminal = open_terminal("--model", "offline", small_session)
    terminal.sees("to ask")
    terminal.send("E")
    terminal.sees("EDITING")
    pid = int(terminal.text.partition("PID ")[2].split()[0])
    terminal.send("h")
    terminal.sees("DEAF")
    terminal.kill(signal.SIGINT)
    terminal.quiet()
    # Ctrl+C in an editor is the editor's.
    assert terminal.child.isalive()
    terminal.kill(signal.SIGTERM)
    assert terminal.ended() == 143
    terminal.assert_restored()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
