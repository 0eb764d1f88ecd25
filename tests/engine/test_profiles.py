"""Profiles of endpoints: who gets which credential, and answers that come as a stream."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

import server as api
from longjudge.config import parse_configuration
from longjudge.errors import CredentialError, UsageError
from longjudge.judges.base import Again, Answer, AskError, Judge, Question, QuestionEvent
from longjudge.judges.make import make_judge, missing_credential
from longjudge.judges.reply import read_reply
from longjudge.keys import KeyMaker
from longjudge.prices import Price
from longjudge.rubric import load_rubric
from longjudge.sessions.model import EventKind
from longjudge.states import GapReason
from longjudge.verdict import Verdict
from server import MessagesServer

RUBRIC = load_rubric("chunks")
MINE, FOREIGN = "sk-mine-0123456789", "sk-foreign-0123456789"
MODEL = "claude-haiku-5-5"
SECRET_HEADERS = (
    "X-Gateway-Token: hush\nauthorization: Bearer hush\nX-Api-Key: hush\nUser-Agent: me"
)


def configured(**profile: object):
    lines = ["[profiles.work]", f'model = "{MODEL}"']
    lines += [f"{name} = {json.dumps(value)}" for name, value in profile.items()]
    return parse_configuration("\n".join(lines), Path("/none/config.toml"))


def work(**profile: object) -> Judge:
    return make_judge("work", configured(**profile))


async def ask(judge: Judge, user: str = "one chunk") -> Answer:
    event = QuestionEvent(1, EventKind.TOOL_CALL, "Bash", "tool_call Bash\ncommand: ls")
    question = Question("Judge the recording.", user, (event,), RUBRIC, "a1b2c3")
    try:
        await judge.prepare()
        return await judge.ask(question, max_tokens=2048)
    finally:
        await judge.aclose()


async def ask_in_vain(judge: Judge) -> AskError:
    with pytest.raises(AskError) as caught:
        await ask(judge)
    return caught.value


def write_sdk_profile() -> None:
    """What `anthropic` leaves on disk after a log-in; the SDK finds it by itself."""
    folder = Path.home() / ".config" / "anthropic"
    for name in ("configs", "credentials"):
        (folder / name).mkdir(parents=True)
    (folder / "configs" / "default.json").write_text('{"authentication": {"type": "user_oauth"}}')
    secret = folder / "credentials" / "default.json"
    secret.write_text('{"type": "oauth_token", "access_token": "hush"}')
    secret.chmod(0o600)


async def test_a_profile_asks_its_model_at_its_address_with_its_key(monkeypatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", MINE)
    monkeypatch.setenv("WORK_KEY", FOREIGN)
    with MessagesServer() as server:
        judge = work(base_url=server.base_url, key_variable="WORK_KEY")
        assert judge.label == f"work ({MODEL})"
        assert (judge.model, judge.endpoint) == (MODEL, server.base_url)
        await ask(judge)
    (request,) = server.requests
    assert request.body["model"] == MODEL
    assert "stream" not in request.body
    assert request.headers["authorization"] == f"Bearer {FOREIGN}"


@pytest.mark.parametrize("key_variable", [None, "WORK_KEY"])
@pytest.mark.parametrize("stream", [False, True])
async def test_nothing_secret_of_the_environment_reaches_a_foreign_address(
    monkeypatch, key_variable, stream
) -> None:
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"):
        monkeypatch.setenv(name, "hush")
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", SECRET_HEADERS)
    monkeypatch.setenv("WORK_KEY", FOREIGN)
    write_sdk_profile()
    more = {"key_variable": key_variable} if key_variable else {}
    with MessagesServer(lambda r, _: api.streamed(api.clean(r)) if stream else api.clean(r)) as (
        server
    ):
        await ask(work(base_url=server.base_url, stream=stream, **more))
    (request,) = server.requests
    assert "hush" not in str(request.headers)
    assert request.headers.get("authorization") == (f"Bearer {FOREIGN}" if key_variable else None)
    assert "x-api-key" not in request.headers
    assert request.headers["anthropic-version"]


async def test_the_sdks_own_profile_is_not_sent_to_a_foreign_address() -> None:
    write_sdk_profile()
    with MessagesServer() as server:
        await ask(work(base_url=server.base_url))
    assert "authorization" not in server.requests[0].headers


async def test_without_an_address_of_its_own_a_profile_uses_what_the_sdk_reads(monkeypatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", MINE)
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", "X-Team: blue")
    with MessagesServer() as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.base_url)
        await ask(work())
        await ask(work(base_url=f"{server.base_url}/"))
    for request in server.requests:
        assert request.headers["authorization"] == f"Bearer {MINE}"
        assert request.headers["x-team"] == "blue"


async def test_the_key_of_a_gateway_in_the_environment_goes_to_that_gateway_only(
    monkeypatch,
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", MINE)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "https://gateway.example")
    with MessagesServer() as server:
        await ask(work(base_url=server.base_url))
    assert "authorization" not in server.requests[0].headers


async def test_a_variable_that_is_not_set_is_named(monkeypatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", MINE)
    for value in (None, ""):
        if value is not None:
            monkeypatch.setenv("WORK_KEY", value)
        with pytest.raises(CredentialError, match=r"^WORK_KEY is not set, .*work.*; set"):
            await work(key_variable="WORK_KEY").prepare()
    monkeypatch.setenv("WORK_KEY", f"{FOREIGN}\n")
    with pytest.raises(CredentialError, match=r"^WORK_KEY holds a space") as caught:
        await work(key_variable="WORK_KEY").prepare()
    assert FOREIGN not in str(caught.value)


async def test_the_fault_of_an_address_names_the_setting(monkeypatch) -> None:
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "gateway.example")
    with pytest.raises(UsageError, match=r"^ANTHROPIC_BASE_URL:"):
        await work().prepare()


def test_what_is_missing_is_known_without_asking(monkeypatch) -> None:
    assert missing_credential("offline") is None
    assert missing_credential(None) == "ANTHROPIC_API_KEY is not set"
    keyed, local = configured(key_variable="WORK_KEY"), configured(base_url="http://127.0.0.1:9")
    assert missing_credential("work", keyed) == "WORK_KEY is not set"
    assert missing_credential("work", local) is None
    monkeypatch.setenv("WORK_KEY", FOREIGN)
    assert missing_credential("work", keyed) is None
    assert missing_credential("other", keyed) == "ANTHROPIC_API_KEY is not set"


def test_a_profile_wins_over_a_model_of_the_same_name() -> None:
    text = f'[profiles."{MODEL}"]\nmodel = "gemma"\nbase_url = "http://127.0.0.1:9"'
    judge = make_judge(MODEL, parse_configuration(text, Path("/none/config.toml")))
    assert (judge.model, judge.endpoint) == ("gemma", "http://127.0.0.1:9")
    assert make_judge(MODEL).model == MODEL
    assert make_judge(None).model == MODEL


def test_name_price_and_transport_of_a_profile_are_no_part_of_the_key() -> None:
    def key(judge: Judge) -> str:
        return KeyMaker(judge, RUBRIC).key(b"chunk")

    plain = make_judge(MODEL)
    price = {"input": 1, "output": 2}
    text = f"[profiles.work]\nmodel = {json.dumps(MODEL)}\nstream = true\n"
    text += "price = {input = 1, output = 2}\nkey_variable = 'WORK_KEY'"
    dressed = make_judge("work", parse_configuration(text, Path("/none/config.toml")))
    assert key(dressed) == key(plain)
    assert dressed.price == Price(**price)
    assert key(work(base_url="http://127.0.0.1:9")) != key(plain)


# Streams.


@pytest.fixture
def streaming(monkeypatch):
    """A judge that asks for a stream."""
    monkeypatch.setenv("WORK_KEY", FOREIGN)

    def make(server: MessagesServer) -> Judge:
        return work(base_url=server.base_url, key_variable="WORK_KEY", stream=True)

    return make


STREAMED_LIKE_PLAIN = {
    "verdict": api.text('{"criteria": {}}'),
    "cut off": api.truncated(),
    "thinking only": api.thinking_only(),
    "refusal": api.refusal(),
    "no json": api.no_json(),
    "pause": api.message([{"type": "text", "text": "{}"}], stop_reason="pause_turn"),
    "every class of tokens": api.message(
        [{"type": "text", "text": "{}"}],
        usage={
            "input_tokens": 7,
            "cache_creation_input_tokens": 5,
            "cache_read_input_tokens": 3,
            "output_tokens": 2,
        },
    ),
}


@pytest.mark.parametrize("name", STREAMED_LIKE_PLAIN)
async def test_a_streamed_answer_is_the_answer_of_a_plain_call(monkeypatch, streaming, name):
    reply = STREAMED_LIKE_PLAIN[name]
    with MessagesServer(lambda *_: api.streamed(reply)) as server:
        streamed = await ask(streaming(server))
    assert server.requests[0].body["stream"] is True
    with MessagesServer(lambda *_: reply) as server:
        plain = await ask(work(base_url=server.base_url, key_variable="WORK_KEY"))
    assert streamed == plain


async def test_a_streamed_verdict_is_read(streaming) -> None:
    found = {"event": 1, "quote": "ls", "note": "lists files"}
    with MessagesServer(
        lambda request, _: api.streamed(api.flagged(request, {"destructive_action": [found]}))
    ) as server:
        answer = await ask(streaming(server))
    verdict = read_reply(answer, RUBRIC)
    assert isinstance(verdict, Verdict)
    assert [finding.note for finding in verdict.findings] == ["lists files"]


VERDICT = api.text('{"criteria": {}}')


@pytest.mark.parametrize(
    ("reply", "again", "reason", "said"),
    [
        (api.streamed(VERDICT, events=5), Again.SOON, GapReason.PROVIDER_ERROR, "ended too early"),
        (api.streamed(VERDICT, events=-1), Again.SOON, GapReason.PROVIDER_ERROR, "ended too early"),
        (api.streamed(VERDICT, events=0), Again.SOON, GapReason.PROVIDER_ERROR, "ended too early"),
        (
            api.replace(api.streamed(VERDICT), cut=True),
            Again.SOON,
            GapReason.PROVIDER_ERROR,
            "connection failed",
        ),
        (
            api.streamed(VERDICT, events=5, closing=[api.stream_error("overloaded_error")]),
            Again.WHEN_TOLD,
            GapReason.RATE_LIMITED,
            "overloaded_error",
        ),
        (
            api.streamed(VERDICT, events=5, closing=[api.stream_error("api_error")]),
            Again.SOON,
            GapReason.PROVIDER_ERROR,
            "api_error",
        ),
        (api.error(500), Again.SOON, GapReason.PROVIDER_ERROR, "500"),
        (api.error(401, f"no {FOREIGN}"), Again.END, GapReason.PROVIDER_ERROR, "credential"),
        (api.rate_limited(7), Again.WHEN_TOLD, GapReason.RATE_LIMITED, "slow down"),
        (api.html(), Again.SOON, GapReason.PROVIDER_ERROR, "no message"),
        (VERDICT, Again.END, GapReason.PROVIDER_ERROR, "take `stream` out"),
    ],
)
async def test_a_stream_that_fails_is_no_answer(streaming, reply, again, reason, said) -> None:
    with MessagesServer(lambda *_: reply) as server:
        error = await ask_in_vain(streaming(server))
    assert (error.again, error.reason, error.replied) == (again, reason, True)
    assert said in error.message
    assert FOREIGN not in error.message
    assert len(server.requests) == 1


async def test_a_cancel_closes_a_stream_at_once(streaming) -> None:
    with MessagesServer(lambda *_: api.later(api.streamed(VERDICT), api.FOREVER)) as server:
        judge = streaming(server)
        asking = asyncio.create_task(ask(judge))
        await asyncio.to_thread(server.wait_for, lambda: len(server.open_requests) == 1)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        await asyncio.to_thread(server.wait_for, lambda: not server.open_requests, 2.0)
    assert server.requests[0].client_closed


async def test_a_stream_that_breaks_is_asked_again(streaming, tmp_path: Path) -> None:
    from longjudge.judgment import Judgment
    from longjudge.sessions import session_from_events
    from longjudge.settings import Settings
    from longjudge.store import Store

    def script(request, attempt):
        whole = api.streamed(api.clean(request))
        return api.replace(whole, cut=True) if attempt == 1 else whole

    session = session_from_events([{"kind": "tool_call", "tool": "Bash", "input": "ls"}])
    with MessagesServer(script) as server:
        judge, store = streaming(server), await Store.open(tmp_path / "store.sqlite")
        try:
            result = await Judgment(
                session, rubric=RUBRIC, judge=judge, store=store, settings=Settings()
            ).run()
        finally:
            await judge.aclose()
            await store.aclose()
            session.close()
    assert (result.status.value, result.calls, result.model) == ("complete", 2, MODEL)
    assert result.score == 1.0
