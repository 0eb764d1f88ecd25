"""Kills `judge --batch` at chosen or random moments, and looks whether anything was lost.

A *story* is one store and one provider, on which several processes judge one session. The commands
are real processes (`batch_killed.py` tells each step that they take), the provider is here.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import random
import select
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import server as api
from batch_server import ACCEPT_AND_529, ACCEPT_AND_DROP, Accepted, Cut
from batches_for_tests import configure, words_of
from commands_for_tests import longjudge
from judgments_for_tests import bad
from kills import comparable
from longjudge.judges.batch_api import key_of
from server import DROP, MessagesServer
from sessions_for_tests import item_of, write_session

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from batch_records import Scripted

CHUNKS = 12
AT_ONCE = 5
"""Questions in one batch."""
PATIENCE = 60.0
LONG_ENOUGH = 4.0
"""Seconds after which a process is killed that does not come to the step where it was to be."""

_CHILD = Path(__file__).with_name("batch_killed.py")


def script(request: api.Request, _: int) -> api.Reply:
    """A third of the chunks have something wrong."""
    return bad(request) if item_of(request.prompt) % 3 == 1 else api.clean(request)


class Running:
    """A command while it runs."""

    def __init__(self, pipe: Path) -> None:
        self.pipe = pipe
        self._file = os.open(pipe, os.O_RDONLY)
        self._rest = b""
        self.told: list[str] = []
        self.killed = False
        self.after = 0
        """How many batches the provider had when it began."""
        assert self.runs_until("pid", 1)
        self.pid = int(self.told[0].split()[1])

    def runs_until(self, step: str, times: int = 1, patience: float | None = None) -> bool:
        """Read until a step was told so many times; False where the process ends before.

        With `patience` it may take so many seconds, and is somewhere else then.
        """
        until = time.monotonic() + (patience or PATIENCE)
        while self._count(step) < times:
            left = max(0.0, until - time.monotonic())
            if not select.select([self._file], [], [], left)[0]:
                assert patience is not None, (self.told[-5:], self.err)
                return True
            data = os.read(self._file, 1 << 16)
            if not data:
                return False
            *lines, self._rest = (self._rest + data).split(b"\n")
            self.told += [line.decode() for line in lines]
        return True

    def _count(self, step: str) -> int:
        return sum(line.split()[0] == step for line in self.told)

    def signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, number)

    def kill(self) -> None:
        """Kill it, and see that it is dead."""
        self.signal(signal.SIGKILL)
        self.end()
        self.killed = self.code is None

    def end(self) -> int | None:
        """Wait for its end; its exit code."""
        self.runs_until("no such step")
        os.close(self._file)
        assert "Traceback" not in self.err, self.err
        return self.code

    @property
    def code(self) -> int | None:
        found = [line for line in self.told if line.startswith("code ")]
        return int(found[0].split()[1]) if found else None

    @property
    def err(self) -> str:
        path = self.pipe.with_name(f"{self.pipe.name}.err")
        return path.read_text(encoding="utf-8") if path.exists() else ""

    @property
    def results(self) -> list[dict[str, Any]]:
        out = self.pipe.with_name(f"{self.pipe.name}.out").read_text(encoding="utf-8")
        return [json.loads(line) for line in out.splitlines()]


class Stage:
    """Where stories are played: the session, its undisturbed result, and who forks processes."""

    def __init__(self, folder: Path, nursery: subprocess.Popen[str]) -> None:
        self.folder = folder
        self._nursery = nursery
        self._count = itertools.count()
        self.session = write_session(folder / "session.jsonl", CHUNKS)
        with MessagesServer(script) as server:
            story = Story(self, server)
            process = story.begin()
            assert process.end() == 0, process.err
            [result] = process.results
            assert result["status"] == "complete"
            self.undisturbed = comparable(result)

    def new_folder(self) -> Path:
        folder = self.folder / f"story{next(self._count)}"
        folder.mkdir()
        return folder

    def begin(
        self, words: Sequence[str], variables: dict[str, str], stop_at: str, times: int
    ) -> Running:
        pipe = self.folder / f"pipe{next(self._count)}"
        os.mkfifo(pipe)
        job = {"pipe": str(pipe), "words": list(words), "variables": variables}
        assert self._nursery.stdin is not None
        self._nursery.stdin.write(json.dumps(job | {"stop_at": stop_at, "times": times}) + "\n")
        self._nursery.stdin.flush()
        return Running(pipe)


@contextmanager
def stage(folder: Path) -> Generator[Stage]:
    nursery = subprocess.Popen([sys.executable, str(_CHILD)], stdin=subprocess.PIPE, text=True)
    try:
        yield Stage(folder, nursery)
    finally:
        assert nursery.stdin is not None
        nursery.stdin.close()
        nursery.wait(PATIENCE)


@dataclass(slots=True)
class Figures:
    """What came of stories, added up."""

    kills: int = 0
    stops: int = 0
    batches: int = 0
    questions: int = 0
    twice: int = 0
    cancelled: int = 0

    def __add__(self, other: Figures) -> Figures:
        mine, theirs = (
            [getattr(each, name) for name in Figures.__slots__] for each in (self, other)
        )
        return Figures(*(a + b for a, b in zip(mine, theirs, strict=True)))


@dataclass(slots=True)
class Story:
    """The processes that worked on one store with one provider."""

    at: Stage
    server: MessagesServer
    listed_after: float = 0.5
    folder: Path = field(init=False)
    store: Path = field(init=False)
    figures: Figures = field(default_factory=Figures)
    kept: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.folder = self.at.new_folder()
        self.store = self.folder / "store.sqlite"
        configure(self.folder, max_requests=AT_ONCE, listed_after=self.listed_after)

    @property
    def variables(self) -> dict[str, str]:
        return {
            "ANTHROPIC_API_KEY": "sk-ant-test",
            "ANTHROPIC_BASE_URL": self.server.base_url,
            "LONGJUDGE_CONFIG": str(self.folder / "longjudge.toml"),
            "LONGJUDGE_STORE": str(self.store),
        }

    def begin(self, stop_at: str = "", times: int = 1) -> Running:
        """Start `judge --batch`, which stops itself at a step."""
        after = len(self.server.batches.own)
        process = self.at.begin(words_of(self.at.session), self.variables, stop_at, times)
        process.after = after
        return process

    def kill(self, process: Running) -> None:
        """Kill a process, and look at what it leaves."""
        process.kill()
        self.figures.kills += process.killed
        self.look()

    def stop(self, process: Running, *, alone: bool = True) -> None:
        """Ask a process to end, which cancels its batches."""
        process.signal(signal.SIGTERM)
        code = process.end()
        # Before it can hear of it, or after it has, it is ended by the signal itself.
        assert code in (143, 0, None), (code, process.err)
        self.figures.stops += code == 143
        if code == 143 and alone:
            intents = _intents(self.batch_holds())
            for batch in self.server.batches.own[process.after :]:
                if batch.status == "in_progress":
                    intents[len(batch.custom_ids)] -= 1
                    assert intents[len(batch.custom_ids)] >= 0, "it runs on, and was to end"
        self.look()

    def holds(self) -> list[dict[str, Any]]:
        """What `holds --json` tells."""
        done = longjudge("holds", "--json", **self.variables)
        assert done.code == 0, done.err
        return done.objects

    def batch_holds(self) -> list[dict[str, Any]]:
        return [hold for hold in self.holds() if hold["kind"] == "batch"]

    def look(self) -> None:
        """The ledger shows every batch that has not ended, and no verdict is gone."""
        before = [batch for batch in self.server.batches.own if batch.status != "ended"]
        holds = self.batch_holds()
        names, intents = {hold["id"] for hold in holds}, _intents(holds)
        for batch in before:
            if batch.status != "ended" and batch.id not in names:
                intents[len(batch.custom_ids)] -= 1
                assert intents[len(batch.custom_ids)] >= 0, f"{batch.id} is in no ledger: {holds}"
        if not self.store.exists() or not self.store.stat().st_size:
            return
        assert self.rows("PRAGMA integrity_check") == [("ok",)]
        kept = {row[0] for row in self.rows("SELECT key FROM verdicts")}
        assert self.kept <= kept, "a verdict is gone"
        self.kept = kept

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        with closing(sqlite3.connect(self.store)) as connection:
            try:
                return connection.execute(sql).fetchall()
            except sqlite3.OperationalError as error:
                # Whoever is killed first may not have made the tables.
                if "no such table" not in str(error):
                    raise
                return []

    def finish(self) -> dict[str, Any]:
        """Judge the rest undisturbed: all is there, nothing was asked twice, nothing is held."""
        _let_work(self.server)
        process = self.begin()
        assert process.end() == 0, process.err
        [result] = process.results
        assert comparable(result) == self.at.undisturbed, process.err
        self.look()
        self.check_questions()
        self.check_cost()
        assert self.holds() == []
        for table in ("owners", "leases", "batch_items"):
            assert self.rows(f"SELECT * FROM {table}") == [], table
        return result

    def check_cost(self) -> None:
        """What every answer cost is in the sums once, whichever process was killed over it."""
        done = longjudge("results", "--aggregate", "--json", **self.variables)
        [(paid,)] = self.rows("SELECT sum(cost_usd) FROM verdicts")
        assert done.objects[0]["cost_usd"] == pytest.approx(paid), done.objects[0]["unrecorded"]

    def check_questions(self) -> None:
        """Every question was answered in one batch alone."""
        answered: Counter[str] = Counter()
        for batch in self.server.batches.own:
            assert len(batch.lines) == len(batch.custom_ids), "its results were never looked at"
            for line in batch.lines:
                told = json.loads(line)
                if told["result"]["type"] == "succeeded":
                    answered[key_of(told["custom_id"])] += 1
                else:
                    self.figures.cancelled += 1
        self.figures.batches += len(self.server.batches.own)
        self.figures.questions += sum(len(each.custom_ids) for each in self.server.batches.own)
        self.figures.twice += sum(times > 1 for times in answered.values())
        assert set(answered.values()) == {1}, "asked twice"
        assert len(answered) == CHUNKS


def _intents(holds: Sequence[dict[str, Any]]) -> Counter[int]:
    """How many batches of which size are held of which nobody knows the provider's name."""
    unnamed = (hold["detail"] for hold in holds if not hold["id"].startswith("msgbatch_"))
    return Counter(int(detail.split()[0]) for detail in unnamed)


def _let_work(server: MessagesServer) -> None:
    """Whatever the provider did until now, it works from now on, and all that it has ends."""
    batches = server.batches
    batches.create_script = batches.list_script = batches.retrieve_script = lambda _: None
    batches.results_script = batches.cancel_script = lambda _: None
    batches.latency = batches.cancel_latency = batches.hidden_for = batches.listed_after = 0.0
    batches.hidden_retrieves = 0
    batches.finish()
    server.release()


MOMENTS = {
    # Each with how often it comes, and for how many seconds it goes on after it.
    "pid": (1, 0.3),
    "intent": (3, 0.01),
    "intent.": (3, 0.01),
    "create": (3, 0.1),
    "create.": (3, 0.005),
    "name": (3, 0.01),
    "name.": (3, 0.05),
    "look": (6, 0.05),
    "harvest": (3, 0.03),
    "keep": (6, 0.01),
    "keep.": (6, 0.01),
    "outcomes.": (6, 0.01),
    "harvest.": (3, 0.01),
    "note": (6, 0.01),
    "take_over": (2, 0.01),
    "take_over.": (2, 0.05),
    "withdraw": (1, 0.01),
    "result": (1, 0.05),
    "leave": (1, 0.02),
}


def disturb(server: MessagesServer, chance: random.Random) -> None:
    """Let the provider take its time, lose answers, and have batches of other people."""
    batches = server.batches

    def sometimes(*faults: Scripted, share: float) -> Any:
        def scripted(_: int) -> Scripted:
            return chance.choice(faults) if chance.random() < share else None

        return scripted

    late = Accepted(delay=chance.uniform(0.0, 0.3))
    batches.create_script = sometimes(
        ACCEPT_AND_DROP, ACCEPT_AND_529, DROP, api.rate_limited(0.05), late, late, share=0.5
    )
    batches.retrieve_script = sometimes(api.error(500), DROP, api.rate_limited(0.05), share=0.15)
    batches.list_script = sometimes(api.error(529), DROP, share=0.15)
    cut = sometimes(Cut(chance.randint(0, AT_ONCE)), api.error(500), share=0.3)
    # What looks whole three times is taken for whole.
    batches.results_script = lambda number: Cut(2, ending="end") if number < 2 else cut(number)
    batches.cancel_script = sometimes(ACCEPT_AND_DROP, DROP, api.error(500), late, share=0.4)
    batches.latency = chance.choice((0.0, 0.05, 0.3, 1.0))
    batches.listed_after = chance.uniform(0.0, 0.3)
    batches.hidden_retrieves = chance.choice((0, 0, 1, 2))
    batches.cancel_latency = chance.uniform(0.0, 0.3)
    batches.done_at_cancel = chance.choice((0.0, 0.5, 1.0))
    batches.ends_before_cancel = chance.random() < 0.2
    for _ in range(chance.choice((0, 0, 1, 2))):
        size = chance.choice((AT_ONCE, CHUNKS % AT_ONCE))
        batches.add_foreign(size, status=chance.choice(("ended", "in_progress")))


def play(at: Stage, seed: int) -> Figures:
    """A story whose processes die at any moment, with every check."""
    chance = random.Random(seed)
    with MessagesServer(script) as server:
        story = Story(at, server, listed_after=2.0)
        disturb(server, random.Random(seed + 1_000_000))
        for _ in range(chance.randint(1, 4)):
            running = [story.begin() for _ in range(chance.choice((1, 1, 1, 2)))]
            for process in running:
                step = chance.choice(list(MOMENTS))
                times, seconds = MOMENTS[step]
                process.runs_until(step, chance.randint(1, times), patience=LONG_ENOUGH)
                # The delay is the random moment itself.
                time.sleep(chance.uniform(0.0, seconds))
                if chance.random() < 0.2:
                    story.stop(process, alone=len(running) == 1)
                else:
                    story.kill(process)
        story.finish()
        return story.figures
