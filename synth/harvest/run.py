"""Run evidence for a hand-written kernel: its stored CUDA text against Warp's own CPU device.

There is no reference, so two ways from the same inputs are compared: the row's text, compiled as
C++ and called, and ``wp.launch`` of the kernel that it came from. Inputs are guesses, so a kernel
may well read or write outside its arrays, hang or crash: each runs in a process forked for it.
"""

from __future__ import annotations

import json
import os
import re
import select
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from synth.codegen.modules import WarpModules
from synth.harvest.args import can_be_drawn
from synth.harvest.find import one_line
from synth.harvest.guesses import Answer, Guess, search
from synth.rows.maker import Row
from validate.host.alone import LoneRun, build, prepare
from validate.host.launch import Entry
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
        answer = in_a_fork(
            lambda: self._search(row, kernel), self._timeout_s, {"reason": "run: no result in time"}
        )
        if "args" in answer:
            row["args"], row["launch"]["dim"] = answer["args"], answer["dim"]
        return str(answer["reason"])

    def _search(self, row: Row, kernel: Any) -> Answer:
        """Runs in the fork: compile once, and try each guess in a fork of that."""
        entry = build(row, self._folder)

        def attempt(guess: Guess) -> Answer:
            tried = {**row, "args": guess.args, "launch": {**row["launch"], "dim": guess.dim}}
            return in_a_fork(lambda: _compare(tried, kernel, self._modules, entry), None)

        reason, guess = search(row["args"], row["launch"]["dim"], attempt)
        return {"reason": reason, "args": guess.args, "dim": guess.dim}


def in_a_fork(
    work: Callable[[], Answer], timeout_s: float | None, late: Answer | None = None
) -> Answer:
    """What the work answers in a process forked for it; ``late`` when that takes too long.

    A crash and an exception are answers too: only a ``reason``, and no ``trouble``.
    """
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        os.setpgid(0, 0)
        _answer_from(work, writer)
    os.close(writer)
    try:
        data = _read_all(reader, timeout_s)
    finally:
        os.close(reader)
    if data is None:
        os.killpg(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if data is None:
        return dict(late or {})
    if not data:
        code = os.waitstatus_to_exitcode(status)
        how = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        return {"reason": f"run: crashed ({how})", "trouble": []}
    found: Answer = json.loads(data)
    return found


def _answer_from(work: Callable[[], Answer], writer: int) -> None:
    """Runs in the fork and never returns."""
    try:
        answer = work()
    except BaseException as error:  # noqa: BLE001 - the fork ends here, whatever came
        answer = {"reason": f"run: {one_line(error)}", "trouble": []}
    with open(writer, "w") as stream:
        json.dump(answer, stream)
    os._exit(0)


def _read_all(reader: int, timeout_s: float | None) -> bytes | None:
    """All that comes until the other end closes; None when that is too late."""
    end_s = None if timeout_s is None else time.monotonic() + timeout_s
    data = b""
    while True:
        left_s = None if end_s is None else max(0.0, end_s - time.monotonic())
        if not select.select([reader], [], [], left_s)[0]:
            return None
        part = os.read(reader, 1 << 16)
        if not part:
            return data
        data += part


def _compare(row: Row, kernel: Any, modules: WarpModules, entry: Entry) -> Answer:
    ours = LoneRun(row, entry)
    if ours.trouble is not None:
        status, place = ours.trouble
        return {"reason": f"run: {status} with guessed inputs", "trouble": [status, place]}
    if not ours.changed:
        return {"reason": "run: changed nothing with guessed inputs", "trouble": []}
    modules.launch_alone(kernel, ours.dim, _warp_inputs(ours, kernel, modules))
    return {"reason": _VERDICTS[ours.likeness()], "trouble": []}


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
