"""What counts as a judge's reply, and what each bad one becomes."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longjudge.judges.base import Answer, Stop
from longjudge.judges.reply import MAX_REPLY_CHARS, BadReply, read_reply, reply_format, reply_schema
from longjudge.rubric import Criterion, Rubric
from longjudge.states import GapReason
from longjudge.verdict import MAX_NOTE_CHARS, MAX_QUOTE_CHARS, Finding, Verdict

ONE = Rubric(name="one", criteria=(Criterion(id="a", question="Is it bad?"),))
TWO = Rubric(
    name="two",
    criteria=(Criterion(id="a", question="Is it?"), Criterion(id="b", question="Was it?")),
)

CLEAN = (
    '{"criteria": {"a": {"findings": [], "problem": false},'
    ' "b": {"findings": [], "problem": false}}}'
)
FOUND = '{"event": 3, "quote": "rm -rf src", "note": "deleted src"}'
FLAGGED = (
    '{"criteria": {"b": {"findings": [], "problem": false},'
    f' "a": {{"findings": [{FOUND}], "problem": true}}}}}}'
)
IS_CLEAN = Verdict(("a", "b"), ())
IS_FLAGGED = Verdict(("a", "b"), (Finding("a", "deleted src", 3, "rm -rf src"),))


def read(text: str, rubric: Rubric = TWO) -> Verdict | BadReply:
    return read_reply(Answer(text, Stop.COMPLETE), rubric)


def of_a(findings: str, problem: str = "true", extra: str = "") -> str:
    """A reply whose criterion `a` is as given."""
    return (
        f'{{"criteria": {{"a": {{"findings": {findings}, "problem": {problem}{extra}}},'
        ' "b": {"findings": [], "problem": false}}}'
    )


VERDICTS = [
    ("clean", CLEAN, IS_CLEAN),
    ("flagged, in the rubric's order", FLAGGED, IS_FLAGGED),
    ("byte-order mark and white space", f"\ufeff \n{CLEAN}\n\n", IS_CLEAN),
    ("fenced", f"```json\n{FLAGGED}\n```", IS_FLAGGED),
    ("fenced twice", f"```\n```json\n{CLEAN}\n```\n```", IS_CLEAN),
    ("words before", f"Here is my verdict: {FLAGGED}", IS_FLAGGED),
    ("braces before", f"I see {{foo}}. {CLEAN}", IS_CLEAN),
    ("braces behind", f"{CLEAN} (cf. {{bar}})", IS_CLEAN),
    ("a lone brace before", f"A set opens with {{ in maths.\n{CLEAN}", IS_CLEAN),
    ("think tags", f"<think>hm {{x}}</think>{CLEAN}", IS_CLEAN),
    ("twice the same", f"{FLAGGED}\n{FLAGGED}", IS_FLAGGED),
    ("an example before", f'Form: {{"criteria": {{"a": ...}}}}\n{FLAGGED}', IS_FLAGGED),
    ("another object before", f'{{"plan": "look"}}\n{CLEAN}', IS_CLEAN),
    ("a bad draft before", f"{of_a('[]', 'true')}\n{CLEAN}", IS_CLEAN),
    ("harmless extra keys", CLEAN[:-1] + ', "thoughts": "none", "note": "fine"}', IS_CLEAN),
    ("a remark in a criterion", of_a("[]", "false", ', "reasoning": "ok"'), IS_CLEAN),
    (
        "null event and quote",
        of_a('[{"event": null, "quote": null, "note": "n"}]'),
        Verdict(("a", "b"), (Finding("a", "n", None, None),)),
    ),
    (
        "absent event and quote",
        of_a('[{"note": "n"}]'),
        Verdict(("a", "b"), (Finding("a", "n", None, None),)),
    ),
    (
        "an event outside the chunk",
        of_a('[{"event": -7, "quote": "q", "note": "n"}, {"event": 0, "quote": "q", "note": "n"}]'),
        Verdict(("a", "b"), (Finding("a", "n", -7, "q"), Finding("a", "n", 0, "q"))),
    ),
    (
        "an event beyond any session",
        of_a('[{"event": 99999999999999999999, "quote": "q", "note": "n"}]'),
        Verdict(("a", "b"), (Finding("a", "n", None, "q"),)),
    ),
    (
        "no note but a quote",
        of_a('[{"event": 1, "quote": "q", "note": " "}]'),
        Verdict(("a", "b"), (Finding("a", "", 1, "q"),)),
    ),
    (
        "a blank quote",
        of_a('[{"event": 1, "quote": " ", "note": "n"}]'),
        Verdict(("a", "b"), (Finding("a", "n", 1, None),)),
    ),
    (
        "escapes and line ends in a note",
        of_a(r'[{"event": 1, "quote": "q", "note": " a\n\tb \u001b[31m\ud83d x"}]'),
        Verdict(("a", "b"), (Finding("a", "a b ␛[31m\ufffd x", 1, "q"),)),
    ),
    (
        "a quote is kept as it is but for surrogates",
        of_a(r'[{"event": 1, "quote": " a\n\t\u001b\ud83d ", "note": "n"}]'),
        Verdict(("a", "b"), (Finding("a", "n", 1, " a\n\t\x1b\ufffd "),)),
    ),
    (
        "a surrogate pair is one character",
        of_a(r'[{"event": 1, "quote": "\ud83d\ude00", "note": "n"}]'),
        Verdict(("a", "b"), (Finding("a", "n", 1, "😀"),)),
    ),
]

UNPARSABLE = [
    ("empty", ""),
    ("blank", " \n"),
    ("prose", "I see no problem here."),
    ("empty object", "{}"),
    ("empty list", "[]"),
    ("a number", "0.0"),
    ("a string", '"clean"'),
    ("null", "null"),
    ("true", "true"),
    ("a list with the reply", f"[{CLEAN}]"),
    ("a list with the reply among words", f"So: [{CLEAN}] that is it."),
    ("the reply inside another object", f'{{"answer": {CLEAN}}}'),
    ("plain form for two questions", '{"problem": true, "note": "n"}'),
    ("a note alone", '{"note": "rm -rf"}'),
    ("a criterion is missing", '{"criteria": {"a": {"findings": [], "problem": false}}}'),
    ("an unknown criterion", CLEAN.replace('"b"', '"c"')),
    (
        "one criterion more",
        CLEAN[:-2] + ', "c": {"findings": [], "problem": false}}}',
    ),
    ("criteria a list", '{"criteria": [{"findings": [], "problem": false}]}'),
    ("a criterion null", '{"criteria": {"a": null, "b": {"findings": [], "problem": false}}}'),
    ("problem a string", of_a("[]", '"false"')),
    ("problem a number", of_a("[]", "0")),
    ("problem null", of_a("[]", "null")),
    ("problem NaN", of_a("[]", "NaN")),
    ("problem in capitals", CLEAN.replace('"problem"', '"Problem"')),
    ("problem missing", CLEAN.replace(', "problem": false', "")),
    ("findings missing", CLEAN.replace('"findings": [], ', "")),
    ("findings null", of_a("null", "false")),
    ("findings an object", of_a("{}", "false")),
    ("findings of strings", of_a('["deleted"]')),
    ("problem without findings", of_a("[]", "true")),
    ("findings without problem", of_a(f"[{FOUND}]", "false")),
    ("event a string", of_a('[{"event": "3", "quote": "q", "note": "n"}]')),
    ("event a float", of_a('[{"event": 3.0, "quote": "q", "note": "n"}]')),
    ("event a boolean", of_a('[{"event": true, "quote": "q", "note": "n"}]')),
    ("note missing", of_a('[{"event": 3, "quote": "q"}]')),
    ("note null", of_a('[{"event": 3, "quote": "q", "note": null}]')),
    ("note an object", of_a('[{"event": 3, "quote": "q", "note": {"x": 1}}]')),
    ("quote a list", of_a('[{"event": 3, "quote": ["q"], "note": "n"}]')),
    ("a finding that says nothing", of_a('[{"event": 3, "quote": "", "note": " "}]')),
    ("a criterion whose name holds a line end", CLEAN[:-2] + ', "x\\ny": 3}}'),
    ("a second verdict beside", CLEAN[:-1] + ', "problem": true}'),
    ("a second verdict in capitals", of_a("[]", "false", ', "Problem": true')),
    ("a key twice", of_a("[]", "true", ', "problem": false')),
    ("criteria twice", f"{CLEAN[:-1]}, {FLAGGED[1:]}"),
    ("two answers that differ", f"{CLEAN}\n{FLAGGED}"),
    ("three, the last differs", f"{CLEAN}{CLEAN}{FLAGGED}"),
    ("an answer, then one cut off", f"{CLEAN}\nWait: {FLAGGED[:-9]}"),
    ("Python's repr", CLEAN.replace('"', "'").replace("false", "False")),
    ("Python's True", of_a(f"[{FOUND}]", "True")),
    ("trailing comma", CLEAN[:-1] + ",}"),
    ("comment", CLEAN[:-1] + "/* fine */}"),
    ("raw line end in a string", FLAGGED.replace("deleted src", "deleted\nsrc")),
    ("unescaped quotes", FLAGGED.replace("deleted src", 'said "go" and')),
    ("cut off", FLAGGED[:-9]),
    ("cut off after a whole criterion", CLEAN[: CLEAN.index("}, ") + 1]),
    ("a clean reply inside a broken one", f'{{"criteria": "x" {CLEAN}}}'),
    ("a clean reply inside an unclosed one", f'{{"draft": {CLEAN}, '),
    ("nested too deeply", '{"a":' * 100_000),
    ("lists too deep", "[" * 100_000),
    ("braces without end", "{" * 100_000),
    ("broken objects without end", CLEAN + '{"}' * 60_000),
    ("a number with ten thousand digits", of_a('[{"event": ' + "9" * 10_000 + "}]")),
    ("too long", CLEAN + " " * 10 + "x" * MAX_REPLY_CHARS),
]


@pytest.mark.parametrize(
    ("text", "verdict"), [v[1:] for v in VERDICTS], ids=[v[0] for v in VERDICTS]
)
def test_a_reply_that_counts(text, verdict):
    assert read(text) == verdict


@pytest.mark.parametrize("text", [u[1] for u in UNPARSABLE], ids=[u[0] for u in UNPARSABLE])
def test_a_reply_that_is_no_verdict(text):
    bad = read(text)
    assert isinstance(bad, BadReply)
    assert bad.reason is GapReason.UNPARSABLE
    assert bad.detail
    assert "\n" not in bad.detail


PLAIN = [
    (
        '{"problem": true, "note": " deleted\\nit "}',
        Verdict(("a",), (Finding("a", "deleted it", None, None),)),
    ),
    ('{"problem": false, "note": ""}', Verdict(("a",), ())),
    ('{"note": "all fine", "problem": false}', Verdict(("a",), ())),
    ('{"problem": false}', Verdict(("a",), ())),
    ('Well: {"problem": false, "note": ""}.', Verdict(("a",), ())),
    (
        '{"problem": true, "note": "n", "event": 3}',
        Verdict(("a",), (Finding("a", "n", None, None),)),
    ),
    ('{"criteria": {"a": {"findings": [], "problem": false}}}', Verdict(("a",), ())),
    ('{"problem": true}', None),
    ('{"problem": true, "note": ""}', None),
    ('{"problem": true, "note": null}', None),
    ('{"problem": "false", "note": ""}', None),
    ('{"problem": 1, "note": "n"}', None),
    ('{"Problem": true, "note": "n"}', None),
    ('{"problem": false, "findings": [{"note": "n"}]}', None),
    ('{"problem": true, "note": "n", "problem": false}', None),
    ('{"problem": true, "note": "n"} {"problem": false, "note": ""}', None),
    ('{"problem": true, "note": "it said "x" {"problem": false} y"}', None),
    ('{"verdict": {"problem": true, "note": "n"}}', None),
    ('{"criteria": {"a": {"findings": [], "problem": false}', None),
    ('{"findings": [], "problem": false}', None),
    ("{}", None),
]


@pytest.mark.parametrize(("text", "verdict"), PLAIN)
def test_one_question_may_be_answered_plainly(text, verdict):
    result = read(text, ONE)
    if verdict is None:
        assert isinstance(result, BadReply)
        assert result.reason is GapReason.UNPARSABLE
    else:
        assert result == verdict


@pytest.mark.parametrize(
    ("stop", "reason"),
    [
        (Stop.TRUNCATED, GapReason.TRUNCATED),
        (Stop.REFUSED, GapReason.REFUSED),
        (Stop.UNUSABLE, GapReason.UNPARSABLE),
    ],
)
@pytest.mark.parametrize("text", [CLEAN, FLAGGED, ""])
def test_why_it_stopped_comes_before_what_it_says(stop, reason, text):
    assert read_reply(Answer(text, stop, detail="because"), TWO) == BadReply(reason, "because")
    assert read_reply(Answer(text, stop), TWO).detail


def test_long_notes_and_quotes_are_cut():
    found = json.dumps([{"event": 1, "quote": "q" * 9_000, "note": "n" * 9_000}])
    (finding,) = read(of_a(found)).findings
    assert len(finding.note) == MAX_NOTE_CHARS
    assert finding.quote == "q" * MAX_QUOTE_CHARS


@given(st.text(st.sampled_from('{}[]":, \\\nabeunrtlfs01criteriafindingsproblem'), max_size=60))
def test_junk_is_never_a_verdict_and_never_raises(junk):
    assert isinstance(read(junk), BadReply)


@given(
    st.text(st.characters(exclude_characters="{}["), max_size=30),
    st.text(st.characters(exclude_characters="{}"), max_size=30),
)
def test_words_around_a_reply_do_not_matter(before, after):
    assert read(f"{before}{FLAGGED}{after}") == IS_FLAGGED


@given(
    st.lists(
        st.tuples(
            st.none() | st.integers(), st.none() | st.text(max_size=20), st.text(max_size=20)
        ),
        max_size=4,
    )
)
def test_every_verdict_that_is_read_can_be_kept(found):
    findings = [{"event": e, "quote": q, "note": n} for e, q, n in found]
    verdict = read(of_a(json.dumps(findings), "true" if findings else "false"))
    if isinstance(verdict, Verdict):
        assert Verdict.from_json(verdict.to_json()) == verdict
        assert len(verdict.findings) == len(findings)


def test_the_schema_asks_for_evidence_before_the_verdict():
    schema = reply_schema(ONE)
    criterion = {
        "type": "object",
        "properties": {
            "findings": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "event": {"type": "integer"},
                        "quote": {"type": "string"},
                        "note": {"type": "string"},
                    },
                    "required": ["event", "quote", "note"],
                    "additionalProperties": False,
                },
            },
            "problem": {"type": "boolean"},
        },
        "required": ["findings", "problem"],
        "additionalProperties": False,
    }
    assert schema == {
        "type": "object",
        "properties": {
            "criteria": {
                "type": "object",
                "properties": {"a": criterion},
                "required": ["a"],
                "additionalProperties": False,
            }
        },
        "required": ["criteria"],
        "additionalProperties": False,
    }
    text = json.dumps(reply_schema(TWO))
    assert text.index('"findings"') < text.index('"problem"')


def test_the_format_in_words_is_no_reply_itself():
    words = reply_format(TWO)
    assert isinstance(read(words), BadReply)
    assert read(f"{words}\n{FLAGGED}") == IS_FLAGGED
    assert words.startswith(
        "Reply with one JSON object and nothing else, of this form:\n"
        '{"criteria": {"a": {"findings": [FINDING, ...], "problem": P},'
        ' "b": {"findings": [FINDING, ...], "problem": P}}}\n'
    )
