"""Plain kernels in OpenCL C and HIP, from the printers of CUDA."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest

from generators.program import ir
from generators.program.dtypes import (
    FLOAT32,
    INT32,
    SIGNED,
    UNSIGNED,
    Array,
    Mat,
    Scalar,
    Type,
    Vec,
)
from generators.program.expr import Load, Op, Var
from generators.program.serialise import from_json
from synth.check.targets import translated
from synth.dataset.stored import stored_rows
from synth.render.cuda.choose import schedule_for
from synth.render.cuda.dialect.current import speaking, spoken
from synth.render.cuda.dialect.table import NoForm
from synth.render.cuda.dialect.words import CUDA, DIALECTS, HIP, OPENCL
from synth.render.cuda.module import render
from synth.render.cuda.schedule import Schedule
from synth.rows.maker import Row

SAMPLES = Path(__file__).resolve().parents[4] / "data" / "samples"
FOREIGN = re.compile(
    r"\b(?:threadIdx|blockIdx|blockDim|gridDim|__(?!kernel\b|global\b|local\b|attribute__)\w*"
    r"|make_\w+|\w*_cast|operator|extern|long long|unsigned|(?:sin|sqrt|exp|fmin|fmax|fabs)f\()"
)
"""What no text in OpenCL C may have in it."""


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    return [row for _, row in stored_rows(SAMPLES) if row["program"] is not None]


def kernel_of(element: Type, value: object, name: str = "a") -> ir.Program:
    params = (
        ir.Param(name, Array(element, 1), "in", ("n",)),
        ir.Param("out", Array(element, 1), "out", ("n",)),
    )
    target = Var("out", params[1].type)
    store = ir.Store(target, (Var("i", INT32),), "", value)  # type: ignore[arg-type]
    kernel = ir.Kernel("kernel_of", params, ("i",), ("n",), (store,))
    return ir.Program("arithmetic", "test", 1, "", (), (), kernel, (ir.Size("n", 8),), 0)


def loaded(element: Type, name: str = "a") -> Load:
    return Load(Var(name, Array(element, 1)), (Var("i", INT32),), element)


def text_in(program: ir.Program, name: str, style: str = "guarded") -> str:
    return render(program, schedule_for(program, style), DIALECTS[name]).text


def test_every_dialect_names_every_type() -> None:
    for dialect in DIALECTS.values():
        assert set(dialect.scalars) == set(CUDA.scalars)
        assert set(dialect.vectors) == set(CUDA.vectors)
        assert dialect.name == next(k for k, v in DIALECTS.items() if v is dialect)


def test_the_samples_have_no_word_of_cuda_in_opencl(rows: list[Row]) -> None:
    seen, refused = 0, []
    for row in rows:
        try:
            text = translated(row, "opencl")["cuda_plain"]
        except NoForm as why:
            refused.append((str(why), row["cuda_plain"]))
            continue
        seen += 1
        code = re.sub(r"//.*", "", text)
        assert not (found := FOREIGN.search(code)), f"{row['id']}: {found}"
        assert text.count("__kernel void") == len(row["plain_launch"])
    assert seen > 20
    for why, plain in refused:
        assert "32 threads of a warp" in why
        assert "shfl" in plain or "match_any" in plain


def test_hip_is_cuda_behind_other_includes(rows: list[Row]) -> None:
    for row in rows:
        try:
            text = translated(row, "hip")["cuda_plain"]
        except NoForm:
            continue
        assert text.startswith("#include <hip/hip_runtime.h>\n\n")
        plain = text.removeprefix("#include <hip/hip_runtime.h>\n\n")
        assert plain.replace("hip/hip_fp16.h", "cuda_fp16.h") == row["cuda_plain"]


def test_a_text_of_another_dialect_leaves_cuda_as_it_is(rows: list[Row]) -> None:
    for row in rows[:6]:
        program, schedule = from_json(row["program"]), Schedule.from_json(row["schedule"])
        with speaking(OPENCL):
            assert spoken() is OPENCL
            assert render(program, schedule).text == row["cuda_plain"]
            assert spoken() is OPENCL
        assert spoken() is CUDA


def test_a_failed_text_gives_the_word_back() -> None:
    def fail() -> None:
        with speaking(HIP):
            raise NoForm("no")

    with pytest.raises(NoForm):
        fail()
    assert spoken() is CUDA


@pytest.mark.parametrize("name", ["opencl", "hip"])
def test_what_shuffles_is_refused_in_a_line(rows: list[Row], name: str) -> None:
    shuffled = next(row for row in rows if "__shfl" in row["cuda_plain"])
    with pytest.raises(NoForm, match=r"^[^\n]*the 32 threads of a warp$"):
        translated(shuffled, name)


def test_vectors_have_operators_and_matrices_functions() -> None:
    vec, mat = Vec(3, FLOAT32), Mat(2, 2, FLOAT32)
    doubled = Op("add", (loaded(vec), loaded(vec)), vec)
    assert "out[i] = a[i] + a[i];" in text_in(kernel_of(vec, doubled), "opencl")
    squared = Op("mul", (loaded(mat), loaded(mat)), mat)
    text = text_in(kernel_of(mat, squared), "opencl")
    assert "out[i] = mul_Float2x2_Float2x2(a[i], a[i]);" in text
    assert "typedef struct {\n    float m[2][2];\n} Float2x2;" in text


def test_float16_is_loaded_and_stored_without_being_a_type() -> None:
    half = Scalar("float16")
    text = text_in(kernel_of(half, Op("add", (loaded(half), loaded(half)), half)), "opencl")
    assert "__global const ushort* restrict a" in text
    assert "out[i] = float_to_half(half_to_float(a[i]) + half_to_float(a[i]));" in text


def test_names_of_the_language_are_left_to_it() -> None:
    value = loaded(FLOAT32, "local")
    assert "out[i] = local_[i];" in text_in(kernel_of(FLOAT32, value, "local"), "opencl")
    assert "out[i] = local[i];" in text_in(kernel_of(FLOAT32, value, "local"), "cuda")


@pytest.mark.parametrize("name", [*SIGNED, *UNSIGNED])
def test_absolute_values_are_signed(name: str) -> None:
    scalar = Scalar(name)
    absolute = text_in(kernel_of(scalar, Op("abs", (loaded(scalar),), scalar)), "opencl")
    if scalar.is_unsigned:
        assert "abs" not in absolute
    else:
        assert re.search(r"\((?:int|long)\)abs\((?:\(int\))?a\[i\]\)", absolute)


def test_a_missing_function_is_a_reason() -> None:
    value = Op("erfinv", (loaded(FLOAT32),), FLOAT32)
    with pytest.raises(NoForm, match="OpenCL C has no erfinv"):
        text_in(kernel_of(FLOAT32, value), "opencl")
    assert "erfinvf(a[i])" in text_in(kernel_of(FLOAT32, value), "hip")


def test_dialects_are_tables() -> None:
    """What is not said of a dialect is no default of CUDA's."""
    said = [f.name for f in dataclasses.fields(OPENCL)]
    same = {name for name in said if getattr(OPENCL, name) == getattr(CUDA, name)}
    assert same == {"head"}
