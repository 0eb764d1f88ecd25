"""An editor with a window of its own, and one that this terminal cannot be lent to."""

from __future__ import annotations

import gzip

SCRIPT = """#!/bin/sh
for last; do :; done
{ echo "$@"; cat "${last%:*}" 2>/dev/null; } > "$0.said.new"
mv "$0.said.new" "$0.said"
exit ${CODE:-0}
"""


async def test_an_editor_with_a_window_gets_the_line_and_a_copy_of_what_is_packed(
    open_desk, write_session, tmp_path, monkeypatch
):
    code = tmp_path / "bin" / "code"
    code.parent.mkdir()
    code.write_text(SCRIPT)
    code.chmod(0o755)
    said = code.with_name("code.said")
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", f"{code} --reuse-window")
    plain = write_session("a.jsonl", 6)
    packed = tmp_path / "b.jsonl.gz"
    packed.write_bytes(gzip.compress(write_session("b.jsonl", 4).read_bytes()))
    async with open_desk(plain, packed) as desk:
        await desk.sees("6 events")
        await desk.press("enter")
        await desk.until(lambda: desk.rows("events"))
        await desk.press("tab", "down", "E")
        await desk.sees("code opens the file at line 2")
        assert said.read_text().split()[:3] == ["--reuse-window", "-g", f"{plain}:2"]
        monkeypatch.setenv("CODE", "3")
        await desk.press("n")
        await desk.sees("b.jsonl.gz")
        await desk.until(lambda: desk.rows("events"))
        await desk.press("E")
        await desk.sees("code ended with code 3")
        await desk.sees("packed, or a database")
        arguments, _, record = said.read_text().partition("\n")
        assert "event-" in arguments
        assert '"kind": "tool_call"' in record
        monkeypatch.setenv("EDITOR", str(code.rename(code.with_name("plain-editor"))))
        await desk.press("E")
        await desk.sees("this terminal cannot be lent to an editor")
        assert any("code had the file at line 2" in line.words for line in desk.bench.log.since(0))
