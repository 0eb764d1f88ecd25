"""The judge behind the Messages API, through the official SDK.

The SDK takes about a second to import and is loaded in a thread when a chunk has to be asked for
the first time. It never retries and never follows a redirect: when to ask again is decided where
the whole judgment is seen, and a session's text goes to the chosen address only.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import re
import warnings
from importlib import import_module
from typing import TYPE_CHECKING, cast

from longjudge.errors import CredentialError
from longjudge.judges.access import Access, CredentialFrom, environment_access
from longjudge.judges.anthropic_errors import call_errors, malformed_reply, to_ask_error
from longjudge.judges.base import Answer, Stop
from longjudge.judges.credentials import (
    TOKEN,
    check_base_url,
    endpoint_of,
    header_credential,
    header_fault,
    unusable_address,
    url_secrets,
)
from longjudge.judges.proxies import connection_faults, unusable_connection
from longjudge.judges.reply import REPLY_VERSION, reply_schema
from longjudge.judges.streaming import streamed_message
from longjudge.prices import Usage
from longjudge.text import clean_line

if TYPE_CHECKING:
    from collections.abc import Mapping

    from anthropic import AsyncAnthropic, Omit

    from longjudge.judges.base import Question
    from longjudge.judges.credentials import StaticCredential
    from longjudge.judges.streaming import Request
    from longjudge.prices import Price
    from longjudge.rubric import Rubric

CALL_SECONDS = 300.0
CONNECT_SECONDS = 10.0
CLOSE_SECONDS = 2.0
EFFORT = "low"
MAX_TOKEN_COUNT = 2**40
"""A count beyond this is a server's mistake, and no store could add it up."""

_STOPS: Mapping[str, Stop] = {
    "end_turn": Stop.COMPLETE,
    "stop_sequence": Stop.COMPLETE,
    "max_tokens": Stop.TRUNCATED,
    "model_context_window_exceeded": Stop.TRUNCATED,
    "refusal": Stop.REFUSED,
}


class AnthropicJudge:
    """A model behind the Messages API, reached as the SDK would or as a profile says.

    `freeze_after_import` takes what the import leaves behind out of the garbage collector's
    sight. It changes the whole process, so only a program sets it, never a library.
    """

    def __init__(
        self, model: str, *, access: Access | None = None, freeze_after_import: bool = False
    ) -> None:
        self._model = model
        self._access = access or environment_access()
        self._endpoint = endpoint_of(self._access.base_url)
        self._freeze = freeze_after_import
        self._client: AsyncAnthropic | None = None
        self._closing: asyncio.Task[None] | None = None
        self._secrets: tuple[str, ...] = ()

    @property
    def model(self) -> str:
        """Model name."""
        return self._model

    @property
    def label(self) -> str:
        """Model name, after the profile's where there is one."""
        profile = self._access.profile
        return f"{profile} ({self._model})" if profile else self._model

    @property
    def endpoint(self) -> str:
        """Base URL without credentials and trailing slash."""
        return self._endpoint

    @property
    def parameters(self) -> Mapping[str, str]:
        """What is asked for beside the prompt; the token cap is no part of it."""
        return {"effort": EFFORT, "format": f"json_schema {REPLY_VERSION}"}

    @property
    def price(self) -> Price | None:
        """The profile's."""
        return self._access.price

    @property
    def judges_meaning(self) -> bool:
        """A model answers."""
        return True

    def check_rubric(self, rubric: Rubric) -> None:
        """A model answers any rubric."""

    async def prepare(self) -> None:
        """Find the credential, load the SDK, make the client; a second call changes nothing.

        Raises:
            CredentialError: nothing to authenticate with was found, or it cannot be used.
            UsageError: the address is none.
        """
        if self._client is not None:
            return
        access = self._access
        check_base_url(access.base_url, access.setting)
        static = access.static()
        if static:
            static.check()
        elif access.missing():
            raise _no_credential(self._model)
        if fault := header_fault(access.withheld_headers()):
            raise CredentialError(f"{fault}; mend it, or unset it")
        await asyncio.to_thread(_load_sdk, freeze=self._freeze)
        # Another caller may have come first while the import ran.
        if self._client is None:
            self._client = self._make_client(static)
            self._secrets = (*((static.value,) if static else ()), *url_secrets(access.base_url))

    def _make_client(self, static: StaticCredential | None) -> AsyncAnthropic:
        import anthropic
        import httpx2

        access = self._access
        token = static.value if static and static.variable == TOKEN else None
        key = static.value if static and token is None else None
        headers: dict[str, str | Omit] = dict.fromkeys(access.withheld_headers(), anthropic.Omit())
        if access.credential is CredentialFrom.NOWHERE:
            # A stand-in that is never sent keeps the SDK from looking for a credential itself.
            key, headers["Authorization"] = "none", anthropic.Omit()
        elif static and access.own_address:
            for name in [name for name in headers if name.lower() == "authorization"]:
                headers[name] = f"Bearer {static.value}"
        timeout = anthropic.Timeout(CALL_SECONDS, connect=CONNECT_SECONDS)
        try:
            http_client = anthropic.DefaultAsyncHttpxClient(follow_redirects=False, timeout=timeout)
        except connection_faults() as error:
            raise unusable_connection(error, self._endpoint) from error
        # Said before the run by whoever started it; where warnings are errors it would end it.
        warnings.filterwarnings(
            "ignore", f"The model '{re.escape(self._model)}' is deprecated", DeprecationWarning
        )
        try:
            # Handed over by name, the credential makes the SDK log nothing about the others.
            client = anthropic.AsyncAnthropic(
                api_key=key,
                auth_token=token,
                base_url=access.base_url,
                default_headers=cast("Mapping[str, str]", headers) or None,
                timeout=timeout,
                max_retries=0,
                http_client=http_client,
            )
        except anthropic.AnthropicError as error:
            raise CredentialError(
                f"{clean_line(str(error))}; mend it, set ANTHROPIC_API_KEY, or use"
                " `--model offline`"
            ) from error
        except httpx2.InvalidURL as error:
            raise unusable_address(access.base_url, access.setting) from error
        if key is token is client.credentials is None and not header_credential():
            raise _no_credential(self._model)
        return client

    @property
    def client(self) -> AsyncAnthropic | None:
        """The SDK's client; None before `prepare` and after `aclose`."""
        return self._client

    @property
    def secrets(self) -> tuple[str, ...]:
        """What no message may repeat."""
        return self._secrets

    def request(self, question: Question, *, max_tokens: int) -> Request:
        """What is sent about a question, by itself or in a batch."""
        return {
            "model": self._model,
            "max_tokens": max_tokens,
            "system": question.system,
            "messages": [{"role": "user", "content": question.user}],
            "output_config": {
                "format": {"type": "json_schema", "schema": reply_schema(question.rubric)},
                "effort": EFFORT,
            },
        }

    async def ask(self, question: Question, *, max_tokens: int) -> Answer:
        """Ask once; no retries.

        Raises:
            AskError: no answer came.
        """
        if self._client is None:
            raise RuntimeError("the judge was asked before it was prepared")
        request = self.request(question, max_tokens=max_tokens)
        try:
            async with asyncio.timeout(CALL_SECONDS):
                if self._access.stream:
                    message = await streamed_message(self._client, request)
                else:
                    message = await self._client.messages.create(**request)
        except call_errors() as error:
            raise to_ask_error(error, self._endpoint, self._secrets) from error
        return read_message(message, self._endpoint)

    async def aclose(self) -> None:
        """Close connections, within two seconds and whether or not the caller is cancelled."""
        client, self._client = self._client, None
        if client is not None:
            self._closing = asyncio.create_task(_close(client))
        if self._closing is not None:
            await asyncio.shield(self._closing)


def read_message(message: object, endpoint: str = "") -> Answer:
    """Turn a message into an answer, whatever shape the server at `endpoint` gave it.

    Raises:
        AskError: what arrived is no message.
    """
    kind = _text(message, "type")
    if message is None or kind == "error" or isinstance(message, str | float | int | list):
        raise malformed_reply(endpoint)
    usage = _usage(getattr(message, "usage", None))
    reason = _text(message, "stop_reason")
    stop = _STOPS.get(reason, Stop.UNUSABLE)
    content: object = getattr(message, "content", None)
    if not isinstance(content, list):
        if stop is Stop.COMPLETE:
            return Answer("", Stop.UNUSABLE, usage, "the reply has no content")
        content = []
    blocks = cast("list[object]", content)
    text = "".join(_text(block, "text") for block in blocks if _text(block, "type") == "text")
    return Answer(text, stop, usage, _detail(message, stop, reason))


def _detail(message: object, stop: Stop, reason: str) -> str:
    if stop is Stop.COMPLETE:
        return ""
    if stop is Stop.TRUNCATED:
        window = reason == "model_context_window_exceeded"
        return "the model's window was full" if window else "the reply was cut off at its limit"
    if stop is Stop.REFUSED:
        details: object = getattr(message, "stop_details", None)
        said = [_text(details, "category"), _text(details, "explanation")]
        return clean_line(": ".join(["refused", *filter(None, said)]))
    return clean_line(f"stopped with {reason or 'no reason'}")


def _text(holder: object, name: str) -> str:
    """A text attribute; empty where it is absent or anything else, since nothing is validated."""
    value: object = getattr(holder, name, None)
    return value if isinstance(value, str) else ""


def _usage(usage: object) -> Usage:
    """Tokens by price class; a count that is none, or absurd, counts as nothing."""
    long_lived = _count(getattr(usage, "cache_creation", None), "ephemeral_1h_input_tokens")
    short_lived = _count(getattr(usage, "cache_creation", None), "ephemeral_5m_input_tokens")
    # The details say again what the total holds, and stand in for it where there is none.
    written = _count(usage, "cache_creation_input_tokens") or long_lived + short_lived
    output = _count(usage, "output_tokens")
    thinking = _count(getattr(usage, "output_tokens_details", None), "thinking_tokens")
    return Usage(
        input_tokens=_count(usage, "input_tokens"),
        output_tokens=output,
        cache_read_tokens=_count(usage, "cache_read_input_tokens"),
        cache_write_tokens=written,
        cache_write_1h_tokens=min(long_lived, written),
        thinking_tokens=min(thinking, output),
    )


def _count(holder: object, name: str) -> int:
    value: object = getattr(holder, name, None)
    return value if type(value) is int and 0 <= value <= MAX_TOKEN_COUNT else 0


def _no_credential(model: str) -> CredentialError:
    return CredentialError(
        f"no credential for {clean_line(model, 80)} was found; set ANTHROPIC_API_KEY (or"
        " ANTHROPIC_AUTH_TOKEN, or a profile), or use `--model offline`"
    )


def _load_sdk(*, freeze: bool = False) -> None:
    """Import what a call needs, the part that the SDK itself leaves to the first call included."""
    collecting = freeze and gc.isenabled()
    if collecting:
        gc.disable()
    try:
        import_module("anthropic.resources.messages")
    finally:
        if collecting:
            gc.enable()
    if freeze:
        gc.freeze()


async def _close(client: AsyncAnthropic) -> None:
    with contextlib.suppress(TimeoutError, OSError, RuntimeError):
        async with asyncio.timeout(CLOSE_SECONDS):
            await client.close()
