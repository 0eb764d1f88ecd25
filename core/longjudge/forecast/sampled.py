"""What all files need, told from a forecast of the drawn ones; never an exact sum."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from longjudge.forecast.extrapolating import CONFIDENCE, Interval, extrapolate
from longjudge.forecast.forecaster import Expected
from longjudge.forecast.needs import Cost, Needs, Seen
from longjudge.tokens import TokenEstimate

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from longjudge.forecast.forecaster import SessionForecast
    from longjudge.forecast.longest import LongSession
    from longjudge.forecast.sampling import Sample


@dataclass(slots=True)
class DrawnFile:
    """What the sessions of one drawn file come to, nothing where it holds none.

    `needs` and `most` begin as `Forecaster.nothing`; `most` is what they would need if the rubric
    applied to all of them and nothing were kept.
    """

    needs: Needs
    most: Needs
    sessions: int = 0
    not_applicable: int = 0

    def add(self, forecast: SessionForecast) -> None:
        """Take one of its sessions in, as it was forecast with its most."""
        self.sessions += 1
        self.not_applicable += forecast.status is Expected.NOT_APPLICABLE
        self.needs += forecast.needs
        self.most += forecast.most or forecast.needs


@dataclass(frozen=True, slots=True)
class Extrapolated:
    """What all files come to, and between what each sum lies with `CONFIDENCE`.

    The ends of tokens and cost hold the band of the estimates as well. `needs` holds the middles.
    `sampled` of `of` files were drawn, with `seed`.
    """

    sampled: int
    of: int
    seed: int
    sessions: Interval
    not_applicable: Interval
    chunks: Interval
    to_ask: Interval
    seconds: Interval
    needs: Needs
    longest: list[LongSession] = field(default_factory=list["LongSession"])

    def to_dict(self) -> dict[str, object]:
        """The JSON form: that of an exact sum, and what tells that it is none."""
        return {
            "path": None,
            "id": None,
            "status": None,
            "total": True,
            "sessions": round(self.sessions.middle),
            **self.needs.to_dict(),
            "not_applicable": round(self.not_applicable.middle),
            "extrapolated": True,
            "sampled": self.sampled,
            "of": self.of,
            "seed": self.seed,
            "confidence": CONFIDENCE,
            "sessions_low": round(self.sessions.low),
            "sessions_high": round(self.sessions.high),
            "chunks_low": round(self.chunks.low),
            "chunks_high": round(self.chunks.high),
            "to_ask_low": round(self.to_ask.low),
            "to_ask_high": round(self.to_ask.high),
            "seconds_low": self.seconds.low,
            "seconds_high": self.seconds.high,
            "longest": [each.to_dict() for each in self.longest],
        }


def extrapolated(
    sample: Sample, files: Sequence[DrawnFile], longest: Sequence[LongSession] = ()
) -> Extrapolated:
    """What all files need; `files` are the drawn ones in the order of `sample.drawn`.

    Each file is to be forecast alone, as if no other were judged before it. What files have in
    common is then counted in each of them, so that the sum may be more than a whole forecast says.
    """

    def over(value: Callable[[Needs], float]) -> Interval:
        return extrapolate(
            sample, [value(file.needs) for file in files], [value(file.most) for file in files]
        )

    sessions = [max(1, file.sessions) for file in files]
    together = _sum(files)
    to_ask, chunks = over(_to_ask), over(lambda needs: needs.chunks)
    kept = extrapolate(
        sample,
        [file.needs.kept for file in files],
        [file.most.chunks for file in files],
    )
    asked, held = round(to_ask.middle), round(kept.middle)
    needs = Needs(
        chunks=round(chunks.middle),
        kept=held,
        equal=max(0, round(chunks.middle) - held - asked),
        to_ask=asked,
        tokens=TokenEstimate(
            round(over(lambda needs: needs.tokens.tokens).middle),
            round(over(lambda needs: needs.tokens.low).low),
            round(over(lambda needs: needs.tokens.high).high),
        ),
        cost=_cost(over, together),
        seconds=over(_seconds).middle,
        seen=_seen(over, together),
        redacted=_redacted(sample, files, together),
        advised=together.advised,
        measured=together.measured,
    )
    return Extrapolated(
        sampled=len(files),
        of=sample.of,
        seed=sample.seed,
        sessions=extrapolate(sample, [file.sessions for file in files], sessions),
        not_applicable=extrapolate(sample, [file.not_applicable for file in files], sessions),
        chunks=chunks,
        to_ask=to_ask,
        seconds=over(_seconds),
        needs=needs,
        longest=[*longest],
    )


def _sum(files: Sequence[DrawnFile]) -> Needs:
    total = files[0].needs
    for file in files[1:]:
        total += file.needs
    return total


def _to_ask(needs: Needs) -> float:
    return needs.to_ask


def _seconds(needs: Needs) -> float:
    return needs.seconds


def _cost(over: Callable[[Callable[[Needs], float]], Interval], together: Needs) -> Cost | None:
    """The cost of all, None where that of a drawn file is unknown."""
    if together.cost is None:
        return None
    return Cost(
        over(lambda needs: needs.cost.middle if needs.cost else 0.0).middle,
        over(lambda needs: needs.cost.low if needs.cost else 0.0).low,
        over(lambda needs: needs.cost.high if needs.cost else 0.0).high,
    )


def _seen(over: Callable[[Callable[[Needs], float]], Interval], together: Needs) -> Seen | None:
    seen = together.seen
    if seen is None:
        return None
    cost = None
    if seen.cost is not None:
        cost = over(lambda needs: (needs.seen.cost or 0.0) if needs.seen else 0.0).middle
    tokens = over(lambda needs: needs.seen.tokens if needs.seen else 0.0).middle
    return Seen(tokens, cost, seen.sources)


def _redacted(sample: Sample, files: Sequence[DrawnFile], together: Needs) -> Counter[str] | None:
    """About how many secrets of each kind are replaced in all files."""
    if together.redacted is None:
        return None
    return Counter(
        {
            kind: round(extrapolate(sample, [_secrets(file, kind) for file in files]).middle)
            for kind in together.redacted
        }
    )


def _secrets(file: DrawnFile, kind: str) -> int:
    return file.needs.redacted[kind] if file.needs.redacted is not None else 0
