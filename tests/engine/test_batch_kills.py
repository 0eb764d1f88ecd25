"""`judge --batch` killed at any step: nothing twice, nothing lost, no batch that nobody shows."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

import pytest

from batch_kills import AT_ONCE, CHUNKS, Figures, Stage, Story, play, script, stage
from batch_server import ACCEPT_AND_DROP, ACCEPT_AND_HANG, HANG, Cut
from server import FOREVER, MessagesServer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def by_hand(*values: object) -> object:
    """A case that is run with the thorough tests."""
    return pytest.param(*values, marks=pytest.mark.thorough)


BATCHES = -(-CHUNKS // AT_ONCE)
HUNDRED = 100


@pytest.fixture(scope="module")
def at(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    with stage(tmp_path_factory.mktemp("batch_kills")) as made:
        yield made


@pytest.fixture
def story(at: Stage) -> Iterator[Story]:
    with MessagesServer(script) as server:
        yield Story(at, server)


@pytest.mark.parametrize(
    ("step", "times", "sent"),
    [
        by_hand("intent", 1, 0),
        by_hand("intent", 2, 1),
        ("intent.", 1, 0),
        by_hand("create", BATCHES, BATCHES - 1),
        by_hand("create.", 1, 1),
        ("name", 1, 1),
        ("name.", 1, 1),
        by_hand("name", BATCHES, BATCHES),
    ],
)
def test_killed_while_it_sends(story: Story, step: str, times: int, sent: int) -> None:
    story.server.batches.latency = FOREVER
    process = story.begin(step, times)
    assert process.runs_until("stopped")
    story.kill(process)
    assert len(story.server.batches.own) == sent
    story.finish()
    assert len(story.server.batches.own) == BATCHES
    assert story.figures.questions == CHUNKS


@pytest.mark.parametrize("accepted", [False, True], ids=["not accepted", "accepted"])
def test_killed_before_it_hears_whether_a_batch_was_accepted(story: Story, accepted: bool) -> None:
    batches = story.server.batches
    batches.latency = FOREVER
    batches.create_script = lambda number: ACCEPT_AND_HANG if accepted else HANG
    process = story.begin()
    story.server.wait_for(lambda: batches.called["create"] == 1 and len(batches.own) == accepted)
    story.kill(process)
    # What nobody knows by its name stands with its questions.
    [hold] = story.batch_holds()
    assert (hold["state"], hold["alive"]) == ("abandoned", False)
    assert hold["detail"].startswith(f"{AT_ONCE} questions")
    story.finish()
    assert story.figures.questions == CHUNKS


def test_killed_while_it_looks_at_what_is_in_progress(story: Story) -> None:
    batches = story.server.batches
    batches.latency = FOREVER
    batches.retrieve_script = lambda _: HANG
    process = story.begin()
    story.server.wait_for(lambda: batches.called["retrieve"] == BATCHES)
    story.kill(process)
    assert {hold["id"] for hold in story.batch_holds()} == {batch.id for batch in batches.own}
    story.finish()
    assert batches.called["create"] == BATCHES


@pytest.mark.parametrize(
    ("step", "times", "kept"),
    [
        by_hand("harvest", 1, 0),
        by_hand("keep", 1, 0),
        ("keep.", 1, 2),
        by_hand("outcomes", 1, 2),
        ("outcomes.", 1, 2),
        by_hand("keep.", 2 * BATCHES, 6),
        by_hand("harvest.", 1, AT_ONCE),
        by_hand("note", 1, AT_ONCE),
        ("note.", 1, AT_ONCE),
        by_hand("note.", BATCHES, CHUNKS),
        ("result", 1, CHUNKS),
        by_hand("result.", 1, CHUNKS),
        by_hand("leave", 1, CHUNKS),
        by_hand("leave.", 1, CHUNKS),
    ],
)
def test_killed_while_it_brings_results_home(
    story: Story, step: str, times: int, kept: int
) -> None:
    process = story.begin(step, times)
    assert process.runs_until("stopped")
    story.kill(process)
    assert len(story.kept) >= kept - 1
    calls = story.server.batches.called["results"]
    story.finish()
    # Nothing is sent again, and what is home already is not fetched again.
    assert story.figures.questions == CHUNKS
    if kept == CHUNKS:
        assert story.server.batches.called["results"] == calls


@pytest.mark.parametrize("half", [by_hand(False), True])
def test_killed_in_the_middle_of_results(story: Story, half: bool) -> None:
    batches = story.server.batches
    batches.results_script = lambda _: Cut(3, half=half, ending="hang")
    process = story.begin()
    assert process.runs_until("outcomes.", BATCHES)
    story.kill(process)
    assert 2 <= len(story.kept) < CHUNKS
    story.finish()
    assert story.figures.questions == CHUNKS


@pytest.mark.parametrize(
    ("step", "sent"),
    [
        by_hand("want", 0),
        ("want.", 0),
        by_hand("cancel", 0),
        ("cancel.", 1),
        by_hand("leave", BATCHES),
    ],
)
def test_killed_while_it_cancels(story: Story, step: str, sent: int) -> None:
    batches = story.server.batches
    batches.latency, batches.done_at_cancel = FOREVER, 0.5
    process = story.begin(step)
    assert process.runs_until("name.", BATCHES)
    process.signal(signal.SIGTERM)
    assert process.runs_until("stopped")
    story.kill(process)
    assert sum(batch.cancels > 0 for batch in batches.own) >= sent
    details = [hold["detail"] for hold in story.batch_holds()]
    if step not in ("want", "leave"):
        assert all("cancel" in detail for detail in details), details
    story.finish()
    if step != "want":
        assert all(batch.cancels for batch in batches.own[:BATCHES])


def test_killed_during_the_call_to_cancel(story: Story) -> None:
    batches = story.server.batches
    batches.latency, batches.cancel_latency = FOREVER, FOREVER
    batches.cancel_script = lambda _: ACCEPT_AND_HANG
    process = story.begin()
    assert process.runs_until("name.", BATCHES)
    process.signal(signal.SIGTERM)
    story.server.wait_for(lambda: batches.called["cancel"] == BATCHES)
    story.kill(process)
    assert all("to be cancelled" in hold["detail"] for hold in story.batch_holds())
    story.finish()


def test_a_cancel_is_sent_though_a_look_hangs(story: Story) -> None:
    batches = story.server.batches
    batches.latency = FOREVER
    batches.retrieve_script = lambda number: HANG if number <= BATCHES else None
    process = story.begin()
    story.server.wait_for(lambda: batches.called["retrieve"] == BATCHES)
    story.stop(process)
    assert process.code == 143
    assert all(batch.cancels for batch in batches.own)
    assert story.batch_holds() == []
    story.finish()


@pytest.mark.parametrize(
    "step", [by_hand("take_over"), "take_over.", "withdraw", by_hand("withdraw.")]
)
def test_killed_while_it_takes_over_what_another_left(story: Story, step: str) -> None:
    batches = story.server.batches
    batches.create_script = lambda _: HANG
    first = story.begin()
    story.server.wait_for(lambda: batches.called["create"] == 1)
    story.kill(first)
    batches.create_script = lambda _: None
    second = story.begin(step)
    assert second.runs_until("stopped")
    story.kill(second)
    story.finish()
    assert story.figures.questions == CHUNKS


def test_one_of_two_that_is_killed_leaves_its_batches_to_the_other(story: Story) -> None:
    batches = story.server.batches
    batches.latency = FOREVER
    first = story.begin()
    assert first.runs_until("name.", BATCHES)
    second = story.begin()
    assert second.runs_until("on_the_way.", 2)
    story.kill(first)
    batches.finish()
    assert second.end() == 0, second.err
    [result] = second.results
    assert (result["status"], result["calls"]) == ("complete", 0)
    story.finish()
    assert batches.called["create"] == BATCHES


def test_a_stop_cancels_what_nobody_knows_to_be_accepted_once_it_is_found(story: Story) -> None:
    batches = story.server.batches
    batches.latency = FOREVER
    batches.create_script = lambda number: ACCEPT_AND_DROP if number == 1 else None
    process = story.begin()
    assert process.runs_until("name.", BATCHES - 1)
    process.signal(signal.SIGTERM)
    assert process.runs_until("cancel.", BATCHES - 1)
    # It is not cancelled on a guess; the others have ended.
    assert batches.own[0].cancels == 0
    batches.finish()
    assert process.end() == 143
    assert story.batch_holds() == []
    story.finish()


@pytest.mark.parametrize("seed", range(1, 4))
def test_killed_at_random_moments_nothing_is_lost_or_asked_twice(at: Stage, seed: int) -> None:
    play(at, seed)


@pytest.mark.thorough
def test_of_100_kills_at_random_moments_none_loses_anything(
    at: Stage, record_property: Callable[[str, object], None]
) -> None:
    figures, seed = Figures(), 100
    while figures.kills < HUNDRED:
        seed += 1
        try:
            figures += play(at, seed)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {error}") from error
    record_property("figures", str(figures))
    assert figures.twice == 0
