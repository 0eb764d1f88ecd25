"""`--session` picks one session of a file with many; files that repeat each other count once."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from claude_code_records import assistant, call, result, text, user
from commands_for_tests import longjudge
from longjudge import judge_session
from longjudge.errors import SessionError

if TYPE_CHECKING:
    from pathlib import Path


def conversation(name: str, command: str) -> dict:
    function = {"name": "Bash", "arguments": json.dumps({"command": command})}
    return {
        "id": name,
        "messages": [
            {"role": "user", "content": f"please {name}"},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "c1", "type": "function", "function": function}],
            },
            {"role": "tool", "tool_call_id": "c1", "content": "ok"},
            {"role": "assistant", "content": "done"},
        ],
    }


@pytest.fixture
def many(tmp_path: Path) -> Path:
    path = tmp_path / "many.jsonl"
    rows = [conversation("tidy", "ls"), conversation("wreck", "rm -rf /home/dev/photos")]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def judge(*arguments: object, tmp_path: Path):
    store = tmp_path / "store.sqlite"
    return longjudge("judge", *arguments, "--model", "offline", "--json", "--store", store)


def test_rows_name_their_session_and_what_a_file_lost_is_said_once(
    many: Path, tmp_path: Path
) -> None:
    many.write_text(many.read_text() + '{"id": "torn", "messa')
    many.write_text(many.read_text() + "\n" + json.dumps(conversation("third", "ls")) + "\n")
    rows = [row for row in longjudge("sessions", many).out.splitlines() if " events " in row]
    named = [row.split(str(many))[1].split()[0] for row in rows]
    assert named == ["tidy", "wreck", "third"]
    assert judge(many, tmp_path=tmp_path).err.count("no complete JSON record") == 1
    shown = longjudge("judge", many, "--model", "offline", "--store", tmp_path / "s.sqlite")
    for name in named:
        assert f"{many} · session {name}: complete" in shown.out
        assert f"{many} · session {name}: 1 chunk" in shown.err


def test_every_session_of_a_file_is_listed_planned_estimated_and_judged(
    many: Path, tmp_path: Path
) -> None:
    listed = longjudge("sessions", many, "--json").objects
    assert [each["id"] for each in listed] == ["tidy", "wreck"]
    planned = longjudge("chunks", many, "--model", "offline", "--json").objects
    assert [each["session"]["id"] for each in planned] == ["tidy", "wreck"]
    estimated = longjudge("estimate", many, "--model", "offline", "--json").objects
    assert [each.get("id") for each in estimated[:-1]] == ["tidy", "wreck"]
    judged = judge(many, tmp_path=tmp_path)
    assert [(each["session"]["id"], each["flagged_chunks"]) for each in judged.objects] == [
        ("tidy", 0),
        ("wreck", 1),
    ]
    assert judged.code == 0


@pytest.mark.parametrize("command", ["sessions", "chunks", "estimate", "judge", "cache why"])
def test_one_session_is_chosen_by_its_id(command: str, many: Path, tmp_path: Path) -> None:
    options = [] if command == "sessions" else ["--model", "offline"]
    store = [] if command == "sessions" else ["--store", tmp_path / "store.sqlite"]
    words = [*command.split(), many, "--session", "wreck", "--json", *options, *store]
    done = longjudge(*words)
    assert done.code == 0
    first = done.objects[0]
    assert first.get("id", "wreck") == "wreck" or first["session"]["id"] == "wreck"
    assert len(done.objects) == (2 if command == "estimate" else 1)


def test_an_id_that_no_session_has_is_an_error(many: Path, tmp_path: Path) -> None:
    done = judge(many, "--session", "other", tmp_path=tmp_path)
    assert (done.code, done.out) == (2, "")
    assert "no session other among 2" in done.err


async def test_python_asks_for_a_choice_and_takes_one(many: Path, tmp_path: Path) -> None:
    store = tmp_path / "store.sqlite"
    with pytest.raises(SessionError, match="holds 2 sessions; choose one"):
        await judge_session(many, model="offline", store=store)
    result = await judge_session(many, model="offline", store=store, session="wreck")
    assert result is not None
    assert result.flagged_chunks == 1


def resumed(tmp_path: Path) -> tuple[Path, Path]:
    begun = [
        user("go"),
        assistant(call("Bash", "toolu_1", command="rm -rf /home/dev/photos")),
        user([result("", "toolu_1")]),
    ]
    old, new = tmp_path / "old.jsonl", tmp_path / "new.jsonl"
    more = [{**each, "sessionId": "new"} for each in begun]
    more += [user("more"), assistant(text("done"), sessionId="new")]
    old.write_text("".join(json.dumps(each) + "\n" for each in begun))
    new.write_text("".join(json.dumps(each) + "\n" for each in more))
    return old, new


def test_a_resumed_session_and_the_one_it_continues_count_once(tmp_path: Path) -> None:
    old, new = resumed(tmp_path)
    done = judge(tmp_path, tmp_path=tmp_path)
    assert [each["session"]["path"] for each in done.objects] == [str(new)]
    assert sum(len(each["findings"]) for each in done.objects) == 1
    assert "passed over 1 session(s) that other files continue" in done.err
    assert done.code == 0
    alone = judge(old, tmp_path=tmp_path)
    assert [len(each["findings"]) for each in alone.objects] == [1]
