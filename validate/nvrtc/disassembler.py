"""nvdisasm, which turns machine code into text: where it is, and what it says of a cubin."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from validate.errors import CompileUnavailable
from validate.nvrtc.program import nvrtc_version
from validate.statuses import CompileStatus

WHEEL = "nvidia-cuda-nvdisasm"
_NAME = "nvdisasm.exe" if os.name == "nt" else "nvdisasm"
_REMEDY = "pip install 'pairsmith[lowered]'"
_VERSION = re.compile(r"\brelease (\d+)\.(\d+), V([\d.]+)")
_START_TIMEOUT_S = 60.0


class NotDisassembled(Exception):  # noqa: N818
    """nvdisasm made no text of machine code; `status` is a `CompileStatus`."""

    def __init__(self, status: CompileStatus, reason: str) -> None:
        super().__init__(reason)
        self.status, self.reason = status, reason


@dataclass(frozen=True)
class Disassembler:
    """An nvdisasm: where it lies, and its version, as "13.5.37"."""

    path: Path
    version: str

    def listing(self, image: Path, timeout_s: float) -> str:
        """The code of a cubin with the lines of its source. Raises NotDisassembled."""
        # With the analysis of dataflow (a third more time): without it, targets of jump tables and
        # the marks of spills are left out.
        command = [str(self.path), "-c", "-gi", str(image)]
        try:
            done = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=timeout_s,
                check=False,
            )
        except subprocess.TimeoutExpired:
            reason = f"nvdisasm: no result within {timeout_s:g} s"
            raise NotDisassembled(CompileStatus.TIMEOUT, reason) from None
        if done.returncode:
            ended = CompileStatus.CRASHED if done.returncode < 0 else CompileStatus.COMPILE_ERROR
            said = " ".join(done.stderr.split()) or f"exit code {done.returncode}"
            raise NotDisassembled(ended, f"nvdisasm: {said}")
        return done.stdout


@lru_cache(maxsize=1)
def disassembler() -> Disassembler:
    """The wheel's, else that of the toolkit that CUDA_HOME or CUDA_PATH names, else PATH's.

    Raises CompileUnavailable, which says what to install, where there is none, it does not run, or
    it is older than the NVRTC whose machine code it is to read.
    """
    for path in _places():
        if path.is_file():
            return _checked(path)
    raise CompileUnavailable(f"nvdisasm is missing: {_REMEDY}, or set CUDA_HOME")


def _places() -> Iterator[Path]:
    try:
        wheel = distribution(WHEEL)
        yield from (Path(str(f.locate())) for f in wheel.files or () if f.name == _NAME)
    except PackageNotFoundError:
        pass
    for variable in ("CUDA_HOME", "CUDA_PATH"):
        if folder := os.environ.get(variable):
            yield Path(folder) / "bin" / _NAME
    if found := shutil.which("nvdisasm"):
        yield Path(found)


def _checked(path: Path) -> Disassembler:
    try:
        done = subprocess.run(
            [str(path), "--version"],
            capture_output=True,
            text=True,
            timeout=_START_TIMEOUT_S,
            check=True,
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise CompileUnavailable(f"{path} does not run ({error}): {_REMEDY}") from None
    match = _VERSION.search(done.stdout)
    if match is None:
        raise CompileUnavailable(f"{path} says no version: {_REMEDY}")
    nvrtc = nvrtc_version()
    if (int(match[1]), int(match[2])) < tuple(map(int, nvrtc.split("."))):
        raise CompileUnavailable(
            f"{path} of CUDA {match[1]}.{match[2]} is older than NVRTC {nvrtc}, whose machine code "
            f"it cannot be trusted with: pip install '{WHEEL}>={nvrtc}'"
        )
    return Disassembler(path, match[3])
