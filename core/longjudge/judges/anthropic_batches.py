"""The provider's Message Batches, through the judge's own client.

Facts about that queue are from its public documents; where the SDK and they leave a gap, the
comment says so. Results are read line by line here, since the SDK's reader ends at the first line
that is no JSON, and follows whatever address the reply names, with the key.
"""

from __future__ import annotations

import asyncio
import json
import time
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Final, TypeVar, cast
from urllib.parse import urljoin, urlsplit

import msgspec

from longjudge.judges.anthropic_errors import call_errors, said_of_item, to_ask_error
from longjudge.judges.base import Again, AskError
from longjudge.judges.batch_api import (
    BatchError,
    BatchRequest,
    ItemResult,
    RemoteBatch,
    RemoteStatus,
    Trouble,
    custom_id,
)
from longjudge.states import GapReason

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Mapping, Sequence

    from anthropic import AsyncAnthropic
    from anthropic.types.messages import MessageBatch
    from anthropic.types.messages.batch_create_params import Request

    from longjudge.judges.anthropic import AnthropicJudge
    from longjudge.judges.base import Question

    T = TypeVar("T")

CREATE_SECONDS: Final = 300.0
LOOK_SECONDS: Final = 30.0
CANCEL_SECONDS: Final = 10.0
PAGE: Final = 100
"""Batches of one page of the list."""
MAX_LINE: Final = 16 * 1024 * 1024
"""Bytes of a line of results beyond which it is none of a judge's replies."""

_FRAME = 120
"""Bytes around each question in the body of a batch, its id included."""


class AnthropicBatches:
    """The batch queue behind a judge's endpoint."""

    def __init__(self, judge: AnthropicJudge) -> None:
        self._judge = judge

    @property
    def endpoint(self) -> str:
        """The judge's endpoint."""
        return self._judge.endpoint

    async def prepare(self) -> None:
        """As the judge's own."""
        await self._judge.prepare()

    def request(self, key: str, question: Question, *, max_tokens: int) -> BatchRequest:
        """What the judge would send by itself, with the size of its JSON."""
        body = self._judge.request(question, max_tokens=max_tokens)
        return BatchRequest(key, body, len(msgspec.json.encode(body)) + _FRAME)

    async def create(self, batch: str, requests: Sequence[BatchRequest]) -> RemoteBatch:
        """Send a batch; the client never sends it twice."""
        bodies = [
            cast("Request", {"custom_id": custom_id(batch, each.key), "params": each.body})
            for each in requests
        ]
        batches = self._client.messages.batches
        made = await self._call(
            batches.create(requests=bodies, timeout=CREATE_SECONDS), CREATE_SECONDS, sends=True
        )
        return _remote(made, self.endpoint)

    async def retrieve(self, provider_id: str) -> RemoteBatch:
        """Look at a batch once."""
        found = self._client.messages.batches.retrieve(_checked(provider_id), timeout=LOOK_SECONDS)
        return _remote(await self._call(found, LOOK_SECONDS), self.endpoint)

    async def cancel(self, provider_id: str) -> RemoteBatch:
        """Have a batch end."""
        batches = self._client.messages.batches
        call = batches.cancel(_checked(provider_id), timeout=CANCEL_SECONDS)
        try:
            return _remote(await self._call(call, CANCEL_SECONDS), self.endpoint)
        except BatchError as error:
            if error.trouble is not Trouble.REFUSED:
                raise
            # One that has ended meanwhile is refused; whether that is why, the batch itself says.
            return await self.retrieve(provider_id)

    async def listed(self, since: float) -> AsyncGenerator[RemoteBatch]:
        """All batches of the workspace since then; their list begins with the newest."""
        batches = self._client.messages.batches.with_raw_response
        listing = self._call(batches.list(limit=PAGE, timeout=LOOK_SECONDS), LOOK_SECONDS)
        response = await listing
        since += _ahead(response.headers)
        page = await self._call(response.parse(), LOOK_SECONDS)
        seen: set[str | None] = {None}
        while page.data:
            found = [_remote(each, self.endpoint) for each in page.data]
            recent = [each for each in found if not each.created or each.created >= since]
            for remote in recent:
                yield remote
            if not recent or not page.has_next_page():
                return
            if page.last_id in seen:
                # What is on the other pages is not known, so nothing follows from this list.
                raise BatchError(f"the list of {self.endpoint} has no end", Trouble.UNSURE)
            seen.add(page.last_id)
            page = await self._call(page.get_next_page(), LOOK_SECONDS)

    async def results(self, batch: RemoteBatch) -> AsyncGenerator[ItemResult]:
        """Every line of the results that can be read.

        What the line of an answer holds is not validated by anybody; see `read_message`.
        """
        from longjudge.judges.anthropic import read_message

        async for line in self._lines(self._results_url(batch)):
            members = _members(line)
            name = members.get("custom_id")
            if not isinstance(name, str):
                continue
            outcome = _outcome(members.get("result"))
            match getattr(outcome, "type", None):
                case "succeeded":
                    try:
                        message: object = getattr(outcome, "message", None)
                        yield ItemResult(name, read_message(message, self.endpoint))
                    except AskError as error:
                        yield ItemResult(name, reason=error.reason, problem=error.message)
                case "canceled":
                    yield ItemResult(name, reason=GapReason.CANCELLED)
                case "expired":
                    problem = "the provider's queue did not come to it before the batch expired"
                    yield ItemResult(name, reason=GapReason.TIMED_OUT, problem=problem)
                case "errored":
                    reason, said = said_of_item(getattr(outcome, "error", None))
                    yield ItemResult(name, reason=reason, problem=said)
                case _:
                    yield ItemResult(name, problem="the line of the results is none")

    @property
    def _client(self) -> AsyncAnthropic:
        client = self._judge.client
        if client is None:
            raise RuntimeError("the batches were called before they were prepared")
        return client

    def _results_url(self, batch: RemoteBatch) -> str:
        """Where the results are: the key goes to the judge's own address only.

        A gateway may name the address behind it, which is not ours to call.
        """
        base = str(self._client.base_url)
        own = f"/v1/messages/batches/{_checked(batch.id)}/results"
        try:
            url = urljoin(base, batch.results_url)
            named, ours = urlsplit(url), urlsplit(base)
            same = (named.scheme, named.hostname, named.port) == (
                ours.scheme,
                ours.hostname,
                ours.port,
            )
        except ValueError:
            return own
        return url if batch.results_url and same else own

    async def _lines(self, url: str) -> AsyncGenerator[bytes]:
        import httpx2

        response = await self._call(
            self._client.get(
                url,
                cast_to=httpx2.Response,
                options={"headers": {"Accept": "application/binary"}, "timeout": LOOK_SECONDS},
                stream=True,
                stream_cls=None,
            ),
            LOOK_SECONDS,
        )
        waiting = bytearray()
        too_long = False
        try:
            async for piece in response.aiter_bytes():
                *whole, rest = piece.split(b"\n")
                for end in whole:
                    line, waiting = bytes(waiting + end), bytearray()
                    if line and not too_long:
                        yield line
                    too_long = False
                waiting += rest
                if len(waiting) > MAX_LINE:
                    waiting, too_long = bytearray(), True
            if waiting and not too_long:
                yield bytes(waiting)
        except call_errors() as error:
            raise self._trouble(error, sends=False) from error
        finally:
            await response.aclose()

    async def _call(self, call: Awaitable[T], seconds: float, *, sends: bool = False) -> T:
        try:
            async with asyncio.timeout(seconds):
                return await call
        except call_errors() as error:
            raise self._trouble(error, sends=sends) from error

    def _trouble(self, error: Exception, *, sends: bool) -> BatchError:
        asked = to_ask_error(error, self.endpoint, self._judge.secrets)
        kind = _kind(error, asked, sends=sends)
        message = asked.message
        if sends and getattr(error, "status_code", None) == 404:
            message = f"404: {self.endpoint} takes no batches; leave --batch out"
        return BatchError(message, kind, wait=asked.wait, reason=asked.reason)


def _kind(error: Exception, asked: AskError, *, sends: bool) -> Trouble:
    import anthropic
    import httpx2

    if isinstance(error, anthropic.APIStatusError):
        status = error.status_code
        if status == 404:
            return Trouble.END if sends else Trouble.GONE
        if status == 413 or asked.reason is GapReason.TOO_LARGE:
            return Trouble.TOO_LARGE
        if status == 429 and asked.again is not Again.END:
            return Trouble.LATER
        if status >= 500:
            return Trouble.UNSURE
        return Trouble.END if asked.again is Again.END else Trouble.REFUSED
    if asked.again is Again.END:
        return Trouble.END
    if isinstance(error.__cause__, httpx2.ConnectError | httpx2.ConnectTimeout):
        # Nothing was sent.
        return Trouble.LATER
    if asked.again is Again.NEVER:
        return Trouble.REFUSED
    return Trouble.UNSURE


def _checked(provider_id: str) -> str:
    """An id as a part of an address; one that is none was not given by the provider."""
    if not _is_id(provider_id):
        raise BatchError("the batch's id at the provider is none", Trouble.GONE)
    return provider_id


def _is_id(provider_id: str) -> bool:
    return bool(provider_id) and all(char.isalnum() or char in "_-" for char in provider_id)


def _remote(batch: MessageBatch, endpoint: str) -> RemoteBatch:
    """A batch as it was described; nobody has validated that.

    Raises:
        BatchError: it is no description of a batch.
    """
    counts: object = getattr(batch, "request_counts", None)
    tallies = [getattr(counts, name, 0) for name in _COUNTS]
    count = sum(number for number in tallies if isinstance(number, int))
    id: object = getattr(batch, "id", None)
    try:
        status = RemoteStatus(getattr(batch, "processing_status", ""))
    except ValueError:
        status = None
    # What cannot be asked about by its id may be a batch all the same.
    if not isinstance(id, str) or not _is_id(id) or status is None:
        raise BatchError(f"the reply of {endpoint} describes no batch", Trouble.UNSURE)
    url: object = getattr(batch, "results_url", None)
    return RemoteBatch(
        id,
        status,
        count,
        _seconds(getattr(batch, "created_at", None)),
        _seconds(getattr(batch, "ended_at", None)),
        url if isinstance(url, str) else "",
    )


_COUNTS = ("processing", "succeeded", "errored", "canceled", "expired")


def _seconds(moment: object) -> float:
    try:
        if isinstance(moment, str):
            moment = datetime.fromisoformat(moment)
        return moment.timestamp() if isinstance(moment, datetime) else 0.0
    except (ValueError, OverflowError):
        return 0.0


def _ahead(headers: Mapping[str, str]) -> float:
    """Seconds by which the clock of who answered is ahead of ours; 0 where it does not say."""
    try:
        return parsedate_to_datetime(headers.get("date", "")).timestamp() - time.time()
    except (ValueError, TypeError, OverflowError):
        return 0.0


def _members(line: bytes) -> dict[str, object]:
    """What a line of results says; nothing where it is none."""
    try:
        # Unlike the faster reader it takes half of a surrogate pair, as the SDK does.
        told: object = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return cast("dict[str, object]", told) if isinstance(told, dict) else {}


def _outcome(result: object) -> object:
    """The SDK's own reading of a result; None where it has none."""
    from anthropic.types.messages import MessageBatchIndividualResponse

    try:
        told = MessageBatchIndividualResponse.construct(None, custom_id="", result=result)
    except call_errors():
        # It holds names that mean something to the SDK itself, or is too deep for it.
        return None
    return getattr(told, "result", None)
