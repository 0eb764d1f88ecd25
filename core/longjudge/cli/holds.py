"""`longjudge holds`: what is held outside, by whom, and the way it is released."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import click
import msgspec

from longjudge.config import load_configuration
from longjudge.errors import StoreError
from longjudge.holds import HoldState, list_holds, sweep_holds
from longjudge.redaction import redacted_fields, redacted_text
from longjudge.report.words import plural
from longjudge.store import Store, StoreWriteError
from longjudge.streams import tell
from longjudge.text import clean_line

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from longjudge.batches.sweeping import SweptBatches
    from longjudge.config import Configuration
    from longjudge.holds import Hold


def show_holds(store_path: Path, *, as_json: bool, sweep: bool) -> int:
    """Print what is held, or with `sweep` release what dead owners left and print that.

    Only a sweep asks a provider, where a batch was left.

    Raises:
        StoreError: the store cannot be read, or with `sweep` cannot be written.
        UsageError: with `sweep`, the configuration cannot be used.
    """
    holds = asyncio.run(_sweep(store_path) if sweep else _list(store_path))
    for hold in holds:
        click.echo(hold_json(hold) if as_json else _line(hold))
    if not as_json:
        tell(_sum(holds, sweep=sweep))
    return 0


async def _list(store_path: Path) -> Sequence[Hold]:
    store = await Store.open_to_read(store_path)
    try:
        return await list_holds(store)
    finally:
        await store.aclose()


async def _sweep(store_path: Path) -> Sequence[Hold]:
    if not await asyncio.to_thread(store_path.exists):
        return []
    store = await Store.open(store_path)
    try:
        for notice in store.notices:
            tell(f"longjudge: {notice}")
        if store.write_error is not None:
            raise _unreleased(store_path, store.write_error)
        released = await sweep_holds(store)
        swept = await _sweep_batches(store, load_configuration(), gentle=False)
        for line in swept.left:
            tell(f"longjudge: {line}")
        # Who followed a batch that is over is forgotten, too.
        return [*released, *swept.released, *(await sweep_holds(store) if swept.released else ())]
    except StoreWriteError as error:
        raise _unreleased(store_path, str(error)) from error
    finally:
        await store.aclose()


def _unreleased(store_path: Path, fault: str) -> StoreError:
    return StoreError(
        f"{clean_line(str(store_path))}: nothing can be released, the store cannot be written"
        f" ({fault}); make it writable, and sweep again"
    )


async def _sweep_batches(store: Store, config: Configuration, *, gentle: bool) -> SweptBatches:
    # Most starts have nothing to do with a batch.
    from longjudge.batches.sweeping import sweep_batches

    return await sweep_batches(store, config, gentle=gentle)


async def sweep_at_start(store: Store, config: Configuration | None = None) -> None:
    """Release what dead owners left, and say so; a store that does not allow it is left alone.

    With a `config` batches are finished that were to be cancelled or have ended, as far as that
    takes no longer than a start may.
    """
    if store.write_error is not None:
        return
    try:
        released = await sweep_holds(store)
        swept = await _sweep_batches(store, config, gentle=True) if config is not None else None
    except StoreError as error:
        tell(f"longjudge: what dead processes left is not released: {error}")
        return
    if released:
        tell(f"longjudge: released {plural(len(released), 'lease')} that dead processes left")
    for hold in swept.released if swept is not None else ():
        tell(f"longjudge: {hold.kind} {clean_line(hold.id)}, which was left, is finished")


def hold_json(hold: Hold) -> str:
    """One line of `holds --json`."""
    return msgspec.json.encode(redacted_fields(hold.to_dict())).decode()


def _line(hold: Hold) -> str:
    lives = "alive" if hold.alive else "dead"
    owner = f"{clean_line(hold.owner)} ({lives})" if hold.holder else clean_line(hold.owner)
    what = f"{hold.kind} {clean_line(hold.id)}  {hold.state:<9}"
    return f"{what}  {owner}  {_age(hold.age)}  {clean_line(redacted_text(hold.detail), 300)}"


def _age(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6_000 else f"{seconds / 3_600:.1f} h"


def _sum(holds: Sequence[Hold], *, sweep: bool) -> str:
    if sweep:
        words = plural(len(holds), "hold")
        return f"{words} released" if holds else "nothing to release: no dead owner left anything"
    if not holds:
        return "nothing is held"
    dead = sum(hold.state is HoldState.ABANDONED for hold in holds)
    left = f", {dead} left by dead owners: `longjudge holds --sweep` releases them" if dead else ""
    return f"{plural(len(holds), 'hold')}{left}"
