"""What touches the GPU: a text compiled by CuPy's NVRTC, and launched. Imports CuPy when asked."""

from __future__ import annotations

from functools import lru_cache

from scripts.measure.judge.gpu.folder import Job, Row
from validate.gpu.device import devices
from validate.gpu.launch import load_kernel
from validate.gpu.nvrtc import compile_named
from validate.gpu.text import PlainText, Ran, Shape, run_text


@lru_cache(maxsize=1)
def _arch() -> str:
    return devices()[0].arch


def load(job: Job) -> PlainText:
    """Compile a text and load it. Raises Refused and NotInBinary."""
    binary, symbols = compile_named(job.program, [job.kernel], _arch())
    return PlainText([load_kernel(binary, symbol) for symbol in symbols])


def run(text: PlainText, row: Row, shape: Shape) -> Ran:
    """Launch it once. Raises WrongParameters and LaunchFailed."""
    return run_text(text, row, shape)
