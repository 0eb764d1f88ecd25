"""Files damaged at random: each reads back as it was indexed, or is refused in one line."""

from __future__ import annotations

import json
import random
import time
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from claude_code_records import assistant, call, jsonl, result, text, user
from fuzz_sessions import SAMPLES, fault_of, fuzz, mutated, mutation, seed_files

if TYPE_CHECKING:
    from pathlib import Path

SAMPLE_FILES = sorted(SAMPLES.glob("*"))


def fault_but_time(path: Path) -> str:
    """What is wrong with how a file loads; how long it takes depends on the computer."""
    fault = fault_of(path) or ""
    return "" if fault.startswith("slow") else fault


@pytest.mark.parametrize("round_", range(6))
def test_samples_survive_damage(tmp_path: Path, round_: int) -> None:
    path = tmp_path / "damaged"
    for number in range(10):
        rng = random.Random(f"{round_}:{number}")
        data, other = (rng.choice(SAMPLE_FILES).read_bytes()[:40_000] for _ in range(2))
        path.write_bytes(mutated(rng, data, other))
        assert not fault_but_time(path), (round_, number)


@pytest.mark.thorough
def test_the_corpus_survives_damage() -> None:
    finds, tried = fuzz([f"thorough:{number}" for number in range(3000)], 2)
    assert finds == []
    assert sum(tried.values()) == 3000


def test_a_seed_always_makes_the_same_mutation() -> None:
    files = seed_files()
    assert mutation("1:5", files) == mutation("1:5", files)
    assert mutation("1:5", files) != mutation("1:6", files)


def test_a_fault_is_a_find(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(jsonl([user("go")]))
    assert fault_of(path) is None

    def broken(path: Path) -> None:
        raise KeyError(path.name)

    monkeypatch.setattr("fuzz_sessions.load_sessions", broken)
    assert "KeyError" in (fault_of(path) or "")


RECORDS = [
    user("go"),
    assistant(text("look"), call("Read", "t1", path="a")),
    user([result("x", "t1")]),
    {"timestamp": "2025-01-01T00:00:00Z", "type": "session_meta", "payload": {"id": "s"}},
    {
        "timestamp": "2025-01-01T00:00:01Z",
        "type": "response_item",
        "payload": {"type": "function_call", "name": "f", "arguments": "{}", "call_id": "c"},
    },
    {"role": "assistant", "content": "x", "tool_calls": [{"function": {"name": "f"}}]},
    {"kind": "tool_call", "tool": "T", "input": {"a": 1}},
    {"messages": [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}]},
    {"schema_version": "ATIF-v1.4", "agent": {"name": "x"}, "steps": [{"source": "user"}]},
    {"sessionId": "s", "projectHash": "p", "messages": [{"type": "user", "content": "hi"}]},
    {"type": "session", "id": "s", "cwd": "/"},
    {"type": "message", "id": "1", "message": {"role": "user", "content": "x"}},
    {"trace_id": "t", "span_id": "s", "name": "chat", "attributes": {"gen_ai.prompt": "x"}},
]
NAMES = st.sampled_from(
    [
        *(
            "type",
            "role",
            "content",
            "message",
            "messages",
            "payload",
            "text",
            "id",
            "name",
            "parts",
        ),
        *("input", "output", "arguments", "tool_calls", "timestamp", "attributes", "steps", "data"),
    ]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6) | NAMES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=5,
)


def put(record: object, rng: random.Random, name: str, value: object) -> object:
    """The record with a value in a place of any depth."""
    if isinstance(record, dict):
        key = rng.choice([*record, name])
        deeper = key in record and rng.random() < 0.6
        return {**record, key: put(record[key], rng, name, value) if deeper else value}
    if isinstance(record, list) and record:
        at = rng.randrange(len(record))
        return [*record[:at], put(record[at], rng, name, value), *record[at + 1 :]]
    return value


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    st.sampled_from(RECORDS),
    st.lists(st.tuples(st.integers(), NAMES, VALUES), min_size=1, max_size=4),
    st.booleans(),
)
def test_records_with_values_of_any_type_are_read_or_refused(
    tmp_path: Path,
    record: dict[str, object],
    changes: list[tuple[int, str, object]],
    as_document: bool,
) -> None:
    records: list[object] = [record] * 4
    for seed, name, value in changes:
        rng = random.Random(seed)
        at = rng.randrange(len(records))
        records[at] = put(records[at], rng, name, value)
    path = tmp_path / "any"
    lines = "\n".join(json.dumps(each) for each in records)
    path.write_text(json.dumps(records, indent=1) if as_document else lines)
    assert not fault_but_time(path)


def test_a_long_line_is_read_in_a_moment(tmp_path: Path) -> None:
    path = tmp_path / "long.jsonl"
    path.write_bytes(jsonl([user("go"), user("x" * 5_000_000), user("end")]))
    began = time.process_time()
    assert fault_of(path) is None
    assert time.process_time() - began < 10
