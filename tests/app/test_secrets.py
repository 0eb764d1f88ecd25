"""Secrets are counted before a run, stand out in the event, and are in nothing that is copied."""

from __future__ import annotations

import json

import pytest

from longjudge_tui.bench import secrets as counting
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
        assert "NOT REDACTED" not in desk.text
        await desk.sees("EVENT 0 · 1 secret replaced")
        # It is the user's own file: the original is shown, and what is not sent stands out.
        await desk.sees(f"Push with {TOKEN} now")
        assert TOKEN in reversed_text(desk)
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
        await desk.sees("Push with [redacted github-token ")


async def test_without_redaction_every_screen_says_so_and_copies_are_as_it_is(
    open_desk, session_file, copied
):
    async with open_desk(session_file, size=(150, 40), redact=False) as desk:
        await desk.sees("NOT REDACTED")
        await desk.sees("· not redacted")
        assert "secret replaced" not in desk.text
        await desk.press("y")
        await desk.until(lambda: copied)
        assert TOKEN in copied[0]
        await desk.press("question_mark")
        await desk.sees("NOT REDACTED")
    other = session_file.with_name("other.jsonl")
    other.write_bytes(session_file.read_bytes())
    async with open_desk(session_file, other, redact=False) as desk:
        await desk.sees("2 sessions")
        await desk.sees("NOT REDACTED")
