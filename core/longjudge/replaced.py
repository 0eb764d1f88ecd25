"""Which secrets a run replaces, counted before it."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from typing import TYPE_CHECKING

from longjudge.redaction import find_secrets, may_hold_secrets

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from longjudge.chunks import Chunk, ChunkPlan
    from longjudge.sessions.model import Session


SHORT_CHARS = 2_000
"""Texts up to here are looked at together, chunk by chunk."""


def go_on() -> bool:
    """Stop at nothing."""
    return False


class ReplacedSecrets:
    """The secrets of a session's events, each looked through when it is first asked for.

    For one thread at a time. `percent` is how much of what is counted now, or was last, is.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._seen = bytearray(len(session.index))
        self._found: dict[int, tuple[tuple[int, str], ...]] = {}
        self.percent = 0

    def count(
        self,
        plan: ChunkPlan,
        positions: Iterable[int],
        stopped: Callable[[], bool] = go_on,
    ) -> Counter[str] | None:
        """How many secrets of each kind the chunks at some positions hold; None where stopped.

        Raises:
            SessionError: the file no longer holds what was indexed.
        """
        try:
            return self._count(plan, positions, stopped)
        finally:
            # Who reads an event after this finds out where its file has changed meanwhile.
            self._session.source.forget()

    def _count(
        self, plan: ChunkPlan, positions: Iterable[int], stopped: Callable[[], bool]
    ) -> Counter[str] | None:
        counts: Counter[str] = Counter()
        asked = list(positions)
        for number, position in enumerate(asked):
            self.percent = 100 * number // len(asked)
            chunk = plan[position]
            self._look_through_short(chunk, stopped)
            for event in range(chunk.first, chunk.last + 1):
                if stopped():
                    return None
                self._look_through(event, stopped)
                if event in self._found:
                    counts.update(self._kinds(chunk, event))
        return counts

    def _look_through_short(self, chunk: Chunk, stopped: Callable[[], bool]) -> None:
        """Look through the short events of a chunk; only a few of them hold anything alike."""
        chars = self._session.index.chars
        short: dict[int, str] = {}
        for event in range(chunk.first, chunk.last + 1):
            if chars[event] <= SHORT_CHARS and not self._seen[event]:
                if stopped():
                    return
                short[event] = self._session.text(event)
        may_hold = may_hold_secrets(list(short.values()))
        for (event, text), may in zip(short.items(), may_hold, strict=True):
            if may:
                self._look_through_text(event, text, stopped)
            else:
                self._seen[event] = 1

    def _look_through(self, event: int, stopped: Callable[[], bool]) -> None:
        if not self._seen[event]:
            self._look_through_text(event, self._session.text(event), stopped)

    def _look_through_text(self, event: int, text: str, stopped: Callable[[], bool]) -> None:
        found = find_secrets(text, stopped)
        if found:
            self._found[event] = tuple((each.start, each.kind) for each in found)
        # One that was stopped in the middle is looked through again.
        self._seen[event] = not stopped()

    def _kinds(self, chunk: Chunk, event: int) -> Sequence[str]:
        piece = chunk.piece
        return [
            kind
            for start, kind in self._found[event]
            if piece is None or piece.start <= start < piece.end
        ]


async def count_secrets(
    session: Session,
    plan: ChunkPlan,
    positions: Iterable[int],
    stopped: Callable[[], bool] = go_on,
) -> Counter[str]:
    """Count in a thread, so that a signal is heard meanwhile; nothing where `stopped` says so.

    Raises:
        SessionError: the file no longer holds what was indexed.
    """
    cancelled = threading.Event()
    count = ReplacedSecrets(session).count

    def stop() -> bool:
        return cancelled.is_set() or stopped()

    try:
        return await asyncio.to_thread(count, plan, positions, stop) or Counter()
    finally:
        cancelled.set()


def secrets_words(counts: Mapping[str, int]) -> str:
    """`3 secrets replaced (2 github-token, 1 password)`."""
    total = sum(counts.values())
    if not total:
        return "no secrets found"
    kinds = sorted(counts.items(), key=lambda each: (-each[1], each[0]))
    noun = "secret" if total == 1 else "secrets"
    return f"{total:,} {noun} replaced ({', '.join(f'{count:,} {kind}' for kind, count in kinds)})"
