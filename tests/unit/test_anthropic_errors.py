"""What every error of a call means for the next step."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import anthropic
import httpx2
import pytest
from anthropic._error_classes import make_status_error

from longjudge.judges.anthropic_errors import call_errors, retry_after, to_ask_error
from longjudge.judges.base import Again
from longjudge.states import GapReason

ENDPOINT = "http://127.0.0.1:9"
REQUEST = httpx2.Request("POST", f"{ENDPOINT}/v1/messages")

SOON, WHEN_TOLD, NEVER, END = Again.SOON, Again.WHEN_TOLD, Again.NEVER, Again.END
PROVIDER, LIMITED, LARGE = (
    GapReason.PROVIDER_ERROR,
    GapReason.RATE_LIMITED,
    GapReason.TOO_LARGE,
)


def status_error(
    status: int,
    said: str = "no luck",
    *,
    kind: str = "api_error",
    code: str | None = None,
    headers: dict[str, str] | None = None,
    body: object = None,
) -> anthropic.APIStatusError:
    inner: dict[str, object] = {"type": kind, "message": said}
    if code:
        inner["details"] = {"error_code": code}
    content = body if body is not None else {"type": "error", "error": inner}
    response = httpx2.Response(status, headers=headers, request=REQUEST)
    return make_status_error(f"Error code: {status}", body=content, response=response)


def connection_error(cause: Exception) -> anthropic.APIConnectionError:
    error = anthropic.APIConnectionError(request=REQUEST)
    error.__cause__ = cause
    return error


def caught(error: Exception) -> Exception:
    """The error as a call raises it, if it is among those that a call is expected to raise."""
    try:
        raise error
    except call_errors() as expected:
        return expected


@pytest.mark.parametrize(
    ("status", "said", "again", "reason"),
    [
        (302, "moved", NEVER, PROVIDER),
        (307, "moved", NEVER, PROVIDER),
        (400, "bad field", NEVER, PROVIDER),
        (400, "output_config.effort: not supported by this model", NEVER, PROVIDER),
        (400, "prompt is too long: 215000 tokens > 200000 maximum", NEVER, LARGE),
        (400, "input length and `max_tokens` exceed context limit: 1 + 2 > 3", NEVER, LARGE),
        (400, "the request exceeds the available context size, try increasing it", NEVER, LARGE),
        (400, "This model's maximum context length is 8192 tokens", NEVER, LARGE),
        (400, "request does not fit the CONTEXT WINDOW", NEVER, LARGE),
        (401, "invalid key", END, PROVIDER),
        (402, "pay first", END, PROVIDER),
        (403, "not yours", END, PROVIDER),
        (404, "model: claude-nope", END, PROVIDER),
        (405, "no", NEVER, PROVIDER),
        (408, "slow", NEVER, PROVIDER),
        (409, "locked", NEVER, PROVIDER),
        (413, "too big", NEVER, LARGE),
        (422, "odd", NEVER, PROVIDER),
        (429, "slow down", WHEN_TOLD, LIMITED),
        (451, "law", NEVER, PROVIDER),
        (499, "gone", NEVER, PROVIDER),
        (500, "oops", SOON, PROVIDER),
        (502, "oops", SOON, PROVIDER),
        (503, "loading", SOON, PROVIDER),
        (504, "late", SOON, PROVIDER),
        (520, "odd", SOON, PROVIDER),
        (529, "overloaded", WHEN_TOLD, LIMITED),
    ],
)
def test_a_status_decides(status, said, again, reason):
    error = to_ask_error(caught(status_error(status, said)), ENDPOINT)
    assert (error.again, error.reason, error.replied) == (again, reason, True)
    assert str(status) in error.message
    assert said in error.message


@pytest.mark.parametrize(
    ("status", "kind", "code", "again", "reason"),
    [
        (429, "rate_limit_error", "enforced_spend_limit_reached", END, LIMITED),
        (429, "rate_limit_error", "contract_spend_limit_reached", END, LIMITED),
        # A ramp limit goes away by waiting.
        (429, "rate_limit_error", "ramp_limit_exceeded", WHEN_TOLD, LIMITED),
        (429, "rate_limit_error", "something_new", WHEN_TOLD, LIMITED),
        (400, "billing_error", None, END, PROVIDER),
        (400, "exceed_context_size_error", None, NEVER, LARGE),
        (413, "request_too_large", None, NEVER, LARGE),
    ],
)
def test_a_type_or_code_decides_more_closely(status, kind, code, again, reason):
    error = to_ask_error(status_error(status, kind=kind, code=code), ENDPOINT)
    assert (error.again, error.reason) == (again, reason)


@pytest.mark.parametrize(
    ("status", "header", "again", "reason"),
    [
        (500, "false", NEVER, PROVIDER),
        (429, "false", WHEN_TOLD, LIMITED),
        (529, "false", WHEN_TOLD, LIMITED),
        (400, "true", SOON, PROVIDER),
        (403, "true", SOON, PROVIDER),
        (409, "true", SOON, PROVIDER),
        (500, "true", SOON, PROVIDER),
        (529, "true", WHEN_TOLD, LIMITED),
        (413, "true", NEVER, LARGE),
        (401, "false", END, PROVIDER),
        (400, "perhaps", NEVER, PROVIDER),
    ],
)
def test_the_provider_may_say_whether_to_ask_again(status, header, again, reason):
    error = to_ask_error(status_error(status, headers={"x-should-retry": header}), ENDPOINT)
    assert (error.again, error.reason) == (again, reason)
    assert error.discouraged == (header == "false" and again is WHEN_TOLD)


@pytest.mark.parametrize(
    ("error", "again", "replied"),
    [
        (connection_error(httpx2.ConnectError("refused")), SOON, False),
        (connection_error(OSError("broken pipe")), SOON, False),
        (
            connection_error(
                httpx2.RemoteProtocolError(
                    "peer closed connection without sending complete message body"
                )
            ),
            SOON,
            True,
        ),
        (anthropic.APITimeoutError(request=REQUEST), SOON, False),
        (httpx2.RemoteProtocolError("Server disconnected"), SOON, False),
        (httpx2.ReadError(""), SOON, False),
        (TimeoutError(), SOON, False),
        (ConnectionResetError("reset"), SOON, False),
        (RuntimeError("Event loop is closed"), SOON, False),
        (json.JSONDecodeError("Expecting value", "<html>", 0), SOON, True),
        (
            anthropic.APIResponseValidationError(
                httpx2.Response(200, request=REQUEST), body=None, message="no"
            ),
            SOON,
            True,
        ),
        (TypeError("'NoneType' object is not iterable"), SOON, True),
        (AttributeError("'str' object has no attribute 'content'"), SOON, True),
        (KeyError("content"), SOON, True),
        (IndexError("list index out of range"), SOON, True),
        (OverflowError("cannot convert float infinity to integer"), SOON, True),
        (RecursionError("maximum recursion depth exceeded"), SOON, True),
        (httpx2.DecodingError("incorrect header check"), SOON, True),
        (httpx2.PoolTimeout("no connection"), SOON, False),
        (httpx2.StreamClosed(), SOON, False),
        (EOFError("the file ended"), SOON, False),
        (UnicodeEncodeError("utf-8", "\ud83d", 0, 1, "surrogates not allowed"), NEVER, False),
        (UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte"), SOON, True),
        (ValueError("Exceeds the limit (4300 digits) for integer string conversion"), SOON, True),
        (httpx2.InvalidURL("bad port"), SOON, False),
        (TypeError("Could not resolve authentication method. Expected"), END, False),
        (anthropic.CredentialsError("Credentials file not found at x"), END, False),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else str(value),
)
def test_an_error_without_status_decides(error, again, replied):
    mapped = to_ask_error(caught(error), ENDPOINT)
    assert (mapped.again, mapped.reason, mapped.replied) == (again, PROVIDER, replied)
    assert mapped.message
    assert "\n" not in mapped.message


def test_a_cancel_is_no_error_of_a_call():
    assert not issubclass(asyncio.CancelledError, call_errors())
    assert not issubclass(KeyboardInterrupt, call_errors())


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "250"}, 0.25),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after-ms": "soon", "retry-after": "9"}, 9.0),
        ({"retry-after-ms": "0", "retry-after": "9"}, 9.0),
        ({"retry-after": "120"}, 120.0),
        ({"retry-after": "3600"}, 120.0),
        ({"retry-after-ms": "3600000"}, 120.0),
        ({"retry-after": "86400"}, 120.0),
        ({"retry-after": "inf"}, 120.0),
        ({"retry-after": "1e400"}, 120.0),
        ({"retry-after": "0"}, None),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": ""}, None),
        ({"retry-after": "Wed, 99 Foo 2026 99:99:99 GMT"}, None),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, None),
        ({"retry-after": "Wed, 21 Oct 2999 07:28:00 GMT"}, 120.0),
    ],
)
def test_how_long_the_provider_asks_to_wait(headers, wait):
    assert retry_after(headers) == wait
    error = to_ask_error(status_error(429, headers=headers), ENDPOINT)
    assert error.wait == wait


def test_a_wait_until_a_date_is_counted_from_now():
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=90), usegmt=True)
    wait = retry_after({"retry-after": date})
    assert wait is not None
    assert 60 < wait <= 90


@pytest.mark.parametrize("ahead", [timedelta(days=-3), timedelta(hours=5)])
def test_a_date_is_read_by_the_clock_of_the_provider_that_names_it(ahead):
    now = datetime.now(UTC) + ahead
    until = now + timedelta(seconds=45)
    headers = {"date": format_datetime(now, usegmt=True)}
    headers["retry-after"] = format_datetime(until, usegmt=True)
    assert retry_after(headers) == 45.0
    headers["date"] = "some day"
    assert retry_after(headers) in (None, 120.0)


@pytest.mark.parametrize("body", ["<html>\x1b[31mLog in</html>", {"odd": ["\x1b]0;x\x07"]}, [], 5])
def test_whatever_a_gateway_answers_is_one_clean_short_line(body):
    message = to_ask_error(status_error(502, body=body), ENDPOINT).message
    assert message.isprintable()
    assert len(message) < 260


def test_a_long_message_is_cut():
    message = to_ask_error(status_error(400, "x\n" * 5_000), ENDPOINT).message
    assert len(message) < 260
    assert message.isprintable()


def test_a_secret_is_not_repeated():
    error = to_ask_error(status_error(401, "bad key sk-1234"), ENDPOINT, ["sk-1234"])
    assert "sk-1234" not in error.message


@pytest.mark.parametrize(
    ("endpoint", "variables", "hint"),
    [
        ("http://127.0.0.1:9", {"HTTP_PROXY": "http://proxy:1"}, True),
        ("http://localhost:9", {"all_proxy": "http://proxy:1"}, True),
        ("http://[::1]:9", {"http_proxy": "http://proxy:1"}, True),
        ("http://127.0.0.1:9", {}, False),
        ("http://127.0.0.1:9", {"HTTPS_PROXY": "http://proxy:1"}, False),
        ("http://127.0.0.1:9", {"HTTP_PROXY": "http://p:1", "NO_PROXY": "x, 127.0.0.1"}, False),
        ("http://127.0.0.1:9", {"HTTP_PROXY": "http://p:1", "no_proxy": "*"}, False),
        ("http://gateway.example", {"HTTP_PROXY": "http://proxy:1"}, False),
    ],
)
def test_a_proxy_in_front_of_this_computer_is_named(monkeypatch, endpoint, variables, hint):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    message = to_ask_error(connection_error(OSError("refused")), endpoint).message
    assert ("NO_PROXY" in message) == hint


def test_a_type_of_error_is_a_servers_words_like_any_other():
    kind = f"sk-secret-1 \x1b[31m\n{'x' * 5_000}"
    error = to_ask_error(status_error(413, "no", kind=kind), ENDPOINT, ("sk-secret-1",))
    assert "sk-secret-1" not in error.message
    assert error.message.isprintable()
    assert len(error.message) < 500
    assert error.message.endswith("; use a smaller chunk size")
