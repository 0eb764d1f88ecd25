"""What a judgment of one session set is said in the sessions that are opened after it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

from longjudge.judges.offline import OfflineJudge
from longjudge.rubric import load_rubric
from longjudge.settings import Settings
from longjudge_tui.bench.carried import Carried, ways_of
from longjudge_tui.bench.tuning import Tuning

if TYPE_CHECKING:
    from longjudge.sessions import Session


def session(name: str) -> Session:
    return cast("Session", SimpleNamespace(path=Path("/a") / name, id=name))


def test_what_was_set_is_said_as_long_as_it_stands_and_only_where_it_was_not_asked_for() -> None:
    chunks = load_rubric("chunks")
    tuning = Tuning(
        Settings(),
        OfflineJudge(),
        chunks,
        make_judge=lambda _: OfflineJudge(),
        model_name=None,
        refuse=lambda: None,
        changed=lambda: None,
        calls_changed=lambda _: None,
    )
    carried, one, other = Carried(), session("one\x1b[2J.jsonl"), session("other.jsonl")
    assert carried.words(other, tuning) == ()
    before = ways_of(tuning)
    mine = chunks.model_copy(update={"name": "mine", "instructions": "Be strict."})
    tuning.use_all(replace(tuning.settings, chunk_chars=3_000), tuning.model_name, mine)
    carried.note(one, before, tuning)
    assert carried.words(one, tuning) == carried.words(None, tuning) == ()
    what = f"cut at 3,000 characters, by rubric mine {mine.version}"
    whence = "as recalled for one␛[2J.jsonl"
    assert carried.words(other, tuning) == (
        f"{what}, {whence}: s and b change it",
        f"{what}: s and b change it",
        whence,
    )
    tuning.set_size(4_000)
    assert carried.words(other, tuning)[1] == f"by rubric mine {mine.version}: b changes it"
    tuning.use_rubric(chunks)
    assert carried.words(other, tuning) == ()
