"""What a plan would send and cost, before anything is sent."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import lru_cache
from math import ceil
from typing import TYPE_CHECKING

from longjudge.prices import Usage, cost_usd
from longjudge.prompt import system_text
from longjudge.tokens import TokenEstimate, TokenRatio, count_tokens, measure_ratio, model_factor

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Sequence

    from longjudge.chunks import ChunkPlan
    from longjudge.prices import Price
    from longjudge.rubric import Rubric
    from longjudge.sessions.model import Session

REPLY_TOKENS = 300
"""Expected output of one question, thinking included; an assumption, corrected by what is seen."""

FENCE_TOKENS = 60
"""Tokens of the fences and of the lines after them."""

_STEP = 100
_BLOCK = 100


@dataclass(frozen=True, slots=True)
class Totals:
    """Sums over a plan.

    `equal` counts chunks that are not kept and whose answer an equal one brings. `cost_usd` is for
    what is to ask, None if unknown.
    """

    chunks: int
    chars: int
    tokens: TokenEstimate
    kept: int
    equal: int
    cost_usd: float | None
    cost_usd_low: float | None
    cost_usd_high: float | None

    @property
    def to_ask(self) -> int:
        """Questions that a run would ask, retries aside."""
        return self.chunks - self.kept - self.equal


class QuestionPrices:
    """The price of a question by its input, in steps of `_STEP` tokens; looked up when needed.

    A look into the table takes a quarter of a millisecond, and a plan has hundreds of sizes. Within
    a block of steps whose ends and middle lie on one line, so does every step between them: a tier
    that began inside would bend the line.
    """

    __slots__ = ("_blocks", "_model", "_price", "_steps")

    def __init__(self, model: str, price: Price | None) -> None:
        self._model = model
        self._price = price
        self._steps: dict[int, float | None] = {}
        self._blocks: dict[int, tuple[float, float] | None] = {}

    def of(self, step: int) -> float | None:
        """Price of a question of `step` times `_STEP` tokens, None where it is unknown."""
        if step in self._steps:
            return self._steps[step]
        number, place = divmod(step, _BLOCK)
        if number not in self._blocks:
            self._blocks[number] = self._line(number * _BLOCK)
        line = self._blocks[number]
        price = self._look_up(step) if line is None else line[0] + line[1] * place
        self._steps[step] = price
        return price

    def _line(self, start: int) -> tuple[float, float] | None:
        """Price at `start` and what each step adds, None where the block is no line."""
        first, middle, last = (
            self._look_up(start + place) for place in (0, _BLOCK // 2, _BLOCK - 1)
        )
        if first is None or middle is None or last is None:
            return None
        slope = (last - first) / (_BLOCK - 1)
        bend = abs(first + slope * (_BLOCK // 2) - middle)
        return (first, slope) if bend <= 1e-9 * abs(middle) else None

    def _look_up(self, step: int) -> float | None:
        return cost_usd(self._model, Usage(step * _STEP, REPLY_TOKENS), self._price)


@dataclass(frozen=True, slots=True)
class Estimator:
    """Estimates for the chunks of one session, one rubric and one model.

    `price` is one that the user set for the model, and beats the table.
    """

    model: str
    ratio: TokenRatio
    prompt_tokens: int
    price: Price | None = None
    _prices: QuestionPrices = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_prices", QuestionPrices(self.model, self.price))

    @classmethod
    def of(
        cls, session: Session, rubric: Rubric, model: str, price: Price | None = None
    ) -> Estimator:
        """Measure the session; reads some of its events."""
        prompt = _prompt_tokens(system_text(rubric)) * model_factor(model)
        ratio = measure_ratio(session, model)
        estimator = cls(model, ratio, round(prompt) + FENCE_TOKENS, price)
        # The first look into the table loads it, which is better done here than while painting.
        estimator.cost(estimator.prompt_tokens)
        return estimator

    def chunk(self, plan: ChunkPlan, position: int) -> TokenEstimate:
        """Tokens of the whole request about one chunk."""
        chunk = plan[position]
        return self.ratio.estimate(chunk.chars, chunk.last - chunk.first + 1, self.prompt_tokens)

    def cost(self, tokens: int) -> float | None:
        """Price of one question of `tokens` input tokens, None where it is unknown."""
        return self._prices.of(-(-tokens // _STEP))

    def upper_price(
        self, plan: ChunkPlan, position: int, max_tokens: int, factor: float = 1.0
    ) -> float | None:
        """The most that a question about a chunk should cost, with an answer of `max_tokens`.

        `factor` is how many times the estimate the model's tokens turned out to be. None where the
        price is unknown.
        """
        tokens = -(-ceil(self.chunk(plan, position).high * factor) // _STEP) * _STEP
        return cost_usd(self.model, Usage(tokens, max_tokens), self.price)

    def chunks(self, plan: ChunkPlan) -> tuple[list[int], list[int], list[int]]:
        """`chunk` for a whole plan: expected tokens, lower and upper end of each."""
        return self.ratio.estimates(*plan.extents(), self.prompt_tokens)

    def totals(
        self,
        plan: ChunkPlan,
        keys: Sequence[str],
        kept: Container[str],
        rest: Callable[[], object] | None = None,
    ) -> Totals:
        """Sum a plan up; `kept` holds the verdict keys that the store has.

        Equal chunks are priced once, since they are asked once. A thread that sums up a large plan
        gives way to others where it is told to `rest`.
        """
        expected, low, high = self.chunks(plan)
        if rest is not None:
            rest()
        questions = _questions(keys)
        asked = [position for key, position in questions.items() if key not in kept]
        copies = len(keys) - len(questions)
        kept_chunks = len(questions) - len(asked)
        if copies and kept_chunks:
            kept_chunks = sum(1 for key in keys if key in kept)
        if rest is not None:
            rest()
        return Totals(
            len(plan),
            plan.total_chars,
            TokenEstimate(sum(expected), sum(low), sum(high)),
            kept_chunks,
            len(plan) - kept_chunks - len(asked),
            *(self._sum_prices([band[i] for i in asked]) for band in (expected, low, high)),
        )

    def observed_cost(
        self, plan: ChunkPlan, keys: Sequence[str], kept: Container[str], factor: float
    ) -> float | None:
        """The price of what is to ask, were all tokens `factor` times the estimate.

        None where the price is unknown.
        """
        expected, _, _ = self.chunks(plan)
        asked = (position for key, position in _questions(keys).items() if key not in kept)
        return self._sum_prices([round(expected[position] * factor) for position in asked])

    def _sum_prices(self, tokens: Iterable[int]) -> float | None:
        total = 0.0
        for step, questions in Counter([-(-count // _STEP) for count in tokens]).items():
            price = self._prices.of(step)
            if price is None:
                return None
            total += price * questions
        return total


@lru_cache(maxsize=32)
def _prompt_tokens(text: str) -> int:
    """Tokens of what stands before the events: the same for every session of a rubric."""
    return count_tokens(text)


def _questions(keys: Sequence[str]) -> dict[str, int]:
    """A chunk for each question: equal ones have equal estimates, so any of them stands for it."""
    return dict(zip(keys, range(len(keys)), strict=True))
