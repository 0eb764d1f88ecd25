"""Every test starts from an empty environment and an empty home."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from longjudge.pauses import PAUSES

TESTS = str(Path(__file__).parent)
if TESTS not in sys.path:
    # With importlib's import mode, helper modules such as `server` are found only here.
    sys.path.insert(0, TESTS)

LEAST_WORKERS = 3


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """More than the cores of a small machine: a test of the app waits more than it computes."""
    return max(LEAST_WORKERS, os.cpu_count() or 1)


_PREFIXES = ("ANTHROPIC_", "LONGJUDGE_", "TEXTUAL")
_NAMES = {"JUDGE_MODEL", "NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE"}


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


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory):
    for name in [name for name in os.environ if _is_foreign(name)]:
        monkeypatch.delenv(name)
    # A command that many tests start as a process is compiled once.
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))
    for name, folder in (
        ("XDG_CONFIG_HOME", ".config"),
        ("XDG_DATA_HOME", ".local/share"),
        ("XDG_STATE_HOME", ".local/state"),
        ("XDG_CACHE_HOME", ".cache"),
    ):
        monkeypatch.setenv(name, str(home / folder))
