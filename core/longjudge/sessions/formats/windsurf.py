"""Windsurf's transcripts: a step a line, a call and its result in one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longjudge.sessions.formats.one_by_one import OneByOne
from longjudge.sessions.model import Event, EventKind
from longjudge.sessions.render import render_content, render_input
from longjudge.sessions.values import is_object, word

if TYPE_CHECKING:
    Record = dict[str, object]

_OUTPUTS = ("output", "content", "result", "results", "exit_code", "total_results", "error")
_OWN = frozenset({"user_input", "planner_response"})


class Windsurf(OneByOne):
    """Reads the steps of Cascade."""

    name = "windsurf"

    def surely(self, record: Record) -> bool:
        """What the user asked, or what the agent answered."""
        return word(record.get("type")) in _OWN and self.fits(record)

    def fits(self, record: Record) -> bool:
        """A step that stands under the name of its own type, with a status."""
        return is_object(record.get(word(record.get("type")))) and "status" in record

    def record_events(self, record: Record) -> list[Event]:
        """A prompt, an answer, or a call with what it gave."""
        type_ = word(record.get("type"))
        step = record.get(type_)
        if not is_object(step):
            return []
        if type_ in _OWN:
            said = step.get("user_response" if type_ == "user_input" else "response")
            body = render_content(said) if said else ""
            user = type_ == "user_input"
            kind = EventKind.USER_MESSAGE if user else EventKind.ASSISTANT_MESSAGE
            return [Event(kind, body)] if body else []
        return _call(type_, step, record.get("status"))


def _call(tool: str, step: Record, status: object) -> list[Event]:
    """A call and its result; a step that only says what it did gave nothing back."""
    given = {key: value for key, value in step.items() if key not in _OUTPUTS}
    events = [Event(EventKind.TOOL_CALL, render_input(given), tool)]
    output = {key: step[key] for key in _OUTPUTS if step.get(key) not in (None, "")}
    code = output.get("exit_code")
    failed = status == "error" or code not in (None, 0) or step.get("user_rejected") is True
    if output or failed or status == "done":
        alone = len(output) == 1 and next(iter(output.values()))
        body = render_content(alone) if isinstance(alone, str) else render_input(output)
        said = True if failed else False if code == 0 else None
        events.append(Event(EventKind.TOOL_RESULT, body, tool, None, said))
    return events
