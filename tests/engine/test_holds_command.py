"""What `holds --sweep` says about a store that it must mend first, or cannot write."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

from commands_for_tests import longjudge
from sessions_for_tests import write_session
from stores_for_tests import old_store

if TYPE_CHECKING:
    from pathlib import Path


def test_sweep_says_that_it_brought_the_store_up_to_date_and_where_the_old_one_is(
    tmp_path: Path,
) -> None:
    store = tmp_path / "s.db"
    old_store(store)
    swept = longjudge("holds", "--sweep", "--store", store)
    assert swept.code == 0
    [copied] = tmp_path.glob("*.backup")
    assert copied.name in swept.err
    assert "brought from schema 1" in swept.err


def test_sweep_says_what_to_do_where_the_store_takes_no_release(tmp_path: Path) -> None:
    store = tmp_path / "s.db"
    session = write_session(tmp_path / "s.jsonl", 1)
    longjudge("judge", session, "--model", "offline", "--store", store)
    connection = sqlite3.connect(store)
    connection.execute("INSERT INTO leases VALUES ('k', 'nobody', 1.0, 'part 1 of x')")
    connection.execute(
        "CREATE TRIGGER full BEFORE DELETE ON leases"
        " BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END"
    )
    connection.commit()
    connection.close()
    swept = longjudge("holds", "--sweep", "--store", store)
    assert (swept.code, swept.out) == (2, "")
    assert "nothing can be released" in swept.err
    assert "database or disk is full" in swept.err
    assert "make it writable, and sweep again" in swept.err
    assert len(swept.err.splitlines()) == 1
