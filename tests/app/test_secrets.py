"""Secrets are counted before a run, stand out in the event, and are in nothing that is copied."""

from __future__ import annotations

import json
import threading

import pytest

from longjudge.judges.anthropic import AnthropicJudge
from longjudge.redaction import redact
from longjudge.sessions import model
from longjudge_tui.bench import secrets as counting
from longjudge_tui.bench.texts import SLOW_TO_REDACT_CHARS
from secrets_for_tests import planted

PLANTED = planted()
TOKEN = next(each for each in PLANTED if each.kind == "github-token").parts[0]
PASSWORD = next(each for each in PLANTED if each.kind == "password")


@pytest.fixture(autouse=True)
def _at_once(monkeypatch):
    monkeypatch.setattr(counting, "STANDING_SECONDS", 0.0)


@pytest.fixture
def session_file(tmp_path):
    rows = [
        {"kind": "user_message", "text": f"Push with {TOKEN} now"},
        {"kind": "tool_call", "tool": "Bash", "input": {"command": f"git push {TOKEN}"}},
        {"kind": "tool_call", "tool": "Bash", "input": {"command": PASSWORD.text}},
    ]
    path = tmp_path / "session.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


@pytest.fixture
def copied(monkeypatch):
    """What was copied."""
    texts = []

    async def copy(self, app, text, otherwise):
        texts.append(text)
        return "copied"

    monkeypatch.setattr("longjudge_tui.clipboard.Clipboard.copy", copy)
    return texts


def reversed_text(desk) -> str:
    """The text of the event that stands out by reversed colours, which any terminal can show."""
    detail = desk.app.screen.query_one("#detail")
    return "".join(
        segment.text
        for y in range(min(detail.row_count, detail.size.height))
        for segment in detail.render_line(y)
        if segment.style and segment.style.reverse
    )


def has_secret(text: str) -> bool:
    return TOKEN in text or PASSWORD.parts[0] in text


async def test_secrets_are_counted_before_a_run_and_stand_out_in_their_event(
    open_desk, session_file, copied, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    async with open_desk(session_file, size=(150, 40)) as desk:
        await desk.sees("3 secrets replaced (2 github-token, 1 password)")
        await desk.until(lambda: "NOT REDACTED" not in desk.text)
        await desk.sees("EVENT 0 · 1 secret replaced")
        # It is the user's own file: the original is shown, and what is not sent stands out.
        await desk.sees(f"Push with {TOKEN} now")
        await desk.until(lambda: TOKEN in reversed_text(desk))
        await desk.press("y")
        await desk.until(lambda: len(copied) == 1)
        await desk.press("Y")
        await desk.until(lambda: len(copied) == 2)
        await desk.press("S")
        await desk.until(lambda: list(tmp_path.glob("**/*event-0*.md")) or "saved" in desk.text)
        assert not any(map(has_secret, copied))
        assert all("[redacted github-token " in each for each in copied)
        await desk.press("z")
        await desk.sees("AROUND EVENT 0 · 3 secrets replaced")


async def test_the_prompt_shows_what_is_sent(open_desk, session_file):
    async with open_desk(session_file, size=(150, 40)) as desk:
        await desk.sees("3 secrets replaced")
        await desk.press("e")
        await desk.sees("PROMPT of part 1")
        await desk.sees("── in this part 3 secrets replaced (2 github-token, 1 password) · in all")
        await desk.press("end")
        await desk.sees("Push with [redacted github-token ")


@pytest.mark.parametrize("width", [80, 120])
async def test_where_not_every_kind_has_room_their_number_has(open_desk, tmp_path, width):
    path = tmp_path / "session.jsonl"
    rows = [{"kind": "tool_call", "tool": "Bash", "input": {"c": each.text}} for each in PLANTED]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    async with open_desk(path, size=(width, 24)) as desk:
        await desk.until(lambda: "secrets replaced" in desk.title("live"))
        count = sum(desk.bench.secrets.counts.values())
        await desk.sees(f"{count} secrets replaced")
        await desk.until(lambda: ("more kinds)" in desk.text) == (width == 120))


async def test_the_question_at_a_price_says_what_is_replaced(open_desk, session_file, monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test")
    other = session_file.with_name("other.jsonl")
    other.write_text(json.dumps({"kind": "tool_call", "tool": "Bash", "input": {"c": "ls"}}))
    async with open_desk(session_file, other, judge=AnthropicJudge("claude-haiku-5-5")) as desk:
        await desk.sees("2 sessions")
        await desk.press("A", "r")
        await desk.sees("Judge at this price?")
        await desk.sees("3 secrets replaced (2 github-token, 1 password)")
        await desk.press("n")
        await desk.until(lambda: "Judge at this price?" not in desk.text)
        assert not desk.shelf.offers.secrets.counting


async def test_no_frame_waits_for_the_secrets_of_a_long_text(open_desk, tmp_path, monkeypatch):
    path = tmp_path / "session.jsonl"
    filler = "line of text\n" * (SLOW_TO_REDACT_CHARS // 10)
    row = {"kind": "tool_call", "tool": "Bash", "input": {"command": f"push {TOKEN}\n{filler}"}}
    path.write_text(json.dumps(row), encoding="utf-8")
    readers = []

    def redact_one(text):
        if len(text) >= SLOW_TO_REDACT_CHARS:
            readers.append(threading.current_thread())
        return redact(text)

    monkeypatch.setattr(model, "redact", redact_one)
    async with open_desk(path, chunk_chars=1_000_000) as desk:
        await desk.sees("1 secret replaced")
        await desk.until(lambda: reversed_text(desk) == TOKEN)
    assert readers
    assert threading.main_thread() not in readers


async def test_without_redaction_every_screen_says_so_and_copies_are_as_it_is(
    open_desk, session_file, copied
):
    async with open_desk(session_file, size=(150, 40), redact=False) as desk:
        await desk.sees("NOT REDACTED")
        await desk.sees("· not redacted")
        await desk.until(lambda: "secret replaced" not in desk.text)
        await desk.press("y")
        await desk.until(lambda: copied)
        assert TOKEN in copied[0]
        await desk.press("question_mark")
        await desk.sees("NOT REDACTED")
    # A long name leaves no room for the keys of a text, and takes none from this.
    unnamed = AnthropicJudge("m" * 40)
    async with open_desk(session_file, judge=unnamed, size=(80, 24), redact=False) as desk:
        await desk.until(lambda: desk.rows("chunks"))
        await desk.press("e")
        await desk.sees("── not redacted: secrets stay in what is sent ──")
        await desk.sees("· NOT REDACTED")
    other = session_file.with_name("other.jsonl")
    other.write_bytes(session_file.read_bytes())
    async with open_desk(session_file, other, redact=False) as desk:
        await desk.sees("2 sessions")
        await desk.sees("NOT REDACTED")
