"""A folder that is a session itself is a row of the library and opens like a file."""

from __future__ import annotations

from opencode_storage_for_tests import opencode_storage


async def test_a_storage_folder_is_counted_in_the_library_and_opens(
    open_desk, write_session, tmp_path
):
    folder = opencode_storage(tmp_path / "opencode" / "storage")
    other = write_session("other.jsonl", 30)
    async with open_desk(folder, other) as desk:
        await desk.until(lambda: "opencode" in " ".join(desk.rows("sessions")))
        await desk.until(lambda: any("Tidy up" in row for row in desk.rows("sessions")))
        await desk.press("down", "enter")
        await desk.until(lambda: desk.bench.session is not None)
        assert desk.bench.session.format == "opencode"
        assert len(desk.bench.session.index) == 3
