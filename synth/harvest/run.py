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

import numpy as np

from synth.codegen.modules import WarpModules
from synth.harvest.args import can_be_drawn
from synth.harvest.find import one_line
from synth.rows.maker import Row
from validate.host import clang
from validate.host.launch import launch, load_entry
from validate.host.memory import Arena, Watch, arrays_of, damage
from validate.oracle.compare import measure
from validate.row.inputs import draw_inputs
from validate.row.sizes import describe, evaluate_all
from validate.text.warp_host import translation_unit

# What differs between a text for the GPU and the CPU device, or takes ids of objects as numbers.
_NOT_FOR_A_RUN = (
    ("tiles or shared memory", r"\bwp::(?:adj_)?tile_(?!shared_storage)|__shared__|__syncthreads"),
    ("geometry or textures", r"wp::(?:mesh|bvh|volume|hash_grid|texture|closest_point_|marching)"),
    ("atomics on 16 bits or inline PTX", r"\basm\b"),
    ("accesses that the race check does not see", r"_slot\(|\bwp::lower_bound\("),
    ("CUDA intrinsics", r"\b__(?!launch|global|restrict|device|host|inline)\w+\("),
)
_RTOL, _ATOL = 1e-4, 1e-6


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
            clang.start()
            clang.make_precompiled_header(
                clang.default_include_dir(), self._folder, row["launch"]["block_dim"]
            )
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
    sizes = {size["symbol"]: size["value"] for size in row["sizes"]}
    dim = evaluate_all(row["launch"]["dim"], sizes)
    inputs = draw_inputs(row["args"], sizes, row["input_seed"])
    arrays = arrays_of(row["args"], inputs)
    ours, theirs = Arena(arrays), Arena(arrays)
    watch = Watch(ours)
    _call_text(row, ours, dim, inputs, folder, watch)
    trouble = damage(row["args"], ours, watch)
    if trouble is not None:
        return f"run: {trouble[0]} with guessed inputs"
    if not ours.changed(list(arrays)):
        return "run: changed nothing with guessed inputs"
    modules.launch_alone(kernel, dim, _warp_inputs(row, kernel, theirs, inputs, modules))
    if damage(row["args"], theirs) is not None:
        return "run: Warp's own run wrote out of bounds with guessed inputs"
    return _difference(row, ours, theirs)


def shape_text(row: Row) -> str:
    """The shape of the run, as ``checks.shapes`` says it."""
    return describe({size["symbol"]: size["value"] for size in row["sizes"]})


def _call_text(
    row: Row,
    arena: Arena,
    dim: tuple[int, ...],
    inputs: dict[str, Any],
    folder: Path,
    watch: Watch,
) -> None:
    name = f"run_{os.getpid()}"
    path = folder / f"{name}.o"
    try:
        text = translation_unit([{**row, "cuda_backward": None}])
        clang.build(text, path, clang.default_include_dir(), folder)
        clang.load(path, name)
    finally:
        path.unlink(missing_ok=True)
        path.with_suffix(".cpp").unlink(missing_ok=True)
    launch(load_entry(name, "forward", 0), dim, arena.parameters(row["args"], inputs), watch)


def _warp_inputs(
    row: Row, kernel: Any, arena: Arena, inputs: dict[str, Any], modules: WarpModules
) -> list[Any]:
    found = []
    for arg, parameter in zip(row["args"], kernel.adj.args, strict=True):
        value = inputs[arg["name"]]
        if arg["kind"] == "array":
            found.append(
                modules.warp.array(
                    ptr=arena.address(arg["name"]),
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


def _difference(row: Row, ours: Arena, theirs: Arena) -> str:
    """Why the outputs are no evidence: one differs by more than rounding, or none is a number."""
    numbers = False
    for arg in row["args"]:
        if arg["role"] == "in":
            continue
        got, want = ours.array(arg["name"]), theirs.array(arg["name"])
        if got.dtype.kind == "f":
            # the bits of a NaN depend on the order of operands, and compilers may swap these
            both = np.isnan(got) & np.isnan(want)
            got[both] = want[both] = 0.0
            numbers |= not both.all()
        else:
            numbers = True
        if got.tobytes() == want.tobytes():
            continue
        if measure(got, want, _RTOL, _ATOL).mismatch is not None:
            return "run: differs from Warp's CPU device"
    return "" if numbers else "run: gave NaN alone with guessed inputs"
