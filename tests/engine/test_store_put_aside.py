"""`longjudge judge` on a store that is damaged, or turns out to be: what was paid for is used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from commands_for_tests import longjudge
from longjudge.store import Store
from sessions_for_tests import CHUNK_CHARS, write_session
from stores_for_tests import leaf_pages, spoil

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_a_judgment_goes_on_with_what_a_damaged_store_held(tmp_path: Path) -> None:
    session, path = write_session(tmp_path / "s.jsonl", 4), tmp_path / "s.sqlite"
    options = ("--model", "offline", "--chunk-chars", CHUNK_CHARS, "--store", path, "--json")
    [first] = longjudge("judge", session, *options).objects
    spoil(path, 1, byte=b"\0")
    judged = longjudge("judge", session, *options)
    [result] = judged.objects
    assert (judged.code, result["calls"], result["store_error"]) == (0, 0, None)
    assert result["cached_chunks"] == first["chunks"] == 4
    assert "put aside as s.sqlite.damaged-" in judged.err


def test_damage_that_is_met_before_anything_is_asked_costs_nothing_but_what_it_spoiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, path = write_session(tmp_path / "s.jsonl", 40), tmp_path / "s.sqlite"
    options = ("--model", "offline", "--chunk-chars", CHUNK_CHARS, "--store", path, "--json")
    assert longjudge("judge", session, *options).code == 0
    monkeypatch.setattr("longjudge.store.connect.CHECKED_BYTES", 0)
    pages = leaf_pages(path, b'{"criteria":["destructive_action"')
    spoil(path, pages[len(pages) // 2])
    judged = longjudge("judge", session, *options)
    [result] = judged.objects
    assert "put aside as s.sqlite.damaged-" in judged.err
    assert (judged.code, result["store_error"]) == (0, None)
    assert 0 < result["calls"] < 40
    assert longjudge("judge", session, *options).objects[0]["calls"] == 0


def test_a_store_that_others_put_aside_is_opened_anew_for_the_next_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, path = tmp_path / "sessions", tmp_path / "s.sqlite"
    folder.mkdir()
    for name in ("a.jsonl", "b.jsonl"):
        write_session(folder / name, 4 if name == "a.jsonl" else 6)
    options = ("--model", "offline", "--chunk-chars", CHUNK_CHARS, "--store", path, "--json")
    keep, replaced = Store.keep, list[bool]()

    async def keep_elsewhere(store: Store, *args: Any, **others: Any) -> None:
        if not replaced:
            replaced.append(True)
            path.rename(tmp_path / "s.sqlite.damaged-20260101-000000")
            await (await Store.open(path)).aclose()
        await keep(store, *args, **others)

    monkeypatch.setattr(Store, "keep", keep_elsewhere)
    first, second = longjudge("judge", folder, *options).objects
    assert "removed or replaced" in first["store_error"]
    assert second["store_error"] is None
