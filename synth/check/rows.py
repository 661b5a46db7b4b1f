"""The checks of a stored row, from the cheapest to the run; the first failure is its reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from synth.check.device_run import DeviceRunner
from synth.codegen.translator import Translator, check_warp_version
from synth.dataset.headers import headers_of
from synth.dataset.placement import split_of
from synth.dataset.settings import STRUCTURE_CAP
from synth.errors import UnsupportedWarpError
from synth.harvest.check import harvested_problem, harvested_split
from synth.rows.gradients import Gradient, checked_gradients
from synth.rows.maker import Row
from synth.rows.remake import differing_columns, retranslated, retranslated_difference
from synth.rows.runners import Shown, TextRunners
from validate.host.runner import RunResult
from validate.nvrtc.compiler import CompileResult
from validate.nvrtc.program import nvrtc_version
from validate.row.archs import DEFAULT_ARCH
from validate.row.claims import contradictions
from validate.row.schema import HARVESTED, check_row

_ORIGIN = {
    "pairsmith": "pairsmith version",
    "warp": "warp version",
    "nvrtc": "nvrtc version",
}
"""Entries of ``provenance`` and what the manifest calls them."""

Reasons = dict[int, str]
"""Why a row is wrong, by its position in the batch."""


class RowChecker:
    """Checks batches of rows at a level; keeps what duplicates and caps need, and children."""

    def __init__(
        self, out: Path, verify: str, archs: tuple[str, ...], claimed: Mapping[str, Any]
    ) -> None:
        """``archs`` are those to compile for, by default what rows claim; ``claimed`` is the
        shape in the dataset's manifest, empty without one."""
        self.verify = verify
        self.archs = archs
        self.claimed = claimed
        self.ids: set[str] = set()
        self.renames: set[str] = set()
        self.structures: Counter[str] = Counter()
        self.translators: dict[bool, Translator] = {}
        self.runners = TextRunners(headers_of(out))
        self.warp = version("warp-lang")
        self.device: DeviceRunner | None = None

    def close(self) -> None:
        """End the child processes."""
        self.runners.close()
        if self.device is not None:
            self.device.close()

    def reasons(self, batch: Sequence[tuple[str, Row]]) -> Reasons:
        """Why rows, given with their splits, are wrong; rows that pass do not occur."""
        found: Reasons = {}
        for position, (split, row) in enumerate(batch):
            if reason := self._text_problem(split, row):
                found[position] = reason
        rows = [row for _, row in batch]
        steps: dict[str, list[Callable[[Sequence[Row]], list[str]]]] = {
            "text": [],
            "compile": [self._compile],
            "run": [self._retranslate, self._run, self._compile],
        }
        for step in steps[self.verify]:
            left = [position for position in range(len(rows)) if position not in found]
            for position, reason in zip(left, step([rows[p] for p in left]), strict=True):
                if reason:
                    found[position] = reason
        return found

    def not_reproduced(self, row: Row) -> bool:
        """Whether claims of a row cannot be repeated: it was harvested, or made by others."""
        origin = row["provenance"]
        others = origin["warp"] != self.warp or origin["pairsmith"] != version("pairsmith")
        compiled = self.verify != "text" and origin["nvrtc"] not in (None, nvrtc_version())
        return row["category"] == HARVESTED or others or compiled

    def _text_problem(self, split: str, row: Row) -> str:
        """Why a row is wrong before anything of it is executed; an empty string when it is not."""
        if row.get("category") == HARVESTED:
            return self._harvested_problem(split, row)
        problems = check_row(row)
        if problems:
            return "; ".join(problems)
        difference, rename = differing_columns(row)
        if difference:
            return difference
        if problems := contradictions(row):
            return "; ".join(problems)
        self.structures[row["structure"]] += 1
        repeated = row["id"] in self.ids or rename in self.renames
        self.ids.add(row["id"])
        self.renames.add(rename)
        if repeated:
            return "another row is equal up to names"
        if split_of(row["structure"]) != split:
            return f"its structure belongs in the split {split_of(row['structure'])}"
        if self.structures[row["structure"]] > STRUCTURE_CAP:
            return f"more than {STRUCTURE_CAP} rows share its structure"
        return self._missing_evidence(row)

    def _harvested_problem(self, split: str, row: Row) -> str:
        """The same for a row that no program of ours makes again."""
        if self.claimed and "per_module" not in self.claimed:
            return "a harvested row in a dataset that was generated"
        problem = harvested_problem(row) or "; ".join(contradictions(row))
        if problem:
            return problem
        if row["checks"]["adjoint"] is not None:
            return "checks.adjoint is given, and adjoints of harvested rows are not measured"
        repeated = row["id"] in self.ids
        self.ids.add(row["id"])
        if repeated:
            return "another row has the same id"
        wanted = harvested_split(row)
        return "" if wanted == split else f"its text belongs in the split {wanted}"

    def _missing_evidence(self, row: Row) -> str:
        """What the manifest says of all rows and this one does not have."""
        if not self.claimed:
            return ""
        level = self.claimed.get("verify", "text")
        checks, origin = row["checks"], row["provenance"]
        parts = self.claimed.get("merged", [self.claimed])
        if origin["seed"] not in [part.get("seed") for part in parts]:
            return f"provenance.seed is {origin['seed']}, the manifest has another"
        for name, key in _ORIGIN.items():
            if origin[name] != self.claimed.get(key):
                return f"provenance.{name} is {origin[name]}, the manifest has another"
        if checks["adjoint"] == "off" and self.claimed.get("backward"):
            return "checks.adjoint is off in a dataset that was made with adjoints"
        if level == "run" and checks["run_forward"] is None:
            return "the dataset was made with --verify run and this row was not run"
        if level == "run" and checks["run_plain"] is None:
            return "the dataset was made with --verify run and the row's cuda_plain was not run"
        if checks["gradient"] == "off" and self.claimed.get("gradient"):
            return "checks.gradient is off in a dataset that was made with gradients"
        if level != "text" and checks["compile_archs"] != self.claimed.get("archs"):
            return f"the dataset was compiled for {self.claimed.get('archs')} and this row was not"
        if self.claimed.get("resources") and checks["registers"] is None:
            return "the dataset was made with --resources and this row has none"
        return ""

    def _compile(self, rows: Sequence[Row]) -> list[str]:
        by_archs: dict[tuple[str, ...], list[int]] = {}
        for position, row in enumerate(rows):
            archs = self.archs or tuple(row["checks"]["compile_archs"] or (DEFAULT_ARCH,))
            by_archs.setdefault(archs, []).append(position)
        reasons = [""] * len(rows)
        for archs, positions in by_archs.items():
            chosen = [rows[position] for position in positions]
            for position, reason in zip(positions, self._compile_for(chosen, archs), strict=True):
                reasons[position] = reason
        return reasons

    def _compile_for(self, rows: Sequence[Row], archs: tuple[str, ...]) -> list[str]:
        shown = self.runners.compile(rows, archs)
        problems = [
            _compile_problem(both) or self._resource_problem(row)
            for row, both in zip(rows, shown, strict=True)
        ]
        there = [at for at, row in enumerate(rows) if row["cuda_plain_backward"] is not None]
        found = self.runners.compile_gradients([rows[at] for at in there], archs)
        for at, result in zip(there, found, strict=True):
            if result.status != "compiles":
                problems[at] = problems[at] or f"backward {result.status}: {result.log}"
        return problems

    def _resource_problem(self, row: Row) -> str:
        """What this NVRTC measures otherwise than the row claims that the same one did."""
        if row["checks"]["registers"] is None or row["provenance"]["nvrtc"] != nvrtc_version():
            return ""
        (need,) = self.runners.resources([row], row["checks"]["compile_archs"][0])
        measured = vars(need) if need is not None else {}
        if all(row["checks"][name] == value for name, value in measured.items()):
            return ""
        return f"checks claim other resources than {measured}"

    def _retranslate(self, rows: Sequence[Row]) -> list[str]:
        """Make the CUDA again or, for rows that another Warp made, run ``python`` itself."""
        return [self._retranslation_problem(row) for row in rows]

    def _retranslation_problem(self, row: Row) -> str:
        if row["category"] == HARVESTED:
            return ""  # its python is a stranger's: validate executes none of it
        if row["provenance"]["warp"] != self.warp:
            return _unknown_warp(row) or self._run_python(row)
        return retranslated_difference(row, self._translator(row["cuda_backward"] is not None))

    def _run_python(self, row: Row) -> str:
        if self.device is None:
            self.device = DeviceRunner()
        return self.device.problems([row])[0]

    def _translator(self, backward: bool) -> Translator:
        if backward not in self.translators:
            self.translators[backward] = Translator(backward=backward)
        return self.translators[backward]

    def _run(self, rows: Sequence[Row]) -> list[str]:
        # A harvested row has no reference to be compared with.
        compared = [position for position, row in enumerate(rows) if row["reference"] is not None]
        shown = self.runners.run([self._with_adjoint(rows[position]) for position in compared])
        problems = [""] * len(rows)
        for position, both in zip(compared, shown, strict=True):
            problems[position] = _run_problem(rows[position], both)
        self._run_gradients(rows, problems)
        return problems

    def _run_gradients(self, rows: Sequence[Row], problems: list[str]) -> None:
        """Make our backward kernels again, run them, and compare what comes of it with rows."""
        sound = [
            at
            for at, row in enumerate(rows)
            if not problems[at] and row["checks"]["gradient"] not in (None, "off")
        ]
        found = checked_gradients(self.runners, [rows[at] for at in sound])
        for at, gradient in zip(sound, found, strict=True):
            problems[at] = _gradient_problem(rows[at], gradient)

    def _with_adjoint(self, row: Row) -> Row:
        """The row with the adjoint that was left out of it for its status, so that it can be
        tried again."""
        another_warp = row["provenance"]["warp"] != self.warp
        if another_warp or row["checks"]["adjoint"] in (None, "agrees", "off"):
            return row
        return {**row, **retranslated(row, self._translator(True))}


def _unknown_warp(row: Row) -> str:
    try:
        check_warp_version(row["provenance"]["warp"])
    except UnsupportedWarpError as error:
        return f"provenance.warp: {error}"
    return ""


def _run_problem(row: Row, both: Shown[RunResult]) -> str:
    result, plain = both.warp, both.plain
    if result.status != "agrees":
        return f"{result.status}: {result.reason}"
    claimed = row["checks"]["adjoint"]
    if result.adjoint != "off" and claimed not in (None, result.adjoint):
        return f"checks.adjoint is {claimed}, a run gives {result.adjoint} {result.adjoint_reason}"
    if row["array_python"] is not None and result.array != "agrees":
        return f"array_python: {result.array}: {result.array_reason}"
    if plain is not None and plain.status != "agrees":
        return f"cuda_plain: {plain.status}: {plain.reason}"
    return ""


def _gradient_problem(row: Row, found: Gradient) -> str:
    claimed = row["checks"]["gradient"]
    if claimed == found.status:
        return ""
    return f"checks.gradient is {claimed}, a run gives {found.status} {found.reason}"


def _compile_problem(both: Shown[CompileResult]) -> str:
    for result in (both.warp, both.plain):
        if result is not None and result.status != "compiles":
            return f"{result.status}: {result.log}"
    return ""
