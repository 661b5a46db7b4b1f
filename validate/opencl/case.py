"""Build the OpenCL C of one row, run it at every shape and edge of the row, judge what it wrote."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from validate.host.plain_launch import grid_of
from validate.opencl.device import OPTIONS, BuildFailed, Cpu, Guarded
from validate.opencl.layout import as_opencl, by_value, from_opencl
from validate.oracle.compare import Finding, compare_outputs
from validate.oracle.reference import ReferenceFailed, run_reference
from validate.row.edges import Setting, settings
from validate.row.inputs import Array, draw_inputs, poison
from validate.row.sizes import evaluate, evaluate_all
from validate.statuses import OpenclStatus, RunStatus
from validate.text.formula import evaluate as formula
from validate.text.launches import FORMULA, launches_of, scratch_count, scratch_of

Row = Mapping[str, Any]
NEEDED = (
    *("id", "args", "sizes", "launch", "input_seed", "edge_inputs", "reference", "kernel_name"),
    *("cuda_plain", "plain_args", "plain_launch", "plain_scratch"),
)
"""Columns of a row that a run takes; the plain ones hold OpenCL C and its launches. A row may say
`options` of the compiler."""
_MOST_LOG = 4000


def run_row(row: Row, cpu: Cpu) -> Finding:
    """What a runtime made of a row: `status` is a `validate.statuses.OpenclStatus`."""
    finding = Finding(status=OpenclStatus.AGREES)
    try:
        program = cpu.build(row["cuda_plain"], row.get("options") or OPTIONS)
    except BuildFailed as failed:
        finding.status, finding.reason = OpenclStatus.COMPILE_ERROR, str(failed)[:_MOST_LOG]
        return finding
    for setting in settings(row):
        finding.shapes.append(setting.name)
        try:
            well = _run_setting(row, setting, cpu, program, finding)
        except ReferenceFailed as failed:
            well, finding.status, finding.reason = False, OpenclStatus.REFERENCE_ERROR, str(failed)
        except ValueError as error:
            well, finding.status, finding.reason = False, OpenclStatus.BAD_ROW, str(error)
        if not well:
            finding.reason = f"{finding.reason} at {setting.name}"
            break
    return finding


def _run_setting(row: Row, setting: Setting, cpu: Cpu, program: Any, finding: Finding) -> bool:
    args, sizes = row["args"], setting.sizes
    inputs = draw_inputs(setting.args, sizes, row["input_seed"])
    held = {
        arg["name"]: cpu.put(as_opencl(inputs[arg["name"]], arg))
        for arg in args
        if arg["kind"] == "array"
    }
    _launch_all(row, sizes, inputs, held, cpu, program)
    outputs = {}
    for arg in args:
        name = arg["name"]
        if name not in held:
            continue
        laid, outside = held[name].read()
        if outside is not None:
            finding.status = OpenclStatus.WROTE_OUT_OF_BOUNDS
            finding.reason = f"{name}: byte {outside} was written"
            return False
        if arg["role"] != "in":
            outputs[name] = from_opencl(laid, inputs[name], arg)
        elif laid.tobytes() != held[name].value.tobytes():
            finding.status, finding.reason = OpenclStatus.INPUT_CHANGED, f"{name} was changed"
            return False
    dim = evaluate_all(row["launch"]["dim"], sizes)
    wanted = run_reference(row["reference"], row["kernel_name"], args, dim, inputs)
    if compare_outputs(args, outputs, wanted, finding):
        return True
    if finding.status == RunStatus.WRONG_VALUE:
        finding.status = OpenclStatus.WRONG_VALUE
    return False


def _launch_all(
    row: Row,
    sizes: Mapping[str, int],
    inputs: Mapping[str, Array],
    held: Mapping[str, Guarded],
    cpu: Cpu,
    program: Any,
) -> None:
    given: dict[str, Any] = {}
    for arg, plain in zip(row["args"], row["plain_args"], strict=False):
        name = arg["name"]
        given[plain["name"]] = held[name] if name in held else by_value(inputs[name], arg)
    for plain in row["plain_args"][len(row["args"]) :]:
        given[plain["name"]] = np.array(evaluate(plain["size"], sizes), np.int32)
    for entry in scratch_of(row):
        arg = {"dtype": entry["dtype"], "fields": []}
        scalar = np.dtype(entry["dtype"])
        empty = poison(scalar, (scratch_count(entry, sizes),))
        given[entry["name"]] = cpu.put(as_opencl(empty, arg))
    for launch in launches_of(row):
        grid = grid_of(launch, sizes)
        values = [
            given[n] if n in given else np.array(formula(n.removeprefix(FORMULA), sizes), np.int32)
            for n in launch.args
        ]
        cpu.launch(program, launch.kernel, grid.grid, grid.block, values)
