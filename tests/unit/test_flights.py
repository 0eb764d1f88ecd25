"""The registry of questions: told once, dropped in time, and not inherited by a fork."""

from __future__ import annotations

import subprocess
import sys
from contextlib import ExitStack

from longjudge.flights import Flights
from longjudge.store import KeptVerdict
from longjudge.verdict import Verdict

KEPT = KeptVerdict(Verdict((), ()), "", disagrees=False)


def test_an_equal_question_gets_the_flight_of_the_first() -> None:
    flights = Flights()
    assert flights.depart("k") is None
    waiting = flights.depart("k")
    assert waiting is not None
    flights.arrive("k", KEPT)
    assert waiting.result(0) == KEPT
    assert flights.depart("k") is None


def test_a_landed_verdict_stays_for_those_who_began_before_and_no_longer() -> None:
    flights = Flights()
    with ExitStack() as first, ExitStack() as second, ExitStack() as third:
        first.enter_context(flights.judging())
        second.enter_context(flights.judging())
        flights.depart("k")
        flights.arrive("k", KEPT)
        landed = flights.depart("k")
        assert landed is not None
        assert landed.done()
        third.enter_context(flights.judging())
        first.close()
        assert flights.depart("k") is landed
        second.close()
        # The third began after it landed, and found it in its store if it is there at all.
        assert flights.depart("k") is None


def test_asked_anew_what_has_landed_departs_again_and_what_is_on_its_way_does_not() -> None:
    flights = Flights()
    with flights.judging(), flights.judging():
        flights.depart("k")
        on_its_way = flights.depart("k", anew=True)
        assert on_its_way is not None
        flights.arrive("k", KEPT)
        assert on_its_way.result() is KEPT
        assert flights.depart("k", anew=True) is None
        again = flights.depart("k")
        assert again is not None
        assert not again.done()
        flights.arrive("k", KEPT)
        assert again.result() is KEPT


def test_a_child_process_waits_for_no_flight_of_its_parent() -> None:
    # In a process of its own, since one with threads had better not fork.
    script = (
        "import os\n"
        "from longjudge.flights import FLIGHTS\n"
        "FLIGHTS.depart('of the parent')\n"
        "child = os.fork()\n"
        "if not child:\n"
        "    os._exit(0 if FLIGHTS.depart('of the parent') is None else 1)\n"
        "raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
