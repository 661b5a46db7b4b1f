"""PyTorch from a program: how forms are written, without PyTorch; that texts agree, with it."""

from __future__ import annotations

import ast

import pytest

from generators.program import ir
from generators.program.dtypes import FLOAT32, INT32, Array, Scalar
from generators.program.expr import Const, Expr, Var, op
from generators.program.ops import OPS
from synth.render.array.dialects.numpy_ops import NUMPY_OPS
from synth.render.array.dialects.torch_functions import with_functions
from synth.render.array.dialects.torch_ops import TORCH_OPS
from synth.render.array.module import render_torch
from synth.render.array.values import NoForm
from synth.rows.maker import Accepted, Row
from validate.oracle.compare import Finding, compare_outputs
from validate.oracle.reference import run_reference
from validate.oracle.tensors import run_tensors, torch_version
from validate.row.inputs import draw_inputs
from validate.row.sizes import evaluate_all, own_sizes

THREAD = Var("i", INT32)
V, W = Var("v", Array(FLOAT32, 1)), Var("w", Array(FLOAT32, 1))
AT = Var("at", Array(INT32, 1))
OUT = Var("out", Array(FLOAT32, 1))
ZERO, ONE = Const("0.0", FLOAT32), Const("1.0", FLOAT32)


def text_of(body: tuple[ir.Statement, ...], *arrays: Var, role: str = "out") -> str:
    """The body of a function of one thread for each of ``m``; it has a number ``gain``."""
    params = tuple(ir.Param(v.name, v.type, "in", ("m",)) for v in arrays)
    params += (ir.Param("gain", FLOAT32, "in", ()),)
    params += (ir.Param("out", OUT.type, role, ("m",)),)
    kernel = ir.Kernel("f", params, ("i",), ("m",), body)
    text = render_torch(ir.Program("math", "x", 1, "", (), (), kernel, (ir.Size("m", 4),), 0))
    return text.partition("def f")[2].partition("\n")[2]


def of(value: Expr, *arrays: Var) -> str:
    text = text_of((ir.Store(OUT, (THREAD,), "", value),), *(arrays or (V,)))
    return text.removeprefix("    out = ").removesuffix("\n    return out\n")


def test_tables_have_ops_of_the_table_alone() -> None:
    assert set(NUMPY_OPS) <= set(OPS)
    assert set(TORCH_OPS) <= set(NUMPY_OPS)


def test_extremes_with_a_number_are_clamps() -> None:
    x, gain = V[THREAD], Var("gain", FLOAT32)
    assert of(op("max", x, ZERO)) == "torch.relu(v)"
    assert of(op("max", x, gain)) == "torch.clamp(v, min=gain)"
    assert of(op("min", x, gain)) == "torch.clamp(v, max=gain)"
    assert of(op("min", x, W[THREAD]), V, W) == "torch.minimum(v, w)"
    assert of(op("clamp", x, gain, W[THREAD]), V, W) == (
        "torch.minimum(torch.clamp(v, min=gain), w)"
    )


def test_functions_of_numbers_are_those_of_python() -> None:
    gain = Var("gain", FLOAT32)
    assert of(V[THREAD] * op("exp", gain)) == "v * math.exp(gain)"
    assert of(V[THREAD] * op("max", gain, ONE)) == "v * max(gain, 1.0)"


def test_activations_have_their_names() -> None:
    x = V[THREAD]
    sigmoid = op("div", ONE, op("add", ONE, op("exp", op("neg", x))))
    assert of(sigmoid) == "torch.sigmoid(v)"
    assert of(x * sigmoid) == "torch.nn.functional.silu(v)"
    assert of(op("log", op("add", ONE, op("exp", x)))) == "torch.nn.functional.softplus(v)"


def test_gelu_has_its_name() -> None:
    x = V[THREAD]
    erf = op("erf", Const("0.70710678", FLOAT32) * x)
    gelu = Const("0.5", FLOAT32) * x * op("add", ONE, erf)
    assert of(gelu) == "torch.nn.functional.gelu(v)"
    other = Const("0.5", FLOAT32) * x * op("add", ONE, op("erf", Const("0.7", FLOAT32) * x))
    assert "gelu" not in of(other)


def test_softmax_is_found_by_what_lines_compute() -> None:
    lines = [
        "    peak = x.amax(dim=-1)",
        "    total = torch.exp(x - peak[:, None]).sum(dim=-1)",
        "    out = torch.exp(x - peak[:, None]) / total[:, None]",
        "    size = peak + torch.log(total)",
    ]
    found = with_functions(lines)
    assert found[2:] == [
        "    out = torch.softmax(x, dim=-1)",
        "    size = torch.logsumexp(x, dim=-1)",
    ]
    assert with_functions([lines[0].replace("amax", "amin"), *lines[1:]])[2] == lines[2]
    assert with_functions([*lines, "    total = total + 1.0"])[2] == lines[2]
    sign = "    out = 1.0 - torch.exp(x - peak[:, None]) / total[:, None] * gain"
    softmax = "    out = 1.0 - torch.softmax(x, dim=-1) * gain"
    assert with_functions([*lines[:2], sign])[2] == softmax


def test_updates_at_indices_are_index_add() -> None:
    add = ir.Atomic("add", OUT, (AT[THREAD],), V[THREAD])
    assert "    out.index_add_(0, at, v)\n" in text_of((add,), V, AT, role="inout")
    count = ir.Atomic("add", OUT, (AT[THREAD],), ONE)
    text = text_of((count,), V, AT, role="inout")
    assert "    out.index_add_(0, at, torch.ones_like(at, dtype=out.dtype))\n" in text
    most = ir.Atomic("max", OUT, (AT[THREAD],), V[THREAD])
    text = text_of((most,), V, AT, role="inout")
    assert '    out.scatter_reduce_(0, at.long(), v, "amax")\n' in text


def test_new_tensors_lie_where_the_inputs_do() -> None:
    text = text_of((ir.Store(OUT, (THREAD,), "", ONE),), V)
    assert "    out = torch.full((m,), 1.0, dtype=torch.float32, device=v.device)\n" in text


def test_words_that_torch_does_not_compute_with_have_no_text() -> None:
    words = Var("words", Array(Scalar("uint32"), 1))
    with pytest.raises(NoForm, match="unsigned"):
        of(op("where", op("eq", words[THREAD], words[THREAD]), ONE, ZERO), words)


def test_programs_without_an_array_to_read_have_no_text() -> None:
    with pytest.raises(NoForm, match="no array"):
        text_of((ir.Store(OUT, (THREAD,), "", ONE),))


def test_most_idioms_have_a_text_that_parses(all_accepted: list[Accepted]) -> None:
    texts = []
    for accepted in all_accepted:
        try:
            texts.append(render_torch(accepted.program))
        except NoForm:
            continue
    assert len(texts) > 0.5 * len(all_accepted)
    for text in texts:
        ast.parse(text)
        assert "np." not in text
        assert "\0" not in text


@pytest.mark.skipif(torch_version() is None, reason="PyTorch is not installed")
def test_texts_agree_with_the_reference(all_accepted: list[Accepted], all_rows: list[Row]) -> None:
    tried = 0
    for accepted, row in list(zip(all_accepted, all_rows, strict=True))[::4]:
        try:
            text = render_torch(accepted.program)
        except NoForm:
            continue
        sizes = own_sizes(row["sizes"])
        inputs = draw_inputs(row["args"], sizes, row["input_seed"])
        found = run_tensors(text, row["kernel_name"], row["args"], sizes, inputs)
        dim = evaluate_all(row["launch"]["dim"], sizes)
        wanted = run_reference(row["reference"], row["kernel_name"], row["args"], dim, inputs)
        finding = Finding()
        assert compare_outputs(row["args"], found, wanted, finding), (row["idiom"], finding.reason)
        tried += 1
    assert tried > 20
