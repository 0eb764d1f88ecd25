"""Killed at any moment: what was shown is neither lost nor asked again, and nothing stays held."""

from __future__ import annotations

import contextlib
import random
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

import server as api
from commands_for_tests import longjudge
from kills import CHUNKS, KINDS, Stage, crash, play, rows, stage
from sessions_for_tests import CHUNK_CHARS, write_session

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from server import MessagesServer

HUNDREDS = 200


@pytest.fixture(scope="module")
def at(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    with stage(tmp_path_factory.mktemp("kills")) as made:
        yield made


@pytest.mark.parametrize(
    ("kind", "phases"),
    [
        ("plain", ["start", "lease", "commit"]),
        ("two", ["asking", "shown"]),
        ("old", ["migration", "migration", "commit"]),
        ("fresh", ["commit", "ending"]),
    ],
)
def test_killed_in_the_middle_nothing_is_lost_or_asked_again_or_stays_held(
    at: Stage, kind: str, phases: list[str]
) -> None:
    # On a busy machine some come to their end before they are reached, and it is told anew.
    stories = (play(at, kind, seed, phases) for seed in range(1, 8))
    assert any(story.kills >= len(phases) - 1 for story in stories)


@pytest.mark.parametrize("verdicts", [1, 2, CHUNKS])
def test_a_forced_crash_loses_nothing_either(at: Stage, verdicts: int) -> None:
    crash(at, verdicts)


@pytest.mark.thorough
def test_the_command_killed_at_random_moments_pays_for_no_answer_twice(
    served: MessagesServer, tmp_path: Path, store_file: Path
) -> None:
    """From the interpreter's first moment on, with the provider's SDK and a real server."""
    chance, count, kills = random.Random(5), 40, 10
    served.script = lambda request, _: api.later(api.clean(request), chance.uniform(0.05, 0.4))
    path = write_session(tmp_path / "s.jsonl", count)
    options = ("--json", "--chunk-chars", str(CHUNK_CHARS), "--store", str(store_file))
    command = [sys.executable, "-m", "longjudge", "judge", str(path), *options]
    for number in range(kills):
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if number % 3:
            sent = len(served.requests) + chance.randint(1, 5)
            served.wait_for(lambda sent=sent: len(served.requests) >= sent)
        with contextlib.suppress(subprocess.TimeoutExpired):
            # The delay is the random moment itself.
            process.wait(chance.uniform(0.0, 0.4))
        process.kill()
        process.communicate()
    # What was in flight was asked for nothing; each of four workers had one.
    lost = len(served.requests) - len(rows(store_file, "SELECT key FROM verdicts"))
    assert lost <= 4 * kills
    before = len(served.requests)
    done = longjudge("judge", path, *options)
    [result] = done.objects
    assert (done.code, result["status"], result["holds_left"]) == (0, "complete", 0)
    assert result["calls"] == len(served.requests) - before == count - (before - lost)
    told = longjudge("results", "--aggregate", "--json", "--store", str(store_file)).objects[0]
    [(paid,)] = rows(store_file, "SELECT sum(cost_usd) FROM verdicts")
    assert told["cost_usd"] == pytest.approx(paid)
    assert rows(store_file, "PRAGMA integrity_check") == [("ok",)]
    assert rows(store_file, "SELECT key FROM leases UNION ALL SELECT id FROM owners") == []


@pytest.mark.thorough
def test_of_200_kills_at_random_moments_none_loses_anything(at: Stage) -> None:
    killed = seed = 0
    while killed < HUNDREDS:
        killed += play(at, KINDS[seed % len(KINDS)], seed).kills
        seed += 1
