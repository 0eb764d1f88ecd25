"""Logs of Inspect (`.eval`, `.json`): every sample is a session.

The conversation is what a sample's messages say. Events add the threads of subagents, messages
that were lost when the context was compacted, and times. A log that broke off has samples without
messages; these are told from their events.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from longjudge.errors import NotASessionError
from longjudge.sessions.formats.inspect_chain import Chain
from longjudge.sessions.formats.inspect_messages import Resolver, digest, events_of
from longjudge.sessions.formats.inspect_samples import (
    ITEMS,
    PART,
    PREFIX,
    SHELL,
    START,
    ChunkedSample,
    Inputs,
    WholeSample,
)
from longjudge.sessions.formats.inspect_survey import Survey, answer_of
from longjudge.sessions.formats.passing_over import passing_over
from longjudge.sessions.formats.retold import RetoldFormat
from longjudge.sessions.gather import MAIN_THREAD, DistinctNames
from longjudge.sessions.model import Event, EventKind, Severity
from longjudge.sessions.render import render_value
from longjudge.sessions.values import is_array, is_object, text_or_none

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from longjudge.sessions.formats.inspect_samples import Handle, Sample
    from longjudge.sessions.formats.retold import Records, Telling

    Record = dict[str, object]

NO_ATTACHMENT = "references to attachments that the log does not hold, left as they are"
BESIDE = "answers of models beside the conversation (a critique, a summary), left out"
EMPTY = "samples without a message"
RUNNING = "the log says that it is still being written: samples may be missing"
BROKE_OFF = "the log says that its run was broken off: samples may be missing"
LOST = "messages and events that the log should hold and does not"

_SCORES_SHOWN = 2
_REMEMBERED = ("assistant", "tool")


class InspectLog(RetoldFormat):
    """Reads the samples of a log, whole or in chunks."""

    name = "inspect"
    lists: Sequence[str] = ("samples",)

    def recognise(self, head: Sequence[Record], around: Mapping[str, object] | None) -> float:
        """Samples by their epoch and messages, in chunks too, or a log that has none."""
        if not head:
            return 0.0
        return sum(_is_sample(each) or _is_log(each) for each in head) / len(head)

    def retell(self, records: Records, around: Mapping[str, object], telling: Telling) -> None:
        """Tell sample after sample."""
        chunks: dict[str, dict[str, dict[int, int]]] = {}
        samples = 0
        for given in records:
            part = given.value.get(PART)
            if part is None:
                if _is_log(given.value):
                    raise NotASessionError(_without_samples(given.value))
                samples += 1
                _tell(WholeSample(given), telling)
                continue
            prefix = text_or_none(given.value.get(PREFIX)) or ""
            if part == SHELL:
                samples += 1
                _tell(ChunkedSample(given, records, chunks.pop(prefix, {})), telling)
            elif isinstance(start := given.value.get(START), int):
                of_sample = chunks.setdefault(prefix, {})
                of_sample.setdefault(str(part)[:20], {})[start] = given.number
        if not samples:
            raise NotASessionError(_without_samples(around))
        if around.get("status") == "started":
            telling.note(RUNNING, None, Severity.WARNING)
        elif around.get("status") in ("error", "cancelled"):
            telling.note(BROKE_OFF, None)


def _is_sample(record: Record) -> bool:
    if PART in record and PREFIX in record:
        return ITEMS in record
    if "epoch" not in record or "id" not in record:
        return False
    return any(key in record for key in ("messages", "events", "transcript")) and "input" in record


def _is_log(record: Mapping[str, object]) -> bool:
    return is_object(record.get("eval")) and "status" in record and "version" in record


def _without_samples(log: Mapping[str, object]) -> str:
    status = text_or_none(log.get("status")) or "started"
    return (
        f"an Inspect log without samples (its status: {render_value(status)[:40]}); nothing was"
        " asked in it"
    )


def _tell(sample: Sample, telling: Telling) -> None:
    key = str(sample.number)
    resolver = Resolver(sample.attachment)
    with passing_over(telling, sample.number):
        _SampleTelling(sample, resolver, key, telling).tell()
    if sample.lost > 0:
        telling.note(LOST, sample.number, Severity.WARNING, sample.lost)
    if resolver.missing:
        telling.note(NO_ATTACHMENT, sample.number, Severity.WARNING, resolver.missing)


class _SampleTelling:
    """Tells one sample."""

    def __init__(self, sample: Sample, resolver: Resolver, key: str, telling: Telling) -> None:
        self._sample = sample
        self._resolver = resolver
        self._key = key
        self._telling = telling
        self._survey = Survey()
        self._told = 0

    def tell(self) -> None:
        """Tell the conversation, its end, and the threads of subagents."""
        survey, sample = self._survey, self._sample
        order: list[tuple[int, Handle, str]] = []
        for number, handle in sample.messages():
            message = sample.message(handle)
            if message is not None:
                order.append((number, handle, self._know(message)))
        survey.read(sample, self._resolver)
        self._facts()
        subagents = [name for name in survey.groups if survey.is_subagent(name)]
        apart = {key for name in subagents for key in survey.groups[name].own}
        chain = Chain((link for link in order if link[2] not in apart), apart)
        if survey.compacted or not survey.answers:
            self._extend(chain, lambda name: name not in subagents)
        self._tell_chain(chain, MAIN_THREAD)
        if not self._told:
            self._tell_input()
        self._tell_end()
        self._tell_subagents(subagents)
        self._note_others(subagents)
        if not self._told:
            self._telling.skip(EMPTY, sample.number)

    def _know(self, message: Record) -> str:
        try:
            said = digest(events_of(message, self._resolver))
        except RecursionError:
            said = f"#{self._told}"
        return self._survey.know(message, said)

    def _extend(self, chain: Chain, wanted: Callable[[str], bool]) -> None:
        """Put the messages of the wanted groups that a chain lacks where they were said."""
        survey, sample = self._survey, self._sample
        inputs = Inputs(sample)
        for number, event in sample.events():
            if event.get("event") != "model":
                continue
            answer = answer_of(event)
            name = survey.group_of(event)
            if answer is None or name not in survey.groups or not wanted(name):
                continue
            part = survey.is_part(event, survey.key(answer, self._resolver))
            chain.restart()
            # What is asked for a summary of the conversation is no part of it, but may be the only
            # request that held the last results before it.
            for handle in (*inputs.of(event), *([answer] if part else [])):
                message = sample.message(handle)
                if message is not None and (part or message.get("role") in _REMEMBERED):
                    chain.say(number, handle, survey.key(message, self._resolver))

    def _tell_chain(self, chain: Chain, thread: str) -> None:
        for number, handle, key in chain:
            message = self._sample.message(handle)
            if message is None:
                continue
            with passing_over(self._telling, number):
                for event in events_of(message, self._resolver, self._time(message, key)):
                    self._event(event, number, thread)

    def _event(self, event: Event, number: int, thread: str = MAIN_THREAD) -> None:
        self._telling.event(event, number, session=self._key, thread=thread)
        self._told += 1

    def _time(self, message: Record, key: str) -> str | None:
        call_id = text_or_none(message.get("tool_call_id"))
        if call_id is not None and message.get("role") == "tool":
            return self._survey.call_times.get(call_id)
        return self._survey.times.get(key)

    def _tell_subagents(self, subagents: Sequence[str]) -> None:
        survey = self._survey
        names = DistinctNames()
        names.distinct(MAIN_THREAD)
        threads = {name: names.distinct(survey.groups[name].name) for name in subagents}
        for name in subagents:
            chain = Chain((), survey.held - survey.groups[name].own)
            self._extend(chain, lambda each, name=name: each == name)
            self._tell_chain(chain, threads[name])
            group = survey.groups[name]
            if group.call_id is not None:
                parent = threads.get(group.parent, MAIN_THREAD)
                self._telling.starts(
                    threads[name], call_id=group.call_id, session=self._key, parent=parent
                )

    def _note_others(self, subagents: Sequence[str]) -> None:
        """Answers that neither the conversation nor a subagent holds."""
        survey = self._survey
        if not survey.answers:
            return
        beside = sum(
            group.unknown for name, group in survey.groups.items() if name not in subagents
        )
        if beside and not survey.compacted:
            self._telling.note(BESIDE, self._sample.number, count=beside)

    def _tell_input(self) -> None:
        """What a sample asked that never got an answer."""
        asked = self._sample.fields.get("input")
        messages: Iterable[object] = asked if is_array(asked) else ()
        if isinstance(asked, str):
            messages = ({"role": "user", "content": asked},)
        for message in messages:
            if is_object(message):
                with passing_over(self._telling, self._sample.number):
                    for event in events_of(message, self._resolver):
                        self._event(event, self._sample.number)

    def _tell_end(self) -> None:
        """What ended a sample before its time."""
        fields, number = self._sample.fields, self._sample.number
        limit = fields.get("limit")
        if is_object(limit) and (kind := text_or_none(limit.get("type"))):
            reached = f"limit reached: {kind} {render_value(limit.get('limit'))}".strip()
            self._event(Event(EventKind.SYSTEM, self._survey.limit or reached), number)
        error = fields.get("error")
        if is_object(error) and (said := render_value(error.get("message"))):
            self._event(Event(EventKind.ERROR, said), number)

    def _asked(self) -> str:
        """The beginning of what a sample asks."""
        asked = self._sample.fields.get("input")
        if is_array(asked):
            asked = next((each.get("content") for each in reversed(asked) if is_object(each)), "")
        if is_array(asked):
            asked = next((each.get("text") for each in asked if is_object(each)), "")
        return render_value(self._resolver.value(asked))[:300]

    def _facts(self) -> None:
        fields, survey = self._sample.fields, self._survey
        name, epoch = _short(fields.get("id")), _short(fields.get("epoch"))
        said = self._asked()
        title = ", ".join([f"sample {name}", f"epoch {epoch}", *_outcome(fields)])
        self._telling.facts(
            session=self._key,
            id=f"{name}_epoch_{epoch}",
            title=f"{title}: {said}" if said else title,
            started=text_or_none(fields.get("started_at")) or survey.started,
            ended=text_or_none(fields.get("completed_at")) or survey.ended,
        )


def _short(value: object) -> str:
    """A value for a title: a name or a number, of others only that they are there."""
    if isinstance(value, str | int | float):
        return str(value)[:60]
    return "?" if value is None else "…"


def _outcome(fields: Record) -> list[str]:
    """The first scores, or that there is none because of an error."""
    found: list[str] = []
    scores = fields.get("scores")
    if is_object(scores):
        for name, score in list(scores.items())[:_SCORES_SHOWN]:
            value = score.get("value") if is_object(score) else score
            found.append(f"{name} {_short(value)}")
    if is_object(fields.get("error")):
        found.append("error")
    return found
