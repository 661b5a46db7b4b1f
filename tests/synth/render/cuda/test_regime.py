"""The sizes that a program is for: the same from the same seed, allowed, and within a device."""

from __future__ import annotations

from collections import Counter
from math import prod

from generators import every_category
from generators.build.draw import Draw
from generators.program.ir import Program
from synth.render.cuda.named_sizes import CALLED, Range, ranges_of
from synth.render.cuda.regime import (
    MOST_BLOCKS_YZ,
    MOST_BYTES,
    bytes_of_arrays,
    highest_sizes,
    middle_sizes,
    regime_of,
    upper_sizes,
)
from synth.render.cuda.tied_sizes import tied
from synth.rows.maker import Accepted
from validate.row.sizes import evaluate_all


def test_every_symbol_has_a_span_that_the_program_allows(all_accepted: list[Accepted]) -> None:
    for program in (a.program for a in all_accepted):
        spans = regime_of(program)
        assert [s.symbol for s in spans] == [s.symbol for s in program.sizes]
        for span, size in zip(spans, program.sizes, strict=True):
            assert size.min <= span.low <= span.middle <= span.high
            assert span.low % size.multiple_of == span.high % size.multiple_of == 0
        assert bytes_of_arrays(program, {s.symbol: s.high for s in spans}) <= MOST_BYTES
        assert regime_of(program) == spans


def test_a_device_takes_the_grids_of_tiles() -> None:
    """A block for each place: of two axes the first is the grid's y."""
    tiles, seen = every_category()["tile"], 0
    for name in sorted(tiles.idioms):
        for index in range(6):
            program = tiles.draw_idiom(name, Draw(4, name, index, 0), 1 + index % 5)
            places = evaluate_all(program.kernel.launch_dim, highest_sizes(program))
            assert all(n <= MOST_BLOCKS_YZ for n in places[:-1]), name
            seen += len(places) > 1
    assert seen


def test_most_launches_fill_a_device(all_accepted: list[Accepted]) -> None:
    counts = Counter[int]()
    for program in (a.program for a in all_accepted):
        threads = prod(evaluate_all(program.kernel.launch_dim, middle_sizes(program)))
        counts[len(str(threads))] += 1
    assert sum(n for digits, n in counts.items() if digits >= 6) > 0.7 * counts.total()


def test_the_larger_sizes_lie_between_the_middle_and_the_upper_end(
    all_accepted: list[Accepted],
) -> None:
    for program in (a.program for a in all_accepted[::20]):
        middle, upper, high = (
            sizes_of(program) for sizes_of in (middle_sizes, upper_sizes, highest_sizes)
        )
        assert all(middle[name] <= upper[name] <= high[name] for name in middle)


def test_a_name_says_how_large_a_size_is_beside_others() -> None:
    assert ranges_of("heads", frozenset({"rows"}), False) == CALLED["heads"]
    assert ranges_of("heads", frozenset(), True) == ()
    flat, solid = (ranges_of("nx", frozenset(o), False) for o in ({"ny"}, {"ny", "nz"}))
    assert flat[-1][1] > solid[-1][1]
    assert ranges_of("nx", frozenset({"groups"}), False) == ()
    assert ranges_of("bins", frozenset({"angles"}), False) == CALLED["rhos"]
    assert ranges_of("joints", frozenset({"robots"}), False, True)[-1][1] < 100
    assert ranges_of("nz", frozenset({"nx"}), False) == flat
    assert ranges_of("width", frozenset({"count"}), False) == CALLED["degree"]
    assert ranges_of("width", frozenset(), True, True)[0][0] >= 1024


def _ties(program: Program, counted: str, looped: str, **found: Range) -> dict[str, Range]:
    return tied(program, found, frozenset(counted.split()), frozenset(looped.split()))


def test_sizes_that_hang_together_are_alike(all_accepted: list[Accepted]) -> None:
    program = all_accepted[0].program
    table = _ties(program, "rows", "chars cols", rows=(1, 2), chars=(32, 128), cols=(8, 16))
    assert table["cols"] == (32, 128)
    long = _ties(program, "rows", "samples cols", rows=(1, 2), samples=(512, 4096), cols=(8, 16))
    assert long["samples"] == long["cols"] == (64, 512)
    scores = _ties(program, "queries", "keys", queries=(256, 1024), keys=(64, 256))
    assert scores["keys"] == (256, 1024)
    packed = _ties(program, "tokens", "", tokens=(1, 2), batch=(4, 16), max_len=(512, 1024))
    assert packed["tokens"] == (1024, 8192)
    runs = _ties(program, "len_a", "", len_a=(300, 3000), len_b=(4, 8))
    assert runs["len_a"] == runs["len_b"] == (300, 3000)
    stored = _ties(program, "nnz", "", nnz=(1000, 9000), rows=(1, 2), cols=(3, 4))
    assert stored["rows"] == stored["cols"] == (100, 900)


def test_sparse_entries_in_chunks_have_as_many_rows_as_columns() -> None:
    atomics, seen = every_category()["atomic"], 0
    for index in range(30):
        program = atomics.draw_idiom("sparse_product", Draw(4, "sparse", index, 0), 5)
        high = highest_sizes(program)
        if {"chunks", "rows", "cols"} <= high.keys():
            seen += 1
            assert high["rows"] == high["cols"] > high["chunks"] // 4
    assert seen
