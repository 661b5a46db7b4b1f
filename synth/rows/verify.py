"""Fresh rows are checked as far as the run asks, and carry the evidence home."""

from __future__ import annotations

import atexit
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from synth.codegen.translator import Translator
from synth.dataset.settings import Settings, Versions
from synth.rows.maker import Row, cuda_columns
from validate.host.runner import HostRunner, RunResult
from validate.nvrtc.compiler import CompileResult, CompileRunner
from validate.row.claims import contradictions
from validate.row.schema import check_row

ROW_TIMEOUT_S = 60.0
"""Far above what a row that passed the gates takes (milliseconds), so that a busy machine does not
decide which rows enter."""


BATCH_SIZE = 64
"""Rows a translation unit: larger ones gain little, and a row that fails costs its batch twice."""


@dataclass(frozen=True)
class Failure:
    """Why a row that passed the gates does not enter the dataset."""

    reason: str
    detail: str


Evidence = dict[str, Any]
"""What this host measured of one row: ``id``, ``max_ulp``, ``tolerance_used`` (share of it), and of
its adjoint ``adjoint_tolerance_used`` and ``adjoint_reason``; of the plain CUDA ``plain_max_ulp``
and ``plain_tolerance_used``."""


class Verifier:
    """Checks rows at the level of the settings; keeps its child processes, which cost seconds."""

    def __init__(self, settings: Settings, versions: Versions) -> None:
        self.settings = settings
        self.nvrtc = versions.nvrtc
        self._host: HostRunner | None = None
        self._compiler: CompileRunner | None = None
        self._translator: Translator | None = None

    def close(self) -> None:
        """End the child processes."""
        for runner in (self._host, self._compiler):
            if runner is not None:
                runner.close()

    def verify(self, rows: Sequence[Row], evidence: list[Evidence]) -> list[Failure | None]:
        """Check rows; those that pass are told what was shown of them.

        Figures that depend on this CPU's maths library are added to ``evidence`` and stay out of
        the rows. An adjoint that was run and does not agree is taken out of its row. A row that
        breaks its own schema is a bug of ours: ``AssertionError``.
        """
        found: list[Failure | None] = [None] * len(rows)
        if self.settings.verify == "run":
            found = self._run(rows, evidence)
        if self.settings.verify != "text":
            sound = [position for position, failure in enumerate(found) if failure is None]
            compiled = self._compile([rows[position] for position in sound])
            for position, failure in zip(sound, compiled, strict=True):
                found[position] = failure
        for row, failure in zip(rows, found, strict=True):
            if failure is not None:
                continue
            problems = check_row(row) or contradictions(row)
            assert not problems, f"{row['kernel_name']}: {problems}\n{row['python']}"
        return found

    def _run(self, rows: Sequence[Row], evidence: list[Evidence]) -> list[Failure | None]:
        if self._host is None:
            self._host = HostRunner(batch_size=BATCH_SIZE, timeout_s=ROW_TIMEOUT_S)
        results = self._host.run(rows)
        failures = [_ran(row, result) for row, result in zip(rows, results, strict=True)]
        sound = [position for position, failure in enumerate(failures) if failure is None]
        plain = self._host.run_plain([rows[position] for position in sound], relaunch=True)
        for position, result in zip(sound, plain, strict=True):
            failures[position] = _ran_plain(rows[position], result)
            if failures[position] is None:
                evidence.append(_measured(results[position], result))
        wrong = [
            row
            for row, failure in zip(rows, failures, strict=True)
            if failure is None and row["checks"]["adjoint"] != "agrees"
        ]
        self._withdraw_adjoints([row for row in wrong if row["cuda_backward"] is not None])
        return failures

    def _withdraw_adjoints(self, rows: Sequence[Row]) -> None:
        """Leave the adjoint out of rows, of their helper functions as well."""
        if self._translator is None:
            self._translator = Translator(backward=False)
        sources = [(row["python"], row["kernel_name"]) for row in rows]
        for row, text in zip(rows, self._translator.translate_batch(sources), strict=True):
            columns = cuda_columns(text, row["kernel_name"])
            assert columns["cuda_forward"] == row["cuda_forward"], row["python"]
            row.update(columns)

    def _compile(self, rows: Sequence[Row]) -> list[Failure | None]:
        if self._compiler is None:
            self._compiler = CompileRunner(
                archs=self.settings.archs, batch_size=BATCH_SIZE, timeout_s=ROW_TIMEOUT_S
            )
        results = self._compiler.compile(rows)
        failures = [self._compiled(row, r) for row, r in zip(rows, results, strict=True)]
        sound = [position for position, failure in enumerate(failures) if failure is None]
        plain = self._compiler.compile_plain([rows[position] for position in sound])
        for position, result in zip(sound, plain, strict=True):
            if result.status != "compiles":
                failures[position] = Failure(f"plain_{result.status}", result.log)
        if self.settings.resources:
            built = [row for row, f in zip(rows, failures, strict=True) if f is None]
            needs = self._compiler.resources(built, self.settings.archs[0])
            for row, need in zip(built, needs, strict=True):
                assert need is not None, f"{row['kernel_name']} compiles and does not assemble"
                row["checks"].update(vars(need))
        return failures

    def _compiled(self, row: Row, result: CompileResult) -> Failure | None:
        if result.status != "compiles":
            return Failure(result.status, result.log)
        row["checks"]["compile_archs"] = list(result.archs)
        row["provenance"]["nvrtc"] = self.nvrtc
        return None


def _ran(row: Row, result: RunResult) -> Failure | None:
    if result.status != "agrees":
        return Failure(result.status, result.reason)
    row["checks"].update(run_forward="agrees", shapes=list(result.shapes), adjoint=result.adjoint)
    return None


def _ran_plain(row: Row, result: RunResult) -> Failure | None:
    if result.status != "agrees":
        return Failure(f"plain_{result.status}", result.reason)
    row["checks"]["run_plain"] = "agrees"
    return None


def _measured(warp: RunResult, plain: RunResult) -> Evidence:
    names = ("max_ulp", "tolerance_used", "adjoint_reason", "adjoint_tolerance_used")
    found = {name: getattr(warp, name) for name in names}
    return {
        "id": warp.id,
        **found,
        "plain_max_ulp": plain.max_ulp,
        "plain_tolerance_used": plain.tolerance_used,
    }


@lru_cache(maxsize=2)
def verifier(settings: Settings, versions: Versions) -> Verifier:
    """The process's own verifier for these settings."""
    made = Verifier(settings, versions)
    atexit.register(made.close)
    return made
