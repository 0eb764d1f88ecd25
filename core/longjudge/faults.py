"""Failures that are forced on purpose: what a spec such as `429x2@1-3+slow=0.5` asks for.

A spec is FAULT{+FAULT}, and each FAULT is KIND[=VALUE][xTIMES][@WHERE]. WHERE names parts
(`3,7-9`) or a share of the chunks (`30%`, `30%:SEED`), which is the same in every run; without it
every chunk is met. With xTIMES only the first so many questions about each chunk are.

Here is only what is asked for. `judges.faulty` stands in front of a judge, `keeping` in front of
the store.
"""

from __future__ import annotations

import os
import re
import signal
from bisect import bisect_right
from collections.abc import Callable  # noqa: TC003 - a field's type
from dataclasses import dataclass, field
from difflib import get_close_matches
from enum import StrEnum
from hashlib import sha256
from typing import NamedTuple, NoReturn

from longjudge.errors import UsageError
from longjudge.settings import in_seconds
from longjudge.text import clean_line

MAX_SECONDS = 3600.0
MAX_NUMBER = 10**6
MAX_FAILURES = 20
"""How many failures a spec may name: each is held against all others, and against each question."""

_FORM = "KIND[=VALUE][xTIMES][@PARTS or @SHARE%[:SEED]], e.g. 429=2x3@1-3"


class FaultKind(StrEnum):
    """What fails."""

    TIMEOUT = "timeout"
    SLOW = "slow"
    RATE_LIMITED = "429"
    OVERLOADED = "529"
    SERVER_ERROR = "500"
    DROP = "drop"
    BAD_JSON = "badjson"
    TRUNCATED = "truncated"
    REFUSAL = "refusal"
    EMPTY = "empty"
    THINKING_ONLY = "thinking-only"
    FULL_DISK = "full-disk"
    CRASH = "crash"

    @property
    def meets_questions(self) -> bool:
        """Whether it meets questions; the others meet the store and the process."""
        return self not in (FaultKind.FULL_DISK, FaultKind.CRASH)

    @property
    def keeps_back(self) -> bool:
        """Whether a question that it meets is never sent."""
        return self.meets_questions and self is not FaultKind.SLOW


class Kind(NamedTuple):
    """One kind for people: its name, whether it needs a value, and what it does."""

    name: str
    needs_value: bool
    help: str


KINDS = (
    Kind("timeout", False, "no answer ever comes"),
    Kind("slow", True, "the answer comes S seconds late (slow=S)"),
    Kind("429", False, "too many requests; 429=S asks to wait S seconds"),
    Kind("529", False, "the provider is overloaded; 529=S asks to wait S seconds"),
    Kind("500", False, "an error of the provider's"),
    Kind("drop", False, "the connection breaks"),
    Kind("badjson", False, "the reply's JSON is broken"),
    Kind("truncated", False, "the reply is cut off"),
    Kind("refusal", False, "the judge refuses to answer"),
    Kind("empty", False, "the reply is empty"),
    Kind("thinking-only", False, "the reply is cut off before its first word"),
    Kind("full-disk", False, "the store takes nothing"),
    Kind("crash", True, "the process is killed once N verdicts are committed (crash=N)"),
)
"""Every kind, in the order in which people read them."""

_NEEDS_VALUE = frozenset(kind.name for kind in KINDS if kind.needs_value)
_TAKES_SECONDS = frozenset(
    {
        FaultKind.SLOW,
        FaultKind.RATE_LIMITED,
        FaultKind.OVERLOADED,
        FaultKind.SERVER_ERROR,
    }
)


@dataclass(frozen=True, slots=True)
class Parts:
    """Chosen parts, as ascending runs that do not touch."""

    runs: tuple[tuple[int, int], ...]

    @property
    def spec(self) -> str:
        """As a spec has it."""
        return ",".join(f"{a}" if a == b else f"{a}-{b}" for a, b in self.runs)

    def meets(self, part: int, tag: str) -> bool:
        """Whether the part is one of them."""
        before = bisect_right(self.runs, (part, MAX_NUMBER))
        return before > 0 and part <= self.runs[before - 1][1]


@dataclass(frozen=True, slots=True)
class Share:
    """So many of a hundred chunks, decided by what the chunk holds and the seed alone."""

    percent: float
    seed: int = 0

    @property
    def spec(self) -> str:
        """As a spec has it."""
        return f"{in_seconds(self.percent)}%" + (f":{self.seed}" if self.seed else "")

    def meets(self, part: int, tag: str) -> bool:
        """Whether the chunk of that tag is in the share; a larger share holds a smaller one."""
        drawn = sha256(f"{self.seed}:{tag}".encode("utf-8", "replace")).digest()
        return int.from_bytes(drawn[:8], "big") < self.percent / 100 * 2**64


@dataclass(frozen=True, slots=True)
class Forced:
    """One failure: `value` is seconds, or verdicts of a crash; None is every time, everywhere."""

    kind: FaultKind
    value: float | None = None
    times: int | None = None
    where: Parts | Share | None = None

    @property
    def spec(self) -> str:
        """The failure as a spec has it."""
        value = "" if self.value is None else f"={in_seconds(self.value)}"
        times = "" if self.times is None else f"x{self.times}"
        where = "" if self.where is None else f"@{self.where.spec}"
        return f"{self.kind.value}{value}{times}{where}"

    def meets(self, part: int, tag: str) -> bool:
        """Whether it meets the chunk of that part (from 1) and tag; a crash meets none."""
        if self.kind is FaultKind.CRASH:
            return False
        return self.where is None or self.where.meets(part, tag)

    @property
    def keeps_nothing(self) -> bool:
        """Whether no verdict is committed beside it."""
        always = self.where is None and self.times is None
        return always and (self.kind.keeps_back or self.kind is FaultKind.FULL_DISK)

    def always_meets(self, part: int, tag: str) -> bool:
        """Whether it meets every question about the chunk."""
        return self.times is None and self.meets(part, tag)


def kill_process() -> None:
    """End this process as `kill -9` does: nothing is cleaned up."""
    os.kill(os.getpid(), signal.SIGKILL)


@dataclass(slots=True)
class _Tally:
    """Verdicts committed so far, over all judgments of a run."""

    committed: int = 0


@dataclass(frozen=True, slots=True)
class Fault:
    """Everything that a spec asks for; `kill` is what a crash does.

    All judgments of a run are given the same one, since a crash counts their verdicts together;
    `dataclasses.replace` makes one that begins to count anew.
    """

    forced: tuple[Forced, ...]
    kill: Callable[[], None] = field(default=kill_process, compare=False, repr=False)
    _tally: _Tally = field(default_factory=_Tally, init=False, compare=False, repr=False)

    @classmethod
    def parse(cls, spec: str) -> Fault:
        """Read a spec.

        Raises:
            UsageError: names the fault in it, and the way out.
        """
        pieces = spec.split("+", MAX_FAILURES)
        if len(pieces) > MAX_FAILURES:
            _refuse(spec, f"it names more than {MAX_FAILURES} failures; leave some out")
        forced = tuple(_read(piece.strip()) for piece in pieces)
        for number, later in enumerate(forced):
            for earlier in forced[:number]:
                _check_reached(earlier, later)
        return cls(forced)

    @property
    def spec(self) -> str:
        """The spec, in its one canonical form."""
        return "+".join(forced.spec for forced in self.forced)

    def __str__(self) -> str:
        return self.spec

    def meets(self, part: int, tag: str) -> bool:
        """Whether any failure may meet the chunk of that part (from 1) and tag."""
        return any(forced.meets(part, tag) for forced in self.forced)

    def of_question(self, part: int, tag: str, number: int) -> list[Forced]:
        """What meets the so manieth question (from 1) about a chunk, in order.

        Only the last of them may keep the question back.
        """
        met: list[Forced] = []
        for forced in self.forced:
            in_time = forced.times is None or number <= forced.times
            if forced.kind.meets_questions and in_time and forced.meets(part, tag):
                met.append(forced)
                if forced.kind.keeps_back:
                    break
        return met

    def keeps_back(self, part: int, tag: str) -> bool:
        """Whether no question about the chunk is ever sent."""
        return any(each.kind.keeps_back and each.always_meets(part, tag) for each in self.forced)

    def fills_disk(self, part: int, tag: str) -> bool:
        """Whether the store takes no verdict about the chunk."""
        return any(
            forced.kind is FaultKind.FULL_DISK and forced.meets(part, tag) for forced in self.forced
        )

    @property
    def fills_whole_disk(self) -> bool:
        """Whether the store takes nothing at all."""
        return any(
            forced.kind is FaultKind.FULL_DISK and forced.where is None for forced in self.forced
        )

    def committed(self) -> None:
        """One more verdict is committed; the process ends here where that was the last one."""
        self._tally.committed += 1
        for forced in self.forced:
            if forced.kind is FaultKind.CRASH and self._tally.committed == forced.value:
                self.kill()


def forced_words(spec: str) -> str:
    """What is said wherever failures are forced, so that none looks like a real one."""
    return f"forced failures: {spec}; nothing they make is kept"


def _read(piece: str) -> Forced:
    """One failure of a spec."""
    head, at, where = piece.partition("@")
    name, sign, value = head.partition("=")
    rest, times = _split_times(value if sign else name)
    if sign:
        value = rest
    else:
        name = rest
    _check_order(piece, name if sign else "", value, where)
    kind = _kind(piece, name)
    forced = Forced(
        kind,
        _value(piece, kind, value if sign else None),
        _number(piece, times, f"x{times} says how often") if times is not None else None,
        _where(piece, where) if at else None,
    )
    if times is not None and not kind.meets_questions:
        _refuse(piece, f"{kind} meets no questions; leave x{times} out")
    if at and kind is FaultKind.CRASH:
        _refuse(piece, f"crash counts verdicts, whatever their part; leave @{where} out")
    return forced


def _split_times(text: str) -> tuple[str, str | None]:
    """What stands before `xTIMES`, and the times."""
    match = re.fullmatch(r"(.*)x([0-9]+)", text)
    return (match[1], match[2]) if match else (text, None)


def _check_order(piece: str, name: str, value: str, where: str) -> None:
    """Refuse what is there and stands in the wrong place; `name` only where a value follows."""
    misplaced = (
        _split_times(name)[1] is not None
        or re.search(r"x[0-9]*$|=", where)
        or "=" in value
        or "@" in where
    )
    if misplaced:
        _refuse(piece, f"its pieces are out of order; write {_FORM}")


def _kind(piece: str, name: str) -> FaultKind:
    try:
        return FaultKind(name)
    except ValueError:
        pass
    names = [kind.name for kind in KINDS]
    close = get_close_matches(name.strip().lower(), names, n=1)
    known = f"did you mean `{close[0]}`?" if close else f"the kinds are {', '.join(names)}"
    _refuse(piece, f"{'no such kind of failure' if name else 'no failure is named'}; {known}")


def _value(piece: str, kind: FaultKind, value: str | None) -> float | None:
    if value is None:
        if kind in _NEEDS_VALUE:
            _refuse(piece, f"it needs a number; write e.g. {_example(kind)}")
        return None
    if kind is FaultKind.CRASH:
        return float(_number(piece, value, f"={value} says after how many verdicts"))
    if kind not in _TAKES_SECONDS:
        _refuse(piece, f"{kind} takes no value; leave ={value} out")
    if not re.fullmatch(r"[0-9]{1,5}(\.[0-9]{1,6})?|\.[0-9]{1,6}", value):
        _refuse(piece, f"={value} is no number of seconds; write e.g. {_example(kind)}")
    seconds = float(value)
    if not 0 < seconds <= MAX_SECONDS:
        most = in_seconds(MAX_SECONDS)
        _refuse(piece, f"={value} is out of range; use more than 0 and at most {most} seconds")
    return seconds


def _example(kind: FaultKind) -> str:
    return f"{kind}=3" if kind is FaultKind.CRASH else f"{kind}=0.5"


def _where(piece: str, where: str) -> Parts | Share:
    if not where:
        _refuse(piece, "nothing stands behind @; name parts (@3,7-9) or a share (@30%)")
    if "%" in where:
        return _share(piece, where)
    runs: list[tuple[int, int]] = []
    for item in where.split(","):
        ends = item.split("-")
        if len(ends) > 2:
            _refuse(piece, f"{item} is no part; write e.g. @3,7-9")
        first, last = (_number(piece, end, f"{item} is no part") for end in (ends[0], ends[-1]))
        if first > last:
            _refuse(piece, f"{item} is no range of parts; write {last}-{first}")
        runs.append((first, last))
    return Parts(_joined(runs))


def _share(piece: str, where: str) -> Share:
    match = re.fullmatch(r"([0-9]{1,9}(?:\.[0-9]{1,6})?)%(?::([0-9]{1,9}))?", where)
    if match is None:
        _refuse(piece, f"{where} is no share; write e.g. @30% or, by a seed, @30%:7")
    percent = float(match[1])
    if not 0 < percent <= 100:
        _refuse(piece, f"a share of {match[1]}% is out of range; use more than 0% and at most 100%")
    return Share(percent, int(match[2] or 0))


def _joined(runs: list[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    joined: list[tuple[int, int]] = []
    for first, last in sorted(runs):
        if joined and first <= joined[-1][1] + 1:
            joined[-1] = joined[-1][0], max(joined[-1][1], last)
        else:
            joined.append((first, last))
    return tuple(joined)


def _number(piece: str, text: str, what: str) -> int:
    """A count from 1."""
    if not re.fullmatch(r"[0-9]{1,10}", text) or not 1 <= int(text) <= MAX_NUMBER:
        _refuse(piece, f"{what}; use a whole number from 1 to {MAX_NUMBER}")
    return int(text)


def _check_reached(earlier: Forced, later: Forced) -> None:
    """Refuse a failure that nothing can come to because of one before or beside it."""
    if earlier.kind is later.kind is FaultKind.CRASH:
        _refuse(later.spec, "a process is killed once; leave one crash out")
    for first, second in ((earlier, later), (later, earlier)):
        if second.kind is FaultKind.CRASH and first.keeps_nothing:
            _refuse(second.spec, f"with {first.spec} no verdict is committed; choose parts for it")
    shadows = earlier.kind.keeps_back and earlier.times is None and later.kind.meets_questions
    if shadows and earlier.where in (None, later.where):
        _refuse(later.spec, f"{earlier.spec} meets every question before it; leave one out")


def _refuse(piece: str, fault: str) -> NoReturn:
    shown = clean_line(piece, 60) or "without a name"
    raise UsageError(clean_line(f"fault {shown}: {fault}", 400))
