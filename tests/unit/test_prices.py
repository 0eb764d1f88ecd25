"""What tokens cost, class by class, and what a run says that it was priced by."""

from __future__ import annotations

from dataclasses import astuple
from types import SimpleNamespace

import pytest

from longjudge.judges.anthropic import read_message
from longjudge.prices import Price, RunPrice, Usage, cost_usd, price_of, price_of_run

HAIKU = "claude-haiku-5-5"
MILLION = 1_000_000


def usage_of(**fields: object) -> Usage:
    """The usage of a message as the SDK builds it, where nothing is checked."""
    details = {
        name: SimpleNamespace(**value) if isinstance(value, dict) else value
        for name, value in fields.items()
    }
    block = SimpleNamespace(type="text", text="{}")
    message = SimpleNamespace(
        type="message", content=[block], stop_reason="end_turn", usage=SimpleNamespace(**details)
    )
    return read_message(message).usage


@pytest.mark.parametrize(
    ("fields", "usage"),
    [
        ({"input_tokens": 7, "output_tokens": 2}, Usage(7, 2)),
        (
            {"input_tokens": 7, "output_tokens": 2, "cache_read_input_tokens": 3},
            Usage(7, 2, cache_read_tokens=3),
        ),
        # The details say what the total holds already.
        (
            {
                "input_tokens": 7,
                "cache_creation_input_tokens": 50,
                "cache_creation": {
                    "ephemeral_5m_input_tokens": 30,
                    "ephemeral_1h_input_tokens": 20,
                },
            },
            Usage(7, cache_write_tokens=50, cache_write_1h_tokens=20),
        ),
        (
            {
                "cache_creation_input_tokens": None,
                "cache_creation": {"ephemeral_5m_input_tokens": 30, "ephemeral_1h_input_tokens": 0},
            },
            Usage(cache_write_tokens=30),
        ),
        (
            {
                "cache_creation_input_tokens": 10,
                "cache_creation": {"ephemeral_1h_input_tokens": 2000},
            },
            Usage(cache_write_tokens=10, cache_write_1h_tokens=10),
        ),
        (
            {"output_tokens": 90, "output_tokens_details": {"thinking_tokens": 60}},
            Usage(0, 90, thinking_tokens=60),
        ),
        (
            {"output_tokens": 90, "output_tokens_details": {"thinking_tokens": 600}},
            Usage(0, 90, thinking_tokens=90),
        ),
        ({"input_tokens": 7, "service_tier": "batch"}, Usage(7)),
        ({"input_tokens": 7, "service_tier": "priority", "speed": "fast"}, Usage(7)),
        ({"input_tokens": -1, "output_tokens": "9", "cache_creation": 5}, Usage()),
        ({"input_tokens": True, "output_tokens": 2**60, "cache_creation": None}, Usage()),
        ({"input_tokens": 1.5, "output_tokens_details": []}, Usage()),
    ],
)
def test_tokens_are_counted_once_whatever_the_server_adds(
    fields: dict[str, object], usage: Usage
) -> None:
    assert usage_of(**fields) == usage


def test_a_sum_has_every_class() -> None:
    one, other = Usage(1, 2, 3, 4, 5, 6), Usage(10, 20, 30, 40, 50, 60)
    assert astuple(one + other) == (11, 22, 33, 44, 55, 66)
    assert (one + other).prompt_tokens == 11 + 33 + 44


@pytest.mark.parametrize(
    ("usage", "dollars"),
    [
        (Usage(50_000, 0), 0.10 * 0.05),
        (Usage(0, MILLION), 0.50),
        (Usage(0, 0, cache_read_tokens=50_000), 0.01 * 0.05),
        (Usage(0, 0, cache_write_tokens=50_000), 0.125 * 0.05),
        (Usage(0, 0, cache_write_tokens=50_000, cache_write_1h_tokens=20_000), 0.00775),
        # The whole request is dearer beyond 100,000 tokens, whatever a cache served of it.
        (Usage(200_000, 0), 0.50 * 0.2),
        (Usage(50_000, 0, cache_read_tokens=150_000), 0.50 * 0.05 + 0.05 * 0.15),
        # Thinking is a part of the output, and paid once.
        (Usage(0, MILLION, thinking_tokens=900_000), 0.50),
    ],
)
def test_each_class_has_its_price_and_each_request_its_tier(usage: Usage, dollars: float) -> None:
    assert cost_usd(HAIKU, usage) == pytest.approx(dollars)


def test_a_run_says_what_it_is_priced_by_and_whether_long_requests_are_dearer() -> None:
    haiku, sonnet = price_of_run(HAIKU), price_of_run("claude-sonnet-5-5")
    assert haiku is not None
    assert sonnet is not None
    classes = (haiku.input, haiku.output, haiku.cache_read, haiku.cache_write)
    assert classes == pytest.approx((0.10, 0.50, 0.01, 0.125))
    assert (haiku.tiers, sonnet.tiers) == (True, False)
    assert haiku.source.startswith("genai-prices ")


def test_a_price_of_ones_own_says_so_and_an_unknown_one_is_none() -> None:
    own = price_of_run(HAIKU, Price(2.0, 10.0, cache_read=0.5))
    assert own == RunPrice(2.0, 10.0, 0.5, 2.0, tiers=False, source="profile")
    assert price_of_run("my-own-model") is None
    assert price_of("my-own-model") is None
    free = price_of_run("offline")
    assert free is not None
    assert (free.input, free.output, free.source) == (0.0, 0.0, "offline")
