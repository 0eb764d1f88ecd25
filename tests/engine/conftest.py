"""What judgments against the local server have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from longjudge import retries
from server import MessagesServer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> Iterator[MessagesServer]:
    """The server that every judgment asks, with a credential; retries come at once."""
    monkeypatch.setattr(retries, "FIRST_WAIT", 0.01)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-test")
    with MessagesServer() as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.base_url)
        yield server


@pytest.fixture
def store_file(tmp_path: Path) -> Path:
    """Where a store may be made."""
    return tmp_path / "store.sqlite"
