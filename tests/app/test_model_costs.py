"""The list of models says what judging this session by each of them would cost."""

from __future__ import annotations

import re
import threading
from textwrap import dedent

import pytest

import server as api
from longjudge.judges.anthropic import AnthropicJudge
from longjudge.rubric import load_rubric
from server import MessagesServer

HAIKU = "claude-haiku-5-5"


@pytest.fixture
def remote(monkeypatch):
    """A model behind a server that the test answers for."""

    def use(server):
        monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-for-tests")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.base_url)
        return AnthropicJudge(HAIKU)

    return use


async def offered(desk):
    """Open the list, and wait until every cost is there."""
    await desk.until(lambda: desk.rows("chunks"))
    await desk.press("m")
    await desk.sees("MODEL · what judging this session would cost, cheapest first")
    await desk.until(lambda: not any("…  " in row for row in drawn(desk)))


def drawn(desk) -> list[str]:
    choices = desk.app.screen.query_one("#choices")
    return [choices.render_line(y).text for y in range(choices.size.height)]


def row_of(desk, name: str) -> str:
    return next(row for row in drawn(desk) if f" {name} " in row)


def cost_of(row: str) -> float:
    found = re.search(r"~?\$([\d.]+) +(?:\$[\d.]+ in|no cost)", row)
    assert found, row
    return float(found[1])


@pytest.mark.parametrize("size", [(80, 24), pytest.param((120, 40), marks=pytest.mark.thorough)])
async def test_every_model_has_its_cost_and_its_price_in_full_and_cheaper_ones_come_first(
    open_desk, write_session, monkeypatch, size
):
    monkeypatch.setenv("JUDGE_MODEL", "claude-opus-5")
    async with open_desk(write_session("a.jsonl", 60), size=size) as desk:
        await offered(desk)
        shown = drawn(desk)
        assert shown[0].startswith("▶● offline ")
        assert "$0.00  no cost" in shown[0]
        assert all(re.search(r"~\$[\d.]+  \$[\d.]+ in, \$[\d.]+ out", row) for row in shown[1:])
        costs = [cost_of(row) for row in shown]
        assert costs == sorted(costs)
        assert costs[1] < costs[-1]
        titles = next(line for line in desk.lines if "this session" in line and "million" in line)
        first = next(line for line in desk.lines if " $0.00  no cost" in line)
        assert titles.index("this session") + len("this session") == first.index("$0.00") + 5
        assert titles.index("a million tokens in, out") == first.index("no cost")


async def test_the_cost_is_the_one_that_the_plan_has_once_the_model_is_chosen(
    open_desk, write_session
):
    async with open_desk(write_session("a.jsonl", 60)) as desk:
        await offered(desk)
        cost = re.search(r"~\$[\d.]+", row_of(desk, "claude-haiku-4-5"))
        assert cost
        await desk.press(*"claude-haiku-4-5", "enter")
        await desk.until(lambda: desk.bench.judge.model == "claude-haiku-4-5")
        await desk.until(lambda: cost[0] in desk.title("chunks-title"))
        await desk.press("m")
        await desk.until(lambda: "● claude-haiku-4-5" in desk.text)
        await desk.until(lambda: cost[0] in row_of(desk, "claude-haiku-4-5"))


async def test_what_is_kept_for_a_model_costs_nothing_with_it_alone(
    open_desk, write_session, remote
):
    path = write_session("a.jsonl", 30)
    with MessagesServer(api.clean) as server:
        async with open_desk(path, judge=remote(server)) as desk:
            await desk.until(lambda: desk.rows("chunks"))
            chunks = len(desk.bench.outlook.plan)
            await desk.press("r")
            await desk.until(lambda: desk.bench.run and desk.bench.run.result)
        longer = path.read_text() + "\n" + write_session("b.jsonl", 40).read_text()
        async with open_desk(path) as desk:
            await offered(desk)
            await desk.until(lambda: " all kept  " in row_of(desk, HAIKU))
            await desk.until(lambda: cost_of(row_of(desk, "claude-haiku-4-5")) > 0)
            await desk.press("escape")
            path.write_text(longer)
            await desk.press("ctrl+r")
            await desk.until(lambda: len(desk.bench.outlook.plan) > chunks + 1)
            await offered(desk)
            now = len(desk.bench.outlook.plan)
            kept = re.search(r"· (\d+)/(\d+) kept", row_of(desk, HAIKU))
            assert kept
            assert chunks - 1 <= int(kept[1]) < int(kept[2]) == now
            await desk.until(lambda: cost_of(row_of(desk, HAIKU)) > 0)
            await desk.until(lambda: "kept" not in row_of(desk, "claude-haiku-4-5"))


async def test_the_list_is_there_before_its_costs_and_closes_without_them(open_desk, write_session):
    let = threading.Event()
    async with open_desk(write_session("a.jsonl", 60)) as desk:
        make = desk.bench.tuning._make_judge

        def held(name):
            let.wait()
            return make(name)

        desk.bench.tuning._make_judge = held
        try:
            await desk.until(lambda: desk.rows("chunks"))
            await desk.press("m")
            await desk.until(lambda: "…  $" in row_of(desk, HAIKU))
            await desk.until(lambda: "$0.00  no cost" in row_of(desk, "offline"))
            await desk.press("down", "down")
            await desk.until(lambda: drawn(desk)[2].startswith("▶"))
            await desk.press("escape")
            await desk.until(lambda: len(desk.app.screen_stack) == 1)
            await desk.press("m")
            await desk.until(lambda: "…  $" in row_of(desk, HAIKU))
        finally:
            let.set()
        await desk.until(lambda: " ~$0.0" in row_of(desk, HAIKU))


async def test_a_model_that_cannot_judge_by_the_rubric_says_so(open_desk, write_session, tmp_path):
    path = tmp_path / "taste.toml"
    path.write_text(
        dedent(
            """
            name = "taste"
            instructions = "Look closely."

            [[criteria]]
            id = "good_taste"
            question = "Is it in good taste?"
            """
        )
    )
    async with open_desk(write_session("a.jsonl", 6), judge=AnthropicJudge(HAIKU)) as desk:
        await desk.until(lambda: desk.rows("chunks"))
        desk.bench.tuning.use_rubric(load_rubric(str(path)))
        await offered(desk)
        await desk.until(
            lambda: "–  no cost · cannot judge by this rubric" in row_of(desk, "offline")
        )


async def test_a_price_that_nobody_knows_is_called_unknown(open_desk, write_session, monkeypatch):
    monkeypatch.setenv("JUDGE_MODEL", "nobody-1")
    async with open_desk(write_session("a.jsonl", 6), size=(80, 24)) as desk:
        await offered(desk)
        await desk.until(
            lambda: re.search(
                r" nobody-1 +price unknown  ! unknown model · JUDGE_MODEL", drawn(desk)[1]
            )
        )
