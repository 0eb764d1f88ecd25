"""Clock, paths, ages and prices are fixed, so that a picture is the same on every machine."""

from __future__ import annotations

import os
import shutil
import time
from functools import cache
from pathlib import Path

import pytest

from longjudge.judges import offline
from longjudge.paths import sample_sessions
from stage_for_tests import AGES, LONG

known_reply = cache(offline._reply)


@pytest.fixture(autouse=True)
def _rules_once(monkeypatch):
    """The rules are the same for the same chunk, and most pictures show the same session judged."""
    monkeypatch.setattr(offline, "_reply", known_reply)


@pytest.fixture(autouse=True)
def _at_greenwich(monkeypatch):
    """Times of day are the same everywhere."""
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "UTC")
        time.tzset()
        yield
    time.tzset()


@pytest.fixture(autouse=True)
def _at_once(monkeypatch):
    """What is held is cut off at once, waits are as ordered, prices exact with every frame."""
    monkeypatch.setattr("longjudge.asking.GRACE_SECONDS", 0.0)
    monkeypatch.setattr("longjudge.retries.ORDERED_JITTER", 1.0)
    monkeypatch.setattr("longjudge_tui.workbench.screen.TOTALS_EVERY", 1)


@pytest.fixture
def folder(tmp_path, monkeypatch, clock):
    """A folder with the samples, each with its age; the screen names it `sessions`."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(sample_sessions(), "sessions")
    for name, age in AGES.items():
        os.utime(Path("sessions", name), (clock.now - age,) * 2)
    return Path("sessions")


@pytest.fixture
def long_session(folder):
    return folder / LONG
