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
from longjudge.sessions.model import RENDERING_VERSION

if TYPE_CHECKING:
    from collections.abc import Iterator

    from longjudge.chunks import ChunkPlan
    from longjudge.judges.base import Judge
    from longjudge.rubric import Rubric

NO_REDACTOR = "none"


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
        return (self.key(plan.digest(position)) for position in range(len(plan)))
