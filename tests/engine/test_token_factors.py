"""What answers teach about a model's tokens: kept, shown beside estimates, and used by budgets."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from typing import TYPE_CHECKING

import pytest

import server as api
from batches_for_tests import judge_batch
from commands_for_tests import longjudge
from judgments_for_tests import MODEL, Watched, run
from longjudge.budget import Budget
from longjudge.estimate import Estimator
from longjudge.factors import ObservedFactor
from longjudge.prices import Usage, cost_usd
from longjudge.rubric import load_rubric
from longjudge.store import Store, learn_tokens, token_factor, token_factors
from server import MessagesServer
from sessions_for_tests import CHUNK_CHARS, write_session

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


COUNT = 8
SIZE = ("--chunk-chars", CHUNK_CHARS)


@pytest.fixture
def session_file(tmp_path: Path) -> Path:
    return write_session(tmp_path / "session.jsonl", COUNT)


def counting(tokens: Callable[[api.Request], int]) -> Callable[[api.Request, int], api.Reply]:
    """A script: every chunk is clean, and was so many tokens."""

    def script(request: api.Request, attempt: int) -> api.Reply:
        usage = {"input_tokens": tokens(request), "output_tokens": 10}
        body = json.loads(api.clean(request).body) | {"usage": usage}
        return api.Reply(body=json.dumps(body).encode())

    return script


async def expected_tokens(path: Path, store: Path) -> list[int]:
    async with Watched(path, store) as watched:
        estimator = Estimator.of(watched.session, load_rubric("chunks"), MODEL)
        return estimator.chunks(watched.judgment.plan)[0]


async def kept_factors(store: Path) -> dict[tuple[str, str], ObservedFactor]:
    opened = await Store.open_to_read(store)
    try:
        return await token_factors(opened)
    finally:
        await opened.aclose()


async def test_a_judgment_learns_from_all_its_answers_and_the_next_one_goes_on(
    served: MessagesServer, session_file: Path, store_file: Path
) -> None:
    tokens = await expected_tokens(session_file, store_file)
    served.script = counting(lambda _: round(tokens[0] * 1.5))
    await run(session_file, store_file)
    [(key, first)] = (await kept_factors(store_file)).items()
    assert key == (MODEL, "events")
    assert (first.factor, first.answers) == (pytest.approx(1.5, rel=0.02), COUNT)
    served.script = counting(lambda _: tokens[0])
    await run(session_file, store_file, fresh=True)
    [second] = (await kept_factors(store_file)).values()
    assert second.answers == 2 * COUNT
    assert 1.0 <= second.factor < 1.2
    assert second.deviation > 0


def test_answers_in_batches_teach_what_live_ones_do(
    served: MessagesServer, session_file: Path, store_file: Path
) -> None:
    tokens = asyncio.run(expected_tokens(session_file, store_file))
    served.script = counting(lambda _: round(tokens[0] * 1.5))
    done = judge_batch(session_file, "--store", store_file)
    assert done.objects[0]["status"] == "complete"
    [(key, seen)] = asyncio.run(kept_factors(store_file)).items()
    assert key == (MODEL, "events")
    assert (seen.factor, seen.answers) == (pytest.approx(1.5, rel=0.02), COUNT)


@pytest.mark.parametrize("tokens", [0, 1, 10**9])
async def test_a_server_that_counts_nothing_or_something_else_teaches_nothing(
    served: MessagesServer, session_file: Path, store_file: Path, tokens: int
) -> None:
    served.script = counting(lambda _: tokens)
    assert (await run(session_file, store_file)).status == "complete"
    assert await kept_factors(store_file) == {}


async def test_the_offline_rules_and_kept_verdicts_teach_nothing(
    served: MessagesServer, session_file: Path, store_file: Path
) -> None:
    await run(session_file, store_file, model="offline")
    assert await kept_factors(store_file) == {}
    tokens = await expected_tokens(session_file, store_file)
    served.script = counting(lambda _: tokens[0])
    await run(session_file, store_file)
    before = await kept_factors(store_file)
    await run(session_file, store_file)
    assert await kept_factors(store_file) == before


async def test_several_at_once_lose_nothing_of_what_the_others_learn(store_file: Path) -> None:
    stores = [await Store.open(store_file) for _ in range(4)]
    try:
        await asyncio.gather(*(learn_tokens(store, MODEL, "codex", [1.0, 2.0]) for store in stores))
        found = await token_factor(stores[0], MODEL, "codex")
    finally:
        for store in stores:
            await store.aclose()
    assert found is not None
    # Whoever was too late five times has learned nothing, and broken nothing.
    assert found.answers in (4, 6, 8)
    assert 1.0 <= found.factor <= 2.0


@pytest.mark.parametrize(
    "row", ["'x', 0, 1", "9e99, 0, 1", "1.1, -1, 1", "1.1, 0.1, 0", "-1.0, 0, 3", "1.1, 'x', 2"]
)
async def test_what_cannot_have_been_learned_is_no_factor_and_is_replaced(
    store_file: Path, row: str
) -> None:
    store = await Store.open(store_file)
    try:
        with sqlite3.connect(store_file) as other:
            other.execute(f"INSERT INTO token_factors VALUES ('{MODEL}', 'codex', {row}, 0)")
        assert await token_factor(store, MODEL, "codex") is None
        assert await token_factors(store) == {}
        await learn_tokens(store, MODEL, "codex", [1.25])
        assert await token_factor(store, MODEL, "codex") == ObservedFactor(1.25, 0.0, 1)
    finally:
        await store.aclose()


async def test_a_table_that_is_gone_costs_nothing_of_the_judgment(
    served: MessagesServer, session_file: Path, store_file: Path
) -> None:
    tokens = await expected_tokens(session_file, store_file)
    served.script = counting(lambda _: tokens[0])
    async with Watched(session_file, store_file, budget=Budget(max_cost=1.0)) as watched:
        with sqlite3.connect(store_file) as other:
            other.execute("DROP TABLE token_factors")
        result = await watched.judgment.run()
    assert (result.status, result.store_error) == ("complete", None)


def test_a_store_that_cannot_be_written_is_said_once(
    served: MessagesServer, session_file: Path, tmp_path: Path
) -> None:
    served.script = counting(lambda _: 700)
    in_the_way = tmp_path / "file"
    in_the_way.write_text("no folder")
    finished = longjudge(
        "judge", session_file, *SIZE, "--store", in_the_way / "store.sqlite", "--json"
    )
    [judged] = finished.objects
    assert (finished.code, judged["status"]) == (0, "complete")
    assert finished.err.count("nothing is kept") == 1


def test_the_commands_show_it_beside_the_estimate_which_stays_what_it_is(
    served: MessagesServer, session_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = tmp_path / "store.sqlite"
    monkeypatch.setenv("LONGJUDGE_STORE", str(store))
    other = write_session(tmp_path / "other.jsonl", COUNT + 3)
    other.write_text(other.read_text().replace("next file", "file of another kind"))
    [before] = longjudge("chunks", other, "--json", *SIZE).objects
    assert before["totals"]["observed_factor"] is None
    assert all(
        line["observed_factor"] is None
        for line in longjudge("estimate", other, "--json", *SIZE).objects
    )
    tokens = before["chunks"][0]["tokens"]
    served.script = counting(lambda _: round(tokens * 1.5))
    assert longjudge("judge", session_file, *SIZE).code == 0
    [after] = longjudge("chunks", other, "--json", *SIZE).objects
    factor = after["totals"].pop("observed_factor")
    assert factor == pytest.approx(1.5, rel=0.1)
    del before["totals"]["observed_factor"]
    assert after == before
    session, total = longjudge("estimate", other, session_file, "--json", *SIZE).objects[::2]
    assert session["observed_factor"] == total["observed_factor"] == pytest.approx(factor)
    words = f"×{factor:.2f} seen in {COUNT} answers, so about "
    assert words in longjudge("chunks", other, *SIZE).out
    assert longjudge("estimate", other, *SIZE).out.count(words) == 2
    judged = longjudge("judge", other, *SIZE)
    assert words in judged.err
    # Nothing is left to ask, so there is nothing to be dearer.
    assert "seen in" not in longjudge("chunks", other, *SIZE).out


async def test_a_budget_holds_for_a_model_whose_tokens_are_undercounted(
    served: MessagesServer, session_file: Path, store_file: Path
) -> None:
    tokens = await expected_tokens(session_file, store_file)
    each = cost_usd(MODEL, Usage(tokens[0] * 3, 10))
    assert each is not None
    served.script = counting(lambda _: tokens[0] * 3)
    # Room for the upper price of a question by the estimate, and not by what was seen.
    async with Watched(session_file, store_file) as watched:
        estimator = Estimator.of(watched.session, load_rubric("chunks"), MODEL)
        plain = estimator.upper_price(watched.judgment.plan, 0, 4096)
        await learn_tokens(watched.store, MODEL, "events", [3.0])
        dear = estimator.upper_price(watched.judgment.plan, 0, 4096, 3.0)
    assert plain is not None
    assert dear is not None
    assert plain < dear
    budget = Budget(max_cost=(plain + dear) / 2)
    refused = await run(session_file, store_file, budget=budget)
    assert (refused.calls, refused.status) == (0, "failed")
    budget = Budget(max_cost=dear + 2.5 * each)
    result = await run(session_file, store_file, budget=budget)
    assert 1 <= result.calls < COUNT
    assert result.cost_usd is not None
    assert result.cost_usd <= dear + 2.5 * each


async def test_what_this_run_has_seen_already_counts_for_the_questions_to_come(
    served: MessagesServer, session_file: Path, store_file: Path
) -> None:
    tokens = await expected_tokens(session_file, store_file)
    served.script = counting(lambda _: tokens[0] * 4)
    async with Watched(
        session_file, store_file, budget=Budget(max_cost=1.0), concurrency=1
    ) as watched:
        judgment = watched.judgment
        before = judgment._upper_price(0, 4096)
        await judgment.run()
        after = judgment._upper_price(0, 4096)
    assert before is not None
    assert after is not None
    assert after > before
