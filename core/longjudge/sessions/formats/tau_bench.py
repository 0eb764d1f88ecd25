"""Runs of tau-bench and tau2-bench: a customer, an agent and tools; every run is a session.

In tau2 the simulated customer has tools too. What it calls stands in a thread of its own. Runs by
voice are cut into ticks of a fraction of a second, whose words are joined to turns again.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from longjudge.errors import NotASessionError
from longjudge.sessions.formats.message_events import message_events, read_arguments
from longjudge.sessions.formats.passing_over import passing_over
from longjudge.sessions.formats.retold import RetoldFormat
from longjudge.sessions.formats.tau_ticks import messages_of_ticks
from longjudge.sessions.gather import MAIN_THREAD
from longjudge.sessions.model import Event, EventKind, Severity
from longjudge.sessions.render import render_input, render_value
from longjudge.sessions.values import is_array, is_object, text_or_none

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from longjudge.sessions.formats.retold import Given, Records, Telling

    Run = dict[str, object]

USER_THREAD = "user"
"""The thread of what the simulated customer calls."""

EMPTY = "runs without a message"
UNRECORDED = "calls whose name and arguments the file does not record, left out"

_DISPLAY = "messages_display"
_INDEX = (
    "an index of tau2 runs, without a message in it; name the file or the folder with its"
    " simulations"
)
_DISPLAY_LINE = re.compile(r"^(system|user|assistant|tool): ?", re.M)
_WRITTEN_CALL = re.compile(r"\bAction:\s*(\{.*)", re.S)
_API_OUTPUT = "API output: "
_ROLES = {
    "system": EventKind.SYSTEM,
    "user": EventKind.USER_MESSAGE,
    "assistant": EventKind.ASSISTANT_MESSAGE,
    "tool": EventKind.TOOL_RESULT,
}


class TauBench(RetoldFormat):
    """Reads the results of tau-bench and tau2-bench, and few-shot examples made from them."""

    name = "tau-bench"
    lists: Sequence[str] = ("simulations",)

    def recognise(self, head: Sequence[Run], around: Mapping[str, object] | None) -> float:
        """Runs by their task and messages, or an index of such runs."""
        if not head:
            return 0.0
        return sum(map(_is_run, head)) / len(head)

    def retell(self, records: Records, around: Mapping[str, object], telling: Telling) -> None:
        """Tell run after run."""
        policy = _policy(around)
        found = False
        for given in records:
            if _is_index(given.value):
                raise NotASessionError(_INDEX)
            with passing_over(telling, given.number):
                if _tell_run(given, policy, telling):
                    found = True
                else:
                    telling.skip(EMPTY, given.number)
        if not found:
            raise NotASessionError("runs of tau-bench, none of which holds a message")


def _is_run(record: Run) -> bool:
    if _has(record, "traj") and ("task_id" in record or "reward" in record):
        return True
    if isinstance(record.get(_DISPLAY), str):
        return True
    if "task_id" in record and (_has(record, "messages") or _has(record, "ticks")):
        return "termination_reason" in record or "reward_info" in record
    return _is_index(record)


def _has(record: Run, key: str) -> bool:
    """Whether a list stands there; of a large document only the type of an entry is known."""
    value = record.get(key)
    return is_array(value) or value == "list"


def _is_index(record: Run) -> bool:
    info = record.get("info")
    if not is_object(info) or not _has(record, "tasks"):
        return False
    return "environment_info" in info and not record.get("simulations")


def _tell_run(given: Given, policy: str, telling: Telling) -> bool:
    run, key = given.value, str(given.number)
    _tell_facts(run, key, telling)
    told = False
    if isinstance(display := run.get(_DISPLAY), str):
        for event in _display_events(display, given.number, telling):
            telling.event(event, given.number, session=key)
            told = True
        return told
    policy = text_or_none(run.get("policy")) or policy
    messages = _messages(run)
    for thread, event in _events(messages):
        if not told and policy and event.kind is not EventKind.SYSTEM:
            telling.event(Event(EventKind.SYSTEM, policy), given.number, session=key)
        telling.event(event, given.number, session=key, thread=thread)
        told = True
    if told and (ended := _unusual_end(run)):
        telling.event(ended, given.number, session=key)
    return told


def _tell_facts(run: Run, key: str, telling: Telling) -> None:
    task, trial = run.get("task_id"), run.get("trial")
    if task is None:
        return
    name = render_value(task) + (f"_{trial}" if isinstance(trial, int) else "")
    title = f"task {render_value(task)}"
    if isinstance(trial, int):
        title += f", trial {trial}"
    rewarded = run.get("reward_info")
    reward = run.get("reward", rewarded.get("reward") if is_object(rewarded) else None)
    if isinstance(reward, int | float):
        title += f", reward {reward:g}"
    telling.facts(
        session=key,
        id=name,
        title=title,
        started=text_or_none(run.get("start_time")),
        ended=text_or_none(run.get("end_time")),
    )


def _messages(run: Run) -> Iterator[Run]:
    """The messages of a run, several results in one message apart."""
    messages = run.get("traj") or run.get("messages")
    ticks = run.get("ticks")
    if not messages and is_array(ticks):
        yield from messages_of_ticks(ticks)
        return
    for message in messages if is_array(messages) else ():
        if not is_object(message):
            continue
        several = message.get("tool_messages")
        if is_array(several):
            yield from (each for each in several if is_object(each))
        else:
            yield message


def _events(messages: Iterator[Run]) -> Iterator[tuple[str, Event]]:
    """The events of a run, each with its thread."""
    called = False
    for message in messages:
        if (output := _api_output(message)) is not None and called:
            yield MAIN_THREAD, Event(EventKind.TOOL_RESULT, output)
            continue
        written = _written_call(message)
        called = bool(written) and written[-1].kind is EventKind.TOOL_CALL
        for event in written or message_events(_plain(message)):
            yield _thread(message, event), event


def _thread(message: Run, event: Event) -> str:
    """The customer's calls and their results stand apart, its words do not."""
    if event.kind is EventKind.TOOL_CALL:
        return USER_THREAD if message.get("role") == "user" else MAIN_THREAD
    if event.kind is EventKind.TOOL_RESULT and message.get("requestor") == "user":
        return USER_THREAD
    return MAIN_THREAD


def _plain(message: Run) -> Run:
    """A message as models' interfaces have it: text, ids of results, faults under their names."""
    if message.get("is_audio") is True:
        # The content is sound; what was to be said stands beside it.
        return {**message, "content": message.get("audio_script_gold")}
    if message.get("role") != "tool":
        return message
    plain = {**message, "tool_call_id": message.get("tool_call_id") or message.get("id")}
    if message.get("error") is True:
        plain["is_error"] = True
    return plain


def _written_call(message: Run) -> list[Event]:
    """The call that an agent without an interface for tools wrote into its answer."""
    content = message.get("content")
    if message.get("role") != "assistant" or message.get("tool_calls"):
        return []
    match = _WRITTEN_CALL.search(content) if isinstance(content, str) else None
    call = read_arguments(match[1].strip()) if match else None
    if match is None or not isinstance(content, str) or not is_object(call):
        return []
    thought = content[: match.start()].strip()
    events = [Event(EventKind.THINKING, render_value(thought))] if thought else []
    name = text_or_none(call.get("name"))
    given = call.get("arguments", call.get("kwargs"))
    if name == "respond":
        said = given.get("content") if is_object(given) else given
        return [*events, Event(EventKind.ASSISTANT_MESSAGE, render_value(said))]
    return [*events, Event(EventKind.TOOL_CALL, render_input(given), name)]


def _api_output(message: Run) -> str | None:
    content = message.get("content")
    if message.get("role") != "user" or not isinstance(content, str):
        return None
    return render_value(content[len(_API_OUTPUT) :]) if content.startswith(_API_OUTPUT) else None


def _display_events(display: str, number: int, telling: Telling) -> Iterator[Event]:
    """A conversation that was written out as text, a line for each turn."""
    starts = list(_DISPLAY_LINE.finditer(display))
    unrecorded = 0
    for position, match in enumerate(starts):
        end = starts[position + 1].start() if position + 1 < len(starts) else len(display)
        body = display[match.end() : end].strip()
        if match[1] == "assistant" and body == "None":
            unrecorded += 1
        elif body:
            yield Event(_ROLES[match[1]], render_value(body))
    if unrecorded:
        telling.note(UNRECORDED, number, Severity.WARNING, unrecorded)


def _policy(around: Mapping[str, object]) -> str:
    """What the agent was told to keep to, where the results give it once for all runs."""
    info = around.get("info")
    environment = info.get("environment_info") if is_object(info) else None
    return render_value(environment.get("policy")) if is_object(environment) else ""


def _unusual_end(run: Run) -> Event | None:
    """How a run ended, where neither side ended it."""
    reason = text_or_none(run.get("termination_reason"))
    if reason is None or reason in ("user_stop", "agent_stop"):
        return None
    return Event(EventKind.SYSTEM, f"the run ended: {render_value(reason)}")
