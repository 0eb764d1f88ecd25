"""What is judged once is not asked again, whatever about the next run decides no answer."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from judgments_for_tests import run
from longjudge.judges.anthropic import AnthropicJudge
from sessions_for_tests import write_session

if TYPE_CHECKING:
    from pathlib import Path

    from server import MessagesServer


@pytest.mark.parametrize(
    "options",
    [{"concurrency": 7}, {"time_limit": 17.5}, {"path": "elsewhere/another name.jsonl"}],
    ids=["calls in flight", "time limit", "path and name"],
)
async def test_nothing_is_asked_again_with_another(
    options: dict[str, object], served: MessagesServer, tmp_path: Path, store_file: Path
) -> None:
    path = write_session(tmp_path / "session.jsonl", 3)
    await run(path, store_file)
    if name := options.pop("path", ""):
        other = tmp_path / str(name)
        other.parent.mkdir()
        path = shutil.move(path, other)
    again = await run(path, store_file, **options)
    assert (again.calls, again.cached_chunks) == (0, 3)
    assert len(served.requests) == 3


async def test_a_request_has_no_member_that_the_key_leaves_out(
    served: MessagesServer, tmp_path: Path, store_file: Path
) -> None:
    await run(write_session(tmp_path / "session.jsonl", 1), store_file)
    [request] = served.requests
    effort = AnthropicJudge("m").parameters["effort"]
    # The prompt is in the key by its parts; the token cap decides no complete answer.
    assert set(request.body) == {"model", "system", "messages", "max_tokens", "output_config"}
    assert set(request.body["output_config"]) == {"effort", "format"}
    assert request.body["output_config"]["effort"] == effort
    assert set(AnthropicJudge("m").parameters) == {"effort", "format"}
