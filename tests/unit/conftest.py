"""How many examples a property is tried on; `--hypothesis-profile default` tries all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import settings

if TYPE_CHECKING:
    import pytest

settings.register_profile("quick", max_examples=40)


def pytest_collection_modifyitems(config: pytest.Config) -> None:
    if not config.getoption("--hypothesis-profile"):
        settings.load_profile("quick")
