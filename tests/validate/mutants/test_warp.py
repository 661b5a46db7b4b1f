"""Mutants: every operator by hand, distinct and repeatable texts, and some that the host kills."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from synth.dataset.stored import stored_rows
from synth.rows.maker import Row
from validate.host.runner import HostRunner
from validate.mutants.kill import (
    Trial,
    sample_evenly,
    sample_naturally,
    try_mutants,
    with_equivalents,
)
from validate.mutants.warp.draw import OPERATORS, RACE, Mutant, mutants, mutated

SAMPLES = Path(__file__).resolve().parents[3] / "data" / "samples"

DECLARED = """\
    wp::int32 var_i;
    wp::int32 var_j;
    const wp::int32 var_last = 2;
    const wp::float32 var_half = 0.5;
    wp::int64 var_l;
    wp::uint32 var_u;
    wp::float32 var_a;
    wp::float32 var_b;
    wp::float32 var_c;
    wp::float64 var_d;
    wp::float32* var_p;
    wp::vec_t<3, wp::float32> var_v;
    wp::vec_t<3, wp::float32> var_w;
    wp::mat_t<2, 2, wp::float32> var_m;
    wp::mat_t<2, 2, wp::float32> var_n;
    wp::mat_t<2, 2, wp::float32> var_o;
    wp::range_t var_r;
    bool var_t;
    bool var_s;
"""


@pytest.fixture(scope="module")
def samples() -> list[Row]:
    return [row for _, row in stored_rows(SAMPLES)]


def kernel(*statements: str) -> str:
    """A forward column in Warp's layout. Not for running."""
    body = "\n".join(f"        {statement}" for statement in statements)

    return (
        'extern "C" __global__ void probe_cuda_kernel_forward(\n'
        "    wp::launch_bounds_t<1> dim,\n"
        "    wp::array_t<wp::float32> var_xs,\n"
        "    wp::array_t<wp::uint32> var_bits)\n"
        f"{{\n{DECLARED}        // forward\n{body}\n}}\n"
    )


def row_of(*statements: str, helpers: str = "") -> Row:
    return {"id": "feed", "cuda_helpers": helpers, "cuda_forward": kernel(*statements)}


def found(operator: str, *statements: str) -> list[str]:
    """What an operator makes of the first statement."""
    return [
        m.after
        for m in mutants(row_of(*statements))
        if m.operator == operator and m.before == statements[0]
    ]


EXAMPLES = [
    ("operator_swapped", "var_c = wp::add(var_a, var_b);", ["var_c = wp::sub(var_a, var_b);"]),
    ("operator_swapped", "var_c = wp::mul(var_a, var_b);", ["var_c = wp::div(var_a, var_b);"]),
    ("operator_swapped", "var_v = wp::mul(var_a, var_w);", ["var_v = wp::div(var_w, var_a);"]),
    ("operator_swapped", "var_m = wp::mul(var_n, var_o);", ["var_m = wp::add(var_n, var_o);"]),
    ("operator_swapped", "var_t = var_t && var_s;", ["var_t = var_t || var_s;"]),
    (
        "operator_swapped",
        "var_a = wp::atomic_add(var_xs, var_i, var_b);",
        ["var_a = wp::atomic_sub(var_xs, var_i, var_b);"],
    ),
    ("operand_swapped", "var_c = wp::sub(var_a, var_b);", ["var_c = wp::sub(var_b, var_a);"]),
    ("operand_swapped", "var_c = wp::add(var_a, var_b);", ["var_c = wp::add(var_a, var_a);"]),
    ("operand_swapped", "var_m = wp::mul(var_n, var_o);", ["var_m = wp::mul(var_o, var_n);"]),
    (
        "operand_swapped",
        "var_c = wp::where(var_t, var_a, var_b);",
        ["var_c = wp::where(var_t, var_b, var_a);"],
    ),
    ("operand_swapped", "var_c = ease_0(var_a, var_b);", ["var_c = ease_0(var_b, var_a);"]),
    ("operand_swapped", "var_c = wp::mul(var_a, var_a);", []),
    (
        "operand_swapped",
        "var_c = wp::clamp(var_a, var_b, var_c);",
        ["var_c = wp::clamp(var_a, var_c, var_b);"],
    ),
    ("function_swapped", "var_b = wp::sin(var_a);", ["var_b = wp::cos(var_a);", "var_b = var_a;"]),
    (
        "function_swapped",
        "var_b = wp::floor(var_a);",
        ["var_b = wp::ceil(var_a);", "var_b = var_a;"],
    ),
    ("function_swapped", "var_a = wp::length(var_v);", ["var_a = wp::length_sq(var_v);"]),
    ("function_swapped", "var_m = wp::transpose(var_n);", ["var_m = var_n;"]),
    ("min_for_max", "var_c = wp::min(var_a, var_b);", ["var_c = wp::max(var_a, var_b);"]),
    (
        "min_for_max",
        "var_u = wp::atomic_max(var_bits, var_i, var_u);",
        ["var_u = wp::atomic_min(var_bits, var_i, var_u);"],
    ),
    ("constant_nudged", "var_d = 2.0;", ["var_d = 2.02;"]),
    ("constant_nudged", "var_d = 0.0;", ["var_d = 1.0;"]),
    ("constant_nudged", "var_l = 9ll;", ["var_l = 10ll;", "var_l = 8ll;"]),
    ("constant_nudged", "var_u = 0;", ["var_u = 1;"]),
    ("constant_nudged", "var_t = true;", ["var_t = false;"]),
    (
        "index_shifted",
        "var_p = wp::address(var_xs, var_i);",
        ["var_p = wp::address(var_xs, var_i + 1);"],
    ),
    (
        "index_shifted",
        "wp::array_store(var_xs, var_i, var_j, var_a);",
        [
            "wp::array_store(var_xs, var_i + 1, var_j, var_a);",
            "wp::array_store(var_xs, var_i, var_j + 1, var_a);",
        ],
    ),
    (
        "index_shifted",
        "var_a = wp::extract(var_v, var_last);",
        ["var_a = wp::extract(var_v, var_last - 1);"],
    ),
    ("comparison_flipped", "var_t = (var_a < var_b);", ["var_t = (var_a >= var_b);"]),
    (
        "comparison_flipped",
        "var_t = (var_i < var_j);",
        ["var_t = (var_i >= var_j);", "var_t = (var_i <= var_j);"],
    ),
    ("comparison_flipped", "var_t = (var_i == var_j);", ["var_t = (var_i != var_j);"]),
    ("float_tie_moved", "var_t = (var_a > var_b);", ["var_t = (var_a >= var_b);"]),
    ("float_tie_moved", "var_t = (var_i > var_j);", []),
    ("term_dropped", "var_c = wp::add(var_a, var_b);", ["var_c = var_a;", "var_c = var_b;"]),
    ("term_dropped", "var_v = wp::mul(var_a, var_w);", ["var_v = var_w;"]),
    ("term_dropped", "wp::assign(var_a, var_b);", [";"]),
    (
        "term_dropped",
        "var_c = wp::clamp(var_c, var_a, var_b);",
        ["var_c = wp::max(var_c, var_a);", "var_c = wp::min(var_c, var_b);"],
    ),
    ("cast_narrowed", "var_d = wp::float64(var_l);", ["var_d = wp::float64(wp::float32(var_l));"]),
    ("cast_narrowed", "var_d = wp::float64(var_a);", ["var_d = wp::float64(wp::float16(var_a));"]),
    ("cast_narrowed", "var_i = wp::int(var_j);", ["var_i = wp::int(wp::int16(var_j));"]),
    ("cast_narrowed", "var_i = wp::int(var_last);", []),
    ("cast_narrowed", "var_a = wp::float(var_half);", []),
    (
        "loop_bound_moved",
        "var_r = wp::range(var_i);",
        ["var_r = wp::range(var_i + 1);", "var_r = wp::range(var_i - 1);"],
    ),
    (
        "loop_bound_moved",
        "var_r = wp::range(var_i, var_j);",
        [
            "var_r = wp::range(var_i, var_j + 1);",
            "var_r = wp::range(var_i, var_j - 1);",
            "var_r = wp::range(var_i + 1, var_j);",
        ],
    ),
    ("branch_removed", "if (var_t) {", ["if ((var_t = true)) {", "if ((var_t = false)) {"]),
    (
        "branch_removed",
        "if ((var_t) == false) goto end_while_0;",
        ["if ((var_t = true) == false) goto end_while_0;", "goto end_while_0;"],
    ),
    ("branch_removed", "if (iter_cmp(var_r) == 0) goto end_for_0;", ["goto end_for_0;"]),
    ("jump_removed", "continue;", [";"]),
    ("jump_removed", "goto start_for_0;", [";"]),
    (
        "last_store_skipped",
        "wp::array_store(var_xs, var_i, var_a);",
        ["if (_idx + 1 < dim.size) wp::array_store(var_xs, var_i, var_a);"],
    ),
    (
        RACE,
        "var_a = wp::atomic_add(var_xs, var_i, var_b);",
        [
            "var_a = wp::load(wp::address(var_xs, var_i)); "
            "wp::array_store(var_xs, var_i, wp::add(var_a, var_b));"
        ],
    ),
]


@pytest.mark.parametrize(("operator", "statement", "expected"), EXAMPLES)
def test_what_an_operator_makes_of_a_statement(
    operator: str, statement: str, expected: list[str]
) -> None:
    # The second statement reads the constants of the first.
    reads = "use_0(var_l, var_u, var_d, var_t);"
    assert found(operator, statement, reads) == expected


def test_every_operator_has_an_example() -> None:
    assert {operator for operator, _, expected in EXAMPLES if expected} == set(OPERATORS)


def test_a_constant_that_nothing_reads_is_left_alone() -> None:
    assert not any("var_half" in m.before for m in mutants(row_of("continue;")))


def test_an_else_is_not_skipped_where_its_results_are_selected() -> None:
    both = ("if (!var_t) {", "}", "if (var_t) {", "}")
    assert found("branch_removed", *both) == ["if (!(var_t = false)) {"]
    assert len(found("branch_removed", "if (!var_t) {", "}")) == 2


def test_a_mutant_says_what_changed_and_where() -> None:
    row = row_of("var_c = wp::sub(var_a, var_b);")
    (mutant,) = (m for m in mutants(row) if m.operator == "operator_swapped")
    lines = row["cuda_forward"].split("\n")
    assert lines[mutant.line - 1].strip() == mutant.before == "var_c = wp::sub(var_a, var_b);"
    lines[mutant.line - 1] = "        var_c = wp::add(var_a, var_b);"
    assert mutant.text == "\n".join(lines)
    changed = mutated(row, mutant, 7)
    assert changed == row | {"id": "feed.7", "cuda_forward": mutant.text}


def test_helpers_have_mutants_and_adjoints_have_none() -> None:
    head = "(\n    wp::float32 var_u)\n{\n    wp::float32 var_1;\n    // forward\n"
    body = "    var_1 = wp::sin(var_u);\n    return var_1;\n}\n"
    helpers = f"static CUDA_CALLABLE wp::float32 bend_0{head}{body}\n\n"
    helpers += f"static CUDA_CALLABLE void adj_bend_0{head}{body}"
    made = [m for m in mutants(row_of(helpers=helpers)) if m.column == "cuda_helpers"]
    assert [(m.line, m.after) for m in made] == [
        (6, "var_1 = wp::cos(var_u);"),
        (6, "var_1 = var_u;"),
    ]


def test_mutants_of_the_samples_are_distinct_and_repeatable(samples: list[Row]) -> None:
    operators: Counter[str] = Counter()
    for row in samples:
        made = mutants(row)
        assert made == mutants(row)
        assert len({(m.column, m.text) for m in made}) == len(made)
        assert all(m.text != row[m.column] for m in made)
        operators.update(m.operator for m in made)
    assert set(operators) == set(OPERATORS)


def test_samples_of_mutants_are_repeatable_and_even(samples: list[Row]) -> None:
    for sample in (sample_evenly, sample_naturally):
        chosen = sample(samples, 4, seed=3)
        assert chosen == sample(samples, 4, seed=3) != sample(samples, 4, seed=4)
        assert {len(set(picked)) for picked in chosen} == {4}
    rows = [row for row in samples if row["category"] == "arithmetic"]
    taken = Counter(
        mutants(row)[position].operator
        for row, picked in zip(rows, sample_evenly(rows, 4, seed=0), strict=True)
        for position in picked
    )
    assert max(taken.values()) <= 2 + min(taken.values())


def test_the_host_run_kills_mutants(samples: list[Row]) -> None:
    rows = samples[::6]
    with HostRunner(timeout_s=5.0) as runner:
        trials = try_mutants(rows, sample_evenly(rows, 3, seed=1), runner.run)
    assert len(trials) == 3 * len(rows)
    assert sum(trial.killed for trial in trials) >= 0.7 * len(trials), trials


def test_only_equal_ptx_makes_a_survivor_equivalent(samples: list[Row]) -> None:
    row = samples[0]
    trials = [_survivor(row, position, mutants(row)[position]) for position in (0, 1)]

    def optimised_ptx(rows: object) -> list[str | None]:
        return ["original", "original", "another"]

    told = with_equivalents(trials, samples, optimised_ptx)
    assert [trial.equivalent for trial in told] == [True, False]
    assert [trial.counts for trial in told] == [False, True]
    refused, other = with_equivalents(trials, samples, lambda rows: ["original", None, "another"])
    assert (refused.status, refused.counts, other.counts) == ("compile_error", False, True)
    with pytest.raises(ValueError, match="no PTX"):
        with_equivalents(trials, samples, lambda rows: [None, "original", "another"])


def _survivor(row: Row, position: int, mutant: Mutant) -> Trial:
    return Trial(
        row_id=row["id"],
        kernel_name=row["kernel_name"],
        category=row["category"],
        position=position,
        operator=mutant.operator,
        column=mutant.column,
        line=mutant.line,
        before=mutant.before,
        after=mutant.after,
        status="agrees",
        reason="",
    )
