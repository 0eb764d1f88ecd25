"""Maps whatever a call to the Messages API can raise to one small set of outcomes.

The SDK is imported by whoever calls it; by the time an error exists, it is loaded.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from email.utils import mktime_tz, parsedate_tz
from json import JSONDecodeError
from typing import TYPE_CHECKING, cast
from urllib.parse import urljoin

from longjudge.judges.base import MAX_WAIT, Again, AskError
from longjudge.judges.credentials import endpoint_of
from longjudge.judges.proxies import proxy_hint, unreachable_hint
from longjudge.states import GapReason
from longjudge.text import clean_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    import anthropic

MAX_MESSAGE_CHARS = 200
SECRET_CHARS = 8
"""Shorter words of a header are its scheme, such as `Bearer`."""

_ADDRESS = "ANTHROPIC_BASE_URL (or the profile's base_url)"
_STATUS = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "timeout_error": 504,
    "overloaded_error": 529,
}
"""The status that each type of error has outside of a stream."""

# Said by the hosted API, llama.cpp, vLLM and gateways, in this order, in lower case.
_TOO_LONG = (
    "prompt is too long",
    "exceed context limit",
    "exceed_context_size_error",
    "exceeds the available context size",
    "context window",
    "context length",
    "context_length_exceeded",
    "request_too_large",
)


@dataclass(frozen=True, slots=True)
class _Outcome:
    again: Again
    reason: GapReason = GapReason.PROVIDER_ERROR
    hint: str = ""
    discouraged: bool = False
    fatal: bool = False


def call_errors() -> tuple[type[Exception], ...]:
    """Every class of exception that a call may raise, short of a cancel.

    The SDK lets through what a malformed body does to it (a TypeError, an AttributeError, a
    JSONDecodeError), a lone surrogate in the prompt, and errors of the HTTP library.
    """
    import anthropic
    import httpx2

    return (
        anthropic.AnthropicError,
        httpx2.HTTPError,
        httpx2.InvalidURL,
        httpx2.StreamError,
        OSError,
        ValueError,
        TypeError,
        AttributeError,
        LookupError,
        ArithmeticError,
        EOFError,
        RuntimeError,
    )


def to_ask_error(error: Exception, endpoint: str, secrets: Sequence[str] = ()) -> AskError:
    """What an exception raised by a call means for the next step; `secrets` are never repeated."""
    import anthropic

    secrets = [*secrets, *_sent_secrets(error)]
    if isinstance(error, anthropic.APIStatusError):
        return _from_status(error, endpoint, secrets)
    if isinstance(error, anthropic.APIResponseValidationError | JSONDecodeError):
        return _make("the reply is no JSON", "", _Outcome(Again.SOON), secrets)
    if isinstance(error, UnicodeEncodeError):
        outcome = _Outcome(Again.NEVER)
        said = "the question cannot be encoded as UTF-8"
        return _make(said, "", outcome, secrets, replied=False, free=True)
    if isinstance(error, TypeError) and "authentication method" in str(error):
        outcome = _Outcome(Again.END, hint="set ANTHROPIC_API_KEY")
        return _make("no credential", "", outcome, secrets, replied=False, free=True)
    if isinstance(error, _malformed()) or isinstance(error.__cause__, _malformed()):
        return _make("the reply is malformed", "", _Outcome(Again.SOON), secrets)
    if isinstance(error, TimeoutError | anthropic.APITimeoutError):
        return _unreachable("no reply in time", error, endpoint, secrets)
    if isinstance(error, anthropic.AnthropicError) and not isinstance(error, anthropic.APIError):
        # Credentials from a profile or a federation: no chunk would fare better.
        outcome = _Outcome(Again.END, hint="check the credential")
        return _make("no credential", str(error), outcome, secrets, replied=False, free=True)
    if isinstance(error, ValueError):
        # Bytes that are no text, a number of a million digits: the question itself was encoded.
        return _make("the reply is malformed", str(error), _Outcome(Again.SOON), secrets)
    return _unreachable("connection failed", error, endpoint, secrets)


def _malformed() -> tuple[type[Exception], ...]:
    """What a reply that arrived can do to those who read it."""
    import httpx2

    return (
        TypeError,
        AttributeError,
        LookupError,
        ArithmeticError,
        RecursionError,
        httpx2.DecodingError,
    )


def malformed_reply(endpoint: str = "") -> AskError:
    """A reply that arrived with a good status and is no message, e.g. a log-in page."""
    hint = _hints(f"check {_ADDRESS}", proxy_hint(endpoint))
    return _make("the reply is no message", "", _Outcome(Again.SOON, hint=hint), (), free=True)


def broken_stream() -> AskError:
    """A stream that ended before the message did: no answer, as if the connection had broken."""
    return _make("the reply's stream ended too early", "", _Outcome(Again.SOON), ())


def no_stream() -> AskError:
    """A whole message where a stream was asked for: every other question would fare the same."""
    outcome = _Outcome(Again.END, hint="take `stream` out of the profile")
    return _make("the endpoint does not stream", "", outcome, ())


def refused_with(status: int, kind: str, *, wait: float | None = None) -> AskError:
    """What an error reply of that status and type means, whoever thought it up."""
    outcome = _outcome(status, kind, "", "")
    return _make(f"{status} ({kind})", "", outcome, (), wait=wait, free=True)


def said_of_item(error: object) -> tuple[GapReason, str]:
    """What an error in the results of a batch means for its question, and what was said.

    Nobody has validated it; it is the API's error object, in one more of its kind or by itself.
    """
    inner: object = getattr(error, "error", None) or error
    kind: object = getattr(inner, "type", None)
    message: object = getattr(inner, "message", None)
    kind = kind if isinstance(kind, str) else ""
    said = message if isinstance(message, str) else ""
    outcome = _outcome(_STATUS.get(kind, 500), kind, "", said)
    reason = outcome.reason if outcome.reason is GapReason.TOO_LARGE else GapReason.PROVIDER_ERROR
    return reason, _make(kind or "the provider failed", said, replace(outcome, hint=""), ()).message


def no_reply(what: str) -> AskError:
    """What a call without any reply means, whoever thought it up."""
    return _make(what, "", _Outcome(Again.SOON), (), replied=False)


def _unreachable(what: str, error: Exception, endpoint: str, secrets: Sequence[str]) -> AskError:
    cause = error.__cause__ or error
    said = str(cause) or type(cause).__name__
    # The HTTP library says so where the head of a reply came and its body did not.
    cut = "message body" in said
    outcome = _Outcome(Again.SOON, hint=unreachable_hint(endpoint))
    return _make(f"{what} at {endpoint}", said, outcome, secrets, replied=cut)


def _from_status(
    error: anthropic.APIStatusError, endpoint: str, secrets: Sequence[str]
) -> AskError:
    kind = error.type if isinstance(error.type, str) else ""
    said = _said(error)
    headers = error.response.headers
    # An error inside a stream comes with the status of the stream.
    refused = error.status_code >= 300
    status = error.status_code if refused else _STATUS.get(kind, 500)
    outcome = _outcome(status, kind, error.error_code or "", said)
    outcome = _as_told(outcome, headers.get("x-should-retry"))
    if 300 <= error.status_code < 400:
        outcome = replace(outcome, hint=f"set {_ADDRESS} to the address itself")
        said = _pointed_to(error, headers.get("location")) or said
    hint = _hints(outcome.hint, proxy_hint(endpoint))
    outcome = replace(outcome, hint=hint)
    what = f"{status} ({kind})" if kind else str(status)
    return _make(what, said, outcome, secrets, wait=retry_after(headers), free=refused)


def _pointed_to(error: anthropic.APIStatusError, location: str | None) -> str:
    """Where a redirect leads, without what may be secret in it; it is never followed."""
    if not location:
        return ""
    try:
        target = urljoin(str(error.request.url), location)
    except ValueError:
        target = location
    return f"redirected to {endpoint_of(target)}, which is not followed"


def _sent_secrets(error: Exception) -> list[str]:
    """The credential that the request carried, wherever the SDK had it from."""
    try:
        headers: object = getattr(getattr(error, "request", None), "headers", None)
    except RuntimeError:
        # An error of the HTTP library that knows no request says so by raising.
        return []
    if not isinstance(headers, Mapping):
        return []
    sent = cast("Mapping[str, str]", headers)
    values = [sent.get("x-api-key", ""), sent.get("authorization", "")]
    return [part for value in values for part in value.split() if len(part) >= SECRET_CHARS]


def _hints(*hints: str) -> str:
    return "; ".join(filter(None, hints))


def _said(error: anthropic.APIStatusError) -> str:
    if isinstance(error.api_message, str) and error.api_message:
        return error.api_message
    body = error.body
    if isinstance(body, str):
        return "a web page" if body.lstrip()[:1] == "<" else body
    return str(body) if body else ""


def _outcome(status: int, kind: str, code: str, said: str) -> _Outcome:
    """What the status, the type and the code of an error mean, before `x-should-retry`."""
    if status == 413 or (status == 400 and _says_too_long(kind, said)):
        return _Outcome(Again.NEVER, GapReason.TOO_LARGE, "use a smaller chunk size")
    if status == 429 and code.endswith("spend_limit_reached"):
        return _Outcome(Again.END, GapReason.RATE_LIMITED, "raise the spend limit")
    if status in (429, 529):
        return _Outcome(Again.WHEN_TOLD, GapReason.RATE_LIMITED)
    if status in (401, 403):
        return _Outcome(Again.END, hint="check the credential")
    if status == 404:
        return _Outcome(Again.END, hint=f"check --model and {_ADDRESS}")
    if status == 402 or kind == "billing_error":
        return _Outcome(Again.END, hint="check the account's billing")
    if status >= 500:
        return _Outcome(Again.SOON)
    return _Outcome(Again.NEVER)


def _says_too_long(kind: str, said: str) -> bool:
    text = f"{kind} {said[:2000]}".lower()
    return any(phrase in text for phrase in _TOO_LONG)


def _as_told(outcome: _Outcome, header: str | None) -> _Outcome:
    """Follow `x-should-retry`, except where another try cannot help: money and size.

    A rate limit usually passes, whatever is said: there it only makes the tries fewer.
    """
    again = outcome.again
    if header == "false" and again is Again.WHEN_TOLD:
        return replace(outcome, discouraged=True)
    if header == "false" and again is Again.SOON:
        return replace(outcome, again=Again.NEVER)
    if (
        header == "true"
        and again in (Again.NEVER, Again.END)
        and outcome.reason is GapReason.PROVIDER_ERROR
    ):
        return replace(outcome, again=Again.SOON, fatal=again is Again.END)
    return outcome


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that the provider asks to wait, at most `MAX_WAIT`; None where it asks for none.

    A wait of nothing, or one that is over, counts as none: asking again at once would only use
    up the attempts.
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    after = headers.get("retry-after")
    waits = (
        None if milliseconds is None else milliseconds / 1000,
        _number(after),
        _until(after, headers.get("date")),
    )
    return next((min(wait, MAX_WAIT) for wait in waits if wait is not None and wait > 0), None)


def _number(value: str | None) -> float | None:
    try:
        number = float(value) if value is not None else None
    except ValueError:
        return None
    return number if number is not None and number == number else None


def _until(value: str | None, sent: str | None) -> float | None:
    """Seconds until a date by the clock of who names it, which is not always ours."""
    date, now = _date(value), _date(sent)
    return None if date is None else date - (time.time() if now is None else now)


def _date(value: str | None) -> float | None:
    try:
        date = parsedate_tz(value) if value else None
        return mktime_tz(date) if date else None
    except (ValueError, OverflowError, TypeError, IndexError):
        return None


def _make(
    what: str,
    said: str,
    outcome: _Outcome,
    secrets: Sequence[str],
    *,
    wait: float | None = None,
    replied: bool = True,
    free: bool = False,
) -> AskError:
    what, said = _shown(what, secrets), _shown(said, secrets)
    message = what if not said else f"{what}: {said}"
    if outcome.hint:
        message += f"; {outcome.hint}"
    return AskError(
        message,
        again=outcome.again,
        reason=outcome.reason,
        wait=wait,
        replied=replied,
        free=free,
        discouraged=outcome.discouraged,
        fatal=outcome.fatal,
    )


def _shown(text: str, secrets: Sequence[str]) -> str:
    """A server's words as one short line; a key that they repeat is left out."""
    for secret in filter(None, secrets):
        text = text.replace(secret, "…")
    return clean_line(" ".join(text[: 4 * MAX_MESSAGE_CHARS].split()), MAX_MESSAGE_CHARS)
