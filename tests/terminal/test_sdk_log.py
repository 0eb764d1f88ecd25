"""What the SDK logs never reaches the terminal that the app draws on; the log file has ours."""

from __future__ import annotations

from server import MessagesServer


def test_a_log_that_was_asked_for_draws_over_nothing(
    open_terminal, environment, small_session, tmp_path
):
    environment |= {"ANTHROPIC_LOG": "debug", "ANTHROPIC_API_KEY": "sk-for-tests"}
    with MessagesServer() as server:
        environment["ANTHROPIC_BASE_URL"] = server.base_url
        terminal = open_terminal("--model", "claude-haiku-5-5", small_session)
        terminal.ready()
        terminal.send("r")
        terminal.sees("complete: ")
        terminal.send("\x11")
        assert terminal.ended() == 0
        assert server.requests
    terminal.assert_restored()
    (path,) = tmp_path.rglob("longjudge.log")
    written = path.read_bytes()
    for logged in (b"Request options", b"HTTP Request", b"HTTP Response", b"DEBUG"):
        assert logged not in terminal.wire
        assert logged not in written
    assert b"opened: " in written
    assert b"run ended: complete" in written
    assert b"sk-for-tests" not in written
