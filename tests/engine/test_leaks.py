"""Whatever a test leaves open, unawaited or unheard fails it, in this process and in others."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]

LEAKS = """
import asyncio
import gc
import subprocess
import sys
import threading

async def nothing():
    pass

async def fail():
    raise ValueError("unheard")

def test_a_file_is_left_open(tmp_path):
    open(tmp_path / "file", "w")

def test_a_coroutine_is_not_awaited():
    nothing()

def test_a_thread_fails():
    thread = threading.Thread(target=lambda: 1 / 0)
    thread.start()
    thread.join()

async def test_a_task_fails_unheard():
    asyncio.ensure_future(fail())
    for _ in range(3):
        await asyncio.sleep(0)
    gc.collect()

def test_nothing_is_left():
    pass

def test_a_child_says_what_it_leaves():
    def said(code):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        return done.stderr

    assert "unclosed file" in said("f = open(__import__('os').devnull); del f")
    assert "never awaited" in said("async def f(): pass\\nf()")
    assert not said("pass")
"""


def test_a_test_that_leaves_something_behind_fails(tmp_path: Path) -> None:
    file = tmp_path / "test_leaks.py"
    file.write_text(LEAKS, encoding="utf-8")
    settings = "-c", str(ROOT / "pyproject.toml"), "--rootdir", str(tmp_path)
    slow_to_load = ("no:hypothesispytest", "no:syrupy", "no:textual-snapshot", "no:cacheprovider")
    plugins = [word for name in ("conftest", *slow_to_load) for word in ("-p", name)]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-n", "0", *settings, *plugins, str(file)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT / "tests")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert set(re.findall(r"^(?:FAILED|ERROR) \S+::(\w+)", done.stdout, re.M)) == {
        "test_a_file_is_left_open",
        "test_a_coroutine_is_not_awaited",
        "test_a_thread_fails",
        "test_a_task_fails_unheard",
    }, done.stdout
