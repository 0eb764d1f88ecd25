"""Tokens by class in every result, and the price of then, whatever a model costs later."""

from __future__ import annotations

import json
import sqlite3
from typing import TYPE_CHECKING, Any

import pytest

import server as api
from commands_for_tests import longjudge
from sessions_for_tests import CHUNK_CHARS, write_session

if TYPE_CHECKING:
    from pathlib import Path

    from server import MessagesServer

COUNT = 3
SIZE = ("--chunk-chars", CHUNK_CHARS)
USED: dict[str, Any] = {
    "input_tokens": 1000,
    "cache_creation_input_tokens": 200,
    "cache_creation": {"ephemeral_5m_input_tokens": 150, "ephemeral_1h_input_tokens": 50},
    "cache_read_input_tokens": 4000,
    "output_tokens": 60,
    "output_tokens_details": {"thinking_tokens": 40},
    "service_tier": "priority",
}
OF_EACH = (1000 * 0.10 + 60 * 0.50 + 4000 * 0.01 + 150 * 0.125 + 50 * 0.20) / 1e6


@pytest.fixture(autouse=True)
def store_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    path = tmp_path / "store.sqlite"
    monkeypatch.setenv("LONGJUDGE_STORE", str(path))
    return path


@pytest.fixture
def session_file(tmp_path: Path, served: MessagesServer) -> Path:
    def script(request: api.Request, attempt: int) -> api.Reply:
        body = json.loads(api.clean(request).body) | {"usage": USED}
        return api.Reply(body=json.dumps(body).encode())

    served.script = script
    return write_session(tmp_path / "session.jsonl", COUNT)


def configure(path: Path, monkeypatch: pytest.MonkeyPatch, dollars: float) -> None:
    path.write_text(
        "[profiles.mine]\nmodel = 'my-own-model'\n"
        f"price = {{ input = {dollars}, output = 0.0, cache_read = 0.0, cache_write = 0.0 }}\n"
    )
    monkeypatch.setenv("LONGJUDGE_CONFIG", str(path))


def test_every_class_stands_in_the_result_and_each_verdict_has_its_cost(
    session_file: Path, store_file: Path
) -> None:
    [judged] = longjudge("judge", session_file, "--json", *SIZE).objects
    assert judged["usage"] == {
        "input_tokens": COUNT * 1000,
        "output_tokens": COUNT * 60,
        "cache_read_tokens": COUNT * 4000,
        "cache_write_tokens": COUNT * 200,
        "cache_write_1h_tokens": COUNT * 50,
        "thinking_tokens": COUNT * 40,
    }
    assert judged["cost_usd"] == pytest.approx(COUNT * OF_EACH)
    assert judged["price"] == {
        "input": pytest.approx(0.10),
        "output": pytest.approx(0.50),
        "cache_read": pytest.approx(0.01),
        "cache_write": pytest.approx(0.125),
        "tiers": True,
        "source": judged["price"]["source"],
    }
    assert judged["price"]["source"].startswith("genai-prices ")
    with sqlite3.connect(store_file) as store:
        costs = [row[0] for row in store.execute("SELECT cost_usd FROM verdicts")]
    assert costs == [pytest.approx(OF_EACH)] * COUNT


def test_text_and_report_name_the_classes_and_the_price(session_file: Path) -> None:
    words = (
        "3,000 input, 180 output (120 thinking), 12,000 cache read, 600 cache write (150 for an"
        " hour)"
    )
    price = "$0.1 in, $0.5 out a million (genai-prices "
    judged = longjudge("judge", session_file, *SIZE).out
    assert f"  tokens: {words} · at {price}" in judged
    assert "; long requests by their own tier)" in judged
    [past] = longjudge("results", "--format", "json").objects
    shown = longjudge("results", past["id"]).out
    assert f"  tokens: {words} · at {price}" in shown
    report = longjudge("results", past["id"], "--format", "md").out.replace("\\", "")
    assert f"- Tokens: {words}" in report
    assert f", at {price}" in report


def test_a_run_that_asked_nothing_has_no_tokens_to_show(session_file: Path) -> None:
    longjudge("judge", session_file, *SIZE)
    again = longjudge("judge", session_file, *SIZE).out
    assert "tokens:" not in again
    assert "$0.00" in again


def test_another_price_later_on_changes_nothing_of_what_was_paid(
    session_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "config.toml"
    configure(config, monkeypatch, 2.0)
    [judged] = longjudge("judge", session_file, "--json", "--model", "mine", *SIZE).objects
    assert (judged["cost_usd"], judged["price"]["source"]) == (pytest.approx(0.006), "profile")
    assert judged["price"]["tiers"] is False
    configure(config, monkeypatch, 500.0)
    [past] = longjudge("results", "--format", "json").objects
    assert (past["cost_usd"], past["price"]) == (judged["cost_usd"], judged["price"])
    shown = longjudge("results", past["id"]).out
    assert "$0.0060" in shown
    assert "$2 in, $0 out a million (profile)" in shown


@pytest.mark.parametrize(
    ("model", "cost", "price"),
    [
        ("my-own-model", None, None),
        (
            "offline",
            0,
            {
                "input": 0,
                "output": 0,
                "cache_read": 0,
                "cache_write": 0,
                "tiers": False,
                "source": "offline",
            },
        ),
    ],
)
def test_an_unknown_price_is_null_and_the_offline_rules_cost_nothing(
    session_file: Path, model: str, cost: float | None, price: dict[str, object] | None
) -> None:
    [judged] = longjudge("judge", session_file, "--json", "--model", model, *SIZE).objects
    assert (judged["cost_usd"], judged["price"]) == (cost, price)
    text = longjudge("judge", session_file, "--model", model, "--fresh", *SIZE).out
    assert "a million" not in text
    assert ("price unknown" in text) == (cost is None)
