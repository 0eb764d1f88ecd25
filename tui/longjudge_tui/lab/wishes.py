"""What can be picked in the failure lab, the spec that comes of it, and what that spec does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from longjudge.faults import KINDS, FaultKind, Parts, Share
from longjudge.settings import in_seconds

if TYPE_CHECKING:
    from longjudge.faults import Fault, Forced

NONE: Final = "none"
NONE_HELP: Final = "every question goes to the judge"

SHARE: Final = "30%"
OTHER_SEED: Final = 7

_WAITS: Final = frozenset({FaultKind.RATE_LIMITED, FaultKind.OVERLOADED, FaultKind.SERVER_ERROR})

_ENDS: Final[dict[FaultKind, str]] = {
    FaultKind.TIMEOUT: "running until the limit, then timed_out; cancel stops it sooner",
    FaultKind.SLOW: "running longer; cut off where the limit comes first",
    FaultKind.RATE_LIMITED: "everything waits, retries, and ends as rate_limited",
    FaultKind.OVERLOADED: "everything waits, retries, and ends as rate_limited",
    FaultKind.SERVER_ERROR: "retried, and ends as provider_error",
    FaultKind.DROP: "retried, and ends as provider_error",
    FaultKind.BAD_JSON: "asked once more, and ends as unparsable",
    FaultKind.TRUNCATED: "asked once more with a larger cap, and ends as truncated",
    FaultKind.REFUSAL: "ends as refused",
    FaultKind.EMPTY: "asked once more, and ends as unparsable",
    FaultKind.THINKING_ONLY: "asked once more with a larger cap, and ends as truncated",
    FaultKind.FULL_DISK: "judging goes on, every screen says that nothing is kept",
    FaultKind.CRASH: "what was judged stays; open the app again, and r goes on",
}


@dataclass(frozen=True, slots=True)
class Option:
    """One way to fill a place of a spec, and how it reads."""

    spec: str
    words: str


_ALWAYS: Final = (
    Option("", "always"),
    Option("x1", "first question"),
    Option("x2", "first 2"),
    Option("x3", "first 3"),
)
_UNUSED: Final = (Option("", "–"),)


def kinds() -> list[tuple[str, str]]:
    """The rows: no failure, then every kind with its line of help."""
    return [(NONE, NONE_HELP), *((kind.name, kind.help) for kind in KINDS)]


def places(kind: str, here: int | None, parts: int = 0) -> tuple[Option, ...]:
    """Where a kind may strike; `here` is the part under the cursor, of so many `parts`."""
    if kind in (NONE, FaultKind.CRASH):
        return _UNUSED
    part = () if here is None else (Option(f"@{here}", f"part {here}"),)
    rest = ()
    if here is not None and here < parts:
        rest = (Option(f"@{here}-{parts}", f"from {here} on"),)
    return (
        Option("", "all chunks"),
        *part,
        *rest,
        Option(f"@{SHARE}", "30 %"),
        Option(f"@{SHARE}:{OTHER_SEED}", "another 30 %"),
    )


def times(kind: str) -> tuple[Option, ...]:
    """How often it may."""
    if kind == NONE or not FaultKind(kind).meets_questions:
        return _UNUSED
    return _ALWAYS


def values(kind: str) -> tuple[Option, ...]:
    """The numbers that it may have; the first is the usual one."""
    if kind == FaultKind.CRASH:
        return tuple(Option(f"={n}", f"{n} verdict{'s' if n > 1 else ''}") for n in (3, 1, 10))
    if kind == FaultKind.SLOW:
        return tuple(Option(f"={n}", f"{n} s late") for n in ("2", "0.5", "10"))
    if kind in _WAITS:
        wait = (Option(f"={n}", f"wait {n} s") for n in ("2", "20"))
        return (Option("", "no wait named"), *wait)
    return _UNUSED


def words_of(fault: Fault) -> list[str]:
    """What a fault does, a line for each of its failures."""
    return [_words(forced) for forced in fault.forced]


def _words(forced: Forced) -> str:
    ends = _ENDS[forced.kind]
    if forced.kind is FaultKind.CRASH:
        number = int(forced.value or 0)
        verdicts = "1 verdict is" if number == 1 else f"{number:,} verdicts are"
        return f"when {verdicts} committed the app is killed (kill -9): {ends}"
    what = next(kind.help for kind in KINDS if kind.name == forced.kind).partition(";")[0]
    if forced.value is not None:
        seconds = in_seconds(forced.value)
        late = forced.kind is FaultKind.SLOW
        what = f"the answer comes {seconds} s late" if late else f"{what}, wait {seconds} s"
    if forced.times is not None:
        first = "first question" if forced.times == 1 else f"first {forced.times:,} questions"
        return f"{_where(forced)}: {what}, for the {first}; then the judge answers"
    return f"{_where(forced)}: {what} – {ends}"


def _where(forced: Forced) -> str:
    match forced.where:
        case None:
            return "every chunk"
        case Share(percent, seed):
            by_seed = f", seed {seed}" if seed else ""
            return f"{in_seconds(percent)} % of the chunks{by_seed}"
        case Parts() as parts:
            return f"part {parts.spec}"
