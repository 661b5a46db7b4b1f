"""Our own backward kernel of a row, run on the host, against derivatives of the row's reference.

The check is that of Warp's adjoint (:mod:`validate.host.adjoint`), at every shape of the row. What
central differences cannot say at shapes of several blocks, whose inputs no gate has seen, the
reference of the backward kernel itself says: there the text has to agree with it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from validate.host.adjoint import DIRECTIONS, Adjoint, compare_along, draw_cotangents, overall
from validate.host.adjoint import tolerance_of as adjoint_tolerance
from validate.host.ends import ENDS, status_of
from validate.host.launch import Endless
from validate.host.memory import damage
from validate.host.plain_case import PlainLaunched
from validate.host.plain_launch import ORDERS, PlainEntry
from validate.host.plain_sizes import wide_sizes
from validate.oracle.compare import Finding, compare_widely
from validate.oracle.derivative import Loss, Values, flat
from validate.oracle.reference import run_reference
from validate.row.adjoint import is_source
from validate.row.edges import EDGES, Setting, settings
from validate.row.gradient import backward_row, gradient_names
from validate.row.inputs import Array, draw_inputs
from validate.row.sizes import describe, evaluate_all
from validate.statuses import AdjointStatus

Row = Mapping[str, Any]

_WIDE_SHARE = 1e-3
"""Of the largest gradient, by how much one may be off at wide shapes; of float64 much less."""


def check_gradient(row: Row, entries: Sequence[PlainEntry]) -> Adjoint:
    """Whether the backward kernel of a row gives the gradients of its reference.

    ``entries`` are those of :func:`validate.row.gradient.backward_row`. The kernel runs in this
    process: it may crash it. Raises what ends a run (:data:`validate.host.ends.ENDS`).
    """
    backward, names = backward_row(row), gradient_names(row)
    found = []
    for number, setting in enumerate(settings({**row, EDGES: []})):
        order = number % len(ORDERS)
        part = _at(row, backward, names, entries, setting, order)
        if part.status == AdjointStatus.WARP_DIFFERS:
            return Adjoint(part.status, f"{part.reason} at {setting.name}", part.tolerance_used)
        found.append(part)
    for sizes in wide_sizes(backward):
        if reason := _widely(row, backward, names, entries, sizes):
            return Adjoint(AdjointStatus.WARP_DIFFERS, f"{reason} at {describe(sizes)}")
    # At other shapes than the row's own a direction may be zero or meet a kink.
    return (
        found[0]
        if found[0].status != AdjointStatus.AGREES
        else overall([part for part in found if part.status == AdjointStatus.AGREES])
    )


def run_gradient_case(row: Row, entries: Sequence[PlainEntry]) -> Finding:
    """The same as a finding, whose `adjoint` fields speak of the backward kernel."""
    finding = Finding()
    try:
        found = check_gradient(row, entries)
    except ENDS as ended:
        finding.status, finding.reason = status_of(ended), str(ended)
        return finding
    finding.adjoint, finding.adjoint_reason = found.status, found.reason
    finding.adjoint_tolerance_used = found.tolerance_used
    return finding


def backward_inputs(
    row: Row, backward: Row, names: Mapping[str, str], inputs: Values, cotangents: Values
) -> Values:
    """What the backward kernel is passed: inputs, cotangents, and gradients that are zero."""
    found = {}
    original = {grad: name for name, grad in names.items()}
    for arg in backward["args"]:
        name = arg["name"]
        if name not in original:
            found[name] = inputs[name]
            continue
        start = cotangents.get(original[name])
        like = inputs[original[name]]
        if start is None:
            # Gradients by halves are added up in float32.
            dtype = np.float32 if like.dtype == np.float16 else like.dtype
            found[name] = np.zeros(like.shape, dtype)
        else:
            found[name] = start.copy()
    return found


def _launched(
    row: Row,
    backward: Row,
    names: Mapping[str, str],
    entries: Sequence[PlainEntry],
    setting: Setting,
    order: int,
) -> tuple[PlainLaunched, Values, Values]:
    inputs = draw_inputs(setting.args, setting.sizes, row["input_seed"])
    cotangents = draw_cotangents(row, inputs)
    passed = backward_inputs(row, backward, names, inputs, cotangents)
    launched = PlainLaunched(backward, setting, entries, order, inputs=passed)
    return launched, inputs, cotangents


def _at(
    row: Row,
    backward: Row,
    names: Mapping[str, str],
    entries: Sequence[PlainEntry],
    setting: Setting,
    order: int,
) -> Adjoint:
    try:
        launched, inputs, cotangents = _launched(row, backward, names, entries, setting, order)
    except Endless as endless:
        return Adjoint(AdjointStatus.WARP_DIFFERS, f"in the backward kernel {endless}")
    trouble = damage(launched.args, launched.arena, launched.watch)
    if trouble is not None:
        return Adjoint(AdjointStatus.WARP_DIFFERS, trouble[1])
    outputs = launched.outputs()
    loss = Loss(row, evaluate_all(row["launch"]["dim"], setting.sizes), inputs, cotangents)
    tolerance = adjoint_tolerance(row["args"])
    parts = []
    for arg in row["args"]:
        if is_source(arg):
            gradient = _gradient(arg, names, outputs, inputs, cotangents)
            for number in range(DIRECTIONS):
                parts.append(compare_along(arg, loss, gradient, tolerance, number))
    return overall(parts)


def _gradient(
    arg: Row, names: Mapping[str, str], outputs: Values, inputs: Values, cotangents: Values
) -> Array:
    """The gradient by an argument; where the kernel has none it is what it would start as."""
    found = outputs.get(names.get(arg["name"], ""))
    if found is not None:
        return found
    start = cotangents.get(arg["name"])
    like = inputs[arg["name"]]
    return np.zeros(like.shape, like.dtype) if start is None else start


def _widely(
    row: Row,
    backward: Row,
    names: Mapping[str, str],
    entries: Sequence[PlainEntry],
    sizes: Mapping[str, int],
) -> str:
    """What is wrong at a shape of several blocks, empty where nothing is."""
    setting = Setting(describe(sizes), dict(sizes), row["args"])
    try:
        launched, inputs, cotangents = _launched(row, backward, names, entries, setting, 0)
    except Endless as endless:
        return f"in the backward kernel {endless}"
    trouble = damage(launched.args, launched.arena, launched.watch)
    if trouble is not None:
        return trouble[1]
    outputs = launched.outputs()
    passed = backward_inputs(row, backward, names, inputs, cotangents)
    wanted = run_reference(
        backward["reference"], backward["kernel_name"], backward["args"], launched.dim, passed
    )
    for name, value in wanted.items():
        scale = float(np.abs(flat(value)).max(initial=0.0))
        found = compare_widely(outputs[name], value, _WIDE_SHARE, _WIDE_SHARE * scale, 1)
        if found is not None:
            return f"{name}{found}"
    return ""
