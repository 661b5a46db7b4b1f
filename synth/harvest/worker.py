"""The child process that imports files and translates their kernels.

Started by ``synth.harvest.supervise``.
It sends one JSON message for what it found and one for each kernel; what the modules print or do
to this process stays here.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import traceback
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

from extract import ExtractError
from synth.codegen.modules import WarpModules
from synth.codegen.translator import CodegenError, Translator
from synth.dataset.settings import Versions
from synth.harvest.args import describe_args, launch_dim
from synth.harvest.factories import call_factories, calls_in
from synth.harvest.find import (
    Found,
    ImportFailed,
    import_file,
    import_package,
    kernels_of,
    last_line,
    made_lines,
    one_line,
    unreached,
)
from synth.harvest.module_order import Built
from synth.harvest.nested import reach_nested
from synth.harvest.places import ModuleFile
from synth.harvest.row import (
    describe,
    extract_alone,
    make_row,
    plain_text,
    same_up_to_helpers,
)
from synth.harvest.run import HarvestRuns, shape_text
from synth.harvest.source import SourceBuilder
from synth.harvest.supervise import LOST_WIRE
from synth.harvest.values import NotSelfContained
from synth.harvest.wire import WireLost, Writer
from synth.rows.maker import Row, module_columns
from validate.statuses import RunStatus

MEMORY_BYTES = 16 << 30
_FILE_BYTES = 1 << 28

_Imported = dict[ModuleFile, tuple[ModuleType, dict[str, Any]]]
"""What was imported, and the values of ``warp.config`` after that."""


class Worker:
    """Harvests files of one package, or a single file."""

    def __init__(self, wire: Writer, order: Mapping[str, Any]) -> None:
        self._wire = wire
        self._process = os.getpid()
        files = [ModuleFile(**{**f, **_paths(f)}) for f in order["files"]]
        self._files = files
        self._path = [*{str(f.root): None for f in files}, *sys.path, *order["homes"]]
        if any(not _is_package_file(f) for f in files):
            self._path += list({str(f.path.parent): None for f in files})
        self._modules = WarpModules()
        self._translator = Translator()
        headers, run_s = Path(order["headers"]), order["run_s"]
        self._runs = HarvestRuns(self._modules, headers, run_s) if run_s else None
        self._versions = Versions.installed()
        self._module = ""

    def harvest(self) -> None:
        """Import all, then find and answer for the kernels of each file that is wanted."""
        sys.path[:] = self._path
        imported: _Imported = {}
        with self._modules.recorded() as recorded:
            self._send(event="importing", module=self._files[0].module)
            import_package(self._files[0])
            self._leave_forks()
            settings = self._modules.settings()
            for file in self._files:
                self._send(event="importing", module=file.module)
                try:
                    module = import_file(file)
                except ImportFailed as failed:
                    self._leave_forks()
                    self._send(event="failed", reason=str(failed), missing=failed.missing)
                    continue
                finally:
                    self._leave_forks()
                    after = self._modules.settings()
                    self._modules.restore_settings(settings)
                imported[file] = (module, after)
            reasons = self._reach(imported, recorded)
            for file, (_, after) in imported.items():
                if file.wanted:
                    self._modules.restore_settings(after)
                    self._answer_for(file, recorded, reasons[file])
        self._send(event="finished")

    def _leave_forks(self) -> None:
        """End what a module forked and let return from its import."""
        if os.getpid() != self._process:
            os._exit(0)

    def _reach(self, imported: _Imported, recorded: list[Any]) -> dict[ModuleFile, dict[int, str]]:
        """Make the kernels that imports did not, in all modules alike, whoever answers for them: a
        function may make another module's. Returns why by first line for those not made."""
        calls = calls_in([(f.path.read_bytes(), vars(m)) for f, (m, _) in imported.items()])
        reasons = {}
        for file, (module, after) in imported.items():
            self._send(event="importing", module=file.module)
            self._modules.restore_settings(after)
            found = reach_nested(file.path, vars(module), made_lines(file.path, recorded))
            made = made_lines(file.path, recorded)
            found |= call_factories(file.path.read_bytes(), vars(module), made, calls)
            self._leave_forks()
            reasons[file] = found
        return reasons

    def _answer_for(
        self, file: ModuleFile, recorded: list[Any], reasons: Mapping[int, str]
    ) -> None:
        self._module = file.module
        self._send(event="finding", module=file.module)
        found, generic = kernels_of(file.path, recorded)
        left = [*generic, *unreached(file.path, recorded, reasons)]
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
            return built, None, f"its text alone does not translate: {last_line(error.message)}"
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
        self._wire.send(**message)


def _shifted(
    line_map: tuple[tuple[int, int], ...], adj: Any, built: Built
) -> tuple[tuple[int, int], ...]:
    """The lines of the file as lines of ``python``; lines before the body have none."""
    first = adj.fun_lineno + adj.tree.body[0].body[0].lineno - 1
    last = len(built.python.splitlines())
    moved = [(line - first + built.body_line, cuda) for line, cuda in line_map if line >= first]
    return tuple((line, cuda) for line, cuda in moved if line <= last)


def _paths(file: Mapping[str, Any]) -> dict[str, Path]:
    return {"path": Path(file["path"]), "root": Path(file["root"])}


def _is_package_file(file: ModuleFile) -> bool:
    return (file.path.parent / "__init__.py").is_file()


def _limit() -> None:
    """Bound memory and files."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (_FILE_BYTES, _FILE_BYTES))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))


def work(wire: Writer, order: Path) -> NoReturn:
    """Do what the file ``order`` says, answer through ``wire``, and end this process."""
    _limit()
    try:
        try:
            Worker(wire, json.loads(order.read_text())).harvest()
        except WireLost:
            raise
        except Exception:  # noqa: BLE001 - a bug of ours, which the parent raises
            wire.send(event="bug", trace=traceback.format_exc())
    except WireLost:
        os._exit(LOST_WIRE)
    except BrokenPipeError:
        os._exit(0)
    # not the interpreter's own end: threads and exit handlers of the module could hold it up
    os._exit(0)
