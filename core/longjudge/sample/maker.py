"""Makes a long session with planted problems, one scene after the other, from a seed.

Nothing but the project's state, counts and the list of what was planted is held, so that a
session of a million events takes no more memory than one of a thousand.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from longjudge.sample import scenes
from longjudge.sample.beats import CRITERIA, SEEN_BY_RULES, Kind, think
from longjudge.sample.dice import Dice
from longjudge.sample.project import Project
from longjudge.sample.records import Recorder
from longjudge.sample.stage import Stage
from longjudge.sample.trouble import TROUBLE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import BinaryIO

    from longjudge.sample.beats import Beat

SAMPLE_VERSION = "1"
"""Names what is made of a seed; raised whenever the same seed gives another session."""

MIN_EVENTS = 50
MAX_EVENTS = 10_000_000

_IN_SUBAGENT = 0.2
_CONTEXT_EVENTS = 380
_TOLD_EVERY = 2_000


@dataclass(frozen=True, slots=True)
class Planted:
    """A planted problem: the number of its event in the session, and what is wrong there.

    `criterion` is the one of the built-in rubric that asks about it, None where none does;
    `rules` says whether the offline rules can see it.
    """

    event: int
    thread: str
    kind: Kind
    what: str
    criterion: str | None
    quote: str
    rules: bool

    def to_dict(self) -> dict[str, str | int | bool | None]:
        """The JSON form."""
        return {
            "event": self.event,
            "thread": self.thread,
            "kind": self.kind.value,
            "what": self.what,
            "criterion": self.criterion,
            "quote": self.quote,
            "rules": self.rules,
        }


@dataclass(frozen=True, slots=True)
class Sample:
    """What was made: counts, and the planted problems in the order of their events."""

    events: int
    bytes: int
    planted: tuple[Planted, ...]


def make_sample(
    stream: BinaryIO,
    events: int,
    seed: int,
    on_progress: Callable[[int], None] | None = None,
) -> Sample:
    """Write a session with exactly so many events to a stream.

    The same number, seed and version of the maker give the same bytes on every computer.
    `on_progress` is called with the events written so far, now and then.
    """
    maker = _Maker(stream, events, Dice(f"longjudge sample {SAMPLE_VERSION} {events} {seed}"))
    told = 0
    for written in maker.turns():
        if on_progress is not None and written - told >= _TOLD_EVERY:
            told = written
            on_progress(written)
    planted = tuple(
        Planted(
            event,
            f"agent-{each.agent}" if each.agent else "main",
            each.plant.kind,
            each.plant.what,
            CRITERIA[each.plant.kind],
            each.plant.quote,
            each.plant.kind in SEEN_BY_RULES,
        )
        for event, each in maker.recorder.event_numbers()
    )
    return Sample(maker.recorder.events, maker.recorder.bytes, planted)


def planted_in(events: int) -> int:
    """How many problems a session of so many events gets."""
    return min(events // 25, len(Kind) + min(events // 400, 24 + events // 5_000))


class _Maker:
    """Plays scenes until the session has its events."""

    def __init__(self, stream: BinaryIO, events: int, dice: Dice) -> None:
        self.recorder = Recorder(stream, dice)
        self._events = events
        self._dice = dice
        self._stage = Stage(dice, Project(dice))
        self._scenes = [scene for scene, weight in scenes.SCENES for _ in range(weight)]
        self._since_compaction = 0
        self._due = self._plan()

    def turns(self) -> Iterator[int]:
        """Play turn by turn; gives the events so far after each."""
        while self._left:
            self._turn()
            yield self.recorder.events

    @property
    def _left(self) -> int:
        return self._events - self.recorder.events

    def _plan(self) -> list[tuple[int, Kind]]:
        """Which problem is due from which event on, the last one first."""
        count = planted_in(self._events)
        kinds: list[Kind] = []
        while len(kinds) < count:
            # What the rules see comes first, so that the shortest session shows it.
            first = not kinds
            kinds += list(TROUBLE) if first and count < len(TROUBLE) else self._mixed()
        step = 0.92 * self._events / max(1, count)
        due = [
            (int((place + self._dice.between(10, 80) / 100) * step), kind)
            for place, kind in enumerate(kinds[:count])
        ]
        return due[::-1]

    def _mixed(self) -> list[Kind]:
        return self._dice.shuffled(tuple(TROUBLE))

    def _turn(self) -> None:
        """The user asks, the agent works and says what came of it."""
        if self._since_compaction > _CONTEXT_EVENTS and self._left > 8:
            self._play(scenes.compact(self._stage))
            self._since_compaction = 0
        asked = scenes.ask(self._stage, self._dice.pick(self._stage.project.files))
        if len(asked) >= self._left:
            self._fill()
            return
        self._play(asked)
        self.recorder.bookkeeping()
        for _ in range(self._dice.between(2, 9)):
            scene = self._problem() or self._dice.pick(self._scenes)(self._stage)
            if len(scene) >= self._left:
                break
            self._play(scene)
            if _ends_the_turn(scene):
                return
        if self._left < 12:
            self._fill()
        else:
            self._play([scenes.close(self._stage)])

    def _problem(self) -> list[Beat] | None:
        """The next planted problem, where one is due and has room."""
        if not self._due or self.recorder.events < self._due[-1][0]:
            return None
        scene = TROUBLE[self._due[-1][1]](self._stage)
        if self._dice.chance(_IN_SUBAGENT):
            whole = scenes.have_done(self._stage, scene)
            scene = whole if len(whole) < self._left else scene
        if len(scene) >= self._left:
            return None
        self._due.pop()
        return scene

    def _fill(self) -> None:
        """Come to the end with exactly the events that were asked for."""
        while self._left > 2:
            self._play(scenes.read(self._stage))
        if self._left > 1:
            self._play([think("Nothing is left to do but to say what changed.")])
        self._play([scenes.close(self._stage)])

    def _play(self, beats: list[Beat]) -> None:
        for beat in beats:
            self.recorder.record(beat)
        self._since_compaction += len(beats)


def _ends_the_turn(beats: list[Beat]) -> bool:
    """A promise is broken once the user speaks again; until then it may still be kept."""
    return any(
        beat.plant is not None and beat.plant.kind is Kind.BROKEN_PROMISE and not beat.agent
        for beat in beats
    )
