"""Loading real bytes: damage is survived and said, and every text is read again as indexed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from claude_code_records import (
    assistant,
    call,
    events,
    jsonl,
    load,
    load_or_refusal,
    notes,
    result,
    text,
    user,
)
from longjudge.errors import SessionError
from longjudge.sessions import Severity, load_session
from longjudge.sessions.model import text_digest

if TYPE_CHECKING:
    from pathlib import Path

TURN = [
    user("go"),
    assistant(text("I look"), call("Read", "t1", path="a")),
    user([result("x", "t1")]),
]
BODIES = ["go", "I look", "path: a", "x"]


def bodies(session) -> list[str]:
    return [body for _, body in events(session)]


@pytest.mark.parametrize(
    "data",
    [
        b"\xef\xbb\xbf" + jsonl(TURN),
        jsonl(TURN).replace(b"\n", b"\r\n"),
        jsonl(TURN).replace(b"\n", b"\n\n  \n"),
        b"\x00" * 50 + jsonl(TURN),
        jsonl(TURN).removesuffix(b"\n"),
        json.dumps(TURN).encode(),
        json.dumps(TURN, indent=4).encode(),
        "\n".join(json.dumps(item, indent=2) for item in TURN).encode(),
    ],
)
def test_harmless_differences_change_nothing(tmp_path: Path, data: bytes) -> None:
    session = load(tmp_path, data)
    assert bodies(session) == BODIES
    assert (session.skipped_lines, session.diagnostics) == (0, ())


def test_objects_in_several_lines_are_read_up_to_what_is_damaged(tmp_path: Path) -> None:
    whole = "\n".join(json.dumps(item, indent=2) for item in TURN).encode()
    session = load(tmp_path, whole[: whole.rindex(b"tool_result")])
    assert bodies(session) == BODIES[:3]
    assert session.skipped_lines == 1
    assert notes(session) == {"the document is cut or damaged after object 2": 1}


def test_separators_that_are_no_newlines_split_nothing(tmp_path: Path) -> None:
    words = "a\u2028b\u2029c\x85d\x0be"
    line = json.dumps(user(words), ensure_ascii=False).encode()
    assert bodies(load(tmp_path, line, b"\n", user("next"))) == [words, "next"]


def test_noise_between_records_is_counted_with_its_first_line(tmp_path: Path) -> None:
    session = load(tmp_path, TURN[0], b"npm WARN x\n", TURN[1], b"[INFO] y\n", TURN[2])
    assert bodies(session) == BODIES
    assert session.skipped_lines == 2
    (note,) = session.diagnostics
    assert (note.count, note.line, note.severity) == (2, 2, Severity.WARNING)
    assert session.line(3) == 5


def test_noise_before_the_first_record_does_not_hide_the_session(tmp_path: Path) -> None:
    session = load(tmp_path, b"[INFO] starting\n{ oops\n", *TURN)
    assert bodies(session) == BODIES


def test_a_cut_last_line_is_information_elsewhere_a_warning(tmp_path: Path) -> None:
    cut = jsonl([user("never finished")])[:60]
    growing = load(tmp_path, *TURN, cut)
    assert (bodies(growing), growing.skipped_lines) == (BODIES, 1)
    assert growing.diagnostics[0].severity is Severity.INFO
    assert "still being written" in growing.diagnostics[0].reason
    damaged = load(tmp_path, TURN[0], cut + b"\n", *TURN[1:])
    assert (bodies(damaged), damaged.skipped_lines) == (BODIES, 1)
    assert damaged.diagnostics[0].severity is Severity.WARNING


def test_glued_and_torn_lines_keep_their_complete_records(tmp_path: Path) -> None:
    glued = b"".join(jsonl([item]).strip() for item in TURN) + b"\n"
    torn = jsonl([user("stub")])[:150] + jsonl([user("after the stub")])
    session = load(tmp_path, glued, torn, user("last"))
    assert bodies(session) == [*BODIES, "after the stub", "last"]
    assert session.skipped_lines == 1
    assert notes(session)["several records on one line"] == 1
    assert session.line(4) == 2


def test_lone_surrogates_nan_and_foreign_bytes_reach_no_encoder(tmp_path: Path) -> None:
    session = load(
        tmp_path,
        b'{"type":"user","sessionId":"s","message":{"content":"a\\ud83db"}}\n',
        b'{"type":"user","sessionId":"s","message":{"content":"na\xefve"}}\n',
        b'{"type":"assistant","sessionId":"s","message":{"content":[{"type":"tool_use",'
        b'"name":"T","input":{"x":NaN,"y":[1e999,Infinity]}}]}}\n',
    )
    assert bodies(session)[:2] == ["a\ufffdb", "na\ufffdve"]
    assert bodies(session)[2].startswith("x: NaN\ny: [")
    assert session.skipped_lines == 0


def test_a_file_that_changes_under_an_open_session_is_noticed(tmp_path: Path) -> None:
    session = load(tmp_path, *TURN, name="a\n\x1b[31m.jsonl")
    path = session.path
    assert path is not None
    with path.open("r+b") as file:
        file.seek(path.read_bytes().index(b'"go"') + 1)
        file.write(b"no")
    with pytest.raises(SessionError, match="changed while it was open") as error:
        session.text(0)
    assert str(error.value).isprintable()


def test_a_closed_session_reads_nothing_more(tmp_path: Path) -> None:
    session = load(tmp_path, *TURN)
    session.close()
    session.close()
    with pytest.raises(SessionError):
        session.text(0)


def test_the_raw_record_is_the_line_of_the_file(tmp_path: Path) -> None:
    session = load(tmp_path, b"noise\n", *TURN)
    assert json.loads(session.raw(1)) == TURN[1]


PIECES = st.sampled_from(
    [
        *[jsonl([item]) for item in TURN],
        b'{"kind":"tool_call","tool":"T","input":{"a":"\\ud800"}}\n',
        b'{"type":"user","sessionId":"s","message":{"content":[{},1,{"type":"image"}]}}\n',
        b'{"type":"assistant","message":{"content":[{"type":"tool_use","input":[1]}]}}',
        b'{"events":[{"kind":"user","text":"x"},',
        b"[",
        b"]",
        b"{",
        b"}",
        b",",
        b"\n",
        b"\xff",
        b"\x00",
        b'"',
        b'{"role":"user","content":"x"}\n',
    ]
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(PIECES | st.binary(max_size=8), max_size=14).map(b"".join))
def test_any_bytes_load_the_same_way_twice_or_are_refused(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "any"
    path.write_bytes(data)
    session = load_or_refusal(path)
    if isinstance(session, str):
        assert "\n" not in session
        return
    again = load_session(path)
    assert session.index.digests == again.index.digests
    assert session.describe() == again.describe()
    assert session.diagnostics == again.diagnostics
    for number in range(len(session.index)):
        words = session.text(number)
        assert text_digest(words) == session.index.digest(number)
        assert len(words) == session.index.chars[number]
        words.encode("utf-8")
    session.close()
    again.close()


WORDS = st.text(max_size=30)
BLOCKS = st.one_of(
    st.builds(lambda words: {"type": "text", "text": words}, WORDS),
    st.builds(
        lambda name, value, id: {"type": "tool_use", "id": id, "name": name, "input": value},
        WORDS,
        st.dictionaries(WORDS, WORDS | st.integers() | st.none(), max_size=3),
        WORDS,
    ),
    st.builds(
        lambda words, id, error: {
            "type": "tool_result",
            "tool_use_id": id,
            "content": words,
            "is_error": error,
        },
        WORDS,
        WORDS,
        st.none() | st.booleans(),
    ),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(st.lists(BLOCKS, min_size=1, max_size=3), min_size=1, max_size=8))
def test_sound_records_lose_nothing_but_empty_texts(
    tmp_path: Path, turns: list[list[dict]]
) -> None:
    session = load(tmp_path, user("start"), *[assistant(*blocks) for blocks in turns])
    wanted = [
        block for blocks in turns for block in blocks if block["type"] != "text" or block["text"]
    ]
    distinct = sum(
        len({json.dumps(block, sort_keys=True) for block in blocks if block in wanted})
        for blocks in turns
    )
    assert 1 + distinct <= len(session.index) + sum(notes(session).values())
    assert len(session.index) <= 1 + len(wanted)
    for number in range(len(session.index)):
        session.text(number)
    session.close()
