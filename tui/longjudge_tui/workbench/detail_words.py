"""What the panel of a text says about it: its title, its finding, why there is none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from longjudge.result import correction_words
from longjudge.states import GapReason
from longjudge_tui.wording import plural

if TYPE_CHECKING:
    from collections.abc import Sequence

    from longjudge.result import ResultFinding

GAP_WORDS: dict[GapReason, str] = {
    GapReason.UNPARSABLE: "two replies in a row were not the agreed JSON",
    GapReason.TRUNCATED: "the reply was cut off, also with a larger cap",
    GapReason.REFUSED: "the model declined",
    GapReason.TOO_LARGE: "the request does not fit the model",
    GapReason.RATE_LIMITED: "the provider would not answer for now, however often it was asked",
    GapReason.PROVIDER_ERROR: "the provider answered with an error, or not at all",
    GapReason.TIMED_OUT: "asked, and cut off by the time limit",
    GapReason.CANCELLED: "cut off by a cancel",
    GapReason.SKIPPED: "never asked: the judgment ended before",
}


@dataclass(frozen=True, slots=True)
class Title:
    """The words of the title; what comes first is said in every width."""

    name: str
    header: str = ""
    facts: str = ""
    thread: str = ""
    line: str = ""
    secrets: str = ""

    def variants(self, place: str) -> list[str]:
        """The title from its longest form to its shortest; `place` is that of the finding."""
        named = f"thread {self.thread}" if self.thread else ""
        secrets = self.secrets
        choices = (
            [self.name, secrets, self.header, place, named, self.facts, self.line],
            [self.name, secrets, self.header, place, self.thread, self.facts, self.line],
            [self.name, secrets, self.header, place, named, self.line],
            [self.name, secrets, self.header, place, self.thread, self.line],
            [self.name, secrets, self.header, place, self.thread],
            [self.name, secrets, place, named],
            [self.name, secrets, place, self.thread],
            [self.name, secrets, place or self.header],
            [self.name, secrets, place],
            [self.name, secrets],
            [self.name, place.removeprefix("finding ")],
            [self.name],
        )
        return [" · ".join(each for each in choice if each) for choice in choices]


@dataclass(frozen=True, slots=True)
class About:
    """What is known about a finding beside what it says itself; its words may be foreign."""

    place: str = ""
    criterion: str = ""
    severity: str = ""
    mark: str = ""


def verified_words(finding: ResultFinding, *, unread: bool = False) -> str:
    """Whether what a finding says was found, and what was not.

    `unread` says that the event cannot be read again, so that nothing is known about it now.
    """
    if finding.event is None:
        return "? no such event: start of the chunk"
    if finding.quote and unread:
        return "? quote cannot be checked"
    if finding.verified:
        return " · ".join(filter(None, ["✓ quote verified", correction_words(finding)]))
    return "? quote not found" if finding.quote else "? no quote given"


def no_hits(event: int, text: str) -> Sequence[tuple[int, int]] | None:
    """Nothing is searched for."""
    return ()


def secrets_words(count: int) -> str:
    """How many stretches stand out since a judge does not read them."""
    return f"{plural(count, 'secret')} replaced" if count else ""
