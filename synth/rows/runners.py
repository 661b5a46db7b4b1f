"""What the host run and NVRTC show of both texts of rows: Warp's, then the plain one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Generic, TypeVar

from synth.rows.maker import Row
from validate.host.runner import HostRunner, RunResult
from validate.nvrtc.compiler import CompileResult, CompileRunner
from validate.nvrtc.result import Resources
from validate.row.gradient import backward_row

ROW_TIMEOUT_S = 60.0
"""Far above what a row that passed the gates takes (milliseconds), so that a busy machine does not
decide which rows enter."""

BATCH_SIZE = 64
"""Rows a translation unit: larger ones gain little, and a row that fails costs its batch twice."""

Result = TypeVar("Result", RunResult, CompileResult)


@dataclass(frozen=True)
class Shown(Generic[Result]):
    """What was shown of one row's texts; ``plain`` is None where Warp's text failed, or where the
    row has no plain one."""

    warp: Result
    plain: Result | None


class TextRunners:
    """Runs and compiles both texts of rows; its child processes cost seconds, so it keeps them.

    Each is started when it is first needed. ``include_dir`` holds Warp's headers, by default those
    of the installed Warp. The methods raise what HostRunner and CompileRunner do.
    """

    def __init__(self, include_dir: Path | None = None) -> None:
        self._include_dir = include_dir
        self._host: HostRunner | None = None
        self._compiler: CompileRunner | None = None

    def close(self) -> None:
        """End the child processes."""
        for runner in (self._host, self._compiler):
            if runner is not None:
                runner.close()

    def run(self, rows: Sequence[Row]) -> list[Shown[RunResult]]:
        """Run Warp's text of rows that have a reference, then the plain text of those that agree,
        in smaller blocks as well."""
        host = self._running()
        return _both(
            rows, host.run(rows), "agrees", lambda some: host.run_plain(some, relaunch=True)
        )

    def run_gradients(self, rows: Sequence[Row]) -> list[RunResult]:
        """Run our own backward kernels of rows, all of which have one."""
        return self._running().run_gradient(rows)

    def compile_gradients(self, rows: Sequence[Row], archs: Sequence[str]) -> list[CompileResult]:
        """Compile our own backward kernels of rows, all of which have one."""
        texts = [backward_row(row) for row in rows]
        return self._compiling().compile_plain(texts, archs=archs)

    def compile(self, rows: Sequence[Row], archs: Sequence[str]) -> list[Shown[CompileResult]]:
        """Compile Warp's text for every architecture, then the plain text of what compiles."""
        compiler = self._compiling()
        warp = compiler.compile(rows, archs)
        return _both(rows, warp, "compiles", partial(compiler.compile_plain, archs=archs))

    def resources(self, rows: Sequence[Row], arch: str) -> list[Resources | None]:
        """What each forward kernel of Warp needs on ``arch``; None: it does not assemble."""
        return self._compiling().resources(rows, arch)

    def _running(self) -> HostRunner:
        if self._host is None:
            self._host = HostRunner(
                include_dir=self._include_dir, batch_size=BATCH_SIZE, timeout_s=ROW_TIMEOUT_S
            )
        return self._host

    def _compiling(self) -> CompileRunner:
        if self._compiler is None:
            self._compiler = CompileRunner(
                include_dir=self._include_dir, batch_size=BATCH_SIZE, timeout_s=ROW_TIMEOUT_S
            )
        return self._compiler


def _both(
    rows: Sequence[Row],
    warp: Sequence[Result],
    good: str,
    plain: Callable[[Sequence[Row]], Sequence[Result]],
) -> list[Shown[Result]]:
    chosen = [
        position
        for position, row in enumerate(rows)
        if warp[position].status == good and row["cuda_plain"] is not None
    ]
    found = dict(zip(chosen, plain([rows[position] for position in chosen]), strict=True))
    return [Shown(result, found.get(position)) for position, result in enumerate(warp)]
