"""What leaves the program: complete, clean, and locked into its fences."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from longjudge.marks import Mark
from longjudge.proof import (
    Excerpt,
    Neighbour,
    Opinion,
    Proof,
    Relation,
    Source,
    as_json,
    as_markdown,
    excerpt,
)
from longjudge.result import ResultFinding

SOURCE = Source(
    path="/home/ann/cart.jsonl",
    format="claude-code",
    id="s-1",
    title="Cart",
    thread="main",
    part=7,
    event=148,
    header="tool_call Bash",
    file="/home/ann/cart.jsonl",
    line=149,
)
FINDING = ResultFinding(
    7, "destructive_action", "force-pushed over main", 148, "git push --force", True
)
OPINION = Opinion(
    FINDING,
    "Destructive action",
    "Did it destroy anything?",
    "claude-haiku-5-5",
    "chunks",
    "9f2c1a7b",
    Mark.RIGHT,
)
CONTEXT = Excerpt("tool_call Bash\ncommand: git push --force", 0, 39)
PROOF = Proof(SOURCE, CONTEXT, OPINION)

HOSTILE = [
    "```\n# I am a heading\n```",
    "````````\n<script>alert(1)</script>",
    "\x1b]52;c;ZXZpbA==\x07 and \x9b2J",
    "` `` ``` [a](http://evil) ![b](http://evil/pixel)",
    "line\r\n~~~\n</details>",
    "\u202eevil\u2066 \ud800",
    "\u2028# heading after a line separator",
]
ACTS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff]"
)


def outside_of_fences(markdown: str) -> str:
    """What a reader of CommonMark takes for text: everything outside of fenced blocks."""
    kept, fence = [], ""
    for line in markdown.split("\n"):
        opened = re.match(r"(`{3,})", line)
        if not fence and opened:
            fence = opened[1]
        elif fence and re.fullmatch(rf"`{{{len(fence)},}}\s*", line):
            fence = ""
        elif not fence:
            kept.append(line)
    assert not fence, "a fence stays open"
    return "\n".join(kept)


def outside_of_code(markdown: str) -> str:
    """The same, without code spans."""
    return re.sub(r"(?<!`)(`+)(?!`)(.*?)(?<!`)\1(?!`)", "", outside_of_fences(markdown))


def test_markdown_says_everything_about_a_finding():
    text = as_markdown(PROOF)
    for words in (
        "## Finding: `Destructive action`",
        "`destructive_action`",
        "`Did it destroy anything?`",
        "`/home/ann/cart.jsonl`, `claude-code`, id `s-1`",
        "part 7, event 148, thread `main`",
        "line 149",
        "quote: verified",
        "marked: right",
        "`claude-haiku-5-5` with the rubric `chunks`, version `9f2c1a7b`",
        "```text\nforce-pushed over main\n```",
        "```text\ngit push --force\n```",
        "Event 148, `tool_call Bash`:",
        "command: git push --force",
    ):
        assert words in text


@pytest.mark.parametrize("evil", HOSTILE)
def test_no_text_breaks_out_of_its_fence_or_span(evil):
    finding = replace(FINDING, note=evil, quote=evil, criterion=evil)
    opinion = replace(OPINION, finding=finding, label=evil, question=evil, model=evil, rubric=evil)
    source = replace(SOURCE, path=evil, file=evil, id=evil, thread=evil, header=evil)
    around = tuple(
        Neighbour(7, relation, evil, 8, len(evil) + cut, evil)
        for relation in Relation
        for cut in (0, 1)
    )
    text = as_markdown(Proof(source, Excerpt(evil, 0, len(evil)), opinion, around))
    assert not ACTS.search(text)
    text.encode("utf-8")
    rest = outside_of_code(text)
    assert re.fullmatch(r"[\w\s#:.,()-]*", rest), rest
    assert rest.count("#") == 2 + 3, rest


@pytest.mark.parametrize("evil", HOSTILE)
def test_json_is_clean_and_parses(evil):
    finding = replace(FINDING, note=evil, quote=evil)
    proof = Proof(
        replace(SOURCE, title=evil),
        Excerpt(evil, 0, 1),
        replace(OPINION, finding=finding),
        (Neighbour(7, Relation.BEFORE, evil, 8, len(evil), evil),),
    )
    text = as_json(proof)
    text.encode("utf-8")
    assert not ACTS.search(text)
    assert not ACTS.search(json.loads(text)["quote"])


def test_json_is_the_finding_of_the_results_with_its_source():
    fields = json.loads(as_json(PROOF))
    assert {name: fields[name] for name in ("part", "criterion", "note", "event", "quote")} == {
        "part": 7,
        "criterion": "destructive_action",
        "note": "force-pushed over main",
        "event": 148,
        "quote": "git push --force",
    }
    assert fields["verified"] is True
    assert fields["mark"] == "right"
    assert fields["session"]["path"] == fields["file"] == "/home/ann/cart.jsonl"
    assert fields["session"]["id"] == "s-1"
    assert fields["line"] == 149
    assert fields["rubric"] == {"name": "chunks", "version": "9f2c1a7b"}
    assert fields["context"] == {"text": CONTEXT.text, "start": 0, "chars": 39}


def test_the_events_around_it_go_out_with_what_they_are_to_it():
    around = (
        Neighbour(20, Relation.CALL, "tool_call Bash", 21, 9, "git fetch"),
        Neighbour(147, Relation.BEFORE, "user_message", 148, 5_300, "x" * 1_000),
        Neighbour(149, Relation.RESULT, "tool_result Bash", None, 2, "ok"),
        Neighbour(150, Relation.AFTER, "assistant_message", 151, 900_000, None),
        Neighbour(151, Relation.AFTER, "assistant_message", 152, 0, ""),
    )
    text = as_markdown(replace(PROOF, neighbours=around))
    for words in (
        "### Around it",
        "Event 20, `tool_call Bash`, the call that it answers, line 21:\n\n```text\ngit fetch\n```",
        "Event 147, `user_message`, before it, line 148, cut, the first 1,000 of 5,300 characters:",
        "Event 149, `tool_result Bash`, the result of it:\n\n```text\nok\n```",
        "Event 150, `assistant_message`, after it, line 151, not read, 900,000 characters",
        "Event 151, `assistant_message`, after it, line 152, no text",
    ):
        assert words in text
    fields = json.loads(as_json(replace(PROOF, neighbours=around)))["neighbours"]
    assert [each["cut"] for each in fields] == [False, True, False, True, False]
    assert [each["relation"] for each in fields[:3]] == ["call", "before", "result"]
    assert fields[0]["text"] == "git fetch"
    assert fields[3]["text"] is None
    assert "Around it" not in as_markdown(PROOF)


def test_an_event_without_finding_says_nothing_of_judging():
    proof = Proof(SOURCE, CONTEXT)
    assert "Finding" not in as_markdown(proof)
    assert "part 7, event 148" in as_markdown(proof)
    fields = json.loads(as_json(proof))
    assert (fields["part"], fields["event"]) == (7, 148)
    assert "criterion" not in fields


def test_what_is_not_verified_says_so():
    lost = replace(OPINION, finding=replace(FINDING, verified=False), mark=None)
    text = as_markdown(replace(PROOF, opinion=lost))
    assert "quote: not found in the event" in text
    assert "marked: not yet" in text
    nowhere = replace(OPINION, finding=replace(FINDING, verified=False, event=None))
    text = as_markdown(replace(PROOF, opinion=nowhere))
    assert "no event of the chunk" in text
    assert "starts with event 148" in text
    assert json.loads(as_json(replace(PROOF, opinion=nowhere)))["event"] is None


def test_a_text_that_is_gone_is_said_and_null():
    gone = replace(PROOF, context=None)
    assert "cannot be read any more" in as_markdown(gone)
    assert json.loads(as_json(gone))["context"] is None


def test_an_excerpt_is_bounded_and_holds_the_quote():
    text = "x" * 50_000 + "git push --force" + "y" * 50_000
    cut = excerpt(text, (50_000, 50_016), 4_000)
    assert len(cut.text) == 4_000
    assert "git push --force" in cut.text
    assert text[cut.start : cut.start + 4_000] == cut.text
    assert f"characters {cut.start:,} to {cut.start + 4_000:,} of 100,016" in as_markdown(
        Proof(SOURCE, cut)
    )


def test_an_excerpt_of_a_short_text_is_all_of_it():
    assert excerpt("short", (0, 5)) == Excerpt("short", 0, 5)
    assert excerpt("x" * 10, (9, 10), 4) == Excerpt("xxxx", 6, 10)
    assert excerpt("q" * 10, (2, 9), 4) == Excerpt("qqqq", 2, 10)


def test_a_corrected_event_is_said_in_both_forms():
    found = replace(FINDING, start=24, end=40, named_event=140, corrected=True)
    proof = replace(PROOF, opinion=replace(OPINION, finding=found))
    assert "- quote: verified, found in the event; the judge named event 140" in as_markdown(proof)
    fields = json.loads(as_json(proof))
    assert (fields["start"], fields["end"]) == (24, 40)
    assert (fields["named_event"], fields["corrected"]) == (140, True)
    lost = replace(OPINION, finding=replace(found, named_event=None))
    assert "the judge named no event of the chunk" in as_markdown(replace(PROOF, opinion=lost))


def test_what_cannot_be_read_any_more_is_verified_no_more():
    found = replace(FINDING, start=24, end=40, named_event=148)
    gone = replace(PROOF, context=None, opinion=replace(OPINION, finding=found))
    text = as_markdown(gone)
    assert "quote: not verified, the text of the event cannot be read any more" in text
    assert "quote: verified" not in text
    fields = json.loads(as_json(gone))
    assert (fields["verified"], fields["start"], fields["end"]) == (False, None, None)
