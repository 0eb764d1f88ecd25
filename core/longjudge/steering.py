"""What can be done with a judgment while it runs, and what it has in hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longjudge.states import StopCause

if TYPE_CHECKING:
    from longjudge.batch_asking import BatchAsking
    from longjudge.calls import InHand
    from longjudge.store.batch_rows import Batch


class Steering:
    """The part of a judgment that may be called and read at any time, on its own loop."""

    _asking: BatchAsking

    @property
    def store_error(self) -> str | None:
        """What is not kept and why, None while everything is."""
        return self._asking.store_error

    @property
    def stopping(self) -> bool:
        """Whether a limit, a cancel or a fatal error has begun to end it."""
        return self._asking.stop_cause is not None

    @property
    def budget_ended(self) -> bool:
        """Whether the budget kept chunks from being asked."""
        return self._asking.budget_ended

    @property
    def held(self) -> int:
        """How many leases it holds in the store now, and batches at the provider."""
        return self._asking.leases.left + len(self.batches)

    @property
    def batches(self) -> list[Batch]:
        """Its batches that are still held."""
        return self._asking.side.batches if self._asking.side is not None else []

    @property
    def in_batch(self) -> set[int]:
        """The parts (from 1) that are in a batch, or about to be."""
        side = self._asking.side
        return {position + 1 for position in side.positions} if side is not None else set()

    def batch_of(self, part: int) -> str | None:
        """Our id of the batch that a part (from 1) is in; None where it is in none."""
        side = self._asking.side
        return side.batch_of(part - 1) if side is not None else None

    def sent_batch(self, id: str) -> bool:
        """Whether a batch, by our id of it, was sent for this judgment."""
        side = self._asking.side
        return side is not None and id in side.ids

    @property
    def has_begun(self) -> bool:
        """Whether it is known what there is to ask, and asked; it stays so."""
        return self._asking.has_begun

    @property
    def unasked(self) -> int:
        """How many questions are in nobody's hands: not asked, or to be asked again."""
        return self._asking.unasked

    @property
    def in_hand(self) -> InHand:
        """What it has in hand now; once it is over, what could not be released yet."""
        return self._asking.in_hand

    def asked_by(self, part: int) -> str:
        """Which other process asks about a `waiting` part (from 1); empty where it is this one."""
        return self._asking.leases.asked_by(part - 1)

    @property
    def paused(self) -> bool:
        """Whether it pauses now."""
        return self._asking.pausing.on

    @property
    def paused_seconds(self) -> float:
        """How long it has paused until now, all pauses together."""
        return self._asking.pausing.seconds

    def pause(self) -> bool:
        """Ask nothing until `go_on`; False where it pauses already, or is being ended.

        Answers on their way are still kept as they come, and may end it. What waits to be asked,
        retries included, waits on, and no lease is held for it: another process may ask it
        meanwhile. The time limit stands still, and the result's `seconds` leave the pause out.
        Cancelling ends a judgment that pauses like any other.
        """
        return self._asking.pausing.pause()

    def go_on(self) -> bool:
        """Ask again after a pause; False where there is none."""
        return self._asking.pausing.go_on()

    def move_to_batch(self) -> int:
        """Have everything that is not being asked now sent as a batch; how many parts these are.

        Before it has begun to ask, these are all that are open: of them what has to be asked is
        sent, and nothing live. 0 where it has no queue, is being ended, or nothing is left.
        """
        return self._asking.move_to_batch()

    def move_to_live(self) -> bool:
        """Have its batches cancelled, and what they do not answer asked live; False without any."""
        return self._asking.move_to_live()

    def cancel(self, *, keep_batches: bool = False) -> None:
        """End the whole judgment; safe to call at any time, and again.

        Batches are cancelled at the provider and waited for, for a bounded time that a second call
        ends; with `keep_batches` they run on and stay held.
        """
        self._asking.stop(StopCause.CANCEL, keep=keep_batches)

    def cancel_part(self, part: int) -> bool:
        """End one chunk (from 1) as a gap; False where it has ended already."""
        return self._asking.cancel(part - 1)
