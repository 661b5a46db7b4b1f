"""Run evidence for a hand-written kernel: its stored CUDA text against Warp's own CPU device.

There is no reference, so two ways from the same inputs are compared: the row's text, compiled as
C++ and called, and ``wp.launch`` of the kernel that it came from. Inputs are guesses, so a kernel
may well read or write outside its arrays, hang or crash: each runs in a process forked for it.
"""

from __future__ import annotations

import os
import re
import select
import signal
from pathlib import Path
from typing import Any

from synth.codegen.modules import WarpModules
from synth.harvest.args import can_be_drawn
from synth.harvest.find import one_line
from synth.rows.maker import Row
from validate.host.alone import LoneRun, prepare
from validate.row.sizes import describe, own_sizes
from validate.statuses import Likeness

# What differs between a text for the GPU and the CPU device, or takes ids of objects as numbers.
_NOT_FOR_A_RUN = (
    ("tiles or shared memory", r"\bwp::(?:adj_)?tile_(?!shared_storage)|__shared__|__syncthreads"),
    ("geometry or textures", r"wp::(?:mesh|bvh|volume|hash_grid|texture|closest_point_|marching)"),
    ("atomics on 16 bits or inline PTX", r"\basm\b"),
    ("accesses that the race check does not see", r"_slot\(|\bwp::lower_bound\("),
    ("CUDA intrinsics", r"\b__(?!launch|global|restrict|device|host|inline)\w+\("),
)
_VERDICTS = {
    Likeness.AGREES: "",
    Likeness.DIFFERS: "run: differs from Warp's CPU device",
    Likeness.OUT_OF_BOUNDS: "run: Warp's own run wrote out of bounds with guessed inputs",
    Likeness.ONLY_NAN: "run: gave NaN alone with guessed inputs",
}


def no_run_reason(row: Row) -> str:
    """Why no inputs can be guessed or no run would mean anything; "" when a run can be tried."""
    if not row["args"]:
        return "no arguments"
    if not can_be_drawn(row["args"]):
        return "arguments of which only the type is known"
    if all(arg["role"] == "in" for arg in row["args"]):
        return "writes to no array"
    text = row["cuda_helpers"] + row["cuda_forward"]
    return next((f"uses {what}" for what, p in _NOT_FOR_A_RUN if re.search(p, text)), "")


class HarvestRuns:
    """Runs kernels of this process in forks of it; ``folder`` keeps what is compiled."""

    def __init__(self, modules: WarpModules, folder: Path, timeout_s: float) -> None:
        self._modules = modules
        self._folder = folder
        self._timeout_s = timeout_s
        self._warm = False

    def run(self, row: Row, kernel: Any) -> str:
        """Why the row has no run evidence; "" when both ways gave the same outputs."""
        reason = no_run_reason(row)
        if reason:
            return reason
        if not self._warm:
            prepare(self._folder, row["launch"]["block_dim"])
            self._modules.prepare_cpu()
            self._warm = True
        return self._in_a_fork(row, kernel)

    def _in_a_fork(self, row: Row, kernel: Any) -> str:
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            self._child(row, kernel, writer)
        os.close(writer)
        try:
            return _answer(reader, child, self._timeout_s)
        finally:
            os.close(reader)

    def _child(self, row: Row, kernel: Any, writer: int) -> None:
        """Runs in the fork and never returns."""
        try:
            reason = _compare(row, kernel, self._modules, self._folder)
        except BaseException as error:  # noqa: BLE001 - the fork ends here, whatever came
            reason = f"run: {one_line(error)}"
        os.write(writer, (reason or "agrees").encode()[:4000])
        os._exit(0)


def _answer(reader: int, child: int, timeout_s: float) -> str:
    ready, _, _ = select.select([reader], [], [], timeout_s)
    if not ready:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        return "run: no result in time"
    answer = os.read(reader, 4096).decode()
    _, status = os.waitpid(child, 0)
    if not answer:
        code = os.waitstatus_to_exitcode(status)
        return f"run: crashed ({signal.Signals(-code).name if code < 0 else f'exit code {code}'})"
    return "" if answer == "agrees" else answer


def _compare(row: Row, kernel: Any, modules: WarpModules, folder: Path) -> str:
    ours = LoneRun(row, folder)
    if ours.trouble is not None:
        return f"run: {ours.trouble[0]} with guessed inputs"
    if not ours.changed:
        return "run: changed nothing with guessed inputs"
    modules.launch_alone(kernel, ours.dim, _warp_inputs(ours, kernel, modules))
    return _VERDICTS[ours.likeness()]


def shape_text(row: Row) -> str:
    """The shape of the run, as ``checks.shapes`` says it."""
    return describe(own_sizes(row["sizes"]))


def _warp_inputs(run: LoneRun, kernel: Any, modules: WarpModules) -> list[Any]:
    """What Warp is to launch the kernel with: its arrays lie in the run's ``other`` memory."""
    found = []
    for arg, parameter in zip(run.args, kernel.adj.args, strict=True):
        value = run.inputs[arg["name"]]
        if arg["kind"] == "array":
            found.append(
                modules.warp.array(
                    ptr=run.other.address(arg["name"]),
                    dtype=parameter.type.dtype,
                    shape=value.shape[: len(arg["shape"])],
                    device="cpu",
                )
            )
        elif arg["kind"] == "struct":
            found.append(_struct_value(parameter.type, value))
        else:
            found.append(value.item() if value.ndim == 0 else _composite(parameter.type, value))
    return found


def _struct_value(struct: Any, value: Any) -> Any:
    instance = struct()
    for label, var in struct.vars.items():
        part = value[label]
        setattr(instance, label, part.item() if part.ndim == 0 else _composite(var.type, part))
    return instance


def _composite(kind: Any, value: Any) -> Any:
    return kind(*value.reshape(-1).tolist())
