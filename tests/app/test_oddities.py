"""What was odd in the open session's file: said in the title, and listed reason by reason."""

from __future__ import annotations


def shown(desk):
    return desk.app.screen.query_one("#full-title").text


async def test_each_oddity_is_listed_with_its_line_and_count(open_desk, write_session):
    path = write_session("a.jsonl", 6)
    records = path.read_bytes().splitlines(keepends=True)
    broken = [b'{"kind": "user_message", "te\n', b"[/red] no record\n", b"no record\n"]
    path.write_bytes(b"".join([records[0], *broken, *records[1:], b'{"kind": "user']))
    async with open_desk(path) as desk:
        await desk.sees("lines skipped (d)")
        await desk.press("d")
        await desk.until(lambda: desk.app.screen.query("#full-title"))
        await desk.until(lambda: "reading" not in shown(desk))
        await desk.sees("LOST, OR PERHAPS LOST")
        await desk.until(lambda: "⚠ 4 lines skipped" in shown(desk))
        await desk.sees("no complete JSON record (first in line 2, 3 times)")
        last = path.read_bytes().count(b"\n") + 1
        await desk.sees(f"still being written (line {last})")
        await desk.press("escape")
        await desk.until(lambda: not desk.app.screen.query("#full-title"))
