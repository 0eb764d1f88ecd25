"""The calls of one judgment that are in flight: sent, counted, paid for, cut off.

Each is a task of its own, so that it can be cut off while its worker lives on, and an answer that
has come is not lost where the worker itself is cancelled.
"""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from longjudge.judges.base import AskError
from longjudge.judges.faulty import is_kept_back, never_sent
from longjudge.prices import cost_usd
from longjudge.prompt import chunk_tag
from longjudge.turns import Pace

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from longjudge.board import Board
    from longjudge.budget import Purse, Reservation
    from longjudge.judges.base import Answer, Judge, Question


@dataclass(frozen=True, slots=True)
class InHand:
    """What a judgment has in hand.

    `calls` are those in flight or being closed, `verdicts` are on their way into the store, and
    `leases` may stand in it.
    """

    calls: int
    verdicts: int
    leases: int

    def __bool__(self) -> bool:
        """Whether there is anything."""
        return bool(self.calls or self.verdicts or self.leases)


class Calls:
    """Calls by position.

    Answers are looked at by the `pace`, and so is whatever else takes long about each question.
    `late` is awaited with what came in the moment in which the worker was cancelled.
    """

    def __init__(
        self,
        judge: Judge,
        board: Board,
        purse: Purse,
        late: Callable[[int, Question, Answer], Awaitable[None]],
    ) -> None:
        self._judge = judge
        self._board = board
        self._purse = purse
        self._late = late
        self.pace = Pace()
        self._in_flight: dict[int, asyncio.Task[Answer]] = {}

    def __len__(self) -> int:
        """How many are in flight, or being closed."""
        return len(self._in_flight)

    def cost(self, answer: Answer) -> float | None:
        """Price of an answer, None where it is unknown."""
        if answer.forced:
            return 0.0
        return cost_usd(self._judge.model, answer.usage, self._judge.price)

    def _paid(self, answer: Answer) -> float | None:
        """What an answer takes from the budget; None where the server did not count its tokens."""
        usage = answer.usage
        counted = usage.prompt_tokens and (usage.output_tokens or not answer.text)
        return self.cost(answer) if counted or answer.forced else None

    def unsent(self, position: int) -> bool:
        """Whether forced failures keep every question about a chunk from being sent."""
        tag = chunk_tag(self._board.plan.digest(position))
        return is_kept_back(self._judge, position + 1, tag)

    def cut_off(self, position: int) -> bool:
        """Cut off the call about a chunk; False where none is in flight."""
        call = self._in_flight.get(position)
        if call is not None:
            call.cancel()
        return call is not None

    async def wind_up(self, grace: float) -> None:
        """Let answers on their way arrive for so many seconds, and cut off the rest."""
        if self._in_flight:
            await asyncio.wait(list(self._in_flight.values()), timeout=grace)
        for call in self._in_flight.values():
            call.cancel()

    async def _ask_at_pace(self, question: Question, max_tokens: int) -> Answer:
        """Ask, and have the answer looked at when it is its turn; then nothing cuts it off."""
        answer = await self._judge.ask(question, max_tokens=max_tokens)
        with contextlib.suppress(asyncio.CancelledError):
            await self.pace.turn()
        return answer

    async def ask(
        self, position: int, question: Question, max_tokens: int, reservation: Reservation
    ) -> Answer | None:
        """Send one question; None where it was cut off.

        Raises:
            AskError: no answer came.
        """
        # Nobody knows what an answer costs that did not arrive whole.
        paid: float | None = None
        call = asyncio.ensure_future(self._ask_at_pace(question, max_tokens))
        self._in_flight[position] = call
        # Told when it can be cut off, which a listener may do at once.
        self._board.started(position)
        try:
            answer = await call
            paid = self._paid(answer)
            worker = asyncio.current_task()
            if worker is not None and worker.cancelling():
                # The call has taken it for its own, and kept its answer.
                raise asyncio.CancelledError
            return answer
        except AskError as error:
            self._board.spent.calls_without_reply += not error.replied
            paid = 0.0 if error.free else None
            raise
        except asyncio.CancelledError:
            worker = asyncio.current_task()
            if worker is not None and worker.cancelling():
                if call.done() and not call.cancelled() and call.exception() is None:
                    paid = self._paid(call.result())
                    await self._late(position, question, call.result())
                raise
            self._board.spent.calls_without_reply += 1
            paid = 0.0 if never_sent(self._judge, question) else None
            return None
        finally:
            self._in_flight.pop(position, None)
            self._board.stopped(position)
            self._purse.settle(reservation, paid)
