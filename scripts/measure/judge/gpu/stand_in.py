"""In place of device.py where there is no GPU: the launch is the scorer's run on the host.

For trying `on_gpu.py --run FOLDER --device scripts.measure.judge.gpu.stand_in`. Accesses are not
watched, as on a GPU; each launch has variables of its own, and nothing is compiled by NVRTC.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import numpy as np

from scripts.measure.judge.gpu.folder import Job, Row
from validate.gpu.launch import LaunchFailed
from validate.gpu.nvrtc import Refused
from validate.gpu.text import Ran, Shape
from validate.host import clang
from validate.host.answered import Answered
from validate.host.plain_link import Linker
from validate.host.stranger_case import Case, Trial, run_apart
from validate.statuses import GpuStatus

_MOST_STEPS = 60_000_000
_TROUBLE = (GpuStatus.WROTE_OUT_OF_BOUNDS, GpuStatus.INPUT_CHANGED)


@lru_cache(maxsize=1)
def _linker() -> Linker:
    clang.start()
    return Linker(Path.cwd())


def load(job: Job) -> Job:
    """Nothing is done before the launch."""
    return job


def run(text: Job, row: Row, shape: Shape) -> Ran:
    """Compile and launch it once. Raises Refused and LaunchFailed."""
    asked = {**row, "cuda_plain": text.code, "kernels": [text.kernel]}
    trial = Trial(shape.sizes, shape.inputs, watched=False, most_steps=_MOST_STEPS, optional=False)
    try:
        ran = run_apart(Case(asked, [trial]), _linker(), Path.cwd())
    except clang.CompileError as error:
        raise Refused(str(error)) from None
    if ran.status != "ran":
        raise LaunchFailed(f"{ran.status}: {ran.reason}", sticky=True)
    said = Answered.from_bytes(ran.answer)
    if said.status in _TROUBLE:
        return Ran(0.0, {}, (said.status, said.reason))
    (written,) = said.outputs
    if said.status != "ran" or written is None:
        raise LaunchFailed(f"{said.status}: {said.reason}", sticky=False)
    outputs = {
        name: np.frombuffer(raw, shape.inputs[name].dtype).reshape(shape.inputs[name].shape)
        for name, raw in written.items()
    }
    return Ran(0.0, outputs, None)
