"""The verdict key: a hash of what decides the answer and of nothing else.

Inside are the model, the endpoint, the request parameters but the token cap, the versions of
prompt, rendering, redactor and rubric, and the ordered digests of the chunk's event texts. Part
numbers, paths, times and limits are not: a grown session asks only about its new end.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

import msgspec

from longjudge.prompt import PROMPT_VERSION
from longjudge.redaction import NO_REDACTOR
from longjudge.sessions.model import RENDERING_VERSION
from longjudge.store import KeyParts, Origin

if TYPE_CHECKING:
    from collections.abc import Iterator

    from longjudge.chunks import ChunkPlan
    from longjudge.judges.base import Judge
    from longjudge.rubric import Rubric


def key_parts(judge: Judge, chunk_digest: bytes, *, redactor: str = NO_REDACTOR) -> KeyParts:
    """What a verdict is kept with, so that a later key can say in what it differs."""
    return KeyParts(
        chunk_digest=chunk_digest.hex(),
        parameters=msgspec.json.encode(dict(sorted(judge.parameters.items()))).decode(),
        prompt=PROMPT_VERSION,
        rendering=RENDERING_VERSION,
        redactor=redactor,
    )


def key_origin(judge: Judge, rubric: Rubric, *, redactor: str = NO_REDACTOR) -> Origin:
    """Everything that a key holds beside the text, part by part."""
    parts = key_parts(judge, b"", redactor=redactor)
    return Origin(
        {
            "model": judge.model,
            "endpoint": judge.endpoint,
            "parameters": parts.parameters,
            "prompt": parts.prompt,
            "rendering": parts.rendering,
            "redactor": parts.redactor,
            "rubric": rubric.version,
        }
    )


class KeyMaker:
    """Makes the keys of all chunks that one judge is asked about by one rubric."""

    __slots__ = ("_state",)

    def __init__(self, judge: Judge, rubric: Rubric, *, redactor: str = NO_REDACTOR) -> None:
        # JSON keeps the fields apart, so that no two different sets of them read the same.
        parts = {
            "model": judge.model,
            "endpoint": judge.endpoint,
            "parameters": dict(sorted(judge.parameters.items())),
            "prompt": PROMPT_VERSION,
            "rendering": RENDERING_VERSION,
            "redactor": redactor,
            "rubric": rubric.version,
        }
        self._state = sha256(msgspec.json.encode(parts) + b"\n")

    def key(self, chunk_digest: bytes) -> str:
        """64 hexadecimal digits for the chunk that `ChunkPlan.digest` describes."""
        state = self._state.copy()
        state.update(chunk_digest)
        return state.hexdigest()

    def keys(self, plan: ChunkPlan) -> Iterator[str]:
        """The keys of a plan, in order."""
        copy = self._state.copy
        for digest in plan.digests():
            state = copy()
            state.update(digest)
            yield state.hexdigest()
