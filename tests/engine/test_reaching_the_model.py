"""What stands between a question and its model: credentials, redirects, proxies, logs."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import server as api
from commands_for_tests import longjudge, longjudge_process
from longjudge.config import parse_configuration
from longjudge.errors import CredentialError, UsageError
from longjudge.judges.anthropic import AnthropicJudge
from longjudge.judges.base import Again, AskError, Question
from longjudge.judges.make import credential_fault, missing_credential
from longjudge.rubric import load_rubric
from server import MessagesServer
from sessions_for_tests import CHUNK_CHARS, write_session

MODEL = "claude-haiku-5-5"
KEY = "sk-test-0123456789"
QUESTION = Question("Judge the recording.", "one chunk", (), load_rubric("chunks"), "a1b2c3")
SIZE = ("--chunk-chars", CHUNK_CHARS)
BROKEN = [" ", "\n", f"{KEY}\n", f" {KEY}", "sk test", "sk-ключ", "sk\x7f", "sk\u00a0test"]
BROKEN += [f'"{KEY}"', f"'{KEY}'", f"{KEY}`"]


@pytest.fixture
def session_file(tmp_path: Path) -> Path:
    return write_session(tmp_path / "session.jsonl", 3)


async def ask_in_vain(judge: AnthropicJudge) -> AskError:
    await judge.prepare()
    try:
        with pytest.raises(AskError) as caught:
            await judge.ask(QUESTION, max_tokens=2048)
    finally:
        await judge.aclose()
    return caught.value


@pytest.mark.parametrize(
    ("headers", "key"),
    [
        ("X-Api-Key: ключ", ""),
        ("X-Api-Key: ключ", KEY),
        ("X-Api-Key: sk secret", ""),
        ("Authorization: Bearer", ""),
        ("Authorization: Bearer", KEY),
        ("Authorization: Bearer sk secret", ""),
        ("X-Team: \x01", KEY),
        ("X Team: secret", KEY),
        (": secret", KEY),
        ("Accept: */*\nX-Team: секрет", KEY),
    ],
)
async def test_headers_that_cannot_be_sent_are_refused_without_being_shown(
    served: MessagesServer, monkeypatch: pytest.MonkeyPatch, headers: str, key: str
) -> None:
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", headers)
    monkeypatch.setenv("ANTHROPIC_API_KEY", key)
    fault = credential_fault(MODEL)
    assert fault is not None
    with pytest.raises(CredentialError, match=r"^ANTHROPIC_CUSTOM_HEADERS holds ") as caught:
        await AnthropicJudge(MODEL).prepare()
    for words in (fault, str(caught.value)):
        assert words.isprintable()
        assert not re.search("secret|секрет|ключ|Team", words)
    assert served.requests == []


@pytest.mark.parametrize(
    "headers", ["Authorization: Digest user=a, realm=b", "X-Team: a b\tc", "X-Api-Key: sk-a\r", ""]
)
async def test_headers_that_can_be_sent_are(
    served: MessagesServer, monkeypatch: pytest.MonkeyPatch, headers: str
) -> None:
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", headers)
    assert credential_fault(MODEL) is None
    judge = AnthropicJudge(MODEL)
    await judge.prepare()
    await judge.ask(QUESTION, max_tokens=2048)
    await judge.aclose()
    assert len(served.requests) == 1


def test_the_app_knows_a_broken_credential_before_anything_is_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    config = parse_configuration(
        "[profiles.mine]\nmodel = 'm'\nkey_variable = 'MY_KEY'\n", Path("/x/config.toml")
    )
    assert credential_fault(None) == "ANTHROPIC_API_KEY is not set"
    assert credential_fault("mine", config) == "MY_KEY is not set"
    assert credential_fault("offline") is None
    for value in BROKEN:
        monkeypatch.setenv("ANTHROPIC_API_KEY", value)
        monkeypatch.setenv("MY_KEY", value)
        assert re.match("ANTHROPIC_API_KEY (is blank|holds a )", credential_fault(None) or "")
        assert re.match("MY_KEY (is blank|holds a )", credential_fault("mine", config) or "")
        # Something is there: the offline rules do not take its place.
        assert missing_credential(None) is None
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    assert credential_fault(None) is None


@pytest.mark.parametrize("variable", ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "MY_KEY"])
@pytest.mark.parametrize("value", ["\t", "sk-hidden-1\n", "sk hidden", "sk-hiddén"])
def test_judge_ends_before_the_first_call_and_names_the_variable(
    served: MessagesServer,
    session_file: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    variable: str,
    value: str,
) -> None:
    config, store = tmp_path / "config.toml", tmp_path / "store.sqlite"
    config.write_text(f"[profiles.mine]\nmodel = '{MODEL}'\nkey_variable = 'MY_KEY'\n")
    monkeypatch.setenv("LONGJUDGE_CONFIG", str(config))
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    monkeypatch.setenv(variable, value)
    model = "mine" if variable == "MY_KEY" else MODEL
    finished = longjudge("judge", session_file, "--model", model, "--store", store, *SIZE)
    assert (finished.code, finished.out, served.requests) == (2, "", [])
    assert finished.err.splitlines()[-1].startswith(f"longjudge: {variable} ")
    assert "hidd" not in finished.err
    assert b"hidd" not in store.read_bytes()


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_is_named_cleaned_and_not_followed(
    served: MessagesServer, status: int
) -> None:
    with MessagesServer() as other:
        place = other.base_url.replace("://", "://user:pass@")
        headers = {"location": f"{place}/v1/login?token=secret#x"}
        served.script = lambda *_: api.Reply(status, headers=headers)
        error = await ask_in_vain(AnthropicJudge(MODEL))
        assert other.requests == []
    assert error.again is Again.NEVER
    assert f"redirected to {other.base_url}/v1/login, which is not followed" in error.message
    assert not re.search("secret|user|pass@", error.message)
    assert "ANTHROPIC_BASE_URL" in error.message


@pytest.mark.parametrize(
    ("location", "named"),
    [
        ("/elsewhere?k=v", "{base}/elsewhere,"),
        ("//gateway.example/x", "http://gateway.example/x,"),
        ("http://[::bad", "redirected to "),
        ("\x1b[31mhttp://x", "redirected to "),
        (None, "307"),
    ],
)
async def test_wherever_a_redirect_points_it_is_one_clean_line(
    served: MessagesServer, location: str | None, named: str
) -> None:
    headers = {} if location is None else {"location": location}
    served.script = lambda *_: api.Reply(307, headers=headers)
    error = await ask_in_vain(AnthropicJudge(MODEL))
    assert named.format(base=served.base_url) in error.message
    assert error.message.isprintable()


async def test_a_proxy_that_answers_for_this_computer_is_named(
    served: MessagesServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", served.base_url)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")
    # What a proxy says of a place that it cannot see, and a page of its own.
    for script in (lambda *_: api.html(502), lambda *_: api.html(200)):
        monkeypatch.setattr(served, "script", script)
        monkeypatch.setattr(served, "_reply", _any_path(served))
        error = await ask_in_vain(AnthropicJudge(MODEL))
        assert "add 127.0.0.1 to NO_PROXY" in error.message
    assert len(served.requests) == 2


def _any_path(server: MessagesServer):
    async def reply(request: api.Request) -> api.Reply:
        return server.script(request, request.attempt)

    return reply


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("user:hidden@gateway.example/llm", "gateway.example/llm"),
        ("https:user:hidden@gateway.example", "gateway.example"),
        ("http:/user:hidden@gateway.example", "gateway.example"),
        ('"https://user:hidden@gateway.example"', "gateway.example"),
        ("http://gateway.example:port?key=hidden", "gateway.example:port"),
        ("https://user:hidden@[::1/x", "[::1/x"),
        ("https://user:hid/den@gateway.example", "gateway.example"),
        ("sk-ant-api03-hidden_Hidden1234567890abcdefghijklmnop", "no http or https address"),
        ("https://user:hidden@gate\nway.example", "space or a line end"),
        ("https://user:hidden@gate way.example", "space or a line end"),
        ("https://user:hidden@xn--ß☃..com", "no http or https address"),
    ],
)
def test_an_address_that_cannot_be_used_is_one_line_without_what_may_be_secret(
    served: MessagesServer,
    session_file: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    address: str,
    shown: str,
) -> None:
    monkeypatch.setenv("ANTHROPIC_BASE_URL", address)
    store = tmp_path / "store.sqlite"
    finished = longjudge("judge", session_file, "--store", store, *SIZE)
    assert (finished.code, finished.out, served.requests) == (2, "", [])
    last = finished.err.splitlines()[-1]
    assert last.startswith("longjudge: ANTHROPIC_BASE_URL: ")
    assert shown in last
    assert not re.search("(?i)hid|user", finished.err.replace("usage", ""))


async def test_a_password_in_the_address_is_not_shown_though_the_server_repeats_it(
    served: MessagesServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    served.script = lambda *_: api.error(403, "no hidden-word for you")
    address = served.base_url.replace("://", "://user:hidden-word@")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", address)
    message = (await ask_in_vain(AnthropicJudge(MODEL))).message
    assert "for you" in message
    assert "hidden-word" not in message


@pytest.mark.parametrize(
    ("variables", "named"),
    [
        ({"HTTP_PROXY": "http://user:hidden@127.0.0.1:9"}, "HTTP_PROXY"),
        ({"all_proxy": "http://user:hidden@127.0.0.1:9"}, "all_proxy"),
        ({"HTTP_PROXY": "http://127.0.0.1:9", "NO_PROXY": ".invalid"}, ""),
        ({"HTTPS_PROXY": "http://127.0.0.1:9"}, ""),
    ],
)
async def test_a_proxy_that_cannot_be_reached_is_named_without_its_password(
    served: MessagesServer, monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], named: str
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://gateway.invalid")
    message = (await ask_in_vain(AnthropicJudge(MODEL))).message
    assert ("the proxy that" in message) == bool(named)
    assert named in message
    assert "hidden" not in message


@pytest.mark.parametrize(
    ("variable", "value", "said"),
    [
        ("HTTP_PROXY", "ftp://user:hidden@x", "no address of a proxy"),
        ("HTTP_PROXY", "http://user:hid/den@x", "no address of a proxy"),
        ("ALL_PROXY", "socks5://user:hidden@x:1", "socksio"),
        ("SSL_CERT_FILE", "/no/hidden/file", "certificates cannot be read"),
    ],
)
def test_a_connection_that_cannot_be_made_is_one_line_and_exit_2(
    served: MessagesServer,
    session_file: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    variable: str,
    value: str,
    said: str,
) -> None:
    monkeypatch.setenv(variable, value)
    store = tmp_path / "store.sqlite"
    finished = longjudge("judge", session_file, "--store", store, *SIZE)
    assert (finished.code, finished.out, served.requests) == (2, "", [])
    last = finished.err.splitlines()[-1]
    assert last.startswith("longjudge: ")
    assert variable in last
    assert said in last
    assert "hid" not in finished.err


async def test_it_is_a_fault_of_usage_for_the_library_too(
    served: MessagesServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "nonsense://")
    with pytest.raises(UsageError, match="HTTP_PROXY"):
        await AnthropicJudge(MODEL).prepare()


async def test_no_credential_that_a_gateway_repeats_is_shown_wherever_it_is_from(
    served: MessagesServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def echo(request: api.Request, attempt: int) -> api.Reply:
        sent = [request.headers.get(name, "") for name in ("x-api-key", "authorization")]
        return api.error(401, f"bad key {' '.join(sent)}")

    served.script = echo
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", "X-Api-Key: sk-in-a-header")
    messages = [(await ask_in_vain(AnthropicJudge(MODEL))).message]
    monkeypatch.delenv("ANTHROPIC_CUSTOM_HEADERS")
    folder = Path.home() / ".config" / "anthropic"
    (folder / "configs").mkdir(parents=True)
    (folder / "credentials").mkdir()
    (folder / "configs" / "default.json").write_text('{"authentication": {"type": "user_oauth"}}')
    secret = folder / "credentials" / "default.json"
    secret.write_text(json.dumps({"type": "oauth_token", "access_token": "sk-on-the-disk"}))
    secret.chmod(0o600)
    messages.append((await ask_in_vain(AnthropicJudge(MODEL))).message)
    sent = [request.headers for request in served.requests]
    assert sent[0]["x-api-key"] == "sk-in-a-header"
    assert sent[1]["authorization"] == "Bearer sk-on-the-disk"
    for message in messages:
        assert "bad key" in message
        assert not re.search("in-a-header|on-the-disk", message)


def test_the_sdks_own_log_holds_no_key(
    served: MessagesServer, session_file: Path, tmp_path: Path
) -> None:
    finished = longjudge_process(
        *("judge", session_file, "--json", "--store", tmp_path / "store.sqlite", *SIZE),
        ANTHROPIC_LOG="debug",
        ANTHROPIC_API_KEY=KEY,
        ANTHROPIC_CUSTOM_HEADERS="X-Api-Key: sk-in-a-header",
    )
    assert finished.objects[0]["status"] == "complete"
    assert "HTTP Request" in finished.err
    assert not re.search(f"{KEY}|in-a-header", finished.err + finished.out)
