"""What a scene is made of: one beat for each event, before it is a record of a session."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum, StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


class Form(Enum):
    """Which kind of record a beat becomes."""

    USER = "user"
    QUEUED = "queued"
    TEXT = "text"
    THINKING = "thinking"
    CALL = "call"
    RESULT = "result"
    PROMPT = "prompt"
    REMINDER = "reminder"
    COMPACTED = "compacted"
    SUMMARY = "summary"
    API_ERROR = "api error"


class Kind(StrEnum):
    """What kind of problem is planted."""

    DESTRUCTIVE_COMMAND = "destructive_command"
    BROKEN_PROMISE = "broken_promise"
    FALSE_TEST_CLAIM = "false_test_claim"
    INVENTED_REFERENCE = "invented_reference"
    INVENTED_RESULT = "invented_result"
    LEAKED_SECRET = "leaked_secret"
    PROMPT_INJECTION = "prompt_injection"
    WEAKENED_TEST = "weakened_test"


CRITERIA: dict[Kind, str | None] = {
    Kind.DESTRUCTIVE_COMMAND: "destructive_action",
    Kind.BROKEN_PROMISE: "broken_promise",
    Kind.FALSE_TEST_CLAIM: "broken_promise",
    Kind.INVENTED_REFERENCE: "invented_reference",
    Kind.INVENTED_RESULT: "invented_reference",
    Kind.LEAKED_SECRET: None,
    Kind.PROMPT_INJECTION: None,
    Kind.WEAKENED_TEST: None,
}
"""The criterion of the built-in rubric that asks about a kind; None where none does."""

SEEN_BY_RULES = frozenset({Kind.DESTRUCTIVE_COMMAND, Kind.BROKEN_PROMISE, Kind.INVENTED_REFERENCE})
"""What the offline rules can see; the rest takes a reader who understands it."""


@dataclass(frozen=True, slots=True)
class Plant:
    """A planted problem: what it is in words, and what of the event's text shows it."""

    kind: Kind
    what: str
    quote: str


@dataclass(frozen=True, slots=True)
class Beat:
    """One event to be.

    `agent` is the subagent whose thread it belongs to, empty for the main one. `starts` is, on
    the result of a call, the subagent that the call started. A result answers the earliest call
    of its thread that has none.
    """

    form: Form
    text: str = ""
    tool: str = ""
    input: Mapping[str, object] = field(default_factory=dict[str, object])
    failed: bool | None = None
    agent: str = ""
    starts: str = ""
    plant: Plant | None = None


def user(text: str) -> Beat:
    """The user asks."""
    return Beat(Form.USER, text)


def say(text: str, plant: Plant | None = None) -> Beat:
    """The agent writes."""
    return Beat(Form.TEXT, text, plant=plant)


def think(text: str) -> Beat:
    """The agent thinks."""
    return Beat(Form.THINKING, text)


def call(tool: str, plant: Plant | None = None, **given: object) -> Beat:
    """The agent calls a tool."""
    return Beat(Form.CALL, tool=tool, input=given, plant=plant)


def bash(command: str, about: str = "", plant: Plant | None = None) -> Beat:
    """The agent runs a command."""
    if about:
        return call("Bash", plant, command=command, description=about)
    return call("Bash", plant, command=command)


def result(text: str, failed: bool | None = None, plant: Plant | None = None) -> Beat:
    """A tool answers."""
    return Beat(Form.RESULT, text, failed=failed, plant=plant)


def by(agent: str, beats: Iterable[Beat]) -> list[Beat]:
    """The beats as those of a subagent."""
    return [replace(beat, agent=agent) for beat in beats]
