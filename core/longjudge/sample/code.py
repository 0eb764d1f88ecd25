"""Writes the Python of the invented project: functions, and the tests that fit them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from longjudge.sample.words import FIELDS, NOUNS, VERBS

if TYPE_CHECKING:
    from longjudge.sample.dice import Dice

_FORMS = (
    (
        '''def {name}({noun}s: Sequence[{Noun}], limit: int = {n}) -> list[{Noun}]:
    """The first {noun}s by {field}, at most `limit` of them."""
    if limit < 1:
        raise ValueError("limit must be positive")
    ordered = sorted({noun}s, key=lambda each: (each.{field}, each.id))
    return ordered[:limit]''',
        """def test_{name}_keeps_to_the_limit() -> None:
    rows = [make_{noun}({field}=number) for number in range(200)]
    assert len({name}(rows)) == {n}""",
    ),
    (
        '''def {name}(db: Session, {noun}_id: int, *, actor: str) -> {Noun}:
    """Take a {noun} and note who did; one transaction, so that two workers never both win."""
    with db.begin():
        row = db.get({Noun}, {noun}_id, with_for_update=True)
        if row is None:
            raise Unknown({noun}_id)
        if row.attempts >= {n}:
            raise TooManyAttempts({noun}_id, row.attempts)
        row.attempts += 1
        row.touched_by = actor
    log.info("{name}", extra={{"{noun}": {noun}_id, "actor": actor}})
    return row''',
        """def test_{name}_counts_attempts(db: Session) -> None:
    row = {name}(db, make_{noun}(attempts={n} - 1).id, actor="noor")
    assert row.attempts == {n}""",
    ),
    (
        '''def {name}(events: Iterable[{Noun}Event]) -> dict[str, int]:
    """How many {noun}s there are for each {field}; events of an unknown depot do not count."""
    counts: dict[str, int] = defaultdict(int)
    for event in events:
        if event.depot not in DEPOTS:
            continue
        counts[str(event.{field})] += 1
    return dict(counts)''',
        """def test_{name}_counts_known_depots_only() -> None:
    events = [make_{noun}_event(depot=depot) for depot in ("nowhere", *sorted(DEPOTS))]
    assert sum({name}(events).values()) == len(DEPOTS)""",
    ),
    (
        '''def {name}({noun}: {Noun}, now: datetime) -> bool:
    """Whether a {noun} is past its time; one without {field} never is."""
    if {noun}.{field} is None:
        return False
    return now - {noun}.created_at > timedelta(minutes={n})''',
        """def test_{name}_comes_with_the_minutes() -> None:
    late = make_{noun}(created_at=NOW - timedelta(minutes={n}, seconds=1))
    assert {name}(late, NOW)""",
    ),
    (
        '''async def {name}(client: Client, {noun}_ids: list[int]) -> list[{Noun}]:
    """Ask the carrier about {noun}s in batches; order is kept."""
    found: list[{Noun}] = []
    for batch in batched({noun}_ids, {n}):
        answer = await client.post("/v2/{noun}s/lookup", json={{"ids": batch}})
        answer.raise_for_status()
        found += [{Noun}.from_json(each) for each in answer.json()["{noun}s"]]
    return found''',
        """async def test_{name}_asks_in_batches(client: FakeClient) -> None:
    await {name}(client, list(range(200)))
    assert len(client.requests[0].json["ids"]) == {n}""",
    ),
    (
        '''def {name}(total_cents: int, {noun}s: int) -> list[int]:
    """Share a total among {noun}s so that the parts add up to it; never more than {n} parts."""
    count = min({noun}s, {n})
    if count == 0:
        return []
    part, rest = divmod(total_cents, count)
    return [part + (1 if place < rest else 0) for place in range(count)]''',
        """def test_{name}_makes_no_more_parts() -> None:
    assert len({name}(1_000, 200)) == {n}""",
    ),
)
_HEAD = '''"""{title}."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from depot.carriers import Client
from depot.db import Session
from depot.errors import TooManyAttempts, Unknown
from depot.models import DEPOTS, {Noun}, {Noun}Event
from depot.tools import batched

log = logging.getLogger(__name__)'''
_TEST_HEAD = '''"""{title}: what it promises."""

from __future__ import annotations

from datetime import timedelta

from depot.db import Session
from depot.models import DEPOTS
from depot.{area} import {module}
from tests.make import NOW, FakeClient, make_{noun}, make_{noun}_event'''


@dataclass(frozen=True, slots=True)
class Function:
    """A function of the project, or a test of one: its name, what it is about, its lines."""

    name: str
    form: int
    noun: str
    field: str
    number: int
    lines: tuple[str, ...]


def head(title: str, area: str, module: str, noun: str, test: bool) -> list[str]:
    """The lines that a module begins with."""
    form = _TEST_HEAD if test else _HEAD
    text = form.format(title=title, area=area, module=module, noun=noun, Noun=noun.title())
    return text.split("\n")


def write_function(dice: Dice, noun: str) -> Function:
    """A function about a noun."""
    name = f"{dice.pick(VERBS)}_{noun}_{dice.pick(NOUNS)}s"
    form, field, number = dice.below(len(_FORMS)), dice.pick(FIELDS), dice.between(3, 120)
    lines = _fill(_FORMS[form][0], name, noun, field, number)
    return Function(name, form, noun, field, number, lines)


def write_test(tested: Function) -> Function:
    """A test of a function."""
    form, noun, field, number = tested.form, tested.noun, tested.field, tested.number
    lines = _fill(_FORMS[form][1], tested.name, noun, field, number)
    name = lines[0].partition("def ")[2].partition("(")[0]
    return Function(name, form, noun, field, number, lines)


def _fill(form: str, name: str, noun: str, field: str, number: int) -> tuple[str, ...]:
    text = form.format(name=name, noun=noun, Noun=noun.title(), field=field, n=number)
    return tuple(text.split("\n"))
