"""Plain CUDA of programs of every idiom: compiles with NVRTC alone, and its tables are complete."""

from __future__ import annotations

import pytest

from generators.program.dtypes import FLOAT32, INT32, Array
from generators.program.expr import Extent, Var, op
from generators.program.ops import ATOMICS, OPS
from generators.program.samplers import SAMPLERS
from synth.render.cuda.choose import schedule_for, schedules_of
from synth.render.cuda.device import atomics
from synth.render.cuda.device import random as cuda_random
from synth.render.cuda.device.functions import Library
from synth.render.cuda.expressions import Expressions
from synth.render.cuda.module import render
from synth.render.cuda.ops import CUDA_OPS
from synth.render.cuda.schedule import Schedule
from synth.render.cuda.style import styles
from synth.rows.maker import Accepted

nvrtc = pytest.importorskip("cuda.bindings.nvrtc")

OPTIONS = (b"--gpu-architecture=compute_90", b"--std=c++17")


def log_of(text: str) -> str:
    """What NVRTC says of a text, with no header of Warp; empty when it has nothing to say."""
    _, program = nvrtc.nvrtcCreateProgram(text.encode(), b"plain.cu", 0, [], [])
    (status,) = nvrtc.nvrtcCompileProgram(program, len(OPTIONS), list(OPTIONS))
    log = b" " * nvrtc.nvrtcGetProgramLogSize(program)[1]
    nvrtc.nvrtcGetProgramLog(program, log)
    nvrtc.nvrtcDestroyProgram(program)
    said = log.rstrip(b" \0").decode()
    return said if said or status.value == 0 else str(status)


def test_tables_hold_every_op() -> None:
    assert CUDA_OPS.keys() == OPS.keys()
    assert set(ATOMICS) == {"sub", "cas", *atomics._CUDA_NAMES}
    known = {*cuda_random._NUMBERS, *cuda_random._FLAT, *cuda_random._ROUND}
    assert SAMPLERS.keys() <= known


def test_schedules_round_trip_and_can_be_forced(all_accepted: list[Accepted]) -> None:
    for accepted in all_accepted[::7]:
        for style in list(styles()):
            if style not in schedules_of(accepted.program):
                with pytest.raises(ValueError, match="no form in the style"):
                    schedule_for(accepted.program, style)
                continue
            schedule = schedule_for(accepted.program, style)
            assert schedule.style == style
            assert Schedule.from_json(schedule.to_json()) == schedule


def test_plain_cuda_compiles_without_warp(all_accepted: list[Accepted]) -> None:
    """Every 6th program that NVRTC can compile without the float16 header."""
    compiled = 0
    for accepted in all_accepted[::6]:
        plain = render(accepted.program)
        assert "wp::" not in plain.text
        if "cuda_fp16.h" in plain.text:
            continue
        errors = [line for line in log_of(plain.text).splitlines() if "error" in line]
        assert not errors, (errors, plain.text)
        compiled += 1
    assert compiled > 25


def test_an_extent_that_is_a_formula_keeps_its_brackets() -> None:
    x = Var("x", Array(FLOAT32, 1))
    rest = op("mod", Var("i", INT32), Extent(x, 0))
    for formula, shown in (("n", "i % n"), ("4 * n", "i % (4 * n)"), ("n + 1", "i % (n + 1)")):
        printed = Expressions(Library(frozenset(), {}), {}, {"x": (formula,)}).show(rest)
        assert printed.text == shown
