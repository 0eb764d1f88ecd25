"""Every test starts from an empty environment and an empty home."""

from __future__ import annotations

import itertools
import logging
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from longjudge.pauses import PAUSES

if TYPE_CHECKING:
    from collections.abc import Iterator

TESTS = str(Path(__file__).parent)
if TESTS not in sys.path:
    # With importlib's import mode, helper modules such as `server` are found only here.
    sys.path.insert(0, TESTS)

LEAST_WORKERS = 5

CHILD_WARNINGS = "error::ResourceWarning,error:coroutine:RuntimeWarning"
"""What a process that a test starts must not leave open or unawaited; it says so on stderr."""


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """More than the cores of a small machine: a test of the app waits more than it computes."""
    return max(LEAST_WORKERS, os.cpu_count() or 1)


BY_HAND = Path(TESTS, "by_hand.txt")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what is listed as taking long, before it is chosen what runs."""
    lines = BY_HAND.read_text(encoding="utf-8").splitlines()
    listed = {line for line in lines if line and not line.startswith("#")}
    for item in items:
        name = item.nodeid.split("[")[0].removeprefix("tests/")
        if name in listed:
            item.add_marker(pytest.mark.thorough)


_PREFIXES = ("ANTHROPIC_", "LONGJUDGE_", "TEXTUAL", "PI_CODING_AGENT_")
_NAMES = {"JUDGE_MODEL", "NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE"} | {
    # Where agents keep their sessions.
    *("CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "OPENCODE_DB", "COPILOT_HOME"),
}


def _is_foreign(name: str) -> bool:
    upper = name.upper()
    if upper.startswith("TEXTUAL_SNAPSHOT_"):
        # The plugin that compares pictures keeps a folder there.
        return False
    return upper.startswith(_PREFIXES) or upper in _NAMES or upper.endswith("_PROXY")


@pytest.fixture(autouse=True)
def _no_wait_of_an_earlier_test() -> None:
    """A server may listen where an earlier test's did, which ordered a wait that still holds."""
    PAUSES.__init__()


@pytest.fixture(scope="session")
def homes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Names of folders that are not there yet; to look for a free one each time takes long."""
    base = tmp_path_factory.mktemp("homes")
    return (base / str(number) for number in itertools.count())


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch, homes: Iterator[Path]):
    for name in [name for name in os.environ if _is_foreign(name)]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PYTHONWARNINGS", CHILD_WARNINGS)
    # A command that many tests start as a process is compiled once.
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    home = next(homes)
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))
    for name, folder in (
        ("XDG_CONFIG_HOME", ".config"),
        ("XDG_DATA_HOME", ".local/share"),
        ("XDG_STATE_HOME", ".local/state"),
        ("XDG_CACHE_HOME", ".cache"),
    ):
        monkeypatch.setenv(name, str(home / folder))


class _Heard(logging.Handler):
    """What the event loop has to say, which is only ever about something that was left behind."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(self.format(record))


@pytest.fixture(autouse=True)
def _no_task_fails_unheard():
    """A task's error that nobody looked at, and a task that nobody awaited, fail the test."""
    heard, logger = _Heard(), logging.getLogger("asyncio")
    logger.addHandler(heard)
    yield
    logger.removeHandler(heard)
    assert not heard.messages, "\n".join(heard.messages)
