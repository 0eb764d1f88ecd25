"""The strip of all chunks: which cell stands for which, and what a chunk's code is."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

from hypothesis import given
from hypothesis import strategies as st

from longjudge.states import ChunkState
from longjudge_tui.bench.chunk_codes import SLICE, ChunkCodes, Code, Source
from longjudge_tui.bench.strip_layout import StripLayout
from longjudge_tui.workbench.timeline import GLYPHS

if TYPE_CHECKING:
    from longjudge_tui.bench.records import Records
    from longjudge_tui.bench.run import Run


@given(
    st.lists(st.integers(1, 300), min_size=1, max_size=40),
    st.integers(1, 150),
)
def test_every_chunk_has_a_cell_in_the_line_and_cells_are_in_order(
    sizes: list[int], width: int
) -> None:
    chunks = sum(sizes)
    starts = [sum(sizes[:number]) for number in range(len(sizes))]
    layout = StripLayout(chunks, starts, width)
    columns = [cell.at for cell in layout.cells]
    taken = columns + layout.separators
    assert len(set(taken)) == len(taken)
    assert all(0 <= column < width for column in taken)
    assert columns == sorted(columns)
    for position in range(chunks):
        numbers = layout.cells_of(position)
        assert numbers
        for number in numbers:
            cell = layout.cells[number]
            assert cell.low <= position < cell.high
            found = layout.position_at(cell.at)
            assert found is not None
            assert cell.low <= found < cell.high


def test_few_chunks_have_several_cells_each_with_a_gap_behind() -> None:
    layout = StripLayout(3, (), 40)
    assert [(cell.at, cell.low) for cell in layout.cells] == [
        (0, 0), (1, 0), (2, 0), (4, 1), (5, 1), (6, 1), (8, 2), (9, 2), (10, 2),
    ]  # fmt: skip


def test_threads_are_parted_where_there_is_room() -> None:
    assert StripLayout(10, (0, 4), 11).separators == [4]
    assert StripLayout(4_000, (0, 2_000), 100).separators == [49]
    assert StripLayout(100, range(0, 100, 2), 100).separators == []


def test_no_two_states_look_alike_without_colour() -> None:
    assert len({glyph for glyph, *_ in GLYPHS.values()}) == len(Code) == len(GLYPHS)


@dataclass
class Bench:
    """A plan of some chunks, with records that a test writes."""

    chunks: int
    states: dict[int, SimpleNamespace] = field(default_factory=dict[int, SimpleNamespace])
    run: Run | None = None
    generation: int = 1
    kept: frozenset[int] = frozenset()
    applies: bool = True
    in_batches: dict[int, str] = field(default_factory=dict[int, str])

    @property
    def outlook(self) -> object:
        return SimpleNamespace(plan=range(self.chunks))

    @property
    def records(self) -> Records | None:
        queued = SimpleNamespace(state=ChunkState.QUEUED)
        ended = {at: each for at, each in self.states.items() if each.state.ended}

        def record(position: int) -> SimpleNamespace:
            return self.states.get(position, queued)

        return cast("Records", SimpleNamespace(record=record, earlier=lambda: ended))

    def is_kept(self, position: int) -> bool:
        return position in self.kept

    def in_batch_of(self, position: int) -> str:
        return self.in_batches.get(position, "")

    def becomes(self, position: int, state: ChunkState, **more: bool) -> int:
        facts = {"from_cache": False, "disagrees": False} | more
        self.states[position] = SimpleNamespace(state=state, **facts)
        return position


def follow(bench: Bench) -> ChunkCodes:
    codes = ChunkCodes(cast("Source", bench))
    assert codes.follow(()) is None
    return codes


def test_codes_follow_a_judgment_and_the_most_urgent_of_a_stretch_stands_for_it() -> None:
    bench = Bench(6, kept=frozenset({0}))
    codes = follow(bench)
    assert list(codes.codes) == [Code.KEPT, *[Code.TO_ASK] * 5]
    run = SimpleNamespace(recalled=False, batch_of={5: "msgbatch_01"}.get)
    bench.run, bench.generation = cast("Run", run), 2
    bench.becomes(0, ChunkState.CLEAN, from_cache=True)
    assert codes.follow(()) is None
    assert list(codes.codes) == [Code.KEPT, *[Code.QUEUED] * 5]
    changed = {
        bench.becomes(1, ChunkState.RUNNING),
        bench.becomes(2, ChunkState.CLEAN, disagrees=True),
        bench.becomes(3, ChunkState.GAP),
        bench.becomes(4, ChunkState.FLAGGED),
    }
    assert codes.follow(changed) == changed
    assert codes.follow(changed) == set()
    assert codes.most_urgent(0, 6) is Code.FLAGGED
    assert codes.most_urgent(0, 4) is Code.GAP
    assert codes.most_urgent(0, 2) is Code.RUNNING
    assert codes.counts(0, 6, Code.GAP, Code.FLAGGED) == 2


def test_where_the_rubric_does_not_apply_nothing_is_to_be_asked() -> None:
    assert set(follow(Bench(4, kept=frozenset({1}), applies=False)).codes) == {Code.NOT_ASKED}


def test_the_next_trouble_is_found_both_ways_and_around() -> None:
    bench = Bench(8)
    bench.becomes(2, ChunkState.GAP)
    bench.becomes(5, ChunkState.FLAGGED)
    codes = follow(bench)
    assert [codes.trouble(at, 1) for at in (0, 2, 5)] == [2, 5, 2]
    assert [codes.trouble(at, -1) for at in (7, 5, 2)] == [5, 2, 5]
    assert follow(Bench(8)).trouble(0, 1) is None


def test_many_changes_at_once_are_taken_in_over_several_frames() -> None:
    bench = Bench(2 * SLICE)
    codes = follow(bench)
    for position in range(2 * SLICE):
        bench.becomes(position, ChunkState.CLEAN)
    changed = codes.follow(range(2 * SLICE))
    assert changed is not None
    assert len(changed) == SLICE
    codes.follow(())
    assert codes.counts(0, 2 * SLICE, Code.CLEAN) == 2 * SLICE


def test_what_a_judgment_of_the_past_left_waits_for_nothing() -> None:
    bench = Bench(3, run=cast("Run", SimpleNamespace(recalled=True)), kept=frozenset({1}))
    codes = ChunkCodes(bench)
    codes.follow(())
    assert list(codes.codes) == [Code.TO_ASK, Code.KEPT, Code.TO_ASK]
