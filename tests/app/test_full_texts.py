"""The exact prompt and the raw reply of a chunk, over the whole screen."""

from __future__ import annotations

import json

import pytest

from longjudge.judges.offline import OfflineJudge
from longjudge.prompt import build_question
from longjudge_tui.bench.texts import SLOW_CHARS


class BabblingJudge(OfflineJudge):
    """Answers with what is no verdict."""

    async def ask(self, question, *, max_tokens):
        answer = await super().ask(question, max_tokens=max_tokens)
        return type(answer)("no idea \x1b]0;title\x07 [/red]", answer.stop, answer.usage)


@pytest.fixture
def copied(monkeypatch):
    """What was copied."""
    taken = []

    async def copy(self, app, text):
        taken.append(text)
        return "copied to nowhere"

    monkeypatch.setattr("longjudge_tui.clipboard.Clipboard.copy", copy)
    return taken


def ended(desk):
    return lambda: desk.bench.run is not None and desk.bench.run.result is not None


def shown(desk):
    return desk.app.screen.query_one("#full-title").text


async def open_text(desk, way, key, fact):
    await desk.until(lambda: desk.rows("chunks"))
    await (desk.press(key) if way == "key" else desk.click(f"#fact-{fact}"))
    await desk.until(lambda: desk.app.screen.query("#full-title"))
    await desk.until(lambda: "reading" not in shown(desk))


@pytest.mark.parametrize("way", ["key", "mouse"])
async def test_the_prompt_is_what_would_be_sent(open_desk, write_session, copied, way):
    async with open_desk(write_session("a.jsonl", 30)) as desk:
        await desk.until(lambda: desk.rows("chunks"))
        await desk.press("down")
        await open_text(desk, way, "e", "show-prompt")
        question = build_question(desk.bench.session, desk.bench.outlook.plan, 1, desk.bench.rubric)
        await desk.until(lambda: "PROMPT of part 2 · ~" in shown(desk))
        await desk.until(lambda: "tokens" in shown(desk))
        await desk.until(
            lambda: f"{len(question.system) + len(question.user) + 1:,} characters" in shown(desk)
        )
        await desk.sees("── SYSTEM ──")
        await desk.press("y")
        await desk.sees("copied to nowhere")
        assert copied == [f"── SYSTEM ──\n{question.system}\n\n── USER ──\n{question.user}"]
        await desk.press("end")
        await desk.sees(f"</chunk-{question.tag}>")
        await desk.press("escape")
        await desk.sees("CHUNKS")


async def test_what_controls_a_terminal_is_shown_cleaned_and_said(open_desk, tmp_path, copied):
    path = tmp_path / "hostile.json"
    text = "before \x1b]0;title\x07 after ── SYSTEM ── [/red]"
    path.write_text(json.dumps([{"kind": "tool_call", "tool": "Bash", "input": {"c": text}}]))
    async with open_desk(path) as desk:
        await open_text(desk, "key", "e", "show-prompt")
        await desk.until(lambda: "shown cleaned" in shown(desk))
        await desk.press("end")
        await desk.sees("before ␛]0;title␇ after")
        await desk.until(lambda: "\x1b" not in desk.text)
        await desk.press("y")
        await desk.until(lambda: copied)
        assert "\x1b]0;title\x07" in copied[0]


async def test_a_huge_prompt_is_shown_by_the_page(open_desk, tmp_path):
    path = tmp_path / "huge.json"
    filler = "line of text\n" * (2 * SLOW_CHARS // 13)
    path.write_text(json.dumps([{"kind": "tool_call", "tool": "Bash", "input": {"c": filler}}]))
    async with open_desk(path, chunk_chars=10_000_000) as desk:
        await open_text(desk, "key", "e", "show-prompt")
        await desk.until(lambda: desk.app.screen.query_one("#full-text").row_count < 1_000)
        await desk.press("end")
        await desk.sees("characters after: enter shows more")


@pytest.mark.parametrize("way", ["key", "mouse"])
async def test_the_reply_is_that_of_this_run_and_later_the_kept_one(
    open_desk, write_session, copied, way
):
    path = write_session("a.jsonl", 6, (0,))
    async with open_desk(path) as desk:
        await open_text(desk, way, "v", "show-reply")
        await desk.until(lambda: "no reply yet" in shown(desk))
        await desk.press("y")
        await desk.sees("nothing to copy")
        await desk.press("escape", "r")
        await desk.until(ended(desk))
        await open_text(desk, way, "v", "show-reply")
        await desk.until(lambda: "REPLY about part 1 · of this run" in shown(desk))
        await desk.sees("── events 1-2 in the reply are events 0-1 of the session: take 1 away ──")
        await desk.press("y")
        await desk.until(lambda: copied)
        assert json.loads(copied[0])["criteria"]["destructive_action"]["problem"] is True
    async with open_desk(path) as desk:
        await open_text(desk, way, "v", "show-reply")
        await desk.until(lambda: "REPLY about part 1 · kept" in shown(desk))
        await desk.press("y")
        await desk.until(lambda: len(copied) == 2)
        assert copied[1] == copied[0]


@pytest.mark.parametrize(
    ("chars", "part", "words"),
    [
        (1000, 3, "── events 1-2 in the reply are events 4-5 of the session: add 3 ──"),
        (400, 3, "── event 1 in the reply is event 2 of the session ──"),
        (200, 2, "── event 1 in the reply is event 0 of the session (piece 2 of 2) ──"),
    ],
)
async def test_above_a_reply_stands_how_its_numbers_map_and_a_copy_leaves_it_out(
    open_desk, write_session, copied, finding_judge, chars, part, words
):
    judge = finding_judge((1, "ls", "a note"))
    async with open_desk(write_session("a.jsonl", 6), judge=judge, chunk_chars=chars) as desk:
        await desk.until(lambda: desk.rows("chunks"))
        await desk.press("r")
        await desk.until(ended(desk))
        await desk.press("home", *["down"] * (part - 1))
        await open_text(desk, "key", "v", "")
        await desk.sees(words)
        await desk.press("y")
        await desk.until(lambda: copied)
        assert json.loads(copied[0])


async def test_the_last_reply_of_a_gap_is_shown_cleaned(open_desk, write_session):
    async with open_desk(write_session("a.jsonl", 6), judge=BabblingJudge()) as desk:
        await desk.until(lambda: desk.rows("chunks"))
        await desk.press("r")
        await desk.until(ended(desk))
        await open_text(desk, "key", "v", "show-reply")
        await desk.until(lambda: "the last one of a gap: unparsable" in shown(desk))
        await desk.until(lambda: "shown cleaned" in shown(desk))
        await desk.sees("── no verdict: the reply holds no JSON object ──")
        await desk.sees("no idea ␛]0;title␇ [/red]")


async def test_the_reply_of_a_gap_is_read_again_when_its_session_is_opened_again(
    open_desk, write_session, copied
):
    path = write_session("a.jsonl", 6)
    async with open_desk(path, judge=BabblingJudge()) as desk:
        await desk.until(lambda: desk.rows("chunks"))
        await desk.press("r")
        await desk.until(ended(desk))
    async with open_desk(path) as desk:
        await desk.until(lambda: desk.rows("chunks"))
        await desk.press("down")
        await open_text(desk, "key", "v", "show-reply")
        await desk.until(
            lambda: (
                "REPLY about part 2 · the last one of a gap: unparsable · judged 20" in shown(desk)
            )
        )
        await desk.sees("── no verdict: the reply holds no JSON object ──")
        await desk.sees("no idea ␛]0;title␇ [/red]")
        await desk.press("y")
        await desk.until(lambda: copied)
        assert copied == ["no idea \x1b]0;title\x07 [/red]"]
    async with open_desk(path, chunk_chars=1001) as desk:
        await open_text(desk, "key", "v", "show-reply")
        await desk.until(lambda: "of a gap" in shown(desk))
    async with open_desk(path, chunk_chars=500) as desk:
        await open_text(desk, "key", "v", "show-reply")
        await desk.until(lambda: "no reply yet" in shown(desk))


async def test_a_prompt_of_a_session_that_changed_says_so(open_desk, write_session):
    path = write_session("a.jsonl", 30)
    async with open_desk(path) as desk:
        await desk.until(lambda: desk.rows("chunks"))
        path.write_text(path.read_text().replace("ls", "pwd"))
        await desk.press("end")
        await open_text(desk, "key", "e", "show-prompt")
        await desk.until(lambda: "cannot be built" in shown(desk))
        await desk.sees("the file changed")
