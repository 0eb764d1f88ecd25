"""What a batch run says that the store did not take is said by the app as well."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from longjudge_tui.bench.event_log import EventLog
from longjudge_tui.estimate import batch_run
from longjudge_tui.estimate.batch_command import BatchCommand
from longjudge_tui.estimate.batch_run import BatchRuns

SAYS = """
import sys
print({first!r}, {second!r}, sep="\\n", flush=True)
print("longjudge: NOT ALL IS KEPT: no space left; 1 result not recorded", file=sys.stderr)
print("longjudge: 1 lease could not be given back", file=sys.stderr)
"""


@pytest.fixture
def runs_as(monkeypatch, tmp_path):
    """A run that prints and says this, in a process of its own."""
    start = subprocess.Popen

    def runs(script):
        def begin(_, **options):
            return start([sys.executable, "-c", script], **options)

        monkeypatch.setattr(batch_run.subprocess, "Popen", begin)
        monkeypatch.setattr(batch_run, "log_path", lambda: tmp_path / "longjudge.log")

    return runs


async def test_results_that_were_not_recorded_are_counted_and_why_is_shown(runs_as):
    kept = json.dumps({"id": "j_1", "cost_usd": 0.2, "store_error": None})
    lost = json.dumps({"id": "j_2", "cost_usd": 0.1, "store_error": "no space left"})
    runs_as(SAYS.format(first=kept, second=lost))
    notices = []
    runs = BatchRuns(EventLog(), notices.append)
    runs.begin(BatchCommand((), 2))
    await runs._task
    await runs.aclose()
    assert notices == [
        "batch run ended: 2 of 2 sessions, 1 not kept, $0.300"
        " · NOT ALL IS KEPT: no space left; 1 result not recorded"
    ]
