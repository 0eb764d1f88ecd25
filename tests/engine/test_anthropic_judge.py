"""The judge behind the Messages API: the real SDK against a real local server."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest

import server as api
from longjudge.errors import CredentialError, UsageError
from longjudge.judges.anthropic import AnthropicJudge
from longjudge.judges.base import Again, Answer, AskError, Question, QuestionEvent, Stop
from longjudge.judges.make import missing_credential
from longjudge.judges.reply import read_reply, reply_schema
from longjudge.prices import Usage
from longjudge.rubric import load_rubric
from longjudge.sessions.model import EventKind
from longjudge.states import GapReason
from longjudge.verdict import Verdict
from server import MessagesServer

RUBRIC = load_rubric("chunks")
KEY = "sk-test-0123456789"


def make_question(user: str = "one chunk") -> Question:
    event = QuestionEvent(1, EventKind.TOOL_CALL, "Bash", "tool_call Bash\ncommand: ls")
    return Question("Judge the recording.", user, (event,), RUBRIC, "a1b2c3")


@pytest.fixture
def connect(monkeypatch: pytest.MonkeyPatch):
    """Point the environment at a server and make a judge."""

    def connect(server: MessagesServer) -> AnthropicJudge:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.base_url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
        return AnthropicJudge("claude-haiku-5-5")

    return connect


async def ask(judge: AnthropicJudge, question: Question | None = None) -> Answer:
    await judge.prepare()
    try:
        return await judge.ask(question or make_question(), max_tokens=2048)
    finally:
        await judge.aclose()


async def ask_in_vain(judge: AnthropicJudge, question: Question | None = None) -> AskError:
    with pytest.raises(AskError) as caught:
        await ask(judge, question)
    return caught.value


async def test_a_verdict_is_read_past_the_thinking_block(connect):
    found = {"event": 1, "quote": "ls", "note": "lists files"}
    with MessagesServer(
        lambda request, _: api.flagged(request, {"destructive_action": [found]})
    ) as server:
        answer = await ask(connect(server))
    assert answer.stop is Stop.COMPLETE
    assert answer.usage == Usage(input_tokens=100, output_tokens=10)
    verdict = read_reply(answer, RUBRIC)
    assert isinstance(verdict, Verdict)
    assert [f.note for f in verdict.findings] == ["lists files"]


async def test_the_request_carries_prompt_schema_and_credential_and_no_retry(connect):
    with MessagesServer() as server:
        await ask(connect(server), make_question("the chunk"))
    (request,) = server.requests
    assert request.body["model"] == "claude-haiku-5-5"
    assert request.body["max_tokens"] == 2048
    assert request.body["system"] == "Judge the recording."
    assert request.body["messages"] == [{"role": "user", "content": "the chunk"}]
    assert request.body["output_config"] == {
        "format": {"type": "json_schema", "schema": reply_schema(RUBRIC)},
        "effort": "low",
    }
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.headers["x-stainless-retry-count"] == "0"


async def test_every_class_of_tokens_is_counted(connect):
    usage = {
        "input_tokens": 7,
        "cache_creation_input_tokens": 5,
        "cache_read_input_tokens": 3,
        "output_tokens": 2,
    }
    reply = api.message([{"type": "text", "text": "{}"}], usage=usage)
    with MessagesServer(lambda *_: reply) as server:
        answer = await ask(connect(server))
    assert answer.usage == Usage(
        input_tokens=7, output_tokens=2, cache_read_tokens=3, cache_write_tokens=5
    )


@pytest.mark.parametrize(
    ("reply", "stop", "reason", "detail"),
    [
        (api.truncated(), Stop.TRUNCATED, GapReason.TRUNCATED, "cut off"),
        (api.thinking_only(), Stop.TRUNCATED, GapReason.TRUNCATED, "cut off"),
        (
            api.message([], stop_reason="model_context_window_exceeded"),
            Stop.TRUNCATED,
            GapReason.TRUNCATED,
            "window",
        ),
        (api.refusal(), Stop.REFUSED, GapReason.REFUSED, "cyber: This looks harmful."),
        (api.no_json(), Stop.COMPLETE, GapReason.UNPARSABLE, "no JSON"),
        (api.message([api.THINKING]), Stop.COMPLETE, GapReason.UNPARSABLE, "empty"),
        (
            api.message([{"type": "text", "text": "{}"}], stop_reason="pause_turn"),
            Stop.UNUSABLE,
            GapReason.UNPARSABLE,
            "pause_turn",
        ),
        (api.message([], stop_reason=None), Stop.UNUSABLE, GapReason.UNPARSABLE, "no reason"),
        (
            api.message([{"type": "novel", "value": 1}, {"type": "text"}]),
            Stop.COMPLETE,
            GapReason.UNPARSABLE,
            "empty",
        ),
        (
            api.message([{"type": "text", "text": 5}], usage=None),
            Stop.COMPLETE,
            GapReason.UNPARSABLE,
            "empty",
        ),
        (api.Reply(body=b"{}"), Stop.UNUSABLE, GapReason.UNPARSABLE, "no reason"),
        (
            api.Reply(body=b'{"type": "message", "content": null, "stop_reason": "end_turn"}'),
            Stop.UNUSABLE,
            GapReason.UNPARSABLE,
            "no content",
        ),
    ],
)
async def test_what_is_no_answer_is_said_by_its_stop(connect, reply, stop, reason, detail):
    with MessagesServer(lambda *_: reply) as server:
        answer = await ask(connect(server))
    assert answer.stop is stop
    bad = read_reply(answer, RUBRIC)
    assert not isinstance(bad, Verdict)
    assert bad.reason is reason
    assert detail in bad.detail


SOON, WHEN_TOLD, NEVER, END = Again.SOON, Again.WHEN_TOLD, Again.NEVER, Again.END


@pytest.mark.parametrize(
    ("reply", "again", "reason", "replied", "said"),
    [
        (api.error(500), SOON, GapReason.PROVIDER_ERROR, True, "500"),
        (api.error(400, "bad field"), NEVER, GapReason.PROVIDER_ERROR, True, "bad field"),
        (api.error(400, "prompt is too long"), NEVER, GapReason.TOO_LARGE, True, "chunk size"),
        (api.error(413), NEVER, GapReason.TOO_LARGE, True, "413"),
        (api.error(401, "invalid key"), END, GapReason.PROVIDER_ERROR, True, "credential"),
        (api.error(402, "pay first"), END, GapReason.PROVIDER_ERROR, True, "billing"),
        (api.error(403, "not yours"), END, GapReason.PROVIDER_ERROR, True, "credential"),
        (api.error(408, "slow"), NEVER, GapReason.PROVIDER_ERROR, True, "408"),
        (api.error(409, "locked"), NEVER, GapReason.PROVIDER_ERROR, True, "409"),
        (api.error(422, "odd"), NEVER, GapReason.PROVIDER_ERROR, True, "odd"),
        (api.error(503, "loading"), SOON, GapReason.PROVIDER_ERROR, True, "loading"),
        (api.error(504, "late"), SOON, GapReason.PROVIDER_ERROR, True, "late"),
        (
            api.error(500, headers={"x-should-retry": "false"}),
            NEVER,
            GapReason.PROVIDER_ERROR,
            True,
            "500",
        ),
        (
            api.error(400, "odd", headers={"x-should-retry": "true"}),
            SOON,
            GapReason.PROVIDER_ERROR,
            True,
            "odd",
        ),
        (
            api.error(429, error_code="contract_spend_limit_reached"),
            END,
            GapReason.RATE_LIMITED,
            True,
            "spend limit",
        ),
        (api.error(404, "model: x"), END, GapReason.PROVIDER_ERROR, True, "--model"),
        (api.rate_limited(7), WHEN_TOLD, GapReason.RATE_LIMITED, True, "slow down"),
        (
            api.error(529, kind="overloaded_error"),
            WHEN_TOLD,
            GapReason.RATE_LIMITED,
            True,
            "overloaded_error",
        ),
        (
            api.error(429, error_code="enforced_spend_limit_reached"),
            END,
            GapReason.RATE_LIMITED,
            True,
            "spend limit",
        ),
        (api.html(), SOON, GapReason.PROVIDER_ERROR, True, "no message"),
        (api.html(502), SOON, GapReason.PROVIDER_ERROR, True, "a web page"),
        (api.invalid_json(), SOON, GapReason.PROVIDER_ERROR, True, "no JSON"),
        (api.Reply(), SOON, GapReason.PROVIDER_ERROR, True, "no JSON"),
        (api.Reply(204), SOON, GapReason.PROVIDER_ERROR, True, "no JSON"),
        (
            api.Reply(body=b'{"content": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"),
            SOON,
            GapReason.PROVIDER_ERROR,
            True,
            "malformed",
        ),
        (
            api.Reply(headers={"content-encoding": "gzip"}, body=b"no gzip"),
            SOON,
            GapReason.PROVIDER_ERROR,
            True,
            "malformed",
        ),
        (api.Reply(body=b"null"), SOON, GapReason.PROVIDER_ERROR, True, "no message"),
        (api.Reply(body=b"[]"), SOON, GapReason.PROVIDER_ERROR, True, "no message"),
        (
            api.Reply(200, api.error(500).body),
            SOON,
            GapReason.PROVIDER_ERROR,
            True,
            "no message",
        ),
        (api.DROP, SOON, GapReason.PROVIDER_ERROR, False, "connection failed"),
        (
            api.Reply(body=b'{"type": "message"}', cut=True),
            SOON,
            GapReason.PROVIDER_ERROR,
            True,
            "connection failed",
        ),
    ],
)
async def test_what_went_wrong_decides_what_comes_next(
    connect, reply, again, reason, replied, said
):
    with MessagesServer(lambda *_: reply) as server:
        error = await ask_in_vain(connect(server))
    assert (error.again, error.reason, error.replied) == (again, reason, replied)
    assert said in error.message
    assert "\n" not in error.message
    assert len(server.requests) == 1


async def test_the_wait_that_the_provider_asks_for_is_passed_on(connect):
    with MessagesServer(lambda *_: api.rate_limited(7)) as server:
        assert (await ask_in_vain(connect(server))).wait == 7


async def test_a_redirect_is_not_followed(connect):
    with MessagesServer() as other:
        headers = {"location": f"{other.base_url}/v1/messages"}
        with MessagesServer(lambda *_: api.Reply(307, headers=headers)) as server:
            error = await ask_in_vain(connect(server))
    assert error.again is NEVER
    assert "ANTHROPIC_BASE_URL" in error.message
    assert other.requests == []


async def test_nobody_listening_is_a_connection_error(connect):
    with MessagesServer() as server:
        judge = connect(server)
    error = await ask_in_vain(judge)
    assert (error.again, error.replied) == (SOON, False)
    assert judge.endpoint in error.message


async def test_a_lone_surrogate_concerns_this_chunk_only_and_sends_nothing(connect):
    with MessagesServer() as server:
        error = await ask_in_vain(connect(server), make_question("a \ud83d b"))
    assert (error.again, error.replied) == (NEVER, False)
    assert server.requests == []


async def test_a_key_that_a_gateway_repeats_is_not_shown(connect):
    with MessagesServer(lambda *_: api.error(401, f"bad key {KEY}")) as server:
        error = await ask_in_vain(connect(server))
    assert KEY not in error.message
    assert "bad key" in error.message


async def test_a_cancel_closes_the_connection_at_once(connect):
    with MessagesServer(lambda *_: api.later(api.no_json(), api.FOREVER)) as server:
        judge = connect(server)
        await judge.prepare()
        asking = asyncio.create_task(judge.ask(make_question(), max_tokens=2048))
        await asyncio.to_thread(server.wait_for, lambda: len(server.open_requests) == 1)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        await asyncio.to_thread(server.wait_for, lambda: not server.open_requests, 2.0)
        assert server.requests[0].client_closed
        await judge.aclose()


async def test_calls_run_side_by_side_on_one_client(connect):
    with MessagesServer(lambda *_: api.later(api.no_json(), api.FOREVER)) as server:
        judge = connect(server)
        await judge.prepare()
        async with asyncio.TaskGroup() as group:
            for number in range(8):
                group.create_task(judge.ask(make_question(str(number)), max_tokens=2048))
            await asyncio.to_thread(server.wait_for, lambda: len(server.open_requests) == 8)
            server.release()
        await judge.aclose()
    assert all(request.answered for request in server.requests)


async def test_closing_twice_or_unprepared_is_harmless_and_preparing_again_works(connect):
    with MessagesServer() as server:
        judge = connect(server)
        await judge.aclose()
        await asyncio.gather(judge.prepare(), judge.prepare())
        await judge.aclose()
        await judge.aclose()
        answer = await ask(judge)
    assert isinstance(read_reply(answer, RUBRIC), Verdict)


async def test_two_judges_one_after_the_other_do_not_disturb_each_other(connect):
    with MessagesServer() as server:
        for _ in range(3):
            assert (await ask(connect(server))).stop is Stop.COMPLETE


async def test_without_any_credential_it_says_what_to_set():
    assert missing_credential(None) == "ANTHROPIC_API_KEY is not set"
    with pytest.raises(CredentialError, match=r"ANTHROPIC_API_KEY.*--model offline"):
        await AnthropicJudge("claude-haiku-5-5").prepare()


def test_a_home_folder_that_cannot_be_looked_into_holds_no_credential(monkeypatch):
    monkeypatch.setenv("HOME", f"/{'a' * 300}")
    assert missing_credential(None) == "ANTHROPIC_API_KEY is not set"


@pytest.mark.parametrize("key", [" ", "\n", f"{KEY}\n", f" {KEY}", "sk test", "sk-ключ", "sk\x7f"])
async def test_a_key_that_no_header_can_carry_is_refused_without_being_shown(monkeypatch, key):
    monkeypatch.setenv("ANTHROPIC_API_KEY", key)
    with pytest.raises(CredentialError) as caught:
        await AnthropicJudge("claude-haiku-5-5").prepare()
    assert str(caught.value).startswith("ANTHROPIC_API_KEY ")
    assert "\n" not in str(caught.value)
    assert key.strip() == "" or key.strip() not in str(caught.value)


async def test_a_token_is_a_credential_and_an_empty_key_is_none(monkeypatch, connect):
    with MessagesServer() as server:
        judge = connect(server)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "")
        monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "token-1")
        assert missing_credential(None) is None
        await ask(judge)
    assert server.requests[0].headers["authorization"] == "Bearer token-1"


async def test_a_custom_header_can_carry_the_credential(monkeypatch, connect):
    with MessagesServer() as server:
        judge = connect(server)
        monkeypatch.delenv("ANTHROPIC_API_KEY")
        monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", "X-Api-Key: from-a-header")
        assert missing_credential(None) is None
        await ask(judge)
    assert server.requests[0].headers["x-api-key"] == "from-a-header"


def write_profile(folder: Path, base_url: str | None = None) -> None:
    (folder / "configs").mkdir(parents=True)
    (folder / "credentials").mkdir()
    config: dict[str, object] = {"authentication": {"type": "user_oauth"}}
    if base_url:
        config["base_url"] = base_url
    (folder / "configs" / "default.json").write_text(json.dumps(config))
    secret = folder / "credentials" / "default.json"
    secret.write_text(json.dumps({"type": "oauth_token", "access_token": "from-a-profile"}))
    secret.chmod(0o600)
    (folder / "configs" / "default.json").chmod(0o644)


async def test_a_profile_on_disk_gives_credential_and_address():
    folder = Path.home() / ".config" / "anthropic"
    with MessagesServer() as server:
        write_profile(folder, server.base_url)
        assert missing_credential(None) is None
        judge = AnthropicJudge("claude-haiku-5-5")
        assert judge.endpoint == server.base_url
        await ask(judge)
    assert server.requests[0].headers["authorization"] == "Bearer from-a-profile"


async def test_a_named_profile_that_does_not_exist_is_named(monkeypatch):
    monkeypatch.setenv("ANTHROPIC_PROFILE", "work")
    assert missing_credential(None) is None
    with pytest.raises(CredentialError, match="work"):
        await AnthropicJudge("claude-haiku-5-5").prepare()


@pytest.mark.parametrize(
    ("url", "endpoint"),
    [
        (None, "https://api.anthropic.com"),
        ("", "https://api.anthropic.com"),
        ("http://127.0.0.1:8080/", "http://127.0.0.1:8080"),
        ("https://user:secret@gateway.example/llm/?k=v", "https://gateway.example/llm"),
        ("http://[::1]:9", "http://[::1]:9"),
    ],
)
def test_the_endpoint_is_the_address_without_credentials(monkeypatch, url, endpoint):
    if url is not None:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", url)
    assert AnthropicJudge("m").endpoint == endpoint


@pytest.mark.parametrize("url", ["gateway.example", "ftp://x", "http://", "http://x:port"])
async def test_an_address_that_is_none_is_refused(monkeypatch, url):
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", url)
    with pytest.raises(UsageError, match="ANTHROPIC_BASE_URL"):
        await AnthropicJudge("m").prepare()


def run_python(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    return done.stdout.strip()


def test_the_sdk_is_not_imported_before_it_is_needed():
    code = """
import asyncio, sys
from longjudge.errors import CredentialError
from longjudge.judges.anthropic import AnthropicJudge
from longjudge.judges.make import missing_credential
judge = AnthropicJudge("claude-haiku-5-5")
judge.endpoint, judge.parameters
async def main():
    assert missing_credential(None)
    try:
        await judge.prepare()
    except CredentialError:
        print("anthropic" in sys.modules)
asyncio.run(main())
"""
    assert run_python(code) == "False"


def test_the_garbage_collector_is_left_as_it_was():
    code = """
import asyncio, gc, os
from longjudge.judges.anthropic import AnthropicJudge
os.environ["ANTHROPIC_API_KEY"] = "sk-1"
frozen = gc.get_freeze_count()
async def main(freeze):
    judge = AnthropicJudge("m", freeze_after_import=freeze)
    await judge.prepare()
    await judge.aclose()
    print(gc.isenabled(), gc.get_freeze_count() > frozen)
asyncio.run(main(False))
asyncio.run(main(True))
"""
    assert run_python(code).splitlines() == ["True False", "True True"]
