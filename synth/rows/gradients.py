"""Backward kernels of ours for rows: made of their programs, run on the host, and kept or not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from generators.program import ir
from generators.program.serialise import from_json
from synth.gates.contract import args_of, sizes_of
from synth.gradient.held import held
from synth.gradient.program import NO_DERIVATIVE, backward_program, maxima
from synth.gradient.terms import Undifferentiable
from synth.render.cuda import module as render_cuda
from synth.render.reference import module as render_reference
from synth.rows.maker import Row
from synth.rows.runners import TextRunners
from validate.oracle.reference import ReferenceFailed, run_reference
from validate.row.adjoint import status_without_run
from validate.row.columns import GRADIENT_COLUMNS
from validate.row.gradient import COTANGENT, GRADIENT, VALUE
from validate.row.inputs import Array, draw_inputs
from validate.row.sizes import evaluate_all, own_sizes
from validate.statuses import AdjointStatus, GradientStatus, RunStatus

_CANCELS = 1e-10
"""Of the largest gradient: so far apart are those that float64 takes for the same."""

WITHOUT_GRADIENT: Row = dict.fromkeys(GRADIENT_COLUMNS)

_STATUSES = {
    AdjointStatus.NO_FLOAT_INPUT: GradientStatus.NO_FLOAT_INPUT,
    AdjointStatus.NO_FLOAT_OUTPUT: GradientStatus.NO_FLOAT_OUTPUT,
    AdjointStatus.AGREES: GradientStatus.AGREES,
    AdjointStatus.ZERO_GRADIENT: GradientStatus.ZERO_GRADIENT,
    AdjointStatus.NOT_SMOOTH_HERE: GradientStatus.NOT_SMOOTH_HERE,
    AdjointStatus.WARP_DIFFERS: GradientStatus.DIFFERS,
}


@dataclass(frozen=True)
class Gradient:
    """What came of a row's backward kernel: its columns, all None but where ``status`` is `agrees`;
    ``reason`` says of any other status what is behind it; ``tolerance_used`` is a raw measurement.
    """

    columns: Row
    status: GradientStatus
    reason: str = ""
    tolerance_used: float = 0.0


def lightest_backward(program: ir.Program) -> ir.Program:
    """The backward program, without what flows through largest values where that cancels.

    That it cancels is tried: both programs give the same gradients at the row's own sizes, in
    float64 to a part in 10^10. Whatever is published is compared with differences at all shapes.
    """
    whole = backward_program(program)
    largest = maxima(program)
    if not largest:
        return whole
    try:
        lighter = backward_program(program, largest)
    except Undifferentiable:
        return whole
    return lighter if _gives_the_same(whole, lighter) else whole


def _gives_the_same(one: ir.Program, other: ir.Program) -> bool:
    if one == other:
        return False
    sizes = own_sizes(sizes_of(one))
    inputs = draw_inputs(args_of(one), sizes, one.input_seed)
    try:
        found, wanted = (_gradients(program, sizes, inputs) for program in (other, one))
    except ReferenceFailed:
        return False
    return all(_is_same(found.get(name), value) for name, value in wanted.items())


def _gradients(program: ir.Program, sizes: Row, inputs: dict[str, Array]) -> dict[str, Array]:
    kernel = program.kernel
    dim = evaluate_all(kernel.launch_dim, sizes)
    text = render_reference.render(program)
    return run_reference(text, kernel.name, args_of(program), dim, inputs)


def _is_same(found: Array | None, wanted: Array) -> bool:
    if found is None:
        return not wanted.any()
    most = _CANCELS * float(np.abs(wanted).max(initial=0.0))
    return bool((np.abs(found - wanted) <= most).all())


def gradient_columns(program: ir.Program) -> Row:
    """The columns of a program's backward kernel, not run yet.

    :class:`synth.gradient.terms.Undifferentiable` for a program that has none.
    """
    backward = lightest_backward(program)
    plain = render_cuda.render(backward)
    return {
        "cuda_plain_backward": plain.text,
        "backward_args": _args(program, backward, plain.args),
        "backward_scratch": plain.scratch,
        "backward_launch": plain.launches,
        "backward_schedule": plain.schedule.to_json(),
        "backward_reference": render_reference.render(backward),
    }


def _args(
    program: ir.Program, backward: ir.Program, passed: Sequence[Row]
) -> list[dict[str, str | None]]:
    """What the kernel is passed, each with the argument of the forward kernel that it is of."""
    of = {grad.name: grad for grad in held(program).values()}
    found: list[dict[str, str | None]] = []
    params = backward.kernel.params
    for entry, param in zip(passed, [*params, *[None] * (len(passed) - len(params))], strict=True):
        arg = field = holds = None
        if param is not None and param.name in of:
            arg, field = of[param.name].of.name, of[param.name].field or None
            holds = COTANGENT if param.role == "in" else GRADIENT
        elif param is not None:
            arg, holds = param.name, VALUE
        found.append({**entry, "arg": arg, "field": field, "holds": holds})
    return found


def checked_gradients(runners: TextRunners, rows: Sequence[Row]) -> list[Gradient]:
    """Make the backward kernels of rows from their programs, and run them on the host."""
    found = [unrun(row) for row in rows]
    made = [at for at, gradient in enumerate(found) if gradient.columns is not WITHOUT_GRADIENT]
    ran = runners.run_gradients([{**rows[at], **found[at].columns} for at in made])
    for at, result in zip(made, ran, strict=True):
        if result.status != RunStatus.AGREES:
            said = f"{result.status}: {result.reason}"
            found[at] = Gradient(WITHOUT_GRADIENT, GradientStatus.DIFFERS, said)
            continue
        status = _STATUSES[AdjointStatus(result.adjoint)]
        kept = found[at].columns if status == GradientStatus.AGREES else WITHOUT_GRADIENT
        found[at] = Gradient(kept, status, result.adjoint_reason, result.adjoint_tolerance_used)
    return found


def unrun(row: Row) -> Gradient:
    """A row's backward kernel, made of its program and not run yet."""
    without = status_without_run({**row, "cuda_backward": ""})
    if without is not None:
        return Gradient(WITHOUT_GRADIENT, _STATUSES[without])
    try:
        return Gradient(gradient_columns(from_json(row["program"])), GradientStatus.AGREES)
    except Undifferentiable as none:
        zero = none.reason == NO_DERIVATIVE
        status = GradientStatus.ZERO_GRADIENT if zero else GradientStatus.NO_FORM
        return Gradient(WITHOUT_GRADIENT, status, none.reason)
