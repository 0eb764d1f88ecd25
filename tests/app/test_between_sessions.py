"""The moments in which one session is there still, or no more, and the next one not yet."""

from __future__ import annotations

from longjudge.api import open_session
from longjudge_tui.workbench.screen import Workbench


async def opened(desk):
    """The larger one of the sessions is open."""
    await desk.until(lambda: len(desk.rows("sessions")) == 2)
    await desk.press("enter")
    await desk.until(lambda: desk.rows("chunks"))


async def test_what_a_load_that_nobody_waits_for_still_reports_is_not_shown(
    open_desk, write_session, monkeypatch
):
    reports = []

    async def reading(path, report, session):
        reports.append(report)
        return await open_session(path, report, session)

    monkeypatch.setattr("longjudge_tui.bench.opening.open_session", reading)
    paths = [write_session("a.jsonl", 20), write_session("b.jsonl", 10)]
    async with open_desk(*paths) as desk:
        await opened(desk)
        await desk.press("n")
        await desk.until(lambda: desk.bench.file.path == paths[1] and desk.bench.loading is None)
        reports[0](1, 2)
        await desk.pilot.pause()
        assert desk.bench.loading is None
        await desk.until(lambda: "reading" not in desk.lines[0])


async def test_keys_between_a_new_session_and_its_first_frame_end_nothing(
    open_desk, write_session, monkeypatch
):
    paths = [write_session("a.jsonl", 40), write_session("b.jsonl", 2)]
    async with open_desk(*paths) as desk:
        await opened(desk)
        await desk.press("tab", "down", "down", "down", "down", "down", "down")
        with monkeypatch.context() as patch:
            patch.setattr(Workbench, "tick", lambda self: None)
            desk.bench.step(1)
            await desk.until(lambda: desk.bench.session.name.endswith("b.jsonl"))
            await desk.press("up", "down", "enter")
        await desk.until(lambda: "b.jsonl" in desk.lines[0])
        await desk.sees("EVENTS of part 1")


async def test_nothing_is_asked_again_while_another_session_is_read(open_desk, write_session):
    paths = [write_session("a.jsonl", 30), write_session("b.jsonl", 20)]
    async with open_desk(*paths, gated=True) as desk:
        await opened(desk)
        await desk.press("r")
        await desk.sees("◐ running")
        await desk.press("x")
        await desk.until(lambda: not desk.bench.running)
        desk.bench.step(1)
        desk.bench.ask_again(0)
        assert not desk.bench.running
        await desk.until(lambda: "b.jsonl" in desk.lines[0])
        await desk.sees("the session is still being read")


async def test_a_slider_that_is_held_while_the_screen_changes_lets_go_of_the_mouse(
    open_desk, write_session
):
    paths = [write_session("a.jsonl", 40), write_session("b.jsonl", 2)]
    async with open_desk(*paths) as desk:
        await opened(desk)
        await desk.pilot.mouse_down("#slider", offset=(3, 0))
        assert desk.app.mouse_captured is not None
        await desk.press("escape")
        await desk.sees("SESSIONS 2")
        await desk.pilot.mouse_up("#sessions", offset=(5, 1))
        await desk.pilot.click("#sessions", offset=(10, 1))
        await desk.until(lambda: desk.rows("sessions")[1].startswith("▶"))
        await desk.press("enter")
        await desk.until(lambda: desk.bench.session.name.endswith("b.jsonl"))


async def test_a_slider_that_loses_its_room_lets_go_of_the_mouse(open_desk, write_session):
    async with open_desk(write_session("a.jsonl", 40)) as desk:
        await desk.until(lambda: desk.rows("chunks"))
        slider = desk.app.screen.query_one("#slider")
        await desk.pilot.mouse_down("#slider", offset=(3, 0))
        await desk.pilot.resize_terminal(80, 24)
        await desk.until(lambda: not slider.has_class("-held"))
        assert desk.app.mouse_captured is None
        await desk.pilot.click("#chunks", offset=(10, 2))
        await desk.until(lambda: desk.rows("chunks")[2].startswith("▶"))
