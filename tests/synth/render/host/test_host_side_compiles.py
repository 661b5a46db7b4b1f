"""Both sides of each operator through real compilers: the CUDA side, launches included, through
NVRTC, which takes launchers as device functions; the C++ side through Clang against declarations
of what it uses of PyTorch (`tests/data/torch_stubs`)."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path

import pytest

from synth.dataset.stored import stored_rows
from synth.render.host.launcher import NoHostSide
from synth.render.host.torch_module import torch_module
from validate.host import clang
from validate.nvrtc.program import build_answers

ROOT = Path(__file__).resolve().parents[4]
SAMPLES = ROOT / "data" / "samples"
STUBS = ROOT / "tests" / "data" / "torch_stubs"
LAUNCHERS_TOO = ("-default-device", "--relocatable-device-code=true", f"-I{STUBS}")


def _sides(module: str) -> tuple[str, str]:
    """The CUDA side and the C++ side of a module."""
    found = [
        re.search(rf"{side}_SOURCE = r'''\n(.*?)'''", module, re.DOTALL) for side in ("CUDA", "CPP")
    ]
    cuda, cpp = (one[1] for one in found if one)
    return cuda, cpp


def _sources() -> dict[str, tuple[str, str]]:
    found = {}
    for _, row in stored_rows(SAMPLES):
        with contextlib.suppress(NoHostSide):
            found[row["kernel_name"]] = _sides(torch_module(row))
    return found


SOURCES = _sources()


def _refused_by_nvrtc(text: str) -> str:
    """What NVRTC says of a text that it refuses."""
    built = build_answers(text, "sm_90", "check", (), defines=LAUNCHERS_TOO)
    return built.log if built.text is None else ""


def _clang(text: str, folder: Path) -> None:
    clang.build_bare(text, folder / "side.o", ("-std=c++17", "-I", str(STUBS)))


@pytest.mark.parametrize("name", SOURCES)
def test_both_sides_of_the_samples_compile(name: str, tmp_path: Path) -> None:
    cuda, cpp = SOURCES[name]
    assert _refused_by_nvrtc(cuda) == ""
    _clang(cpp, tmp_path)


def test_overloads_for_vectors_do_not_hide_the_functions_of_cuda() -> None:
    overload = (
        "__device__ __forceinline__ float2 fabsf(float2 a)\n{\n"
        "    return make_float2(fabsf(a.x), fabsf(a.y));\n}\n\n"
    )
    row = next(row for _, row in stored_rows(SAMPLES) if row["kernel_name"] in SOURCES)
    cuda, _ = _sides(torch_module({**row, "cuda_plain": overload + row["cuda_plain"]}))
    assert _refused_by_nvrtc(cuda) == ""
    assert _refused_by_nvrtc(cuda.replace("using ::fabsf;", "")) != ""


def test_a_launch_that_does_not_fit_its_kernel_is_refused() -> None:
    cuda, _ = next(sides for sides in SOURCES.values() if "static_cast<float*>(" in sides[0])
    assert "float" in _refused_by_nvrtc(
        cuda.replace("static_cast<float*>(", "static_cast<double*>(", 1)
    )


def test_a_binding_that_does_not_fit_its_launcher_is_refused(tmp_path: Path) -> None:
    _, cpp = next(iter(SOURCES.values()))
    with pytest.raises(clang.CompileError):
        _clang(cpp.replace("c10::cuda::getCurrentCUDAStream()", "1.5"), tmp_path)
