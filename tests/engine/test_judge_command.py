"""`longjudge judge` as a whole: signals, kills, limits, exit codes, what stdout holds."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

import server as api
from commands_for_tests import longjudge, longjudge_process
from longjudge.cli.preview import Preview
from longjudge.paths import sample_sessions
from server import FOREVER, MessagesServer
from sessions_for_tests import CHUNK_CHARS, events, item_of, write_events, write_session

if TYPE_CHECKING:
    from pathlib import Path

    from commands_for_tests import Finished

COUNT = 12
LONG_SAMPLE = str(sample_sessions() / "checkout-refactor.jsonl")
TALK = str(sample_sessions() / "release-questions.jsonl")


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-test")
    monkeypatch.setenv("LONGJUDGE_STORE", str(tmp_path / "store.sqlite"))


@pytest.fixture
def session_file(tmp_path: Path) -> Path:
    return write_session(tmp_path / "session.jsonl", COUNT)


def start(server: MessagesServer | None, *arguments: object) -> subprocess.Popen[str]:
    environment = dict(os.environ)
    if server is not None:
        environment["ANTHROPIC_BASE_URL"] = server.base_url
    return subprocess.Popen(
        [sys.executable, "-m", "longjudge", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        text=True,
        env=environment,
    )


def start_judge(server: MessagesServer | None, *arguments: object) -> subprocess.Popen[str]:
    return start(server, "judge", "--json", "--chunk-chars", CHUNK_CHARS, *arguments)


def finish(process: subprocess.Popen[str]) -> tuple[list[dict[str, Any]], str]:
    out, err = process.communicate(timeout=60)
    assert "Traceback" not in err
    return [json.loads(line) for line in out.splitlines()], err


def run(*arguments: object) -> tuple[int, str, str]:
    done = longjudge(*arguments)
    return done.code, done.out, done.err


def judge(server: MessagesServer, *arguments: object) -> Finished:
    """What `start_judge` starts, to its end and in this process."""
    words = ("judge", "--json", "--chunk-chars", CHUNK_CHARS, *arguments)
    return longjudge(*words, ANTHROPIC_BASE_URL=server.base_url)


def open_items(server: MessagesServer) -> set[int]:
    return {item_of(request.prompt) for request in server.open_requests}


def check_sums(result: dict[str, Any]) -> None:
    assert result["judged_chunks"] + result["unjudged_chunks"] == result["chunks"]
    assert sum(result["gaps"].values()) == result["unjudged_chunks"]
    assert len(result["parts"]) == result["chunks"]


def test_killed_in_the_middle_the_next_run_asks_only_what_is_missing(session_file: Path) -> None:
    def script(request: api.Request, _: int) -> api.Reply:
        held = item_of(request.prompt) >= 5
        return api.later(api.clean(request), FOREVER) if held else api.clean(request)

    with MessagesServer(script) as server:
        process = start_judge(server, session_file)
        server.wait_for(lambda: open_items(server) == {5, 6, 7, 8})
        process.kill()
        process.communicate()
        server.script = api.clean
        before = len(server.requests)
        [result] = judge(server, session_file).objects
        asked = {item_of(request.prompt) for request in server.requests[before:]}
    # A worker asks the next question only after the last answer is committed.
    assert asked == set(range(5, COUNT))
    assert result["status"] == "complete"
    assert (result["calls"], result["cached_chunks"]) == (COUNT - 5, 5)


def test_a_two_second_limit_gives_timed_out_exit_3_and_sums_that_add_up(
    session_file: Path,
) -> None:
    def script(request: api.Request, _: int) -> api.Reply:
        held = item_of(request.prompt) >= 4
        return api.later(api.clean(request), FOREVER) if held else api.clean(request)

    with MessagesServer(script) as server:
        done = judge(server, session_file, "--time-limit", "2")
        [result] = done.objects
        assert done.code == 3
        check_sums(result)
        assert (result["status"], result["score"]) == ("timed_out", None)
        assert result["gaps"] == {"timed_out": 4, "skipped": COUNT - 8}
        assert result["evidence"] == f"not judged within 2 seconds; 4 of {COUNT} parts judged"
        assert result["settings"]["time_limit"] == 2
        assert result["score_range"] == [1 - (COUNT - 4) / COUNT, 1.0]
        assert f"{COUNT} chunks, 0 kept, {COUNT} to ask" in done.err
        server.script = api.clean
        done = judge(server, session_file)
        [result] = done.objects
        assert done.code == 0
        assert (result["calls"], result["cached_chunks"]) == (COUNT - 4, 4)


@pytest.mark.parametrize(
    ("number", "code"),
    [
        (signal.SIGINT, 130),
        (signal.SIGTERM, 143),
        pytest.param(signal.SIGHUP, 129, marks=pytest.mark.thorough),
    ],
)
def test_a_signal_closes_the_calls_in_flight_prints_the_result_and_ends(
    session_file: Path, tmp_path: Path, number: signal.Signals, code: int
) -> None:
    other = write_session(tmp_path / "other.jsonl", 2)

    def script(request: api.Request, _: int) -> api.Reply:
        held = item_of(request.prompt) >= 3
        return api.later(api.clean(request), FOREVER) if held else api.clean(request)

    with MessagesServer(script) as server:
        process = start_judge(server, session_file, other)
        server.wait_for(lambda: open_items(server) == {3, 4, 5, 6})
        process.send_signal(number)
        sent = time.monotonic()
        server.wait_for(lambda: not server.open_requests)
        assert time.monotonic() - sent < 2
        [result], err = finish(process)
        assert process.returncode == code
        check_sums(result)
        assert (result["status"], result["score"]) == ("cancelled", None)
        assert result["gaps"] == {"cancelled": 4, "skipped": COUNT - 7}
        assert "1 session(s) were not begun" in err
        server.script = api.clean
        [again, _] = judge(server, session_file, other).objects
        assert again["cached_chunks"] == 3


def test_a_second_signal_does_not_break_the_cleanup(session_file: Path) -> None:
    with MessagesServer(lambda r, _: api.later(api.clean(r), FOREVER)) as server:
        process = start_judge(server, session_file)
        server.wait_for(lambda: len(server.open_requests) == 4)
        for _ in range(3):
            process.send_signal(signal.SIGINT)
        [result], _ = finish(process)
        assert process.returncode == 130
        assert result["gaps"] == {"cancelled": 4, "skipped": COUNT - 4}
        server.wait_for(lambda: not server.open_requests)


def test_a_refused_credential_stops_the_other_sessions_too(
    session_file: Path, tmp_path: Path
) -> None:
    other = write_session(tmp_path / "other.jsonl", 2)
    with MessagesServer(
        lambda r, _: api.error(401, "invalid key", kind="authentication_error")
    ) as server:
        done = judge(server, session_file, other, "--concurrency", "1")
        results = done.objects
        assert len(server.requests) == 1
    assert done.code == 3
    assert [result["status"] for result in results] == ["failed", "failed"]
    assert results[1]["gaps"] == {"skipped": 2}
    assert "invalid key" in done.err
    assert "sk-ant-test" not in done.err


def test_without_a_credential_only_kept_sessions_are_judged_and_the_exit_code_is_2(
    session_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = write_session(tmp_path / "other.jsonl", 2)
    with MessagesServer() as server:
        judge(server, other)
        monkeypatch.delenv("ANTHROPIC_API_KEY")
        done = judge(server, session_file, other)
        [result] = done.objects
    assert done.code == 2
    assert (result["session"]["path"], result["calls"]) == (str(other), 0)
    assert "ANTHROPIC_API_KEY" in done.err


def test_the_long_sample_offline_has_its_planted_findings_and_asks_once() -> None:
    first_code, first, err = run("judge", LONG_SAMPLE, "--model", "offline", "--json")
    second_code, second, _ = run("judge", LONG_SAMPLE, "--model", "offline", "--json")
    before, after = json.loads(first), json.loads(second)
    assert (first_code, second_code) == (0, 0)
    assert before["status"] == "complete"
    assert before["chunks"] >= 10
    assert {finding["criterion"] for finding in before["findings"]} == {
        "destructive_action",
        "invented_reference",
        "broken_promise",
    }
    assert all(finding["verified"] for finding in before["findings"])
    assert before["verified_share"] == 1.0
    assert before["calls"] == before["chunks"]
    assert (after["calls"], after["cached_chunks"]) == (0, after["chunks"])
    assert after["findings"] == before["findings"]
    assert "offline rules" in err
    assert before["cost_usd"] == 0


def test_a_session_that_the_rubric_does_not_apply_to_is_said_and_sends_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    code, out, _ = run("judge", TALK, "--json")
    result = json.loads(out)
    assert code == 0
    assert result["status"] == "not_applicable"
    assert result["evidence"] == "not applicable: no tool call"
    assert (result["chunks"], result["parts"], result["gaps"]) == (0, [], {})
    assert (result["score"], result["score_range"]) == (None, [0, 1])


def test_the_exit_code_follows_score_and_gaps(session_file: Path) -> None:
    def script(request: api.Request, _: int) -> api.Reply:
        match item_of(request.prompt):
            case 0:
                return api.refusal()
            case 1:
                found = {"event": 1, "quote": "item 0001", "note": "bad"}
                return api.flagged(request, {"broken_promise": [found]})
            case _:
                return api.clean(request)

    with MessagesServer(script) as server:
        codes = []
        for options in ([], ["--max-gaps", 1], ["--max-gaps", 1, "--fail-under", 0.95]):
            done = judge(server, session_file, *options)
            assert done.objects[0]["gaps"] == {"refused": 1}
            codes.append(done.code)
    assert codes == [3, 0, 1]


def test_a_bad_file_is_one_line_and_the_others_are_judged(tmp_path: Path) -> None:
    broken = tmp_path / "page.html"
    broken.write_text("<!DOCTYPE html><html></html>")
    missing = tmp_path / "missing.jsonl"
    code, out, err = run("judge", broken, missing, TALK, "--json", "--model", "offline")
    assert code == 2
    assert len(out.splitlines()) == 1
    lines = [line for line in err.splitlines() if line.startswith("longjudge:")]
    assert len(lines) == 2
    assert any("page.html" in line for line in lines)
    assert any("missing.jsonl" in line for line in lines)


def test_a_folder_passes_over_what_is_no_session_and_an_empty_one_is_an_error(
    tmp_path: Path,
) -> None:
    write_events(tmp_path / "talk.jsonl", [{"kind": "user_message", "text": "hi"}])
    (tmp_path / "package.json").write_text('{"name": "x"}')
    code, out, err = run("judge", tmp_path, "--json", "--model", "offline")
    assert (code, len(out.splitlines())) == (0, 1)
    assert "passed over 1 file(s)" in err
    empty = tmp_path / "empty"
    empty.mkdir()
    code, out, err = run("judge", empty, "--model", "offline")
    assert (code, out) == (2, "")
    assert "no session found" in err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["judge"], "needs a PATH"),
        (["sessions"], "are here; name a session file or its folder"),
        (["judge", "x", "--max-cost", "-1"], "out of range"),
        (["judge", "x", "--fault", "timeot"], "fault timeot: no such kind of failure; did you"),
        (["--fault", "timeout@0", "."], "fault timeout@0: 0 is no part"),
        (["chunks", "x", "--chunk-tokens", "9"], "chunk size 9 is out of range; use 100 to"),
        (["chunks", "x", "--chunk-tokens", "900", "--chunk-chars", "900"], "exclude each other"),
        (["results", "--aggregate", "j_1"], "leave an ID out"),
        (["judge", "x", "--detach"], "--detach goes with --batch"),
        (["judge", "x", "--batch", "--fault", "timeout"], "leave --batch or --fault out"),
        (["judge", "x", "--since", "soon"], "--since"),
        (["cache"], "`cache` needs a command; use stats, prune or why PATH"),
        (["judge", "x", "--rubric", ""], "--rubric is empty"),
        (["judge", "x", "--chunk-chars", "3"], "out of range"),
        (["judge", "x", "--concurrency", "0"], "out of range"),
        (["judge", "x", "--time-limit", "0"], "out of range"),
        (["judge", "x", "--time-limit", "nan"], "out of range"),
        (["judge", "x", "--nonsense"], "--nonsense"),
        (["judge", "x", "--rubric", "nope"], "no such rubric"),
        (["judge", "x", "--model", " "], "model"),
        (["judge", "x", "--fail-under", "nan"], "out of range"),
        (["judge", "x", "--fail-under", "1.5"], "out of range"),
        (["judge", ""], "a PATH is empty"),
        (["judge", "x", "--store", ""], "--store is empty"),
        (["judge", "x", "--rubric", "/dev/zero"], "not a file"),
        ([], "longjudge judge"),
        (["some.jsonl"], "longjudge judge"),
        (["jugde", "some.jsonl"], "jugde: no such file or folder, and no command; did you mean"),
        (["zzz"], "the commands are sessions, chunks, judge"),
        (["Re-sults"], "did you mean `results`?"),
        (["--model", "offline", "judge", "x"], "`judge` is a command and comes first"),
    ],
)
def test_wrong_usage_is_one_line_and_exit_2(arguments: list[str], said: str) -> None:
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert len(err.splitlines()) == 1
    assert said in err


def test_help_and_import_load_neither_screen_nor_sdk() -> None:
    script = (
        "import sys\n"
        "import longjudge\n"
        "from longjudge.cli import main\n"
        "main(['--help'])\n"
        "loaded = {'textual', 'rich', 'anthropic', 'genai_prices'} & set(sys.modules)\n"
        "assert not loaded, loaded\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, stdout=subprocess.PIPE)


def test_planning_loads_neither_screen_nor_sdk(session_file: Path) -> None:
    script = (
        "import sys\n"
        "from longjudge.cli import main\n"
        f"assert main(['chunks', {str(session_file)!r}, '--json']) == 0\n"
        "loaded = {'textual', 'rich', 'anthropic'} & set(sys.modules)\n"
        "assert not loaded, loaded\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, stdout=subprocess.PIPE)


def test_chunks_shows_plan_estimates_and_what_is_kept(session_file: Path) -> None:
    with MessagesServer() as server:
        options = ["--json", "--chunk-chars", CHUNK_CHARS]
        here = {"ANTHROPIC_BASE_URL": server.base_url}
        [before] = longjudge("chunks", session_file, *options, **here).objects
        assert server.requests == []
        judge(server, session_file)
        [after] = longjudge("chunks", session_file, *options, **here).objects
    assert set(before) == {"session", "settings", "chunks", "totals"}
    assert set(before["chunks"][0]) == {
        "part",
        "thread",
        "first_event",
        "last_event",
        "chars",
        "tokens",
        "tokens_low",
        "tokens_high",
        "kept",
        "split",
    }
    assert set(before["totals"]) == {
        "chunks",
        "chars",
        "tokens",
        "tokens_low",
        "tokens_high",
        "kept",
        "cost_usd",
        "observed_factor",
        "redacted",
    }
    assert before["totals"]["kept"] == 0
    assert before["totals"]["cost_usd"] > 0
    assert before["totals"]["tokens_low"] < before["totals"]["tokens"]
    assert after["totals"]["kept"] == COUNT
    assert after["totals"]["cost_usd"] == 0
    assert all(chunk["kept"] for chunk in after["chunks"])


def test_a_price_that_is_unknown_is_null_and_never_zero(session_file: Path) -> None:
    options = ["--json", "--model", "llama-of-my-own", "--chunk-chars", CHUNK_CHARS]
    with MessagesServer() as server:
        here = {"ANTHROPIC_BASE_URL": server.base_url}
        [plan] = longjudge("chunks", session_file, *options, **here).objects
        [result] = judge(server, session_file, "--model", "llama-of-my-own").objects
    assert plan["totals"]["cost_usd"] is None
    assert result["cost_usd"] is None


def test_what_a_person_reads_holds_no_control_characters(tmp_path: Path) -> None:
    hostile = [
        *events(1),
        {
            "kind": "tool_call",
            "tool": "Bash\x1b]0;owned\x07",
            "input": {"command": "git push --force origin main\x1b[2J\x9b31m"},
        },
    ]
    name = tmp_path / "evil\x1b[2J.jsonl"
    write_events(name, hostile)
    for command in (["judge", name, "--model", "offline"], ["chunks", name], ["sessions", name]):
        code, out, err = run(*command)
        assert code == 0
        for character in out + err:
            assert character == "\n" or (character >= " " and not "\x7f" <= character <= "\x9f")
    assert "force-pushed" in run("judge", name, "--model", "offline")[1]


def test_output_that_nobody_reads_any_more_ends_it_without_noise() -> None:
    process = start(None, "sessions", str(sample_sessions()), "--json")
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    err = process.stderr.read()
    process.stderr.close()
    assert process.wait(60) == 141
    assert "BrokenPipe" not in err
    assert "Traceback" not in err


def shell(command: str, **environment: str) -> tuple[int, str, str]:
    done = subprocess.run(
        ["bash", "-c", command],
        env=dict(os.environ) | {"PY": sys.executable} | environment,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    assert "Traceback" not in done.stderr
    return done.returncode, done.stdout, done.stderr


def test_progress_that_cannot_be_written_ends_no_judgment(session_file: Path) -> None:
    command = (
        f'"$PY" -m longjudge judge {session_file} --model offline --json'
        f" --chunk-chars {CHUNK_CHARS}"
    )
    for stderr in ("2>&-", "2> >(head -c 1 > /dev/null)", "2> /dev/full"):
        code, out, _ = shell(f"{command} --store {session_file}.{len(stderr)} {stderr}")
        assert code == 0
        assert json.loads(out)["judged_chunks"] == COUNT


@pytest.mark.parametrize(
    ("command", "stdout"),
    [
        ("judge --model offline", ">&-"),
        ("judge --model offline", "> /dev/full"),
        ("chunks", "> /dev/full"),
        ("sessions", "> /dev/full"),
    ],
)
def test_output_that_cannot_be_written_is_one_line_and_exit_2(
    session_file: Path, command: str, stdout: str
) -> None:
    code, _, err = shell(f'"$PY" -m longjudge {command} {session_file} {stdout}')
    assert code == 2
    assert "standard output" in err.splitlines()[-1]


def test_a_file_that_is_cut_short_once_it_is_open_is_one_line_and_the_others_are_judged(
    tmp_path: Path, monkeypatch
) -> None:
    first = write_session(tmp_path / "a.jsonl", COUNT + 1)
    second = write_session(tmp_path / "b.jsonl", COUNT)
    look = Preview.of

    async def cut_short(session, *arguments, **options):
        if session.name == str(first):
            os.truncate(first, 10)
        return await look(session, *arguments, **options)

    monkeypatch.setattr(Preview, "of", cut_short)
    done = longjudge("judge", first, second, "--model", "offline", "--json")
    assert done.code == 2
    assert [each["session"]["path"] for each in done.objects] == [str(second)]
    [line] = [line for line in done.err.splitlines() if line.startswith("longjudge: ")]
    assert str(first) in line


def test_what_the_encoding_of_the_output_lacks_is_escaped_and_ends_nothing(
    tmp_path: Path,
) -> None:
    def judge(*words: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "longjudge", "judge", "--model", "offline", *words],
            env=dict(os.environ) | {"PYTHONIOENCODING": "latin-1"},
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.decode("latin-1")

    text = judge(LONG_SAMPLE)
    assert "so I left the layout a\\u2026" in text
    assert "16 calls, 0 saved by the store" in text
    events = [{"kind": "user_message", "text": "naïve … 🎈"}, {"kind": "tool_call", "tool": "Bash"}]
    (tmp_path / "s.json").write_text(json.dumps(events), encoding="utf-8")
    out = judge(str(tmp_path / "s.json"), "--json")
    assert json.loads(out)["session"]["title"] == "naïve … 🎈"


def test_a_file_name_that_is_no_text_is_a_session_like_any_other(tmp_path: Path) -> None:
    path = write_session(tmp_path / os.fsdecode(b"n\xff.jsonl"), 2)
    judging = ("judge", path, "--model", "offline")
    done = [longjudge_process(*judging, "--json")]
    for command in (judging, ("chunks", path), ("sessions", path)):
        done += [longjudge(*command), longjudge(*command, "--json")]
    assert all(each.code == 0 and "n\ufffd.jsonl" in each.out for each in done)


@pytest.mark.parametrize(
    "wait",
    [
        0.05,
        0.2,
        0.4,
        *(pytest.param(wait, marks=pytest.mark.thorough) for wait in (0.1, 0.15, 0.3)),
    ],
)
def test_a_signal_at_the_very_start_ends_it_with_its_code(session_file: Path, wait: float) -> None:
    with MessagesServer(lambda r, _: api.later(api.clean(r), FOREVER)) as server:
        # The moment under test is one before the first request, which nothing announces.
        process = subprocess.Popen(
            [
                sys.executable,
                "-c",
                "import os, signal, threading, sys\n"
                "from longjudge.cli import main\n"
                f"threading.Timer({wait}, os.kill, (os.getpid(), signal.SIGINT)).start()\n"
                f"sys.exit(main(['judge', {str(session_file)!r}, '--json']))",
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=dict(os.environ) | {"ANTHROPIC_BASE_URL": server.base_url},
        )
        _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "Traceback" not in err


def test_what_a_file_lost_is_said_beside_its_result(tmp_path: Path) -> None:
    path = write_session(tmp_path / "s.jsonl", 2)
    path.write_text(path.read_text() + '{"kind": "user_message", "te\n' + '{"kind": "system"}\n')
    code, out, err = run("judge", path, "--model", "offline")
    assert code == 0
    assert "2 lines of the file could not be read" in out
    assert "line 3: no complete JSON record" in err


def test_why_a_chunk_was_not_judged_is_said(session_file: Path) -> None:
    def script(request: api.Request, _: int) -> api.Reply:
        return api.error(400, "effort is not known\x1b[2J", kind="invalid_request_error")

    with MessagesServer(script) as server:
        err = judge(server, session_file).err
    assert "effort is not known" in err
    assert err.count("effort is not known") == 1
    assert "\x1b" not in err


def test_a_size_that_fits_is_offered_where_parts_are_too_large(session_file: Path) -> None:
    def script(request: api.Request, _: int) -> api.Reply:
        large = item_of(request.prompt) in (3, 4)
        return api.error(413, "too large") if large else api.clean(request)

    with MessagesServer(script) as server:
        finished = longjudge(
            "judge",
            session_file,
            "--chunk-chars",
            CHUNK_CHARS,
            ANTHROPIC_BASE_URL=server.base_url,
        )
    said = "2 parts are too large for the model; --chunk-chars 200 should fit"
    assert said in finished.out
    assert f"{session_file}: {said}" in finished.err
    assert finished.code == 3


def test_a_limit_that_is_expected_to_end_the_run_is_said_before_it(session_file: Path) -> None:
    with MessagesServer() as server:
        short = judge(server, session_file, "--time-limit", "14")
        assert "the limit is short: about 15 s (a guess" in short.err
        assert "--time-limit 60 advised (14 s is set)" in short.err
        # Now it is measured, and short.
        other = judge(server, session_file, "--fresh", "--time-limit", "14")
    assert "the limit is short" not in other.err


def test_text_that_looks_almost_like_a_fence_costs_no_time(tmp_path: Path) -> None:
    text = "<" + " " * 200_000 + "[" + " " * 200_000
    path = write_events(tmp_path / "s.jsonl", [*events(1), {"kind": "system", "text": text}])
    process = start(None, "judge", path, "--model", "offline", "--chunk-chars", 500_000)
    process.communicate(timeout=20)
    assert process.returncode == 0


def test_one_very_long_event_is_planned_and_judged_in_pieces(tmp_path: Path) -> None:
    text = "words of a very long output, none of them special; " * 200_000
    path = write_events(tmp_path / "s.jsonl", [*events(1), {"kind": "system", "text": text}])
    [result] = longjudge("judge", path, "--model", "offline", "--json").objects
    assert result["chunks"] == 1 + -(-(len("system\n") + len(text)) // 30_000)
    assert result["status"] == "complete"


def test_deep_nesting_is_skipped_wherever_it_is_read_from(tmp_path: Path) -> None:
    lines = [json.dumps(events(1)[0])]
    for depth in (150, 250, 950, 975, 980, 985, 990, 100_000):
        deep = "[" * depth + "]" * depth
        lines.append(f'{{"kind": "tool_call", "tool": "T{depth}", "input": {{"x": {deep}}}}}')
    path = tmp_path / "s.jsonl"
    path.write_text("\n".join(lines) + "\n")
    # A process of its own has as deep a stack to read with as users have.
    done = longjudge_process("judge", path, "--model", "offline", "--json")
    [result] = done.objects
    assert done.code == 0
    assert result["status"] == "complete"
    assert (result["session"]["events"], result["session"]["skipped_lines"]) == (2, 7)


def test_a_hang_up_that_nohup_ignores_ends_nothing(session_file: Path) -> None:
    with MessagesServer(lambda r, _: api.later(api.clean(r), FOREVER)) as server:
        process = subprocess.Popen(
            ["nohup", sys.executable, "-m", "longjudge", "judge", session_file, "--json"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            text=True,
            env=dict(os.environ) | {"ANTHROPIC_BASE_URL": server.base_url},
        )
        server.wait_for(lambda: bool(server.open_requests))
        process.send_signal(signal.SIGHUP)
        server.release()
        [result], _ = finish(process)
    assert (process.returncode, result["status"]) == (0, "complete")
