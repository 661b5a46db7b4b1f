"""In place of a GPU for scripts/measure/judge/on_gpu.py: a text says what becomes of it."""

from __future__ import annotations

import os
import signal
import time

from scripts.measure.judge.gpu.folder import Job, Row
from validate.gpu.launch import LaunchFailed
from validate.gpu.nvrtc import Refused
from validate.gpu.text import Ran, Shape

launched: list[int] = []


def load(job: Job) -> str:
    """Refuses a text with the word REFUSED; of NO END it never comes back, BUG is our own."""
    if "REFUSED" in job.program:
        raise Refused("error: refused")
    if "BUG" in job.program:
        raise KeyError("a fault of ours")
    if "NO END" in job.program:
        time.sleep(600)
    return job.code


def run(code: str, row: Row, shape: Shape) -> Ran:
    """`out` is twice `x`; with STATE only at the first launch of its process."""
    if "HANGS" in code:
        time.sleep(600)
    if "DIES" in code:
        os.kill(os.getpid(), signal.SIGSEGV)
    if "FAULT" in code:
        raise LaunchFailed("an illegal memory access was encountered", sticky=True)
    if "OUTSIDE" in code:
        return Ran(0.0, {}, ("wrote_out_of_bounds", "wrote 4 bytes after the end of out"))
    launched.append(1)
    factor = 3 if "WRONG" in code or ("STATE" in code and len(launched) > 1) else 2
    return Ran(0.0, {"out": (factor * shape.inputs["x"]).astype("float32")}, None)
