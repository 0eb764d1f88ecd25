"""A search finds exactly the events whose text fits, wherever and however their records stand."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from array import array
from tempfile import NamedTemporaryFile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpus import CORPUS, corpus_files, needs_corpus
from longjudge.errors import SessionError, UsageError
from longjudge.sessions import (
    Event,
    EventKind,
    companions,
    load_session,
    load_sessions,
    pattern_child,
    search_match,
    search_pattern,
    session_from_events,
)
from longjudge.sessions import search as engine
from longjudge.sessions.gather import Gathering
from longjudge.sessions.index import extend_index
from longjudge.sessions.memory import session_from_events as in_memory
from longjudge.sessions.model import Session
from longjudge.sessions.notes import Notes
from longjudge.sessions.retelling import Retelling, RetoldSource, Spool
from longjudge.sessions.search import Search
from longjudge.sessions.search_factors import pattern_words
from longjudge.sessions.search_match import Phrase
from longjudge.sessions.search_query import (
    Mode,
    Query,
    in_any_order,
    parse_query,
    unknown_tool,
)
from longjudge.sessions.sources import FilePart

OTHER_CASE = {"é": "É", "п": "П", "s": "S", "k": "K", "a": "A", "b": "B", "x": "X", "u": "U"}


def found(session, typed):
    """The hits of a search, all at once."""
    query = typed if isinstance(typed, Query) else parse_query(typed)
    search = Search(session, query)
    for _ in search.steps():
        pass
    assert search.done == len(session.index)
    return list(search.hits)


def expected(session, words, *, ignore_case):
    """What a look at every text finds."""
    texts = [session.text(number) for number in range(len(session.index))]
    if ignore_case:
        forms = ["".join({char, OTHER_CASE.get(char, char)}) for char in words]
        pattern = "".join(f"[{re.escape(each)}]" for each in forms)
        return [number for number, text in enumerate(texts) if re.search(pattern, text)]
    return [number for number, text in enumerate(texts) if words in text]


def say(*texts, **more):
    return [{"kind": "assistant_message", "text": text, **more} for text in texts]


def write(path, items, *, ascii_only=False, array=False):
    rows = [json.dumps(item, ensure_ascii=ascii_only) for item in items]
    path.write_text("[" + ",\n".join(rows) + "]" if array else "\n".join(rows), encoding="utf-8")
    return path


def retold(path, texts):
    """A session whose texts stand in a spool."""
    spool, notes = Spool(), Notes()
    gathering = Gathering(notes)
    telling = Retelling(gathering, notes, spool)
    for number, text in enumerate(texts):
        telling.event(Event(EventKind.ASSISTANT_MESSAGE, text), number)
    spool.flush()
    part = FilePart(str(path), -1, None, None, spool.ends)
    index = gathering.session().finish()
    return Session(path, "told", "id", "title", 0, index, RetoldSource(spool, part))


@pytest.fixture(autouse=True)
def short_slices(monkeypatch):
    """Slices as short as a few records, so that a small session has many of them."""
    monkeypatch.setattr(engine, "SLICE_BYTES", 200)
    monkeypatch.setattr(engine, "FILTER_EVENTS", 3)


# Few letters, so that needles are found; quotes, backslashes and lines, which JSON escapes; other
# scripts and signs beyond the first plane, which it may.
LETTERS = st.text(alphabet='ab1 kS"\\/\n:{}éПж😀\u2028.,-', max_size=12)


@settings(deadline=None)
@given(st.lists(LETTERS, min_size=1, max_size=12), LETTERS, st.booleans(), st.booleans(), st.data())
def test_it_finds_what_a_look_at_every_text_finds(texts, any_words, ascii_only, array, data):
    cut = data.draw(st.sampled_from(texts))
    start = data.draw(st.integers(0, len(cut)))
    items = [
        {"kind": "tool_call", "tool": "Bash", "input": {"a": text, "é": [text, {"k": text}]}}
        if number % 2
        else {"kind": "assistant_message", "text": text}
        for number, text in enumerate(texts)
    ]
    # Parts of texts are found, other words mostly not.
    for words in {any_words, cut[start : start + 4]} - {""}:
        query = Query(Mode.TEXT, words)
        fold = query.ignores_case
        with NamedTemporaryFile("w", encoding="utf-8", suffix=".jsonl") as file:
            rows = [json.dumps(item, ensure_ascii=ascii_only) for item in items]
            file.write("[" + ",\n".join(rows) + "]" if array else "\n".join(rows))
            file.flush()
            session = load_session(type(CORPUS)(file.name))
        want = expected(session, words, ignore_case=fold)
        assert found(session, query) == want
        session.close()
        memory = in_memory(items)
        assert found(memory, query) == expected(memory, words, ignore_case=fold) == want


@settings(deadline=None)
@given(st.lists(LETTERS, min_size=1, max_size=12), LETTERS.filter(bool), st.data())
def test_it_finds_the_same_in_what_was_told_anew(texts, any_words, data):
    cut = data.draw(st.sampled_from(texts))
    start = data.draw(st.integers(0, len(cut)))
    session = retold(CORPUS, texts)
    for words in {any_words, cut[start : start + 4]} - {""}:
        query = Query(Mode.TEXT, words)
        want = expected(session, words, ignore_case=query.ignores_case)
        assert found(session, query) == want
    session.close()


PATTERNS = (
    *("a+b", "(a|b)1", "^k", "b$", "é.", r"\w+", "[^a]b", "(?i:S)k", "ab?", "(?:ab)+", "x*"),
    *("a(?=b)", "a(?!b)", r"assistant_message\n.*b", "Bash|b1", r"1\.", "😀|ж"),
)


@pytest.mark.parametrize("words", PATTERNS)
def test_a_pattern_finds_what_it_finds_in_every_text(words):
    texts = ["ab1", "xk\nk b", "kab é1", "", "Sk abab", "S k", "a", "b 1.", "😀 b1", "ж\nab"]
    items = [*say(*texts), {"kind": "tool_call", "tool": "Bash", "input": {"command": "abab"}}]
    session = session_from_events(items)
    query = parse_query(f"re:{words}")
    want = [
        number
        for number in range(len(session.index))
        if re.search(words, session.text(number), query.flags)
    ]
    assert found(session, query) == want


@pytest.mark.parametrize(
    ("words", "known"),
    [
        (r"rm\s+-rf", {"-rf"}),
        (r"git push|delete", {"push", "delete"}),
        (r"(?:error|fail)ed", {"error", "fail"}),
        (r"colou?r", {"colo"}),
        (r"(token)+", {"token"}),
        (r"(token)*s?", None),
        (r"foo|\d", None),
        (r"[abc]\w+", None),
    ],
)
def test_a_pattern_is_searched_by_the_words_that_every_match_has(words, known):
    assert pattern_words(words, re.MULTILINE) == (known and frozenset(known))


def test_reading_every_event_is_said_where_no_word_is_sure():
    session = session_from_events(say("one", "two [x]"))
    assert Search(session, parse_query("re:[a-z] .")).reads_all
    assert Search(session, parse_query("]")).reads_all
    assert not Search(session, parse_query("two [")).reads_all


def test_threads_that_take_turns_in_a_file_are_found_in_the_order_of_the_events(tmp_path):
    items = [
        {"kind": "user", "text": "begin", "agent": "main"},
        *({"kind": "assistant", "text": f"say {n}", "agent": "ab"[n % 2]} for n in range(200)),
        {"kind": "assistant", "text": "say it at last", "agent": "main"},
    ]
    session = load_session(write(tmp_path / "a.jsonl", items))
    assert len(session.index.threads) == 3
    assert found(session, "say") == list(range(1, 202))
    assert found(session, "say 1") == expected(session, "say 1", ignore_case=True)
    assert found(session, "LAST") == []


@pytest.mark.skipif(not os.path.exists("/proc/self/fd"), reason="counts open files")
def test_the_files_of_many_subagents_are_not_all_open_at_once(tmp_path, monkeypatch):
    monkeypatch.setattr(companions, "HELD_OPEN", 0)

    def lines(path, **more):
        said = {"role": "assistant", "content": [{"type": "text", "text": "push"}]}
        record = {"type": "assistant", "sessionId": "a", "message": said, **more}
        path.write_text(json.dumps(record) + "\n")

    path, folder = tmp_path / "a.jsonl", tmp_path / "a" / "subagents"
    folder.mkdir(parents=True)
    lines(path)
    for number in range(12):
        lines(folder / f"agent-{number}.jsonl", isSidechain=True, agentId=str(number))
    session = load_session(path)
    before = len(os.listdir("/proc/self/fd"))
    search, most = Search(session, parse_query("push")), 0
    for _ in search.steps():
        most = max(most, len(os.listdir("/proc/self/fd")))
    assert (len(search.hits), search.unread) == (13, 0)
    assert most - before == 2
    assert len(os.listdir("/proc/self/fd")) == before


def test_each_session_of_a_file_is_searched_by_itself(tmp_path):
    lines = [
        {"messages": [{"role": "user", "content": f"ask {n}"}, {"role": "assistant", "content": c}]}
        for n, c in enumerate(("yes", "no", "yes"))
    ]
    sessions = load_sessions(write(tmp_path / "many.jsonl", lines))
    assert [found(each, "yes") for each in sessions] == [[1], [], [1]]


def test_one_record_of_many_slices_is_found_once(tmp_path):
    items = say("short", "x" * 1_000 + "needle" + "y" * 1_000 + " needle", "needle")
    session = load_session(write(tmp_path / "a.jsonl", items))
    assert found(session, "needle") == [1, 2]
    assert found(session, "xneedley") == [1]


PICTURE = "data:image/png;base64," + "A" * 4_000
MADE = [
    ("3 kB]", {"role": "user", "content": [{"type": "text", "text": PICTURE}]}),
    (
        "image/png, 3",
        {
            "role": "user",
            "content": [
                {"type": "image", "source": {"data": "A" * 4_000, "media_type": "image/png"}}
            ],
        },
    ),
    ("redacted", {"role": "assistant", "content": [{"type": "redacted_thinking", "data": "x"}]}),
    ("[audio]", {"role": "user", "content": [{"type": "input_audio", "input_audio": {"data": 1}}]}),
]


@pytest.mark.parametrize(("words", "message"), MADE)
def test_what_a_rendering_adds_of_itself_is_found_too(tmp_path, words, message):
    hello = [{"role": "user", "content": "hello"}, {"role": "assistant", "content": "yes"}]
    session = load_session(write(tmp_path / "a.jsonl", [*hello, message]))
    want = expected(session, words, ignore_case=False)
    assert found(session, words) == want
    assert want or "audio" in words


def test_arguments_that_are_json_in_a_string_are_found_as_they_are_shown(tmp_path):
    given_ = json.dumps({"command": 'echo "größer" \\ é', "n": 2})
    call = {"id": "1", "type": "function", "function": {"name": "sh", "arguments": given_}}
    items = [{"role": "user", "content": "go"}, {"role": "assistant", "tool_calls": [call]}]
    session = load_session(write(tmp_path / "a.jsonl", items, ascii_only=True))
    for words in ("größer", "GRÖSSER", 'command: echo "g', "\\ é", "n: 2", 'echo "GRÖßER'):
        assert found(session, words.lower()) == expected(session, words.lower(), ignore_case=False)
    assert found(session, "größer") == [1]


ODDLY = [
    r'{"kind": "assistant_message", "text": "n\u0065edle"}',
    r'{"kind": "assistant_message", "text": "N\u0045EDLE a\u003db a\/c"}',
    r'{"kind": "tool_call", "tool": "t", "input": {"c": "{\"d\": \"need\u006ce\"}"}}',
    r'{"kind": "tool_call", "tool": "t", "input": {"a": 1e2, "b":-2.5E+6}}',
    r'{"kind": "tool_call", "tool": "t", "input": {"a": 123456789.123456789, "b": 0.00002}}',
    r'{"kind": "tool_call", "tool": "t", "input": {"a": [0.69999999999999996]}}',
    r'{"kind": "assistant_message", "text": "needle 100.0 \u001b[31m \u003cb\u003e 1e2"}',
    r'{"kind": "assistant_message", "text": "Stra\u1e9ee"}',
    r'{"kind": "assistant_message", "text": "grö\u00dfe 変\u66f4"}',
]


@pytest.mark.parametrize("slice_bytes", [60, 1 << 20])
def test_words_and_numbers_are_found_however_their_json_spells_them(
    tmp_path, monkeypatch, slice_bytes
):
    monkeypatch.setattr(engine, "SLICE_BYTES", slice_bytes)
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join(ODDLY), encoding="utf-8")
    session = load_session(path)
    wanted = {
        "needle": [0, 1, 2, 6],
        "a=b": [1],
        "a/c": [1],
        "100.0": [3, 6],
        "-2500000.0": [3],
        "0.7": [5],
        "123456789.12345679": [4],
        "-05": [4],
        "re:0+[.]0": [3, 6],
        "1e2": [6],
        "straße": [7],
        "größe": [8],
        "変更": [8],
    }
    # What was learned of the file by one search is used by the next.
    for _ in range(2):
        assert {words: found(session, words) for words in wanted} == wanted


def test_a_pattern_finds_every_other_case_that_python_knows():
    others = re.findall(
        "(?i)[a-z]", "".join(map(chr, [*range(128, 0xD800), *range(0xE000, 0x11000)]))
    )
    assert others == ["\u0130", "\u0131", "\u017f", "\u212a"]
    texts = ["kiss", "KISS", "\u212aiss", "kıss", "Kİſs", "µ größe", "μ GRÖßE", "日本 S"]
    for session in (session_from_events(say(*texts)), retold(CORPUS, texts)):
        for words in ("re:kiss", "re:k.ss", "re:(?i:ISS)", "re:größe", "re:μ", "re:日本"):
            query = parse_query(words)
            pattern = re.compile(query.words, query.flags)
            numbers = range(len(texts))
            want = [number for number in numbers if pattern.search(session.text(number))]
            assert found(session, words) == want, words
        assert Search(session, parse_query("re:[μ] ")).reads_all
        assert not Search(session, parse_query("re:日本")).reads_all


def calls_and_results():
    return [
        {"kind": "user_message", "text": "go on"},
        {"kind": "tool_call", "tool": "Bash", "input": {"command": "ls"}, "call_id": "1"},
        {"kind": "tool_result", "output": "no such file", "is_error": True, "call_id": "1"},
        {"kind": "tool_call", "tool": "BashOutput", "input": {"id": 1}, "call_id": "2"},
        {"kind": "tool_result", "tool": "BashOutput", "output": "fine", "call_id": "2"},
        {"kind": "error", "text": "overloaded"},
        {"kind": "thinking", "text": "hm, ls"},
    ]


@pytest.mark.parametrize(
    ("typed", "hits"),
    [
        ("tool:Bash", [1, 2]),
        ("tool:bash*", [1, 2, 3, 4]),
        ("tool:Bash is:error", [2]),
        ("is:error", [2, 5]),
        ("kind:error", [5]),
        ("kind:user", [0]),
        ("kind:call kind:think", [1, 3, 6]),
        ("kind:message", [0]),
        ("ls", [1, 6]),
        ("ls kind:call", [1]),
        ("kind:tool fine", [4]),
        ("tool:Bash re:s.ch", [2]),
        ("(error)", [2]),
        ("tool_call bash", [1, 3]),
        ("tool:none", []),
        ('"is:error"', []),
    ],
)
def test_filters_and_words_go_together(typed, hits):
    assert found(session_from_events(calls_and_results()), typed) == hits


@pytest.mark.parametrize(
    ("typed", "query"),
    [
        ("", Query()),
        ("  git push ", Query(Mode.TEXT, "git push")),
        ("http://x:80 a:b", Query(Mode.TEXT, "http://x:80 a:b")),
        ('"re:x tool:y"', Query(Mode.TEXT, "re:x tool:y")),
        ("a tool:Bash b", Query(Mode.TEXT, "a b", ("Bash",))),
        ('tool:"my tool" x', Query(Mode.TEXT, "x", ("my tool",))),
        ("is:error re:a  b tool:c", Query(Mode.PATTERN, "a  b tool:c", errors=True)),
    ],
)
def test_what_is_typed_is_words_a_pattern_and_filters(typed, query):
    assert parse_query(typed) == query


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("kind:nonsense", "no kind nonsense: user, assistant"),
        ("kind:", "kind: needs one: user"),
        ("is:odd", "is:error"),
        ("tool:", "tool: needs a name"),
        ("re:", "re: needs a pattern"),
        ("re:a(", "no pattern yet"),
        ("re:(?P<x>a)(?P<x>b)", "no pattern yet"),
        ("re:a{99999999999999999999}", "too large"),
        ("re:" + "a" * 2_000, "longer than"),
        ("words re:x", "words before re:"),
    ],
)
def test_what_cannot_be_searched_for_is_said_in_one_line(typed, words):
    with pytest.raises(UsageError) as raised:
        parse_query(typed)
    assert words in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("typed", "instead"),
    [
        ("force push", "re:force.*push|push.*force"),
        ("tool:Bash force  push", "tool:Bash re:force.*push|push.*force"),
        ("is:error kind:call a.b (c", r"is:error kind:call re:a\.b.*\(c|\(c.*a\.b"),
        ("main push force", "re:^(?=.*main)(?=.*push).*force"),
        ("push", ""),
        ("push push", ""),
        ("re:force push", ""),
        ('"force push"', ""),
        ("kind:odd force push", ""),
        ("x" * 600 + " y", ""),
    ],
)
def test_the_words_of_a_phrase_are_found_in_any_order_by_what_is_named(typed, instead):
    assert in_any_order(typed) == instead
    if instead:
        assert parse_query(instead).mode is Mode.PATTERN
        assert parse_query(instead).tools == parse_query(typed).tools


@pytest.mark.parametrize(
    "typed", ["force push", "tool:bash force push", "main Origin push", "tool:Bash a.b (c"]
)
def test_what_is_named_finds_what_the_phrase_does_not(typed):
    texts = ["git push --force Origin main", "x (c a.b", "force\npush", "nothing of it"]
    calls = [Event(EventKind.TOOL_CALL, each, tool="Bash") for each in texts]
    session = in_memory(calls)
    assert found(session, typed) == []
    assert found(session, in_any_order(typed)) == [1 if "(c" in typed else 0]


def test_a_capital_letter_is_meant():
    session = session_from_events(say("Error here", "an error", "ERROR"))
    assert found(session, "error") == [0, 1, 2]
    assert found(session, "Error") == [0]
    assert found(session, "re:e.ror") == [0, 1, 2]
    assert found(session, r"re:E.ror\S*") == [0]
    assert found(session, r"re:\Se.ror") == []


def test_a_tool_that_the_session_has_not_is_named():
    names = ["", "Bash", "Read"]
    assert unknown_tool(parse_query("tool:bash tool:Reed x"), names) == "Reed"
    assert unknown_tool(parse_query("tool:*a*"), names) == ""


def test_a_pattern_that_never_ends_is_given_up_and_the_rest_is_found(monkeypatch):
    monkeypatch.setattr(search_pattern, "SECONDS_A_TEXT", 0.03)
    endless = "x" * 60
    session = session_from_events(say("xy", endless, "so xxy"))
    search = Search(session, parse_query("re:(x+x+)+y"))
    for _ in search.steps():
        pass
    assert (list(search.hits), search.slow) == ([2], 1)
    worse = session_from_events(say("xxy", *(f"{n} {endless}" for n in range(9))))
    search = Search(worse, parse_query("re:(x+x+)+y"))
    with pytest.raises(UsageError, match=r"takes too long, at last on event 3"):
        for _ in search.steps():
            pass
    assert list(search.hits) == [0]


def test_a_search_that_nobody_waits_for_ends_within_a_text_too():
    session = session_from_events(say("x" * 60, "xxy"))
    asked = iter([False, False, True])
    search = Search(session, parse_query("re:(x+x+)+y"), stopped=lambda: next(asked))
    assert not any(True for _ in search.steps())
    assert list(search.hits) == []


def test_a_search_goes_on_where_its_session_is_closed_meanwhile(tmp_path):
    session = load_session(write(tmp_path / "a.jsonl", say("yes", "no", "yes")))
    search = Search(session, parse_query("yes"))
    session.close()
    for _ in search.steps():
        pass
    assert list(search.hits) == [0, 2]
    with pytest.raises(SessionError):
        Search(session, parse_query("yes"))


def test_what_a_session_grows_by_is_for_the_next_search(tmp_path):
    session = load_session(write(tmp_path / "a.jsonl", say("yes", "no", "yes")))
    search = Search(session, parse_query("yes"))
    steps = search.steps()
    more = load_session(write(tmp_path / "b.jsonl", say("yes", "yes")))
    more.index.records = array("I", [3, 4])
    extend_index(session.index, more.index)
    session.index.seal_more(more.index)
    assert search.share == 0.0
    for _ in steps:
        pass
    assert (list(search.hits), search.done, search.share) == ([0, 2], 3, 1.0)


@pytest.mark.parametrize("typed", ["yes", "is:error", "re:y.s"])
def test_a_search_goes_on_with_what_the_session_has_grown_by(tmp_path, typed):
    path = write(tmp_path / "a.jsonl", [*say("yes", "no", is_error=True), *say("yes")])
    path.write_text(path.read_text() + "\n")
    session = load_session(path)
    first = Search(session, parse_query(typed))
    for _ in first.steps():
        pass
    before = list(first.hits)
    with path.open("a") as file:
        file.writelines(json.dumps(each) + "\n" for each in say("yes", "no", is_error=True))
    session.growth.take(session.growth.read(session), session)
    more = Search(session, parse_query(typed), after=first)
    assert (more.done, len(session.index)) == (3, 5)
    for _ in more.steps():
        pass
    assert list(more.hits) == found(session, typed)
    assert len(more.hits) > len(before) > 0
    assert found(session, typed) == list(more.hits)


def test_events_that_are_not_what_was_indexed_are_counted_and_not_found(tmp_path):
    path = write(tmp_path / "a.jsonl", say("needle one", "needle two"))
    session = load_session(path)
    with path.open("r+b") as file:
        file.write(b'{"kind": "assistant_message", "text": "needle"    }')
    search = Search(session, parse_query("needle"))
    for _ in search.steps():
        pass
    assert (list(search.hits), search.unread) == ([1], 1)


def test_a_file_that_has_become_shorter_leaves_events_unread(tmp_path):
    path = write(tmp_path / "a.jsonl", say(*(f"needle {n}" for n in range(40))))
    session = load_session(path)
    with path.open("r+b") as file:
        file.truncate(300)
    search = Search(session, parse_query("re:needle."))
    for _ in search.steps():
        pass
    assert 0 < len(search.hits) < 40


@pytest.mark.parametrize(
    ("words", "text", "spans"),
    [
        ("ab", "ab AB xab", [(0, 2), (3, 5), (7, 9)]),
        ("AB", "ab AB xab", [(3, 5)]),
        ("é[", "É[é[", [(0, 2), (2, 4)]),
        ("aba", "xABAbaba", [(1, 4), (5, 8)]),
    ],
)
@pytest.mark.parametrize("part", [1, 2, 100])
def test_places_in_a_text_follow_the_same_rule(monkeypatch, part, words, text, spans):
    monkeypatch.setattr(search_match, "PART_CHARS", part)
    query = Query(Mode.TEXT, words)
    phrase = Phrase(words, ignore_case=query.ignores_case)
    assert list(phrase.spans(text, 10)) == spans
    assert list(phrase.spans(text, 1)) == spans[:1]
    assert phrase.is_in(text)


def test_places_of_a_pattern_come_from_its_process(monkeypatch):
    query = parse_query("re:b+")
    with search_pattern.PatternProcess(query.words, query.flags, lambda: False) as process:
        assert process.spans("ébb B", 10) == [(1, 3), (4, 5)]
        assert process.spans("none", 10) == []
    monkeypatch.setattr(search_pattern, "SECONDS_A_TEXT", 0.03)
    with (
        search_pattern.PatternProcess("(x+x+)+y", query.flags, lambda: False) as process,
        pytest.raises(search_pattern.TooSlowError),
    ):
        process.spans("x" * 60, 10)


def test_the_process_of_a_pattern_ends_with_the_one_that_waits_for_it():
    somebody_else = "1"
    command = [sys.executable, "-I", "-S", pattern_child.__file__, "60", somebody_else]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        orders = [(pattern_child.PATTERN, b"(x+x+)+y"), (pattern_child.FIND, b"x" * 60)]
        for wish, data in orders:
            process.stdin.write(pattern_child.ORDER.pack(wish, 0, len(data)) + data)
        process.stdin.flush()
        assert process.wait(10) == 0
        assert process.stdout.read() == b""


def test_a_pattern_may_be_any_text_and_no_other_user_sees_it():
    words = "a\0\ud800|sk-secret"
    with search_pattern.PatternProcess(words, re.NOFLAG, lambda: False) as process:
        assert process.which_hold(["a\0\ud800", "sk-secret", "a"]) == [True, True, False]
        assert not any("secret" in str(each) for each in process._process.args)


SOME_FILES = 12


def check_corpus_file(name):
    """Words of every kind of event are found by a search as by a look."""
    try:
        sessions = load_sessions(CORPUS / name)
    except SessionError:
        pytest.skip("refused")
    try:
        for session in sessions[:2]:
            check_some_words(session)
    finally:
        for session in sessions:
            session.close()


def check_some_words(session):
    texts = [session.text(number) for number in range(min(400, len(session.index)))]
    by_kind = {}
    for number, text in enumerate(texts):
        by_kind.setdefault((session.index.kinds[number], session.index.tools[number]), text)
    for text in [*by_kind.values()][:12]:
        for word in {*re.findall(r"\S{2,20}", text)[1:40:5]}:
            query = Query(Mode.TEXT, word)
            hits = [hit for hit in found(session, query) if hit < len(texts)]
            phrase = Phrase(word, ignore_case=query.ignores_case)
            assert hits == [n for n, each in enumerate(texts) if phrase.is_in(each)], word


@needs_corpus
@pytest.mark.parametrize("name", corpus_files()[:: max(1, len(corpus_files()) // SOME_FILES)])
def test_words_of_real_sessions_are_found(name, monkeypatch):
    monkeypatch.setattr(engine, "SLICE_BYTES", 20_000)
    check_corpus_file(name)


@needs_corpus
@pytest.mark.thorough
@pytest.mark.parametrize("name", corpus_files())
def test_words_of_every_real_session_are_found(name, monkeypatch):
    monkeypatch.setattr(engine, "SLICE_BYTES", 20_000)
    check_corpus_file(name)
