"""Which editor opens a file, at which line, and what it is given where the file is of no use."""

from __future__ import annotations

import gzip
import json
import os
import stat

import pytest

from longjudge.errors import UsageError
from longjudge.sessions import load_session
from longjudge_tui.bench.editors import find_editor
from longjudge_tui.bench.event_file import event_file


def there(*names):
    return lambda name: f"/usr/bin/{name}" if name.rpartition("/")[2] in names else None


@pytest.mark.parametrize(
    ("named", "arguments"),
    [
        ("vim", ["+7", "/s/a.jsonl"]),
        ("nano -l", ["-l", "+7", "/s/a.jsonl"]),
        ("emacs -nw", ["-nw", "+7", "/s/a.jsonl"]),
        ("micro", ["+7", "/s/a.jsonl"]),
        ("kak", ["+7", "/s/a.jsonl"]),
        ("hx", ["/s/a.jsonl:7"]),
        ("code --wait", ["--wait", "-g", "/s/a.jsonl:7"]),
        ("subl -w", ["-w", "/s/a.jsonl:7"]),
        ("zed", ["/s/a.jsonl:7"]),
        ("'/opt/my tools/nvim' -R", ["-R", "+7", "/s/a.jsonl"]),
        ("/usr/bin/editor", ["+7", "/s/a.jsonl"]),
        ("vim.basic", ["+7", "/s/a.jsonl"]),
        ("~/bin/nvim.appimage", ["+7", "/s/a.jsonl"]),
        ("unheard-of", ["/s/a.jsonl"]),
    ],
)
def test_each_editor_is_told_the_line_in_its_own_way(named, arguments):
    editor = find_editor({"EDITOR": named}, lambda name: name)
    argv, at_line = editor.command("/s/a.jsonl", 7)
    assert argv[1:] == arguments
    assert at_line == ("7" in "".join(arguments))
    assert not argv[0].startswith("~")
    assert editor.command("/s/a.jsonl", None)[0][-1] == "/s/a.jsonl"


def test_visual_comes_before_editor_and_both_before_what_is_usual():
    everything = there("vim", "nano", "vi")
    assert find_editor({"VISUAL": "vim", "EDITOR": "nano"}, everything).name == "vim"
    assert find_editor({"VISUAL": " ", "EDITOR": "nano"}, everything).name == "nano"
    assert find_editor({}, there("vi", "emacs")).name == "vi"


def test_only_editors_with_a_window_of_their_own_leave_the_terminal_alone():
    def windows(named, **others):
        return find_editor({"EDITOR": named, **others}, lambda name: name).opens_a_window

    assert all(map(windows, ("code", "/usr/bin/subl", "zed", "gvim", "emacsclient -n")))
    assert not any(map(windows, ("vim", "emacs", "emacsclient -t", "my-editor")))
    assert windows("emacs", DISPLAY=":0")
    assert not windows("emacs -nw", DISPLAY=":0")


@pytest.mark.parametrize(
    ("environment", "says"),
    [
        ({"EDITOR": "gone --wait"}, "EDITOR names gone, which is no program here"),
        ({"VISUAL": "vim 'unclosed"}, "VISUAL cannot be read"),
        ({"EDITOR": "a;rm\x1b[2J"}, "names a;rm␛[2J, which is no program here"),
        ({}, "no editor was found: set EDITOR"),
    ],
)
def test_an_editor_that_is_not_there_is_said(environment, says):
    with pytest.raises(UsageError) as refused:
        find_editor(environment, there())
    assert says in str(refused.value)


def write_events(path, opened=open):
    rows = [{"kind": "user_message", "text": f"event {number}"} for number in range(3)]
    with opened(path, "wt") as file:
        file.write("\n".join(map(json.dumps, rows)))
    return load_session(path)


def test_a_plain_file_is_opened_itself_at_the_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    session = write_events(tmp_path / "a.jsonl")
    with event_file(session, 2) as opened:
        assert (opened.path, opened.line, opened.why) == (str(tmp_path / "a.jsonl"), 3, "")
    session.close()


def test_a_file_with_a_hostile_name_is_opened_by_that_name(tmp_path):
    path = tmp_path / "a\x1b[2J[red] b.jsonl"
    session = write_events(path)
    with event_file(session, 0) as opened:
        assert (opened.path, opened.line, opened.why) == (str(path), 1, "")
    session.close()


def test_of_a_packed_file_a_private_copy_of_the_record_is_opened_and_goes_again(tmp_path):
    session = write_events(tmp_path / "a.jsonl.gz", gzip.open)
    with event_file(session, 2) as opened:
        assert opened.line is None
        assert opened.why == "a.jsonl.gz is packed, or a database"
        assert stat.S_IMODE(os.stat(opened.path).st_mode) == 0o400
        with open(opened.path) as file:
            assert json.load(file)["text"] == "event 2"
    assert not os.path.exists(opened.path)
    session.close()


def test_an_event_without_a_line_of_its_own_is_opened_as_a_copy(tmp_path):
    path = tmp_path / "a.json"
    path.write_text(json.dumps([{"kind": "user_message", "text": "one"}] * 2))
    session = load_session(path)
    with event_file(session, 1) as opened:
        assert (opened.line is None) == bool(opened.why)
    session.close()


def test_of_a_file_that_is_gone_the_copy_says_so(tmp_path):
    session = write_events(tmp_path / "a.jsonl")
    (tmp_path / "a.jsonl").unlink()
    with event_file(session, 1) as opened:
        assert (opened.line, opened.why) == (None, "a.jsonl is gone")
    session.close()
