"""Which parts of a key are new: the nearest verdict about the text says it, in words for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from longjudge.keys import key_parts
from longjudge.prices import Usage
from longjudge.store import KeptVerdict, Origin, Provenance, Store
from longjudge.verdict import Verdict
from longjudge.why import LOOKUP, most_common, new_parts, new_words

if TYPE_CHECKING:
    from pathlib import Path

    from longjudge.judges.base import Judge

KEPT = KeptVerdict(Verdict(("a",), ()), "raw", disagrees=False)


async def keep(store: Store, judge: Judge, digest: bytes, *, model: str, rubric: str) -> None:
    parts = key_parts(judge, digest)
    provenance = Provenance(model, "here", "name", rubric, Usage(), None, parts)
    await store.keep(f"{digest.hex()}{model}{rubric}", KEPT, provenance)


def origin(judge: Judge, *, model: str, rubric: str) -> Origin:
    parts = key_parts(judge, b"")
    return Origin(
        {
            "model": model,
            "endpoint": "here",
            "parameters": parts.parameters,
            "prompt": parts.prompt,
            "rendering": parts.rendering,
            "redactor": parts.redactor,
            "rubric": rubric,
        }
    )


async def test_the_nearest_verdict_about_a_text_says_what_is_new(tmp_path: Path) -> None:
    from longjudge.judges.offline import OfflineJudge

    judge, store = OfflineJudge(), await Store.open(tmp_path / "store.sqlite")
    try:
        await keep(store, judge, b"1", model="m", rubric="old")
        await keep(store, judge, b"2", model="m", rubric="old")
        await keep(store, judge, b"2", model="other", rubric="new")
        await keep(store, judge, b"3", model="other", rubric="old")
        many = {position: f"{position:064x}" for position in range(10, LOOKUP + 20)}
        texts = {0: b"1".hex(), 1: b"2".hex(), 2: b"3".hex(), 3: b"4".hex()} | many
        found = await new_parts(store, origin(judge, model="m", rubric="new"), texts)
    finally:
        await store.aclose()
        await judge.aclose()
    assert found[0] == ("rubric",)
    assert len(found[1]) == 1
    assert found[2] == ("model", "rubric")
    assert found[3] == ("text",)
    assert {found[position] for position in many} == {("text",)}


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        (["rubric"], "new rubric"),
        (["model", "parameters"], "new model and request parameters"),
        (["model", "endpoint", "rubric"], "new model, endpoint and rubric"),
    ],
)
def test_new_parts_in_words(parts: list[str], words: str) -> None:
    assert new_words(parts) == words


def test_reasons_are_counted_where_there_are_several() -> None:
    assert most_common(["new rubric"] * 3) == "new rubric"
    assert most_common(["a", "b", "b"]) == "2 b; 1 a"
    assert not most_common([])
