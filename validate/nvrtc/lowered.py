"""A row's text down to the machine: PTX, SASS with lines of the text, and what it needs.

A row is compiled alone, as it stands: what it shares a program with would show in its machine
code. The assembler is the one in NVRTC, whose release is that of the compiler's PTX.
"""

from __future__ import annotations

import base64
import os
import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from validate.nvrtc import sass
from validate.nvrtc.compiler import MEMORY_BYTES
from validate.nvrtc.disassembler import Disassembler, NotDisassembled
from validate.nvrtc.image import constant_bytes
from validate.nvrtc.result import LOG_CHARACTERS, Child, of_the_dead
from validate.process.parent import WorkerGone
from validate.statuses import CompileStatus, ProcessEnd
from validate.text import plain as plain_unit
from validate.text import ptx, warp_program
from validate.text.headers import warp_include_dir

PLAIN, GRADIENT, WARP = "cuda_plain", "cuda_plain_backward", "cuda_forward"
TEXTS = (PLAIN, GRADIENT, WARP)
"""Columns that are lowered; `cuda_forward` stands for Warp's forward kernel with its helpers."""

# What `#line` calls the texts of a row alone, of which lines are wanted.
_SOURCES = ("cuda_plain", "cuda_forward")
_NVRTC = re.compile(r"^// Cuda compilation tools, release [\d.]+, V([\d.]+)$", re.MULTILINE)


@dataclass(frozen=True)
class Kernel:
    """What a kernel became; `sass` is None where it was not asked for."""

    name: str
    usage: ptx.Usage
    constant_bytes: int
    sass: sass.Sass | None


@dataclass(frozen=True)
class Lowered:
    """What lowering a text showed: `status` is a `CompileStatus`, `reason` the log of a failure.

    `ptx` is the whole module; `nvrtc` the version that it names.
    """

    status: str
    reason: str = ""
    ptx: str = ""
    nvrtc: str = ""
    kernels: tuple[Kernel, ...] = ()


class Lowerer:
    """Keeps one compiling child process and a folder for machine code; a context manager.

    `include_dir` holds Warp's headers (the installed Warp's own by default); `disassembler` is None
    where no SASS is asked for. `timeout_s` is the wall-clock limit of each tool and text.

    Its method raises CompileUnavailable when NVRTC is missing and RuntimeError when the machinery
    itself fails: that is a bug, never a row's fault. One thread may use it at a time.
    """

    def __init__(
        self,
        *,
        include_dir: str | os.PathLike[str] | None = None,
        disassembler: Disassembler | None = None,
        timeout_s: float = 60.0,
    ) -> None:
        self._disassembler = disassembler
        self._timeout_s = timeout_s
        folder = Path(include_dir or warp_include_dir()).resolve()
        self._child = Child(folder, timeout_s, MEMORY_BYTES)
        self._folder = tempfile.TemporaryDirectory(prefix="pairsmith-lowered-")

    def __enter__(self) -> Lowerer:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """End the child process and remove its files."""
        self._child.close()
        self._folder.cleanup()

    def lower(self, row: Mapping[str, Any], text: str, arch: str) -> Lowered:
        """Lower one of the `TEXTS` of a row, which must have it, for `arch` ("sm_90")."""
        if text != WARP:
            sent, goal = {"cuda_plain": row[text]}, "plain_lowered"
            fault = plain_unit.fault_or_no_kernel(row[text])
        else:
            sent = {name: row[name] for name in ("kernel_name", *warp_program.COLUMNS)}
            sent["cuda_backward"] = None
            fault, goal = warp_program.fault(sent), "lowered"
        if fault:
            return Lowered(CompileStatus.COMPILE_ERROR, fault)
        try:
            answer = self._built(sent, arch, goal)
        except WorkerGone as gone:
            dead = of_the_dead(gone, self._child.memory_bytes)
            return Lowered(dead.status, dead.log)
        if answer["event"] != "built":
            return Lowered(answer["event"], answer["log"][:LOG_CHARACTERS])
        ((module, log, image),) = answer["rows"]
        return self._lowered(module, log, base64.b64decode(image), _names(sent, text))

    def _built(self, sent: Mapping[str, Any], arch: str, goal: str) -> dict[str, Any]:
        fresh = self._child.fresh
        try:
            return self._child.build([sent], arch, goal)
        except WorkerGone as gone:
            if gone.status != ProcessEnd.CRASHED or fresh:
                raise
            # What ran before may have damaged the process.
            return self._child.build([sent], arch, goal)

    def _lowered(self, module: str, log: str, image: bytes, names: Sequence[str]) -> Lowered:
        used = ptx.usage(log)
        if missing := [name for name in names if name not in used]:
            reason = f"error: not in the compiled program: {' and '.join(missing)}"
            return Lowered(CompileStatus.COMPILE_ERROR, reason)
        try:
            code = self._code(image)
        except NotDisassembled as error:
            return Lowered(error.status, error.reason[:LOG_CHARACTERS])
        kernels = [
            Kernel(name, used[name], constant_bytes(image, name), code.get(name)) for name in names
        ]
        version = _NVRTC.search(module)
        return Lowered(
            CompileStatus.COMPILES,
            ptx=ptx.without_line_info(module),
            nvrtc=version[1] if version else "",
            kernels=tuple(kernels),
        )

    def _code(self, image: bytes) -> dict[str, sass.Sass]:
        if self._disassembler is None:
            return {}
        path = Path(self._folder.name) / "text.cubin"
        path.write_bytes(image)
        listing = self._disassembler.listing(path, self._timeout_s)
        return sass.kernels(listing, _SOURCES)


def _names(sent: Mapping[str, Any], text: str) -> list[str]:
    if text == WARP:
        return warp_program.entry_names([sent], 0)
    return plain_unit.kernel_names(sent["cuda_plain"])
