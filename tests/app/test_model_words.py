"""What the workbench says of a model before it is asked: its name, its key, its tokens."""

from __future__ import annotations

import pytest

import server as api
from longjudge import models
from longjudge.judges.anthropic import AnthropicJudge
from longjudge.store import Store, learn_tokens
from server import MessagesServer

HAIKU, TYPO, OLD = "claude-haiku-5-5", "claude-hiku-5-5", "claude-opus-4-5"


@pytest.fixture(autouse=True)
def key(monkeypatch, tmp_path):
    """A credential, and an SDK that knows when one model retires."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-for-tests")
    sdk = tmp_path / "sdk"
    for folder, name, text in (
        (
            "_data",
            "deprecated_models",
            f'DEPRECATED_MODELS = {{\n    "{OLD}": "May 1st, 2001",\n}}\n',
        ),
        ("types", "model", f'Model = Literal["{HAIKU}"]'),
    ):
        (sdk / folder).mkdir(parents=True)
        (sdk / folder / f"{name}.py").write_text(text)
    monkeypatch.setattr(models, "_sdk_folder", lambda: sdk)


def painted(desk, name: str) -> str:
    """A line as it stands on the screen, however little of it fits."""
    return desk.app.screen_stack[0].query_one(f"#{name}").render().plain


@pytest.mark.parametrize("size", [(160, 40), (80, 24)])
async def test_what_is_wrong_with_a_models_name_is_said_before_a_run(
    open_desk, write_session, size
):
    path = write_session("a.jsonl", 6)
    # Where there is little room, the settings show no model.
    wide = size[0] > 80
    async with open_desk(path, judge=AnthropicJudge(TYPO), size=size) as desk:
        await desk.until(lambda: desk.rows("chunks"))
        await desk.until(lambda: painted(desk, "live").startswith("! "))
        await desk.until(
            lambda: "unknown" in painted(desk, "live") or "is known" in painted(desk, "live")
        )
        await desk.until(lambda: "r runs" in desk.title("live"))
        await desk.until(lambda: not wide or "unknown" in painted(desk, "fact-choose-model"))
        await desk.press("m")
        # Among those to choose from as well, before one is chosen; a low list has not all in sight.
        await desk.until(
            lambda: not wide or any(OLD in row and "! retired" in row for row in desk.lines)
        )
        await desk.press(*OLD, "enter")
        await desk.until(lambda: desk.bench.judge.model == OLD)
        # Said at once, and it stays.
        await desk.sees(f"{OLD} is deprecated and")
        await desk.until(lambda: "retired" in painted(desk, "live"))
        await desk.until(lambda: not wide or "retired" in painted(desk, "fact-choose-model"))
        await desk.press("m", *HAIKU, "enter")
        await desk.until(lambda: desk.title("live").startswith(f"{HAIKU} · not judged yet"))
        await desk.until(
            lambda: not wide or painted(desk, "fact-choose-model").split() == [HAIKU, "m"]
        )


async def test_a_key_that_is_broken_is_said_before_anything_is_asked(
    open_desk, write_session, monkeypatch
):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-hidden\n")
    with MessagesServer() as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.base_url)
        async with open_desk(write_session("a.jsonl", 6), judge=AnthropicJudge(HAIKU)) as desk:
            await desk.sees("ANTHROPIC_API_KEY holds a space or a line end: m chooses another")
            await desk.press("r")
            await desk.sees("ANTHROPIC_API_KEY holds a space or a line end; set it to the key")
            await desk.until(lambda: "hidden" not in desk.text)
        assert server.requests == []


async def test_how_a_models_tokens_turned_out_stands_beside_the_estimate_and_follows_a_run(
    open_desk, write_session, monkeypatch, tmp_path
):
    store = await Store.open(tmp_path / "store.sqlite")
    await learn_tokens(store, HAIKU, "events", [1.5])
    await store.aclose()
    with MessagesServer(api.clean) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.base_url)
        path = write_session("a.jsonl", 6)
        async with open_desk(path, judge=AnthropicJudge(HAIKU), size=(160, 40)) as desk:
            await desk.until(lambda: "×1.50 seen" in painted(desk, "chunks-title"))
            await desk.until(lambda: "×1.50" in painted(desk, "fact-choose-model"))
            await desk.press("m")
            await desk.until(
                lambda: any(f"● {HAIKU}" in row and "×1.50 seen" in row for row in desk.lines)
            )
            await desk.press(*TYPO, "enter")
            await desk.until(lambda: "seen" not in desk.title("chunks-title"))
            await desk.press("m", *HAIKU, "enter")
            await desk.until(lambda: "×1.50 seen" in painted(desk, "chunks-title"))
