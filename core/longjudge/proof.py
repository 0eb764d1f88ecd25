"""One finding, or one event, as it leaves the program: Markdown to paste, JSON to process.

Pure. Everything foreign is cleaned before it goes out, and in Markdown it stands in code spans and
fences that no text can break out of.
"""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, cast

from longjudge.redaction import redacted_text
from longjudge.result import correction_words
from longjudge.text import clean, clean_line

if TYPE_CHECKING:
    from longjudge.marks import Mark
    from longjudge.result import ResultFinding

CONTEXT_CHARS = 4_000
"""So much of an event's text goes out with a finding."""

EVENT_CHARS = 20_000
"""So much of an event's text goes out without one."""

NEIGHBOUR_CHARS = 1_000
"""So much of each event around it goes out."""

NAME_CHARS = 1_000
_BACKTICKS = re.compile("`+")


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A stretch of a text: where it starts, and how many characters the whole text has."""

    text: str
    start: int
    chars: int


class Relation(StrEnum):
    """What an event is to the one that goes out."""

    BEFORE = "before"
    AFTER = "after"
    CALL = "call"
    RESULT = "result"


@dataclass(frozen=True, slots=True)
class Neighbour:
    """An event around the one that goes out; `beginning` is None where it was not read."""

    event: int
    relation: Relation
    header: str
    line: int | None
    chars: int
    beginning: str | None


@dataclass(frozen=True, slots=True)
class Source:
    """Where something stands: the session, and the event's place in it and in its file."""

    path: str
    format: str
    id: str
    title: str
    thread: str
    part: int
    event: int
    header: str
    file: str | None
    line: int | None


@dataclass(frozen=True, slots=True)
class Opinion:
    """A finding with what it was asked by, who answered, and what a person said to it."""

    finding: ResultFinding
    label: str
    question: str
    model: str
    rubric: str
    rubric_version: str
    mark: Mark | None = None


@dataclass(frozen=True, slots=True)
class Proof:
    """What goes out. `context` is None where the event's text cannot be read any more.

    `neighbours` are the events around it, ascending.
    """

    source: Source
    context: Excerpt | None
    opinion: Opinion | None = None
    neighbours: tuple[Neighbour, ...] = ()


def excerpt(text: str, span: tuple[int, int] | None = None, limit: int = CONTEXT_CHARS) -> Excerpt:
    """At most `limit` characters of a text: those around a span, else the first ones."""
    low, high = span or (0, 0)
    room = max(0, limit - (high - low)) // 2
    start = max(0, min(low - room, len(text) - limit))
    return Excerpt(text[start : start + limit], start, len(text))


def without_secrets(proof: Proof) -> Proof:
    """The same with every secret replaced; a context must be cut from a text without them."""
    source, context, opinion = proof.source, proof.context, proof.opinion
    source = replace(
        source,
        path=redacted_text(source.path),
        id=redacted_text(source.id),
        title=redacted_text(source.title),
        thread=redacted_text(source.thread),
        header=redacted_text(source.header),
        file=None if source.file is None else redacted_text(source.file),
    )
    if context is not None:
        context = replace(context, text=redacted_text(context.text))
    if opinion is not None:
        found = opinion.finding
        quote = None if found.quote is None else redacted_text(found.quote)
        found = replace(found, note=redacted_text(found.note), quote=quote)
        opinion = replace(opinion, finding=found)
    return Proof(source, context, opinion, tuple(map(_neighbour_without, proof.neighbours)))


def _neighbour_without(each: Neighbour) -> Neighbour:
    beginning = None if each.beginning is None else redacted_text(each.beginning)
    return replace(each, header=redacted_text(each.header), beginning=beginning)


def as_markdown(proof: Proof) -> str:
    """The proof as Markdown, with a newline at its end."""
    source, opinion = proof.source, proof.opinion
    if opinion is None:
        blocks = [f"## {_event(source)}", "\n".join(_place_lines(source, named=True))]
    else:
        blocks = _opinion_blocks(source, opinion, unread=proof.context is None)
    context = proof.context
    if context is None:
        blocks.append("The text of the event cannot be read any more.")
    else:
        around = f", {_stretch(context)}" if len(context.text) < context.chars else ""
        blocks += [f"{_event(source)}{around}:", _fenced(context.text)]
    if proof.neighbours:
        blocks.append("### Around it")
    for each in proof.neighbours:
        blocks += _neighbour_blocks(each)
    return "\n\n".join(blocks) + "\n"


def as_json(proof: Proof) -> str:
    """The proof as one JSON object: the finding as results have it, and where it comes from."""
    source, opinion = proof.source, proof.opinion
    fields: dict[str, object] = {}
    if opinion is None:
        fields["part"], fields["event"] = source.part, source.event
    else:
        fields.update(asdict(_as_of_now(opinion.finding, proof)))
        fields["mark"] = opinion.mark.value if opinion.mark else None
        fields["label"], fields["question"] = opinion.label, opinion.question
        fields["model"] = opinion.model
        fields["rubric"] = {"name": opinion.rubric, "version": opinion.rubric_version}
    fields |= {
        "session": {
            "path": source.path,
            "format": source.format,
            "id": source.id,
            "title": source.title,
        },
        "thread": source.thread,
        "header": source.header,
        "file": source.file,
        "line": source.line,
        "context": asdict(proof.context) if proof.context else None,
        "neighbours": [_neighbour_fields(each) for each in proof.neighbours],
    }
    return json.dumps(_cleaned(fields), ensure_ascii=False, indent=2) + "\n"


def _as_of_now(finding: ResultFinding, proof: Proof) -> ResultFinding:
    """The finding as it can be checked now: what cannot be read is not verified."""
    if proof.context is not None or not finding.verified:
        return finding
    return replace(finding, verified=False, start=None, end=None)


def _opinion_blocks(source: Source, opinion: Opinion, *, unread: bool) -> list[str]:
    finding = opinion.finding
    asked = f"- question: {code_span(opinion.question)}"
    judged = (
        f"- judged by: {code_span(opinion.model)} with the rubric {code_span(opinion.rubric)},"
        f" version {code_span(opinion.rubric_version)}"
    )
    marked = f"- marked: {opinion.mark.value}" if opinion.mark else "- marked: not yet"
    place = _place_lines(source, named=finding.event is not None)
    facts = [f"- criterion: {code_span(finding.criterion)}", asked, *place]
    blocks = [
        f"## Finding: {code_span(opinion.label or finding.criterion)}",
        "\n".join([*facts, f"- quote: {_verified(finding, unread=unread)}", marked, judged]),
    ]
    for name, text in (("Note", finding.note), ("Quote", finding.quote)):
        if text:
            blocks += [f"{name}:", _fenced(text[:EVENT_CHARS])]
    return blocks


def _verified(finding: ResultFinding, *, unread: bool) -> str:
    if finding.event is None:
        return "not verified, the judge named no event of the chunk"
    if finding.quote is None:
        return "none was given"
    if unread:
        return "not verified, the text of the event cannot be read any more"
    if not finding.verified:
        return "not found in the event"
    return "; ".join(filter(None, ["verified, found in the event", correction_words(finding)]))


def _place_lines(source: Source, *, named: bool) -> list[str]:
    """Session, place and file; without a named event, the place is where the chunk starts."""
    event = f"event {source.event}" if named else f"which starts with event {source.event}"
    where = code_span(source.file or source.path)
    line = f", line {source.line}" if source.line is not None else ""
    return [
        f"- session: {code_span(source.path)}, {code_span(source.format)},"
        f" id {code_span(source.id)}",
        f"- place: part {source.part}, {event}, thread {code_span(source.thread)}",
        f"- file: {where}{line}",
    ]


def _event(source: Source) -> str:
    return f"Event {source.event}, {code_span(source.header)}"


def _stretch(context: Excerpt) -> str:
    end = context.start + len(context.text)
    return f"characters {context.start:,} to {end:,} of {context.chars:,}"


_RELATION_WORDS = {
    Relation.BEFORE: "before it",
    Relation.AFTER: "after it",
    Relation.CALL: "the call that it answers",
    Relation.RESULT: "the result of it",
}


def _is_cut(each: Neighbour) -> bool:
    return each.beginning is None or len(each.beginning) < each.chars


def _neighbour_blocks(each: Neighbour) -> list[str]:
    line = f", line {each.line}" if each.line is not None else ""
    head = f"Event {each.event}, {code_span(each.header)}, {_RELATION_WORDS[each.relation]}{line}"
    if each.beginning is None:
        return [f"{head}, not read, {each.chars:,} characters"]
    if not each.chars:
        return [f"{head}, no text"]
    if not _is_cut(each):
        return [f"{head}:", _fenced(each.beginning)]
    cut = f"cut, the first {len(each.beginning):,} of {each.chars:,} characters"
    return [f"{head}, {cut}:", _fenced(each.beginning)]


def _neighbour_fields(each: Neighbour) -> dict[str, object]:
    return {
        "event": each.event,
        "relation": each.relation.value,
        "header": each.header,
        "line": each.line,
        "text": each.beginning,
        "chars": each.chars,
        "cut": _is_cut(each),
    }


def _fenced(text: str) -> str:
    """A block of text between fences longer than any run of backticks in it."""
    shown = _safe(text)
    fence = "`" * max(3, _longest_run(shown) + 1)
    return f"{fence}text\n{shown}\n{fence}"


def code_span(text: str) -> str:
    """One line of text as a code span, in which nothing means anything."""
    shown = clean_line(text, NAME_CHARS).strip()
    if not shown:
        return "(none)"
    ticks = "`" * (_longest_run(shown) + 1)
    space = " " if shown.startswith("`") or shown.endswith("`") else ""
    return f"{ticks}{space}{shown}{space}{ticks}"


def _longest_run(text: str) -> int:
    return max((len(run) for run in _BACKTICKS.findall(text)), default=0)


def _safe(text: str) -> str:
    return clean(text.replace("\r\n", "\n"))


def _cleaned(value: object) -> object:
    """The same JSON value with every string cleaned."""
    if isinstance(value, str):
        return _safe(value)
    if isinstance(value, dict):
        entries = cast("dict[str, object]", value)
        return {name: _cleaned(item) for name, item in entries.items()}
    if isinstance(value, list):
        return [_cleaned(item) for item in cast("list[object]", value)]
    return value
