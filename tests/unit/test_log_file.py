"""The log's file: private, small, safe with several writers, and never in anybody's way."""

from __future__ import annotations

import errno
import logging
import multiprocessing
import os
import stat

import pytest

from longjudge_tui.bench import log_file
from longjudge_tui.bench.log_file import LogFile, append, python_logs


@pytest.fixture
def path(tmp_path):
    return tmp_path / "logs" / "longjudge.log"


def write(path, *lines):
    failed = []
    file = LogFile(path, failed.append)
    for line in lines:
        file.write(line)
    file.close()
    return failed


def test_lines_are_written_privately_cleaned_and_without_secrets(path):
    secret = "ghp_9fK2mQx7Lw3ZtB8vRc5NdY1HsJ6PgA4uEoTi"
    assert not write(path, "one", f"two \x1b[2J {secret}\nforged", "x" * 5_000)
    lines = path.read_text().splitlines()
    assert len(lines) == 3
    assert lines[0] == f"[{os.getpid()}] one"
    assert "\x1b" not in lines[1]
    assert secret not in lines[1]
    assert len(lines[2]) < 700
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) & 0o077 == 0


def test_a_full_file_is_put_aside_twice_and_then_goes(path, monkeypatch):
    monkeypatch.setattr(log_file, "MOST_BYTES", 100)
    for number in range(5):
        append(path, f"{number}{'x' * 70}\n".encode())
    assert path.read_text()[0] == "4"
    assert path.with_name("longjudge.log.1").read_text()[0] == "3"
    assert path.with_name("longjudge.log.2").read_text()[0] == "2"
    logs = [each.name for each in path.parent.iterdir() if not each.name.endswith(".lock")]
    assert len(logs) == 3
    assert all(stat.S_IMODE(each.stat().st_mode) == 0o600 for each in path.parent.iterdir())


def _append_many(path, name, lines, most):
    log_file.MOST_BYTES = most
    for number in range(lines):
        append(path, f"{name} {number} {'x' * 40}\n".encode())


def test_two_processes_lose_and_mix_no_line(path):
    # Forked, so that no interpreter has to start; nothing else runs in this process.
    context = multiprocessing.get_context("fork")
    writers = [context.Process(target=_append_many, args=(path, name, 100, 6_000)) for name in "ab"]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
        assert writer.exitcode == 0
    files = [each for each in path.parent.iterdir() if not each.name.endswith(".lock")]
    lines = [line for each in files for line in each.read_text().splitlines()]
    assert len(lines) == len(set(lines)) == 200
    assert all(len(line.split()) == 3 and line.endswith("x" * 40) for line in lines)


def test_a_file_that_cannot_be_written_is_said_once_and_breaks_nothing(tmp_path):
    (tmp_path / "logs").write_text("a file where a folder is wanted")
    failed = []
    file = LogFile(tmp_path / "logs" / "longjudge.log", failed.append)
    file.write("one")
    file.close()
    file._write(file._waiting.__class__(["two"]))
    assert len(failed) == 1


@pytest.mark.parametrize("kind", ["link", "pipe"])
def test_what_is_no_plain_file_is_not_written_to(path, kind, tmp_path):
    path.parent.mkdir()
    target = tmp_path / "target"
    target.write_text("mine")
    if kind == "link":
        path.symlink_to(target)
    else:
        os.mkfifo(path)
    assert write(path, "one")
    assert target.read_text() == "mine"


def test_python_logs_of_others_are_kept_without_what_they_were_about():
    heard = []
    with python_logs(lambda name, words: heard.append((name, words))):
        logging.getLogger("longjudge.leases").info("took over %s", "part 3")
        logging.getLogger("anthropic").warning("request failed: %s", "the whole body")
        logging.getLogger("anthropic").debug("Request options")
        logging.getLogger("other").error("Task was destroyed\ntask: <Task 'session text'>")
        logging.getLogger("httpx2").info("HTTP Request")
        logging.getLogger("longjudge").debug("not this")
    logging.getLogger("longjudge.leases").info("nor this")
    assert heard == [
        ("longjudge.leases", "took over part 3"),
        ("anthropic", "warning: request failed: %s"),
        ("other", "error: Task was destroyed"),
    ]


def test_what_a_full_disk_did_not_take_is_said_in_the_file_once_it_takes_lines_again(
    path, monkeypatch
):
    told = []
    file = LogFile(path, told.append)
    file.close()
    lines = file._waiting.__class__
    file._write(lines(["one"]))
    real = os.write

    def full(descriptor, data):
        if len(data) < 10:
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(descriptor, data[:5])

    monkeypatch.setattr(os, "write", full)
    file._write(lines(["two", "three"]))
    file._write(lines(["four"]))
    monkeypatch.undo()
    file._write(lines(["five"]))
    file._write(lines(["six"]))
    assert told == ["No space left on device", ""]
    written = path.read_text().splitlines()
    pid = f"[{os.getpid()}]"
    missing = f"{pid} up to 3 lines are missing here: No space left on device"
    assert written[0] == f"{pid} one"
    assert written[-3:] == [missing, f"{pid} five", f"{pid} six"]
