"""What is done to a kernel once it is written: rows, tiles, halves, sums, side outputs, names."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from generators import categories
from generators.build import KernelBuilder, cast
from generators.build.docs import clear
from generators.build.draw import Draw, Reject
from generators.build.outputs import MOST_SIDES, Draft, slimmed, together
from generators.build.phrases import imperative, without_twins
from generators.build.siblings import are_siblings, matching
from generators.kit.rows import row_result
from generators.kit.sites import launch
from generators.program import ir
from generators.program.dtypes import FLOAT16, FLOAT32, INT32, Array
from generators.program.expr import Load, Var
from generators.program.prune import pruned
from generators.program.walk import bodies, expressions, statements
from synth.gates.judge import judge
from synth.reasons import GateReason

LEVEL = 5


def _sums(index: int) -> ir.Program:
    """A row sum with a length that is a parameter, over floats of moderate size."""
    k = KernelBuilder(Draw(1, "work", index, 0), half_inputs=True)
    rows, cols = k.size("rows", 24, 40), k.size("cols", 7, 12)
    x = k.array("x", FLOAT32, (rows, cols), low=-1.0, high=1.0)
    out = k.out("out", FLOAT32, rows)
    (i,) = k.thread(rows)
    count = k.size_param("num_cols", cols)
    total = k.let("total", k.lift(0.0, FLOAT32))
    with k.for_("j", count) as j:
        k.augment(total, "add", x[i, j])
    k.store(out, i, total / cast(count, FLOAT32))
    return k.program("row_mean", LEVEL, "row_mean", "Each row's mean goes to out.")


@pytest.fixture(scope="module")
def sums() -> list[ir.Program]:
    return [_sums(index) for index in range(90)]


def test_a_value_and_what_gets_it_are_one_sentence() -> None:
    assert clear("Take the score. best gets it.") == "best gets the score."
    assert clear("The sum of x. y gets it; so far.") == "y gets the sum of x; so far."
    residual = "The residual: x less 0.5 * y. r gets it, but 0 at ends."
    assert clear(residual) == "r gets the residual: x less 0.5 * y, but 0 at ends."
    for stays in ("The grid is periodic. u gets it.", "One step of x. y gets it."):
        assert clear(stays) == stays


def test_inputs_are_read_from_halves_now_and_then(sums: list[ir.Program]) -> None:
    halves = [p for p in sums if p.kernel.params[0].type == Array(FLOAT16, 2)]
    assert 0 < len(halves) < len(sums)
    judge(halves[0])


def test_what_an_output_gets_is_told_as_what_to_store() -> None:
    outputs = {"out", "ids", "best", "x1"}
    for text, told in (
        ("Take the sum. out gets it.", "Take the sum. Store the result in out."),
        ("For each row: out gets the sum.", "For each row: set out to the sum."),
        ("ids gets the index, best the score.", "Set ids to the index and best to the score."),
        ("out gets x. best gets y.", "Set out to x and best to y."),
        ("best gets which is larger.", "Store in best which is larger."),
        ("out gets, for each row, the sum.", "For each row, set out to the sum."),
        ("out, x1 get the parts.", "Set out and x1 to the parts."),
        ("the root goes to out; best gets it.", "Store the root in out; store the result in best."),
        ("A queue gets it.", "A queue gets it."),
    ):
        assert imperative(text, outputs) == told


def test_no_argument_stands_behind_the_word_that_it_is() -> None:
    assert without_twins("of radius radius", {"radius"}) == "of radius"
    assert without_twins("Walker walker starts", {"walker"}) == "Walker starts"
    assert without_twins("of radius r", {"r"}) == "of radius r"


def test_halves_are_converted_as_they_are_read(sums: list[ir.Program]) -> None:
    program = next(p for p in sums if p.kernel.params[0].type == Array(FLOAT16, 2))
    loads = [e for e in expressions(program.kernel.body) if isinstance(e, Load)]
    assert {e.type for e in loads} == {FLOAT16}
    assert {v.value.type for v in statements(program.kernel.body) if isinstance(v, ir.Assign)} <= {
        FLOAT32,
        INT32,
    }


def _rows() -> Iterator[ir.Program]:
    for index in range(40):
        k = KernelBuilder(Draw(2, "rows", index, 0))
        s = launch(k, grid=1)
        scale = s.read("scales", FLOAT32, 0.5, 1.5, axes=(0,))
        value = s.read("x", FLOAT32, -1.0, 1.0) * k.let("scale", scale)
        done = row_result(s, "out", value)
        yield k.program("rows", 3, "rows_kernel", f"Multiply x by scales.{done}")


def test_a_thread_runs_along_its_row_and_loads_what_is_the_same_once() -> None:
    made = list(_rows())
    assert len({p.description.split("scales. ")[1] for p in made}) > 3
    refused = []
    for program in made:
        try:
            judge(program)
        except Reject as error:
            refused.append(error.reason)
        assert len(program.kernel.launch_dim) == 1
        before = [s for s in program.kernel.body if not isinstance(s, ir.For)]
        loads = {e.array.name for e in expressions(tuple(before)) if isinstance(e, Load)}
        assert "scales" in loads
        assert any(isinstance(s, ir.For) for s in program.kernel.body)
    assert len(refused) <= len(made) // 20
    assert {*refused} <= {GateReason.PRECISION_DEPENDENT}


def _several() -> Draft:
    k = KernelBuilder(Draw(3, "sides", 0, 0))
    n = k.size("n", 48, 96)
    x, bias = (k.array(name, FLOAT32, n, low=0.5, high=2.0) for name in ("x", "bias"))
    (i,) = k.thread(n)
    value = k.let("value", x[i] * x[i])
    other = k.let("other", value + bias[i])
    for name, what in (("out", value), ("moved", other), ("cubes", value * x[i])):
        k.store(k.out(name, FLOAT32, n), i, what)
    text = "Square x. out gets it. moved gets it plus bias. cubes gets the third power of x."
    return Draft(k.params, k.functions, k.structs, k.sizes, k.body(), text)


def test_outputs_beside_the_result_are_dropped_down_to_one_or_none_with_what_they_read() -> None:
    sides = set()
    for index in range(12):
        found = slimmed(_several(), ("n",), Draw(3, "sides", index, 0).shape)
        names = {p.name for p in found.params}
        sides.add(len([p for p in found.params if p.role == "out"]) - 1)
        assert "out" in names
        assert ("moved" in names) == ("bias" in names) == ("moved" in found.text)
        assert ("cubes" in names) == ("third power" in found.text)
    assert sides == {0, MOST_SIDES}


def test_what_is_named_for_a_dropped_output_alone_goes_with_it() -> None:
    draft = _several()
    draft.text = "Square x. out gets it. Let s be that value. moved gets s + bias. cubes gets x^3."
    texts = {slimmed(draft, ("n",), Draw(3, "led", k, 0).shape).text for k in range(12)}
    assert "Square x. out gets it." in texts
    assert all(("Let s" in text) == ("moved" in text) for text in texts)


def test_a_size_that_nothing_reads_is_no_parameter() -> None:
    k = KernelBuilder(Draw(1, "idle", 0, 0))
    n, m = k.size("n", 24, 40), k.size("m", 24, 40)
    x = k.array("x", FLOAT32, (n, m), low=-1.0, high=1.0)
    out = k.out("out", FLOAT32, (n, m))
    i, j = k.thread(n, m)
    told, idle, read = (k.size_param(name, m) for name in ("told", "idle", "read"))
    k.store(out, (i, j), x[i, j] * cast(read, FLOAT32))
    program = k.program("scaled", 1, "scaled", f"Each x times its row's length, {told.name}.")
    names = {p.name for p in program.kernel.params}
    assert {"told", "read"} <= names
    assert idle.name not in names


def test_a_clause_that_others_refer_to_keeps_its_output() -> None:
    draft = _several()
    draft.text = "Square x. out gets it. moved gets s = x^2 + bias. cubes gets s * x = x^3."
    assert slimmed(draft, ("n",), Draw(3, "sides", 1, 0).shape).text == draft.text


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("x_re", "x_im", True),
        ("fx", "fz", True),
        ("end_row", "end_col", True),
        ("row_out", "end_col", False),
        ("low_sum", "high_sum", True),
        ("re_x", "row_x", False),
        ("fx", "fx", False),
        ("x", "y", False),
    ],
)
def test_siblings(one: str, other: str, expected: bool) -> None:
    assert are_siblings(one, other) is expected
    assert (matching([other], [one]) == [other]) is expected


def test_siblings_belong_to_one_result() -> None:
    outs = [ir.Param(name, Array(FLOAT32, 1), "out", ("n",)) for name in ("vx", "vy", "size")]
    assert [[p.name for p in group] for group in together(outs)] == [["vx", "vy"], ["size"]]


def test_no_program_assigns_what_nothing_reads_after_outputs_were_dropped() -> None:
    for name, category in categories().items():
        for index in range(15):
            try:
                program = category.draw(Draw(5, name, index, 0), LEVEL)
            except Reject:
                continue
            assert pruned(program.kernel.body) == program.kernel.body
            used = {e.name for b in bodies(program) for e in expressions(b) if isinstance(e, Var)}
            used |= {e.array.name for e in expressions(program.kernel.body) if isinstance(e, Load)}
            used |= {
                s.array.name
                for s in statements(program.kernel.body)
                if isinstance(s, ir.Store | ir.Atomic)
            }
            assert {p.name for p in program.kernel.params if p.type == FLOAT32} <= used
