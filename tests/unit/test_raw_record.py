"""The record behind an event: laid out, and otherwise as it stands in the file."""

from __future__ import annotations

import base64
import json

from hypothesis import given
from hypothesis import strategies as st

from longjudge_tui.bench.raw_record import raw_record

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(JSON, st.sampled_from([None, 1]))
def test_laying_out_changes_only_the_blanks(value, indent):
    record = raw_record(json.dumps(value, indent=indent).encode())
    assert record.is_json
    assert json.loads(record.text) == value


def test_an_entry_has_a_line_of_its_own():
    record = raw_record(b'{"a":[1,{"b":"x, y: {z}"}],"c":{},"d":[]}')
    assert record.text.split("\n") == [
        "{",
        '  "a": [',
        "    1,",
        "    {",
        '      "b": "x, y: {z}"',
        "    }",
        "  ],",
        '  "c": {},',
        '  "d": []',
        "}",
    ]


def test_escapes_numbers_and_repeated_names_stay_as_they_are_written():
    raw = rb'{"a":"\u00e9\ud800\n","a":1.50e3}'
    assert raw_record(raw).text == '{\n  "a": "\\u00e9\\ud800\\n",\n  "a": 1.50e3\n}'


def test_what_is_no_json_is_shown_byte_for_byte():
    record = raw_record(b'{"a": 1, \xff\x1b]0;x')
    assert not record.is_json
    assert record.text == '{"a": 1, \\xff\x1b]0;x'
    assert record.bytes == 15


def test_nesting_without_end_is_shown_and_not_followed():
    raw = b"[" * 100_000
    record = raw_record(raw)
    assert not record.is_json
    assert record.text == raw.decode()


def test_deep_nesting_is_not_indented_without_end():
    raw = b"[" * 900 + b"]" * 900
    assert max(map(len, raw_record(raw).text.split("\n"))) < 100


def test_encoded_media_is_cut_and_says_by_how_much():
    data = base64.b64encode(bytes(range(256)) * 1000).decode()
    record = raw_record(json.dumps({"data": data, "after": "still there"}).encode())
    assert len(record.text) < 300
    assert f"({len(data) - 64:,} characters left out)" in record.text
    assert "still there" in record.text


def test_a_huge_text_is_cut_and_a_long_one_is_not():
    long, huge = "word " * 2_000, "word " * 20_000
    record = raw_record(json.dumps({"long": long, "huge": huge}).encode())
    assert long in record.text
    assert huge not in record.text
    assert "80,000 characters left out" in record.text
