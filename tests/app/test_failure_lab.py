"""Forced failures: picked or typed, said on every screen, and gone once they are turned off."""

from __future__ import annotations

from dataclasses import replace

import pytest

from longjudge.faults import KINDS, Fault, FaultKind
from longjudge.states import ChunkState, GapReason
from longjudge_tui.lab import reach, wishes


def ended(desk):
    return lambda: desk.bench.run is not None and desk.bench.run.result is not None


def gaps(desk):
    return {record.reason for record in desk.bench.run._board.chunks if record.reason}


async def open_lab(desk):
    await desk.until(lambda: desk.rows("chunks"))
    await desk.press("F")
    await desk.sees("FAILURE LAB")


def down_to(name):
    names = [name for name, _ in wishes.kinds()]
    return ["home", *["down"] * names.index(name)]


@pytest.mark.parametrize("size", [(120, 40), pytest.param((80, 24), marks=pytest.mark.thorough)])
async def test_a_picked_failure_is_forced_until_it_is_turned_off(open_desk, write_session, size):
    async with open_desk(write_session("a.jsonl", 12), size=size) as desk:
        await open_lab(desk)
        await desk.press(*down_to("badjson"))
        await desk.sees("every chunk: the reply's JSON is broken")
        await desk.press("enter")
        await desk.sees("FORCED FAILURES badjson")
        await desk.press("r")
        await desk.until(ended(desk))
        await desk.until(lambda: "FORCED FAILURES badjson" in desk.title("status"))
        assert gaps(desk) == {GapReason.UNPARSABLE}
        await desk.until(lambda: "unparsable" in desk.rows("chunks")[0])
        assert desk.bench.run.result.fault == "badjson"
        assert not await desk.bench.store.all_keys()
        await desk.press("F", "home", "enter")
        await desk.until(lambda: "FORCED" not in desk.lines[0])
        await desk.until(lambda: "FORCED FAILURES badjson" in desk.title("status"))
        await desk.press("r")
        await desk.until(lambda: ended(desk)() and not gaps(desk))
        await desk.until(lambda: "FORCED" not in desk.text)


async def test_where_how_often_and_the_value_are_picked_by_keys(open_desk, write_session):
    async with open_desk(write_session("a.jsonl", 12)) as desk:
        await desk.until(lambda: desk.rows("chunks"))
        await desk.press("down", "F", *down_to("slow"), "w", "n", "n", "v")
        await desk.sees("slow=0.5x2@2")
        await desk.sees("part 2: the answer comes 0.5 s late, for the first 2 questions")
        await desk.sees("meets 1 of 6 chunks (2), 1 of them to ask")
        await desk.press("w")
        await desk.sees("part 2-6: the answer comes")
        await desk.press("w")
        await desk.sees("30 % of the chunks: ")
        await desk.click("#option-how-often")
        await desk.sees("slow=0.5x3@30%")
        # What stands is picked again when it is opened again, and nothing is where it was typed.
        await desk.press("enter", "F")
        await desk.sees("‹first 3›")
        await desk.sees("‹30 %›")
        await desk.press("s", "backspace", *"+drop@2")
        await desk.until(lambda: "‹" not in desk.text)


async def test_a_typed_spec_is_used_and_a_wrong_one_changes_nothing(open_desk, write_session):
    async with open_desk(write_session("a.jsonl", 12)) as desk:
        await open_lab(desk)
        await desk.press("s", *"drop@2-", "enter")
        await desk.sees("✗ ")
        assert desk.bench.forcing.fault is None
        await desk.press(*"3+refusal@5", "enter")
        await desk.sees("FORCED FAILURES drop@2-3+refusal@5")
        await desk.press("F")
        await desk.sees("part 5: the judge refuses to answer")
        await desk.press("escape", "r")
        await desk.until(lambda: desk.bench.run and desk.bench.run.is_gap(4))
        assert desk.bench.run.record(4).reason is GapReason.REFUSED
        await desk.press("x")
        await desk.until(ended(desk))


async def test_what_is_typed_in_one_burst_is_counted_once_and_much_counting_never(
    open_desk, write_session, monkeypatch
):
    async with open_desk(write_session("a.jsonl", 12)) as desk:
        await open_lab(desk)
        lab, counted = desk.app.screen, []
        foresee = lab._scene.foresee
        lab._scene = replace(
            lab._scene, foresee=lambda fault: counted.append(fault) or foresee(fault)
        )
        field = lab.query_one("#spec")
        for part in range(1, 30):
            field.value = f"drop@{part}"
        await desk.sees("part 29: the connection breaks")
        assert [fault.spec for fault in counted] == ["drop@29"]
        await desk.sees("meets 0 of 6 chunks, 0 of them to ask")
        monkeypatch.setattr(reach, "MOST_LOOKS", 11)
        field.value = "drop@1,3"
        await desk.sees("part 1,3: the connection breaks")
        await desk.until(lambda: "meets" not in desk.text)


async def test_the_lab_says_that_nothing_can_fail_where_all_is_kept(open_desk, write_session):
    async with open_desk(write_session("a.jsonl", 3)) as desk:
        await desk.until(lambda: desk.rows("chunks"))
        await desk.press("r")
        await desk.until(ended(desk))
        await desk.press("F")
        await desk.sees("another chunk size ([ ]) asks anew")
        await desk.press(*down_to("empty"), "enter", "r")
        await desk.sees("nothing is asked and nothing can fail")
        await desk.press("plus", "r")
        await desk.until(lambda: ended(desk)() and gaps(desk) == {GapReason.UNPARSABLE})


async def test_the_library_forces_the_same_failure(open_desk, write_session):
    files = write_session("a.jsonl", 3), write_session("b.jsonl", 2)
    async with open_desk(*files, size=(80, 24)) as desk:
        await desk.until(lambda: desk.rows("sessions"))
        await desk.press("F", *down_to("timeout"), "enter")
        await desk.until(lambda: "FORCED FAILURES timeout" in desk.lines[0])
        await desk.press("r")
        await desk.until(lambda: "judging" in desk.row("a.jsonl"))
        await desk.press("x")
        # What the rest would cost, which is known as well, has no room beside it.
        await desk.until(lambda: "forced: cancelled" in desk.row("a.jsonl"))
        await desk.press("F")
        await desk.sees("enter uses it · esc closes · offline rules · FORCED FAILURES timeout")


async def test_a_crash_ends_the_app_after_so_many_verdicts_of_each_run(open_desk, write_session):
    died = []
    async with open_desk(write_session("a.jsonl", 12), concurrency=1) as desk:
        desk.bench.forcing.kill = died.append
        desk.bench.forcing.fault = Fault.parse("crash=2")
        await desk.until(lambda: desk.rows("chunks"))
        await desk.press("r")
        await desk.until(ended(desk))
        assert died == ["crash=2"]
        states = [record.state for record in desk.bench.run._board.chunks]
        assert set(states) == {ChunkState.CLEAN}


def test_every_kind_says_what_it_does():
    for kind in KINDS:
        value = wishes.values(kind.name)[0].spec
        fault = Fault.parse(f"{kind.name}{value}")
        assert len(wishes.words_of(fault)) == 1
        assert fault.forced[0].kind is FaultKind(kind.name)
