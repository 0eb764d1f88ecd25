"""The verdict key, part by part: what decides the answer changes it, and nothing else does."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING
from unittest.mock import patch

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from longjudge.chunks import plan_chunks
from longjudge.config import PriceTable, Profile
from longjudge.judges.access import profile_access
from longjudge.judges.anthropic import AnthropicJudge
from longjudge.judges.offline import OfflineJudge
from longjudge.keys import KeyMaker
from longjudge.rubric import Criterion, Rubric, load_rubric
from longjudge.sessions import load_session, session_from_events

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from longjudge.judges.base import Judge

Events = list[dict[str, object]]


@dataclass
class Named(OfflineJudge):
    """A judge of which only the names count."""

    named: str = "m"
    address: str = "https://a.example"
    asked_with: dict[str, str] = field(default_factory=lambda: {"effort": "low", "format": "1"})

    def __post_init__(self) -> None:
        super().__init__()

    @property
    def model(self) -> str:
        return self.named

    @property
    def endpoint(self) -> str:
        return self.address

    @property
    def parameters(self) -> Mapping[str, str]:
        return self.asked_with


RUBRIC = Rubric(
    name="mine",
    instructions="Look closely.",
    criteria=(
        Criterion(id="first", question="Was it kept?", label="Kept", severity="high"),
        Criterion(id="second", question="Was it said?"),
    ),
)
JUDGE = Named()
EVENTS: Events = [
    {"kind": "user_message", "text": "Tidy up."},
    {"kind": "tool_call", "tool": "Bash", "input": {"command": "ls"}, "call_id": "1"},
    {"kind": "tool_result", "output": "a b", "call_id": "1"},
    {"kind": "assistant_message", "text": "Done."},
]
few = settings(max_examples=25, deadline=None)
words = st.text(max_size=30)
kinds = st.sampled_from(["user_message", "assistant_message", "thinking", "system", "error"])
event = st.fixed_dictionaries({"kind": kinds, "text": st.text("ab \n", min_size=1, max_size=60)})
events = st.lists(event, min_size=1, max_size=6)


def keys(
    session: Events | Path = EVENTS,
    judge: Judge = JUDGE,
    rubric: Rubric = RUBRIC,
    *,
    limit: int = 30_000,
    redactor: str = "none",
) -> list[str]:
    read = session_from_events(session) if isinstance(session, list) else load_session(session)
    plan = plan_chunks(read.index, limit)
    return list(KeyMaker(judge, rubric, redactor=redactor).keys(plan))


BASE = keys()


def texts(session: Events) -> list[str]:
    read = session_from_events(session)
    return [read.text(number) for number in range(len(read.index))]


# What decides the answer.


@few
@given(words, words)
def test_the_model_changes_the_key(one: str, other: str) -> None:
    same = keys(judge=Named(one)) == keys(judge=Named(other))
    assert same == (one == other)


@few
@given(words, words)
def test_the_endpoint_changes_the_key(one: str, other: str) -> None:
    same = keys(judge=Named(address=one)) == keys(judge=Named(address=other))
    assert same == (one == other)


@few
@given(st.tuples(words, words, words), st.tuples(words, words, words))
def test_parts_of_the_key_do_not_run_into_each_other(
    one: tuple[str, str, str], other: tuple[str, str, str]
) -> None:
    first, second = (keys(judge=Named(a, b, {"x": c})) for a, b, c in (one, other))
    assert (first == second) == (one == other)


parameters = st.dictionaries(words, words, max_size=4)


@few
@given(parameters, parameters)
def test_every_request_parameter_changes_the_key(
    one: dict[str, str], other: dict[str, str]
) -> None:
    same = keys(judge=Named(asked_with=one)) == keys(judge=Named(asked_with=other))
    assert same == (one == other)


@pytest.mark.parametrize(
    ("place", "judge"),
    [
        ("longjudge.judges.anthropic.EFFORT", AnthropicJudge("m")),
        ("longjudge.judges.anthropic.REPLY_VERSION", AnthropicJudge("m")),
        ("longjudge.judges.offline.RULES_VERSION", OfflineJudge()),
    ],
)
def test_each_parameter_of_a_real_judge_changes_the_key(place: str, judge: Judge) -> None:
    rubric = load_rubric("chunks")
    base = keys(judge=judge, rubric=rubric)
    with patch(place, "another"):
        assert keys(judge=judge, rubric=rubric) != base


@few
@given(words)
def test_the_version_of_the_prompt_changes_the_key(version: str) -> None:
    with patch("longjudge.keys.PROMPT_VERSION", f"not {version}"):
        assert keys() != BASE


@few
@given(words)
def test_the_version_of_the_rendering_changes_the_key(version: str) -> None:
    with patch("longjudge.keys.RENDERING_VERSION", f"not {version}"):
        assert keys() != BASE


@few
@given(words, words)
def test_the_redactor_changes_the_key(one: str, other: str) -> None:
    assert (keys(redactor=one) == keys(redactor=other)) == (one == other)


def _asked(rubric: Rubric) -> list[object]:
    return [rubric.instructions, *((one.id, one.question) for one in rubric.criteria)]


names = st.from_regex(r"\A[a-z][a-z0-9_]{0,5}\Z")
questions = st.text(min_size=1, max_size=20)
rubrics = st.builds(
    lambda instructions, asked: Rubric(
        name="r",
        instructions=instructions,
        criteria=tuple(Criterion(id=name, question=text) for name, text in asked.items()),
    ),
    words,
    st.dictionaries(names, questions, min_size=1, max_size=4),
)


@few
@given(rubrics, rubrics)
def test_the_rubric_changes_the_key(one: Rubric, other: Rubric) -> None:
    same = keys(rubric=one) == keys(rubric=other)
    assert same == (_asked(one) == _asked(other))


@few
@given(words)
def test_the_instructions_change_the_key(more: str) -> None:
    changed = RUBRIC.model_copy(update={"instructions": f"{RUBRIC.instructions}{more}!"})
    assert keys(rubric=changed) != BASE


def _with_criterion(number: int, **change: str) -> Rubric:
    criteria = list(RUBRIC.criteria)
    criteria[number] = criteria[number].model_copy(update=change)
    return RUBRIC.model_copy(update={"criteria": tuple(criteria)})


@few
@given(st.sampled_from([0, 1]), questions)
def test_the_question_of_a_criterion_changes_the_key(number: int, question: str) -> None:
    assume(question != RUBRIC.criteria[number].question)
    assert keys(rubric=_with_criterion(number, question=question)) != BASE


@few
@given(st.sampled_from([0, 1]), names)
def test_the_id_of_a_criterion_changes_the_key(number: int, name: str) -> None:
    assume(name not in RUBRIC.criterion_ids)
    assert keys(rubric=_with_criterion(number, id=name)) != BASE


@few
@given(st.permutations([0, 1, 2]))
def test_the_order_of_the_criteria_changes_the_key(order: list[int]) -> None:
    # Their order is that of the questions in the prompt.
    three = (*RUBRIC.criteria, Criterion(id="third", question="Was it?"))
    whole = RUBRIC.model_copy(update={"criteria": three})
    turned = RUBRIC.model_copy(update={"criteria": tuple(three[number] for number in order)})
    assert (keys(rubric=turned) == keys(rubric=whole)) == (order == [0, 1, 2])


@few
@given(events, events)
def test_the_texts_of_the_events_change_the_key(one: Events, other: Events) -> None:
    assert (keys(one) == keys(other)) == (texts(one) == texts(other))


@few
@given(events, st.integers(0, 5), kinds)
def test_the_kind_of_an_event_changes_the_key(session: Events, number: int, kind: str) -> None:
    number %= len(session)
    assume(session[number]["kind"] != kind)
    changed = [*session]
    changed[number] = session[number] | {"kind": kind}
    assert keys(changed) != keys(session)


@few
@given(names, names)
def test_the_tool_of_a_call_changes_the_key(one: str, other: str) -> None:
    first, second = ([EVENTS[1] | {"tool": tool}] for tool in (one, other))
    assert (keys(first) == keys(second)) == (one == other)


@few
@given(st.lists(event, min_size=2, max_size=6), st.randoms(use_true_random=False))
def test_the_order_of_the_events_changes_the_key(session: Events, chance: random.Random) -> None:
    turned = chance.sample(session, len(session))
    assert (keys(turned) == keys(session)) == (texts(turned) == texts(session))


def _late_result(command: str, told: str = "x" * 250) -> Events:
    """The result stands in another chunk than its call, whose line is shown before it."""
    return [
        {"kind": "tool_call", "tool": "Bash", "input": {"command": command}, "call_id": "1"},
        {"kind": "user_message", "text": told},
        {"kind": "tool_result", "output": "y" * 40, "call_id": "1"},
    ]


@few
@given(st.text("abc", max_size=8), st.text("abc", max_size=8))
def test_a_call_that_is_shown_as_context_changes_the_key(one: str, other: str) -> None:
    first, second = (keys(_late_result(command), limit=280) for command in (one, other))
    assert len(first) == 3
    assert (first[-1] == second[-1]) == (one == other)
    alone: Events = [{"kind": "tool_result", "output": "y" * 40}]
    assert keys(alone) != first[-1:]


@few
@given(st.integers(200, 900), st.integers(200, 900))
def test_a_piece_changes_the_key(one: int, other: int) -> None:
    session = session_from_events([{"kind": "user_message", "text": "abc" * 300}])
    maker, found = KeyMaker(JUDGE, RUBRIC), dict[tuple[int, int], str]()
    for limit in (one, other):
        plan = plan_chunks(session.index, limit)
        for chunk, key in zip(plan, maker.keys(plan), strict=True):
            assert chunk.piece is not None
            # A piece that begins and ends where one of another size does holds the same text.
            assert found.setdefault((chunk.piece.start, chunk.piece.end), key) == key
    assert len(set(found.values())) == len(found)


@few
@given(st.text("ab", min_size=1, max_size=5))
def test_a_piece_of_another_event_has_another_key(end: str) -> None:
    # What a piece belongs to stands before it in the prompt, and is a part of the whole.
    one, other = (
        keys([{"kind": "user_message", "text": "x" * 290 + rest}], limit=200) for rest in ("", end)
    )
    assert not set(one) & set(other)


# What does not.


@few
@given(st.integers(1, 5))
def test_the_number_of_the_part_leaves_the_key(parts: int) -> None:
    before: Events = [{"kind": "user_message", "text": f"{n}" + "z" * 430} for n in range(parts)]
    assert keys([*before, *EVENTS], limit=450)[parts:] == BASE


@few
@given(st.integers(1, 5))
def test_the_count_of_chunks_leaves_the_key(parts: int) -> None:
    after: Events = [{"kind": "user_message", "text": f"{n}" + "z" * 440} for n in range(parts)]
    assert keys([*EVENTS, *after], limit=450)[0] == BASE[0]


@few
@given(st.integers(200, 1_000_000))
def test_the_size_of_the_chunks_leaves_the_key_of_equal_ones(limit: int) -> None:
    assert keys(limit=limit) == BASE


@pytest.mark.parametrize("name", ["a.jsonl", "b/other name.jsonl", "c/deep/er/ä.jsonl"])
def test_path_and_name_of_the_file_leave_the_key(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(one) + "\n" for one in EVENTS), encoding="utf-8")
    assert keys(path) == BASE


@pytest.mark.parametrize("extra", [{}, {"title": "A title"}, {"title": "b", "session_id": "7"}])
def test_title_and_id_of_the_session_leave_the_key(
    tmp_path: Path, extra: dict[str, object]
) -> None:
    path = tmp_path / "session.json"
    path.write_text(json.dumps({"events": EVENTS} | extra), encoding="utf-8")
    assert keys(path) == BASE


@few
@given(st.lists(st.datetimes(), min_size=4, max_size=4))
def test_times_leave_the_key(times: Sequence[object]) -> None:
    timed = [one | {"timestamp": str(at)} for one, at in zip(EVENTS, times, strict=True)]
    assert keys(timed) == BASE


@few
@given(st.text(min_size=1, max_size=20))
def test_ids_leave_the_key(call_id: str) -> None:
    changed = [one | ({"call_id": call_id} if "call_id" in one else {}) for one in EVENTS]
    assert keys([one | {"id": f"{call_id}{n}"} for n, one in enumerate(changed)]) == BASE


@few
@given(names)
def test_the_name_of_the_thread_leaves_the_key(name: str) -> None:
    started: Events = [{"kind": "assistant_message", "text": "main", "agent": "zz main"}]
    other: Events = [one | {"agent": f"helper {name}"} for one in EVENTS]
    session = session_from_events([*started, *other])
    assert [thread.name for thread in session.index.threads][1:] == [f"helper {name}"]
    assert keys([*started, *other])[1:] == BASE


@few
@given(st.integers(1, 100_000))
def test_the_token_cap_leaves_the_key(cap: int) -> None:
    judge = AnthropicJudge("m")
    base = keys(judge=judge)
    with (
        patch("longjudge.retries.MAX_TOKENS", cap),
        patch("longjudge.retries.MORE_TOKENS", 2 * cap),
    ):
        assert keys(judge=judge) == base


@few
@given(words, words)
def test_label_and_severity_of_a_criterion_leave_the_key(label: str, severity: str) -> None:
    assert keys(rubric=_with_criterion(0, label=label, severity=severity)) == BASE


@few
@given(st.from_regex(r"\A[a-z.-]{1,20}\Z"), words)
def test_name_and_label_of_the_rubric_leave_the_key(name: str, label: str) -> None:
    assert keys(rubric=RUBRIC.model_copy(update={"name": name, "label": label})) == BASE


@few
@given(st.permutations(["a", "b", "c", "d"]))
def test_the_order_of_the_parameters_leaves_the_key(order: list[str]) -> None:
    asked, turned = ({name: f"={name}" for name in each} for each in ("abcd", order))
    assert keys(judge=Named(asked_with=asked)) == keys(judge=Named(asked_with=turned))


PROFILE = Profile(model="m", base_url="http://127.0.0.1:8080", key_variable="MY_KEY")


@pytest.mark.parametrize(
    ("name", "profile"),
    [
        ("other", PROFILE),
        ("mine", PROFILE.model_copy(update={"key_variable": "ANOTHER_KEY"})),
        ("mine", PROFILE.model_copy(update={"key_variable": None})),
        ("mine", PROFILE.model_copy(update={"stream": True})),
        ("mine", PROFILE.model_copy(update={"base_url": "http://127.0.0.1:8080/"})),
        ("mine", PROFILE.model_copy(update={"price": PriceTable(input=1.0, output=2.0)})),
    ],
    ids=["name", "credential", "no credential", "stream", "slash", "price"],
)
def test_what_a_profile_says_beside_model_and_address_leaves_the_key(
    name: str, profile: Profile, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = keys(judge=AnthropicJudge("m", access=profile_access("mine", PROFILE)))
    monkeypatch.setenv("MY_KEY", "sk-another")
    assert keys(judge=AnthropicJudge("m", access=profile_access(name, profile))) == base
    elsewhere = replace(profile_access(name, profile), base_url="http://127.0.0.1:8081")
    assert keys(judge=AnthropicJudge("m", access=elsewhere)) != base
