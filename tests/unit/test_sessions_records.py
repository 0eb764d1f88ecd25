"""Damaged lines: everything that can be read is read, and what is lost is said."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longjudge.sessions.records import NO_UTF8, NOT_JSON, NOT_OBJECT, SEVERAL, TOO_DEEP, parse_line


@pytest.mark.parametrize(
    "line",
    [
        b'\xef\xbb\xbf{"a":1}',
        b'{"a":1}\r\n',
        b'\x00\x00\x00{"a":1}\x00',
        b'  {"a":1}  ',
    ],
)
def test_marks_and_fill_around_a_record_are_no_damage(line: bytes) -> None:
    found = parse_line(line)
    assert found.objects == [{"a": 1}]
    assert (found.fault, found.oddities) == (None, ())


@pytest.mark.parametrize("line", [b"", b"  \r\n", b"\x00\x00\x00", b"\xef\xbb\xbf"])
def test_blank_lines_are_nothing(line: bytes) -> None:
    assert parse_line(line).objects == []
    assert parse_line(line).fault is None


def test_glued_records_are_all_kept() -> None:
    found = parse_line(b'{"type":"a"}{"type":"b"} {"type":"c"}')
    assert [value["type"] for value in found.objects] == ["a", "b", "c"]
    assert found.fault is None
    assert found.oddities == (SEVERAL,)


def test_a_record_glued_onto_a_stub_is_kept_and_the_stub_counted() -> None:
    found = parse_line(b'{"type":"user","message":{"content":"cut he{"type":"b","n":1}')
    assert found.objects == [{"type": "b", "n": 1}]
    assert found.fault == NOT_JSON


def test_a_part_of_a_cut_record_is_not_taken_for_a_record() -> None:
    line = b'{"type":"assistant","message":{"content":[{"type":"text","text":"a"},{"type":"te'
    assert parse_line(line).objects == []


def test_bytes_of_another_encoding_are_replaced_not_dropped() -> None:
    found = parse_line(b'{"text":"na\xefve"}')
    assert found.objects == [{"text": "na\ufffdve"}]
    assert found.oddities == (NO_UTF8,)
    assert found.fault is None


def test_lone_surrogates_become_replacement_characters_in_values_and_keys() -> None:
    found = parse_line(b'{"\\ud83d":["x\\udc00",{"k":"\\ud83d\\ude00"}]}')
    assert found.objects == [{"\ufffd": ["x\ufffd", {"k": "\U0001f600"}]}]


def test_raw_control_characters_and_odd_numbers_are_read() -> None:
    found = parse_line(b'{"a":"x\x01y\tz","b":NaN,"c":-Infinity,"d":1e999}')
    assert found.fault is None
    assert found.objects[0]["b"] == "NaN"
    assert found.objects[0]["c"] == "-Infinity"
    json.dumps(found.objects)


def test_a_number_of_any_length_loses_no_record() -> None:
    found = parse_line(b'{"a":' + b"9" * 5000 + b',"b":-' + b"1" * 20 + b"}")
    assert found.objects == [{"a": "9" * 5000, "b": -11111111111111111111}]
    assert found.fault is None
    json.dumps(found.objects)


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        (b"npm WARN deprecated", NOT_JSON),
        (b'{"a":', NOT_JSON),
        (b"[1,2]", NOT_OBJECT),
        (b"12", NOT_OBJECT),
        (b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}", TOO_DEEP),
    ],
)
def test_what_is_no_record_is_a_fault_and_no_exception(line: bytes, fault: str) -> None:
    found = parse_line(line)
    assert found.objects == []
    assert found.fault == fault


PIECES = st.sampled_from(
    [b'{"type":"a"', b"}", b"{", b'"', b"\\ud800", b"\xff", b"\x00", b"[", b"]", b",", b":", b"1"]
)


@given(st.lists(PIECES | st.binary(max_size=6), max_size=20).map(b"".join))
def test_no_bytes_raise_and_all_text_can_be_encoded(line: bytes) -> None:
    found = parse_line(line)
    json.dumps(found.objects, ensure_ascii=False).encode("utf-8")
    assert found == parse_line(line)
