"""``harvest``: pairs from Warp modules that people wrote.

The files of a package are imported together in a child process, any other alone; what the children
find is sorted, checked, compiled and written here, in an order that depends on the files alone.
"""

from __future__ import annotations

import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from synth.errors import SettingsError
from synth.harvest.lacking import distributions_for
from synth.harvest.places import ModuleFile, module_of, modules_called
from synth.harvest.process import Harvest, Terms, harvest_files
from synth.harvest.row import text_key
from synth.reasons import HarvestStep
from synth.rows.maker import Row
from validate.nvrtc.compiler import CompileRunner
from validate.nvrtc.program import nvrtc_version
from validate.process.machine import require_limits
from validate.row.archs import DEFAULT_ARCH, check_archs
from validate.row.schema import check_row

STEPS = tuple(step for step in HarvestStep if step is not HarvestStep.MODULE)
_COMPILED_AT_ONCE = 256


@dataclass(frozen=True)
class Options:
    """What a user may choose.

    Attributes:
        per_module: most rows of one module; 0 for all.
        timeout_s: how long a module's process may give no sign.
        run: also run kernels on the host.
        workers: files harvested at a time; no row depends on it.
        archs: what the CUDA text is compiled for.
    """

    per_module: int = 50
    timeout_s: float = 120.0
    run: bool = True
    workers: int = 1
    archs: tuple[str, ...] = (DEFAULT_ARCH,)

    def check(self) -> None:
        """:class:`SettingsError` with one line for a value that cannot be met."""
        if self.per_module < 0:
            raise SettingsError(f"--per-module is {self.per_module}; give 0 or more")
        if not self.timeout_s > 0:
            raise SettingsError(f"--timeout is {self.timeout_s:g}; give seconds above 0")
        if self.workers < 1:
            raise SettingsError(f"workers is {self.workers}; give at least one")
        try:
            check_archs(self.archs)
        except ValueError as error:
            raise SettingsError(str(error)) from None


@dataclass
class Harvested:
    """What a harvest gave.

    Attributes:
        rows: in order of modules, lines and creation.
        steps: kernels that came through each of ``STEPS``, by module.
        left: what is no row: ``module``, ``kernel``, ``line``, ``step`` it failed, ``reason``.
        open: why rows are not self-contained, counted.
        no_run: why rows have no run evidence, counted.
        failed: (module, reason) of files that could not be harvested to their end.
        lacking: modules that imports lacked, and the names to install them by, where known.
    """

    rows: list[Row] = field(default_factory=list)
    steps: dict[str, Counter[str]] = field(default_factory=dict)
    left: list[dict[str, Any]] = field(default_factory=list)
    open: Counter[str] = field(default_factory=Counter)
    no_run: Counter[str] = field(default_factory=Counter)
    failed: list[tuple[str, str]] = field(default_factory=list)
    lacking: Mapping[str, str | None] = field(default_factory=dict)

    def total(self, step: str) -> int:
        """Kernels of all modules that came through a step."""
        return sum(counts[step] for counts in self.steps.values())


def harvest(
    files: Sequence[Path],
    options: Options,
    progress: Callable[[str], None] = lambda _m: None,
    modules: Sequence[str] = (),
) -> Harvested:
    """Harvest files, and modules or packages by their dotted names.

    ``progress`` hears the name of each module that is done. The files' code is executed. Raises
    :class:`SettingsError` for a request that cannot be met, ``validate.errors.CompileUnavailable``
    when there is no NVRTC, ``validate.errors.MachineFault`` where a limit of this shell is too low
    for children, RuntimeError for a bug of ours.
    """
    options.check()
    sources = sources_of(files, modules)
    nvrtc_version()  # its absence is said before the work, not after it
    require_limits()
    taken = _Taken(options, Harvested())
    jobs = list(_jobs(sources, options.workers))
    with tempfile.TemporaryDirectory(prefix="pairsmith-headers-") as headers:
        terms = Terms(Path(headers), options.run, options.timeout_s)
        with ThreadPoolExecutor(options.workers) as pool:
            try:
                waiting = [pool.submit(harvest_files, job, terms, progress) for job in jobs]
                found = [each for done in waiting for each in done.result()]
            finally:  # on Ctrl-C and bugs the children end at once
                terms.stop.set()
                pool.shutdown(cancel_futures=True)
    for each in sorted(found, key=lambda h: h.module):
        taken.add(each)
    lacking = [each.missing for each in found if each.missing]
    taken.result.lacking = distributions_for(lacking, sources)
    _compile(taken.result, options)
    return _count(taken.result)


def sources_of(files: Sequence[Path], modules: Sequence[str]) -> list[ModuleFile]:
    """Each file once, in order of the modules. Raises :class:`SettingsError`."""
    if not files and not modules:
        raise SettingsError("name at least one Python file, or a module with --module")
    for path in files:
        if not path.is_file():
            raise SettingsError(f"{path} is no file")
        if path.suffix != ".py":
            raise SettingsError(f"{path} is no Python file: its name does not end in .py")
    named = [module_of(path) for path in files]
    found = {file.path: file for name in modules for file in modules_called(name)}
    for file in named:
        known = found.get(file.path, file)
        found[file.path] = replace(known, wanted=True)
    return sorted(found.values())


def _jobs(sources: Sequence[ModuleFile], workers: int) -> Iterator[list[ModuleFile]]:
    """What each process is to do: the files of a package, all imported and a share answered for."""
    units: dict[tuple[Any, ...], list[ModuleFile]] = defaultdict(list)
    for file in sources:
        units[file.unit].append(file)
    for unit in units.values():
        wanted = [file for file in unit if file.wanted]
        for share in range(min(workers, len(wanted))):
            mine = set(wanted[share::workers])
            yield [replace(file, wanted=file in mine) for file in unit]


class _Taken:
    """Takes in the harvest of one module after the other."""

    def __init__(self, options: Options, result: Harvested) -> None:
        self._options = options
        self.result = result
        self._ids: set[str] = set()
        self._texts: set[str] = set()

    def add(self, harvest: Harvest) -> None:
        found = len(harvest.kernels) + len(harvest.left)
        counts: Counter[str] = Counter({HarvestStep.FOUND: found})
        self.result.steps[harvest.module] = counts
        if harvest.failed:
            self.result.failed.append((harvest.module, harvest.failed))
            self._leave(harvest.module, "", None, HarvestStep.MODULE, harvest.failed)
        for name, reason in harvest.left:
            self._leave(harvest.module, name, None, HarvestStep.FOUND, reason)
        for (name, line), answer in zip(harvest.kernels, harvest.answers, strict=False):
            step, reason = self._step(answer, counts)
            if reason:
                self._leave(harvest.module, name, line, step, reason)
            else:
                self.result.rows.append(answer["row"])
                self._note(answer)
        for name, line in harvest.kernels[len(harvest.answers) :]:
            self._leave(
                harvest.module, name, line, HarvestStep.GENERATED, "its module's process ended"
            )

    def _step(self, answer: dict[str, Any], counts: Counter[str]) -> tuple[HarvestStep, str]:
        """The step at which a kernel is left out and why; of a row the next step and an empty
        reason."""
        if answer["stage"] == "generate":
            return HarvestStep.GENERATED, answer["reason"]
        counts[HarvestStep.GENERATED] += 1
        if answer["stage"] == "extract":
            return HarvestStep.EXTRACTED, answer["reason"]
        counts[HarvestStep.EXTRACTED] += 1
        row = answer["row"]
        key = text_key(row)
        if key in self._texts:
            return HarvestStep.DISTINCT, "same CUDA as another kernel"
        if row["id"] in self._ids:
            return HarvestStep.DISTINCT, "same python, other CUDA (closure or generic)"
        problems = check_row(row)
        if problems:
            return HarvestStep.DISTINCT, f"schema: {problems[0]}"
        self._texts.add(key)
        self._ids.add(row["id"])
        counts[HarvestStep.DISTINCT] += 1
        if self._options.per_module and counts[HarvestStep.KEPT] >= self._options.per_module:
            return HarvestStep.KEPT, f"more than {self._options.per_module} of its module"
        counts[HarvestStep.KEPT] += 1
        return HarvestStep.COMPILED, ""

    def _note(self, answer: dict[str, Any]) -> None:
        if answer["open"]:
            self.result.open[answer["open"]] += 1
        if answer["no_run"]:
            self.result.no_run[answer["no_run"]] += 1

    def _leave(
        self, module: str, name: str, line: int | None, step: HarvestStep, reason: str
    ) -> None:
        self.result.left.append(
            {"module": module, "kernel": name, "line": line, "step": step, "reason": reason}
        )


def _compile(result: Harvested, options: Options) -> None:
    """Keep the rows that compile for every architecture."""
    if not result.rows:
        return
    nvrtc = nvrtc_version()
    kept = []
    with CompileRunner(archs=options.archs) as runner:
        for batch in _batches(result.rows):
            for row, found in zip(batch, runner.compile(batch), strict=True):
                origin = row["provenance"]
                if found.status != "compiles":
                    result.left.append(
                        {
                            "module": origin["module"],
                            "kernel": row["kernel_name"],
                            "line": origin["line"],
                            "step": HarvestStep.COMPILED,
                            "reason": f"{found.status}: {_first_line(found.log)}",
                        }
                    )
                    continue
                row["checks"]["compile_archs"] = list(found.archs)
                origin["nvrtc"] = nvrtc
                kept.append(row)
    result.rows = kept


def _batches(rows: list[Row]) -> Iterator[list[Row]]:
    for start in range(0, len(rows), _COMPILED_AT_ONCE):
        yield rows[start : start + _COMPILED_AT_ONCE]


def _first_line(log: str) -> str:
    return next((line.strip() for line in log.splitlines() if "error" in line), log[:200].strip())


def _count(result: Harvested) -> Harvested:
    by_module: dict[str, list[Row]] = defaultdict(list)
    for row in result.rows:
        by_module[row["provenance"]["module"]].append(row)
    for module, counts in result.steps.items():
        rows = by_module[module]
        counts[HarvestStep.COMPILED] = len(rows)
        counts[HarvestStep.SELF_CONTAINED] = sum(
            row["provenance"]["self_contained"] for row in rows
        )
        counts[HarvestStep.RUN] = sum(row["checks"]["run_forward"] is not None for row in rows)
    result.left.sort(key=lambda e: (e["module"], e["line"] or 0, e["kernel"], e["reason"]))
    return result
