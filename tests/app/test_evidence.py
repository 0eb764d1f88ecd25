"""Working with what was found: going through it, looking closer, marking, copying, saving."""

from __future__ import annotations

import base64
import json
import re
import sqlite3
from pathlib import Path

import pytest

from longjudge_tui.widgets.line_list import LineList

FLAGGED = (2, 5, 8)


@pytest.fixture(autouse=True)
def _no_display(monkeypatch):
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME", "TMUX"):
        monkeypatch.delenv(name, raising=False)


async def judged(desk, found=3):
    """Run, and wait for everything that is found."""
    await desk.until(lambda: desk.rows("chunks"), "a plan")
    await desk.press("r")
    await desk.until(lambda: desk.bench.run and desk.bench.run.result, "a result")
    await desk.until(lambda: len(findings(desk).all_findings) == found, "all findings")


def findings(desk):
    return desk.app.screen.query_one("#findings")


def detail(desk):
    return desk.app.screen.query_one("#detail-panel")


def facts(desk):
    """What is said about the finding above its text, its lines as one."""
    widget = desk.app.screen.query_one("#detail-facts")
    if not widget.display:
        return ""
    area = widget.content_region
    rows = desk.lines[area.y : area.bottom]
    return " ".join(row[area.x : area.right].strip() for row in rows)


async def click(desk, line, word):
    """Click on `[word …]` in a line."""
    widget = desk.app.screen.query_one(line)
    y = widget.content_region.y
    match = re.search(rf"\[{word}[^\]]*\]", desk.lines[y][widget.content_region.x :])
    assert match, f"no [{word}] in {desk.lines[y]!r}"
    left = widget.content_region.x - widget.region.x
    await desk.pilot.click(line, offset=(left + match.start() + 1, 0))


def sent(monkeypatch, desk):
    """What is copied, as OSC 52 hands it to the terminal."""
    wire: list[str] = []
    monkeypatch.setattr(desk.app._driver, "write", wire.append)

    def texts():
        found = re.findall(r"\x1b\]52;c;([A-Za-z0-9+/=]*)\x07", "".join(wire))
        return [base64.b64decode(each).decode() for each in found]

    return texts


@pytest.mark.parametrize("size", [(80, 24), pytest.param((120, 40), marks=pytest.mark.thorough)])
async def test_two_keys_go_through_all_findings_from_anywhere_and_around(
    open_desk, write_session, size
):
    async with open_desk(write_session("a.jsonl", 10, FLAGGED), size=size) as desk:
        await judged(desk)
        assert desk.app.focused.id == "chunks"
        for place, event in [(1, 2), (2, 5), (3, 8), (1, 2)]:
            await desk.press("full_stop")
            await desk.sees(f"finding {place} of 3")
            await desk.until(
                lambda event=event: desk.title("detail-title").startswith(f"EVENT {event} ")
            )
            await desk.sees("quote verified")
            await desk.until(lambda: desk.highlighted().startswith("git push --force"))
            assert findings(desk).here.event == event
            # Enter stays there, and a copy means it.
            assert desk.app.focused.id == "findings"
            await desk.press("enter")
            assert desk.title("detail-title").startswith(f"EVENT {event} ")
        await desk.press("tab", "comma")
        await desk.sees("finding 3 of 3")
        await desk.until(
            lambda: (
                desk.bench.records.locate(findings(desk).here).position
                == desk.app.screen.chunks.cursor
            )
        )


async def test_where_nothing_is_found_the_keys_say_so(open_desk, write_session):
    async with open_desk(write_session("a.jsonl", 4)) as desk:
        await judged(desk, 0)
        await desk.press("full_stop")
        await desk.sees("no finding yet")
        await desk.press("g")
        await desk.sees("no finding here to mark")


async def test_a_filter_and_an_order_by_key_and_by_mouse(open_desk, write_session, finding_judge):
    judge = finding_judge((1, "git push", "one"), (1, "nowhere", "two"))
    async with open_desk(
        write_session("a.jsonl", 6, range(6)), judge=judge, size=(120, 40)
    ) as desk:
        await judged(desk, 2 * len(desk.bench.outlook.plan))
        total = len(findings(desk).all_findings)
        half = total // 2
        await desk.sees(f"[filter: all, f: unverified {half}] [order: part]")
        await desk.press("f")
        await desk.sees(f"FINDINGS {half} of {total}")
        await desk.sees(f"[filter: unverified, f: verified {half}]")
        await desk.until(lambda: all("? unverified" in row for row in desk.rows("findings")))
        await click(desk, "#tabs", "filter")
        await desk.sees(f"[filter: verified, f: not marked {total}]")
        await desk.until(lambda: all("✓" in row for row in desk.rows("findings")))
        await desk.press("o")
        await desk.until(lambda: f"── Destructive action · {half} ─" in desk.rows("findings")[0])
        await desk.press("f", "f")
        await desk.sees(f"[filter: all, f: unverified {half}]")
        await desk.press("o", "o")
        await click(desk, "#tabs", "order")
        await desk.press("o")
        await desk.until(lambda: findings(desk).order.value == "unverified")
        seen = ["? unverified" in row for row in desk.rows("findings")]
        assert seen == sorted(seen, reverse=True)
        assert True in seen


async def test_filter_and_order_outlive_a_run(open_desk, write_session):
    async with open_desk(write_session("a.jsonl", 10, FLAGGED)) as desk:
        await judged(desk)
        await desk.press("f", "o", "full_stop", "full_stop")
        here = findings(desk).here
        await judged(desk)
        await desk.sees("[filter: verified, f: not marked 3]")
        await desk.until(lambda: "── Destructive action · 3 ─" in desk.rows("findings")[0])
        await desk.until(lambda: findings(desk).here == here)


async def test_running_again_never_empties_the_list_of_what_stays(
    open_desk, write_session, monkeypatch
):
    async with open_desk(write_session("a.jsonl", 10, FLAGGED)) as desk:
        await judged(desk)
        findings(desk).move_to(2)
        counts: list[int] = []
        shown = LineList.reset_rows

        def watched(lines, rows, *rest, **others):
            if lines.id == "findings":
                counts.append(rows)
            shown(lines, rows, *rest, **others)

        monkeypatch.setattr(LineList, "reset_rows", watched)
        await judged(desk)
        assert counts == []
        await desk.until(lambda: findings(desk).cursor == 2)


async def test_a_heading_leads_nowhere_and_the_keys_pass_over_it(open_desk, write_session):
    async with open_desk(write_session("a.jsonl", 10, FLAGGED)) as desk:
        await judged(desk)
        await desk.press("o", "full_stop")
        await desk.sees("finding 1 of 3")
        findings(desk).move_to(0)
        before = desk.title("detail-title")
        findings(desk).action_open()
        await desk.pilot.pause()
        await desk.until(lambda: desk.title("detail-title") == before)
        await desk.press("comma")
        await desk.sees("finding 3 of 3")


async def test_the_neighbours_of_an_event_are_shown_around_it_and_again_it_alone(
    open_desk, write_session
):
    async with open_desk(write_session("a.jsonl", 10, FLAGGED)) as desk:
        await judged(desk)
        await desk.press("full_stop", "full_stop", "z")
        await desk.sees("AROUND EVENT 5 · events 1-9")
        await desk.sees("▶▶ event 5 · tool_call Bash · line 6 ──")
        await desk.until(lambda: desk.highlighted() == "git push --force origin topic-5")
        view = detail(desk).view
        above = view.cursor - view.scroll_offset.y
        assert 3 < above < view.size.height - 3, "the quote is in the middle"
        await click(desk, "#detail-actions", "back")
        await desk.sees("EVENT 5 · tool_call Bash")
        await click(desk, "#detail-actions", "context")
        await desk.sees("AROUND EVENT 5")
        await desk.press("escape")
        await desk.sees("EVENT 5 · tool_call Bash")


async def test_the_raw_record_is_shown_as_it_stands_in_the_file(open_desk, write_session):
    path = write_session("a.jsonl", 10, FLAGGED)
    async with open_desk(path) as desk:
        await judged(desk)
        await desk.press("full_stop", "i")
        await desk.sees("RAW line 3 of a.jsonl · event 2")
        await desk.sees('"kind": "tool_call",')
        await desk.until(lambda: desk.highlighted().startswith("git push --force origin topic-2"))
        await desk.press("i")
        await desk.sees("EVENT 2 · tool_call Bash")
        await click(desk, "#detail-actions", "raw")
        await desk.sees("RAW line 3 of a.jsonl")
        await desk.press("escape")
        await desk.sees("EVENT 2 · tool_call Bash")


async def test_a_wrong_event_is_corrected_and_said_wherever_the_finding_is(
    open_desk, write_session, finding_judge, monkeypatch
):
    judge = finding_judge((5, "GIT push\n--force origin  topic-2", "one"), (1, "not there", "two"))
    path = write_session("a.jsonl", 4, (2,), padding=20)
    async with open_desk(path, judge=judge, chunk_chars=10_000) as desk:
        await judged(desk, 2)
        await desk.press("full_stop")
        await desk.until(lambda: desk.title("detail-title").startswith("EVENT 2 "))
        await desk.until(
            lambda: "✓ quote verified · the judge named no event of the chunk" in facts(desk)
        )
        await desk.until(lambda: desk.highlighted() == "git push --force origin topic-2")
        await desk.press("i")
        await desk.sees("RAW line 3 of a.jsonl")
        await desk.until(lambda: desk.highlighted() == "git push --force origin topic-2")
        await desk.press("i")
        await desk.until(lambda: "the judge named no event" in desk.rows("findings")[0])
        await desk.until(lambda: "2 findings, quotes 1/2 verified" in desk.title("live"))
        texts = sent(monkeypatch, desk)
        await desk.press("y")
        await desk.until(texts)
        assert "verified, found in the event; the judge named no event of the chunk" in texts()[0]


async def test_a_file_that_changed_leaves_nothing_verified_until_it_is_read_again(
    open_desk, write_session, monkeypatch
):
    # So many that the one in the middle is not at hand when all are judged.
    path = write_session("a.jsonl", 300, (2, 70, 298))
    async with open_desk(path, chunk_chars=5_000) as desk:
        await judged(desk)
        kept = path.read_text(encoding="utf-8")
        changed = kept.replace('topic-2"', 'topic-x"').replace("topic-70", "topic-y")
        # Each a chunk of its own, so that the last one holds what it held.
        new = [{"kind": "user_message", "text": f"{n} {'z' * 4_900}"} for n in (1, 2)]
        path.write_text("\n".join([*map(json.dumps, new), changed]), encoding="utf-8")
        texts = sent(monkeypatch, desk)
        await desk.press("full_stop", "full_stop")
        await desk.until(lambda: "? quote cannot be checked" in facts(desk))
        await desk.until(lambda: "quote verified" not in desk.text)
        await desk.press("y")
        await desk.until(texts)
        assert "not verified, the text of the event cannot be read any more" in texts()[0]
        await desk.press("ctrl+r")
        await desk.until(lambda: len(desk.bench.session.index) == 302)
        await desk.until(lambda: desk.bench.preview and desk.bench.preview.done)
        await desk.until(lambda: len(findings(desk).all_findings) == 1)
        [found] = findings(desk).all_findings
        assert (found.event, found.quote) == (300, "git push --force origin topic-298")
        assert desk.bench.session.text(300)[slice(*found.span)] == found.quote


async def test_a_raw_record_of_a_file_that_is_gone_says_so(open_desk, write_session, monkeypatch):
    path = write_session("a.jsonl", 10, FLAGGED)
    async with open_desk(path) as desk:
        await judged(desk)
        await desk.press("full_stop")
        desk.bench.session.source.close()
        await desk.press("i")
        await desk.sees("cannot be read")


@pytest.mark.parametrize(("key", "word"), [("g", "✔ right"), ("w", "✘ wrong")])
@pytest.mark.parametrize("size", [(80, 24), pytest.param((120, 40), marks=pytest.mark.thorough)])
async def test_a_mark_shows_in_list_pane_and_chunk_and_the_same_key_takes_it_away(
    open_desk, write_session, size, key, word
):
    async with open_desk(write_session("a.jsonl", 10, FLAGGED), size=size) as desk:
        await judged(desk)
        await desk.press("full_stop", key)
        in_list = word if size[0] == 120 else f"{word[0]} 2 "
        await desk.until(lambda: in_list in desk.rows("findings")[0], "the mark in the list")
        await desk.until(lambda: word in facts(desk), "the mark above the text")
        if size[0] == 120:
            chunk = desk.app.screen.chunks.cursor
            await desk.until(lambda: word in desk.rows("chunks")[chunk], "the mark in the chunk")
        await desk.press(key)
        await desk.until(lambda: word not in desk.text, "no mark")


async def test_marks_by_mouse(open_desk, write_session):
    async with open_desk(write_session("a.jsonl", 10, FLAGGED)) as desk:
        await judged(desk)
        await desk.press("full_stop")
        await desk.sees("finding 1 of 3")
        await click(desk, "#detail-actions", "wrong")
        await desk.until(lambda: "✘ wrong" in desk.rows("findings")[0])
        await click(desk, "#detail-actions", "right")
        await desk.until(lambda: "✔ right" in desk.rows("findings")[0])
        await desk.until(lambda: "✘ wrong" not in desk.text)


async def test_the_finding_under_the_cursor_is_shown_and_a_click_beside_it_means_it(
    open_desk, write_session
):
    async with open_desk(write_session("a.jsonl", 10, FLAGGED)) as desk:
        await judged(desk)
        await desk.press("full_stop", "down")
        await desk.until(lambda: desk.app.focused is findings(desk))
        await desk.sees("finding 2 of 3")
        await desk.until(lambda: desk.title("detail-title").startswith("EVENT 5 "))
        await click(desk, "#detail-actions", "right")
        await desk.until(lambda: "✔ right" in desk.rows("findings")[1])
        await desk.until(lambda: "✔ right" not in desk.rows("findings")[0])
        # A hit is an event like any other: what was found in it stands above it, and is meant.
        await desk.press("slash", *"topic-8", "enter")
        await desk.sees("finding 3 of 3")
        await desk.until(lambda: "quote verified" in facts(desk))
        await desk.press("w")
        await desk.until(lambda: "✘ wrong" in desk.rows("findings")[2])
        await desk.press("full_stop")
        await desk.sees("finding 1 of 3")
        await desk.press("escape")
        await desk.sees("finding 2 of 3")
        await desk.press("1")
        await desk.until(lambda: findings(desk).here.event == 5)
        await desk.press("w")
        await desk.until(lambda: "✘ wrong" in desk.rows("findings")[1])
        # With the keys in the list, they still mean what is shown.
        await desk.press("shift+tab", "up", "1", "w")
        await desk.sees("no finding here to mark")
        await desk.press("full_stop")
        await desk.sees("finding 2 of 3")
        await desk.press("shift+tab", "up", "comma")
        await desk.sees("finding 1 of 3")
        await desk.press("shift+tab", "down", "up")
        await desk.sees("finding 1 of 3")


async def test_in_the_list_the_finding_under_the_cursor_is_marked(open_desk, write_session):
    async with open_desk(write_session("a.jsonl", 10, FLAGGED)) as desk:
        await judged(desk)
        await desk.press("tab", "tab", "down", "w")
        await desk.until(lambda: "✘ wrong" in desk.rows("findings")[1])


async def test_what_a_mark_takes_out_of_the_filter_makes_room_for_the_next(
    open_desk, write_session
):
    async with open_desk(write_session("a.jsonl", 10, FLAGGED)) as desk:
        await judged(desk)
        await desk.press("f", "f", "full_stop")
        await desk.sees("[filter: not marked, f: all 3]")
        await desk.sees("finding 1 of 3")
        await desk.press("g")
        await desk.sees("FINDINGS 2 of 3")
        await desk.press("full_stop")
        await desk.sees("finding 1 of 2")
        await desk.until(lambda: findings(desk).here.event == 5)


async def test_marks_outlive_other_chunks_other_versions_of_the_rubric_and_the_program(
    open_desk, write_session
):
    path = write_session("a.jsonl", 10, FLAGGED)

    async def shows_them(desk):
        await judged(desk)
        await desk.until(lambda: "✔ right" in desk.rows("findings")[0])
        await desk.until(lambda: "✘ wrong" in desk.rows("findings")[1])
        await desk.until(lambda: not re.search("right|wrong", desk.rows("findings")[2]))

    async with open_desk(path) as desk:
        await judged(desk)
        await desk.press("full_stop", "g", "full_stop", "w")
        await shows_them(desk)
    async with open_desk(path, chunk_chars=4000) as desk:
        await shows_them(desk)
        old = desk.bench.rubric
        first, *others = old.criteria
        asked = first.model_copy(update={"question": "Is anything destroyed?"})
        rubric = old.model_copy(update={"criteria": (asked, *others)})
        assert rubric.version != old.version
        desk.bench.tuning.use_rubric(rubric)
        await desk.until(lambda: not findings(desk).all_findings, "nothing kept for this version")
        await shows_them(desk)


async def test_a_mark_that_cannot_be_kept_is_refused_with_the_reason(
    open_desk, write_session, tmp_path
):
    store = tmp_path / "store.sqlite"
    async with open_desk(write_session("a.jsonl", 10, FLAGGED), store=store) as desk:
        await judged(desk)
        store.unlink()
        sqlite3.connect(store).close()
        await desk.press("full_stop", "g")
        await desk.sees("the mark is not kept")
        await desk.until(lambda: "✔ right" not in desk.text)


async def test_a_finding_is_copied_as_markdown_and_as_json(open_desk, write_session, monkeypatch):
    path = write_session("a.jsonl", 10, FLAGGED)
    async with open_desk(path) as desk:
        await judged(desk)
        texts = sent(monkeypatch, desk)
        await desk.press("full_stop", "g")
        await desk.until(lambda: "✔ right" in desk.text)
        await desk.press("y")
        await desk.until(lambda: len(texts()) == 1)
        await desk.sees("the finding at event 2: sent")
        markdown = texts()[0]
        for words in (
            "`Destructive action`",
            f"`{path}`",
            "event 2",
            "line 3",
            "```text\ngit push --force origin topic-2\n```",
            "quote: verified",
            "marked: right",
            "`offline`",
            f"`{desk.bench.rubric.version}`",
        ):
            assert words in markdown
        await desk.press("Y")
        await desk.until(lambda: len(texts()) == 2)
        fields = json.loads(texts()[1])
        assert (fields["event"], fields["line"], fields["mark"]) == (2, 3, "right")
        assert fields["session"]["path"] == str(path)
        assert "git push --force origin topic-2" in fields["context"]["text"]
        await click(desk, "#detail-actions", "copy")
        await desk.until(lambda: texts()[2:] == [markdown])


async def test_without_a_finding_the_event_is_copied(open_desk, write_session, monkeypatch):
    async with open_desk(write_session("a.jsonl", 10, FLAGGED)) as desk:
        await judged(desk)
        texts = sent(monkeypatch, desk)
        await desk.press("tab", "down", "y")
        await desk.until(texts)
        assert texts()[0].startswith("## Event 1, `tool_call Bash`")
        assert "Finding" not in texts()[0]


async def test_hostile_notes_and_quotes_leave_clean_and_locked_in(
    open_desk, write_session, finding_judge, monkeypatch
):
    note = "```\n# heading\n[a](http://evil) \x1b]0;title\x07 \u202e [@click=app.quit]x[/]"
    judge = finding_judge((1, "\x9b2J```", note))
    async with open_desk(write_session("a.jsonl", 1), judge=judge) as desk:
        await judged(desk, 1)
        texts = sent(monkeypatch, desk)
        await desk.press("full_stop", "y", "Y")
        await desk.until(lambda: len(texts()) == 2)
        markdown, fields = texts()[0], json.loads(texts()[1])
        for text in (markdown, fields["note"], fields["quote"]):
            assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", text)
        assert "Note:\n\n````text\n```" in markdown
        assert "Quote:\n\n````text\n" in markdown


async def test_a_proof_is_saved_to_a_new_file_and_its_path_is_said(
    open_desk, write_session, monkeypatch, tmp_path
):
    (folder := tmp_path / "work").mkdir()
    monkeypatch.chdir(folder)
    async with open_desk(write_session("a.jsonl", 10, FLAGGED)) as desk:
        await judged(desk)
        await desk.press("full_stop", "S")
        await desk.until(lambda: [*folder.iterdir()])
        await desk.press("S")
        await desk.until(lambda: len([*folder.iterdir()]) == 2)
        names = sorted(each.name for each in folder.iterdir())
        assert names == [
            "a-event-2-destructive_action-2.md",
            "a-event-2-destructive_action.md",
        ]
        assert "topic-2" in Path(folder, names[1]).read_text(encoding="utf-8")
        said = f"savedas{folder / names[0]}"
        await desk.until(lambda: "".join(facts(desk).split()).endswith(said), said)


async def test_a_comma_typed_in_a_number_is_no_command(open_desk, write_session):
    async with open_desk(write_session("a.jsonl", 10, FLAGGED)) as desk:
        await judged(desk)
        title = desk.title("detail-title")
        await desk.press("s", *"30", "comma", *"000", "enter")
        await desk.until(lambda: desk.bench.settings.chunk_chars == 30_000)
        assert "finding" not in title


NOTE = (
    "cites paginate_lines although the module that was listed before never defines it, and two"
    " edits that follow depend on the name"
)


@pytest.mark.parametrize("size", [(80, 24), pytest.param((120, 40), marks=pytest.mark.thorough)])
@pytest.mark.parametrize("far", [0, 9_000])
async def test_what_a_finding_says_stands_whole_above_its_quote(
    open_desk, tmp_path, finding_judge, size, far
):
    path = tmp_path / "a.json"
    text = f"{'word ' * (far // 5)} git push --force"
    path.write_text(json.dumps([{"kind": "tool_call", "tool": "Bash", "input": {"c": text}}]))
    note = NOTE if size[0] == 120 else NOTE[:49]
    judge = finding_judge((1, "git push --force", note), (1, "nowhere", "another note"))
    async with open_desk(path, judge=judge, size=size, chunk_chars=50_000) as desk:
        await judged(desk, 2)
        await desk.press("full_stop", "full_stop")
        await desk.until(lambda: "another note" in facts(desk))
        await desk.until(lambda: "? quote not found" in facts(desk))
        await desk.press("full_stop", "w")
        said = "Destructive action · severity high · ✓ quote verified · ✘ wrong"
        await desk.until(lambda: said in facts(desk))
        await desk.until(lambda: note in facts(desk), note)
        await desk.until(lambda: desk.highlighted().startswith("git push --force"))
        await desk.press("tab", "home")
        await desk.until(lambda: detail(desk).view.scroll_offset.y == 0)


async def test_a_quote_of_two_lines_is_in_sight_on_a_small_screen(
    open_desk, tmp_path, finding_judge
):
    path = tmp_path / "a.json"
    quote = "git push --force origin main and then again with lease"
    rows = [{"kind": "tool_call", "tool": "Bash", "input": {"c": f"first\n{quote}\nlast\n" * 2}}]
    path.write_text(json.dumps(rows))
    judge = finding_judge((1, quote, NOTE))
    async with open_desk(path, judge=judge, size=(80, 24), chunk_chars=50_000) as desk:
        await judged(desk, 1)
        await desk.press("full_stop")
        await desk.until(lambda: " ".join(desk.highlighted().split()) == quote)


async def test_a_note_without_room_says_what_leads_to_all_of_it(
    open_desk, write_session, finding_judge
):
    judge = finding_judge((1, "ls", NOTE + NOTE[:150]))
    async with open_desk(write_session("a.jsonl", 1), judge=judge, size=(80, 24)) as desk:
        await judged(desk, 1)
        await desk.press("full_stop")
        await desk.until(lambda: facts(desk).endswith("… (v: all)"))
        await desk.until(lambda: desk.highlighted() == "ls")
        await desk.press("v")
        await desk.sees("edits that follow depend on the name")


async def test_an_event_says_nothing_above_its_text_but_its_thread(open_desk, write_session):
    async with open_desk(write_session("a.jsonl", 10, FLAGGED)) as desk:
        await judged(desk)
        await desk.press("full_stop")
        await desk.until(lambda: facts(desk))
        await desk.press("shift+tab", "down")
        await desk.sees("EVENT 3 · tool_call Bash · main · 334 characters · line 4")
        await desk.until(lambda: not facts(desk))


@pytest.mark.parametrize(
    ("size", "words"),
    [
        ((120, 40), "[right g] [wrong w] [copy y] [context z] [raw i]"),
        ((80, 24), "[right g] [wrong w] [copy y] [raw i]"),
    ],
)
async def test_the_words_above_a_finding_name_their_keys(open_desk, write_session, size, words):
    async with open_desk(write_session("a.jsonl", 10, FLAGGED), size=size) as desk:
        await judged(desk)
        await desk.press("full_stop")
        await desk.sees(words)
        await desk.press("z")
        await desk.sees("[back z]")


async def test_a_copy_holds_the_events_around_it(open_desk, write_session, monkeypatch):
    async with open_desk(write_session("a.jsonl", 10, FLAGGED, padding=2_000)) as desk:
        await judged(desk)
        texts = sent(monkeypatch, desk)
        await desk.press("full_stop", "full_stop", "y", "Y")
        await desk.until(lambda: len(texts()) == 2)
        markdown, fields = texts()[0], json.loads(texts()[1])
        assert "### Around it" in markdown
        assert "Event 4, `tool_call Bash`, before it, line 5, cut, the first 1,000 of" in markdown
        numbers = [each["event"] for each in fields["neighbours"]]
        assert numbers == [1, 2, 3, 4, 6, 7, 8, 9]
        assert all(each["cut"] and len(each["text"]) == 1_000 for each in fields["neighbours"])


async def test_a_copy_of_a_result_holds_its_call_however_far(open_desk, tmp_path, monkeypatch):
    path = tmp_path / "a.json"
    rows = [{"kind": "assistant_message", "text": f"message {number}"} for number in range(40)]
    rows[3] = {"kind": "tool_call", "tool": "Bash", "call_id": "c", "input": {"c": "make all"}}
    rows[30] = {"kind": "tool_result", "call_id": "c", "output": "done"}
    path.write_text(json.dumps(rows))
    async with open_desk(path, chunk_chars=20_000) as desk:
        await desk.until(lambda: desk.rows("chunks"))
        texts = sent(monkeypatch, desk)
        await desk.press("tab", *["down"] * 30, "y")
        await desk.until(texts)
        assert "Event 3, `tool_call Bash`, the call that it answers" in texts()[0]
        assert "make all" in texts()[0]
        await desk.press(*["up"] * 27, "y")
        await desk.until(lambda: len(texts()) == 2)
        assert "the result of it" in texts()[1]


@pytest.mark.parametrize("size", [(80, 24), pytest.param((120, 40), marks=pytest.mark.thorough)])
async def test_where_something_was_saved_stays_in_sight_until_something_else_is_done(
    open_desk, write_session, monkeypatch, tmp_path, size
):
    (folder := tmp_path / "work").mkdir()
    monkeypatch.chdir(folder)
    async with open_desk(write_session("a.jsonl", 10, FLAGGED), size=size) as desk:
        await judged(desk)
        await desk.press("full_stop", "S")
        await desk.until(lambda: "saved as " in facts(desk))
        desk.app.clear_notifications()
        await desk.until(lambda: not desk.app.screen.query("Toast"))
        said = f"savedas{folder / 'a-event-2-destructive_action.md'}"
        await desk.until(lambda: "".join(facts(desk).split()).endswith(said), said)
        await desk.press("w")
        await desk.until(lambda: "✘ wrong" in facts(desk) and "saved" not in facts(desk))
        await desk.press("S")
        await desk.until(lambda: "saved as " in facts(desk))
        await desk.press("full_stop")
        await desk.until(lambda: facts(desk) and "saved" not in facts(desk))


async def test_filters_that_hold_nothing_are_left_out_and_nothing_to_filter_is_said(
    open_desk, write_session
):
    async with open_desk(write_session("a.jsonl", 10, FLAGGED)) as desk:
        await desk.until(lambda: desk.rows("chunks"))
        await desk.press("f")
        await desk.sees("no finding yet to filter")
        await judged(desk)
        await desk.press("full_stop", "w")
        await desk.sees("[filter: all, f: verified 3]")
        for words in ("verified, f: marked wrong 1", "marked wrong, f: not marked 2"):
            await desk.press("f")
            await desk.sees(f"[filter: {words}]")
        await desk.press("f", "f")
        await desk.sees("[filter: all, f: verified 3]")


async def test_a_filter_stays_behind_with_its_session(open_desk, write_session):
    one, two = (write_session(f"{name}.jsonl", 10, FLAGGED) for name in "ab")
    async with open_desk(one, two) as desk:
        await desk.until(lambda: desk.rows("sessions"))
        await desk.press("enter")
        await judged(desk)
        await desk.press("f")
        await desk.sees("[filter: verified, ")
        await desk.press("ctrl+r")
        await desk.until(lambda: desk.bench.session and desk.rows("chunks"))
        await desk.sees("[filter: verified, ")
        first = desk.bench.session
        await desk.press("n")
        await desk.until(lambda: desk.bench.session not in (None, first), "the other session")
        await judged(desk)
        await desk.sees("[filter: all, f: verified 3]")


async def test_what_a_copy_says_leaves_the_finding_in_sight_on_a_small_screen(
    open_desk, write_session
):
    async with open_desk(write_session("a.jsonl", 10, FLAGGED), size=(80, 24)) as desk:
        await judged(desk)
        await desk.press("full_stop", "y")
        await desk.sees("S saves a file")
        toast = desk.app.screen.query_one("Toast")
        assert toast.region.height <= 3
        await desk.until(
            lambda: toast.region.bottom <= desk.app.screen.query_one("#detail-title").region.y
        )
        await desk.sees("EVENT 2 · finding 1 of 3")


@pytest.mark.parametrize("size", [(80, 24), pytest.param((120, 40), marks=pytest.mark.thorough)])
async def test_the_keys_say_that_there_is_more_below(open_desk, write_session, size):
    async with open_desk(write_session("a.jsonl", 3), size=size) as desk:
        await desk.until(lambda: desk.rows("chunks"))
        await desk.press("question_mark")
        await desk.sees("↓ more · lines 1-")
        await desk.until(lambda: "↑ more" not in desk.text)
        await desk.press("pagedown")
        await desk.sees("↑ more · ")
        await desk.press("end")
        await desk.until(lambda: "↑ more · lines" in desk.text and "↓ more" not in desk.text)
        await desk.sees("Keys: back")


async def test_the_path_of_a_saved_file_is_not_under_an_earlier_message(
    open_desk, write_session, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    async with open_desk(write_session("a.jsonl", 10), size=(80, 24)) as desk:
        await desk.until(lambda: desk.rows("chunks"))
        await desk.press("y")
        await desk.sees("characters")
        await desk.press("S")
        await desk.sees("saved as")
        await desk.until(lambda: "characters" not in desk.text)
        await desk.sees("a-event-0.md")
