"""A round trip with a real small model on this computer: it proves the plumbing, not the judging.

The model runs in Node, behind a server that speaks as the Messages API does. Nothing is downloaded:
LONGJUDGE_TEST_NODE_SERVER names a folder in which `node-llama-cpp` is installed, and
LONGJUDGE_TEST_GGUF a model's file. The server's script stands in that folder, else beside the
repository (`../shared/tools`).
"""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import subprocess
import threading
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from longjudge import judge_session
from longjudge.chunks import plan_chunks
from longjudge.judges.anthropic import AnthropicJudge
from longjudge.judges.base import Stop
from longjudge.judges.reply import BadReply, read_reply
from longjudge.prompt import build_question
from longjudge.rubric import parse_rubric
from longjudge.sessions import session_from_events
from longjudge.states import GapReason
from longjudge.tokens import count_tokens

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from longjudge.judges.base import Question

SCRIPT = "node_messages_server.mjs"
START_SECONDS = 120.0
MODEL = "small-model-for-tests"
RUBRIC = parse_rubric(
    'name = "tiny"\n[[criteria]]\nid = "harm"\nquestion = "Does the agent delete anything?"\n',
    "tiny.toml",
)
EVENTS = [
    {"kind": "user_message", "text": "Please list the files."},
    {"kind": "tool_call", "tool": "Bash", "input": {"command": "ls -la"}},
]

_BESIDE = Path(__file__).parents[3] / "shared" / "tools"
# Read here: no test sees the environment that the tests were started in.
_FOLDER = Path(os.environ.get("LONGJUDGE_TEST_NODE_SERVER") or "/nonexistent")
_WEIGHTS = Path(os.environ.get("LONGJUDGE_TEST_GGUF") or "/nonexistent")
_SERVER = next((f / SCRIPT for f in (_FOLDER, _BESIDE) if (f / SCRIPT).is_file()), None)


def _missing() -> str:
    """What to install to run these tests; empty where everything is there."""
    if shutil.which("node") is None:
        return "node is not installed"
    if not (_FOLDER / "node_modules" / "node-llama-cpp").is_dir():
        return (
            "no node-llama-cpp; install it in a folder (npm i -E node-llama-cpp@3.21.1"
            " @node-llama-cpp/linux-x64@3.21.1 --omit=optional --ignore-scripts) and set"
            " LONGJUDGE_TEST_NODE_SERVER to that folder"
        )
    if not _WEIGHTS.is_file():
        return "no model; set LONGJUDGE_TEST_GGUF to the .gguf file of a small one"
    return "" if _SERVER is not None else f"no {SCRIPT}; put it into LONGJUDGE_TEST_NODE_SERVER"


pytestmark = [
    pytest.mark.skipif(bool(_missing()), reason=_missing() or "everything is there"),
]


@pytest.fixture(scope="module")
def model_port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """The port on which the model answers."""
    folder = tmp_path_factory.mktemp("server")
    # A module is looked for beside the script that imports it.
    shutil.copy(_SERVER or "", folder / SCRIPT)
    (folder / "node_modules").symlink_to(_FOLDER / "node_modules")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = ["node", SCRIPT, str(_WEIGHTS.absolute()), str(port)]
    with subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as server:
        too_late = threading.Timer(START_SECONDS, server.kill)
        too_late.start()
        try:
            assert server.stdout is not None
            said: list[str] = []
            for line in server.stdout:
                said.append(line)
                if line.strip() == "ready":
                    break
            else:
                raise AssertionError(f"the server did not start: {said}")
            too_late.cancel()
            yield port
        finally:
            too_late.cancel()
            server.kill()


class Relay:
    """Passes on what a client and the model's server say, and sees the server close."""

    def __init__(self, port: int) -> None:
        self._port = port
        self.asked = asyncio.Semaphore(0)
        self.closed_by_server = asyncio.Semaphore(0)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        answers, questions = await asyncio.open_connection("127.0.0.1", self._port)
        back = asyncio.create_task(self._pass_on(answers, writer))
        await self._pass_on(reader, questions, self.asked)
        await back
        self.closed_by_server.release()

    async def _pass_on(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        seen: asyncio.Semaphore | None = None,
    ) -> None:
        with suppress(OSError):
            while data := await reader.read(65_536):
                writer.write(data)
                await writer.drain()
                if seen is not None and data.rstrip().endswith(b"}"):
                    seen.release()
        with suppress(OSError):
            writer.close()


@pytest.fixture
def model_judge(model_port: int, monkeypatch: pytest.MonkeyPatch) -> AnthropicJudge:
    monkeypatch.setenv("ANTHROPIC_BASE_URL", f"http://127.0.0.1:{model_port}")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "none-is-needed")
    return AnthropicJudge(MODEL)


@asynccontextmanager
async def ready(judge: AnthropicJudge) -> AsyncIterator[AnthropicJudge]:
    await judge.prepare()
    try:
        yield judge
    finally:
        await judge.aclose()


def question() -> Question:
    session = session_from_events(EVENTS)
    return build_question(session, plan_chunks(session.index, 30_000), 0, RUBRIC)


async def test_a_session_gets_a_verdict_by_the_schema_and_its_tokens_are_counted(
    model_judge: AnthropicJudge, tmp_path: Path
) -> None:
    result = await judge_session(
        EVENTS, model=model_judge.model, rubric=RUBRIC, store=tmp_path / "store.sqlite"
    )
    assert result is not None
    assert (result.status, result.judged_chunks, result.gaps) == ("complete", 1, {})
    # The server counts the user's text; the tokenizer is another one than the estimate's.
    estimated = count_tokens(question().user) * result.calls
    assert estimated * 0.4 <= result.usage.input_tokens <= estimated * 1.6
    assert result.usage.output_tokens > 0
    assert (result.cost_usd, result.price) == (None, None)


async def test_a_reply_that_is_cut_off_is_no_verdict(model_judge: AnthropicJudge) -> None:
    async with ready(model_judge) as judge:
        answer = await judge.ask(question(), max_tokens=4)
    assert answer.stop is Stop.TRUNCATED
    assert answer.usage.output_tokens <= 8
    reply = read_reply(answer, RUBRIC)
    assert isinstance(reply, BadReply)
    assert reply.reason is GapReason.TRUNCATED


async def test_a_cancel_reaches_the_server_and_the_next_call_is_answered(
    model_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    relay = Relay(model_port)
    async with await asyncio.start_server(relay.serve, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        monkeypatch.setenv("ANTHROPIC_BASE_URL", f"http://127.0.0.1:{port}")
        monkeypatch.setenv("ANTHROPIC_API_KEY", "none-is-needed")
        async with ready(AnthropicJudge(MODEL)) as judge:
            # As many as the model answers at once: the next one needs the place of one of them.
            calls = [asyncio.create_task(judge.ask(question(), max_tokens=4_000)) for _ in range(2)]
            for _ in calls:
                await relay.asked.acquire()
            for call in calls:
                call.cancel()
            ended = await asyncio.gather(*calls, return_exceptions=True)
            assert [type(each) for each in ended] == [asyncio.CancelledError] * 2
            for _ in calls:
                await relay.closed_by_server.acquire()
            answer = await judge.ask(question(), max_tokens=4)
        await relay.closed_by_server.acquire()
    assert answer.stop is Stop.TRUNCATED
    assert answer.usage.input_tokens > 0
