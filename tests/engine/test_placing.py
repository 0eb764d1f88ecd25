"""Where a judgment puts what a judge found: the named event, a corrected one, or none."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import server as api
from judgments_for_tests import Watched
from longjudge import judge_session
from longjudge.cli.present import result_text
from longjudge.redaction import redact
from sessions_for_tests import events, write_events

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from longjudge import Result
    from server import MessagesServer, Reply, Request

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
TEXTS = [
    "tool_call",
    "I will run the tests before anything else",
    "Deployed it with “care”, and then\n  some more",
    f"the token is {SECRET}, keep it",
    "I will look at the tests later",
]


def session(path: Path) -> Path:
    made = [events(1)[0] | {"input": {"command": "ls"}}]
    made += [{"kind": "assistant_message", "text": text} for text in TEXTS[1:]]
    return write_events(path, made)


def finding(event: int | None, quote: str | None) -> Callable[[Request, int], Reply]:
    def reply(request: Request, _: int) -> Reply:
        found = {"event": event, "quote": quote, "note": "n"}
        return api.flagged(request, {"broken_promise": [found]})

    return reply


async def judged(path: Path, **options: object) -> Result:
    result = await judge_session(path, model="claude-haiku-5-5", chunk_chars=30_000, **options)
    assert result is not None
    return result


Expected = tuple[int | None, bool, str | None, int | None, bool]
"""Event, verified, what stands there, the event that was named, corrected."""

PLACED: list[tuple[int | None, str | None, Expected]] = [
    (2, "run the tests", (1, True, "run the tests", 1, False)),
    (1, "RUN the\ntests before", (1, True, "run the tests before", 0, True)),
    (40, 'with "care", and then some', (2, True, "with “care”, and then\n  some", None, True)),
    (3, "the tests", (1, True, "the tests", 2, True)),
    (5, "the tests", (4, True, "the tests", 4, False)),
    (3, "tests", (2, False, None, 2, False)),
    (40, "never there at all", (None, False, None, None, False)),
    (2, None, (1, False, None, 1, False)),
    (1, redact(TEXTS[3]).text.upper(), (3, True, TEXTS[3], 0, True)),
]


async def test_a_finding_stands_where_its_quote_is(
    served: MessagesServer, tmp_path: Path, store_file: Path
) -> None:
    path = session(tmp_path / "s.jsonl")
    replied = [{"event": event, "quote": quote, "note": "n"} for event, quote, _ in PLACED]
    served.script = lambda request, _: api.flagged(request, {"broken_promise": replied})
    result = await judged(path, store=store_file)
    placed = json.loads(json.dumps(result.to_dict()))["findings"]
    for found, (_, quote, expected) in zip(placed, PLACED, strict=True):
        number, verified, stands, named, corrected = expected
        assert found["event"] == number, quote
        assert (found["verified"], found["corrected"]) == (verified, corrected), quote
        assert found["named_event"] == named, quote
        if stands is None:
            assert found["start"] is found["end"] is None
        else:
            text = "assistant_message\n" + TEXTS[number or 0]
            assert text[found["start"] : found["end"]] == stands
    assert result.verified_share == 6 / 9


async def test_a_quote_in_a_piece_has_its_offsets_in_the_whole_event(
    served: MessagesServer, tmp_path: Path, store_file: Path
) -> None:
    long = " ".join(f"word-{number}" for number in range(400))
    items = [events(1)[0], {"kind": "assistant_message", "text": long}]
    path = write_events(tmp_path / "s.jsonl", items)
    served.script = lambda request, attempt: (
        finding(7, "WORD-300 word-301")(request, attempt)
        if "word-300 word-301" in request.prompt
        else api.clean(request)
    )
    result = await judge_session(
        path, model="claude-haiku-5-5", chunk_chars=1_000, store=store_file
    )
    assert result is not None
    [found] = result.findings
    text = f"assistant_message\n{long}"
    assert found.span == (start := text.index("word-300"), start + len("word-300 word-301"))
    assert (found.event, found.named_event, found.corrected) == (1, None, True)


async def test_kept_verdicts_are_placed_anew_in_a_session_that_has_grown(
    served: MessagesServer, tmp_path: Path, store_file: Path
) -> None:
    path = tmp_path / "s.jsonl"
    first = [events(1)[0], *[{"kind": "assistant_message", "text": "a " * 150}] * 2]
    last = {"kind": "assistant_message", "text": f"I promise to test it. {'b ' * 150}"}
    write_events(path, [*first, last])
    served.script = lambda request, attempt: (
        finding(1, "promise to TEST it")(request, attempt)
        if "I promise" in request.prompt
        else api.clean(request)
    )
    async with Watched(path, store_file) as watched:
        [before] = (await watched.judgment.run()).findings
    asked = len(served.requests)
    # Written by something else meanwhile: the chunk is the same, and stands elsewhere.
    write_events(path, [*first, first[1], last])
    async with Watched(path, store_file) as watched:
        [after] = (await watched.judgment.run()).findings
        assert watched.session.text(4)[slice(*after.span or (0, 0))] == "promise to test it"
    assert len(served.requests) == asked
    assert (before.event, after.event, after.verified) == (3, 4, True)


async def test_the_text_of_a_result_says_how_much_is_verified_and_what_was_corrected(
    served: MessagesServer, tmp_path: Path, store_file: Path
) -> None:
    path = session(tmp_path / "s.jsonl")
    served.script = lambda request, _: api.flagged(
        request,
        {
            "broken_promise": [
                {"event": 1, "quote": "run the tests", "note": "one"},
                {"event": 99, "quote": "Deployed it", "note": "two"},
                {"event": 2, "quote": "never there at all", "note": "three"},
            ]
        },
    )
    text = result_text((await judged(path, store=store_file)).to_dict())
    assert "  quotes 2/3 verified\n" in text
    assert "event 1 · verified · the judge named event 0: one" in text
    assert "event 2 · verified · the judge named no event of the chunk: two" in text
    assert "event 1 · not verified: three" in text
    served.script = api.clean
    clean = result_text((await judged(path, store=tmp_path / "other.sqlite")).to_dict())
    assert "quotes" not in clean
