"""A forced crash really kills the app: the terminal is usable, and what was judged is kept."""

from __future__ import annotations

import signal
import sqlite3
from contextlib import closing


def test_a_forced_crash_leaves_the_terminal_as_it_was_and_the_verdicts_kept(
    open_terminal, long_sample, tmp_path
):
    terminal = open_terminal("--model", "offline", "--fault", "crash=2", long_sample)
    terminal.sees("FORCED FAILURES crash=2")
    terminal.ready()
    terminal.send("r")
    terminal.until(lambda: not terminal.pump(), "the end")
    terminal.child.close()
    assert terminal.child.signalstatus == signal.SIGKILL
    terminal.assert_restored()
    assert "killed on purpose by the forced failure crash=2" in terminal.text
    assert "Traceback" not in terminal.text
    with closing(sqlite3.connect(tmp_path / "store.sqlite")) as store:
        assert store.execute("SELECT count(*) FROM verdicts").fetchone() == (2,)
