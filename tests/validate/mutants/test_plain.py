"""Mutants of plain CUDA: every operator, distinct texts, and that the host run kills them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from hand_rows import Row
from plain_rows import block_reduce, doubled, guarded, tiled, warp_shuffle

from generators.program.serialise import from_json
from synth.dataset.stored import stored_rows
from synth.render.cuda.choose import schedule_for, schedules_of
from synth.render.cuda.module import render
from validate.host.plain_sizes import wide_sizes
from validate.host.runner import HostRunner
from validate.mutants.kill import try_mutants, with_equivalents
from validate.mutants.plain.draw import BARRIER, OPERATORS, plain_mutants
from validate.mutants.warp.draw import RACE, Mutant, mutated
from validate.nvrtc.compiler import CompileRunner

SAMPLES = Path(__file__).resolve().parents[3] / "data" / "samples"

HAND_WRITTEN = [guarded(), block_reduce(), warp_shuffle(), tiled(), doubled()]

SAME_NUMBERS = {
    # Every thread has the sum.
    "if (threadIdx.x != 1) {",
    "if (lane != 1) {",
    # Lanes 17, 8, 4, 2 and 1 apart are all lanes as well.
    "for (int offset = 16 + 1; offset > 0; offset /= 2) {",
    "for (int offset = 17; offset > 0; offset /= 2) {",
    # One tile more, of no turns.
    "for (int base = 0; base < k_count + 1; base += 64) {",
    "for (int base = 0; base <= k_count; base += 64) {",
    # Small numbers.
    "const float w = (float)(short)(x[i] % 5);",
    "s += u / (float)(short)k;",
    # Within a tolerance of 1e-5.
    "float s = fmaf(u, 2.0f, 3.0f - v) - __sinf(v);",
}

EXAMPLES = [
    (BARRIER, "__syncthreads();", ";"),
    ("shuffle_offset_halved", "offset = 16;", "offset = 8;"),
    ("shuffle_mask_wrong", "(0xffffffff, value, offset)", "(0x0000ffff, value, offset)"),
    ("half_off_by_one", "half = 32;", "half = 31;"),
    ("identity_wrong", "float total = 0.0f;", "float total = 1;"),
    ("tile_guard_dropped", "if (load_x < k_count) {", "if (true) {"),
    ("lane_guard_removed", "if (lane != 0) {", "if (false) {"),
    (RACE, "atomicAdd(total, x[i] & 3);", "(*(total)) = (*(total)) + (x[i] & 3);"),
    ("fma_operand", "fmaf(u, 2.0f, 3.0f - v)", "fmaf(u, 3.0f - v, 2.0f)"),
    ("float_tie_moved", "w < 2.0f", "w <= 2.0f"),
    ("loop_bound_moved", "for (int k = 1; k < 4; ++k)", "for (int k = 1; k < 4 - 1; ++k)"),
    ("comparison_flipped", "if (i >= n)", "if (i > n)"),
    ("operator_swapped", "u / (float)k", "u * (float)k"),
    ("operand_swapped", "u / (float)k", "((float)k) / u"),
    ("function_swapped", "sinf(v)", "cosf(v)"),
    ("min_for_max", "min(x, n - 1)", "max(x, n - 1)"),
    ("index_shifted", "a[i]", "a[i + 1]"),
    ("constant_nudged", "3.0f - v", "3.0300000000000002f - v"),
    ("cast_narrowed", "(float)(x[i] * 1000)", "(float)(short)(x[i] * 1000)"),
    ("branch_removed", "w < 2.0f ? s : s + (float)(x[i] * 1000)", "s"),
    ("term_dropped", "3.0f - v", "v"),
    (
        "accumulator_narrowed",
        "s += u / (float)k;",
        "s = __int_as_float(__float_as_int(s + (u / (float)k)) & 0xffffe000);",
    ),
    ("fast_function", "sinf(v)", "__sinf(v)"),
    ("float_for_double", "= x[i] * 0.7;", "= (float)(x[i] * 0.7);"),
    ("last_store_skipped", "out[i] = total;", "if (!(i == n - 1)) out[i] = total;"),
]


@pytest.fixture(scope="module")
def runner() -> Iterator[HostRunner]:
    with HostRunner(timeout_s=10.0) as host:
        yield host


def made(row: Row, operator: str) -> list[Mutant]:
    return [m for m in plain_mutants(row) if m.operator == operator]


@pytest.mark.parametrize(("operator", "before", "after"), EXAMPLES)
def test_what_an_operator_makes_of_a_text(operator: str, before: str, after: str) -> None:
    found = [
        (row, mutant)
        for row in HAND_WRITTEN
        for mutant in made(row, operator)
        if mutant.before.replace(before, after, 1) == mutant.after != mutant.before
    ]
    assert found, [m.after for row in HAND_WRITTEN for m in made(row, operator)]


def test_every_operator_has_an_example() -> None:
    assert {operator for operator, _, _ in EXAMPLES} == set(OPERATORS)


def test_a_mutant_says_what_changed_and_where() -> None:
    row = guarded()
    (mutant,) = made(row, RACE)
    lines = row["cuda_plain"].split("\n")
    assert lines[mutant.line - 1].strip() == mutant.before
    assert mutant.text.split("\n")[mutant.line - 1].strip() == mutant.after
    assert mutated(row, mutant, 7)["cuda_plain"] == mutant.text


def test_mutants_of_the_samples_are_distinct_and_repeatable() -> None:
    operators: Counter[str] = Counter()
    for _, stored in stored_rows(SAMPLES):
        program = from_json(stored["program"])
        for style in schedules_of(program):
            row = {"cuda_plain": render(program, schedule_for(program, style)).text}
            found = plain_mutants(row)
            assert found == plain_mutants(row)
            assert len({m.text for m in found}) == len(found)
            assert all(m.text != row["cuda_plain"] for m in found)
            operators.update(m.operator for m in found)
    assert len(operators) >= 10


def test_comments_signatures_and_shared_extents_stay() -> None:
    row = tiled()
    head = row["cuda_plain"].split("{")[0]
    for mutant in plain_mutants(row):
        assert mutant.text.startswith(head)
        assert "__shared__ float centers_tile[64];" in mutant.text


@pytest.mark.parametrize("row", HAND_WRITTEN, ids=lambda row: row["id"])
def test_the_host_run_kills_mutants_of_every_operator(row: Row, runner: HostRunner) -> None:
    by_operator: dict[str, list[int]] = {}
    for at, mutant in enumerate(plain_mutants(row)):
        by_operator.setdefault(mutant.operator, []).append(at)
    chosen = [sorted(at for found in by_operator.values() for at in found[:2])]
    trials = try_mutants([row], chosen, runner.run_plain, plain_mutants)
    alive = {trial.after for trial in trials if not trial.killed}
    assert alive <= SAME_NUMBERS, alive - SAME_NUMBERS


@pytest.mark.parametrize("row", [tiled(), block_reduce()], ids=["tiled", "block_reduce"])
def test_a_barrier_left_out_is_noticed(row: Row, runner: HostRunner) -> None:
    found = made(row, BARRIER)
    assert len(found) == row["cuda_plain"].count("__syncthreads();") == 2
    results = runner.run_plain([mutated(row, m, at) for at, m in enumerate(found)])
    # The first to come too early may read what nobody has written yet.
    assert {r.status for r in results} <= {"data_race", "read_out_of_bounds"}, results


def test_what_runs_past_shared_memory_is_seen(runner: HostRunner) -> None:
    past = {
        "partial[threadIdx.x] = value;": "partial[threadIdx.x + 1] = value;",
        "threadIdx.x + half]": "threadIdx.x + half + 1]",
    }
    row = block_reduce()
    texts = [row["cuda_plain"].replace(old, new) for old, new in past.items()]
    results = runner.run_plain([row | {"cuda_plain": text} for text in texts])
    assert [r.status for r in results] == ["undefined", "undefined"], results
    # By a pointer no index can be checked: there it is the watch that sees it.
    pointed = "__shared__ float of_block[64]; float* const partial = of_block;"
    texts = [text.replace("__shared__ float partial[64];", pointed) for text in texts]
    results = runner.run_plain([row | {"cuda_plain": text} for text in texts])
    assert [r.status for r in results] == ["wrote_out_of_bounds", "read_out_of_bounds"], results


def test_what_nobody_has_written_to_shared_memory_is_not_read(runner: HostRunner) -> None:
    row = tiled()
    text = row["cuda_plain"].replace("load_x < k_count", "load_x + 1 < k_count")
    (result,) = runner.run_plain([row | {"cuda_plain": text}])
    assert result.status == "read_out_of_bounds"


def test_wide_shapes_have_several_blocks_and_several_turns() -> None:
    assert wide_sizes(guarded()) == []
    assert wide_sizes(tiled()) == [{"n": 83, "k": 2}, {"n": 3, "k": 99}]
    assert wide_sizes(warp_shuffle()) == [{"n": 8, "k": 2}, {"n": 51, "k": 2}, {"n": 3, "k": 51}]


def test_equal_ptx_makes_a_survivor_equivalent() -> None:
    row = block_reduce()
    text = row["cuda_plain"]
    same = re.sub(r"\btotal\b", "sum", text)
    other = text.replace("float total = 0.0f", "float total = 1.0f")
    refused = text.replace("float total = 0.0f", "float total = nothing")
    with CompileRunner() as compiler:
        texts = [text, same, other, refused]
        found = compiler.optimised_plain_ptx([row | {"cuda_plain": t} for t in texts])
    assert found[0] == found[1] != found[2]
    assert found[0] is not None
    assert found[3] is None
    assert with_equivalents([], [row], lambda rows: [], plain_mutants) == []
