"""What can be done with a judgment while it runs, and what it has in hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longjudge.states import StopCause

if TYPE_CHECKING:
    from longjudge.asking import Asking, InHand


class Steering:
    """The part of a judgment that may be called and read at any time, on its own loop."""

    _asking: Asking

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
        """How many leases it holds in the store now."""
        return self._asking.leases.left

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

    def cancel(self) -> None:
        """End the whole judgment; safe to call at any time, and again."""
        self._asking.stop(StopCause.CANCEL)

    def cancel_part(self, part: int) -> bool:
        """End one chunk (from 1) as a gap; False where it has ended already."""
        return self._asking.cancel(part - 1)
