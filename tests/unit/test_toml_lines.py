"""Lines of keys: found by the parser itself, whatever the file looks like."""

from __future__ import annotations

import os
import time
import tomllib
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longjudge.toml_lines import MAX_TOML_BYTES, TomlError, line_of, parse_toml, read_toml

if TYPE_CHECKING:
    from pathlib import Path

WRITTEN = '''\
# a comment with = and [x]

a = 1
"b c" = """
a = 2

[profiles.x]
"""
list = [
  "one", # two
  { d = 4 },
]
dotted.key.deep = true
[profiles.work]

model = "m"
price = { input = 1, output = 2 }

[[criteria]]
id = "x"
[[criteria]]

id = "y"
'''

LINES = {
    (): 1,
    ("a",): 3,
    ("b c",): 4,
    ("list",): 9,
    ("list", 1, "d"): 9,
    ("dotted", "key", "deep"): 13,
    ("profiles",): 14,
    ("profiles", "work"): 14,
    ("profiles", "work", "model"): 16,
    ("profiles", "work", "price", "output"): 17,
    ("criteria",): 19,
    ("criteria", 0, "id"): 20,
    ("criteria", 1): 21,
    ("criteria", 1, "id"): 23,
}


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("key", LINES)
def test_a_key_has_the_line_that_it_begins_on(key, end: str) -> None:
    assert line_of(WRITTEN.replace("\n", end), key) == LINES[key]


@pytest.mark.parametrize("key", [("z",), ("a", "b"), ("list", 2), ("criteria", 2), ("a", 0)])
def test_a_key_that_is_not_there_has_no_line(key) -> None:
    assert line_of(WRITTEN, key) is None


@given(st.lists(st.sampled_from(["", "# c", "{} = 1", '{} = """\n{} = 2\n"""', "{} = [\n1,\n]"])))
def test_the_line_is_that_of_the_text_whatever_stands_around_it(shapes: list[str]) -> None:
    pieces = [shape.replace("{}", f"k{number}") for number, shape in enumerate(shapes)]
    text = "\n".join(pieces)
    begins = 1
    for number, piece in enumerate(pieces):
        if (f"k{number}") in tomllib.loads(text):
            assert line_of(text, (f"k{number}",)) == begins
        begins += piece.count("\n") + 1


@pytest.mark.parametrize(
    "text",
    ["\n" * 99_000 + "x = 1", 'a = """\n' + "row\n" * 24_000 + '"""\nx = 1', "#\n" * 9000],
    ids=["empty lines", "one long text", "comments"],
)
def test_a_file_made_to_be_slow_is_answered_in_time(text: str) -> None:
    started = time.monotonic()
    line_of(text, ("x",))
    with pytest.raises(TomlError):
        parse_toml(text + "\ny = [", "slow.toml")
    assert time.monotonic() - started < 20


def test_what_is_no_text_file_is_said_and_never_waited_for(tmp_path: Path) -> None:
    latin, large, fifo = tmp_path / "latin", tmp_path / "large", tmp_path / "fifo"
    latin.write_bytes(b'a = 1\nname = "\xe9"\n')
    large.write_text("#" * (MAX_TOML_BYTES + 1))
    os.mkfifo(fifo)
    for path, said in (
        (latin, ":2: not UTF-8"),
        (large, f": larger than {MAX_TOML_BYTES} bytes"),
        (fifo, ": not a file"),
        (tmp_path, ": not a file"),
    ):
        with pytest.raises(TomlError) as caught:
            read_toml(path)
        assert str(caught.value).startswith(f"{path}{said}")
    with pytest.raises(FileNotFoundError):
        read_toml(tmp_path / "none")


def test_a_text_as_large_as_allowed_is_read(tmp_path: Path) -> None:
    path = tmp_path / "full.toml"
    path.write_text("#" * MAX_TOML_BYTES)
    assert len(read_toml(path)) == MAX_TOML_BYTES


def test_a_mark_of_the_encoding_before_the_text_is_no_fault(tmp_path: Path) -> None:
    path = tmp_path / "marked.toml"
    path.write_bytes(b"\xef\xbb\xbfmodel = 1\n")
    assert parse_toml(read_toml(path), str(path)) == {"model": 1}


@pytest.mark.parametrize("before", ["", "# one\n[table]\nb = 2\n"])
def test_a_number_that_python_does_not_read_is_a_fault_with_its_line(before: str) -> None:
    text = f"{before}a = {'1' * 5000}\nc = 3\n"
    with pytest.raises(TomlError) as caught:
        parse_toml(text, "mine.toml")
    line = before.count("\n") + 1
    assert str(caught.value) == f"mine.toml:{line}: a number has too many digits; shorten it"


@pytest.mark.parametrize("part", ["a", "'a b'", '"a \\" b"'])
@pytest.mark.parametrize("between", [".", " . "])
@pytest.mark.parametrize("shape", ["{} = 1", "[{}]", "t = {{ {} = 1 }}"])
def test_a_key_of_thousands_of_parts_is_refused_at_once(part, between: str, shape: str) -> None:
    text = "\n" + shape.format(between.join([part] * 9_000)) + "\n"
    started = time.monotonic()
    with pytest.raises(TomlError) as caught:
        parse_toml(text, "deep.toml")
    assert str(caught.value) == "deep.toml:2: nested too deeply; flatten it"
    assert time.monotonic() - started < 2


def test_a_long_text_is_no_deep_key() -> None:
    text = "..".join("a" * 50 for _ in range(900)) + " www.a.b.example 1.2.3 " + "-. " * 150
    assert parse_toml(f'a = """{text}"""', "long.toml") == {"a": text}
