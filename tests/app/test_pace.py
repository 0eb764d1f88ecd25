"""How often the app looks for changes: often while anything goes on, seldom while all is calm."""

from __future__ import annotations

import pytest

from longjudge_tui import pace as paces
from longjudge_tui.pace import CALM_SECONDS, Pace


class Alarm:
    """Stands in for a timer."""

    def __init__(self) -> None:
        self.rests = False

    def pause(self) -> None:
        self.rests = True

    def resume(self) -> None:
        self.rests = False


@pytest.fixture
def now(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(paces, "monotonic", lambda: now[0])
    return now


def test_timers_rest_while_nothing_happens_and_go_on_with_the_first_thing(now):
    pace, alarm = Pace(), Alarm()
    pace.add(alarm)
    now[0] += CALM_SECONDS - 0.1
    pace.settle()
    assert not alarm.rests
    now[0] += 0.2
    pace.settle()
    assert (alarm.rests, pace.calm) == (True, True)
    pace.stir()
    assert (alarm.rests, pace.calm) == (False, False)
    now[0] += CALM_SECONDS - 0.1
    pace.settle()
    assert not pace.calm


async def test_a_calm_app_wakes_for_a_key_and_rests_no_more_while_something_runs(
    open_desk, write_session, now
):
    async with open_desk(write_session("s.jsonl", 3), gated=True) as desk:
        await desk.sees("r runs")
        app = desk.app
        await desk.until(lambda: not app.at_work, "nothing at work")
        now[0] += CALM_SECONDS + 0.1
        app._look_for_calm()
        assert app.pace.calm
        await desk.press("r")
        await desk.sees("◐ running")
        assert not app.pace.calm
        now[0] += CALM_SECONDS + 0.1
        app._look_for_calm()
        assert not app.pace.calm
        desk.judge.gate.set()
        await desk.sees("complete: ")
