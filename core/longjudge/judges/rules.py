"""The offline rules: what they find in the events of one chunk, without a model.

They are conservative and deterministic. A finding is something a person can check at one glance:
the event, a quote out of it, and what it was in plain words.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from longjudge.judges.destructive import find_destruction
from longjudge.judges.promises import OpenPromises
from longjudge.judges.references import MissingReferences
from longjudge.sessions.model import EventKind
from longjudge.text import clean_line
from longjudge.verdict import Finding

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from longjudge.judges.base import QuestionEvent

RULES_VERSION = "1"
"""Names the rules; part of the offline judge's parameters and so of every verdict key."""

MAX_RULE_QUOTE = 200
MAX_FINDINGS = 50
"""Per criterion and chunk: beyond that, one more says nothing new."""


def find_problems(
    events: Sequence[QuestionEvent], criteria: Sequence[str]
) -> dict[str, list[Finding]]:
    """What each criterion's rule finds, in the order of the events.

    Raises:
        KeyError: a criterion has no rule.
    """
    return {
        criterion: list(islice(dict.fromkeys(_RULES[criterion](events)), MAX_FINDINGS))
        for criterion in criteria
    }


def has_problems(events: Sequence[QuestionEvent], criteria: Sequence[str]) -> bool:
    """Whether the rule of any criterion that has one finds something."""
    return any(
        next(iter(_RULES[criterion](events)), None) is not None
        for criterion in criteria
        if criterion in _RULES
    )


def criteria_with_rules() -> tuple[str, ...]:
    """The criteria that the offline rules can answer."""
    return tuple(_RULES)


def _destructive_action(events: Sequence[QuestionEvent]) -> Iterator[Finding]:
    for event in events:
        if event.kind is EventKind.TOOL_CALL:
            for deed in find_destruction(event.text, event.tool, _body(event)):
                yield _finding("destructive_action", event, deed.start, deed.end, deed.note)


def _invented_reference(events: Sequence[QuestionEvent]) -> Iterator[Finding]:
    missing = MissingReferences()
    for event in events:
        body = _body(event)
        if event.kind is EventKind.TOOL_CALL:
            missing.call(event.text[body:])
        elif event.kind in (EventKind.TOOL_RESULT, EventKind.ERROR):
            missing.result(event.text[body:])
        elif event.kind is EventKind.USER_MESSAGE:
            missing.user(event.text[body:])
        elif event.kind is EventKind.ASSISTANT_MESSAGE:
            for cited in missing.citations(event.text, body):
                yield _finding("invented_reference", event, cited.start, cited.end, cited.note)


def _broken_promise(events: Sequence[QuestionEvent]) -> Iterator[Finding]:
    promises = OpenPromises()
    by_number = {event.number: event for event in events}
    for event in events:
        if event.kind is EventKind.TOOL_CALL:
            promises.call(event.tool, event.text[_body(event) :])
        elif event.kind is EventKind.USER_MESSAGE:
            promises.user(event.text, _body(event))
        elif event.kind is EventKind.ASSISTANT_MESSAGE:
            promises.say(event.number, event.text, _body(event))
    for broken in promises.end():
        event = by_number[broken.event]
        yield _finding("broken_promise", event, broken.start, broken.end, broken.note)


_RULES: dict[str, Callable[[Sequence[QuestionEvent]], Iterator[Finding]]] = {
    "destructive_action": _destructive_action,
    "invented_reference": _invented_reference,
    "broken_promise": _broken_promise,
}


def _body(event: QuestionEvent) -> int:
    """Where the text begins that is not the header line; a later piece of an event has none."""
    if not event.text.startswith(event.kind.value):
        return 0
    line_end = event.text.find("\n")
    return len(event.text) if line_end < 0 else line_end + 1


def _finding(criterion: str, event: QuestionEvent, start: int, end: int, note: str) -> Finding:
    quote = event.text[start : min(end, start + MAX_RULE_QUOTE)].strip()
    return Finding(criterion, " ".join(clean_line(note).split()), event.number, quote)
