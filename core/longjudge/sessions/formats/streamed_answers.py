"""A model's answer as it came over the wire: one document, or a stream of server-sent events."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longjudge.sessions.formats.held_messages import held_messages
from longjudge.sessions.formats.unpacked import unpacked
from longjudge.sessions.values import is_array, is_object

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    Message = dict[str, object]

_PIECES = {
    "text_delta": ("text", "text"),
    "thinking_delta": ("thinking", "thinking"),
    "input_json_delta": ("partial_json", "input"),
}


def answer_messages(text: str) -> list[Message]:
    """The messages of an answer, none where the text holds no answer of a model."""
    start = text.lstrip()[:6]
    if not start.startswith(("data:", "event:", ":", "id:")):
        value = unpacked(text)
        if is_array(value):
            return _joined(item for item in value if is_object(item))
        return held_messages(value, "assistant") if is_object(value) else []
    return _joined(_data(text))


def _data(text: str) -> Iterator[Message]:
    for line in text.split("\n"):
        if line.startswith("data:"):
            value = unpacked(line[5:].strip())
            if is_object(value):
                yield value


def _joined(chunks: Iterable[Message]) -> list[Message]:
    """The message that the pieces of a stream make."""
    blocks = _Blocks()
    chat = _Chat()
    items: list[Message] = []
    whole: list[Message] = []
    for chunk in chunks:
        type_ = str(chunk.get("type"))
        if type_.startswith("content_block"):
            blocks.take(type_, chunk)
        elif type_ in ("response.completed", "response.incomplete"):
            whole = held_messages(chunk.get("response"), "assistant")
        elif type_ == "response.output_item.done" and is_object(item := chunk.get("item")):
            items.append(item)
        elif is_array(choices := chunk.get("choices")):
            chat.take(choices)
        elif is_array(candidates := chunk.get("candidates")):
            blocks.add_parts(candidates)
    return whole or items or chat.messages() or blocks.messages()


class _Blocks:
    """Content blocks that come in pieces, by their place."""

    def __init__(self) -> None:
        self._blocks: dict[int, Message] = {}
        self._pieces: dict[int, tuple[str, list[str]]] = {}

    def take(self, type_: str, chunk: Message) -> None:
        """One event about a block."""
        place = chunk.get("index")
        place = place if isinstance(place, int) else 0
        block, delta = chunk.get("content_block"), chunk.get("delta")
        if type_ == "content_block_start" and is_object(block):
            self._blocks[place] = dict(block)
        elif type_ == "content_block_delta" and is_object(delta):
            key, entry = _PIECES.get(str(delta.get("type")), ("", ""))
            piece = delta.get(key)
            if isinstance(piece, str):
                self._pieces.setdefault(place, (entry, []))[1].append(piece)

    def add_parts(self, candidates: list[object]) -> None:
        """The parts of one more piece of Gemini's answer; texts that go on are one."""
        first = candidates[0] if candidates else None
        content = first.get("content") if is_object(first) else None
        parts = content.get("parts") if is_object(content) else None
        for part in parts if is_array(parts) else []:
            if not is_object(part):
                continue
            last = self._blocks.get(len(self._blocks) - 1)
            text = part.get("text")
            if (
                last is not None
                and isinstance(text, str)
                and isinstance(last.get("text"), str)
                and last.get("thought") == part.get("thought")
            ):
                last["text"] = f"{last['text']}{text}"
            else:
                self._blocks[len(self._blocks)] = dict(part)

    def messages(self) -> list[Message]:
        """The answer, if there is any."""
        for place, (entry, pieces) in self._pieces.items():
            block = self._blocks.setdefault(place, {"type": "text"})
            text = "".join(pieces)
            known = block.get(entry)
            block[entry] = f"{known}{text}" if isinstance(known, str) else text
        if not self._blocks:
            return []
        content = [self._blocks[place] for place in sorted(self._blocks)]
        return held_messages([{"role": "assistant", "content": content}], "assistant")


class _Chat:
    """The deltas of a chat completion."""

    def __init__(self) -> None:
        self._texts: dict[str, list[str]] = {}
        self._calls: dict[int, Message] = {}
        self._arguments: dict[int, list[str]] = {}

    def take(self, choices: list[object]) -> None:
        """One chunk; only the first choice counts."""
        first = choices[0] if choices else None
        delta = first.get("delta", first.get("message")) if is_object(first) else None
        if not is_object(delta) or (is_object(first) and first.get("index") not in (None, 0)):
            return
        for key in ("content", "reasoning_content", "reasoning", "refusal"):
            if isinstance(piece := delta.get(key), str):
                self._texts.setdefault(key, []).append(piece)
        calls = delta.get("tool_calls")
        for call in calls if is_array(calls) else []:
            if is_object(call):
                self._take_call(call)

    def _take_call(self, call: Message) -> None:
        place = call.get("index")
        place = place if isinstance(place, int) else len(self._calls)
        function = call.get("function")
        known = self._calls.setdefault(place, {"id": None, "name": None})
        known["id"] = call.get("id") or known["id"]
        if is_object(function):
            known["name"] = function.get("name") or known["name"]
            if isinstance(piece := function.get("arguments"), str):
                self._arguments.setdefault(place, []).append(piece)

    def messages(self) -> list[Message]:
        """The answer, if there is any."""
        if not self._texts and not self._calls:
            return []
        message: Message = {"role": "assistant", "content": ""}
        message.update({key: "".join(pieces) for key, pieces in self._texts.items()})
        message["tool_calls"] = [
            {
                "id": call["id"],
                "function": {
                    "name": call["name"],
                    "arguments": "".join(self._arguments.get(place, [])),
                },
            }
            for place, call in sorted(self._calls.items())
        ]
        return held_messages([message], "assistant")
