"""With `once`, what asks nothing and says what is recorded already is not recorded again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longjudge.api import open_session
from longjudge.judges.offline import OfflineJudge
from longjudge.judgment import Judgment
from longjudge.rubric import load_rubric
from longjudge.settings import Settings
from longjudge.store import Store
from sessions_for_tests import write_session

if TYPE_CHECKING:
    from pathlib import Path


async def test_an_equal_judgment_is_recorded_once_and_by_default_every_time(
    tmp_path: Path, store_file: Path
) -> None:
    path = write_session(tmp_path / "s.jsonl", 4)
    store, session = await Store.open(store_file), await open_session(path)

    async def judge(size: int = 1000, *, once: bool = True) -> str:
        judgment = Judgment(
            session,
            rubric=load_rubric("chunks"),
            judge=OfflineJudge(),
            store=store,
            settings=Settings(chunk_chars=size),
            once=once,
        )
        return (await judgment.run()).id

    first = await judge()
    assert await judge() == first
    # Another chunk size is another judgment, and the one before it is still found.
    other = await judge(2000)
    assert await judge() == first
    assert await store.judgment_ids() == [other, first]
    again = await judge(once=False)
    assert again not in (first, other)
    # What stands says something else than what is recorded: that is news.
    await store.write(
        "UPDATE judgments SET summary = json_set(summary, '$.flagged_chunks', 3) WHERE id = ?",
        (again,),
    )
    news = await judge()
    assert news not in (first, again)
    # Nor is one that was cut off the newest word.
    await store.write(
        "UPDATE judgments SET summary = json_set(summary, '$.status', 'cancelled') WHERE id = ?",
        (news,),
    )
    assert await judge() not in (first, again, news)
    session.close()
    await store.aclose()
