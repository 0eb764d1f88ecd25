"""`longjudge judge --batch` as tests run it, and what it leaves at the server and in the store."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from typing import TYPE_CHECKING, Any

from commands_for_tests import longjudge
from sessions_for_tests import CHUNK_CHARS, item_of

if TYPE_CHECKING:
    from pathlib import Path

    from commands_for_tests import Finished
    from server import MessagesServer

LOOK = 0.05
"""How long a command waits at most before it looks at a batch again."""


def configure(folder: Path, **batches: float) -> Path:
    """Write a configuration file with these keys of `[batches]`."""
    path = folder / "longjudge.toml"
    lines = [f"{name} = {value}" for name, value in ({"longest_look": LOOK} | batches).items()]
    path.write_text("\n".join(["[batches]", *lines, ""]), encoding="utf-8")
    return path


def words_of(*arguments: object) -> list[str]:
    """The command line of `judge --batch`."""
    plain = ("judge", "--batch", "--json", "--chunk-chars", CHUNK_CHARS, *arguments)
    return [str(word) for word in plain]


def judge_batch(*arguments: object) -> Finished:
    """Run `judge --batch` to its end in this process."""
    return longjudge(*words_of(*arguments))


def judge_live(*arguments: object) -> Finished:
    """Run `judge` without `--batch` to its end in this process."""
    return longjudge("judge", "--json", "--chunk-chars", CHUNK_CHARS, *arguments)


def start_batch(*arguments: object) -> subprocess.Popen[str]:
    """Start `judge --batch` as a process, to be killed, or ended by `finish`."""
    return start(*words_of(*arguments))


def start(*words: object) -> subprocess.Popen[str]:
    """Start a command as a process."""
    return subprocess.Popen(
        [sys.executable, "-m", "longjudge", *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        text=True,
        env=dict(os.environ),
    )


def finish(process: subprocess.Popen[str]) -> tuple[list[dict[str, Any]], str]:
    """Wait for the end of a process; its JSON lines and what it said on stderr."""
    out, err = process.communicate(timeout=60)
    assert "Traceback" not in err, err
    assert "never awaited" not in err, err
    assert "was destroyed" not in err, err
    return [json.loads(line) for line in out.splitlines()], err


def held_batches() -> list[dict[str, Any]]:
    """The batches that `holds --json` tells of."""
    return [hold for hold in longjudge("holds", "--json").objects if hold["kind"] == "batch"]


def check_sums(result: dict[str, Any]) -> None:
    """Every chunk has ended in one way."""
    assert result["judged_chunks"] + result["unjudged_chunks"] == result["chunks"]
    assert sum(result["gaps"].values()) == result["unjudged_chunks"]
    assert len(result["parts"]) == result["chunks"]


def asked(server: MessagesServer) -> list[int]:
    """Which of `events` were asked about in batches, once for each time, in order."""
    return sorted(
        item_of(params["messages"][0]["content"])
        for batch in server.batches.own
        for params in batch.requests.values()
    )


def rows(store: Path, columns: str) -> list[tuple[Any, ...]]:
    """What the store's table of batches holds, oldest first."""
    with closing(sqlite3.connect(store)) as connection:
        return connection.execute(f"SELECT {columns} FROM batches ORDER BY created, id").fetchall()


def open_questions(store: Path) -> int:
    """How many questions of batches have no outcome."""
    with closing(sqlite3.connect(store)) as connection:
        query = "SELECT count(*) FROM batch_items WHERE outcome = ''"
        return connection.execute(query).fetchone()[0]


def forget_owners(store: Path) -> None:
    """Let whoever followed batches be dead, which this process is not."""
    with closing(sqlite3.connect(store)) as connection:
        connection.execute("DELETE FROM owners")
        connection.commit()
