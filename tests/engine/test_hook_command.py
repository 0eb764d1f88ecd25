"""`longjudge hook` as agents call it, by the very command lines and settings of docs/hooks.md."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import textwrap
import time
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import claude_code_records as claude
import codex_records as codex
import server as api
from commands_for_tests import longjudge
from longjudge.cli import hook_calls
from longjudge.cli.background import hook_log_path
from longjudge.paths import sample_sessions
from server import MessagesServer, held
from sessions_for_tests import CHUNK_CHARS, events, item_of, write_events

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

DOCS = Path(__file__).parents[2] / "docs/hooks.md"
PROGRAMS = Path(sys.executable).parent
PATIENCE = 60
ID = "0199f3a1-7c2e-7b40-9d11-3c0de5e55a10"
OFFLINE = ("--model", "offline")
LONG_SAMPLE = sample_sessions() / "checkout-refactor.jsonl"


@pytest.fixture(autouse=True)
def _no_process_is_left(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, _own_environment: None
) -> Iterator[None]:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-test")
    monkeypatch.setenv("PATH", f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.chdir(tmp_path)
    yield
    for pid in re.findall(r"\[(\d+)\]", log()):
        # A number may have been given out again.
        with contextlib.suppress(OSError):
            if b"--in-background" in Path("/proc", pid, "cmdline").read_bytes():
                os.kill(int(pid), signal.SIGTERM)


def block(language: str, heading: str) -> str:
    """The first code block of a language below a heading, or a bold word, of the docs."""
    text = DOCS.read_text(encoding="utf-8").partition(heading)[2]
    found = re.search(rf"```{language}\n(.*?)\n *```", text, re.S)
    assert found is not None, heading
    return textwrap.dedent(found[1])


def documented_hook(heading: str) -> dict[str, Any]:
    """The one hook of `SessionEnd` in the settings that are to be pasted."""
    settings = json.loads(block("json", heading))
    [group] = settings["hooks"]["SessionEnd"]
    [handler] = group["hooks"]
    assert handler["type"] == "command"
    return handler


def call(
    *words: object, handed: bytes | None = None, cwd: Path | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Call a program as an agent does, to its end; what it leaves open would hang this."""
    return subprocess.run(
        [str(word) for word in words],
        input=b"" if handed is None else handed,
        capture_output=True,
        timeout=PATIENCE,
        check=False,
        cwd=cwd,
    )


def hook(*words: object, handed: bytes | None = None) -> None:
    """Call `longjudge hook`, which says nothing to the agent."""
    done = call("longjudge", "hook", *words, handed=handed)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def ended(path: Path | None, event: str = "SessionEnd", id: str = ID) -> bytes:
    """What Claude Code, and Codex, hand over when a session ends."""
    told = {
        "session_id": id,
        "transcript_path": None if path is None else str(path),
        "cwd": str(Path.cwd()),
        "hook_event_name": event,
        "reason": "other",
    }
    return json.dumps(told).encode()


def written_long_ago(path: Path) -> Path:
    os.utime(path, (1.7e9, 1.7e9))
    return path


def claude_session(folder: Path) -> Path:
    path = folder / f"{ID}.jsonl"
    calls = claude.assistant(claude.call("Bash", "t1", command="git push --force origin main"))
    answers = claude.user([claude.result("done", "t1")])
    path.write_bytes(claude.jsonl([claude.user("Ship it."), calls, answers]))
    return path


def codex_session(home: Path) -> Path:
    folder = home / "sessions/2026/08/03"
    folder.mkdir(parents=True)
    path = folder / f"rollout-2026-08-03T10-48-56-{ID}.jsonl"
    calls = [codex.call("c1", "shell", command="rm -rf build"), codex.output("c1", "")]
    path.write_bytes(codex.jsonl([codex.meta(ID), codex.said("user", "Clean up."), *calls]))
    return written_long_ago(path)


def log() -> str:
    try:
        return hook_log_path().read_text(encoding="utf-8")
    except OSError:
        return ""


def until(condition: Callable[[], object]) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, log()
        time.sleep(0.02)


def judged(count: int = 1) -> list[dict[str, Any]]:
    """What `results` tells, newest first, once so many judgments are over and their process too."""
    until(lambda: log().count("exit code") >= count)
    done = longjudge("results", "--json")
    assert done.code == 0
    assert len(done.objects) == count, log()
    return done.objects


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> Iterator[MessagesServer]:
    with MessagesServer() as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.base_url)
        yield server


@pytest.fixture
def holding(monkeypatch: pytest.MonkeyPatch) -> Iterator[MessagesServer]:
    with MessagesServer(held) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.base_url)
        yield server


def test_a_session_of_claude_code_is_judged_when_it_ends(
    served: MessagesServer, tmp_path: Path
) -> None:
    path = claude_session(tmp_path)
    done = call("sh", "-c", documented_hook("## Claude Code")["command"], handed=ended(path))
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    [result] = judged()
    assert (result["session"]["path"], result["status"]) == (str(path), "complete")
    assert (result["session"]["format"], result["session"]["events"]) == ("claude-code", 3)
    assert len(served.requests) == 1
    assert f"{path}: judging, after SessionEnd" in log()


@pytest.mark.parametrize("told", [True, False], ids=["its path", "no path"])
def test_a_session_of_codex_is_judged_when_it_ends(
    served: MessagesServer, tmp_path: Path, told: bool
) -> None:
    path = codex_session(Path(os.environ["HOME"], ".codex"))
    handed = ended(path if told else None)
    done = call("sh", "-c", documented_hook("## Codex")["command"], handed=handed)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    [result] = judged()
    assert (result["session"]["path"], result["status"]) == (str(path), "complete")
    assert result["session"]["format"] == "codex"


def test_a_session_of_codex_is_judged_when_a_turn_ends(
    served: MessagesServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CODEX_HOME", str(tmp_path))
    path = codex_session(tmp_path)
    told = {
        "type": "agent-turn-complete",
        "thread-id": ID,
        "turn-id": "12345",
        "cwd": str(tmp_path),
        "client": "codex-tui",
        "input-messages": ["Clean up `build`; don't ask.\n"],
        "last-assistant-message": None,
    }
    words = tomllib.loads(block("toml", "**With notify.**"))["notify"]
    done = call(*words, json.dumps(told))
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    [result] = judged()
    assert (result["session"]["path"], result["status"]) == (str(path), "complete")


def test_the_documented_options_are_right_when_they_are_tried_by_hand() -> None:
    done = call("sh", "-c", block("sh", "## First"))
    assert (done.returncode, done.stdout) == (0, b"")
    assert str(hook_log_path()).encode() in done.stderr
    assert log() == ""


def test_the_documented_times_fit_what_the_agents_allow() -> None:
    # Codex warns of more than three seconds for SessionEnd, Claude Code takes up to sixty.
    assert 1 < documented_hook("## Codex")["timeout"] <= 3
    assert 1.5 < documented_hook("## Claude Code")["timeout"] <= 60


def test_the_hook_returns_while_the_judge_has_not_answered(
    holding: MessagesServer, tmp_path: Path
) -> None:
    path = written_long_ago(claude_session(tmp_path))
    agent = subprocess.Popen(
        ["longjudge", "hook", "claude-code"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    out, _ = agent.communicate(ended(path), timeout=PATIENCE)
    assert (agent.returncode, out) == (0, b"")
    holding.wait_for(lambda: len(holding.open_requests) == 1)
    # An agent may kill all that it started: nothing of it is left there.
    with pytest.raises(ProcessLookupError):
        os.killpg(agent.pid, signal.SIGKILL)
    assert longjudge("results", "--json").objects == []
    holding.release()
    [result] = judged()
    assert result["status"] == "complete"


def test_a_turn_that_ends_while_the_one_before_is_judged_is_not_missed(
    holding: MessagesServer, tmp_path: Path
) -> None:
    path = written_long_ago(write_events(tmp_path / "s.jsonl", events(3)))
    options = ("--", "--chunk-chars", CHUNK_CHARS)
    hook(*options, handed=ended(path, "Stop"))
    holding.wait_for(lambda: len(holding.open_requests) == 3)
    written_long_ago(write_events(path, events(5)))
    for _ in range(3):
        hook(*options, handed=ended(path, "Stop"))
    assert log().count("judging") == 1
    holding.release()
    newest, first = judged(2)
    assert (first["chunks"], newest["chunks"]) == (3, 5)
    assert newest["cached_chunks"] == 3
    assert sorted(item_of(each.prompt) for each in holding.requests) == [0, 1, 2, 3, 4]
    assert len(set(re.findall(r"\[(\d+)\] \S+: judging", log()))) == 1
    until(lambda: not list(hook_log_path().parents[1].glob("hooks/*")))


def test_what_the_agent_writes_behind_its_call_is_judged_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, sleep = write_events(tmp_path / "s.jsonl", events(2)), time.sleep

    def write_the_rest(seconds: float) -> None:
        if seconds == hook_calls._LOOK_SECONDS:
            written_long_ago(write_events(path, events(4)))
        else:
            sleep(seconds)

    monkeypatch.setattr(hook_calls, "QUIET_SECONDS", 1e5)
    monkeypatch.setattr(time, "sleep", write_the_rest)
    [result] = longjudge("hook", "--wait", "--", *OFFLINE, "--json", ended(path).decode()).objects
    assert result["session"]["events"] == 4


def test_two_sessions_and_two_rubrics_are_judged_side_by_side(
    holding: MessagesServer, tmp_path: Path
) -> None:
    one = written_long_ago(write_events(tmp_path / "one.jsonl", events(1)))
    two = written_long_ago(write_events(tmp_path / "two.jsonl", events(2)))
    rubric = tmp_path / "mine.toml"
    rubric.write_text(longjudge("rubrics", "show", "chunks").out.replace("?", " at all?", 1))
    hook("claude-code", handed=ended(one))
    hook("claude-code", "--", "--rubric", "mine.toml", handed=ended(one))
    hook("claude-code", handed=ended(two))
    holding.wait_for(lambda: len(holding.open_requests) == 3)
    holding.release()
    results = judged(3)
    assert len({(each["session"]["path"], each["rubric"]["version"]) for each in results}) == 3


def test_what_stands_after_the_dashes_goes_to_judge(tmp_path: Path) -> None:
    path = write_events(tmp_path / "s.jsonl", events(4))
    store = tmp_path / "other.sqlite"
    hook("--", *OFFLINE, f"--chunk-chars={CHUNK_CHARS}", "--store", store, handed=ended(path))
    until(lambda: "exit code 0" in log())
    [result] = longjudge("results", "--json", "--store", store).objects
    assert (result["model"], result["chunks"]) == ("offline", 4)
    assert longjudge("results", "--json").objects == []


def test_a_budget_is_kept_and_the_log_says_what_is_missing(
    served: MessagesServer, tmp_path: Path
) -> None:
    path = write_events(tmp_path / "s.jsonl", events(4))
    hook("--", "--chunk-chars", CHUNK_CHARS, "--max-calls", 1, handed=ended(path))
    [result] = judged()
    assert (result["status"], result["gaps"]) == ("partial", {"skipped": 3})
    assert len(served.requests) == 1
    assert "exit code 3" in log()
    assert "the budget ended it with 1 of 4 parts judged" in log()


@pytest.mark.parametrize(
    ("handed", "said"),
    [
        (b"no JSON at all", "no JSON object"),
        (b"[" * 100_000, "no JSON object"),
        (b'{"hook_event_name": "SessionEnd", "transcript_path": 7}', "no JSON object"),
        (b'{"x": "' + b"y" * 5_000_000, "more than 4,194,304 bytes"),
        (b'{"hook_event_name": "SessionEnd", "transcript_path": "-x"}', "no absolute path"),
        (b'{"hook_event_name": "Stop", "session_id": "../../etc"}', "names no session file"),
        (b'{"hook_event_name": "PreToolUse\\u001b[2J\\n"}', "PreToolUse␛[2J⏎ ends no session"),
        (b'{"hook_event_name": "Stop", "transcript_path": "/nowhere/s.jsonl"}', "no such file"),
        (b'{"hook_event_name": "Stop", "transcript_path": "/dev/zero"}', "no plain file"),
        (b'{"type": "agent-turn-complete", "thread-id": "%s"}' % ID.encode(), "no rollout of"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_cannot_be_judged_is_one_line_in_the_log_and_nothing_to_the_agent(
    handed: bytes, said: str
) -> None:
    hook("codex", "--", *OFFLINE, handed=handed)
    until(lambda: log().endswith("\n"))
    [line] = log().splitlines()
    assert said in line
    assert "\x1b" not in line
    assert longjudge("results", "--json").objects == []


def test_a_file_that_is_no_session_is_said_in_the_log(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text('{"colour": "blue"}\n' * 3)
    hook(handed=ended(path))
    until(lambda: "exit code 2" in log())
    assert "Traceback" not in log()


def test_options_that_are_wrong_never_stop_an_agent_and_are_told_by_hand(tmp_path: Path) -> None:
    path = claude_session(tmp_path)
    for words, said in (
        (("claude-code", "--", "--modl", "offline"), "No such option '--modl'"),
        (("claude-code", "--", "--model"), "Option '--model' requires an argument"),
        (("claude-code", "--", "--help"), "`longjudge judge --help` lists"),
        (("codex", "--", "other.jsonl"), "other.jsonl: after `--` only options of `judge`"),
        (("cluade",), "cluade: hooks of that agent are not known; use claude-code or codex"),
    ):
        before = len(log().splitlines())
        # Exit code 2 would make an agent go on that wants to stop.
        hook(*words, handed=ended(path, "Stop"))
        assert said in log().splitlines()[before], words
        assert len(log().splitlines()) == before + 1
        by_hand = longjudge("hook", *words)
        assert (by_hand.code, by_hand.out) == (2, "")
        assert said in by_hand.err
    done = longjudge("hook", "codex", "--", *OFFLINE)
    assert (done.code, done.out) == (0, "")
    assert str(hook_log_path()) in done.err


def test_a_log_that_cannot_be_written_stops_no_agent(tmp_path: Path) -> None:
    Path(os.environ["XDG_STATE_HOME"]).parent.mkdir(parents=True)
    Path(os.environ["XDG_STATE_HOME"]).write_text("a file in the place of the folder")
    done = call("longjudge", "hook", "--", *OFFLINE, handed=ended(claude_session(tmp_path)))
    assert (done.returncode, done.stdout) == (0, b"")
    assert done.stderr.startswith(b"longjudge: ")
    assert b"Traceback" not in done.stderr
    assert done.stderr.count(b"\n") == 1


def test_a_pipe_that_the_agent_leaves_open_is_not_waited_for(tmp_path: Path) -> None:
    handed = ended(written_long_ago(claude_session(tmp_path)))
    with subprocess.Popen(
        ["longjudge", "hook", "--", *OFFLINE], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as agent:
        assert agent.stdin is not None
        agent.stdin.write(handed)
        agent.stdin.flush()
        assert agent.wait(PATIENCE) == 0
    judged()


def test_nothing_is_imported_from_the_folder_that_the_agent_works_in(tmp_path: Path) -> None:
    folder = tmp_path / "cloned"
    folder.mkdir()
    seen = tmp_path / "seen"
    for name in ("click", "json", "longjudge", "msgspec", "sitecustomize"):
        (folder / f"{name}.py").write_text(f"open({str(seen)!r}, 'a').write('{name}')")
    handed = ended(written_long_ago(claude_session(tmp_path)))
    done = call("longjudge", "hook", "--", *OFFLINE, handed=handed, cwd=folder)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    judged()
    assert not seen.exists()


def test_whoever_waits_gets_the_exit_code_of_judge() -> None:
    handed = ended(LONG_SAMPLE)
    for words, code in (
        (("--fail-under", "0.99"), 1),
        ((), 0),
        (("--fresh", "--max-calls", "1"), 3),
        (("--rubric", "none-of-that-name"), 2),
    ):
        words = ("longjudge", "hook", "claude-code", "--wait", "--", *OFFLINE, "--json", *words)
        done = call(*words, handed=handed)
        assert done.returncode == code, done.stderr
        if code != 2:
            [result] = [json.loads(line) for line in done.stdout.splitlines()]
            assert result["session"]["path"] == str(LONG_SAMPLE)
    assert log() == ""


def test_whoever_waits_is_told_what_was_not_judged(tmp_path: Path) -> None:
    for handed, code, said in (
        (ended(tmp_path / "none.jsonl"), 2, b"no such file"),
        (b"[]", 2, b"no JSON object"),
        (b"", 2, b"--wait needs an agent's JSON"),
        (ended(None, "SessionStart"), 0, b"SessionStart ends no session or turn"),
    ):
        done = call("longjudge", "hook", "--wait", "--", *OFFLINE, handed=handed)
        assert (done.returncode, done.stdout) == (code, b"")
        assert said in done.stderr
        assert b"Traceback" not in done.stderr


def test_a_run_without_a_credential_says_in_the_log_what_to_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    hook(handed=ended(claude_session(tmp_path)))
    until(lambda: "exit code 2" in log())
    assert "ANTHROPIC_API_KEY" in log()


def test_a_process_that_is_ended_while_it_judges_keeps_what_it_has(
    holding: MessagesServer, tmp_path: Path
) -> None:
    path = written_long_ago(write_events(tmp_path / "s.jsonl", events(3)))
    holding.script = lambda request, _: (
        api.clean(request) if item_of(request.prompt) < 2 else held(request)
    )
    hook("--", "--chunk-chars", CHUNK_CHARS, handed=ended(path))
    holding.wait_for(lambda: len(holding.requests) == 3 and len(holding.open_requests) == 1)
    [pid] = set(re.findall(r"\[(\d+)\] \S+: judging", log()))
    os.kill(int(pid), signal.SIGTERM)
    [result] = judged()
    assert (result["status"], result["judged_chunks"]) == ("cancelled", 2)
    assert "exit code 143" in log()
    holding.release()
    hook("--", "--chunk-chars", CHUNK_CHARS, handed=ended(path))
    newest, _ = judged(2)
    assert (newest["status"], newest["cached_chunks"]) == ("complete", 2)
