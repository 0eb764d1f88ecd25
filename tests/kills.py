"""Kills judging processes at chosen or random moments, and looks whether anything was lost.

A *story* is one store that several processes judge one session on, one after the other or at once.
All but the last are killed; what each has shown before it died is known (`killed.py` tells it).
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import random
import re
import select
import shutil
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

from longjudge.store.migrations import MIGRATIONS
from longjudge.store.past import known_real_path
from sessions_for_tests import events, write_events

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

CHUNKS = 16
WORKERS = 4
PATIENCE = 60.0
_CHILD = Path(__file__).with_name("killed.py")


@dataclass(frozen=True, slots=True)
class Moment:
    """When a process dies: after `line` was told `times` times, and `delay` seconds later."""

    line: str
    times: int
    delay: float


PHASES: dict[str, tuple[str, int, float]] = {
    "start": ("pid", 1, 0.03),
    "opening": ("sql (PRAGMA|SELECT user_version|CREATE)", 8, 0.001),
    "migration": (
        "sql (ALTER|CREATE|UPDATE judgments|BEGIN|COMMIT|PRAGMA user_version =)",
        20,
        0.002,
    ),
    "sweep": ("sql (SELECT leases.key|DELETE FROM leases WHERE key)", 2, 0.001),
    "lease": ("sql INSERT INTO (leases|owners)|sql INSERT OR REPLACE INTO owners", CHUNKS, 0.001),
    "asking": ("asked", CHUNKS, 0.005),
    "commit": ("sql INSERT INTO verdicts", CHUNKS, 0.001),
    "shown": ("shown", CHUNKS, 0.0005),
    "ending": ("sql DELETE FROM (leases|owners) WHERE (owner|id)|sql INSERT .*judgments", 2, 0.002),
    "record": ("sql (BEGIN IMMEDIATE|INSERT .*INTO judgments|COMMIT)", 3, 0.001),
    "closing": ("closing", 1, 0.003),
}
"""What is told in each phase, how often at most, and how long it goes on after the last."""


def moment_in(phase: str, chance: random.Random, left: int = CHUNKS) -> Moment:
    """Any moment of a phase, where so many chunks are `left` to be asked."""
    line, times, delay = PHASES[phase]
    if phase == "lease":
        # All workers may take theirs in one write.
        times = max(1, left // WORKERS)
    elif times == CHUNKS:
        times = max(1, left)
    return Moment(line, chance.randint(1, times), chance.uniform(0.0, delay))


@dataclass(slots=True)
class Told:
    """One process as it told itself."""

    begun: float
    lines: list[str] = field(default_factory=list[str])
    killed: bool = False

    def words(self, first: str) -> list[list[str]]:
        return [line.split(" ", 2)[1:] for line in self.lines if line.startswith(f"{first} ")]

    @property
    def asked(self) -> Counter[int]:
        return Counter(int(part) for part, *_ in self.words("asked"))

    @property
    def shown(self) -> dict[int, str]:
        return {int(part): state for part, state in self.words("shown")}

    @property
    def result(self) -> dict[str, Any] | None:
        found = [line for line in self.lines if line.startswith("result ")]
        return json.loads(found[0].partition(" ")[2]) if found else None


class Running:
    """A process while it judges."""

    def __init__(self, pipe: int) -> None:
        self._pipe = pipe
        self._rest = b""
        self.told = Told(time.time())
        self.pid = 0
        assert self._read_until("pid", 1)
        self.pid = int(self.told.lines[0].split()[1])

    def kill_at(self, moment: Moment) -> Told:
        """Let it run up to a moment and kill it, unless it ends before; what it told until then."""
        if self._read_until(moment.line, moment.times):
            # The delay is the random moment itself.
            time.sleep(moment.delay)
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)
            return self.finish(dies=True)
        return self.finish()

    def finish(self, *, dies: bool = False) -> Told:
        """All that it tells to its end, which is no good one where it `dies`."""
        self._read_until("no such line", 1)
        os.close(self._pipe)
        self.told.killed = "closed" not in self.told.lines
        assert dies or not self.told.killed, self.told.lines[-5:]
        return self.told

    def _read_until(self, line: str, times: int) -> bool:
        """Read until a line was told so many times; False where the process ends before."""
        wanted, seen = re.compile(line), 0
        checked = 0
        while True:
            for each in itertools.islice(self.told.lines, checked, None):
                seen += wanted.match(each) is not None
                if seen == times:
                    return True
            checked = len(self.told.lines)
            assert select.select([self._pipe], [], [], PATIENCE)[0], "it hangs"
            data = os.read(self._pipe, 1 << 16)
            if not data:
                return False
            *lines, self._rest = (self._rest + data).split(b"\n")
            self.told.lines += [line.decode() for line in lines]


class Stage:
    """Where stories are played: the session, its undisturbed result, and who forks processes."""

    def __init__(self, folder: Path, nursery: subprocess.Popen[str]) -> None:
        self.folder = folder
        self._nursery = nursery
        self._count = itertools.count()
        self.session = write_events(folder / "session.jsonl", _events())
        self.judged_store = folder / "undisturbed.sqlite"
        told = self.begin(self.judged_store).finish()
        assert told.result is not None
        self.undisturbed = comparable(told.result)
        self.states = told.shown

    def begin(
        self, store: Path, *, seed: int = 0, fresh: bool = False, fault: str | None = None
    ) -> Running:
        pipe = self.folder / f"pipe{next(self._count)}"
        os.mkfifo(pipe)
        job = {"pipe": str(pipe), "session": str(self.session), "store": str(store), "seed": seed}
        assert self._nursery.stdin is not None
        self._nursery.stdin.write(json.dumps(job | {"fresh": fresh, "fault": fault}) + "\n")
        self._nursery.stdin.flush()
        reader = os.open(pipe, os.O_RDONLY)
        pipe.unlink()
        return Running(reader)

    def new_store(self) -> Path:
        """Where a story's store stands, alone in its folder."""
        folder = self.folder / f"story{next(self._count)}"
        folder.mkdir()
        return folder / "store.sqlite"

    def old_store(self, version: int, kept: int) -> Path:
        """A store of an older schema, with the verdicts of so many chunks."""
        path = self.new_store()
        with closing(sqlite3.connect(path)) as old:
            old.create_function("known_real_path", 1, known_real_path)
            for statement in itertools.chain.from_iterable(MIGRATIONS[:version]):
                old.execute(statement)
            names = ", ".join(row[1] for row in old.execute("PRAGMA table_info(verdicts)"))
            old.execute("ATTACH ? AS judged", (str(self.judged_store),))
            old.execute(
                f"INSERT INTO verdicts ({names}) SELECT {names} FROM judged.verdicts LIMIT ?",
                (kept,),
            )
            old.execute(f"PRAGMA user_version = {version}")
            old.commit()
        return path

    def full_store(self) -> Path:
        """A store that has every verdict already."""
        path = self.new_store()
        shutil.copy(self.judged_store, path)
        return path


@contextmanager
def stage(folder: Path) -> Generator[Stage]:
    nursery = subprocess.Popen([sys.executable, str(_CHILD)], stdin=subprocess.PIPE, text=True)
    try:
        yield Stage(folder, nursery)
    finally:
        assert nursery.stdin is not None
        nursery.stdin.close()
        nursery.wait(PATIENCE)


def _events() -> list[dict[str, object]]:
    """Different chunks, a third of them with something that the rules flag."""
    made = events(CHUNKS)
    for number in range(1, CHUNKS, 3):
        command = f"git push --force origin main # item {number:04d} {'of the agent ' * 16}"
        made[number] = {"kind": "tool_call", "tool": "Bash", "input": {"command": command}}
    return made


def comparable(result: dict[str, Any]) -> dict[str, Any]:
    """What a result says about the session, and not about the run that gave it."""
    parts = [(part["part"], part["state"], part["reason"]) for part in result["parts"]]
    names = ("status", "score", "findings", "gaps", "evidence", "criteria", "holds_left")
    return {name: result[name] for name in names} | {"parts": parts}


class Story:
    """The processes that worked on one store, in the order of their beginning."""

    def __init__(self, at: Stage, store: Path) -> None:
        self.at = at
        self.store = store
        self.told: list[Told] = []
        self._kept_before = 0
        if store.exists():
            [(self._kept_before,)] = rows(store, "SELECT count(*) FROM verdicts")

    @property
    def kills(self) -> int:
        return sum(told.killed for told in self.told)

    @property
    def left(self) -> int:
        """How many chunks were not shown yet."""
        return CHUNKS - len(self.shown)

    @property
    def shown(self) -> set[int]:
        return {part for told in self.told for part in told.shown}

    def run(self, moment: Moment | None = None, *, look: bool = True, **options: Any) -> Told:
        """One process from its beginning to its end, or to its death."""
        shown_before = self.shown
        running = self.at.begin(self.store, seed=len(self.told), **options)
        crashes = options.get("fault") is not None
        told = running.kill_at(moment) if moment else running.finish(dies=crashes)
        self.told.append(told)
        if not options.get("fresh"):
            assert not told.asked.keys() & shown_before, "asked although it was shown"
        if look:
            self.look()
        return told

    def run_two(self, moment: Moment) -> None:
        """Two at once, one of which dies; the other takes over what it was asking."""
        other = self.at.begin(self.store, seed=1)
        self.told.append(self.at.begin(self.store, seed=2).kill_at(moment))
        self.told.append(other.finish())
        assert self.told[-1].result is not None
        assert comparable(self.told[-1].result) == self.at.undisturbed

    def look(self) -> None:
        """What was ever shown is in the store, and the store is in order."""
        if not self.store.exists() or not self.store.stat().st_size:
            assert not self.shown
            return
        assert rows(self.store, "PRAGMA integrity_check") == [("ok",)]
        [(version, tables)] = rows(
            self.store,
            "SELECT user_version, (SELECT count(*) FROM sqlite_master) FROM pragma_user_version",
        )
        if not version:
            assert not self.shown
            assert not tables, "half of a schema"
            return
        [(kept,)] = rows(self.store, "SELECT count(*) FROM verdicts")
        assert kept >= max(self._kept_before, len(self.shown))

    def end(self) -> Told:
        """Judge the rest undisturbed: nothing is lost, asked for nothing, or left held."""
        last = self.run()
        assert last.result is not None
        assert comparable(last.result) == self.at.undisturbed
        assert last.shown == self.at.states
        for told in self.told:
            assert told.shown.items() <= self.at.states.items()
        self._check_clean()
        return last

    def check_questions(self) -> None:
        """Nothing was asked twice but what died unanswered."""
        asked: Counter[int] = sum((told.asked for told in self.told), Counter[int]())
        in_flight = Counter(
            part for told in self.told if told.killed for part in told.asked.keys() - told.shown
        )
        for part, times in asked.items():
            assert times <= 1 + in_flight[part], f"part {part} was asked {times} times"
        assert asked.total() + self._kept_before <= CHUNKS + in_flight.total()

    def _check_clean(self) -> None:
        self.look()
        assert rows(self.store, "SELECT * FROM leases") == []
        assert rows(self.store, "SELECT * FROM owners") == []
        name = self.store.name
        extra = {each.name.removeprefix(name) for each in self.store.parent.iterdir()}
        extra = {each for each in extra if not re.fullmatch(r"\.schema-[1-9]\.backup", each)}
        assert extra <= {""}, extra


def rows(store: Path, sql: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(store)) as connection:
        return connection.execute(sql, values).fetchall()


PLAIN = ("start", "opening", "sweep", "lease", "asking", "commit", "shown", "ending", "record")
IN_THE_MIDDLE = ("lease", "asking", "commit", "shown", "ending")
KINDS = ("plain", "two", "fresh", "plain", "old")


def random_phases(kind: str, chance: random.Random) -> Sequence[str]:
    """When the processes of a story of that kind die."""
    some = chance.choices((*PLAIN, "closing"), k=chance.randint(1, 4))
    match kind:
        case "old":
            return ["migration"] * chance.randint(1, 3) + some
        case "two":
            return [*some[: chance.randint(0, 2)], chance.choice(IN_THE_MIDDLE)]
        case "fresh":
            return chance.choices(IN_THE_MIDDLE, k=chance.randint(1, 3))
        case _:
            return some


def play(at: Stage, kind: str, seed: int, phases: Sequence[str] | None = None) -> Story:
    """A story with every check, whose processes die in these phases, or at any moment.

    `plain`: one after the other; `two`: the last two at once; `old`: on a store of an older
    schema; `fresh`: all chunks have a verdict and are asked again.
    """
    chance = random.Random(f"{kind} {seed}")
    phases = random_phases(kind, chance) if phases is None else phases
    if kind == "fresh":
        return _anew(at, chance, phases)
    story = Story(at, at.old_store(chance.randint(1, 3), 5) if kind == "old" else at.new_store())
    alone = phases[:-1] if kind == "two" else phases
    for phase in alone:
        # Whoever looks at the store brings it in order, which the next process may have to.
        story.run(moment_in(phase, chance, story.left), look=chance.random() < 0.5)
    if kind == "two":
        story.run_two(moment_in(phases[-1], chance, story.left // 2))
    story.end()
    story.check_questions()
    return story


def _anew(at: Stage, chance: random.Random, phases: Sequence[str]) -> Story:
    """Everything is asked again and killed: of each verdict the older or the newer stands."""
    story = Story(at, at.full_store())
    every = "SELECT key, created FROM verdicts UNION ALL SELECT key, created FROM earlier_verdicts"
    before = set(rows(story.store, every))
    for phase in phases:
        told = story.run(moment_in(phase, chance), fresh=True)
        newest = dict(rows(story.store, "SELECT key, created FROM verdicts"))
        assert len(newest) == CHUNKS, "a verdict is gone"
        assert sum(created >= told.begun for created in newest.values()) >= len(told.shown)
        after = rows(story.store, every)
        assert before <= set(after), "a verdict is no history"
        assert len(after) == len(set(after)), "a verdict is there twice"
        before = set(after)
    assert not story.end().asked
    return story


def crash(at: Stage, verdicts: int) -> Story:
    """A process that a forced failure kills once so many verdicts are committed."""
    story = Story(at, at.new_store())
    died = story.run(fault=f"crash={verdicts}")
    assert died.killed
    [(kept,)] = rows(story.store, "SELECT count(*) FROM verdicts")
    assert kept >= max(verdicts, len(died.shown))
    story.end()
    story.check_questions()
    return story
