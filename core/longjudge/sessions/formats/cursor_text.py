"""Cursor's older transcripts, which are text: who speaks on a line, and marks for the rest.

    user:
    <user_query>
    run ls
    </user_query>
    assistant:
    [Thinking]I will look.
    [Tool call] Shell
      command: ls
    [Tool result] Shell
      a.txt

Unpacked they are what the newer ones are: messages of blocks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from longjudge.sessions.formats.message_events import read_arguments
from longjudge.sessions.formats.text_lines import BOM, text_lines
from longjudge.sessions.values import is_object

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from longjudge.sessions.unpack import Unpacking

    Block = dict[str, object]

_SPEAKERS = {"user:": "user", "assistant:": "assistant"}
_THINKING, _CALL, _RESULT = "[Thinking]", "[Tool call]", "[Tool result]"


class CursorText:
    """Unpacks a transcript into messages."""

    name = "cursor"
    folders = False

    def fits(self, start: bytes, path: Path) -> bool:
        """Whether the user speaks first, and asks something or is answered."""
        text = start.removeprefix(BOM).lstrip().replace(b"\r\n", b"\n")
        answered = b"\nassistant:\n" in text or b"\n<user_query>" in text
        return text.startswith(b"user:\n") and answered

    def unpack(self, path: Path, descriptor: int, into: Unpacking) -> None:
        """Write one record for each message, in order."""
        for record, line in messages(text_lines(descriptor)):
            into.add(record, line)


def messages(lines: Iterator[str]) -> Iterator[tuple[Block, int]]:
    """The messages, each with the number of its first line."""
    speaker: str | None = None
    said: list[str] = []
    first = 1
    for number, line in enumerate(lines, 1):
        if (next_speaker := _SPEAKERS.get(line.rstrip())) is None:
            said.append(line)
            continue
        if speaker:
            yield _message(speaker, said), first
        speaker, said, first = next_speaker, [], number
    if speaker:
        yield _message(speaker, said), first


def _message(speaker: str, lines: list[str]) -> Block:
    if speaker == "user":
        blocks: list[Block] = [{"type": "text", "text": "\n".join(lines).strip()}]
    else:
        blocks = list(_blocks(lines))
    return {"role": speaker, "message": {"content": blocks}}


def _blocks(lines: list[str]) -> Iterator[Block]:
    """The blocks of an answer: a mark begins one, its body is indented."""
    mark, head, body = "", "", list[str]()
    for line in lines:
        found = next((m for m in (_THINKING, _CALL, _RESULT) if line.startswith(m)), None)
        ends = bool(mark) and bool(line.strip()) and not line[:1].isspace()
        if found is None and not ends:
            body.append(line)
            continue
        yield from _block(mark, head, body)
        mark = found or ""
        head = line.removeprefix(mark).strip() if mark else ""
        body = [] if mark else [line]
    yield from _block(mark, head, body)


def _block(mark: str, head: str, body: list[str]) -> Iterator[Block]:
    text = "\n".join(body).strip("\n")
    if mark == _CALL:
        yield {"type": "tool_use", "name": head, "input": _input(body)}
    elif mark == _RESULT:
        yield {"type": "tool_result", "name": head, "content": _dedented(body)}
    elif mark == _THINKING:
        yield {"type": "thinking", "thinking": f"{head}\n{_dedented(body)}".strip()}
    elif text.strip():
        yield {"type": "text", "text": text.strip()}


def _input(body: list[str]) -> object:
    """The input of a call: JSON, entries one a line, or a text as it stands."""
    text = _dedented(body)
    whole = read_arguments(text)
    if is_object(whole):
        return whole
    entries: Block = {}
    for line in text.split("\n"):
        name, colon, value = line.partition(":")
        if not colon or not name.isidentifier():
            return {"input": text} if text else {}
        entries[name] = value.strip()
    return entries


def _dedented(body: list[str]) -> str:
    indents = [len(line) - len(line.lstrip()) for line in body if line.strip()]
    indent = min(indents, default=0)
    return "\n".join(line[indent:] for line in body).strip("\n")
