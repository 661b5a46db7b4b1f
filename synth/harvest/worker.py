"""The child process that imports one file and translates its kernels.

Started by ``synth.harvest.process``.
It sends one JSON message for what it found and one for each kernel; what the module prints or does
to this process stays here.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import signal
import sys
import traceback
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from extract import ExtractError
from synth.codegen.modules import WarpModules
from synth.codegen.translator import CodegenError, Translator
from synth.dataset.settings import Versions
from synth.harvest.args import describe_args, launch_dim
from synth.harvest.find import (
    Found,
    ImportFailed,
    import_file,
    kernels_of,
    made_lines,
    module_name,
    one_line,
    unreached,
)
from synth.harvest.module_order import Built
from synth.harvest.nested import reach_nested
from synth.harvest.row import (
    describe,
    extract_alone,
    make_row,
    plain_text,
    same_up_to_helpers,
)
from synth.harvest.run import HarvestRuns, shape_text
from synth.harvest.source import SourceBuilder
from synth.harvest.values import NotSelfContained
from synth.rows.maker import Row, module_columns
from validate.statuses import RunStatus

MEMORY_BYTES = 16 << 30
_FILE_BYTES = 1 << 28
_PR_SET_PDEATHSIG = 1


class Worker:
    """Harvests one file."""

    def __init__(self, connection: Connection, folder: Path, path: Path, run_s: float) -> None:
        self._connection = connection
        self._path = path
        self._modules = WarpModules()
        self._translator = Translator()
        self._runs = HarvestRuns(self._modules, folder, run_s) if run_s else None
        self._versions = Versions.installed()
        self._module = module_name(path)[0]

    def harvest(self) -> None:
        """Import, find, and answer for each kernel."""
        self._send(event="started")
        try:
            with self._modules.recorded() as recorded:
                module = import_file(self._path)
                made = made_lines(self._path, recorded)
                reasons = reach_nested(self._path, vars(module), made)
        except ImportFailed as failed:
            self._send(event="failed", reason=str(failed))
            return
        found, generic = kernels_of(self._path, recorded)
        left = [*generic, *unreached(self._path, recorded, reasons)]
        self._send(event="found", kernels=[[f.name, f.line] for f in found], left=left)
        for index, each in enumerate(found):
            self._send(event="kernel", **self._kernel(index, each))
        self._send(event="done")

    def _kernel(self, index: int, found: Found) -> dict[str, Any]:
        """How far a kernel came: ``stage`` is the step that failed, and ``reason`` says why."""
        try:
            generated = self._modules.generate(found.kernel, found.name)
        except Exception as error:  # noqa: BLE001 - Warp raises anything on a kernel it refuses
            return {"stage": "generate", "reason": one_line(error)}
        try:
            module = extract_alone(plain_text(generated), found.name)
        except (ExtractError, ValueError) as error:
            return {"stage": "extract", "reason": one_line(error)}
        built, ours, reason = self._self_contained(found, module)
        if ours is None:
            line_map = _shifted(module.kernels[0].line_map, found.kernel.adj, built)
            cuda = module_columns(module, line_map)
        else:
            cuda = module_columns(ours, ours.kernels[0].line_map)
        row = make_row(
            name=found.name,
            python=built.python,
            description=describe(found.kernel, found.name, self._module),
            cuda=cuda,
            args=describe_args(found.kernel, self._modules, cuda["cuda_forward"]),
            dim=launch_dim(found.kernel),
            block_dim=int(found.kernel.module.options["block_dim"]),
            provenance=self._provenance(index, found, ours is not None),
        )
        no_run = self._run(row, found) if self._runs is not None else "not asked for"
        return {"stage": "", "reason": "", "row": row, "open": reason, "no_run": no_run}

    def _self_contained(self, found: Found, module: Any) -> tuple[Built, Any, str]:
        """The text for ``python``; its own translation when that is the same; else why not."""
        try:
            built = SourceBuilder(self._modules).build(found.kernel, found.name)
        except NotSelfContained as reason:
            alone = SourceBuilder(self._modules).build_alone(found.kernel, found.name)
            return alone, None, str(reason)
        try:
            text = self._translator.translate(built.python, found.name)
        except CodegenError as error:
            said = error.message.splitlines()[0]
            return built, None, f"its text alone does not translate: {said}"
        ours = extract_alone(text, found.name)
        if not same_up_to_helpers(module, ours):
            return built, None, "its text alone translates to other CUDA"
        return built, ours, ""

    def _run(self, row: Row, found: Found) -> str:
        assert self._runs is not None
        reason = self._runs.run(row, found.kernel)
        if not reason:
            row["checks"]["run_forward"] = RunStatus.AGREES
            row["checks"]["shapes"] = [shape_text(row)]
        return reason

    def _provenance(self, index: int, found: Found, self_contained: bool) -> dict[str, Any]:
        return {
            "seed": 0,
            "index": index,
            "attempt": 0,
            "pairsmith": self._versions.pairsmith,
            "warp": self._versions.warp,
            "nvrtc": None,
            "module": self._module,
            "line": found.line,
            "self_contained": self_contained,
        }

    def _send(self, **message: Any) -> None:
        self._connection.send_bytes(json.dumps(message).encode())


def _shifted(
    line_map: tuple[tuple[int, int], ...], adj: Any, built: Built
) -> tuple[tuple[int, int], ...]:
    """The lines of the file as lines of ``python``; lines before the body have none."""
    first = adj.fun_lineno + adj.tree.body[0].body[0].lineno - 1
    last = len(built.python.splitlines())
    moved = [(line - first + built.body_line, cuda) for line, cuda in line_map if line >= first]
    return tuple((line, cuda) for line, cuda in moved if line <= last)


def _limit() -> None:
    """Bound memory and files, and end when the parent is killed."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (_FILE_BYTES, _FILE_BYTES))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))


def main() -> None:
    """Arguments: number of a socket, a folder for headers, the file, seconds a run (0: none)."""
    _limit()
    descriptor, folder, path, run_s = sys.argv[1:5]
    connection = Connection(int(descriptor))
    try:
        Worker(connection, Path(folder), Path(path), float(run_s)).harvest()
    except Exception:  # noqa: BLE001 - a bug of ours, which the parent raises
        bug = {"event": "bug", "trace": traceback.format_exc()}
        connection.send_bytes(json.dumps(bug).encode())
    # not the interpreter's own end: threads and exit handlers of the module could hold it up
    os._exit(0)
