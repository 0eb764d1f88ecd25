"""What a forced failure is beside a real one: the same to a judgment, and never taken for it."""

from __future__ import annotations

import asyncio
import contextlib
import random
import sqlite3
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

import server as api
from commands_for_tests import longjudge
from judgments_for_tests import MODEL, Watched, check_sums, run
from longjudge import CredentialError, UsageError, judge_session, retries
from longjudge.budget import Budget
from longjudge.faults import KINDS, Fault
from longjudge.holds import list_holds
from longjudge.judges import anthropic as messages_api
from longjudge.judges import faulty
from longjudge.judges.anthropic import AnthropicJudge
from longjudge.judges.base import Answer, AskError, Question
from longjudge.judges.faulty import FaultyJudge
from longjudge.judges.offline import OfflineJudge
from longjudge.rubric import load_rubric
from longjudge.store import Store, token_factor
from server import FOREVER, MessagesServer, Reply
from sessions_for_tests import CHUNK_CHARS, events, write_equal, write_events, write_session

if TYPE_CHECKING:
    from pathlib import Path

    from longjudge import Result
    from longjudge.judges.base import Judge
    from longjudge.store import KeptVerdict
    from longjudge.updates import Update
    from server import Request

COUNT = 6
QUESTION = Question("system", "user", (), load_rubric("chunks"), "0123456789ab", 1)


@pytest.fixture(autouse=True)
def _in_short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retries, "FIRST_WAIT", 0.001)


@pytest.fixture
def session_file(tmp_path: Path) -> Path:
    return write_session(tmp_path / "session.jsonl", COUNT)


def in_front(judge: Judge, spec: str) -> FaultyJudge:
    return FaultyJudge(judge, Fault.parse(spec), lambda: [(1, QUESTION.tag)])


async def outcome(judge: Judge) -> Answer | AskError:
    """What comes of one question."""
    await judge.prepare()
    try:
        return await judge.ask(QUESTION, max_tokens=100)
    except AskError as error:
        return error


@pytest.mark.parametrize(
    ("spec", "reply"),
    [
        ("timeout", Reply(delay=FOREVER)),
        ("429", api.rate_limited()),
        ("429=7", api.rate_limited(7)),
        ("529", api.error(529, kind="overloaded_error")),
        ("500", api.error(500)),
        ("drop", api.DROP),
        ("badjson", api.text('{"criteria": {"destructive_action": {"fin}}')),
        ("truncated", api.truncated()),
        ("refusal", api.refusal()),
        ("empty", api.text("")),
        ("thinking-only", api.thinking_only()),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_a_forced_failure_means_what_a_real_one_means(
    served: MessagesServer, monkeypatch: pytest.MonkeyPatch, spec: str, reply: Reply
) -> None:
    monkeypatch.setattr(faulty, "CALL_SECONDS", 0.01)
    if reply.delay == FOREVER:
        monkeypatch.setattr(messages_api, "CALL_SECONDS", 0.1)

    def always(request: Request, attempt: int) -> Reply:
        return reply

    served.script = always
    judge = AnthropicJudge(MODEL)
    try:
        real = await outcome(judge)
        assert len(served.requests) == 1
        forced = await outcome(in_front(judge, spec))
        assert len(served.requests) == 1
    finally:
        await judge.aclose()
    if isinstance(real, Answer):
        assert isinstance(forced, Answer)
        assert forced.stop is real.stop
        assert bool(forced.text) == bool(real.text)
        assert (forced.forced, real.forced) == (True, False)
        return
    assert isinstance(forced, AskError)
    meaning = [(each.again, each.reason, each.wait, each.replied) for each in (forced, real)]
    assert meaning[0] == meaning[1]
    assert forced.message.startswith("forced: ")
    assert forced.free


async def test_to_everybody_else_it_is_the_judge_behind() -> None:
    behind = OfflineJudge()
    judge = in_front(behind, "drop")
    same = ("model", "endpoint", "parameters", "price", "judges_meaning")
    assert [getattr(judge, name) for name in same] == [getattr(behind, name) for name in same]
    assert judge.label == "offline rules, failures forced"


@pytest.mark.parametrize(
    ("spec", "calls"),
    [
        ("429=0.001x7", 8),
        ("529=0.001x2", 3),
        ("500x4", 5),
        ("dropx1", 2),
        ("badjsonx1", 2),
        ("truncatedx1", 2),
        ("emptyx1", 2),
        ("thinking-onlyx1", 2),
        ("slow=0.01x1", 1),
        ("429=0.001x2+slow=0.01+500x3", 4),
    ],
)
async def test_a_failure_that_passes_costs_questions_and_no_verdict(
    session_file: Path, store_file: Path, spec: str, calls: int
) -> None:
    result = await run(session_file, store_file, model="offline", fault=Fault.parse(spec))
    assert (result.status, result.fault) == ("complete", spec)
    assert [part.attempts for part in result.parts] == [calls] * COUNT
    kept = await run(session_file, store_file, model="offline")
    assert (kept.calls, kept.fault, kept.findings) == (0, None, result.findings)


async def test_where_no_question_is_ever_sent_no_credential_is_needed(
    served: MessagesServer,
    session_file: Path,
    store_file: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("longjudge.asking.GRACE_SECONDS", 0.01)

    async def judged(fault: str, time_limit: float = 600.0) -> Result:
        forced = Fault.parse(fault)
        return await run(session_file, store_file, fault=forced, time_limit=time_limit)

    monkeypatch.delenv("ANTHROPIC_API_KEY")
    result = await judged("refusal")
    assert (result.status, result.gaps, result.cost_usd) == ("failed", {"refused": COUNT}, 0.0)
    with pytest.raises(CredentialError, match="ANTHROPIC_API_KEY"):
        await judged("refusal@1")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-test")
    assert served.requests == []
    await judged("refusal@2-3")
    assert len(served.requests) == COUNT - 2
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    # What has to be asked, and nothing else, decides; kept verdicts are used as always.
    again = await judged("timeout@2+500x9@1+empty@3", time_limit=0.1)
    assert (again.status, again.cached_chunks) == ("timed_out", COUNT - 2)
    assert len(served.requests) == COUNT - 2


async def test_a_call_that_hangs_is_cut_off_by_the_limit_as_a_real_one(
    served: MessagesServer, session_file: Path, store_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("longjudge.asking.GRACE_SECONDS", 0.01)
    budget = Budget(max_cost=1.0)
    result = await run(
        session_file, store_file, fault=Fault.parse("timeout"), time_limit=0.1, budget=budget
    )
    assert (result.status, result.gaps) == ("timed_out", {"timed_out": 2, "skipped": COUNT - 2})
    assert (result.calls, result.calls_without_reply, result.cost_usd) == (2, 2, 0.0)
    assert (budget.spent, served.requests) == (0.0, [])


async def test_a_call_that_hangs_is_cut_off_by_a_cancel_and_the_verdicts_beside_it_are_kept(
    session_file: Path, store_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("longjudge.asking.GRACE_SECONDS", 0.01)
    fault = Fault.parse("timeout@2,5")
    async with Watched(
        session_file, store_file, model="offline", concurrency=3, fault=fault
    ) as watched:
        running = watched.begin()
        await watched.until(6, "clean")
        assert watched.judgment.cancel_part(2)
        watched.judgment.cancel()
        result = await running
    check_sums(result)
    assert (result.status, result.gaps) == ("cancelled", {"cancelled": 2})
    again = await run(session_file, store_file, model="offline")
    assert (again.status, again.calls) == ("complete", 2)


@pytest.mark.parametrize("kind", ["badjson", "truncated", "500", "drop", "429=0.001", "refusal"])
async def test_what_is_made_up_takes_nothing_from_the_budget_and_teaches_nothing(
    served: MessagesServer, session_file: Path, store_file: Path, kind: str
) -> None:
    budget = Budget(max_cost=1.0)
    result = await run(session_file, store_file, fault=Fault.parse(kind), budget=budget)
    assert result.status == "failed"
    assert (budget.spent, budget.calls, served.requests) == (0.0, result.calls, [])
    store = await Store.open(store_file)
    try:
        assert await token_factor(store, MODEL, "generic") is None
    finally:
        await store.aclose()


async def test_another_judgment_at_the_same_time_meets_no_failure_of_this_one(
    session_file: Path, store_file: Path
) -> None:
    fault = Fault.parse("429=30")
    async with (
        Watched(session_file, store_file, model="offline", fault=fault) as faulty_one,
        Watched(session_file, store_file, model="offline") as other,
    ):
        first = faulty_one.begin()
        await faulty_one.until(1, "retrying")
        second = other.begin()
        await other.until(6, "clean")
        faulty_one.judgment.cancel()
        results = [await first, await second]
    for result in results:
        check_sums(result)
    assert (results[0].fault, results[1].fault) == ("429=30", None)
    assert results[1].status == "complete"
    assert (await run(session_file, store_file, model="offline")).calls == 0


async def test_nobody_waits_for_a_question_that_is_never_sent(
    session_file: Path, store_file: Path
) -> None:
    fault = Fault.parse("timeout@1-3")
    async with (
        Watched(session_file, store_file, model="offline", concurrency=6, fault=fault) as stuck,
        Watched(session_file, store_file, model="offline") as other,
    ):
        first = stuck.begin()
        await stuck.until(3, "running")
        await stuck.until(6, "clean")
        holds = await list_holds(other.store)
        async with asyncio.timeout(30):
            result = await other.judgment.run()
        stuck.judgment.cancel()
        cut_off = await first
    assert (result.status, result.calls) == ("complete", 3)
    assert not any("waiting" in other.states(part) for part in range(1, COUNT + 1))
    assert holds == []
    assert cut_off.gaps == {"cancelled": 3}


async def test_equal_chunks_share_the_failure_of_the_one_that_is_asked(
    tmp_path: Path, store_file: Path
) -> None:
    path = write_equal(tmp_path / "s.jsonl", 4)
    result = await run(path, store_file, model="offline", fault=Fault.parse("refusal@2"))
    assert (result.gaps, result.calls) == ({"refused": 4}, 2)
    unmet = await run(path, store_file, model="offline", fault=Fault.parse("refusal@3"))
    assert (unmet.status, unmet.calls) == ("complete", 1)


async def test_a_made_up_reply_says_so_where_it_is_shown(
    session_file: Path, store_file: Path
) -> None:
    fault = Fault.parse("badjson@2+truncated@3+empty@4")
    notes: list[str] = []

    def listen(update: Update) -> None:
        notes.append(getattr(update, "note", ""))

    async with Watched(session_file, store_file, model="offline", fault=fault) as watched:
        watched.on_update = listen
        await watched.judgment.run()
        replies = [watched.judgment.board.chunks[position].raw_reply for position in (1, 2)]
    assert all(reply.startswith("This reply is made up. ") for reply in replies)
    assert len([note for note in notes if note.startswith("forced: ")]) == 6


def test_a_forced_failure_is_told_in_every_format(session_file: Path, store_file: Path) -> None:
    sizes = ("--model", "offline", "--store", store_file, "--chunk-chars", CHUNK_CHARS)
    spec = "drop@2+429=0.001x2"
    said = f"forced failures: {spec}; nothing they make is kept"
    text = longjudge("judge", session_file, *sizes, "--fault", spec)
    assert text.code == 3
    assert f"longjudge: {said}" in text.err
    assert "part 2: provider_error: forced: connection failed" in text.err
    assert f"\n  {said}\n" in text.out
    longjudge("judge", session_file, *sizes)
    kept = longjudge("judge", session_file, *sizes, "--fault", spec)
    assert f"failures are forced in 0 of {COUNT} parts" in kept.err
    _, newer, older = longjudge("results", "--store", store_file).out.splitlines()
    assert "forced failures" not in newer
    assert f"  forced failures: {spec}  " in older
    [*_, recorded] = longjudge("results", "--store", store_file, "--format", "json").objects
    assert recorded["fault"] == spec
    id = recorded["id"]
    assert f"\n  {said}\n" in longjudge("results", id, "--store", store_file).out
    report = longjudge("results", id, "--store", store_file, "--format", "md").out
    assert f"- Forced failures: {spec}; nothing they make is kept" in report


def test_a_session_to_which_the_rubric_does_not_apply_says_so_too(
    tmp_path: Path, store_file: Path
) -> None:
    path = tmp_path / "talk.json"
    path.write_text('[{"kind": "user_message", "text": "hello"}]', encoding="utf-8")
    options = ("--model", "offline", "--store", store_file, "--json", "--fault", "drop")
    ended = longjudge("judge", path, *options)
    [result] = ended.objects
    assert (ended.code, result["status"], result["fault"]) == (0, "not_applicable", "drop")


async def test_from_python_a_spec_is_given_as_it_stands(store_file: Path) -> None:
    result = await judge_session(events(2), model="offline", store=store_file, fault=" empty ")
    assert result is not None
    assert (result.fault, result.to_dict()["fault"], result.status) == ("empty", "empty", "failed")
    with pytest.raises(UsageError, match="did you mean `timeout`"):
        await judge_session(events(1), model="offline", fault="timeot")


def test_a_crash_counts_the_verdicts_of_all_sessions_of_a_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, killed, parse = tmp_path / "store.sqlite", list[int](), Fault.parse

    def kill() -> None:
        with contextlib.closing(sqlite3.connect(store)) as connection:
            killed.extend(connection.execute("SELECT count(*) FROM verdicts").fetchone())

    def parse_harmless(spec: str) -> Fault:
        return replace(parse(spec), kill=kill)

    monkeypatch.setattr(Fault, "parse", parse_harmless)
    (sessions := tmp_path / "sessions").mkdir()
    write_session(sessions / "a.jsonl", 3)
    write_events(sessions / "b.jsonl", events(1) + events(9)[3:5])
    options = ("--model", "offline", "--store", store, "--chunk-chars", CHUNK_CHARS)
    longjudge("judge", sessions, *options, "--fault", "crash=4", "--concurrency", 1)
    assert killed == [4]


def random_spec(rng: random.Random) -> str:
    """Up to three failures that leave something for each other."""
    kinds = [kind.name for kind in KINDS if kind.name not in ("crash", "timeout")]
    while True:
        pieces: list[str] = []
        for kind in rng.choices(kinds, k=rng.randint(1, 3)):
            value = "=0.002" if kind in ("slow", "429", "529") else ""
            times = "" if kind == "full-disk" else rng.choice(("", "x1", "x2"))
            where = rng.choice(("", "@1", "@2-4,9", f"@40%:{rng.randint(0, 9)}"))
            pieces.append(f"{kind}{value}{times}{where}")
        with contextlib.suppress(UsageError):
            return Fault.parse("+".join(pieces)).spec


async def kept(path: Path) -> dict[str, KeptVerdict]:
    """Everything that a store holds."""
    store = await Store.open(path)
    try:
        return await store.kept(list(await store.all_keys()))
    finally:
        await store.aclose()


@pytest.mark.parametrize(
    "seed",
    [*range(4), *(pytest.param(seed, marks=pytest.mark.thorough) for seed in range(4, 150))],
)
async def test_whatever_is_forced_only_what_the_judge_gave_is_kept(
    seed: int, tmp_path: Path, store_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("longjudge.asking.GRACE_SECONDS", 0.01)
    rng = random.Random(seed)
    some = events(8)
    path = write_events(tmp_path / "s.jsonl", some[:1] + rng.choices(some, k=12))
    await run(path, tmp_path / "true.sqlite", model="offline")
    true = await kept(tmp_path / "true.sqlite")
    fault = Fault.parse(random_spec(rng))
    options = {"concurrency": rng.randint(1, 9), "time_limit": rng.choice((600, 0.03))}
    first = await run(path, store_file, model="offline", fault=fault, **options)
    before = await kept(store_file)
    assert before.items() <= true.items()
    if first.store_error is None:
        judged = {part.part for part in first.parts if part.reason is None}
        assert len(judged) - first.cached_chunks == len(before)
    second = await run(path, store_file, model="offline")
    assert (second.status, second.calls) == ("complete", len(true) - len(before))
    assert await kept(store_file) == true
