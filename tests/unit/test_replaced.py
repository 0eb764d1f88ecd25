"""Counting what a run replaces: each secret once, each event looked through once, until stopped."""

from __future__ import annotations

import pytest

from longjudge import redaction, replaced
from longjudge.chunks import plan_chunks
from longjudge.huge import HUGE_CHARS, HugeTexts
from longjudge.prompt import build_question
from longjudge.replaced import ReplacedSecrets, count_secrets, secrets_words
from longjudge.rubric import load_rubric
from longjudge.sessions import model as sessions_model
from longjudge.sessions import session_from_events
from secrets_for_tests import planted

PLANTED = planted()


@pytest.fixture
def session():
    return session_from_events(
        [{"kind": "user_message", "text": f"{'y' * 90} {each.text}"} for each in PLANTED]
    )


@pytest.mark.parametrize("chunk_chars", [200, 1_000, 30_000])
def test_every_secret_is_counted_once_however_the_session_is_cut(session, chunk_chars: int) -> None:
    plan = plan_chunks(session.index, chunk_chars)
    counts = ReplacedSecrets(session).count(plan, range(len(plan)))
    assert counts is not None
    assert counts.total() == len(PLANTED)
    assert set(counts) == {each.kind for each in PLANTED}


def test_an_event_is_looked_through_once(session, monkeypatch: pytest.MonkeyPatch) -> None:
    secrets = ReplacedSecrets(session)
    first = secrets.count(plan_chunks(session.index, 1_000), range(3))
    assert first
    plan = plan_chunks(session.index, 1_000)
    monkeypatch.setattr(session.source, "record_events", None)
    assert secrets.count(plan, range(3)) == first


def test_a_count_that_is_stopped_says_nothing_and_is_made_whole_later(session) -> None:
    plan = plan_chunks(session.index, 1_000)
    secrets = ReplacedSecrets(session)
    answers = iter([False] * 20)
    assert secrets.count(plan, range(len(plan)), lambda: next(answers, True)) is None
    counts = secrets.count(plan, range(len(plan)))
    assert counts is not None
    assert counts.total() == len(PLANTED)


def test_of_short_texts_only_those_with_something_like_a_secret_are_looked_through(
    session, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [each.text for each in PLANTED]
    plain = ["ls src", "x = 1\nprint(x)", "größe 変更 " * 20]
    mixed = [text for each in texts for text in (*plain, each)]
    assert all(redaction.may_hold_secrets(mixed)[3::4])
    assert not any(redaction.may_hold_secrets(plain * 9))
    assert redaction.may_hold_secrets([]) == []
    # What two texts say together is no secret of either.
    assert not any(redaction.may_hold_secrets(["x" * 19, "x" * 19, "be", "arer"]))
    monkeypatch.setattr(replaced, "SHORT_CHARS", 0)
    plan = plan_chunks(session.index, 3_000)
    one_by_one = ReplacedSecrets(session).count(plan, range(len(plan)))
    monkeypatch.setattr(replaced, "SHORT_CHARS", 2_000)
    assert ReplacedSecrets(session).count(plan, range(len(plan))) == one_by_one


def test_a_count_tells_how_far_it_is(session) -> None:
    plan = plan_chunks(session.index, 1_000)
    secrets = ReplacedSecrets(session)
    seen: list[int] = []
    secrets.count(plan, range(len(plan)), lambda: seen.append(secrets.percent))
    assert seen == sorted(seen)
    assert seen[0] == 0
    assert seen[-1] > 50


async def test_counting_goes_on_beside_the_loop(session) -> None:
    plan = plan_chunks(session.index, 1_000)
    assert (await count_secrets(session, plan, range(len(plan)))).total() == len(PLANTED)
    assert not await count_secrets(session, plan, range(len(plan)), lambda: True)


@pytest.mark.parametrize(
    ("counts", "words"),
    [
        ({}, "no secrets found"),
        ({"password": 1}, "1 secret replaced (1 password)"),
        (
            {"password": 1, "github-token": 2},
            "3 secrets replaced (2 github-token, 1 password)",
        ),
    ],
)
def test_the_words_say_how_many_of_which_kind(counts: dict[str, int], words: str) -> None:
    assert secrets_words(counts) == words


async def test_a_huge_event_is_redacted_once_for_all_its_pieces(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    token = next(each for each in PLANTED if each.kind == "github-token").parts[0]
    text = f"{'y ' * (HUGE_CHARS // 2)} {token} "
    session = session_from_events([{"kind": "user_message", "text": text}])
    plan = plan_chunks(session.index, 100_000)
    redacted: list[int] = []

    def counted(text: str) -> redaction.Redacted:
        redacted.append(len(text))
        return redaction.redact(text)

    monkeypatch.setattr(sessions_model, "redact", counted)
    huge = HugeTexts(session, plan, redact=True)
    await huge.bring(0)
    assert len(redacted) == 1
    rubric = load_rubric("chunks")
    for position in range(len(plan)):
        await huge.bring(position)
        assert token not in build_question(session, plan, position, rubric).user
    assert len(redacted) == 1
