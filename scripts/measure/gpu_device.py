"""What touches the GPU: a text compiled by CuPy's NVRTC, and launched. Imports CuPy when asked."""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module
from typing import Any

from scripts.measure.gpu_folder import Job, Row
from validate.gpu.device import devices
from validate.gpu.launch import load_kernel
from validate.gpu.nvrtc import LOG_CHARACTERS, Refused
from validate.gpu.text import PlainText, Ran, Shape, run_text
from validate.nvrtc.program import plain_options
from validate.text.headers import toolkit_include_dir


@lru_cache(maxsize=1)
def _arch() -> str:
    return devices()[0].arch


def load(job: Job) -> PlainText:
    """Compile a text and load it. Raises Refused and NotInBinary."""
    binary, symbol = compiled(job.program, job.kernel, _arch())
    return PlainText([load_kernel(binary, symbol)])


def run(text: PlainText, row: Row, shape: Shape) -> Ran:
    """Launch it once. Raises WrongParameters and LaunchFailed."""
    return run_text(text, row, shape)


def compiled(program: str, kernel: str, arch: str) -> tuple[bytes, str]:
    """Machine code of a program and the name that a kernel, named as in C++, has in it.

    Raises Refused.
    """
    nvrtc: Any = import_module("cupy_backends.cuda.libs.nvrtc")
    made = nvrtc.createProgram(program, "answer.cu", (), ())
    try:
        nvrtc.addNameExpression(made, kernel)
        nvrtc.compileProgram(made, tuple(plain_options(arch, toolkit_include_dir())))
        return bytes(nvrtc.getCUBIN(made)), str(nvrtc.getLoweredName(made, kernel))
    except nvrtc.NVRTCError as error:
        raise Refused((str(nvrtc.getProgramLog(made)) or str(error))[:LOG_CHARACTERS]) from None
    finally:
        nvrtc.destroyProgram(made)
