"""Makes session files of any size, the same for the same seed, fast enough for a gigabyte.

Texts come from a small pool, so that a file is written about as fast as the disk takes it; ids and
times differ in every record. `mixed` has sizes as sessions have them, a few of 60 to 140 KB;
`tiny` has events of under 200 bytes.
"""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SEED = 20260101
_POOL = 400
_WORDS = (
    *("the", "test", "of", "read", "write", "file", "error", "line", "path", "module", "value"),
    *("return", "class", "import", "token", "build", "merge", "branch", "commit", "retry"),
    *("request", "limit", "cache", "index", "parse", "event", "session", "größe", "naïve", "変更"),
)


def make_session(path: Path, size: int, shape: str, seed: int = SEED) -> None:
    """Write a file of about `size` bytes.

    `shape` is `claude-code`, `codex`, `events` or `tiny`; the last is a generic event list.
    """
    lines = _SHAPES[shape](random.Random(seed))
    written = 0
    with path.open("w", encoding="utf-8", buffering=1 << 20) as file:
        while written < size:
            line = next(lines)
            file.write(line)
            written += len(line)


def _texts(rng: random.Random) -> list[str]:
    """Texts as they stand between quotes in JSON, most of them short, a few very long."""
    texts: list[str] = []
    for number in range(_POOL):
        chars = min(20_000, 20 + int(rng.lognormvariate(6.2, 1.5)))
        if number % 100 == 0:
            chars = rng.randrange(60_000, 140_000)
        words: list[str] = []
        while chars > 0:
            word = rng.choice(_WORDS)
            words.append(word if rng.random() > 0.1 else word + "\n")
            chars -= len(word) + 1
        texts.append(json.dumps(" ".join(words), ensure_ascii=False)[1:-1])
    return texts


def _short(text: str, chars: int) -> str:
    """The beginning of a text, cut between words: in the middle of an escape it is no JSON."""
    return text[:chars].rpartition(" ")[0]


def _time(number: int) -> str:
    minutes, seconds = divmod(number, 60)
    hours, minutes = divmod(minutes, 60)
    return f"2026-01-{1 + hours // 24 % 28:02}T{hours % 24:02}:{minutes:02}:{seconds:02}.000Z"


def _claude_code(rng: random.Random) -> Iterator[str]:
    texts, number = _texts(rng), 0
    shared = (
        '"isSidechain":false,"userType":"external","cwd":"/home/dev/app","sessionId":'
        '"5b1c2f0a-0000-4000-8000-000000000001","version":"2.1.0","gitBranch":"main"'
    )

    def record(type_: str, message: str, more: str = "") -> str:
        nonlocal number
        number += 1
        before, uuid = f"{number - 1:08x}-1111", f"{number:08x}-1111"
        return (
            f'{{"parentUuid":"{before}",{shared},"type":"{type_}","message":{message},'
            f'"uuid":"{uuid}","timestamp":"{_time(number)}"{more}}}\n'
        )

    def says(content: str) -> str:
        return (
            f'{{"model":"claude-haiku-5-5","id":"msg_{number:09}","type":"message",'
            f'"role":"assistant","content":[{content}],"usage":{{"input_tokens":3}}}}'
        )

    while True:
        yield record("user", f'{{"role":"user","content":"{_short(rng.choice(texts), 200)}."}}')
        for _ in range(rng.randrange(4, 30)):
            if rng.random() < 0.3:
                yield record("assistant", says(f'{{"type":"text","text":"{rng.choice(_WORDS)}"}}'))
            call = f"toolu_{number:012}"
            given = f'{{"command":"cat {rng.choice(_WORDS)}/{number}.py","timeout":5}}'
            block = f'{{"type":"tool_use","id":"{call}","name":"Bash","input":{given}}}'
            yield record("assistant", says(block))
            output = rng.choice(texts)
            content = (
                f'[{{"tool_use_id":"{call}","type":"tool_result","content":"{output}",'
                '"is_error":false}]'
            )
            copy = f',"toolUseResult":{{"stdout":"{output}","stderr":""}}'
            yield record("user", f'{{"role":"user","content":{content}}}', copy)


def _codex(rng: random.Random) -> Iterator[str]:
    texts, number = _texts(rng), 0

    def record(type_: str, payload: str) -> str:
        nonlocal number
        number += 1
        return f'{{"timestamp":"{_time(number)}","type":"{type_}","payload":{{{payload}}}}}\n'

    yield record(
        "session_meta",
        '"id":"0199a213-81c0-7800-8aa1-bbab2a035a53","cwd":"/home/dev/app","originator":"codex_cli",'
        '"cli_version":"0.50.0","instructions":null',
    )
    while True:
        text = _short(rng.choice(texts), 200) + f". {number}"
        said = f'"content":[{{"type":"input_text","text":"{text}"}}]'
        yield record("response_item", f'"type":"message","role":"user",{said}')
        yield record("event_msg", f'"type":"user_message","message":"{text}","kind":"plain"')
        for _ in range(rng.randrange(4, 30)):
            call = f"call_{number:012}"
            given = json.dumps(json.dumps({"command": ["bash", "-lc", f"cat {number}.py"]}))
            yield record(
                "response_item",
                f'"type":"function_call","name":"shell","arguments":{given},"call_id":"{call}"',
            )
            output = rng.choice(texts)
            yield record(
                "response_item",
                f'"type":"function_call_output","call_id":"{call}","output":"{output}"',
            )
            yield record("event_msg", '"type":"token_count","info":{"total_tokens":1234}')


def _events(rng: random.Random) -> Iterator[str]:
    texts, number = _texts(rng), 0
    while True:
        number += 1
        time = _time(number)
        if number % 20 == 1:
            yield f'{{"kind":"user","text":"do {rng.choice(_WORDS)}","timestamp":"{time}"}}\n'
            continue
        yield (
            f'{{"kind":"tool_call","tool":"bash","input":{{"command":"cat {number}.py"}},'
            f'"call_id":"c{number}","timestamp":"{time}"}}\n'
        )
        yield (
            f'{{"kind":"tool_result","tool":"bash","output":"{rng.choice(texts)}",'
            f'"call_id":"c{number}","timestamp":"{time}"}}\n'
        )


def _tiny(rng: random.Random) -> Iterator[str]:
    texts, number = [_short(text, 100) for text in _texts(rng)], 0
    while True:
        number += 1
        time = _time(number)
        yield (
            f'{{"kind":"tool_call","tool":"read","input":{{"path":"src/{number}.py","from":1,'
            f'"lines":40,"why":"{rng.choice(_WORDS)}"}},"call_id":"c{number}",'
            f'"timestamp":"{time}"}}\n'
        )
        yield (
            f'{{"kind":"tool_result","tool":"read","output":"{rng.choice(texts)}",'
            f'"call_id":"c{number}","timestamp":"{time}"}}\n'
        )


_SHAPES = {"claude-code": _claude_code, "codex": _codex, "events": _events, "tiny": _tiny}
