"""The texts of a row as machine code, with whichever bindings of NVRTC are there.

CuPy brings bindings of its own, so a GPU machine needs nothing else; a machine without CuPy
compiles through cuda-bindings.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

from validate.nvrtc import program as nvrtc_program
from validate.text import plain as plain_unit
from validate.text.headers import toolkit_include_dir
from validate.text.warp_program import fault, program

LOG_CHARACTERS = 2000


class Refused(Exception):  # noqa: N818 - a result of a check, not an error of ours
    """The compiler refuses the text; the message is its log."""


class _Bindings(Protocol):
    """What is asked of NVRTC."""

    def version(self) -> str:
        """As "13.5"."""

    def cubin(self, text: str, name: str, options: Sequence[str]) -> tuple[bytes, str]:
        """Machine code of a text, and the compiler's log. Raises Refused."""


class _CupyBindings:
    """NVRTC as CuPy calls it."""

    def __init__(self) -> None:
        self.nvrtc: Any = import_module("cupy_backends.cuda.libs.nvrtc")
        self.nvrtc.getVersion()

    def version(self) -> str:
        return ".".join(str(number) for number in self.nvrtc.getVersion())

    def cubin(self, text: str, name: str, options: Sequence[str]) -> tuple[bytes, str]:
        made = self.nvrtc.createProgram(text, name, (), ())
        try:
            self.nvrtc.compileProgram(made, tuple(options))
            return bytes(self.nvrtc.getCUBIN(made)), str(self.nvrtc.getProgramLog(made))
        except self.nvrtc.NVRTCError as error:
            log = str(self.nvrtc.getProgramLog(made))
            raise Refused((log or str(error))[:LOG_CHARACTERS]) from None
        finally:
            self.nvrtc.destroyProgram(made)


class _CudaBindings:
    """NVRTC as cuda-bindings calls it."""

    def version(self) -> str:
        return nvrtc_program.nvrtc_version()

    def cubin(self, text: str, name: str, options: Sequence[str]) -> tuple[bytes, str]:
        return nvrtc_program.cubin(text, name, options, Refused)


@lru_cache(maxsize=1)
def _bindings() -> _Bindings:
    if find_spec("cupy_backends") is not None:
        try:
            return _CupyBindings()
        except (ImportError, OSError, RuntimeError):
            # CuPy without a CUDA library beside it: the other bindings may have one.
            nvrtc_program.load()
    return _CudaBindings()


def version_for_gpus() -> str:
    """The version of the NVRTC that is called here: CuPy's own where CuPy has one.

    Raises CompileUnavailable.
    """
    return _bindings().version()


def warp_unit(row: Mapping[str, Any]) -> str:
    """Warp's text of a row as one translation unit; raises Refused for a text that is none."""
    wrong = fault(row)
    if wrong:
        raise Refused(wrong)
    return program([row])


def plain_text(row: Mapping[str, Any]) -> str:
    """The plain text of a row; raises Refused for one that must not be compiled."""
    wrong = plain_unit.fault_or_no_kernel(row["cuda_plain"])
    if wrong:
        raise Refused(wrong)
    return str(row["cuda_plain"])


def compile_warp(
    text: str, arch: str, include_dir: Path, pch_dir: Path | None, more: Sequence[str] = ()
) -> bytes:
    """Machine code of `warp_unit` for `arch` ("sm_90"), with further options. Raises Refused."""
    options = nvrtc_program.warp_options(arch, include_dir, pch_dir, more)
    return _bindings().cubin(text, "row.cu", options)[0]


def compile_plain(text: str, arch: str) -> bytes:
    """Machine code of `plain_text` for `arch`. Raises Refused, CompileUnavailable."""
    return compile_logged(text, arch, ())[0]


def compile_named(text: str, kernels: Sequence[str], arch: str) -> tuple[bytes, list[str]]:
    """Machine code of a text for `arch`, and the names that kernels, named as in C++, have in it.

    For machines with CuPy, whose bindings are asked. Raises Refused.
    """
    nvrtc: Any = import_module("cupy_backends.cuda.libs.nvrtc")
    made = nvrtc.createProgram(text, "answer.cu", (), ())
    try:
        for kernel in kernels:
            nvrtc.addNameExpression(made, kernel)
        nvrtc.compileProgram(made, tuple(nvrtc_program.plain_options(arch, toolkit_include_dir())))
        symbols = [str(nvrtc.getLoweredName(made, kernel)) for kernel in kernels]
        return bytes(nvrtc.getCUBIN(made)), symbols
    except nvrtc.NVRTCError as error:
        raise Refused((str(nvrtc.getProgramLog(made)) or str(error))[:LOG_CHARACTERS]) from None
    finally:
        nvrtc.destroyProgram(made)


def compile_logged(text: str, arch: str, more: Sequence[str]) -> tuple[bytes, str]:
    """The same with further options, and the compiler's log."""
    options = nvrtc_program.plain_options(arch, toolkit_include_dir(), more)
    return _bindings().cubin(text, "plain.cu", options)


def key_of(text: str, arch: str, warp: str = "") -> str:
    """Names the machine code of a text: the same for the same text, target and Warp headers."""
    options = "\n".join((*nvrtc_program.WARP_OPTIONS, *nvrtc_program.PLAIN_OPTIONS))
    return hashlib.sha256("\0".join((text, arch, warp, options)).encode()).hexdigest()[:32]
