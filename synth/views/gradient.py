"""Questions whose answer is our backward kernel: a forward kernel, a wrong adjoint of Warp's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from synth.codegen.translator import Translator
from synth.reasons import ViewReason
from synth.rows.remake import retranslated
from synth.views.adjoints import report_sentence
from synth.views.exchange import Exchange
from synth.views.plain import LeftOut, fenced, launch_json, needs, pick, structs_clause
from synth.views.promise import gradient_tolerance_clause, inputs_clause
from synth.views.sizes import regime_clause, said, size_names
from validate.row.gradient import COTANGENT, GRADIENT, VALUE, backward_row
from validate.statuses import AdjointStatus

Row = Mapping[str, Any]

_GRADIENT = (
    "Write the backward kernel of this CUDA kernel.",
    "Give the CUDA kernel that backpropagates through this one.",
    "Derive the gradients of this kernel by hand and write them as a CUDA kernel.",
    "I call this kernel from an autograd function. Write the kernel for its backward pass.",
    "Implement reverse-mode differentiation of this CUDA kernel as a kernel of its own.",
)
_WRONG = (
    "The adjoint below was generated for this kernel, and its gradients are wrong. Write a "
    "backward kernel that is right.",
    "This forward kernel has an automatically generated adjoint that fails a gradient check. "
    "Replace it.",
    "Autodiff got this kernel wrong. Write its backward pass by hand.",
)


def gradient(row: Row) -> Exchange:
    """Plain CUDA to its backward kernel."""
    needs(row, "cuda_plain_backward", ViewReason.NO_GRADIENT)
    asked = _GRADIENT[pick(row, "gradient", len(_GRADIENT))]
    question = f"{asked} {_wanted(row)}\n\n{fenced('cuda', row['cuda_plain'])}"
    return Exchange(question, _answer(row))


def wrong_adjoint(row: Row, translator: Translator, reports: Mapping[str, str]) -> Exchange:
    """Warp's forward kernel with its adjoint, which is wrong, to a backward kernel that is right.
    ``reports`` are what a check said of adjoints, by row, where that was kept.

    Raises :class:`synth.views.plain.LeftOut` for a row whose adjoint is not known to be wrong.
    """
    needs(row, "cuda_plain_backward", ViewReason.NO_GRADIENT)
    if row["checks"]["adjoint"] != AdjointStatus.WARP_DIFFERS:
        raise LeftOut(ViewReason.ADJOINT_IS_NOT_WRONG)
    asked = _WRONG[pick(row, "wrong_adjoints", len(_WRONG))]
    warp = retranslated(dict(row), translator)
    forward = fenced("cuda", warp["cuda_helpers"] + warp["cuda_forward"])
    asked = " ".join(filter(None, (asked, report_sentence(reports.get(row["id"], "")))))
    parts = [f"{asked} {_wanted(row)}", forward, fenced("cuda", warp["cuda_backward"])]
    return Exchange("\n\n".join(parts), _answer(row))


def _answer(row: Row) -> str:
    backward = backward_row(row)
    return f"{fenced('cuda', backward['cuda_plain'])}\n\n{fenced('json', launch_json(backward))}"


def _wanted(row: Row) -> str:
    """The signature of the backward kernel, what its parameters hold, and the sizes in use."""
    given = row["backward_args"]
    backward = backward_row(row)
    name = backward["kernel_name"]
    signature = ", ".join(f"{arg['type']} {arg['name']}" for arg in given)
    cotangents = [_holding(arg) for arg in given if arg["holds"] == COTANGENT]
    in_place = {arg["name"] for arg in row["args"] if arg["role"] == "inout"}
    gradients = [arg for arg in given if arg["holds"] == GRADIENT]
    summed = [_holding(arg) for arg in gradients if arg["arg"] not in in_place]
    both = [f"`{arg['name']}`" for arg in gradients if arg["arg"] in in_place]
    told = [f"The signature is `{name}({signature})`.", structs_clause(backward, signature)]
    if cotangents:
        told.append(f"Given are the gradients of a loss by the outputs: {', '.join(cotangents)}.")
    if summed:
        told.append(f"Wanted are those by the inputs, in arrays of zeros: {', '.join(summed)}.")
    if both:
        told.append(
            f"What the kernel updates in place has one array for both, {', '.join(both)}: it holds "
            "the gradient by what the kernel leaves, and is to hold that by what it found."
        )
    filled = {arg["name"] for arg in gradients}
    told += [_before(row), _shapes(row), regime_clause({**backward, "regime": row["regime"]})]
    told.append(inputs_clause(backward, filled))
    told.append(gradient_tolerance_clause(row))
    told.append("End with the launch as JSON.")
    return " ".join(part for part in told if part)


def _holding(arg: Row) -> str:
    of = f"{arg['arg']}.{arg['field']}" if arg["field"] else arg["arg"]
    return f"`{arg['name']}` (`{of}`)"


def _before(row: Row) -> str:
    """That the values of what the kernel updates in place are those that it found."""
    in_place = {arg["name"] for arg in row["args"] if arg["role"] == "inout"}
    given = row["backward_args"]
    held = [arg["name"] for arg in given if arg["holds"] == VALUE and arg["arg"] in in_place]
    if not held:
        return ""
    names = " and ".join(f"`{name}`" for name in held)
    return f"{names} {'holds' if len(held) == 1 else 'hold'} the values from before the kernel."


def _shapes(row: Row) -> str:
    """The shapes of the forward kernel's arrays; those of gradients are the same."""
    names = size_names(backward_row(row))
    shapes = [
        f"`{arg['name']}` ({', '.join(said(extent, names) for extent in arg['shape'])})"
        for arg in row["args"]
        if arg["kind"] == "array"
    ]
    return f"Shapes: {', '.join(shapes)}; gradients have those of their arrays."
