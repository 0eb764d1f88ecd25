"""What judging would ask, send, cost and take: one session, all of them, or told from a few.

A `Forecaster` looks at one session after the other, a `Tally` sums them up. Where there are too
many, `draw` chooses files of all sizes, and `extrapolated` tells from them what all need, with the
interval that each sum lies in; `extrapolate` does so for any other value, such as what was paid.
"""

from __future__ import annotations

from longjudge.forecast.extrapolating import CONFIDENCE, Interval, extrapolate
from longjudge.forecast.forecaster import Expected, Forecaster, SessionForecast
from longjudge.forecast.longest import Longest, LongSession
from longjudge.forecast.needs import BATCH_PACE, Cost, Needs, Seen
from longjudge.forecast.sampled import DrawnFile, Extrapolated, extrapolated
from longjudge.forecast.sampling import LEAST_DRAWN, Sample, Stratum, draw
from longjudge.forecast.tally import Tally

__all__ = [
    "BATCH_PACE",
    "CONFIDENCE",
    "LEAST_DRAWN",
    "Cost",
    "DrawnFile",
    "Expected",
    "Extrapolated",
    "Forecaster",
    "Interval",
    "LongSession",
    "Longest",
    "Needs",
    "Sample",
    "Seen",
    "SessionForecast",
    "Stratum",
    "Tally",
    "draw",
    "extrapolate",
    "extrapolated",
]
