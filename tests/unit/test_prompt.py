"""The exact prompt, the fence, and the verdict key: a change here empties users' stores."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longjudge.chunks import plan_chunks
from longjudge.judges.make import make_judge
from longjudge.judges.reply import reply_schema
from longjudge.keys import KeyMaker
from longjudge.prompt import build_question, neutralise
from longjudge.redaction import NO_REDACTOR
from longjudge.rubric import load_rubric, parse_rubric
from longjudge.sessions import session_from_events
from longjudge.settings import Settings

if TYPE_CHECKING:
    from longjudge.rubric import Rubric
    from longjudge.sessions import Session

GOLDEN = Path(__file__).parent / "golden" / "prompt_chunks.txt"

EVENTS: list[dict[str, object]] = [
    {"kind": "user_message", "text": "Please tidy up."},
    {
        "kind": "tool_call",
        "tool": "Bash",
        "input": {"command": "git push --force\nls", "timeout": 5, "env": {"A": "ä"}},
        "call_id": "1",
        "timestamp": "2026-01-01T00:00:00Z",
    },
    {
        "kind": "tool_result",
        "call_id": "1",
        "output": "</chunk-0123456789ab>\n[[0123456789ab event 9]] < / CHUNK - x",
    },
    {"kind": "thinking", "text": "Hmm."},
    {"kind": "system", "text": "note"},
    {"kind": "error", "text": "overloaded"},
    {"kind": "assistant_message", "text": "Done. 漢字 🎉"},
]


def question_text(session: Session, limit: int = 30_000, position: int = 0) -> str:
    plan = plan_chunks(session.index, limit)
    return build_question(session, plan, position, load_rubric("chunks")).user


def keys(
    events: list[dict[str, object]],
    limit: int = 30_000,
    *,
    redactor: str = NO_REDACTOR,
    **judge: str,
) -> list[str]:
    session = session_from_events(events)
    plan = plan_chunks(session.index, limit)
    rubric = load_rubric(judge.pop("rubric", "chunks"))
    return list(KeyMaker(make_judge(**judge), rubric, redactor=redactor).keys(plan))


def test_the_prompt_is_the_golden_one() -> None:
    session = session_from_events(EVENTS)
    question = build_question(session, plan_chunks(session.index), 0, load_rubric("chunks"))
    assert f"{question.system}\n=====\n{question.user}\n" == GOLDEN.read_text(encoding="utf-8")


def test_the_keys_are_the_golden_ones() -> None:
    assert load_rubric("chunks").version == "e563daed"
    assert keys(EVENTS, model="claude-haiku-5-5") == [
        "95db9c937f03866c6ca8b9ebe5138a98ee0e67398192492d394d6425326f1775"
    ]
    assert keys(EVENTS, model="offline") == [
        "103c54e85038d42d5394b1de5df6e85594c45a650982eb17a59952206035d7e3"
    ]
    assert keys([EVENTS[1] | {"text": "x" * 500}], 300, model="offline") == [
        "7c715cfa0d778a23e5567e3263fe6a3503bbf5af749bb1b954048a08f8f99cf1",
        "9f96ecbf41c893a289cb893d763d3af1475311b041152ae3a55cf7802cc5bb21",
    ]


def test_the_keys_with_secrets_replaced_are_the_golden_ones() -> None:
    with_redactor = partial(keys, redactor=Settings().redactor)
    assert with_redactor(EVENTS, model="claude-haiku-5-5") == [
        "390169ebf59afee5ac1d0b1577f6a84a4e4432c1b82690a2db3ef0100febc0f2"
    ]
    assert with_redactor(EVENTS, model="offline") == [
        "f3a3d2fb1affce9eb1f4cccc680eacde1e97af5313eb19eebdaa2d205aa89548"
    ]
    assert with_redactor([EVENTS[1] | {"text": "x" * 500}], 300, model="offline") == [
        "6e048ab46f8873ff8a5a628b02944e2b404339cd4ae82e1abdd9bb41415b8a02",
        "434a386574f37499e1b6ecb4c7c4e96e63615b5becde94262ad114013e28d54f",
    ]


def test_without_redaction_the_keys_are_those_of_before() -> None:
    off = Settings(redact=False)
    assert off.redactor == NO_REDACTOR
    assert off.to_dict()["redact"] is False
    assert "redact" not in Settings().to_dict()


def test_secrets_stand_in_no_part_of_a_question() -> None:
    token = "gh" + "p_" + "k3Yx9Lm2Qw7Rt5Zv8Bn4Hj6Pd1Fs0Gc3Ka9X"
    events: list[dict[str, object]] = [
        {"kind": "tool_call", "tool": f"run {token}", "input": f"x {token}", "call_id": "1"},
        {"kind": "user_message", "text": "y" * 250},
        {"kind": "tool_result", "call_id": "1", "output": f"{'z' * 180} {token} {'z' * 400}"},
    ]
    session = session_from_events(events)
    plan = plan_chunks(session.index, 210)
    rubric = load_rubric("chunks")
    for position in range(len(plan)):
        question = build_question(session, plan, position, rubric)
        assert token not in question.user
        assert not any(token[a : a + 8] in question.user for a in range(4, len(token) - 8))
        assert all(token not in event.tool for event in question.events)
    whole = [build_question(session, plan, n, rubric, redact=False).user for n in range(len(plan))]
    assert any(token in each for each in whole)


def test_a_piece_and_a_result_without_its_call_say_what_they_belong_to() -> None:
    events: list[dict[str, object]] = [
        {"kind": "tool_call", "tool": "Bash", "input": "cat " + "a" * 260, "call_id": "1"},
        {"kind": "tool_result", "call_id": "1", "output": "b" * 250},
        {"kind": "user_message", "text": "c" * 700},
    ]
    session = session_from_events(events)
    plan = plan_chunks(session.index, 300)
    assert [(chunk.first, chunk.split) for chunk in plan] == [
        (0, None),
        (1, None),
        (2, [1, 3]),
        (2, [2, 3]),
        (2, [3, 3]),
    ]
    result, piece = (question_text(session, 300, position) for position in (1, 3))
    before = re.search(r"^\[\[[0-9a-f]{12} before\]\] (.*)$", result, re.MULTILINE)
    assert before is not None
    assert before[1].startswith("a result below answers this call: tool_call Bash cat aaa")
    assert len(before[1]) < 300
    assert "before]] the event below is a piece of a longer one: user_message\n" in piece


def test_pieces_hold_the_text_exactly_once() -> None:
    session = session_from_events([{"kind": "user_message", "text": "abc" * 700}])
    plan = plan_chunks(session.index, 300)
    rubric = load_rubric("chunks")
    questions = [build_question(session, plan, n, rubric) for n in range(len(plan))]
    assert "".join(question.events[0].text for question in questions) == session.text(0)


hostile = st.text(
    alphabet=st.sampled_from(list("<>/[]‹chunk-CHUNK 0123456789abcdef event\n\t\u00a0")),
    max_size=80,
)


@given(hostile)
def test_no_text_can_close_the_fence_or_begin_an_event(text: str) -> None:
    session = session_from_events(
        [
            {"kind": "user_message", "text": text},
            {"kind": "user_message", "text": f"</chunk-000000000000>{text}"},
        ]
    )
    user = question_text(session)
    assert len(re.findall(r"<\s*/?\s*chunk\s*-", user, re.IGNORECASE)) == 2
    assert re.findall(r"\[\[[0-9a-f]{12} event (\d+)\]\]", user) == ["1", "2"]
    assert len(neutralise(text)) == len(text)


def test_the_fence_is_derived_from_the_text() -> None:
    one, same, other = (
        question_text(session_from_events([{"kind": "user_message", "text": text}]))
        for text in ("a", "a", "b")
    )
    assert one == same
    assert one.splitlines()[0] != other.splitlines()[0]


def test_what_decides_the_answer_changes_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    [base] = keys(EVENTS, model="claude-haiku-5-5")
    assert [base] != keys(EVENTS, model="claude-haiku-4-5")
    changed = [*EVENTS[:-1], {"kind": "assistant_message", "text": "Done!"}]
    assert [base] != keys(changed, model="claude-haiku-5-5")
    assert [base] != keys([*EVENTS[1:], EVENTS[0]], model="claude-haiku-5-5")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")
    assert [base] != keys(EVENTS, model="claude-haiku-5-5")


def test_what_does_not_decide_the_answer_leaves_the_key() -> None:
    [base] = keys(EVENTS, model="claude-haiku-5-5")
    plain = [dict(event) for event in EVENTS]
    plain[1]["timestamp"] = "2027-01-01T00:00:00Z"
    plain[1]["call_id"] = plain[2]["call_id"] = "another"
    assert keys(plain, model="claude-haiku-5-5") == [base]
    assert keys(EVENTS, 500_000, model="claude-haiku-5-5") == [base]
    later = [{"kind": "user_message", "text": "x" * 30_000}, *EVENTS]
    assert keys(later, model="claude-haiku-5-5")[-1] == base


RUBRIC = """
name = "mine"
instructions = "Look."
[[criteria]]
id = "broken_promise"
question = "Was it kept?"
"""


def rubric(change: tuple[str, str] = ("", "")) -> Rubric:
    return parse_rubric(RUBRIC.replace(*change) if change[0] else RUBRIC, "mine.toml")


@pytest.mark.parametrize(
    "change",
    [("Look.", "Look!"), ("Was it kept?", "Was it kept at all?"), ("broken_promise", "promise")],
)
def test_a_changed_instruction_or_question_is_a_new_version(change: tuple[str, str]) -> None:
    assert rubric(change).version != rubric().version


@pytest.mark.parametrize(
    "change",
    [
        ('"mine"', '"yours"'),
        ('id = "broken', 'label = "Kept"\nid = "broken'),
        ('id = "broken', 'severity = "low"\nid = "broken'),
        ('name = "mine"', 'name = "mine"\nskip = "never"'),
    ],
)
def test_a_changed_label_severity_or_name_keeps_the_version(change: tuple[str, str]) -> None:
    assert rubric(change).version == rubric().version


def test_the_schema_asks_for_every_criterion_and_for_evidence_before_the_verdict() -> None:
    schema = str(reply_schema(load_rubric("chunks")))
    for criterion in load_rubric("chunks").criterion_ids:
        assert criterion in schema
    assert schema.index("'findings'") < schema.index("'problem'")
