"""Turns a judge's answer into a verdict, or into the reason why there is none.

Nothing is repaired and nothing is guessed: a reply is either the agreed JSON object, alone or
surrounded by other text, or it is no verdict. A wrong verdict would be kept for ever; a gap is
asked again.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from pydantic import BaseModel, ConfigDict, StrictBool, StrictInt, StrictStr, ValidationError
from pydantic.functional_validators import BeforeValidator, model_validator

from longjudge.judges.base import Answer, Stop
from longjudge.judges.json_text import FoundObjects, UnreadableTextError, find_objects
from longjudge.states import GapReason
from longjudge.text import clean, clean_line, without_surrogates
from longjudge.verdict import MAX_NOTE_CHARS, MAX_QUOTE_CHARS, Finding, Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping

    from longjudge.judges.json_text import FoundObject
    from longjudge.rubric import Rubric

REPLY_VERSION = "1"
"""Names the schema below; part of the request parameters and so of every verdict key."""

MAX_REPLY_CHARS = 200_000
MAX_FINDINGS = 200
"""More findings in one reply are no judgment of a chunk, but noise."""
_MAX_EVENT = 2**53


@dataclass(frozen=True, slots=True)
class BadReply:
    """An answer that is no verdict: the gap's reason, and what is wrong for a person."""

    reason: GapReason
    detail: str


def reply_schema(rubric: Rubric) -> dict[str, object]:
    """The JSON schema of a reply; findings come before the verdict, as evidence should."""
    finding = _object(
        {
            "event": {"type": "integer"},
            "quote": {"type": "string"},
            "note": {"type": "string"},
        }
    )
    criterion = _object(
        {"findings": {"type": "array", "items": finding}, "problem": {"type": "boolean"}}
    )
    criteria = _object(dict.fromkeys(rubric.criterion_ids, criterion))
    return _object({"criteria": criteria})


def _object(properties: dict[str, dict[str, object]]) -> dict[str, object]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def reply_format(rubric: Rubric) -> str:
    """The reply in words, for the prompt.

    The pattern is no valid JSON on purpose: a judge that repeats it before its answer has
    not given two answers.
    """
    names = rubric.criterion_ids
    pattern = ", ".join(f'"{name}": {{"findings": [FINDING, ...], "problem": P}}' for name in names)
    criteria = "the criterion" if len(names) == 1 else f"each of the {len(names)} criteria"
    return (
        "Reply with one JSON object and nothing else, of this form:\n"
        f'{{"criteria": {{{pattern}}}}}\n'
        f"Give {criteria} under its name. Each FINDING is"
        ' {"event": N, "quote": "Q", "note": "T"}: N is the number of the event that shows the'
        " problem, Q is a short stretch of that event's text copied character by character, and T"
        " says in one plain sentence what is wrong. P is true when there is at least one finding"
        " and false when there is none; an empty list of findings is written []."
    )


def read_reply(answer: Answer, rubric: Rubric) -> Verdict | BadReply:
    """Read an answer: why it stopped first, then its text.

    The text is the agreed object, or holds it among other words. Of several objects that are
    replies, wherever they stand, all must say the same, and one of them must stand by itself.
    """
    if answer.stop is Stop.TRUNCATED:
        return BadReply(GapReason.TRUNCATED, answer.detail or "the reply was cut off")
    if answer.stop is Stop.REFUSED:
        return BadReply(GapReason.REFUSED, answer.detail or "the judge refused to answer")
    if answer.stop is Stop.UNUSABLE:
        return _unparsable(answer.detail or "the reply cannot be used")
    text = answer.text.strip().lstrip("\ufeff").strip()
    if not text:
        return _unparsable("the reply is empty")
    if len(text) > MAX_REPLY_CHARS:
        return _unparsable(f"the reply is longer than {MAX_REPLY_CHARS} characters")
    try:
        found = find_objects(text)
    except UnreadableTextError as error:
        return _unparsable(str(error))
    return _decide(text, found, rubric)


def bounded_reply(text: str) -> str:
    """What is kept of a reply that is no verdict, and how much is not."""
    left_out = len(text) - MAX_REPLY_CHARS
    if left_out <= 0:
        return text
    return f"{text[:MAX_REPLY_CHARS]}\n[{left_out} more characters were not kept]"


def _unparsable(detail: str) -> BadReply:
    return BadReply(GapReason.UNPARSABLE, detail)


def _decide(text: str, found: FoundObjects, rubric: Rubric) -> Verdict | BadReply:
    """The one verdict that all objects agree on.

    What is no reply before it is a draft or an example; a broken one after it may be a change of
    mind, and then there is no verdict.
    """
    given: list[FoundObject] = []
    verdicts: list[Verdict] = []
    fault = found.fault
    for each in found.objects:
        if not each.alone and not _may_be_reply(each.members, rubric):
            continue
        verdict = _verdict(each.members, rubric)
        if isinstance(verdict, Verdict):
            verdicts.append(verdict)
            given += [each] if each.alone else []
        elif each.alone:
            fault = verdict
    if _breaks_off(text, found, given):
        return _unparsable(found.fault)
    if not verdicts:
        return _unparsable(fault)
    if any(verdict != verdicts[0] for verdict in verdicts):
        return _unparsable("the reply holds several answers that differ")
    if not given:
        return _unparsable("the reply's only answer is quoted, or part of something else")
    if _is_inside_another(text, given):
        return _unparsable("the reply's only answer stands in another one that is broken")
    return verdicts[0]


def _breaks_off(text: str, found: FoundObjects, given: list[FoundObject]) -> bool:
    """Whether something broken may be one more answer, later than those that were given."""
    end = given[-1].end if given else 0
    behind = [stretch for stretch in found.broken if stretch[0] >= end]
    return any(not given or _DECIDES.search(text, *stretch) for stretch in behind)


def _is_inside_another(text: str, given: list[FoundObject]) -> bool:
    """Whether the last answer may stand in a string of one that was begun before it.

    A text that the judge quoted without escapes can hold an answer, and braces and quotes to close
    what stands before it and to open what will stand behind it. It cannot hide that the judge's own
    reply had begun, and goes on.
    """
    last = given[-1]
    if not _GOES_ON.search(text, last.end):
        return False
    position = 0
    for each in given:
        if _BEGUN.search(text, position, each.start):
            return True
        position = each.end
    return False


def _known_event(value: object) -> object:
    """An integer beyond any session names no event, and no store could keep it."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > _MAX_EVENT:
        return None
    return value


_DECIDING = frozenset({"criteria", "findings", "problem"})
_WORD = "(?:criteria|findings|problem)"
_KEY = rf"""\\?["'`“”‘’]?\b{_WORD}\b\\?["'`“”‘’]?\s{{0,9}}:"""
_DECIDES = re.compile(rf"{_WORD}|\\u", re.IGNORECASE)
_BEGUN = re.compile(rf"""^[ \t]{{0,9}}{_KEY}|[{{,]\s{{0,100}}+(?i:{_KEY})""", re.MULTILINE)
_GOES_ON = re.compile(rf"""["}}]|{_KEY}""")


class _Part(BaseModel):
    """Further keys are ignored, unless they could contradict the answer.

    A remark under a key of its own changes nothing; a `Note` beside `note`, or a `problem` beside
    `criteria`, may.
    """

    model_config = ConfigDict(extra="ignore", frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _no_misplaced_words(cls, value: object) -> object:
        if isinstance(value, dict):
            for key in value:  # pyright: ignore[reportUnknownVariableType]
                word = str(key).strip().casefold()  # pyright: ignore[reportUnknownArgumentType]
                if key not in cls.model_fields and word in _DECIDING | cls.model_fields.keys():
                    raise ValueError(f"unexpected key {str(key)[:40]!r}")  # pyright: ignore[reportUnknownArgumentType]
        return value  # pyright: ignore[reportUnknownVariableType]


class _Finding(_Part):
    """`event` and `quote` may be null or absent; a finding must have something to show."""

    note: StrictStr
    event: Annotated[StrictInt | None, BeforeValidator(_known_event)] = None
    quote: StrictStr | None = None

    @model_validator(mode="after")
    def _shows_something(self) -> _Finding:
        if not self.note.strip() and not (self.quote or "").strip():
            raise ValueError("a finding has neither note nor quote")
        return self


class _Criterion(_Part):
    findings: tuple[_Finding, ...]
    problem: StrictBool

    @model_validator(mode="after")
    def _agrees(self) -> _Criterion:
        if self.problem != bool(self.findings):
            raise ValueError("`problem` does not agree with the findings")
        return self


class _Reply(_Part):
    criteria: dict[StrictStr, _Criterion]


class _PlainReply(_Part):
    """The short form for a rubric with one question: an event or a quote in it is ignored."""

    problem: StrictBool
    note: StrictStr = ""
    event: object = None
    quote: object = None

    @model_validator(mode="after")
    def _says_what(self) -> _PlainReply:
        if self.problem and not self.note.strip():
            raise ValueError("a problem without a note")
        return self


def _may_be_reply(found: Mapping[str, object], rubric: Rubric) -> bool:
    """Whether it is worth a closer look; most objects in a reply are parts of the reply."""
    return "criteria" in found or ("problem" in found and len(rubric.criterion_ids) == 1)


def _verdict(found: Mapping[str, object], rubric: Rubric) -> Verdict | str:
    """The verdict in a parsed object, or what keeps it from being one."""
    names = rubric.criterion_ids
    try:
        if len(names) == 1 and "criteria" not in found:
            plain = _PlainReply.model_validate(found)
            flagged = (Finding(names[0], _note(plain.note), None, None),) if plain.problem else ()
            return Verdict(names, flagged)
        reply = _Reply.model_validate(found)
    except ValidationError as error:
        return _fault(error)
    if missing := [name for name in names if name not in reply.criteria]:
        return f"the reply says nothing about {missing[0]}"
    if len(reply.criteria) > len(names):
        return "the reply names a criterion that was not asked about"
    if sum(len(criterion.findings) for criterion in reply.criteria.values()) > MAX_FINDINGS:
        return f"the reply holds more than {MAX_FINDINGS} findings"
    return Verdict(
        names,
        tuple(
            Finding(name, _note(found.note), found.event, _quote(found.quote))
            for name in names
            for found in reply.criteria[name].findings
        ),
    )


def _fault(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    where = ".".join(str(part)[:40] for part in first["loc"])
    what = first["msg"].removeprefix("Value error, ")
    return clean_line(f"{where}: {what}" if where else what, MAX_NOTE_CHARS)


def _note(note: str) -> str:
    """One cleaned line; empty where the judge gave only a quote."""
    return " ".join(clean(without_surrogates(" ".join(note.split()))).split())[:MAX_NOTE_CHARS]


def _quote(quote: str | None) -> str | None:
    """The quote as it was given, since it is searched verbatim; a blank one is none."""
    if quote is None or not quote.strip():
        return None
    return without_surrogates(quote[:MAX_QUOTE_CHARS])
