"""Fresh rows are checked as far as the run asks, and carry the evidence home."""

from __future__ import annotations

import atexit
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from synth.codegen.translator import Translator
from synth.dataset.settings import Settings, Versions
from synth.rows.gradients import checked_gradients
from synth.rows.maker import Row, cuda_columns
from synth.rows.runners import Shown, TextRunners
from validate.host.runner import RunResult
from validate.nvrtc.compiler import CompileResult
from validate.row.claims import contradictions
from validate.row.schema import check_row
from validate.statuses import ArrayStatus, GradientStatus


@dataclass(frozen=True)
class Failure:
    """Why a row that passed the gates does not enter the dataset."""

    reason: str
    detail: str


Evidence = dict[str, Any]
"""What this host measured of one row: ``id``, ``max_ulp``, ``tolerance_used`` (share of it), and of
its adjoint ``adjoint_tolerance_used`` and ``adjoint_reason``, of our own backward kernel
``gradient_tolerance_used`` and ``gradient_reason``, of its whole-array version ``array_reason``; of
the plain CUDA ``plain_max_ulp`` and ``plain_tolerance_used``."""


class Verifier:
    """Checks rows at the level of the settings; keeps its child processes, which cost seconds."""

    def __init__(self, settings: Settings, versions: Versions) -> None:
        self.settings = settings
        self.nvrtc = versions.nvrtc
        self._runners = TextRunners()
        self._translator: Translator | None = None

    def close(self) -> None:
        """End the child processes."""
        self._runners.close()

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
        shown = self._runners.run(rows)
        failures = [_ran(row, both) for row, both in zip(rows, shown, strict=True)]
        good = [at for at, failure in enumerate(failures) if failure is None]
        evidence.extend(_measured(shown[at]) for at in good)
        self._gradients([rows[at] for at in good], evidence[-len(good) :] if good else [])
        wrong = [rows[at] for at in good if rows[at]["checks"]["adjoint"] != "agrees"]
        self._withdraw_adjoints([row for row in wrong if row["cuda_backward"] is not None])
        return failures

    def _gradients(self, rows: Sequence[Row], evidence: Sequence[Evidence]) -> None:
        """Give rows that agree our own backward kernel, where that agrees."""
        if not self.settings.gradient:
            for row in rows:
                row["checks"]["gradient"] = GradientStatus.OFF
            return
        found = checked_gradients(self._runners, rows)
        for row, measured, gradient in zip(rows, evidence, found, strict=True):
            row.update(gradient.columns)
            row["checks"]["gradient"] = gradient.status
            measured["gradient_reason"] = gradient.reason
            measured["gradient_tolerance_used"] = gradient.tolerance_used

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
        shown = self._runners.compile(rows, self.settings.archs)
        failures = [self._compiled(row, both) for row, both in zip(rows, shown, strict=True)]
        self._compile_gradients(rows, failures)
        if self.settings.resources:
            built = [row for row, f in zip(rows, failures, strict=True) if f is None]
            needs = self._runners.resources(built, self.settings.archs[0])
            for row, need in zip(built, needs, strict=True):
                assert need is not None, f"{row['kernel_name']} compiles and does not assemble"
                row["checks"].update(vars(need))
        return failures

    def _compile_gradients(self, rows: Sequence[Row], failures: list[Failure | None]) -> None:
        """Refuse rows whose backward kernel ran and does not compile."""
        there = [
            at
            for at, failure in enumerate(failures)
            if failure is None and rows[at]["cuda_plain_backward"] is not None
        ]
        found = self._runners.compile_gradients([rows[at] for at in there], self.settings.archs)
        for at, result in zip(there, found, strict=True):
            if result.status != "compiles":
                failures[at] = Failure(f"gradient_{result.status}", result.log)

    def _compiled(self, row: Row, both: Shown[CompileResult]) -> Failure | None:
        if both.warp.status != "compiles":
            return Failure(both.warp.status, both.warp.log)
        row["checks"]["compile_archs"] = list(both.warp.archs)
        row["provenance"]["nvrtc"] = self.nvrtc
        if both.plain is not None and both.plain.status != "compiles":
            return Failure(f"plain_{both.plain.status}", both.plain.log)
        return None


def _ran(row: Row, both: Shown[RunResult]) -> Failure | None:
    warp, plain = both.warp, both.plain
    if warp.status != "agrees":
        return Failure(warp.status, warp.reason)
    row["checks"].update(run_forward="agrees", shapes=list(warp.shapes), adjoint=warp.adjoint)
    assert plain is not None, f"{row['kernel_name']} has no plain CUDA"
    if plain.status != "agrees":
        return Failure(f"plain_{plain.status}", plain.reason)
    row["checks"]["run_plain"] = "agrees"
    if row["array_python"] is not None:
        if warp.array == "agrees":
            row["checks"]["run_array"] = "agrees"
        else:
            row.update(array_python=None, array_reason=ArrayStatus.DIFFERS)
    return None


def _measured(both: Shown[RunResult]) -> Evidence:
    warp, plain = both.warp, both.plain
    assert plain is not None
    of_adjoint = ("adjoint_reason", "adjoint_tolerance_used")
    names = ("max_ulp", "tolerance_used", *of_adjoint, "array_reason")
    return {
        "id": warp.id,
        **{name: getattr(warp, name) for name in names},
        "plain_max_ulp": plain.max_ulp,
        "plain_tolerance_used": plain.tolerance_used,
    }


@lru_cache(maxsize=2)
def verifier(settings: Settings, versions: Versions) -> Verifier:
    """The process's own verifier for these settings."""
    made = Verifier(settings, versions)
    atexit.register(made.close)
    return made
