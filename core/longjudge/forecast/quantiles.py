"""Quantiles of two distributions that intervals are made with, as good as intervals need."""

from __future__ import annotations

from math import exp, inf, lgamma, log, pi, sqrt, tan
from statistics import NormalDist

_TINY = 1e-300
_TERMS = 2_000
_HALVINGS = 40


def student_quantile(probability: float, freedom: float) -> float:
    """The value below which Student's t with `freedom` degrees of freedom is, so probably.

    Exact for 1 and 2; above that Cornish and Fisher's expansion (Abramowitz and Stegun, 26.7.5),
    within 1 % from 3 on for probabilities up to 0.975. What lies between 1 and 3 is taken from
    below, which makes an interval no narrower.
    """
    if freedom < 2:
        return tan(pi * (probability - 0.5))
    if freedom < 3:
        twice = 2 * probability - 1
        return twice * sqrt(2 / (1 - twice * twice))
    z = NormalDist().inv_cdf(probability)
    if freedom == inf:
        return z
    return (
        z
        + (z**3 + z) / (4 * freedom)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * freedom**3)
    )


def beta_quantile(probability: float, a: float, b: float) -> float:
    """The value below which a beta variable with positive `a` and `b` is, so probably."""
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if _beta_below(middle, a, b) < probability:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _beta_below(x: float, a: float, b: float) -> float:
    """The regularised incomplete beta function (Abramowitz and Stegun, 26.5.8)."""
    if x > (a + 1) / (a + b + 2):
        # The fraction converges fast on the other side only.
        return 1 - _beta_below(1 - x, b, a)
    if x <= 0:
        return 0.0
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log(1 - x))
    return front * _fraction(x, a, b) / a


def _fraction(x: float, a: float, b: float) -> float:
    """The continued fraction of the function above, by Lentz's method."""
    c, d = 1.0, 1 / _no_zero(1 - (a + b) * x / (a + 1))
    value = d
    for m in range(1, _TERMS):
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 / _no_zero(1 + term * d)
            c = _no_zero(1 + term / c)
            value *= c * d
        if abs(c * d - 1) < 1e-10:
            break
    return value


def _no_zero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY
