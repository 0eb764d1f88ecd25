"""What is found over and over: notes that say the same, whoever says it first, and where."""

from __future__ import annotations

from collections import Counter
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longjudge.aggregate.recurring import Found, Recurrences, Recurring
from longjudge.aggregate.similar import group_similar
from longjudge.aggregate.wording import words_of

CRITERIA = ("destructive_action", "broken_promise")
VERBS = ("deleted", "restored", "promised", "claimed", "pushed")
THINGS = ("the tests", "main", "3 files", "src/shop/tax.py", "`the log`", "everything")
ENDS = ("", " without asking", " without permission", " and never came back", " twice")

notes = st.builds(
    lambda verb, thing, end: f"{verb} {thing}{end}",
    st.sampled_from(VERBS),
    st.sampled_from(THINGS),
    st.sampled_from(ENDS),
) | st.text("aBcé字 `'\"/.1-\n\x00\ud800", max_size=30)
findings = st.builds(
    Found, st.sampled_from(CRITERIA), notes, st.none() | st.integers(0, 5), st.booleans()
)
judgments = st.lists(st.tuples(st.integers(0, 4), st.lists(findings, max_size=4)), max_size=8)


def gathered(given: list[tuple[int, list[Found], int]]) -> Recurrences:
    recurring = Recurring()
    for session, found, first in given:
        recurring.add(session, found, first)
    return recurring.result()


def numbered(given: list[tuple[int, list[Found]]]) -> list[tuple[int, list[Found], int]]:
    return [(session, found, number * 100) for number, (session, found) in enumerate(given)]


def of(*said: str, criterion: str = "a") -> Recurrences:
    """Each of these notes in a session of its own."""
    return gathered(
        numbered([(session, [Found(criterion, note, 7)]) for session, note in enumerate(said)])
    )


@settings(deadline=None)
@given(judgments, st.randoms(use_true_random=False))
def test_the_order_in_which_findings_are_met_changes_nothing(given, dice):
    met = numbered(given)
    shuffled = met.copy()
    dice.shuffle(shuffled)
    assert gathered(shuffled) == gathered(met)


@settings(deadline=None)
@given(judgments)
def test_every_finding_counts_once(given):
    # Events of their own, so that none is found again by another judgment.
    told = [(session, [each._replace(event=None) for each in found]) for session, found in given]
    result = gathered(numbered(told))
    wrong = sum(each.wrong for _, found in told for each in found)
    assert result.marked_wrong == wrong
    total = sum(group.count for group in result.groups) + result.alone + wrong
    assert total == sum(len(found) for _, found in told)
    numbers = {
        first + at: (session, each.criterion, each.wrong)
        for session, found, first in numbered(told)
        for at, each in enumerate(found)
    }
    for group in result.groups:
        assert group.count > 1
        examples = [numbers[number] for number in group.examples]
        assert {(criterion, wrong) for _, criterion, wrong in examples} == {
            (group.criterion, False)
        }
        assert len(examples) == len(set(group.examples)) == min(3, group.count)
        assert len({session for session, *_ in examples}) == min(3, group.sessions)


@settings(deadline=None)
@given(judgments)
def test_what_two_judgments_of_a_session_find_about_an_event_is_one_finding(given):
    once = numbered(given)
    again = [(session, found, first + 10_000) for session, found, first in once]
    placed = [
        (session, [each for each in found if each.event is not None], first)
        for session, found, first in (*once, *again)
    ]
    assert gathered(placed) == gathered(placed[: len(once)])


def test_two_findings_of_one_judgment_about_an_event_are_two():
    found = [Found("a", "deleted the log", 3), Found("a", "deletes the log", 3)]
    [group] = gathered([(1, found, 0)]).groups
    assert (group.count, group.sessions, group.examples) == (2, 1, (0, 1))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Force-pushed over main", "force pushed over MAIN."),
        ("deleted src/a.py recursively", "deleted C:\\data\\b recursively"),
        ("deleted `build` twice", 'deleted "dist" twice'),
        ("deleted 3 files", "deleted 12 files"),
        ("reverted a1b2c3d4e", "reverted 99ffee0"),
        ("cites config.yaml, which is not there", "cites notes.md which is not there"),
        ("didn't run the tests", "did not run the test"),
        ("The agent deletes backups", "deleting the backup"),
        ("copied secrets", "copies a secret"),
        ("ＤＥＬＥＴＥＤ the log", "deleted the log"),
    ],
)
def test_what_differs_from_case_to_case_does_not_count(one, other):
    assert words_of(one) == words_of(other)
    [group] = of(one, other).groups
    assert (group.count, group.sessions) == (2, 2)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("deleted the tests", "deleted the backups"),
        ("ran the tests", "did not run the tests at all although it said so"),
        ("cites a file that was never read", "promised to write the report"),
        ("12", "13"),
    ],
)
def test_what_says_something_else_stays_apart(one, other):
    result = of(one, other)
    assert (result.groups, result.alone) == ((), 2)


def test_notes_of_different_criteria_stay_apart():
    found = [Found("a", "deleted the log", 1), Found("b", "deleted the log", 2)]
    result = gathered([(1, found, 0)])
    assert (result.groups, result.alone) == ((), 2)


def test_the_note_that_is_shown_is_the_most_central_one_and_of_these_the_newest():
    said = (
        "force-pushed over main again",
        "Force-pushed over main",
        "force pushed main without asking",
        "git force-pushed over main",
        "force pushes main without asking",
        "agent force-pushes to main",
    )
    for order in permutations(range(len(said))):
        [group] = of(*(said[at] for at in order)).groups
        assert group.count == 6
        assert group.note == 100 * min(order.index(1), order.index(5))


def test_what_was_marked_wrong_does_not_recur():
    found = [Found("a", "deleted the log", event, wrong=event > 0) for event in range(4)]
    result = gathered([(1, found, 0)])
    assert (result.groups, result.alone, result.marked_wrong) == ((), 1, 3)


@pytest.mark.parametrize(
    "note", ["", " \n", "`only a quotation`", "12 34", "\ud800\x00", "…" * 5_000, "a" * 10**6]
)
def test_any_note_can_be_compared(note):
    assert words_of(note)
    [group] = of(note, note).groups
    assert group.count == 2


def test_a_script_without_spaces_is_compared_by_parts_of_its_words():
    [group] = of("未经允许删除了整个日志文件", "未经允许删除了日志文件").groups
    assert group.count == 2
    assert of("未经允许删除了日志文件", "从未运行过任何测试").groups == ()


words = st.lists(st.sampled_from("abcdefghij"), min_size=1, max_size=7, unique=True)


@settings(deadline=None)
@given(st.dictionaries(words.map(lambda each: tuple(sorted(each))), st.integers(1, 3), max_size=40))
def test_nothing_similar_is_overlooked(counts):
    """The short ways give what comparing everything with everything gives."""
    frequency = Counter(word for words in counts for word in words)

    def share(one, other):
        return len({*one} & {*other}) / len({*one} | {*other})

    expected: list[list[tuple[str, ...]]] = []
    for words in sorted(
        counts, key=lambda w: (-counts[w], -sum(frequency[x] for x in w) / len(w), w)
    ):
        best = max(expected, key=lambda group: share(words, group[0]), default=None)
        if best is not None and share(words, best[0]) > 0.5:
            best.append(words)
        else:
            expected.append([words])
    found = group_similar(counts)
    assert [sorted(group) for group in found] == [sorted(group) for group in expected]
