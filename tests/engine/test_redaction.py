"""No secret leaves the machine, in a question or in what is printed; and it is said what was."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from commands_for_tests import longjudge
from longjudge.api import judge_session
from secrets_for_tests import planted
from server import MessagesServer, flagged

if TYPE_CHECKING:
    from pathlib import Path

    from server import Reply, Request

PLANTED = planted()
TOKEN = next(each for each in PLANTED if each.kind == "github-token").parts[0]
HEADER = next(each for each in PLANTED if each.setting == "curl" and each.kind == "password")


@pytest.fixture(autouse=True)
def store_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    path = tmp_path / "store.sqlite"
    monkeypatch.setenv("LONGJUDGE_STORE", str(path))
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-test")
    return path


def write(path: Path, events: list[dict[str, Any]]) -> Path:
    path.write_text("\n".join(map(json.dumps, events)), encoding="utf-8")
    return path


def planted_events() -> list[dict[str, Any]]:
    """Every planted secret: in a call, whose line is shown with its result, or in a result."""
    events: list[dict[str, Any]] = [{"kind": "user_message", "text": f"Use {TOKEN}, please."}]
    for number, each in enumerate(PLANTED):
        call = {"kind": "tool_call", "tool": "Bash", "call_id": str(number)}
        in_call = number % 2 == 0
        events.append(call | {"input": {"command": each.text if in_call else "cat it"}})
        # Where in a piece each secret begins is another place every time.
        output = "x" * (number * 37 % 300)
        if not in_call:
            output = f"{'y ' * (number * 31 % 200)}{each.text}"
        events.append({"kind": "tool_result", "call_id": str(number), "output": output})
    events.append({"kind": "tool_call", "tool": TOKEN, "input": "named by mistake"})
    return events


def leaks(text: str) -> list[str]:
    """The kinds of which something is seen, as it is or as JSON has it."""
    return [
        f"{each.kind}, {each.setting}"
        for each in PLANTED
        if any(part in text or json.dumps(part)[1:-1] in text for part in each.parts)
    ]


def telling(request: Request, attempt: int) -> Reply:
    """A judge that repeats a line of what it read, one with a placeholder where there is one."""
    lines = request.prompt.partition("event 1]]\n")[2].splitlines()
    line = next((each for each in lines if "[redacted " in each), lines[0])
    finding = {"event": 1, "quote": line[:200], "note": f"it says {line[:200]}"}
    return flagged(request, {"destructive_action": [finding]})


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch):
    with MessagesServer(telling) as running:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", running.base_url)
        yield running


@pytest.fixture
def session_file(tmp_path: Path) -> Path:
    return write(
        tmp_path / "session.jsonl",
        [
            {"kind": "user_message", "text": f"Push with {TOKEN}"},
            {"kind": "tool_call", "tool": "Bash", "input": {"command": "cat notes"}},
            {"kind": "tool_call", "tool": "Bash", "input": {"command": HEADER.text}},
        ],
    )


@pytest.mark.parametrize("chunk_chars", [200, 5_000], ids=["cut into pieces", "many in a chunk"])
async def test_no_planted_secret_is_sent_or_told(
    tmp_path: Path, server: MessagesServer, chunk_chars: int
) -> None:
    path = write(tmp_path / "session.jsonl", planted_events())
    result = await judge_session(path, model="claude-haiku-5-5", chunk_chars=chunk_chars)
    assert result is not None
    assert result.gaps == {}
    assert len(server.requests) > 3
    sent = "\n".join(json.dumps(each.body, ensure_ascii=False) for each in server.requests)
    assert leaks(sent) == []
    assert "[redacted github-token " in sent
    assert leaks(json.dumps(result.to_dict(), ensure_ascii=False)) == []
    shown = [finding for finding in result.findings if "[redacted " in (finding.quote or "")]
    assert shown
    assert [finding.part for finding in shown if not finding.verified] == []


@pytest.mark.usefixtures("server")
def test_what_is_printed_has_no_secret_and_says_how_many_there_are(session_file: Path) -> None:
    judged = longjudge("judge", session_file)
    assert "; 2 secrets replaced (1 github-token, 1 password)" in judged.err
    [result] = longjudge("results", "--json").objects
    printed = [judged.out, judged.err, json.dumps(result)]
    printed += [
        longjudge("results", result["id"], "--format", each).out for each in ("text", "md", "json")
    ]
    assert [leaks(each) for each in printed] == [[]] * len(printed)
    assert result["session"]["title"].startswith("Push with [redacted github-token ")
    assert "redact" not in result["settings"]


def test_without_redaction_the_text_is_sent_and_printed_as_it_is(
    session_file: Path, server: MessagesServer
) -> None:
    judged = longjudge("judge", "--no-redact", "--json", session_file)
    assert "; not redacted" in judged.err
    assert TOKEN in server.requests[0].prompt
    [result] = judged.objects
    assert result["settings"]["redact"] is False
    assert TOKEN in result["session"]["title"]
    whole = longjudge("results", result["id"], "--json", "--no-redact").out
    assert TOKEN in whole
    # What was recorded with its secrets is printed without them all the same.
    assert leaks(longjudge("results", result["id"], "--format", "md").out) == []
    assert leaks(longjudge("results", "--json").out) == []


def test_verdicts_about_text_with_its_secrets_are_not_those_about_redacted_text(
    session_file: Path, server: MessagesServer
) -> None:
    longjudge("judge", "--no-redact", session_file)
    [why] = longjudge("cache", "why", "--json", session_file).objects
    assert why == {"part": 1, "kept": False, "differs": ["redactor"]}
    [kept] = longjudge("cache", "why", "--json", "--no-redact", session_file).objects
    assert kept["kept"] is True
    longjudge("judge", session_file)
    assert len(server.requests) == 2
    longjudge("judge", session_file)
    longjudge("judge", "--no-redact", session_file)
    assert len(server.requests) == 2


def test_the_counts_are_of_what_is_to_ask(session_file: Path, server: MessagesServer) -> None:
    expected = {"github-token": 1, "password": 1}
    [plan] = longjudge("chunks", "--json", session_file).objects
    assert plan["totals"]["redacted"] == expected
    assert leaks(json.dumps(plan)) == []
    one, total = longjudge("estimate", "--json", session_file).objects
    assert one["redacted"] == total["redacted"] == expected
    assert "; 2 secrets replaced" in longjudge("chunks", session_file).out
    [plan] = longjudge("chunks", "--json", "--no-redact", session_file).objects
    assert plan["totals"]["redacted"] is None
    longjudge("judge", session_file)
    [plan] = longjudge("chunks", "--json", session_file).objects
    assert plan["totals"]["redacted"] == {}
    # Nothing is asked, so nobody has looked whether there are any.
    assert "secrets" not in longjudge("chunks", session_file).out
    assert server.requests


def test_a_secret_over_the_edge_of_two_chunks_is_counted_once(tmp_path: Path) -> None:
    text = "z" * 150 + " " + TOKEN + " " + "z" * 400
    path = write(tmp_path / "long.jsonl", [{"kind": "user_message", "text": text}])
    [plan] = longjudge("chunks", "--json", "--model", "offline", "--chunk-chars", 200, path).objects
    assert len(plan["chunks"]) > 2
    assert plan["totals"]["redacted"] == {"github-token": 1}


async def test_judging_in_python_redacts_unless_it_is_told_not_to(server: MessagesServer) -> None:
    events = [
        {"kind": "user_message", "text": f"Use {TOKEN}"},
        {"kind": "tool_call", "tool": "Bash", "input": "cat it"},
    ]
    assert await judge_session(events, model="claude-haiku-5-5")
    assert await judge_session(events, model="claude-haiku-5-5", redact=False)
    first, second = (each.prompt for each in server.requests)
    assert TOKEN not in first
    assert TOKEN in second
