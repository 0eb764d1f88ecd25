"""Documents: every whole element is found, however large the file and whatever is damaged in it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from dataclasses import replace
from time import process_time
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longjudge.errors import LoadCancelledError
from longjudge.sessions import apart, documents, load_session
from longjudge.sessions.documents import read_document
from longjudge.sessions.scanning import DamagedError, Scanner
from longjudge.sessions.splitting import split_sound
from longjudge.sessions.walking import walk_document

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from longjudge.sessions.layout import Document

LISTS = ("events", "messages", "history", "log.entries", "a.b.c")
ELEMENTS = [
    {"type": "user", "uuid": str(n), "content": [{"type": "text", "text": f'say "{n}" {{[ now'}]}
    for n in range(6)
]


@contextmanager
def opened(data: bytes) -> Iterator[int]:
    with tempfile.TemporaryFile() as file:
        file.write(data)
        file.flush()
        yield file.fileno()


def nothing() -> None:
    pass


def walked(data: bytes, slice_bytes: int = 1 << 20) -> Document | None:
    with opened(data) as descriptor:
        return walk_document(Scanner(descriptor, len(data), nothing, slice_bytes), 0, LISTS)


def read(data: bytes) -> Document | None:
    with opened(data) as descriptor:
        return read_document(descriptor, len(data), LISTS, nothing)


def elements(document: Document | None, data: bytes) -> list[bytes]:
    assert document is not None
    spans = zip(document.starts, document.ends, strict=True)
    return [data[start:end] for start, end in spans]


def names(document: Document | None, data: bytes) -> list[str]:
    """The uuid of each whole element, `damaged` for each that is none."""
    found: list[str] = []
    for element in elements(document, data):
        try:
            found.append(json.loads(element)["uuid"])
        except (ValueError, KeyError):
            found.append("damaged")
    return found


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)
NAMES = st.sampled_from(["events", "history", "log", "entries", "a", "b", "c", "x", 'q"\\'])


@settings(deadline=None)
@given(
    st.lists(VALUES, max_size=5)
    | st.dictionaries(NAMES, VALUES | st.lists(VALUES, max_size=3), max_size=5)
    | st.dictionaries(NAMES, st.dictionaries(NAMES, st.lists(VALUES, max_size=3)), max_size=3),
    st.sampled_from([None, 1, 3]),
    st.sampled_from([3, 17, 1 << 20]),
)
def test_the_walk_finds_what_the_fast_decoder_finds(
    value: object, indent: int | None, slice_bytes: int
) -> None:
    data = json.dumps(value, indent=indent, ensure_ascii=False).encode("utf-8", "surrogatepass")
    fast = split_sound(data, 0, LISTS)
    assert fast is not None
    assert walked(data, slice_bytes) == fast


@pytest.mark.parametrize("indent", [None, 2])
def test_elements_of_all_lists_stand_in_the_order_of_the_file(indent: int | None) -> None:
    value = {"log": {"v": 1, "entries": ["a", "b"]}, "id": "x", "events": [1], "history": [[]]}
    data = json.dumps(value, indent=indent).encode()
    document = read(data)
    assert elements(document, data) == [b'"a"', b'"b"', b"1", b"[]"]
    assert document is not None
    assert document.runs == [("log.entries", 2), ("events", 1), ("history", 1)]
    chosen = document.select(["events", "history"], len(data))
    assert elements(chosen, data) == [b"1", b"[]"]
    assert (chosen.wrapper, chosen.runs) == ("events", [("events", 1), ("history", 1)])
    assert chosen.around["log"] == {"v": 1, "entries": ["a", "b"]}
    nested = document.select(["log.entries"], len(data))
    assert elements(nested, data) == [b'"a"', b'"b"']
    assert nested.around["log"] == {"v": 1, "entries": "list"}
    assert nested.around["events"] == [1]
    whole = document.select(["nothing"], len(data))
    assert elements(whole, data) == [data]
    assert whole.whole


def test_only_the_first_of_several_lists_is_taken_where_one_is_wanted() -> None:
    data = json.dumps({"history": [1], "messages": [{}], "events": [2]}, indent=1).encode()
    document = read(data)
    assert document is not None
    first = document.first(["messages", "events"], len(data))
    assert elements(first, data) == [b"{}"]
    assert first.fault == "a second list, `events`, was left out"


def test_large_entries_beside_a_list_are_named_by_their_type() -> None:
    data = json.dumps({"a": "x" * 200_000, "b": [[0] * 90_000], "id": 7, "events": [1]}).encode()
    document = read(data)
    assert document is not None
    assert document.around == {"a": "str", "b": "list", "id": 7, "events": [1]}


DAMAGE = {
    "a quote less": (b'now"', b"now"),
    "a brace less": (b"now", b'now"}]{'),
    "a bracket more": (b'say \\"2', b'"]'),
    "a brace more": (b'say \\"2', b'"}'),
    "a run of NUL": (b'"text"', b"\0" * 300),
    "no comma": (b'"content"', b"content}"),
    "words": (b'"uuid": "2",', b"Killed: 9 (out of memory)"),
}


@pytest.mark.parametrize("fault", DAMAGE)
@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("wrap", [False, True])
@pytest.mark.parametrize("number", [0, 2, 5])
def test_a_damaged_element_costs_only_itself(
    fault: str, indent: int | None, wrap: bool, number: int
) -> None:
    sound = json.dumps(ELEMENTS, indent=indent).encode()
    old, new = (part.replace(b"2", str(number).encode()) for part in DAMAGE[fault])
    start = sound.index(b'"uuid": "%d"' % number)
    at = sound.index(old, start)
    data = sound[:at] + new + sound[at + len(old) :]
    if wrap:
        data = b'{"id": "x", "events": ' + data + b', "after": {"a": []}}'
    wanted = [str(n) for n in range(6)]
    wanted[number] = "damaged"
    for slice_bytes in (64, 1 << 20):
        document = walked(data, slice_bytes)
        assert document is not None
        found = names(document, data)
        if number == 5:
            # Nothing follows that would show where the last one ends.
            found = [*found[:5], "damaged"]
            assert document.fault or len(names(document, data)) == 6
        assert found == wanted


@pytest.mark.parametrize("indent", [None, 2])
def test_a_cut_document_says_behind_which_element(indent: int | None) -> None:
    data = json.dumps(ELEMENTS, indent=indent).encode()
    for cut in range(data.index(b'"uuid": "3"'), data.index(b'"uuid": "4"'), 7):
        document = walked(data[:cut])
        assert document is not None
        whole = len(elements(document, data))
        assert whole in (3, 4)
        assert document.fault == f"the document is cut or damaged after element {whole}"


def test_a_damaged_entry_before_the_list_does_not_hide_it() -> None:
    data = b'{"meta": {"a": tr"ue}, "events": ' + json.dumps(ELEMENTS).encode() + b"}"
    document = walked(data)
    assert names(document, data) == list("012345")
    assert document is not None
    assert document.fault == "the document is damaged before its `events`"


@pytest.mark.parametrize("indent", [1, 4])
def test_documents_one_behind_the_other_are_each_one(indent: int) -> None:
    each = [json.dumps({"uuid": str(n), "events": [n]}, indent=indent).encode() for n in range(4)]
    data = b"\n".join(each)
    document = walked(data)
    assert elements(document, data) == each
    assert document is not None
    assert (document.wrapper, document.fault) == (None, None)
    broken = data.replace(b'"uuid": "1"', b'"uuid: "1"')
    assert names(walked(broken), broken) == ["0", "damaged", "2", "3"]
    assert names(walked(data[:-8]), data) == ["0", "1", "2"]


def test_arrays_one_behind_the_other_lose_no_element() -> None:
    data = json.dumps(ELEMENTS[:2]).encode() + b"\n" + json.dumps(ELEMENTS[2:]).encode()
    assert [name for name in names(walked(data), data) if name != "damaged"] == list("012345")


@pytest.mark.parametrize(
    ("value", "end"),
    [
        (b'"a\\"b" ', 6),
        (b'"' + b"\\\\" * 50 + b'"', 102),
        (b'{"a": "' + b"x" * 500 + b'\\\\", "b": [1, {}]}', 525),
        (b"[" * 3000 + b"]" * 3000, 6000),
        (b"-1.5e3,", 6),
        (b"true]", 4),
    ],
    ids=["escaped quote", "backslashes", "long string", "deep", "number", "word"],
)
def test_values_end_where_they_end_whatever_the_slices_cut(value: bytes, end: int) -> None:
    with opened(value) as descriptor:
        for slice_bytes in (2, 7, 64, 1 << 20):
            assert Scanner(descriptor, len(value), nothing, slice_bytes).value_end(0) == end


@pytest.mark.parametrize("value", [b'"a', b'{"a": 1', b"[1, 2}", b'["a" "b"]', b"{[1]}", b"", b"}"])
def test_what_is_no_value_is_told(value: bytes) -> None:
    with opened(value) as descriptor, pytest.raises(DamagedError):
        Scanner(descriptor, len(value), nothing).value_end(0)


@pytest.mark.parametrize(("sound", "wrap"), [(True, True), (False, False)])
def test_a_large_document_is_split_by_another_process(
    monkeypatch: pytest.MonkeyPatch, sound: bool, wrap: bool
) -> None:
    monkeypatch.setattr(documents, "_SMALL_BYTES", 100)
    monkeypatch.setattr(documents, "split_sound", None)
    monkeypatch.setattr(documents, "walk_document", None)
    data = json.dumps(ELEMENTS, ensure_ascii=False).encode()
    data = b'{"id": "\\ud83d", "events": ' + data + b"}" if wrap else data
    data = data if sound else data.replace(b'"uuid": "2"', b'"uuid: "2"')
    document = read(data)
    assert names(document, data) == ["0", "1", "2" if sound else "damaged", "3", "4", "5"]
    assert document is not None
    assert replace(document, is_line=False) == walked(data)


def test_a_process_that_cannot_be_started_or_dies_is_done_without(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(documents, "_SMALL_BYTES", 100)
    data = json.dumps(ELEMENTS).encode()
    for executable in ("", "/nowhere/python", "/bin/false"):
        monkeypatch.setattr(sys, "executable", executable)
        assert names(read(data), data) == list("012345")


def test_loading_stops_while_another_process_splits(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(documents, "_SMALL_BYTES", 100)
    started: list[int] = []
    popen = apart.subprocess.Popen

    def noted(*args: object, **options: object) -> object:
        process = popen(*args, **options)  # pyright: ignore
        started.append(process.pid)
        return process

    monkeypatch.setattr(apart.subprocess, "Popen", noted)
    path = tmp_path / "large.json"
    path.write_bytes(json.dumps(ELEMENTS).encode())
    with pytest.raises(LoadCancelledError):
        load_session(path, lambda done, total: not started)
    assert len(started) == 1
    with pytest.raises(ChildProcessError):
        os.waitpid(started[0], os.WNOHANG)


_BUSY = """
import threading
from longjudge.sessions import apart
apart.split_sound = lambda *_: threading.Event().wait()
print(apart.main(["9", "0", "[]"]))
"""


def test_the_process_ends_where_nobody_is_left_to_read_what_it_finds(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(b'[{"a": 1}]')
    with path.open("rb") as file:
        process = subprocess.Popen(
            [sys.executable, "-c", _BUSY], stdin=file, stdout=subprocess.PIPE
        )
        with process:
            assert process.stdout is not None
            process.stdout.close()
            assert process.wait(30) == 1


def test_a_session_in_a_large_document_reads_as_in_a_small_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    events = [{"kind": "assistant_message", "text": f"item {n} é"} for n in range(300)]
    path = tmp_path / "x.json"
    path.write_bytes(json.dumps({"title": "t", "events": events}, ensure_ascii=False).encode())
    small = load_session(path)
    texts = [small.text(n) for n in range(len(small.index))]
    small.close()
    monkeypatch.setattr(documents, "_SMALL_BYTES", 100)
    large = load_session(path)
    assert [large.text(n) for n in range(len(large.index))] == texts
    assert large.title == "t"
    large.close()


@pytest.mark.parametrize(
    "data",
    [
        b'[{"a": 1},' + b'{"a": ' * 20_000,
        b'{"events": [' + b'{"a": [' * 20_000,
        b"{\n" * 100_000,
        b'{\n"a": 1\n\n' * 40_000,
        b"[" + b"\0" * 1_000_000,
        b'["' + b"\\" * 1_000_001,
        b'{"messages": [\n' * 15_000,
        b'{\n "x": }, ' + b'"events": [{"a": ' * 60_000,
        b"{\n" + b"\n[" * 150_000,
    ],
    ids=[
        *("open objects", "open lists", "braces", "rows", "NUL", "backslashes", "wrappers"),
        *("nested wrappers", "brackets"),
    ],
)
def test_a_hostile_document_is_given_up_in_time(data: bytes) -> None:
    began = process_time()
    read(data)
    assert process_time() - began < 6
