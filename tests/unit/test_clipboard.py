"""Which clipboard is tried, and the files that stand in for one."""

from __future__ import annotations

import stat

import pytest

from longjudge_tui.clipboard import has_local_display, safe_name, save, where_saved, write_new


@pytest.fixture
def environment(monkeypatch):
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME", "SSH_TTY", "SSH_CONNECTION"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("sys.platform", "linux")
    return monkeypatch


@pytest.mark.parametrize("display", ["DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME"])
def test_a_display_of_this_computer_has_a_clipboard(environment, display):
    assert not has_local_display()
    environment.setenv(display, ":0")
    assert has_local_display()


@pytest.mark.parametrize("over", ["SSH_TTY", "SSH_CONNECTION"])
def test_over_ssh_the_display_is_not_the_users(environment, over):
    environment.setenv("DISPLAY", ":0")
    environment.setenv(over, "x")
    assert not has_local_display()


def test_a_file_never_replaces_another_and_is_the_users_alone(tmp_path):
    first = write_new(tmp_path, "cart-event-7", ".md", "one")
    second = write_new(tmp_path, "cart-event-7", ".md", "two")
    assert (first.name, second.name) == ("cart-event-7.md", "cart-event-7-2.md")
    assert (first.read_text(), second.read_text()) == ("one", "two")
    assert stat.S_IMODE(first.stat().st_mode) == 0o600


def test_a_link_that_lies_in_wait_is_not_followed(tmp_path):
    (tmp_path / "name.md").symlink_to(tmp_path / "elsewhere")
    assert write_new(tmp_path, "name", ".md", "text").name == "name-2.md"
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("cart-event-7", "cart-event-7"),
        ("../../etc/passwd", "etc-passwd"),
        ("-rf", "rf"),
        (".hidden", "hidden"),
        ("a\x1b[2Jb\nc", "a-2Jb-c"),
        ("長い", "longjudge"),
        ("x" * 500, "x" * 100),
    ],
)
def test_names_of_files_are_harmless(name, safe):
    assert safe_name(name) == safe


def test_a_file_is_saved_where_the_user_is(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = save("text \ud800", "finding")
    assert path == tmp_path.resolve() / "finding.md"
    assert path.read_text(encoding="utf-8") == "text \ufffd"


def test_where_the_folder_takes_no_file_another_does(tmp_path, monkeypatch):
    (gone := tmp_path / "gone").mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    path = save("text", "finding")
    assert path.is_absolute()
    assert path.read_text() == "text"
    assert gone not in path.parents


def test_a_disk_that_takes_no_more_leaves_no_half_of_a_file(tmp_path):
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, hard))
    try:
        with pytest.raises(OSError, match="File too large"):
            write_new(tmp_path, "name", ".md", "a text of more than ten characters")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert [*tmp_path.iterdir()] == []


def test_where_something_was_saved_is_said_with_who_can_read_it_as_there_is_room():
    assert where_saved("saved: /a.md") == (
        "saved: /a.md · only you can read it: chmod to share",
        "saved: /a.md · only you can read it",
        "saved: /a.md",
    )
