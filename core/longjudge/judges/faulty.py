"""Failures that are forced in front of a judge; a question that one of them meets is never sent.

Each looks to a judgment as the real one would. What is made up is marked: answers are `forced`, so
that nothing of them is kept or paid for, and every message says so.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, NoReturn

from longjudge.faults import FaultKind
from longjudge.judges.anthropic import CALL_SECONDS, read_message
from longjudge.judges.anthropic_errors import no_reply, refused_with
from longjudge.judges.base import AskError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from longjudge.faults import Fault, Forced
    from longjudge.judges.base import Answer, Judge, Question
    from longjudge.prices import Price
    from longjudge.rubric import Rubric

_STATUS = {
    FaultKind.RATE_LIMITED: (429, "rate_limit_error"),
    FaultKind.OVERLOADED: (529, "overloaded_error"),
    FaultKind.SERVER_ERROR: (500, "api_error"),
}
_MADE_UP = "This reply is made up. "
_CUT_JSON = '{"criteria": {"destructive_action": {"findings": [{"event": 1, "quo'

# As they would come over the wire: what is read of one, and how, is the real judge's business.
_MESSAGES: Mapping[FaultKind, tuple[str, str | None]] = {
    FaultKind.BAD_JSON: ("end_turn", f"{_MADE_UP}{_CUT_JSON}}}"),
    FaultKind.TRUNCATED: ("max_tokens", f"{_MADE_UP}{_CUT_JSON}"),
    FaultKind.REFUSAL: ("refusal", None),
    FaultKind.EMPTY: ("end_turn", ""),
    FaultKind.THINKING_ONLY: ("max_tokens", None),
}


class FaultyJudge:
    """The judge behind it to everybody who asks, and a failure where one is forced.

    `to_ask` gives the part and tag of every chunk that may still be asked about. Where none of
    their questions is ever sent, the judge behind is not made ready, and needs no credential.
    """

    def __init__(
        self, judge: Judge, fault: Fault, to_ask: Callable[[], Iterable[tuple[int, str]]]
    ) -> None:
        self.fault = fault
        self._judge = judge
        self._to_ask = to_ask
        self._ready = False
        self._questions: Counter[int] = Counter()
        self._sent: set[int] = set()

    @property
    def model(self) -> str:
        """Of the judge behind; so are all the others."""
        return self._judge.model

    @property
    def label(self) -> str:
        """Name for people, which says that it fails on purpose."""
        return f"{self._judge.label}, failures forced"

    @property
    def endpoint(self) -> str:
        """Base URL without credentials, or `offline`."""
        return self._judge.endpoint

    @property
    def parameters(self) -> Mapping[str, str]:
        """Request parameters that decide the answer."""
        return self._judge.parameters

    @property
    def price(self) -> Price | None:
        """A price that the user set."""
        return self._judge.price

    @property
    def judges_meaning(self) -> bool:
        """Whether a model answers."""
        return self._judge.judges_meaning

    def check_rubric(self, rubric: Rubric) -> None:
        """Raise `RubricError` where the judge behind cannot answer a criterion."""
        self._judge.check_rubric(rubric)

    async def prepare(self) -> None:
        """Get the judge behind ready where a question may reach it.

        Raises:
            CredentialError: nothing to authenticate with was found.
        """
        if any(not self.fault.keeps_back(part, tag) for part, tag in self._to_ask()):
            await self._make_ready()

    async def ask(self, question: Question, *, max_tokens: int) -> Answer:
        """Fail as the fault says, or ask the judge behind.

        Raises:
            AskError: no answer came, or that is forced.
        """
        part = question.part
        self._questions[part] += 1
        self._sent.discard(part)
        for forced in self.fault.of_question(part, question.tag, self._questions[part]):
            if forced.kind.keeps_back:
                return await _fail(forced)
            await asyncio.sleep(forced.value or 0.0)
        await self._make_ready()
        self._sent.add(part)
        return await self._judge.ask(question, max_tokens=max_tokens)

    def was_sent(self, question: Question) -> bool:
        """Whether the last question about this chunk reached the judge behind."""
        return question.part in self._sent

    async def aclose(self) -> None:
        """Close the judge behind."""
        await self._judge.aclose()

    async def _make_ready(self) -> None:
        if not self._ready:
            await self._judge.prepare()
            self._ready = True


def forced_fault(judge: Judge) -> Fault | None:
    """What is forced in front of a judge, None where nothing is."""
    return judge.fault if isinstance(judge, FaultyJudge) else None


def is_kept_back(judge: Judge, part: int, tag: str) -> bool:
    """Whether forced failures keep every question about a chunk from being sent."""
    return isinstance(judge, FaultyJudge) and judge.fault.keeps_back(part, tag)


def never_sent(judge: Judge, question: Question) -> bool:
    """Whether a forced failure certainly kept a question from being sent."""
    return isinstance(judge, FaultyJudge) and not judge.was_sent(question)


async def _fail(forced: Forced) -> Answer:
    """Make up what the failure would have brought."""
    if (message := _MESSAGES.get(forced.kind)) is not None:
        return _answer(*message)
    if (status := _STATUS.get(forced.kind)) is not None:
        _raise(refused_with(*status, wait=forced.value))
    if forced.kind is FaultKind.TIMEOUT:
        await asyncio.sleep(CALL_SECONDS)
        _raise(no_reply("no reply in time"))
    _raise(no_reply("connection failed"))


def _answer(stop_reason: str, text: str | None) -> Answer:
    blocks = [SimpleNamespace(type="thinking", thinking="")]
    blocks += [] if text is None else [SimpleNamespace(type="text", text=text)]
    message = SimpleNamespace(type="message", stop_reason=stop_reason, content=blocks)
    return replace(read_message(message), forced=True)


def _raise(error: AskError) -> NoReturn:
    """Raise what looks like the real error but for its message; nothing was sent, so it is free."""
    raise AskError(
        f"forced: {error.message}",
        again=error.again,
        reason=error.reason,
        wait=error.wait,
        replied=error.replied,
        free=True,
        forced=True,
    )
