"""iFlow's results: what the tool gave, without the wrapper that repeats ids and output."""

from __future__ import annotations

from longjudge.sessions.formats import CLAUDE_CODE
from longjudge.sessions.formats.claude_records import convert


def result(parts: object) -> tuple[str, bool | None]:
    content = {"callId": "c1", "responseParts": parts, "resultDisplay": "Read all lines"}
    block = {"type": "tool_result", "tool_use_id": "c1", "content": content}
    message = {"role": "user", "content": [block]}
    events = CLAUDE_CODE.record_events(convert({"type": "user", "message": message}))
    assert [event.call_id for event in events] == ["c1"]
    return events[0].body, events[0].is_error


def answer(**response: object) -> dict[str, object]:
    return {"functionResponse": {"id": "c1", "name": "read_file", "response": response}}


def test_a_result_is_what_the_tool_gave() -> None:
    assert result(answer(output="# Title")) == ("# Title", None)
    assert result([answer(output="a"), answer(output="b")]) == ("a\nb", None)
    assert result(answer(error="no such file")) == ("no such file", True)


def test_a_wrapper_of_another_shape_is_told_as_it_stands() -> None:
    assert result("plain") == ("plain", None)
    assert result([{"text": "a"}]) == ("a", None)
    assert result(None) == ("", None)
