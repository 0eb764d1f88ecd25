"""A Messages API for benchmarks, in a process of its own, that costs nearly nothing.

`ServerProcess` starts it and ends it. It reads no body and keeps nothing: every question gets the
same clean verdict, after as long a wait as was asked for. It ends with its standard input, so that
it outlives nobody.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Self

CRITERIA = ("destructive_action", "invented_reference", "broken_promise")
_LENGTH = b"content-length:"


def verdict_text() -> str:
    """A clean verdict by the built-in rubric; a script that wants a flat object reads it too."""
    return json.dumps({"criteria": {each: {"findings": [], "problem": False} for each in CRITERIA}})


def _response() -> bytes:
    body = json.dumps(
        {
            "id": "msg_01",
            "type": "message",
            "role": "assistant",
            "model": "claude-haiku-5-5",
            "content": [{"type": "text", "text": verdict_text()}],
            "stop_reason": "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 1000, "output_tokens": 60},
        }
    ).encode()
    head = (
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nrequest-id: req_01\r\n"
        f"content-length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


class _Connection(asyncio.Protocol):
    """Counts the bytes of a request and answers when all are there; one request at a time."""

    def __init__(self, latency: float) -> None:
        self._latency = latency
        self._response = _response()
        self._head = b""
        self._missing = 0
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        if self._missing:
            self._missing -= len(data)
        else:
            head, mark, rest = (self._head + data).partition(b"\r\n\r\n")
            if not mark:
                self._head = head
                return
            self._head = b""
            at = head.lower().find(_LENGTH)
            length = head[at + len(_LENGTH) :].partition(b"\r")[0] if at >= 0 else b"0"
            self._missing = int(length) - len(rest)
        if self._missing <= 0:
            self._missing = 0
            if self._latency:
                asyncio.get_running_loop().call_later(self._latency, self._answer)
            else:
                self._answer()

    def _answer(self) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(self._response)


class ServerProcess:
    """The server in its process; `address` is its base URL. A context manager."""

    def __init__(self, latency: float = 0.0) -> None:
        self._latency = latency
        self._process: subprocess.Popen[str] | None = None
        self.address = ""

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            [sys.executable, __file__, "--latency", str(self._latency)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        self.address = f"http://127.0.0.1:{int(self._process.stdout.readline())}"
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process is not None
        self._process.communicate()


async def _serve(latency: float) -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: _Connection(latency), "127.0.0.1", 0, backlog=1024)
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    async with server:
        await asyncio.to_thread(lambda: deque(sys.stdin, maxlen=0))


def main() -> None:
    """Serve until standard input ends."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before each reply")
    asyncio.run(_serve(parser.parse_args().latency))


if __name__ == "__main__":
    main()
