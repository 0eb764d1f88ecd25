"""The recipe of docs/ci.md, run as it stands there: exit codes, what is printed, what is kept."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import pytest

import server as api
from longjudge.paths import sample_sessions
from server import MessagesServer
from sessions_for_tests import write_session

if TYPE_CHECKING:
    from collections.abc import Callable

    from server import Reply, Request

DOCS = Path(__file__).parents[2] / "docs/ci.md"
README = DOCS.parents[1] / "README.md"
PROGRAMS = Path(sys.executable).parent


def block(language: str) -> str:
    found = re.search(rf"```{language}\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.S)
    assert found is not None
    return found[1]


class Job:
    """A checkout with the recipe in it; `run` is what a CI job does."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.sessions = folder / "sessions"
        self.sessions.mkdir()
        (folder / "judge.sh").write_text(block("sh"), encoding="utf-8")

    def run(self, server: MessagesServer | None = None, **environment: str) -> int:
        """Its exit code; with a server there is a key."""
        known = {"PATH": f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}"}
        if server is not None:
            known |= {"ANTHROPIC_API_KEY": "sk-ant-test", "ANTHROPIC_BASE_URL": server.base_url}
        done = subprocess.run(
            ["sh", "judge.sh"],
            cwd=self.folder,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=120,
            check=False,
            env=os.environ | known | environment,
        )
        assert done.stdout == b""
        assert b"Traceback" not in done.stderr
        return done.returncode

    @property
    def results(self) -> list[dict[str, Any]]:
        text = (self.folder / "results.jsonl").read_text(encoding="utf-8")
        return [json.loads(line) for line in text.splitlines()]

    @property
    def report(self) -> ElementTree.Element:
        return ElementTree.parse(self.folder / "longjudge.xml").getroot()


@pytest.fixture
def job(tmp_path: Path) -> Job:
    return Job(tmp_path)


def some_refused(request: Request, _: int) -> Reply:
    return api.error(400, "no luck", kind="invalid_request_error")


def all_flagged(request: Request, _: int) -> Reply:
    found = {"event": 1, "quote": "the agent looks", "note": "it only looks"}
    return api.flagged(request, {"broken_promise": [found]})


@pytest.mark.parametrize(
    ("script", "code", "status"),
    [(all_flagged, 1, "complete"), (some_refused, 3, "failed"), (api.clean, 0, "complete")],
    ids=["a low score", "gaps", "all clean"],
)
def test_the_exit_code_says_what_the_judge_found(
    job: Job, script: Callable[[Request, int], Reply], code: int, status: str
) -> None:
    write_session(job.sessions / "run.jsonl", 3)
    with MessagesServer(script) as server:
        ended = job.run(server)
    [result] = job.results
    assert result["status"] == status
    assert ended == code


def test_without_a_key_the_samples_are_judged_by_the_offline_rules(job: Job) -> None:
    shutil.copytree(sample_sessions(), job.sessions, dirs_exist_ok=True)
    # An empty secret is what a pull request from a fork has.
    assert job.run(ANTHROPIC_API_KEY="") == 1
    assert {result["model"] for result in job.results} == {"offline"}
    assert len(job.results) == len(list(sample_sessions().iterdir()))
    assert {result["cost_usd"] for result in job.results} == {0}


def test_a_folder_without_a_session_is_a_job_that_is_set_up_wrong(job: Job) -> None:
    assert job.run() == 2
    assert job.results == []


def test_the_next_run_asks_nothing_that_the_kept_store_knows(job: Job) -> None:
    write_session(job.sessions / "run.jsonl", 3)
    with MessagesServer(all_flagged) as server:
        assert job.run(server) == 1
        asked = len(server.requests)
        assert job.run(server) == 1
        assert len(server.requests) == asked > 0
    assert job.results[0]["cached_chunks"] == job.results[0]["chunks"]
    assert (job.folder / ".longjudge/store.sqlite").exists()


def test_the_report_tells_of_every_session_and_its_failures(job: Job) -> None:
    shutil.copytree(sample_sessions(), job.sessions, dirs_exist_ok=True)
    assert job.run() == 1
    text = ElementTree.tostring(job.report, encoding="unicode")
    assert job.report.tag in ("testsuites", "testsuite")
    for result in job.results:
        assert Path(result["session"]["path"]).name in text
    assert len(job.report.findall(".//failure")) > 0
    flagged = [each for each in job.results if each["flagged_chunks"]]
    assert flagged
    assert all(each["findings"][0]["criterion"] in text for each in flagged)


def test_the_workflow_runs_the_recipe_and_keeps_what_a_failed_job_paid_for() -> None:
    workflow = block("yaml")
    assert "- run: pip install longjudge\n" in workflow
    assert "- run: sh judge.sh\n" in workflow
    restored, saved = re.findall(r"uses: actions/cache/(\w+)@", workflow)
    assert (restored, saved) == ("restore", "save")
    assert re.search(r"actions/cache/save@\S+\n\s+if: always\(\)", workflow)
    keys = re.findall(r"\n\s+key: (.*)", workflow)
    assert len(set(keys)) == 1
    kept = Path(re.findall(r"LONGJUDGE_STORE=\"\$PWD/(.*)\"", block("sh"))[0]).parent
    assert re.findall(r"\n\s+path: (\S+)\n", workflow).count(str(kept)) == 2


def test_the_exit_codes_are_those_of_the_readme() -> None:
    def codes(text: str) -> dict[str, str]:
        rows = re.findall(r"^\| ([\d, ]+) \| ([^|]+?) \|", text, re.M)
        return {number: meaning for numbers, meaning in rows for number in numbers.split(", ")}

    documented = codes(DOCS.read_text(encoding="utf-8"))
    assert set(documented) == {"0", "1", "2", "3", "129", "130", "143"}
    known = codes(README.read_text(encoding="utf-8"))
    assert set(documented) == set(known)
    assert [documented[code] for code in "13"] == [known[code] for code in "13"]
