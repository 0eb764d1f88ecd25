"""What a spec of forced failures asks for, and every way in which it can be wrong."""

from __future__ import annotations

import os
import signal
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longjudge.errors import UsageError
from longjudge.faults import KINDS, Fault, FaultKind, Forced, Parts, Share
from longjudge.text import clean_line

TAGS = [f"{number:012x}" for number in range(400)]

seconds = st.integers(1, 10_000).map(lambda number: number / 100)
runs = st.lists(st.tuples(st.integers(1, 60), st.integers(0, 9)), min_size=1, max_size=4)
percents = st.integers(1, 1000).map(lambda number: number / 10)


@st.composite
def pieces(draw: st.DrawFn) -> str:
    """One fault, in any spelling that is right."""
    kind = draw(st.sampled_from(FaultKind))
    value = ""
    if kind is FaultKind.CRASH:
        return f"crash={draw(st.integers(1, 99))}"
    if kind is FaultKind.SLOW or (kind.value in ("429", "529", "500") and draw(st.booleans())):
        value = f"={draw(seconds)}"
    times = f"x{draw(st.integers(1, 9))}" if kind.meets_questions and draw(st.booleans()) else ""
    where = draw(
        st.one_of(
            st.just(""),
            runs.map(lambda found: "@" + ",".join(f"{a}-{a + more}" for a, more in found)),
            st.tuples(percents, st.integers(0, 99)).map(lambda pair: f"@{pair[0]}%:{pair[1]}"),
        )
    )
    return f"{kind.value}{value}{times}{where}"


def refusal(spec: str) -> str:
    """Why a spec is none; empty where it is one."""
    try:
        Fault.parse(spec)
    except UsageError as error:
        return str(error)
    return ""


@given(st.lists(pieces(), min_size=1, max_size=4).map("+".join))
def test_a_spec_has_one_canonical_form_that_says_the_same(spec: str) -> None:
    if said := refusal(spec):
        # Only where one failure leaves nothing for another.
        assert "leave one" in said or "no verdict is committed" in said
        return
    fault = Fault.parse(spec)
    again = Fault.parse(fault.spec)
    assert again == fault
    assert again.spec == str(fault) == fault.spec
    for part, tag in enumerate(TAGS[:30], start=1):
        assert fault.meets(part, tag) == again.meets(part, tag)


@given(st.text(max_size=30) | st.text("429xslow=+@%:-,. 0", max_size=12))
def test_any_other_text_is_refused_in_one_line(text: str) -> None:
    if said := refusal(text):
        assert said.startswith("fault ")
        assert said == clean_line(said)
        assert "\n" not in said


@given(runs, st.integers(1, 80))
def test_chosen_parts_are_met_and_no_others(found: list[tuple[int, int]], part: int) -> None:
    spec = ",".join(f"{first}-{first + more}" for first, more in found)
    chosen = any(first <= part <= first + more for first, more in found)
    assert Fault.parse(f"drop@{spec}").meets(part, "any") == chosen


@given(percents, percents, st.integers(0, 99))
def test_a_share_depends_on_seed_and_text_alone_and_grows_without_losing_a_chunk(
    one: float, other: float, seed: int
) -> None:
    small, large = (Share(percent, seed) for percent in sorted((one, other)))
    for part, tag in enumerate(TAGS):
        met = small.meets(part, tag)
        assert small.meets(part + 7, tag) == met
        assert large.meets(part, tag) or not met


@pytest.mark.parametrize("percent", [10, 30, 80])
def test_a_share_is_about_as_large_as_it_says(percent: float) -> None:
    met = sum(Share(percent, 7).meets(1, tag) for tag in TAGS)
    assert abs(met / len(TAGS) - percent / 100) < 0.08


def test_seeds_choose_different_chunks_and_all_of_them_at_100_percent() -> None:
    chosen = [[tag for tag in TAGS if Share(30, seed).meets(1, tag)] for seed in (0, 1)]
    assert chosen[0] != chosen[1]
    assert all(Share(100, seed).meets(1, tag) for seed in (0, 1) for tag in TAGS)
    assert Fault.parse("drop@30%") == Fault.parse("drop@30%:0")


def test_failures_of_a_question_come_in_order_until_one_keeps_it_back() -> None:
    fault = Fault.parse("slow=0.5+429x2@1-3+529=4x3@1+crash=9+full-disk@2")

    def kinds(part: int, number: int) -> list[str]:
        return [forced.kind.value for forced in fault.of_question(part, "t", number)]

    assert [kinds(1, number) for number in (1, 2, 3, 4)] == [
        ["slow", "429"],
        ["slow", "429"],
        ["slow", "529"],
        ["slow"],
    ]
    assert kinds(4, 1) == ["slow"]
    assert [fault.fills_disk(part, "t") for part in (1, 2)] == [False, True]
    assert not fault.fills_whole_disk


@pytest.mark.parametrize(
    ("spec", "back", "met"),
    [
        ("timeout", {1, 2, 3}, {1, 2, 3}),
        ("timeout@2", {2}, {2}),
        ("timeoutx9", set[int](), {1, 2, 3}),
        ("slow=1", set[int](), {1, 2, 3}),
        ("slow=1+empty@1,3", {1, 3}, {1, 2, 3}),
        ("full-disk", set[int](), {1, 2, 3}),
        ("crash=1", set[int](), set[int]()),
    ],
)
def test_it_is_known_beforehand_which_chunks_are_never_asked_about(
    spec: str, back: set[int], met: set[int]
) -> None:
    fault = Fault.parse(spec)
    assert {part for part in (1, 2, 3) if fault.keeps_back(part, "t")} == back
    assert {part for part in (1, 2, 3) if fault.meets(part, "t")} == met


def test_a_crash_comes_once_and_counts_over_all_judgments_of_a_run() -> None:
    killed: list[str] = []
    fault = replace(Fault.parse("crash=3"), kill=lambda: killed.append("now"))
    for _ in range(2):
        fault.committed()
    assert not killed
    fault.committed()
    fault.committed()
    assert killed == ["now"]
    anew = replace(fault)
    anew.committed()
    assert (killed, anew) == (["now"], fault)


def test_a_crash_kills_this_process_as_nothing_else_would() -> None:
    child = os.fork() if hasattr(os, "fork") else None
    if child is None:
        pytest.skip("needs fork")
    if not child:
        Fault.parse("crash=1").committed()
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL


@pytest.mark.parametrize(
    ("spec", "canonical"),
    [
        (" 429x2@1-3 + slow=0.50 ", "429x2@1-3+slow=0.5"),
        ("timeout@9,7-8,3,1-2", "timeout@1-3,7-9"),
        ("badjson@30.0%:07", "badjson@30%:7"),
        ("529=.25", "529=0.25"),
        ("crash=04", "crash=4"),
        ("slow=00001", "slow=1"),
    ],
)
def test_spellings(spec: str, canonical: str) -> None:
    assert Fault.parse(spec).spec == canonical


def test_the_table_of_kinds_has_them_all_and_says_which_need_a_value() -> None:
    assert [kind.name for kind in KINDS] == [kind.value for kind in FaultKind]
    for name, needs_value, words in KINDS:
        assert words
        if needs_value:
            with pytest.raises(UsageError, match="needs a number"):
                Fault.parse(name)
            assert Fault.parse(f"{name}=2").forced == (Forced(FaultKind(name), 2.0),)
        else:
            assert Fault.parse(name).forced == (Forced(FaultKind(name)),)


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("", "no failure is named; the kinds are timeout, slow"),
        ("timeout+", "without a name: no failure is named"),
        ("+".join(f"drop@{part}" for part in range(1, 22)), "it names more than 20 failures"),
        ("timeout+" * 1250, "it names more than 20 failures"),
        ("timeot", "fault timeot: no such kind of failure; did you mean `timeout`?"),
        ("Timeout", "did you mean `timeout`?"),
        ("bad-json", "did you mean `badjson`?"),
        ("thinking", "did you mean `thinking-only`?"),
        ("earthquake", "no such kind of failure; the kinds are timeout, slow, 429"),
        ("503", "no such kind of failure; did you mean"),
        ("slow", "fault slow: it needs a number; write e.g. slow=0.5"),
        ("crash", "fault crash: it needs a number; write e.g. crash=3"),
        ("slow=", "= is no number of seconds; write e.g. slow=0.5"),
        ("slow=fast", "=fast is no number of seconds"),
        ("slow=-1", "=-1 is no number of seconds"),
        ("slow=1e3", "=1e3 is no number of seconds"),
        ("slow=0", "=0 is out of range; use more than 0"),
        ("429=99999", "=99999 is out of range; use more than 0 and at most 3600 seconds"),
        ("crash=0", "use a whole number from 1"),
        ("crash=1.5", "use a whole number from 1"),
        ("timeout=3", "timeout takes no value; leave =3 out"),
        ("full-disk=3", "full-disk takes no value; leave =3 out"),
        ("timeoutx0", "x0 says how often; use a whole number from 1"),
        ("full-diskx2", "full-disk meets no questions; leave x2 out"),
        ("crash=2x2", "crash meets no questions; leave x2 out"),
        ("crash=2@3", "crash counts verdicts, whatever their part; leave @3 out"),
        ("429@1x2", "its pieces are out of order; write KIND[=VALUE][xTIMES]"),
        ("429@1=2", "its pieces are out of order"),
        ("429x2=1", "its pieces are out of order"),
        ("429=1=2", "its pieces are out of order"),
        ("429@1@2", "its pieces are out of order"),
        ("drop@", "nothing stands behind @; name parts (@3,7-9) or a share (@30%)"),
        ("drop@0", "0 is no part; use a whole number from 1"),
        ("drop@1,", "is no part"),
        ("drop@a", "a is no part"),
        ("drop@1-2-3", "1-2-3 is no part"),
        ("drop@9-7", "9-7 is no range of parts; write 7-9"),
        ("drop@0%", "a share of 0% is out of range; use more than 0% and at most 100%"),
        ("drop@101%", "a share of 101% is out of range"),
        ("drop@-3%", "-3% is no share; write e.g. @30%"),
        ("drop@30%:", "30%: is no share"),
        ("drop@30%:one", "30%:one is no share"),
        ("drop@30:7%", "30:7% is no share"),
        ("timeout+500", "fault 500: timeout meets every question before it; leave one out"),
        ("timeout@3+500@3", "fault 500@3: timeout@3 meets every question before it"),
        ("crash=1+crash=2", "a process is killed once; leave one crash out"),
        ("crash=1+timeout", "fault crash=1: with timeout no verdict is committed; choose parts"),
        ("full-disk+crash=1", "with full-disk no verdict is committed"),
        ("\x1b[31mred", "no such kind"),
    ],
)
def test_what_is_wrong_is_named_with_a_way_out(spec: str, said: str) -> None:
    assert said in refusal(spec)
    assert refusal(spec).isprintable()


def test_parts_hold_runs() -> None:
    assert Parts(((1, 2), (5, 5))).spec == "1-2,5"
