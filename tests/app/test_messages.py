"""Messages that pop up: the same one once at a time, and never so many that they hide the rest."""

from __future__ import annotations

from longjudge_tui.app import MOST_MESSAGES


async def test_the_same_message_stands_once_and_the_oldest_make_room(open_desk, write_session):
    async with open_desk(write_session("a.jsonl", 3)) as desk:
        await desk.until(lambda: desk.rows("chunks"))

        def toasts():
            return len(desk.app.screen.query("Toast"))

        desk.bench.notices += ["the same"] * 50
        await desk.sees("the same")
        await desk.press("x", "x", "x")
        await desk.sees("nothing is being judged")
        assert toasts() == 2
        desk.bench.notices += [f"message {number}" for number in range(20)]
        await desk.sees("message 19")
        await desk.until(lambda: toasts() == MOST_MESSAGES)
        await desk.until(lambda: "the same" not in desk.text)
