"""A Messages API on 127.0.0.1 for tests: a real HTTP server in a thread of its own.

    with MessagesServer() as server:                        # every chunk is clean
        os.environ["ANTHROPIC_BASE_URL"] = server.base_url

    def script(request, attempt):                           # attempt: from 1, per prompt
        return error(500) if attempt == 1 else clean(request)

    with MessagesServer(script) as server: ...

A test that needs a moment waits for it: `server.wait_for(lambda: len(server.requests) == 3)`,
in async code with `await server.until(...)`. `server.batches` is the Message Batches API; see
`batch_server`.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import math
import threading
import time
from collections import Counter
from dataclasses import dataclass, field, replace
from email.utils import format_datetime
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    Event = tuple[str, dict[str, Any]]

FOREVER = math.inf


@dataclass(slots=True)
class Request:
    """One request as it arrived, and what became of it."""

    method: str
    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    arrived: float
    attempt: int = 0
    answered: bool = False
    client_closed: bool = False
    """The client closed the connection before it had the whole reply."""
    content: bytes = field(default=b"", repr=False)
    """The body of a call for batches, which is not read here."""
    custom_id: str = ""
    """For an item of a batch."""

    @property
    def prompt(self) -> str:
        """The user's text."""
        content = self.body["messages"][0]["content"]
        return content if isinstance(content, str) else content[0]["text"]

    @property
    def criteria(self) -> list[str]:
        """The criteria of the schema that was asked for."""
        schema = self.body["output_config"]["format"]["schema"]
        return list(schema["properties"]["criteria"]["properties"])


@dataclass(frozen=True, slots=True)
class Reply:
    """What the server does with a request.

    `delay` seconds pass first (`FOREVER`: until `server.release()` or the client leaves). With
    `drop` the connection is closed without a byte; with `cut` after half of the body.
    """

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    content_type: str = "application/json"
    delay: float = 0.0
    drop: bool = False
    cut: bool = False
    chunked: bool = False
    """No length is announced, so that the end of the body shows whether it is whole."""
    pieces: Iterable[bytes] | None = None
    """The body of a chunked reply, as fast as the client takes it; then `cut` cuts it off there."""
    hang: bool = False
    """After the pieces nothing comes until `server.release()`."""


def later(reply: Reply, seconds: float) -> Reply:
    """The same reply after a while."""
    return replace(reply, delay=seconds)


def message(
    content: Sequence[Mapping[str, Any]],
    *,
    stop_reason: str | None = "end_turn",
    **members: Any,
) -> Reply:
    """A message with the given blocks."""
    body = {
        "id": "msg_01",
        "type": "message",
        "role": "assistant",
        "model": "claude-haiku-5-5",
        "content": list(content),
        "stop_reason": stop_reason,
        "stop_sequence": None,
        "usage": {
            "input_tokens": 100,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
            "output_tokens": 10,
            "service_tier": "standard",
        },
    } | members
    return Reply(body=json.dumps(body).encode())


THINKING = {"type": "thinking", "thinking": "Let me see.", "signature": "c2ln"}


def text(answer: str, *, thinking: bool = True, stop_reason: str = "end_turn") -> Reply:
    """A message with one block of text, after a block of thinking as today's models send it."""
    blocks = [THINKING] if thinking else []
    return message([*blocks, {"type": "text", "text": answer}], stop_reason=stop_reason)


def flagged(
    request: Request, findings: Mapping[str, Sequence[Mapping[str, Any]]], *, thinking: bool = True
) -> Reply:
    """A verdict: the findings per criterion, the other criteria clean."""
    criteria = {
        name: {
            "findings": [dict(found) for found in findings.get(name, ())],
            "problem": bool(findings.get(name)),
        }
        for name in request.criteria
    }
    return text(json.dumps({"criteria": criteria}), thinking=thinking)


def clean(request: Request, attempt: int = 1) -> Reply:
    """A verdict without findings; also the script that a server has by default."""
    return flagged(request, {})


def held(request: Request, attempt: int = 1) -> Reply:
    """A script, too: a verdict without findings that waits for `MessagesServer.release`."""
    return later(clean(request), FOREVER)


def error(
    status: int,
    message: str = "no luck",
    *,
    kind: str = "api_error",
    headers: Mapping[str, str] | None = None,
    error_code: str | None = None,
) -> Reply:
    """An error in the API's shape."""
    inner: dict[str, Any] = {"type": kind, "message": message}
    if error_code:
        inner["details"] = {"error_code": error_code}
    body = {"type": "error", "error": inner, "request_id": "req_01"}
    return Reply(status, json.dumps(body).encode(), headers or {})


def rate_limited(retry_after: float | str | None = None) -> Reply:
    """A 429, with or without a wait."""
    headers = {} if retry_after is None else {"retry-after": str(retry_after)}
    return error(429, "slow down", kind="rate_limit_error", headers=headers)


def html(status: int = 200) -> Reply:
    """A web page, as a captive portal answers."""
    return Reply(status, b"<!DOCTYPE html><p>Log in", content_type="text/html")


def invalid_json() -> Reply:
    """A 200 whose body is no JSON."""
    return Reply(body=b'{"type": "message", ')


def no_json() -> Reply:
    """A message whose text holds no JSON."""
    return text("I would rather talk about something else.")


def truncated() -> Reply:
    """A reply cut off by the token cap."""
    return text('{"criteria": {"destructive_action": {"fin', stop_reason="max_tokens")


def refusal() -> Reply:
    """A refusal: no content at all."""
    details = {"type": "refusal", "category": "cyber", "explanation": "This looks harmful."}
    return message([], stop_reason="refusal", stop_details=details)


def thinking_only() -> Reply:
    """A message that thought until its tokens were used up."""
    return message([THINKING], stop_reason="max_tokens")


DROP = Reply(drop=True)


def streamed(reply: Reply, *, events: int | None = None, closing: Sequence[Event] = ()) -> Reply:
    """A message as a stream of events, as `stream` asks for it.

    With `events`, only so many of them; then `closing`.
    """
    whole = list(stream_events(json.loads(reply.body)))
    sent = [*whole[:events], *closing]
    body = "".join(f"event: {kind}\ndata: {json.dumps(data)}\n\n" for kind, data in sent)
    return replace(reply, body=body.encode(), content_type="text/event-stream", chunked=True)


def stream_error(kind: str, message: str = "no luck") -> Event:
    """An error in the middle of a stream."""
    return "error", {"type": "error", "error": {"type": kind, "message": message}}


def stream_events(body: dict[str, Any]) -> Iterator[Event]:
    """The events that add up to a message, each block in two pieces."""
    usage = body["usage"]
    opening = body | {"content": [], "stop_reason": None, "usage": usage | {"output_tokens": 1}}
    yield "message_start", {"type": "message_start", "message": opening}
    yield "ping", {"type": "ping"}
    for index, block in enumerate(body["content"]):
        name = "thinking" if block["type"] == "thinking" else "text"
        words = block[name]
        place = {"index": index}
        empty = {"type": name, name: ""} | ({"signature": ""} if name == "thinking" else {})
        yield (
            "content_block_start",
            {"type": "content_block_start", "content_block": empty} | place,
        )
        for piece in (words[: len(words) // 2], words[len(words) // 2 :]):
            delta = {"type": f"{name}_delta", name: piece}
            yield "content_block_delta", {"type": "content_block_delta", "delta": delta} | place
        yield "content_block_stop", {"type": "content_block_stop"} | place
    delta = {"stop_reason": body["stop_reason"], "stop_sequence": body["stop_sequence"]}
    delta |= {"stop_details": body["stop_details"]} if "stop_details" in body else {}
    output = {"output_tokens": usage["output_tokens"]}
    yield "message_delta", {"type": "message_delta", "delta": delta, "usage": output}
    yield "message_stop", {"type": "message_stop"}


class MessagesServer:
    """The server; a context manager. `port` asks for a certain one, e.g. an earlier server's."""

    def __init__(self, script: Callable[[Request, int], Reply] = clean, *, port: int = 0) -> None:
        # Batches are made of what is defined here.
        from batch_server import Batches, is_batch_path

        self.script = script
        self.requests: list[Request] = []
        self.batches = Batches(self)
        self.is_batch_path = is_batch_path
        self.port = port
        self._attempts: Counter[str] = Counter()
        self._open: list[Request] = []
        self._changed = threading.Condition()
        self._started = threading.Event()
        self._failure: OSError | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._release: asyncio.Event | None = None
        self._connections: set[_Connection] = set()
        self._thread = threading.Thread(target=self._run, name="messages-server", daemon=True)

    @property
    def base_url(self) -> str:
        """For `ANTHROPIC_BASE_URL`."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def open_requests(self) -> list[Request]:
        """Requests that have neither been answered nor given up by their client."""
        with self._changed:
            return list(self._open)

    def wait_for(self, condition: Callable[[], bool], timeout: float = 30.0) -> None:
        """Wait until a request's arrival, reply or loss has made the condition true."""
        # An RLock's condition: the condition may read the properties above.
        with self._changed:
            if not self._changed.wait_for(condition, timeout):
                came = f"{len(self.requests)} requests, {len(self.batches.calls)} for batches came"
                raise AssertionError(f"not within {timeout} s; {came}")

    async def until(self, condition: Callable[[], bool]) -> None:
        """`wait_for` without blocking the event loop."""
        await asyncio.to_thread(self.wait_for, condition)

    @contextlib.contextmanager
    def changes(self) -> Iterator[None]:
        """Change what a test may look at or wait for."""
        with self._changed:
            yield
            self._changed.notify_all()

    def tell_after(self, seconds: float) -> None:
        """Look again then at what is waited for; called by what runs in the server's loop."""
        if 0 < seconds < FOREVER:
            asyncio.get_running_loop().call_later(seconds, self._tell)

    def _tell(self) -> None:
        with self.changes():
            pass

    def next_attempt(self, request: Request) -> int:
        """How often this prompt has come, this time included."""
        key = json.dumps([request.body.get("system"), request.body.get("messages")])
        with self._changed:
            self._attempts[key] += 1
            return self._attempts[key]

    def release(self) -> None:
        """Let every held reply go, those to come included."""
        if self._loop is not None and self._release is not None:
            self._loop.call_soon_threadsafe(self._release.set)

    def __enter__(self) -> Self:
        self._thread.start()
        self._started.wait()
        if self._failure is not None:
            raise self._failure
        return self

    def __exit__(self, *_: object) -> None:
        if self._loop is not None and self._stop is not None:
            self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)

    def _run(self) -> None:
        asyncio.run(self._serve())

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stop, self._release = asyncio.Event(), asyncio.Event()
        try:
            server = await self._loop.create_server(
                lambda: _Connection(self), "127.0.0.1", self.port
            )
        except OSError as failure:
            self._failure = failure
            self._started.set()
            return
        self.port = server.sockets[0].getsockname()[1]
        self._started.set()
        await self._stop.wait()
        server.close()
        for connection in list(self._connections):
            connection.abort()
        await server.wait_closed()

    def _arrived(self, request: Request) -> None:
        with self.changes():
            if self.is_batch_path(request.path):
                self.batches.calls.append(request)
            else:
                request.attempt = self.next_attempt(request)
                self.requests.append(request)
            self._open.append(request)

    def _ended(self, request: Request, *, answered: bool) -> None:
        with self._changed:
            if request in self._open:
                self._open.remove(request)
                request.answered = answered
                request.client_closed = not answered
            self._changed.notify_all()

    async def _reply(self, request: Request) -> Reply:
        if self.is_batch_path(request.path):
            reply = await self.batches.reply(request)
            request.content = b""
        elif request.method != "POST" or request.path.partition("?")[0] != "/v1/messages":
            return error(404, f"no {request.path}", kind="not_found_error")
        else:
            reply = self.script(request, request.attempt)
        if reply.delay == FOREVER:
            await self._released()
        elif reply.delay:
            await asyncio.sleep(reply.delay)
        return reply

    async def _released(self) -> None:
        assert self._release is not None
        await self._release.wait()


class _Connection(asyncio.Protocol):
    def __init__(self, server: MessagesServer) -> None:
        self._server = server
        self._received = bytearray()
        self._transport: asyncio.Transport | None = None
        self._task: asyncio.Task[None] | None = None
        self._writable = asyncio.Event()
        self._writable.set()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._server._connections.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._server._connections.discard(self)
        if self._task is not None:
            self._task.cancel()

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    def data_received(self, data: bytes) -> None:
        self._received += data
        self._next()

    def _next(self) -> None:
        if self._task is not None or (request := self._take()) is None:
            return
        self._server._arrived(request)
        self._task = asyncio.get_running_loop().create_task(self._answer(request))

    def _take(self) -> Request | None:
        end = self._received.find(b"\r\n\r\n")
        if end < 0:
            return None
        first, *lines = self._received[:end].decode("latin-1").split("\r\n")
        headers = {
            name.strip().lower(): value.strip()
            for name, _, value in (line.partition(":") for line in lines)
        }
        length = int(headers.get("content-length", "0"))
        start, stop = end + 4, end + 4 + length
        if len(self._received) < stop:
            return None
        content = bytes(self._received[start:stop])
        del self._received[:stop]
        method, path, _ = first.split(" ", 2)
        if self._server.is_batch_path(path):
            return Request(method, path, headers, {}, time.monotonic(), content=content)
        body = json.loads(content) if length else {}
        return Request(method, path, headers, body, time.monotonic())

    async def _answer(self, request: Request) -> None:
        answered = False
        try:
            reply = await self._server._reply(request)
            await self._send(reply)
            answered = True
        except BaseException:
            # A script that fails must not leave its client waiting.
            self.abort()
            raise
        finally:
            self._server._ended(request, answered=answered)
        self._task = None
        self._next()

    async def _send(self, reply: Reply) -> None:
        transport = self._transport
        if transport is None:
            return
        if reply.drop:
            transport.abort()
            return
        length = {"content-length": str(len(reply.body))}
        if reply.chunked:
            length = {"transfer-encoding": "chunked"}
        headers = {
            "content-type": reply.content_type,
            **length,
            "request-id": "req_01",
            "date": format_datetime(self._server.batches.now(), usegmt=True),
            **reply.headers,
        }
        head = f"HTTP/1.1 {reply.status} Scripted\r\n" + "".join(
            f"{name}: {value}\r\n" for name, value in headers.items()
        )
        if reply.pieces is not None:
            transport.write(head.encode("latin-1") + b"\r\n")
            await self._stream(transport, reply.pieces, reply)
            return
        body = reply.body[: len(reply.body) // 2] if reply.cut else reply.body
        if reply.chunked:
            body = (
                f"{len(body):x}\r\n".encode()
                + body
                + b"\r\n"
                + (b"" if reply.cut else b"0\r\n\r\n")
            )
        transport.write(head.encode("latin-1") + b"\r\n" + body)
        if reply.cut:
            transport.close()

    async def _stream(
        self, transport: asyncio.Transport, pieces: Iterable[bytes], reply: Reply
    ) -> None:
        for piece in pieces:
            transport.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
            # Others get their turn, and a slow client is waited for.
            await asyncio.sleep(0)
            await self._writable.wait()
        if reply.hang:
            await self._server._released()
        if reply.cut:
            transport.close()
        else:
            transport.write(b"0\r\n\r\n")
