"""The configuration file at work: in the commands, in `judge_session`, in the app's choice."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import longjudge
from longjudge.cli.main import run
from longjudge.config import Configuration, parse_configuration
from longjudge.judges.anthropic import AnthropicJudge
from longjudge.judges.offline import OfflineJudge
from longjudge.launch import AppRequest
from server import MessagesServer

EVENTS = [{"kind": "tool_call", "tool": "Bash", "input": "ls", "call_id": str(n)} for n in range(9)]


@pytest.fixture
def configure(monkeypatch, tmp_path: Path):
    path = tmp_path / "config.toml"
    monkeypatch.setenv("LONGJUDGE_CONFIG", str(path))
    path.write_text("")

    def write(text: str) -> Path:
        path.write_text(text)
        return path

    return write


@pytest.fixture
def judge(capsys, tmp_path: Path):
    """Run a command on a session; its exit code, objects and what it told."""
    session = tmp_path / "session.json"
    session.write_text(json.dumps(EVENTS))

    def call(command: str, *options: str) -> tuple[int, list[dict[str, object]], str]:
        code = run([command, str(session), "--json", *options])
        said = capsys.readouterr()
        return code, [json.loads(line) for line in said.out.splitlines()], said.err

    return call


def test_judge_takes_what_the_file_says_and_an_option_beats_it(
    configure, judge, tmp_path: Path
) -> None:
    configure(
        'model = "offline"\nchunk_chars = 200\nconcurrency = 2\ntime_limit = 50\nstore = "s.sqlite"'
    )
    code, (result,), _ = judge("judge")
    assert code == 0
    assert result["model"] == "offline"
    assert result["settings"] == {"chunk_chars": 200, "concurrency": 2, "time_limit": 50}
    assert (tmp_path / "s.sqlite").is_file()
    _, (result,), _ = judge("judge", "--chunk-chars", "300", "--concurrency", "1")
    assert result["settings"] == {"chunk_chars": 300, "concurrency": 1, "time_limit": 50}


def test_a_profile_is_asked_and_its_model_and_price_stand_in_the_result(
    configure, judge, monkeypatch
) -> None:
    monkeypatch.setenv("WORK_KEY", "sk-foreign-0123456789")
    with MessagesServer() as server:
        configure(
            f'model = "work"\n[profiles.work]\nmodel = "my-own"\nbase_url = "{server.base_url}"\n'
            'key_variable = "WORK_KEY"\nprice = {input = 10, output = 100}'
        )
        _, (plan,), _ = judge("chunks")
        assert plan["totals"]["cost_usd"] > 0
        code, (result,), err = judge("judge")
    assert code == 0
    assert result["model"] == "my-own"
    assert result["cost_usd"] == pytest.approx(result["calls"] * (100 * 10 + 10 * 100) / 1e6)
    assert "work (my-own)" in err
    assert server.requests[0].body["model"] == "my-own"


def test_a_key_variable_that_is_not_set_ends_judge_with_2_and_names_it(configure, judge) -> None:
    configure('model = "work"\n[profiles.work]\nmodel = "my-own"\nkey_variable = "WORK_KEY"')
    code, results, err = judge("judge")
    assert (code, results) == (2, [])
    assert "longjudge: WORK_KEY is not set, and profile work reads its key from it; set it" in err


@pytest.mark.parametrize("command", ["judge", "chunks"])
def test_a_fault_in_the_file_is_one_line_and_exit_2(configure, judge, command: str) -> None:
    path = configure('\nmodle = "x"')
    code, results, err = judge(command)
    assert (code, results) == (2, [])
    assert err == f"longjudge: {path}:2: modle: unknown key; did you mean model?\n"


async def test_judge_session_follows_the_same_order(configure, monkeypatch, tmp_path) -> None:
    configure('model = "offline"\nchunk_chars = 200\nstore = "s.sqlite"')
    result = await longjudge.judge_session(EVENTS)
    assert result is not None
    assert (result.model, result.to_dict()["settings"]["chunk_chars"]) == ("offline", 200)
    assert (tmp_path / "s.sqlite").is_file()
    result = await longjudge.judge_session(EVENTS, chunk_chars=900, store=tmp_path / "other.sqlite")
    assert result is not None
    assert result.to_dict()["settings"]["chunk_chars"] == 900
    assert (tmp_path / "other.sqlite").is_file()
    configure('rubric = "nothing"')
    monkeypatch.setenv("JUDGE_MODEL", "offline")
    with pytest.raises(longjudge.RubricError, match="nothing: no such rubric"):
        await longjudge.judge_session(EVENTS)
    configure("concurrency = 0")
    with pytest.raises(longjudge.UsageError, match=r"config\.toml:1: concurrency"):
        await longjudge.judge_session(EVENTS)


def test_help_and_import_read_no_configuration(configure) -> None:
    configure("nonsense")
    code = (
        "import sys, longjudge; from longjudge.cli import main; main(['judge', '--help']);"
        "print(sorted({'pydantic', 'anthropic', 'textual', 'rich'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.splitlines()[-1] == "[]"
    assert "default 30000" in done.stdout


def asked_by_the_app(model: str | None, config: Configuration, *, given: bool):
    from longjudge_tui.main import choose_judge

    return choose_judge(model, config, given=given)


def test_the_app_falls_back_for_a_profile_without_its_key_and_says_why(monkeypatch) -> None:
    from longjudge.rubric import load_rubric
    from longjudge.settings import Settings
    from longjudge_tui.main import say_fallback

    text = '[profiles.work]\nmodel = "my-own"\nkey_variable = "WORK_KEY"'
    config = parse_configuration(text, Path("/none/config.toml"))
    request = AppRequest(
        paths=(),
        model="work",
        rubric=load_rubric("chunks"),
        settings=Settings(),
        store=Path("/none/store.sqlite"),
        config=config,
    )
    # The key of another endpoint changes nothing.
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-mine-0123456789")
    fallback = asked_by_the_app("work", config, given=False)
    assert isinstance(fallback, OfflineJudge)
    assert say_fallback(request, fallback) == [
        "WORK_KEY is not set: the offline rules judge instead of work"
    ]
    assert isinstance(asked_by_the_app("work", config, given=True), AnthropicJudge)
    monkeypatch.setenv("WORK_KEY", "sk-foreign-0123456789")
    found = asked_by_the_app("work", config, given=False)
    assert found.label == "work (my-own)"
    assert say_fallback(request, found) == []


def test_a_rubric_that_only_a_model_can_answer_says_what_the_model_lacks() -> None:
    from longjudge.rubric import parse_rubric
    from longjudge.settings import Settings
    from longjudge_tui.main import check_rubric

    rubric = 'name = "mine"\n[[criteria]]\nid = "x"\nquestion = "Is it?"'
    request = AppRequest(
        paths=(),
        model=None,
        rubric=parse_rubric(rubric, "mine.toml"),
        settings=Settings(),
        store=Path("/none/store.sqlite"),
        config=Configuration(),
    )
    with pytest.raises(
        longjudge.RubricError, match=r"^ANTHROPIC_API_KEY is not set, .*criterion x"
    ):
        check_rubric(request, OfflineJudge())
